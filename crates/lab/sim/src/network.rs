//! A network as data: links, and the flows across them.

use firstflight::{Controller, Span, Time};
use firstflight_tcp::Config;
use thiserror::Error;

use crate::app_writes::Writes;
use crate::arrivals::Arrivals;
use crate::cpu::CpuSpec;
use crate::departures::DepartureSpec;
use crate::fault::{FlowFault, LinkFault};
use crate::foreign::ForeignSpec;
use crate::on_off::OnOffSpec;
use crate::packet::{FlowId, LinkId};
use crate::probe::ProbeSpec;
use crate::quantity::PACKET_LIMIT;
use crate::rounds::Rounds;
use crate::source::CbrSpec;
use crate::spec::LinkSpec;

/// Links and flows. Together with a seed they determine a run to the last bit.
#[derive(Clone, Debug)]
pub struct Network<S, R, A> {
    /// The links. A link's number is its index.
    pub links: Vec<LinkSpec>,
    /// The flows. A flow's number is its index. It also names the flow's random streams, so a flow appended at the end
    /// does not change the random numbers of the others.
    pub flows: Vec<Flow<S, R, A>>,
    /// Processes of flows that arrive during the run. Arriving flows get the numbers after those of `flows`, in order of arrival, which
    /// does not depend on other flows, except for users who wait.
    pub arrivals: Vec<Arrivals<S, R, A>>,
    /// The processor of each TCP host; `None` if the work of hosts takes no time.
    pub cpu: Option<CpuSpec>,
    /// Timer grain and bursts of each TCP sender; `None` if each packet is sent at the instant that its endpoint reports. If the processors
    /// of hosts take time, this has no effect: hosts then send at the exact instants.
    pub departures: Option<DepartureSpec>,
    /// The maximum lateness of a TCP sender's timers, which is drawn uniformly from zero to it. It has no effect with `cpu` or
    /// `departures`.
    pub timer_noise: Span,
    /// The number of events after which a run stops with [`Spent`](crate::Stop::Spent). The arrival of a flow counts as 100 events.
    pub most_events: u64,
}

impl<S, R, A> Network<S, R, A> {
    /// Returns a network of these links without flows.
    pub fn new(links: Vec<LinkSpec>) -> Self {
        Self {
            links,
            flows: Vec::new(),
            arrivals: Vec::new(),
            cpu: None,
            departures: None,
            timer_noise: Span::ZERO,
            most_events: u64::MAX,
        }
    }

    /// Appends a flow.
    pub fn add(&mut self, flow: Flow<S, R, A>) -> FlowId {
        self.flows.push(flow);
        FlowId(u32::try_from(self.flows.len() - 1).unwrap_or(u32::MAX))
    }

    /// Mutes a flow: it never starts, and every other flow keeps its number and its random numbers. Two runs of one seed, with and without
    /// a flow, show the harm that the flow does.
    pub fn mute(&mut self, flow: FlowId) {
        if let Some(flow) = self.flows.get_mut(flow.index()) {
            flow.muted = true;
        }
    }

    /// Checks that the network can be run.
    ///
    /// # Errors
    /// Returns the first link or flow that is impossible, and why.
    pub fn check(&self) -> Result<(), NetworkError> {
        for (index, link) in self.links.iter().enumerate() {
            link.check().map_err(|fault| NetworkError::Link { link: index, fault })?;
        }
        for (index, flow) in self.flows.iter().enumerate() {
            self.check_flow(flow).map_err(|fault| NetworkError::Flow { flow: index, fault })?;
        }
        for (index, arrivals) in self.arrivals.iter().enumerate() {
            self.check_arrivals(arrivals)
                .map_err(|fault| NetworkError::Arrivals { process: index, fault })?;
        }
        Ok(())
    }

    fn check_flow(&self, flow: &Flow<S, R, A>) -> Result<(), FlowFault> {
        match &flow.traffic {
            Traffic::Cbr(cbr) => self.route(&flow.forward).and(cbr.check()),
            Traffic::OnOff(on_off) => self.route(&flow.forward).and(on_off.check()),
            Traffic::Tcp(tcp) => {
                self.check_round_trip(&flow.forward, &flow.reverse)?;
                tcp.check()
            }
            Traffic::Probe(probe) => {
                self.check_round_trip(&flow.forward, &flow.reverse)?;
                probe.check()
            }
            Traffic::Foreign(foreign) => {
                self.check_round_trip(&flow.forward, &flow.reverse)?;
                foreign.check()
            }
        }
    }

    fn check_arrivals(&self, arrivals: &Arrivals<S, R, A>) -> Result<(), FlowFault> {
        arrivals.check()?;
        arrivals.mix.iter().try_for_each(|ends| check_endpoints(&ends.client, &ends.server))?;
        let mut ways = arrivals.ways.extremes().into_iter();
        ways.try_for_each(|route| self.check_round_trip(&route.forward, &route.reverse))
    }

