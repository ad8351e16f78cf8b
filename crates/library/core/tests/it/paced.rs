//! Paced Start over a bottleneck with fluid cross traffic, where the paper's model of gaps holds exactly.

use std::collections::VecDeque;

use firstflight::avoidance::Reno;
use firstflight::registry::{self, Value};
use firstflight::restart::Rfc5681;
use firstflight::schemes::{Initial, Paced};
use firstflight::{Ack, Bytes, Cause, Controller, Event, Exit, Pacer, Pacing, Phase, Rate, Span, Time};

use crate::common::{Flow, MSS, micros, millis, packets};

/// The initial window of RFC 6928.
const TEN: Initial = Initial { segments: 10, ssthresh: None };

type PacedFlow = Flow<Paced, Rfc5681, Reno>;

/// A packet of 1000 bytes at 100 Mbit/s.
const G_B: u64 = 80_000;
const RTT: Span = Span::from_millis(80);

/// The path: one bottleneck of which cross traffic leaves the share `alpha`, in thousandths.
struct Net {
    alpha: u64,
    /// Segments that an ACK acknowledges, and the time that a receiver waits for the last of them.
    each: usize,
    delay: Span,
    /// Backlog at the bottleneck after the last arrival, as service time.
    backlog: u64,
    last: Time,
    /// Arrival times of ACKs, and the number of packets that each acknowledges.
    acks: VecDeque<(Time, usize)>,
    unacked: usize,
    unacked_since: Time,
}

impl Net {
    fn new(alpha: u64, each: usize) -> Self {
        Self {
            alpha,
            each,
            delay: millis(40),
            backlog: 0,
            last: Time::ZERO,
            acks: VecDeque::new(),
            unacked: 0,
            unacked_since: Time::ZERO,
        }
    }

    /// Takes a packet at the bottleneck; cross traffic lets the backlog shrink at the share `alpha`.
    fn carry(&mut self, now: Time) {
        let drained = now.since(self.last).nanos() * self.alpha / 1_000;
        self.backlog = self.backlog.saturating_sub(drained) + G_B;
        self.last = now;
        let arrives = now + Span::from_nanos(self.backlog);
        self.expire(arrives);
        self.unacked += 1;
        self.unacked_since = arrives;
        if self.unacked == self.each {
            self.acks.push_back((arrives + RTT, self.unacked));
            self.unacked = 0;
        }
    }

    /// The delayed-ACK timer.
    fn expire(&mut self, now: Time) {
        let fires = self.unacked_since + self.delay;
        if self.unacked > 0 && fires < now {
            self.acks.push_back((fires + RTT, self.unacked));
            self.unacked = 0;
        }
    }

    fn next_ack(&mut self) -> Option<(Time, usize)> {
        let timer = (self.unacked > 0).then(|| (self.unacked_since + self.delay + RTT, self.unacked));
        self.acks.front().copied().or(timer)
    }

    fn take_ack(&mut self) {
        if self.acks.pop_front().is_none() {
            self.unacked = 0;
        }
    }
}

/// Runs until start-up ends or no event is left, with `app` packets to send.
fn run(flow: &mut PacedFlow, net: &mut Net, mut app: u64) {
    let mut pacer = Pacer::new();
    let mut cut = None;
    while flow.control.phase() == Phase::Startup {
        let plan = flow.plan();
        pacer.adopt(&plan);
        let may_send = flow.path.flight + MSS <= plan.window;
        let ready = pacer.ready_at(MSS, false).map(|at| at.max(flow.path.now)).filter(|_| may_send);
        if app == 0 && pacer.train_left() > 0 && cut != Some(plan.tag) {
            cut = Some(plan.tag);
            pacer.cut_train();
            flow.train_cut(plan.tag);
            continue;
        }
        match (ready.filter(|_| app > 0), net.next_ack()) {
            (Some(at), ack) if ack.is_none_or(|(ack_at, _)| at < ack_at) => {
                flow.path.now = at;
                flow.send(1);
                pacer.sent(at, MSS);
                net.carry(at);
                app -= 1;
            }
            (_, Some((at, count))) => {
                net.take_ack();
                flow.path.now = at;
                flow.ack(count);
            }
            (_, None) => return,
        }
    }
}

