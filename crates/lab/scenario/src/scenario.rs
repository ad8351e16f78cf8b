//! The scenario of a race, in which every key has its value.

mod before;
mod bounds;
mod cross_entries;
mod error;
mod flows;
mod ineffective;
mod links;
mod load;
mod queue;
mod resolve;
mod text;

pub use error::{ScenarioError, ScenarioFault};
pub use text::quote;

use std::borrow::Cow;

use firstflight::registry::Registry;
use firstflight::{Bytes, Rate, Span};
use firstflight_sim::{Batch, DelayTrace, PolicerSpec, RateTrace};
use firstflight_tcp::{
    AckPolicy, Growth, InflightLimit, LimitedTransmit, Recovery, RtoFloor, SlowStartCounts, Stack,
};

use crate::bottleneck::Aqm;
use crate::cross_entries::Beside;
use crate::gemodel::Gemodel;
use crate::host_cpu::HostCpu;
use crate::keywords::{Cross, QuickStartHops};
use crate::named_link::NamedLink;
use crate::outage::Outages;
use crate::population::Population;
use crate::presets::Origin;
use crate::probing::ProbeChoice;
use crate::quantity::{Decimal, QueueSize};
use crate::quic::QuicStack;
use crate::reorder::Reordering;
use crate::restart::RestartChoice;
use crate::routers::{AccessRouters, QuickStartRouter};
use crate::script::ScriptedFlow;
use crate::topology::Topology;
use crate::traces::TraceOrigin;
use crate::windows::Window;

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// When this much payload is delivered.
    Size(Bytes),
    /// This long after the SYN.
    Duration(Span),
}

/// Rounds of replies on persistent connections. In each round, the connection of every client carries one reply. The scenario's goal states
/// the size of a reply (Visweswaraiah and Heidemann 1997, section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// The number of rounds.
    pub count: u32,
    /// The idle time between two rounds. With a spread, it lasts from the latest possible reply of one round to the earliest possible reply
    /// of the next. Without a spread, it lasts from the last byte of a reply to the next reply.
    pub idle: Span,
    /// The spread: the maximum time between a client's reply and the centre of the round.
    pub spread: Option<Span>,
    /// The number of clients on the path. All use one scheme.
    pub clients: u32,
}

/// An application that writes periodically: at the start of the flow and then at a fixed interval, whether or not earlier
/// writes are delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Writes {
    /// Payload bytes of one write. The last write may be smaller.
    pub bytes: Bytes,
    /// The time from one write to the next.
    pub period: Span,
}

impl Writes {
    /// Returns the number of writes in a stream of this size.
    pub const fn count(self, stream: Bytes) -> u64 {
        stream.get().div_ceil(self.bytes.get())
    }
}

