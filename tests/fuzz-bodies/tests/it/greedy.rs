//! A dishonest receiver is served no faster than an honest one, by any scheme with any law.
//!
//! ACK division (Savage et al. 1999; RFC 3465 section 1, RFC 5681 section 3.1): many ACKs for one segment. Optimistic ACKs: ACKs of data
//! that did not arrive. ACKs of data that was never sent are refused. ACKs of data that was sent and has not arrived cannot be
//! distinguished from a shorter path without a nonce in the data; `docs/reference/laws.md` states what then holds.

use std::collections::BTreeMap;

use firstflight::registry::{self, LawEntry, SchemeEntry};
use firstflight::schemes::Initial;
use firstflight::{Cause, Controller, Note, Span, Time};
use firstflight_tcp::{Config, Endpoint, EndpointEvent, Flags, Role, Segment};

const MSS: u16 = 1_000;
const RTT: Span = Span::from_millis(100);
/// The duration of the comparison: the first flights.
const WATCHED: Span = Span::from_millis(850);
/// The bytes written: more than any scheme sends in that time. The peer's window admits them.
const WRITTEN: u64 = 40_000_000;
/// The bottleneck's gap between packets: 100 Mbit/s.
const GAP: Span = Span::from_micros(83);

/// A receiver's reaction to a segment that ends at a stream offset.
#[derive(Clone, Copy, Debug)]
enum Receiver {
    /// One ACK for each segment.
    Honest,
    /// This many ACKs, each for a part of it.
    Dividing(u64),
    /// One ACK, and this many for the segments after it, which have not been sent or have not arrived.
    Guessing(u64),
    /// One ACK, and this many repetitions of it.
    Repeating(u64),
}

struct Race {
    scheme: &'static SchemeEntry,
    law: &'static LawEntry,
    timestamps: bool,
}

impl Race {
    /// Returns the bytes sent by each time, with this receiver.
    fn run(&self, receiver: Receiver) -> Vec<(Time, u64)> {
        self.run_over(GAP, WATCHED, receiver).0
    }

    /// Runs over a bottleneck with this gap between packets and for the time `watched`. Returns the bytes sent by each time, and the causes
    /// of the exits.
    fn run_over(&self, gap: Span, watched: Span, receiver: Receiver) -> (Vec<(Time, u64)>, Vec<Cause>) {
        let initial = Initial { segments: 10, ssthresh: None };
        let startup = self.scheme.build(initial, &[]).expect("defaults are allowed");
        let restart = registry::restarts()[0].build(initial, &[]).expect("defaults are allowed");
        let config = Config { mss: MSS, timestamps: self.timestamps, ..Config::default() };
        let control = Controller::new(startup, restart, self.law.build());
        let mut client = Endpoint::new(Role::Client, &config, control);
        let begin = Time::from_nanos(1_000_000_000);
        let mut now = begin;
        client.open(now);
        client.write(WRITTEN);
        let mut arrivals: BTreeMap<(Time, u64), Segment> = BTreeMap::new();
        let (mut count, mut link_free, mut sent, mut exits) = (0, begin, Vec::new(), Vec::new());
        loop {
            while let Some(transmit) = client.poll_transmit(now) {
                let segment = transmit.segment;
                if segment.len > 0 {
                    link_free = link_free.max(now) + gap;
                }
                for answer in answers(receiver, &segment) {
                    count += 1;
                    arrivals.insert((link_free + RTT, count), answer);
                }
                sent.push((now, client.snapshot().nxt));
            }
            while let Some(event) = client.poll_event() {
                if let EndpointEvent::Control(Note::Exited { exit, .. }) = event {
                    exits.push(exit.cause);
                }
            }
            let arrival = arrivals.first_key_value().map(|((at, _), _)| *at);
            let next = [arrival, client.next_timer()].into_iter().flatten().min();
            let Some(at) = next.filter(|at| at.since(begin) <= watched) else { return (sent, exits) };
            now = now.max(at);
            if let Some(entry) = arrivals.first_entry().filter(|entry| entry.key().0 <= now) {
                client.on_segment(now, &entry.remove());
            }
            client.on_timer(now);
        }
    }
}

