//! A host with packet numbers drives the same controllers as a stream host, by the interface's column for packet hosts.

use firstflight::registry::{self, Ability, AnyController, LawEntry, Needs, SchemeEntry};
use firstflight::restart::Rfc5681;
use firstflight::schemes::Initial;
use firstflight::{Bytes, Call, Cause, Controller, Event, Note, Origin, OwnedEvent, Rate, Span, Time};
use firstflight_fuzz_bodies::packet_host::{Link, Outcome, PacketHost};

const INITIAL: Initial = Initial { segments: 10, ssthresh: None };
const MSS: Bytes = Bytes::new(1_200);

/// A link of 20 Mbit/s, 40 ms and a queue of 50 packets. The BDP is 81 packets.
fn link() -> Link {
    Link {
        rate: Rate::from_bps(20_000_000),
        rtt: Span::from_millis(40),
        queue: 50,
        ack_batch: Span::ZERO,
        together: false,
        outage: None,
    }
}

fn controller(scheme: &SchemeEntry, law: &LawEntry) -> AnyController {
    let startup = scheme.build(INITIAL, &[]).expect("defaults are allowed");
    Controller::new(startup, Rfc5681::new(INITIAL).into(), law.build())
}

fn named(scheme: &str, law: &str) -> AnyController {
    controller(registry::scheme(scheme).expect("registered"), registry::law(law).expect("registered"))
}

/// Two megabytes.
fn transfer(scheme: &str, law: &str, link: Link) -> Outcome {
    PacketHost::new(named(scheme, law), link, 2_000_000 / 1_200).run()
}

/// Returns how often the window was reduced within one and a half RTTs (110 ms) of the first reduction.
fn reductions_of_the_overshoot(outcome: &Outcome) -> usize {
    let at = |(at, note): &(Time, Note)| matches!(note, Note::Reduced { .. }).then_some(*at);
    let all: Vec<Time> = outcome.notes.iter().filter_map(at).collect();
    all.iter().filter(|at| at.since(all[0]) < Span::from_millis(110)).count()
}

#[test]
fn overshoot_losses_found_after_the_episode_do_not_reduce_again() {
    // Laws that reduce the window below the capacity of path and queue, so that no packet sent later is lost.
    for law in ["reno", "reno-acks", "westwood"] {
        let outcome = transfer("slow-start", law, link());
        assert_eq!(outcome.breaches, []);
        assert_eq!(reductions_of_the_overshoot(&outcome), 1, "{law}");
    }
    // If a host does not report when the lost packets were sent, the episode counts as over.
    let outcome = transfer("slow-start", "reno", link());
    assert_eq!(reductions_of_the_overshoot(&without_send_times(&outcome)), 2);
}

/// Returns what a controller does at the calls of `outcome` if the host omits the send times of lost packets.
fn without_send_times(outcome: &Outcome) -> Outcome {
    let mut control = named("slow-start", "reno");
    let mut silent = Outcome::default();
    for record in &outcome.records {
        let call = match &record.call {
            Call::On(event) => match event.event() {
                Event::Lost(mut loss) => {
                    loss.sent_at = None;
                    Call::On(OwnedEvent::new(&Event::Lost(loss)))
                }
                _ => record.call.clone(),
            },
            call => call.clone(),
        };
        let (_, notes) = control.replay(&call, &record.path);
        silent.notes.extend(notes.into_iter().map(|note| (record.path.now, note)));
    }
    silent
}

#[test]
fn a_batched_ack_showing_loss_halves_the_flight_before_it() {
    let lumped = Link { ack_batch: Span::from_millis(20), together: true, ..link() };
    for law in ["reno", "cubic"] {
        let outcome = PacketHost::new(named("hystart-linux", law), lumped, 6_000).run();
        assert_eq!(outcome.breaches, []);
        let first = outcome.notes.iter().position(|(_, note)| matches!(note, Note::Reduced { .. }));
        let (at, note) = outcome.notes[first.expect("the queue overflows")];
        let Note::Reduced { from } = note else { unreachable!() };
        let after = outcome.windows.iter().find(|(when, _)| *when >= at).expect("a window").1;
        // Half of a flight that was a good part of the window. Using the flight after the ACK would give a quarter.
        assert!(after * 3 >= from, "{law}: from {from:?} to {after:?}, RFC 9002 section 7.3.2");
    }
}

