//! The runs of a figure. They have a common scenario that varies along axes.

use std::collections::BTreeMap;

use firstflight::registry::Registry;
use firstflight_measure::PROBE;
use firstflight_scenario::{ByName, FileError, Scenario, SchemeChoice, keys, over_restarts, suggest};
use toml::{Spanned, Table, Value};

use crate::file::Keys;
use crate::quantity;

/// The axes of a figure, and the run at each combination of their values.
#[derive(Clone, Debug)]
pub(crate) struct Points {
    /// The axes, in the order of the file.
    pub(crate) axes: Vec<Axis>,
    /// Whether the scenario lists its flows, each with its scheme.
    pub(crate) is_scripted: bool,
    /// The combinations of values. The last axis varies fastest. Without axes there is one combination.
    pub(crate) all: Vec<Point>,
}

/// An axis along which the scenario varies.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// The key that the axis sets, or the name of the axis.
    pub(crate) key: String,
    /// The values on the axis.
    pub(crate) values: Vec<Place>,
}

/// A value on an axis.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The value's text in the file, or its `name` there.
    pub(crate) name: String,
    /// The value's number on the axis: the value in SI units, its `x` in the file, or its index.
    pub(crate) number: f64,
    /// Whether the number is the value itself, and not an index.
    pub(crate) is_number: bool,
    /// Whether the name is only another form of the number.
    pub(crate) is_plain: bool,
    /// The keys that the value sets.
    sets: Vec<(String, Value)>,
}

/// One combination of values on all axes.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    /// The index of the value on each axis.
    pub(crate) places: Vec<usize>,
    /// The scenario and the schemes; `None` if the figure evaluates only models.
    pub(crate) run: Option<(Scenario, Vec<SchemeChoice>)>,
}

impl Points {
    /// Returns the labels of the schemes. Labels of a mixed population end with `, mixed`.
    pub(crate) fn labels(&self) -> Vec<String> {
        let mut labels: Vec<String> = Vec::new();
        let mut add = |label: String| {
            if !labels.contains(&label) {
                labels.push(label);
            }
        };
        if self.are_probings() {
            return vec![PROBE.to_owned()];
        }
        let runs = || self.all.iter().filter_map(|point| point.run.as_ref());
        runs().flat_map(|(_, choices)| choices).for_each(|choice| add(choice.name().to_owned()));
        // If every flow of a script names its scheme, there is no list of schemes.
        let casts = runs().filter(|(_, choices)| choices.is_empty());
        let casts = casts.filter_map(|(scenario, _)| scenario.cast(None).ok());
        casts.flat_map(|cast| cast.choices).for_each(|choice| add(choice.name().to_owned()));
        let is_mixed =
            |scenario: &Scenario| scenario.population.as_ref().is_some_and(|population| population.mixed);
        let mixed = runs().filter(|(scenario, _)| is_mixed(scenario)).flat_map(|(_, choices)| choices);
        mixed.for_each(|choice| add(format!("{}, mixed", choice.name())));
        labels
    }

    /// Checks whether the runs are probings.
    pub(crate) fn are_probings(&self) -> bool {
        self.all.iter().filter_map(|point| point.run.as_ref()).any(|(scenario, _)| scenario.probe.is_some())
    }

    /// Checks whether the runs are populations of flows.
    pub(crate) fn have_flows(&self) -> bool {
        let mut runs = self.all.iter().filter_map(|point| point.run.as_ref());
        runs.any(|(scenario, _)| scenario.population.is_some())
    }

    /// Returns the number of runs of each point.
    pub(crate) fn runs(&self) -> u32 {
        self.all
            .iter()
            .filter_map(|point| point.run.as_ref())
            .map(|(scenario, _)| scenario.runs)
            .max()
            .unwrap_or(1)
    }

    /// Returns the indices of the axis with this key and of a value on it.
    pub(crate) fn place(&self, key: &str, value: &str) -> Result<(usize, usize), String> {
        let Some(axis) = self.axes.iter().position(|axis| axis.key == key) else {
            return Err(format!("[vary] has no key `{key}`"));
        };
        let values = &self.axes[axis].values;
        let number = quantity::on_axis(value);
        let is_it = |place: &Place| {
            let is_near =
                |number: f64| place.is_number && (place.number - number).abs() <= number.abs() * 1e-9;
            place.name == value || number.is_some_and(is_near)
        };
        let all = || values.iter().map(|place| format!("`{}`", place.name)).collect::<Vec<_>>().join(", ");
        let place = values.iter().position(is_it);
        Ok((axis, place.ok_or_else(|| format!("{key} has no value `{value}`; there are {}", all()))?))
    }
}

