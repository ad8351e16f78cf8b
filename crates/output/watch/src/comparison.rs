//! Compares two groups of start-ups: those before a deployment with those after it, or those under one congestion control with those under
//! another at the same time. Computes changes with confidence intervals.
//!
//! Start-ups are compared only within strata of like size, round trip and destination ([`crate::matching`]). Whole prefixes are resampled,
//! because the connections to one prefix share a path. [`Drawn`] has the exceptions.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use firstflight_export::Record;
use serde::Serialize;
use serde_json::Value;

use crate::matching::{Matched, Strata, number, peer, prefix};
use crate::outcome::{Cut, Outcome, Retransmissions, is_cut_short, outcomes};
use crate::resampling::{Statistic, resamples};
use crate::verdict::{Unit, verdict};

/// Reads a numerator and a denominator from the row of one start-up. `None` if the row lacks them.
type Read = fn(&Record) -> Option<(f64, f64)>;

/// A measure that is compared.
#[derive(Clone, Copy, Debug)]
struct Measure {
    name: &'static str,
    unit: Unit,
    /// Whether lower values are better (`true`) or higher ones (`false`). `None` if neither is better in general.
    lower_is_better: Option<bool>,
    statistic: Statistic,
    read: Read,
}

fn of(record: &Record, name: &str) -> Option<(f64, f64)> {
    number(record, name).map(|value| (value, 1.0))
}

fn share(is: bool) -> (f64, f64) {
    (if is { 1.0 } else { 0.0 }, 1.0)
}

fn has_cause(record: &Record, wanted: &str) -> Option<(f64, f64)> {
    let cause = record.get("exit_cause").and_then(Value::as_str)?;
    Some(share(cause == wanted))
}

macro_rules! measure {
    ($name:literal, $unit:ident, $better:expr, $statistic:ident, $read:expr) => {
        Measure {
            name: $name,
            unit: Unit::$unit,
            lower_is_better: $better,
            statistic: Statistic::$statistic,
            read: $read,
        }
    };
}

/// The compared measures of start-ups, in order of output. The last two show whether the paths and the transfers of both groups are alike.
const MEASURES: [Measure; 16] = [
    measure!("retransmitted, share", Share, Some(true), Ratio, |record| {
        number(record, "retransmitted_segments").zip(number(record, "data_segments_sent"))
    }),
    measure!("overshoot, mean", Segments, Some(true), Mean, |record| of(record, "overshoot_segments")),
    measure!("timeouts, mean", Count, Some(true), Mean, |record| of(record, "timeouts_suspected")),
    measure!("cut short, share", Share, Some(true), Mean, is_cut_short),
    measure!("time to 90 %, median", Seconds, Some(true), Median, |record| of(record, "time_to_90pct_s")),
    measure!("exit window, median", Segments, None, Median, |record| {
        let (flight, mss) = (number(record, "exit_flight_bytes")?, number(record, "mss_bytes")?);
        Some((flight / mss.max(1.0), 1.0))
    }),
    measure!("rate at exit, median", BitsPerSecond, None, Median, |record| of(record, "exit_rate_bps")),
    measure!("idle restarts, mean", Count, None, Mean, |record| of(record, "idle_restarts_total")),
    measure!("exit by loss", Share, None, Mean, |record| has_cause(record, "loss")),
    measure!("exit by timeout", Share, None, Mean, |record| has_cause(record, "timeout")),
    measure!("exit by mark", Share, None, Mean, |record| has_cause(record, "mark")),
    measure!("exit by flat", Share, None, Mean, |record| has_cause(record, "flat")),
    measure!("exit by drain", Share, None, Mean, |record| has_cause(record, "drain")),
    measure!("data ended first", Share, None, Mean, |record| has_cause(record, "none")),
    measure!("handshake RTT, median", Seconds, None, Median, |record| of(record, "handshake_rtt_s")),
    measure!("acknowledged, median", Bytes, None, Median, |record| of(record, "bytes_acked")),
];

/// Summary of one group.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Side {
    /// Number of start-ups.
    pub starts: usize,
    /// Number of start-ups that have a partner of like size and path in the other group. The others are not compared.
    pub matched: usize,
    /// Number of destination prefixes; 0 if the rows have none.
    pub prefixes: usize,
    /// Number of start-ups for each congestion control.
    pub congestion_controls: BTreeMap<String, u64>,
    /// Number of start-ups left out because the kernel lost events of them (`facts_lost`).
    pub doubtful: usize,
}

