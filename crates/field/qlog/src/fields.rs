//! Access to the values of JSON that stacks write in different types: a number may be a string.

use serde_json::Value;

/// Returns a non-negative whole number, which may be a string or have a fraction.
pub(crate) fn whole(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        _ => value.as_u64().or_else(|| {
            let number = value.as_f64().filter(|number| (0.0..9e15).contains(number))?;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "its range is checked"
            )]
            let number = number as u64;
            Some(number)
        }),
    }
}

/// Returns a finite number, which may be a string.
pub(crate) fn number(value: &Value) -> Option<f64> {
    let number = match value {
        Value::String(text) => text.trim().parse().ok(),
        _ => value.as_f64(),
    };
    number.filter(|number| number.is_finite())
}

/// Returns the whole number in the first of these fields that has one.
pub(crate) fn first_whole(data: &Value, names: &[&str]) -> Option<u64> {
    names.iter().find_map(|name| whole(data.get(name)?))
}

/// Returns the text in the first of these fields that has one.
pub(crate) fn first_text<'a>(data: &'a Value, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| data.get(name)?.as_str())
}
