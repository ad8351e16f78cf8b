//! The scenario of a race: every key resolved.

mod beside;
mod endless;
mod error;
mod flows;
mod ineffective;
mod links;
mod queue;
mod resolve;
mod text;

pub use error::{ScenarioError, ScenarioFault};
pub use links::probability;
pub use text::quote;

use firstflight::registry::Registry;
use firstflight::{Bytes, Rate, Span};
use firstflight_sim::{Batch, PolicerSpec, RateTrace};
use firstflight_tcp::{
    AckPolicy, Growth, InflightLimit, LimitedTransmit, Recovery, RtoFloor, SlowStartCounts, Stack,
};

use crate::beside::Beside;
use crate::bottleneck::Aqm;
use crate::host_cpu::HostCpu;
use crate::named_link::NamedLink;
use crate::population::Population;
use crate::probing::ProbeChoice;
use crate::quantity::{Decimal, QueueSize};
use crate::restart::RestartChoice;
use crate::routers::{AccessRouters, QuickStartRouter};
use crate::script::ScriptedFlow;
use crate::topology::Topology;
use crate::windows::Window;
use crate::words::{Cross, QuickStartHops};

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// When this much payload is delivered.
    Size(Bytes),
    /// This long after the SYN.
    Duration(Span),
}

/// Rounds of replies on persistent connections. In each round every client's connection carries one reply, whose size is
/// the goal's (Visweswaraiah and Heidemann 1997, section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// The number of rounds.
    pub count: u32,
    /// The idle time between two rounds. With a spread: from the latest instant of one round to the earliest of the next.
    /// Without: from the last byte of a reply to the next reply.
    pub idle: Span,
    /// The spread: how far a client's reply may be from the round's centre.
    pub spread: Option<Span>,
    /// The number of clients on the path, all with one scheme.
    pub clients: u32,
}

/// An application that writes periodically: at the start of the flow and then at a fixed interval, whether or not earlier
/// writes are delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Writes {
    /// Payload bytes of a write. The last write has the remainder.
    pub bytes: Bytes,
    /// The time from one write to the next.
    pub period: Span,
}

impl Writes {
    /// The number of writes in a stream of this size.
    pub const fn count(self, stream: Bytes) -> u64 {
        stream.get().div_ceil(self.bytes.get())
    }
}

/// A path, the endpoints on it and what they do, all resolved. With a scheme and a seed it determines a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// The registry in which laws are looked up. It is not part of the path, nor of its hash.
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
    /// The bottleneck's rate over time. It replaces `rate`, which then only scales the defaults of other keys.
    pub rate_trace: Option<RateTrace>,
    /// How ACKs are batched, at the end of the reverse path.
    pub ack_aggregation: Option<Batch>,
    /// Whether all TCP flows use ECN.
    pub ecn: bool,
    /// Cross traffic beside one flow, of the whole run and in its direction.
    pub cross: Cross,
    /// Further cross traffic; beside a population, all of it.
    pub beside: Vec<Beside>,
    /// Payload bytes of a full segment.
    pub mss: u16,
    /// When a run ends. With rounds, the size of one reply.
    pub goal: Goal,
    /// Rounds of replies with idle times between them.
    pub rounds: Option<Rounds>,
    /// The application's periodic writes; `None` if it writes all at once.
    pub app: Option<Writes>,
    /// A population of measured flows instead of one flow. The goal's size is then their mean size, and the goal's duration
    /// begins with the end of the warm-up.
    pub population: Option<Population>,
    /// The flows of the population, if they are said one by one; else empty.
    pub script: Vec<ScriptedFlow>,
    /// The latest end of a run, from the SYN; with a population, from the beginning. If the goal is a duration, the limit
    /// is that duration, plus the warm-up if there is one.
    pub limit: Span,
    /// When the receiver acknowledges.
    pub ack: AckPolicy,
    /// Whether the receiver reports SACK blocks where SACK was agreed on.
    pub sack_blocks: bool,
    /// One avoidance law for all schemes, instead of each scheme's own.
    pub avoidance: Option<&'static str>,
    /// The loss recovery.
    pub recovery: Recovery,
    /// The stack whose behaviour all TCP senders have where the RFCs and Linux differ.
    pub stack: Stack,
    /// The restart policy.
    pub restart: RestartChoice,
    /// The initial slow-start threshold in payload bytes; `None` is arbitrarily high.
    pub ssthresh: Option<Bytes>,
    /// The initial window in segments.
    pub iw: u32,
    /// The receive buffer, which bounds the advertised window.
    pub rwnd: Bytes,
    /// The least retransmission timeout.
    pub min_rto: Span,
    /// Whether TCP timestamps are used.
    pub timestamps: bool,
    /// Random loss at the bottleneck.
    pub loss: Decimal,
    /// Jitter at the bottleneck: each packet is delayed by up to this much, without reordering.
    pub jitter: Option<Span>,
    /// The rate of each sender's access link: ten times the bottleneck's by default. Each sender has its own link, whose
    /// queue is unlimited.
    pub access_rate: Rate,
    /// The rate of the reverse path: the access link's by default. Between hosts it is the rate from the last router to the
    /// first: the bottleneck's by default.
    pub reverse_rate: Rate,
    /// The share of the base round-trip time on the reverse path: half by default.
    pub reverse_rtt_share: Decimal,
    /// Which routers take part in Quick-Start.
    pub qs_hops: QuickStartHops,
    /// How those routers answer requests, before links between routers.
    pub qs_router: QuickStartRouter,
    /// How those routers answer requests, before hosts' access links.
    pub qs_access: AccessRouters,
    /// The links between the two ends.
    pub topology: Topology,
    /// The limit of each hop's queue on the reverse path; `None` never overflows. Between hosts `None` is the bottleneck's.
    pub reverse_queue: Option<QueueSize>,
    /// Random loss on the reverse path, at each hop.
    pub ack_loss: Decimal,
    /// Jitter on the reverse path, at each hop.
    pub reverse_jitter: Option<Span>,
    /// The grain of the timer by which senders' packets leave; `None` if they leave when they should.
    pub pacing_timer: Option<Span>,
    /// IP bytes of the bursts that segmentation offload makes of what senders' timers let leave.
    pub gso: Option<Bytes>,
    /// The rate of each receiver's access link, behind the last bottleneck and with a queue of the bottleneck's limit;
    /// `None` for no such link.
    pub receiver_access_rate: Option<Rate>,
    /// The retransmission timeout before the first round-trip sample.
    pub initial_rto: Span,
    /// What the least retransmission timeout bounds; `None` for the stack's rule.
    pub rto_floor: Option<RtoFloor>,
    /// What grows the window while the application limits it; `None` for the stack's rule.
    pub growth: Option<Growth>,
    /// What slow start counts of an ACK; `None` for the stack's rule.
    pub slow_start_counts: Option<SlowStartCounts>,
    /// What limits the flight beside the congestion window and the receiver's.
    pub inflight_limit: InflightLimit,
    /// How the path is probed with trains; `None` if flows are raced over it.
    pub probe: Option<ProbeChoice>,
    /// What the first two duplicate ACKs in a row send, without SACK.
    pub limited_transmit: LimitedTransmit,
    /// What the hosts' processors take time for.
    pub host_cpu: HostCpu,
    /// What looking at one packet of a list takes a processor.
    pub cpu_packet: Span,
    /// What a segment that arrives takes a processor, lists apart.
    pub cpu_segment: Span,
    /// The windows in which links and flows are measured beside the whole run. They change no run, and are not hashed.
    pub windows: Vec<Window>,
    /// The links that windows and slots measure beside the bottleneck. They change no run, and are not hashed.
    pub measured_links: Vec<NamedLink>,
    /// The seed of the first run; each further run takes the next seed.
    pub seed: u64,
    /// The number of runs.
    pub runs: u32,
}

