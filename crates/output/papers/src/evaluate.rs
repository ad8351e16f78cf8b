//! Evaluates an expression with the results of a figure's runs with one seed.

use std::collections::BTreeSet;

use firstflight_measure::student::mean_and_ci95;
use firstflight_model::MODELS;
use serde_json::Value as Json;

use crate::expression::{Column, Expression, Given, Of, Operator};
use crate::model;
use crate::points::Points;
use crate::runs::{OneRun, Outcome, label, population};
use crate::value::{Value, binary, call};

/// The runs of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runs {
    /// The run with the seed of this index.
    One(usize),
    /// All runs together.
    All,
    /// All runs together but that with the seed of this index.
    Without(usize),
}

impl Runs {
    fn has(self, index: usize) -> bool {
        match self {
            Self::One(one) => index == one,
            Self::All => true,
            Self::Without(one) => index != one,
        }
    }
}

/// The results of a figure with some of its seeds, at some of its points.
#[derive(Clone)]
pub(crate) struct View<'a> {
    points: &'a Points,
    /// The width of the time slots of series, in nanoseconds.
    slot: u64,
    outcomes: &'a [Vec<OneRun>],
    runs: Runs,
    /// For each axis, the place that `at(KEY=…)` chose; `None` if the axis is not fixed.
    fixed: Vec<Option<usize>>,
}

impl<'a> View<'a> {
    /// Creates a view of all points. For several runs together, columns of rows are means over runs, the flows of all runs form one sample,
    /// and series are those of the first run.
    pub(crate) fn new(points: &'a Points, slot: u64, outcomes: &'a [Vec<OneRun>], runs: Runs) -> Self {
        Self { points, slot, outcomes, runs, fixed: vec![None; points.axes.len()] }
    }

    /// Returns the view at one place of an axis.
    pub(crate) fn at(&self, axis: usize, place: usize) -> Self {
        let mut view = self.clone();
        view.fixed[axis] = Some(place);
        view
    }

    /// Computes the value of an expression.
    ///
    /// # Errors
    /// The reason why the expression has no value, in one line.
    pub(crate) fn value(&self, expression: &Expression) -> Result<Value, String> {
        match expression {
            Expression::Number(number) => Ok(Value::Number(*number)),
            Expression::Text(text) => Err(format!(
                "\"{text}\" is a word; it is compared with a column, as in `exit_cause[LABEL] == \"{text}\"`"
            )),
            Expression::Axis(key) => {
                let axis = self.axis(key.as_deref());
                Ok(self.over_points(|at| self.place(axis, at).map_or(f64::NAN, |place| place.number)))
            }
            Expression::Column(column) => self.column(column, &number),
            Expression::Model { model, cell, given } => self.model(model, cell, given),
            Expression::Call(function, arguments) => {
                let values: Vec<Value> =
                    arguments.iter().map(|one| self.value(one)).collect::<Result<_, _>>()?;
                call(*function, &values)
            }
            Expression::AtKey { key, value, inner } => {
                let (axis, place) = self.points.place(key, value)?;
                self.at(axis, place).value(inner)
            }
            Expression::Binary(operator, left, right) => match (operator, left.as_ref(), right.as_ref()) {
                (Operator::Equal | Operator::Unequal, Expression::Column(column), Expression::Text(text))
                | (Operator::Equal | Operator::Unequal, Expression::Text(text), Expression::Column(column)) =>
                {
                    let is_equal = *operator == Operator::Equal;
                    self.column(column, &|json| match json.as_str() {
                        Some(found) => f64::from(u8::from((found == text) == is_equal)),
                        None => f64::NAN,
                    })
                }
                _ => binary(*operator, &self.value(left)?, &self.value(right)?),
            },
        }
    }

    /// Adds the points whose results an expression needs.
    pub(crate) fn needs(&self, expression: &Expression, needed: &mut BTreeSet<usize>) {
        match expression {
            Expression::Column(_) => needed.extend(self.points()),
            Expression::Call(_, arguments) => arguments.iter().for_each(|one| self.needs(one, needed)),
            Expression::AtKey { key, value, inner } => {
                if let Ok((axis, place)) = self.points.place(key, value) {
                    self.at(axis, place).needs(inner, needed);
                }
            }
            Expression::Binary(_, left, right) => {
                self.needs(left, needed);
                self.needs(right, needed);
            }
            Expression::Number(_) | Expression::Text(_) | Expression::Axis(_) | Expression::Model { .. } => {}
        }
    }

