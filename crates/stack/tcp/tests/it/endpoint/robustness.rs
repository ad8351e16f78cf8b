//! Effects that a hostile, broken or unusual peer or network must not have on an endpoint.

use core::num::NonZeroU16;

use super::line::{Line, Verdict, config, endpoint, millis};
use firstflight::{Note, Origin, Span, Time};
use firstflight_tcp::{
    AckPolicy, Config, EndpointEvent, Flags, Recovery, Role, RtoFloor, SackBlock, Segment, Stack, Status,
};

const DELAY: Span = Span::from_millis(50);

fn pass(_: Time, _: bool, _: &Segment) -> Verdict {
    Verdict::Pass
}

fn line(config: &Config) -> Line {
    Line::new(config, config, DELAY)
}

#[test]
fn a_window_closed_for_an_hour_is_probed_and_the_connection_stays() {
    let slow = Config { receive_buffer: 8_000, reads_at_once: false, ..config() };
    let mut line = Line::new(&config(), &slow, DELAY);
    line.client.open(line.now);
    line.client.write(20_000);
    line.run(millis(3_600_000), pass);
    assert_eq!(line.happened(&EndpointEvent::Aborted), 0);
    let restarts = line
        .events
        .iter()
        .filter(|(_, what)| matches!(what, EndpointEvent::Control(Note::Began(Origin::AfterIdle { .. }))))
        .count();
    assert!(restarts <= 1, "one idle time begins one restart, not {restarts}");
}

/// RFC 9293 section 3.8.6.1 keeps a connection open while its probes are answered. A peer limits the rate of its answers (RFC 5961 section
/// 7), so that probes at intervals of a local network's RTO would go unanswered.
#[test]
fn a_closed_window_is_probed_no_more_often_than_is_answered() {
    for stack in [Stack::Rfc, Stack::Linux] {
        for least in [50, 500, 5_000] {
            let client = Config { stack, min_rto: Span::from_micros(least), ..config() };
            let slow = Config { receive_buffer: 8_000, reads_at_once: false, ..config() };
            let mut line = Line::new(&client, &slow, Span::from_micros(50));
            line.client.open(line.now);
            line.client.write(20_000);
            line.run(millis(600_000), pass);
            assert_eq!(line.client.status(), Status::Open, "{stack:?}, {least} us");
        }
    }
}

/// RFC 9293 section 3.8.6.1 requires growing intervals; they end at a minute, and in Linux at two (`tcp_probe0_when`).
#[test]
fn closed_window_probe_intervals_grow_to_one_minute_or_two_in_linux() {
    let seconds = |stack: Stack| {
        let client = Config { stack, min_rto: stack.min_rto(), ..config() };
        let slow = Config { receive_buffer: 8_000, reads_at_once: false, ..config() };
        let mut line = Line::new(&client, &slow, DELAY);
        line.client.open(line.now);
        line.client.write(20_000);
        line.run(millis(1_200_000), pass);
        let probes = line.log.iter().filter(|(_, from_client, segment)| *from_client && segment.len == 0);
        let probes: Vec<_> = probes.map(|(at, ..)| *at).filter(|at| *at > millis(400)).collect();
        let gaps = probes.windows(2).map(|pair| pair[1].since(pair[0]));
        gaps.map(|gap| gap.nanos() / 1_000_000_000).take(11).collect::<Vec<_>>()
    };
    assert_eq!(seconds(Stack::Rfc), [2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60]);
    assert_eq!(seconds(Stack::Linux), [0, 1, 2, 4, 9, 19, 38, 76, 120, 120, 120]);
}

/// The arithmetic is correct for any setting of the host.
#[test]
fn a_least_timeout_of_any_size_is_no_overflow() {
    for rto_floor in [RtoFloor::Timeout, RtoFloor::Variation, RtoFloor::Ns2] {
        for stack in [Stack::Rfc, Stack::Linux] {
            let config = Config {
                stack,
                min_rto: Span::MAX,
                rto_floor: Some(rto_floor),
                initial_rto: Span::MAX,
                ..config()
            };
            let mut line = line(&config);
            line.client.open(line.now);
            line.client.write(20_000);
            line.run(millis(10_000), pass);
            assert_eq!(line.server.stats().received, 20_000, "{stack:?} {rto_floor:?}");
        }
    }
}