#[test]
fn persistent_congestion_reduces_to_two_segments_and_keeps_half_the_flight() {
    let from = Time::from_nanos(1_500_000_000);
    let outage = Some((from, from + Span::from_millis(1_500)));
    for law in ["reno", "cubic"] {
        let outcome = transfer("slow-start", law, Link { outage, ..link() });
        assert_eq!(outcome.breaches, []);
        assert_eq!(outcome.persistent, 1);
        let was = outcome.notes.iter().find_map(|(_, note)| match note {
            Note::Began(Origin::AfterTimeout { was }) => Some(*was),
            _ => None,
        });
        let was = was.expect("slow start begins anew");
        assert_eq!(was.window, MSS * 2);
        assert!(was.ssthresh > Some(MSS * 25), "{was:?}");
    }
}

#[test]
fn on_another_path_a_connection_begins_anew() {
    for scheme in registry::schemes() {
        let law = registry::law(scheme.law).expect("registered");
        let mut host = PacketHost::new(controller(scheme, law), link(), 4_000);
        host.run_until(Time::from_nanos(1_250_000_000));
        let slower = Link { rate: Rate::from_bps(2_000_000), rtt: Span::from_millis(80), ..link() };
        let before = host.notes().len();
        host.migrate(slower);
        // Rapid Start may begin with two initial windows.
        let initial = if scheme.name == "rapid-start" { MSS * 20 } else { MSS * 10 };
        assert!(host.window() <= initial, "{}: {:?}", scheme.name, host.window());
        let begins = |(_, note): &(Time, Note)| matches!(note, Note::Began(Origin::PathChange));
        assert_eq!(host.notes()[before..].iter().filter(|note| begins(note)).count(), 1);
        let outcome = host.run();
        assert_eq!(outcome.breaches, [], "{}", scheme.name);
    }
}

#[test]
fn every_scheme_and_law_transfers_two_megabytes_without_host_breaches() {
    for scheme in registry::schemes() {
        for law in registry::laws() {
            let host = PacketHost::new(controller(scheme, law), link(), 2_000_000 / 1_200);
            let outcome = host.run();
            assert_eq!(outcome.breaches, [], "{} and {}", scheme.name, law.name);
            // The ideal is 40 ms of handshake, 40 ms for the RTT, and 819 ms of packets.
            let slowest = Span::from_millis(2_500);
            assert!(outcome.time < slowest, "{} and {}: {:?}", scheme.name, law.name, outcome.time);
        }
    }
}

/// Returns the exit of start-up with every ACK as it arrives, and with the ACKs of two milliseconds together.
fn dense_and_batched(scheme: &SchemeEntry) -> [(Cause, u64); 2] {
    [Span::ZERO, Span::from_millis(2)].map(|ack_batch| {
        let law = registry::law(scheme.law).expect("registered");
        let deep = Link { queue: 400, ack_batch, ..link() };
        let outcome = PacketHost::new(controller(scheme, law), deep, 3_000).run();
        outcome.exit().map_or((Cause::AppLimited, 0), |(cause, window)| (cause, window.packets(MSS)))
    })
}

#[test]
fn schemes_without_dense_ack_need_exit_alike_with_batched_acks() {
    let declares = |needs: Needs| needs.has(Ability::DenseAcks) || needs.uses(Ability::DenseAcks);
    let mut moved = Vec::new();
    for scheme in registry::schemes() {
        let [dense, batched] = dense_and_batched(scheme);
        let near = dense.0 == batched.0 && dense.1.abs_diff(batched.1) * 5 <= dense.1;
        if !near {
            moved.push(scheme.name);
        }
        assert!(near || declares(scheme.needs), "{}: {dense:?}, batched {batched:?}", scheme.name);
    }
    assert!(!moved.is_empty(), "two milliseconds at once are told from ACKs one at a time");
}
