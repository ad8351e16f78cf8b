//! Formats values as Python does: its `%` formats, and `str()`.

use std::fmt::Write;

use super::value::Value;

/// Returns `format % values`. Widths and flags are accepted but have no effect.
pub(super) fn fill(format: &str, values: &Value) -> Result<String, String> {
    let one = std::slice::from_ref(values);
    let mut values = match values {
        Value::Tuple(all) => all.iter(),
        _ => one.iter(),
    };
    let mut out = String::new();
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            out.push(letter);
            continue;
        }
        let kind = letters.find(|letter| !matches!(letter, '0'..='9' | '.' | '-' | '+' | ' ' | '#' | 'l'));
        match kind {
            Some('%') => out.push('%'),
            Some(kind @ ('d' | 'i' | 'u' | 's' | 'r' | 'x' | 'f' | 'g')) => {
                let value = values.next().ok_or("too few values for a format in code")?;
                match (kind, value) {
                    ('x', Value::Integer(value)) => write!(out, "{value:x}").unwrap_or_default(),
                    _ => out += &show(value),
                }
            }
            _ => return Err("an unknown format in code".to_owned()),
        }
    }
    if values.next().is_some() {
        return Err("too many values for a format in code".to_owned());
    }
    Ok(out)
}

/// Returns a value as `str()` gives it.
pub(super) fn show(value: &Value) -> String {
    match value {
        Value::Integer(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::Text(text) => text.clone(),
        Value::Tuple(all) => format!("({})", all.iter().map(show).collect::<Vec<_>>().join(", ")),
        Value::None => "None".to_owned(),
    }
}
