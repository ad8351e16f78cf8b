//! The keys of a path, as the package's stubs and its classes need them.

use firstflight_scenario::keys::{Key, keys as all};
use firstflight_scenario::kind::Kind;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Returns the keys of a path in the order of the help. Each is a dictionary: `name`, `heading`, `kind` (`rate`, `time`, `size`, `packets`, `share`, `count`,
/// `per-second`, `word`, `queue`, `time-or-count`, `flag` or `text`), `words` (the values of a word), `repeats`, `placeholder` and `help`.
#[pyfunction]
pub(crate) fn keys(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    all().map(|key| described(py, key)).collect()
}

fn described<'py>(py: Python<'py>, key: &Key) -> PyResult<Bound<'py, PyDict>> {
    let words: &[&str] = match key.kind {
        Kind::Word(words) if !key.is_flag() => words,
        _ => &[],
    };
    let fields = PyDict::new(py);
    fields.set_item("name", key.name)?;
    fields.set_item("heading", key.heading.name())?;
    fields.set_item("kind", if key.is_flag() { "flag" } else { kind(key.kind) })?;
    fields.set_item("words", words)?;
    fields.set_item("repeats", key.repeats)?;
    fields.set_item("placeholder", key.value_name())?;
    fields.set_item("help", key.help_line())?;
    Ok(fields)
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Rate => "rate",
        Kind::Span => "time",
        Kind::Size => "size",
        Kind::Packets => "packets",
        Kind::Share => "share",
        Kind::Count(_) => "count",
        Kind::PerSecond => "per-second",
        Kind::Word(_) => "word",
        Kind::Queue => "queue",
        Kind::SpanOrCount => "time-or-count",
        Kind::Text(_) => "text",
    }
}
