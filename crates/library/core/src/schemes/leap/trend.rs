//! The growth of the delay over a train: a linear regression of delay over transmission time.

use crate::units::{Bytes, Span, Time};
use crate::wide::{Wide, mul_div};

/// The number of ticks in the minimum RTT.
pub(super) const TICKS: u64 = 4096;
/// Times in a train are capped at this number of ticks, four RTTs.
const MAX_TICKS: u64 = 4 * TICKS;
/// The maximum number of points for which the sums do not overflow. Further points of a train are ignored.
const MAX_POINTS: u16 = 4096;
/// The minimum number of points for a slope. Two points always fit a line, and three leave only one degree of freedom for the error.
const MIN_POINTS: u16 = 4;
const MILLION: u64 = 1_000_000;

/// The sums of the regression over the packets of a train. *x* is the transmission time of a packet, *y* its delay in excess of the first
/// packet's delay; both in ticks since the first packet.
///
/// All ACKs of one instant give one point, that of the last packet. Aggregated ACKs arrive together, and the last packet is the one whose
/// ACK was held back for the shortest time.
#[derive(Clone, Debug, Default)]
pub(super) struct Trend {
    first: Option<(Time, Time)>,
    /// Transmission and arrival of the newest packet, in ticks. The packet becomes a point when a later instant has ACKs.
    newest: Option<(u16, u16)>,
    nanos_per_tick: u32,
    points: u16,
    /// The *x* of the first point, in ticks.
    first_x: u16,
    /// The maximum *x*.
    span: u16,
    /// The connection's delivered bytes at the first point, at the last point, and at the newest packet.
    delivered_first: Bytes,
    delivered_last: Bytes,
    delivered_newest: Bytes,
    x: u32,
    y: i32,
    xx: u64,
    xy: i64,
    yy: u64,
}

/// The growth of the delay.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Slope {
    /// The growth in millionths of the time between transmissions; negative if the delay falls.
    pub(super) ppm: i64,
    /// Whether the growth exceeds twice its standard error.
    pub(super) is_sure: bool,
}

impl Slope {
    /// Returns the growth, or zero if the delay falls.
    pub(super) fn growth(self) -> u64 {
        u64::try_from(self.ppm).unwrap_or(0)
    }
}

impl Trend {
    /// Adds a packet that was sent at `departed` and acknowledged at `arrived`, when the connection had delivered `delivered` bytes.
    pub(super) fn add(&mut self, departed: Time, arrived: Time, delivered: Bytes, min_rtt: Span) {
        if self.first.is_none() {
            self.nanos_per_tick = u32::try_from(min_rtt.nanos() / TICKS).unwrap_or(u32::MAX).max(1);
        }
        let (first_departed, first_arrived) = *self.first.get_or_insert((departed, arrived));
        let point = (self.ticks(departed.since(first_departed)), self.ticks(arrived.since(first_arrived)));
        let before = self.newest.replace(point);
        match before {
            Some((departed, arrived)) if arrived != point.1 && self.points < MAX_POINTS => {
                self.count(departed, arrived);
            }
            _ => {}
        }
        self.delivered_newest = delivered;
    }

    fn ticks(&self, span: Span) -> u16 {
        let ticks = span.nanos() / u64::from(self.nanos_per_tick.max(1));
        u16::try_from(ticks.min(MAX_TICKS)).unwrap_or(u16::MAX)
    }

    fn count(&mut self, departed: u16, arrived: u16) {
        let x = u32::from(departed);
        let y = i32::from(arrived) - i32::from(departed);
        if self.points == 0 {
            self.first_x = departed;
            self.delivered_first = self.delivered_newest;
        }
        self.delivered_last = self.delivered_newest;
        self.points += 1;
        self.span = self.span.max(departed);
        self.x += x;
        self.y += y;
        self.xx += u64::from(x) * u64::from(x);
        self.xy += i64::from(x) * i64::from(y);
        self.yy += u64::from(y.unsigned_abs()) * u64::from(y.unsigned_abs());
    }

