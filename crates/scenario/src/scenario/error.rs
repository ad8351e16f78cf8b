//! What makes no sense in a scenario.

use crate::topology::Topology;

/// Why options make no scenario.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {fault}")]
pub struct ScenarioError {
    /// The key at fault.
    pub key: &'static str,
    /// What is wrong with it.
    pub fault: ScenarioFault,
}

impl ScenarioFault {
    /// The error of this fault of a key.
    pub(super) const fn of(self, key: &'static str) -> ScenarioError {
        ScenarioError { key, fault: self }
    }
}

/// What is wrong with a key of a scenario.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScenarioFault {
    /// Two keys that exclude each other.
    #[error("it and {other} exclude each other: {why}")]
    Excluded {
        /// The other.
        other: &'static str,
        /// Why.
        why: &'static str,
    },
    /// A key that needs another, which is not there.
    #[error("{0}")]
    Needs(&'static str),
    /// Linux repairs losses in two ways.
    #[error(
        "with the stack `linux` losses are repaired by `rack`, or without SACK by `newreno`, and not by `{recovery}`; \
         the stack `rfc` has all"
    )]
    NotLinuxs {
        /// The recovery.
        recovery: &'static str,
    },
    /// The least timeout bounds the first one, too.
    #[error(
        "{initial} is less than the least timeout of {least}; at least that is wanted, or a lower min-rto"
    )]
    BelowLeast {
        /// The timeout before there is a round trip.
        initial: String,
        /// The least timeout.
        least: String,
    },
    /// Each write is an event of the simulation.
    #[error("{writes} writes are too many; at most 100000 are allowed")]
    TooManyWrites {
        /// How many it would be.
        writes: u64,
    },
    /// What the clock decides would outlast every duration.
    #[error(
        "{count} {what} that are {apart} apart take more than 1000h, the longest duration; fewer or closer ones are wanted"
    )]
    NeverDone {
        /// Of what.
        what: &'static str,
        /// How many.
        count: u64,
        /// The time from one to the next.
        apart: String,
    },
    /// Nothing on the path could tell its periods, and each is an event of the simulation.
    #[error(
        "on and off within {turn} {of}, less than the {packet} that one packet takes; at least that is wanted, or the \
         mean as a constant rate"
    )]
    TurnsTooOften {
        /// How long it is on and off.
        turn: String,
        /// In the mean or at the least.
        of: &'static str,
        /// What a packet takes at its rate or, if that is less, at the bottleneck's.
        packet: String,
    },
    /// Datagrams far beyond what the bottleneck can send.
    #[error(
        "{offered}, more than {times} times the bottleneck's {fastest}; at most that is wanted, which leaves as little of it \
         to others"
    )]
    Flood {
        /// What they offer in the mean.
        offered: String,
        /// How many times the bottleneck's rate they may.
        times: u64,
        /// That rate, or the highest of its trace.
        fastest: String,
    },
    /// A population that is not measured before it has warmed up.
    #[error(
        "within {limit} nothing is measured, for the warm-up takes {warm_up}; more is wanted, or a shorter warm-up"
    )]
    LimitInWarmUp {
        /// The limit.
        limit: String,
        /// The warm-up.
        warm_up: String,
    },
    /// Hosts that nothing runs between.
    #[error("{topology} is for flows between its hosts; say how many are measured with flows")]
    HostsWithoutFlows {
        /// The topology.
        topology: Topology,
    },
    /// A population without hosts.
    #[error("flows run between hosts, as of `dumbbell:hosts=102`; found {topology}")]
    FlowsWithoutHosts {
        /// The topology.
        topology: Topology,
    },
    /// The queue could never hold a packet.
    #[error("{queue} is less than one full packet of {packet} B; at least one packet is wanted")]
    QueueBelowPacket {
        /// The queue asked for.
        queue: String,
        /// IP bytes of a full packet.
        packet: u32,
    },
    /// RED would never begin.
    #[error("RED's least threshold of {min} is not below its greatest of {max}")]
    Thresholds {
        /// The least, in packets or bytes.
        min: u64,
        /// The greatest.
        max: u64,
    },
    /// The policer could never let a packet pass.
    #[error("its burst of {burst} is less than one full packet of {packet} B; at least one packet is wanted")]
    BurstBelowPacket {
        /// The burst asked for.
        burst: String,
        /// IP bytes of a full packet.
        packet: u32,
    },
    /// The receive buffer could never hold a segment.
    #[error("{rwnd} is less than one full segment of {mss} B; at least one segment is wanted")]
    RwndBelowSegment {
        /// The buffer asked for.
        rwnd: String,
        /// Payload bytes of a full segment.
        mss: u16,
    },
    /// Window scaling ends at 1 GiB.
    #[error("{rwnd} is more than TCP can offer; at most 1GiB is allowed (RFC 7323 section 2.3)")]
    RwndTooLarge {
        /// The buffer asked for.
        rwnd: String,
    },
    /// A product of quantities that cannot be held.
    #[error("{value} is too large on this path")]
    TooLarge {
        /// Its value.
        value: String,
    },
    /// The clock of a run is 64 bits of nanoseconds; a packet must leave within an hour.
    #[error("at {rate} one packet of {packet} B takes longer than an hour; more is wanted")]
    RateTooSmall {
        /// The rate asked for.
        rate: String,
        /// IP bytes of a full packet.
        packet: u32,
    },
}
