//! A population of paths: a list with a weight for each path, as CSV text.

use std::fmt::Write as _;

use firstflight::registry::Registry;
use firstflight_scenario::keys::{Key, keys};
use firstflight_scenario::suggest::{OPTIONS, meant};
use firstflight_scenario::{ByName, quantity};

/// A list of paths, each with values of the same keys.
#[derive(Clone, Debug, PartialEq)]
pub struct PathList {
    /// The text that names the list: a file, or `mlab:…`.
    pub source: String,
    /// The keys of a path, in the order of the columns.
    pub(super) keys: Vec<&'static str>,
    pub(super) paths: Vec<ListedPath>,
}

/// A path of a list.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ListedPath {
    pub(super) name: Option<String>,
    /// The number of paths of the population that this path represents, in any unit.
    pub(super) weight: f64,
    /// The text of each key; `None` if the path has the key's default.
    pub(super) texts: Vec<Option<String>>,
    /// The line of the path in its file; zero if it was drawn.
    pub(super) line: u64,
}

/// The maximum number of paths in a sweep.
pub(crate) const MAX_PATHS: u64 = 10_000_000;

/// The weights that a path may have. Within these bounds sums of squares neither overflow nor vanish.
const WEIGHTS: std::ops::RangeInclusive<f64> = 1e-6..=1e12;

/// The column of the weights.
const WEIGHT: &str = "weight";
/// The column of the names.
const NAME: &str = "name";

impl PathList {
    /// Reads CSV. The first line has the columns: keys of a path, and perhaps `weight` and `name`. An empty cell is the key's default.
    ///
    /// # Errors
    /// Returns the line of the first fault, and the fault.
    pub(super) fn parse(registry: Registry, text: &str) -> Result<Self, (u64, String)> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text.as_bytes());
        let fault = |error: csv::Error| {
            let line = error.position().map_or(1, |position| line_of(text, position));
            match error.kind() {
                csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                    (line, format!("{len} cells are not the {expected_len} columns of the first line"))
                }
                _ => (line, error.to_string()),
            }
        };
        let head = reader.headers().map_err(fault)?.clone();
        let mut columns = Vec::new();
        for name in &head {
            let column = column(name).map_err(|message| (1, message))?;
            if columns.contains(&column) {
                return Err((1, format!("the column `{name}` is there twice")));
            }
            columns.push(column);
        }
        let keys: Vec<&'static str> = columns.iter().filter_map(|column| column.key()).collect();
        if keys.is_empty() {
            return Err((1, "the first line names no key of a path, such as `rate,rtt,weight`".to_owned()));
        }
        let mut list = Self { source: String::new(), keys, paths: Vec::new() };
        for record in reader.records() {
            let record = record.map_err(fault)?;
            let line = record.position().map_or(1, |position| line_of(text, position));
            let path = listed(registry, &columns, &record).map_err(|message| (line, message))?;
            let path = ListedPath { line, ..path };
            list.paths.push(path);
            if list.paths.len() as u64 > MAX_PATHS {
                return Err((line, format!("at most {MAX_PATHS} paths are allowed")));
            }
        }
        if list.paths.is_empty() {
            return Err((2, "there is no path below the columns".to_owned()));
        }
        Ok(list)
    }

    /// Returns the file of the list; `None` if it was drawn.
    pub fn file(&self) -> Option<&std::path::Path> {
        let is_file = self.paths.iter().all(|path| path.line > 0);
        is_file.then(|| std::path::Path::new(&self.source))
    }

    /// Returns the list as CSV, which reads back as the same list.
    pub fn to_csv(&self) -> String {
        let is_weighted = self.paths.iter().any(|path| path.weight.total_cmp(&1.0).is_ne());
        let is_named = self.paths.iter().any(|path| path.name.is_some());
        let mut columns = self.keys.clone();
        columns.extend(is_weighted.then_some(WEIGHT));
        columns.extend(is_named.then_some(NAME));
        let mut out = columns.join(",") + "\n";
        for path in &self.paths {
            let mut cells: Vec<String> =
                path.texts.iter().map(|text| quoted(text.as_deref().unwrap_or_default())).collect();
            cells.extend(is_weighted.then(|| path.weight.to_string()));
            cells.extend(is_named.then(|| quoted(path.name.as_deref().unwrap_or_default())));
            // Writing to a string cannot fail.
            let _ = writeln!(out, "{}", cells.join(","));
        }
        out
    }
}

