//! Renders the answers of models for people.

use firstflight_model::{Cell, MODELS, Parameter, Quantity, Sweep, Value};
use firstflight_report::grid::{ALWAYS, Cells, Column, Grid};
use firstflight_scenario::kind::Kind;

use super::answer::Answer;

/// Lists the models with their parameters.
pub(super) fn list() -> String {
    let lines = MODELS.iter().flat_map(|model| {
        let head =
            [model.name.to_owned(), format!("  {}", model.summary), format!("  source: {}", model.source)];
        head.into_iter().chain(model.parameters.iter().map(listed))
    });
    lines.map(|line| line + "\n").collect()
}

fn listed(parameter: &Parameter) -> String {
    let Parameter { name, kind, default, unset, help } = parameter;
    let words = match kind {
        Kind::Word(words) => format!(" ({})", words.join(", ")),
        _ => String::new(),
    };
    format!("  --{name}: {help}{words} [{}]", default.unwrap_or(unset))
}

/// Renders one answer with a line for each quantity: first the inputs, then the results.
pub(super) fn one(answer: &Answer, columns: Option<&[usize]>, width: Option<usize>) -> String {
    let given = answer.settings.iter().map(|(parameter, quantity)| {
        let quantity = quantity.map_or_else(|| "-".to_owned(), shown);
        [parameter.name.to_owned(), quantity, String::new(), parameter.help.to_owned()]
    });
    let line = |cell: &Cell| {
        [cell.name.to_owned(), number(&cell.value), cell.unit.symbol().to_owned(), cell.what.to_owned()]
    };
    let all: Vec<_> = (0..answer.row.len()).collect();
    let found = columns.unwrap_or(&all).iter().filter_map(|at| answer.row.get(*at)).map(line);
    let (given, found): (Vec<_>, Vec<_>) = (given.collect(), found.collect());
    let blank = if given.is_empty() { Vec::new() } else { vec![Default::default()] };
    let lines = [given, blank, found].concat();
    let cells = [Cells::Words, Cells::Numbers, Cells::Words, Cells::Sentences];
    let columns = cells.into_iter().enumerate().map(|(at, cells)| Column {
        field: String::new(),
        head: Vec::new(),
        cells,
        rank: ALWAYS,
        texts: lines.iter().map(|line| line[at].clone()).collect(),
    });
    Grid::new(columns.collect(), width).plain(width)
}

/// Renders several answers, one on each line: the swept parameter, then the columns. If `is_fitting`, shows only as many columns as fit.
pub(super) fn several(
    sweep: Option<&Sweep>,
    answers: &[Answer],
    columns: &[usize],
    (width, is_fitting): (Option<usize>, bool),
) -> String {
    let swept = sweep.map(|sweep| {
        let text =
            |answer: &Answer| answer.settings.get(sweep.parameter.name).map_or_else(String::new, shown);
        numbers(sweep.parameter.name, ALWAYS, answers.iter().map(text).collect())
    });
    let found = columns.iter().zip(1_u8..=u8::MAX).filter_map(|(&at, rank)| {
        let name = answers.first()?.row.get(at)?.name;
        let text = |answer: &Answer| answer.row.get(at).map_or_else(String::new, |cell| number(&cell.value));
        Some(numbers(name, rank, answers.iter().map(text).collect()))
    });
    Grid::new(swept.into_iter().chain(found).collect(), width.filter(|_| is_fitting)).plain(width)
}

fn numbers(name: &str, rank: u8, texts: Vec<String>) -> Column {
    Column { field: name.to_owned(), head: vec![name.to_owned()], cells: Cells::Numbers, rank, texts }
}

/// Formats a quantity in the form of the command line. A value that the user did not type is rounded.
fn shown(quantity: Quantity) -> String {
    match quantity {
        Quantity::PerSecond(value) => format!("{}/s", trimmed(value)),
        other => other.to_string(),
    }
}

fn number(value: &Value) -> String {
    match value {
        Value::Number(number) if number.is_finite() => significant(*number),
        Value::Whole(number) => number.to_string(),
        Value::Word(word) => (*word).to_owned(),
        Value::Number(_) | Value::None => "-".to_owned(),
    }
}

/// Formats a number with five digits. `--json` prints all digits.
pub(super) fn significant(number: f64) -> String {
    const DIGITS: i32 = 5;
    if number == 0.0 {
        return "0".to_owned();
    }
    // The exponent is that of the rounded value: 9.999996 has the exponent of 10.
    let scientific = format!("{:.*e}", (DIGITS - 1).unsigned_abs() as usize, number);
    let exponent = scientific.split_once('e').and_then(|(_, exponent)| exponent.parse::<i32>().ok());
    match exponent {
        Some(exponent @ -6..10) => {
            let decimals = (DIGITS - 1 - exponent).max(0).unsigned_abs() as usize;
            format!("{number:.decimals$}")
        }
        _ => scientific,
    }
}

/// Formats a number with five digits, without trailing zeros.
pub(super) fn trimmed(number: f64) -> String {
    let text = significant(number);
    if !text.contains('.') || text.contains('e') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_five_digits() {
        for (value, text) in [
            (0.0, "0"),
            (0.98775, "0.98775"),
            (9_733_333.33, "9733333"),
            (9.999_996, "10.000"),
            (0.000_08, "0.000080000"),
            (104.643_856, "104.64"),
            (1.5e-9, "1.5000e-9"),
            (-2.5, "-2.5000"),
        ] {
            assert_eq!(significant(value), text);
        }
    }
}
