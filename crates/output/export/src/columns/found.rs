//! The fields of senders in captures.

use firstflight_inspect::Found;
use firstflight_measure::{Column, count, joined};

use super::column::text;
use crate::record::Record;

/// The fields of a sender in a capture, in the order of [`Found`]. Fields that are lists are left out.
pub const FOUND: &[Column] = {
    const ALL: &[&[Column]] = &[&[text("file", "The capture.")], Found::COLUMNS];
    &joined::<{ count(ALL) }>(ALL)
};

/// Checks whether the records are senders in captures.
pub fn is_inspection(records: &[Record]) -> bool {
    records.first().is_some_and(|record| record.contains_key("connection"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::records;
    use serde_json::Value;

    #[test]
    fn every_scalar_field_is_described_in_order_without_extras() {
        let some = || Some(String::new());
        let found = Found {
            tunnel: some(),
            outer_from: some(),
            outer_to: some(),
            exit_window_bytes: Some(1),
            exit_shown_by: Some("state"),
            ..Found::default()
        };
        let mut record = records(&[found]).unwrap().remove(0);
        record.shift_insert(0, "file".to_owned(), "a.pcap".into());
        let is_plain = |(_, value): &(&String, &Value)| !value.is_array() && !value.is_object();
        let fields: Vec<&str> = record.iter().filter(is_plain).map(|(name, _)| name.as_str()).collect();
        let described: Vec<&str> = FOUND.iter().map(|column| column.name).collect();
        assert_eq!(fields, described);
    }
}
