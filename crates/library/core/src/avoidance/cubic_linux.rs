//! CUBIC as Linux implements it (`net/ipv4/tcp_cubic.c`): windows are in whole segments, times in ticks of a
//! millisecond, and growth is a number of acknowledged segments per segment of window.
//!
//! Differences from RFC 9438. A loss leaves 717/1024 of the window, not of the flight. Before the first loss, and
//! after a timeout, the window grows by at least one segment per 20 acknowledged. The window grows by at most half of
//! the segments acknowledged. While the window is unchanged, the function is evaluated once per 32 ms. An idle time
//! shifts the whole epoch.
//!
//! Deviation: Linux discards the function's threshold when a timeout ends an episode that had already reduced the
//! window. Here a repeated timeout is not reported to the law.

use super::signal::Signal;
use crate::interface::{Ack, Avoidance, Cause, Event, Exit, Path, Plan};
use crate::registry::{Ability, LawEntry, Needs};
use crate::u32_bytes::Bytes32;
use crate::units::Time;
use crate::wide;

/// `beta`, of `BICTCP_BETA_SCALE`.
const BETA: (u64, u64) = (717, 1_024);
/// `beta_scale`: eight times (1 + β) / (3 (1 - β)), in the kernel's integers.
const FRIENDLY: u32 = 15;
/// `cube_rtt_scale`: `bic_scale` of 41 for a round trip of 100 ms.
const CUBE_SCALE: u64 = 410;
/// `BICTCP_HZ`: the function's time is in 1/1024 s.
const SECOND_SHIFT: u32 = 10;
/// `bictcp_update`: before the first loss, the window grows by at least one segment per this many acknowledged
/// segments.
const MAX_COUNT_BEFORE_LOSS: u32 = 20;
/// Minimum time between two evaluations of the function at an unchanged window, in ticks (`bictcp_update`: `HZ / 32`).
const MIN_INTERVAL: u32 = 31;

/// The CUBIC law as Linux implements it.
#[derive(Clone, Debug, Default)]
pub struct CubicLinux {
    window: Bytes32,
    ssthresh: Option<Bytes32>,
    /// `cnt`: the number of acknowledged segments per segment of window growth.
    count: u32,
    /// `snd_cwnd_cnt`: segments acknowledged towards the next widening.
    credit: u32,
    /// `last_max_cwnd`, in segments; 0 is none.
    last_max: u32,
    /// `last_cwnd` and `last_time`: the window and the time of the last evaluation of the function.
    last_window: u32,
    last_time: u32,
    /// `epoch_start`; meaningless without `in_epoch`.
    epoch: u32,
    in_epoch: bool,
    origin: u32,
    /// `bic_K`, in 1/1024 s.
    k: u32,
    /// `ack_cnt` and `tcp_cwnd`: segments acknowledged, and the window that Reno would have.
    acks: u32,
    reno: u32,
    /// `delay_min`, in ticks.
    delay_min: Option<u32>,
    /// Time of the newest data transmission (`lsndtime`), in ticks.
    sent_at: u32,
}

pub(crate) const CUBIC_LINUX: LawEntry = LawEntry {
    name: "cubic-linux",
    summary: "CUBIC in segments and milliseconds; 0.7 of the window at a loss",
    source: "Linux net/ipv4/tcp_cubic.c, 6.12",
    needs: Needs::of(&[Ability::AckClock, Ability::PacketCounts]).using(&[
        Ability::Marks,
        Ability::Sends,
        Ability::IdleQuestion,
    ]),
    make: || CubicLinux::new().into(),
};

