//! The times of events and their connections, from the fields of a trace.

use firstflight_qlog::{Event, QlogError, Summary, read};
use serde_json::json;

/// Returns what is read, and the connection and the time in milliseconds of each packet sent.
fn packets(text: &str) -> Result<(Summary, Vec<(usize, u64)>), QlogError> {
    let mut packets = Vec::new();
    let summary = read(text.as_bytes(), &mut |index, at, event: &Event<'_>| {
        if matches!(event, Event::Sent(_)) {
            packets.push((index, at / 1_000_000));
        }
    })?;
    Ok((summary, packets))
}

/// Returns the events of packets with data, each with its time in units and its group.
fn sent(packets: &[(u64, &str)]) -> String {
    let packet = |&(time, group): &(u64, &str)| {
        let data = json!({"header": {"packet_type": "1RTT", "packet_number": 1}, "raw": {"length": 1200}});
        let event = json!({"time": time, "name": "transport:packet_sent", "data": data});
        let mut event = event.as_object().expect("an object").clone();
        if !group.is_empty() {
            event.insert("group_id".to_owned(), json!(group));
        }
        json!(event)
    };
    json!(packets.iter().map(packet).collect::<Vec<_>>()).to_string()
}

#[test]
fn time_differences_count_from_the_event_before_in_the_trace() {
    let events = sent(&[(5, "a"), (10, "b"), (10, "a"), (10, "b")]);
    for format in ["delta", "relative_to_previous_event"] {
        let trace = format!(r#"{{"common_fields": {{"time_format": "{format}"}}, "events": {events}}}"#);
        let log = format!(r#"{{"qlog_version": "0.3", "traces": [{trace}, {trace}]}}"#);
        let (_, found) = packets(&log).expect("a qlog");
        let expected = [(0, 0), (1, 0), (0, 20), (1, 20), (2, 0), (3, 0), (2, 20), (3, 20)];
        assert_eq!(found, expected, "{format}");
    }
}

#[test]
fn the_reference_time_is_that_of_differences_too() {
    for (format, began) in [("delta", 1_500.005), ("relative", 1_500.005), ("absolute", 0.005)] {
        let log = format!(
            r#"{{"qlog_version": "0.3", "traces": [{{"common_fields": {{"time_format": "{format}", "reference_time": 1500000}},
                "events": {}}}]}}"#,
            sent(&[(5, ""), (10, "")])
        );
        let (summary, _) = packets(&log).expect("a qlog");
        assert!((summary.connections[0].began_s - began).abs() < 1e-9, "{format}");
    }
}

#[test]
fn a_field_of_time_or_group_after_events_is_refused() {
    let plain = sent(&[(5, ""), (10, "")]);
    let grouped = sent(&[(5, "a"), (10, "")]);
    let late = [
        ("common_fields", r#"{"time_format": "delta"}"#, &plain),
        ("configuration", r#"{"time_units": "us"}"#, &plain),
        ("event_fields", r#"["delta_time", "category", "event", "data"]"#, &plain),
        ("common_fields", r#"{"group_id": "a"}"#, &grouped),
    ];
    for (name, value, events) in late {
        let log =
            format!(r#"{{"qlog_version": "0.3", "traces": [{{"events": {events}, "{name}": {value}}}]}}"#);
        let error = packets(&log).expect_err(&log).to_string();
        let says = format!(
            "the field \"{name}\" follows events of its trace and changes their times or connections; it must precede \"events\""
        );
        assert_eq!(error, says);
    }
}

#[test]
fn a_field_after_events_that_changes_nothing_is_read() {
    let events = sent(&[(5, ""), (10, "")]);
    let log = format!(
        r#"{{"qlog_version": "0.3", "traces": [{{"events": {events}, "configuration": {{"time_units": "ms"}},
            "common_fields": {{"ODCID": "a", "reference_time": "1000"}}, "title": "late"}}]}}"#
    );
    let (summary, found) = packets(&log).expect("a qlog");
    assert_eq!(found, [(0, 0), (0, 5)]);
    assert_eq!(summary.connections[0].title, "late");
}

#[test]
fn a_difference_of_an_event_without_a_name_counts() {
    let events = sent(&[(5, ""), (10, ""), (10, "")]).replacen("transport:packet_sent", "", 2);
    let events = events.replacen("\"name\":\"\",", "", 1).replacen("\"\"", "\"transport:packet_sent\"", 1);
    let log = format!(
        r#"{{"qlog_version": "0.3", "traces": [{{"common_fields": {{"time_format": "delta"}}, "events": [{{"time": 1,
            "name": "a:b"}}, {}}}]}}"#,
        events.trim_start_matches('[')
    );
    let (summary, found) = packets(&log).expect("a qlog");
    assert_eq!(found, [(0, 15), (0, 25)]);
    assert_eq!(summary.connections[0].notes.unreadable, 1);
}

#[test]
fn a_first_event_before_the_reference_begins_at_a_negative_time() {
    let log = r#"{"qlog_version": "0.3", "traces": [{"common_fields": {"time_format": "relative"}, "events": [
        {"time": -101, "name": "transport:packet_sent", "data": {"header": {"packet_type": "1RTT", "packet_number": 0},
            "raw": {"length": 1200}, "frames": [{"frame_type": "stream"}]}},
        {"time": 5, "name": "transport:packet_sent", "data": {"header": {"packet_type": "1RTT", "packet_number": 1},
            "raw": {"length": 1200}, "frames": [{"frame_type": "stream"}]}}]}]}"#;
    let (summary, found) = packets(log).expect("a qlog");
    assert!((summary.connections[0].began_s + 0.101).abs() < 1e-9);
    assert_eq!(found, [(0, 0), (0, 106)]);
}
