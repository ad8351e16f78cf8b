//! The eligible rate estimate of TCP Westwood: the rate to which a connection is entitled, from the times and sizes of its ACKs (Wang, Pau,
//! Sanadidi and Gerla, slides of March 2003; adaptive bandwidth share estimation, ABSE).
//!
//! A sample is the bytes acknowledged in the last `T_k`, over `T_k`. With `T_k` of one ACK interval the sample is the bandwidth estimate
//! BE, a packet pair. With `T_k` of one RTT the sample is the rate estimate RE, a packet train. The eligible rate moves `T_k` between the
//! two according to how congested the path is. A first-order low-pass filter (Tustin's) with a time constant smooths the samples.
//!
//! All arithmetic is in integers: rates in 1/256 bit per second of payload, times in nanoseconds, products in up to 128 bits.
//!
//! Deviations. To keep the state small, an interval longer than the last 8 ACKs is rounded up to the next of 16 marks, which are a tenth of
//! an RTT apart. An ACK of packets that the application or the receiver limited gives no sample; ABSE lets the estimate decay.

use crate::evidence::is_starved;
use crate::interface::{Ack, Path};
use crate::units::{Bytes, Rate, Span, Time};
use crate::wide::{self, Wide};

/// Fixed-point rates have this many bits after the point.
const POINT: u32 = 8;
/// Marks of the newest ACKs, one each.
const RECENT: usize = 8;
/// Number of marks a [`TENTH`] of an RTT apart, which span more than one RTT.
const DISTANT: usize = 16;
const TENTH: u64 = 10;
/// The weight of the old value in the average `Th` (ABSE, 0.6).
const KEEP: (u64, u64) = (6, 10);
/// N: the maximum number of RTTs by which ABSE's time constant grows (ABSE, 10).
const STRETCH: u64 = 10;
/// Maximum time constant in nanoseconds. With it the sum of the filter's weights fits 64 bits.
const MAX_CONSTANT: u64 = 1 << 61;
/// Number of variations of which `U_max` is the maximum (ABSE, from memory of the paper).
const VARIATIONS: usize = 10;

/// The choice of `T_k` and of the time constant (choice-16).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sampler {
    /// `T_k = RTT - RTT_min`; τ is a quarter of the RTT.
    Vegas,
    /// ABSE as printed: the congestion level is the part of the window beyond `Th · RTT_min`; τ = RTT (1 + N U /
    /// `U_max`).
    Abse,
    /// ABSE with the window of one RTT ago, which produced the present `Th`.
    AbseLagged,
    /// RE: `T_k` is one RTT; τ is a quarter of it.
    Re,
    /// BE: `T_k` is one ACK interval; τ is a quarter of the RTT.
    Be,
}

/// The number of bytes that an ACK counts for (choice-17).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Count {
    /// Bytes that the ACK newly acknowledges, selectively or cumulatively; without SACK a duplicate ACK counts for one segment.
    Delivered,
    /// Westwood's count: a duplicate ACK counts for one segment whatever SACK says, and the cumulative ACK counts for the remaining bytes.
    Duplicates,
}

/// The estimator of the eligible rate.
#[derive(Clone, Debug)]
pub(crate) struct EligibleRate {
    recent: Marks<RECENT>,
    distant: Marks<DISTANT>,
    /// Bytes acknowledged so far, modulo 2^32.
    acked: u32,
    /// Bytes counted for duplicates and not yet acknowledged cumulatively.
    credit: u32,
    /// The newest sample and the estimate; none before the second ACK.
    newest: Option<Fixed>,
    estimate: Option<Fixed>,
    /// ABSE's average throughput `Th`, its variation U, and the last values of U.
    throughput: Fixed,
    variation: Fixed,
    variations: [Fixed; VARIATIONS],
    next_variation: u8,
    sampler: Sampler,
    count: Count,
}

/// A rate in 1/256 bit per second.
type Fixed = u64;

/// The bytes acknowledged up to an instant.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    at: Time,
    acked: u32,
    /// The window at that instant, saturating.
    cwnd: u32,
}

impl EligibleRate {
    /// Returns an estimator that has seen no ACK.
    pub(crate) fn new(sampler: Sampler, count: Count) -> Self {
        Self {
            recent: Marks::default(),
            distant: Marks::default(),
            acked: 0,
            credit: 0,
            newest: None,
            estimate: None,
            throughput: 0,
            variation: 0,
            variations: [0; VARIATIONS],
            next_variation: 0,
            sampler,
            count,
        }
    }