impl CubicLinux {
    /// Returns a law that has not taken over yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn segments(&self, path: &Path) -> u32 {
        u32::try_from(self.window.wide().packets(path.mss)).unwrap_or(u32::MAX)
    }

    fn set(&mut self, segments: u32, path: &Path) {
        self.window = (path.mss * u64::from(segments)).into();
    }

    /// Reduces the window after a loss or mark (`cubictcp_recalc_ssthresh`).
    fn reduce(&mut self, path: &Path) {
        self.in_epoch = false;
        self.credit = 0;
        let window = self.segments(path);
        let part = |num: u64, den: u64| u32::try_from(u64::from(window) * num / den).unwrap_or(u32::MAX);
        self.last_max = if window < self.last_max { part(BETA.0 + BETA.1, 2 * BETA.1) } else { window };
        self.set(part(BETA.0, BETA.1).max(2), path);
        self.ssthresh = Some(self.window);
    }

    /// Reduces the window after a timeout (`cubictcp_recalc_ssthresh`) and resets the state (`bictcp_reset`).
    fn timed_out(&mut self, path: &Path) {
        self.reduce(path);
        *self =
            Self { window: self.window, ssthresh: self.ssthresh, sent_at: self.sent_at, ..Self::default() };
    }

    /// Widens the window for `acked` segments (`bictcp_update`, then `tcp_cong_avoid_ai`).
    fn grow(&mut self, acked: u32, path: &Path) {
        let window = self.segments(path);
        self.update(window, acked, ticks(path.now));
        let mut more = 0;
        if self.credit >= self.count {
            self.credit = 0;
            more = 1;
        }
        self.credit = self.credit.saturating_add(acked);
        if self.credit >= self.count {
            more += self.credit / self.count;
            self.credit %= self.count;
        }
        if more > 0 {
            self.set(window.saturating_add(more), path);
        }
    }

    fn update(&mut self, window: u32, acked: u32, now: u32) {
        self.acks = self.acks.saturating_add(acked);
        let since = now.wrapping_sub(self.last_time);
        if self.last_window == window && since <= MIN_INTERVAL && self.count > 0 {
            return;
        }
        if !(self.in_epoch && since == 0) {
            self.evaluate(window, acked, now);
        }
        self.be_friendly(window);
        self.count = self.count.max(2);
    }

    /// Evaluates the cubic function, which sets the number of acknowledged segments per segment of growth.
    fn evaluate(&mut self, window: u32, acked: u32, now: u32) {
        (self.last_window, self.last_time) = (window, now);
        if !self.in_epoch {
            (self.in_epoch, self.epoch, self.acks, self.reno) = (true, now, acked, window);
            let rise = self.last_max.saturating_sub(window);
            self.k = time_to_rise(rise);
            self.origin = self.last_max.max(window);
        }
        let since = now.wrapping_sub(self.epoch).saturating_add(self.delay_min.unwrap_or(0));
        let t = (u64::from(since) << SECOND_SHIFT) / 1_000;
        let k = u64::from(self.k);
        let change = change_after(t.abs_diff(k));
        let target =
            if t < k { self.origin.saturating_sub(change) } else { self.origin.saturating_add(change) };
        self.count = match target.checked_sub(window) {
            Some(above) if above > 0 => window / above,
            _ => window.saturating_mul(100),
        };
        if self.last_max == 0 {
            self.count = self.count.min(MAX_COUNT_BEFORE_LOSS);
        }
    }

    /// Uses Reno's growth where that is faster.
    fn be_friendly(&mut self, window: u32) {
        let per = ((u64::from(window) * u64::from(FRIENDLY)) >> 3).max(1);
        let steps = (u64::from(self.acks).saturating_sub(1)) / per;
        self.acks -= u32::try_from(steps * per).unwrap_or(self.acks);
        self.reno = self.reno.saturating_add(u32::try_from(steps).unwrap_or(u32::MAX));
        if self.reno > window {
            self.count = self.count.min(window / (self.reno - window));
        }
    }

    /// Updates the minimum delay and the time of the newest data transmission. Both are also updated during start-up
    /// and recovery.
    fn observe(&mut self, event: &Event<'_>, path: &Path) {
        match event {
            Event::Acked(Ack { rtt: Some(sample), .. }) => {
                // Right after a recovery the delays contain queueing.
                let now = ticks(path.now);
                if !(self.in_epoch && now.wrapping_sub(self.epoch) < 1_000) {
                    let delay = u32::try_from(sample.rtt.nanos().div_ceil(1_000_000)).unwrap_or(u32::MAX);
                    self.delay_min = Some(self.delay_min.map_or(delay, |min| min.min(delay)));
                }
            }
            Event::Sent(_) => {
                // `cubictcp_cwnd_event`: an idle time does not count.
                let now = ticks(path.now);
                if path.pipe.is_zero() && self.in_epoch {
                    let shifted = self.epoch.wrapping_add(now.wrapping_sub(self.sent_at));
                    self.epoch = if now.wrapping_sub(shifted) > u32::MAX / 2 { now } else { shifted };
                }
                self.sent_at = now;
            }
            _ => {}
        }
    }
}

/// Segments newly delivered by an ACK that may widen the window (Linux `acked_sacked`).
fn newly_acked(ack: &Ack<'_>) -> u32 {
    if ack.growth.is_zero() {
        return 0;
    }
    u32::try_from(ack.whole_packets()).unwrap_or(u32::MAX)
}

/// Returns by how many segments the cubic function rises or falls within `away` 1/1024 s of its flat part.
fn change_after(away: u64) -> u32 {
    // A cube that saturates 64 bits gives a change that saturates 32 bits.
    let cubed = wide::product(wide::product(away, away), away);
    let change = wide::mul_div(cubed, CUBE_SCALE, 1 << (10 + 3 * SECOND_SHIFT));
    u32::try_from(change).unwrap_or(u32::MAX)
}

