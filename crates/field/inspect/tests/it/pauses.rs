//! A pause does not hide the end of a start-up, and a start-up that only paused is not reported as ended.

use crate::made::{ACK, From, PLAIN, PSH, packet, pcap};
use crate::start::{MSS, RTT, Start};
use firstflight_inspect::{Found, FoundRestart, FoundRound, inspect};

/// Slow start to sixty segments, and no further.
const BULK: [u32; 9] = [10, 20, 40, 60, 60, 60, 60, 60, 60];

fn found(start: &Start) -> Found {
    let mut packets = start.packets.clone();
    packets.sort_by_key(|(at, _)| *at);
    let frames: Vec<_> = packets.iter().map(|(at, segment)| (*at, packet(segment, false))).collect();
    inspect(&pcap(PLAIN, &frames)[..], false).expect("a capture").senders.remove(0).found
}

fn about(value: Option<f64>, expected: f64) -> bool {
    value.is_some_and(|value| (value - expected).abs() < 0.01)
}

/// Messages at these times, in milliseconds, and then the bulk.
fn spoken(messages: &[(u64, usize)], bulk_ms: u64, bulk: &[u32]) -> Found {
    let mut start = Start::default();
    start.open(0, 0);
    for &(ms, len) in messages {
        start.message(ms * 1000, len);
    }
    let over = start.bulk(bulk_ms * 1000, bulk);
    start.close(over + 1000);
    found(&start)
}

#[test]
fn a_start_up_exits_in_the_bulk_regardless_of_the_preceding_pause() {
    for pause in [1, 20, 250, 400, 3_000, 90_000] {
        let found = spoken(&[(41, 517)], 82 + pause, &BULK);
        assert_eq!(found.exit_cause, Some("flat"), "{pause}: {:?}", found.undefined);
        let flight = found.exit_flight_bytes.unwrap() / u64::from(MSS);
        assert!((56..=60).contains(&flight), "{pause}: {flight}");
        #[expect(clippy::cast_precision_loss, reason = "small")]
        let at = (41 + pause + 120) as f64 / 1e3;
        assert!(
            found.exit_time_s.is_some_and(|exit| (exit - at).abs() < 0.04),
            "{pause}: {:?}",
            found.exit_time_s
        );
        assert_eq!(
            (found.initial_window_segments, found.initial_window_limit),
            (Some(1), Some("application"))
        );
        assert_eq!(found.exit_round, Some(5), "{pause}");
    }
}

#[test]
fn a_pause_before_bulk_data_keeps_later_rate_and_time_to_90pct() {
    let (straight, paused) = (spoken(&[], 41, &BULK), spoken(&[(41, 517)], 900, &BULK));
    assert_eq!(paused.idle_restarts_total, 1);
    assert!(straight.later_rate_bps.is_some());
    let share = paused.later_rate_bps.unwrap() / straight.later_rate_bps.unwrap();
    assert!((share - 1.0).abs() < 0.03, "{share}");
    assert!(about(paused.time_to_90pct_s, straight.time_to_90pct_s.unwrap()), "{:?}", paused.time_to_90pct_s);
}

#[test]
fn a_pause_between_two_halves_leaves_no_rate_and_says_why() {
    let mut start = Start::default();
    start.open(0, 0);
    let over = start.bulk(41_000, &BULK);
    let over = start.bulk(over + 900_000, &BULK);
    start.close(over + 1000);
    let found = found(&start);
    assert_eq!((found.exit_cause, found.exit_round), (Some("flat"), Some(4)));
    assert_eq!((found.later_rate_bps, found.idle_restarts_total), (None, 1));
    assert!(found.undefined["later_rate_bps"].contains("nine tenths"), "{:?}", found.undefined);
}

/// Returns the restart that `inspect` reports. After a bulk transfer and a pause of a second ten segments are sent, `apart` microseconds
/// from each other. If `resent`, the first of the ten is retransmitted before any is acknowledged. A bulk transfer of twenty follows.
fn restarted(apart: u64, resent: bool) -> FoundRestart {
    let mut start = Start::default();
    start.open(0, 0);
    let over = start.bulk(41_000, &[10, 20]) + 1_000_000;
    (0..10).for_each(|place| start.say(over + place * apart, From::Client, ACK, MSS as usize));
    if resent {
        start.again(over + 20_000, 10 * MSS, MSS as usize);
    }
    (0..10).for_each(|place| start.heard(over + RTT + place * apart.max(20), MSS));
    let over = start.bulk(over + RTT + 10 * apart.max(20) + 1_000, &[20]);
    start.close(over + 1_000);
    let mut found = found(&start);
    assert_eq!(found.idle_restarts_total, 1);
    found.idle_restarts.remove(0)
}

#[test]
fn a_restart_says_how_its_first_flight_left() {
    for (apart, manner) in [(1, "burst"), (600, "spread"), (2_000, "paced")] {
        let restart = restarted(apart, false);
        assert_eq!(
            (restart.window_segments, restart.manner),
            (Some(10), Some(manner)),
            "{apart}: {restart:?}"
        );
    }
}

#[test]
fn a_restart_with_a_retransmission_leaves_window_and_manner_undefined() {
    let restart = restarted(1, true);
    assert_eq!((restart.window_segments, restart.manner, restart.spread), (None, None, None), "{restart:?}");
}

