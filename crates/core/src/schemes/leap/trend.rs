//! Whether delay grows while a train arrives: least squares of delay over departure.

use crate::units::{Span, Time};
use crate::wide::{Wide, mul_div};

/// A tick is the least round trip over this.
pub(super) const TICKS: u64 = 4096;
/// A train longer than four round trips is judged by its beginning.
const MOST_TICKS: u64 = 4 * TICKS;
/// The sums below hold this many points without overflow. A train of more is judged by its first.
const MOST_POINTS: u16 = 4096;
/// Two points are a line whatever they are; of three, one is left to tell noise from slope; a fourth bounds it.
const LEAST_POINTS: u16 = 4;
const MILLION: u64 = 1_000_000;

/// The sums of least squares over the packets of a train: *x* is when a packet left, *y* how much later it arrived than it
/// would have at the delay of the first; both in ticks from the first packet.
///
/// An instant with ACKs makes one point, of the last of its packets: ACKs that were held back arrive together, and the last
/// packet is the one that waited least.
#[derive(Clone, Debug, Default)]
pub(super) struct Trend {
    first: Option<(Time, Time)>,
    /// Departure and arrival of the newest packet, which is a point once a later instant has ACKs.
    newest: Option<(u16, u16)>,
    nanos_per_tick: u32,
    points: u16,
    /// The largest *x*.
    span: u16,
    x: u32,
    y: i32,
    xx: u64,
    xy: i64,
    yy: u64,
}

/// How much the delay grows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Slope {
    /// Millionths of the time between departures; negative if the delay falls.
    pub(super) ppm: i64,
    /// Whether it is more than twice its standard error.
    pub(super) is_sure: bool,
}

impl Slope {
    /// The growth, or nought if the delay falls.
    pub(super) fn growth(self) -> u64 {
        u64::try_from(self.ppm).unwrap_or(0)
    }
}

impl Trend {
    /// Takes a packet that left and was acknowledged at these instants.
    pub(super) fn add(&mut self, departed: Time, arrived: Time, min_rtt: Span) {
        if self.first.is_none() {
            self.nanos_per_tick = u32::try_from(min_rtt.nanos() / TICKS).unwrap_or(u32::MAX).max(1);
        }
        let (first_departed, first_arrived) = *self.first.get_or_insert((departed, arrived));
        let point = (self.ticks(departed.since(first_departed)), self.ticks(arrived.since(first_arrived)));
        let before = self.newest.replace(point);
        if let Some((departed, arrived)) = before
            && arrived != point.1
            && self.points < MOST_POINTS
        {
            self.count(departed, arrived);
        }
    }

    fn ticks(&self, span: Span) -> u16 {
        let ticks = span.nanos() / u64::from(self.nanos_per_tick.max(1));
        u16::try_from(ticks.min(MOST_TICKS)).unwrap_or(u16::MAX)
    }

    fn count(&mut self, departed: u16, arrived: u16) {
        let x = u32::from(departed);
        let y = i32::from(arrived) - i32::from(departed);
        self.points += 1;
        self.span = self.span.max(departed);
        self.x += x;
        self.y += y;
        self.xx += u64::from(x) * u64::from(x);
        self.xy += i64::from(x) * i64::from(y);
        self.yy += u64::from(y.unsigned_abs()) * u64::from(y.unsigned_abs());
    }

    /// How much the delay grows; `None` with too few points.
    pub(super) fn slope(&self) -> Option<Slope> {
        if self.points < LEAST_POINTS {
            return None;
        }
        let points = u64::from(self.points);
        // Sums of squares about the mean, each times the number of points. None is over 2^52.
        let x = u64::from(self.x);
        let square = u64::from(self.y.unsigned_abs());
        let sxx = points * self.xx - (x * x).min(points * self.xx);
        let syy = points * self.yy - (square * square).min(points * self.yy);
        let sxy = i64::from(self.points) * self.xy - i64::from(self.x) * i64::from(self.y);
        if sxx == 0 {
            return None;
        }
        let most = i64::MAX.unsigned_abs();
        let size = i64::try_from(mul_div(sxy.unsigned_abs(), MILLION, sxx).min(most)).unwrap_or(i64::MAX);
        // Slope² > 4 variance, and the variance is (sxx syy - sxy²) / (sxx² (n - 2)).
        let squared = Wide::product(sxy.unsigned_abs(), sxy.unsigned_abs());
        let is_sure = squared.times(points + 2) > Wide::product(sxx, syy).times(4);
        Some(Slope { ppm: if sxy < 0 { -size } else { size }, is_sure })
    }

    /// How long the train is that was judged so far, in ticks of its departures.
    pub(super) fn span(&self) -> u64 {
        u64::from(self.span)
    }

    /// A time in ticks.
    pub(super) fn in_ticks(&self, span: Span) -> u64 {
        span.nanos() / u64::from(self.nanos_per_tick.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Span = Span::from_nanos(40_960_000);

    /// The slope of packets that leave each hundredth of a round trip and arrive as `delay` says, in microseconds.
    fn slope(packets: u64, delay: impl Fn(u64) -> u64) -> Option<Slope> {
        let mut trend = Trend::default();
        for packet in 0..packets {
            let departed = Time::from_nanos(packet * 409_600);
            trend.add(departed, departed + RTT + Span::from_micros(delay(packet)), RTT);
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
            trend.add(departed, arrived + RTT, RTT);
        }
        let slope = trend.slope().expect("enough points");
        assert_eq!((trend.points, slope.growth()), (4, 0));
    }

    #[test]
    fn the_longest_train_and_the_strangest_times_overflow_nothing() {
        let mut trend = Trend::default();
        for packet in 0..10_000 {
            let departed = Time::from_nanos(packet % 3 * (u64::MAX / 4));
            trend.add(departed, Time::from_nanos(packet), Span::from_nanos(packet));
            let _ = trend.slope();
        }
        assert_eq!(trend.points, MOST_POINTS);
    }
}
