//! Leap over a bottleneck with a queue, fluid cross traffic, and ACKs that may be held back.

use std::collections::VecDeque;

use firstflight::avoidance::BbrCruise;
use firstflight::registry::{self, AnyScheme, Value};
use firstflight::restart::Rfc5681;
use firstflight::schemes::Initial;
use firstflight::{Cause, Controller, Event, Exit, Pacing, Span, Time};

use crate::common::{Flow, MSS, micros, millis, packets};

type LeapFlow = Flow<AnyScheme, Rfc5681, BbrCruise>;

const TEN: Initial = Initial { segments: 10, ssthresh: None };
/// The path has 1000 packets at this rate: 100 Mbit/s.
const RTT: Span = Span::from_millis(80);
const PACKET: Span = Span::from_micros(80);

const ALONE: (&str, Value) = ("profile", Value::Word("alone"));

fn start_with(settings: &[(&str, Value)]) -> LeapFlow {
    let is_saved = settings.iter().any(|(name, _)| *name == "saved");
    let scheme = registry::scheme(if is_saved { "leap-saved" } else { "leap" })
        .expect("registered")
        .build(TEN, settings)
        .expect("allowed");
    Flow::established(Controller::new(scheme, Rfc5681::new(TEN), BbrCruise::new()), RTT)
}

fn start() -> LeapFlow {
    start_with(&[])
}

fn start_alone() -> LeapFlow {
    start_with(&[ALONE])
}

/// One bottleneck.
struct Net {
    packet: Span,
    /// Share of the capacity that other flows leave, in hundredths.
    left: u64,
    /// The queue, as time to drain.
    room: Span,
    /// ACKs come at multiples of this.
    held: Span,
    /// The first flight's ACKs arrive this many hundredths as far apart as its packets.
    stretch: u64,
    backlog: Span,
    last: Time,
    carried: u64,
    /// Acknowledgement time of each packet in flight; `None` if the queue dropped it.
    due: VecDeque<Option<Time>>,
    dropped: usize,
    sent: usize,
    /// The greatest pace, in bits per second.
    fastest: u64,
    /// The host sends no more than this number of packets that are not acknowledged, as in loss recovery.
    max_in_flight: usize,
    /// A policer at this share of the capacity, in hundredths, with a bucket of this time at its rate. It drops packets and delays none.
    policer: Option<(u64, Span)>,
    /// The tokens in the bucket, as time at the capacity.
    tokens: Span,
}

impl Net {
    fn new() -> Self {
        Self {
            packet: PACKET,
            left: 100,
            room: millis(80),
            held: Span::ZERO,
            stretch: 100,
            backlog: Span::ZERO,
            last: Time::ZERO,
            carried: 0,
            due: VecDeque::new(),
            dropped: 0,
            sent: 0,
            fastest: 0,
            max_in_flight: usize::MAX,
            policer: None,
            tokens: Span::ZERO,
        }
    }

    /// Takes a packet at the bottleneck, where other flows' packets arrived at a constant rate since the previous
    /// one.
    fn carry(&mut self, now: Time) {
        self.sent += 1;
        if let Some((share, bucket)) = self.policer {
            let full = if self.sent == 1 { bucket } else { self.tokens + now.since(self.last) };
            self.tokens = full.min(bucket);
            let cost = self.packet.scale(100, share);
            if self.tokens < cost {
                self.last = now;
                self.dropped += 1;
                self.due.push_back(None);
                return;
            }
            self.tokens -= cost;
        }
        let drained = now.since(self.last).scale(self.left, 100);
        self.backlog -= drained;
        self.last = now;
        if self.backlog > self.room {
            self.dropped += 1;
            self.due.push_back(None);
            return;
        }
        self.backlog += self.packet;
        self.carried += 1;
        let wait =
            if self.sent <= 10 { self.packet.scale(self.carried * self.stretch, 100) } else { self.backlog };
        let back = now + wait + RTT;
        let held = self.held.nanos().max(1);
        self.due.push_back(Some(Time::from_nanos(back.nanos().div_ceil(held) * held)));
    }