/// Returns the line of a record, whose position is that of the empty lines before it.
fn line_of(text: &str, position: &csv::Position) -> u64 {
    let at = usize::try_from(position.byte()).unwrap_or(usize::MAX).min(text.len());
    let empty = text.as_bytes()[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    1 + text.as_bytes()[..at + empty].iter().map(|byte| u64::from(*byte == b'\n')).sum::<u64>()
}

/// Returns a cell of CSV, in quotation marks if it needs them (RFC 4180).
fn quoted(text: &str) -> String {
    let is_plain = !text.contains([',', '"']) && text.trim() == text;
    if is_plain { text.to_owned() } else { format!("\"{}\"", text.replace('"', "\"\"")) }
}

/// A column of a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    Key(&'static str),
    Weight,
    Name,
}

impl Column {
    fn key(self) -> Option<&'static str> {
        if let Self::Key(key) = self { Some(key) } else { None }
    }
}

/// Returns the column of a name in the first line.
fn column(name: &str) -> Result<Column, String> {
    let swept = || keys().filter(|key: &&Key| key.sweeps).map(|key| key.name);
    match name {
        WEIGHT => Ok(Column::Weight),
        NAME => Ok(Column::Name),
        _ => swept().find(|key| *key == name).map(Column::Key).ok_or_else(|| {
            let all = "columns are keys of docs/reference/keys.md that sweeps take, `weight` and `name`";
            let near = meant(name, OPTIONS, swept().chain([WEIGHT, NAME]));
            let hint = near.unwrap_or_else(|| all.to_owned());
            format!("there is no column `{}`; {hint}", quantity::in_a_line(name))
        }),
    }
}

/// Reads a line of the list.
fn listed(registry: Registry, columns: &[Column], record: &csv::StringRecord) -> Result<ListedPath, String> {
    if record.iter().any(|cell| cell.contains(['\n', '\r'])) {
        return Err("a cell has a line break; is a quotation mark missing?".to_owned());
    }
    let mut path = ListedPath { name: None, weight: 1.0, texts: Vec::new(), line: 0 };
    let mut options = registry.options();
    for (column, cell) in columns.iter().zip(record) {
        match column {
            Column::Weight => {
                let weight = cell.parse::<f64>().ok().filter(|weight| WEIGHTS.contains(weight));
                path.weight = weight.ok_or_else(|| {
                    let found = quantity::in_a_line(cell);
                    format!("weight: `{found}` is not allowed; a number from 0.000001 to 1e12 is")
                })?;
            }
            Column::Name => path.name = Some(cell.to_owned()).filter(|name| !name.is_empty()),
            Column::Key(_) if cell.is_empty() => path.texts.push(None),
            Column::Key(key) => {
                options.set(key, cell).map_err(|error| error.to_string())?;
                path.texts.push(Some(cell.to_owned()));
            }
        }
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<PathList, (u64, String)> {
        PathList::parse(Registry::builtin(), text)
    }

    #[test]
    fn a_list_reads_back_as_it_is_written() {
        let text = "rate,rtt,cross,weight,name\n20mbit,40ms,\"onoff:5mbit,1s,1s\",0.25,\"home, fibre\"\n5mbit,,,3,\n";
        let list = parse(text).expect("a list");
        assert_eq!(list.keys, ["rate", "rtt", "cross"]);
        assert_eq!((list.paths[1].weight, list.paths[1].texts[1].as_deref()), (3.0, None));
        assert_eq!(list.to_csv(), text);
        assert_eq!(parse(" rtt , weight\n 40ms , 1\n").expect("spaces").to_csv(), "rtt\n40ms\n");
        assert_eq!(parse("rtt,weight\n40ms,2\n").expect("a list").to_csv(), "rtt,weight\n40ms,2\n");
    }

    #[test]
    fn faults_have_their_line() {
        for (text, line, says) in [
            ("", 1, "names no key"),
            ("weight\n1\n", 1, "names no key"),
            ("rate,rat\n", 1, "there is no column `rat`; is `rate` meant?"),
            ("rate,seed\n", 1, "there is no column `seed`"),
            ("rate,rate\n", 1, "twice"),
            ("rate\n", 2, "there is no path"),
            ("rate,rtt\n1mbit,40ms\n2mbit\n", 3, "1 cells are not the 2 columns"),
            ("rate,rtt\n1mbit,40\n", 2, "rtt: `40`"),
            ("rate,weight\n1mbit,0\n", 2, "weight: `0` is not allowed; a number from 0.000001 to 1e12 is"),
            ("rate,rtt\n\n\n1mbit,40ms\n\n2mbit,40\n", 6, "rtt: `40`"),
            ("rate,weight,name\n1mbit,3,a\n1mbit,1,\"b\n2mbit,2,c\n", 3, "is a quotation mark missing?"),
            ("name,rate\n#1,1mbit\n#2,1mbi\n", 3, "rate: `1mbi`"),
            ("rate,weight\n1mbit,inf\n", 2, "weight: `inf`"),
        ] {
            let (at, message) = parse(text).expect_err(text);
            assert!(
                message.contains(says) && at == line && !message.contains('\n'),
                "{text}: {at}: {message}"
            );
        }
    }
}
