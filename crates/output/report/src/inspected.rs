//! An inspection of captures: its table, its summary and its report.

mod distribution;
mod summary;
pub(crate) mod summary_text;

use firstflight_export::{Record, RecordError, records};
use firstflight_inspect::{Drawn, Found, Inspected, Trace};
use firstflight_measure::{Mark, PhaseKind, PhaseSpan, Recording, Send, State};

use crate::grid::ALWAYS;
use crate::human;
use crate::view::{Show, ViewColumn, view};

pub use distribution::{Distribution, Quantiles};
pub use summary::{Distributions, Summary, Summed};
pub use summary_text::render as render_summary;

/// The columns of the table of senders.
pub(crate) const VIEW: &[ViewColumn] = &[
    view(["sender", "→ receiver"], "label", Show::Name, ALWAYS),
    view(["seen", "at"], "vantage", Show::Text, 8),
    view(["RTT", "ms"], "handshake_rtt_s", Show::Scaled(1e-3), 2),
    view(["IW", "segments"], "initial_window_segments", Show::InitialWindow, 2),
    view(["sending", ""], "pacing", Show::Text, 6),
    view(["exit cause", "@ s"], "exit_cause", Show::Exit, 1),
    view(["in", "round"], "exit_round", Show::Count, 7),
    view(["in flight", "kB"], "exit_flight_bytes", Show::Scaled(1e3), 5),
    view(["over-", "shot"], "overshoot_segments", Show::Count, 6),
    view(["sent", "kB"], "bytes_sent", Show::Scaled(1e3), 3),
    view(["again", "segments"], "retransmitted_segments", Show::Count, 4),
    view(["time-", "outs"], "timeouts_suspected", Show::Count, 5),
    view(["later", "Mbit/s"], "later_rate_bps", Show::Scaled(1e6), 4),
    view(["to 90 %", "s"], "time_to_90pct_s", Show::Scaled(1.0), 6),
    view(["idle", "restarts"], "idle_restarts_total", Show::Count, 8),
];

/// Returns the senders as records. Each has a `label`, after the field `file` if a file is given.
///
/// # Errors
/// Fails only if `Found` does not serialize to a JSON object, which is a bug.
pub fn labelled(file: Option<&str>, senders: &[Inspected]) -> Result<Vec<Record>, RecordError> {
    let found: Vec<&Found> = senders.iter().map(|one| &one.found).collect();
    let each = |(mut record, found): (Record, &Found)| {
        record.shift_insert(0, "label".to_owned(), label(file, found).into());
        if let Some(file) = file {
            record.shift_insert(1, "file".to_owned(), file.into());
        }
        record
    };
    Ok(records(&found)?.into_iter().zip(found).map(each).collect())
}

/// Returns the name of a sender in tables and above its panel.
pub fn label(file: Option<&str>, found: &Found) -> String {
    let file = file.map_or_else(String::new, |file| format!("{file}: "));
    format!("{file}{} {} → {}", found.connection, found.from, found.to)
}

/// Returns the recording for a sender's plots; `None` if no plots were requested.
pub fn recording(file: Option<&str>, one: &Inspected) -> Option<Recording> {
    let drawn = one.drawn.as_ref()?;
    let Drawn { began, ended, first_data, mss, ref trace, .. } = *drawn;
    let send = |&(at, offset, len, retransmission): &(u64, u64, u64, bool)| Send {
        at,
        offset,
        len: u32::try_from(len).unwrap_or(u32::MAX),
        retransmission,
    };
    Some(Recording {
        label: label(file, &one.found),
        mss: u32::try_from(mss).unwrap_or(u32::MAX),
        syn_at: began,
        first_data_at: first_data,
        ended_at: ended,
        sends: trace.sends.iter().map(send).collect(),
        states: states(trace),
        rtts: trace.rtts.clone(),
        acks: trace.acks.clone(),
        delivered: trace.acks.clone(),
        phases: phases(drawn),
        marks: marks(&one.found, drawn),
        ..Recording::default()
    })
}

