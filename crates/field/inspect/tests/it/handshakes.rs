//! Missing packets of a handshake are reported, and everything that can be known is given.

use crate::made::{ACK, DAY, Form, From, PLAIN, SYN, Segment, packet, pcap};
use crate::start::{MSS, RTT, Start, syn_options};
use firstflight_inspect::{Found, inspect};

const RST: u8 = 4;
const BULK: [u32; 9] = [10, 20, 40, 60, 60, 60, 60, 60, 60];

/// Returns the results for these packets. `window` is the field of all segments but the SYNs, whose window has no scale.
fn read(packets: &[(u64, Segment)], form: Form, window: u16) -> Found {
    let mut packets = packets.to_vec();
    packets.sort_by_key(|(at, _)| *at);
    let frames = packets.iter().map(|(at, segment)| {
        let mut bytes = packet(segment, false);
        if segment.flags & SYN == 0 {
            bytes[34..36].copy_from_slice(&window.to_be_bytes());
        }
        (*at, bytes)
    });
    let frames: Vec<_> = frames.collect();
    inspect(&pcap(form, &frames)[..], false).expect("a capture").senders.remove(0).found
}

fn found(packets: &[(u64, Segment)]) -> Found {
    read(packets, PLAIN, 65_000)
}

fn started(bulk: &[u32]) -> Start {
    let mut start = Start::default();
    start.open(0, 0);
    let over = start.bulk(41_000, bulk);
    start.close(over + 1000);
    start
}

fn why<'a>(found: &'a Found, field: &str) -> &'a str {
    &found.undefined[field]
}

/// Returns the results for data in the SYN, of which the answer accepts `taken` bytes; the rest is retransmitted after it.
fn fast_open(taken: u32) -> Found {
    let mut start = started(&BULK);
    start.packets[0].1.len = 500;
    for (_, segment) in &mut start.packets[1..] {
        let moved = if segment.from == From::Client { &mut segment.seq } else { &mut segment.ack };
        *moved += taken;
    }
    found(&start.packets)
}

#[test]
fn data_in_the_syn_stands_apart_from_the_initial_window() {
    for taken in [500, 0] {
        let found = fast_open(taken);
        assert_eq!(found.syn_data_bytes, u64::from(taken));
        assert!(found.handshake_rtt_s.is_some_and(|rtt| (rtt - 0.04).abs() < 1e-4), "{:?}", found.undefined);
        assert_eq!((found.vantage, found.exit_cause), (Some("sender"), Some("flat")));
        assert_eq!(
            (found.initial_window_segments, found.retransmitted_segments.unwrap()),
            (Some(10), 0),
            "{taken}"
        );
        assert_eq!((found.initial_window_limit, found.unseen_bytes), (Some("window"), 0));
        let payload = u64::from(BULK.iter().sum::<u32>() * MSS);
        assert_eq!(
            (found.bytes_sent.unwrap(), found.bytes_acked),
            (payload + 500, payload + u64::from(taken))
        );
    }
}

#[test]
fn a_tap_whose_return_side_is_late_is_told_by_its_order() {
    let mut start = started(&BULK);
    for (at, segment) in &mut start.packets {
        *at += if segment.from == From::Server { 7_000_000 } else { 0 };
    }
    let found = found(&start.packets);
    for field in ["vantage", "handshake_rtt_s", "min_rtt_s", "initial_window_segments", "exit_cause"] {
        assert!(why(&found, field).contains("6.990 ms before the answer"), "{field}: {}", why(&found, field));
    }
    assert_eq!((found.mss_bytes, found.retransmitted_segments.unwrap()), (Some(1448), 0));
}

#[test]
fn missing_handshake_packets_are_named_in_the_reason() {
    let without = |places: &[usize]| {
        let mut start = started(&BULK);
        for place in places.iter().rev() {
            start.packets.remove(*place);
        }
        found(&start.packets)
    };
    for (places, said) in [
        (&[0][..], "the SYN is not in the capture"),
        (&[1], "the answer to the SYN is not in the capture"),
        (&[0, 1], "was open before"),
    ] {
        let found = without(places);
        for field in ["handshake_rtt_s", "initial_window_segments", "sack"] {
            assert!(why(&found, field).contains(said), "{places:?} {field}: {}", why(&found, field));
        }
    }
}

#[test]
fn an_unanswered_and_a_refused_syn_give_distinct_reasons() {
    let syn = |at| {
        let options = syn_options(at);
        (DAY + at * 1000, Segment { from: From::Client, flags: SYN, seq: 1000, ack: 0, options, len: 0 })
    };
    let reset = Segment { from: From::Server, flags: RST | ACK, seq: 0, ack: 1001, options: vec![], len: 0 };
    for (packets, said) in [
        (vec![syn(0), syn(1_000_000), syn(3_000_000)], "no answer to the SYN"),
        (vec![syn(0), (DAY + RTT * 1000, reset)], "by a reset"),
    ] {
        let found = found(&packets);
        for field in ["handshake_rtt_s", "mss_bytes", "initial_window_segments", "ecn"] {
            assert!(why(&found, field).contains(said), "{field}: {}", why(&found, field));
        }
    }
}

/// Returns the results for SYN options without window scale and timestamps, as a snap length of 68 leaves them.
fn snapped(bulk: &[u32], window: u16) -> Found {
    let mut start = started(bulk);
    for (_, segment) in &mut start.packets[..2] {
        // Linux's order.
        let (mss, timestamps) = (&segment.options[..4], &segment.options[14..]);
        segment.options = [mss, &[4, 2], timestamps, &[1, 3, 3, 7]].concat();
    }
    let form = Form { snap: 54, ..PLAIN };
    read(&start.packets, form, window)
}

#[test]
fn rounds_that_fill_the_receivers_window_say_so() {
    // 227 times 2^7 bytes are slightly more than twenty segments.
    let found = read(&started(&[10, 20, 20, 20, 20, 20, 20]).packets, PLAIN, 227);
    assert_eq!(found.exit_cause, Some("receiver-window"), "{:?}", found.undefined);
    let limits: Vec<_> = found.rounds.iter().map(|round| round.limit).collect();
    assert_eq!(limits[0], None, "the initial window was its limit");
    assert_eq!(limits[2..6], [Some("receiver-window"); 4]);
}

#[test]
fn with_its_scale_cut_off_nothing_is_said_of_the_receivers_window() {
    let beyond = snapped(&BULK, 40_000);
    assert_eq!((beyond.receiver_window_scale, beyond.mss_bytes), (None, Some(1448)));
    assert_eq!((beyond.exit_cause, beyond.initial_window_limit), (Some("flat"), Some("window")));
    assert!(beyond.rounds.iter().all(|round| round.limit != Some("receiver-window")));
    assert!(why(&beyond, "receiver_window_scale").contains("proves a scale"));
    // Twenty segments in flight, and a window that may be those twenty.
    let within = snapped(&[10, 20, 20, 20, 20, 20, 20], 28_960);
    assert_eq!(within.exit_cause, None);
    assert!(within.rounds.iter().all(|round| round.limit != Some("receiver-window")), "{:?}", within.rounds);
    assert!(why(&within, "exit_cause").contains("scale"), "{}", why(&within, "exit_cause"));
    assert!(within.exit_time_s.is_some());
}
