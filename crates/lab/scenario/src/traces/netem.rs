//! The JSON of the crate `netem-trace`: bandwidths and delays with their durations, written with or without its feature `human`.

use firstflight::{Rate, Span, Time};
use serde_json::Value;

use super::values::MOST_STEPS;

/// The names of a kind of trace, and how its values are read.
pub(super) struct Values<T> {
    fixed: &'static str,
    repeated: &'static str,
    key: &'static str,
    value: fn(&Value) -> Option<T>,
    /// Whether there is `TraceBwConfig`.
    has_table: bool,
}

pub(super) const RATES: Values<Rate> = Values {
    fixed: "StaticBwConfig",
    repeated: "RepeatedBwPatternConfig",
    key: "bw",
    value: bandwidth,
    has_table: true,
};

pub(super) const DELAYS: Values<Span> = Values {
    fixed: "StaticDelayConfig",
    repeated: "RepeatedDelayPatternConfig",
    key: "delay",
    value: duration,
    has_table: false,
};

/// The steps of a file.
pub(super) struct Read<T> {
    pub(super) steps: Vec<(Time, T)>,
    pub(super) length: Span,
    /// Whether the file says that the steps repeat for ever.
    pub(super) repeats: bool,
}

/// Reads a file. An error says what is wrong in words.
pub(super) fn read<T: Copy>(content: &str, values: &Values<T>) -> Result<Read<T>, String> {
    let json: Value = serde_json::from_str(content).map_err(|error| error.to_string())?;
    let mut pieces = Vec::new();
    let repeats = pieces_of(&json, values, &mut pieces, true)?;
    let (mut at, mut steps) = (Time::ZERO, Vec::with_capacity(pieces.len()));
    for (length, value) in pieces {
        if !length.is_zero() {
            steps.push((at, value));
            at = at + length;
        }
    }
    Ok(Read { steps, length: at.since(Time::ZERO), repeats })
}

/// Appends the pieces of a model: durations and values. Returns whether the model repeats for ever, which only the outermost may.
fn pieces_of<T: Copy>(
    model: &Value,
    values: &Values<T>,
    pieces: &mut Vec<(Span, T)>,
    is_outermost: bool,
) -> Result<bool, String> {
    let one = model.as_object().filter(|model| model.len() == 1).and_then(|model| model.iter().next());
    let Some((name, inner)) = one else { return Err("a model is an object with one name".to_owned()) };
    if name == values.fixed {
        let value = inner.get(values.key).and_then(values.value);
        let length = inner.get("duration").and_then(duration);
        let (Some(value), Some(length)) = (value, length) else {
            return Err(format!("{name} needs `{}` and `duration`", values.key));
        };
        push(pieces, (length, value))?;
        return Ok(false);
    }
    if name == values.repeated {
        let count = match inner.get("count") {
            None | Some(Value::Null) => 0,
            Some(count) => {
                count.as_u64().ok_or_else(|| format!("{name} has a `count` that is no whole number"))?
            }
        };
        let Some(models) = inner.get("pattern").and_then(Value::as_array) else {
            return Err(format!("{name} needs `pattern`"));
        };
        if count == 0 && !is_outermost {
            return Err(format!("{name} within another model needs a `count` above zero"));
        }
        let from = pieces.len();
        for model in models {
            pieces_of(model, values, pieces, false)?;
        }
        let of_one = pieces.get(from..).unwrap_or_default().to_vec();
        if of_one.is_empty() {
            return Err(format!("{name} has no model"));
        }
        for _ in 1..count {
            of_one.iter().try_for_each(|piece| push(pieces, *piece))?;
        }
        return Ok(count == 0);
    }
    if values.has_table && name == "TraceBwConfig" {
        let table = inner.get("pattern").unwrap_or(inner).as_array();
        let Some(rows) = table else { return Err(format!("{name} is an array of durations and bandwidths")) };
        for row in rows {
            let length =
                row.get(0).and_then(|length| length.as_f64().map_or_else(|| duration(length), millis));
            let of_row = row.get(1).and_then(Value::as_array);
            let (Some(length), Some(of_row)) = (length, of_row) else {
                return Err(format!("{name} has a row that is not a duration and an array of bandwidths"));
            };
            for value in of_row {
                let value = match value.as_f64() {
                    Some(mbps) => (values.value)(&Value::String(format!("{mbps}Mbps"))),
                    None => (values.value)(value),
                };
                let Some(value) = value else {
                    return Err(format!("{name} has a bandwidth that cannot be read"));
                };
                push(pieces, (length, value))?;
            }
        }
        return Ok(false);
    }
    let table = if values.has_table { ", TraceBwConfig" } else { "" };
    Err(format!("the model `{name}` is none of {}, {}{table}", values.fixed, values.repeated))
}

fn push<T>(pieces: &mut Vec<(Span, T)>, piece: (Span, T)) -> Result<(), String> {
    if pieces.len() >= MOST_STEPS {
        return Err(format!("it has more than {MOST_STEPS} steps"));
    }
    pieces.push(piece);
    Ok(())
}

fn bandwidth(value: &Value) -> Option<Rate> {
    const UNITS: [(&str, f64); 5] =
        [("bps", 1.0), ("kbps", 1e3), ("Mbps", 1e6), ("Gbps", 1e9), ("Tbps", 1e12)];
    if let Some(text) = value.as_str() {
        return sum(text, &UNITS).map(Rate::from_bps);
    }
    let part = |key| value.get(key).and_then(Value::as_u64);
    Some(Rate::from_bps(part("gbps")?.checked_mul(1_000_000_000)?.checked_add(part("bps")?)?))
}

fn duration(value: &Value) -> Option<Span> {
    const UNITS: [(&str, f64); 9] = [
        ("ns", 1.0),
        ("us", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
        ("sec", 1e9),
        ("secs", 1e9),
        ("m", 6e10),
        ("min", 6e10),
        ("h", 3.6e12),
    ];
    if let Some(text) = value.as_str() {
        return sum(text, &UNITS).map(Span::from_nanos);
    }
    let part = |key| value.get(key).and_then(Value::as_u64);
    Some(Span::from_nanos(part("secs")?.checked_mul(1_000_000_000)?.checked_add(part("nanos")?)?))
}

fn millis(millis: f64) -> Option<Span> {
    whole(millis * 1e6).map(Span::from_nanos)
}

/// Reads a sum of numbers with units, as in `1s 500ms`.
fn sum(text: &str, units: &[(&str, f64)]) -> Option<u64> {
    let parts = text.split_whitespace().map(|part| {
        let end = part.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, unit) = part.split_at(end);
        let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
        whole(number.parse::<f64>().ok()? * factor)
    });
    let mut sum = None;
    for part in parts {
        sum = Some(sum.unwrap_or(0_u64).checked_add(part?)?);
    }
    sum
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
fn whole(value: f64) -> Option<u64> {
    (value.is_finite() && (0.0..9e18).contains(&value)).then(|| value.round() as u64)
}
