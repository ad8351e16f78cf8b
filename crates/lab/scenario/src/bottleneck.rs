//! The text forms of the bottleneck's settings: queue management, policer, rate over time, ACK aggregation.

use std::fmt;

use firstflight::{Bytes, Span};
use firstflight_sim::{Batch, PolicerSpec, RateTrace};

use crate::quantity::{
    self, Decimal, QuantityError, QueueSize, Why, refuse, show_bytes, show_rate, show_span,
};
use crate::suggest::{QUEUES, folded, meant};
use crate::traces;

/// Active queue management of the bottleneck. A field that is `None` has the default of the paper or RFC that specifies the algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aqm {
    /// The algorithm.
    pub kind: AqmKind,
    /// Whether packets of ECN-capable flows are marked rather than dropped.
    pub ecn: bool,
    /// The target queueing delay: by default 5 ms for `CoDel`, 15 ms for PIE.
    pub target: Option<Span>,
    /// How long the delay may stay above `CoDel`'s target: 100 ms by default.
    pub interval: Option<Span>,
    /// The number of queues of `FQ-CoDel`: 1024 by default.
    pub flows: Option<u32>,
    /// The bytes that a queue of `FQ-CoDel` may send in one round: 1514 by default.
    pub quantum: Option<u32>,
    /// The mean queue at which RED begins to drop: a sixth of the limit by default.
    pub min: Option<QueueSize>,
    /// The mean queue at which RED's probability reaches `max_p`: half of the limit by default.
    pub max: Option<QueueSize>,
    /// RED's drop probability at `max`: 10 % by default.
    pub max_p: Option<Decimal>,
}

/// The algorithms of active queue management.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AqmKind {
    /// Random early detection.
    Red,
    /// `CoDel`, RFC 8289.
    CoDel,
    /// `FQ-CoDel`, RFC 8290.
    FqCoDel,
    /// PIE, RFC 8033.
    Pie,
}

const KINDS: [(&str, AqmKind); 4] =
    [("red", AqmKind::Red), ("codel", AqmKind::CoDel), ("fq-codel", AqmKind::FqCoDel), ("pie", AqmKind::Pie)];

impl AqmKind {
    /// Returns the algorithm's name on the command line.
    pub fn name(self) -> &'static str {
        KINDS.iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// Returns the algorithm's name in sentences.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Red => "RED",
            Self::CoDel => "CoDel",
            Self::FqCoDel => "FQ-CoDel",
            Self::Pie => "PIE",
        }
    }

    /// Returns the settings that the algorithm takes.
    const fn settings(self) -> &'static [&'static str] {
        match self {
            Self::Red => &["min", "max", "p", "ecn"],
            Self::CoDel => &["target", "interval", "ecn"],
            Self::FqCoDel => &["target", "interval", "flows", "quantum", "ecn"],
            Self::Pie => &["target", "ecn"],
        }
    }
}

const QUEUE: &str = "a queue is a drop-tail limit as in `1000p`, `64kB` or `0.3bdp`, or managed: `red:LIMIT` with \
                     `,min=…,max=…,p=…`, `codel:LIMIT` with `,target=…,interval=…`, `fq-codel:LIMIT` with \
                     `,flows=…,quantum=…` besides, `pie:LIMIT` with `,target=…`; each with `,ecn`";

const LIMIT: &str = "a queue is a number of packets as in `1000p`, of bytes as in `64kB`, or of bandwidth-delay products as in \
                     `0.3bdp`, or managed, as in `codel:1000p`";

