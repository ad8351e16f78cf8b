//! The exit scorecard: how well the exit from start-up matched the path (docs/reference/exports.md).

use crate::arithmetic::{count, ratio, seconds};
use crate::available::{Steps, carried, rate_at};
use crate::evidence::{Evidence, ExitSeen};
use crate::metrics::delivered_at;

/// The facts about the path that the scorecard uses.
#[derive(Clone, Copy, Debug)]
pub struct PathFacts<'a> {
    /// Rate available to the flow.
    pub available: &'a Steps,
    /// Base round-trip time in nanoseconds: propagation only.
    pub base_rtt: u64,
    /// IP bytes of a full packet.
    pub packet: u64,
    /// Payload bytes of a full packet.
    pub mss: u64,
}

/// Returns the first exit from start-up that was not undone.
pub fn first_exit(evidence: &Evidence) -> Option<&ExitSeen> {
    evidence.exits.first()
}

/// Returns the time from the first data packet to the first exit, in nanoseconds.
pub fn exit_time(evidence: &Evidence) -> Option<u64> {
    Some(first_exit(evidence)?.at.saturating_sub(evidence.recording.first_data_at?))
}

/// Returns the window at the first exit, before any reduction, in full segments.
pub fn exit_cwnd_packets(evidence: &Evidence, path: &PathFacts<'_>) -> Option<f64> {
    ratio(first_exit(evidence)?.cwnd, path.mss)
}

/// Returns the window at the first exit, in IP bytes, over the true BDP. The BDP is the rate available at the exit × base RTT. `None`
/// without an exit, or if no rate is available.
#[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
pub fn exit_cwnd_over_bdp(evidence: &Evidence, path: &PathFacts<'_>) -> Option<f64> {
    let exit = first_exit(evidence)?;
    let bps = rate_at(path.available, exit.at).filter(|bps| *bps > 0)?;
    let bdp = bps as f64 * seconds(path.base_rtt) / 8.0;
    Some(exit_cwnd_packets(evidence, path)? * path.packet as f64 / bdp)
}

/// Returns the window before the first reduction that was not undone, in full segments; `None` without a reduction.
pub fn cwnd_before_first_cut_packets(evidence: &Evidence, path: &PathFacts<'_>) -> Option<f64> {
    ratio(evidence.cuts.first()?.1, path.mss)
}

/// Returns the overshoot: the flow's data packets that a queue dropped, among those sent until one base RTT after the exit. If a loss
/// episode is under way at the exit or starts within that base RTT, packets sent until the episode ends also count. Without an exit, all
/// packets count.
pub fn overshoot_lost_packets(evidence: &Evidence, path: &PathFacts<'_>) -> u64 {
    if let Some(counted) = &evidence.counted {
        return counted.overshoot;
    }
    let until = first_exit(evidence).map_or(u64::MAX, |exit| {
        let after = exit.at.saturating_add(path.base_rtt);
        let its_own = |(from, to): &&(u64, Option<u64>)| *from <= after && to.is_none_or(|to| to >= exit.at);
        let ends = evidence.recoveries.iter().filter(its_own).map(|(_, to)| to.unwrap_or(u64::MAX));
        ends.max().unwrap_or(0).max(after)
    });
    count(
        evidence.recording.drops.iter().filter(|drop| drop.by_queue && drop.len > 0 && drop.sent_at <= until),
    )
}

/// The number of consecutive intervals that must each deliver nine tenths of what is available.
const SUSTAINED: u64 = 4;

/// Returns the length of the intervals of [`time_to_90pct`], in nanoseconds: the larger of the base RTT and 20 packet times. A packet time
/// is that of a full packet at the rate available at `first`, when the first data packet was sent. `None` if no rate is available then.
pub fn interval(path: &PathFacts<'_>, first: u64) -> Option<u64> {
    let bps = rate_at(path.available, first).filter(|bps| *bps > 0)?;
    let twenty = u64::try_from(u128::from(20 * path.packet) * 8_000_000_000 / u128::from(bps)).ok()?;
    Some(path.base_rtt.max(twenty).max(1))
}

