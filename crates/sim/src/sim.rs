//! A run: the clock, and whatever happens next.

use firstflight::{Avoidance, Startup, Time};
use firstflight_tcp::Endpoint;

use crate::fabric::{Device, Fabric};
use crate::host::TcpFlow;
use crate::network::{Flow, Network, NetworkError, Traffic};
use crate::packet::{FlowId, LinkId, Packet, Payload, Side};
use crate::random::{Purpose, Stream};
use crate::recorder::Recorder;
use crate::source::Cbr;
use crate::stats::{FlowStats, LinkStats};

/// A network at work: a pure function of the network and the seed.
#[derive(Clone, Debug)]
pub struct Sim<S, R, A, W> {
    now: Time,
    fabric: Fabric,
    flows: Vec<Hosts<S, R, A>>,
    recorder: W,
}

/// The hosts of a flow.
#[derive(Clone, Debug)]
enum Hosts<S, R, A> {
    Tcp(Box<TcpFlow<S, R, A>>),
    Cbr(Cbr),
}

/// Why a run stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// The time was up.
    Time,
    /// The flow that was waited for has delivered its last byte.
    Finished,
    /// Nothing is left to happen; the present is the instant of what happened last.
    Idle,
}

impl<S: Startup, R: Startup, A: Avoidance, W: Recorder> Sim<S, R, A, W> {
    /// The network at time zero, when nothing has happened yet.
    ///
    /// # Errors
    /// Says what makes the network impossible.
    pub fn new(network: &Network<S, R, A>, seed: u64, recorder: W) -> Result<Self, NetworkError> {
        network.check()?;
        let mut fabric = Fabric::new(network, seed);
        let flows = (0u32..)
            .zip(&network.flows)
            .map(|(id, flow)| Hosts::new(FlowId(id), flow, seed, &mut fabric))
            .collect();
        Ok(Self { now: Time::ZERO, fabric, flows, recorder })
    }

    /// Runs on to `until`, which is then the present, or until nothing is left to happen. What happens at `until`
    /// itself has then happened.
    pub fn run(&mut self, until: Time) -> Stop {
        self.run_while(until, |_| true)
    }

    /// Runs on until the last byte of a sized transfer is delivered, but not past `limit`. The present is then the
    /// instant of that delivery; other events of the same instant may be still to come.
    pub fn run_until_finished(&mut self, flow: FlowId, limit: Time) -> Stop {
        let stats = |fabric: &Fabric| fabric.flows.get(flow.index()).is_some_and(|s| s.finished.is_some());
        self.run_while(limit, |fabric| !stats(fabric))
    }

    /// The present.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Counters of a flow; `None` if there is no such flow.
    pub fn flow(&self, flow: FlowId) -> Option<FlowStats> {
        self.fabric.flows.get(flow.index()).copied()
    }

    /// Counters of a link; `None` if there is no such link.
    pub fn link(&self, link: LinkId) -> Option<LinkStats> {
        self.fabric.link(self.now, link)
    }

    /// An endpoint of a TCP flow.
    pub fn endpoint(&self, flow: FlowId, side: Side) -> Option<&Endpoint<S, R, A>> {
        match self.flows.get(flow.index())? {
            Hosts::Tcp(tcp) => Some(tcp.endpoint(side)),
            Hosts::Cbr(_) => None,
        }
    }

    /// How many packets links have carried, each counted once for every link: the size of the work done.
    pub fn packet_hops(&self) -> u64 {
        self.fabric.packet_hops()
    }

    /// Whoever watches.
    pub fn recorder(&self) -> &W {
        &self.recorder
    }

    /// Whoever watched.
    pub fn into_recorder(self) -> W {
        self.recorder
    }

    fn run_while(&mut self, until: Time, goes_on: impl Fn(&Fabric) -> bool) -> Stop {
        let stop = loop {
            if !goes_on(&self.fabric) {
                break Stop::Finished;
            }
            let (at, device) = match self.fabric.next() {
                Some((at, device)) => (at, Some(device)),
                None => (self.fabric.last_arrival().max(self.now), None),
            };
            if at > until {
                self.now = self.now.max(until);
                break Stop::Time;
            }
            self.now = at;
            match device {
                Some(device) => self.happen(device),
                None => break Stop::Idle,
            }
        };
        self.fabric.settle(self.now, &mut self.recorder);
        stop
    }

    fn happen(&mut self, device: Device) {
        match device {
            Device::Link(link) => {
                if let Some(packet) = self.fabric.event(self.now, link, &mut self.recorder) {
                    self.deliver(&packet);
                }
            }
            Device::Host(flow, side) => match &mut self.flows[flow.index()] {
                Hosts::Tcp(tcp) => tcp.on_timer(self.now, side, &mut self.fabric, &mut self.recorder),
                Hosts::Cbr(source) => source.on_timer(self.now, &mut self.fabric, &mut self.recorder),
            },
        }
    }

    fn deliver(&mut self, packet: &Packet) {
        if let (Hosts::Tcp(tcp), Payload::Segment(segment)) =
            (&mut self.flows[packet.flow.index()], &packet.payload)
        {
            tcp.on_segment(self.now, packet.from.other(), segment, &mut self.fabric, &mut self.recorder);
        }
    }
}

impl<S: Startup, R: Startup, A: Avoidance> Hosts<S, R, A> {
    /// The hosts of a flow, with their first event on the agenda.
    fn new(id: FlowId, flow: &Flow<S, R, A>, seed: u64, fabric: &mut Fabric) -> Self {
        let spread = flow.start_spread.nanos().saturating_add(1);
        let put_off = Stream::new(seed, Purpose::Start, id.0, 0).below(spread);
        let start = flow.start + firstflight::Span::from_nanos(put_off);
        let (hosts, first) = match &flow.traffic {
            Traffic::Tcp(spec) => (Self::Tcp(Box::new(TcpFlow::new(id, spec, seed))), Some(start)),
            Traffic::Cbr(spec) => {
                let (source, first) = Cbr::new(id, *spec, start, seed);
                (Self::Cbr(source), first)
            }
        };
        if let Some(first) = first.filter(|_| !flow.muted) {
            fabric.wake(id, Side::Client, Some(first));
        }
        hosts
    }
}
