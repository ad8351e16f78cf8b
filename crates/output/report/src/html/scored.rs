//! The score of a sweep as a page with tables, curves and definitions. The page draws only two step curves, so it needs no plotting
//! library. The tables also have the curves' numbers.

mod heat;
mod tables;

use firstflight_lab::score::{Distribution, Group, Weighted};
use minijinja::value::Serde;
use minijinja::{Value, context};
use serde::Serialize;

use self::heat::Heat;
use self::tables::Table;
use super::styles::{Style, styles};
use super::{HtmlError, STYLE, environment, inert};
use crate::score::{LIMITS, MEASURES, beyond, verdict, weight};

const TEMPLATE: &str = include_str!("score.html");
const SCRIPT: &str = concat!(include_str!("page.js"), include_str!("score.js"));

/// The contents of a score's page.
#[derive(Clone, Debug)]
pub struct Scored {
    /// The program's version.
    pub version: String,
    /// The command line that reproduces the page.
    pub command: String,
    /// The part of the sweep that is missing or excluded, in sentences; `None` if all of the sweep is scored.
    pub missing: Option<String>,
    /// Facts about the sweep, each as (name, value).
    pub facts: Vec<(&'static str, String)>,
    /// The multiple of the ideal completion time at which a transfer was given up; `None` if none was.
    pub give_up: Option<u64>,
    /// The scores by class of paths; the class of all paths is first.
    pub groups: Vec<Group>,
    /// The distributions of each scheme over all paths.
    pub distributions: Vec<Distribution>,
}

/// Returns the score as one self-contained HTML page.
///
/// # Errors
/// Fails only if there is a bug in the template or in the drawn data.
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
    let mut environment = environment();
    environment.add_template("score", TEMPLATE)?;
    let html = environment.get_template("score")?.render(context! {
        version => scored.version.as_str(),
        command => scored.command.as_str(),
        title,
        missing => scored.missing.as_deref(),
        facts => Value::from(Serde(&scored.facts)),
        verdict => verdict(all, beyond).lines().map(str::to_owned).collect::<Value>(),
        cost => Value::from(Serde(tables::cost(all, beyond))),
        price => Value::from(Serde(tables::price(all))),
        heat => Value::from(Serde(Heat::new(all, classes, beyond))),
        winners => Value::from(Serde(tables::winners(classes, beyond))),
        axes => Value::from(Serde(axes(classes, beyond))),
        is_independent => all.is_independent(),
        has_intervals => all.is_weighted || all.is_independent(),
        is_weighted => all.is_weighted,
        races => weight(all.weight),
        nobody => weight(all.nobody),
        measures => Value::from(Serde(MEASURES)),
        limits => Value::from(Serde(LIMITS)),
        style => Value::from_safe_string(STYLE.to_owned()),
        script => Value::from_safe_string(SCRIPT.to_owned()),
        data => Value::from_safe_string(inert(serde_json::to_string(&Curves::new(scored))?)),
    })?;
    Ok(html)
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{} {}", crate::human::count(count as u64), if count == 1 { one } else { many })
}

/// The classes of one axis: a table of all classes side by side, and a table of each.
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

/// The curves of each scheme: the share of its rows up to a cost, and the share up to a ratio of the cost to the best.
#[derive(Serialize)]
struct Curves {
    /// The cost at which transfers are given up.
    give_up: Option<u64>,
    schemes: Vec<Curve>,
}

#[derive(Serialize)]
struct Curve {
    name: String,
    /// The style of the curves; `None` if there are more schemes than styles.
    style: Option<Style>,
    #[serde(rename = "isShown")]
    is_shown: bool,
    cost: Steps,
    over_best: Steps,
}

/// Steps of a curve: at each `x` it steps to the share `y`.
#[derive(Serialize)]
struct Steps {
    x: Vec<f64>,
    y: Vec<f64>,
}

/// The maximum number of steps of a curve. It is larger than the number of pixel rows of a screen.
const MAX_STEPS: usize = 1000;

impl Curves {
    fn new(scored: &Scored) -> Self {
        let styles = styles(scored.distributions.iter().map(|one| one.scheme.as_str()));
        let curve = |(one, style): (&Distribution, Option<Style>)| Curve {
            name: one.scheme.clone(),
            style,
            is_shown: style.is_some(),
            cost: Steps::new(&one.cost, one.rows),
            over_best: Steps::new(&one.over_best, one.races),
        };
        Self {
            give_up: scored.give_up,
            schemes: scored.distributions.iter().zip(styles).map(curve).collect(),
        }
    }
}

impl Steps {
    /// Builds the steps of the empirical distribution of sorted values. `of` is the weight of all values, including infinite ones. A long
    /// curve keeps only evenly spaced steps and the last one.
    fn new(values: &[Weighted], of: f64) -> Self {
        let every = values.len().div_ceil(MAX_STEPS).max(1);
        let mut steps = Self { x: Vec::new(), y: Vec::new() };
        let mut sum = 0.0;
        for (at, Weighted { value, weight }) in values.iter().enumerate() {
            sum += weight;
            let is_last = at + 1 == values.len();
            if (at + 1) % every == 0 || is_last {
                steps.x.push(to_digits(*value, 1e4));
                steps.y.push(to_digits(sum / of, 1e6));
            }
        }
        steps
    }
}

/// Rounds the value to a multiple of `1 / parts`.
fn to_digits(value: f64, parts: f64) -> f64 {
    libm::round(value * parts) / parts
}

#[cfg(test)]
mod tests;