/// Returns the receiver's answers to a segment of the client, whose stream begins at sequence number 0.
fn answers(receiver: Receiver, segment: &Segment) -> Vec<Segment> {
    let plain = Segment {
        seq: 1,
        window: u16::MAX,
        flags: Flags::ACK,
        timestamps: segment
            .timestamps
            .map(|stamps| firstflight_tcp::Timestamps { value: 1, echo: stamps.value }),
        ..Segment::default()
    };
    if segment.flags.has(Flags::SYN) {
        return vec![Segment {
            seq: 0,
            ack: 1,
            flags: Flags::SYN.with(Flags::ACK),
            mss: core::num::NonZeroU16::new(MSS),
            window_scale: Some(14),
            sack_permitted: true,
            ..plain
        }];
    }
    let (start, len) = (segment.seq, u32::from(segment.len));
    if len == 0 {
        return Vec::new();
    }
    let at = |ack: u32| saying(&plain, ack);
    match receiver {
        Receiver::Honest => vec![at(start + len)],
        Receiver::Dividing(parts) => {
            let parts = u32::try_from(parts).expect("few");
            (1..=parts).map(|part| at(start + len * part / parts)).collect()
        }
        Receiver::Guessing(more) => {
            // The guesses are beyond the data in flight, which is another case.
            let more = u32::try_from(more).expect("few");
            let guess = |ahead: u32| at(start + len + (1 << 27) + ahead * len);
            core::iter::once(at(start + len)).chain((1..=more).map(guess)).collect()
        }
        Receiver::Repeating(more) => (0..=more).map(|_| at(start + len)).collect(),
    }
}

fn saying(plain: &Segment, ack: u32) -> Segment {
    Segment { ack, ..*plain }
}

fn everyone() -> impl Iterator<Item = Race> {
    registry::schemes().iter().flat_map(|scheme| {
        let own = registry::law(scheme.law).expect("it is listed");
        let laws =
            registry::laws().iter().filter(move |law| scheme.name == "slow-start" || law.name == own.name);
        laws.flat_map(move |law| [false, true].map(|timestamps| Race { scheme, law, timestamps }))
    })
}

/// The maximum lead of a dishonest receiver.
#[derive(Clone, Copy, Debug)]
struct Slack {
    bytes: u64,
    /// The lead in time, for each RTT so far.
    each_round: Span,
}

/// Returns the first time at which more was sent than to the honest receiver by then, allowing for the slack.
fn faster(honest: &[(Time, u64)], dishonest: &[(Time, u64)], slack: Slack) -> Option<(Time, u64, u64)> {
    let (begin, end) = (honest[0].0, honest[honest.len() - 1].0);
    dishonest.iter().find_map(|(at, bytes)| {
        let rounds = at.since(begin).nanos() / RTT.nanos();
        let by = *at + slack.each_round * rounds;
        let by_then = honest.partition_point(|(when, _)| *when <= by);
        let fair = by_then.checked_sub(1).map_or(0, |last| honest[last].1);
        (by <= end && *bytes > fair + slack.bytes).then_some((*at, *bytes, fair))
    })
}

fn nobody_gains(receivers: &[Receiver], slack: Slack) {
    let mut gains = Vec::new();
    for race in everyone() {
        let honest = race.run(Receiver::Honest);
        for receiver in receivers {
            let dishonest = race.run(*receiver);
            if let Some((at, got, fair)) = faster(&honest, &dishonest, slack) {
                gains.push(format!(
                    "{} before {}, timestamps {}: {receiver:?} got {got} bytes by {at:?}, an honest receiver {fair}; at the end {:?} and {:?}",
                    race.scheme.name, race.law.name, race.timestamps, dishonest.last(), honest.last(),
                ));
            }
        }
    }
    assert!(gains.is_empty(), "{}", gains.join("\n"));
}

#[test]
fn dividing_an_ack_speeds_nobody_up() {
    // The parts of the last segment before start-up ends have widened its window, so that the segment that avoidance adds in each round is
    // sent up to a round earlier. If the ACKs come at the bottleneck's pace, this segment delays the packets after it by a packet time; if
    // SUSS paced its half, it finds a gap. In the part of the round between the two places, one of the two receivers is a packet time
    // behind for each round so far, and level again at the end of the round.
    nobody_gains(
        &[Receiver::Dividing(2), Receiver::Dividing(40)],
        Slack { bytes: u64::from(MSS), each_round: GAP },
    );
}

#[test]
fn dividing_an_ack_keeps_nobody_in_start_up() {
    // 10 Mbit/s: the pipe holds 120 segments, and its queue everything.
    let (gap, watched) = (GAP * 10, Span::from_millis(2_500));
    let mut kept = Vec::new();
    for race in everyone().filter(|race| !race.timestamps) {
        let (_, honest) = race.run_over(gap, watched, Receiver::Honest);
        let (_, exits) = race.run_over(gap, watched, Receiver::Dividing(2));
        if exits != honest {
            kept.push(format!("{} before {}: {exits:?}, {honest:?}", race.scheme.name, race.law.name));
        }
    }
    assert!(kept.is_empty(), "{}", kept.join("\n"));
}

#[test]
fn acks_of_data_never_sent_speed_nobody_up() {
    nobody_gains(&[Receiver::Guessing(20)], Slack { bytes: 0, each_round: Span::ZERO });
}

#[test]
fn saying_an_ack_again_speeds_nobody_up() {
    let slack = Slack { bytes: u64::from(MSS), each_round: Span::ZERO };
    nobody_gains(&[Receiver::Repeating(1), Receiver::Repeating(20)], slack);
}
