//! The clairvoyant ideal: a sender that knows the available rate and uses it from the first moment.

use serde::Serialize;

use crate::available::{Steps, carried, carried_by};
use crate::crossing::{Hop, rates};
use crate::fluid::{Server, after, sent, through};
use crate::scenario::{Goal, Scenario};
use crate::stage::ENDLESS;

/// Whether the ideal is what one could reach, or a fair share that an aggressive flow can exceed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IdealKind {
    /// Only unresponsive traffic crosses. No sender can be faster, but by what others lack: packets that were dropped for
    /// it, still wait, or were yet to come (docs/decisions/measure.md).
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

/// The ideal sender's stream as it comes to the receiver: IP bits per second, as steps. Of a transfer it ends with the
/// last byte; without a size it goes on.
///
/// No data leaves before the SYN and the SYN-ACK have had their way, nor before it is written. Each link of the way
/// carries it, at the instant at which it is there, at what others leave then; after it comes the propagation to the next.
/// A policer's bucket is full when the first of it comes: cross traffic may have left less, but no more. Of what responsive
/// flows share, the bucket included, it has an equal share.
pub(crate) fn stream(scenario: &Scenario, hops: &[Hop], syn_at: u64) -> Vec<(u64, u64)> {
    let lumps: Vec<(u64, u128)> = writes(scenario)
        .map(|(after, bytes)| (syn_at.saturating_add(after.max(scenario.rtt.nanos())), bit_nanos(bytes)))
        .collect();
    let access = sent(&lumps, scenario.access_rate.bps());
    hops.iter().fold(access, |mut stream, hop| {
        let begins = stream.first().map_or(0, |(at, _)| *at);
        if let Some(policer) = scenario.policer {
            let left = hop.left(&[(0, policer.rate.bps())]);
            let bucket = bit_nanos(policer.burst.get()) / u128::from(1 + hop.active_at(begins));
            stream = through(&stream, &Server { left, bucket });
        }
        let link = Server { left: hop.left(&rates(scenario)), bucket: 0 };
        after(through(&stream, &link), hop.delay.nanos())
    })
}

/// What the application writes: how long after the SYN, and IP bytes.
fn writes(scenario: &Scenario) -> impl Iterator<Item = (u64, u64)> {
    let size = match scenario.goal {
        Goal::Size(size) => size.get(),
        Goal::Duration(_) => ENDLESS,
    };
    let app = scenario.app.filter(|_| scenario.is_sized());
    let (bytes, period) = app.map_or((size, 0), |app| (app.bytes.get().max(1), app.period.nanos()));
    let (mss, packet) = (u64::from(scenario.mss), u64::from(scenario.packet()));
    let rest = move |written: u64| ip_bytes(size.saturating_sub(written), mss, packet - mss);
    let count = if bytes == 0 { 0 } else { size.div_ceil(bytes) };
    (0..count).map(move |index| {
        let written = index.saturating_mul(bytes);
        let own = rest(written) - rest(written.saturating_add(bytes));
        (period.saturating_mul(index), own)
    })
}

/// The ideal flow completion time in nanoseconds: from the SYN until the last of its IP bytes has come, of an ideal stream.
/// `None` if it never does.
pub fn ideal_fct(stream: &Steps, syn_at: u64, ip_bytes: u64) -> Option<u64> {
    let (from, _) = *stream.first()?;
    carried_by(stream, from, ip_bytes).map(|end| end.saturating_sub(syn_at))
}

/// When the last byte of a scenario's transfer comes of an ideal stream; `None` if it never does, or without a size.
pub(crate) fn ideal_end(scenario: &Scenario, stream: &Steps) -> Option<u64> {
    let Goal::Size(size) = scenario.goal else { return None };
    let (mss, packet) = (u64::from(scenario.mss), u64::from(scenario.packet()));
    ideal_fct(stream, 0, ip_bytes(size.get(), mss, packet - mss))
}