#[test]
fn segments_that_options_would_fill_carry_a_byte_each() {
    let tiny = Config { mss: 4, options_in_mss: true, timestamps: true, ..config() };
    let mut line = line(&tiny);
    line.client.open(line.now);
    line.client.write(25);
    line.run(millis(10_000), pass);
    assert_eq!(line.server.stats().received, 25);
    assert!(line.log.iter().all(|(_, _, segment)| segment.len <= 1));
}

#[test]
fn a_sender_uses_64_bytes_per_packet_in_flight_maximum() {
    // One of every so many data segments is dropped in its first transmission.
    for lossy in [None, Some(4), Some(1_000)] {
        let mut line = line(&Config { receive_buffer: 1 << 24, ..config() });
        line.client.open(line.now);
        line.client.write(u64::MAX / 2);
        let (mut most, mut highest) = (0, 0);
        for ms in 1..1_200 {
            line.run(millis(ms), |_, client, segment| {
                let fresh = client && segment.len > 0 && segment.seq > highest;
                highest = if fresh { segment.seq } else { highest };
                let index = segment.seq / 1_000;
                // The window has to be large when it begins.
                let falls = lossy.is_some_and(|every| fresh && index > 4_000 && index.is_multiple_of(every));
                if falls { Verdict::Drop } else { Verdict::Pass }
            });
            most = most.max(line.client.info().outstanding);
            let memory = line.client.memory() as u64;
            assert!(memory <= 64 * most + 4_096, "{lossy:?}: {memory} bytes for {most} packets, {ms} ms");
        }
        assert!(most > 4_000, "{lossy:?}: {most}");
    }
}

#[test]
fn the_initial_window_counts_segments_of_the_size_agreed_on() {
    let mut line = Line::new(&Config { mss: 1_460, ..config() }, &Config { mss: 536, ..config() }, DELAY);
    line.client.open(line.now);
    line.client.write(100_000);
    line.run(millis(150), pass);
    let sizes: Vec<u16> =
        line.log.iter().filter(|(_, client, s)| *client && s.len > 0).map(|(_, _, s)| s.len).collect();
    assert_eq!(sizes, [536; 10]);
}

#[test]
fn a_packet_that_the_network_duplicated_undoes_no_reduction_of_long_ago() {
    let mut line = line(&config());
    line.client.open(line.now);
    line.client.write(200_000);
    let mut dropped = false;
    line.run(millis(3_000), move |_, client, segment| {
        if client && segment.len > 0 && segment.seq == 40_001 && !core::mem::replace(&mut dropped, true) {
            Verdict::Drop
        } else {
            Verdict::Pass
        }
    });
    assert!(line.client.snapshot().ssthresh.is_some());
    line.client.write(5_000);
    line.run(millis(3_120), pass);
    let last = line.log.iter().rev().find(|(_, client, s)| *client && s.len > 0).expect("data was sent").2;
    line.server.on_segment(line.now, &last);
    line.run(millis(3_600), pass);
    assert_eq!(line.client.stats().undone, 0);
    assert!(line.client.snapshot().ssthresh.is_some());
}

#[test]
fn repair_memory_is_released_once_the_repair_cannot_be_undone() {
    let mut line = line(&Config { receive_buffer: 4_000_000, ..config() });
    line.client.open(line.now);
    line.client.write(1_500_000);
    let mut repeated = std::collections::BTreeSet::new();
    let mut most = 0;
    for step in 1..500 {
        line.run(millis(step * 10), |_, client, segment| {
            let hole = client && segment.len > 0 && segment.seq > 400_000 && segment.seq / 1_000 % 8 == 0;
            if hole && repeated.insert(segment.seq) { Verdict::Drop } else { Verdict::Pass }
        });
        most = most.max(line.client.memory());
    }
    assert!(most > 25_000, "some hundred segments were out at once: {most}");
    assert!(line.client.stats().retransmissions > 50);
    let before = line.client.memory();
    line.client.write(5_000);
    line.run(millis(6_000), pass);
    let after = line.client.memory();
    assert!(
        after <= 2_000,
        "{most} at most, {before} and {after} bytes at rest before and after the last ACKs"
    );
}

