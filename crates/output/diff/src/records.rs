//! The comparison as records, for programs.

use firstflight_export::Record;
use firstflight_measure::Scale;
use serde_json::{Number, Value};

use crate::comparison::{Changed, Comparison};
use crate::numbers::{Better, unit};

/// The fields of a comparison's records, each with its meaning.
pub const COLUMNS: [(&str, &str); 16] = [
    ("scheme", "The scheme."),
    ("number", "The field of the compared rows."),
    ("unit", "The field's unit; null if it is not known."),
    ("better", "Which direction is better: lower or higher; null if neither is."),
    ("rows", "The number of matched rows."),
    (
        "pairs",
        "The number of independent pairs: runs of one path, or draws of several paths. Without pairs, the smaller side's values.",
    ),
    ("up", "The number of pairs in which the number became larger."),
    ("down", "The number of pairs in which the number became smaller."),
    ("only_before", "The number of matched rows that had the number only before."),
    ("only_after", "The number of matched rows that have the number only after."),
    ("before", "The mean before, over the pairs."),
    ("after", "The mean after, over the pairs."),
    (
        "scale",
        "The scale of the change: ratio, after / before - 1 (geometric mean); difference, after - before.",
    ),
    ("change", "The change on that scale."),
    (
        "change_low",
        "The lower end of the change's 95 % interval, corrected for all numbers of the comparison; null with one pair. The upper end is change_high.",
    ),
    (
        "standing",
        "equal; better, worse or moved: the interval excludes no change, and a rank test (Wilcoxon) agrees; unclear; one pair; undefined.",
    ),
];

/// Returns a record for each number of each scheme.
pub fn records(comparison: &Comparison) -> Vec<Record> {
    comparison.numbers.iter().map(record).collect()
}

fn record(number: &Changed) -> Record {
    let real = |value: Option<f64>| value.and_then(Number::from_f64).map_or(Value::Null, Value::Number);
    let of = |value: fn(&firstflight_measure::Change) -> f64| real(number.change.as_ref().map(value));
    let count = |value: fn(&firstflight_measure::Change) -> usize| {
        Value::from(number.change.as_ref().map_or(0, value))
    };
    let word = |word: &str| if word.is_empty() { Value::Null } else { Value::from(word) };
    let interval = number.change.and_then(|change| change.interval);
    let fields = [
        ("scheme", Value::from(number.scheme.as_str())),
        ("number", Value::from(number.field.as_str())),
        ("unit", word(unit(&number.field))),
        (
            "better",
            word(match number.better {
                None => "",
                Some(Better::Lower) => "lower",
                Some(Better::Higher) => "higher",
            }),
        ),
        ("rows", Value::from(number.rows)),
        ("pairs", count(|change| change.pairs)),
        ("up", count(|change| change.up)),
        ("down", count(|change| change.down)),
        ("only_before", Value::from(number.only[0])),
        ("only_after", Value::from(number.only[1])),
        ("before", of(|change| change.before)),
        ("after", of(|change| change.after)),
        (
            "scale",
            number.change.map_or(Value::Null, |change| {
                Value::from(match change.scale {
                    Scale::Ratio => "ratio",
                    Scale::Difference => "difference",
                })
            }),
        ),
        ("change", of(|change| change.size)),
        ("change_low", real(interval.map(|(low, _)| low))),
        ("change_high", real(interval.map(|(_, high)| high))),
        ("standing", Value::from(number.standing().word())),
    ];
    fields.into_iter().map(|(field, value)| (field.to_owned(), value)).collect()
}
