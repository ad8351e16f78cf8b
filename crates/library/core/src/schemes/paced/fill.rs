//! The fill: packets fill the pipe at the gap found (Paced Start, section 3.2.2), and the first ACK of the fill ends
//! start-up.

use crate::interface::{Cause, Exit, Pacing, Path, PathEstimate, Step};
use crate::schemes::paced::switches::{Switch, Switches};
use crate::schemes::paced::tree::Gap;
use crate::units::{Rate, Span};

/// A fill in progress.
#[derive(Clone, Debug)]
pub(super) struct Fill {
    /// The number of packets of the fill, and the number of them that were sent.
    pub(super) packets: u32,
    pub(super) sent: u32,
    /// The number of packets that the pipe holds. The fill has fewer if the receive window has no room for them.
    pub(super) pipe: u32,
    pub(super) gap: Gap,
    /// Whether the host could not send the whole train: later packets are then sent at the train's rate.
    pub(super) cut: bool,
}

impl Fill {
    /// Ends the fill and start-up. If fewer packets than planned were sent, the window is those packets, because no
    /// more have been shown to fit (choice-07). If the receive window ended the fill, slow start continues up to the
    /// pipe: a receiver that opens its window as data arrives has shown nothing about the path.
    pub(super) fn done(&self, switches: Switches, path: &Path) -> Step {
        let whole = switches.has(Switch::WholeFill);
        let packets = if whole { self.packets } else { self.packets.min(self.sent) };
        let threshold = if packets == self.packets { self.pipe } else { packets };
        leave_at(u64::from(packets), u64::from(threshold), self.gap, switches, path)
    }

    pub(super) fn pacing(&self, path: &Path) -> Pacing {
        let gap = Span::from_nanos(u64::from(self.gap));
        match path.wire.per(gap) {
            Some(rate) if self.cut => Pacing::Rate { rate: rate.max(Rate::from_bps(1)), burst: path.wire },
            _ => Pacing::Train { packets: self.packets, gap },
        }
    }
}

/// Exits start-up. The threshold is the window found, so that a later slow start ends there, or is left unchanged
/// (choice-01).
pub(super) fn leave(packets: u64, gap: Gap, switches: Switches, path: &Path) -> Step {
    leave_at(packets, packets, gap, switches, path)
}

/// Exits start-up with a threshold that may be above the window.
fn leave_at(packets: u64, threshold: u64, gap: Gap, switches: Switches, path: &Path) -> Step {
    let window = path.mss * packets.max(1);
    let threshold = path.mss * threshold.max(1);
    let ssthresh = (!switches.has(Switch::SsthreshUnset)).then_some(threshold);
    let rate = path.wire.per(Span::from_nanos(u64::from(gap)));
    Step::Exit(Exit { cause: Cause::Dispersion, learned: PathEstimate { window, ssthresh, rate } })
}

/// Returns the number of packets that one RTT holds at the gap `gap`.
pub(super) fn pipe(rtt: Span, gap: Gap) -> u64 {
    rtt.nanos() / u64::from(gap.max(1))
}
