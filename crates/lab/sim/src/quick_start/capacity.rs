//! The capacity of a link, and the part of its accepted work that is still to be transmitted.

use firstflight::{Bytes, Rate, Time};

use crate::trace::RateTrace;
use crate::transmitter::Transmitter;

/// The capacity of a link, with the packets that it has accepted, transmitted one after the other.
///
/// At a constant rate, work is counted in nanoseconds, which need no division. Along a trace it is counted in bits,
/// because the work of a nanosecond differs between steps.
#[derive(Clone, Debug)]
pub(super) enum Capacity {
    Constant {
        rate: Rate,
        /// Completion of all accepted work.
        done_at: u64,
    },
    Along(Box<(RateTrace, Transmitter)>),
}

impl Capacity {
    /// Returns the capacity of a link of this rate, or of one that follows this trace; `None` if the link takes no
    /// time.
    pub(super) fn of(rate: Option<Rate>, rates: Option<&RateTrace>) -> Option<Self> {
        match rates {
            Some(trace) => Some(Self::Along(Box::new((trace.clone(), Transmitter::new(rate, rates))))),
            None => rate.map(|rate| Self::Constant { rate, done_at: 0 }),
        }
    }

    /// Returns the rate at an instant.
    pub(super) fn rate_at(&self, now: Time) -> Rate {
        match self {
            Self::Constant { rate, .. } => *rate,
            Self::Along(along) => along.0.rate_at(now),
        }
    }

    /// Returns the rate at which one unit of work takes one nanosecond.
    pub(super) fn of_one_a_nanosecond(&self) -> Rate {
        match self {
            Self::Constant { rate, .. } => *rate,
            Self::Along(_) => Rate::from_bps(1_000_000_000),
        }
    }

    /// Accepts a packet of `wire` bytes. Returns the work of the packet.
    pub(super) fn take(&mut self, now: Time, wire: u32) -> u64 {
        match self {
            Self::Constant { rate, done_at } => {
                let work = rate.time_for(Bytes::new(u64::from(wire))).nanos();
                *done_at = (*done_at).max(now.nanos()).saturating_add(work);
                work
            }
            Self::Along(along) => {
                along.1.transmit(now, wire);
                8 * u64::from(wire)
            }
        }
    }

    /// Returns when all accepted work is done.
    pub(super) fn done_at(&self) -> u64 {
        match self {
            Self::Constant { done_at, .. } => *done_at,
            Self::Along(along) => along.1.free_at().nanos(),
        }
    }

    /// Returns the work that is still to be done at an instant.
    pub(super) fn left(&self, at: u64) -> u64 {
        match self {
            Self::Constant { done_at, .. } => done_at.saturating_sub(at),
            Self::Along(along) => along.0.bits(Time::from_nanos(at), along.1.free_at()),
        }
    }
}
