//! A network as data: links, and the flows across them.

use firstflight::{Bytes, Controller, Rate, Span, Time};
use firstflight_tcp::Config;
use thiserror::Error;

use crate::aqm::{Discipline, DisciplineFault};
use crate::arrivals::Arrivals;
use crate::batch::Batch;
use crate::on_off::OnOffSpec;
use crate::packet::{FlowId, LinkId};
use crate::policer::PolicerSpec;
use crate::quick_start::RouterSpec;
use crate::rounds::Rounds;
use crate::trace::RateTrace;
use crate::writes::Writes;

/// The greatest rate: 10^15 bit/s. Beyond it even small packets take less time than the clock can tell.
pub(crate) const RATE_LIMIT: Rate = Rate::from_bps(1_000_000_000_000_000);

/// The greatest IP packet (RFC 791 section 3.1).
const PACKET_LIMIT: u32 = 65_535;

/// Links and flows. With a seed it determines a run to the last bit.
#[derive(Clone, Debug)]
pub struct Network<S, R, A> {
    /// The links, named by their place.
    pub links: Vec<LinkSpec>,
    /// The flows, named by their place. A flow's place also names its random streams, so flows appended at the
    /// end leave the random numbers of those before them alone.
    pub flows: Vec<Flow<S, R, A>>,
    /// Flows that come up as the run goes on. They get the names after those of `flows`, in the order in which they
    /// come, which is the same whatever the others do.
    pub arrivals: Vec<Arrivals<S, R, A>>,
}

impl<S, R, A> Network<S, R, A> {
    /// A network of these links without flows.
    pub fn new(links: Vec<LinkSpec>) -> Self {
        Self { links, flows: Vec::new(), arrivals: Vec::new() }
    }

    /// Appends a flow.
    pub fn add(&mut self, flow: Flow<S, R, A>) -> FlowId {
        self.flows.push(flow);
        FlowId(u32::try_from(self.flows.len() - 1).unwrap_or(u32::MAX))
    }

    /// Mutes a flow: it never starts, and every other flow keeps its name and its random numbers. Running the
    /// same seed with and without a flow gives the harm that it does.
    pub fn mute(&mut self, flow: FlowId) {
        if let Some(flow) = self.flows.get_mut(flow.index()) {
            flow.muted = true;
        }
    }

    /// Whether the network can be run.
    ///
    /// # Errors
    /// Names the first link or flow that is impossible, and why.
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

    /// The links of a route, at least one.
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

/// A one-way link: a queue, a transmitter, a wire.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkSpec {
    /// IP bits per second; `None` transmits at once, so that nothing ever waits and nothing is dropped by the
    /// queue. The fraction of a nanosecond that a transmission takes is carried over to the next one, so the
    /// long-run rate is exact.
    pub rate: Option<Rate>,
    /// A rate that changes over time, in place of `rate`.
    pub rates: Option<RateTrace>,
    /// Propagation delay.
    pub delay: Span,
    /// How much may wait for transmission.
    pub queue: QueueLimit,
    /// What the queue does before it is full.
    pub discipline: Discipline,
    /// Polices what enters the queue.
    pub policer: Option<PolicerSpec>,
    /// The chance that a packet is lost on the wire. It has then taken its place in the queue and its time of
    /// transmission.
    pub loss: Probability,
    /// Each packet is further delayed by a uniform draw from zero up to this; the order is kept.
    pub jitter: Span,
    /// Holds packets back and releases them together. A link that does has no rate, queue, loss nor jitter.
    pub batch: Option<Batch>,
    /// The router that puts packets on it, if that takes part in Quick-Start.
    pub quick_start: Option<RouterSpec>,
}

impl LinkSpec {
    /// A lossless link without jitter and with an unlimited queue.
    pub const fn new(rate: Option<Rate>, delay: Span) -> Self {
        Self {
            rate,
            rates: None,
            delay,
            queue: QueueLimit::Unlimited,
            discipline: Discipline::DropTail,
            policer: None,
            loss: Probability::NEVER,
            jitter: Span::ZERO,
            batch: None,
            quick_start: None,
        }
    }

    /// Whether a packet gets through it in no time.
    fn is_instant(&self) -> bool {
        self.delay.is_zero() && self.rate.is_none() && self.rates.is_none()
    }

