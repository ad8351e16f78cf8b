//! Values that no stack should write give notes or one clear line.

use std::io::{self, Read};

use firstflight_qlog::{Event, Summary, read};
use serde_json::{Value, json};

/// Returns a packet with data.
fn sent(time: u64, number: u64) -> Value {
    json!({"time": time, "name": "transport:packet_sent", "data": {"header": {"packet_type": "1RTT", "packet_number": number},
        "raw": {"length": 1200}, "frames": [{"frame_type": "stream"}]}})
}

/// Returns an ACK of these ranges.
fn ack(time: u64, ranges: &Value) -> Value {
    json!({"time": time, "name": "transport:packet_received", "data": {"header": {"packet_type": "1RTT", "packet_number": 1},
        "frames": [{"frame_type": "ack", "acked_ranges": ranges}]}})
}

fn log(events: &[Value]) -> Vec<u8> {
    json!({"qlog_version": "0.3", "traces": [{"events": events}]}).to_string().into_bytes()
}

/// Returns what is read, and the numbers of the packets that were acknowledged and lost.
fn outcome(bytes: &[u8]) -> (Summary, Vec<u64>, Vec<u64>) {
    let (mut acked, mut lost) = (Vec::new(), Vec::new());
    let summary = read(bytes, &mut |_, _, event: &Event<'_>| match event {
        Event::Acked { packets, .. } => acked.extend(packets.iter().map(|packet| packet.number)),
        Event::Lost(packets) => lost.extend(packets.iter().map(|packet| packet.number)),
        _ => {}
    });
    (summary.expect("a qlog"), acked, lost)
}

#[test]
fn a_huge_count_of_losses_counts_the_packets_in_flight() {
    let lost = json!({"time": 3, "name": "packets_lost", "data": {"largest_lost_packet_num": 9, "lost_packets": u64::MAX}});
    let one = json!({"time": 3, "name": "recovery:packet_lost", "data": {"header": {"packet_number": 2}}});
    let unknown =
        json!({"time": 3, "name": "recovery:packet_lost", "data": {"header": {"packet_number": 77}}});
    let events = [sent(0, 0), sent(1, 1), lost.clone(), lost, sent(3, 2), one, unknown];
    let (summary, _, lost) = outcome(&log(&events));
    assert_eq!(lost, [0, 1, 2]);
    assert_eq!(summary.connections[0].notes.lost, 3);
}

#[test]
fn reversed_ranges_of_an_ack_are_counted_and_left_out() {
    let (summary, acked, lost) =
        outcome(&log(&[sent(0, 0), sent(0, 1), ack(9, &json!([[1, 0], ["x"], [1, 1]]))]));
    assert_eq!((acked, lost), (vec![1], vec![]));
    let notes = summary.connections[0].notes;
    assert_eq!((notes.bad_ranges, notes.unsent_ranges), (2, 0));
    let line = "2 ranges of acknowledged packets are not in ascending order and are left out";
    assert!(notes.lines().iter().any(|found| found == line), "{:?}", notes.lines());
}

#[test]
fn an_ack_of_numbers_that_were_not_sent_loses_nothing() {
    let mut events: Vec<Value> = (0..4).map(|number| sent(0, number)).collect();
    events.push(ack(9, &json!([[4_000_000, 4_000_001], [3, 90]])));
    events.extend((4..9).map(|number| sent(10, number)));
    let (summary, acked, lost) = outcome(&log(&events));
    // Packet 0 is overtaken by packet 3. Packets 4 to 8 are not overtaken by packet 4,000,001.
    assert_eq!((acked, lost), (vec![3], vec![0]));
    let notes = summary.connections[0].notes;
    assert_eq!((notes.bad_ranges, notes.unsent_ranges), (0, 2));
}

#[test]
fn an_ack_of_a_packet_without_data_is_no_bad_range() {
    let mut bare = sent(1, 1);
    bare["data"]["frames"] = json!([{"frame_type": "ack"}]);
    let (summary, acked, _) = outcome(&log(&[sent(0, 0), bare, ack(9, &json!([[0, 1]]))]));
    assert_eq!(acked, [0]);
    assert_eq!(summary.connections[0].notes.unsent_ranges, 0);
}

/// An input of `left` equal bytes, which fails the test if it is read to its end.
struct Endless {
    left: usize,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = buffer.len().min(self.left);
        assert!(count > 0, "the whole input is read");
        buffer[..count].fill(b'x');
        self.left -= count;
        Ok(count)
    }
}

#[test]
fn a_giant_value_is_refused_in_every_form() {
    let beginnings = [
        "\u{1e}{\"qlog_version\": \"0.3\", \"title\": \"",
        "{\"qlog_version\": \"0.3\", \"title\": \"",
        "{\"qlog_version\": \"0.3\", \"traces\": [{\"events\": [{\"time\": 1, \"name\": \"a:b\"}, {\"name\": \"",
        "{\"qlog_version\": \"0.3\", \"traces\": [{\"events\": [], \"title\": \"",
        "{\"qlog_version\": \"0.3\"}\n{\"time\": 1, \"name\": \"",
    ];
    for beginning in beginnings {
        let input = beginning.as_bytes().chain(Endless { left: 1 << 25 });
        let error = read(input, &mut |_, _, _| {}).expect_err(beginning).to_string();
        assert!(error.ends_with(" is longer than 16 MiB"), "{beginning}: {error}");
    }
}

#[test]
fn a_long_log_of_small_events_is_read() {
    let filler = "x".repeat(1 << 16);
    let event = json!({"time": 1, "name": "a:b", "data": {"text": filler}});
    let (summary, ..) = outcome(&log(&vec![event; 300]));
    assert_eq!((summary.events, summary.early), (300, None));
}
