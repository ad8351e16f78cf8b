//! The scenario of a race: every key resolved.

mod endless;
mod error;
mod flows;
mod queue;
mod resolve;
mod text;
mod unheeded;

pub use error::{ScenarioError, ScenarioFault};

use firstflight::registry::Registry;
use firstflight::{Bytes, Rate, Span};
use firstflight_sim::{Batch, PolicerSpec, RateTrace};
use firstflight_tcp::{AckPolicy, Growth, Recovery, RtoFloor, SlowStartCounts, Stack};

use crate::bottleneck::Aqm;
use crate::population::Population;
use crate::quantity::{Decimal, QueueSize};
use crate::restart::RestartChoice;
use crate::routers::QuickStartRouter;
use crate::topology::Topology;
use crate::words::{Cross, QuickStartHops};

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// When this much payload is delivered.
    Size(Bytes),
    /// This long after the SYN.
    Duration(Span),
}

/// Rounds of replies on connections that are kept: in each, every client's connection carries one reply, whose
/// size is the goal's (Visweswaraiah and Heidemann 1997, section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// How many rounds.
    pub count: u32,
    /// The idle time between two rounds. With a spread, from the end of one round's stretch of instants to the
    /// beginning of the next one's; without, from the last byte of a reply to the next reply.
    pub idle: Span,
    /// Each client's part in a round is up to this far from the round's centre.
    pub spread: Option<Span>,
    /// How many clients share the path, all with the same scheme.
    pub clients: u32,
}

/// An application that stops and goes: it writes at the start of the flow and then by the clock, whether or not the
/// writes before are delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Writes {
    /// Payload bytes of one; the last has what is left.
    pub bytes: Bytes,
    /// From one write to the next.
    pub period: Span,
}

impl Writes {
    /// How many writes make up a stream.
    pub const fn count(self, stream: Bytes) -> u64 {
        stream.get().div_ceil(self.bytes.get())
    }
}

/// A path, the endpoints on it and what they do, all resolved. With a scheme and a seed it determines a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Where the names of laws are looked up: not part of the path, and not in its hash.
    pub registry: Registry,
    /// The bottleneck's rate, in IP bits per second.
    pub rate: Rate,
    /// The base round-trip time: propagation only.
    pub rtt: Span,
    /// The bottleneck's queue. A limit in packets counts the one in transmission, as ns-2 does; a limit in bytes
    /// counts what waits.
    pub queue: QueueSize,
    /// What that queue does before it is full; nothing if it only drops at its tail.
    pub aqm: Option<Aqm>,
    /// What polices all that enters it.
    pub policer: Option<PolicerSpec>,
    /// The bottleneck's rate over time, in place of `rate`, which then only scales other things.
    pub rate_trace: Option<RateTrace>,
    /// How ACKs are released together, at the end of the way back.
    pub ack_aggregation: Option<Batch>,
    /// Whether all TCP flows use ECN.
    pub ecn: bool,
    /// Cross traffic.
    pub cross: Cross,
    /// Payload bytes of a full segment.
    pub mss: u16,
    /// When a run ends; with rounds, the reply of one.
    pub goal: Goal,
    /// Rounds of replies with idle times between.
    pub rounds: Option<Rounds>,
    /// How the application writes, if it does not write all at once.
    pub app: Option<Writes>,
    /// Many flows, each measured, instead of one. The goal's size is then the mean of theirs, and its duration is from
    /// the end of the warm-up on.
    pub population: Option<Population>,
    /// When a run ends at the latest, from the SYN; with a population, from the beginning. Where the goal is a duration it
    /// is that, after the warm-up if there is one.
    pub limit: Span,
    /// When the receiver acknowledges.
    pub ack: AckPolicy,
    /// One avoidance law for all schemes, instead of each scheme's own.
    pub avoidance: Option<&'static str>,
    /// How losses are repaired.
    pub recovery: Recovery,
    /// Whose senders all TCP flows' are where the RFCs and Linux differ.
    pub stack: Stack,
    /// The restart policy.
    pub restart: RestartChoice,
    /// The initial slow-start threshold in payload bytes; `None` is arbitrarily high.
    pub ssthresh: Option<Bytes>,
    /// The initial window in segments.
    pub iw: u32,
    /// The receive buffer, which bounds the window offered.
    pub rwnd: Bytes,
    /// The least retransmission timeout.
    pub min_rto: Span,
    /// Whether TCP timestamps are used.
    pub timestamps: bool,
    /// Random loss at the bottleneck.
    pub loss: Decimal,
    /// Jitter at the bottleneck: each packet is up to this much later, its order kept.
    pub jitter: Option<Span>,
    /// The rate of each sender's access link: ten times the bottleneck's by default. Its queue is the sender's
    /// own and unlimited.
    pub access_rate: Rate,
    /// The rate of the way back: the access link's by default.
    pub reverse_rate: Rate,
    /// How much of the base round-trip time is on the way back: half by default.
    pub reverse_rtt_share: Decimal,
    /// Which routers take part in Quick-Start.
    pub qs_hops: QuickStartHops,
    /// What those routers do with requests.
    pub qs_router: QuickStartRouter,
    /// Which links there are.
    pub topology: Topology,
    /// The limit of the queue of the way back, of each hop; none never overflows.
    pub reverse_queue: Option<QueueSize>,
    /// Random loss on the way back, at each hop.
    pub ack_loss: Decimal,
    /// The rate of each receiver's access link, behind the last bottleneck and with a queue like its; `None` is no such link.
    pub receiver_access_rate: Option<Rate>,
    /// The retransmission timeout before there is a round trip.
    pub initial_rto: Span,
    /// What the least retransmission timeout bounds, if not what the stack has it bound.
    pub rto_floor: Option<RtoFloor>,
    /// What widens the window while the application limits, if not what the stack has.
    pub growth: Option<Growth>,
    /// What slow start counts of an ACK, if not what the stack has it count.
    pub slow_start_counts: Option<SlowStartCounts>,
    /// The seed of the first run; the next runs have the next seeds.
    pub seed: u64,
    /// How many runs.
    pub runs: u32,
}

