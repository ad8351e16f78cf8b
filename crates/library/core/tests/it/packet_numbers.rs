//! Reports of a host with packet numbers (QUIC, RFC 9002), and the controller's answers.

use firstflight::avoidance::Reno;
use firstflight::registry::{self, AnyLaw, AnyScheme};
use firstflight::restart::Rfc5681;
use firstflight::schemes::{Initial, SlowStart};
use firstflight::{Controller, Event, Loss, LostPacket, Note, Origin, Pacing, Phase, Span, Tag, Time};

use crate::common::{Flow, MSS, millis, packets};

type Standard = Flow<SlowStart, Rfc5681, Reno>;

const RTT: Span = Span::from_millis(100);
const INITIAL: Initial = Initial { segments: 10, ssthresh: None };

/// Returns slow start with 40 packets in flight, one RTT after their transmission.
fn forty() -> Standard {
    let control = Controller::new(SlowStart::new(INITIAL), Rfc5681::new(INITIAL), Reno::new());
    let mut flow = Flow::established(control, RTT);
    flow.round(RTT, 1, Span::ZERO);
    flow.round(RTT, 1, Span::ZERO);
    flow.fill();
    flow.wait(RTT);
    assert_eq!(flow.window(), 40);
    flow
}

fn lose(packets: &[LostPacket], sent_at: Time) -> Loss<'_> {
    let mut loss = Loss::new(packets);
    loss.sent_at = Some(sent_at);
    loss
}

