//! An independent reader confirms that the qlogs follow their drafts and agree with the rows.

use std::collections::BTreeSet;

use qlog::reader::{Event, QlogSeqReader};
use serde_json::Value;

use crate::common::{folder, names, run, status, stderr, stdout, text};

/// A race with losses and a paced train: a queue of a fifth of the necessary size.
const LOSSY: [&str; 12] = [
    "race",
    "--rate",
    "20mbit",
    "--rtt",
    "40ms",
    "--size",
    "2MB",
    "--queue",
    "20p",
    "--schemes",
    "slow-start,paced,hystart++:as=mine",
    "--json",
];

/// The fields that draft-ietf-quic-qlog-quic-events-12 defines for each event that is written here, and whether they are required.
const FIELDS: [(&str, &[(&str, bool)]); 8] = [
    ("quic:recovery_parameters_set", &[("initial_congestion_window", false)]),
    ("quic:packet_sent", &[("header", true), ("raw", false), ("frames", false)]),
    ("quic:packet_received", &[("header", true), ("frames", false)]),
    ("quic:packets_acked", &[("packet_number_space", false), ("packet_numbers", false)]),
    ("quic:packet_lost", &[("header", false)]),
    (
        "quic:recovery_metrics_updated",
        &[
            ("min_rtt", false),
            ("smoothed_rtt", false),
            ("latest_rtt", false),
            ("congestion_window", false),
            ("bytes_in_flight", false),
            ("ssthresh", false),
            ("pacing_rate", false),
        ],
    ),
    ("quic:congestion_state_updated", &[("old", false), ("new", true), ("trigger", false)]),
    ("quic:timer_updated", &[("timer_type", false), ("packet_number_space", false), ("event_type", true)]),
];

/// Returns the rows of the newest draft, each with its name, the file's header and its events.
fn logs(place: &str, more: &[&str]) -> Vec<(Value, Value, Vec<Value>)> {
    let place = folder(place);
    let output = run(&[&LOSSY[..], &["--qlog", text(&place), "--qlog-schema", "draft"], more].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let rows = stdout(&output);
    let rows: Vec<Value> = rows.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_eq!(names(&place), ["mine.sqlog", "paced.sqlog", "slow-start.sqlog"]);
    let read = |row: Value| {
        let name = row["label"].as_str().or(row["scheme"].as_str()).expect("a name").to_owned();
        let file = place.join(format!("{name}.sqlog"));
        let whole = std::fs::read_to_string(&file).expect("UTF-8");
        // RFC 7464: each text follows a record separator and ends with a line feed.
        let mut records = whole.strip_prefix('\u{1e}').expect("a record").split('\u{1e}').map(|record| {
            assert!(record.ends_with('\n'), "{record:?}");
            serde_json::from_str::<Value>(record).expect("JSON")
        });
        let header = records.next().expect("a header");
        let events: Vec<Value> = records.collect();
        let theirs: Vec<Event> =
            QlogSeqReader::with_file(&file).expect("their reader takes the header").collect();
        assert_eq!(theirs.len(), events.len(), "{name}: their reader loses none");
        for (ours, theirs) in events.iter().zip(&theirs) {
            let own = ours["name"].as_str().expect("a name").starts_with("firstflight:");
            assert_eq!(matches!(theirs, Event::Json(_)), own, "what is of QUIC reads as QUIC's: {ours}");
        }
        (row, header, events)
    };
    rows.into_iter().map(read).collect()
}

fn named<'a>(events: &'a [Value], name: &str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| event["name"] == name)
}

/// Returns the packet numbers in the ACK frames of a received packet.
fn acked_in(event: &Value) -> Vec<u64> {
    let frames = event["data"]["frames"].as_array().expect("frames");
    let ranges = frames.iter().flat_map(|frame| frame["acked_ranges"].as_array().expect("ranges"));
    let ends = ranges.map(|range| range.as_array().expect("a range"));
    ends.flat_map(|ends| {
        ends[0].as_u64().expect("a number")..=ends[ends.len() - 1].as_u64().expect("a number")
    })
    .collect()
}

/// The names of version 0.3, by draft-ietf-quic-qlog-quic-events-02, and those of the newest draft.
const NAMES: [(&str, &str); 8] = [
    ("recovery:parameters_set", "quic:recovery_parameters_set"),
    ("recovery:metrics_updated", "quic:recovery_metrics_updated"),
    ("recovery:congestion_state_updated", "quic:congestion_state_updated"),
    ("recovery:loss_timer_updated", "quic:timer_updated"),
    ("recovery:packet_lost", "quic:packet_lost"),
    ("transport:packet_sent", "quic:packet_sent"),
    ("transport:packet_received", "quic:packet_received"),
    ("transport:packets_acked", "quic:packets_acked"),
];

