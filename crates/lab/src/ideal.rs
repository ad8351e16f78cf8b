//! The clairvoyant ideal: a sender that knows the available rate and uses it from the first moment.

use serde::Serialize;

use crate::available::{Steps, carried, carried_by};

/// Whether the ideal is what one could reach, or a fair share that an aggressive flow can exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdealKind {
    /// Only unresponsive traffic crosses. No sender can be faster, but where others' packets are dropped for it or still wait
    /// (docs/decisions.md), by what a policer's bucket holds, where the way back is the longer, and where the rate changes
    /// while packets are on their way to it.
    Exact,
    /// Responsive flows cross: the ideal is an equal share with them, and a cost may be under one.
    FairShare,
}

impl IdealKind {
    /// The name in rows.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::FairShare => "fair-share",
        }
    }
}

/// IP bytes of a transfer of `size` payload bytes in full segments of `mss`, each with `headers`.
pub fn ip_bytes(size: u64, mss: u64, headers: u64) -> u64 {
    size.saturating_add(size.div_ceil(mss.max(1)).saturating_mul(headers))
}

/// The ideal flow completion time in nanoseconds: 1.5 base RTT (the handshake, and the first byte's way) and the
/// least T in which the available rate, integrated from then, carries the size in IP bytes. `None` if it never
/// does. DESIGN.md section 6.
pub fn ideal_fct(steps: &Steps, syn_at: u64, base_rtt: u64, ip_bytes: u64) -> Option<u64> {
    let from = syn_at.checked_add(lead_in(base_rtt))?;
    carried_by(steps, from, ip_bytes).map(|end| end - syn_at)
}

/// The same for a stream that is written bit by bit: `writes` has, of each write, how long after the SYN it is made
/// and the IP bytes of the stream from there to its end. None of those can leave before; so the ideal is the latest,
/// over the writes, of the instants by which the rest of the stream is carried if that begins with the write. A stream
/// that is written at once is one write, at the SYN.
pub fn ideal_fct_of_writes(
    steps: &Steps,
    syn_at: u64,
    base_rtt: u64,
    writes: impl IntoIterator<Item = (u64, u64)>,
) -> Option<u64> {
    writes.into_iter().try_fold(0, |latest: u64, (after, ip_bytes)| {
        let put_off = after.saturating_sub(base_rtt);
        let end = ideal_fct(steps, syn_at.checked_add(put_off)?, base_rtt, ip_bytes)?;
        Some(latest.max(end.checked_add(put_off)?))
    })
}

/// Payload that the ideal sender has delivered, as corners of a line: (when, bytes), up to `until`.
pub fn ideal_line(
    steps: &Steps,
    syn_at: u64,
    base_rtt: u64,
    until: u64,
    payload_share: (u64, u64),
) -> Vec<(u64, u64)> {
    let from = syn_at.saturating_add(lead_in(base_rtt));
    let corners = steps.iter().map(|(at, _)| *at).filter(|at| (from..until).contains(at));
    let mut times: Vec<u64> = [from].into_iter().chain(corners).chain([until.max(from)]).collect();
    times.dedup();
    let (num, den) = payload_share;
    let payload = |at| carried(steps, from, at) / 8_000_000_000 * u128::from(num) / u128::from(den.max(1));
    times.into_iter().map(|at| (at, u64::try_from(payload(at)).unwrap_or(u64::MAX))).collect()
}

fn lead_in(base_rtt: u64) -> u64 {
    base_rtt.saturating_add(base_rtt / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_takes_headers_for_each_segment_even_the_last_short_one() {
        assert_eq!(ip_bytes(9_600, 960, 40), 10_000);
        assert_eq!(ip_bytes(9_601, 960, 40), 10_041);
        assert_eq!(ip_bytes(1, 960, 40), 41);
    }

    #[test]
    fn the_ideal_is_one_and_a_half_base_rtt_and_the_time_to_carry_the_size() {
        // 8 Mbit/s is a byte a microsecond; 80 ms of base RTT.
        let steps = [(0, 8_000_000)];
        assert_eq!(ideal_fct(&steps, 5_000, 80_000_000, 1_000_000), Some(120_000_000 + 1_000_000_000));
        assert_eq!(ideal_fct(&[(0, 0)], 0, 80_000_000, 1), None);
        // Half the rate from 620 ms on, which is 500 ms after the first byte can arrive.
        let steps = [(0, 8_000_000), (620_000_000, 4_000_000)];
        assert_eq!(ideal_fct(&steps, 0, 80_000_000, 1_000_000), Some(620_000_000 + 1_000_000_000));
    }

    #[test]
    fn what_is_written_late_cannot_be_early() {
        // A byte a microsecond, 80 ms of base RTT: a megabyte at once takes 120 ms and a second.
        let steps = [(0, 8_000_000)];
        let of =
            |writes: &[(u64, u64)]| ideal_fct_of_writes(&steps, 5_000, 80_000_000, writes.iter().copied());
        assert_eq!(of(&[(0, 1_000_000)]), Some(1_120_000_000));
        // The path is the limit: half of it at 300 ms is in time.
        assert_eq!(of(&[(0, 1_000_000), (300_000_000, 500_000)]), Some(1_120_000_000));
        // The application is: the second half leaves at two seconds and arrives half a round trip later.
        assert_eq!(of(&[(0, 1_000_000), (2_000_000_000, 500_000)]), Some(2_540_000_000));
        // Written before the handshake is over is as if at once.
        assert_eq!(of(&[(0, 1_000), (80_000_000, 1_000)]), Some(121_000_000));
        assert_eq!(ideal_fct_of_writes(&[(0, 0)], 0, 80_000_000, [(0, 1)]), None);
    }

    #[test]
    fn the_ideal_line_turns_where_the_rate_does() {
        let steps = [(0, 8_000_000), (620_000_000, 4_000_000)];
        let line = ideal_line(&steps, 0, 80_000_000, 820_000_000, (24, 25));
        assert_eq!(line, [(120_000_000, 0), (620_000_000, 480_000), (820_000_000, 576_000)]);
    }
}
