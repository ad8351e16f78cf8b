//! Footnotes that explain why cells of a table are undefined.

use serde_json::Value;

use firstflight_export::record::Record;

/// The footnotes of a table.
#[derive(Debug, Default)]
pub(crate) struct Footnotes {
    /// For each record and column, the number of the cell's footnote, from 1.
    pub(crate) marks: Vec<Vec<Option<usize>>>,
    /// The reasons, in the order of their numbers.
    pub(crate) reasons: Vec<String>,
}

/// Returns the footnotes of all cells that are undefined for a reason. `is_dash` returns whether the cell of a record in a column shows no
/// value. Equal reasons have the same number. `fields` are the fields of the columns.
pub(crate) fn footnotes(
    fields: &[&str],
    records: &[Record],
    is_dash: impl Fn(usize, usize) -> bool,
) -> Footnotes {
    let mut notes = Footnotes::default();
    for (at, record) in records.iter().enumerate() {
        let undefined = record.get("undefined").and_then(Value::as_object);
        let mut number = |(column, field): (usize, &&str)| {
            let reason = undefined?.get(*field)?.as_str()?;
            if !is_dash(at, column) {
                return None;
            }
            let known = notes.reasons.iter().position(|one| one == reason);
            Some(
                1 + known.unwrap_or_else(|| {
                    notes.reasons.push(reason.to_owned());
                    notes.reasons.len() - 1
                }),
            )
        };
        let marks = fields.iter().enumerate().map(&mut number).collect();
        notes.marks.push(marks);
    }
    notes
}
