//! A transmitter: the start and the end of each packet's transmission.

use firstflight::{Bytes, Rate, Span, Time};

use crate::opportunities::Opportunities;
use crate::trace::{RateTrace, Step};

/// Bits in a byte times nanoseconds in a second.
pub(crate) const BIT_NANOS: u64 = 8_000_000_000;

/// Returns the time that `wire` bytes take at `rate`, if they begin `remainder / rate` of a nanosecond late: whole
/// nanoseconds, and the new remainder.
pub(crate) fn transmission(rate: Rate, wire: u32, remainder: u64) -> (u64, u64) {
    let rate = rate.bps().max(1);
    // At most 2^32 × 8·10^9 + 10^15: beyond 64 bits only for packets that no network carries.
    let work = u64::from(wire).saturating_mul(BIT_NANOS).saturating_add(remainder);
    (work / rate, work % rate)
}

/// A transmitter, which sends one packet after the other. The fields that each packet touches come first.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Transmitter {
    /// The transmitter is free at `free_at` plus `remainder / rate` nanoseconds.
    free_at: Time,
    remainder: u64,
    /// The newest size and the previous one, because data and ACKs often alternate: IP bytes, and their
    /// [`transmission`] at a constant rate.
    newest: (u32, u64, u64),
    pace: Pace,
    before: (u32, u64, u64),
}

/// How fast the transmitter sends.
#[derive(Clone, Debug)]
enum Pace {
    /// A transmission takes no time.
    Free,
    At(Rate),
    /// The rate follows a trace. The number is the index of the step in force at `free_at`.
    Along(RateTrace, u64),
    /// Packets are sent at the opportunities of a trace.
    Open(Box<Opportunities>),
}

impl Transmitter {
    /// Returns a transmitter of this rate, or one that follows a trace. Without either it takes no time.
    pub(crate) fn new(rate: Option<Rate>, rates: Option<&RateTrace>) -> Self {
        let pace = match (rates, rate) {
            (Some(trace), _) if trace.millis().is_some() => Pace::Open(Box::new(Opportunities::new(trace))),
            (Some(trace), _) => Pace::Along(trace.clone(), trace.place(Time::ZERO)),
            (None, Some(rate)) => Pace::At(rate),
            (None, None) => Pace::Free,
        };
        Self { pace, free_at: Time::ZERO, remainder: 0, newest: (0, 0, 0), before: (0, 0, 0) }
    }

    /// Returns whether transmissions take time.
    #[inline]
    pub(crate) fn takes_time(&self) -> bool {
        !matches!(self.pace, Pace::Free)
    }

    /// Returns the rate at `at`. No packet so far arrived later than `at`.
    pub(crate) fn rate_at(&self, at: Time) -> Option<Rate> {
        match &self.pace {
            Pace::Free => None,
            Pace::At(rate) => Some(*rate),
            Pace::Along(trace, step) => Some(Rate::from_bps(trace.step(trace.current(*step, at)).rate)),
            Pace::Open(state) => Some(state.trace().rate_at(at)),
        }
    }

    /// Returns the number of whole bits that the transmitter sends between two instants if it is always busy; none if
    /// it takes no time, or if `to` is not after `from`. A packet at opportunities counts as sent at its first one.
    pub(crate) fn bits_between(&self, from: Time, to: Time) -> u64 {
        match &self.pace {
            Pace::Free | Pace::Open(_) => 0,
            Pace::At(rate) => {
                let bit_nanos = u128::from(rate.bps()) * u128::from(to.since(from).nanos());
                u64::try_from(bit_nanos / 1_000_000_000).unwrap_or(u64::MAX)
            }
            Pace::Along(trace, _) => trace.bits(from, to),
        }
    }

    /// Returns when the transmission of a packet of `wire` IP bytes that starts at `starts` ends, at a constant rate.
    /// At a rate that changes, returns the start.
    pub(crate) fn end_of(&self, starts: Time, wire: u32) -> Time {
        match self.pace {
            Pace::At(rate) => starts + Span::from_nanos(transmission(rate, wire, 0).0),
            Pace::Free | Pace::Along(..) | Pace::Open(_) => starts,
        }
    }