    /// Runs the flow until it exits start-up or `limit` has passed; returns the exit and its time.
    fn run(&mut self, flow: &mut LeapFlow, limit: Span) -> Option<(Exit, Span)> {
        let begin = flow.path.now;
        let end = begin + limit;
        let mut next_send = begin;
        while flow.exits().is_empty() {
            while self.due.front() == Some(&None) {
                self.due.pop_front();
                // Found lost when the packets after it arrive.
                flow.lose();
                flow.ack_with(1, None);
            }
            let plan = flow.plan();
            let may_send = flow.path.pipe + MSS <= plan.window && flow.in_flight() < self.max_in_flight;
            let send = may_send.then(|| match plan.pacing {
                Pacing::Rate { .. } => next_send.max(flow.path.now),
                _ => flow.path.now,
            });
            let ack = self.due.front().copied().flatten();
            let Some(at) = Time::earlier(send, ack).filter(|at| *at <= end) else {
                flow.path.now = end;
                return None;
            };
            flow.path.now = at;
            if send == Some(at) {
                flow.send(1);
                self.carry(at);
                if let Pacing::Rate { rate, .. } = flow.plan().pacing {
                    next_send = at + rate.time_for(MSS);
                    self.fastest = self.fastest.max(rate.bps());
                }
            } else {
                self.due.pop_front();
                flow.delivery_rate = MSS.per(self.packet.scale(100, self.left));
                flow.ack(1);
            }
        }
        flow.exits().first().map(|exit| (*exit, flow.path.now.since(begin)))
    }

    fn exit(&mut self, flow: &mut LeapFlow) -> (Exit, Span) {
        self.run(flow, Span::from_secs(3)).expect("an exit within three seconds")
    }
}

/// The rate found, in hundredths of the bottleneck's.
fn percent(exit: &Exit) -> u64 {
    exit.learned.rate.expect("a rate").bps() / 1_000_000
}

#[test]
fn leap_alone_finds_and_proves_the_rate_within_four_round_trips() {
    let mut net = Net::new();
    let (exit, after) = net.exit(&mut start_alone());
    assert_eq!(exit.cause, Cause::Dispersion);
    assert!((99..=100).contains(&percent(&exit)), "{exit:?}");
    assert!(after < RTT * 4, "{after:?}");
    assert_eq!(net.dropped, 0);
    assert!(exit.learned.window >= packets(995) && exit.learned.window <= packets(1_000), "{exit:?}");
}

#[test]
fn on_a_shared_path_it_finds_and_proves_the_rate_three_round_trips_later() {
    let mut net = Net::new();
    let (exit, after) = net.exit(&mut start());
    assert_eq!(exit.cause, Cause::Dispersion);
    assert!((99..=100).contains(&percent(&exit)), "{exit:?}");
    assert!(after < RTT * 7, "{after:?}");
    assert_eq!(net.dropped, 0);
}

#[test]
fn alone_the_pipe_is_three_quarters_full_two_round_trips_after_the_handshake() {
    let mut net = Net::new();
    let mut flow = start_alone();
    assert_eq!(net.run(&mut flow, RTT.scale(17, 8)), None);
    assert!(flow.in_flight() >= 750, "{} packets in flight", flow.in_flight());
}

#[test]
fn on_a_shared_path_the_second_round_trip_has_a_train_of_24_packets_and_twice_slow_starts_packets() {
    let mut net = Net::new();
    let mut flow = start();
    assert_eq!(net.run(&mut flow, RTT.scale(195, 100)), None);
    // Before them, the first flight's ten. ACKs release 20 packets, and after the train 20 more are paced.
    assert!((10 + 20 + 24 + 15..=10 + 20 + 24 + 20).contains(&net.sent), "{} packets", net.sent);
}

