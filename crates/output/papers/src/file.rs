//! A file of the ledger as TOML: its keys and values, with their places in the text.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

use firstflight_scenario::FileError;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::{Spanned, Value};

use crate::texts::first_unprintable;
use crate::words::{Kind, OverRuns, Setup, Source, Status};

/// Keys and values, each with its place in the text.
pub(crate) type Keys = BTreeMap<Spanned<String>, Spanned<Value>>;

/// The axes of a figure, and the values on each.
pub(crate) type Vary = BTreeMap<Spanned<String>, Spanned<Vec<Spanned<Value>>>>;

/// The content of a figure's file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct FigureFile {
    pub(crate) title: String,
    pub(crate) section: String,
    pub(crate) figure: String,
    pub(crate) setup: Setup,
    #[serde(default)]
    pub(crate) fast: bool,
    #[serde(default)]
    pub(crate) choices: Vec<String>,
    pub(crate) slot: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) scenario: Keys,
    #[serde(default)]
    pub(crate) vary: Vary,
    #[serde(default)]
    pub(crate) plot: OneOrMore<PlotFile>,
    #[serde(default)]
    pub(crate) claim: Vec<Spanned<ClaimFile>>,
    #[serde(default)]
    pub(crate) habitat: BTreeMap<Spanned<String>, HabitatFile>,
    #[serde(default)]
    pub(crate) set_up: BTreeMap<Spanned<String>, SetUpFile>,
    #[serde(default)]
    pub(crate) mutant: BTreeMap<Spanned<String>, MutantFile>,
}

/// Keys in place of those of `[scenario]`, with which claims of the figure may be measured.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SetUpFile {
    pub(crate) says: String,
    #[serde(default)]
    pub(crate) scenario: Keys,
    /// The axes in this set-up; `None` for the figure's axes.
    pub(crate) vary: Option<Vary>,
}

/// Schemes, or texts of the measured expressions, in place of those of the figure, with which a claim that holds should fail.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MutantFile {
    pub(crate) says: String,
    /// For each label the scheme that replaces the labelled one.
    #[serde(default = "nothing")]
    pub(crate) schemes: Spanned<BTreeMap<Spanned<String>, Spanned<String>>>,
    /// For each text of a measured expression the text that replaces it.
    #[serde(default)]
    pub(crate) measured: BTreeMap<Spanned<String>, Spanned<String>>,
    /// The reason why the paper itself does not distinguish the schemes; `None` if a claim fails.
    pub(crate) indistinct: Option<String>,
}

fn nothing() -> Spanned<BTreeMap<Spanned<String>, Spanned<String>>> {
    Spanned::new(0..0, BTreeMap::new())
}

/// The description of a figure in an environment other than the simulator.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct HabitatFile {
    #[serde(default)]
    pub(crate) choices: Vec<String>,
    #[serde(default)]
    pub(crate) scenario: Keys,
    /// The axes in this environment; `None` for the figure's axes.
    pub(crate) vary: Option<Vary>,
    pub(crate) claims: BTreeMap<Spanned<String>, ThereFile>,
}

/// The record of a claim in another environment.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ThereFile {
    /// The expression that the claim measures in this environment; `None` for the expression in the simulator.
    pub(crate) measured: Option<Spanned<String>>,
    pub(crate) status: Status,
    #[serde(default)]
    pub(crate) why: String,
}

/// A plot of a figure.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct PlotFile {
    pub(crate) title: Option<String>,
    pub(crate) kind: Kind,
    pub(crate) x: Option<Spanned<String>>,
    pub(crate) y: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) curves: Vec<CurveFile>,
    pub(crate) x_label: Option<String>,
    pub(crate) y_label: Option<String>,
    pub(crate) x_unit: Option<Spanned<f64>>,
    pub(crate) y_unit: Option<Spanned<f64>>,
    #[serde(default)]
    pub(crate) log_x: bool,
    #[serde(default)]
    pub(crate) log_y: bool,
    pub(crate) x_range: Option<Spanned<[f64; 2]>>,
    pub(crate) y_range: Option<Spanned<[f64; 2]>>,
    pub(crate) schemes: Option<Spanned<Vec<String>>>,
}