/// Sends the train of the plan and takes all its ACKs.
fn step(flow: &mut PacedFlow, net: &mut Net) {
    let Pacing::Train { packets, gap } = flow.plan().pacing else { panic!("a train") };
    for _ in 0..packets {
        flow.send(1);
        net.carry(flow.path.now);
        flow.wait(gap);
    }
    while let Some((at, count)) = net.next_ack() {
        net.take_ack();
        flow.path.now = at;
        flow.ack(count);
    }
}

fn start(scheme: Paced) -> PacedFlow {
    let restart = Rfc5681::new(Initial { segments: 2, ssthresh: None });
    Flow::established(Controller::new(scheme, restart, Reno::new()), RTT)
}

fn exit_of(scheme: Paced, alpha: u64, each: usize) -> Exit {
    let mut flow = start(scheme);
    run(&mut flow, &mut Net::new(alpha, each), u64::MAX);
    let exits = flow.exits();
    assert_eq!(exits.len(), 1, "α = {alpha}/1000");
    exits[0]
}

/// The gap found, over `g_B`.
fn gap_found(exit: &Exit) -> f64 {
    assert_eq!(exit.cause, Cause::Dispersion);
    let bps = exit.learned.rate.expect("the rate was found").bps();
    1e8 / f64::from(u32::try_from(bps).expect("under 4 Gbit/s"))
}

#[test]
fn the_paper_profile_leaves_with_the_gaps_of_table_2() {
    let f = |a: f64| 7.0 / 3.0 - 4.0 * a / 3.0;
    let g = |a: f64| 3.0 - 2.0 * a;
    let g2 = |a: f64| 1.0 + 2.0 * (1.0 - a) * g(a);
    let g3 = |a: f64| 1.0 + 2.0 * (1.0 - a) * g2(a);
    let cases = [
        (900, 8.0 / 7.0),
        (600, f(0.6)),
        (510, f(0.51)),
        (490, g(0.49)),
        (300, g(0.3)),
        (180, g2(0.18)),
        (100, g2(0.1)),
        (40, 2.0 * g3(0.04)),
    ];
    for (alpha, expected) in cases {
        let found = gap_found(&exit_of(Paced::paper(), alpha, 1));
        assert!((found - expected).abs() < 2e-3, "α = {alpha}/1000: {found}, not {expected}");
    }
}

#[test]
fn the_practical_profile_leaves_there_too_where_nothing_is_noisy() {
    for (alpha, expected) in [(900, 8.0 / 7.0), (600, 1.5333), (300, 2.4), (100, 6.04)] {
        let found = gap_found(&exit_of(Paced::practical(TEN), alpha, 1));
        assert!((found - expected).abs() < 2e-3, "α = {alpha}/1000: {found}, not {expected}");
    }
}

#[test]
fn delayed_acks_do_not_change_the_gap_found_by_the_practical_profile() {
    for (alpha, expected) in [(900, 8.0 / 7.0), (600, 1.5333), (300, 2.4)] {
        let found = gap_found(&exit_of(Paced::practical(TEN), alpha, 2));
        assert!((found - expected).abs() < 2e-3, "α = {alpha}/1000: {found}, not {expected}");
    }
}

#[test]
fn the_fill_size_is_the_round_trip_divided_by_the_found_gap() {
    // 100 Mbit/s of which 60 are available, 80 ms: 652 packets of 1000 bytes, where 600 are ideal. The minimum RTT of
    // the model is that of the handshake, 80 ms.
    let exit = exit_of(Paced::practical(TEN), 600, 1);
    assert_eq!(exit.learned.window, packets(652));
    assert_eq!(exit.learned.ssthresh, Some(packets(652)));
    assert!(exit.learned.rate.expect("found") > Rate::from_bps(65_000_000));
}

