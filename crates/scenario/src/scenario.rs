//! The scenario of a race: every option resolved, and its defaults.

mod endless;
mod error;
mod flows;
mod queue;
mod text;
mod unheeded;

pub use error::ScenarioError;
use flows::{coming, population};
pub use text::fnv_1a;

use firstflight::registry::Registry;
use firstflight::{Bytes, Rate, Span};
use firstflight_sim::{Batch, PolicerSpec, RateTrace};
use firstflight_tcp::{AckPolicy, Recovery, Stack};

use crate::bottleneck::Aqm;
use crate::options::{LARGEST_RWND, Options};
use crate::population::Population;
use crate::quantity::{Amount, Decimal, QueueSize, show_bytes, show_rate};
use crate::restart::RestartChoice;
use crate::routers::QuickStartRouter;
use crate::topology::Topology;
use crate::words::{self, App, Cross, Packet, QuickStartHops};

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
            seed: 1,
            runs: 1,
        }
    }
}

const MOST_WRITES: u64 = 100_000;

/// How long a transfer may take where `limit` is unset.
const LIMIT: Span = Span::from_secs(3600);

const HALF: Decimal = Decimal::tenths(5);

/// What is unset on a path, other than what [`Scenario::default`] says of the rest.
struct Unset {
    queue: QueueSize,
    cross: Cross,
    packet: Packet,
    goal: Unreached,
    ack: AckPolicy,
    avoidance: Option<&'static str>,
    ssthresh: Option<Amount>,
    /// Or what RFC 6928 says.
    iw: Option<u32>,
}

enum Unreached {
    Size(Amount),
    Duration(Span),
}

impl Unset {
    /// Neither rate nor round-trip time was given: the built-in path.
    const BUILT_IN: Self = Self {
        queue: QueueSize::Packets(1000),
        cross: Cross::Cbr(Rate::from_bps(40 * MEGABIT)),
        packet: Packet::Ip(1000),
        goal: Unreached::Duration(Span::from_secs(50)),
        ack: AckPolicy::Every,
        avoidance: Some("reno"),
        ssthresh: Some(Amount::Packets(Decimal::whole(20_000))),
        iw: Some(2),
    };

    /// Either was given: the user's own path.
    const OWN: Self = Self {
        queue: QueueSize::Bdp(Decimal::whole(1)),
        cross: Cross::None,
        packet: Packet::Mss(1460),
        goal: Unreached::Size(Amount::Bytes(Bytes::new(1_000_000))),
        ack: AckPolicy::Delayed,
        avoidance: None,
        ssthresh: None,
        iw: None,
    };
}

/// The initial window of RFC 6928 section 2 in whole segments of `mss`: ten, but no more than 14,600 bytes of large ones, and
/// two at least.
fn initial_window(mss: u16) -> u32 {
    (14_600 / u32::from(mss).max(1)).clamp(2, 10)
}

