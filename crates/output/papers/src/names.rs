//! Checks the names in an expression against those of a figure: columns, labels, axes, models.

use firstflight_export::columns::POPULATION_COLUMNS;
use firstflight_export::columns::PROBE_COLUMNS;
use firstflight_export::columns::{COLUMNS, column};
use firstflight_model::MODELS;
use firstflight_scenario::{FileError, suggest::meant};
use toml::Spanned;

use crate::expression::{Column, Expression, Given, Of, parse, parse_with};
use crate::file::fault_within;
use crate::points::Points;
use crate::series::SERIES;

/// Reads an expression, and checks it against the names of the figure. In a plot, `label` is the scheme that `[*]` represents.
pub(crate) fn read(
    text: &str,
    said: &Spanned<String>,
    label: Option<&str>,
    points: &Points,
) -> Result<Expression, FileError> {
    let read = match label {
        None => parse(said.get_ref()),
        Some(label) => parse_with(said.get_ref(), Some(label)),
    };
    let expression =
        read.map_err(|error| fault_within(text, &said.span(), (error.from, error.to), error.message))?;
    check(&expression, points).map_err(|(name, message)| {
        let from = said.get_ref().find(&name).filter(|_| !name.is_empty());
        match from {
            Some(from) => fault_within(text, &said.span(), (from, from + name.len()), message),
            None => FileError::new(text, said.span(), message),
        }
    })?;
    Ok(expression)
}

/// Checks every name of an expression against the figure. The error has the wrong name, and a message.
fn check(expression: &Expression, points: &Points) -> Result<(), (String, String)> {
    match expression {
        Expression::Number(_) | Expression::Text(_) => Ok(()),
        Expression::Axis(key) => axis(key.as_deref(), points),
        Expression::Column(column) => column_of(column, points),
        Expression::Model { model, cell, given } => {
            for (_, value) in given {
                if let Given::Axis(key) = value {
                    axis(key.as_deref(), points)?;
                }
            }
            self::model(model, cell, given)
        }
        Expression::Call(_, arguments) => arguments.iter().try_for_each(|one| check(one, points)),
        Expression::AtKey { key, value, inner } => {
            axis(Some(key), points)?;
            points.place(key, value).map_err(|message| (value.clone(), message))?;
            check(inner, points)
        }
        Expression::Binary(_, left, right) => check(left, points).and_then(|()| check(right, points)),
    }
}

/// Checks a label against the schemes of the runs.
pub(crate) fn label(found: &str, all: &[String]) -> Result<(), String> {
    if all.iter().any(|one| one == found) {
        return Ok(());
    }
    if all.is_empty() {
        return Err(format!("there is no scheme `{found}`; the file has no [scenario]"));
    }
    Err(format!("there is no scheme `{found}`; {}", near(found, all.iter().map(String::as_str))))
}

fn column_of(column: &Column, points: &Points) -> Result<(), (String, String)> {
    let Column { of, name, label: found, population } = column;
    let is_mixed = population.as_deref() == Some("mixed");
    let whole = if is_mixed { format!("{found}, mixed") } else { found.clone() };
    // If the flows of the scenario are scripted, their schemes are known only when the script runs.
    if !points.is_scripted {
        label(&whole, &points.labels()).map_err(|message| (found.clone(), message))?;
    }
    let known = match of {
        Of::Run | Of::Flow => self::column(name).is_some(),
        Of::Series => SERIES.iter().any(|series| series.name == name),
    };
    if known {
        return match of {
            Of::Flow if !points.have_flows() => {
                Err((name.clone(), format!("flow.{name}: the scenario has no flows; set `flows` in it")))
            }
            Of::Series if points.have_flows() && !points.is_scripted => Err((
                name.clone(),
                format!(
                    "series.{name}: a series is of one flow, and those of a population have no names; list them as [[scenario.flow]]"
                ),
            )),
            Of::Series if points.are_probings() => Err((
                name.clone(),
                format!("series.{name}: a series is of one measured flow, and trains are sent"),
            )),
            _ => Ok(()),
        };
    }
    let hint = match of {
        Of::Series => near(name, SERIES.iter().map(|series| series.name)),
        Of::Run | Of::Flow => {
            let all = COLUMNS.iter().chain(POPULATION_COLUMNS).chain(PROBE_COLUMNS);
            let all = || all.clone().map(|column| column.name);
            meant(name, &[], all())
                .unwrap_or_else(|| "docs/reference/exports.md lists the columns".to_owned())
        }
    };
    Err((name.clone(), format!("there is no column `{name}`; {hint}")))
}

fn axis(key: Option<&str>, points: &Points) -> Result<(), (String, String)> {
    let known = || points.axes.iter().map(|axis| axis.key.as_str());
    match key {
        None if points.axes.is_empty() => {
            Err(("axis".into(), "axis: nothing varies; the file has no [vary]".into()))
        }
        Some(key) if !known().any(|known| known == key) => {
            Err((key.to_owned(), format!("[vary] has no key `{key}`; {}", near(key, known()))))
        }
        _ => Ok(()),
    }
}

fn model(model: &str, cell: &str, given: &[(String, Given)]) -> Result<(), (String, String)> {
    let Some(found) = MODELS.iter().find(|one| one.name == model) else {
        let hint = near(model, MODELS.iter().map(|one| one.name));
        return Err((model.to_owned(), format!("there is no model `{model}`; {hint}")));
    };
    for (key, _) in given {
        if found.parameter(key).is_none() {
            let hint = near(key, found.parameters.iter().map(|parameter| parameter.name));
            return Err((key.clone(), format!("the model {model} has no parameter `{key}`; {hint}")));
        }
    }
    let rows = crate::model::rows(found, &[]).unwrap_or_default();
    let cells = || rows.first().into_iter().flatten().map(|cell| cell.name);
    if rows.is_empty() || cells().any(|name| name == cell) {
        return Ok(());
    }
    Err((cell.to_owned(), format!("the model {model} has no cell `{cell}`; {}", near(cell, cells()))))
}

/// Returns the nearest of the known names, or all.
pub(crate) fn near<'a>(found: &str, known: impl Iterator<Item = &'a str> + Clone) -> String {
    let all = known.clone().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let none = || if all.is_empty() { "there are none".to_owned() } else { format!("there are {all}") };
    meant(found, &[], known).unwrap_or_else(none)
}