/// Returns the time to 90 %, in nanoseconds. It runs from the first data packet to the end of the first of four consecutive intervals
/// ([`interval`]) that each deliver nine tenths of what is available. Payload delivered in order counts with its headers. `None` if there
/// are no such intervals, or if no rate is available.
pub fn time_to_90pct(evidence: &Evidence, path: &PathFacts<'_>) -> Option<u64> {
    let recording = &evidence.recording;
    let first = recording.first_data_at?;
    let interval = interval(path, first)?;
    let counted = evidence.counted.as_ref().map(|counted| counted.intervals.as_ref());
    let delivered = |count: u64| match counted {
        Some(intervals) => intervals.map_or(0, |intervals| intervals.delivered_by(count)),
        None => delivered_at(evidence, first + count * interval),
    };
    let mut run = 0;
    let count = recording.ended_at.saturating_sub(first) / interval;
    let mut index = 0;
    while index < count {
        let (from, to) = (first + index * interval, first + (index + 1) * interval);
        let payload = delivered(index + 1) - delivered(index);
        // This compares IP bytes, payload × packet / mss, with nine tenths of the integral. Both are multiplied by 10 × 10^9 × mss.
        let brought = u128::from(payload) * u128::from(path.packet) * 80_000_000_000;
        let wanted = carried(path.available, from, to) * 9 * u128::from(path.mss);
        run = if brought >= wanted { run + 1 } else { 0 };
        if run == SUSTAINED {
            return Some((index + 2 - SUSTAINED) * interval);
        }
        index += 1;
        // Nothing is delivered although a rate is available. No interval delivers nine tenths until there is a delivery, or until no rate
        // is available.
        if payload == 0 && wanted > 0 {
            let changes = path.available.iter().map(|(at, _)| *at).find(|at| *at > from);
            let changes =
                changes.map_or(count, |at| ((at - first) / interval).clamp(index, count.max(index)));
            let so_far = delivered(index);
            index = first_above(index..changes, |index| delivered(index + 1) > so_far);
        }
    }
    None
}