    fn check(&self) -> Result<(), LinkFault> {
        self.discipline.check()?;
        if self.policer.is_some_and(|policer| policer.rate == Rate::ZERO || policer.burst.is_zero()) {
            return Err(LinkFault::EmptyPolicer);
        }
        if let Some(batch) = self.batch {
            batch.check()?;
            let Self { batch, quick_start, .. } = *self;
            if *self != (Self { batch, quick_start, ..Self::new(None, self.delay) }) {
                return Err(LinkFault::BusyBatch);
            }
        }
        match (self.rate, self.queue) {
            (Some(Rate::ZERO), _) => Err(LinkFault::ZeroRate),
            (Some(rate), _) if rate > RATE_LIMIT => Err(LinkFault::HugeRate),
            (_, QueueLimit::Packets(0)) => Err(LinkFault::ZeroQueue),
            (_, QueueLimit::Bytes(bytes)) if bytes.is_zero() => Err(LinkFault::ZeroQueue),
            (_, QueueLimit::Packets(_) | QueueLimit::Bytes(_) | QueueLimit::Unlimited) => Ok(()),
        }
    }
}

/// How much a queue holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueLimit {
    /// Whole packets, the one in transmission counted in, as ns-2 does (its `limit_` of N lets N − 1 wait): the
    /// papers' queues are ns-2's. (A queue discipline of Linux with limit N lets N wait.)
    Packets(u32),
    /// IP bytes that wait, without the packet in transmission; a packet that would not fit whole is dropped.
    Bytes(Bytes),
    /// Everything.
    Unlimited,
}

/// A probability as a fraction of 2^64.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Probability(u64);

impl Probability {
    /// It never happens.
    pub const NEVER: Self = Self(0);

    /// `num / den`, rounded to the nearest; anything from one up is the greatest value, which is one short of
    /// certainty by 2^-64. A `den` of zero counts as one.
    pub fn ratio(num: u64, den: u64) -> Self {
        let den = u128::from(den.max(1));
        let scaled = ((u128::from(num) << 64) + den / 2) / den;
        Self(u64::try_from(scaled).unwrap_or(u64::MAX))
    }

    /// The nearest double.
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is asked for")]
    pub(crate) fn to_f64(self) -> f64 {
        self.0 as f64 / 18_446_744_073_709_551_616.0
    }

    /// Parts per million.
    pub fn from_ppm(ppm: u32) -> Self {
        Self::ratio(u64::from(ppm), 1_000_000)
    }

    /// Whether it never happens.
    pub const fn is_never(self) -> bool {
        self.0 == 0
    }

    /// Whether a uniform draw of 64 bits falls under it.
    pub(crate) const fn covers(self, draw: u64) -> bool {
        draw < self.0
    }
}

/// Traffic between two hosts of its own.
#[derive(Clone, Debug)]
pub struct Flow<S, R, A> {
    /// The links from the client to the server, in order.
    pub forward: Vec<LinkId>,
    /// The links back. Datagrams need none.
    pub reverse: Vec<LinkId>,
    /// When it starts.
    pub start: Time,
    /// The start is put off by a uniform draw from zero up to this.
    pub start_spread: Span,
    /// What it sends.
    pub traffic: Traffic<S, R, A>,
    /// Whether it never starts; see [`Network::mute`].
    pub muted: bool,
}

/// What a flow sends.
#[derive(Clone, Debug)]
pub enum Traffic<S, R, A> {
    /// A TCP connection.
    Tcp(Box<TcpSpec<S, R, A>>),
    /// Datagrams at a constant bit rate.
    Cbr(CbrSpec),
    /// Datagrams at a constant rate for some time, then none for some.
    OnOff(OnOffSpec),
}

/// A TCP connection: the client opens it and sends the data.
#[derive(Clone, Debug)]
pub struct TcpSpec<S, R, A> {
    /// The sender's endpoint.
    pub client: Config,
    /// The receiver's endpoint.
    pub server: Config,
    /// What governs the sender. The server has a copy, which never sees data to send.
    pub controller: Controller<S, R, A>,
    /// What the client sends.
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
            Application::Sized(_) | Application::Bulk | Application::Rounds(_) | Application::Writes(_) => {
                Ok(())
            }
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
    // Headers of 40 bytes, to which endpoints cut the MSS, and the timestamps of RFC 7323, to which they need not.
    let stamps = if client.timestamps && server.timestamps { 12 } else { 0 };
    if stamps > 0 && u32::from(client.mss.min(server.mss)) > PACKET_LIMIT - 40 - stamps {
        return Err(FlowFault::HugePacket);
    }
    Ok(())
}