impl Scenario {
    /// Fills in the defaults and checks that the whole makes sense.
    ///
    /// Without rate (or a trace of it) and round-trip time, what is unset is the built-in path's; with either, what is unset is: no
    /// cross traffic, ssthresh infinite, the initial window of RFC 6928, an MSS of 1460, delayed ACKs, a queue of one
    /// bandwidth-delay product, 1 MB, each scheme's own avoidance law, and 100 Mbit/s or 80 ms.
    ///
    /// # Errors
    /// Options that exclude each other, and sizes that make no sense on this path.
    pub fn resolve(options: &Options) -> Result<Self, ScenarioError> {
        let built_in = options.rate.is_none() && options.rtt.is_none() && options.rate_trace.is_none();
        let unset = if built_in { Unset::BUILT_IN } else { Unset::OWN };
        let topology = options.topology.unwrap_or_default();
        let population = population(options, topology)?;
        let base = Self::default();
        let timestamps = options.timestamps.unwrap_or(false);
        let mss = match options.packet.unwrap_or(unset.packet) {
            Packet::Mss(mss) => mss,
            Packet::Ip(bytes) => bytes - 40 - if timestamps { 12 } else { 0 },
        };
        let in_bytes = |key, amount: Amount| {
            let too_large = || ScenarioError::TooLarge { key, value: amount.to_string() };
            amount.in_bytes(u64::from(mss)).ok_or_else(too_large)
        };
        let stack = options.stack.unwrap_or(base.stack);
        let rounds = rounds(options)?;
        // The replies of Visweswaraiah and Heidemann 1997, section 4.1.
        let reply = rounds.map(|_| Amount::Bytes(Bytes::new(24_000)));
        let goal = match (options.size.or(reply), options.duration, &unset.goal) {
            (Some(_), Some(_), _) => return Err(ScenarioError::SizeAndDuration),
            (Some(size), None, _) => Goal::Size(in_bytes("size", size)?),
            (None, Some(duration), _) => Goal::Duration(duration),
            (None, None, Unreached::Size(size)) => Goal::Size(in_bytes("size", *size)?),
            (None, None, Unreached::Duration(duration)) => Goal::Duration(*duration),
        };
        let app = match options.app.flatten() {
            Some(_) if rounds.is_some() => return Err(ScenarioError::RoundsAndApp),
            Some(App { write, every }) => Some(Writes { bytes: in_bytes("app", write)?, period: every }),
            None => None,
        };
        let ssthresh = options.ssthresh.unwrap_or(unset.ssthresh);
        let highest = highest(options.rate_trace.as_ref());
        let rate = options.rate.or(highest).unwrap_or(base.rate);
        // A trace may go beyond what --rate says, and the access links are not to be what limits it then.
        let access_rate =
            options.access_rate.unwrap_or(highest.map_or(rate, |highest| highest.max(rate)) * 10);
        let scenario = Self {
            registry: options.registry,
            rate,
            rtt: options.rtt.unwrap_or(base.rtt),
            queue: options.queue.unwrap_or(unset.queue),
            aqm: options.aqm,
            policer: options.policer.unwrap_or(base.policer),
            rate_trace: options.rate_trace.clone(),
            ack_aggregation: options.ack_aggregation.unwrap_or(base.ack_aggregation),
            ecn: options.ecn.unwrap_or(base.ecn),
            cross: options.cross.unwrap_or(if population.is_some() { Cross::None } else { unset.cross }),
            mss,
            goal,
            rounds,
            app,
            population,
            limit: match goal {
                Goal::Duration(_) if options.limit.is_some() => return Err(ScenarioError::LimitAndDuration),
                Goal::Duration(duration) => population.map_or(Span::ZERO, |flows| flows.warm_up) + duration,
                Goal::Size(size) => options.limit.unwrap_or_else(|| {
                    LIMIT + idling(rounds) + writing(app, size) + population.map_or(Span::ZERO, coming)
                }),
            },
            ack: options.ack.unwrap_or(unset.ack),
            avoidance: options.avoidance.or(unset.avoidance),
            recovery: options.recovery.unwrap_or(base.recovery),
            stack,
            restart: options.restart_or(&base.restart),
            ssthresh: ssthresh.map(|amount| in_bytes("ssthresh", amount)).transpose()?,
            iw: options.iw.or(unset.iw).unwrap_or_else(|| initial_window(mss)),
            rwnd: options.rwnd.map_or(Ok(base.rwnd), |amount| in_bytes("rwnd", amount))?,
            min_rto: options.min_rto.unwrap_or(stack.min_rto()),
            timestamps,
            loss: options.loss.unwrap_or(base.loss),
            jitter: options.jitter.unwrap_or(base.jitter),
            access_rate,
            reverse_rate: options.reverse_rate.unwrap_or(access_rate),
            reverse_rtt_share: options.reverse_rtt_share.unwrap_or(base.reverse_rtt_share),
            qs_hops: options.qs_hops.unwrap_or(base.qs_hops),
            qs_router: options.qs_router.unwrap_or(base.qs_router),
            topology,
            reverse_queue: options.reverse_queue.unwrap_or(base.reverse_queue),
            seed: options.seed.unwrap_or(base.seed),
            runs: options.runs.unwrap_or(base.runs),
        };
        scenario.check()?;
        Ok(scenario)
    }