#[test]
fn trains_double_and_each_waits_for_all_acks_of_the_one_before() {
    let mut flow = start(Paced::practical(TEN));
    let mut sizes = Vec::new();
    let mut net = Net::new(100, 1);
    let mut pacer = Pacer::new();
    let mut tag = None;
    for _ in 0..2_000 {
        let plan = flow.plan();
        if tag != Some(plan.tag) {
            assert_eq!(flow.in_flight(), 0, "a new train starts on an empty pipe");
            tag = Some(plan.tag);
            let Pacing::Train { packets, .. } = plan.pacing else { break };
            sizes.push(packets);
        }
        pacer.adopt(&plan);
        if let Some(at) = pacer.ready_at(MSS, false) {
            flow.path.now = flow.path.now.max(at);
            flow.send(1);
            pacer.sent(flow.path.now, MSS);
            net.carry(flow.path.now);
        } else if let Some((at, count)) = net.next_ack() {
            net.take_ack();
            flow.path.now = at;
            flow.ack(count);
        }
        if flow.control.phase() != Phase::Startup {
            break;
        }
    }
    // The gap found at α = 0.1 is 6.04 g_B: RTT / g = 165 packets.
    assert_eq!(sizes, [10, 20, 40, 80, 165]);
}

#[test]
fn nothing_leaves_before_the_handshake_is_over() {
    let restart = Rfc5681::new(Initial { segments: 2, ssthresh: None });
    let mut flow: PacedFlow = Flow::new(Controller::new(Paced::practical(TEN), restart, Reno::new()));
    assert_eq!(flow.plan().pacing, Pacing::Hold);
    flow.establish(RTT, false);
    assert_eq!(flow.plan().pacing, Pacing::Train { packets: 10, gap: Span::ZERO });
}

#[test]
fn after_a_lost_syn_it_is_slow_start_from_one_segment() {
    let restart = Rfc5681::new(Initial { segments: 2, ssthresh: None });
    let mut flow: PacedFlow = Flow::new(Controller::new(Paced::practical(TEN), restart, Reno::new()));
    flow.establish(RTT, true);
    assert_eq!((flow.window(), flow.plan().pacing), (1, Pacing::AckClock));
}

#[test]
fn a_pair_with_one_delayed_ack_is_followed_by_four_packets() {
    let mut flow = start(Paced::practical(Initial { segments: 2, ssthresh: None }));
    let first = flow.plan().tag;
    flow.send(2);
    flow.wait(RTT);
    flow.ack(2);
    assert_ne!(flow.plan().tag, first);
    assert_eq!(flow.plan().pacing, Pacing::Train { packets: 4, gap: Span::ZERO });
    // Two ACKs of two segments, 200 µs apart: 100 µs a packet at the bottleneck, and trains begin at half of that rate.
    let mut four = flow.clone();
    four.send(4);
    four.wait(RTT);
    four.ack(2);
    four.wait(Span::from_micros(200));
    four.ack(2);
    assert_eq!(four.plan().pacing, Pacing::Train { packets: 8, gap: Span::from_micros(200) });
    // One ACK of four segments has no gap either.
    flow.send(4);
    flow.wait(RTT);
    flow.ack(4);
    assert!(matches!(flow.plan().pacing, Pacing::Rate { .. }), "paced slow start");
}

#[test]
fn the_papers_pair_is_repeated_as_a_pair_before_paced_slow_start() {
    let mut flow = start(Paced::paper());
    let first = flow.plan().tag;
    flow.send(2);
    flow.wait(RTT);
    flow.ack(2);
    assert_ne!(flow.plan().tag, first, "the pair is tried once more");
    assert_eq!(flow.plan().pacing, Pacing::Train { packets: 2, gap: Span::ZERO });
    flow.send(2);
    flow.wait(RTT);
    flow.ack(2);
    assert!(matches!(flow.plan().pacing, Pacing::Rate { .. }), "paced slow start");
    assert_eq!(flow.plan().ssthresh, None);
    assert_eq!(flow.control.phase(), Phase::Startup);
}

