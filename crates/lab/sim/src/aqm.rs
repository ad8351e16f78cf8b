//! Active queue management: queue disciplines, which drop or mark packets before the queue is full.
//!
//! A discipline handles every packet that arrives, and returns the next one to leave. It drops or marks on either
//! occasion. It has no timer: its state is a function of the elapsed time.

mod codel;
mod fq_codel;
mod pie;
mod queue;
mod red;

use firstflight::Time;

pub use codel::CoDelSpec;
pub use fq_codel::FqCoDelSpec;
pub use pie::PieSpec;
pub use red::RedSpec;

use crate::fault::DisciplineFault;
use crate::packet::LinkId;
use crate::quantity::QueueLimit;
use crate::random::{Purpose, Stream};

use codel::CoDel;
use fq_codel::FqCoDel;
use pie::Pie;
pub(crate) use queue::{Arrival, Outbox, Waiting};
use red::Red;

/// A queue discipline. In every case the limit of the queue is set by the link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Discipline {
    /// Drops only packets that find the queue full.
    DropTail,
    /// Random early detection.
    Red(RedSpec),
    /// Controlled delay (RFC 8289).
    CoDel(CoDelSpec),
    /// A queue with `CoDel` for each flow, served round-robin (RFC 8290).
    FqCoDel(FqCoDelSpec),
    /// Proportional integral controller, enhanced (RFC 8033).
    Pie(PieSpec),
}

impl Discipline {
    pub(crate) fn check(self) -> Result<(), DisciplineFault> {
        match self {
            Self::DropTail => Ok(()),
            Self::Red(spec) => spec.check(),
            Self::CoDel(spec) => spec.check(),
            Self::FqCoDel(spec) => spec.check(),
            Self::Pie(spec) => spec.check(),
        }
    }
}

/// The state of a discipline.
#[derive(Clone, Debug)]
pub(crate) enum Aqm {
    Red(Red),
    CoDel(CoDel),
    FqCoDel(FqCoDel),
    Pie(Pie),
}

impl Aqm {
    /// Returns the discipline of a link; `None` for a drop-tail queue.
    pub(crate) fn new(discipline: Discipline, queue: QueueLimit, (id, seed): (LinkId, u64)) -> Option<Self> {
        let stream = Stream::new(seed, Purpose::Discipline, id.0, 0);
        Some(match discipline {
            Discipline::DropTail => return None,
            Discipline::Red(red) => Self::Red(Red::new(red, matches!(queue, QueueLimit::Bytes(_)), stream)),
            Discipline::CoDel(codel) => Self::CoDel(CoDel::new(codel)),
            Discipline::FqCoDel(fq) => Self::FqCoDel(FqCoDel::new(fq, queue, stream)),
            Discipline::Pie(pie) => Self::Pie(Pie::new(pie, stream)),
        })
    }

    /// Handles a packet that arrives. Returns whether it joins the queue.
    pub(crate) fn arrive(&mut self, arrival: Arrival, waiting: Waiting, out: &mut Outbox) -> bool {
        match self {
            Self::Red(red) => red.arrive(arrival, waiting, out),
            Self::CoDel(codel) => codel.arrive(arrival, waiting),
            Self::FqCoDel(fq) => {
                fq.arrive(arrival, waiting, out);
                true
            }
            Self::Pie(pie) => pie.arrive(arrival, waiting, out),
        }
    }

    /// Returns the packet that leaves the queue when the transmitter is free.
    pub(crate) fn depart(&mut self, now: Time, out: &mut Outbox) -> Option<Waiting> {
        match self {
            Self::Red(red) => red.depart(),
            Self::CoDel(codel) => codel.depart(now, out),
            Self::FqCoDel(fq) => fq.depart(now, out),
            Self::Pie(pie) => pie.depart(now),
        }
    }

    /// Returns the number of waiting packets.
    pub(crate) fn packets(&self) -> u32 {
        match self {
            Self::Red(red) => red.queue().len(),
            Self::CoDel(codel) => codel.queue().len(),
            Self::FqCoDel(fq) => fq.packets(),
            Self::Pie(pie) => pie.queue().len(),
        }
    }

    /// Returns the number of waiting IP bytes.
    pub(crate) fn bytes(&self) -> u64 {
        match self {
            Self::Red(red) => red.queue().bytes,
            Self::CoDel(codel) => codel.queue().bytes,
            Self::FqCoDel(fq) => fq.bytes(),
            Self::Pie(pie) => pie.queue().bytes,
        }
    }
}

#[cfg(test)]
mod tests;
