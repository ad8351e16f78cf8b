//! The numbers that are compared, and which direction is better.

use firstflight_export::columns::{Column, Kind, column, described_field};
use firstflight_measure::Scale;

/// The direction in which a number is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// A smaller number is better.
    Lower,
    /// A larger number is better.
    Higher,
}

/// The numbers that a comparison shows if the user chooses none, in order. `None`: neither direction is better.
pub(crate) const HEADLINE: &[(&str, Option<Better>)] = &[
    ("cost", Some(Better::Lower)),
    ("fct_s", Some(Better::Lower)),
    ("elapsed_s", Some(Better::Lower)),
    ("fct_mean_s", Some(Better::Lower)),
    ("fct_p95_s", Some(Better::Lower)),
    ("throughput_bps", Some(Better::Higher)),
    ("throughput_mean_bps", Some(Better::Higher)),
    ("drops", Some(Better::Lower)),
    ("su_time_s", None),
    ("su_loss", Some(Better::Lower)),
    ("loss", Some(Better::Lower)),
    ("harm_per_byte", Some(Better::Lower)),
    ("overshoot_lost_packets", Some(Better::Lower)),
    ("timeouts", Some(Better::Lower)),
    ("queue_peak_packets", Some(Better::Lower)),
    ("time_to_90pct_s", Some(Better::Lower)),
    ("exit_time_s", None),
    ("exit_cwnd_over_bdp", None),
    ("exit_rate_bps", None),
    // Numbers of connections that `inspect` and `watch` report.
    ("retransmitted_segments", Some(Better::Lower)),
    ("timeouts_suspected", Some(Better::Lower)),
    ("overshoot_segments", Some(Better::Lower)),
    ("later_rate_bps", None),
    // Numbers of a score.
    ("unfinished", Some(Better::Lower)),
    ("cost_median", Some(Better::Lower)),
    ("cost_p90", Some(Better::Lower)),
    ("cost_p99", Some(Better::Lower)),
    ("loss_median", Some(Better::Lower)),
    ("queue_loss_mean", Some(Better::Lower)),
    ("harm_per_byte_median", Some(Better::Lower)),
    ("beyond_fair_share", Some(Better::Lower)),
    ("near_best", Some(Better::Higher)),
];

/// Further numbers that are better in one direction.
const OTHERS: &[(&str, Better)] = &[
    ("packets_lost", Better::Lower),
    ("retransmissions", Better::Lower),
    ("su_timeouts", Better::Lower),
    ("queue_mean_packets", Better::Lower),
    ("longest_wait_s", Better::Lower),
    ("waited_s", Better::Lower),
    ("harm_bytes", Better::Lower),
    ("harm_beyond_bytes", Better::Lower),
    ("harm_during_lost_packets", Better::Lower),
    ("su_throughput_bps", Better::Higher),
];

/// Returns the direction in which a number is better; `None` if neither is.
pub(crate) fn better(field: &str) -> Option<Better> {
    let headline = HEADLINE.iter().find(|(name, _)| *name == field).and_then(|(_, better)| *better);
    headline.or_else(|| OTHERS.iter().find(|(name, _)| *name == field).map(|(_, better)| *better))
}

/// Returns the scale of a number's change. Times, rates and costs change by ratios; shares and counts change by differences.
pub(crate) fn scale(field: &str) -> Scale {
    let unit = described_field(field).map_or("", |column| column.unit);
    if matches!(unit, "s" | "bit/s") || field.starts_with("cost") { Scale::Ratio } else { Scale::Difference }
}

/// Returns the unit of a number; empty if it is not known.
pub(crate) fn unit(field: &str) -> &'static str {
    column(field).or_else(|| described_field(field)).map_or("", |column| column.unit)
}

/// Checks whether a field may be compared: a number of a run, not the identity of its row, and not a part of a mean.
pub fn is_number(field: &str) -> bool {
    const IDENTITY: [&str; 6] = ["seed", "runs", "connection", "path", "began_at_s", "rows"];
    let is_numeric = |column: &Column| matches!(column.kind, Kind::Whole | Kind::Real);
    let is_headline = HEADLINE.iter().any(|(name, _)| *name == field);
    let is_known = is_headline || described_field(field).is_some_and(is_numeric);
    is_known && !IDENTITY.contains(&field) && !field.starts_with("path_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identities_and_parts_of_means_are_not_compared() {
        for field in ["cost", "fct_s", "timeouts", "bytes_sent", "cost_median", "throughput_median_bps"] {
            assert!(is_number(field), "{field}");
        }
        for field in ["seed", "path", "path_rtt_s", "scheme", "fct_s_ci95", "fct_s_runs", "fct_s_p99", "x"] {
            assert!(!is_number(field), "{field}");
        }
    }

    #[test]
    fn every_headline_number_of_a_row_is_described() {
        let of_score = HEADLINE.iter().position(|(field, _)| *field == "unfinished").expect("a score's");
        for (field, _) in &HEADLINE[..of_score] {
            assert!(described_field(field).is_some(), "{field}");
        }
        for (field, _) in OTHERS {
            assert!(described_field(field).is_some(), "{field}");
        }
    }
}