#[test]
fn without_waits_the_window_grows_eightfold_in_a_round_trip_and_not_faster() {
    let mut net = Net::new();
    let mut flow = start();
    // The third round trip begins with twice the train of the second, and has ACKs of the packets between the two.
    assert_eq!(net.run(&mut flow, RTT.scale(29, 10)), None);
    let before = flow.window();
    assert!((48 + 15 * 7..=48 + 20 * 7).contains(&before), "{before} packets");
    assert_eq!(net.run(&mut flow, RTT), None);
    assert!((before * 4..=before * 8).contains(&flow.window()), "{} after {before} packets", flow.window());
}

#[test]
fn next_to_a_constant_rate_the_window_at_most_doubles_in_a_round_trip() {
    let mut net = Net { left: 30, ..Net::new() };
    let mut flow = start();
    let mut before = 0;
    for round in 2..6 {
        let end = if round == 2 { RTT.scale(21, 10) } else { RTT };
        if net.run(&mut flow, end).is_some() {
            break;
        }
        let window = flow.window();
        assert!(before == 0 || window <= before * 2 + 24, "{window} after {before} packets");
        before = window;
    }
    assert!(before > 0);
}

#[test]
fn delay_growth_next_to_a_constant_rate_gives_the_remaining_rate() {
    // On a shared path the pace rises while it is measured.
    for (profile, tolerance) in [(&[][..], 7), (&[ALONE], 10)] {
        for left in [30, 50, 70] {
            let mut net = Net { left, ..Net::new() };
            let mut flow = start_with(profile);
            let (exit, _) = net.exit(&mut flow);
            assert_eq!(exit.cause, Cause::Delay);
            assert!(percent(&exit).abs_diff(left) <= left / tolerance, "{left} %: {exit:?}");
            assert!(
                flow.path.pipe <= exit.learned.window + packets(1),
                "{} in flight: {exit:?}",
                flow.in_flight()
            );
        }
    }
}

#[test]
fn a_pipe_that_the_first_flight_fills_gets_no_train() {
    for profile in [&[][..], &[ALONE]] {
        // Five packets.
        let mut net = Net { packet: PACKET * 200, room: millis(400), ..Net::new() };
        let (exit, _) = net.exit(&mut start_with(profile));
        assert_eq!((exit.cause, net.dropped), (Cause::Dispersion, 0));
        assert!(exit.learned.window <= packets(5), "{exit:?}");
    }
}

#[test]
fn a_policer_that_drops_the_train_without_delay_gives_its_own_rate() {
    // The bucket holds 16 packets: the first flight passes, and a part of the train.
    let mut net = Net { policer: Some((10, PACKET * 160)), ..Net::new() };
    let (exit, _) = net.exit(&mut start());
    assert!((5..=15).contains(&percent(&exit)), "{exit:?}");
    assert!(net.dropped <= 40, "{} packets", net.dropped);
}

#[test]
fn fast_trains_that_are_not_sent_at_their_pace_prove_nothing_and_the_third_exits() {
    for profile in [&[][..], &[ALONE]] {
        // Loss recovery holds the flight at six tenths of the pipe, so that no delay grows.
        let mut net = Net { max_in_flight: 600, ..Net::new() };
        let (exit, _) = net.exit(&mut start_with(profile));
        assert_eq!(exit.cause, Cause::RateFlat);
        assert!((50..=100).contains(&percent(&exit)), "{exit:?}");
        assert!(net.fastest <= 151_000_000, "{} bit/s", net.fastest);
    }
}

#[test]
fn acks_that_are_held_back_make_no_false_bottleneck() {
    for held in [1, 3, 5, 10] {
        let mut net = Net { held: millis(held), ..Net::new() };
        let found = net.run(&mut start(), millis(600)).map_or(100, |(exit, _)| percent(&exit));
        assert!((60..=135).contains(&found), "held back for {held} ms: {found} %");
    }
}