/// A path, the endpoints on it and what they do; every key has its value. The scenario, a scheme and a seed determine a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// The registry in which laws are looked up. It is neither part of the path nor hashed.
    pub registry: Registry,
    /// The bottleneck's rate, in IP bits per second.
    pub rate: Rate,
    /// The base round-trip time: propagation only.
    pub rtt: Span,
    /// The bottleneck's queue. A limit in packets includes the packet in transmission, as in ns-2; a limit in bytes counts
    /// only waiting packets.
    pub queue: QueueSize,
    /// The queue's active management; `None` for drop-tail.
    pub aqm: Option<Aqm>,
    /// The policer of all traffic that enters the bottleneck.
    pub policer: Option<PolicerSpec>,
    /// The bottleneck's rate over time. If it is given, `rate` only scales the defaults of other keys.
    pub rate_trace: Option<RateTrace>,
    /// How ACKs are batched at the end of the reverse path.
    pub ack_aggregation: Option<Batch>,
    /// Whether all TCP flows use ECN.
    pub ecn: bool,
    /// The cross traffic, if it is a single flow that lasts for the whole run in the measured flow's direction.
    pub cross: Cross,
    /// Further cross traffic. With a population, this field has all cross traffic.
    pub beside: Vec<Beside>,
    /// Payload bytes of a full segment.
    pub mss: u16,
    /// The condition that ends a run. With rounds, the size of one reply.
    pub goal: Goal,
    /// Rounds of replies with idle times between them.
    pub rounds: Option<Rounds>,
    /// The application's periodic writes; `None` if it writes all at once.
    pub app: Option<Writes>,
    /// A population of measured flows instead of one flow. The size in `goal` is then the mean size of these flows, and a duration in
    /// `goal` counts from the end of the warm-up.
    pub population: Option<Population>,
    /// The flows of the population, if they are listed one by one; else empty.
    pub script: Vec<ScriptedFlow>,
    /// The latest end of a run, counted from the SYN, or with a population from the beginning of the run. If the goal is a duration, the
    /// limit is the warm-up, if any, plus that duration.
    pub limit: Span,
    /// When the receiver acknowledges.
    pub ack: AckPolicy,
    /// Whether the receiver reports SACK blocks if both ends agreed to use SACK.
    pub sack_blocks: bool,
    /// One avoidance law for all schemes, instead of each scheme's own.
    pub avoidance: Option<&'static str>,
    /// The loss recovery.
    pub recovery: Recovery,
    /// The stack that all TCP senders imitate where the RFCs and Linux differ.
    pub stack: Stack,
    /// The QUIC stack in which the measured flow runs; `None` for the simulator's TCP.
    pub quic: Option<QuicStack>,
    /// The restart policy.
    pub restart: RestartChoice,
    /// The initial slow-start threshold in payload bytes; `None` is arbitrarily high.
    pub ssthresh: Option<Bytes>,
    /// The initial window in segments.
    pub iw: u32,
    /// The receive buffer, which bounds the advertised window.
    pub rwnd: Bytes,
    /// The minimum RTO.
    pub min_rto: Span,
    /// Whether TCP timestamps are used.
    pub timestamps: bool,
    /// Random loss at the bottleneck.
    pub loss: Decimal,
    /// Jitter at the bottleneck: each packet is delayed by up to this much, without reordering.
    pub jitter: Option<Span>,
    /// The rate of each sender's access link; ten times the bottleneck's rate by default. Each sender has its own link, whose queue is
    /// unlimited.
    pub access_rate: Rate,
    /// The rate of the reverse path; the access link's rate by default. If hosts are at both ends, it is the rate from the last router to
    /// the first, and the default is the bottleneck's rate.
    pub reverse_rate: Rate,
    /// The share of the base round-trip time on the reverse path: half by default.
    pub reverse_rtt_share: Decimal,
    /// Which routers take part in Quick-Start.
    pub qs_hops: QuickStartHops,
    /// How the participating routers answer requests if the next link connects two routers.
    pub qs_router: QuickStartRouter,
    /// How the participating routers answer requests if the next link is a host's access link.
    pub qs_access: AccessRouters,
    /// The links between the two ends.
    pub topology: Topology,
    /// The limit of each hop's queue on the reverse path. `None` is no limit, or the bottleneck's limit if hosts are at both ends.
    pub reverse_queue: Option<QueueSize>,
    /// Random loss on the reverse path, at each hop.
    pub ack_loss: Decimal,
    /// Jitter on the reverse path, at each hop.
    pub reverse_jitter: Option<Span>,
    /// The granularity of the timer by which senders release packets; `None` if they are sent at exact times.
    pub pacing_timer: Option<Span>,
    /// The maximum lateness of senders' timers. The lateness is uniformly distributed from zero to this maximum. `None` if timers fire when
    /// they are due.
    pub timer_noise: Option<Span>,
    /// IP bytes of the bursts into which segmentation offload groups the packets that senders' timers release.
    pub gso: Option<Bytes>,
    /// The rate of each receiver's access link. The link follows the last bottleneck and has a queue of the bottleneck's limit. `None` if
    /// there is no access link.
    pub receiver_access_rate: Option<Rate>,
    /// The retransmission timeout before the first round-trip sample.
    pub initial_rto: Span,
    /// The value that the minimum RTO bounds; `None` for the stack's rule.
    pub rto_floor: Option<RtoFloor>,
    /// The rule by which the window grows while the application limits it; `None` for the stack's rule.
    pub growth: Option<Growth>,
    /// The unit that slow start counts in an ACK; `None` for the stack's rule.
    pub slow_start_counts: Option<SlowStartCounts>,
    /// The limit of the flight in addition to the congestion window and the receive window.
    pub inflight_limit: InflightLimit,
    /// How the path is probed with trains; `None` if flows are raced over it.
    pub probe: Option<ProbeChoice>,
    /// The segments that limited transmit sends on the first two consecutive duplicate ACKs without SACK.
    pub limited_transmit: LimitedTransmit,
    /// Bursty loss at the bottleneck, instead of `loss`.
    pub loss_bursts: Option<Gemodel>,
    /// Bursty loss on the reverse path, at each hop, instead of `ack_loss`.
    pub ack_loss_bursts: Option<Gemodel>,
    /// The delay of an ACK that waits for others; `None` if it is that of `ack`.
    pub ack_delay: Option<Span>,
    /// Reordering at the end of the forward path.
    pub reorder: Option<Reordering>,
    /// Share of the packets that arrive twice at the end of the forward path.
    pub duplicate: Decimal,
    /// Times in which the bottleneck sends nothing.
    pub outage: Option<Outages>,
    /// How data is batched at the end of the forward path.
    pub aggregation: Option<Batch>,
    /// The operations that cost CPU time on the hosts.
    pub host_cpu: HostCpu,
    /// CPU time to examine one packet of a list.
    pub cpu_packet: Span,
    /// CPU time to process an arriving segment, without walks over lists.
    pub cpu_segment: Span,
    /// The origin of the rate over time, if its steps do not determine it.
    pub rate_origin: Option<TraceOrigin>,
    /// Extra delay of the data at the first bottleneck over time.
    pub delay_trace: Option<DelayTrace>,
    /// The origin of the delay over time, if its steps do not determine it.
    pub delay_origin: Option<TraceOrigin>,
    /// The time windows in which links and flows are measured in addition to the whole run. They do not change a run, and are not hashed.
    pub windows: Vec<Window>,
    /// The links that are measured in addition to the bottleneck. They do not change a run, and are not hashed.
    pub measured_links: Vec<NamedLink>,
    /// The preset whose words the path has, for titles. It does not change a run, and is not hashed.
    pub origin: Origin,
    /// The seed of the first run; each further run takes the next seed.
    pub seed: u64,
    /// The number of runs.
    pub runs: u32,
}