/// Returns states for the plots. The bytes in flight take the place of the congestion window, and the receiver's window takes the place of
/// the threshold.
fn states(trace: &Trace) -> Vec<State> {
    let mut states: Vec<State> = Vec::with_capacity(trace.flight.len() + trace.window.len());
    let (mut flight, mut window) = (trace.flight.iter().peekable(), trace.window.iter().peekable());
    let mut last = State { at: 0, cwnd: 0, ssthresh: None, in_flight: 0 };
    loop {
        let window_first = match (flight.peek(), window.peek()) {
            (Some((one, _)), Some((other, _))) => other <= one,
            (None, Some(_)) => true,
            (Some(_), None) => false,
            (None, None) => return states,
        };
        let next = if window_first { window.next() } else { flight.next() };
        let Some(&(at, bytes)) = next else { return states };
        last.at = at;
        if window_first {
            last.ssthresh = Some(bytes);
        } else {
            last.cwnd = bytes;
        }
        states.push(last);
    }
}

/// Returns the phases: the handshake, start-up and the phase after it. Loss episodes interrupt them.
fn phases(drawn: &Drawn) -> Vec<PhaseSpan> {
    let first = drawn.first_data.unwrap_or(drawn.ended);
    let exit = drawn.exit.unwrap_or(drawn.ended);
    let spans = [
        (drawn.began, first, PhaseKind::Handshake),
        (first, exit, PhaseKind::Startup),
        (exit, drawn.ended, PhaseKind::Avoidance),
    ];
    let repairs = drawn.trace.recoveries.iter().map(|&(from, to)| (from, to.unwrap_or(drawn.ended)));
    let mut cut = Vec::new();
    let mut repairs = repairs.peekable();
    for (mut from, to, kind) in spans {
        while let Some(&(start, end)) = repairs.peek().filter(|(start, _)| *start < to) {
            cut.push(PhaseSpan { from, to: start.max(from), kind });
            cut.push(PhaseSpan { from: start.max(from), to: end.min(to), kind: PhaseKind::Recovery });
            from = end.clamp(from, to);
            if end > to {
                break;
            }
            repairs.next();
        }
        cut.push(PhaseSpan { from, to, kind });
    }
    cut.retain(|span| span.to > span.from);
    cut
}

fn marks(found: &Found, drawn: &Drawn) -> Vec<Mark> {
    let mark = |(at, kind, text): &(u64, &str, String)| Mark {
        at: *at,
        kind: (*kind).to_owned(),
        text: text.clone(),
    };
    let mut marks: Vec<Mark> = drawn.trace.marks.iter().map(mark).collect();
    if let (Some(at), Some(cause)) = (drawn.exit, found.exit_cause) {
        let flight = found.exit_flight_bytes.unwrap_or(0);
        let text = format!("start-up left by {cause}: {} bytes in flight", human::count(flight));
        marks.push(Mark { at, kind: "exit".to_owned(), text });
    }
    marks.sort_by_key(|mark| mark.at);
    marks
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_inspect::PathSeen;

    #[test]
    fn an_initial_window_that_was_not_the_windows_says_whose_it_was() {
        let cell = |limit| {
            let found = Found {
                initial_window_segments: Some(1),
                initial_window_limit: Some(limit),
                ..Found::default()
            };
            let record = labelled(None, &[Inspected { found, drawn: None }]).unwrap().remove(0);
            let column = VIEW.iter().find(|column| column.field == "initial_window_segments").unwrap();
            column.cell(&record)
        };
        assert_eq!(["window", "application", "receiver-window"].map(cell), ["1", "1 app", "1 rwnd"]);
    }

    #[test]
    fn every_mark_of_a_capture_has_a_line_of_its_own_kind() {
        let styles = include_str!("html/report/constants.js");
        for kind in Trace::KINDS.into_iter().chain(["exit"]) {
            assert!(styles.contains(&format!("\"{kind}\": {{ colour:")), "{kind}");
        }
    }

    #[test]
    fn repairs_stand_between_the_phases_they_fall_into() {
        let trace = Trace { recoveries: vec![(40, Some(60)), (80, None)], ..Trace::default() };
        let path = PathSeen::default();
        let drawn = Drawn { began: 0, ended: 100, first_data: Some(10), exit: Some(50), mss: 1, trace, path };
        let spans: Vec<_> = phases(&drawn).iter().map(|span| (span.from, span.to, span.kind)).collect();
        assert_eq!(
            spans,
            [
                (0, 10, PhaseKind::Handshake),
                (10, 40, PhaseKind::Startup),
                (40, 50, PhaseKind::Recovery),
                (50, 60, PhaseKind::Recovery),
                (60, 80, PhaseKind::Avoidance),
                (80, 100, PhaseKind::Recovery),
            ]
        );
    }
}