#[test]
fn version_3_is_the_default_and_has_the_same_events() {
    let place = folder("qlog-names");
    let output = run(&[&LOSSY[..], &["--qlog", text(&place)]].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    for (_, header, newest) in logs("qlog-newest", &[]) {
        let name = header["title"].as_str().expect("a name");
        let whole = std::fs::read_to_string(place.join(format!("{name}.sqlog"))).expect("UTF-8");
        let mut records =
            whole.split('\u{1e}').skip(1).map(|record| serde_json::from_str::<Value>(record).expect("JSON"));
        let header = records.next().expect("a header");
        assert_eq!(header["qlog_version"], "0.3");
        assert_eq!(header["qlog_format"], "JSON-SEQ");
        let common = &header["trace"]["common_fields"];
        assert_eq!(
            (&common["time_format"], common["reference_time"].as_f64()),
            (&"relative".into(), Some(0.0))
        );
        let events: Vec<Value> = records.collect();
        assert_eq!(events.len(), newest.len(), "{name}");
        for (event, newest) in events.iter().zip(&newest) {
            let name = event["name"].as_str().expect("a name");
            let known = NAMES.iter().find(|(old, _)| *old == name).map(|(_, new)| *new);
            assert!(known.is_some() || name.starts_with("firstflight:"), "{event}");
            assert_eq!(newest["name"], known.unwrap_or(name));
            assert_eq!(event["time"], newest["time"]);
            if known == Some("quic:packet_sent") {
                let [old, new] = [event, newest].map(|event| &event["data"]["frames"][0]);
                assert_eq!(old["length"], new["raw"]["payload_length"], "{event}");
                assert_eq!(event["data"]["raw"]["length"], old["length"], "{event}");
            } else {
                assert_eq!(event["data"], newest["data"]);
            }
        }
    }
}

#[test]
fn a_schema_of_qlogs_has_a_known_name_and_needs_a_qlog() {
    let place = folder("qlog-schema");
    for (more, said) in [
        (
            &["--qlog", text(&place), "--qlog-schema", "0.2"][..],
            "it is 0.3, which qvis reads, or draft, the newest",
        ),
        (&["--qlog-schema", "draft"], "--qlog <DIR>"),
    ] {
        let output = run(&[&LOSSY[..], more].concat());
        assert_eq!(status(&output), 2);
        assert!(stderr(&output).contains(said), "{}", stderr(&output));
    }
    assert_eq!(names(&place), Vec::<String>::new());
}

#[test]
fn a_qlog_is_what_its_drafts_say() {
    for (_, header, events) in logs("qlog-form", &[]) {
        assert_eq!(header["file_schema"], "urn:ietf:params:qlog:file:sequential");
        assert_eq!(header["serialization_format"], "application/qlog+json-seq");
        let trace = &header["trace"];
        assert_eq!(trace["common_fields"]["reference_time"]["clock_type"], "monotonic");
        assert_eq!(trace["common_fields"]["reference_time"]["epoch"], "unknown");
        assert_eq!(trace["common_fields"]["time_format"], "relative_to_epoch");
        assert_eq!(trace["vantage_point"]["type"], "client");
        assert!(trace["event_schemas"].as_array().is_some_and(|all| all.len() == 2), "{trace}");
        let times: Vec<f64> = events.iter().map(|event| event["time"].as_f64().expect("a time")).collect();
        assert!(times.is_sorted(), "events come in order of time");
        for event in &events {
            let name = event["name"].as_str().expect("a name");
            if name.starts_with("firstflight:") {
                continue;
            }
            let (_, fields) =
                FIELDS.iter().find(|(known, _)| *known == name).unwrap_or_else(|| panic!("{event}"));
            let data = event["data"].as_object().expect("fields");
            assert!(data.keys().all(|key| fields.iter().any(|(field, _)| field == key)), "{event}");
            assert!(fields.iter().all(|(field, must)| !must || data.contains_key(*field)), "{event}");
            assert!(!data.is_empty() && data.values().all(|value| !value.is_null()), "{event}");
        }
    }
}

#[test]
fn a_qlog_counts_what_the_row_counts() {
    for (row, _, events) in logs("qlog-counts", &[]) {
        let numbers: Vec<u64> = named(&events, "quic:packet_sent")
            .map(|event| event["data"]["header"]["packet_number"].as_u64().expect("a number"))
            .collect();
        assert_eq!(row["packets_sent"], numbers.len(), "{row}");
        let sent: BTreeSet<u64> = numbers.iter().copied().collect();
        assert_eq!(sent.len(), numbers.len(), "every transmission has its own number");
        let acked = named(&events, "quic:packets_acked")
            .flat_map(|event| event["data"]["packet_numbers"].as_array().expect("numbers"))
            .map(|number| number.as_u64().expect("a number"));
        let lost = named(&events, "quic:packet_lost")
            .map(|event| event["data"]["header"]["packet_number"].as_u64().expect("a number"));
        assert!(acked.chain(lost).all(|number| sent.contains(&number)), "only what was sent comes back");
        assert_eq!(row["timeouts"], named(&events, "quic:timer_updated").count());
        // The ACK frames acknowledge the same packets as the acknowledgements.
        let in_frames: Vec<u64> = named(&events, "quic:packet_received").flat_map(acked_in).collect();
        let acked: Vec<u64> = named(&events, "quic:packets_acked")
            .flat_map(|event| event["data"]["packet_numbers"].as_array().expect("numbers"))
            .filter_map(Value::as_u64)
            .collect();
        assert_eq!(in_frames, acked);
    }
}

#[test]
fn an_exit_is_marked_with_its_cause_and_what_was_learned() {
    for (row, _, events) in logs("qlog-exits", &[]) {
        let exit =
            named(&events, "firstflight:startup_exit").next().expect("every scheme leaves start-up here");
        let data = &exit["data"];
        assert_eq!(row["exit_cause"], data["cause"]);
        assert_eq!(row["exit_rate_bps"].as_f64(), data["learned_rate"].as_f64());
        let packets = row["exit_cwnd_packets"].as_f64().expect("a window");
        let bytes = data["congestion_window"].as_f64().expect("bytes");
        assert!((packets * 1_460.0 - bytes).abs() < 0.01 * 1_460.0, "{packets} packets, {bytes} bytes");
        let first_sent = named(&events, "quic:packet_sent").next().expect("a packet")["time"].as_f64();
        let after = exit["time"].as_f64().zip(first_sent).map(|(exit, sent)| (exit - sent) / 1e3);
        assert!((after.unwrap() - row["exit_time_s"].as_f64().unwrap()).abs() < 1e-6, "{row} {after:?}");
        // At least one state change follows, and the states form a chain.
        let states: Vec<&Value> = named(&events, "quic:congestion_state_updated").collect();
        assert_eq!(states[0]["data"]["new"], "startup");
        assert!(states.len() > 1);
        assert!(states.windows(2).all(|two| two[0]["data"]["new"] == two[1]["data"]["old"]));
    }
}

#[test]
fn metrics_are_the_senders_and_only_changes_are_written() {
    for (row, _, events) in logs("qlog-metrics", &[]) {
        let mut state = serde_json::Map::new();
        for event in named(&events, "quic:recovery_metrics_updated") {
            for (metric, value) in event["data"].as_object().expect("metrics") {
                let before = state.insert(metric.clone(), value.clone());
                assert_ne!(before.as_ref(), Some(value), "{metric} was written without a change");
            }
        }
        let of = |metric: &str| state[metric].as_f64().expect("a number");
        // 40 ms of propagation, and a queue of 20 packets of 1,500 bytes at 20 Mbit/s: 12 ms.
        assert!(of("min_rtt") >= 40.0 && of("min_rtt") < 45.0, "{state:?}");
        assert!(of("smoothed_rtt") >= of("min_rtt") && of("smoothed_rtt") < 60.0, "{state:?}");
        assert!(row["scheme"] != "slow-start" || state.contains_key("ssthresh"), "{state:?}");
        assert!(of("congestion_window") >= 2.0 * 1_460.0, "{state:?}");
    }
}

#[test]
fn qlog_marks_the_fin_without_counting_it_in_flight() {
    let place = folder("qlog-end");
    let race =
        ["race", "--rate", "20mbit", "--rtt", "40ms", "--size", "10kB", "--schemes", "slow-start", "--json"];
    let output = run(&[&race[..], &["--qlog", text(&place), "--qlog-schema", "draft"]].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let whole = std::fs::read_to_string(place.join("slow-start.sqlog")).expect("UTF-8");
    let events: Vec<Value> =
        whole.split('\u{1e}').skip(2).map(|record| serde_json::from_str(record).expect("JSON")).collect();
    // All data fits the initial window: 10,000 bytes are in flight. The FIN is not counted, because QUIC counts nothing like it.
    let flight = named(&events, "quic:recovery_metrics_updated")
        .filter_map(|event| event["data"]["bytes_in_flight"].as_u64());
    assert_eq!(flight.max(), Some(10_000));
    let frames: Vec<&Value> =
        named(&events, "quic:packet_sent").map(|event| &event["data"]["frames"][0]).collect();
    let (last, before) = frames.split_last().expect("packets");
    assert_eq!(last["fin"], true, "{last}");
    assert!(before.iter().all(|frame| frame.get("fin").is_none()), "the default is no end");
}
