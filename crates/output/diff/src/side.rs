//! The rows of one result, by scheme.

use std::collections::BTreeMap;

use firstflight_export::Record;
use firstflight_export::columns::CI95;
use firstflight_export::record::{name, number, text};
use firstflight_measure::Mean;
use firstflight_scenario::quantity::in_a_line;

/// The rows of one result.
#[derive(Clone, Debug)]
pub struct Side {
    /// The schemes, in order of their first row.
    names: Vec<String>,
    rows: Vec<SideRow>,
    /// The number of consecutive paths that come from one draw.
    paths_a_draw: u64,
}

/// A row with its identity.
#[derive(Clone, Debug)]
pub(crate) struct SideRow {
    /// The scheme's name; if the row says so, with its stack, or alone or mixed.
    pub(crate) name: String,
    /// The draw of the row's path in a sweep; 0 for one path.
    pub(crate) draw: u64,
    /// The row's path in a sweep; 0 for one path.
    pub(crate) path: u64,
    /// The hash of the scenario of the path; empty if the row has none.
    pub(crate) scenario: String,
    /// The seed of the run.
    pub(crate) seed: u64,
    /// The number of runs that the row joins.
    pub(crate) runs: u64,
    pub(crate) record: Record,
}

/// Rows that cannot be compared with others.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SideError {
    /// There is no row.
    #[error("it has no rows")]
    Empty,
    /// A row names no scheme.
    #[error("row {0} names no scheme; rows of race, sweep, score, watch and inspect are compared")]
    Unnamed(usize),
    /// A field that identifies a row is no whole number.
    #[error("row {row}: `{field}` is no whole number")]
    Whole {
        /// The row, from 1.
        row: usize,
        /// The field.
        field: &'static str,
    },
    /// Two rows are of the same scheme, path and seed.
    #[error("`{name}` has two rows with the seed {seed} on one path")]
    Twice {
        /// The scheme.
        name: String,
        /// The seed.
        seed: u64,
    },
}

impl Side {
    /// Reads rows of any command. In a sweep, `paths_a_draw` consecutive paths come from one draw and are not independent; 1 for other
    /// rows.
    ///
    /// Rows of connections (`inspect`, `watch`) have no scheme; all connections count as one.
    ///
    /// # Errors
    /// Fails without rows, if a row has no name, or if two rows have the same identity.
    pub fn new(records: Vec<Record>, paths_a_draw: u64) -> Result<Self, SideError> {
        let is_connections = records.iter().all(|record| record.contains_key("connection"));
        let mut side = Self { names: Vec::new(), rows: Vec::new(), paths_a_draw: paths_a_draw.max(1) };
        let mut seen = std::collections::BTreeSet::new();
        for (index, record) in records.into_iter().enumerate() {
            let row = side.row(index, record, is_connections)?;
            if !seen.insert((row.name.clone(), row.scenario.clone(), row.path, row.seed)) {
                return Err(SideError::Twice { name: row.name, seed: row.seed });
            }
            if !side.names.contains(&row.name) {
                side.names.push(row.name.clone());
            }
            side.rows.push(row);
        }
        if side.rows.is_empty() { Err(SideError::Empty) } else { Ok(side) }
    }

    fn row(&self, index: usize, record: Record, is_connections: bool) -> Result<SideRow, SideError> {
        let whole = |field: &str| record.get(field).and_then(serde_json::Value::as_u64);
        let mut shown = if is_connections { CONNECTIONS.to_owned() } else { name(&record) };
        if shown.is_empty() {
            return Err(SideError::Unnamed(index + 1));
        }
        let population = text(&record, "population");
        if !["", "only"].contains(&population) {
            shown = format!("{shown} {population}");
        }
        if is_score(&record) && text(&record, "axis") != "all" {
            shown = format!("{shown}, {} {}", text(&record, "axis"), text(&record, "class"));
        }
        // A name is put into lines, tables and the commands of build systems.
        let shown = in_a_line(&shown);
        let is_whole = |field: &str| record.get(field).is_none_or(|value| value.is_null() || value.is_u64());
        if let Some(field) = ["seed", "path", "runs"].into_iter().find(|field| !is_whole(field)) {
            return Err(SideError::Whole { row: index + 1, field });
        }
        let path = whole("path").unwrap_or(0);
        Ok(SideRow {
            name: shown,
            draw: path / self.paths_a_draw,
            path,
            scenario: text(&record, "scenario_hash").to_owned(),
            seed: if is_connections { index as u64 } else { whole("seed").unwrap_or(0) },
            runs: whole("runs").unwrap_or(1),
            record,
        })
    }

