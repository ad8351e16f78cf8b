//! Reno that counts ACKs rather than bytes: the window grows by `SMSS * SMSS / cwnd` for each ACK (RFC 5681 equation
//! 3), so that a receiver that delays its ACKs halves the growth. The RFC prefers counting bytes ([`Reno`]); ns-2's
//! Reno and the stacks of the papers count ACKs.

use crate::avoidance::Reno;
use crate::hears::Hears;
use crate::registry::{Ability, LawEntry, Needs};
use crate::seam::{Ack, Avoidance, Event, Exit, Path, Plan};
use crate::units::Bytes;

/// Reno that grows by a segment for each window of ACKs.
#[derive(Clone, Debug, Default)]
pub struct RenoAcks(Reno);

pub(crate) const RENO_ACKS: LawEntry = LawEntry {
    name: "reno-acks",
    summary: "reno that counts ACKs: half a segment a round trip if they are delayed",
    source: "RFC 5681 section 3.1 equation 3; ns-2 Agent/TCP/Reno",
    needs: Needs::of(&[Ability::AckClock]).using(&[Ability::Marks]),
    make: || RenoAcks::new().into(),
};

impl RenoAcks {
    /// A law that has not taken over yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// [`Hears::widen`].
    #[inline]
    fn widen(&mut self, growth: Bytes, mss: Bytes) -> Option<Bytes> {
        self.0.widen(growth.min(mss), mss)
    }
}

impl Avoidance for RenoAcks {
    const HEARS: Hears<Self> =
        Hears::ALL.without_sends().without_later_losses().without_others().widened_by(Self::widen);

    fn enter(&mut self, exit: &Exit, path: &Path) {
        self.0.enter(exit, path);
    }

    fn on(&mut self, event: &Event<'_>, path: &Path) {
        match *event {
            Event::Acked(ack) => {
                let growth = ack.growth.min(path.mss);
                self.0.on(&Event::Acked(Ack { growth, ..ack }), path);
            }
            _ => self.0.on(event, path),
        }
    }

    fn forget_path(&mut self) {
        self.0.forget_path();
    }

    #[inline]
    fn plan(&self, path: &Path) -> Plan {
        self.0.plan(path)
    }
}