    /// A stack repairs losses in its own ways only.
    pub(crate) fn check_stack(&self) -> Result<(), ScenarioError> {
        match (self.stack, self.recovery) {
            (Stack::Rfc, _) | (Stack::Linux, Recovery::Rack | Recovery::NewReno) => Ok(()),
            (Stack::Linux, other) => Err(ScenarioError::NotLinuxs { recovery: words::recovery_name(other) }),
        }
    }

    fn check(&self) -> Result<(), ScenarioError> {
        let packet = self.packet();
        if self.rate.time_for(Bytes::new(u64::from(packet))) > Span::from_secs(3600) {
            return Err(ScenarioError::RateTooSmall { rate: show_rate(self.rate), packet });
        }
        let writes = self.app.map_or(0, |app| match self.goal {
            Goal::Size(size) => app.count(size),
            Goal::Duration(span) => span.nanos() / app.period.nanos().max(1),
        });
        if writes > MOST_WRITES {
            return Err(ScenarioError::TooManyWrites { writes });
        }
        self.ends()?;
        self.check_stack()?;
        if let Some((min, max)) = self.red_thresholds().filter(|(min, max)| min >= max) {
            return Err(ScenarioError::Thresholds { min, max });
        }
        match self.queue_bytes() {
            Some(bytes) if bytes.get() < u64::from(packet) => {
                return Err(ScenarioError::QueueBelowPacket { queue: self.queue.to_string(), packet });
            }
            None if !matches!(self.queue, QueueSize::Packets(_)) => {
                return Err(ScenarioError::TooLarge { key: "queue", value: self.queue.to_string() });
            }
            _ => {}
        }
        let burst = self.policer.map(|policer| policer.burst);
        if let Some(burst) = burst.filter(|burst| burst.get() < u64::from(packet)) {
            return Err(ScenarioError::BurstBelowPacket { burst: show_bytes(burst), packet });
        }
        if self.rwnd < Bytes::new(u64::from(self.mss)) {
            return Err(ScenarioError::RwndBelowSegment { rwnd: show_bytes(self.rwnd), mss: self.mss });
        }
        if self.rwnd > LARGEST_RWND {
            return Err(ScenarioError::RwndTooLarge { rwnd: show_bytes(self.rwnd) });
        }
        Ok(())
    }

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

/// Rounds, if they were asked for.
fn rounds(options: &Options) -> Result<Option<Rounds>, ScenarioError> {
    let Some(count) = options.rounds else {
        let of_rounds = [
            ("idle", options.idle.is_some()),
            ("spread", options.spread.is_some()),
            ("clients", options.clients.is_some()),
        ];
        let stray = of_rounds.into_iter().find(|(_, given)| *given);
        return stray.map_or(Ok(None), |(key, _)| Err(ScenarioError::WithoutRounds { key }));
    };
    if options.duration.is_some() {
        return Err(ScenarioError::RoundsAndDuration);
    }
    let clients = options.clients.unwrap_or(1);
    Ok(Some(Rounds {
        count,
        idle: options.idle.unwrap_or(IDLE),
        spread: options.spread.unwrap_or((clients > 1).then_some(SPREAD)),
        clients,
    }))
}

/// The time between rounds in Visweswaraiah and Heidemann 1997, section 4.1.
const IDLE: Span = Span::from_secs(120);
/// How far from a round's centre a reply of several clients may be, there.
const SPREAD: Span = Span::from_millis(1_500);

/// How long rounds are idle in all.
fn idling(rounds: Option<Rounds>) -> Span {
    rounds.map_or(Span::ZERO, |rounds| {
        (rounds.idle + rounds.spread.unwrap_or(Span::ZERO) * 2) * u64::from(rounds.count)
    })
}

#[cfg(test)]
mod tests;
