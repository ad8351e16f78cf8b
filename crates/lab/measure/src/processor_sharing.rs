//! Processor sharing: the ends of transfers by ideal senders on one hop. At each instant each transfer under way has an equal share of the
//! rate (docs/reference/models.md).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Returns the end of each of `transfers` on a hop, in nanoseconds; `None` if a transfer never ends.
///
/// Each of `transfers` has its start in nanoseconds and its size in IP bits. `left` has the steps of the hop's rate minus the unresponsive
/// traffic, in bits per second; no transfer is served at a negative rate. `others` has the start and the end of each flow without a size,
/// which also takes an equal share of the rate.
pub(crate) fn ends(
    left: &[(u64, i64)],
    others: &[(u64, Option<u64>)],
    transfers: &[(u64, u64)],
) -> Vec<Option<u64>> {
    let mut events: Vec<(u64, Event)> = left.iter().map(|(at, bps)| (*at, Event::Rate(*bps))).collect();
    for (from, until) in others {
        events.push((*from, Event::Began));
        events.extend(until.map(|until| (until, Event::Ended)));
    }
    events.extend(transfers.iter().enumerate().map(|(index, (at, _))| (*at, Event::Transfer(index))));
    events.sort_unstable();
    let mut server = Server { ends: vec![None; transfers.len()], ..Server::default() };
    for (at, event) in events {
        server.until(at);
        match event {
            Event::Rate(bps) => server.bps = u64::try_from(bps).unwrap_or(0),
            Event::Began => server.others += 1,
            Event::Ended => server.others = server.others.saturating_sub(1),
            Event::Transfer(index) => {
                let end = server.served + u128::from(transfers[index].1) * BIT;
                server.waiting.push(Reverse((end, index)));
            }
        }
    }
    server.until(u64::MAX);
    server.ends
}

/// A change on the hop.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Rate(i64),
    Ended,
    Began,
    Transfer(usize),
}

/// The units of service in one bit. A rate in bits per second, shifted left by 20, is the service of a nanosecond in these units. Products
/// of service and the number of transfers can exceed 128 bits, so [`Server::until`] divides first.
const BIT: u128 = 1_000_000_000 << 20;

#[derive(Default)]
struct Server {
    now: u64,
    bps: u64,
    /// The number of flows without a size that are under way.
    others: u64,
    /// The service up to `now` of a transfer that started with the simulation, in units of 1 / [`BIT`] bits.
    served: u128,
    /// The transfers under way: the value of `served` at which each ends, and its index.
    waiting: BinaryHeap<Reverse<(u128, usize)>>,
    ends: Vec<Option<u64>>,
}

