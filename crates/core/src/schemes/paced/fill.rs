//! The fill: packets fill the pipe at the gap found (Paced Start, section 3.2.2), and the first ACK of the fill ends
//! start-up.

use crate::schemes::paced::switches::{Switch, Switches};
use crate::schemes::paced::tree::Gap;
use crate::seam::{Cause, Exit, Learned, Pacing, Path, Step};
use crate::units::{Rate, Span};

/// A fill on its way.
#[derive(Clone, Debug)]
pub(super) struct Fill {
    /// How many packets the fill has, and how many have left.
    pub(super) packets: u32,
    pub(super) sent: u32,
    pub(super) gap: Gap,
    /// Whether the host could not send the train whole: later packets then leave at the train's rate.
    pub(super) cut: bool,
}

impl Fill {
    /// choice-07: the window is the packets that were really sent, if those are fewer: no more have been shown to
    /// fit.
    pub(super) fn done(&self, switches: Switches, path: &Path) -> Step {
        let whole = switches.has(Switch::WholeFill);
        let packets = if whole { self.packets } else { self.packets.min(self.sent) };
        leave(u64::from(packets), self.gap, switches, path)
    }

    pub(super) fn pacing(&self, path: &Path) -> Pacing {
        let gap = Span::from_nanos(u64::from(self.gap));
        match path.wire.per(gap) {
            Some(rate) if self.cut => Pacing::Rate { rate: rate.max(Rate::from_bps(1)), burst: path.wire },
            _ => Pacing::Train { packets: self.packets, gap },
        }
    }
}

/// Leaves start-up. choice-01: the threshold is the window found, so that a later slow start ends there, or is left
/// as it was.
pub(super) fn leave(packets: u64, gap: Gap, switches: Switches, path: &Path) -> Step {
    let window = path.mss * packets.max(1);
    let ssthresh = (!switches.has(Switch::SsthreshUnset)).then_some(window);
    let rate = path.wire.per(Span::from_nanos(u64::from(gap)));
    Step::Done(Exit { cause: Cause::Dispersion, learned: Learned { window, ssthresh, rate } })
}

/// The packets that a round trip holds at a gap.
pub(super) fn pipe(rtt: Span, gap: Gap) -> u64 {
    rtt.nanos() / u64::from(gap.max(1))
}
