//! What users notice of a change: how long transfers take, by their size, and the sentences of the headline.

use firstflight_export::Record;
use serde::Serialize;
use serde_json::Value;

use crate::matching::{CLASSES, Matched, class, number, round_trip, size};
use crate::resampling::{Estimate, FEW, Few, Statistic};
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
    /// The size and the round trip that differ between the groups in spite of matching.
    #[serde(skip)]
    imbalance: Option<String>,
}

/// Maximum relative difference of the sizes, and of the round trips, of groups that are compared in a sentence.
const BALANCED: f64 = 0.05;

/// Share of transfers cut short of which a sentence must speak.
const CUT: f64 = 0.03;

/// Smallest relative change that is printed as other than 0.00 %.
const PRINTED: f64 = 0.5e-4;

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

/// The estimates of outcomes that get a sentence, each with the place of its outcome.
type Sampled = Vec<(usize, Result<Estimate, Few>)>;

/// Returns the outcomes of all size classes with transfers in both groups, and the estimates of those that get a sentence.
pub(crate) fn outcomes(groups: &Matched<'_>) -> (Vec<Outcome>, Sampled) {
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
            let interval = estimate.ok().map(|estimate| estimate.interval(1).map(f64::exp_m1).map(shown));
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
                imbalance: None,
            });
            if measure == COMPLETION && estimate.as_ref().err() != Some(&Few::Values) {
                let of = outcomes.len() - 1;
                outcomes[of].imbalance = imbalance(groups, |row| value(row).is_some());
                sampled.push((of, estimate));
            }
        }
    }
    (outcomes, sampled)
}

impl Outcome {
    /// Makes the sentence on completion times, of which the interval is one of `comparisons` that hold together. `drawn` are the units that
    /// are resampled.
    pub(crate) fn say(
        &mut self,
        estimate: Result<Estimate, Few>,
        comparisons: usize,
        drawn: &str,
        cut: &Cut,
    ) -> Option<String> {
        let subject = format!("Transfers {}", self.phrase);
        self.sentence = Some(match (estimate, &self.imbalance) {
            (Err(few), _) => format!("{subject}: {}.", too_few(few, drawn)),
            (Ok(_), Some(differ)) => format!("{subject}: no comparison, since {differ}."),
            (Ok(_), None) if cut.is_decisive => {
                format!("{subject}: no comparison, since {}.", cut.shares("times"))
            }
            (Ok(estimate), None) => {
                let ends = estimate.interval(comparisons).map(f64::exp_m1);
                let change = self.change?;
                let said = match by(change, ends) {
                    Some(by) => {
                        format!("{subject} end {by} {}", if change < 0.0 { "sooner" } else { "later" })
                    }
                    None => format!(
                        "{subject}: no difference can be shown, {}",
                        between(ends, ["sooner", "later"])
                    ),
                };
                format!("{said}{}.", cut.caveat("times"))
            }
        });
        self.sentence.clone()
    }
}

/// Explains why there is no interval.
fn too_few(few: Few, drawn: &str) -> String {
    match few {
        Few::Units(count) => format!("too few destinations to tell, {count} {drawn} in a group"),
        Few::Values | Few::Defined => "too few have a partner of like size and path to tell".to_owned(),
    }
}

/// Returns the reason why matched rows of both groups are not comparable: a mean size or a mean RTT that differs by too much. `None` if
/// both means agree.
fn imbalance(groups: &Matched<'_>, is_it: impl Fn(&Record) -> bool) -> Option<String> {
    let differ = |name: &str, read: &dyn Fn(&Record) -> Option<f64>| {
        let value = |row: &Record| Some((read(row).filter(|_| is_it(row))?, 1.0));
        let [first, second] = groups.sample(Statistic::MeanLog, value).values();
        let change = (second? - first?).exp_m1();
        let ends = if change < 0.0 { "smaller" } else { "larger" };
        (change.abs() > BALANCED)
            .then(|| format!("{name} of the second group are {} % {ends}", percent(change.abs())))
    };
    let size = |row: &Record| Some(size(row));
    differ("sizes", &size).or_else(|| differ("round trips", &round_trip))
}

/// Returns whether a connection ended before its data was acknowledged; `None` if it was not seen at the sender or did not end.
pub(crate) fn is_cut_short(row: &Record) -> Option<(f64, f64)> {
    let is_open = row.get("is_open").and_then(Value::as_bool).unwrap_or(false);
    let is_elsewhere = row.get("vantage").is_some_and(|place| place != "sender");
    let is_cut = number(row, "transfer_s").is_none();
    (!is_open && !is_elsewhere).then_some((if is_cut { 1.0 } else { 0.0 }, 1.0))
}

/// The shares of the transfers of both groups that were cut short. Their sizes are not known, so they are of all sizes.
pub(crate) struct Cut {
    shares: [f64; 2],
    differs: bool,
    /// Whether the transfers that completed cannot be compared.
    is_decisive: bool,
}