impl Server {
    /// Serves until `at`.
    fn until(&mut self, at: u64) {
        while let Some(Reverse((end, index))) = self.waiting.peek().copied() {
            let sharers = u128::from(self.others) + self.waiting.len() as u128;
            let rate = u128::from(self.bps) << 20;
            if rate == 0 {
                break;
            }
            let (whole, rest) = ((end - self.served) / rate, (end - self.served) % rate);
            let wait = whole.saturating_mul(sharers).saturating_add((rest * sharers).div_ceil(rate));
            let done = u128::from(self.now).saturating_add(wait);
            if done > u128::from(at) {
                let (time, rest) = (u128::from(at - self.now), rate % sharers);
                self.served += time * (rate / sharers) + time * rest / sharers;
                break;
            }
            self.served = end;
            self.now = u64::try_from(done).unwrap_or(u64::MAX);
            self.ends[index] = Some(self.now);
            self.waiting.pop();
        }
        self.now = at;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    /// At this rate, a megabit takes a second.
    const LEFT: [(u64, i64); 1] = [(0, 1_000_000)];

    fn millis(ends: Vec<Option<u64>>) -> Vec<Option<u64>> {
        ends.into_iter().map(|end| end.map(|end| end.div_ceil(MS))).collect()
    }

    #[test]
    fn a_transfer_alone_takes_its_bits_over_the_rate() {
        assert_eq!(millis(ends(&LEFT, &[], &[(5 * MS, 100_000)])), [Some(105)]);
        assert_eq!(millis(ends(&[(0, 1_000_000), (50 * MS, 500_000)], &[], &[(0, 100_000)])), [Some(150)]);
        assert_eq!(ends(&[(0, 1_000_000), (50 * MS, -1)], &[], &[(0, 100_000)]), [None]);
    }

    #[test]
    fn transfers_share_while_they_are_under_way() {
        // The first ends at 100 ms, when each has 50 ms of service. The second then has the rate alone, for 50 ms.
        assert_eq!(millis(ends(&LEFT, &[], &[(0, 50_000), (0, 100_000)])), [Some(100), Some(150)]);
        // The first has had 60 ms alone when the second arrives. Then both share the rate, with 40 ms of service left for each.
        assert_eq!(millis(ends(&LEFT, &[], &[(0, 100_000), (60 * MS, 40_000)])), [Some(140), Some(140)]);
    }

    #[test]
    fn a_flow_without_a_size_takes_a_share_while_it_lasts() {
        assert_eq!(millis(ends(&LEFT, &[(0, None)], &[(0, 100_000)])), [Some(200)]);
        assert_eq!(millis(ends(&LEFT, &[(0, Some(100 * MS))], &[(0, 100_000)])), [Some(150)]);
    }

    #[test]
    fn the_largest_rates_and_sizes_are_served_without_an_overflow() {
        let many = vec![(0, u64::MAX); 20_000];
        assert_eq!(ends(&LEFT, &[], &many), vec![None; 20_000], "it takes longer than there is time");
        let all = vec![(0, u64::MAX); 300];
        let fast = [(0, i64::MAX)];
        // 300 transfers of 2^64 bits each, at 2^63 bits a second.
        let last = ends(&fast, &[(0, None)], &all)[299].expect("an end");
        assert!(last.abs_diff(602 * 1_000_000_000) < 1_000, "{last}");
        assert_eq!(ends(&fast, &[], &[(u64::MAX - 1, u64::MAX)]), [None]);
    }

    /// Serves transfers in steps of a microsecond. Those under way have equal shares of a gigabit a second.
    fn served_in_steps(transfers: &[(u64, u64)]) -> Vec<u64> {
        let mut left: Vec<f64> =
            transfers.iter().map(|(_, bits)| f64::from(u32::try_from(*bits).expect("few"))).collect();
        let mut ends = vec![0; transfers.len()];
        for now in (0..).step_by(1_000) {
            let is_there = |index: &usize| transfers[*index].0 <= now && left[*index] > 0.0;
            let there: Vec<usize> = (0..left.len()).filter(is_there).collect();
            for &index in &there {
                left[index] -= 1_000.0 / f64::from(u32::try_from(there.len()).expect("few"));
                ends[index] = now + 1_000;
            }
            if left.iter().all(|bits| *bits <= 0.0) {
                return ends;
            }
        }
        ends
    }

    proptest::proptest! {
        #[test]
        fn ends_are_those_of_ideal_senders_in_small_steps(
            transfers in proptest::collection::vec((0_u64..2_000, 1_u64..1_000), 1..20),
        ) {
            let transfers: Vec<(u64, u64)> =
                transfers.iter().map(|(at, kilobits)| (at * 1_000, kilobits * 1_000)).collect();
            let found = ends(&[(0, 1_000_000_000)], &[], &transfers);
            // The end of every other transfer may be off by a step, and each changes this transfer's end by as much.
            for (found, wanted) in found.into_iter().zip(served_in_steps(&transfers)) {
                proptest::prop_assert!(found.is_some_and(|at| at.abs_diff(wanted) <= 25_000), "{found:?}, {wanted}");
            }
        }
    }

    /// In processor sharing, a flow without an end has the share of the rate that Poisson arrivals leave, whatever their sizes.
    #[test]
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    fn next_to_arrivals_of_a_load_a_long_transfer_has_the_rest() {
        let mut seed = 1_u64;
        let mut random = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as f64 / f64::from(1_u32 << 31)
        };
        // A quarter of a gigabit a second, in transfers of 8 kbit to 1 Mbit.
        let (mut at, mut transfers) = (0.0, vec![(0, 7_500_000_000)]);
        while at < 12e9 {
            let bits = 8_000.0 + 992_000.0 * random().powi(4);
            at -= (1.0 - random()).ln() * (8_000.0 + 992_000.0 / 5.0) / 0.25;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
            transfers.push((at as u64, bits as u64));
        }
        let end = ends(&[(0, 1_000_000_000)], &[], &transfers)[0].expect("an end");
        assert!((end as f64 / 10e9 - 1.0).abs() < 0.02, "{end} for ten seconds");
    }
}
