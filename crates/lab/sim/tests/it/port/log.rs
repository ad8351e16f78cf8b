//! A simulation of TCP flows over one link, with the packets that arrived at the link and their fates.

use std::collections::{BTreeMap, VecDeque};

use firstflight::avoidance::Reno;
use firstflight::schemes::{Initial, QuickStart, QuickStartConfig, SlowStart};
use firstflight::{Controller, RateCode, Sent, Span, Time};
use firstflight_sim::{
    Application, Arriving, Cross, DropCause, Flow, FlowId, FlowKey, LinkId, LinkSpec, Network, Packet,
    PortSpec, Recorder, Sim, TcpSpec, Traffic,
};
use firstflight_tcp::quick_start::IpOption;
use firstflight_tcp::{AckPolicy, Config, Ecn, Role, Segment};

/// End of a simulation.
pub(crate) const END: Time = Time::from_nanos(3_000_000_000);

/// A packet: its flow, and its number among those of its host.
pub(crate) type Name = (u32, u64);

/// Fate of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    Left { at: Time, ecn: Ecn, marked: bool, quick_start: Option<IpOption> },
    Dropped { at: Time, cause: DropCause },
}

impl Fate {
    pub(crate) fn at(self) -> Time {
        match self {
            Self::Left { at, .. } | Self::Dropped { at, .. } => at,
        }
    }
}

/// The packets that arrived at the link, in order, and their fates by [`END`].
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) arrivals: Vec<(Time, Arriving<Name>)>,
    pub(crate) fates: BTreeMap<Name, Fate>,
    marked: Vec<Name>,
    /// Sequence number and payload of each packet that was sent.
    sent: BTreeMap<Name, (u32, u16)>,
    left: BTreeMap<u32, VecDeque<(Time, Segment)>>,
}

const LINK: LinkId = LinkId(0);

impl Recorder for Log {
    fn sent(&mut self, at: Time, flow: FlowId, side: Role, number: u64, segment: &Segment, _: Option<&Sent>) {
        if side == Role::Client {
            let bytes = u16::try_from(segment.ip_length()).expect("packets of IP");
            let packet = Arriving::new(bytes, FlowKey::of(flow, side), (flow.0, number));
            let quick_start = segment.quick_start.ip();
            self.sent.insert((flow.0, number), place(segment));
            self.arrivals.push((at, Arriving { ecn: segment.ecn, quick_start, ..packet }));
        }
    }

    fn arrived(&mut self, at: Time, flow: FlowId, side: Role, segment: &Segment) {
        if side == Role::Server {
            self.left.entry(flow.0).or_default().push_back((at, *segment));
        }
    }

    fn dropped(&mut self, at: Time, link: LinkId, packet: &Packet, cause: DropCause) {
        if link == LINK && packet.segment().is_some() {
            self.fates.insert((packet.flow.0, packet.number), Fate::Dropped { at, cause });
        }
    }

    fn marked(&mut self, _: Time, link: LinkId, packet: &Packet) {
        if link == LINK && packet.segment().is_some() {
            self.marked.push((packet.flow.0, packet.number));
        }
    }
}

/// Returns the sequence number and the payload of a segment.
fn place(segment: &Segment) -> (u32, u16) {
    (segment.seq, segment.len)
}

impl Log {
    /// Names the packets that arrived. Of packets of a flow with equal data, the one sent first arrived first.
    fn name_those_that_left(mut self) -> Self {
        for (_, Arriving { payload: name, .. }) in &self.arrivals {
            if !self.fates.contains_key(name)
                && let Some(left) = self.left.get_mut(&name.0)
                && let Some(index) = left.iter().position(|(_, segment)| self.sent[name] == place(segment))
                && let Some((at, segment)) = left.remove(index)
            {
                let (ecn, quick_start) = (segment.ecn, segment.quick_start.ip());
                let marked = self.marked.contains(name);
                self.fates.insert(*name, Fate::Left { at, ecn, marked, quick_start });
            }
        }
        self
    }
}

type Net = Network<QuickStart<SlowStart>, SlowStart, Reno>;

fn tcp(index: u32, ecn: bool, link: &LinkSpec) -> Flow<QuickStart<SlowStart>, SlowStart, Reno> {
    let initial = Initial { segments: 10, ssthresh: None };
    let asks = link.quick_start.is_some();
    // Nothing else would hold it back.
    let bulk = index.is_multiple_of(2) && (link.rate.is_some() || link.rates.is_some());
    let request = if asks { RateCode::new(6).expect("a code") } else { RateCode::DENIED };
    let config = QuickStartConfig { request, skips_small: asks, ..QuickStartConfig::default() };
    let start_up = QuickStart::new(SlowStart::new(initial), config);
    let controller = Controller::new(start_up, SlowStart::new(initial), Reno::new());
    let mss = [960, 1_460, 536, 1_200][index as usize % 4];
    let config = Config { mss, ack_policy: AckPolicy::Every, ecn, ..Config::default() };
    let application = if bulk { Application::Bulk } else { Application::Sized(300_000) };
    Flow {
        forward: vec![LINK],
        reverse: vec![LinkId(1)],
        start: Time::ZERO + Span::from_millis(100) * u64::from(index),
        start_spread: Span::from_millis(50),
        traffic: Traffic::Tcp(Box::new(TcpSpec { client: config, server: config, controller, application })),
        muted: false,
    }
}

fn crossing(cross: &Cross) -> Flow<QuickStart<SlowStart>, SlowStart, Reno> {
    Flow {
        forward: vec![LINK],
        reverse: Vec::new(),
        start: Time::ZERO,
        start_spread: Span::ZERO,
        traffic: match cross {
            Cross::Cbr(spec) => Traffic::Cbr(*spec),
            Cross::OnOff(spec) => Traffic::OnOff(*spec),
        },
        muted: false,
    }
}

/// Simulates six TCP flows over the link of a port, with its cross traffic.
pub(crate) fn simulate(spec: &PortSpec, ecn: bool, seed: u64) -> Log {
    let back = LinkSpec::new(None, Span::from_millis(9));
    let mut network = Net::new(vec![spec.link.clone(), back]);
    for cross in &spec.cross {
        network.add(crossing(cross));
    }
    for index in 0..6 {
        network.add(tcp(index, ecn, &spec.link));
    }
    let mut sim = Sim::new(&network, seed, Log::default()).expect("a possible network");
    sim.run(END);
    sim.into_recorder().name_those_that_left()
}
