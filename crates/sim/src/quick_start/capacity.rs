//! What a link can carry, and what of all that it took in it still has to transmit.

use firstflight::{Bytes, Rate, Time};

use crate::trace::RateTrace;
use crate::transmitter::Transmitter;

/// The capacity of a link, with what it took in one packet after the other.
///
/// Work is counted in nanoseconds of a constant rate, which need no division, and along a trace in bits: a nanosecond
/// is another amount there at every step.
#[derive(Clone, Debug)]
pub(super) enum Capacity {
    Constant {
        rate: Rate,
        /// When all is transmitted.
        done_at: u64,
    },
    Along(Box<(RateTrace, Transmitter)>),
}

impl Capacity {
    /// That of a link of this rate, or along this trace in its place; `None` if it takes no time.
    pub(super) fn of(rate: Option<Rate>, rates: Option<&RateTrace>) -> Option<Self> {
        match rates {
            Some(trace) => Some(Self::Along(Box::new((trace.clone(), Transmitter::new(rate, rates))))),
            None => rate.map(|rate| Self::Constant { rate, done_at: 0 }),
        }
    }

    /// The rate at an instant.
    pub(super) fn rate_at(&self, now: Time) -> Rate {
        match self {
            Self::Constant { rate, .. } => *rate,
            Self::Along(along) => along.0.rate_at(now),
        }
    }

    /// The rate at which one unit of work a nanosecond is done.
    pub(super) fn of_one_a_nanosecond(&self) -> Rate {
        match self {
            Self::Constant { rate, .. } => *rate,
            Self::Along(_) => Rate::from_bps(1_000_000_000),
        }
    }

    /// The link takes a packet of `wire` bytes in; the work that it makes.
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

    /// When all is transmitted that it took in.
    pub(super) fn done_at(&self) -> u64 {
        match self {
            Self::Constant { done_at, .. } => *done_at,
            Self::Along(along) => along.1.free_at().nanos(),
        }
    }

    /// The work that is done only after an instant.
    pub(super) fn left(&self, at: u64) -> u64 {
        match self {
            Self::Constant { done_at, .. } => done_at.saturating_sub(at),
            Self::Along(along) => along.0.bits(Time::from_nanos(at), along.1.free_at()),
        }
    }
}
