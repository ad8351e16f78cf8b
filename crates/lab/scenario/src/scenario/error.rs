//! The errors of a scenario.

use crate::topology::Topology;

/// Why options make no valid scenario.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {fault}")]
pub struct ScenarioError {
    /// The key at fault.
    pub key: &'static str,
    /// The fault.
    pub fault: ScenarioFault,
}

impl ScenarioFault {
    /// Returns the error that blames `key` for this fault.
    pub(super) const fn of(self, key: &'static str) -> ScenarioError {
        ScenarioError { key, fault: self }
    }
}

/// The fault of a key of a scenario.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScenarioFault {
    /// Two keys that exclude each other.
    #[error("it and {other} exclude each other: {why}")]
    Excluded {
        /// The other key.
        other: &'static str,
        /// The reason.
        why: &'static str,
    },
    /// A measuring window that ends later than any run may last.
    #[error("{window} ends after the run, which lasts {limit} at most")]
    WindowTooLate {
        /// The window.
        window: String,
        /// The longest time that a run lasts.
        limit: String,
    },
    /// An entry of cross traffic that is impossible on this path.
    #[error("`{entry}`: {fault}")]
    OfEntry {
        /// The entry.
        entry: String,
        /// The fault, and what is allowed.
        fault: String,
    },
    /// A link that the path does not have. The text names this link and the links of the path.
    #[error("{0}")]
    NoSuchLink(String),
    /// A key without the other key that it needs.
    #[error("{0}")]
    Needs(&'static str),
    /// A loss recovery that Linux's stack does not have.
    #[error(
        "with the stack `linux` losses are repaired by `rack`, or without SACK by `newreno`, and not by `{recovery}`; \
         the stack `rfc` has all"
    )]
    NotLinuxs {
        /// The recovery.
        recovery: &'static str,
    },
    /// An initial RTO below the minimum RTO, although the minimum RTO applies to the initial RTO as well.
    #[error("{initial} is less than the minimum timeout of {least}; give at least that, or a lower min-rto")]
    BelowLeast {
        /// The RTO before the first RTT sample.
        initial: String,
        /// The minimum RTO.
        least: String,
    },
    /// Cross traffic of arriving flows on a path where the receiver has an access link. All these flows end at one receiver and would share
    /// that link.
    #[error(
        "the flows of cross={cross} all end at one receiver, whose own link they would share; next to none, a constant rate, \
         tcp:N or onoff it is allowed"
    )]
    SharedReceiver {
        /// The cross traffic.
        cross: String,
    },
    /// Too many writes, each of which is an event of the simulation.
    #[error("{writes} writes are too many; at most 100000 are allowed")]
    TooManyWrites {
        /// The number of writes.
        writes: u64,
    },
    /// A periodic activity that would last longer than the longest duration.
    #[error(
        "{count} {what} that are {apart} apart take more than 1000h, the longest duration; fewer or closer ones are wanted"
    )]
    NeverDone {
        /// The name of the repeated activity, in the plural.
        what: &'static str,
        /// The number of repetitions.
        count: u64,
        /// The time from one repetition to the next.
        apart: String,
    },
    /// More outages than a run's rate over time may have.
    #[error(
        "{outages} outages within the limit of {limit}; at most {most} are allowed, by a shorter limit or a longer period"
    )]
    TooManyOutages {
        /// The number of outages.
        outages: u64,
        /// The latest end of a run.
        limit: String,
        /// The maximum number.
        most: u64,
    },
    /// Too many transfers of cross traffic, which arrive faster than they finish.
    #[error(
        "cross traffic begins {per_second} transfers a second, more than the path carries, and may do so for {limit}; \
         at most {transfers} are simulated: at most {most} is allowed, or a lower load"
    )]
    PilesUp {
        /// The number of transfers that arrive per second.
        per_second: u64,
        /// The longest time for which transfers arrive.
        limit: String,
        /// The maximum number of transfers.
        transfers: u64,
        /// The time in which that number of transfers arrives.
        most: String,
    },
    /// On/off traffic whose periods are too short to affect the path. Each period is an event of the simulation.
    #[error(
        "on and off within {turn} {of}, less than the {packet} that one packet takes; at least that is wanted, or the \
         mean as a constant rate"
    )]
    TurnsTooOften {
        /// The length of an on period plus an off period.
        turn: String,
        /// Words that say whether that length is the mean or the minimum.
        of: &'static str,
        /// The time that a packet takes at the source's rate, or at the bottleneck's rate if that time is longer.
        packet: String,
    },
    /// Datagrams at a rate far above the bottleneck's.
    #[error(
        "{offered}, more than {times} times the bottleneck's {fastest}; at most that is wanted, which leaves as little of it \
         to others"
    )]
    Flood {
        /// The mean rate of the datagrams.
        offered: String,
        /// The maximum rate of datagrams in multiples of the bottleneck's rate.
        times: u64,
        /// The bottleneck's rate, or the highest rate of its trace.
        fastest: String,
    },
    /// A limit that ends the run within the population's warm-up.
    #[error(
        "within {limit} nothing is measured, for the warm-up takes {warm_up}; more is wanted, or a shorter warm-up"
    )]
    LimitInWarmUp {
        /// The limit.
        limit: String,
        /// The warm-up.
        warm_up: String,
    },
    /// Listed arrivals that are all within the warm-up.
    #[error(
        "all are within the warm-up of {warm_up}, in which nothing is measured; later ones are wanted, or a shorter warm-up"
    )]
    AllInWarmUp {
        /// The warm-up.
        warm_up: String,
    },
    /// A number of measured flows that is larger than the number of listed arrivals.
    #[error(
        "{flows} are more than the {listed} that arrivals lists after the warm-up; at most so many are wanted"
    )]
    FewArrivals {
        /// The requested number of flows.
        flows: u32,
        /// The number of listed arrivals after the warm-up.
        listed: usize,
    },
    /// An impossible flow of a script.
    #[error("flow {number}: {fault}")]
    OfFlow {
        /// The number of the flow in the script, from one.
        number: usize,
        /// The fault.
        fault: String,
    },
    /// An arrival at the end of the run or later.
    #[error(
        "the flow at {start} begins when the run is over, at {end}; an earlier one is wanted, or a longer run"
    )]
    AfterTheEnd {
        /// When the flow would begin.
        start: String,
        /// When the run ends.
        end: String,
    },
    /// A topology with hosts, but without a population.
    #[error("{topology} is for flows between its hosts; say how many are measured with flows")]
    HostsWithoutFlows {
        /// The topology.
        topology: Topology,
    },
    /// A population on a topology without hosts.
    #[error("flows run between hosts, as of `dumbbell:hosts=102`; found {topology}")]
    FlowsWithoutHosts {
        /// The topology.
        topology: Topology,
    },
    /// A queue that cannot hold one packet.
    #[error("{queue} is less than one full packet of {packet} B; at least one packet is wanted")]
    QueueBelowPacket {
        /// The queue's limit.
        queue: String,
        /// IP bytes of a full packet.
        packet: u32,
    },
    /// RED thresholds whose minimum is not below their maximum.
    #[error("RED's minimum threshold of {min} is not below its maximum of {max}")]
    Thresholds {
        /// The minimum threshold, in packets or bytes.
        min: u64,
        /// The maximum threshold, in packets or bytes.
        max: u64,
    },
    /// A policer that cannot pass one packet.
    #[error("its burst of {burst} is less than one full packet of {packet} B; at least one packet is wanted")]
    BurstBelowPacket {
        /// The policer's burst.
        burst: String,
        /// IP bytes of a full packet.
        packet: u32,
    },
    /// A receive buffer that cannot hold one segment.
    #[error("{rwnd} is less than one full segment of {mss} B; at least one segment is wanted")]
    RwndBelowSegment {
        /// The receive buffer.
        rwnd: String,
        /// Payload bytes of a full segment.
        mss: u16,
    },
    /// A receive buffer above 1 GiB, the largest window that window scaling can advertise.
    #[error("{rwnd} is more than TCP can offer; at most 1GiB is allowed (RFC 7323 section 2.3)")]
    RwndTooLarge {
        /// The receive buffer.
        rwnd: String,
    },
    /// A product of quantities that is too large.
    #[error("{value} is too large on this path")]
    TooLarge {
        /// The value of the product, as text.
        value: String,
    },
    /// A rate so low that a packet takes more than an hour. A run's clock is 64 bits of nanoseconds.
    #[error("at {rate} one packet of {packet} B takes longer than an hour; more is wanted")]
    RateTooSmall {
        /// The rate.
        rate: String,
        /// IP bytes of a full packet.
        packet: u32,
    },
}