    fn check_round_trip(&self, forward: &[LinkId], reverse: &[LinkId]) -> Result<(), FlowFault> {
        if self.route(forward)?.chain(self.route(reverse)?).all(LinkSpec::is_instant) {
            return Err(FlowFault::Instant);
        }
        Ok(())
    }

    /// Returns the links of a route, at least one.
    fn route<'a>(&'a self, route: &'a [LinkId]) -> Result<impl Iterator<Item = &'a LinkSpec>, FlowFault> {
        if route.is_empty() {
            return Err(FlowFault::NoRoute);
        }
        if let Some(unknown) = route.iter().find(|link| link.index() >= self.links.len()) {
            return Err(FlowFault::UnknownLink { link: unknown.0 });
        }
        if route.len() > usize::from(u16::MAX) {
            return Err(FlowFault::LongRoute);
        }
        Ok(route.iter().filter_map(|link| self.links.get(link.index())))
    }
}

/// Traffic between two separate hosts.
#[derive(Clone, Debug)]
pub struct Flow<S, R, A> {
    /// The links from the client to the server, in order.
    pub forward: Vec<LinkId>,
    /// The links from the server to the client, in order. Datagrams need none.
    pub reverse: Vec<LinkId>,
    /// Start time.
    pub start: Time,
    /// The maximum delay of the start, which is drawn uniformly from zero to it.
    pub start_spread: Span,
    /// Traffic that the flow sends.
    pub traffic: Traffic<S, R, A>,
    /// Whether the flow never starts; see [`Network::mute`].
    pub muted: bool,
}

/// Traffic of a flow.
#[derive(Clone, Debug)]
pub enum Traffic<S, R, A> {
    /// A TCP connection.
    Tcp(Box<TcpSpec<S, R, A>>),
    /// Datagrams at a constant bit rate.
    Cbr(CbrSpec),
    /// Datagrams at a constant rate for a period, then none for a period.
    OnOff(OnOffSpec),
    /// Trains of datagrams, each of which the server answers at once.
    Probe(Box<ProbeSpec>),
    /// A connection of a transport outside the simulator.
    Foreign(Box<ForeignSpec>),
}

/// A TCP connection: the client opens it and sends the data.
#[derive(Clone, Debug)]
pub struct TcpSpec<S, R, A> {
    /// The sender's endpoint.
    pub client: Config,
    /// The receiver's endpoint.
    pub server: Config,
    /// The controller of the sender. The server has a copy, which never sees data to send.
    pub controller: Controller<S, R, A>,
    /// Application of the client.
    pub application: Application,
}

impl<S, R, A> TcpSpec<S, R, A> {
    pub(crate) fn check(&self) -> Result<(), FlowFault> {
        check_endpoints(&self.client, &self.server)?;
        match self.application {
            Application::Sized(0) => Err(FlowFault::ZeroSize),
            Application::Rounds(Rounds { count: 0, .. } | Rounds { bytes: 0, .. })
            | Application::Writes(Writes { total: 0, .. } | Writes { bytes: 0, .. }) => {
                Err(FlowFault::ZeroSize)
            }
            Application::Sized(_)
            | Application::Bulk
            | Application::Rounds(_)
            | Application::Writes(_)
            | Application::Until(_) => Ok(()),
        }
    }
}

fn check_endpoints(client: &Config, server: &Config) -> Result<(), FlowFault> {
    if client.mss == 0 || server.mss == 0 {
        return Err(FlowFault::ZeroPacket);
    }
    if !server.reads_at_once {
        return Err(FlowFault::NeverReads);
    }
    // Endpoints cut the MSS to leave room for headers of 40 bytes, but not for the timestamps of RFC 7323.
    let stamps = if client.timestamps && server.timestamps { 12 } else { 0 };
    if stamps > 0 && u32::from(client.mss.min(server.mss)) > PACKET_LIMIT - 40 - stamps {
        return Err(FlowFault::HugePacket);
    }
    Ok(())
}

/// The application of a TCP client.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Application {
    /// Always has more to send.
    Bulk,
    /// Sends this many bytes, then closes; the server closes once it has them.
    Sized(u64),
    /// Sends a reply in every round, with idle times in between. Then closes as after a sized transfer.
    Rounds(Rounds),
    /// Writes at equal intervals. Then closes as after a sized transfer.
    Writes(Writes),
    /// Always has more to send until this instant. Data not sent by then is never sent. The client then closes as after a sized transfer of
    /// the data that was sent.
    Until(Time),
}

/// Why a network cannot be run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum NetworkError {
    /// A link is impossible.
    #[error("link {link}: {fault}")]
    Link {
        /// The link's index.
        link: usize,
        /// The error of the link.
        fault: LinkFault,
    },
    /// An arrival process is impossible.
    #[error("arrivals {process}: {fault}")]
    Arrivals {
        /// The process's index.
        process: usize,
        /// The error of the flow.
        fault: FlowFault,
    },
    /// A flow is impossible.
    #[error("flow {flow}: {fault}")]
    Flow {
        /// The flow's index.
        flow: usize,
        /// The error of the flow.
        fault: FlowFault,
    },
}