/// A curve of a plot.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CurveFile {
    pub(crate) label: String,
    pub(crate) x: Option<Spanned<String>>,
    pub(crate) y: Spanned<String>,
}

/// A claim of a figure.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct ClaimFile {
    pub(crate) id: Spanned<String>,
    pub(crate) says: String,
    pub(crate) source: Source,
    pub(crate) measured: Option<Spanned<String>>,
    pub(crate) expected: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) tolerance: String,
    pub(crate) over_runs: Option<OverRuns>,
    pub(crate) status: Spanned<Status>,
    #[serde(default)]
    pub(crate) why: String,
    /// The set-up in which the claim is measured; `None` for the figure's scenario.
    pub(crate) set_up: Option<Spanned<String>>,
    /// The axis along which the claim is measured, one value after the other.
    pub(crate) over: Option<Spanned<String>>,
    /// The value of this axis from which on the claim holds.
    pub(crate) from: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) tried: Vec<TriedFile>,
    #[serde(default)]
    pub(crate) evidence: Vec<Spanned<EvidenceFile>>,
}

/// A measurement that does not settle its claim.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct TriedFile {
    pub(crate) set_up: Option<Spanned<String>>,
    /// The measured expression; `None` for that of the claim.
    pub(crate) measured: Option<Spanned<String>>,
    pub(crate) over_runs: Option<OverRuns>,
    /// The measured value, as printed.
    pub(crate) gives: Spanned<String>,
    /// Whether the value meets the claim's expectation.
    pub(crate) holds: bool,
}

/// A measurement or a command that gives a number in the claim's `why`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct EvidenceFile {
    pub(crate) set_up: Option<Spanned<String>>,
    /// The measured expression; `None` for that of the claim.
    pub(crate) measured: Option<Spanned<String>>,
    pub(crate) over_runs: Option<OverRuns>,
    /// The measured value, as printed.
    pub(crate) gives: Option<Spanned<String>>,
    pub(crate) command: Option<Spanned<String>>,
    /// Texts in the output of the command.
    #[serde(default)]
    pub(crate) prints: Vec<Spanned<String>>,
}

/// Reads the text of a file.
pub(crate) fn parse(text: &str) -> Result<FigureFile, FileError> {
    if let Some((place, shown)) = first_unprintable(text) {
        return Err(FileError::new(text, place, format!("`{shown}` is not allowed; a text of one line is")));
    }
    toml::from_str(text).map_err(|error| {
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        FileError::new(text, error.span().unwrap_or(0..0), message)
    })
}

/// Returns a fault in a part of a string: its bytes `from..to`.
pub(crate) fn fault_within(
    text: &str,
    span: &Range<usize>,
    (from, to): (usize, usize),
    message: String,
) -> FileError {
    // The string's content begins after the opening quote. A string with escapes or several lines is marked as a whole.
    let inside = text.get(span.clone()).unwrap_or_default();
    let is_plain = !inside.contains('\\') && !inside.starts_with("\"\"\"") && !inside.starts_with("'''");
    let start = span.start + 1 + from;
    let end = (span.start + 1 + to.max(from + 1)).min(span.end);
    let place = if is_plain && start < end { start..end } else { span.clone() };
    FileError::new(text, place, message)
}

/// One table, or an array of tables.
pub(crate) struct OneOrMore<T>(pub(crate) Vec<T>);

impl<T> Default for OneOrMore<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMore<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Either<T> {
            type Value = OneOrMore<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table or an array of tables")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(|one| OneOrMore(vec![one]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(seq)).map(OneOrMore)
            }
        }
        deserializer.deserialize_any(Either(PhantomData))
    }
}
