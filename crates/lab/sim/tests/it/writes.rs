//! An application that stops and goes, across the network.

use firstflight::registry::{self, AnyController, AnyLaw, AnyRestart, AnyScheme};
use firstflight::schemes::Initial;
use firstflight::{Rate, Sent, Span, Time};
use firstflight_sim::{
    Application, Flow, FlowId, Network, NetworkError, PathSpec, QueueLimit, Recorder, Sim, Stop, TcpSpec,
    Traffic, Writes, single_path,
};
use firstflight_tcp::{Config, Role, Segment};

const WRITES: Writes = Writes { total: 45_000, bytes: 20_000, period: Span::from_millis(500) };

/// Transmissions of data: time and payload bytes.
#[derive(Default)]
struct Departures(Vec<(Time, u64)>);

impl Recorder for Departures {
    fn sent(&mut self, at: Time, _: FlowId, side: Role, _: u64, segment: &Segment, _: Option<&Sent>) {
        if side == Role::Client && segment.len > 0 {
            self.0.push((at, u64::from(segment.len)));
        }
    }
}

type Sims = Sim<AnyScheme, AnyRestart, AnyLaw, Departures>;

/// 8 Mbit/s, 100 ms, an initial window of ten full segments of 1000 bytes.
fn sim(application: Application) -> Result<(Sims, FlowId), NetworkError> {
    let path = PathSpec::symmetric(Rate::from_bps(8_000_000), Span::from_millis(100), QueueLimit::Unlimited);
    let topology = single_path(&path);
    let initial = Initial { segments: 10, ssthresh: None };
    let scheme =
        registry::scheme("slow-start").expect("slow start").build(initial, &[]).expect("its defaults");
    let restart = registry::restart("nssr").expect("a policy").build(initial, &[]).expect("its defaults");
    let controller = AnyController::new(scheme, restart, registry::law("reno").expect("a law").build());
    let config = Config { mss: 1_000, ..Config::default() };
    let mut network = Network::new(topology.links);
    let flow = network.add(Flow {
        forward: topology.routes[0].forward.clone(),
        reverse: topology.routes[0].reverse.clone(),
        start: Time::ZERO,
        start_spread: Span::ZERO,
        traffic: Traffic::Tcp(Box::new(TcpSpec { client: config, server: config, controller, application })),
        muted: false,
    });
    Ok((Sim::new(&network, 1, Departures::default())?, flow))
}

#[test]
fn each_write_leaves_when_written_and_the_last_ends_the_flow() {
    let (mut sim, flow) = sim(Application::Writes(WRITES)).expect("a network");
    assert_eq!(sim.run_until_ended(flow, Time::ZERO + Span::from_secs(60)), Stop::Finished);
    assert_eq!(sim.flow(flow).expect("the flow").delivered_bytes, 45_000);
    let sent = &sim.recorder().0;
    let between = |from, to| {
        let within =
            |at: &Time| (Span::from_millis(from)..Span::from_millis(to)).contains(&at.since(Time::ZERO));
        sent.iter().filter(|(at, _)| within(at)).map(|(_, bytes)| bytes).sum::<u64>()
    };
    assert_eq!([between(0, 500), between(500, 1_000), between(1_000, 1_500)], [20_000, 20_000, 5_000]);
    let first = |from: u64| {
        let at = sent.iter().map(|(at, _)| at.since(Time::ZERO)).find(|at| *at >= Span::from_millis(from));
        at.expect("a departure from then on")
    };
    assert_eq!([first(500), first(1_000)], [Span::from_millis(500), Span::from_millis(1_000)]);
}

#[test]
fn writes_of_nothing_are_no_traffic() {
    for writes in [Writes { total: 0, ..WRITES }, Writes { bytes: 0, ..WRITES }] {
        assert!(matches!(sim(Application::Writes(writes)), Err(NetworkError::Flow { .. })), "{writes:?}");
    }
}

#[test]
fn a_stopped_application_sends_nothing_new_and_the_flow_ends() {
    let stop = Span::from_millis(2_000);
    let (mut sim, flow) = sim(Application::Until(Time::ZERO + stop)).expect("a network");
    assert_eq!(sim.run_until_ended(flow, Time::ZERO + Span::from_secs(60)), Stop::Finished);
    let sent = &sim.recorder().0;
    assert!(sent.iter().all(|(at, _)| at.since(Time::ZERO) < stop));
    // Nothing is lost on this path, so the data sent equals the data delivered.
    let left: u64 = sent.iter().map(|(_, bytes)| bytes).sum();
    let stats = sim.flow(flow).expect("the flow");
    assert_eq!((stats.delivered_bytes, stats.data_sent), (left, sent.len() as u64));
    let last = stats.finished().expect("an end").since(Time::ZERO);
    assert!(last >= stop + Span::from_millis(50), "the last packet takes half a round trip: {last:?}");
    // The FINs of both sides follow, and no data.
    sim.run(Time::ZERO + Span::from_secs(30));
    assert_eq!(sim.flow(flow).expect("the flow").delivered_bytes, left);
}

#[test]
fn an_application_that_stops_before_the_handshake_is_over_sends_nothing() {
    let (mut sim, flow) = sim(Application::Until(Time::ZERO + Span::from_millis(60))).expect("a network");
    assert_eq!(sim.run_until_ended(flow, Time::ZERO + Span::from_secs(60)), Stop::Finished);
    let stats = sim.flow(flow).expect("the flow");
    assert_eq!((stats.delivered_bytes, stats.data_sent), (0, 0));
    assert_eq!(stats.finished(), Some(Time::ZERO + Span::from_millis(60)));
}