/// Reads the axes, and makes the scenario of each combination.
pub(crate) fn points(
    registry: Registry,
    text: &str,
    scenario: &Keys,
    vary: &BTreeMap<Spanned<String>, Spanned<Vec<Spanned<Value>>>>,
) -> Result<Points, FileError> {
    const MOST: usize = 10_000;
    let mut vary: Vec<_> = vary.iter().collect();
    vary.sort_by_key(|(key, _)| key.span().start);
    let reader = Reader { registry, text, scenario };
    let axes: Vec<Axis> =
        vary.into_iter().map(|(key, values)| reader.axis(key, values)).collect::<Result<_, _>>()?;
    let count = axes.iter().map(|axis| axis.values.len()).fold(1usize, usize::saturating_mul);
    if count > MOST {
        return Err(
            reader.at_table("vary", format!("vary: {count} points are too many; at most {MOST} are allowed"))
        );
    }
    let mut all = Vec::with_capacity(count);
    for index in 0..count {
        let mut rest = index;
        let mut places: Vec<usize> = axes
            .iter()
            .rev()
            .map(|axis| {
                let place = rest % axis.values.len();
                rest /= axis.values.len();
                place
            })
            .collect();
        places.reverse();
        let run = if scenario.is_empty() { None } else { Some(reader.point(&axes, &places)?) };
        all.push(Point { places, run });
    }
    let is_scripted = scenario.keys().any(|key| key.get_ref() == SCRIPT);
    let points = Points { axes, is_scripted, all };
    let mut kinds = points
        .all
        .iter()
        .filter_map(|point| point.run.as_ref())
        .map(|(scenario, _)| (scenario.population.is_some(), scenario.probe.is_some()));
    let first = kinds.next();
    if kinds.any(|kind| Some(kind) != first) {
        let message =
            "scenario: some points have flows or trains and some have none; all points are of one kind";
        return Err(reader.at_table("scenario", message.to_owned()));
    }
    Ok(points)
}

/// The key that lists flows.
const SCRIPT: &str = "flow";

struct Reader<'a> {
    registry: Registry,
    text: &'a str,
    scenario: &'a Keys,
}

