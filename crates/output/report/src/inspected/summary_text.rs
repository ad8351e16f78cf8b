//! The summary over all senders as text. It is at most 80 columns wide, unless a reason is longer.

use std::fmt::Write as _;

use serde_json::Value;

use super::distribution::Quantiles;
use super::summary::Summed;
use crate::human;

/// The heads of the distributions' columns.
pub(crate) const HEADS: [&str; 8] = ["min", "25 %", "median", "75 %", "90 %", "max", "senders", "undefined"];

/// The maximum number of reasons listed for one field.
const MAX_REASONS: usize = 3;

/// A row of the table of distributions: its name, the distribution, and the unit in which its values are shown.
pub(crate) type Row<'a> = (&'static str, &'a Quantiles, f64);

/// Returns the rows of the table of distributions.
pub(crate) fn rows(told: &Summed) -> [Row<'_>; 6] {
    let of = &told.distributions;
    [
        ("initial window, segments", &of.initial_window_segments, 1.0),
        ("  bounded by the window", &of.initial_window_segments_by_window, 1.0),
        ("handshake RTT, ms", &of.handshake_rtt_s, 1e-3),
        ("to 90 %, s", &of.time_to_90pct_s, 1.0),
        ("retransmitted, %", &of.retransmitted_share, 0.01),
        ("idle restarts", &of.idle_restarts_total, 1.0),
    ]
}

/// Returns the totals over all senders, in two sentences.
pub(crate) fn sentences(told: &Summed) -> [String; 2] {
    let plural = |count: u64, what: &str| {
        format!("{} {what}{}", human::count(count), if count == 1 { "" } else { "s" })
    };
    let senders = format!(
        "{} in {}: {} sent, {} acknowledged",
        plural(told.senders, "sender"),
        plural(told.connections, "connection"),
        bytes(told.bytes_sent),
        bytes(told.bytes_acked)
    );
    let (resent, sent) = (told.retransmitted_segments, told.data_segments_sent);
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    let share = if sent == 0 { 0.0 } else { resent as f64 * 100.0 / sent as f64 };
    let share = human::significant(share);
    let mut text =
        format!("{} of {} retransmitted ({share} %)", human::count(resent), plural(sent, "segment"));
    if told.uncounted_senders > 0 {
        let _ = write!(text, "; sendings of {} not counted", plural(told.uncounted_senders, "sender"));
    }
    [senders, text]
}

/// Returns the exit causes with their numbers of senders, in order of falling frequency.
pub(crate) fn exits(told: &Summed) -> String {
    let mut causes: Vec<_> = told.exit_causes.iter().collect();
    causes.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let causes = causes.iter().map(|(cause, count)| format!("{cause} {}", human::count(**count)));
    causes.collect::<Vec<_>>().join(", ")
}

/// Returns a cell of the table of distributions, in this unit.
pub(crate) fn cell(value: &Value, unit: f64) -> String {
    match (value.as_u64(), value.as_f64()) {
        (Some(count), _) => count.to_string(),
        (None, Some(real)) => human::significant(real / unit),
        (None, None) => "-".to_owned(),
    }
}

/// Returns the cells of a distribution: its quantiles, and the numbers of senders with and without a value.
pub(crate) fn cells(of: &Quantiles, unit: f64) -> [String; 8] {
    let [least, p25, median, p75, p90, most] =
        [&of.least, &of.p25, &of.median, &of.p75, &of.p90, &of.most].map(|value| cell(value, unit));
    [least, p25, median, p75, p90, most, of.defined.to_string(), of.undefined.to_string()]
}

/// Returns the reasons for undefined values, in order of falling frequency.
pub(crate) fn reasons(of: &Quantiles) -> Vec<String> {
    let mut all: Vec<_> = of.reasons.iter().collect();
    all.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let rest: u64 = all.iter().skip(MAX_REASONS).map(|(_, count)| **count).sum();
    let listed = all
        .iter()
        .take(MAX_REASONS)
        .map(|(why, count)| format!("{count}: {}", firstflight_trace::in_a_line(why)));
    listed.chain((rest > 0).then(|| format!("{rest}: other reasons"))).collect()
}