    /// Returns when the transmitter is free.
    #[inline]
    pub(crate) fn free_at(&self) -> Time {
        self.free_at
    }

    /// Returns the size of the last packet in IP bytes, whose transmission time is known. Zero if there was none, or if
    /// the transmission time of a size varies.
    #[inline]
    pub(crate) fn alike(&self) -> u32 {
        self.newest.0
    }

    /// Makes a size the newest one. Returns false if packets of one size do not always take the same time.
    pub(crate) fn turn_to(&mut self, wire: u32) -> bool {
        let Pace::At(rate) = self.pace else { return false };
        if self.newest.0 != wire {
            let (nanos, remainder) = self.known(wire).unwrap_or_else(|| transmission(rate, wire, 0));
            self.before = std::mem::replace(&mut self.newest, (wire, nanos, remainder));
        }
        true
    }

    /// Returns the [`transmission`] of a size if it is one of the two newest, else `None`.
    #[inline]
    fn known(&self, wire: u32) -> Option<(u64, u64)> {
        let (size, nanos, remainder) = if self.newest.0 == wire { self.newest } else { self.before };
        (size == wire).then_some((nanos, remainder))
    }

    /// Transmits a packet of the newest size that finds the transmitter free. Returns the end of the transmission.
    /// Returns `None`, without effect, if the transmitter is busy.
    #[inline]
    pub(crate) fn transmit_alike(&mut self, now: Time) -> Option<Time> {
        if self.free_at >= now {
            return None;
        }
        self.remainder = self.newest.2;
        self.free_at = now.after_nanos(self.newest.1);
        Some(self.free_at)
    }

    /// Transmits a packet of the newest size after all packets before it. Returns start and end of the transmission.
    /// Returns `None`, without effect, if the rate is not constant or the size takes no time.
    #[inline]
    pub(crate) fn transmit_alike_later(&mut self, now: Time) -> Option<(Time, Time)> {
        let Pace::At(rate) = self.pace else { return None };
        if self.newest.1 == 0 {
            return None;
        }
        if self.free_at < now {
            self.free_at = now;
            self.remainder = 0;
        }
        let starts = self.free_at;
        self.free_at = self.end_alike(rate);
        Some((starts, self.free_at))
    }

    /// Returns the completion time of a packet of the newest size that starts at the earliest time. Carries the
    /// rounding remainder.
    #[inline]
    fn end_alike(&mut self, rate: Rate) -> Time {
        // Sizes repeat, and an addition is cheaper than a division.
        let (_, nanos, remainder) = self.newest;
        self.remainder = self.remainder.saturating_add(remainder);
        let carry = u64::from(self.remainder >= rate.bps());
        self.remainder -= carry * rate.bps();
        self.free_at.after_nanos(nanos + carry)
    }

    /// Returns the result that [`Transmitter::transmit_alike`] would have, without transmitting.
    #[inline]
    pub(crate) fn would_end_alike(&self, at: Time) -> Option<Time> {
        (self.free_at < at).then(|| at.after_nanos(self.newest.1))
    }

    /// Returns when the transmission of a packet that arrives at `at` would end, or an earlier instant.
    #[inline]
    pub(crate) fn would_end(&self, at: Time, wire: u32) -> Time {
        let starts = self.free_at.max(at);
        match self.pace {
            Pace::At(rate) => {
                let (nanos, carry) = if let Some((nanos, remainder)) = self.known(wire) {
                    (nanos, u64::from(at <= self.free_at && self.remainder + remainder >= rate.bps()))
                } else {
                    let remainder = if at <= self.free_at { self.remainder } else { 0 };
                    (transmission(rate, wire, remainder).0, 0)
                };
                starts.after_nanos(nanos + carry)
            }
            Pace::Free | Pace::Along(..) | Pace::Open(_) => starts,
        }
    }

