//! What users notice of a change: how long transfers take, by their size, and the sentences of the headline.

use firstflight_export::Record;
use serde::Serialize;

use crate::matching::{CLASSES, Matched, class, number};
use crate::resampling::{Estimate, Statistic};
use crate::verdict::{Unit, verdict};

/// The change of one measure of the transfers of one size class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// The size class: `<10 kB`, `10-100 kB`, `100 kB-1 MB`, `1-10 MB` or `>10 MB`.
    pub transfer: &'static str,
    /// The measure: `completion`, `throughput`, `first 100 kB` or `first 1 MB`.
    pub measure: &'static str,
    /// The measure's unit.
    pub unit: Unit,
    /// Geometric mean of the first group's matched transfers; `None` if there are none.
    pub first: Option<f64>,
    /// Number of matched transfers of the first group.
    pub first_count: usize,
    /// Geometric mean of the second group's matched transfers.
    pub second: Option<f64>,
    /// Number of matched transfers of the second group.
    pub second_count: usize,
    /// The second value divided by the first one, minus 1.
    pub change: Option<f64>,
    /// Bounds of the 95 % interval of the change; `None` if one group has fewer than ten transfers.
    pub interval: Option<[f64; 2]>,
    /// `better` or `worse` if the interval excludes zero, `same` if it includes zero, and `unknown` without an interval.
    pub verdict: &'static str,
    /// The sentence of the headline; `None` for other measures than completion, and without an interval.
    pub sentence: Option<String>,
    /// The phrase for the size class in the sentence.
    #[serde(skip)]
    phrase: &'static str,
}

/// Reads a value from the row of a transfer.
type Read = fn(&Record) -> Option<f64>;

/// A measure: its name, its unit, whether lower is better, and how a row is read.
const MEASURES: [(&str, Unit, bool, Read); 4] = [
    (COMPLETION, Unit::Seconds, true, |row| number(row, "transfer_s")),
    ("throughput", Unit::BitsPerSecond, false, |row| {
        Some(number(row, "transfer_bytes")? * 8.0 / number(row, "transfer_s").filter(|time| *time > 0.0)?)
    }),
    ("first 100 kB", Unit::Seconds, true, |row| number(row, "time_to_100kb_s")),
    ("first 1 MB", Unit::Seconds, true, |row| number(row, "time_to_1mb_s")),
];

const COMPLETION: &str = "completion";

/// Returns the outcomes of all size classes with transfers in both groups, and the estimates of those that get a sentence, each with the
/// place of its outcome.
pub(crate) fn outcomes(groups: &Matched<'_>) -> (Vec<Outcome>, Vec<(usize, Estimate)>) {
    let (mut outcomes, mut sampled) = (Vec::new(), Vec::new());
    for (place, (transfer, phrase)) in CLASSES.into_iter().enumerate() {
        for (measure, unit, lower, read) in MEASURES {
            let value = |row: &Record| {
                let is_it = number(row, "transfer_bytes").is_some_and(|bytes| class(bytes) == place);
                Some((read(row).filter(|value| is_it && *value > 0.0)?, 1.0))
            };
            let sample = groups.sample(Statistic::MeanLog, value);
            let ([first, second], [first_count, second_count]) = (sample.values(), sample.counts());
            if first_count + second_count == 0 {
                continue;
            }
            let estimate = sample.estimate();
            let interval = estimate.map(|estimate| estimate.interval(1).map(f64::exp_m1));
            outcomes.push(Outcome {
                transfer,
                measure,
                unit,
                first: first.map(f64::exp),
                first_count,
                second: second.map(f64::exp),
                second_count,
                change: first.zip(second).map(|(first, second)| (second - first).exp_m1()),
                interval,
                verdict: verdict(interval, Some(lower)),
                sentence: None,
                phrase,
            });
            if let Some(estimate) = estimate.filter(|_| measure == COMPLETION) {
                sampled.push((outcomes.len() - 1, estimate));
            }
        }
    }
    (outcomes, sampled)
}

