//! What a queue does before it is full: active queue management.
//!
//! A discipline hears of every packet that comes and is asked for the next one to leave; it drops or marks on
//! either occasion. It has no timer: what it has to do in between is a function of the time that has passed.

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

/// What a queue does before it is full. The limit of the queue is its link's in every case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Discipline {
    /// Nothing.
    DropTail,
    /// Random early detection.
    Red(RedSpec),
    /// Controlled delay (RFC 8289).
    CoDel(CoDelSpec),
    /// A `CoDel` for each flow, served in turn (RFC 8290).
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

/// A discipline at work.
#[derive(Clone, Debug)]
pub(crate) enum Aqm {
    Red(Red),
    CoDel(CoDel),
    FqCoDel(FqCoDel),
    Pie(Pie),
}

impl Aqm {
    /// The discipline of a link; `None` if it only drops at the tail.
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

    /// A packet comes. Says whether it joins the queue.
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

    /// The transmitter is free: the packet that leaves the queue.
    pub(crate) fn depart(&mut self, now: Time, out: &mut Outbox) -> Option<Waiting> {
        match self {
            Self::Red(red) => red.depart(),
            Self::CoDel(codel) => codel.depart(now, out),
            Self::FqCoDel(fq) => fq.depart(now, out),
            Self::Pie(pie) => pie.depart(now),
        }
    }

    /// Packets waiting.
    pub(crate) fn packets(&self) -> u32 {
        match self {
            Self::Red(red) => red.queue().len(),
            Self::CoDel(codel) => codel.queue().len(),
            Self::FqCoDel(fq) => fq.packets(),
            Self::Pie(pie) => pie.queue().len(),
        }
    }

    /// IP bytes waiting.
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