impl Reader<'_> {
    fn axis(&self, key: &Spanned<String>, values: &Spanned<Vec<Spanned<Value>>>) -> Result<Axis, FileError> {
        let name = key.get_ref();
        if values.get_ref().is_empty() {
            return Err(FileError::new(
                self.text,
                values.span(),
                format!("{name}: the list is empty; values are wanted"),
            ));
        }
        let mut axis = Axis { key: name.clone(), values: Vec::new() };
        for (index, value) in values.get_ref().iter().enumerate() {
            axis.values.push(self.place(name, index, value)?);
        }
        // A name in braces represents the value anywhere in the scenario. Any other key must be a key of scenario files.
        let sets = axis.values.iter().flat_map(|place| &place.sets).map(|(key, _)| key);
        for set in sets {
            if !self.scenario.is_empty()
                && !self.is_placeholder(set)
                && set != "schemes"
                && keys::key(set).is_none()
            {
                let hint = suggest::meant(set, suggest::OPTIONS, keys::names()).unwrap_or_else(|| {
                    format!("it is no key of a scenario, and `{{{set}}}` stands nowhere in [scenario]")
                });
                return Err(FileError::new(
                    self.text,
                    key.span(),
                    format!("vary: nothing is `{set}`; {hint}"),
                ));
            }
        }
        Ok(axis)
    }

    #[expect(clippy::cast_precision_loss, reason = "a place on an axis")]
    fn place(&self, key: &str, index: usize, value: &Spanned<Value>) -> Result<Place, FileError> {
        let wrong = |message: String| FileError::new(self.text, value.span(), message);
        let Value::Table(table) = value.get_ref() else {
            let Some(name) = scalar(value.get_ref()) else {
                return Err(wrong(format!("{key}: a string, a number or a table of keys is wanted")));
            };
            let number = quantity::on_axis(&name);
            return Ok(Place {
                number: number.unwrap_or(index as f64),
                is_number: number.is_some(),
                is_plain: number.is_some(),
                sets: vec![(key.to_owned(), value.get_ref().clone())],
                name,
            });
        };
        let mut sets: Vec<(String, Value)> =
            table.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
        let mut own = |own: &str| {
            let at = sets.iter().position(|(key, _)| key == own)?;
            Some(sets.remove(at).1)
        };
        let name = own("name").as_ref().and_then(scalar);
        let x = own("x");
        let number = match x.as_ref().and_then(scalar) {
            None => None,
            Some(text) => {
                Some(quantity::number(&text).ok_or_else(|| wrong(format!("x: `{text}` is no quantity")))?)
            }
        };
        let Some(name) = name else {
            return Err(wrong(format!(
                "{key}: a table of keys has a `name` next to them, and may have an `x`"
            )));
        };
        Ok(Place {
            name,
            number: number.unwrap_or(index as f64),
            is_number: number.is_some(),
            is_plain: false,
            sets,
        })
    }

    /// Checks whether `{key}` occurs in the scenario.
    fn is_placeholder(&self, key: &str) -> bool {
        let wanted = format!("{{{key}}}");
        self.scenario.values().any(|value| has(value.get_ref(), &wanted))
    }

    /// Returns the scenario and the schemes at a combination.
    fn point(&self, axes: &[Axis], places: &[usize]) -> Result<(Scenario, Vec<SchemeChoice>), FileError> {
        let mut table: Table = self
            .scenario
            .iter()
            .map(|(key, value)| (key.get_ref().clone(), value.get_ref().clone()))
            .collect();
        for (key, value) in axes.iter().zip(places).flat_map(|(axis, place)| &axis.values[*place].sets) {
            if self.is_placeholder(key) {
                let text = scalar(value).unwrap_or_default();
                table.iter_mut().for_each(|(_, value)| replace(value, &format!("{{{key}}}"), &text));
            } else {
                table.insert(key.clone(), value.clone());
            }
        }
        let written =
            toml::to_string(&table).map_err(|error| self.at_table("scenario", error.to_string()))?;
        let said = self.registry.parse_file(&written).map_err(|error| {
            let key = key_of(&written, error.line);
            self.at_key(&key, error.message)
        })?;
        let is_scripted = table.contains_key(SCRIPT);
        let is_probing = said.options.plain.probe.is_some();
        if is_probing && said.schemes.is_some() {
            return Err(self.at_key("schemes", "schemes: trains are sent, and no scheme runs".into()));
        }
        let resolve =
            || Scenario::resolve(&said.options).map_err(|error| self.at_key(error.key, error.to_string()));
        if let Some((key, why)) = said.options.not_of_trains() {
            return Err(self.at_key(key.name, why));
        }
        let Some((list, _)) = said.schemes else {
            if is_scripted || is_probing {
                let scenario = resolve()?;
                if !scenario.has_row_scheme() {
                    return Ok((scenario, Vec::new()));
                }
            }
            return Err(self.at_table(
                "scenario",
                "schemes: they are missing; a list is wanted, as in `[\"slow-start\"]`".into(),
            ));
        };
        let refuse = |message: String| self.at_key("schemes", message);
        let choices =
            self.registry.parse_choices(&list).map_err(|error| refuse(format!("schemes: {error}")))?;
        let choices = over_restarts(choices, &said.options).map_err(|error| refuse(error.to_string()))?;
        Ok((resolve()?, choices))
    }

    /// Returns a fault at a key of the scenario, or at the scenario's table if the key is not in it.
    fn at_key(&self, key: &str, message: String) -> FileError {
        match self.scenario.iter().find(|(known, _)| known.get_ref() == key) {
            Some((_, value)) => FileError::new(self.text, value.span(), message),
            None => self.at_table(if keys::key(key).is_some() { "vary" } else { "scenario" }, message),
        }
    }

    /// Returns a fault at the heading of a table.
    fn at_table(&self, table: &str, message: String) -> FileError {
        let heading = format!("[{table}]");
        let from = self.text.find(&heading).unwrap_or(0);
        let to = if self.text[from..].starts_with(&heading) { from + heading.len() } else { from };
        FileError::new(self.text, from..to, message)
    }
}

/// Returns the key that a line of a written scenario sets.
fn key_of(written: &str, line: usize) -> String {
    let is_heading = |line: &&&str| line.starts_with('[');
    let lines: Vec<&str> = written.lines().take(line).collect();
    let found = lines.iter().rev().find(is_heading).or(lines.last()).copied().unwrap_or_default();
    let name = found.trim_matches(['[', ']']).split(['=', '.']).next().unwrap_or_default();
    name.trim().trim_matches('"').to_owned()
}

/// Checks whether `wanted` occurs in any text of the value.
fn has(value: &Value, wanted: &str) -> bool {
    match value {
        Value::String(text) => text.contains(wanted),
        Value::Array(items) => items.iter().any(|item| has(item, wanted)),
        Value::Table(table) => table.values().any(|item| has(item, wanted)),
        _ => false,
    }
}

fn replace(value: &mut Value, placeholder: &str, text: &str) {
    match value {
        Value::String(found) => *found = found.replace(placeholder, text),
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, placeholder, text)),
        Value::Table(table) => table.iter_mut().for_each(|(_, item)| replace(item, placeholder, text)),
        _ => {}
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(yes) => Some(yes.to_string()),
        Value::Datetime(_) | Value::Array(_) | Value::Table(_) => None,
    }
}