/// Reads a queue: its limit and, if it is managed, its algorithm and settings. `1000p`, `0.3bdp`, `codel:1000p`, `red:100p,min=10p,ecn`.
///
/// # Errors
/// Every text that [`quantity::queue`] refuses; an unknown algorithm or setting, or a setting of another algorithm.
pub fn queue(text: &str) -> Result<(QueueSize, Option<Aqm>), QuantityError> {
    let text = text.trim();
    let Some((name, rest)) = text.split_once(':') else {
        if text.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return Err(no_limit(text));
        }
        let allowed = |error: QuantityError| QuantityError { allowed: LIMIT.into(), ..error };
        return quantity::queue(text).map(|size| (size, None)).map_err(allowed);
    };
    let Some((_, kind)) = KINDS.iter().find(|(known, _)| *known == folded(name)) else {
        return Err(unknown(name));
    };
    let mut parts = rest.split(',');
    let limit = quantity::queue(parts.next().unwrap_or_default())?;
    let mut aqm = Aqm {
        kind: *kind,
        ecn: false,
        target: None,
        interval: None,
        flows: None,
        quantum: None,
        min: None,
        max: None,
        max_p: None,
    };
    let mut said = Vec::new();
    for part in parts {
        let (key, value) = part.split_once('=').map_or((part, None), |(key, value)| (key, Some(value)));
        if !kind.settings().contains(&key) {
            let all = || format!("{} takes {}", kind.name(), kind.settings().join(", "));
            let hint = meant(key, &[], kind.settings().iter().copied());
            return Err(refuse(part, Why::UnknownWord, hint.unwrap_or_else(all)));
        }
        if said.contains(&key) {
            return Err(refuse(part, Why::Conflict, QUEUE));
        }
        said.push(key);
        match (key, value) {
            ("ecn", None) => aqm.ecn = true,
            ("target", Some(value)) => aqm.target = Some(quantity::span(value)?),
            ("interval", Some(value)) => aqm.interval = Some(quantity::span(value)?),
            ("flows", Some(value)) => aqm.flows = Some(number(value, 65_536)?),
            ("quantum", Some(value)) => aqm.quantum = Some(quantum(value)?),
            ("min", Some(value)) => aqm.min = Some(quantity::queue(value)?),
            ("max", Some(value)) => aqm.max = Some(quantity::queue(value)?),
            ("p", Some(value)) => aqm.max_p = Some(probability(value)?),
            _ => return Err(refuse(part, Why::UnknownWord, QUEUE)),
        }
    }
    let by_packets = |size: &QueueSize| matches!(size, QueueSize::Packets(_));
    if [aqm.min, aqm.max].iter().flatten().any(|size| by_packets(size) != by_packets(&limit)) {
        const UNIT: &str = "RED's thresholds are in packets if its limit is, else in bytes or BDP";
        return Err(refuse(text, Why::Conflict, UNIT));
    }
    Ok((limit, Some(aqm)))
}

/// Returns the error for a text that has no queue limit: an algorithm alone, or another word.
fn no_limit(text: &str) -> QuantityError {
    match KINDS.iter().find(|(known, _)| *known == folded(text)) {
        Some((known, _)) => refuse(text, Why::NoLimit, format!("write it behind, as in `{known}:1000p`")),
        None => unknown(text),
    }
}

fn unknown(name: &str) -> QuantityError {
    let hint = meant(name, QUEUES, KINDS.iter().map(|(known, _)| *known));
    refuse(name, Why::UnknownWord, hint.unwrap_or_else(|| QUEUE.to_owned()))
}

fn number(text: &str, most: u64) -> Result<u32, QuantityError> {
    match quantity::count(text)? {
        count if count <= most => Ok(u32::try_from(count).unwrap_or(u32::MAX)),
        _ => Err(refuse(text, Why::TooLarge, QUEUE)),
    }
}

fn quantum(text: &str) -> Result<u32, QuantityError> {
    let bytes = quantity::bytes(text)?.get();
    u32::try_from(bytes)
        .ok()
        .filter(|bytes| *bytes <= 1 << 24)
        .ok_or_else(|| refuse(text, Why::TooLarge, QUEUE))
}

fn probability(text: &str) -> Result<Decimal, QuantityError> {
    let p = quantity::fraction(text)?;
    if p.is_zero() { Err(refuse(text, Why::Zero, QUEUE)) } else { Ok(p) }
}

/// Writes a queue as [`queue`] reads it.
pub fn show_queue(limit: QueueSize, aqm: Option<&Aqm>) -> String {
    aqm.map_or_else(|| limit.to_string(), |aqm| format!("{}:{limit}{aqm}", aqm.kind.name()))
}

impl fmt::Display for Aqm {
    /// Writes the settings, each after a comma.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings = [
            ("target", self.target.map(show_span)),
            ("interval", self.interval.map(show_span)),
            ("flows", self.flows.map(|flows| flows.to_string())),
            ("quantum", self.quantum.map(|bytes| show_bytes(Bytes::new(u64::from(bytes))))),
            ("min", self.min.map(|size| size.to_string())),
            ("max", self.max.map(|size| size.to_string())),
            ("p", self.max_p.map(|p| p.to_string())),
        ];
        for (key, value) in settings {
            if let Some(value) = value {
                write!(f, ",{key}={value}")?;
            }
        }
        f.write_str(if self.ecn { ",ecn" } else { "" })
    }
}

