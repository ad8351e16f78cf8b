//! A connection reported by a host's own kernel has the results of a capture at that host.

use firstflight_inspect::{Departure, Found, Hearing, Opening, Socket, inspect};

use crate::made::{ACK, DAY, From, PLAIN, Segment, packet, pcap};
use crate::start::{MSS, RTT, Start};

const FIN: u8 = 1;

/// Returns the results of a capture of these packets for the client.
fn captured(start: &Start) -> Found {
    let frames: Vec<_> = start.packets.iter().map(|(at, segment)| (*at, packet(segment, false))).collect();
    inspect(pcap(PLAIN, &frames).as_slice(), false).unwrap().senders.remove(0).found
}

/// Returns the results of the client's socket, with the numbers of the packets.
fn found_of(start: &Start, is_over: bool) -> Found {
    let opening = Opening {
        at: DAY + RTT * 1000,
        local: "10.0.0.1:1000".parse().unwrap(),
        remote: "10.0.0.2:80".parse().unwrap(),
        is_opener: true,
        round_trip: Some(RTT * 1000),
        first: [1001, 501],
        mss: 1448,
        sack: true,
        timestamps: true,
        scales: Some([7, 7]),
        window: 1 << 20,
        ecn: start.echo > 0,
    };
    let mut socket = Socket::new(&opening);
    // The handshake is over.
    for (at, segment) in &start.packets[3..] {
        let Segment { from, flags, seq, ack, options, len } = segment;
        let end = seq + u32::try_from(*len).unwrap() + u32::from(flags & FIN);
        match from {
            From::Client if end > *seq => socket.sent(&Departure { at: *at, seq: *seq, end, flags: *flags }),
            From::Client => {}
            From::Server => {
                socket.heard(&Hearing { at: *at, ack: *ack, window: 65_535, flags: *flags, options });
            }
        }
    }
    socket.finish(1, is_over)
}

/// Returns the results of a capture without its addresses, the number of segments without data, and the time that the host took to
/// acknowledge the SYN-ACK.
fn comparable(mut found: Found) -> Found {
    (found.from, found.to) = (String::new(), String::new());
    (found.segments_sent, found.rtt_to_sender_s) = (None, None);
    found.undefined.remove("segments_sent");
    found
}

fn agree(start: &Start, cause: Option<&str>) {
    let (captured, found_of) = (comparable(captured(start)), comparable(found_of(start, false)));
    assert_eq!(captured.exit_cause, cause, "{captured:?}");
    assert_eq!(found_of, captured);
}

fn opened() -> Start {
    let mut start = Start::default();
    start.open(0, 0);
    start
}

#[test]
fn a_start_up_that_stops_growing_is_judged_as_in_a_capture() {
    let mut start = opened();
    start.bulk(RTT + 100, &[10, 20, 40, 40, 40, 40, 40, 20]);
    agree(&start, Some("flat"));
}

#[test]
fn idle_times_and_messages_are_judged_as_in_a_capture() {
    let mut start = opened();
    let end = start.bulk(RTT + 100, &[10, 20, 30]);
    start.message(end + 2_000_000, 20_000);
    start.message(end + 5_000_000, 500);
    let (captured, found_of) = (comparable(captured(&start)), comparable(found_of(&start, false)));
    assert_eq!(captured.idle_restarts_total, 2);
    assert_eq!(found_of, captured);
}

/// Returns an option with one SACK block.
fn sack(from: u32, to: u32) -> Vec<u8> {
    [&[1, 1, 5, 10][..], &from.to_be_bytes(), &to.to_be_bytes()].concat()
}

