//! Tests that the fast path of a repair and the full path lead to the same state, whatever segments a peer sends.

use std::num::NonZeroU16;

use firstflight::avoidance::Reno;
use firstflight::restart::Rfc5681;
use firstflight::schemes::{Initial, SlowStart};
use firstflight::{Controller, Span, Time};
use proptest::prelude::*;

use crate::segment::{Flags, SackBlock};
use crate::{Config, Endpoint, RepairSegment, Role, Segment};

type Host = Endpoint<SlowStart, Rfc5681, Reno>;

/// The sequence number of the peer's SYN.
const PEER: u32 = 1_000;

/// The next event for both hosts.
#[derive(Clone, Debug)]
enum Step {
    /// An ACK for `by` bytes above the acknowledged data. Its SACK block is new, with a length and a start above the ACK, or it is the
    /// previous block extended, an earlier block, or the blocks are unchanged.
    Ack {
        by: u64,
        block: Block,
        window: u16,
        data: u16,
        flags: Flags,
    },
    Timer,
    Write(u64),
    Shut,
}

#[derive(Clone, Debug)]
enum Block {
    New(u64, u64),
    Grown(u64),
    Again(usize),
    Same,
    Forgotten,
}

/// Numbers of bytes that are mostly whole segments.
fn bytes(most: u64) -> impl Strategy<Value = u64> {
    prop_oneof![
        8 => (0..=most).prop_map(|segments| 1_000 * segments),
        1 => (0..=most, prop::sample::select(vec![1u64, 500, 999])).prop_map(|(segments, more)| 1_000 * segments + more),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let block = prop_oneof![
        4 => (bytes(30), bytes(3)).prop_map(|(from, len)| Block::New(from, len)),
        4 => bytes(2).prop_map(Block::Grown),
        1 => (0usize..4).prop_map(Block::Again),
        2 => Just(Block::Same),
        1 => Just(Block::Forgotten),
    ];
    let window = prop_oneof![30 => Just(60_000u16), 1 => prop::sample::select(vec![0u16, 1_000, 3_000])];
    let data = prop_oneof![20 => Just(0u16), 1 => Just(700u16)];
    let flags = prop_oneof![30 => Just(Flags::ACK), 1 => Just(Flags::ACK.with(Flags::ECE)),
        1 => Just(Flags::ACK.with(Flags::PSH)), 1 => Just(Flags::ACK.with(Flags::FIN))];
    prop_oneof![
        24 => (prop_oneof![3 => Just(0), 1 => bytes(4)], block, window, data, flags)
            .prop_map(|(by, block, window, data, flags)| Step::Ack { by, block, window, data, flags }),
        1 => Just(Step::Timer),
        1 => bytes(40).prop_map(Step::Write),
        1 => Just(Step::Shut),
    ]
}

/// Returns a client with an open connection and data to send.
fn host(initial_sequence: u32, expects: bool) -> Host {
    let config = Config { initial_sequence, ..Config::default() };
    let initial = Initial { segments: 20, ssthresh: None };
    let controller = Controller::new(SlowStart::new(initial), Rfc5681::new(initial), Reno::new());
    let mut host = Endpoint::new(Role::Client, &config, controller);
    host.expect_acks(expects);
    host.open(Time::ZERO);
    host.poll_transmit(Time::ZERO);
    host.write(30_000);
    let answer = Segment {
        seq: PEER,
        ack: initial_sequence.wrapping_add(1),
        window: 60_000,
        flags: Flags::SYN.with(Flags::ACK),
        mss: NonZeroU16::new(1_000),
        window_scale: Some(2),
        sack_permitted: true,
        ..Segment::default()
    };
    host.on_segment(Time::ZERO + Span::from_millis(10), &answer);
    host
}

/// Sends all segments that may be sent. If `expects`, uses the fast path of a repair when possible.
fn leaves(host: &mut Host, now: Time, expects: bool) -> Vec<Segment> {
    let mut all = Vec::new();
    let mut place = Segment::default();
    while all.len() < 400 {
        let repair = if expects && host.fast().is_repairing() {
            host.fast().repair_segment(now, &mut place)
        } else {
            RepairSegment::Other
        };
        match repair {
            RepairSegment::Leaves(_, ip_length) => assert_eq!(ip_length, place.ip_length()),
            RepairSegment::Nothing => break,
            RepairSegment::Other => match host.fast().transmit_into(now, &mut place) {
                Some(departure) => assert_eq!(departure.ip_length, place.ip_length()),
                None => break,
            },
        }
        all.push(place);
    }
    all
}

fn state(host: &Host, now: Time) -> String {
    let sender = host.sender();
    let counters = (sender.recovery.dupacks, sender.recovery.extra, sender.user_timeout);
    // If a reduction can no longer be undone, the rest of its undo state has no effect.
    let undo = sender.undo.armed.then_some(sender.undo);
    let marks = (sender.recovery.forced, sender.activity.limit, sender.peer_window, undo);
    let (rack, mode) = (sender.rack, sender.recovery.mode);
    let (timer, pipe, sacked) = (host.next_timer(), sender.board.pipe(), sender.board.sacked_segments());
    let path = sender.path(now);
    format!("{path:?} {counters:?} {marks:?} {rack:?} {mode:?} {timer:?} {pipe:?}, sacked: {sacked}")
}

/// Returns the segments that a host sends and its states after each step.
fn course(initial_sequence: u32, steps: &[(u64, Step)], expects: bool) -> (Vec<(Vec<Segment>, String)>, u64) {
    let mut host = host(initial_sequence, expects);
    let mut now = Time::ZERO + Span::from_millis(10);
    let mut blocks: Vec<(u64, u64)> = Vec::new();
    let mut course = Vec::new();
    for (micros, step) in steps {
        let sent = leaves(&mut host, now, expects);
        let timer = host.next_timer();
        let late = timer.map(|timer| timer + Span::from_nanos(1));
        assert!(late.is_none_or(|late| !host.fast().needs_no_waking_before(Some(late))), "it is to be woken");
        course.push((sent, state(&host, now)));
        now = now + Span::from_micros(*micros);
        let una = host.snapshot().una;
        match step {
            Step::Timer => {
                now = now.max(timer.unwrap_or(now));
                host.on_timer(now);
            }
            Step::Write(bytes) => host.write(*bytes),
            Step::Shut => host.shut(),
            Step::Ack { by, block, window, data, flags } => {
                let ack = una + by;
                match *block {
                    Block::New(from, len) => blocks.insert(0, (una + from, una + from + len.max(1))),
                    Block::Grown(by) => blocks.iter_mut().take(1).for_each(|block| block.1 += by),
                    Block::Again(place) if place < blocks.len() => blocks[..=place].rotate_right(1),
                    Block::Again(_) | Block::Same => {}
                    Block::Forgotten => blocks.clear(),
                }
                blocks.truncate(4);
                blocks.retain(|block| block.1 > ack);
                let plain = self::ack(&host, initial_sequence, ack, &blocks);
                let segment = Segment { window: *window, flags: *flags, len: *data, ..plain };
                host.on_segment(now, &segment);
            }
        }
    }
    (course, host.sender().counters.repair_acks)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn whatever_a_peer_says_both_ways_lead_to_the_same_state(
        initial_sequence in prop::sample::select(vec![7, u32::MAX - 20_000]),
        steps in prop::collection::vec((prop::sample::select(vec![0, 1, 100, 1_000, 12_000]), step()), 1..120),
    ) {
        let (short, _) = course(initial_sequence, &steps, true);
        let (long, repairs) = course(initial_sequence, &steps, false);
        prop_assert_eq!(repairs, 0);
        prop_assert_eq!(short, long);
    }
}

/// Returns an ACK up to the stream offset `offset` with these blocks.
fn ack(host: &Host, initial_sequence: u32, offset: u64, blocks: &[(u64, u64)]) -> Segment {
    let number = |offset| crate::seq::wrap(initial_sequence, offset);
    let mut segment = Segment {
        seq: host.next_expected(),
        ack: number(offset),
        window: 60_000,
        flags: Flags::ACK,
        ..Segment::default()
    };
    for (slot, (start, end)) in segment.sack.iter_mut().zip(blocks) {
        *slot = SackBlock { start: number(*start), end: number(*end) };
        segment.sack_count += 1;
    }
    segment
}

#[test]
fn a_known_sack_block_marks_the_rest_of_a_partially_acknowledged_segment() {
    let [short, long] = [true, false].map(|expects| {
        let mut host = host(7, expects);
        let mut now = Time::ZERO + Span::from_millis(10);
        [0, 500].map(|offset| {
            let sent = leaves(&mut host, now, expects);
            now = now + Span::from_millis(10);
            let segment = ack(&host, 7, offset, &[(500, 3_000), (5_000, 7_000)]);
            host.on_segment(now, &segment);
            (sent, state(&host, now))
        })
    });
    assert_eq!(short, long);
    assert!(short[1].1.contains("sacked: 5"), "{}", short[1].1);
}

#[test]
fn a_reset_during_repair_clears_timer_and_wake_suppression() {
    let mut host = host(7, true);
    let now = Time::ZERO + Span::from_millis(20);
    leaves(&mut host, now, true);
    let segment = ack(&host, 7, 0, &[(5_000, 8_000)]);
    host.on_segment(now, &segment);
    assert!(host.fast().is_repairing() && host.fast().needs_no_waking_before(Some(now)));
    host.on_segment(now, &Segment { flags: Flags::RST, ..segment });
    assert_eq!((host.next_timer(), host.fast().needs_no_waking_before(Some(now))), (None, false));
}
