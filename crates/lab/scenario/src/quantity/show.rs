//! Functions that write quantities, for people or to be read back.

use firstflight::{Bytes, Rate, Span};

use super::Decimal;

/// Returns a rate as an exact text that [`super::rate`] reads back.
pub fn show_rate(rate: Rate) -> String {
    show(rate.bps(), &[("gbit", 1_000_000_000), ("mbit", 1_000_000), ("kbit", 1_000), ("bit", 1)])
}

/// Returns a duration for people: `80 ms`.
pub fn humane_span(span: Span) -> String {
    spaced(&show_span(span)).replace(" us", " µs")
}

/// Returns a size for people: `1 MB`, `23.04 kB`.
pub fn humane_bytes(bytes: Bytes) -> String {
    in_largest(bytes.get(), &[("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000), ("B", 1)])
}

/// Puts a space between a number and its unit.
fn spaced(text: &str) -> String {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    format!("{number} {}", &text[number.len()..])
}

/// Returns a rate for people: `100 Mbit/s`.
pub fn humane_rate(rate: Rate) -> String {
    let units = [("Gbit/s", 1_000_000_000), ("Mbit/s", 1_000_000), ("kbit/s", 1_000), ("bit/s", 1)];
    in_largest(rate.bps(), &units)
}

/// Returns the exact value in the largest of these units that is not greater than the value. The factors are powers of ten.
fn in_largest(value: u64, units: &[(&str, u64)]) -> String {
    let unit = units.iter().find(|(_, factor)| value >= *factor).or(units.last());
    let (name, factor) = unit.copied().unwrap_or(("", 1));
    format!("{} {name}", Decimal { mantissa: u128::from(value), scale: factor.ilog10() })
}

/// Returns a duration as an exact text that [`super::span`] reads back.
pub fn show_span(span: Span) -> String {
    let units = [("h", 3_600_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];
    show(span.nanos(), &units)
}

/// Returns a size as an exact text that [`super::bytes`] reads back.
pub fn show_bytes(bytes: Bytes) -> String {
    show(bytes.get(), &[("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000), ("B", 1)])
}

/// Returns the value in the largest unit that gives a whole number.
fn show(value: u64, units: &[(&str, u64)]) -> String {
    let unit = units.iter().find(|(_, factor)| value.is_multiple_of(*factor));
    match unit {
        Some((name, factor)) if value > 0 => format!("{}{name}", value / factor),
        _ => format!("{value}{}", units.last().map_or("", |(name, _)| name)),
    }
}