    /// Discards the estimate and the history.
    pub(crate) fn restart(&mut self) {
        *self = Self::new(self.sampler, self.count);
    }

    /// Freezes the estimate: no later interval begins before the present instant.
    pub(crate) fn pause(&mut self) {
        self.recent = Marks::default();
        self.distant = Marks::default();
    }

    /// Returns the estimate in bits of payload per second; none before the second ACK.
    pub(crate) fn rate(&self) -> Option<Rate> {
        self.estimate.map(|fixed| Rate::from_bps(fixed >> POINT))
    }

    /// Returns the window to which the estimate entitles the connection: ERE · `RTT_min`.
    pub(crate) fn window(&self, path: &Path) -> Option<Bytes> {
        Some(self.rate()?.over(path.min_rtt?))
    }

    /// Updates the estimate for an ACK.
    pub(crate) fn on_ack(&mut self, ack: &Ack<'_>, path: &Path) {
        let bytes = self.bytes_of(ack, path);
        if bytes == 0 {
            return;
        }
        if is_starved(ack, path) {
            self.pause();
            return;
        }
        self.acked = self.acked.wrapping_add(bytes);
        let before = self.recent.newest();
        if before.is_some_and(|before| path.now <= before.at) {
            // ACKs at one instant count as one.
            return;
        }
        if let (Some(before), Some(rtt)) = (before, path.latest_rtt) {
            self.sample(path, rtt, path.now.since(before.at));
        }
        let cwnd = u32::try_from(path.cwnd.get()).unwrap_or(u32::MAX);
        let mark = Mark { at: path.now, acked: self.acked, cwnd };
        self.recent.push(mark);
        let spacing = path.latest_rtt.unwrap_or_default() / TENTH;
        if self.distant.newest().is_none_or(|last| path.now.since(last.at) >= spacing) {
            self.distant.push(mark);
        }
    }

    fn bytes_of(&mut self, ack: &Ack<'_>, path: &Path) -> u32 {
        let short = |bytes: Bytes| u32::try_from(bytes.get()).unwrap_or(u32::MAX);
        let reported = match self.count {
            Count::Delivered => short(ack.bytes),
            Count::Duplicates => short(ack.advanced),
        };
        let mss = short(path.mss);
        if reported == 0 && ack.duplicate {
            self.credit = self.credit.saturating_add(mss);
            return mss;
        }
        // Linux, westwood_acked_count: a cumulative ACK for more than one segment first pays back the segments counted for duplicates. A
        // cumulative ACK that is fully paid for still shows that one segment arrived.
        if reported <= mss || self.credit == 0 {
            return reported;
        }
        let paid = self.credit.min(reported);
        self.credit -= paid;
        if paid == reported { mss } else { reported - paid }
    }

    /// Takes a sample at an ACK that arrived `interval` after the previous one.
    fn sample(&mut self, path: &Path, rtt: Span, interval: Span) {
        let span = self.sampling_interval(path, rtt, interval);
        let Some(sample) = self.over(path.now, span) else { return };
        let before = self.newest.replace(sample);
        let (Some(before), Some(estimate)) = (before, self.estimate) else {
            self.estimate = Some(sample);
            return;
        };
        let variation = blend(self.variation, sample.abs_diff(before));
        self.variation = variation;
        if let Some(oldest) = self.variations.get_mut(usize::from(self.next_variation)) {
            *oldest = variation;
        }
        self.next_variation = if self.next_variation < 9 { self.next_variation + 1 } else { 0 };
        let constant = match self.sampler {
            Sampler::Vegas | Sampler::Re | Sampler::Be => rtt / 4,
            Sampler::Abse | Sampler::AbseLagged => {
                let max = self.variations.iter().copied().fold(0, greater);
                rtt + (rtt * STRETCH).scale(variation, max.max(1))
            }
        };
        self.estimate = Some(tustin(estimate, (before, sample), interval, constant));
    }

