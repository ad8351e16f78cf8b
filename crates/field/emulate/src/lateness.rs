//! Lateness of packets: the time from the computed delivery to the actual delivery.

use firstflight::Span;
use hdrhistogram::Histogram;
use serde::Serialize;

/// The limit of the 99th percentile of lateness. Above this limit a run is invalid, because its programs measured the machine, not the
/// path.
pub const MAX_LATENESS: Span = Span::from_millis(1);

/// Histogram of the lateness of packets: the delivery time minus the time at which the packet left the path. It has three significant
/// digits.
#[derive(Clone, Debug)]
pub struct Lateness(Option<Histogram<u64>>);

/// A summary of the lateness of packets.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct LatenessReport {
    /// The number of delivered packets.
    pub packets: u64,
    /// The mean, in microseconds.
    pub mean_us: f64,
    /// The median, in microseconds.
    pub p50_us: f64,
    /// The 99th percentile, in microseconds.
    pub p99_us: f64,
    /// The maximum, in microseconds.
    pub max_us: f64,
    /// The number of packets by lateness. Each pair is a bound in microseconds, which is a power of two, and the number of packets with a
    /// lateness in `bound / 2..bound`. The first pair counts all packets below its bound.
    pub histogram: Vec<(u64, u64)>,
}

impl Default for Lateness {
    fn default() -> Self {
        Self(Histogram::new_with_bounds(1, 3_600_000_000_000, 3).ok())
    }
}

impl Lateness {
    /// Records a packet that was delivered late by `late`.
    pub fn record(&mut self, late: Span) {
        if let Some(histogram) = &mut self.0 {
            histogram.saturating_record(late.nanos());
        }
    }

    /// Returns the 99th percentile; zero if no packet was delivered.
    pub fn p99(&self) -> Span {
        self.quantile(0.99)
    }

    /// Returns whether the run is invalid because its 99th percentile is above [`MAX_LATENESS`].
    pub fn is_void(&self) -> bool {
        self.p99() > MAX_LATENESS
    }

    fn quantile(&self, quantile: f64) -> Span {
        Span::from_nanos(self.0.as_ref().map_or(0, |histogram| histogram.value_at_quantile(quantile)))
    }

    /// Returns a summary of the histogram.
    pub fn report(&self) -> LatenessReport {
        let Some(histogram) = &self.0 else {
            return LatenessReport {
                packets: 0,
                mean_us: 0.0,
                p50_us: 0.0,
                p99_us: 0.0,
                max_us: 0.0,
                histogram: Vec::new(),
            };
        };
        let mut bounds: Vec<(u64, u64)> = Vec::new();
        for step in histogram.iter_recorded() {
            let bound = (step.value_iterated_to() / 1_000 + 1).next_power_of_two();
            match bounds.last_mut() {
                Some((last, count)) if *last == bound => *count += step.count_since_last_iteration(),
                _ => bounds.push((bound, step.count_since_last_iteration())),
            }
        }
        LatenessReport {
            packets: histogram.len(),
            mean_us: micros(histogram.mean()),
            p50_us: in_micros(self.quantile(0.5)),
            p99_us: in_micros(self.quantile(0.99)),
            max_us: in_micros(self.quantile(1.0)),
            histogram: bounds,
        }
    }
}

/// Converts nanoseconds to microseconds with one decimal.
fn micros(nanos: f64) -> f64 {
    (nanos / 100.0).round() / 10.0
}

#[expect(clippy::cast_precision_loss, reason = "a lateness is far below 2^53 nanoseconds")]
fn in_micros(span: Span) -> f64 {
    micros(span.nanos() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(micros: &[u64]) -> Lateness {
        let mut lateness = Lateness::default();
        for late in micros {
            lateness.record(Span::from_micros(*late));
        }
        lateness
    }

    #[test]
    fn a_run_is_void_above_one_percent_of_packets_a_millisecond_late() {
        let mut late = vec![10; 99];
        late.push(5_000);
        assert!(!of(&late).is_void());
        late.push(5_000);
        assert!(of(&late).is_void());
        assert!(!of(&[]).is_void(), "no packet was late");
        assert!(!of(&[999; 10]).is_void());
        assert!(of(&[1_010; 10]).is_void());
    }

    #[test]
    fn the_report_has_percentiles_and_counts_by_powers_of_two() {
        let report = of(&[0, 0, 3, 5, 7, 100, 100_000]).report();
        assert_eq!(report.packets, 7);
        assert_eq!(report.histogram, [(1, 2), (4, 1), (8, 2), (128, 1), (131_072, 1)]);
        assert!((report.p50_us - 5.0).abs() < 0.1, "{report:?}");
        assert!((report.max_us - 100_000.0).abs() < 100.0, "{report:?}");
        assert_eq!(of(&[]).report().packets, 0);
    }
}
