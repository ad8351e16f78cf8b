//! Draws a sweep of a model's parameter: one curve for each column. An axis is logarithmic if its values span decades.

use firstflight_model::{Model, Quantity, Sweep, Unit};
use firstflight_report::svg::chart::{self, Chart, Curve};

use super::answer::Answer;

/// Draws the columns of a sweep as curves. If no columns were chosen by name, draws those whose unit occurs in more columns than any other.
pub(super) fn curves(
    model: &Model,
    sweep: &Sweep,
    answers: &[Answer],
    columns: &[usize],
    chosen: bool,
) -> Result<String, String> {
    let first = answers.first().map(|answer| &answer.row).ok_or("there is nothing to draw")?;
    if sweep.points.len() < 2 || sweep.points.iter().any(|point| matches!(point, Quantity::Word(_))) {
        return Err("a curve wants two points or more, and numbers".to_owned());
    }
    let numeric = |at: &usize| answers.iter().any(|answer| answer.row[*at].value.number().is_some());
    let (drawn, unit) = of_one_unit(columns, |at| first[at].unit, numeric, chosen)?;
    if drawn.len() > chart::MOST {
        return Err(format!(
            "{} curves are too many; up to {} can be distinguished",
            drawn.len(),
            chart::MOST
        ));
    }
    let x = |answer: &Answer| answer.settings.get(sweep.parameter.name).map_or(f64::NAN, Quantity::number);
    let curve = |at: usize| Curve {
        name: format!("{}: {}", first[at].name, first[at].what),
        points: answers.iter().map(|answer| (x(answer), answer.row[at].value.number())).collect(),
    };
    let chart = Chart {
        title: format!("{} ({})", model.name, model.source),
        description: describe(model, sweep, answers),
        curves: drawn.into_iter().map(curve).collect(),
        label: format!("{}: {}", sweep.parameter.name, sweep.parameter.help),
        units: [sweep.points.first().map_or("", |point| unit_of(*point)), unit.symbol()],
        may_be_log: [sweep.parameter.is_logarithmic(), !unit.symbol().is_empty()],
    };
    Ok(chart::render(&chart))
}

/// Lists the parameters and their values, without the parameter on the axis.
fn describe(model: &Model, sweep: &Sweep, answers: &[Answer]) -> String {
    let settings = answers.iter().take(1).flat_map(|answer| answer.settings.iter());
    let fixed = settings.filter(|(parameter, _)| parameter.name != sweep.parameter.name);
    let shown = fixed.filter_map(|(parameter, quantity)| Some(format!("{} {}", parameter.name, quantity?)));
    format!("{}; {}", model.summary, shown.collect::<Vec<_>>().join(", "))
}

/// Returns the columns to draw, which must have one unit. If no columns were chosen, these are the columns whose unit occurs most often.
fn of_one_unit(
    columns: &[usize],
    unit: impl Fn(usize) -> Unit,
    numeric: impl Fn(&usize) -> bool,
    chosen: bool,
) -> Result<(Vec<usize>, Unit), String> {
    let columns: Vec<_> = columns.iter().copied().filter(numeric).collect();
    let of = |wanted: Unit| columns.iter().copied().filter(|at| unit(*at) == wanted).collect::<Vec<_>>();
    let mut best: (Vec<usize>, Unit) = (Vec::new(), Unit::One);
    for at in &columns {
        let same = of(unit(*at));
        if same.len() > best.0.len() {
            best = (same, unit(*at));
        }
    }
    if best.0.is_empty() {
        return Err("none of the columns is a number".to_owned());
    }
    if chosen && best.0.len() < columns.len() {
        return Err("the columns have different units, and a drawing has one axis".to_owned());
    }
    Ok(best)
}

fn unit_of(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Rate(_) => "bit/s",
        Quantity::Span(_) => "s",
        Quantity::Size(_) => "B",
        Quantity::Packets(_) => "p",
        Quantity::PerSecond(_) => "/s",
        Quantity::Share(_) | Quantity::Count(_) | Quantity::Word(_) => "",
    }
}