    /// Returns the growth of the delay; `None` if there are too few points.
    pub(super) fn slope(&self) -> Option<Slope> {
        if self.points < MIN_POINTS {
            return None;
        }
        let points = u64::from(self.points);
        // Sums of squares about the mean, each times the number of points. All are below 2^52.
        let x = u64::from(self.x);
        let square = u64::from(self.y.unsigned_abs());
        let sxx = points * self.xx - (x * x).min(points * self.xx);
        let syy = points * self.yy - (square * square).min(points * self.yy);
        let sxy = i64::from(self.points) * self.xy - i64::from(self.x) * i64::from(self.y);
        if sxx == 0 {
            return None;
        }
        let max = i64::MAX.unsigned_abs();
        let size = i64::try_from(mul_div(sxy.unsigned_abs(), MILLION, sxx).min(max)).unwrap_or(i64::MAX);
        // Slope² > 4 variance, and the variance is (sxx syy - sxy²) / (sxx² (n - 2)).
        let squared = Wide::product(sxy.unsigned_abs(), sxy.unsigned_abs());
        let is_sure = squared.times(points + 2) > Wide::product(sxx, syy).times(4);
        Some(Slope { ppm: if sxy < 0 { -size } else { size }, is_sure })
    }

    /// Returns the length of the train so far, in ticks between the first and the last transmission.
    pub(super) fn span(&self) -> u64 {
        u64::from(self.span)
    }

    /// Returns the bytes delivered between the first and the last point, and the time in which the packets of these points were sent.
    pub(super) fn sent(&self) -> (Bytes, Span) {
        let ticks = u64::from(self.span.saturating_sub(self.first_x));
        (self.delivered_last - self.delivered_first, Span::from_nanos(ticks * u64::from(self.nanos_per_tick)))
    }

    /// Returns the number of ticks in `span`.
    pub(super) fn in_ticks(&self, span: Span) -> u64 {
        span.nanos() / u64::from(self.nanos_per_tick.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_nanos(40_960_000);
    const MSS: Bytes = Bytes::new(1000);

    /// The slope of packets that leave each hundredth of a round trip and arrive as `delay` says, in microseconds.
    fn slope(packets: u64, delay: impl Fn(u64) -> u64) -> Option<Slope> {
        let mut trend = Trend::default();
        for packet in 0..packets {
            let departed = Time::from_nanos(packet * 409_600);
            trend.add(departed, departed + RTT + Span::from_micros(delay(packet)), MSS, RTT);
        }
        trend.slope()
    }

    #[test]
    fn a_queue_that_grows_by_a_tenth_of_the_time_has_that_slope_surely() {
        let slope = slope(40, |packet| packet * 41).expect("enough points");
        assert!(slope.is_sure && slope.ppm.abs_diff(100_000) < 3_000, "{slope:?}");
    }

    #[test]
    fn a_queue_that_drains_has_a_negative_slope_and_no_growth() {
        let slope = slope(40, |packet| 4_000 - packet * 41).expect("enough points");
        assert!(slope.is_sure && slope.ppm < -90_000, "{slope:?}");
        assert_eq!(slope.growth(), 0);
    }

    #[test]
    fn jitter_without_growth_is_not_sure() {
        // 1 ms of noise that repeats each seven packets.
        let slope = slope(42, |packet| packet * 3 % 7 * 166).expect("enough points");
        assert!(!slope.is_sure, "{slope:?}");
    }

    #[test]
    fn a_constant_delay_has_no_slope_and_four_instants_are_too_few_for_one() {
        assert_eq!(slope(40, |_| 0), Some(Slope { ppm: 0, is_sure: false }));
        // The newest packet is no point yet.
        assert_eq!(slope(4, |packet| packet * 100), None);
        assert!(slope(5, |packet| packet * 100).is_some());
    }

    #[test]
    fn acks_of_one_instant_are_one_point_of_the_last_packet() {
        let mut trend = Trend::default();
        for packet in 0..40 {
            let departed = Time::from_nanos(packet * 409_600);
            // Held back and released each eight packets.
            let arrived = Time::from_nanos((packet / 8 + 1) * 8 * 409_600);
            trend.add(departed, arrived + RTT, MSS, RTT);
        }
        let slope = trend.slope().expect("enough points");
        assert_eq!((trend.points, slope.growth()), (4, 0));
    }

    #[test]
    fn the_longest_train_and_the_strangest_times_overflow_nothing() {
        let mut trend = Trend::default();
        for packet in 0..10_000 {
            let departed = Time::from_nanos(packet % 3 * (u64::MAX / 4));
            trend.add(departed, Time::from_nanos(packet), MSS, Span::from_nanos(packet));
            let _ = trend.slope();
        }
        assert_eq!(trend.points, MAX_POINTS);
    }
}
