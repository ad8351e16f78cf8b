//! The options of a path, each set or unset, under the keys that the command line and TOML share.

use std::path::PathBuf;

use firstflight::registry::Registry;
use firstflight::{Bytes, Rate, Span};
use firstflight_sim::{Batch, PolicerSpec, RateTrace};
use firstflight_tcp::{AckPolicy, Recovery, Stack};

use crate::bottleneck::{self, Aqm};
use crate::cross::SizeLaw;
use crate::population::{self, Coming};
use crate::quantity::{self, Amount, Decimal, QuantityError, QueueSize, Why, refuse};
use crate::restart::{self, RestartChoice};
use crate::routers::{self, QuickStartRouter};
use crate::topology::{self, Topology};
use crate::words::{self, App, Cross, Packet, QuickStartHops};

/// What was asked for; `None` is unset and gets the default of [`crate::Scenario::resolve`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whose names schemes, restart policies and laws have.
    pub registry: Registry,
    /// The bottleneck's rate, in IP bits per second.
    pub rate: Option<Rate>,
    /// The base round-trip time: propagation only.
    pub rtt: Option<Span>,
    /// The limit of the bottleneck's queue.
    pub queue: Option<QueueSize>,
    /// What that queue does before it is full; of the same key.
    pub aqm: Option<Aqm>,
    /// What polices the bottleneck; `Some(None)` is nothing.
    pub policer: Option<Option<PolicerSpec>>,
    /// The bottleneck's rate over time.
    pub rate_trace: Option<RateTrace>,
    /// The file that it was read from, if it was; of the same key.
    pub rate_trace_file: Option<PathBuf>,
    /// How ACKs are released together; `Some(None)` is not at all.
    pub ack_aggregation: Option<Option<Batch>>,
    /// Whether the ends use ECN.
    pub ecn: Option<bool>,
    /// Cross traffic.
    pub cross: Option<Cross>,
    /// Payload per full segment, or its IP packet.
    pub packet: Option<Packet>,
    /// Payload to transfer.
    pub size: Option<Amount>,
    /// How many rounds, with a reply of the size in each.
    pub rounds: Option<u32>,
    /// The idle time between two rounds.
    pub idle: Option<Span>,
    /// How far from its centre a client's part in a round may be; `Some(None)` is not at all.
    pub spread: Option<Option<Span>>,
    /// How many clients.
    pub clients: Option<u32>,
    /// How many flows of a population are measured.
    pub flows: Option<u32>,
    /// When its flows come.
    pub arrivals: Option<Coming>,
    /// How its flows' sizes are distributed around the size.
    pub sizes: Option<SizeLaw>,
    /// Before this none is measured; `Some(None)` is no such time.
    pub warm_up: Option<Option<Span>>,
    /// Whether there is a population besides in which each flow takes one of the schemes.
    pub mixed: Option<bool>,
    /// When the application writes; `Some(None)` is all at once.
    pub app: Option<Option<App>>,
    /// How long an endless flow is watched, from its SYN.
    pub duration: Option<Span>,
    /// When a run ends at the latest, from the SYN.
    pub limit: Option<Span>,
    /// When the receiver acknowledges.
    pub ack: Option<AckPolicy>,
    /// One avoidance law for all schemes.
    pub avoidance: Option<&'static str>,
    /// How losses are repaired.
    pub recovery: Option<Recovery>,
    /// Whose senders they are where the RFCs and Linux differ.
    pub stack: Option<Stack>,
    /// The restart policy; several make a row each ([`crate::over_restarts`]).
    pub restart: Option<Vec<RestartChoice>>,
    /// The initial slow-start threshold; `Some(None)` is infinite.
    pub ssthresh: Option<Option<Amount>>,
    /// The initial window in segments.
    pub iw: Option<u32>,
    /// The receive buffer.
    pub rwnd: Option<Amount>,
    /// The least retransmission timeout.
    pub min_rto: Option<Span>,
    /// Whether to use TCP timestamps.
    pub timestamps: Option<bool>,
    /// Random loss at the bottleneck.
    pub loss: Option<Decimal>,
    /// Jitter at the bottleneck; `Some(None)` is none.
    pub jitter: Option<Option<Span>>,
    /// The rate of each sender's access link.
    pub access_rate: Option<Rate>,
    /// The rate of the way back.
    pub reverse_rate: Option<Rate>,
    /// How much of the base round-trip time is on the way back.
    pub reverse_rtt_share: Option<Decimal>,
    /// Which routers take part in Quick-Start.
    pub qs_hops: Option<QuickStartHops>,
    /// What those routers do with requests.
    pub qs_router: Option<QuickStartRouter>,
    /// Which links there are.
    pub topology: Option<Topology>,
    /// The limit of the queue of the way back; `Some(None)` is none.
    pub reverse_queue: Option<Option<QueueSize>>,
    /// The first seed.
    pub seed: Option<u64>,
    /// How many runs, with consecutive seeds.
    pub runs: Option<u32>,
}

