//! A QUIC connection is read from logs in the style of each stack, with equal answers. The logs are made up.

use firstflight_inspect::{Found, QuicLog};
use firstflight_qlog::{Event, Summary, read};
use serde_json::{Value, json};

/// An event of the sender, at a time in microseconds.
#[derive(Clone, Debug)]
enum Happened {
    /// A packet of 1,200 bytes with data.
    Sent(u64),
    /// An ACK of these packets.
    Acked(Vec<(u64, u64)>),
    Lost(u64),
    /// The controller's window and threshold.
    Window(u64, Option<u64>),
    /// The controller's state: `slow_start`, `recovery` or `congestion_avoidance`.
    State(&'static str),
}
use Happened::{Acked, Lost, Sent, State, Window};

/// A slow start from four packets over an RTT of 50 ms. Of the 16 packets of the third round three are lost, and the window is halved.
fn flow() -> Vec<(u64, Happened)> {
    let mut all = vec![(0, State("slow_start")), (0, Window(4_800, None))];
    let (mut next, mut window) = (0, 4_u64);
    for round in 0..3 {
        let start = 1_000 + round * 50_000;
        let first = next;
        for place in 0..window {
            all.push((start + place * 10, Sent(next)));
            next += 1;
        }
        if round == 2 {
            break;
        }
        all.push((start + 49_990, Acked(vec![(first, next - 1)])));
        window *= 2;
        all.push((start + 49_990, Window(window * 1_200, None)));
    }
    // Packets 14, 15 and 16 of 12..=27 are lost.
    all.push((151_000, Acked(vec![(17, 27), (0, 13)])));
    all.extend([14, 15, 16].map(|number| (151_000, Lost(number))));
    all.push((151_000, Window(9_600, Some(9_600))));
    all.push((151_000, State("recovery")));
    for number in 28..36 {
        all.push((151_100 + (number - 28) * 10, Sent(number)));
    }
    all.push((201_300, Acked(vec![(28, 35)])));
    all.push((201_300, State("congestion_avoidance")));
    all.push((201_300, Window(10_800, Some(9_600))));
    all.push((201_400, Sent(36)));
    all.push((251_400, Acked(vec![(36, 36)])));
    all
}

fn ranges(ranges: &[(u64, u64)]) -> Value {
    ranges
        .iter()
        .map(|(first, last)| if first == last { json!([first]) } else { json!([first, last]) })
        .collect()
}

fn ms(at: u64) -> f64 {
    f64::from(u32::try_from(at).expect("a short flow")) / 1e3
}

/// Returns the events of version 0.3 or of the newest draft.
fn objects(newest: bool) -> Vec<Value> {
    let name = |old: &str, new: &str| if newest { format!("quic:{new}") } else { old.to_owned() };
    let event = |(at, happened): (u64, Happened)| {
        let (name, data) = match happened {
            Sent(number) => (
                name("transport:packet_sent", "packet_sent"),
                json!({"header": {"packet_type": "1RTT", "packet_number": number}, "raw": {"length": 1200},
                    "frames": [{"frame_type": "stream", "stream_id": 0}]}),
            ),
            Acked(acked) => (
                name("transport:packet_received", "packet_received"),
                json!({"header": {"packet_type": "1RTT", "packet_number": 1},
                    "frames": [{"frame_type": "ack", "acked_ranges": ranges(&acked)}]}),
            ),
            Lost(number) => (
                name("recovery:packet_lost", "packet_lost"),
                json!({"header": {"packet_type": "1RTT", "packet_number": number}}),
            ),
            Window(window, ssthresh) => (
                name("recovery:metrics_updated", "recovery_metrics_updated"),
                json!({"congestion_window": window, "ssthresh": ssthresh.unwrap_or(u64::MAX)}),
            ),
            State(state) => {
                (name("recovery:congestion_state_updated", "congestion_state_updated"), json!({"new": state}))
            }
        };
        json!({"time": ms(at), "name": name, "data": data})
    };
    flow().into_iter().map(event).collect()
}

fn header(newest: bool) -> Value {
    if newest {
        json!({"file_schema": "urn:ietf:params:qlog:file:sequential", "serialization_format": "application/qlog+json-seq",
            "trace": {"vantage_point": {"type": "server"}, "common_fields": {"time_format": "relative_to_epoch"}}})
    } else {
        json!({"qlog_version": "0.3", "qlog_format": "JSON-SEQ",
            "trace": {"vantage_point": {"type": "server"}, "common_fields": {"time_format": "relative", "reference_time": 0}}})
    }
}

/// Returns a JSON text sequence.
fn records(header: Value, events: Vec<Value>) -> String {
    let records: Vec<String> =
        std::iter::once(header).chain(events).map(|record| format!("\u{1e}{record}\n")).collect();
    records.concat()
}

fn sequence(newest: bool) -> String {
    records(header(newest), objects(newest))
}

fn json_file() -> String {
    json!({"qlog_version": "0.3", "qlog_format": "JSON", "traces": [{"common_fields": {"time_format": "relative"},
        "events": objects(false), "vantage_point": {"type": "server"}}]})
    .to_string()
}

/// Returns a log whose events are arrays, as picoquic, mvfst and early quiche write them. `row` makes the name and the data.
fn arrays(
    fields: &[&str],
    row: impl Fn(Happened) -> Option<(&'static str, &'static str, Value)>,
    is_difference: bool,
) -> String {
    let mut last = 0;
    let events: Vec<Value> = flow()
        .into_iter()
        .filter_map(|(at, happened)| {
            let (category, event, data) = row(happened)?;
            let time = if is_difference { at - std::mem::replace(&mut last, at) } else { at };
            Some(json!([time.to_string(), category, event, data]))
        })
        .collect();
    json!({"qlog_version": "draft-01", "traces": [{"event_fields": fields, "configuration": {"time_units": "us"},
        "vantage_point": {"type": "server"}, "events": events}]})
    .to_string()
}

/// Returns the packets as arrays have them; `None` for other events.
fn old_packet(happened: &Happened) -> Option<(&'static str, &'static str, Value)> {
    Some(match happened {
        Sent(number) => (
            "transport",
            "packet_sent",
            json!({"packet_type": "1RTT", "header": {"packet_number": number.to_string(), "packet_size": 1200},
                "frames": [{"frame_type": "stream"}]}),
        ),
        Acked(acked) => (
            "transport",
            "packet_received",
            json!({"packet_type": "1RTT", "header": {"packet_number": 1, "packet_size": 40},
                "frames": [{"frame_type": "ack", "acked_ranges": ranges(acked)}]}),
        ),
        _ => return None,
    })
}

fn picoquic() -> String {
    let row = |happened: Happened| {
        old_packet(&happened).or_else(|| match happened {
            Lost(number) => {
                Some(("recovery", "packet_lost", json!({"packet_type": "1RTT", "packet_number": number})))
            }
            Window(window, _) => Some(("recovery", "metrics_updated", json!({"cwnd": window}))),
            State(state) => Some(("recovery", "congestion_state_updated", json!({"new": state}))),
            _ => None,
        })
    };
    arrays(&["relative_time", "category", "event", "data"], row, false)
}

/// mvfst lists no lost packets, and has the state with the window.
fn mvfst() -> String {
    let row = |happened: Happened| {
        old_packet(&happened).or_else(|| match happened {
            Lost(16) => Some(("loss", "packets_lost", json!({"largest_lost_packet_num": 16, "lost_packets": 3}))),
            Window(window, ssthresh) => Some((
                "metric_update",
                "congestion_metric_update",
                json!({"current_cwnd": window, "state": if ssthresh.is_some() { "Fast Recovery" } else { "Slow Start" },
                    "congestion_event": "cubic"}),
            )),
            _ => None,
        })
    };
    arrays(&["relative_time", "category", "event", "data"], row, false)
}

/// quant has time differences and no state.
fn quant() -> String {
    let row = |happened: Happened| {
        old_packet(&happened).or_else(|| match happened {
            Lost(number) => Some(("recovery", "packet_lost", json!({"packet_number": number}))),
            Window(window, _) => Some(("recovery", "metrics_updated", json!({"cwnd": window}))),
            _ => None,
        })
    };
    arrays(&["delta_time", "category", "event", "data"], row, true)
}

/// Early quiche reports neither losses nor states nor thresholds.
fn early_quiche() -> String {
    let row = |happened: Happened| {
        old_packet(&happened).or_else(|| match happened {
            Window(window, _) => Some((
                "recovery",
                "metrics_updated",
                json!({"congestion_window": window, "bytes_in_flight": 0}),
            )),
            _ => None,
        })
    };
    arrays(&["relative_time", "category", "event", "data"], row, false)
}

fn analysed(text: &str) -> (Summary, Vec<Found>) {
    let mut logs: Vec<QuicLog> = Vec::new();
    let summary = read(text.as_bytes(), &mut |index: usize, at: u64, event: &Event<'_>| {
        logs.resize_with(logs.len().max(index + 1), || QuicLog::new(false));
        logs[index].event(at, event);
    })
    .expect("a qlog");
    let is_cut = summary.early.is_some();
    let found = logs
        .into_iter()
        .zip(&summary.connections)
        .map(|(log, connection)| log.finish(1, connection, is_cut).found);
    let found = found.collect();
    (summary, found)
}

