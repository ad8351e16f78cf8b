//! CUBIC (RFC 9438): the window grows along a cubic function of the time since the last congestion, or as Reno's
//! window would grow where that is faster.
//!
//! All arithmetic is in integers: windows in bytes with 16 bits of fraction, times in microseconds. The constants are
//! those of sections 4.6 and 5.1: C = 0.4 segments a second cubed, β = 0.7.

use super::signal::Signal;
use crate::interest::Interest;
use crate::interface::{Ack, Avoidance, Cause, Event, Exit, Path, Plan};
use crate::registry::{Ability, LawEntry, Needs};
use crate::u32_bytes::Bytes32;
use crate::u32_micros;
use crate::units::Bytes;
use crate::wide::{self, Wide};

/// β = 7/10 (section 4.6).
const BETA: (u64, u64) = (7, 10);
/// Fast convergence: `W_max = cwnd (1 + β) / 2` (section 4.7).
const CONVERGED: (u64, u64) = (17, 20);
/// Microseconds cubed in which C = 4/10 (section 5.1) yields one segment: 1 / C in seconds cubed.
const PER_SEGMENT: u64 = 2_500_000_000_000_000_000;
/// α = 3 (1 - β) / (1 + β) = 9/17 (section 4.3).
const ALPHA: (u64, u64) = (9, 17);

const FRACTION_BITS: u32 = 16;

/// The CUBIC law of RFC 9438.
#[derive(Clone, Debug, Default)]
pub struct Cubic {
    window: Bytes32,
    ssthresh: Option<Bytes32>,
    /// `W_max`; none before the first congestion and after a timeout.
    w_max: Option<Bytes32>,
    /// `W_est`: the window that Reno would have.
    estimate: Bytes32,
    /// `cwnd_prior`: the window before the last reduction; zero before the first.
    prior: Bytes32,
    /// K in microseconds.
    k: u32,
    /// Duration of this congestion-avoidance stage so far, in microseconds, saturating after 71 minutes. Time in
    /// which the window was not the limit does not count (section 4.2).
    elapsed: u32,
    /// Arrival time of the newest ACK, in microseconds modulo 2^32.
    acked_at: u32,
    window_fraction: u16,
    estimate_fraction: u16,
}

pub(crate) const CUBIC: LawEntry = LawEntry {
    name: "cubic",
    summary: "a cubic function of the time since the last loss, never slower than Reno; 0.7 of the flight at a loss",
    source: "RFC 9438",
    needs: Needs::of(&[Ability::AckClock]).using(&[Ability::Marks]),
    make: || Cubic::new().into(),
};

impl Cubic {
    /// Returns a law that has not taken over yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a stage at the present window (section 4.2). If `W_max` is not larger, K becomes 0 and `W_max` the
    /// present window (sections 4.8 and 4.10).
    fn begin_stage(&mut self, path: &Path) {
        let window = self.window.wide();
        let above = self.w_max.map_or(window, |w_max| w_max.wide().max(window));
        self.w_max = Some(above.into());
        self.k = time_to_rise(above - window, path.mss);
        self.estimate = self.window;
        if self.prior == Bytes32::ZERO {
            self.prior = self.window;
        }
        self.elapsed = 0;
        self.acked_at = u32_micros::at(path.now).0;
        (self.window_fraction, self.estimate_fraction) = (0, 0);
    }

    /// Reduces the window from `window` (sections 4.6 and 4.7).
    fn reduce(&mut self, window: Bytes, path: &Path) {
        let lower = self.w_max.is_some_and(|w_max| window < w_max.wide());
        let w_max = if lower { window.scale(CONVERGED.0, CONVERGED.1) } else { window };
        self.w_max = Some(w_max.into());
        self.cut(window, path);
        self.begin_stage(path);
    }

    /// Reduces the window as for a loss, but leaves the next stage without a `W_max` to return to (section 4.8).
    fn timed_out(&mut self, window: Bytes, path: &Path) {
        self.w_max = None;
        self.cut(window, path);
    }

    /// Sets ssthresh = β `FlightSize`, at least 2 SMSS. Packets that limited transmit sent beyond the window do not
    /// count.
    fn cut(&mut self, window: Bytes, path: &Path) {
        let target = path.flight.min(window).scale(BETA.0, BETA.1).max(path.mss * 2);
        self.prior = window.into();
        self.window = target.into();
        self.ssthresh = Some(self.window);
    }

