//! An event as its log has it, from an object or from an array with `event_fields`.

use std::borrow::Cow;

use serde_json::Value;

use crate::fields::number;
use crate::head::Head;

/// The parts of an event.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    /// The name without its namespace, in lower case: early logs of picoquic have upper case. Empty if the event has none.
    pub(crate) name: Cow<'a, str>,
    pub(crate) time: f64,
    /// Whether the time counts from the event before in the trace.
    pub(crate) is_difference: bool,
    pub(crate) data: &'a Value,
    /// The identifier of the connection, if the event has its own.
    pub(crate) group: Option<&'a str>,
}

/// The order of the fields if the file does not give it, as in draft 01.
const USUAL: [&str; 4] = ["relative_time", "category", "event", "data"];

impl<'a> Entry<'a> {
    /// Returns the parts of an event; `None` if it has no time.
    pub(crate) fn of(value: &'a Value, head: &Head) -> Option<Self> {
        match value {
            Value::Object(_) => Self::of_object(value, head),
            Value::Array(fields) => Self::of_array(fields, head),
            _ => None,
        }
    }

    fn of_object(value: &'a Value, head: &Head) -> Option<Self> {
        let name = value.get("name").or_else(|| value.get("type")).or_else(|| value.get("event"));
        let name = name.and_then(Value::as_str).unwrap_or_default();
        Some(Self {
            name: lower(name.rsplit_once(':').map_or(name, |(_, name)| name)),
            time: number(value.get("time")?)?,
            is_difference: head.has_differences(),
            data: value.get("data").unwrap_or(&Value::Null),
            group: value.get("group_id").and_then(Value::as_str),
        })
    }

    fn of_array(fields: &'a [Value], head: &Head) -> Option<Self> {
        let mut name = None;
        let mut time = None;
        let mut group = None;
        // A stack may write an event with one field fewer than it lists. The data is the object.
        let data = fields.iter().rfind(|field| field.is_object()).unwrap_or(&Value::Null);
        let usual = USUAL.map(str::to_owned);
        let names = if head.event_fields.is_empty() { &usual[..] } else { &head.event_fields };
        for (field, value) in names.iter().zip(fields) {
            match lower(field).as_ref() {
                "event" | "event_type" | "type" => name = value.as_str(),
                "time" | "relative_time" => time = Some((number(value)?, false)),
                "delta_time" => time = Some((number(value)?, true)),
                "group_id" => group = value.as_str(),
                _ => {}
            }
        }
        let (time, is_difference) = time?;
        Some(Self { name: lower(name.unwrap_or_default()), time, is_difference, data, group })
    }
}

fn lower(name: &str) -> Cow<'_, str> {
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(name.to_ascii_lowercase())
    } else {
        Cow::Borrowed(name)
    }
}