#[test]
fn an_ack_that_a_repaired_hole_set_free_measures_no_round_trip() {
    for recovery in [Recovery::NewReno, Recovery::NewRenoSteady, Recovery::Reno, Recovery::Vegas] {
        let mut line = line(&Config { recovery, sack: false, ..config() });
        line.client.open(line.now);
        line.client.write(150_000);
        let mut holes: Vec<u32> = (0..10).map(|i| 20 + 2 * i).collect();
        let mut most = Span::ZERO;
        for step in 1..400 {
            line.run(millis(step * 10), |_, client, segment| {
                let index = segment.seq.wrapping_sub(1) / 1_000;
                match holes.iter().position(|hole| client && segment.len > 0 && *hole == index) {
                    Some(at) => {
                        holes.remove(at);
                        Verdict::Drop
                    }
                    None => Verdict::Pass,
                }
            });
            most = most.max(line.client.snapshot().latest_rtt.unwrap_or_default());
        }
        assert_eq!(most, DELAY * 2, "{recovery:?}");
    }
}

#[test]
fn a_tail_probe_postpones_the_timeout_until_it_can_be_answered() {
    for delay in [60, 100, 150, 240] {
        for min_rto in [200, 1_000] {
            let config = Config { min_rto: Span::from_millis(min_rto), ..config() };
            let mut line = Line::new(&config, &config, Span::from_millis(delay));
            line.client.open(line.now);
            line.client.write(60_000);
            let mut done = false;
            line.run(millis(20_000), move |_, client, segment| {
                let tail = client && segment.len > 0 && segment.seq == 59_001;
                if tail && !core::mem::replace(&mut done, true) { Verdict::Drop } else { Verdict::Pass }
            });
            let stats = line.client.stats();
            assert_eq!((stats.probes, stats.timeouts), (1, 0), "delay {delay}, least timeout {min_rto}");
        }
    }
}

#[test]
fn a_full_segment_is_what_the_peer_sends_at_most() {
    let theirs = Config { mss: 948, ..config() };
    let ours = Config { mss: 1_000, ack_policy: AckPolicy::Delayed, ..config() };
    let mut line = Line::new(&theirs, &ours, DELAY);
    line.client.open(line.now);
    line.client.write(948 * 10);
    line.run(millis(180), pass);
    let acks = line.log.iter().filter(|(at, client, _)| !client && *at == millis(150)).count();
    assert_eq!(acks, 5, "every second segment is acknowledged at once");
}

#[test]
fn both_sides_may_open_at_once() {
    let mut ends = [
        endpoint(Role::Client, &config(), 10),
        endpoint(Role::Client, &Config { initial_sequence: 99, ..config() }, 10),
    ];
    let mut now = Time::ZERO;
    for end in &mut ends {
        end.open(now);
        end.write(1_000);
    }
    let mut count = 0;
    for _ in 0..40 {
        let sent = ends.each_mut().map(|end| {
            let mut out = Vec::new();
            while let Some(transmit) = end.poll_transmit(now) {
                out.push(transmit.segment);
            }
            out
        });
        count += sent.iter().map(Vec::len).sum::<usize>();
        now = now + DELAY;
        for (from, segments) in sent.iter().enumerate() {
            for segment in segments {
                ends[1 - from].on_segment(now, segment);
            }
        }
        for end in &mut ends {
            end.on_timer(now);
        }
    }
    assert_eq!(ends.each_ref().map(|end| end.stats().received), [1_000, 1_000]);
    assert!(count < 20, "{count} segments for two of data");
}

#[test]
fn an_ack_from_outside_the_window_is_not_heard() {
    let mut server = endpoint(Role::Server, &config(), 10);
    let now = millis(1);
    let syn = Segment {
        seq: 1,
        flags: Flags::SYN,
        window: 1_000,
        mss: NonZeroU16::new(1_000),
        ..Segment::default()
    };
    server.on_segment(now, &syn);
    while server.poll_transmit(now).is_some() {}
    let forged = Segment { seq: 0x4000_0000, ack: 0x3fff_ffff, flags: Flags::ACK, ..Segment::default() };
    server.on_segment(now, &forged);
    assert_eq!(server.poll_event().filter(|what| *what == EndpointEvent::Established), None);

    let mut line = line(&config());
    line.client.open(line.now);
    line.client.write(50_000);
    line.run(millis(120), pass);
    let before = line.client.snapshot();
    let forged = Segment { seq: 0x7000_0000, ack: 5_001, flags: Flags::ACK, ..Segment::default() };
    line.client.on_segment(line.now, &forged);
    assert_eq!(line.client.snapshot(), before);
}

