//! Matches the start-ups of two groups by what the path and the program decide: the size of the transfer, the round trip, the destination.

use std::collections::BTreeMap;

use firstflight_export::Record;
use serde_json::Value;

use crate::resampling::{Reading, Sample, Statistic};

/// Upper ends of the size classes of transfers in bytes; the last class has none.
const ENDS: [f64; 4] = [1e4, 1e5, 1e6, 1e7];

/// Names of the size classes, in columns and in sentences.
pub(crate) const CLASSES: [(&str, &str); 5] = [
    ("<10 kB", "under 10 kB"),
    ("10-100 kB", "of 10 to 100 kB"),
    ("100 kB-1 MB", "of 100 kB to 1 MB"),
    ("1-10 MB", "of 1 to 10 MB"),
    (">10 MB", "over 10 MB"),
];

/// Share of the rows matched by size and round trip that must stay matched if the prefix is compared too.
const ENOUGH: f64 = 0.75;

/// Returns a number of a row.
pub(crate) fn number(record: &Record, name: &str) -> Option<f64> {
    record.get(name).and_then(Value::as_f64)
}

/// Returns the size class of a transfer of so many bytes.
pub(crate) fn class(bytes: f64) -> usize {
    ENDS.iter().position(|end| bytes < *end).unwrap_or(ENDS.len())
}

/// What rows of one stratum have in common: the class and the octave of the size, the octave of the round trip, the prefix.
type Key<'a> = (usize, i32, Option<i32>, Option<&'a str>);

#[expect(clippy::cast_possible_truncation, reason = "exponents are far below 2^31")]
fn octave(value: f64) -> i32 {
    value.max(f64::MIN_POSITIVE).log2().floor() as i32
}

fn key(row: &Record, has_prefix: bool) -> Key<'_> {
    let bytes = number(row, "transfer_bytes").or_else(|| number(row, "bytes_acked")).unwrap_or(0.0).max(1.0);
    let round_trip = number(row, "handshake_rtt_s").or_else(|| number(row, "min_rtt_s"));
    let prefix = row.get("prefix").and_then(Value::as_str).filter(|_| has_prefix);
    (class(bytes), octave(bytes), round_trip.map(|seconds| octave(seconds * 1e3)), prefix)
}

/// The strata of the rows of two groups.
#[derive(Debug)]
pub(crate) struct Strata {
    /// The stratum of each row, by group.
    pub(crate) of: [Vec<usize>; 2],
    /// Number of strata.
    pub(crate) count: usize,
    /// Whether rows of a stratum have the same prefix.
    pub(crate) by_prefix: bool,
    /// Number of rows, by group, whose stratum has rows of both groups.
    pub(crate) matched: [usize; 2],
}

impl Strata {
    /// Sorts the rows into strata of one octave of size and of round trip. They have one prefix too, if most rows then still have a
    /// partner in the other group.
    pub(crate) fn new(groups: [&[&Record]; 2]) -> Self {
        let plain = Self::with(groups, false);
        let by_prefix = Self::with(groups, true);
        let is_enough = |group: usize| {
            #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
            let [few, all] = [by_prefix.matched[group], plain.matched[group]].map(|count| count as f64);
            few >= ENOUGH * all
        };
        if is_enough(0) && is_enough(1) { by_prefix } else { plain }
    }

    fn with(groups: [&[&Record]; 2], by_prefix: bool) -> Self {
        let mut numbers = BTreeMap::new();
        let of = groups.map(|rows| {
            let keys = rows.iter().map(|row| key(row, by_prefix));
            let mut stratum = |key| {
                let next = numbers.len();
                *numbers.entry(key).or_insert(next)
            };
            keys.map(&mut stratum).collect::<Vec<usize>>()
        });
        let count = numbers.len();
        let mut has = vec![[false; 2]; count];
        for (group, rows) in of.iter().enumerate() {
            for stratum in rows {
                has[*stratum][group] = true;
            }
        }
        let matched =
            of.each_ref().map(|rows| rows.iter().filter(|stratum| has[**stratum] == [true; 2]).count());
        Self { of, count, by_prefix, matched }
    }
}

/// Rows of both groups, sorted into strata.
pub(crate) struct Matched<'a> {
    pub(crate) rows: [Vec<&'a Record>; 2],
    pub(crate) strata: Strata,
    /// The unit of each row that is resampled, by group.
    pub(crate) units: [Vec<usize>; 2],
    /// Whether both groups have the same units.
    pub(crate) is_joint: bool,
}

impl Matched<'_> {
    /// Returns the values of a measure.
    pub(crate) fn sample(
        &self,
        statistic: Statistic,
        read: impl Fn(&Record) -> Option<(f64, f64)>,
    ) -> Sample {
        let side = |group: usize| {
            let of = self.strata.of[group].iter().zip(&self.units[group]);
            let each = self.rows[group].iter().zip(of);
            let each = each.filter_map(|(row, (stratum, unit))| {
                Some(Reading { value: read(row)?, stratum: *stratum, unit: *unit })
            });
            each.collect()
        };
        Sample::new(statistic, [side(0), side(1)], self.strata.count, self.is_joint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn row(bytes: u64, rtt: f64, prefix: &str) -> Record {
        let value = json!({ "transfer_bytes": bytes, "handshake_rtt_s": rtt, "prefix": prefix });
        value.as_object().expect("an object").clone()
    }

    #[test]
    fn rows_match_by_size_and_round_trip_and_by_prefix_where_most_have_a_partner() {
        assert_eq!([9_999.0, 1e4, 99_999.0, 1e6, 3e7].map(class), [0, 1, 1, 3, 4]);
        let one = [
            row(100_000, 0.04, "a"),
            row(120_000, 0.05, "a"),
            row(100_000, 0.2, "a"),
            row(90_000, 0.04, "a"),
        ];
        let other = [row(110_000, 0.033, "a"), row(110_000, 0.033, "b")];
        let strata = Strata::new([&one.iter().collect::<Vec<_>>(), &other.iter().collect::<Vec<_>>()]);
        // 90 kB are in another class, though in the same octave, and 200 ms on another path. Half of the others have no partner of their
        // prefix.
        assert_eq!((strata.by_prefix, strata.matched), (false, [2, 2]));
        let strata = Strata::new([&one.iter().collect::<Vec<_>>(), &[&other[0]]]);
        assert_eq!((strata.by_prefix, strata.matched), (true, [2, 1]));
    }
}
