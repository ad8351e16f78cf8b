use firstflight_capture::{Direction, PacketWriter, Passed};

use super::*;

fn at(micros: u64) -> Time {
    Time::from_nanos(micros * 1_000)
}

fn bytes(of: u8) -> Box<[u8]> {
    vec![of; 40].into()
}

/// Returns a log's bytes as text, to search for comments.
fn text(log: &[u8]) -> String {
    String::from_utf8_lossy(log).into_owned()
}

#[test]
fn records_stand_in_order_of_time_whatever_became_of_packets() {
    let mut log = Writer::new(Vec::new(), 1_000_000_000).expect("a log");
    log.entered(0, Side::A, at(10), bytes(0)).expect("written");
    log.entered(1, Side::A, at(20), bytes(1)).expect("written");
    log.entered(2, Side::B, at(30), bytes(2)).expect("written");
    log.left(2, Side::A, at(40), bytes(2), false).expect("written");
    log.dropped(1, at(50), Some(DropCause::Queue)).expect("written");
    log.left(0, Side::B, at(60), bytes(9), true).expect("written");
    let found = log.finish(Lacks::default()).expect("written");

    let mut wanted = PacketWriter::new(Vec::new(), writer::TAPS).expect("a capture");
    let rows: [(u32, u64, Direction, u8, &str); 5] = [
        (0, 10, Direction::Outbound, 0, ""),
        (0, 20, Direction::Outbound, 1, "dropped by the queue after 0.030000 ms"),
        (1, 30, Direction::Outbound, 2, ""),
        (0, 40, Direction::Inbound, 2, ""),
        (1, 60, Direction::Inbound, 9, "marked by the queue"),
    ];
    for (tap, micros, direction, of, comment) in rows {
        let at = 1_000_000_000 + micros * 1_000;
        let passed = Passed { tap, at, direction, bytes: &bytes(of), comment };
        wanted.packet(&passed).expect("written");
    }
    assert_eq!(found, wanted.finish().expect("written"));
}

#[test]
fn a_packet_without_an_outcome_is_logged_as_still_on_the_path() {
    let mut log = Writer::new(Vec::new(), 0).expect("a log");
    log.entered(5, Side::A, at(10), bytes(0)).expect("written");
    log.entered(6, Side::A, at(11), bytes(0)).expect("written");
    log.dropped(6, at(11), Some(DropCause::Random)).expect("written");
    let log = text(&log.finish(Lacks::default()).expect("written"));
    let (path, lost) = (log.find("on the path when the run ended"), log.find("lost at random after"));
    assert!(path.is_some() && path < lost, "{log}");
}

#[test]
fn a_packet_whose_fate_is_missing_holds_up_nothing_behind_it() {
    let mut log = Writer::new(Vec::new(), 0).expect("a log");
    log.entered(0, Side::A, at(10), bytes(0)).expect("written");
    log.gap().expect("written");
    log.left(0, Side::B, at(20), bytes(0), false).expect("written");
    log.entered(1, Side::A, at(30), bytes(0)).expect("written");
    let log = text(&log.finish(Lacks::default()).expect("written"));
    let (unknown, path) = (log.find("unknown, since the disk"), log.find("on the path when the run ended"));
    assert!(unknown.is_some() && unknown < path, "{log}");
}

#[test]
fn a_log_that_lacks_something_says_so_as_captures_do() {
    let whole = {
        let mut log = Writer::new(Vec::new(), 0).expect("a log");
        log.entered(0, Side::A, at(10), bytes(0)).expect("written");
        log.finish(Lacks::default()).expect("written")
    };
    for (lacks, says) in [
        (Lacks { missed: 7, is_interrupted: false }, "the disk was too slow"),
        (Lacks { missed: 0, is_interrupted: true }, "the run was interrupted"),
    ] {
        let mut log = Writer::new(Vec::new(), 0).expect("a log");
        log.entered(0, Side::A, at(10), bytes(0)).expect("written");
        let found = log.finish(lacks).expect("written");
        assert_eq!(found[..whole.len()], whole);
        assert_eq!(text(&found[whole.len()..]).matches(says).count(), 2);
    }
}
