//! What makes no sense in a scenario.

use crate::topology::Topology;

/// Why options make no scenario.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScenarioError {
    /// A transfer ends with its last byte, a watch with its duration.
    #[error("size and duration exclude each other: a sized run ends with its last byte; bound it with limit")]
    SizeAndDuration,
    /// Rounds end with their last reply.
    #[error("rounds and duration exclude each other: rounds end with the last reply; bound them with limit")]
    RoundsAndDuration,
    /// Linux repairs losses in two ways.
    #[error(
        "recovery: with the stack `linux` losses are repaired by `rack`, or without SACK by `newreno`, and not by `{recovery}`; \
         the stack `rfc` has all"
    )]
    NotLinuxs {
        /// The recovery.
        recovery: &'static str,
    },
    /// A watch ends with its duration, whatever the limit.
    #[error("limit and duration exclude each other: a run with a duration ends with it; limit bounds a size")]
    LimitAndDuration,
    /// Both say when the application writes.
    #[error("rounds and app exclude each other: a round's reply is written at once")]
    RoundsAndApp,
    /// Each write is an event of the simulation.
    #[error("app: {writes} writes are too many; at most 100000 are allowed")]
    TooManyWrites {
        /// How many it would be.
        writes: u64,
    },
    /// What the clock decides would outlast every duration.
    #[error(
        "{key}: {count} {what} that are {apart} apart take more than 1000h, the longest duration; fewer or closer ones are wanted"
    )]
    NeverDone {
        /// The option.
        key: &'static str,
        /// Of what.
        what: &'static str,
        /// How many.
        count: u64,
        /// The time from one to the next.
        apart: String,
    },
    /// Nothing on the path could tell its periods, and each is an event of the simulation.
    #[error(
        "cross: on and off within {turn} {of}, less than the {packet} that one packet takes; at least that is wanted, or the \
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
        "cross: {offered}, more than {times} times the bottleneck's {fastest}; at most that is wanted, which leaves as little of it \
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
        "limit: within {limit} nothing is measured, for the warm-up takes {warm_up}; more is wanted, or a shorter warm-up"
    )]
    LimitInWarmUp {
        /// The limit.
        limit: String,
        /// The warm-up.
        warm_up: String,
    },
    /// A part of rounds without rounds.
    #[error("{key}: there are no rounds; say how many with rounds")]
    WithoutRounds {
        /// The option.
        key: &'static str,
    },
    /// A part of a population without one.
    #[error("{key}: there is no population; say how many flows are measured with flows")]
    WithoutFlows {
        /// The option.
        key: &'static str,
    },
    /// Hosts that nothing runs between.
    #[error("topology: {topology} is for flows between its hosts; say how many are measured with flows")]
    HostsWithoutFlows {
        /// The topology.
        topology: Topology,
    },
    /// A population without hosts.
    #[error("topology: flows run between hosts, as of `dumbbell:hosts=102`; found {topology}")]
    FlowsWithoutHosts {
        /// The topology.
        topology: Topology,
    },
    /// What a population leaves no room for.
    #[error("{key}: it and flows exclude each other: {why}")]
    NotWithFlows {
        /// The option.
        key: &'static str,
        /// Why.
        why: &'static str,
    },
    /// The queue could never hold a packet.
    #[error("queue: {queue} is less than one full packet of {packet} B; at least one packet is wanted")]
    QueueBelowPacket {
        /// The queue asked for.
        queue: String,
        /// IP bytes of a full packet.
        packet: u32,
    },
    /// RED would never begin.
    #[error("queue: RED's least threshold of {min} is not below its greatest of {max}")]
    Thresholds {
        /// The least, in packets or bytes.
        min: u64,
        /// The greatest.
        max: u64,
    },
    /// The policer could never let a packet pass.
    #[error(
        "policer: its burst of {burst} is less than one full packet of {packet} B; at least one packet is wanted"
    )]
    BurstBelowPacket {
        /// The burst asked for.
        burst: String,
        /// IP bytes of a full packet.
        packet: u32,
    },
    /// The receive buffer could never hold a segment.
    #[error("rwnd: {rwnd} is less than one full segment of {mss} B; at least one segment is wanted")]
    RwndBelowSegment {
        /// The buffer asked for.
        rwnd: String,
        /// Payload bytes of a full segment.
        mss: u16,
    },
    /// Window scaling ends at 1 GiB.
    #[error("rwnd: {rwnd} is more than TCP can offer; at most 1GiB is allowed (RFC 7323 section 2.3)")]
    RwndTooLarge {
        /// The buffer asked for.
        rwnd: String,
    },
    /// A product of quantities that cannot be held.
    #[error("{key}: {value} is too large on this path")]
    TooLarge {
        /// The option.
        key: &'static str,
        /// Its value.
        value: String,
    },
    /// The clock of a run is 64 bits of nanoseconds; a packet must leave within an hour.
    #[error("rate: at {rate} one packet of {packet} B takes longer than an hour; more is wanted")]
    RateTooSmall {
        /// The rate asked for.
        rate: String,
        /// IP bytes of a full packet.
        packet: u32,
    },
}
