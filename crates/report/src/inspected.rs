//! An inspection of captures: its fields, its table, its summary, its exports, and its report.

mod distribution;
pub mod rows;
mod summary;
pub(crate) mod summary_text;

use firstflight_inspect::{Drawn, Found, Inspected, Trace};
use firstflight_measure::{Mark, PhaseKind, PhaseSpan, Recording, Send, State};

use crate::columns::{Column, real, text, whole};
use crate::grid::ALWAYS;
use crate::human;
use crate::record::{Record, RecordError, records};
use crate::view::{Show, ViewColumn, view};

pub use distribution::{Distribution, Quantiles};
pub use summary::{Distributions, Summary, Summed};
pub use summary_text::render as render_summary;

/// The fields of a sender in a capture, in the order of [`Found`], without those that are lists.
pub const FOUND: &[Column] = &[
    text("file", "The capture."),
    whole("connection", "", "The connection's number in the capture, in order of first packets."),
    text("from", "The sender of the data."),
    text("to", "Its receiver."),
    text(
        "tunnel",
        "The tunnel, session of PPP over Ethernet or MPLS label stack that the sender's first packet was in: its kind (gre, vxlan, vxlan-gpe, \
         geneve, gtp-u, ip, pppoe, mpls) and its identifier, session or labels, if it has any. Left out without one.",
    ),
    text("outer_from", "The tunnel's end at the sender: an IP address, or of pppoe an Ethernet address."),
    text("outer_to", "The tunnel's end at the receiver."),
    text("role", "client if the sender opened the connection, server if it answered."),
    real("began_at_s", "s", "The connection's first packet, by the capture's clock."),
    real("duration_s", "s", "The connection's first packet to its last."),
    text(
        "vantage",
        "Where the capture was taken: sender, receiver or between, by the parts of the handshake.",
    ),
    real(
        "handshake_rtt_s",
        "s",
        "The round trip of the handshake, without a host's own time where the capture was taken at it.",
    ),
    real("rtt_to_sender_s", "s", "The handshake's part from the capture's place to the sender and back."),
    real("rtt_to_receiver_s", "s", "The handshake's part from the capture's place to the receiver and back."),
    real("min_rtt_s", "s", "The least round trip of data that was sent once."),
    whole("mss_bytes", "bytes", "Payload of a full segment, by the SYNs' options."),
    whole("window_scale", "", "The shift of the sender's own windows; 0 if it does not scale."),
    whole("receiver_window_scale", "", "The shift of the windows that the receiver gives."),
    text("sack", "Whether both ends offered selective acknowledgements."),
    text("timestamps", "Whether both ends offered timestamps."),
    text("ecn", "Whether both ends agreed on explicit congestion notification."),
    text(
        "ecn_feedback",
        "How marks are told of: rfc3168 by ECE, accecn by the counter of Accurate ECN (RFC 9768).",
    ),
    whole(
        "segments_sent",
        "segments",
        "All segments from this host, without payload too. A captured packet larger than the MSS counts as the \
         segments that the network card makes of it.",
    ),
    whole("data_segments_sent", "segments", "Segments with payload, those sent again too."),
    whole("bytes_sent", "bytes", "Payload, that sent again too."),
    whole("bytes_acked", "bytes", "Payload acknowledged in order."),
    whole("retransmitted_segments", "segments", "Segments sent again."),
    whole("retransmitted_bytes", "bytes", "Payload sent again."),
    whole("spurious_segments", "segments", "Segments that the receiver said it got twice (RFC 2883)."),
    whole(
        "timeouts_suspected",
        "1",
        "First segments outstanding sent again after a silence as long as a timer's, or for the third time as late: a \
         lower bound, since duplicate acknowledgements may break the silence.",
    ),
    real(
        "throughput_bps",
        "bit/s",
        "Payload acknowledged in order over the time from the first packet to the last.",
    ),
    whole(
        "initial_window_bytes",
        "bytes",
        "Payload sent before the first acknowledgement of data reached the sender.",
    ),
    whole("initial_window_segments", "segments", "The same in segments."),
    text(
        "initial_window_limit",
        "What bounded it: window, receiver-window, or application if there was no more to send.",
    ),
    real(
        "initial_window_spread",
        "1",
        "From its first packet to its last, over the time to that acknowledgement.",
    ),
    real(
        "back_to_back",
        "1",
        "Of start-up's packets, the share that left within an eighth of the round's even spacing of the one before.",
    ),
    real(
        "ack_triggered",
        "1",
        "Of start-up's bursts, the share that left as an acknowledgement came. Known at the sender only.",
    ),
    text(
        "pacing",
        "ack-clocked if nine tenths of the bursts left as an acknowledgement came; paced if less than half did, or \
         less than a quarter of the packets left back to back; else mixed.",
    ),
    text(
        "exit_cause",
        "Why start-up ended: loss or timeout (something was sent again and the flight fell), mark (congestion marks were echoed and the flight fell), \
         receiver-window, application (nothing to send for three rounds, and no growth after them), drain (the flight stopped growing, then \
         fell without a loss), flat (it stopped growing, and none of these); none if the data ended first, undefined if \
         the capture did.",
    ),
    real(
        "exit_time_s",
        "s",
        "First data to that end: the first packet sent again, the last growth of the flight, or the beginning of its fall.",
    ),
    whole("exit_round", "", "In which round, from 1."),
    whole("exit_flight_bytes", "bytes", "In flight then."),
    whole(
        "overshoot_segments",
        "segments",
        "Segments sent again of what had been sent by the end of the first repair, if that began by the end of \
         start-up or within a round trip of it.",
    ),
    real(
        "later_rate_bps",
        "bit/s",
        "Payload acknowledged for the first time, in order or selectively, in the second half of the time in which \
         data flowed, over that time. With idle restarts, of the time between two of them that brought nine tenths of \
         the data, if one did.",
    ),
    real(
        "time_to_90pct_s",
        "s",
        "From the first data of that time to the end of the first interval (the longer of the least round trip and 20 packet times) that \
         brings nine tenths of the later rate, sustained for four in a row.",
    ),
    whole("rounds_total", "", "Rounds: each ends with the first acknowledgement of anything sent in it."),
    whole(
        "idle_restarts_total",
        "",
        "How often new data left with nothing in flight after a silence longer than the retransmission timeout.",
    ),
    whole(
        "syn_data_bytes",
        "bytes",
        "Payload of the SYN that its answer acknowledged (TCP Fast Open, RFC 7413); not part of the rounds.",
    ),
    whole("unseen_bytes", "bytes", "Payload acknowledged that no packet of the capture holds."),
    whole("duplicates", "packets", "Packets captured twice, left out."),
    whole("reordered", "packets", "Packets out of order that were not sent again."),
    whole("out_of_window", "packets", "Packets far outside of any window, left out."),
];