const MEGABIT: u64 = 1_000_000;

impl Default for Scenario {
    /// Returns the built-in path: the path of Paced Start (section 5.1 of the paper).
    fn default() -> Self {
        Self {
            registry: Registry::builtin(),
            rate: Rate::from_bps(100 * MEGABIT),
            rtt: Span::from_millis(80),
            queue: QueueSize::Packets(1000),
            aqm: None,
            policer: None,
            rate_trace: None,
            ack_aggregation: None,
            ecn: false,
            cross: Cross::Cbr(Rate::from_bps(40 * MEGABIT)),
            beside: Vec::new(),
            mss: 960,
            goal: Goal::Duration(Span::from_secs(50)),
            rounds: None,
            app: None,
            population: None,
            script: Vec::new(),
            limit: Span::from_secs(50),
            ack: AckPolicy::Every,
            sack_blocks: true,
            avoidance: Some("reno"),
            recovery: Recovery::default(),
            stack: Stack::default(),
            quic: None,
            restart: RestartChoice::default(),
            ssthresh: Some(Bytes::new(20_000 * 960)),
            iw: 2,
            rwnd: LARGEST_RWND,
            min_rto: Stack::default().min_rto(),
            timestamps: false,
            loss: Decimal::whole(0),
            jitter: None,
            access_rate: Rate::from_bps(1_000 * MEGABIT),
            reverse_rate: Rate::from_bps(1_000 * MEGABIT),
            reverse_rtt_share: HALF,
            qs_hops: QuickStartHops::All,
            qs_router: QuickStartRouter::default(),
            qs_access: AccessRouters::default(),
            topology: Topology::Single,
            reverse_queue: None,
            ack_loss: Decimal::whole(0),
            reverse_jitter: None,
            pacing_timer: None,
            timer_noise: None,
            gso: None,
            receiver_access_rate: None,
            initial_rto: Span::from_secs(1),
            rto_floor: None,
            growth: None,
            slow_start_counts: None,
            inflight_limit: InflightLimit::None,
            probe: None,
            limited_transmit: LimitedTransmit::New,
            loss_bursts: None,
            ack_loss_bursts: None,
            ack_delay: None,
            reorder: None,
            duplicate: Decimal::whole(0),
            outage: None,
            aggregation: None,
            host_cpu: HostCpu::None,
            cpu_packet: HostCpu::PACKET,
            cpu_segment: HostCpu::SEGMENT,
            rate_origin: None,
            delay_trace: None,
            delay_origin: None,
            windows: Vec::new(),
            measured_links: Vec::new(),
            origin: Origin::default(),
            seed: 1,
            runs: 1,
        }
    }
}