/// Change of one measure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The measure's name.
    pub measure: &'static str,
    /// The measure's unit.
    pub unit: Unit,
    /// Value of the first group; `None` if no matched start-up has one.
    pub first: Option<f64>,
    /// Number of matched start-ups of the first group that have a value.
    pub first_count: usize,
    /// Value of the second group.
    pub second: Option<f64>,
    /// Number of matched start-ups of the second group that have a value.
    pub second_count: usize,
    /// The second value minus the first one.
    pub difference: Option<f64>,
    /// Bounds of the 95 % interval of the difference; `None` if one group has fewer than ten values, or
    /// values of fewer than ten resampled units.
    pub interval: Option<[f64; 2]>,
    /// `better`, `worse`, `higher` or `lower` if the interval excludes zero, `same` if it includes zero, and `unknown` without an interval.
    pub verdict: &'static str,
}

/// The unit that is resampled for the confidence intervals.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Drawn {
    /// All connections to a destination prefix.
    Prefixes,
    /// All connections to a peer: there is only one prefix, and each peer has connections of one group only.
    Peers,
    /// Single connections: there is only one prefix, and a peer has connections of both groups.
    Connections,
}

impl Drawn {
    /// Returns the name of several units.
    pub fn name(self) -> &'static str {
        match self {
            Self::Prefixes => "prefixes",
            Self::Peers => "peers",
            Self::Connections => "connections",
        }
    }
}

/// Comparison of two groups of start-ups.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Both groups.
    pub sides: [Side; 2],
    /// The headline: a sentence for each size class whose completion times can be compared, and one for retransmissions.
    pub headline: Vec<String>,
    /// Whether start-ups were compared only with those to the same prefix.
    pub matched_by_prefix: bool,
    /// The unit that was resampled.
    pub drawn: Drawn,
    /// Number of resamples for a measure that all start-ups have.
    pub resamples: usize,
    /// What users notice, by size class.
    pub outcomes: Vec<Outcome>,
    /// The change of each measure of start-ups.
    pub changes: Vec<Change>,
}

/// The rows have other columns than those of start-ups.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("it has no column {missing}, so it is no file of `watch` or of `inspect --parquet` of this version")]
pub struct Unreadable {
    /// The first column that is missing.
    pub missing: &'static str,
}

/// Checks whether these are rows of start-ups. No rows are valid.
///
/// # Errors
/// If the first row lacks a column of start-ups.
pub fn check(rows: &[Record]) -> Result<(), Unreadable> {
    let lacks = |name: &&str| rows.first().is_some_and(|row| !row.contains_key(*name));
    match ["exit_cause", "exit_flight_bytes", "bytes_acked", "transfer_s"].into_iter().find(lacks) {
        Some(missing) => Err(Unreadable { missing }),
        None => Ok(()),
    }
}

impl Comparison {
    /// Compares two groups of rows of `watch` or `inspect --parquet`.
    pub fn new(first: &[&Record], second: &[&Record]) -> Self {
        let is_whole = |row: &&&Record| number(row, "facts_lost").is_none_or(|lost| lost <= 0.0);
        let rows = [first, second].map(|all| all.iter().filter(is_whole).copied().collect::<Vec<&Record>>());
        let strata = Strata::new([&rows[0], &rows[1]]);
        let side = |group: usize, all: &[&Record]| {
            let mut side = Side {
                starts: rows[group].len(),
                matched: strata.matched[group],
                doubtful: all.len() - rows[group].len(),
                prefixes: rows[group].iter().filter_map(|row| prefix(row)).collect::<BTreeSet<_>>().len(),
                ..Side::default()
            };
            for law in rows[group].iter().filter_map(|row| row.get("congestion_control")?.as_str()) {
                *side.congestion_controls.entry(law.to_owned()).or_default() += 1;
            }
            side
        };
        let sides = [side(0, first), side(1, second)];
        let (drawn, units, is_joint) = units([&rows[0], &rows[1]]);
        let matched_by_prefix = strata.by_prefix;
        let paths = Strata::of_paths([&rows[0], &rows[1]], matched_by_prefix);
        let groups = Matched { rows, strata, paths, units, is_joint };
        let changes: Vec<Change> = MEASURES.iter().map(|measure| change(measure, &groups)).collect();
        let cut = Cut::of(&groups);
        let (mut outcomes, sampled) = outcomes(&groups);
        // All intervals of the headline hold together.
        let retransmissions = Retransmissions::of(&groups);
        let comparisons = sampled.iter().filter(|(_, estimate)| estimate.is_ok()).count()
            + usize::from(retransmissions.is_some());
        let mut headline = Vec::new();
        for (at, estimate) in sampled {
            headline.extend(outcomes[at].say(estimate, comparisons, drawn.name(), &cut));
        }
        headline.extend(retransmissions.map(|one| one.say(comparisons, drawn.name(), &cut)));
        if headline.is_empty() {
            headline.push(
                "Fewer than ten transfers of a size and path are in both groups: nothing can be said."
                    .to_owned(),
            );
        }
        let all = groups.rows[0].len() + groups.rows[1].len();
        Self { sides, headline, matched_by_prefix, drawn, resamples: resamples(all), outcomes, changes }
    }
}