/// Returns the summary as lines of text, wrapped to the terminal's width if there is one. The text ends with a newline.
pub fn render(told: &Summed, width: Option<usize>) -> String {
    let rows = rows(told);
    let cells: Vec<_> = rows.iter().map(|(_, of, unit)| cells(of, *unit)).collect();
    let column = |at: usize| cells.iter().map(|row| row[at].len()).max().unwrap_or(0).max(HEADS[at].len());
    let names = rows.iter().map(|(name, ..)| name.len()).max().unwrap_or(0);
    let line = |name: &str, cells: [&str; 8]| {
        let mut text = format!("{name:names$}");
        for (at, cell) in cells.into_iter().enumerate() {
            let _ = write!(text, " {cell:>width$}", width = column(at));
        }
        text + "\n"
    };
    let mut text = sentences(told).join("\n") + "\n";
    text += &line("", HEADS);
    for ((name, ..), cells) in rows.iter().zip(&cells) {
        text += &line(name, cells.each_ref().map(String::as_str));
    }
    text += &wrapped(&format!("exit cause: {}", exits(told)), width);
    for (name, of, _) in rows {
        let name = name.trim().split(',').next().unwrap_or_default();
        for why in reasons(of) {
            text += &wrapped(&format!("{name}, undefined of {why}"), width);
        }
    }
    text
}

/// Wraps text to lines of at most `width` columns, unless a word is wider. Every line after the first is indented.
fn wrapped(text: &str, width: Option<usize>) -> String {
    let mut lines = String::new();
    let mut used = 0;
    for word in text.split(' ') {
        let length = word.chars().count();
        if used > 0 && width.is_some_and(|width| used + 1 + length > width) {
            lines.push_str("\n  ");
            used = 2;
        } else if used > 0 {
            lines.push(' ');
            used += 1;
        }
        lines.push_str(word);
        used += length;
    }
    lines + "\n"
}

fn bytes(count: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let count = count as f64;
    let (unit, name) = match count {
        size if size >= 1e12 => (1e12, "TB"),
        size if size >= 1e9 => (1e9, "GB"),
        size if size >= 1e6 => (1e6, "MB"),
        size if size >= 1e3 => (1e3, "kB"),
        _ => return format!("{count:.0} bytes"),
    };
    format!("{} {name}", human::significant(count / unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspected::Summary;
    use firstflight_inspect::Found;

    #[test]
    fn the_text_fits_80_columns_and_says_every_distribution() {
        let mut summary = Summary::default();
        summary.add_connection();
        for at in 0..40_000_u64 {
            let mut found = Found {
                initial_window_segments: Some(10 + at % 3),
                initial_window_limit: Some("window"),
                handshake_rtt_s: Some(0.0123),
                bytes_sent: Some(123_456),
                data_segments_sent: Some(1000),
                retransmitted_segments: Some(at % 2),
                exit_cause: Some("loss"),
                ..Found::default()
            };
            found.undefined.insert("time_to_90pct_s", "too short".to_owned());
            summary.add(&found);
        }
        let text = render(&summary.summed(), Some(80));
        assert!(
            text.starts_with("40,000 senders in 1 connection: 4.94 GB sent, 0 bytes acknowledged\n"),
            "{text}"
        );
        for words in [
            "initial window, segments   10   10     11    12    12    12   40000         0\n",
            "handshake RTT, ms        12.3 12.3   12.3  12.3  12.3  12.3   40000         0\n",
            "retransmitted, %            0    0      0 0.100 0.100 0.100   40000         0\n",
            "exit cause: loss 40,000\n",
            "to 90 %, undefined of 40000: too short\n",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn a_long_line_is_wrapped_at_words() {
        assert_eq!(wrapped("one two three", Some(8)), "one two\n  three\n");
        assert_eq!(wrapped("one two three", None), "one two three\n");
        assert_eq!(wrapped("uninterrupted", Some(4)), "uninterrupted\n");
    }
}
