//! Rounds with idle times in between, across the network: the behaviour of each restart policy.

use firstflight::registry::{self, AnyController, AnyLaw, AnyRestart, AnyScheme, Value};
use firstflight::schemes::Initial;
use firstflight::{Cause, Note, Origin, Phase, Rate, Sent, Span, Time};
use firstflight_sim::{
    Application, Flow, FlowId, Network, PathSpec, Pause, QueueLimit, Recorder, Rounds, Sim, Stop, TcpSpec,
    Traffic, single_path,
};
use firstflight_tcp::{AckPolicy, Config, EndpointEvent, Role, Segment, Snapshot};

const IDLE: Span = Span::from_secs(20);
const REPLY: u64 = 24 * 960;

/// Record of the sender: rounds, transmissions of data, notes.
#[derive(Default, Clone, Debug)]
struct Trace {
    began: Vec<Time>,
    ended: Vec<Time>,
    sent: Vec<Time>,
    notes: Vec<Note>,
}

impl Recorder for Trace {
    fn sent(&mut self, at: Time, _: FlowId, side: Role, _: u64, segment: &Segment, _: Option<&Sent>) {
        if side == Role::Client && segment.len > 0 {
            self.sent.push(at);
        }
    }

    fn event(&mut self, _: Time, _: FlowId, side: Role, what: &EndpointEvent, _: impl Fn() -> Snapshot) {
        if let (Role::Client, EndpointEvent::Control(note)) = (side, what) {
            self.notes.push(*note);
        }
    }

    fn round_began(&mut self, at: Time, _: FlowId, round: u32) {
        assert_eq!(round as usize, self.began.len());
        self.began.push(at);
    }

    fn round_ended(&mut self, at: Time, _: FlowId, round: u32) {
        assert_eq!(round as usize, self.ended.len());
        self.ended.push(at);
    }
}

fn run(restart: &str, settings: &[(&str, Value)]) -> Trace {
    let path = PathSpec::symmetric(Rate::from_bps(8_000_000), Span::from_millis(100), QueueLimit::Unlimited);
    let topology = single_path(&path);
    let initial = Initial { segments: 2, ssthresh: None };
    let scheme = registry::scheme("slow-start").unwrap().build(initial, &[]).unwrap();
    let restart = registry::restart(restart).unwrap().build(initial, settings).unwrap();
    let controller = AnyController::new(scheme, restart, registry::law("reno").unwrap().build());
    let config = Config { mss: 960, ack_policy: AckPolicy::Every, ..Config::default() };
    let rounds = Rounds { count: 3, bytes: REPLY, pause: Pause::AfterEnd(IDLE), spread: Span::ZERO };
    let mut network: Network<AnyScheme, AnyRestart, AnyLaw> = Network::new(topology.links);
    let flow = network.add(Flow {
        forward: topology.routes[0].forward.clone(),
        reverse: topology.routes[0].reverse.clone(),
        start: Time::ZERO,
        start_spread: Span::ZERO,
        traffic: Traffic::Tcp(Box::new(TcpSpec {
            client: config,
            server: config,
            controller,
            application: Application::Rounds(rounds),
        })),
        muted: false,
    });
    let mut sim = Sim::new(&network, 1, Trace::default()).unwrap();
    assert_eq!(sim.run_until_ended(flow, Time::ZERO + Span::from_secs(600)), Stop::Finished);
    assert_eq!(sim.flow(flow).unwrap().delivered_bytes, 3 * REPLY);
    sim.into_recorder()
}

/// Returns the transmissions in a round, relative to its beginning.
fn departures(trace: &Trace, round: usize) -> Vec<Span> {
    let (from, to) = (trace.began[round], trace.ended[round]);
    trace.sent.iter().filter(|at| **at >= from && **at <= to).map(|at| at.since(from)).collect()
}

fn at_once(trace: &Trace, round: usize) -> usize {
    departures(trace, round).iter().filter(|at| at.is_zero()).count()
}

fn restarts(trace: &Trace) -> usize {
    trace.notes.iter().filter(|note| matches!(note, Note::Began(Origin::AfterIdle { .. }))).count()
}