    /// Returns `T_k`, between one ACK interval and a round trip.
    fn sampling_interval(&mut self, path: &Path, rtt: Span, interval: Span) -> Span {
        let wanted = match self.sampler {
            Sampler::Be => interval,
            Sampler::Re => rtt,
            Sampler::Vegas => rtt - path.min_rtt.unwrap_or(rtt),
            Sampler::Abse | Sampler::AbseLagged => {
                self.throughput = blend(self.throughput, self.over(path.now, rtt).unwrap_or(0));
                let window = match self.sampler {
                    Sampler::AbseLagged => self.window_at(path, rtt),
                    _ => path.cwnd,
                };
                let held = Rate::from_bps(self.throughput >> POINT).over(path.min_rtt.unwrap_or_default());
                congested_share(rtt, window, held)
            }
        };
        wanted.min(rtt).max(interval)
    }

    /// Returns the rate of the bytes acknowledged in the last `span`. The interval begins at the newest mark that is at least that old.
    /// While the history is shorter than `span`, all of its bytes count, still divided by `span`.
    fn over(&self, now: Time, span: Span) -> Option<Fixed> {
        let mark = self.mark(now, span)?;
        let bytes = self.acked.wrapping_sub(mark.acked);
        let nanos = now.since(mark.at).max(span).nanos();
        Some(wide::mul_div(u64::from(bytes), 8_000_000_000 << POINT, nanos))
    }

    fn window_at(&self, path: &Path, ago: Span) -> Bytes {
        self.mark(path.now, ago).map_or(path.cwnd, |mark| Bytes::new(u64::from(mark.cwnd)))
    }

    /// Returns the newest mark at least `ago` old, or else the oldest mark. The oldest mark is a distant one: every distant mark was a
    /// recent one first, and there are more distant marks.
    fn mark(&self, now: Time, ago: Span) -> Option<Mark> {
        let distant = || self.distant.at_least(now, ago).or_else(|| self.distant.oldest());
        self.recent.at_least(now, ago).or_else(distant)
    }
}

/// Returns ABSE's `T_k` = RTT (cwin - `Th · RTT_min`) / cwin, or zero when the window is at most `Th · RTT_min`.
fn congested_share(rtt: Span, window: Bytes, held: Bytes) -> Span {
    rtt.scale((window - held).get(), window.get())
}

/// Returns 0.6 of the old value `was` plus 0.4 of the new value `is`.
fn blend(was: Fixed, is: Fixed) -> Fixed {
    let [kept, new] = [(was, KEEP.0), (is, KEEP.1 - KEEP.0)]
        .map(|(rate, weight)| (rate / KEEP.1 * weight, rate % KEEP.1 * weight));
    kept.0 + new.0 + (kept.1 + new.1) / KEEP.1
}

/// Applies Tustin's filter: α = (2τ - Δt) / (2τ + Δt). The new estimate is α times the old one plus 1 - α times the mean of the last two
/// samples. An interval beyond 2τ, where α would be negative, uses the mean alone. τ is at most 73 years.
fn tustin(estimate: Fixed, samples: (Fixed, Fixed), interval: Span, constant: Span) -> Fixed {
    let twice = constant.nanos().min(MAX_CONSTANT) * 2;
    let interval = interval.nanos().min(twice).max(1);
    let twice = twice.max(interval);
    let mean_twice = Wide::product(interval, samples.0).plus(Wide::product(interval, samples.1));
    let sum = Wide::product(twice - interval, estimate).plus(mean_twice);
    sum.over(twice + interval).capped()
}

/// The newest `N` marks.
#[derive(Clone, Debug)]
struct Marks<const N: usize> {
    ring: [Mark; N],
    /// The place of the next mark, and the number of marks.
    next: u8,
    len: u8,
}

impl<const N: usize> Default for Marks<N> {
    fn default() -> Self {
        Self { ring: [Mark::default(); N], next: 0, len: 0 }
    }
}

impl<const N: usize> Marks<N> {
    #[expect(clippy::cast_possible_truncation, reason = "N is at most 16")]
    fn push(&mut self, mark: Mark) {
        self.ring[usize::from(self.next) % N] = mark;
        self.next = (self.next + 1) % N as u8;
        self.len = (self.len + 1).min(N as u8);
    }

    fn newest(&self) -> Option<Mark> {
        self.back(0)
    }

    fn oldest(&self) -> Option<Mark> {
        self.back(usize::from(self.len).wrapping_sub(1))
    }