#[test]
fn no_round_after_a_pause_grew_out_of_the_one_before_it() {
    let mut start = Start::default();
    start.open(0, 0);
    let over = start.bulk(41_000, &[10, 20]);
    let over = start.bulk(over + 900_000, &[10, 20]);
    start.close(over + 1_000);
    let growth = |round: &FoundRound| round.growth;
    let grew: Vec<_> = found(&start).rounds.iter().map(growth).collect();
    assert_eq!(grew[..4], [None, Some(2.0), None, Some(2.0)], "{grew:?}");
}

#[test]
fn a_start_up_that_two_pauses_interrupt_ends_in_the_third_part() {
    let mut start = Start::default();
    start.open(0, 0);
    let over = start.bulk(41_000, &[10]);
    let over = start.bulk(over + 500_000, &[10, 20]);
    let over = start.bulk(over + 500_000, &BULK);
    start.close(over + 1000);
    let found = found(&start);
    assert_eq!((found.exit_cause, found.exit_round), (Some("flat"), Some(7)), "{:?}", found.undefined);
}

#[test]
fn requests_and_replies_a_round_trip_apart_are_no_end() {
    let talk = [(41, 900), (82, 300), (123, 300), (164, 80), (205, 1200)];
    let found = spoken(&talk, 246, &BULK);
    assert_eq!(found.exit_cause, Some("flat"), "{:?}", found.undefined);
    assert!(about(found.exit_time_s, 0.333), "{:?}", found.exit_time_s);
}

#[test]
fn three_hundred_messages_before_the_bulk_do_not_hide_it() {
    let talk: Vec<_> = (0..300).map(|place| (41 + place * 1000, 100)).collect();
    let found = spoken(&talk, 300_500, &BULK);
    assert_eq!(found.exit_cause, Some("flat"), "{:?}", found.undefined);
    assert_eq!(found.exit_round, Some(304));
}

#[test]
fn a_message_of_whole_segments_followed_by_a_pause_is_application_limited() {
    for pause in [60, 700] {
        let found = spoken(&[(41, 1448)], 82 + pause, &BULK);
        assert_eq!(
            (found.initial_window_segments, found.initial_window_limit),
            (Some(1), Some("application"))
        );
    }
    assert_eq!(spoken(&[], 41, &BULK).initial_window_limit, Some("window"));
}

#[test]
fn start_up_still_growing_at_the_end_has_no_exit() {
    let grows = spoken(&[(41, 517)], 900, &[10, 20, 40, 20]);
    assert_eq!(grows.exit_cause, Some("none"));
    assert!(grows.undefined["exit_time_s"].contains("between any two idle times"), "{:?}", grows.undefined);
}

#[test]
fn separately_answered_writes_of_whole_segments_are_application_limited() {
    let mut start = Start::default();
    start.open(0, 0);
    let over = start.bulk(41_000, &[10, 20, 40]);
    for write in 0..8 {
        let at = over + 2_000 + write * 50_000;
        (0..40).for_each(|place| {
            start.say(at + place, From::Client, ACK, MSS as usize);
        });
        (0..40).for_each(|place| start.heard(at + 40_000 + place * 200, MSS));
    }
    start.close(over + 450_000);
    let found = found(&start);
    assert_eq!(found.exit_cause, Some("application"), "{:?}", found.undefined);
    assert!(found.rounds[4..].iter().all(|round| round.limit == Some("application")), "{:?}", found.rounds);
}

/// A message, and then as many full segments every 100 ms, acknowledged after an RTT. All but the message have these flags.
fn regular(flags: u8, burst: u32) -> Found {
    let mut start = Start::default();
    start.open(0, 0);
    start.say(41_000, From::Client, ACK | PSH, 200);
    start.heard(41_000 + RTT, 200);
    for number in 1..60 {
        let at = 41_000 + number * 100_000;
        (0..burst)
            .for_each(|place| start.say(at + u64::from(place), From::Client, ACK | flags, MSS as usize));
        start.heard(at + RTT, burst * MSS);
    }
    start.close(6_200_000);
    found(&start)
}

#[test]
fn a_shaper_at_the_sender_is_not_taken_for_the_application() {
    let (pushed, shaped) = (regular(PSH, 1), regular(0, 1));
    let limits = |found: &Found| -> Vec<_> { found.rounds.iter().skip(2).map(|round| round.limit).collect() };
    assert_eq!((pushed.exit_cause, pushed.initial_window_limit), (Some("application"), Some("application")));
    assert!(limits(&pushed).iter().all(|limit| *limit == Some("application")), "{:?}", limits(&pushed));
    // Without PSH the application has written more, so that something behind the socket delayed the packets.
    assert_eq!(shaped.exit_cause, None);
    assert!(shaped.undefined["exit_cause"].contains("shaper"), "{:?}", shaped.undefined);
    assert!(limits(&shaped).iter().skip(1).all(|limit| *limit == Some("shaper")), "{:?}", limits(&shaped));
    // A corked socket sets no PSH either, but its writes leave as bursts.
    let corked = regular(0, 5);
    assert_eq!(corked.exit_cause, Some("application"));
    assert!(limits(&corked).iter().all(|limit| *limit == Some("application")), "{:?}", limits(&corked));
}
