//! The errors of an impossible network description.

use thiserror::Error;

/// The error of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum LinkFault {
    /// No packet would ever leave the link.
    #[error("its rate is zero")]
    ZeroRate,
    /// The rate is too high for the simulator's arithmetic.
    #[error("its rate is above 10^15 bit/s")]
    HugeRate,
    /// Every packet that finds the transmitter busy would be lost.
    #[error("its queue holds nothing")]
    ZeroQueue,
    /// A discipline with impossible parameters.
    #[error("its queue's discipline: {0}")]
    Discipline(DisciplineFault),
    /// No packet would ever pass.
    #[error("its policer lets nothing pass")]
    EmptyPolicer,
    /// A batch of no packets, or without an end.
    #[error("its batches hold no packet or take no time")]
    EmptyBatch,
    /// The link batches and has a rate, a queue, a policer, loss or jitter as well. These require a separate link.
    #[error("it batches and has a rate, a queue, a policer, loss or jitter as well")]
    BusyBatch,
    /// Disorder that does nothing, or displaces packets by nothing.
    #[error("its disorder displaces and duplicates no packet, or displaces by nothing")]
    EmptyDisorder,
    /// The link puts packets out of order and has a rate, a queue, a policer, loss, jitter or batches as well. These require a separate
    /// link.
    #[error(
        "it puts packets out of order and has a rate, a queue, a policer, loss, jitter or batches as well"
    )]
    BusyDisorder,
}

/// The error of a discipline.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum DisciplineFault {
    /// RED's thresholds are out of order.
    #[error("the minimum threshold is not below the maximum, or zero")]
    Thresholds,
    /// RED's average would never move, or its probability never rise.
    #[error("a weight or a probability is zero")]
    Nought,
    /// A span that must have a length is zero.
    #[error("a target or an interval is zero")]
    ZeroSpan,
    /// There is no queue for any flow, or a queue gets no bytes in a round of service.
    #[error("there are no queues, or a turn is worth nothing")]
    NoQueues,
}

/// The error of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum FlowFault {
    /// A route contains a link that does not exist.
    #[error("its route names link {link}, which does not exist")]
    UnknownLink {
        /// The missing link.
        link: u32,
    },
    /// A host has no route to the other.
    #[error("a route of it has no link")]
    NoRoute,
    /// The probing has impossible trains.
    #[error("its trains are impossible: too few or too many packets, no train, or a tolerance of all")]
    Trains,
    /// A route has more links than a packet's position can count.
    #[error("a route of it has more than 65535 links")]
    LongRoute,
    /// The round trip takes no time, so the clock could never advance.
    #[error("its round trip takes no time")]
    Instant,
    /// The receiver never reads, so its window would close for good.
    #[error("its receiver never reads")]
    NeverReads,
    /// A source has no rate.
    #[error("its rate is zero")]
    ZeroRate,
    /// The rate is too high for the simulator's arithmetic.
    #[error("its rate is above 10^15 bit/s")]
    HugeRate,
    /// Packets are larger than IP can carry.
    #[error("its packets are above 65535 bytes")]
    HugePacket,
    /// Packets have no bytes.
    #[error("its packets are empty")]
    ZeroPacket,
    /// A transfer has no bytes.
    #[error("its size is zero")]
    ZeroSize,
    /// A span that must have a length is zero.
    #[error("a mean time of it is zero")]
    ZeroSpan,
    /// The flow has started, but only a flow that has yet to start can be changed.
    #[error("it is no TCP flow that has yet to start")]
    UnderWay,
    /// The arrival process has no route or no controller to choose from.
    #[error("there is no route or no controller to choose from")]
    NoChoice,
    /// A distribution of sizes has no mean.
    #[error("a mean or an exponent of its distribution is impossible")]
    Sizes,
}