fn persistent(mut loss: Loss<'_>) -> Loss<'_> {
    loss.persistent = true;
    loss
}

fn packet(number: u64) -> LostPacket {
    LostPacket { packet: number, bytes: MSS, tag: Tag::default() }
}

fn reductions(flow: &Standard) -> usize {
    flow.notes.iter().filter(|note| matches!(note, Note::Reduced { .. })).count()
}

#[test]
fn late_detected_losses_from_before_the_episode_do_not_reduce_again() {
    let mut flow = forty();
    let left = flow.path.now - RTT;
    flow.say(&Event::Lost(lose(&[packet(30)], left)));
    assert_eq!((flow.window(), reductions(&flow)), (20, 1));
    // A packet sent after the episode began is acknowledged: the episode is over.
    flow.wait(RTT);
    flow.path.recovering = false;
    flow.ack(10);
    flow.say(&Event::Lost(lose(&[packet(60)], left)));
    assert_eq!(reductions(&flow), 1, "RFC 9002 section 7.3.2");
    assert!(flow.window() >= 20);
}

#[test]
fn loss_of_a_packet_sent_within_an_episode_opens_another() {
    for later in [Span::ZERO, millis(1)] {
        let mut flow = forty();
        let reduced_at = flow.path.now;
        flow.say(&Event::Lost(lose(&[packet(30)], reduced_at - RTT)));
        flow.wait(RTT);
        flow.say(&Event::Lost(lose(&[packet(70)], reduced_at + later)));
        assert_eq!((flow.window(), reductions(&flow)), (10, 2));
    }
}

#[test]
fn a_mark_of_a_packet_sent_before_the_episode_is_ignored() {
    let mut flow = forty();
    let reduced_at = flow.path.now;
    flow.say(&Event::Marked { sent_at: Some(reduced_at - RTT) });
    assert_eq!(flow.window(), 20);
    flow.say(&Event::Marked { sent_at: Some(reduced_at - millis(1)) });
    assert_eq!(flow.window(), 20);
    flow.wait(RTT);
    flow.say(&Event::Marked { sent_at: Some(reduced_at + millis(1)) });
    assert_eq!(flow.window(), 10);
}

#[test]
fn an_undone_reduction_answers_no_later_loss() {
    let mut flow = forty();
    let left = flow.path.now - RTT;
    flow.say(&Event::Lost(lose(&[packet(30)], left)));
    flow.say(&Event::SpuriousLoss);
    assert_eq!(flow.window(), 40);
    flow.say(&Event::Lost(lose(&[packet(31)], left)));
    assert_eq!((flow.window(), reductions(&flow)), (20, 2));
}

#[test]
fn persistent_congestion_reduces_to_two_segments_and_halves_the_threshold_once() {
    let mut flow = forty();
    let left = flow.path.now - RTT;
    flow.say(&Event::Lost(persistent(lose(&[packet(30), packet(69)], left))));
    assert_eq!((flow.control.phase(), flow.window()), (Phase::Startup, 2), "RFC 9002 section 7.6.2");
    assert_eq!(flow.plan().ssthresh, Some(packets(20)));
    assert_eq!(reductions(&flow), 1);
}

#[test]
fn persistent_congestion_found_in_an_episode_keeps_the_threshold_of_the_episode() {
    let mut flow = forty();
    let left = flow.path.now - RTT;
    flow.say(&Event::Lost(lose(&[packet(30)], left)));
    flow.wait(RTT);
    flow.say(&Event::Lost(persistent(lose(&[packet(69)], left))));
    assert_eq!((flow.control.phase(), flow.window()), (Phase::Startup, 2));
    assert_eq!(flow.plan().ssthresh, Some(packets(20)), "as a repeated timeout does");
}

/// Runs `check` under every scheme and law, with the first window and ten additional packets in flight, one RTT after their transmission.
fn under_every_scheme_and_law(check: impl Fn(&mut Flow<AnyScheme, Rfc5681, AnyLaw>, &str)) {
    for scheme in registry::schemes() {
        for law in registry::laws() {
            let startup: AnyScheme = scheme.build(INITIAL, &[]).expect("defaults are allowed");
            let control = Controller::new(startup, Rfc5681::new(INITIAL), law.build());
            let mut flow = Flow::established(control, RTT);
            flow.fill();
            flow.send(10);
            flow.wait(RTT);
            check(&mut flow, &format!("{} and {}", scheme.name, law.name));
        }
    }
}

#[test]
fn every_scheme_and_law_reduces_to_two_segments_at_persistent_congestion() {
    under_every_scheme_and_law(|flow, names| {
        let packets = [packet(0), packet(9)];
        let loss = persistent(lose(&packets, flow.path.now - RTT));
        flow.say(&Event::Lost(loss));
        let begins = flow.notes.iter().filter(
            |note| matches!(note, Note::Began(Origin::AfterTimeout { was }) if was.window == MSS * 2),
        );
        assert_eq!(begins.count(), 1, "{names}");
    });
}

#[test]
fn persistent_congestion_within_an_episode_leaves_a_threshold_for_every_combination() {
    under_every_scheme_and_law(|flow, names| {
        let left = flow.path.now - RTT;
        flow.say(&Event::Lost(lose(&[packet(0)], left)));
        flow.wait(RTT);
        flow.say(&Event::Lost(persistent(lose(&[packet(9)], left))));
        let was = flow.notes.iter().rev().find_map(|note| match note {
            Note::Began(Origin::AfterTimeout { was }) => Some(*was),
            _ => None,
        });
        let was = was.expect("slow start begins");
        assert_eq!(was.window, MSS * 2, "{names}");
        assert!(was.ssthresh.is_some(), "{names}");
    });
}

#[test]
fn a_host_that_takes_no_notes_loses_the_oldest() {
    let mut flow = forty();
    for _ in 0..8 {
        flow.control.on(&Event::TimedOut { repeated: false }, &flow.path);
    }
    assert_eq!(flow.window(), 1);
    assert!(flow.control.take_note().is_some());
}

#[test]
fn a_handshake_under_congestion_control_has_the_initial_window_under_every_scheme() {
    for scheme in registry::schemes() {
        let startup: AnyScheme = scheme.build(INITIAL, &[]).expect("defaults are allowed");
        let flow = Flow::new(Controller::new(startup, Rfc5681::new(INITIAL), Reno::new()));
        let plan = flow.plan();
        assert_eq!(plan.pacing, Pacing::Hold, "{}: no application data", scheme.name);
        assert_eq!(plan.window, MSS * 10, "{}", scheme.name);
    }
}
