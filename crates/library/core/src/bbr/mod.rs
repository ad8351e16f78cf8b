//! BBR version 3's model of the path (draft-ietf-ccwg-bbr), which its start-up and its law share.

mod aggregation;
mod full_pipe;
mod losses;
mod min_rtt;
mod rounds;
mod sample;
mod send_log;

pub(crate) use aggregation::ExtraAcked;
pub(crate) use full_pipe::FullPipe;
pub(crate) use losses::RoundLosses;
pub(crate) use min_rtt::MinRtt;
pub(crate) use rounds::Rounds;
pub(crate) use sample::Sample;
pub(crate) use send_log::{AtSend, SendLog};

use crate::evidence::is_starved;
use crate::interface::{Ack, Path};
use crate::units::{Bytes, Rate, Span};

/// The pacing rate as a share of the estimate, in hundredths (100 − `BBR.PacingMarginPercent`).
const MARGIN: (u64, u64) = (99, 100);
/// `BBR.DefaultCwndGain`, in hundredths.
pub(crate) const CWND_GAIN: u64 = 200;
/// `BBR.ProbeRTTCwndGain`, in hundredths.
pub(crate) const PROBE_RTT_GAIN: u64 = 50;
/// `BBR.ProbeRTTDuration`.
pub(crate) const PROBE_RTT_DURATION: Span = Span::from_millis(200);
/// `BBR.MinPipeCwnd`, in segments.
const MIN_PIPE: u64 = 4;
/// `BBR.LossThresh`, in hundredths.
pub(crate) const LOSS_PERCENT: u64 = 2;
/// Section "Send Quantum": a millisecond of transmission, from two segments to 64 KiB.
const QUANTUM: Span = Span::from_millis(1);
const MAX_QUANTUM: Bytes = Bytes::new(65_536);
/// Section "TCP Offload Budget": quanta in the queueing discipline, in the segmentation engine and at the receiver.
const QUANTA: u64 = 3;

/// Returns the minimum window for pipelining (`BBR.MinPipeCwnd`), in bytes.
pub(crate) fn min_pipe(path: &Path) -> Bytes {
    path.mss * MIN_PIPE
}

/// Returns the pacing rate for an estimate: 1 % lower.
pub(crate) fn with_margin(rate: Rate) -> Rate {
    rate.scale(MARGIN.0, MARGIN.1)
}

/// Returns `C.send_quantum`: the IP bytes of a burst at the pacing rate `rate`.
pub(crate) fn quantum(rate: Rate, path: &Path) -> Bytes {
    rate.over(QUANTUM).min(MAX_QUANTUM).max(path.wire * 2)
}

/// Returns `BBR.offload_budget`: payload that hosts with segmentation offload keep in flight at the pacing rate `rate`.
pub(crate) fn offload_budget(rate: Rate, path: &Path) -> Bytes {
    (quantum(rate, path) * QUANTA).scale(path.mss.get(), path.wire.get())
}

/// Returns `gain` hundredths of the bandwidth-delay product.
pub(crate) fn product(bandwidth: Rate, min_rtt: Span, gain: u64) -> Bytes {
    bandwidth.over(min_rtt).scale(gain, 100)
}

/// Returns by how many bytes an ACK may widen the window of a law whose model bounds the window: all bytes delivered during loss recovery,
/// and otherwise the growth that the controller allows.
pub(crate) fn growth(ack: &Ack<'_>, path: &Path) -> Bytes {
    if path.recovering && !is_starved(ack, path) { ack.bytes } else { ack.growth }
}
