//! The score of a sweep as a page: tables, curves, definitions. The page needs no plotting library, because it draws only
//! two step curves. Their numbers are in the tables too.

mod tables;

use firstflight_lab::score::{Distribution, Group};
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context};
use serde::Serialize;

use self::tables::Table;
pub(crate) use self::tables::verdict;
use super::{HtmlError, STYLE, inert};
use crate::score::{LIMITS, MEASURES, beyond};

const TEMPLATE: &str = include_str!("score.html");
const SCRIPT: &str = concat!(include_str!("page.js"), include_str!("score.js"));

/// The contents of a score's page.
#[derive(Clone, Debug)]
pub struct Scored {
    /// The program's version.
    pub version: String,
    /// The command line that makes the page again.
    pub command: String,
    /// The missing or excluded part of the sweep, in sentences; `None` if all of it is scored.
    pub missing: Option<String>,
    /// The facts of the sweep, as name and value.
    pub facts: Vec<(&'static str, String)>,
    /// The multiple of the ideal at which a transfer was given up, if any.
    pub give_up: Option<u64>,
    /// The score, all paths first.
    pub groups: Vec<Group>,
    /// Each scheme's distributions over all paths.
    pub distributions: Vec<Distribution>,
}

/// The score as one self-contained HTML page.
///
/// # Errors
/// A defect of the template or of the drawn data.
pub fn render(scored: &Scored) -> Result<String, HtmlError> {
    let Some((all, classes)) = scored.groups.split_first() else {
        return Err(minijinja::Error::new(minijinja::ErrorKind::UndefinedError, "nothing was scored").into());
    };
    let title = format!(
        "{} on {} {}",
        counted(all.standings.iter().filter(|one| one.rows > 0).count(), "scheme", "schemes"),
        crate::human::count(all.paths as u64),
        if all.paths == 1 { "path" } else { "paths" }
    );
    let beyond = &beyond(scored.give_up);
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.add_filter("joined", |text: &str| crate::prose::joined(text));
    environment.add_template("score", TEMPLATE)?;
    let html = environment.get_template("score")?.render(context! {
        version => scored.version.as_str(),
        command => scored.command.as_str(),
        title,
        missing => scored.missing.as_deref(),
        facts => Value::from(Serde(&scored.facts)),
        verdict => tables::verdict(all, beyond),
        cost => Value::from(Serde(tables::cost(all, beyond))),
        price => Value::from(Serde(tables::price(all))),
        winners => Value::from(Serde(tables::winners(classes, beyond))),
        axes => Value::from(Serde(axes(classes, beyond))),
        has_intervals => all.is_independent(),
        races => crate::human::count(all.races as u64),
        nobody => crate::human::count(all.nobody as u64),
        measures => Value::from(Serde(MEASURES)),
        limits => Value::from(Serde(LIMITS)),
        style => Value::from_safe_string(STYLE.to_owned()),
        script => Value::from_safe_string(SCRIPT.to_owned()),
        data => Value::from_safe_string(inert(&serde_json::to_string(&Curves::new(scored))?)),
    })?;
    Ok(html)
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{} {}", crate::human::count(count as u64), if count == 1 { one } else { many })
}

/// The classes of an axis side by side, and each class in full.
#[derive(Serialize)]
struct Axis {
    name: &'static str,
    table: Table,
    classes: Vec<Class>,
}

#[derive(Serialize)]
struct Class {
    name: String,
    races: String,
    cost: Table,
    price: Table,
}

fn axes(classes: &[Group], beyond: &str) -> Vec<Axis> {
    let class = |group: &Group| Class {
        name: group.class.clone(),
        races: counted(group.races, "race", "races"),
        cost: tables::cost(group, beyond),
        price: tables::price(group),
    };
    let of_one = |of: &[Group]| Axis {
        name: of[0].axis,
        table: tables::by_class(of, beyond),
        classes: of.iter().map(class).collect(),
    };
    classes.chunk_by(|a, b| a.axis == b.axis).map(of_one).collect()
}

/// The curves: for each scheme, the share of its rows up to a cost, and up to a cost over the best.
#[derive(Serialize)]
struct Curves {
    /// The cost at which transfers are given up.
    give_up: Option<u64>,
    schemes: Vec<Curve>,
}

#[derive(Serialize)]
struct Curve {
    name: String,
    cost: Steps,
    over_best: Steps,
}

/// A step to the share `y` at `x`.
#[derive(Serialize)]
struct Steps {
    x: Vec<f64>,
    y: Vec<f64>,
}

/// The most steps of a curve, more than a screen has rows of pixels.
const MOST_STEPS: usize = 1000;

impl Curves {
    fn new(scored: &Scored) -> Self {
        let curve = |one: &Distribution| Curve {
            name: one.scheme.clone(),
            cost: Steps::new(&one.cost, one.rows),
            over_best: Steps::new(&one.over_best, one.races),
        };
        Self { give_up: scored.give_up, schemes: scored.distributions.iter().map(curve).collect() }
    }
}

impl Steps {
    /// The steps of the empirical distribution of values in order. Infinite values count in the total. A long curve keeps
    /// only evenly spaced steps and the last one.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    fn new(values: &[f64], of: usize) -> Self {
        let every = values.len().div_ceil(MOST_STEPS).max(1);
        let mut steps = Self { x: Vec::new(), y: Vec::new() };
        for (at, value) in values.iter().enumerate() {
            let is_last = at + 1 == values.len();
            if (at + 1) % every == 0 || is_last {
                steps.x.push(to_digits(*value, 1e4));
                steps.y.push(to_digits((at + 1) as f64 / of.max(1) as f64, 1e6));
            }
        }
        steps
    }
}

/// The value rounded to this many parts of one.
fn to_digits(value: f64, parts: f64) -> f64 {
    libm::round(value * parts) / parts
}

#[cfg(test)]
mod tests;
