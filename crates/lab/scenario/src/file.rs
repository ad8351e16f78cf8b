//! Scenario files: TOML with the keys of the command line, and `schemes = […]`.

use std::ops::Range;

use firstflight::registry::Registry;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::keys::{self, OptionError, names};
use crate::options::Options;
use crate::quantity::in_a_line;
use crate::script::{ScriptedFlow, WORDS, show_script, unknown as unknown_word};
use crate::suggest::{OPTIONS, meant};

/// The content of a scenario file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScenarioFile {
    /// The options that the file sets.
    pub options: Options,
    /// The schemes as one list for [`crate::ByName::parse_choices`], and their place in the file.
    pub schemes: Option<(String, Range<usize>)>,
    /// The places of the flows of the script.
    pub flows: Vec<FlowPlace>,
}

/// The place in a file of a flow of the script.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowPlace {
    /// The flow's table, or the text that has all flows.
    pub whole: Range<usize>,
    /// The flow's scheme, if a table states it.
    pub scheme: Option<Range<usize>>,
}

/// An error in a scenario file, and its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct FileError {
    /// The fault and what is allowed, in one line.
    pub message: String,
    /// The bytes of the file at fault.
    pub span: Range<usize>,
    /// The line of the fault, from 1.
    pub line: usize,
    /// The character in that line, from 1.
    pub column: usize,
}

impl FileError {
    /// Creates a fault at `span` of `text`.
    pub fn new(text: &str, span: Range<usize>, message: impl Into<String>) -> Self {
        let before = text.get(..span.start).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Self {
            message: in_a_line(&message.into()),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            span,
        }
    }
}

/// [`crate::ByName::parse_file`].
pub(crate) fn parse(registry: Registry, text: &str) -> Result<ScenarioFile, FileError> {
    let table = DeTable::parse(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        FileError::new(text, span, error.message().lines().collect::<Vec<_>>().join(", "))
    })?;
    let mut entries: Vec<_> = table.get_ref().iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let mut file = ScenarioFile { options: Options::of(registry), ..ScenarioFile::default() };
    for (key, value) in entries {
        let name: &str = key.get_ref();
        if name == "schemes" {
            file.schemes = Some((schemes(text, value)?, value.span()));
            continue;
        }
        if name == "flow" && matches!(value.get_ref(), DeValue::Array(_) | DeValue::Table(_)) {
            let (said, places) = script(registry, text, value)?;
            file.flows = places;
            let set = file.options.set(name, &said);
            set.map_err(|error| FileError::new(text, value.span(), error.to_string()))?;
            continue;
        }
        let outcome = match scalar(value.get_ref()) {
            Some(scalar) => file.options.set(name, &scalar),
            None if name == "path" && value.get_ref().is_table() => {
                return Err(FileError::new(text, key.span(), OF_SWEEPS));
            }
            None if keys::key(name).is_some() => {
                let message =
                    format!("{name}: found {}; a string or a number is wanted", value.get_ref().type_str());
                return Err(FileError::new(text, value.span(), message));
            }
            None => file.options.set(name, ""),
        };
        outcome.map_err(|error| match error {
            OptionError::UnknownKey { key: found, .. } => {
                FileError::new(text, key.span(), unknown_key(&found))
            }
            OptionError::Value { .. } => FileError::new(text, value.span(), error.to_string()),
        })?;
    }
    if file.flows.is_empty()
        && let Some((_, value)) = table.get_ref().iter().find(|(key, _)| key.get_ref() == "flow")
    {
        file.flows = vec![FlowPlace { whole: value.span(), scheme: None }; file.options.plain.script.len()];
    }
    Ok(file)
}

/// Options of the command that a scenario file does not accept: the number of parallel runs, and the output files.
const OF_THE_COMMAND: [&str; 29] = [
    "baseline",
    "by-name",
    "assert",
    "junit",
    "markdown",
    "jobs",
    "each-run",
    "each-flow",
    "each-train",
    "extremes",
    "series",
    "wide",
    "columns",
    "json",
    "csv",
    "parquet",
    "report",
    "figure",
    "figure-until",
    "figure-overlay",
    "figure-size",
    "figure-font",
    "slot",
    "pcap",
    "snap",
    "events",
    "qlog",
    "qlog-schema",
    "habitats",
];

/// The error for the table of a sweep in a scenario file.
const OF_SWEEPS: &str =
    "path: `[path]` is of sweeps; a scenario has its keys without a table, and `path = \"NAME\"` is a preset";

