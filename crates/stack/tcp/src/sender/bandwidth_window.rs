//! FreeBSD's limit for the bytes in flight, `net.inet.tcp.inflight`. In FreeBSD 7 it is on by default.
//!
//! Each cumulative ACK measures a bandwidth. The send window is limited to `bandwidth * rtt` plus two segments (`tcp_xmit_bandwidth_limit`
//! in `sys/netinet/tcp_subr.c`, `sendwin` in `tcp_output.c`). The arithmetic is the kernel's: ticks of a millisecond (`hz` 1000), a
//! separate smoothed RTT (`tcp_xmit_timer`), and integers that are rounded down. The constants are the defaults of the `sysctl`s.

use firstflight::{Bytes, Span, Time};

/// Number of ticks per second (`hz`).
const TICKS_A_SECOND: u64 = 1_000;
const TICK: Span = Span::from_millis(1);
/// Minimum RTT from which the limit applies: 10 ms, in ticks (`TCPTV_INFLIGHT_RTTTHRESH`).
const MIN_ROUND_TRIP: u64 = 10 * TICKS_A_SECOND / 1_000;
/// Tenths of a segment that are added to the product (`net.inet.tcp.inflight.stab`).
const SLOP_TENTHS: u64 = 20;
/// Minimum of the limit in bytes (`net.inet.tcp.inflight.min`).
const MIN_WINDOW: u64 = 6_144;
/// Maximum of the limit in bytes (`net.inet.tcp.inflight.max`): `TCP_MAXWIN << TCP_MAX_WINSHIFT`.
const GREATEST_WINDOW: u64 = 65_535 << 14;
/// Rate in bytes per second from which on the kernel reads it as a negative number, and ignores it.
const NEGATIVE_RATE: u64 = 1 << 31;
/// The smoothed RTT is in units of 1/32 tick (`TCP_RTT_SHIFT`).
const RTT_SHIFT: u32 = 5;
/// The variation of the RTT is in units of 1/16 tick (`TCP_RTTVAR_SHIFT`).
const VARIATION_SHIFT: u32 = 4;
/// Errors of the RTT are in units of 1/4 tick (`TCP_DELTA_SHIFT`).
const DELTA_SHIFT: u32 = 2;

/// The limit for one connection.
#[derive(Clone, Debug)]
pub(super) struct BandwidthWindow {
    round_trip: RoundTrip,
    /// `snd_bandwidth`: the bandwidth in bytes per second, averaged over ACKs.
    bandwidth: u64,
    /// `t_bw_rtttime`: the tick of the last measurement.
    measured_at: u64,
    /// `t_bw_rtseq`: the stream offset that was acknowledged at the last measurement.
    measured_to: u64,
    /// `snd_bwnd`: the limit.
    bytes: Bytes,
}

impl BandwidthWindow {
    /// Creates the limit for a connection whose handshake ended at `now` and measured `rtt`.
    pub(super) fn new(now: Time, rtt: Option<Span>) -> Self {
        let mut round_trip = RoundTrip::default();
        if let Some(rtt) = rtt {
            round_trip.sample(now, rtt);
        }
        Self {
            round_trip,
            bandwidth: 0,
            measured_at: tick(now),
            measured_to: 0,
            bytes: Bytes::new(GREATEST_WINDOW),
        }
    }

    /// Returns the maximum number of bytes in flight.
    pub(super) fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// Processes an ACK up to `acknowledged`, which exceeds the previous ACK. `rtt` is its RTT sample, if it has one.
    pub(super) fn on_ack(&mut self, now: Time, rtt: Option<Span>, acknowledged: u64, mss: Bytes) {
        if let Some(rtt) = rtt {
            self.round_trip.sample(now, rtt);
        }
        if self.round_trip.least < MIN_ROUND_TRIP {
            self.bandwidth = 0;
            self.bytes = Bytes::new(GREATEST_WINDOW);
        } else if self.measure(tick(now), acknowledged) {
            self.bytes = Bytes::new(self.product(mss.get()));
        }
    }