/// The default receive buffer: the largest window that window scaling can advertise (RFC 7323 section 2.3).
const LARGEST_RWND: Bytes = Bytes::new(1 << 30);

/// The default of `limit`: the longest time that a transfer may take.
const LIMIT: Span = Span::from_secs(3600);

/// The share of one direction if both directions have half of the base RTT.
pub(crate) const HALF: Decimal = Decimal::tenths(5);

impl Scenario {
    /// Returns the IP bytes of a full packet: the payload, 40 bytes of headers, and 12 bytes of timestamps if they are used.
    pub fn packet(&self) -> u32 {
        u32::from(self.mss) + 40 + if self.timestamps { 12 } else { 0 }
    }

    /// Returns the propagation delay of the reverse path.
    pub fn reverse_delay(&self) -> Span {
        let nanos = self.reverse_rtt_share.times(self.rtt.nanos()).unwrap_or(0);
        Span::from_nanos(nanos.min(self.rtt.nanos()))
    }

    /// Returns the propagation delay from the first router to the last if hosts are at both ends.
    pub fn onward_delay(&self) -> Span {
        if self.reverse_rtt_share == HALF { self.rtt / 2 } else { self.rtt - self.reverse_delay() }
    }

    /// Returns the propagation delay from the last router to the first if hosts are at both ends. Without a given share it equals the delay
    /// of the other direction.
    pub fn back_delay(&self) -> Span {
        if self.reverse_rtt_share == HALF { self.rtt / 2 } else { self.reverse_delay() }
    }

    /// Checks whether each transfer has a size.
    pub fn is_sized(&self) -> bool {
        matches!(self.goal, Goal::Size(_))
    }
}

/// Returns the time that the application takes to write a transfer.
fn writing(app: Option<Writes>, size: Bytes) -> Span {
    app.map_or(Span::ZERO, |app| app.period * app.count(size))
}

impl Scenario {
    /// Returns the default limit of a transfer without rounds.
    pub fn usual_limit(&self) -> Span {
        match self.goal {
            Goal::Size(size) => LIMIT + writing(self.app, size),
            Goal::Duration(_) => self.limit,
        }
    }
}

impl Scenario {
    /// Returns the scenario of the run with this seed: its traces are those that the seed selects. Its canonical text is the same.
    pub fn at_seed(&self, seed: u64) -> Cow<'_, Self> {
        let rates = self.rate_origin.as_ref().zip(self.rate_trace.as_ref());
        let rates = rates.and_then(|(origin, rates)| origin.rates(rates, seed));
        let delays = self.delay_origin.as_ref().zip(self.delay_trace.as_ref());
        let delays = delays.and_then(|(origin, delays)| origin.delays(delays, seed));
        if rates.is_none() && delays.is_none() {
            return Cow::Borrowed(self);
        }
        let rate_trace = rates.or_else(|| self.rate_trace.clone());
        let delay_trace = delays.or_else(|| self.delay_trace.clone());
        Cow::Owned(Self { rate_trace, delay_trace, ..self.clone() })
    }
}

/// Returns the greatest rate of a trace.
fn highest(trace: Option<&RateTrace>) -> Option<Rate> {
    trace?.steps().iter().map(|(_, rate)| *rate).max()
}

/// Returns the lowest rate of a trace.
pub fn lowest(trace: Option<&RateTrace>) -> Option<Rate> {
    trace?.steps().iter().map(|(_, rate)| *rate).min()
}

/// Returns the 64-bit FNV-1a hash (RFC 9923).
pub fn fnv_1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests;