fn unknown_key(found: &str) -> String {
    if OF_THE_COMMAND.contains(&found) {
        return format!("`{found}` is an option of the command; say --{found} there");
    }
    let known = || names().chain(["schemes"]);
    let hint = meant(found, OPTIONS, known()).unwrap_or_else(|| keys::ALL.to_owned());
    format!("there is no key `{found}`; {hint}")
}

/// Returns the text that this value would have on the command line; `None` if the value is not a scalar.
pub fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(yes) => Some(yes.to_string()),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

/// Returns the tables `[[flow]]` as the text of the key, and their places.
fn script(
    registry: Registry,
    text: &str,
    value: &Spanned<DeValue<'_>>,
) -> Result<(String, Vec<FlowPlace>), FileError> {
    const WANTED: &str = "flow: a table for each flow is wanted, `[[flow]]`, or a text";
    let tables: Vec<(Range<usize>, &DeTable<'_>)> = match value.get_ref() {
        DeValue::Table(table) => vec![(value.span(), table)],
        DeValue::Array(items) => {
            let table = |item: &'_ Spanned<DeValue<'_>>| item.get_ref().as_table().is_some();
            if let Some(other) = items.iter().find(|item| !table(item)) {
                return Err(FileError::new(text, other.span(), WANTED));
            }
            items.iter().filter_map(|item| Some((item.span(), item.get_ref().as_table()?))).collect()
        }
        _ => Vec::new(),
    };
    if tables.is_empty() {
        return Err(FileError::new(text, value.span(), WANTED));
    }
    let mut flows = Vec::with_capacity(tables.len());
    let mut places = Vec::with_capacity(tables.len());
    for (span, table) in tables {
        let mut flow = ScriptedFlow::default();
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(word, _)| word.span().start);
        for (word, value) in entries {
            let name: &str = word.get_ref();
            if !WORDS.contains(&name) {
                return Err(FileError::new(text, word.span(), format!("flow: {}", unknown_word(name))));
            }
            let of_value = |what: String| FileError::new(text, value.span(), format!("flow: {name}: {what}"));
            let said = scalar(value.get_ref());
            let said = said.ok_or_else(|| of_value("a string or a number is wanted".to_owned()))?;
            flow.set(registry, name, &said).map_err(|error| of_value(error.to_string()))?;
        }
        flow.check().map_err(|error| FileError::new(text, span.clone(), format!("flow: {error}")))?;
        let scheme = table.iter().find(|(word, _)| word.get_ref() == "scheme").map(|(_, value)| value.span());
        places.push(FlowPlace { whole: span, scheme });
        flows.push(flow);
    }
    Ok((show_script(&flows), places))
}

