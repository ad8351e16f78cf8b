//! Reno that counts ACKs instead of bytes: each ACK widens the window by `SMSS * SMSS / cwnd` (RFC 5681 equation 3),
//! so a receiver that delays its ACKs halves the growth. The RFC prefers to count bytes ([`Reno`]); ns-2's Reno and
//! the stacks of the papers count ACKs.

use crate::avoidance::Reno;
use crate::interest::Interest;
use crate::interface::{Ack, Avoidance, Event, Exit, Path, Plan};
use crate::registry::{Ability, LawEntry, Needs};
use crate::units::Bytes;

/// Reno that grows by one segment for each window's worth of ACKs.
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
    /// Returns a law that has not taken over yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Widens the window for an ACK without the rest of the ACK; see [`Interest::widen`].
    #[inline]
    fn widen(&mut self, growth: Bytes, mss: Bytes) -> Option<Bytes> {
        self.0.widen(growth.min(mss), mss)
    }
}

impl Avoidance for RenoAcks {
    const INTEREST: Interest<Self> =
        Interest::ALL.without_sends().without_later_losses().without_others().widened_by(Self::widen);

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