    /// Measures the bandwidth since the last measurement, at most once per tick. Returns whether it was measured.
    fn measure(&mut self, now: u64, acknowledged: u64) -> bool {
        let (ticks, bytes) = (now - self.measured_at, acknowledged - self.measured_to);
        if ticks == 0 {
            return false;
        }
        (self.measured_at, self.measured_to) = (now, acknowledged);
        let rate = bytes.saturating_mul(TICKS_A_SECOND) / ticks;
        if rate >= NEGATIVE_RATE {
            return false;
        }
        self.bandwidth = (self.bandwidth * 15 + rate) >> 4;
        true
    }

    /// Returns the limit in bytes, computed from the bandwidth and the RTT.
    fn product(&self, mss: u64) -> u64 {
        let round_trip = u64::midpoint(self.round_trip.smoothed, self.round_trip.best);
        let product = self.bandwidth.saturating_mul(round_trip) / (TICKS_A_SECOND << RTT_SHIFT);
        let window = product + SLOP_TENTHS * mss / 10;
        window.clamp(MIN_WINDOW, GREATEST_WINDOW).max(2 * mss)
    }
}

/// The kernel's RTT estimate.
#[derive(Clone, Debug, Default)]
struct RoundTrip {
    /// `t_srtt`: the smoothed RTT in 1/32 tick; 0 before the first sample.
    smoothed: u64,
    /// `t_rttvar`: the variation in 1/16 tick.
    variation: u64,
    /// `t_rttbest`: the minimum sum of `t_srtt` and `t_rttvar`. Because they have different units, the variation has half its weight.
    best: u64,
    /// `t_rttlow`: the minimum sample in ticks; 0 before the first sample.
    least: u64,
}

impl RoundTrip {
    /// Processes an RTT sample that ends at `now`. As with timestamps, it is measured in whole ticks, and the smoothed RTT adds one tick.
    fn sample(&mut self, now: Time, rtt: Span) {
        let ticks = tick(now) - tick(Time::from_nanos(now.nanos().saturating_sub(rtt.nanos())));
        if self.least == 0 || ticks < self.least {
            self.least = ticks;
        }
        self.smooth(ticks + 1);
    }

    /// Updates the smoothed RTT and its variation as `tcp_xmit_timer` does.
    fn smooth(&mut self, ticks: u64) {
        if self.smoothed == 0 {
            self.smoothed = ticks << RTT_SHIFT;
            self.variation = ticks << (VARIATION_SHIFT - 1);
            self.best = self.smoothed + self.variation;
            return;
        }
        let (sample, expected) = ((ticks - 1) << DELTA_SHIFT, self.smoothed >> (RTT_SHIFT - DELTA_SHIFT));
        let expected_variation = self.variation >> (VARIATION_SHIFT - DELTA_SHIFT);
        self.smoothed = (self.smoothed + sample).saturating_sub(expected).max(1);
        self.variation =
            (self.variation + sample.abs_diff(expected)).saturating_sub(expected_variation).max(1);
        self.best = self.best.min(self.smoothed + self.variation);
    }
}