    /// Returns the newest mark at least `ago` old; no mark is later than `now`. Each mark is older than the next, so the number of marks
    /// newer than the result equals the number of marks younger than `ago`. They are counted without a branch: the BPF verifier follows
    /// every path through a program, and a search adds one path per mark. A place without a mark counts as a mark of time zero, and as
    /// younger than `ago` only if every mark is.
    fn at_least(&self, now: Time, ago: Span) -> Option<Mark> {
        let age = |mark: &Mark| now.nanos().wrapping_sub(mark.at.nanos());
        let younger: u64 = self.ring.iter().map(|mark| is_less(age(mark), ago.nanos())).sum();
        self.back(usize::try_from(younger).unwrap_or(N))
    }

    /// Returns the mark that has `newer` newer ones.
    fn back(&self, newer: usize) -> Option<Mark> {
        (newer < usize::from(self.len)).then(|| self.ring[(usize::from(self.next) + 2 * N - 1 - newer) % N])
    }
}

/// Returns 1 if `one < other`, else 0, without a branch: the borrow of the difference.
const fn is_less(one: u64, other: u64) -> u64 {
    (!one & other | (!one | other) & one.wrapping_sub(other)) >> 63
}

/// Returns the greater of two numbers, without a branch.
const fn greater(one: u64, other: u64) -> u64 {
    one ^ (one ^ other) & is_less(one, other).wrapping_neg()
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use crate::interface::SendLimit;
    use proptest::prelude::*;

    /// Generates numbers of every length in bits.
    fn number() -> impl Strategy<Value = u64> {
        (any::<u64>(), 0..u64::BITS).prop_map(|(bits, shift)| bits >> shift)
    }

    proptest! {
        #[test]
        fn the_average_is_that_of_exact_arithmetic(was in number(), is in number()) {
            let exact = (u128::from(was) * 6 + u128::from(is) * 4) / 10;
            prop_assert_eq!(u128::from(blend(was, is)), exact);
        }

        #[test]
        fn the_filter_is_that_of_exact_arithmetic(
            estimate in number(), one in number(), other in number(), interval in number(), constant in 0..=MAX_CONSTANT,
        ) {
            let twice = u128::from(constant) * 2;
            let between = u128::from(interval).min(twice).max(1);
            let twice = twice.max(between);
            let mean_twice = u128::from(one) + u128::from(other);
            let exact = ((twice - between) * u128::from(estimate) + between * mean_twice) / (twice + between);
            let found = tustin(estimate, (one, other), Span::from_nanos(interval), Span::from_nanos(constant));
            prop_assert_eq!(u128::from(found), exact);
        }
    }

    const MSS: Bytes = Bytes::new(1_000);

    fn millis(count: u64) -> Span {
        Span::from_millis(count)
    }

    #[test]
    fn abse_congestion_share_is_the_excess_window_fraction_of_the_rtt() {
        // Th · RTT_min = 80, cwin = 100, RTT 0.1 s.
        assert_eq!(congested_share(millis(100), MSS * 100, MSS * 80), millis(20));
        assert_eq!(congested_share(millis(100), MSS * 100, MSS * 120), Span::ZERO);
        // A window of twice the BDP gives half a round trip.
        assert_eq!(congested_share(millis(100), MSS * 200, MSS * 100), millis(50));
    }

    #[test]
    fn the_filter_moves_by_the_interval_over_the_time_constant() {
        // α = (2 · 25 - 1) / (2 · 25 + 1) = 49 / 51; from zero towards 51 000: 2 / 51 of it.
        assert_eq!(tustin(0, (51_000, 51_000), millis(1), millis(25)), 2_000);
        assert_eq!(tustin(51_000, (51_000, 51_000), millis(1), millis(25)), 51_000);
        // A long silence: the mean of the two samples.
        assert_eq!(tustin(99, (10, 30), millis(500), millis(25)), 20);
        assert_eq!(tustin(99, (10, 30), Span::ZERO, Span::ZERO), 20);
    }

    #[test]
    fn the_average_keeps_six_tenths() {
        assert_eq!(blend(1_000, 500), 800);
    }

    /// 400 ACKs with the estimates of `bench/eligible_rate.py`, a second implementation from the slides.
    const LIST: &str = include_str!("eligible_rate.csv");

    /// `T_k` of one interval is exact, and so is `T_k` of at most eight intervals, which the first 280 rows have. A longer `T_k` is rounded
    /// up to a mark: over bursts and silences this changes RE by up to 27 %.
    #[test]
    fn the_estimates_are_those_of_a_second_implementation() {
        let mut estimators = [Sampler::Vegas, Sampler::Re, Sampler::Be]
            .map(|sampler| EligibleRate::new(sampler, Count::Delivered));
        let mut min_rtt: Option<Span> = None;
        for (row, line) in LIST.lines().skip(2).enumerate() {
            let numbers: std::vec::Vec<Option<u64>> = line.split(',').map(|one| one.parse().ok()).collect();
            let [Some(at), Some(bytes), Some(rtt), vegas, re, be, window] = numbers[..] else {
                panic!("{line}")
            };
            let (rtt, bytes) = (Span::from_nanos(rtt), Bytes::new(bytes));
            min_rtt = min_rtt.min(Some(rtt)).or(Some(rtt));
            let path = Path {
                latest_rtt: Some(rtt),
                min_rtt,
                limit: SendLimit::Window,
                ..Path::new(Time::ZERO + Span::from_nanos(at), Bytes::new(1_460), Bytes::new(1_500))
            };
            let ack = Ack { bytes, advanced: bytes, ..Ack::of_stream(&[]) };
            for estimator in &mut estimators {
                estimator.on_ack(&ack, &path);
            }
            let own = estimators.each_ref().map(|one| one.rate().map(Rate::bps));
            let is_near = |own: Option<u64>, other: Option<u64>, permille: u64, slack: u64| match (own, other)
            {
                (Some(own), Some(other)) => own.abs_diff(other) <= slack + other * permille / 1_000,
                (own, other) => own == other,
            };
            let permille = if row < 280 { 0 } else { 25 };
            assert!(is_near(own[0], vegas, permille, 2), "row {row}: {own:?}, {line}");
            assert!(is_near(own[1], re, 300, 2), "row {row}: {own:?}, {line}");
            assert!(is_near(own[2], be, 0, 2), "row {row}: {own:?}, {line}");
            let own_window = estimators[0].window(&path).map(Bytes::get);
            assert!(is_near(own_window, window, permille, 1), "row {row}: {own_window:?}, {line}");
        }
    }

    #[test]
    fn marks_overwrite_the_oldest_entry() {
        let mut marks = Marks::<3>::default();
        assert!(marks.newest().is_none() && marks.oldest().is_none());
        for acked in 1..=4 {
            marks.push(Mark { acked, ..Mark::default() });
        }
        let there = [0, 1, 2].map(|newer| marks.back(newer).map(|mark| mark.acked));
        assert_eq!(there, [Some(4), Some(3), Some(2)]);
        assert!(marks.back(3).is_none());
        assert_eq!(marks.oldest().map(|mark| mark.acked), Some(2));
    }

    proptest! {
        #[test]
        fn comparisons_without_a_branch_are_comparisons(one in number(), other in number()) {
            prop_assert_eq!(is_less(one, other), u64::from(one < other));
            prop_assert_eq!(is_less(one, one), 0);
            prop_assert_eq!(greater(one, other), one.max(other));
        }

        /// The marks as a list, with a search through it.
        #[test]
        fn the_found_mark_is_the_newest_old_enough_or_the_oldest(
            gaps in proptest::collection::vec((1..60_000_000_u64, any::<bool>()), 0..60),
            after in 1..60_000_000_u64,
            ago in prop_oneof![0..200_000_000_u64, number()],
        ) {
            let mut rate = EligibleRate::new(Sampler::Vegas, Count::Delivered);
            let (mut recent, mut distant) = (std::vec::Vec::new(), std::vec::Vec::new());
            let mut now = Time::ZERO;
            for (acked, (gap, is_distant)) in (1..).zip(gaps) {
                now = now + Span::from_nanos(gap);
                let mark = Mark { at: now, acked, cwnd: 0 };
                rate.recent.push(mark);
                recent.push(mark);
                if is_distant || distant.is_empty() {
                    rate.distant.push(mark);
                    distant.push(mark);
                }
            }
            let (now, ago) = (now + Span::from_nanos(after), Span::from_nanos(ago));
            let kept = || recent.iter().rev().take(RECENT).chain(distant.iter().rev().take(DISTANT));
            let found = kept().find(|mark| now.since(mark.at) >= ago);
            let found = found.or_else(|| kept().min_by_key(|mark| mark.at));
            prop_assert_eq!(rate.mark(now, ago).map(|mark| mark.acked), found.map(|mark| mark.acked));
        }
    }
}
