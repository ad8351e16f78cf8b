//! Compares start-ups before a deployment with start-ups after it, and computes changes with confidence intervals.
//!
//! The intervals are from a percentile bootstrap (Efron and Tibshirani 1993, chapter 13). Both collections are resampled with replacement,
//! and 95 % of the resampled differences lie within the interval. Connections to one destination share a path. If both collections have at
//! least [`ENOUGH_PREFIXES`] destination prefixes, whole prefixes with all their connections are resampled. Otherwise, single connections
//! are resampled. Each interval has this confidence alone; there is no correction for several comparisons.

use std::collections::BTreeMap;

use firstflight_export::Record;
use rand_core::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg64;
use serde::Serialize;
use serde_json::Value;

/// Minimum number of values for an interval.
const FEW: usize = 10;

/// Minimum number of prefixes in each collection for resampling whole prefixes.
const ENOUGH_PREFIXES: usize = 20;

/// Maximum number of values drawn for an interval. The number of resamples follows from it, within [`RESAMPLES`].
const DRAWS: usize = 20_000_000;
const RESAMPLES: [usize; 2] = [200, 2_000];

/// Seed of the resampling. It is fixed, so that the same two collections always give the same intervals.
const SEED: u64 = 1;

/// Unit of a measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Segments.
    Segments,
    /// Bits a second.
    BitsPerSecond,
    /// Seconds.
    Seconds,
    /// A share of 1.
    Share,
    /// Bytes.
    Bytes,
    /// A plain count.
    Count,
}

/// How the values of a collection are reduced to one number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Statistic {
    Median,
    Mean,
    /// The sum of the numerators divided by the sum of the denominators.
    Ratio,
}

/// Reads a numerator and a denominator from the row of one start-up. `None` if the row lacks them.
type Reading = fn(&Record) -> Option<(f64, f64)>;

/// A measure that is compared.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// The measure's name.
    pub name: &'static str,
    /// The measure's unit.
    pub unit: Unit,
    /// Whether lower values are better (`true`) or higher ones (`false`). `None` if neither is better in general.
    pub lower_is_better: Option<bool>,
    statistic: Statistic,
    reading: Reading,
}

fn number(record: &Record, name: &str) -> Option<f64> {
    record.get(name).and_then(Value::as_f64)
}

fn of(record: &Record, name: &str) -> Option<(f64, f64)> {
    number(record, name).map(|value| (value, 1.0))
}

fn has_cause(record: &Record, wanted: &str) -> Option<(f64, f64)> {
    let cause = record.get("exit_cause").and_then(Value::as_str)?;
    Some((if cause == wanted { 1.0 } else { 0.0 }, 1.0))
}

macro_rules! measure {
    ($name:literal, $unit:ident, $better:expr, $statistic:ident, $reading:expr) => {
        Measure {
            name: $name,
            unit: Unit::$unit,
            lower_is_better: $better,
            statistic: Statistic::$statistic,
            reading: $reading,
        }
    };
}

/// The compared measures, in order of output. The last two show whether the paths and the transfers were alike before and after.
const MEASURES: [Measure; 15] = [
    measure!("exit window, median", Segments, None, Median, |record| {
        let (flight, mss) = (number(record, "exit_flight_bytes")?, number(record, "mss_bytes")?);
        Some((flight / mss.max(1.0), 1.0))
    }),
    measure!("rate at exit, median", BitsPerSecond, None, Median, |record| of(record, "exit_rate_bps")),
    measure!("overshoot, mean", Segments, Some(true), Mean, |record| of(record, "overshoot_segments")),
    measure!("sent again, share", Share, Some(true), Ratio, |record| {
        number(record, "retransmitted_segments").zip(number(record, "data_segments_sent"))
    }),
    measure!("timeouts, mean", Count, Some(true), Mean, |record| of(record, "timeouts_suspected")),
    measure!("time to 90 %, median", Seconds, Some(true), Median, |record| of(record, "time_to_90pct_s")),
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

/// Summary of one collection.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Side {
    /// Number of start-ups.
    pub starts: usize,
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
    /// Value before; `None` if no start-up has one.
    pub before: Option<f64>,
    /// Number of start-ups before that have a value.
    pub before_count: usize,
    /// Value after; `None` if no start-up has one.
    pub after: Option<f64>,
    /// Number of start-ups after that have a value.
    pub after_count: usize,
    /// The value after minus the value before.
    pub difference: Option<f64>,
    /// Bounds of the 95 % interval of the difference; `None` if one side has fewer than ten values.
    pub interval: Option<[f64; 2]>,
    /// `better`, `worse`, `higher` or `lower` if the interval excludes zero, `same` if it includes zero, and `unknown` without an interval.
    pub verdict: &'static str,
}

