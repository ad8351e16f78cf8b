//! The parts of a captured connection's panel apart from its plots: facts, rounds, restarts, and undefined numbers.

use serde::Serialize;
use serde_json::Value;

use crate::human;
use crate::inspected::{Summed, summary_text};
use firstflight_export::record::{Record, number, text};

/// A table that the reader can unfold.
#[derive(Serialize)]
pub(crate) struct Listing {
    pub(crate) title: String,
    pub(crate) heads: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) is_words: bool,
}

/// Describes when start-up ended. Like the plots, it counts time from the first data.
pub(crate) fn exit_time(row: &Record) -> String {
    let words = |at| format!(" at {}", human::seconds(at));
    number(row, "exit_time_s").map_or_else(String::new, words)
}

/// Checks whether the row is of a sender in a capture.
pub(crate) fn is_sender(row: &Record) -> bool {
    row.contains_key("connection")
}

/// Returns the capture's name with the connection's number, and the two endpoints as small print below it.
pub(crate) fn named(row: &Record) -> (Vec<String>, Vec<String>) {
    let number = row.get("connection").map(Value::to_string).unwrap_or_default();
    let name = match text(row, "file") {
        "" => format!("connection {number}"),
        file => format!("{file}:\u{a0}{number}"),
    };
    let ends = vec![format!("{}\u{a0}→ ", text(row, "from")), text(row, "to").to_owned()];
    // A line may break after each folder of a path.
    (name.split_inclusive('/').map(str::to_owned).collect(), ends)
}

/// The summary over all senders.
#[derive(Serialize)]
pub(crate) struct Summary {
    sentences: [String; 2],
    exits: String,
    heads: [&'static str; 8],
    rows: Vec<SummaryRow>,
}

/// One number of the summary over all senders.
#[derive(Serialize)]
struct SummaryRow {
    name: String,
    cells: [String; 8],
    /// The reasons why the number is undefined, each with the number of senders.
    reasons: Vec<String>,
}

pub(crate) fn summary(shown: &Summed) -> Summary {
    let row = |(name, of, unit): summary_text::Row| SummaryRow {
        name: name.trim().to_owned(),
        cells: summary_text::cells(of, unit).map(|cell| if cell == "-" { "–".to_owned() } else { cell }),
        reasons: summary_text::reasons(of),
    };
    Summary {
        sentences: summary_text::sentences(shown),
        exits: summary_text::exits(shown),
        heads: summary_text::HEADS,
        rows: summary_text::rows(shown).into_iter().map(row).collect(),
    }
}

/// Returns the facts of the row, in a few words each.
pub(crate) fn facts(row: &Record) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let mut say = |name, field, show: &dyn Fn(f64) -> String| {
        if let Some(value) = number(row, field) {
            facts.push((name, show(value)));
        }
    };
    let segments = |count: f64| {
        let count = format!("{count:.0}");
        let plural = if count == "1" { "" } else { "s" };
        format!("{count} segment{plural}")
    };
    let kilobytes = |bytes: f64| format!("{} kB", human::significant(bytes / 1e3));
    say("handshake", "handshake_rtt_s", &human::seconds);
    say("minimum RTT", "min_rtt_s", &human::seconds);
    say("MSS", "mss_bytes", &|bytes| format!("{bytes:.0} bytes"));
    say("initial window", "initial_window_segments", &segments);
    say("sent", "bytes_sent", &kilobytes);
    say("retransmitted", "retransmitted_segments", &segments);
    say("overshoot", "overshoot_segments", &segments);
    say("later rate", "later_rate_bps", &human::rate);
    say("to 90 %", "time_to_90pct_s", &human::seconds);
    say("throughput", "throughput_bps", &human::rate);
    for (name, field) in [("sending", "pacing"), ("captured at", "vantage")] {
        if !text(row, field).is_empty() {
            facts.push((name, text(row, field).to_owned()));
        }
    }
    let cause = text(row, "exit_cause");
    if !cause.is_empty() {
        let when = exit_time(row);
        let flight = number(row, "exit_flight_bytes")
            .map_or_else(String::new, |bytes| format!(", {} in flight", kilobytes(bytes)));
        facts.push(("exit", format!("{cause}{when}{flight}")));
    }
    facts
}

/// Returns the tables of rounds, idle restarts and undefined numbers that the row has.
pub(crate) fn listings(row: &Record) -> Vec<Listing> {
    let undefined = row.get("undefined").and_then(Value::as_object);
    let undefined = undefined
        .into_iter()
        .flatten()
        .map(|(field, why)| vec![field.clone(), why.as_str().unwrap_or_default().to_owned()]);
    let listings = [
        list(row, "rounds", "Rounds, in seconds since the first data"),
        list(row, "idle_restarts", "Restarts after idle times, in seconds since the first data"),
        Listing {
            title: "Undefined, and why".to_owned(),
            heads: ["field", "why"].map(str::to_owned).to_vec(),
            rows: undefined.collect(),
            is_words: true,
        },
    ];
    listings.into_iter().filter(|listing| !listing.rows.is_empty()).collect()
}

/// Returns a list of objects as a table with numbered rows.
fn list(row: &Record, field: &str, title: &str) -> Listing {
    let items: Vec<&Record> =
        row.get(field).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object).collect();
    let names = items.first().into_iter().flat_map(|item| item.keys());
    let heads = std::iter::once("#".to_owned()).chain(names.map(|name| spelt(name))).collect();
    let line = |(at, item): (usize, &&Record)| {
        std::iter::once((at + 1).to_string()).chain(item.values().map(shown)).collect()
    };
    let rows = items.iter().enumerate().map(line).collect();
    Listing { title: title.to_owned(), heads, rows, is_words: false }
}

/// Returns a field's name as a column head: `began_s` is `began, s`.
fn spelt(field: &str) -> String {
    let (name, unit) = match field.rsplit_once('_') {
        Some((name, "s")) => (name, ", s"),
        Some((name, "bytes")) => (name, ", bytes"),
        Some((name, "bps")) => (name, ", bit/s"),
        _ => (field, ""),
    };
    format!("{}{unit}", name.replace('_', " "))
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "–".to_owned(),
        Value::String(words) => words.clone(),
        Value::Number(whole) if whole.is_u64() => human::count(whole.as_u64().unwrap_or(0)),
        other => other.as_f64().map_or_else(|| other.to_string(), human::significant),
    }
}