/// Returns the list of schemes in a TOML value: a string, or a list of strings.
///
/// # Errors
/// Anything else.
pub fn schemes(text: &str, value: &Spanned<DeValue<'_>>) -> Result<String, FileError> {
    const WANTED: &str = "schemes: a list is wanted, as in `[\"slow-start\", \"paced:first=4\"]`";
    match value.get_ref() {
        DeValue::String(list) => Ok(list.to_string()),
        DeValue::Array(items) => {
            let item = |item: &Spanned<DeValue<'_>>| match item.get_ref() {
                DeValue::String(name) => Ok(name.to_string()),
                _ => Err(FileError::new(text, item.span(), WANTED)),
            };
            Ok(items.iter().map(item).collect::<Result<Vec<_>, _>>()?.join(","))
        }
        _ => Err(FileError::new(text, value.span(), WANTED)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scenario, parse_file};

    #[test]
    fn a_file_says_what_the_command_line_says() {
        let text = "# a path\nrate = \"10mbit\"\niw = \"4p\"\nseed = 7\nloss = 0.02\ntimestamps = true\n\
                    schemes = [\"slow-start\", \"paced:first=4\"]\n";
        let file = parse_file(text).expect("a scenario");
        let mut options = Options::default();
        for (key, value) in
            [("rate", "10mbit"), ("iw", "4p"), ("seed", "7"), ("loss", "2%"), ("timestamps", "true")]
        {
            options.set(key, value).expect(value);
        }
        assert_eq!(Scenario::resolve(&file.options), Scenario::resolve(&options));
        assert_eq!(file.schemes.map(|(list, _)| list).as_deref(), Some("slow-start,paced:first=4"));
    }

    #[test]
    fn the_canonical_text_is_a_scenario_file() {
        let path = Scenario::default();
        let file = parse_file(&path.canonical()).expect("a scenario");
        assert_eq!(Scenario::resolve(&file.options), Ok(path));
    }

    fn fault(text: &str) -> (usize, usize, String) {
        let error = parse_file(text).expect_err(text);
        assert!(!error.message.contains('\n'), "one line: {}", error.message);
        (error.line, error.column, error.message)
    }

    /// Checks the line and column of the fault in a text, and how its message begins.
    fn refused(text: &str, place: (usize, usize), says: &str) {
        let (line, column, message) = fault(text);
        assert_eq!((line, column), place, "{text}: {message}");
        assert!(message.starts_with(says), "{text}: {message}");
    }

    #[test]
    fn tables_of_flows_say_what_the_key_says() {
        let tables = "rate = \"10mbit\"\n[[flow]]\nscheme = \"paced:first=4\"\nstart = \"1s\"\nend = \"3s\"\n\n\
                      [[flow]]\nsize = \"64kB\"\nfrom = \"0/1\"\nack = \"linux\"\nrestart = \"ssr\"\n";
        let text = "rate = \"10mbit\"\nflow = \"scheme=paced:first=4,start=1s,end=3s;size=64kB,from=0/1,ack=linux,restart=ssr\"\n";
        let of =
            |text: &str| parse_file(text).map(|file| Scenario::resolve(&file.options).expect("a scenario"));
        let scenario = of(tables).expect("tables");
        assert_eq!(of(text), Ok(scenario.clone()));
        assert_eq!(of(&scenario.canonical()), Ok(scenario.clone()));
        assert_eq!(scenario.hash(), of(text).expect("a scenario").hash());
    }

    #[test]
    fn the_places_of_flows_are_those_of_their_tables_and_schemes() {
        let text = "rtt = \"9ms\"\n[[flow]]\nscheme = \"paced\"\n[[flow]]\nstart = \"1s\"\n";
        let places = parse_file(text).expect("a scenario").flows;
        let shown = |span: &Range<usize>| text[span.clone()].to_owned();
        assert_eq!(places[0].scheme.as_ref().map(shown).as_deref(), Some("\"paced\""));
        assert!(places[1].scheme.is_none() && text[..places[1].whole.start].matches('\n').count() == 3);
        let text = "flow = \"start=1s;start=2s\"\n";
        let places = parse_file(text).expect("a scenario").flows;
        assert_eq!((places.len(), places[1].whole.clone()), (2, 7..26));
    }

    #[test]
    fn errors_in_a_flow_table_are_reported_with_their_place() {
        let typo = "[[flow]]\nstart = \"1s\"\nstrat = \"2s\"\n";
        refused(typo, (3, 1), "flow: `strat` is not known; is `start` meant?");
        let empty = "[[flow]]\nstart = \"1s\"\n[[flow]]\nsize = \"0kB\"\n";
        refused(empty, (4, 8), "flow: size: `0kB` is zero; ");
        assert!(
            fault("[[flow]]\nstart = [1]\n").2.starts_with("flow: start: a string or a number is wanted")
        );
        assert_eq!(fault("[[flow]]\nstart = \"2s\"\nend = \"1s\"\n").0, 1);
        assert!(fault("flow = [1]\n").2.starts_with("flow: a table for each flow is wanted"));
        assert!(fault("flow = []\n").2.starts_with("flow: a table for each flow is wanted"));
        let scheme = fault("[[flow]]\nscheme = \"paced:first=4,ack=every\"\n").2;
        assert!(scheme.contains("ack belongs to the flow, next to its scheme"), "{scheme}");
    }

    #[test]
    fn a_typo_is_refused_with_its_place_and_the_closest_key() {
        let typo = "rate = \"1mbit\"\n  quue = \"10p\"\n";
        refused(typo, (2, 3), "there is no key `quue`; is `queue` meant?");
        refused("[path]\nrate = \"1mbit\"\n", (1, 2), "path: `[path]` is of sweeps; ");
        assert!(fault("scheme = [\"paced\"]").2.ends_with("is `schemes` meant?"));
    }

    #[test]
    fn an_option_of_the_command_is_said_to_be_one() {
        assert_eq!(fault("jobs = 2\n").2, "`jobs` is an option of the command; say --jobs there");
    }

    #[test]
    fn a_wrong_value_is_refused_with_its_place() {
        refused("rtt = \"80ms\"\nrate = \"0mbit\"\n", (2, 8), "rate: `0mbit` is zero; a rate is");
        assert_eq!(fault("rate = 100\n").0, 1);
        assert!(fault("rate = [\"1mbit\"]\n").2.starts_with("rate: found array"));
        assert!(fault("schemes = [1]\n").2.starts_with("schemes: a list is wanted"));
        refused("rate = \n", (1, 8), "");
        assert_eq!(fault("rate = \"1mbit\"\nrate = \"2mbit\"\n").0, 2);
    }
}
