//! Rates and windows of the path, and the exit at a rate.

use crate::interface::{Cause, Exit, Path, PathEstimate, Step};
use crate::units::{Bytes, Rate, Span};

/// The share of the rate at which Rise and Hold send. Below 1, so that a queue that other flows built drains.
const CRUISE_RATE: (u64, u64) = (98, 100);
/// The window exceeds the BDP by three eighths and by this number of packets, so that the pacing rate is the limit and aggregated ACKs
/// do not stop transmission.
const WINDOW_HEADROOM_PACKETS: u64 = 20;

/// Exits with `rate` and the window that sustains this rate.
pub(super) fn found(rate: Rate, cause: Cause, path: &Path) -> Step {
    let window = product(rate, path).max(path.mss * 4);
    Step::Exit(Exit { cause, learned: PathEstimate { window, ssthresh: Some(window), rate: Some(rate) } })
}

/// Returns the IP bytes of full packets with a total payload of `payload`.
pub(super) fn in_packets(payload: Bytes, path: &Path) -> Bytes {
    payload.scale(path.wire.get(), path.mss.get())
}

/// Returns the rate at which `payload` is sent in the minimum RTT; zero without an RTT.
pub(super) fn per_rtt(payload: Bytes, path: &Path) -> Rate {
    path.min_rtt.and_then(|rtt| in_packets(payload, path).per(rtt)).unwrap_or(Rate::ZERO)
}

/// Returns the rate at which Rise and Hold send.
pub(super) fn cruise(rate: Rate) -> Rate {
    rate.scale(CRUISE_RATE.0, CRUISE_RATE.1)
}

/// Returns the payload in flight at `rate` and the minimum RTT.
pub(super) fn product(rate: Rate, path: &Path) -> Bytes {
    payload(rate, path).over(path.min_rtt.unwrap_or(Span::ZERO))
}

/// Returns the payload share of the IP rate `rate`.
pub(super) fn payload(rate: Rate, path: &Path) -> Rate {
    rate.scale(path.mss.get(), path.wire.get())
}

/// Returns a window that does not limit a sender paced at `rate`.
pub(super) fn window_with_headroom(rate: Rate, path: &Path) -> Bytes {
    product(rate, path).scale(11, 8) + path.mss * WINDOW_HEADROOM_PACKETS
}
