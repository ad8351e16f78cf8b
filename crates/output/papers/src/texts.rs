//! The texts of a file of the ledger. Each must be one printable line, because tables and pages show it unchanged.

use std::ops::Range;

use firstflight_scenario::quantity::in_a_line;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Returns the first text in a TOML file that is not one printable line: its place, and the text in printable form.
pub(crate) fn first_unprintable(text: &str) -> Option<(Range<usize>, String)> {
    let table = DeTable::parse(text).ok()?;
    in_table(table.get_ref())
}

fn in_table(table: &DeTable<'_>) -> Option<(Range<usize>, String)> {
    table.iter().find_map(|(key, value)| of(key.get_ref(), key.span()).or_else(|| in_value(value)))
}

fn in_value(value: &Spanned<DeValue<'_>>) -> Option<(Range<usize>, String)> {
    match value.get_ref() {
        DeValue::String(text) => of(text, value.span()),
        DeValue::Array(values) => values.iter().find_map(in_value),
        DeValue::Table(table) => in_table(table),
        _ => None,
    }
}

fn of(text: &str, span: Range<usize>) -> Option<(Range<usize>, String)> {
    let shown = in_a_line(text);
    (shown != text).then_some((span, shown))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_with_line_breaks_or_control_characters_are_detected() {
        let found = |text: &str| first_unprintable(text).map(|(span, shown)| (text[span].to_owned(), shown));
        assert_eq!(found("title = \"é: 5 µs\"\nlist = [1, \"a\"]\n"), None);
        assert_eq!(
            found("a = 1\nt = \"x\\u001b[2J\"\n"),
            Some(("\"x\\u001b[2J\"".into(), "x\\u{1b}[2J".into()))
        );
        for wrong in ["[[a]]\nb = [[\"x\\ny\"]]\n", "a.b = {c = \"\\u202e\"}\n", "\"k\\ne\" = 1\n"] {
            assert!(found(wrong).is_some(), "{wrong}");
        }
    }
}