/// K: the cube root of the rise over C, in 1/1024 s.
fn time_to_rise(segments: u32) -> u32 {
    // `cube_factor`, 2^40 / 410.
    let cubed = (1_u64 << (10 + 3 * SECOND_SHIFT)) / 410 * u64::from(segments);
    (0..22).rev().fold(0, |root, bit| {
        let trial: u64 = u64::from(root) | 1 << bit;
        if trial * trial * trial <= cubed { root | 1 << bit } else { root }
    })
}

#[expect(clippy::cast_possible_truncation, reason = "differences are taken modulo 2^32")]
fn ticks(time: Time) -> u32 {
    (time.nanos() / 1_000_000) as u32
}

impl Avoidance for CubicLinux {
    fn enter(&mut self, exit: &Exit, path: &Path) {
        let before = path.cwnd;
        self.window = exit.learned.window.into();
        match (exit.cause, exit.learned.ssthresh) {
            (Cause::Timeout, None) => self.timed_out(path),
            (Cause::Loss | Cause::Mark, None) => self.reduce(path),
            (_, ssthresh) => {
                self.ssthresh = ssthresh.map(Bytes32::from).or(self.ssthresh);
                // If the ACK that ended the start-up acknowledged more segments than the start-up used, the remaining
                // ones count here (`cubictcp_cong_avoid`).
                let credit = core::mem::take(&mut self.credit);
                let used = (exit.learned.window - before).packets(path.mss);
                let rest = credit.saturating_sub(u32::try_from(used).unwrap_or(u32::MAX));
                if rest > 0 && matches!(exit.cause, Cause::Threshold | Cause::Delay | Cause::AckTrain) {
                    self.grow(rest, path);
                }
            }
        }
    }

    fn observe(&mut self, event: &Event<'_>, path: &Path) {
        self.observe(event, path);
        self.credit = match event {
            Event::Acked(ack) => newly_acked(ack),
            _ => 0,
        };
        if matches!(event, Event::Begin(_)) {
            self.in_epoch = false;
        }
    }

    #[inline(never)]
    fn on(&mut self, event: &Event<'_>, path: &Path) {
        self.observe(event, path);
        match Signal::of(event) {
            Signal::Ack(ack) => {
                let acked = newly_acked(ack);
                if acked > 0 {
                    self.grow(acked, path);
                }
            }
            Signal::Congestion(Cause::Timeout) => self.timed_out(path),
            Signal::Congestion(_) => self.reduce(path),
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
    use crate::interface::SendLimit;
    use crate::units::Bytes;
    use proptest::prelude::*;

    const MSS: Bytes = Bytes::new(1_000);

    fn path(now: u64, cwnd: u64) -> Path {
        Path {
            cwnd: MSS * cwnd,
            flight: MSS * cwnd,
            pipe: MSS * cwnd,
            rwnd: MSS * 1_000,
            limit: SendLimit::Window,
            ..Path::new(Time::from_nanos(now * 1_000_000), MSS, MSS)
        }
    }

    proptest! {
        #[test]
        fn the_change_is_that_of_exact_arithmetic(away in (0..1u64 << 34, 0..34u32).prop_map(|(away, by)| away >> by)) {
            let exact = (410 * u128::from(away).pow(3)) >> 40;
            prop_assert_eq!(change_after(away), u32::try_from(exact).unwrap_or(u32::MAX));
        }
    }

    #[test]
    fn k_is_the_kernels() {
        // (2^40 / 410 × 30)^(1/3): 4316 of 1/1024 s, 4.215 s, where RFC 9438 has 4.217 s.
        assert_eq!(time_to_rise(30), 4_316);
        assert_eq!(time_to_rise(0), 0);
    }

    #[test]
    fn linux_cubic_reduces_to_717_of_1024_in_whole_segments_minimum_two() {
        for (window, left) in [(10, 7), (36, 25), (2, 2)] {
            let mut law = CubicLinux::new();
            law.set(window, &path(0, 0));
            law.reduce(&path(0, u64::from(window)));
            assert_eq!(law.window.wide(), MSS * left);
        }
    }

    #[test]
    fn without_a_loss_before_the_window_grows_by_one_for_twenty() {
        let mut law = CubicLinux::new();
        law.set(48, &path(0, 48));
        for ack in 0..9 {
            law.grow(2, &path(100 * ack, 48));
            assert_eq!(law.window.wide(), MSS * 48);
        }
        law.grow(2, &path(900, 48));
        assert_eq!(law.window.wide(), MSS * 49);
    }

    #[test]
    fn the_window_grows_by_at_most_half_of_what_is_acknowledged() {
        let mut law = CubicLinux::new();
        law.set(50, &path(0, 50));
        law.grow(2, &path(0, 50));
        // A minute later the function is far above.
        let before = law.segments(&path(0, 0));
        law.grow(2, &path(60_000, 50));
        assert_eq!(law.count, 2);
        assert_eq!(law.segments(&path(0, 0)), before + 2);
        law.grow(2, &path(60_100, 50));
        assert_eq!(law.segments(&path(0, 0)), before + 3);
    }
}