#[test]
fn data_with_an_ack_of_unsent_data_is_ignored() {
    let mut line = line(&config());
    line.client.open(line.now);
    line.client.write(5_000);
    line.run(millis(400), pass);
    let forged =
        Segment { seq: 1, ack: 1 + 5_001, len: 100, window: 65_535, flags: Flags::ACK, ..Segment::default() };
    line.client.on_segment(line.now, &forged);
    assert_eq!(line.client.stats().received, 0);
    assert!(line.client.poll_transmit(line.now).is_some(), "it is answered with an ACK");
    line.client.on_segment(line.now, &Segment { ack: 1 + 5_000, ..forged });
    assert_eq!(line.client.stats().received, 100);
}

#[test]
fn a_fin_inside_what_arrived_in_order_ends_nothing() {
    let mut line = line(&config());
    line.client.open(line.now);
    line.run(millis(400), pass);
    let data = Segment { seq: 1, ack: 1, len: 100, window: 65_535, flags: Flags::ACK, ..Segment::default() };
    line.client.on_segment(line.now, &data);
    let fin = Segment { len: 10, flags: Flags::ACK.with(Flags::FIN), ..data };
    line.client.on_segment(line.now, &fin);
    assert_eq!(line.client.stats().received, 100);
    line.client.on_segment(line.now, &Segment { seq: 101, ..data });
    assert_eq!(line.client.stats().received, 200);
}

#[test]
fn a_mark_and_a_loss_in_one_window_of_data_reduce_once() {
    let mut line = line(&Config { ecn: true, ..config() });
    line.client.open(line.now);
    line.client.write(2_000_000);
    line.run(millis(420), pass);
    let state = line.client.snapshot();
    let una = u32::try_from(state.una).expect("a short stream");
    let mark = Segment {
        seq: 1,
        ack: 1 + una,
        window: 65_535,
        flags: Flags::ACK.with(Flags::ECE),
        ..Segment::default()
    };
    line.client.on_segment(line.now, &mark);
    let marked = line.client.snapshot().ssthresh.expect("a mark reduces");
    for count in 1..=4 {
        let mut sack = [SackBlock::default(); 4];
        sack[0] = SackBlock { start: una + 1_001, end: una + 1_001 + 1_000 * count };
        let flags = Flags::ACK;
        line.client.on_segment(line.now, &Segment { flags, sack_count: 1, sack, ..mark });
    }
    assert_eq!(line.client.snapshot().ssthresh, Some(marked));
}

#[test]
fn read_bytes_exclude_the_fin() {
    let slow = Config { reads_at_once: false, ..config() };
    let mut line = Line::new(&config(), &slow, DELAY);
    line.client.open(line.now);
    line.client.write(1_000);
    line.client.shut();
    line.run(millis(2_000), pass);
    assert_eq!(line.server.read(u64::MAX), 1_000);
}

#[test]
fn the_largest_segment_and_its_fin_fit_the_arithmetic() {
    let mut line = line(&Config { mss: u16::MAX, ..config() });
    line.client.open(line.now);
    line.client.write(200_000);
    line.client.shut();
    line.run(millis(5_000), pass);
    assert_eq!(line.server.stats().received, 200_000);
}

/// Returns a client after a transfer to a server that offers `buffer` bytes.
pub(crate) fn after_a_transfer(buffer: u64) -> Line {
    let mut line = Line::new(&config(), &Config { receive_buffer: buffer, ..config() }, DELAY);
    line.client.open(line.now);
    line.client.write(50_000);
    line.run(millis(4_000), pass);
    assert_eq!(line.client.snapshot().una, 50_000);
    line
}

/// Returns a possible next segment of the server, acknowledging the stream up to `una`.
pub(crate) fn next(flags: Flags, seq: u32, una: u32) -> Segment {
    Segment { seq, ack: 1 + una, window: 8_000, flags: Flags::ACK.with(flags), ..Segment::default() }
}

pub(crate) fn answers(line: &mut Line, segment: &Segment) -> usize {
    line.client.on_segment(line.now, segment);
    core::iter::from_fn(|| line.client.poll_transmit(line.now)).count()
}