/// Returns what is resampled, the unit of each row, and whether the units have connections of both groups.
///
/// Schemes are often assigned by prefix or by peer, and all connections of one have its path in common. So single connections are drawn
/// only if all are to one prefix and a peer has connections of both groups.
fn units(rows: [&[&Record]; 2]) -> (Drawn, [Vec<usize>; 2], bool) {
    let of_prefix = Numbered::of(rows, |row| prefix(row).map(Cow::into_owned));
    if of_prefix.count > 1 {
        let is_joint = of_prefix.is_mostly_mixed();
        return (Drawn::Prefixes, of_prefix.units, is_joint);
    }
    let of_peer = Numbered::of(rows, |row| peer(row).map(|peer| peer.ip()));
    if of_peer.count > 1 && !of_peer.is_mixed.contains(&true) {
        return (Drawn::Peers, of_peer.units, false);
    }
    (Drawn::Connections, rows.map(|rows| (0..rows.len()).collect()), false)
}

/// Units of rows with numbers from zero.
struct Numbered {
    units: [Vec<usize>; 2],
    count: usize,
    /// Whether a unit has rows of both groups.
    is_mixed: Vec<bool>,
}

impl Numbered {
    fn of<K: Ord>(rows: [&[&Record]; 2], unit: impl Fn(&Record) -> K) -> Self {
        let mut numbers = BTreeMap::new();
        let units = rows.map(|rows| {
            let number = |row: &&Record| {
                let next = numbers.len();
                *numbers.entry(unit(row)).or_insert(next)
            };
            rows.iter().map(number).collect::<Vec<usize>>()
        });
        let count = numbers.len();
        let mut has = vec![[false; 2]; count];
        for (group, units) in units.iter().enumerate() {
            for unit in units {
                has[*unit][group] = true;
            }
        }
        Self { units, count, is_mixed: has.into_iter().map(|has| has == [true; 2]).collect() }
    }

    /// Checks whether at least half of the rows of each group belong to units with rows of both groups.
    fn is_mostly_mixed(&self) -> bool {
        self.units.iter().all(|units| {
            let mixed = units.iter().filter(|unit| self.is_mixed[**unit]).count();
            2 * mixed >= units.len()
        })
    }
}

fn change(measure: &Measure, groups: &Matched<'_>) -> Change {
    let sample = if measure.name == "cut short, share" {
        groups.sample_of_paths(measure.statistic, measure.read)
    } else {
        groups.sample(measure.statistic, measure.read)
    };
    let ([first, second], [first_count, second_count]) = (sample.values(), sample.counts());
    let size = first.unwrap_or(0.0).abs().max(second.unwrap_or(0.0).abs());
    // Sums of weights have rounding errors, which are no difference.
    let exact = |difference: f64| if difference.abs() > size * 1e-9 { difference } else { 0.0 };
    let interval = sample.percentiles().map(|ends| ends.map(exact));
    Change {
        measure: measure.name,
        unit: measure.unit,
        first,
        first_count,
        second,
        second_count,
        difference: first.zip(second).map(|(first, second)| exact(second - first)),
        interval,
        verdict: verdict(interval, measure.lower_is_better),
    }
}

#[cfg(test)]
mod tests;