/// Payload that the ideal sender has delivered, as corners of a line: (when, bytes), up to `until`.
pub fn ideal_line(stream: &Steps, until: u64, payload_share: (u64, u64)) -> Vec<(u64, u64)> {
    let Some(&(from, _)) = stream.first() else { return Vec::new() };
    let corners = stream.iter().map(|(at, _)| *at).filter(|at| (from..until).contains(at));
    let mut times: Vec<u64> = corners.chain([until.max(from)]).collect();
    times.dedup();
    let (num, den) = payload_share;
    let payload = |at| carried(stream, from, at) / 8_000_000_000 * u128::from(num) / u128::from(den.max(1));
    times.into_iter().map(|at| (at, u64::try_from(payload(at)).unwrap_or(u64::MAX))).collect()
}

/// Bits times 10^9.
fn bit_nanos(bytes: u64) -> u128 {
    u128::from(bytes) * 8_000_000_000
}

#[cfg(test)]
mod tests {
    use firstflight::Span;

    use super::*;
    use crate::options::Options;

    #[test]
    fn a_transfer_takes_headers_for_each_segment_even_the_last_short_one() {
        assert_eq!(ip_bytes(9_600, 960, 40), 10_000);
        assert_eq!(ip_bytes(9_601, 960, 40), 10_041);
        assert_eq!(ip_bytes(1, 960, 40), 41);
    }

    /// 8 Mbit/s is a byte a microsecond, 80 ms of base RTT; a megabyte of IP bytes in packets of 1000.
    fn scenario(more: &[(&str, &str)]) -> Scenario {
        let path =
            [("rate", "8mbit"), ("rtt", "80ms"), ("size", "960kB"), ("packet", "1000B"), ("cross", "none")];
        let mut options = Options::default();
        for (key, text) in path.iter().chain(more) {
            options.set(key, text).expect(text);
        }
        Scenario::resolve(&options).expect("a scenario")
    }

    /// With this much propagation after one hop.
    fn fct_after(scenario: &Scenario, delay: u64, hop: Hop) -> Option<u64> {
        let hop = Hop { delay: Span::from_millis(delay), ..hop };
        let stream = stream(scenario, &[hop], 5_000);
        let Goal::Size(size) = scenario.goal else { return None };
        ideal_fct(&stream, 5_000, ip_bytes(size.get(), 960, 40))
    }

    fn fct(more: &[(&str, &str)]) -> Option<u64> {
        fct_after(&scenario(more), 40, Hop::default())
    }

    const MS: u64 = 1_000_000;

    #[test]
    fn the_ideal_is_a_round_trip_the_time_to_carry_the_size_and_the_way_there() {
        assert_eq!(fct(&[]), Some(120 * MS + 1_000 * MS));
        // All of the way is back, or there.
        assert_eq!(fct_after(&scenario(&[]), 0, Hop::default()), Some(80 * MS + 1_000 * MS));
        assert_eq!(fct_after(&scenario(&[]), 80, Hop::default()), Some(160 * MS + 1_000 * MS));
        // The access link is the slower one.
        assert_eq!(fct(&[("access-rate", "4mbit")]), Some(120 * MS + 2_000 * MS));
        // A constant rate takes half, and all.
        let beside = |constant| fct_after(&scenario(&[]), 40, Hop { constant, ..Hop::default() });
        assert_eq!(beside(4_000_000), Some(120 * MS + 2_000 * MS));
        assert_eq!(beside(8_000_000), None);
    }

    #[test]
    fn the_rate_that_counts_is_that_at_the_bottleneck() {
        // Half the rate from half a second after the first byte can be there.
        let trace = [("rate-trace", "0s=8mbit,580005us=4mbit")];
        assert_eq!(fct(&trace), Some(120 * MS + 500 * MS + 1_000 * MS));
        // An outage that begins as the last byte has left the bottleneck does not hold it.
        assert_eq!(fct(&[("rate-trace", "0s=8mbit,1080005us=0,9s=8mbit")]), fct(&[]));
        // What came over the access link in an outage leaves at the rate after it, however slow that link is.
        let trace = [("rate-trace", "0s=0,2080005us=80mbit"), ("access-rate", "4mbit")];
        assert_eq!(fct(&trace), Some(120 * MS + 2_000 * MS + 100 * MS));
    }

