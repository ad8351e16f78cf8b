//! Describes a transfer in words and as JSON.

use firstflight_export::json;
use firstflight_report::human::{count, rate, seconds, significant};
use firstflight_trace::in_a_line;
use firstflight_udp::files::Transferred;
use serde_json::Value;

use super::measured::Row;
use crate::failure::Failure;
use crate::output;

/// Describes the transferred file as JSON. `took` is the duration of the transfer in seconds, if it is known.
pub(super) fn json(file: &Transferred, took: Option<f64>) -> String {
    let Transferred { path, length, resumed, sha256 } = file;
    let mut fields =
        serde_json::json!({"path": path, "bytes": length, "resumed_bytes": resumed, "sha256": sha256});
    if let (Some(took), Some(fields)) = (took, fields.as_object_mut()) {
        fields.insert("time_s".to_owned(), took.into());
    }
    // Numbers and texts can always be written as JSON.
    json::line(&fields).unwrap_or_default()
}

/// Describes the transferred file in words.
pub(super) fn whole(file: &Transferred) -> String {
    let Transferred { path, length, resumed, sha256 } = file;
    let before = if *resumed > 0 { format!(" ({} were there)", count(*resumed)) } else { String::new() };
    let hash = sha256.get(..16).unwrap_or(sha256);
    format!("{}: {} bytes{before}, SHA-256 {hash}", in_a_line(path), count(*length))
}

/// Describes the transferred file and the rate of the transfer in words. Bytes that were not transferred have no rate.
pub(super) fn timed(file: &Transferred, took: f64) -> String {
    if file.resumed == file.length {
        return whole(file);
    }
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
    let bits = (file.length - file.resumed) as f64 * 8.0;
    let bps = if took > 0.0 { bits / took } else { 0.0 };
    format!("{}, {}, {}", whole(file), seconds(took), rate(bps))
}

/// Describes the transferred file, the rate of the transfer, and the sender's start-up in words.
pub(super) fn started(file: &Transferred, Row { fields, .. }: &Row) -> String {
    let number = |field: &str| fields.get(field).and_then(Value::as_f64);
    let text = |field: &str| fields.get(field).and_then(Value::as_str).unwrap_or_default();
    let counted = |field: &str| fields.get(field).and_then(Value::as_u64).map_or_else(String::new, count);
    let first = number("fct_s").map_or_else(|| whole(file), |took| timed(file, took));
    let exit = match (text("exit_cause"), number("exit_time_s"), number("exit_cwnd_packets")) {
        ("none", ..) => "start-up did not end".to_owned(),
        (cause, Some(at), Some(window)) => {
            format!("start-up left by {cause} after {} with {} packets", seconds(at), significant(window))
        }
        (cause, ..) => format!("start-up left by {cause}"),
    };
    let (lost, sent) = (counted("packets_lost"), counted("packets_sent"));
    format!("{first}\n  {}: {exit}; {lost} of {sent} packets lost", text("scheme"))
}

/// Reports a sent file. With JSON, prints only the row. If the sender's trace gives no row, reports that on standard error.
///
/// # Errors
/// Fails if standard output cannot be written. A closed standard output is not an error.
pub(super) fn show_sent(file: &Transferred, row: Option<&Row>, json: bool) -> Result<(), Failure> {
    match (row, json) {
        (Some(row), true) => output::print(&row.json()),
        (None, true) => {
            output::say(&format!("note: no row of {}", whole(file)));
            Ok(())
        }
        (Some(row), false) => output::print_words(&(started(file, row) + "\n")),
        (None, false) => output::print_words(&(whole(file) + "\n")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_which_no_bytes_were_transferred_has_no_rate() {
        let file = |length, resumed| {
            let (path, sha256) = ("f".to_owned(), "0".repeat(64));
            timed(&Transferred { path, length, resumed, sha256 }, 2.0)
        };
        assert!(file(1_000, 0).ends_with(", 2.00 s, 4.00 kbit/s"), "{}", file(1_000, 0));
        for (length, resumed) in [(1_000, 1_000), (0, 0)] {
            assert!(file(length, resumed).ends_with("SHA-256 0000000000000000"), "{}", file(length, resumed));
        }
    }
}