/// Returns the first number of a range for which `holds` is true; the end of the range if there is none. `holds` must be true for every
/// number after one for which it is true.
fn first_above(range: std::ops::Range<u64>, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut from, mut to) = (range.start, range.end.max(range.start));
    while from < to {
        let middle = from + (to - from) / 2;
        if holds(middle) { to = middle } else { from = middle + 1 }
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Drop, Recording};
    use firstflight::Cause;

    const MS: u64 = 1_000_000;
    /// 8 Mbit/s carry one packet of 1000 IP bytes per millisecond.
    const AVAILABLE: [(u64, u64); 1] = [(0, 8_000_000)];
    const PATH: PathFacts<'static> =
        PathFacts { available: &AVAILABLE, base_rtt: 100 * MS, packet: 1000, mss: 960 };

    fn dropped(sent_at: u64, by_queue: bool) -> Drop {
        Drop { at: sent_at * MS, sent_at: sent_at * MS, offset: 0, len: 960, by_queue }
    }

    fn evidence() -> Evidence {
        let exit = |at, cwnd| ExitSeen { at: at * MS, cause: Cause::Loss, cwnd, rate: None };
        let recording = Recording {
            first_data_at: Some(100 * MS),
            ended_at: 2_000 * MS,
            drops: [250, 400, 401, 450, 451, 900].map(|at| dropped(at, true)).to_vec(),
            ..Recording::default()
        };
        Evidence {
            recording,
            exits: vec![exit(300, 192_000), exit(800, 1)],
            cuts: vec![(310 * MS, 96_000), (800 * MS, 1)],
            ..Evidence::default()
        }
    }

    fn close(a: Option<f64>, b: f64) -> bool {
        a.is_some_and(|a| (a - b).abs() <= 1e-9 * b)
    }

    #[test]
    fn the_first_exit_counts_with_its_window_over_the_true_bdp() {
        let evidence = evidence();
        assert_eq!(exit_time(&evidence), Some(200 * MS));
        // The window is 200 packets of 1000 IP bytes, and 8 Mbit/s × 100 ms are 100 packets.
        assert!(close(exit_cwnd_packets(&evidence, &PATH), 200.0));
        assert!(close(exit_cwnd_over_bdp(&evidence, &PATH), 2.0));
        assert!(close(cwnd_before_first_cut_packets(&evidence, &PATH), 100.0));
        let none = PathFacts { available: &[(0, 0)], ..PATH };
        assert_eq!(exit_cwnd_over_bdp(&evidence, &none), None);
        assert_eq!(exit_time(&Evidence::default()), None);
    }

    #[test]
    fn the_true_bdp_is_that_of_the_instant_of_the_exit() {
        let steps = [(0, 8_000_000), (300 * MS, 4_000_000)];
        let path = PathFacts { available: &steps, ..PATH };
        assert!(close(exit_cwnd_over_bdp(&evidence(), &path), 4.0));
    }

    #[test]
    fn overshoot_ends_one_base_rtt_after_the_exit() {
        assert_eq!(overshoot_lost_packets(&evidence(), &PATH), 2);
        let mut random = evidence();
        random.recording.drops[0].by_queue = false;
        random.recording.drops[1].len = 0;
        assert_eq!(overshoot_lost_packets(&random, &PATH), 0);
    }

    #[test]
    fn overshoot_lasts_until_the_end_of_the_exits_recovery() {
        let within = |recoveries: Vec<(u64, Option<u64>)>| {
            let evidence = Evidence { recoveries, ..evidence() };
            overshoot_lost_packets(&evidence, &PATH)
        };
        assert_eq!(within(vec![(300 * MS, Some(450 * MS))]), 4);
        assert_eq!(within(vec![(380 * MS, Some(460 * MS)), (700 * MS, Some(999 * MS))]), 5);
        assert_eq!(within(vec![(380 * MS, None)]), 6);
        // A loss episode that ended before the exit, or ends within the base RTT, adds nothing.
        assert_eq!(within(vec![(200 * MS, Some(290 * MS))]), 2);
        assert_eq!(within(vec![(310 * MS, Some(320 * MS))]), 2);
    }

    #[test]
    fn overshoot_without_an_exit_covers_the_flow() {
        assert_eq!(overshoot_lost_packets(&Evidence { exits: vec![], ..evidence() }, &PATH), 6);
    }

    /// Returns a flow that delivers these numbers of packets in successive intervals of 100 ms after the first data.
    fn delivering(packets: &[u64]) -> Evidence {
        let mut total = 0;
        let delivered = (0u64..)
            .zip(packets)
            .map(|(index, packets)| {
                total += packets * 960;
                ((100 + 100 * index + 50) * MS, total)
            })
            .collect();
        let recording = Recording { delivered, ..evidence().recording };
        Evidence { recording, ..Evidence::default() }
    }

    #[test]
    fn ninety_per_cent_must_be_sustained_for_four_intervals() {
        // 100 packets are available in each interval.
        let steady = delivering(&[10, 90, 90, 89, 90, 95, 100, 90, 10]);
        assert_eq!(time_to_90pct(&steady, &PATH), Some(500 * MS));
        assert_eq!(time_to_90pct(&delivering(&[90, 90, 90, 90]), &PATH), Some(100 * MS));
        assert_eq!(time_to_90pct(&delivering(&[90, 90, 90, 89, 90, 90, 90]), &PATH), None);
        assert_eq!(time_to_90pct(&Evidence::default(), &PATH), None);
    }

    #[test]
    fn the_interval_is_at_least_twenty_packet_times() {
        // A base RTT of 1 ms is one packet time, so an interval has 20 packet times: 20 ms.
        let short = PathFacts { base_rtt: MS, ..PATH };
        let delivered = (1..=1000).map(|n| ((110 + n) * MS, n * 960)).collect();
        let recording = Recording { delivered, ..evidence().recording };
        let evidence = Evidence { recording, ..Evidence::default() };
        // Nothing is delivered by 110 ms. The first interval delivers 10 packets, the second 20.
        assert_eq!(time_to_90pct(&evidence, &short), Some(40 * MS));
    }

    /// Computes the time to 90 % directly from its definition, interval by interval.
    fn one_by_one(evidence: &Evidence, path: &PathFacts<'_>) -> Option<u64> {
        let first = evidence.recording.first_data_at?;
        let length = interval(path, first)?;
        let is_enough = |index: u64| {
            let (from, to) = (first + index * length, first + (index + 1) * length);
            let payload = delivered_at(evidence, to) - delivered_at(evidence, from);
            let brought = u128::from(payload) * u128::from(path.packet) * 80_000_000_000;
            brought >= carried(path.available, from, to) * 9 * u128::from(path.mss)
        };
        let count = (evidence.recording.ended_at - first) / length;
        let last = count.checked_sub(SUSTAINED)?;
        (0..=last).find(|at| (*at..at + SUSTAINED).all(is_enough)).map(|at| (at + 1) * length)
    }

    proptest::proptest! {
        #[test]
        fn intervals_in_which_nothing_comes_are_passed_over_and_change_nothing(
            steps in proptest::collection::vec((0..400_u64, 0..3_u64), 1..5),
            deliveries in proptest::collection::vec((0..400_u64, 1..6_u64), 0..40),
            ended in 100..500_u64,
        ) {
            let mut steps: Vec<(u64, u64)> =
                steps.iter().map(|(at, rate)| (at * MS, rate * 80_000_000)).collect();
            steps.sort_unstable();
            steps.dedup_by_key(|(at, _)| *at);
            steps[0] = (0, 80_000_000);
            let mut places: Vec<(u64, u64)> =
                deliveries.iter().map(|(at, packets)| ((at + 10) * MS, packets * 100 * 960)).collect();
            places.sort_unstable();
            let mut delivered = 0;
            for place in &mut places {
                delivered += place.1;
                place.1 = delivered;
            }
            let path = PathFacts { available: &steps, base_rtt: MS, packet: 1000, mss: 960 };
            let recording = Recording {
                first_data_at: Some(10 * MS),
                ended_at: (10 + ended) * MS,
                delivered: places,
                ..Recording::default()
            };
            let evidence = Evidence { recording, ..Evidence::default() };
            proptest::prop_assert_eq!(time_to_90pct(&evidence, &path), one_by_one(&evidence, &path));
        }
    }
}