impl Cut {
    pub(crate) fn of(groups: &Matched<'_>) -> Self {
        let sample = groups.sample_of_paths(Statistic::Mean, is_cut_short);
        let shares = sample.values().map(|share| share.unwrap_or(0.0));
        let ends = sample.estimate().ok().map(|estimate| estimate.interval(1));
        let differs = ends.is_some_and(|[low, high]| low > 0.0 || high < 0.0);
        Self { shares, differs, is_decisive: differs && shares.iter().any(|share| *share > CUT) }
    }

    fn shares(&self, what: &str) -> String {
        let [first, second] = self.shares.map(percent);
        format!("{first} % and {second} % of the transfers were cut short: their {what} are missing")
    }

    fn caveat(&self, what: &str) -> String {
        if self.differs || self.shares.iter().any(|share| *share > CUT) {
            format!("; but {}", self.shares(what))
        } else {
            String::new()
        }
    }
}

/// The shares of retransmitted segments.
pub(crate) struct Retransmissions {
    shares: [f64; 2],
    /// The logarithm of their quotient, or their difference if a share may be zero.
    estimate: Result<Estimate, Few>,
    is_quotient: bool,
    /// Number of units with retransmissions.
    count: usize,
    imbalance: Option<String>,
}

impl Retransmissions {
    /// Returns the shares; `None` with too few values.
    pub(crate) fn of(groups: &Matched<'_>) -> Option<Self> {
        let share =
            |row: &Record| number(row, "retransmitted_segments").zip(number(row, "data_segments_sent"));
        let plain = groups.sample(Statistic::Ratio, share);
        let [first, second] = plain.values();
        let quotient = groups.sample(Statistic::LogRatio, share).estimate();
        let estimate = quotient.or_else(|_| plain.estimate());
        if estimate.as_ref().err() == Some(&Few::Values) {
            return None;
        }
        Some(Self {
            shares: [first?, second?],
            estimate,
            is_quotient: quotient.is_ok(),
            count: plain.units_above_zero(),
            imbalance: imbalance(groups, |row| share(row).is_some()),
        })
    }

    /// Makes the sentence.
    pub(crate) fn say(self, comparisons: usize, drawn: &str, cut: &Cut) -> String {
        let [first, second] = self.shares;
        let subject = "Retransmitted segments";
        let estimate = match (self.estimate, self.imbalance) {
            (Err(few), _) => return format!("{subject}: {}.", too_few(few, drawn)),
            (Ok(_), _) if first <= 0.0 && second <= 0.0 => {
                return "No segment is retransmitted in either group.".to_owned();
            }
            (Ok(_), Some(differ)) => return format!("{subject}: no comparison, since {differ}."),
            (Ok(_), None) if cut.is_decisive => {
                return format!("{subject}: no comparison, since {}.", cut.shares("segments"));
            }
            (Ok(estimate), None) => estimate,
        };
        let caveat = cut.caveat("segments");
        let word = if second < first { "fewer" } else { "more" };
        let ends = estimate.interval(comparisons);
        if self.is_quotient {
            let (change, ends) = (second / first - 1.0, ends.map(f64::exp_m1));
            return match by(change, ends) {
                Some(by) => format!("{by} {word} segments are retransmitted{caveat}."),
                None => format!(
                    "{subject}: no difference can be shown, {}{caveat}.",
                    between(ends, ["fewer", "more"])
                ),
            };
        }
        let shares = format!("{} % instead of {} %", tiny(second), tiny(first));
        if self.count < FEW {
            return format!("{subject}: {shares}, too few to tell{caveat}.");
        }
        match by(second - first, ends) {
            Some(by) => format!(
                "{shares}: {} percentage points {word} segments are retransmitted{caveat}.",
                by.trim_end_matches(" %")
            ),
            None => format!("{subject}: {shares}, no difference can be shown{caveat}."),
        }
    }
}

/// Returns a small share as a percentage with two significant digits.
fn tiny(share: f64) -> String {
    match share * 100.0 {
        value if value <= 0.0 => "0".to_owned(),
        value if value < 0.001 => "under 0.001".to_owned(),
        value if value < 0.01 => format!("{value:.4}"),
        value if value < 0.1 => format!("{value:.3}"),
        _ => percent(share),
    }
}

/// Returns zero for a change that is printed as 0.00 %.
fn shown(change: f64) -> f64 {
    if change.abs() < PRINTED { 0.0 } else { change }
}

/// Returns the size of a relative change with half its interval, such as `8 ± 3 %`; `None` if the interval includes zero as printed. The larger half
/// is shown, rounded up.
fn by(change: f64, ends: [f64; 2]) -> Option<String> {
    let (change, ends) = (shown(change), ends.map(shown));
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
    // Zero has no sign.
    let value = shown(share) * 100.0 + 0.0;
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