/// The keys of [`Options::set`]: on the command line with `--` before them.
pub const KEYS: [&str; 44] = [
    "rate",
    "rtt",
    "queue",
    "cross",
    "mss",
    "packet",
    "size",
    "rounds",
    "idle",
    "spread",
    "clients",
    "flows",
    "arrivals",
    "sizes",
    "warm-up",
    "mixed",
    "app",
    "duration",
    "limit",
    "ack",
    "avoidance",
    "recovery",
    "stack",
    "restart",
    "ssthresh",
    "iw",
    "rwnd",
    "min-rto",
    "timestamps",
    "loss",
    "jitter",
    "access-rate",
    "reverse-rate",
    "reverse-rtt-share",
    "qs-hops",
    "policer",
    "rate-trace",
    "ack-aggregation",
    "ecn",
    "qs-router",
    "topology",
    "reverse-queue",
    "seed",
    "runs",
];

/// Why an option could not be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// No such key.
    #[error("there is no option `{key}`{}", hint(*.closest))]
    UnknownKey {
        /// The key found.
        key: String,
        /// The key that may be meant.
        closest: Option<&'static str>,
    },
    /// A value that cannot be read.
    #[error("{key}: {error}")]
    Value {
        /// The key.
        key: &'static str,
        /// What is wrong.
        error: QuantityError,
    },
}

fn hint(closest: Option<&str>) -> String {
    closest.map_or_else(|| format!("; there are {}", KEYS.join(", ")), |key| format!("; is `{key}` meant?"))
}