    #[test]
    fn a_policers_bucket_comes_at_the_rate_of_the_link() {
        // 500 kB are in the bucket; while they leave in 4/7 s, 71428 bytes more come into it.
        let fluid = |burst: u64| (burst * 8 / 7, 1_000_000 - burst * 8 / 7);
        let (fast, slow) = fluid(500_000);
        let wanted = (fast + slow * 8) * 1_000;
        let found = fct(&[("policer", "1mbit,500kB")]).expect("an end");
        assert!(found.abs_diff(120 * MS + wanted) < 10_000, "{found} {wanted}");
        // Where the bucket holds the transfer, there is no policer.
        assert_eq!(fct(&[("policer", "1mbit,1MB")]), fct(&[]));
        // Others that offer all that it lets through leave the bucket.
        let beside = |burst| {
            let hop = Hop { constant: 1_000_000, ..Hop::default() };
            fct_after(&scenario(&[("policer", burst)]), 40, hop)
        };
        assert_eq!(beside("1mbit,999999B"), None);
        assert_eq!(beside("1mbit,1MB"), Some(120 * MS + 1_142_857_143));
    }

    #[test]
    fn responsive_flows_share_the_bucket_too() {
        let hop = || Hop { lives: vec![(0, None)], ..Hop::default() };
        let of = |policer| fct_after(&scenario(&[("policer", policer)]), 40, hop());
        assert_eq!(of("1mbit,2MB"), Some(120 * MS + 2_000 * MS));
        assert!(of("1mbit,1MB") > of("1mbit,2MB"));
    }

    #[test]
    fn of_several_hops_each_counts_when_the_stream_is_there() {
        // Each of two hops carries a byte a microsecond but for half a second; the second one's has passed when the
        // stream is there.
        let outage = |from: u64| Hop {
            offered: vec![(from * MS, 8_000_000), ((from + 500) * MS, 0)],
            delay: Span::from_millis(20),
            ..Hop::default()
        };
        let scenario = scenario(&[]);
        let of = |hops: &[Hop]| ideal_fct(&stream(&scenario, hops, 0), 0, 1_000_000);
        assert_eq!(
            of(&[Hop { delay: Span::from_millis(20), ..Hop::default() }, outage(0)]),
            Some(1_520 * MS)
        );
        assert_eq!(of(&[outage(180), outage(200)]), Some(120 * MS + 1_500 * MS));
        assert_eq!(of(&[outage(180), outage(700)]), Some(120 * MS + 2_000 * MS));
    }

    #[test]
    fn what_is_written_late_cannot_be_early() {
        // The path is the limit: half of it at 300 ms is in time.
        assert_eq!(fct(&[("app", "480kB,300ms")]), Some(1_120 * MS));
        // The application is: the second half leaves at two seconds and arrives half a round trip later.
        assert_eq!(fct(&[("app", "480kB,2s")]), Some(2_540 * MS));
        // Written before the handshake is over is as if at once.
        assert_eq!(fct(&[("app", "480kB,80ms")]), Some(1_120 * MS));
    }

    #[test]
    fn the_ideal_line_turns_where_the_rate_does() {
        let hop = Hop { delay: Span::from_millis(40), ..Hop::default() };
        let scenario = scenario(&[("rate-trace", "0s=8mbit,580ms=4mbit")]);
        let line = ideal_line(&stream(&scenario, &[hop], 0), 820 * MS, (24, 25));
        assert_eq!(line, [(120 * MS, 0), (620 * MS, 480_000), (820 * MS, 576_000)]);
        assert_eq!(ideal_line(&[], 820 * MS, (24, 25)), []);
    }
}
