//! FreeBSD's limit of what is in flight: `net.inet.tcp.inflight`, on by default in FreeBSD 7.
//!
//! Each cumulative ACK measures a bandwidth, and the send window is at most its product with the round trip, plus two segments
//! (`tcp_xmit_bandwidth_limit` in `sys/netinet/tcp_subr.c`, `sendwin` in `tcp_output.c`). The arithmetic is the kernel's: ticks of a
//! millisecond (`hz` 1000), its own smoothed round trip (`tcp_xmit_timer`), and integers that round down. Its defaults are the
//! `sysctl`s' defaults.

use firstflight::{Bytes, Span, Time};

/// `hz`: ticks in a second.
const TICKS_A_SECOND: u64 = 1_000;
const TICK: Span = Span::from_millis(1);
/// `TCPTV_INFLIGHT_RTTTHRESH`, 10 ms in ticks: with a shorter least round trip there is no window.
const LEAST_ROUND_TRIP: u64 = 10 * TICKS_A_SECOND / 1_000;
/// `net.inet.tcp.inflight.stab`: tenths of a segment that the window has beyond the product.
const SLOP_TENTHS: u64 = 20;
/// `net.inet.tcp.inflight.min`, in bytes.
const LEAST_WINDOW: u64 = 6_144;
/// `net.inet.tcp.inflight.max`, in bytes: `TCP_MAXWIN << TCP_MAX_WINSHIFT`.
const GREATEST_WINDOW: u64 = 65_535 << 14;
/// From here on the kernel takes bytes a second for negative, and passes over them.
const NEGATIVE_RATE: u64 = 1 << 31;
/// `TCP_RTT_SHIFT`: the smoothed round trip counts 32nds of a tick.
const RTT_SHIFT: u32 = 5;
/// `TCP_RTTVAR_SHIFT`: its variation counts 16ths.
const VARIATION_SHIFT: u32 = 4;
/// `TCP_DELTA_SHIFT`.
const DELTA_SHIFT: u32 = 2;

/// The window of one connection.
#[derive(Clone, Debug)]
pub(super) struct BandwidthWindow {
    round_trip: RoundTrip,
    /// `snd_bandwidth`: bytes a second, averaged over ACKs.
    bandwidth: u64,
    /// `t_bw_rtttime`: the tick of the last measurement.
    measured_at: u64,
    /// `t_bw_rtseq`: what that ACK acknowledged, as an offset of the stream.
    measured_to: u64,
    /// `snd_bwnd`.
    bytes: Bytes,
}

impl BandwidthWindow {
    /// The window of a connection that is established at `now`, whose handshake took `rtt`.
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

    /// The most that may be in flight.
    pub(super) fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// An ACK of all up to `acknowledged`, which is more than the ACK before acknowledged. `rtt` is its round trip, if it gives one.
    pub(super) fn on_ack(&mut self, now: Time, rtt: Option<Span>, acknowledged: u64, mss: Bytes) {
        if let Some(rtt) = rtt {
            self.round_trip.sample(now, rtt);
        }
        if self.round_trip.least < LEAST_ROUND_TRIP {
            self.bandwidth = 0;
            self.bytes = Bytes::new(GREATEST_WINDOW);
        } else if self.measure(tick(now), acknowledged) {
            self.bytes = Bytes::new(self.product(mss.get()));
        }
    }

    /// Measures the bandwidth since the last measurement, once a tick at most. Says whether it did.
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

    /// The window, in bytes, of the bandwidth and the round trip.
    fn product(&self, mss: u64) -> u64 {
        let round_trip = u64::midpoint(self.round_trip.smoothed, self.round_trip.best);
        let product = self.bandwidth.saturating_mul(round_trip) / (TICKS_A_SECOND << RTT_SHIFT);
        let window = product + SLOP_TENTHS * mss / 10;
        window.clamp(LEAST_WINDOW, GREATEST_WINDOW).max(2 * mss)
    }
}

/// The kernel's estimate of the round trip.
#[derive(Clone, Debug, Default)]
struct RoundTrip {
    /// `t_srtt`, in 32nds of a tick; 0 before the first sample.
    smoothed: u64,
    /// `t_rttvar`, in 16ths of a tick.
    variation: u64,
    /// `t_rttbest`: the least sum of the two as they are stored, so that the variation counts half.
    best: u64,
    /// `t_rttlow`: the least sample in ticks; 0 is none.
    least: u64,
}

impl RoundTrip {
    /// A round trip that ends at `now`. As with timestamps it is measured from tick to tick, and smoothed with a tick more.
    fn sample(&mut self, now: Time, rtt: Span) {
        let ticks = tick(now) - tick(Time::from_nanos(now.nanos().saturating_sub(rtt.nanos())));
        if self.least == 0 || ticks < self.least {
            self.least = ticks;
        }
        self.smooth(ticks + 1);
    }

    /// `tcp_xmit_timer`.
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

/// The tick of an instant.
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
    fn there_is_no_limit_before_an_ack_or_below_a_round_trip_of_ten_milliseconds() {
        let mut window = BandwidthWindow::new(at(0), None);
        assert_eq!(window.bytes().get(), GREATEST_WINDOW);
        window.on_ack(at(9), Some(millis(9)), 10_000, MSS);
        assert_eq!((window.bandwidth, window.bytes().get()), (0, GREATEST_WINDOW));
        // The least counts, whatever comes later.
        window.on_ack(at(300), Some(millis(200)), 20_000, MSS);
        assert_eq!((window.bandwidth, window.bytes().get()), (0, GREATEST_WINDOW));
        let mut window = BandwidthWindow::new(at(0), Some(millis(0)));
        window.on_ack(at(10), Some(millis(10)), 10_000, MSS);
        assert_ne!(window.bandwidth, 0, "a sample of 0 is none");
    }

    /// By hand from the kernel's lines, a tick at a time.
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
        // 144800 bytes in 100 ticks are 1448000 a second, of which a sixteenth counts.
        assert_eq!(window.bandwidth, 90_500);
        assert_eq!(window.bytes().get(), 90_500 * 3_533 / 32_000 + 2 * 1_448);
        // Within a tick nothing is measured; what the ACK acknowledges is of the next measurement.
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

    /// Where ACKs come evenly the limit is at the product and two segments, but for the variation that the best round trip has.
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
                prop_assert!((LEAST_WINDOW.max(2 * mss)..=GREATEST_WINDOW).contains(&window.bytes().get()));
            }
        }
    }
}