#[test]
fn an_application_with_too_little_data_ends_in_slow_start() {
    let mut flow = start(Paced::practical(TEN));
    run(&mut flow, &mut Net::new(600, 1), 13);
    assert!(matches!(flow.plan().pacing, Pacing::Rate { .. } | Pacing::AckClock));
    assert!(flow.exits().is_empty());
}

#[test]
fn a_pipe_that_holds_less_than_the_train_is_left_at_once() {
    // 0.8 ms of 80 µs packets: the pipe holds 10, as many as the first burst.
    let restart = Rfc5681::new(Initial { segments: 2, ssthresh: None });
    let mut flow: PacedFlow =
        Flow::established(Controller::new(Paced::practical(TEN), restart, Reno::new()), micros(800));
    flow.send(10);
    flow.wait(micros(800));
    for _ in 0..10 {
        flow.ack(1);
        flow.wait(micros(80));
    }
    let exit = flow.exits()[0];
    assert_eq!((exit.cause, exit.learned.window), (Cause::Dispersion, packets(10)));
    assert_eq!(exit.learned.rate, Some(Rate::from_bps(100_000_000)));
}

#[test]
fn a_loss_in_a_train_exits_by_loss_and_halves_the_flight() {
    let mut flow = start(Paced::practical(TEN));
    flow.send(10);
    flow.wait(RTT);
    flow.ack(2);
    flow.lose();
    let exit = flow.exits()[0];
    assert_eq!((exit.cause, exit.learned.window), (Cause::Loss, packets(10)));
    assert_eq!((flow.control.phase(), flow.window()), (Phase::Avoidance, 4));
}

#[test]
fn a_timeout_means_slow_start_up_to_half_of_the_last_train() {
    let mut flow = start(Paced::practical(TEN));
    flow.send(10);
    flow.wait(Span::from_secs(1));
    flow.time_out(false);
    assert_eq!(flow.exits()[0].cause, Cause::Timeout);
    let plan = flow.plan();
    assert_eq!((plan.window, plan.ssthresh, plan.pacing), (MSS, Some(packets(5)), Pacing::AckClock));
}

#[test]
fn a_spurious_loss_does_not_leave_the_scheme_waiting_for_past_acks() {
    let mut flow = start(Paced::practical(TEN));
    flow.send(10);
    flow.wait(RTT);
    flow.ack(2);
    flow.lose();
    flow.ack(8);
    flow.say(&Event::SpuriousLoss);
    assert_eq!(flow.control.phase(), Phase::Startup);
    assert_eq!(flow.plan().pacing, Pacing::Train { packets: 10, gap: Span::ZERO });
    run(&mut flow, &mut Net::new(600, 1), u64::MAX);
    assert_eq!(flow.exits().last().map(|exit| exit.cause), Some(Cause::Dispersion));
}

#[test]
fn the_receive_window_caps_the_fill() {
    let mut flow = start(Paced::practical(TEN));
    flow.path.rwnd = packets(300);
    run(&mut flow, &mut Net::new(600, 1), u64::MAX);
    assert_eq!(flow.exits()[0].learned.window, packets(300));
}

/// Linux's receivers begin with 64 kB and open their window as data arrives, so the window says nothing about the pipe.
#[test]
fn after_a_fill_that_the_receive_window_ended_slow_start_goes_on_to_the_pipe_found() {
    let mut flow = start(Paced::practical(TEN));
    flow.path.rwnd = packets(300);
    run(&mut flow, &mut Net::new(600, 1), u64::MAX);
    let learned = flow.exits()[0].learned;
    assert_eq!((learned.window, learned.ssthresh), (packets(300), Some(packets(652))));
    assert_eq!(flow.plan().ssthresh, Some(packets(652)), "the avoidance law has it");
    // If the application had less to send than the receive window has room for, no more than that was shown to fit.
    let mut flow = start(Paced::practical(TEN));
    let mut net = Net::new(600, 1);
    flow.path.rwnd = packets(300);
    while !matches!(flow.plan().pacing, Pacing::Train { packets: 300, .. }) {
        step(&mut flow, &mut net);
    }
    flow.send(100);
    flow.wait(RTT);
    flow.ack(1);
    let learned = flow.exits()[0].learned;
    assert_eq!((learned.window, learned.ssthresh), (packets(100), Some(packets(100))));
}

