//! The head of a trace: everything but its events.

use serde_json::{Map, Value};

use crate::fields::{first_text, number};

/// The fields that are kept: others would only take memory.
const KEPT: [&str; 6] =
    ["code_version", "common_fields", "configuration", "time_format", "title", "vantage_point"];

/// The fields of the file and of one trace that are not events. Those of the trace have precedence.
#[derive(Clone, Debug, Default)]
pub(crate) struct Head {
    /// The version of the schema, if the file has one.
    pub(crate) version: Option<String>,
    file: Map<String, Value>,
    trace: Map<String, Value>,
    /// The names of the fields of events that are arrays.
    pub(crate) event_fields: Vec<String>,
}

impl Head {
    /// Adds a field of the file.
    pub(crate) fn of_file(&mut self, name: &str, value: Value) {
        if matches!(name, "qlog_version" | "file_schema") && self.version.is_none() {
            self.version = value.as_str().map(str::to_owned);
        }
        if KEPT.contains(&name) {
            self.file.insert(name.to_owned(), value);
        }
    }

    /// Adds a field of the trace.
    pub(crate) fn of_trace(&mut self, name: &str, value: Value) {
        if name == "event_fields" {
            let names = value.as_array().into_iter().flatten();
            self.event_fields = names.map(|name| name.as_str().unwrap_or_default().to_owned()).collect();
        }
        if KEPT.contains(&name) {
            self.trace.insert(name.to_owned(), value);
        }
    }

    /// Forgets the previous trace.
    pub(crate) fn begin_trace(&mut self) {
        self.trace.clear();
        self.event_fields.clear();
    }

    fn common(&self, name: &str) -> Option<&Value> {
        self.trace.get("common_fields")?.get(name)
    }

    /// Returns the length of the unit of times, in nanoseconds.
    pub(crate) fn unit(&self) -> f64 {
        let unit = self.trace.get("configuration").and_then(|one| first_text(one, &["time_units"]));
        if unit == Some("us") { 1e3 } else { 1e6 }
    }

    /// Returns the format of times.
    pub(crate) fn time_format(&self) -> Option<&str> {
        self.common("time_format").or_else(|| self.trace.get("time_format"))?.as_str()
    }

    /// Returns whether times count from the event before in the trace.
    pub(crate) fn has_differences(&self) -> bool {
        matches!(self.time_format(), Some("delta" | "relative_to_previous_event"))
    }

    /// Returns whether both give events the same times, and the same groups if events `are_grouped`.
    pub(crate) fn reads_as(&self, other: &Self, are_grouped: bool) -> bool {
        self.unit().total_cmp(&other.unit()).is_eq()
            && self.time_format() == other.time_format()
            && self.event_fields == other.event_fields
            && (!are_grouped || self.group() == other.group())
    }

    /// Returns the reference time as a number in the unit of times.
    pub(crate) fn reference(&self) -> Option<f64> {
        number(self.common("reference_time")?)
    }

    /// Returns the identifier of the connection, by which events without their own are grouped.
    pub(crate) fn group(&self) -> Option<&str> {
        ["group_id", "ODCID"].iter().find_map(|name| self.common(name)?.as_str())
    }

    /// Returns the title of the trace or of the file.
    pub(crate) fn title(&self) -> Option<&str> {
        let titles = [&self.trace, &self.file].map(|fields| fields.get("title").and_then(Value::as_str));
        titles.into_iter().flatten().find(|title| !title.is_empty())
    }

    /// Returns the version of the program that wrote the file.
    pub(crate) fn code_version(&self) -> Option<&str> {
        let of = |fields: &'_ Map<String, Value>| fields.get("code_version").is_some();
        let fields = if of(&self.trace) { &self.trace } else { &self.file };
        fields.get("code_version")?.as_str()
    }

    /// Returns the type of the vantage point: `client`, `server` or `network`.
    pub(crate) fn vantage(&self) -> Option<&str> {
        let point = self.trace.get("vantage_point").or_else(|| self.file.get("vantage_point"))?;
        point.as_str().or_else(|| first_text(point, &["type"]))
    }

    /// Returns the name of the vantage point.
    pub(crate) fn vantage_name(&self) -> Option<&str> {
        first_text(self.trace.get("vantage_point")?, &["name"])
    }
}