#[test]
fn acks_held_back_for_a_large_part_of_the_round_trip_do_not_keep_it_in_start_up() {
    for profile in [&[][..], &[ALONE]] {
        for (packet, held, room) in [(1_000, 30, 1_500), (2_000, 30, 4_000), (2_000, 60, 4_000)] {
            let mut net =
                Net { packet: micros(packet), held: millis(held), room: millis(room), ..Net::new() };
            let mut flow = start_with(profile);
            let (exit, _) = net.run(&mut flow, Span::from_secs(15)).expect("an exit");
            let right = 100 * PACKET.nanos() / micros(packet).nanos();
            assert!(percent(&exit).abs_diff(right) <= 1, "{packet} us, held back for {held} ms: {exit:?}");
        }
    }
}

#[test]
fn a_misjudged_first_capacity_is_corrected_within_three_round_trips() {
    // The first flight's ACKs were ten times too far apart, or four times too close.
    for stretch in [1_000, 400, 50, 25] {
        let mut net = Net { stretch, ..Net::new() };
        let mut flow = start_alone();
        let before = net.run(&mut flow, RTT.scale(41, 10));
        let looks_for_more = net.fastest > 3 * 100_000_000 * 100 / stretch;
        let Pacing::Rate { rate, .. } = flow.plan().pacing else { panic!("{:?}", flow.plan()) };
        // Drain has the rate of the exit.
        let is_less = rate.bps() <= 130_000_000;
        let right =
            before.map_or(looks_for_more || is_less, |(exit, _)| (40..=130).contains(&percent(&exit)));
        assert!(right, "stretched to {stretch} %: {before:?}, at most {} bit/s", net.fastest);
    }
}

#[test]
fn a_queue_that_is_shorter_than_the_first_flight_is_no_end() {
    let mut net = Net { room: PACKET * 4, ..Net::new() };
    let (exit, after) = net.exit(&mut start());
    assert!(percent(&exit) >= 40, "{exit:?} after {after:?}");
}

#[test]
fn a_train_overflowing_the_queue_exits_by_loss_with_a_threshold() {
    let mut net = Net { packet: PACKET * 4, stretch: 25, room: PACKET * 12, ..Net::new() };
    let (exit, _) = net.exit(&mut start());
    assert_eq!(exit.cause, Cause::Loss);
    // The law need not reduce again.
    assert_eq!(exit.learned.ssthresh, Some(exit.learned.window));
}