/// Comparison of the start-ups before with the start-ups after.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BeforeAfter {
    /// The start-ups before.
    pub before: Side,
    /// The start-ups after.
    pub after: Side,
    /// Whether whole prefixes, rather than connections, were resampled.
    pub by_prefix: bool,
    /// Number of resamples.
    pub resamples: usize,
    /// The change of each measure.
    pub changes: Vec<Change>,
}

/// The rows have other columns than those of start-ups.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "it has no column {missing}, so it was written neither by `watch --parquet` nor by `inspect --parquet`"
)]
pub struct Unreadable {
    /// The first column that is missing.
    pub missing: &'static str,
}

impl BeforeAfter {
    /// Compares two collections of rows of `watch --parquet` or `inspect --parquet`.
    ///
    /// # Errors
    /// If the rows lack the columns of start-ups. A collection without rows is valid: all its values are unknown.
    pub fn new(before: &[Record], after: &[Record]) -> Result<Self, Unreadable> {
        let sides = [Collection::new(before)?, Collection::new(after)?];
        let by_prefix = sides.iter().all(|side| side.told.prefixes >= ENOUGH_PREFIXES);
        let units = sides.each_ref().map(|side| side.units(by_prefix));
        let most = sides.iter().map(|side| side.rows.len()).sum::<usize>().max(1);
        let resamples = (DRAWS / most).clamp(RESAMPLES[0], RESAMPLES[1]);
        let changes = MEASURES.iter().map(|measure| change(measure, &units, resamples)).collect();
        let [before, after] = sides.map(|side| side.told);
        Ok(Self { before, after, by_prefix, resamples, changes })
    }
}

struct Collection<'a> {
    rows: Vec<&'a Record>,
    told: Side,
}

impl<'a> Collection<'a> {
    fn new(rows: &'a [Record]) -> Result<Self, Unreadable> {
        for missing in ["exit_cause", "exit_flight_bytes", "bytes_acked"] {
            if rows.first().is_some_and(|row| !row.contains_key(missing)) {
                return Err(Unreadable { missing });
            }
        }
        let is_whole = |row: &&Record| number(row, "facts_lost").is_none_or(|lost| lost <= 0.0);
        let kept: Vec<&Record> = rows.iter().filter(is_whole).collect();
        let mut told = Side { starts: kept.len(), doubtful: rows.len() - kept.len(), ..Side::default() };
        for law in kept.iter().filter_map(|row| row.get("congestion_control")?.as_str()) {
            *told.congestion_controls.entry(law.to_owned()).or_default() += 1;
        }
        let mut collection = Self { rows: kept, told };
        collection.told.prefixes = collection.by_prefix().len();
        Ok(collection)
    }

    fn by_prefix(&self) -> BTreeMap<&'a str, Vec<&'a Record>> {
        let mut all: BTreeMap<&str, Vec<&Record>> = BTreeMap::new();
        for row in &self.rows {
            if let Some(prefix) = row.get("prefix").and_then(Value::as_str) {
                all.entry(prefix).or_default().push(row);
            }
        }
        all
    }

    /// Returns the groups of rows that are resampled together: prefixes, or single rows.
    fn units(&self, by_prefix: bool) -> Vec<Vec<&'a Record>> {
        if by_prefix {
            return self.by_prefix().into_values().collect();
        }
        self.rows.iter().map(|row| vec![*row]).collect()
    }
}

