//! Numbers and lists of names in the words of a verdict.

use super::judged::Judged;
use crate::result::SchemeResult;

/// Returns a verdict: the headline, and each note on a separate line.
pub fn noted(headline: &str, notes: impl IntoIterator<Item = String>) -> String {
    notes.into_iter().fold(headline.to_owned(), |text, note| text + "\nnote: " + &note)
}

/// Returns names as a list with "and" before the last name.
pub fn listed(names: &[&str]) -> String {
    joined(names, "and")
}

/// Returns names as a list with this word before the last name.
pub(super) fn joined(names: &[&str], word: &str) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} {word} {last}", most.join(", ")),
    }
}

/// Returns results with their laws, and with their common parts written once.
pub(super) fn named(results: &[&SchemeResult]) -> String {
    let alike = if results.len() > 1 { " alike" } else { "" };
    let is_one_law = results.windows(2).all(|pair| law(pair[0]) == law(pair[1]));
    if let ([first, _, ..], true) = (results, is_one_law) {
        let names: Vec<&str> = results.iter().map(|result| result.name.as_str()).collect();
        return format!("{}{}{alike}", listed(&names), in_brackets(law(first)));
    }
    let names: Vec<String> =
        results.iter().map(|result| format!("{}{}", result.name, in_brackets(law(result)))).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    listed(&names) + alike
}

/// Returns the law of a result's rows.
pub(super) fn law(result: &SchemeResult) -> &str {
    result.rows.first().map_or("", |row| row.avoidance.as_str())
}

fn in_brackets(law: &str) -> String {
    if law.is_empty() { String::new() } else { format!(" ({law})") }
}

/// Returns the words of [`crate::Row::deploy`] in a sentence.
pub fn help(deploy: &str) -> String {
    let words: Vec<&str> = deploy
        .split('+')
        .map(|word| match word {
            "router-help" => "router help",
            "marks" => "marks (ECN)",
            other => other,
        })
        .collect();
    listed(&words)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate above zero")]
pub(super) fn whole(bps: f64) -> u64 {
    bps as u64
}

pub(super) fn su_loss(judged: &Judged) -> String {
    match judged.su_loss {
        Some(loss) if loss > 0.0 => format!("su-loss {}{}", percent(loss), judged.some("su_loss")),
        Some(_) => "no su-loss".to_owned(),
        None => "no data sent".to_owned(),
    }
}

/// Returns a time with at least three digits, so that small values do not appear as zero.
pub(super) fn span(seconds: f64) -> String {
    match seconds {
        s if s >= 0.9995 => format!("{s:.2} s"),
        s if s >= 0.0995 => format!("{:.0} ms", s * 1e3),
        s if s >= 0.009_95 => format!("{:.1} ms", s * 1e3),
        s if s >= 0.000_999_5 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.1} µs", s * 1e6),
    }
}

/// Returns a percentage with three digits, so that small values do not appear as zero.
pub(super) fn percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    match percent {
        p if p >= 10.0 => format!("{p:.1} %"),
        p if p >= 0.01 => format!("{p:.2} %"),
        _ => "under 0.01 %".to_owned(),
    }
}

/// Returns the share by which results differ, as a percentage with two digits.
pub(super) fn rough_percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    match percent {
        p if p >= 9.95 => format!("{p:.0} %"),
        p if p >= 0.095 => format!("{p:.1} %"),
        _ => "under 0.1 %".to_owned(),
    }
}

/// Returns a whole number with two digits, rounded up, and with commas between thousands.
pub(super) fn at_most(count: u64) -> String {
    let unit = unit(count);
    grouped(count.div_ceil(unit) * unit)
}

/// Returns a whole number with two digits, rounded down, and with commas between thousands.
pub(super) fn at_least(count: u64) -> String {
    let unit = unit(count);
    grouped(count / unit * unit)
}

/// Returns the power of ten by which a number is divided to leave at most two digits.
fn unit(count: u64) -> u64 {
    let mut unit = 1;
    while count.div_ceil(unit) > 99 {
        unit *= 10;
    }
    unit
}

fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