impl Outcome {
    /// Makes the sentence on completion times, of which the interval is one of `comparisons` that hold together.
    pub(crate) fn say(&mut self, estimate: &Estimate, comparisons: usize) -> Option<String> {
        let ends = estimate.interval(comparisons).map(f64::exp_m1);
        let change = self.change?;
        self.sentence = Some(match by(change, ends) {
            Some(by) => {
                format!(
                    "Transfers {} end {by} {}.",
                    self.phrase,
                    if change < 0.0 { "sooner" } else { "later" }
                )
            }
            None => format!(
                "Transfers {}: no difference can be shown, {}.",
                self.phrase,
                between(ends, ["sooner", "later"])
            ),
        });
        self.sentence.clone()
    }
}

/// Returns the difference of the shares of retransmitted segments; `None` without an interval.
pub(crate) fn retransmitted(groups: &Matched<'_>) -> Option<Estimate> {
    let share = |row: &Record| number(row, "retransmitted_segments").zip(number(row, "data_segments_sent"));
    groups.sample(Statistic::Ratio, share).estimate()
}

/// Makes the sentence on retransmissions.
pub(crate) fn say_retransmitted(estimate: &Estimate, comparisons: usize) -> String {
    let [first, second] = estimate.values;
    if first <= 0.0 && second <= 0.0 {
        return "No segment is retransmitted in either group.".to_owned();
    }
    let ends = estimate.interval(comparisons);
    let is_shown = ends[0] > 0.0 || ends[1] < 0.0;
    // A share that was nearly zero has no useful quotient.
    if first <= 0.0 || second > 10.0 * first {
        let shares =
            format!("{} % of segments are retransmitted instead of {} %", percent(second), percent(first));
        return if is_shown {
            format!("{shares}.")
        } else {
            format!("{shares}: no difference can be shown.")
        };
    }
    let (change, ends) = (second / first - 1.0, ends.map(|end| end / first));
    match by(change, ends) {
        Some(by) => {
            format!("{by} {} segments are retransmitted.", if change < 0.0 { "fewer" } else { "more" })
        }
        None => format!(
            "Retransmitted segments: no difference can be shown, {}.",
            between(ends, ["fewer", "more"])
        ),
    }
}

/// Returns the size of a relative change with half its interval, such as `8 ± 3 %`; `None` if the interval includes zero. The larger half
/// is shown, rounded up.
fn by(change: f64, ends: [f64; 2]) -> Option<String> {
    if ends[0] <= 0.0 && ends[1] >= 0.0 {
        return None;
    }
    let value = change.abs() * 100.0;
    let half = (change - ends[0]).max(ends[1] - change) * 100.0;
    // As many decimals as the interval needs to exclude zero in print.
    for decimals in 0..4 {
        let scale = 10_f64.powi(decimals);
        let (value, half) = ((value * scale).round() / scale, (half * scale).ceil() / scale);
        let places = usize::try_from(decimals).unwrap_or(0);
        if value > half {
            return Some(format!("{value:.places$} ± {half:.places$} %"));
        }
    }
    // The interval is so skewed that the larger half exceeds the change.
    let [low, high] = if change < 0.0 { [-ends[1], -ends[0]] } else { ends };
    Some(format!("{} to {} %", percent(low), percent(high)))
}

fn between([low, high]: [f64; 2], [below, above]: [&str; 2]) -> String {
    format!("between {} % {below} and {} % {above}", percent(-low), percent(high))
}

/// Returns a share as a percentage with two digits.
fn percent(share: f64) -> String {
    let value = share * 100.0;
    match value.abs() {
        size if size >= 9.95 => format!("{value:.0}"),
        size if size >= 0.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_said_with_the_larger_half_of_its_interval() {
        assert_eq!(by(-0.08, [-0.107, -0.052]).as_deref(), Some("8 ± 3 %"));
        assert_eq!(by(0.024, [0.013, 0.0354]).as_deref(), Some("2.4 ± 1.2 %"));
        assert_eq!(by(-0.08, [-0.107, 0.001]), None);
        // An interval that excludes zero is not printed as one that includes it.
        assert_eq!(by(0.03, [0.001, 0.0598]).as_deref(), Some("3.00 ± 2.98 %"));
        assert_eq!(by(0.5, [0.2, 1.4]).as_deref(), Some("20 to 140 %"));
        assert_eq!(between([-0.021, 0.0004], ["sooner", "later"]), "between 2.1 % sooner and 0.04 % later");
    }
}
