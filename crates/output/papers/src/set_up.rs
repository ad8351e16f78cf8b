//! The set-ups of a figure: its scenario, and scenarios that replace some of its keys.

use firstflight::registry::Registry;
use firstflight_scenario::FileError;
use toml::{Spanned, Value};

use crate::file::{FigureFile, Keys, Vary};
use crate::names::near;
use crate::points::{Points, points};

/// The scenario and the axes of a file, in which other keys, axes and schemes may replace some.
#[derive(Clone)]
pub(crate) struct Bench<'a> {
    pub(crate) registry: Registry,
    pub(crate) text: &'a str,
    scenario: Keys,
    vary: Vary,
    /// The labels, and the scheme that replaces each.
    schemes: &'a [(String, String)],
}

impl<'a> Bench<'a> {
    /// Creates the bench of a file.
    pub(crate) fn new(registry: Registry, text: &'a str, file: &FigureFile) -> Self {
        Self { registry, text, scenario: file.scenario.clone(), vary: file.vary.clone(), schemes: &[] }
    }

    /// Returns the bench with these schemes in place of the labelled ones.
    pub(crate) fn replacing<'b>(&self, schemes: &'b [(String, String)]) -> Bench<'b>
    where
        'a: 'b,
    {
        Bench { schemes, ..self.clone() }
    }

    /// Returns the bench with other keys in its scenario, and with other axes if there are some.
    pub(crate) fn with(&self, scenario: &Keys, vary: Option<&Vary>) -> Self {
        let mut bench = self.clone();
        for (key, value) in scenario {
            bench.scenario.remove(key);
            bench.scenario.insert(key.clone(), value.clone());
        }
        if let Some(vary) = vary {
            bench.vary = vary.clone();
        }
        bench
    }

    /// Replaces the scheme of each label in the lists of schemes and in the flows. Returns the number of schemes that were replaced.
    pub(crate) fn replace_scheme(&mut self, label: &str, scheme: &str) -> usize {
        let mark = if scheme.contains(':') { ',' } else { ':' };
        let labelled = format!("{scheme}{mark}as={label}");
        let lists =
            self.scenario.iter_mut().filter(|(key, _)| ["schemes", "flow"].contains(&key.get_ref().as_str()));
        let lists = lists.map(|(_, value)| value.get_mut());
        let places = self.vary.values_mut().flat_map(Spanned::get_mut);
        let of_places = places.filter_map(|place| place.get_mut().get_mut("schemes"));
        lists.chain(of_places).map(|value| replace(value, label, &labelled)).sum()
    }

    /// Returns the runs.
    ///
    /// # Errors
    /// A fault of a key, an axis or a scheme.
    pub(crate) fn points(&self) -> Result<Points, FileError> {
        let mut bench = self.clone();
        for (label, scheme) in self.schemes {
            bench.replace_scheme(label, scheme);
        }
        points(self.registry, self.text, &bench.scenario, &bench.vary)
    }
}

/// Replaces the schemes with this label. Returns their number.
fn replace(value: &mut Value, label: &str, scheme: &str) -> usize {
    match value {
        Value::String(said) => {
            let own = said.split([':', ',']).find_map(|part| part.trim().strip_prefix("as="));
            let is_it = own.or(said.split(':').next()).is_some_and(|own| own.trim() == label);
            if is_it {
                scheme.clone_into(said);
            }
            usize::from(is_it)
        }
        Value::Array(values) => values.iter_mut().map(|value| replace(value, label, scheme)).sum(),
        Value::Table(flow) => flow.get_mut("scheme").map_or(0, |value| replace(value, label, scheme)),
        _ => 0,
    }
}

/// A scenario with some keys in place of those of the figure.
#[derive(Clone, Debug)]
pub struct SetUp {
    /// The name in the file.
    pub name: String,
    /// The difference from the figure's scenario, in words.
    pub says: String,
    /// The runs.
    pub(crate) points: Points,
}

/// Reads the set-ups of a file on a bench.
pub(crate) fn set_ups(bench: &Bench<'_>, file: &FigureFile) -> Result<Vec<SetUp>, FileError> {
    let read = |(name, one): (&Spanned<String>, &crate::file::SetUpFile)| {
        let points = bench.with(&one.scenario, one.vary.as_ref()).points()?;
        Ok(SetUp { name: name.get_ref().clone(), says: one.says.clone(), points })
    };
    file.set_up.iter().map(read).collect()
}

/// Returns the set-up that a claim or an entry of it names; `None` if it names none.
pub(crate) fn named<'a>(
    text: &str,
    set_ups: &'a [SetUp],
    said: Option<&Spanned<String>>,
) -> Result<Option<&'a SetUp>, FileError> {
    let Some(said) = said else { return Ok(None) };
    if let Some(found) = set_ups.iter().find(|one| one.name == *said.get_ref()) {
        return Ok(Some(found));
    }
    let hint = near(said.get_ref(), set_ups.iter().map(|one| one.name.as_str()));
    let message = format!("set-up: there is no `{}`; {hint}", said.get_ref());
    Err(FileError::new(text, said.span(), message))
}