#[test]
fn a_loss_and_its_repair_are_judged_as_in_a_capture() {
    let mut start = opened();
    start.bulk(RTT + 100, &[10, 20, 40]);
    let from = start.packets.last().unwrap().1.ack;
    let mut at = DAY + (RTT + 100 + 4 * RTT) * 1000;
    let data = |place: u32| Segment {
        from: From::Client,
        flags: ACK,
        seq: from + place * MSS,
        ack: 501,
        options: vec![],
        len: MSS as usize,
    };
    let heard = |ack: u32, options: Vec<u8>| Segment {
        from: From::Server,
        flags: ACK,
        seq: 501,
        ack: from + ack * MSS,
        options,
        len: 0,
    };
    let mut say = |after: u64, segment: Segment| {
        at += after;
        start.packets.push((at, segment));
    };
    (0..80).for_each(|place| say(2_000, data(place)));
    // The first ten of the second half are lost.
    (0..40).for_each(|place| say(if place == 0 { RTT * 1000 } else { 100_000 }, heard(place + 1, vec![])));
    let holes = 40..50;
    for place in 50..80 {
        say(100_000, heard(40, sack(from + 50 * MSS, from + (place + 1) * MSS)));
        // The third duplicate ACK triggers their retransmission.
        if place == 52 {
            holes.clone().for_each(|place| say(10_000, data(place)));
        }
    }
    holes.for_each(|place| {
        let after = if place == 40 { (RTT - 2_800) * 1000 } else { 100_000 };
        let repaired = if place == 49 {
            heard(80, vec![])
        } else {
            heard(place + 1, sack(from + 50 * MSS, from + 80 * MSS))
        };
        say(after, repaired);
    });
    // Half of the window continues.
    for round in 0..4 {
        (0..30).for_each(|place| say(10_000, data(80 + round * 30 + place)));
        (0..30).for_each(|place| {
            say(if place == 0 { RTT * 1000 } else { 100_000 }, heard(81 + round * 30 + place, vec![]));
        });
    }
    agree(&start, Some("loss"));
    assert_eq!(found_of(&start, false).overshoot_segments, Some(10));
}

#[test]
fn a_finished_connection_exits_by_none_and_an_open_one_is_undecided() {
    let mut start = opened();
    start.bulk(RTT + 100, &[10, 4]);
    assert_eq!(found_of(&start, false).exit_cause, None);
    assert_eq!(found_of(&start, true).exit_cause, Some("none"));
    let first = found_of(&start, true);
    assert_eq!((first.initial_window_segments, first.initial_window_limit), (Some(10), Some("window")));
    assert_eq!((first.role, first.vantage), (Some("client"), Some("sender")));
}

#[test]
fn a_handshake_without_a_round_trip_leaves_the_start_up_known() {
    let opening = Opening {
        at: DAY,
        local: "[fd00::1]:80".parse().unwrap(),
        remote: "[fd00::2]:1000".parse().unwrap(),
        is_opener: false,
        round_trip: None,
        first: [u32::MAX - 2000, 7],
        mss: 1428,
        sack: true,
        timestamps: true,
        scales: None,
        window: 60_000,
        ecn: false,
    };
    let mut socket = Socket::new(&opening);
    let mut seq = u32::MAX - 2000;
    for at in 1..=10 {
        let end = seq.wrapping_add(1428);
        socket.sent(&Departure { at: DAY + at, seq, end, flags: ACK });
        seq = end;
    }
    // Intermediate results change nothing.
    assert_eq!(socket.found(3).unwrap().bytes_acked, 0);
    socket.heard(&Hearing { at: DAY + RTT * 1000, ack: seq, window: 60_000, flags: ACK, options: &[5, 200] });
    socket.sent(&Departure { at: DAY + RTT * 1000, seq, end: seq.wrapping_add(101), flags: ACK | FIN });
    let found = socket.finish(3, true);
    assert_eq!((found.connection, found.role, found.bytes_acked), (3, Some("server"), 14_280));
    assert_eq!((found.handshake_rtt_s, found.min_rtt_s.is_some()), (None, true));
    assert!(found.undefined["handshake_rtt_s"].contains("retransmitted"), "{:?}", found.undefined);
    assert_eq!((found.initial_window_segments, found.window_scale), (Some(10), Some(0)));
    assert_eq!((found.bytes_sent, found.unseen_bytes), (Some(14_380), 0));
}
