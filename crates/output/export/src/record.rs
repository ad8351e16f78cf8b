//! A result as an ordered map from field to value, which every table and export reads.

use serde::Serialize;
use serde_json::Value;

/// One result: a map of its fields, in the order of its type.
pub type Record = serde_json::Map<String, Value>;

/// The reason why a result cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The result cannot be serialised.
    #[error("a result cannot be serialised: {0}")]
    Serialise(#[from] serde_json::Error),
    /// The result is not a set of named fields.
    #[error("a result must be an object with named fields")]
    NotAnObject,
}

/// Returns the rows as records. Non-finite numbers become null.
///
/// # Errors
/// Fails if a row does not serialize to an object.
pub fn records<T: Serialize>(rows: &[T]) -> Result<Vec<Record>, RecordError> {
    rows.iter()
        .map(|row| match serde_json::to_value(row)? {
            Value::Object(fields) => Ok(fields),
            _ => Err(RecordError::NotAnObject),
        })
        .collect()
}

/// Returns the field as a number; `None` if it is not one.
pub fn number(record: &Record, field: &str) -> Option<f64> {
    record.get(field).and_then(Value::as_f64)
}

/// Returns the field as text; empty if it is missing or not text.
pub fn text<'a>(record: &'a Record, field: &str) -> &'a str {
    record.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the result's name: its label, or its scheme with the parameters that differ from the defaults.
pub fn name(record: &Record) -> String {
    let (label, scheme, params) = (text(record, "label"), text(record, "scheme"), text(record, "params"));
    match (label.is_empty(), params.is_empty()) {
        (false, _) => label.to_owned(),
        (true, true) => scheme.to_owned(),
        (true, false) => format!("{scheme}:{params}"),
    }
}

/// Returns the fields of all records, each once, in order of first appearance.
pub fn fields(records: &[Record]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for record in records {
        let mut after = 0;
        for field in record.keys() {
            if let Some(at) = names.iter().position(|name| name == field) {
                after = at + 1;
            } else {
                // An optional field is placed after the field that precedes it in its record, not at the end.
                names.insert(after, field.clone());
                after += 1;
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_measure::Row;
    use serde_json::json;

    #[test]
    fn a_record_keeps_the_order_of_its_type() {
        let records = records(&[Row::default()]).unwrap();
        let keys: Vec<&String> = records[0].keys().collect();
        assert_eq!(&keys[..3], ["scheme", "params", "avoidance"]);
        assert_eq!(keys.last().unwrap().as_str(), "scenario_hash");
    }

    #[test]
    fn a_non_finite_number_becomes_null() {
        let row = Row { throughput_bps: f64::NAN, su_time_s: Some(f64::INFINITY), ..Row::default() };
        let records = records(&[row]).unwrap();
        assert!(records[0]["throughput_bps"].is_null());
        assert!(records[0]["su_time_s"].is_null());
    }

    #[test]
    fn a_bare_number_is_not_a_result() {
        assert!(matches!(records(&[3_u8]), Err(RecordError::NotAnObject)));
    }

    #[test]
    fn an_optional_field_stands_beside_its_neighbours() {
        let of = |value: Value| value.as_object().cloned().unwrap();
        let all = [of(json!({"a": 1, "c": 1})), of(json!({"a": 1, "b": 1, "c": 1}))];
        assert_eq!(fields(&all), ["a", "b", "c"]);
    }

    #[test]
    fn a_label_names_the_result_before_its_parameters_do() {
        let row = Row { scheme: "paced".into(), params: "first=4".into(), ..Row::default() };
        assert_eq!(name(&records(std::slice::from_ref(&row)).unwrap()[0]), "paced:first=4");
        let row = Row { label: Some("mine".into()), ..row };
        assert_eq!(name(&records(&[row]).unwrap()[0]), "mine");
    }
}