fn causes(trace: &Trace, of: Phase) -> Vec<Cause> {
    let cause = |note: &Note| match note {
        Note::Exited { exit, phase, .. } if *phase == of => Some(exit.cause),
        _ => None,
    };
    trace.notes.iter().filter_map(cause).collect()
}

#[test]
fn a_round_begins_an_idle_time_after_the_previous_last_byte() {
    let trace = run("rfc5681", &[]);
    assert_eq!((trace.began.len(), trace.ended.len(), trace.sent.len()), (3, 3, 72));
    assert_eq!(trace.began[0], Time::ZERO);
    for round in 1..3 {
        assert_eq!(trace.began[round].since(trace.ended[round - 1]), IDLE);
        assert_eq!(departures(&trace, round).len(), 24);
    }
    assert_eq!(restarts(&trace), 2);
}

#[test]
fn slow_start_restart_sends_one_segment_and_rfc_5681_the_restart_window() {
    assert_eq!(at_once(&run("ssr", &[]), 1), 1);
    assert_eq!(at_once(&run("ssr", &[("window", Value::Word("restart"))]), 1), 2);
    assert_eq!(at_once(&run("rfc5681", &[]), 1), 2);
}

#[test]
fn disabled_slow_start_restart_sends_a_window_burst_and_continues_start_up() {
    let trace = run("nssr", &[]);
    // 2, 4 and 8 in the first round and 10 at its end: 14 ACKs for new data until then, and 10 additional packets.
    assert!(at_once(&trace, 1) >= 16, "{:?}", departures(&trace, 1));
    assert_eq!(causes(&trace, Phase::Restart), [Cause::Resumed; 2]);
    assert_eq!(causes(&trace, Phase::Startup), [Cause::AppLimited; 2]);
    assert_eq!(trace.notes.iter().filter(|note| **note == Note::Continued).count(), 2);
    assert_eq!(trace.ended[1].since(trace.began[1]).nanos() / 1_000_000, 100 / 2 + 24);
}

#[test]
fn rate_based_pacing_spaces_segments_evenly_until_the_first_ack() {
    let trace = run("rbp-cwnd", &[("scale", Value::Fraction { ppm: 1_000_000 })]);
    let departures = departures(&trace, 1);
    let before_ack: Vec<Span> =
        departures.iter().copied().filter(|at| *at < Span::from_millis(100)).collect();
    assert!(before_ack.len() >= 16, "{departures:?}");
    let gaps: Vec<Span> = before_ack.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.iter().all(|gap| *gap == gaps[0]), "{gaps:?}");
    // In the third round the window is so large that the reply is delivered before the first ACK arrives.
    assert_eq!(causes(&trace, Phase::Restart), [Cause::Resumed]);
}

#[test]
fn rate_based_pacing_without_an_ack_sends_no_more_than_the_estimate() {
    let trace = run("rbp-rate", &[("scale", Value::Fraction { ppm: 1_000_000 })]);
    // In the last RTT of the first reply ten segments were sent, in that of a reply that starts with so many fewer.
    let first = departures(&trace, 1).iter().filter(|at| **at < Span::from_millis(100)).count();
    assert_eq!(first, 10);
    assert_eq!(restarts(&trace), 2);
}

#[test]
fn a_kept_window_opens_by_the_configured_burst_per_ack() {
    let bursts = |burst| {
        let settings = [("scale", Value::Fraction { ppm: 100_000 }), ("burst", Value::Count(burst))];
        let departures = departures(&run("rbp-cwnd", &settings), 1);
        let longest = |at: &Span| departures.iter().filter(|other| *other == at).count();
        departures.iter().map(longest).max().unwrap()
    };
    assert_eq!(bursts(4), 4);
    assert!(bursts(0) >= 16);
}

#[test]
fn a_window_that_is_not_validated_is_paced_over_a_round_trip() {
    let trace = run("cwv", &[]);
    let departures = departures(&trace, 1);
    assert_eq!(at_once(&trace, 1), 1);
    let in_a_round_trip = departures.iter().filter(|at| **at < Span::from_millis(100)).count();
    assert!((14..=24).contains(&in_a_round_trip), "{departures:?}");
}