const MEGABIT: u64 = 1_000_000;

impl Default for Scenario {
    /// The built-in path: Paced Start's (section 5.1 of the paper).
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
            mss: 960,
            goal: Goal::Duration(Span::from_secs(50)),
            rounds: None,
            app: None,
            population: None,
            limit: Span::from_secs(50),
            ack: AckPolicy::Every,
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
            topology: Topology::Single,
            reverse_queue: None,
            ack_loss: Decimal::whole(0),
            receiver_access_rate: None,
            initial_rto: Span::from_secs(1),
            rto_floor: None,
            growth: None,
            slow_start_counts: None,
            seed: 1,
            runs: 1,
        }
    }
}

/// The receive buffer that is offered when none is asked for: the most that window scaling can offer
/// (RFC 7323 section 2.3).
const LARGEST_RWND: Bytes = Bytes::new(1 << 30);

/// How long a transfer may take where `limit` is unset.
const LIMIT: Span = Span::from_secs(3600);

const HALF: Decimal = Decimal::tenths(5);

impl Scenario {
    /// IP bytes of a full packet: payload, 40 of headers, 12 more with timestamps.
    pub fn packet(&self) -> u32 {
        u32::from(self.mss) + 40 + if self.timestamps { 12 } else { 0 }
    }

    /// Propagation on the way back.
    pub fn reverse_delay(&self) -> Span {
        let nanos = self.reverse_rtt_share.times(self.rtt.nanos()).unwrap_or(0);
        Span::from_nanos(nanos.min(self.rtt.nanos()))
    }

    /// Whether transfers have a size.
    pub fn is_sized(&self) -> bool {
        matches!(self.goal, Goal::Size(_))
    }
}

/// How long the application takes to write a transfer.
fn writing(app: Option<Writes>, size: Bytes) -> Span {
    app.map_or(Span::ZERO, |app| app.period * app.count(size))
}

impl Scenario {
    /// How long a transfer without rounds may take where `limit` is unset.
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