/// The table's columns.
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

/// The senders as records. `file` is the first field if given, and a `label` names each sender.
///
/// # Errors
/// A defect of the types.
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

/// The name of a sender in tables and over its panel.
pub fn label(file: Option<&str>, found: &Found) -> String {
    let file = file.map_or_else(String::new, |file| format!("{file}: "));
    format!("{file}{} {} → {}", found.connection, found.from, found.to)
}

/// The recording from which a sender is drawn; `None` if drawing was not requested.
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

/// States for the plots: the flight is drawn as the window, and the receiver's window as the threshold.
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

/// The phases: handshake, start-up and what follows it, with the loss episodes among them.
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
    use serde_json::Value;

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
    fn every_field_that_is_no_list_is_described_in_its_order_and_nothing_else_is() {
        let some = || Some(String::new());
        let found = Found { tunnel: some(), outer_from: some(), outer_to: some(), ..Found::default() };
        let one = Inspected { found, drawn: None };
        let record = labelled(Some("a.pcap"), &[one]).unwrap().remove(0);
        let is_plain = |(name, value): &(&String, &Value)| {
            !value.is_array() && !value.is_object() && name.as_str() != "label"
        };
        let fields: Vec<&str> = record.iter().filter(is_plain).map(|(name, _)| name.as_str()).collect();
        let described: Vec<&str> = FOUND.iter().map(|column| column.name).collect();
        assert_eq!(fields, described);
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