fn saved(window: u64, rtt: u64) -> [(&'static str, Value); 2] {
    [("saved", Value::Bytes(packets(window))), ("rtt", Value::Span(millis(rtt)))]
}

#[test]
fn a_quarter_of_the_saved_window_leaves_in_the_first_round_trip() {
    let mut net = Net::new();
    let mut flow = start_with(&saved(1_000, 80));
    assert_eq!(net.run(&mut flow, RTT), None);
    assert!((255..=262).contains(&net.sent), "{} packets", net.sent);
    let (exit, _) = net.exit(&mut flow);
    assert_eq!(exit.cause, Cause::Dispersion);
    assert!((99..=100).contains(&percent(&exit)), "{exit:?}");
}

#[test]
fn saved_values_of_another_path_or_below_a_burst_are_ignored() {
    for settings in [saved(1_000, 160), saved(1_000, 7), saved(40, 80)] {
        let mut net = Net::new();
        let mut flow = start_with(&settings);
        assert_eq!(net.run(&mut flow, millis(79)), None);
        assert_eq!(net.sent, 10);
    }
}

#[test]
fn a_fourfold_saved_window_does_not_overflow_a_short_queue() {
    let mut net = Net { room: millis(8), ..Net::new() };
    let mut flow = start_with(&saved(4_000, 80));
    assert_eq!(net.run(&mut flow, RTT), None);
    assert_eq!(net.dropped, 0);
}

#[test]
fn the_first_flight_waits_for_the_handshake_and_leaves_in_a_burst() {
    let scheme = registry::scheme("leap").expect("registered").build(TEN, &[]).expect("allowed");
    let mut flow = LeapFlow::new(Controller::new(scheme, Rfc5681::new(TEN), BbrCruise::new()));
    assert_eq!(flow.plan().pacing, Pacing::Hold);
    flow.establish(RTT, false);
    assert_eq!((flow.window(), flow.plan().pacing), (10, Pacing::AckClock));
}

#[test]
fn after_a_lost_syn_it_is_slow_start_from_one_segment() {
    let scheme = registry::scheme("leap").expect("registered").build(TEN, &[]).expect("allowed");
    let mut flow = LeapFlow::new(Controller::new(scheme, Rfc5681::new(TEN), BbrCruise::new()));
    flow.establish(RTT, true);
    assert_eq!(flow.window(), 1);
    flow.round(RTT, 1, micros(0));
    assert_eq!(flow.window(), 2);
}

#[test]
fn a_mark_and_a_timeout_leave_the_answer_to_the_law() {
    for (event, cause) in [
        (Event::Marked { sent_at: None }, Cause::Mark),
        (Event::TimedOut { repeated: false }, Cause::Timeout),
    ] {
        let mut flow = start();
        flow.fill();
        flow.wait(RTT);
        flow.ack_with(1, Some(RTT));
        flow.say(&event);
        let exits = flow.exits();
        let exit = exits.first().expect("an exit");
        assert_eq!((exit.cause, exit.learned.ssthresh), (cause, None));
    }
}

#[test]
fn application_paced_data_neither_confirms_nor_refutes_a_rate() {
    let mut flow = start_alone();
    let mut net = Net::new();
    assert_eq!(net.run(&mut flow, RTT.scale(3, 2)), None);
    let Pacing::Rate { rate: before, .. } = flow.plan().pacing else { panic!("{:?}", flow.plan()) };
    // From now on one packet leaves in a round trip, for a minute.
    flow.path.limit = firstflight::SendLimit::App;
    for _ in 0..700 {
        flow.ack(flow.in_flight());
        flow.send(1);
        flow.wait(RTT);
    }
    assert_eq!(flow.exits(), []);
    let Pacing::Rate { rate, .. } = flow.plan().pacing else { panic!("{:?}", flow.plan()) };
    assert!(rate.bps() <= before.bps() * 2, "{rate:?} after {before:?}");
    assert!(flow.window() <= 1_500, "{} packets", flow.window());
}

#[test]
fn on_another_path_the_first_flight_is_measured_anew() {
    let mut flow = start();
    let mut net = Net::new();
    assert_eq!(net.run(&mut flow, RTT.scale(5, 4)), None);
    flow.path.min_rtt = Some(RTT);
    flow.forget_flight();
    flow.say(&Event::Begin(firstflight::Origin::PathChange));
    flow.notes.clear();
    let mut other = Net { packet: PACKET * 2, ..Net::new() };
    let (exit, _) = other.exit(&mut flow);
    assert_eq!(exit.cause, Cause::Dispersion);
    assert!((49..=50).contains(&percent(&exit)), "{exit:?}");
}

#[test]
fn losses_above_3_percent_of_the_window_exit_and_fewer_do_not() {
    let mut flow = start_alone();
    let mut net = Net::new();
    assert_eq!(net.run(&mut flow, RTT.scale(3, 2)), None);
    // Packets sent before Probe are not judged. The window is 1000 packets.
    flow.ack_with(20, None);
    for _ in 0..25 {
        flow.lose();
        flow.ack_with(1, None);
    }
    assert_eq!(flow.exits(), []);
    for _ in 0..10 {
        flow.lose();
        flow.ack_with(1, None);
    }
    assert_eq!(flow.exits().first().map(|exit| exit.cause), Some(Cause::Loss));
}
