//! A link as data.

use firstflight::{Rate, Span};

use crate::aqm::Discipline;
use crate::batch::Batch;
use crate::fault::LinkFault;
use crate::policer::PolicerSpec;
use crate::quantity::{Probability, QueueLimit, RATE_LIMIT};
use crate::quick_start::Approval;
use crate::trace::RateTrace;

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
    /// How much may wait for transmission.
    pub queue: QueueLimit,
    /// What the queue does before it is full.
    pub discipline: Discipline,
    /// Polices what enters the queue.
    pub policer: Option<PolicerSpec>,
    /// The chance that the wire loses a packet. A lost packet has taken its place in the queue and its time of
    /// transmission.
    pub loss: Probability,
    /// Each packet is further delayed by a uniform draw from zero up to this; the order is kept.
    pub jitter: Span,
    /// Holds packets back and releases them together. A batching link has no rate, queue, loss or jitter.
    pub batch: Option<Batch>,
    /// How the router before the link answers requests of Quick-Start, if it takes part.
    pub quick_start: Option<Approval>,
}

impl LinkSpec {
    /// A lossless link without jitter and with an unlimited queue.
    pub const fn new(rate: Option<Rate>, delay: Span) -> Self {
        Self {
            rate,
            rates: None,
            delay,
            queue: QueueLimit::Unlimited,
            discipline: Discipline::DropTail,
            policer: None,
            loss: Probability::NEVER,
            jitter: Span::ZERO,
            batch: None,
            quick_start: None,
        }
    }

    /// Whether a packet crosses the link in no time.
    pub(crate) fn is_instant(&self) -> bool {
        self.delay.is_zero() && self.rate.is_none() && self.rates.is_none()
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
        match (self.rate, self.queue) {
            (Some(Rate::ZERO), _) => Err(LinkFault::ZeroRate),
            (Some(rate), _) if rate > RATE_LIMIT => Err(LinkFault::HugeRate),
            (_, QueueLimit::Packets(0)) => Err(LinkFault::ZeroQueue),
            (_, QueueLimit::Bytes(bytes)) if bytes.is_zero() => Err(LinkFault::ZeroQueue),
            (_, QueueLimit::Packets(_) | QueueLimit::Bytes(_) | QueueLimit::Unlimited) => Ok(()),
        }
    }
}