/// Cause, time, round and flight of the exit; initial window, overshoot and number of rounds.
type Start<'a> = (Option<&'a str>, Option<f64>, Option<u64>, Option<u64>, Option<u64>, Option<u64>, u64);

/// Returns the answers about the start: what the log shows the exit by differs from stack to stack.
fn start(found: &Found) -> Start<'_> {
    (
        found.exit_cause,
        found.exit_time_s,
        found.exit_round,
        found.exit_flight_bytes,
        found.initial_window_bytes,
        found.overshoot_segments,
        found.rounds_total,
    )
}

#[test]
fn logs_of_all_stacks_have_the_same_start() {
    let all = [
        ("0.3", sequence(false), "state"),
        ("draft", sequence(true), "state"),
        ("JSON", json_file(), "state"),
        ("without states", sequence(false).replace("congestion_state_updated", "unknown"), "ssthresh"),
        ("picoquic", picoquic(), "state"),
        ("mvfst", mvfst(), "state"),
        ("quant", quant(), "window"),
        ("early quiche", early_quiche(), "window"),
    ];
    for (name, text, shown_by) in all {
        let (summary, found) = analysed(&text);
        assert_eq!(found.len(), 1, "{name}");
        let found = &found[0];
        assert_eq!(
            start(found),
            (Some("loss"), Some(0.15), Some(4), Some(19_200), Some(4_800), Some(3), 5),
            "{name}: {found:?}"
        );
        assert_eq!(found.exit_window_bytes, Some(19_200), "{name}");
        assert_eq!(found.exit_shown_by, Some(shown_by), "{name}");
        assert_eq!((found.retransmitted_segments, found.spurious_segments), (Some(3), 0), "{name}");
        assert_eq!((found.data_segments_sent, found.mss_bytes), (Some(37), Some(1_200)), "{name}");
        assert_eq!((found.role, found.vantage), (Some("server"), Some("sender")), "{name}");
        assert_eq!(summary.early, None, "{name}");
        let assumed = if name == "early quiche" { 3 } else { 0 };
        assert_eq!(summary.connections[0].notes.assumed_lost, assumed, "{name}");
    }
}

