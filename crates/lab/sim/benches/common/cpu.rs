//! CPU time of this thread for criterion, so that a busy machine does not count against the program.

use criterion::Throughput;
use criterion::measurement::{Measurement, ValueFormatter};

/// Nanoseconds that this thread was on a CPU, as Linux counts them.
pub(crate) struct CpuTime;

impl CpuTime {
    fn now() -> u64 {
        // The first field of /proc/PID/schedstat (Documentation/scheduler/sched-stats.rst).
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux with schedstat");
        text.split_whitespace().next().and_then(|field| field.parse().ok()).expect("a number of nanoseconds")
    }
}

impl Measurement for CpuTime {
    type Intermediate = u64;
    type Value = u64;

    fn start(&self) -> u64 {
        Self::now()
    }

    fn end(&self, start: u64) -> u64 {
        Self::now() - start
    }

    fn add(&self, one: &u64, other: &u64) -> u64 {
        one + other
    }

    fn zero(&self) -> u64 {
        0
    }

    #[expect(clippy::cast_precision_loss, reason = "criterion works in f64")]
    fn to_f64(&self, value: &u64) -> f64 {
        *value as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        &Scaled
    }
}

/// Nanoseconds, or milliseconds where there are many.
struct Scaled;

impl ValueFormatter for Scaled {
    fn scale_values(&self, typical: f64, values: &mut [f64]) -> &'static str {
        if typical < 1e5 {
            return "ns CPU";
        }
        for value in values {
            *value /= 1e6;
        }
        "ms CPU"
    }

    #[expect(clippy::cast_precision_loss, reason = "a count of packets is far below 2^52")]
    fn scale_throughputs(&self, _typical: f64, work: &Throughput, values: &mut [f64]) -> &'static str {
        let (Throughput::Elements(count) | Throughput::Bytes(count)) = *work else { return "ns" };
        for value in values {
            *value = count as f64 / *value * 1e3;
        }
        "million packet-hops per CPU second"
    }

    fn scale_for_machines(&self, _values: &mut [f64]) -> &'static str {
        "ns"
    }
}