#[test]
fn acceptable_acks_range_from_maximum_window_below_una_to_sent_data() {
    let heard = |una: u32| {
        let mut line = after_a_transfer(8_000);
        let answers = answers(&mut line, &Segment { len: 100, ..next(Flags::PSH, 1, una) });
        assert_eq!(answers, 1, "an ACK is sent, heard or not");
        line.client.stats().received == 100
    };
    assert_eq!([50_000 - 8_001, 50_000 - 8_000, 50_000, 50_001].map(heard), [false, true, true, false]);
}

#[test]
fn nothing_acknowledges_what_lies_before_the_stream() {
    let mut line = after_a_transfer(1 << 20);
    answers(&mut line, &Segment { ack: 1, len: 100, ..next(Flags::PSH, 1, 0) });
    assert_eq!(line.client.stats().received, 100);
    answers(&mut line, &Segment { ack: 0, len: 100, ..next(Flags::PSH, 101, 0) });
    assert_eq!(line.client.stats().received, 100);
}

#[test]
fn a_reset_outside_the_window_is_dropped_and_one_inside_challenged() {
    let mut line = after_a_transfer(8_000);
    for seq in [0, 0x7000_0000, 1 + (1 << 30) + 1] {
        assert_eq!(answers(&mut line, &next(Flags::RST, seq, 50_000)), 0, "{seq}");
    }
    assert_eq!(answers(&mut line, &next(Flags::RST, 2, 50_000)), 1);
    assert_eq!(line.client.poll_event(), None);
    answers(&mut line, &next(Flags::RST, 1, 50_000));
    assert_eq!(line.client.poll_event(), Some(EndpointEvent::Aborted));
}

#[test]
fn in_any_five_seconds_no_more_than_ten_challenge_acks_are_sent() {
    let challenged = [
        next(Flags::SYN, 7, 50_000),
        next(Flags::RST, 2, 50_000),
        next(Flags::PSH, 1, 60_000),
        next(Flags::PSH, 0, 50_000),
    ];
    for segment in challenged {
        let mut line = after_a_transfer(8_000);
        let begin = line.now;
        let mut sent = 0;
        while line.now.since(begin) < Span::from_secs(5) {
            sent += answers(&mut line, &segment);
            line.now = line.now + Span::from_millis(1);
        }
        assert_eq!(sent, 10, "{segment:?}");
    }
}

#[test]
fn data_that_came_before_is_acknowledged_each_time() {
    let mut line = after_a_transfer(8_000);
    let data = Segment { len: 100, ..next(Flags::PSH, 1, 50_000) };
    assert_eq!((0..20).map(|_| answers(&mut line, &data)).sum::<usize>(), 20);
    let beyond = Segment { seq: 0x7000_0000, ..data };
    assert_eq!((0..20).map(|_| answers(&mut line, &beyond)).sum::<usize>(), 20);
}

/// RFC 9293 section 3.4: data outside the window is not acceptable. Without scaling no window exceeds 65 535 bytes, for any buffer (RFC
/// 7323 section 2.2).
#[test]
fn data_beyond_the_largest_possible_window_is_rejected() {
    for (window_scale, peers, largest) in
        [(None, None, 65_535), (Some(0), Some(7), 65_535), (Some(2), Some(0), 262_140)]
    {
        let config = Config { receive_buffer: 10_000_000, window_scale, reads_at_once: false, ..config() };
        let mut server = endpoint(Role::Server, &config, 10);
        let now = millis(1);
        let syn = Segment { flags: Flags::SYN, window: 60_000, window_scale: peers, ..Segment::default() };
        server.on_segment(now, &syn);
        let data = |start: u32| Segment {
            seq: 1 + start,
            ack: 1,
            len: 1_000,
            window: 60_000,
            flags: Flags::ACK,
            ..Segment::default()
        };
        server.on_segment(now, &data(0));
        while server.poll_transmit(now).is_some() {}
        server.on_segment(now, &data(5_000_000));
        assert!(server.missing(5_000_000..5_001_000).is_none(), "not in the window");
        assert_eq!(server.missing(1_000..u64::MAX), Some(1_000..1_000 + largest), "{window_scale:?}");
    }
}
