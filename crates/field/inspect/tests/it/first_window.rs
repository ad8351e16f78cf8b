//! The limit of the initial window is judged by the sender's own full size: a short segment that is not the last is no evidence.

use crate::made::{ACK, From, PLAIN, packet, pcap};
use crate::start::{RTT, Start};
use firstflight_inspect::{Found, inspect};

/// Returns the results for an upload whose first packets have these lengths and are acknowledged one by one an RTT later. Each
/// acknowledgement releases two packets of `next` bytes. With a `pause` in microseconds, as many packets as at first follow after it
/// instead.
fn upload(first: &[usize], next: usize, pause: u64, options: usize) -> Found {
    let mut start = Start::default();
    start.open(0, 0);
    let began = RTT + 1_000;
    for (at, len) in first.iter().enumerate() {
        start.say(began + at as u64, From::Client, ACK, *len);
    }
    let mut acked = began + RTT;
    for len in first {
        start.heard(acked, u32::try_from(*len).unwrap());
        acked += 200;
        if pause == 0 {
            (1..3).for_each(|late| start.say(acked - 200 + late, From::Client, ACK, next));
        }
    }
    if pause > 0 {
        (0..first.len() as u64).for_each(|at| start.say(acked + pause + at, From::Client, ACK, next));
    }
    let count = if pause == 0 { 2 * first.len() } else { first.len() };
    for at in 0..count as u64 {
        start.heard(acked + pause + RTT + at * 100, u32::try_from(next).unwrap());
    }
    // Options of data besides the timestamps, such as MPTCP's.
    for (_, segment) in start.packets.iter_mut().filter(|(_, segment)| segment.len > 0) {
        segment.options.extend(vec![1; options]);
    }
    let mut packets = start.packets;
    packets.sort_by_key(|(at, _)| *at);
    let frames: Vec<_> = packets.iter().map(|(at, segment)| (*at, packet(segment, false))).collect();
    inspect(&pcap(PLAIN, &frames)[..], false).expect("a capture").senders.remove(0).found
}

#[track_caller]
fn is(found: &Found, segments: u64, limit: &str) {
    let found_of = (found.initial_window_segments, found.initial_window_limit);
    assert_eq!(found_of, (Some(segments), Some(limit)), "{:?}", found.undefined);
}

const FULL: usize = 1448;

#[test]
fn a_short_header_segment_leaves_the_window_as_the_limit() {
    is(&upload(&[&[238][..], &[FULL; 9]].concat(), FULL, 0, 0), 10, "window");
    // The end of one write, and the beginning of the next.
    is(&upload(&[&[238][..], &[FULL; 5], &[952], &[FULL; 3]].concat(), FULL, 0, 0), 10, "window");
    // In packets of several segments, which the card cuts.
    is(&upload(&[238, 9 * FULL], FULL, 0, 0), 10, "window");
    is(&upload(&[10 * FULL], 2 * FULL, 0, 0), 10, "window");
}

/// A busy server sends a header long before the rest. The rest stops at the window, because an acknowledgement releases more.
#[test]
fn a_pause_after_a_header_is_ignored_if_acks_release_more_data() {
    let paused = |pause| {
        let mut start = Start::default();
        start.open(0, 0);
        let began = RTT + 1_000;
        start.say(began, From::Client, ACK, 204);
        (0..9).for_each(|at| start.say(began + pause + at, From::Client, ACK, FULL));
        for (at, len) in [&[204][..], &[FULL; 9]].concat().into_iter().enumerate() {
            let acked = began + RTT + if at == 0 { 0 } else { pause } + at as u64 * 100;
            start.heard(acked, u32::try_from(len).unwrap());
            (1..3).for_each(|late| start.say(acked + late, From::Client, ACK, FULL));
        }
        (0..20).for_each(|at| start.heard(began + 3 * RTT + at * 100, u32::try_from(FULL).unwrap()));
        let mut packets = start.packets;
        packets.sort_by_key(|(at, _)| *at);
        let frames: Vec<_> = packets.iter().map(|(at, segment)| (*at, packet(segment, false))).collect();
        inspect(&pcap(PLAIN, &frames)[..], false).expect("a capture").senders.remove(0).found
    };
    for pause in [RTT / 8, RTT / 3, RTT / 2] {
        is(&paused(pause), 10, "window");
    }
}

#[test]
fn segments_smaller_than_the_syns_option_are_full() {
    // By options of data (MPTCP), and by the path.
    let mptcp = upload(&[1424; 10], 1424, 0, 24);
    is(&mptcp, 10, "window");
    assert_eq!(mptcp.mss_bytes, Some(1424));
    for size in [1348, 1220, 536] {
        let found = upload(&[size; 10], size, 0, 0);
        is(&found, 10, "window");
        assert_eq!(found.mss_bytes, Some(size as u64));
        is(&upload(&[&[238][..], &[size; 9]].concat(), size, 0, 0), 10, "window");
    }
    is(&upload(&[3 * 1348, 7 * 1348], 2 * 1348, 0, 0), 10, "window");
}

#[test]
fn an_application_that_had_no_more_to_send_is_still_the_limit() {
    // The window ends with a short segment, whatever follows.
    is(&upload(&[FULL, FULL, 700], FULL, 0, 0), 3, "application");
    is(&upload(&[&[FULL; 7][..], &[200]].concat(), FULL, 0, 0), 8, "application");
    is(&upload(&[3 * FULL + 700], FULL, 0, 0), 4, "application");
    is(&upload(&[1348, 1348, 1348, 1348, 1348, 600], 1348, 0, 0), 6, "application");
    // The segments are full, and the next packets follow after a pause.
    is(&upload(&[FULL; 6], FULL, 30_000, 0), 6, "application");
    is(&upload(&[&[238][..], &[FULL; 5]].concat(), FULL, 30_000, 0), 6, "application");
    is(&upload(&[1348; 6], 1348, 30_000, 0), 6, "application");
    // One message, and another when it is answered.
    is(&upload(&[517], 64, 300, 0), 1, "application");
}