/// Readings of one measure in one collection, in groups that are resampled together.
type Units = Vec<Vec<(f64, f64)>>;

fn change(measure: &Measure, units: &[Vec<Vec<&Record>>; 2], resamples: usize) -> Change {
    let read = |units: &Vec<Vec<&Record>>| -> Units {
        let each = |unit: &Vec<&Record>| unit.iter().filter_map(|row| (measure.reading)(row)).collect();
        units.iter().map(each).filter(|unit: &Vec<_>| !unit.is_empty()).collect()
    };
    let sides = units.each_ref().map(read);
    let counts = sides.each_ref().map(|side| side.iter().map(Vec::len).sum::<usize>());
    let whole = sides.each_ref().map(|side| statistic(measure.statistic, &mut side.concat()));
    let difference = whole[0].zip(whole[1]).map(|(before, after)| after - before);
    let is_enough = counts.iter().all(|count| *count >= FEW);
    let interval =
        difference.filter(|_| is_enough).and_then(|_| interval(measure.statistic, &sides, resamples));
    let verdict = match interval {
        None => "unknown",
        Some([low, high]) if low <= 0.0 && high >= 0.0 => "same",
        Some([low, _]) => match (measure.lower_is_better, low > 0.0) {
            (None, true) => "higher",
            (None, false) => "lower",
            (Some(lower), higher) => {
                if lower == higher {
                    "worse"
                } else {
                    "better"
                }
            }
        },
    };
    let [before, after] = whole;
    let [before_count, after_count] = counts;
    let Measure { name, unit, .. } = *measure;
    Change { measure: name, unit, before, before_count, after, after_count, difference, interval, verdict }
}

/// Returns the 95 % interval of the difference between the two sides; `None` with fewer than [`FEW`] values on a side.
fn interval(statistic_: Statistic, sides: &[Units; 2], resamples: usize) -> Option<[f64; 2]> {
    let mut random = Pcg64::seed_from_u64(SEED);
    let mut drawn = Vec::new();
    let mut differences = Vec::with_capacity(resamples);
    for _ in 0..resamples {
        let mut draw = |side: &Units| {
            drawn.clear();
            for _ in 0..side.len() {
                drawn.extend_from_slice(&side[below(&mut random, side.len())]);
            }
            statistic(statistic_, &mut drawn)
        };
        let (before, after) = (draw(&sides[0]), draw(&sides[1]));
        differences.extend(before.zip(after).map(|(before, after)| after - before));
    }
    differences.sort_by(f64::total_cmp);
    let at = |share: usize| differences.get((differences.len() * share / 1000).min(differences.len() - 1));
    if differences.is_empty() { None } else { Some([*at(25)?, *at(975)?]) }
}

/// Returns a random number below `limit`. It is uniform except for a bias of at most `limit` · 2^-64.
fn below(random: &mut Pcg64, limit: usize) -> usize {
    let product = u128::from(random.next_u64()) * limit as u128;
    usize::try_from(product >> 64).unwrap_or(0)
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn statistic(which: Statistic, values: &mut [(f64, f64)]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let sums = |values: &[(f64, f64)]| {
        values.iter().fold((0.0, 0.0), |(one, other), (num, den)| (one + num, other + den))
    };
    match which {
        Statistic::Mean => Some(sums(values).0 / values.len() as f64),
        Statistic::Ratio => {
            let (num, den) = sums(values);
            (den > 0.0).then_some(num / den)
        }
        Statistic::Median => {
            let (middle, is_odd) = (values.len() / 2, values.len() % 2 == 1);
            let (lower, at, _) =
                values.select_nth_unstable_by(middle, |one, other| one.0.total_cmp(&other.0));
            let at = at.0;
            if is_odd {
                return Some(at);
            }
            let below = lower.iter().map(|value| value.0).fold(f64::NEG_INFINITY, f64::max);
            Some(f64::midpoint(below, at))
        }
    }
}

#[cfg(test)]
mod tests;