    /// Returns true if `wire` bytes, and all bytes transmitted from `at` until `free`, are sure to fit into `limit`.
    pub(crate) fn leaves_room(&self, at: Time, free: Time, wire: u32, limit: Bytes) -> bool {
        let Pace::At(rate) = self.pace else { return false };
        // A part of a nanosecond counts as a whole one.
        let ahead = u128::from(free.since(at).nanos() + 1) * u128::from(rate.bps());
        let bits = |bytes: u64| u128::from(bytes) * u128::from(BIT_NANOS);
        free < at || ahead + bits(wire.into()) <= bits(limit.get())
    }

    /// Returns an instant by which a packet that arrives at `at` is sure to have been sent, if the transmitter is free
    /// at `free`.
    pub(crate) fn ends_by(&self, at: Time, free: Time, wire: u32) -> Time {
        let nanos = match self.pace {
            Pace::At(rate) => self.known(wire).unwrap_or_else(|| transmission(rate, wire, 0)).0 + 1,
            Pace::Free | Pace::Along(..) | Pace::Open(_) => 0,
        };
        free.max(at) + Span::from_nanos(nanos)
    }

    /// Transmits a packet after all packets before it. Returns the start of the transmission; it ends at `free_at`.
    #[inline]
    pub(crate) fn transmit(&mut self, now: Time, wire: u32) -> Time {
        if self.free_at < now {
            self.free_at = now;
            self.remainder = 0;
        }
        let starts = self.free_at;
        match self.pace {
            Pace::At(rate) => {
                self.turn_to(wire);
                self.free_at = self.end_alike(rate);
            }
            Pace::Free => {}
            Pace::Along(..) => self.follow(wire),
            Pace::Open(_) => return self.wait_for_opportunity(now, wire),
        }
        starts
    }

    /// Returns whether packets are sent at opportunities. A packet that finds the transmitter free then waits for the next one, and no
    /// packet is in transmission between two.
    #[inline]
    pub(crate) fn waits_for_opportunities(&self) -> bool {
        matches!(self.pace, Pace::Open(_))
    }

    /// Returns when a packet that arrived at `since` would start, if packets are sent at opportunities; else when the transmitter is free.
    pub(crate) fn opens(&self, since: Time) -> Time {
        match &self.pace {
            Pace::Open(state) => state.opens(self.free_at, since),
            Pace::Free | Pace::At(_) | Pace::Along(..) => self.free_at,
        }
    }

    /// Transmits a packet that arrived at `now` at the opportunities after it.
    #[cold]
    #[inline(never)]
    fn wait_for_opportunity(&mut self, now: Time, wire: u32) -> Time {
        let Pace::Open(state) = &mut self.pace else { return self.free_at };
        let (starts, ends) = state.send(self.free_at, now, wire);
        self.free_at = ends;
        starts
    }

    /// Transmits along the trace, step by step.
    #[cold]
    #[inline(never)]
    fn follow(&mut self, wire: u32) {
        let Pace::Along(trace, current) = &mut self.pace else { return };
        let mut left = u64::from(wire).saturating_mul(BIT_NANOS);
        loop {
            *current = trace.current(*current, self.free_at);
            let Step { rate, until } = trace.step(*current);
            if let Some(work) = left.checked_add(self.remainder).filter(|_| rate > 0) {
                let ends = self.free_at + Span::from_nanos(work / rate);
                if until.is_none_or(|until| ends < until) {
                    self.free_at = ends;
                    self.remainder = work % rate;
                    return;
                }
            }
            // The last step has a rate above zero, so the packet ends in it.
            let Some(until) = until else { return };
            let carried = until.since(self.free_at).nanos().saturating_mul(rate);
            left = left.saturating_sub(carried.saturating_sub(self.remainder));
            self.free_at = until;
            self.remainder = 0;
        }
    }
}