    /// Returns the indices of the view's points in the list of points.
    fn points(&self) -> impl Iterator<Item = usize> {
        let is_here = |places: &[usize]| {
            self.fixed.iter().zip(places).all(|(fixed, place)| fixed.is_none_or(|fixed| fixed == *place))
        };
        let all = self.points.all.iter().enumerate();
        all.filter(move |(_, point)| is_here(&point.places)).map(|(at, _)| at)
    }

    /// Returns the axis of the key; without a key, the first axis that is not fixed.
    fn axis(&self, key: Option<&str>) -> Option<usize> {
        let axes = &self.points.axes;
        match key {
            Some(key) => axes.iter().position(|axis| axis.key == key),
            None => self.fixed.iter().position(Option::is_none).or((!axes.is_empty()).then_some(0)),
        }
    }

    fn place(&self, axis: Option<usize>, point: usize) -> Option<&crate::points::Place> {
        let axis = axis?;
        self.points.axes[axis].values.get(self.points.all[point].places[axis])
    }

    /// Returns a point's place on the first axis that is not fixed; 0 if all axes are fixed.
    fn x(&self, point: usize) -> f64 {
        let free = self.fixed.iter().position(Option::is_none);
        self.place(free, point).map_or(0.0, |place| place.number)
    }

    /// Returns one number if all axes are fixed, otherwise a number at each point.
    fn over_points(&self, of: impl Fn(usize) -> f64) -> Value {
        let points: Vec<(f64, f64)> = self.points().map(|at| (self.x(at), of(at))).collect();
        if self.fixed.iter().all(Option::is_some) {
            return Value::Number(points.first().map_or(f64::NAN, |(_, y)| *y));
        }
        Value::Points(points)
    }

    /// Returns the results at a point. There is one for each run of the view.
    fn outcomes(&self, point: usize) -> impl Iterator<Item = &Outcome> {
        let all = self.outcomes.get(point).map(Vec::as_slice).unwrap_or_default();
        let runs = self.runs;
        all.iter().enumerate().filter(move |(index, _)| runs.has(*index)).map(|(_, one)| one.as_ref())
    }

    fn column(&self, column: &Column, of: &dyn Fn(&Json) -> f64) -> Result<Value, String> {
        match column.of {
            Of::Run => self.rows(column, of),
            Of::Flow => self.flows(column, of),
            Of::Series => {
                let points: Vec<usize> = self.points().collect();
                let [point] = points.as_slice() else {
                    return Err(format!(
                        "series.{}: there are {} points; at(KEY=VALUE, …) is wanted around it",
                        column.name,
                        points.len()
                    ));
                };
                let is_it = |label: &str, name: &str, slot: u64| {
                    label == column.label && name == column.name && slot == self.slot
                };
                let all = self.outcomes(*point).next().into_iter().flat_map(|outcome| &outcome.series);
                let named = all.filter(|((label, _, name, slot), _)| is_it(label, name, *slot));
                let series =
                    chosen(column, named.map(|((_, population, ..), one)| (population.clone(), one)))?;
                Ok(Value::Points(series.cloned().unwrap_or_default()))
            }
        }
    }

    /// Returns the values of a column of rows. If the view has several runs, returns the column's mean over them.
    fn rows(&self, column: &Column, of: &dyn Fn(&Json) -> f64) -> Result<Value, String> {
        let mut is_there = false;
        let mut at_points = Vec::new();
        for at in self.points() {
            let mut values = Vec::new();
            for outcome in self.outcomes(at) {
                let rows = outcome.rows.iter().filter(|row| label(row) == column.label);
                let row = chosen(column, rows.map(|row| (population(row), row)))?;
                let value = row.and_then(|row| row.get(&column.name));
                is_there |= value.is_some();
                values.push(value.map_or(f64::NAN, of));
            }
            at_points.push((at, mean_and_ci95(&values).map_or(f64::NAN, |(mean, _)| mean)));
        }
        if !is_there && !at_points.is_empty() {
            return Err(format!("no row of `{}` has a column `{}`", column.label, column.name));
        }
        let value = |at: usize| {
            at_points.iter().find(|(point, _)| *point == at).map_or(f64::NAN, |(_, value)| *value)
        };
        Ok(self.over_points(value))
    }