#[test]
fn json_text_sequences_and_lines_have_equal_results() {
    let lines = sequence(false).replace('\u{1e}', "");
    let [sequence, json, lines] = [sequence(false), json_file(), lines].map(|text| analysed(&text));
    for (_, found) in [&json, &lines] {
        let title = |found: &Found| Found { from: String::new(), ..found.clone() };
        assert_eq!(title(&found[0]), title(&sequence.1[0]));
    }
}

#[test]
fn a_log_that_ends_early_is_used_up_to_there() {
    let whole = sequence(false);
    let cut = &whole[..whole.len() - 20];
    let (summary, found) = analysed(cut);
    assert_eq!(summary.early.as_deref(), Some("the file ends within a record"));
    assert_eq!((found[0].exit_cause, found[0].exit_time_s), (Some("loss"), Some(0.15)));
    let whole = json_file();
    let place = whole.rfind("packet_sent").expect("a packet");
    let (summary, found) = analysed(&whole[..place]);
    assert_eq!(summary.early.as_deref(), Some("the file ends within a JSON text"));
    assert_eq!((found[0].exit_cause, found[0].exit_time_s), (Some("loss"), Some(0.15)));
}

#[test]
fn a_record_that_is_no_json_is_left_out_and_counted() {
    let text = sequence(false).replacen("\u{1e}{\"time\":1.0", "\u{1e}{\"time\":!\n\u{1e}{\"time\":1.0", 1);
    let (summary, found) = analysed(&text);
    assert_eq!((summary.broken, summary.early), (1, None));
    assert_eq!(found[0].exit_cause, Some("loss"));
}