/// A flow whose trains are over, with 100 packets of the fill's 652 sent.
fn in_the_fill() -> PacedFlow {
    let mut flow = start(Paced::practical(TEN));
    let mut net = Net::new(600, 1);
    while !matches!(flow.plan().pacing, Pacing::Train { packets: 652, .. }) {
        step(&mut flow, &mut net);
    }
    flow.send(100);
    flow
}

#[test]
fn a_spurious_loss_in_the_fill_ends_it_with_what_was_sent() {
    let mut flow = in_the_fill();
    flow.lose();
    flow.wait(RTT);
    flow.ack(100);
    flow.say(&Event::SpuriousLoss);
    let causes: Vec<Cause> = flow.exits().iter().map(|exit| exit.cause).collect();
    assert_eq!(causes, [Cause::Loss, Cause::Dispersion]);
    assert_eq!((flow.control.phase(), flow.window()), (Phase::Avoidance, 100));
}

#[test]
fn another_segment_size_in_the_fill_ends_it_without_a_rate() {
    let mut flow = in_the_fill();
    flow.path.mss = MSS / 2;
    flow.path.wire = flow.path.mss;
    flow.say(&Event::MssChanged);
    let exit = flow.exits()[0];
    assert_eq!((exit.cause, exit.learned.rate), (Cause::Dispersion, None));
}

#[test]
fn an_ack_of_nothing_that_the_fill_sent_does_not_end_it() {
    let mut flow = in_the_fill();
    flow.wait(RTT);
    flow.say(&Event::Acked(Ack::unlisted(MSS, 1, false)));
    assert_eq!((flow.control.phase(), flow.exits().len()), (Phase::Startup, 0));
    flow.ack(1);
    assert_eq!(flow.exits().last().map(|exit| exit.cause), Some(Cause::Dispersion));
}

#[test]
fn unsent_packets_of_the_fill_are_excluded_from_the_window() {
    let mut flow = start(Paced::practical(TEN));
    // First burst and two trains, then 100 packets of the fill's 652.
    run(&mut flow, &mut Net::new(600, 1), 10 + 20 + 40 + 100);
    let exit = flow.exits()[0];
    assert_eq!((exit.cause, exit.learned.window), (Cause::Dispersion, packets(100)));
}

/// There was no train yet whose gaps would be of another size.
#[test]
fn another_segment_size_before_the_handshake_is_over_voids_no_train() {
    let entry = registry::scheme("paced").expect("registered");
    let initial = Initial { segments: 10, ssthresh: None };
    let scheme = entry.build(initial, &[("voids", Value::Count(1))]).expect("allowed");
    let mut flow = Flow::new(Controller::new(scheme, Rfc5681::new(initial), Reno::new()));
    flow.path.mss = Bytes::new(536);
    flow.path.wire = Bytes::new(536);
    flow.say(&Event::MssChanged);
    assert_eq!(flow.plan().pacing, Pacing::Hold);
    flow.establish(RTT, false);
    assert_eq!(flow.plan().pacing, Pacing::Train { packets: 10, gap: Span::ZERO });
    assert_eq!(flow.plan().window, Bytes::new(5_360));
    // With a train in flight the search begins again, as after an invalid train.
    flow.send(10);
    flow.say(&Event::MssChanged);
    flow.wait(RTT);
    flow.ack(10);
    assert!(matches!(flow.plan().pacing, Pacing::Rate { .. }), "the one void train that there may be");
}