    fn acked(&mut self, ack: &Ack<'_>, path: &Path) {
        let now = u32_micros::at(path.now).0;
        if ack.growth.is_zero() {
            // The stage's clock stands still in recovery and while the window is not the limit.
            if path.recovering || !ack.advanced.is_zero() {
                self.acked_at = now;
            }
            return;
        }
        // Section 4.2: time with nothing in flight does not count. The packet that this ACK acknowledges was sent one
        // RTT ago. If it was sent after the previous ACK arrived, nothing was in flight in between: an earlier packet
        // would have been acknowledged first.
        let under_way = ack.rtt.map_or(u32::MAX, |sample| u32_micros::of(sample.rtt).get());
        self.elapsed = self.elapsed.saturating_add(now.wrapping_sub(self.acked_at).min(under_way));
        self.acked_at = now;
        // The window in force is at least one segment. The window stored here can be smaller if the segment size has
        // increased.
        self.window = self.window.wide().max(path.mss).into();
        self.estimate = self.estimate.wide().max(path.mss).into();
        // One ACK can cover more than the window just after a reduction. As in Reno, the ACK counts as one window.
        let acked = ack.growth.min(self.window.wide());
        self.grow_estimate(acked, path.mss);
        let estimate = self.estimate.wide();
        if self.at(u64::from(self.elapsed), path.mss) < estimate {
            // Section 4.3: the Reno-friendly region.
            self.window = estimate.max(self.window.wide()).into();
        } else {
            self.approach_target(acked, path);
        }
    }

    /// Grows `W_est` by α segments per window, or by one segment per window once `W_est` has caught up (section 4.3).
    fn grow_estimate(&mut self, acked: Bytes, mss: Bytes) {
        let (num, den) = if self.estimate.wide() >= self.prior.wide() { (1, 1) } else { ALPHA };
        // Windows are below 4 GiB, and a segment is no larger than the window in force.
        let by = mss.get().min(u64::from(u32::MAX)) * num;
        let per = self.window.wide().get() * den;
        (self.estimate, self.estimate_fraction) =
            add(self.estimate, self.estimate_fraction, (by, per), acked);
    }

    /// Grows towards the function's value one RTT from now, which counts as at most one and a half windows (sections
    /// 4.4 and 4.5).
    fn approach_target(&mut self, acked: Bytes, path: &Path) {
        let window = self.window.wide();
        let rtt = path.srtt.map_or(0, |srtt| srtt.nanos() / 1_000);
        let target = self.at(u64::from(self.elapsed) + rtt, path.mss).clamp(window, window.scale(3, 2));
        let ratio = ((target - window).get(), window.get());
        (self.window, self.window_fraction) = add(self.window, self.window_fraction, ratio, acked);
    }

    /// Returns `W_cubic`(t) = C (t - K)³ + `W_max` in bytes, for `t` in microseconds (section 4.2, figure 1).
    fn at(&self, t: u64, mss: Bytes) -> Bytes {
        let k = u64::from(self.k);
        let away = t.abs_diff(k).min(u64::from(u32::MAX) * 2);
        let change = Bytes::new(cube(away).times(mss.get()).over(PER_SEGMENT).capped());
        let w_max = self.w_max.unwrap_or_default().wide();
        if t < k { w_max - change } else { w_max + change }
    }
}

/// Returns `value + acked × ratio` as whole bytes and a fraction of 16 bits.
fn add(value: Bytes32, fraction: u16, ratio: (u64, u64), acked: Bytes) -> (Bytes32, u16) {
    let grown = wide::mul_div(acked.get() << FRACTION_BITS, ratio.0, ratio.1);
    let before = value.wide().get() << FRACTION_BITS | u64::from(fraction);
    let whole = before.saturating_add(grown);
    let bytes = Bytes::new(whole >> FRACTION_BITS);
    (bytes.into(), u16::try_from(whole & u64::from(u16::MAX)).unwrap_or(0))
}

/// Returns K = ∛(rise / C) in microseconds (section 4.2, figure 2).
fn time_to_rise(rise: Bytes, mss: Bytes) -> u32 {
    cube_root(Wide::product(rise.get(), PER_SEGMENT).over(mss.get()))
}

/// Returns the largest integer whose cube is at most `x`, or `u32::MAX`.
fn cube_root(x: Wide) -> u32 {
    (0..u32::BITS).rev().fold(0, |root, bit| {
        let trial = root | 1 << bit;
        if cube(u64::from(trial)) <= x { trial } else { root }
    })
}

/// Returns the cube of a number of at most 42 bits.
fn cube(number: u64) -> Wide {
    Wide::product(number, number).times(number)
}

impl Avoidance for Cubic {
    const INTEREST: Interest<Self> = Interest::ALL.without_sends().without_later_losses().without_others();

    fn enter(&mut self, exit: &Exit, path: &Path) {
        let window = exit.learned.window;
        match (exit.cause, exit.learned.ssthresh) {
            (Cause::Timeout, None) => self.timed_out(window, path),
            (Cause::Loss | Cause::Mark, None) => self.reduce(window, path),
            (cause, ssthresh) => {
                if cause == Cause::Timeout {
                    self.w_max = None;
                }
                self.window = window.into();
                self.ssthresh = ssthresh.map(Bytes32::from).or(self.ssthresh);
                self.begin_stage(path);
            }
        }
    }

    #[inline(never)]
    fn on(&mut self, event: &Event<'_>, path: &Path) {
        match Signal::of(event) {
            Signal::Ack(ack) => self.acked(ack, path),
            Signal::Congestion(Cause::Timeout) => self.timed_out(self.window.wide(), path),
            Signal::Congestion(_) => self.reduce(self.window.wide(), path),
            Signal::Inert => {}
        }
    }