    /// Returns the schemes, in order of their first row.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the rows of a scheme.
    pub(crate) fn rows_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a SideRow> + Clone {
        self.rows.iter().filter(move |row| row.name == name)
    }

    /// Returns all rows.
    pub(crate) fn rows(&self) -> &[SideRow] {
        &self.rows
    }

    /// Returns the builds and versions that made the rows, each once, in order.
    pub fn programs(&self) -> Vec<String> {
        self.distinct(|record| match (text(record, "version"), text(record, "build")) {
            (version, "") => version.to_owned(),
            (version, build) => format!("{version}, build {build}"),
        })
    }

    /// Returns the hashes of the sources of the user's schemes, each once, in order. Empty without such schemes.
    pub fn sources(&self) -> Vec<String> {
        self.distinct(|record| text(record, "source_hash").to_owned())
    }

    fn distinct(&self, of: impl Fn(&Record) -> String) -> Vec<String> {
        let all: std::collections::BTreeSet<String> =
            self.rows.iter().map(|row| of(&row.record)).filter(|text| !text.is_empty()).collect();
        all.into_iter().collect()
    }

    /// Returns the fields of all rows, each once.
    pub fn fields(&self) -> Vec<String> {
        let mut fields: Vec<String> = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        for field in self.rows.iter().flat_map(|row| row.record.keys()) {
            if seen.insert(field) {
                fields.push(field.clone());
            }
        }
        fields
    }

    /// Returns the number of a scheme over all its rows. `field` may have a suffix of a spread. Rows that join runs give the number that
    /// they have.
    pub fn value(&self, name: &str, field: &str) -> Value {
        let rows: Vec<&SideRow> = self.rows_of(name).collect();
        // A row that joins runs has the numbers of all runs that it can give.
        if let [row] = rows.as_slice()
            && (row.runs > 1 || row.record.contains_key(field))
        {
            return Value { number: number(&row.record, field), undefined: 0, rows: 1 };
        }
        let (stem, part) = split(field);
        let mut found: Vec<f64> = rows.iter().filter_map(|row| number(&row.record, stem)).collect();
        let undefined = rows.len() - found.len();
        found.sort_by(f64::total_cmp);
        Value { number: part.of(&found), undefined, rows: rows.len() }
    }
}

/// A number of a scheme over its rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Value {
    /// The number; `None` if no row has one.
    pub number: Option<f64>,
    /// The number of rows that lack the number.
    pub undefined: usize,
    /// The number of rows.
    pub rows: usize,
}

/// Checks whether a row is of a score.
pub(crate) fn is_score(record: &Record) -> bool {
    record.contains_key("axis") && record.contains_key("class")
}

/// The name of all connections of a capture together.
const CONNECTIONS: &str = "all connections";

/// A part of the distribution of a number over runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Mean,
    /// The value at this rank, in thousandths of the number of values.
    Quantile(u32),
}

/// Splits a field into the field of a row and the part of its distribution.
pub(crate) fn split(field: &str) -> (&str, Part) {
    firstflight_measure::SPREAD
        .iter()
        .find_map(|(suffix, rank)| Some((field.strip_suffix(suffix)?, Part::Quantile(*rank))))
        .unwrap_or((field, Part::Mean))
}

impl Part {
    fn of(self, sorted: &[f64]) -> Option<f64> {
        match self {
            Self::Mean => firstflight_measure::student::mean_and_ci95(sorted).map(|(mean, _)| mean),
            Self::Quantile(rank) => firstflight_measure::spread_at(sorted, rank),
        }
    }
}

/// Returns the mean of these rows: that of the single row that joins runs, or of the rows of single runs.
pub(crate) fn mean_of(rows: &[&SideRow], field: &str) -> Option<Mean> {
    if let [row] = rows
        && row.runs > 1
    {
        let count = row.record.get(&format!("{field}_runs")).and_then(serde_json::Value::as_u64);
        return Some(Mean {
            mean: number(&row.record, field)?,
            half: number(&row.record, &format!("{field}{CI95}")),
            count: count.unwrap_or(row.runs),
        });
    }
    let values: Vec<f64> = rows.iter().filter_map(|row| number(&row.record, field)).collect();
    let (mean, half) = firstflight_measure::student::mean_and_ci95(&values)?;
    Some(Mean { mean, half, count: values.len() as u64 })
}

/// Returns values by key.
pub(crate) fn by_key<'a, K: Ord>(
    rows: impl Iterator<Item = &'a SideRow>,
    key: impl Fn(&SideRow) -> K,
) -> BTreeMap<K, Vec<&'a SideRow>> {
    let mut all: BTreeMap<K, Vec<&SideRow>> = BTreeMap::new();
    for row in rows {
        all.entry(key(row)).or_default().push(row);
    }
    all
}