#[test]
fn the_controller_of_the_log_decides_whether_start_up_ended() {
    // The state stays slow start, although packets are lost.
    let events: Vec<_> = objects(false)
        .into_iter()
        .filter(|event| event["data"]["new"] != "recovery" && event["data"]["new"] != "congestion_avoidance")
        .filter(|event| event["name"] != "recovery:metrics_updated")
        .collect();
    let text = records(header(false), events);
    let (_, found) = analysed(&text);
    assert_eq!((found[0].exit_cause, found[0].exit_shown_by), (Some("none"), Some("state")));
    assert!(found[0].undefined["exit_time_s"].contains("did not leave slow start"));
}

#[test]
fn an_initial_threshold_does_not_end_start_up() {
    let text = sequence(false).replace("congestion_state_updated", "unknown");
    // Stacks may have a finite threshold from the beginning, and log it before or after the first data.
    let initial = text.replace(&u64::MAX.to_string(), "65536");
    let mut lines: Vec<&str> = initial.split_inclusive('\n').collect();
    let first = lines.iter().position(|line| line.contains("metrics_updated")).expect("metrics");
    let data = lines.iter().position(|line| line.contains("packet_sent")).expect("a packet");
    let late = lines[first].replace("\"time\":0.0", "\"time\":1.0");
    assert!(first < data && late != lines[first]);
    lines.insert(data + 1, &late);
    lines.remove(first);
    let late = lines.concat();
    for (name, text) in [("before", &initial), ("after", &late)] {
        let (_, found) = analysed(text);
        let found = &found[0];
        assert_eq!((found.exit_cause, found.exit_time_s), (Some("loss"), Some(0.15)), "{name}: {found:?}");
        assert_eq!(
            (found.exit_shown_by, found.exit_window_bytes),
            (Some("ssthresh"), Some(19_200)),
            "{name}"
        );
    }
}

#[test]
fn a_restart_after_an_idle_time_is_found() {
    let mut events = objects(false);
    for place in 0..10_u32 {
        let time = 3_000.0 + f64::from(place) * 0.01;
        let mut event = events[2].clone();
        event["time"] = json!(time);
        event["data"]["header"]["packet_number"] = json!(37 + place);
        events.push(event);
    }
    events.push(json!({"time": 3_050.0, "name": "transport:packet_received", "data": {"header": {"packet_type": "1RTT"},
        "frames": [{"frame_type": "ack", "acked_ranges": [[37, 46]]}]}}));
    let text = records(header(false), events);
    let (_, found) = analysed(&text);
    assert_eq!(found[0].idle_restarts_total, 1);
    let restart = &found[0].idle_restarts[0];
    assert_eq!((restart.window_segments, restart.manner), (Some(10), Some("burst")));
    assert!((restart.idle_s - 2.7986).abs() < 1e-6, "{restart:?}");
    assert_eq!(found[0].exit_cause, Some("loss"));
}

#[test]
fn what_is_no_qlog_is_refused_with_a_reason() {
    for (text, why) in [
        ("", "it is empty"),
        ("PK\u{3}", "it begins with the byte 0x50; qlog begins with { or a record separator (0x1e)"),
        ("{\"a\": 1}", "it has neither qlog_version nor file_schema, and no events"),
        ("{\"qlog_version\": ", "EOF while parsing"),
        ("\u{1e}nothing\n", "the first record: expected"),
    ] {
        let error =
            read(text.as_bytes(), &mut |_: usize, _: u64, _: &Event<'_>| {}).expect_err(text).to_string();
        assert!(error.contains(why), "{text:?}: {error}");
    }
}
