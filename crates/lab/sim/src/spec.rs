//! A link as data.

use firstflight::{Rate, Span};

use crate::aqm::Discipline;
use crate::batch::Batch;
use crate::disorder::Disorder;
use crate::fault::LinkFault;
use crate::loss_bursts::LossBursts;
use crate::policer::PolicerSpec;
use crate::quantity::{Probability, QueueLimit, RATE_LIMIT};
use crate::quick_start::Approval;
use crate::trace::{DelayTrace, RateTrace};

/// A one-way link: a queue, a transmitter, a wire.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkSpec {
    /// IP bits per second. With `None` a packet is transmitted at once, so that none waits and the queue drops none.
    /// The fraction of a nanosecond that a transmission takes is carried over to the next one, so the long-run rate is
    /// exact.
    pub rate: Option<Rate>,
    /// A rate that changes over time, in place of `rate`.
    pub rates: Option<RateTrace>,
    /// Propagation delay.
    pub delay: Span,
    /// Capacity of the queue.
    pub queue: QueueLimit,
    /// Discipline of the queue before it is full.
    pub discipline: Discipline,
    /// The policer of the packets that enter the queue.
    pub policer: Option<PolicerSpec>,
    /// Probability that the wire loses a packet. A lost packet has used its place in the queue and its transmission
    /// time.
    pub loss: Probability,
    /// Bursty loss on the wire, in addition to `loss`.
    pub bursts: Option<LossBursts>,
    /// The maximum jitter: each packet is delayed by an additional uniform draw from zero to this. The order is kept.
    pub jitter: Span,
    /// Extra delay over time, by the instant at which a packet's transmission ends. The order is kept.
    pub delays: Option<DelayTrace>,
    /// How the link holds packets back and releases them together. A batching link has no rate, queue, loss or jitter.
    pub batch: Option<Batch>,
    /// How the link puts packets out of order. A link with disorder has no rate, queue, loss, jitter or batches.
    pub disorder: Option<Disorder>,
    /// Answer of the router before the link to Quick-Start requests, if it takes part.
    pub quick_start: Option<Approval>,
}

impl LinkSpec {
    /// Returns a lossless link without jitter and with an unlimited queue.
    pub const fn new(rate: Option<Rate>, delay: Span) -> Self {
        Self {
            rate,
            rates: None,
            delay,
            queue: QueueLimit::Unlimited,
            discipline: Discipline::DropTail,
            policer: None,
            loss: Probability::NEVER,
            bursts: None,
            jitter: Span::ZERO,
            delays: None,
            batch: None,
            disorder: None,
            quick_start: None,
        }
    }

    /// Returns whether a packet crosses the link in no time.
    pub(crate) fn is_instant(&self) -> bool {
        self.delay.is_zero() && self.delays.is_none() && self.rate.is_none() && self.rates.is_none()
    }

    pub(crate) fn check(&self) -> Result<(), LinkFault> {
        self.discipline.check().map_err(LinkFault::Discipline)?;
        if self.policer.is_some_and(|policer| policer.rate == Rate::ZERO || policer.burst.is_zero()) {
            return Err(LinkFault::EmptyPolicer);
        }
        if let Some(batch) = self.batch {
            if batch.is_empty() {
                return Err(LinkFault::EmptyBatch);
            }
            let Self { batch, quick_start, .. } = *self;
            if *self != (Self { batch, quick_start, ..Self::new(None, self.delay) }) {
                return Err(LinkFault::BusyBatch);
            }
        }
        if let Some(disorder) = self.disorder {
            if disorder.is_empty() {
                return Err(LinkFault::EmptyDisorder);
            }
            let Self { disorder, quick_start, .. } = *self;
            if *self != (Self { disorder, quick_start, ..Self::new(None, self.delay) }) {
                return Err(LinkFault::BusyDisorder);
            }
        }
        match (self.rate, self.queue) {
            (Some(Rate::ZERO), _) => Err(LinkFault::ZeroRate),
            (Some(rate), _) if rate > RATE_LIMIT => Err(LinkFault::HugeRate),
            (_, QueueLimit::Packets(0)) => Err(LinkFault::ZeroQueue),
            (_, QueueLimit::Bytes(bytes)) if bytes.is_zero() => Err(LinkFault::ZeroQueue),
            (_, QueueLimit::Packets(_) | QueueLimit::Bytes(_) | QueueLimit::Unlimited) => Ok(()),
        }
    }
}