impl Options {
    /// Sets the option `key` from its text, as on the command line or in a TOML string.
    ///
    /// # Errors
    /// An unknown key, with the closest one known; a value that cannot be read, with what is allowed.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), OptionError> {
        let Some(key) = KEYS.into_iter().find(|known| *known == key) else {
            return Err(OptionError::UnknownKey {
                key: quantity::in_a_line(key),
                closest: words::closest(key, KEYS),
            });
        };
        self.set_known(key, text).map_err(|error| OptionError::Value { key, error })
    }

    fn set_known(&mut self, key: &'static str, text: &str) -> Result<(), QuantityError> {
        match key {
            "rate" => self.rate = Some(quantity::rate(text)?),
            "rtt" => self.rtt = Some(quantity::span(text)?),
            "queue" => {
                let (limit, aqm) = bottleneck::queue(text)?;
                (self.queue, self.aqm) = (Some(limit), aqm);
            }
            "policer" => self.policer = Some(bottleneck::policer(text)?),
            "rate-trace" => {
                self.rate_trace = Some(bottleneck::rate_trace(text)?);
                self.rate_trace_file = bottleneck::trace_file(text);
            }
            "ack-aggregation" => self.ack_aggregation = Some(bottleneck::ack_aggregation(text)?),
            "ecn" => self.ecn = Some(boolean(text)?),
            "cross" => self.cross = Some(words::cross(text)?),
            "mss" => self.packet = Some(self.packet_after(text, Packet::Mss(mss(text)?))?),
            "packet" => self.packet = Some(self.packet_after(text, Packet::Ip(packet(text)?))?),
            "size" => self.size = Some(quantity::amount(text)?),
            "rounds" => {
                self.rounds = Some(count(text, 100_000, "rounds are a whole number from 1 to 100000")?);
            }
            "idle" => self.idle = Some(quantity::span(text)?),
            "spread" => self.spread = Some(jitter(text)?),
            "clients" => {
                self.clients = Some(count(text, 1_000, "clients are a whole number from 1 to 1000")?);
            }
            "flows" => {
                self.flows = Some(count(text, 1_000_000, "flows are a whole number from 1 to 1000000")?);
            }
            "arrivals" => self.arrivals = Some(population::arrivals(text)?),
            "sizes" => self.sizes = Some(population::sizes(text)?),
            "warm-up" => self.warm_up = Some(jitter(text)?),
            "mixed" => self.mixed = Some(boolean(text)?),
            "app" => self.app = Some(words::app(text)?),
            "duration" => self.duration = Some(quantity::span(text)?),
            "limit" => self.limit = Some(quantity::span(text)?),
            "ack" => self.ack = Some(words::ack(text)?),
            "avoidance" => self.avoidance = Some(words::avoidance(self.registry, text)?),
            "recovery" => self.recovery = Some(words::recovery(text)?),
            "stack" => self.stack = Some(words::stack(text)?),
            "restart" => self.restart = Some(restart::parse(self.registry, text)?),
            "ssthresh" => self.ssthresh = Some(words::ssthresh(text)?),
            "iw" => self.iw = Some(iw(text)?),
            "rwnd" => self.rwnd = Some(quantity::amount(text)?),
            "min-rto" => self.min_rto = Some(quantity::span(text)?),
            "timestamps" => self.timestamps = Some(boolean(text)?),
            "loss" => self.loss = Some(loss(text)?),
            "jitter" => self.jitter = Some(jitter(text)?),
            "access-rate" => self.access_rate = Some(quantity::rate(text)?),
            "reverse-rate" => self.reverse_rate = Some(quantity::rate(text)?),
            "reverse-rtt-share" => self.reverse_rtt_share = Some(quantity::fraction(text)?),
            "qs-hops" => self.qs_hops = Some(words::quick_start_hops(text)?),
            "qs-router" => self.qs_router = Some(routers::quick_start_router(text)?),
            "topology" => self.topology = Some(topology::topology(text)?),
            "reverse-queue" => self.reverse_queue = Some(reverse_queue(text)?),
            "seed" => self.seed = Some(seed(text)?),
            _ => self.runs = Some(runs(text)?),
        }
        Ok(())
    }

    /// The restart policy, if just one was asked for, or `other`.
    pub(crate) fn restart_or(&self, other: &RestartChoice) -> RestartChoice {
        match self.restart.as_deref() {
            Some([one]) => one.clone(),
            _ => other.clone(),
        }
    }

    /// `mss` and `packet` say the same thing in two ways: the second one to come is refused.
    fn packet_after(&self, text: &str, packet: Packet) -> Result<Packet, QuantityError> {
        const ALLOWED: &str = "either `mss` or `packet` is wanted, not both";
        match self.packet {
            Some(before) if std::mem::discriminant(&before) != std::mem::discriminant(&packet) => {
                Err(refuse(text, Why::Conflict, ALLOWED))
            }
            _ => Ok(packet),
        }
    }
}

/// Payload bytes of a full segment: a number, with or without `B`.
///
/// # Errors
/// Less than 64 or more than fits an IP packet.
fn mss(text: &str) -> Result<u16, QuantityError> {
    const ALLOWED: &str = "an MSS is from 64 to 65483 bytes of payload, as in `1460`";
    in_range(text, 64, 65_483, ALLOWED)
}

/// IP bytes of a full packet: a number, with or without `B`.
///
/// # Errors
/// Less than 116 (an MSS of 64 and timestamps) or more than fits.
fn packet(text: &str) -> Result<u16, QuantityError> {
    const ALLOWED: &str = "a packet is from 116 to 65523 IP bytes, as in `1000B`";
    in_range(text, 116, 65_523, ALLOWED)
}