    /// Returns the values of a column of flows. If the view has several runs, the flows of all runs form one sample.
    fn flows(&self, column: &Column, of: &dyn Fn(&Json) -> f64) -> Result<Value, String> {
        let mut samples = Vec::new();
        for at in self.points() {
            let mut sample = Vec::new();
            for outcome in self.outcomes(at) {
                if !outcome.flow_columns.is_empty() && !outcome.flow_columns.contains(&column.name) {
                    return Err(format!("no flow has a column `{}`", column.name));
                }
                let columns = outcome
                    .flows
                    .iter()
                    .filter(|((label, _, name), _)| *label == column.label && *name == column.name);
                let values =
                    chosen(column, columns.map(|((_, population, _), values)| (population.clone(), values)))?;
                sample.extend(values.into_iter().flatten().map(of));
            }
            samples.push((self.x(at), sample));
        }
        Ok(Value::Samples(samples))
    }

    fn model(&self, name: &str, cell: &str, given: &[(String, Given)]) -> Result<Value, String> {
        let model = MODELS
            .iter()
            .find(|model| model.name == name)
            .ok_or_else(|| format!("there is no model `{name}`"))?;
        let at = |point: Option<usize>| -> Result<Vec<f64>, String> {
            let text = |value: &Given| match value {
                Given::Text(text) => text.clone(),
                Given::Axis(key) => {
                    let place = point.and_then(|point| self.place(self.axis(key.as_deref()), point));
                    place.map(|place| place.name.clone()).unwrap_or_default()
                }
            };
            let given: Vec<(String, String)> =
                given.iter().map(|(key, value)| (key.clone(), text(value))).collect();
            let rows = model::rows(model, &given)?;
            let value = |row: &Vec<firstflight_model::Cell>| {
                row.iter().find(|one| one.name == cell).and_then(|one| one.value.number()).unwrap_or(f64::NAN)
            };
            Ok(rows.iter().map(value).collect())
        };
        if !given.iter().any(|(_, value)| matches!(value, Given::Axis(_))) {
            let values = at(None)?;
            return Ok(match values.as_slice() {
                [one] => Value::Number(*one),
                _ => Value::Points((0u32..).map(f64::from).zip(values).collect()),
            });
        }
        let mut points = Vec::new();
        for point in self.points() {
            let value = at(Some(point))?;
            points.push((self.x(point), value.first().copied().unwrap_or(f64::NAN)));
        }
        if self.fixed.iter().all(Option::is_some) {
            return Ok(Value::Number(points.first().map_or(f64::NAN, |(_, y)| *y)));
        }
        Ok(Value::Points(points))
    }
}

fn number(json: &Json) -> f64 {
    json.as_f64().unwrap_or(f64::NAN)
}

/// Selects an item from `all`, the items with the column's label and the population of each. If the column names a population, selects the
/// item of this population. Otherwise selects the item whose scheme runs alone, or the only item.
fn chosen<T>(column: &Column, all: impl Iterator<Item = (String, T)>) -> Result<Option<T>, String> {
    let mut all: Vec<(String, T)> = all.collect();
    if let Some(wanted) = &column.population {
        return Ok(all.into_iter().find(|(population, _)| population == wanted).map(|(_, one)| one));
    }
    if let Some(alone) = all.iter().position(|(population, _)| population.is_empty() || population == "only")
    {
        return Ok(Some(all.swap_remove(alone).1));
    }
    let Column { name, label, .. } = column;
    match all.as_slice() {
        [] | [_] => Ok(all.pop().map(|(_, one)| one)),
        several => {
            let shown: Vec<String> =
                several.iter().map(|(population, _)| format!("`{name}[{label}, {population}]`")).collect();
            Err(format!("{name}[{label}]: there are {}", shown.join(", ")))
        }
    }
}