/// What the application of a TCP client does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Application {
    /// Always has more to send.
    Bulk,
    /// Sends this many bytes, then closes; the server closes once it has them.
    Sized(u64),
    /// Sends a reply in every round, with idle times between, then closes as after a sized transfer.
    Rounds(Rounds),
    /// Stops and goes: writes by the clock, then closes as after a sized transfer.
    Writes(Writes),
}

/// Unresponsive datagrams at a constant bit rate. The first leaves one phase after the start of the flow: a
/// uniform draw from zero up to the time between packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CbrSpec {
    /// IP bits per second. The fraction of a nanosecond between packets is carried over, so the long-run rate is
    /// exact.
    pub rate: Rate,
    /// IP bytes of a packet.
    pub packet: u32,
    /// No packet leaves at this instant or later.
    pub stop: Option<Time>,
}

impl CbrSpec {
    pub(crate) fn check(&self) -> Result<(), FlowFault> {
        match (self.rate, self.packet) {
            (Rate::ZERO, _) => Err(FlowFault::ZeroRate),
            (_, 0) => Err(FlowFault::ZeroPacket),
            (rate, _) if rate > RATE_LIMIT => Err(FlowFault::HugeRate),
            (_, packet) if packet > PACKET_LIMIT => Err(FlowFault::HugePacket),
            (_, _) => Ok(()),
        }
    }
}

/// Why a network cannot be run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum NetworkError {
    /// A link is impossible.
    #[error("link {link}: {fault}")]
    Link {
        /// Its place.
        link: usize,
        /// Why.
        fault: LinkFault,
    },
    /// A process of arrivals is impossible.
    #[error("arrivals {process}: {fault}")]
    Arrivals {
        /// Its place.
        process: usize,
        /// Why.
        fault: FlowFault,
    },
    /// A flow is impossible.
    #[error("flow {flow}: {fault}")]
    Flow {
        /// Its place.
        flow: usize,
        /// Why.
        fault: FlowFault,
    },
}

/// What is wrong with a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum LinkFault {
    /// Nothing would ever leave it.
    #[error("its rate is zero")]
    ZeroRate,
    /// Beyond the arithmetic.
    #[error("its rate is above 10^15 bit/s")]
    HugeRate,
    /// Every packet that finds the transmitter busy would be lost.
    #[error("its queue holds nothing")]
    ZeroQueue,
    /// A discipline with impossible parameters.
    #[error("its queue's discipline: {0}")]
    Discipline(DisciplineFault),
    /// Nothing would ever pass.
    #[error("its policer lets nothing pass")]
    EmptyPolicer,
    /// A batch of no packets, or without an end.
    #[error("its batches hold no packet or take no time")]
    EmptyBatch,
    /// Batching belongs on a link of its own.
    #[error("it batches and has a rate, a queue, a policer, loss or jitter as well")]
    BusyBatch,
}

/// What is wrong with a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum FlowFault {
    /// A route names a link that is not there.
    #[error("its route names link {link}, which does not exist")]
    UnknownLink {
        /// The link named.
        link: u32,
    },
    /// A host without a way to the other.
    #[error("a route of it has no link")]
    NoRoute,
    /// Longer than a packet can count.
    #[error("a route of it has more than 65535 links")]
    LongRoute,
    /// The clock could never advance.
    #[error("its round trip takes no time")]
    Instant,
    /// The receiver's window would close for good.
    #[error("its receiver never reads")]
    NeverReads,
    /// CBR at no rate.
    #[error("its rate is zero")]
    ZeroRate,
    /// Beyond the arithmetic.
    #[error("its rate is above 10^15 bit/s")]
    HugeRate,
    /// Packets beyond what IP can carry.
    #[error("its packets are above 65535 bytes")]
    HugePacket,
    /// Packets of no bytes.
    #[error("its packets are empty")]
    ZeroPacket,
    /// A transfer of no bytes.
    #[error("its size is zero")]
    ZeroSize,
    /// A time that must pass does not.
    #[error("a mean time of it is zero")]
    ZeroSpan,
    /// Only what has not happened yet can be changed.
    #[error("it is no TCP flow that has yet to start")]
    UnderWay,
    /// Arrivals with nothing to choose from.
    #[error("there is no route or no controller to choose from")]
    NoChoice,
    /// A distribution without a mean.
    #[error("a mean or an exponent of its distribution is impossible")]
    Sizes,
}