fn in_range(text: &str, least: u64, most: u64, allowed: &'static str) -> Result<u16, QuantityError> {
    let text = text.trim();
    let bare = text.bytes().all(|byte| byte.is_ascii_digit());
    let bytes =
        if bare && !text.is_empty() { quantity::bytes(&format!("{text}B")) } else { quantity::bytes(text) };
    let bytes = bytes
        .map_err(|error| QuantityError {
            found: quantity::in_a_line(text),
            allowed: allowed.into(),
            ..error
        })?
        .get();
    match u16::try_from(bytes) {
        Ok(value) if (least..=most).contains(&bytes) => Ok(value),
        _ => Err(refuse(text, Why::OutOfRange, allowed)),
    }
}

fn iw(text: &str) -> Result<u32, QuantityError> {
    const ALLOWED: &str = "an initial window is from 1p to 65535p, as in `10p`";
    let packets =
        quantity::packets(text).map_err(|error| QuantityError { allowed: ALLOWED.into(), ..error })?;
    if packets > 65_535 { Err(refuse(text, Why::TooLarge, ALLOWED)) } else { Ok(packets) }
}

fn boolean(text: &str) -> Result<bool, QuantityError> {
    match text.trim() {
        "true" => Ok(true),
        "false" => Ok(false),
        other => Err(refuse(other, Why::UnknownWord, "`true` or `false` is wanted")),
    }
}

/// Random loss: a fraction below one; nought is none.
///
/// # Errors
/// What [`quantity::fraction`] refuses, and one: then nothing would ever arrive.
fn loss(text: &str) -> Result<Decimal, QuantityError> {
    const ALLOWED: &str = "loss is a fraction below 1, as in `2%` or `0.02`";
    let loss =
        quantity::fraction(text).map_err(|error| QuantityError { allowed: ALLOWED.into(), ..error })?;
    if loss == Decimal::whole(1) || loss.floor() != Some(0) {
        return Err(refuse(text, Why::OutOfRange, ALLOWED));
    }
    Ok(loss)
}

/// Jitter, a spread or a warm-up: a duration, or `none`.
///
/// # Errors
/// What [`quantity::span`] refuses.
fn jitter(text: &str) -> Result<Option<Span>, QuantityError> {
    if text.trim() == "none" { Ok(None) } else { quantity::span(text).map(Some) }
}

/// The queue of the way back: packets or bytes, or `none`, which never overflows.
///
/// # Errors
/// What [`quantity::queue`] refuses, and a queue in bandwidth-delay products, which are the bottleneck's.
fn reverse_queue(text: &str) -> Result<Option<QueueSize>, QuantityError> {
    const ALLOWED: &str =
        "a queue of the way back is as in `100p` or `64kB`, or `none`, which never overflows";
    if text.trim() == "none" {
        return Ok(None);
    }
    let size = quantity::queue(text).map_err(|error| QuantityError { allowed: ALLOWED.into(), ..error })?;
    match size {
        QueueSize::Bdp(_) => Err(refuse(text, Why::UnknownUnit("bdp".into()), ALLOWED)),
        QueueSize::Packets(_) | QueueSize::Bytes(_) => Ok(Some(size)),
    }
}

/// A seed: any whole number of 64 bits.
///
/// # Errors
/// Anything else.
fn seed(text: &str) -> Result<u64, QuantityError> {
    const ALLOWED: &str = "a seed is a whole number from 0 to 18446744073709551615";
    let text = text.trim();
    text.parse().map_err(|_| refuse(text, Why::OutOfRange, ALLOWED))
}

/// A number of runs.
///
/// # Errors
/// Zero or more than a million.
fn runs(text: &str) -> Result<u32, QuantityError> {
    count(text, 1_000_000, "runs are a whole number from 1 to 1000000")
}

/// A whole number from one to `most`.
///
/// # Errors
/// Anything else, with what is `allowed`.
fn count(text: &str, most: u32, allowed: &'static str) -> Result<u32, QuantityError> {
    let count = quantity::count(text).map_err(|error| QuantityError { allowed: allowed.into(), ..error })?;
    match u32::try_from(count) {
        Ok(count) if count <= most => Ok(count),
        _ => Err(refuse(text, Why::TooLarge, allowed)),
    }
}

/// The receive buffer that is offered when none is asked for: the most that window scaling can offer
/// (RFC 7323 section 2.3).
pub(crate) const LARGEST_RWND: Bytes = Bytes::new(1 << 30);

#[cfg(test)]
mod tests;