    fn forget_path(&mut self) {
        *self = Self::new();
    }

    #[inline]
    fn plan(&self, _path: &Path) -> Plan {
        Plan::ack_clocked(self.window.wide(), self.ssthresh.map(Bytes32::wide))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MSS: Bytes = Bytes::new(1_000);

    fn cubic(window: u64, w_max: u64) -> Cubic {
        let rise = MSS * (w_max - window);
        let k = time_to_rise(rise, MSS);
        Cubic { window: (MSS * window).into(), w_max: Some((MSS * w_max).into()), k, ..Cubic::new() }
    }

    proptest! {
        #[test]
        fn the_cube_root_is_the_greatest_integer_whose_cube_is_not_above(x in 0..u128::from(u32::MAX).pow(3)) {
            let root = u128::from(cube_root(x.into()));
            prop_assert!(root.pow(3) <= x && x < (root + 1).pow(3));
        }

        #[test]
        fn the_function_is_that_of_exact_arithmetic(
            t in 0..1u64 << 34, k: u32, w_max in 0..u32::MAX, mss in 1..1u64 << 32, shift in 0..32u32,
        ) {
            let (t, k) = (t >> shift, k >> shift);
            let law = Cubic { w_max: Some(Bytes32::from_u32(w_max)), k, ..Cubic::new() };
            let away = u128::from(t.abs_diff(u64::from(k)).min(u64::from(u32::MAX) * 2));
            let change = (away * away * away).saturating_mul(4 * u128::from(mss)) / (10 * 10u128.pow(18));
            let change = Bytes::new(u64::try_from(change).unwrap_or(u64::MAX));
            let w_max = Bytes::new(u64::from(w_max));
            let exact = if t < u64::from(k) { w_max - change } else { w_max + change };
            prop_assert_eq!(law.at(t, Bytes::new(mss)), exact);
        }

        #[test]
        fn growth_is_that_of_exact_arithmetic(
            value in 0..u32::MAX, fraction: u16, by in 0..1u64 << 36, per in 1..1u64 << 37, acked in 0..1u64 << 32,
        ) {
            let grown = (u128::from(acked) * u128::from(by)) << FRACTION_BITS;
            let whole = (u128::from(value) << FRACTION_BITS) + u128::from(fraction) + grown / u128::from(per);
            let bytes = Bytes::new(u64::try_from(whole >> FRACTION_BITS).unwrap_or(u64::MAX));
            let found = add(Bytes32::from_u32(value), fraction, (by, per), Bytes::new(acked));
            prop_assert_eq!(found.0, bytes.into());
            // The fraction of a saturated window never shows.
            prop_assume!(whole >> 64 == 0);
            prop_assert_eq!(u128::from(found.1), whole & 0xFFFF);
        }

        #[test]
        fn k_is_that_of_exact_arithmetic(rise in 0..1u64 << 32, mss in 0..1u64 << 32, shift in 0..32u32) {
            let mss = mss >> shift;
            let cubed = u128::from(rise) * 10 * 10u128.pow(18) / (4 * u128::from(mss.max(1)));
            let root = u128::from(time_to_rise(Bytes::new(rise), Bytes::new(mss)));
            prop_assert!(root == u128::from(u32::MAX) || root.pow(3) <= cubed && cubed < (root + 1).pow(3));
        }
    }

    #[test]
    fn k_is_the_cube_root_of_the_rise_over_c() {
        // W_max 100, cwnd_epoch 70: K = (30 / 0.4)^(1/3) = 4.217163 s.
        assert_eq!(time_to_rise(MSS * 30, MSS), 4_217_163);
        assert_eq!(time_to_rise(Bytes::ZERO, MSS), 0);
    }

    #[test]
    fn cubic_function_starts_at_the_reduced_window_and_plateaus_at_w_max() {
        let law = cubic(70, 100);
        let start = law.at(0, MSS).get();
        assert!((70_000..70_002).contains(&start), "{start}");
        assert_eq!(law.at(u64::from(law.k), MSS), MSS * 100);
        // One second after K the window is C segments larger.
        assert_eq!(law.at(u64::from(law.k) + 1_000_000, MSS), MSS * 100 + Bytes::new(400));
        // One second before K the window is C segments smaller.
        assert_eq!(law.at(u64::from(law.k) - 1_000_000, MSS), MSS * 100 - Bytes::new(400));
    }

    #[test]
    fn fractions_of_bytes_are_carried() {
        // 1460 bytes of a window of a million, towards a target one byte away: 0.00146 bytes per ACK.
        let (mut value, mut fraction) = (Bytes32::from(Bytes::new(1_000_000)), 0);
        for _ in 0..1_000 {
            (value, fraction) = add(value, fraction, (1, 1_000_000), Bytes::new(1_460));
        }
        // 1.46 bytes, minus the part below 2^-16 of a byte for each ACK.
        assert_eq!(value.wide(), Bytes::new(1_000_001));
    }
}