const MEGABIT: u64 = 1_000_000;

impl Default for Scenario {
    /// The built-in path, which is that of Paced Start (section 5.1 of the paper).
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
            gso: None,
            receiver_access_rate: None,
            initial_rto: Span::from_secs(1),
            rto_floor: None,
            growth: None,
            slow_start_counts: None,
            inflight_limit: InflightLimit::None,
            probe: None,
            limited_transmit: LimitedTransmit::New,
            host_cpu: HostCpu::None,
            cpu_packet: HostCpu::PACKET,
            cpu_segment: HostCpu::SEGMENT,
            windows: Vec::new(),
            measured_links: Vec::new(),
            seed: 1,
            runs: 1,
        }
    }
}

/// The default receive buffer: the largest window that window scaling can advertise (RFC 7323 section 2.3).
const LARGEST_RWND: Bytes = Bytes::new(1 << 30);

/// The default of `limit`: the longest time that a transfer may take.
const LIMIT: Span = Span::from_secs(3600);

/// Half of the round trip each way.
pub(crate) const HALF: Decimal = Decimal::tenths(5);

impl Scenario {
    /// IP bytes of a full packet: the payload, 40 bytes of headers, and 12 more with timestamps.
    pub fn packet(&self) -> u32 {
        u32::from(self.mss) + 40 + if self.timestamps { 12 } else { 0 }
    }

    /// The propagation delay of the reverse path.
    pub fn reverse_delay(&self) -> Span {
        let nanos = self.reverse_rtt_share.times(self.rtt.nanos()).unwrap_or(0);
        Span::from_nanos(nanos.min(self.rtt.nanos()))
    }

    /// The propagation delay between hosts from the first router to the last, where hosts are at both ends.
    pub fn onward_delay(&self) -> Span {
        if self.reverse_rtt_share == HALF { self.rtt / 2 } else { self.rtt - self.reverse_delay() }
    }

    /// The propagation delay between hosts from the last router to the first: as much as the other way unless a share is given.
    pub fn back_delay(&self) -> Span {
        if self.reverse_rtt_share == HALF { self.rtt / 2 } else { self.reverse_delay() }
    }

    /// Whether each transfer has a size.
    pub fn is_sized(&self) -> bool {
        matches!(self.goal, Goal::Size(_))
    }
}

/// The time that the application takes to write a transfer.
fn writing(app: Option<Writes>, size: Bytes) -> Span {
    app.map_or(Span::ZERO, |app| app.period * app.count(size))
}

impl Scenario {
    /// The default limit of a transfer without rounds.
    pub fn usual_limit(&self) -> Span {
        match self.goal {
            Goal::Size(size) => LIMIT + writing(self.app, size),
            Goal::Duration(_) => self.limit,
        }
    }
}

/// The greatest rate of a trace.
fn highest(trace: Option<&RateTrace>) -> Option<Rate> {
    trace?.steps().iter().map(|(_, rate)| *rate).max()
}

/// The least rate of a trace.
pub fn lowest(trace: Option<&RateTrace>) -> Option<Rate> {
    trace?.steps().iter().map(|(_, rate)| *rate).min()
}

/// FNV-1a of 64 bits (RFC 9923).
pub fn fnv_1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests;