/// Returns the number of ticks until a time.
fn tick(at: Time) -> u64 {
    at.nanos() / TICK.nanos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MSS: Bytes = Bytes::new(1_448);

    fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    const fn millis(millis: u64) -> Span {
        Span::from_millis(millis)
    }

    #[test]
    fn the_bandwidth_window_is_unlimited_before_acks_and_below_ten_ms_rtt() {
        let mut window = BandwidthWindow::new(at(0), None);
        assert_eq!(window.bytes().get(), GREATEST_WINDOW);
        window.on_ack(at(9), Some(millis(9)), 10_000, MSS);
        assert_eq!((window.bandwidth, window.bytes().get()), (0, GREATEST_WINDOW));
        // The minimum RTT decides, whatever samples come later.
        window.on_ack(at(300), Some(millis(200)), 20_000, MSS);
        assert_eq!((window.bandwidth, window.bytes().get()), (0, GREATEST_WINDOW));
        let mut window = BandwidthWindow::new(at(0), Some(millis(0)));
        window.on_ack(at(10), Some(millis(10)), 10_000, MSS);
        assert_ne!(window.bandwidth, 0, "a sample of 0 is none");
    }

    /// The expected values are computed by hand from the kernel's code, one tick at a time.
    #[test]
    fn the_window_is_the_kernels() {
        let mut window = BandwidthWindow::new(at(100), Some(millis(100)));
        // t_srtt = 101 << 5, t_rttvar = 101 << 3, t_rttbest = their sum.
        let RoundTrip { smoothed, variation, best, least } = window.round_trip;
        assert_eq!((smoothed, variation, best, least), (3_232, 808, 4_040, 100));
        window.on_ack(at(200), Some(millis(100)), 144_800, MSS);
        // delta = (100 << 2) - (3232 >> 3) = -4, then 4 - (808 >> 2) = -198.
        let RoundTrip { smoothed, variation, best, .. } = window.round_trip;
        assert_eq!((smoothed, variation, best), (3_228, 610, 3_838));
        // 144800 bytes in 100 ticks are 1448000 per second, of which a sixteenth counts.
        assert_eq!(window.bandwidth, 90_500);
        assert_eq!(window.bytes().get(), 90_500 * 3_533 / 32_000 + 2 * 1_448);
        // Within a tick nothing is measured; the ACK's data is part of the next measurement.
        window.on_ack(at(200), None, 150_000, MSS);
        assert_eq!((window.bandwidth, window.measured_to), (90_500, 144_800));
        window.on_ack(at(201), None, 156_800, MSS);
        assert_eq!(window.bandwidth, (90_500 * 15 + 12_000_000) >> 4);
    }

    #[test]
    fn a_rate_that_the_kernel_takes_for_negative_is_passed_over() {
        let mut window = BandwidthWindow::new(at(100), Some(millis(50)));
        window.on_ack(at(101), None, 1 << 40, MSS);
        assert_eq!((window.bandwidth, window.measured_at, window.measured_to), (0, 101, 1 << 40));
        assert_eq!(window.bytes().get(), GREATEST_WINDOW);
    }

    /// With evenly spaced ACKs, the limit is the product plus two segments, apart from the variation in the best RTT.
    #[test]
    fn an_even_stream_has_its_product_and_two_segments() {
        let mut window = BandwidthWindow::new(at(80), Some(millis(80)));
        for tick in 1..2_000 {
            window.on_ack(at(80 + tick), Some(millis(80)), tick * 2_500, MSS);
        }
        let product = 2_500 * 80;
        let bytes = window.bytes().get() - 2 * MSS.get();
        assert!((product * 99 / 100..product * 104 / 100).contains(&bytes), "{bytes}");
    }

    proptest! {
        #[test]
        fn a_limit_is_two_segments_and_6144_bytes_at_least_whatever_comes(
            mss in 1_u64..65_536,
            first: Option<u64>,
            acks in prop::collection::vec((any::<u64>(), prop::option::of(any::<u64>()), any::<u64>()), 0..50),
        ) {
            let mut window = BandwidthWindow::new(Time::ZERO, first.map(Span::from_nanos));
            let (mut now, mut acknowledged) = (0_u64, 0_u64);
            for (later, rtt, more) in acks {
                now = now.saturating_add(later >> 8);
                acknowledged = acknowledged.saturating_add(more >> 8);
                let rtt = rtt.map(Span::from_nanos);
                window.on_ack(Time::from_nanos(now), rtt, acknowledged, Bytes::new(mss));
                prop_assert!((MIN_WINDOW.max(2 * mss)..=GREATEST_WINDOW).contains(&window.bytes().get()));
            }
        }
    }
}