const POLICER: &str = "a policer is a rate and the bytes of a burst, as in `20mbit,64kB`, or `none`";

/// Reads a policer: `20mbit,64kB`, or `none`.
///
/// # Errors
/// Anything else.
pub fn policer(text: &str) -> Result<Option<PolicerSpec>, QuantityError> {
    quantity::or_none(text.trim(), some_policer)
}

fn some_policer(text: &str) -> Result<PolicerSpec, QuantityError> {
    let Some((rate, burst)) = text.split_once(',') else {
        return Err(refuse(text, Why::Part, POLICER));
    };
    let allowed = |error: QuantityError| QuantityError { allowed: POLICER.into(), ..error };
    let rate = quantity::rate(rate).map_err(allowed)?;
    Ok(PolicerSpec { rate, burst: quantity::bytes(burst).map_err(allowed)? })
}

/// Writes a policer as [`policer`] reads it.
pub fn show_policer(policer: &PolicerSpec) -> String {
    format!("{},{}", show_rate(policer.rate), show_bytes(policer.burst))
}

const AGGREGATION: &str = "ACK aggregation is the time between releases as in `5ms`, a number of ACKs as in `16`, a \
                           number and the longest that one is held as in `16,20ms` (20ms if unset), or `none`";
/// Default time that an unfilled batch holds an ACK.
const HOLD: Span = Span::from_millis(20);

/// Reads ACK aggregation: `5ms`, `16`, `16,20ms`, `none`.
///
/// # Errors
/// Anything else, or more than 10000 ACKs.
pub fn ack_aggregation(text: &str) -> Result<Option<Batch>, QuantityError> {
    quantity::or_none(text.trim(), batch)
}

fn batch(text: &str) -> Result<Batch, QuantityError> {
    let allowed = |error: QuantityError| QuantityError { allowed: AGGREGATION.into(), ..error };
    let (packets, hold) = text.split_once(',').map_or((text, None), |(packets, hold)| (packets, Some(hold)));
    if hold.is_none() && !packets.bytes().all(|byte| byte.is_ascii_digit()) {
        return quantity::span(text).map(Batch::Every).map_err(allowed);
    }
    let packets = number(packets, 10_000).map_err(allowed)?;
    let hold = hold.map_or(Ok(HOLD), quantity::span).map_err(allowed)?;
    Ok(Batch::Of { packets, hold })
}

/// Reads the aggregation of data, in the forms of [`ack_aggregation`].
///
/// # Errors
/// Those of [`ack_aggregation`].
pub(crate) fn aggregation(text: &str) -> Result<Option<Batch>, QuantityError> {
    const ALLOWED: &str = "aggregation is the time between frames as in `4ms`, a number of packets as in `16`, a number and the longest \
                           that one is held as in `16,5ms` (20ms if unset), or `none`";
    ack_aggregation(text).map_err(|error| QuantityError { allowed: ALLOWED.into(), ..error })
}

/// Returns the aggregation of data in words, for titles.
pub(crate) fn describe_aggregation(batch: Batch) -> String {
    match batch {
        Batch::Every(span) => format!("a frame of packets every {}", quantity::humane_span(span)),
        Batch::Of { packets, .. } => format!("frames of {packets} packets"),
    }
}

/// Writes ACK aggregation as [`ack_aggregation`] reads it.
pub fn show_ack_aggregation(batch: Batch) -> String {
    match batch {
        Batch::Every(span) => show_span(span),
        Batch::Of { packets, hold } => format!("{packets},{}", show_span(hold)),
    }
}

/// Reads a rate over time: a list, or the name of a file, and how it is played. If the seed changes the rate, it is that of seed zero.
///
/// # Errors
/// A file that cannot be read, a time or a rate that cannot be read, steps out of order.
pub fn rate_trace(text: &str) -> Result<RateTrace, QuantityError> {
    traces::rates(text).map(|given| given.trace)
}

/// Writes a rate over time as a list that [`rate_trace`] reads.
pub fn show_rate_trace(trace: &RateTrace) -> String {
    traces::show_rates(trace)
}

#[cfg(test)]
mod tests;
