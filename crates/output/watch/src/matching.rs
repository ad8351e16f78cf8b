//! Matches the start-ups of two groups by what the path and the program decide: the size of the transfer, the round trip, the destination.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::net::SocketAddr;

use firstflight_export::Record;
use serde_json::Value;

use crate::resampling::{Reading, Sample, Statistic};
use crate::watcher::Prefixes;

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

/// Returns the address of the destination.
pub(crate) fn peer(record: &Record) -> Option<SocketAddr> {
    record.get("to")?.as_str()?.parse().ok()
}

/// Returns the destination's prefix; rows of captures have only its address.
pub(crate) fn prefix(record: &Record) -> Option<Cow<'_, str>> {
    let written = record.get("prefix").and_then(Value::as_str).map(Cow::from);
    written.or_else(|| Some(Prefixes::default().of(peer(record)?.ip()).into()))
}

/// Returns the bytes of the transfer, or those acknowledged if it did not complete.
pub(crate) fn size(record: &Record) -> f64 {
    number(record, "transfer_bytes").or_else(|| number(record, "bytes_acked")).unwrap_or(0.0).max(1.0)
}

/// Returns the RTT of the handshake, or else the minimum one.
pub(crate) fn round_trip(record: &Record) -> Option<f64> {
    number(record, "handshake_rtt_s").or_else(|| number(record, "min_rtt_s")).filter(|time| *time > 0.0)
}

/// What rows of one stratum have in common: the class and the quarter of an octave of the size, that of the round trip, the prefix.
type Key<'a> = (Option<(usize, i32)>, Option<i32>, Option<Cow<'a, str>>);

/// Returns the quarter of an octave in which a value is: values in it differ by at most 19 %.
#[expect(clippy::cast_possible_truncation, reason = "exponents are far below 2^31")]
fn quarter(value: f64) -> i32 {
    (4.0 * value.max(f64::MIN_POSITIVE).log2()).floor() as i32
}

fn key(row: &Record, has_size: bool, has_prefix: bool) -> Key<'_> {
    let size = has_size.then(|| size(row)).map(|bytes| (class(bytes), quarter(bytes)));
    let prefix = if has_prefix { prefix(row) } else { None };
    (size, round_trip(row).map(|seconds| quarter(seconds * 1e3)), prefix)
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
    /// Sorts the rows into strata of a quarter of an octave of size and of round trip. They have one prefix too, if most rows then still have a
    /// partner in the other group.
    pub(crate) fn new(groups: [&[&Record]; 2]) -> Self {
        let plain = Self::with(groups, true, false);
        let by_prefix = Self::with(groups, true, true);
        let is_enough = |group: usize| {
            #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
            let [few, all] = [by_prefix.matched[group], plain.matched[group]].map(|count| count as f64);
            few >= ENOUGH * all
        };
        if is_enough(0) && is_enough(1) { by_prefix } else { plain }
    }

    /// Sorts the rows into strata of like paths, without regard to the size.
    pub(crate) fn of_paths(groups: [&[&Record]; 2], by_prefix: bool) -> Self {
        Self::with(groups, false, by_prefix)
    }

    fn with(groups: [&[&Record]; 2], has_size: bool, by_prefix: bool) -> Self {
        let mut numbers = BTreeMap::new();
        let of = groups.map(|rows| {
            let keys = rows.iter().map(|row| key(row, has_size, by_prefix));
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
    /// Strata of like paths, for what decides the size.
    pub(crate) paths: Strata,
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
        self.sample_in(&self.strata, statistic, read)
    }

    /// Returns the values of a measure by strata of like paths.
    pub(crate) fn sample_of_paths(
        &self,
        statistic: Statistic,
        read: impl Fn(&Record) -> Option<(f64, f64)>,
    ) -> Sample {
        self.sample_in(&self.paths, statistic, read)
    }

    fn sample_in(
        &self,
        strata: &Strata,
        statistic: Statistic,
        read: impl Fn(&Record) -> Option<(f64, f64)>,
    ) -> Sample {
        let side = |group: usize| {
            let of = strata.of[group].iter().zip(&self.units[group]);
            let each = self.rows[group].iter().zip(of);
            let each = each.filter_map(|(row, (stratum, unit))| {
                Some(Reading { value: read(row)?, stratum: *stratum, unit: *unit })
            });
            each.collect()
        };
        Sample::new(statistic, [side(0), side(1)], strata.count, self.is_joint)
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
            row(100_000, 0.037, "a"),
            row(104_000, 0.036, "a"),
            row(100_000, 0.2, "a"),
            row(90_000, 0.04, "a"),
        ];
        let other = [row(102_000, 0.038, "a"), row(102_000, 0.038, "b")];
        let strata = Strata::new([&one.iter().collect::<Vec<_>>(), &other.iter().collect::<Vec<_>>()]);
        // 90 kB are in another class, and 200 ms on another path. Half of the others have no partner of their
        // prefix.
        assert_eq!((strata.by_prefix, strata.matched), (false, [2, 2]));
        let strata = Strata::new([&one.iter().collect::<Vec<_>>(), &[&other[0]]]);
        assert_eq!((strata.by_prefix, strata.matched), (true, [2, 1]));
    }
}
