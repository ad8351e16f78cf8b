//! Writes the groups as `OpenMetrics` text (version 1.0.0 of the specification), for a collector that reads files.

use std::fmt::Write as _;

use firstflight_report::inspected::Distribution;
use serde::{Deserialize, Serialize};

use crate::groups::{Buckets, EXPONENTS, Group, Groups, Transfers};

/// Totals over all connections.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Totals {
    /// Number of open connections.
    pub open: u64,
    /// Number of connections opened so far.
    pub opened: u64,
    /// Number of events that the kernel could not report because the ring buffer was full.
    pub facts_lost: u64,
}

/// Escapes characters that would end a label's value.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn labels((prefix, law): (&str, &str)) -> String {
    format!("prefix=\"{}\",congestion_control=\"{}\"", escaped(prefix), escaped(law))
}

/// A family of counters, one per group: its name, its help text, and the function that reads the value.
type Counter = (&'static str, &'static str, fn(&Group) -> u64);

const COUNTERS: [Counter; 4] = [
    ("data_segments", "Segments with payload that were sent.", |group| group.counters.sent[0]),
    ("retransmitted_segments", "Segments that were retransmitted.", |group| group.counters.sent[1]),
    ("overshoot_segments", "Segments of overshoots that were retransmitted.", |group| {
        group.counters.overshoot
    }),
    ("idle_restarts", "Restarts after idle times.", |group| group.counters.restarts),
];

/// A family of distributions, one per group: its name, its unit, its help text, and the function that reads the distribution.
type Summary = (&'static str, &'static str, &'static str, fn(&Group) -> &Distribution);

const SUMMARIES: [Summary; 4] = [
    (
        "completion_seconds",
        "seconds",
        "Time from the first data of a transfer to its last acknowledgement, pauses left out.",
        |group| &group.completion,
    ),
    ("exit_window", "", "Segments in flight at the end of start-up.", |group| &group.window),
    (
        "exit_rate_bits_per_second",
        "",
        "Rate at which payload was delivered in the round trip of the exit.",
        |group| &group.rate,
    ),
    ("time_to_90pct_seconds", "seconds", "Time to nine tenths of the later rate.", |group| &group.reached),
];

/// A family of histograms, one per size class and congestion control: its name, its unit if the name ends in it, its help text, the exponent of
/// its smallest bound, and the function that reads it.
type Histogram = (&'static str, &'static str, &'static str, i32, fn(&Transfers) -> &Buckets);

const HISTOGRAMS: [Histogram; 4] = [
    ("transfer_seconds", "seconds", "Completion times of transfers, by size.", EXPONENTS[0], |of| {
        &of.completion
    }),
    ("transfer_bits_per_second", "", "Throughput of transfers, by size.", EXPONENTS[1], |of| &of.throughput),
    (
        "time_to_100kb_seconds",
        "seconds",
        "Time until 100 kB of a transfer were acknowledged, by its size.",
        EXPONENTS[0],
        |of| &of.reached[0],
    ),
    (
        "time_to_1mb_seconds",
        "seconds",
        "Time until 1 MB of a transfer was acknowledged, by its size.",
        EXPONENTS[0],
        |of| &of.reached[1],
    ),
];

/// Returns the groups and the totals as `OpenMetrics` text.
pub fn openmetrics(groups: &Groups, totals: &Totals) -> String {
    let mut out = String::new();
    let family = |name: &str, kind: &str, unit: &str, help: &str| {
        let mut head = format!("# TYPE firstflight_{name} {kind}\n");
        if !unit.is_empty() {
            let _ = writeln!(head, "# UNIT firstflight_{name} {unit}");
        }
        let _ = writeln!(head, "# HELP firstflight_{name} {help}");
        head
    };
    out += &family("open_connections", "gauge", "", "Connections that are open.");
    let _ = writeln!(out, "firstflight_open_connections {}", totals.open);
    out += &family("connections", "counter", "", "Connections that were opened.");
    let _ = writeln!(out, "firstflight_connections_total {}", totals.opened);
    out += &family("facts_lost", "counter", "", "Facts of the kernel that found no room in the ring.");
    let _ = writeln!(out, "firstflight_facts_lost_total {}", totals.facts_lost);
    out += &family("start_ups", "counter", "", "Start-ups that were reported, by exit cause.");
    for (key, group) in groups.iter() {
        for (cause, count) in &group.counters.causes {
            let labels = labels(key);
            let _ = writeln!(out, "firstflight_start_ups_total{{{labels},exit_cause=\"{cause}\"}} {count}");
        }
    }
    for (name, help, number) in COUNTERS {
        out += &family(name, "counter", "", help);
        for (key, group) in groups.iter() {
            let _ = writeln!(out, "firstflight_{name}_total{{{}}} {}", labels(key), number(group));
        }
    }
    for (name, unit, help, numbers) in SUMMARIES {
        out += &family(name, "summary", unit, help);
        for (key, group) in groups.iter() {
            let told = numbers(group).quantiles();
            let labels = labels(key);
            for (quantile, value) in
                [("0.25", &told.p25), ("0.5", &told.median), ("0.75", &told.p75), ("0.9", &told.p90)]
            {
                if !value.is_null() {
                    let _ = writeln!(out, "firstflight_{name}{{{labels},quantile=\"{quantile}\"}} {value}");
                }
            }
            let _ = writeln!(out, "firstflight_{name}_count{{{labels}}} {}", told.defined);
        }
    }
    for (name, unit, help, first, buckets) in HISTOGRAMS {
        out += &family(name, "histogram", unit, help);
        for ((law, transfer), transfers) in groups.transfers() {
            let (labels, buckets) = (
                format!("congestion_control=\"{}\",transfer=\"{transfer}\"", escaped(law)),
                buckets(transfers),
            );
            let bounds = Buckets::bounds(first).map(|bound| bound.to_string()).chain(["+Inf".to_owned()]);
            let mut all = 0;
            for (bound, count) in bounds.zip(buckets.cumulative()) {
                let _ = writeln!(out, "firstflight_{name}_bucket{{{labels},le=\"{bound}\"}} {count}");
                all = count;
            }
            if all > 0 {
                let _ = writeln!(out, "firstflight_{name}_count{{{labels}}} {all}");
                let _ = writeln!(out, "firstflight_{name}_sum{{{labels}}} {}", buckets.sum());
            }
        }
    }
    out + "# EOF\n"
}
