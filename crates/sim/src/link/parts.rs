//! What every kind of link is made of: a transmitter, what may befall a packet on the wire, counters.

use firstflight::{Bytes, Rate, Span, Time};

use crate::network::{LinkSpec, Probability};
use crate::packet::LinkId;
use crate::random::{Purpose, Stream};
use crate::stats::LinkStats;
use crate::trace::{RateTrace, Step};

/// Bits times nanoseconds per second.
pub(super) const BIT_NANOS: u64 = 8_000_000_000;

/// Whole nanoseconds for `wire` bytes at `rate`, begun `remainder / rate` of a nanosecond late, and the new
/// remainder.
pub(crate) fn transmission(rate: Rate, wire: u32, remainder: u64) -> (u64, u64) {
    let rate = rate.bps().max(1);
    // At most 2^32 × 8·10^9 + 10^15, beyond 64 bits only for packets that no network carries.
    let work = u64::from(wire).saturating_mul(BIT_NANOS).saturating_add(remainder);
    (work / rate, work % rate)
}

/// A transmitter: one packet after the other. What each packet touches stands first.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Transmitter {
    /// When the transmitter is free: `free_at` and `remainder / rate` nanoseconds.
    free_at: Time,
    remainder: u64,
    /// What the newest size takes, at the one rate, and the one before it: data and ACKs often take turns. Its IP bytes, and
    /// [`transmission`] of them.
    newest: (u32, u64, u64),
    pace: Pace,
    before: (u32, u64, u64),
}

/// How fast.
#[derive(Clone, Debug)]
enum Pace {
    /// In no time.
    Free,
    At(Rate),
    /// Along a trace, whose step in force when the transmitter is free is the second part.
    Along(RateTrace, usize),
}

impl Transmitter {
    pub(crate) fn new(spec: &LinkSpec) -> Self {
        let pace = match (&spec.rates, spec.rate) {
            (Some(trace), _) => Pace::Along(trace.clone(), 0),
            (None, Some(rate)) => Pace::At(rate),
            (None, None) => Pace::Free,
        };
        Self { pace, free_at: Time::ZERO, remainder: 0, newest: (0, 0, 0), before: (0, 0, 0) }
    }

    /// Whether it can be busy at all.
    #[inline]
    pub(super) fn takes_time(&self) -> bool {
        !matches!(self.pace, Pace::Free)
    }

    /// The rate at `at`, which is no earlier than any packet so far.
    pub(super) fn rate_at(&self, at: Time) -> Option<Rate> {
        match &self.pace {
            Pace::Free => None,
            Pace::At(rate) => Some(*rate),
            Pace::Along(trace, step) => Some(Rate::from_bps(trace.step(trace.current(*step, at)).rate)),
        }
    }

    /// When it is free.
    #[inline]
    pub(crate) fn free_at(&self) -> Time {
        self.free_at
    }

    /// The IP bytes of the packet before, what a packet as large takes being known; nought if there was none, or if the
    /// same size does not always take as long.
    #[inline]
    pub(super) fn alike(&self) -> u32 {
        self.newest.0
    }

    /// Makes a size the newest one; says whether it always takes as long.
    pub(super) fn turn_to(&mut self, wire: u32) -> bool {
        let Pace::At(rate) = self.pace else { return false };
        if self.newest.0 != wire {
            let (nanos, remainder) = self.known(wire).unwrap_or_else(|| transmission(rate, wire, 0));
            self.before = std::mem::replace(&mut self.newest, (wire, nanos, remainder));
        }
        true
    }

    /// [`transmission`] of a size, if it is one of the newest two.
    #[inline]
    fn known(&self, wire: u32) -> Option<(u64, u64)> {
        let (size, nanos, remainder) = if self.newest.0 == wire { self.newest } else { self.before };
        (size == wire).then_some((nanos, remainder))
    }

    /// Transmits a packet that comes to a free transmitter and is as large as the one before, and says when that ends;
    /// `None`, and nothing is done, if the transmitter is not free.
    #[inline]
    pub(super) fn transmit_alike(&mut self, now: Time) -> Option<Time> {
        if self.free_at >= now {
            return None;
        }
        self.remainder = self.newest.2;
        self.free_at = now.after_nanos(self.newest.1);
        Some(self.free_at)
    }

    /// Transmits a packet that is as large as the one before after all that came before, in some time. Says when that
    /// starts and when it ends; `None`, and nothing is done, if it is not so.
    #[inline]
    pub(super) fn transmit_alike_later(&mut self, now: Time) -> Option<(Time, Time)> {
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

    /// When a packet ends that is as large as the one before and starts as soon as it can; the remainder is then its own.
    #[inline]
    fn end_alike(&mut self, rate: Rate) -> Time {
        // Sizes repeat, and an addition is cheaper than a division.
        let (_, nanos, remainder) = self.newest;
        self.remainder = self.remainder.saturating_add(remainder);
        let carry = u64::from(self.remainder >= rate.bps());
        self.remainder -= carry * rate.bps();
        self.free_at.after_nanos(nanos + carry)
    }

    /// When [`Transmitter::transmit_alike`] would say that the transmission ends.
    #[inline]
    pub(super) fn would_end_alike(&self, at: Time) -> Option<Time> {
        (self.free_at < at).then(|| at.after_nanos(self.newest.1))
    }

    /// When the transmission of a packet would end that comes at `at`, or an instant before that.
    #[inline]
    pub(super) fn would_end(&self, at: Time, wire: u32) -> Time {
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
            Pace::Free | Pace::Along(..) => starts,
        }
    }

    /// Whether `wire` bytes and all that is to be transmitted from `at` until it is free at `free` are surely no more than
    /// `limit`.
    pub(super) fn leaves_room(&self, at: Time, free: Time, wire: u32, limit: Bytes) -> bool {
        let Pace::At(rate) = self.pace else { return false };
        // The remainder of a nanosecond counts as a whole one.
        let ahead = u128::from(free.since(at).nanos() + 1) * u128::from(rate.bps());
        let bits = |bytes: u64| u128::from(bytes) * u128::from(BIT_NANOS);
        free < at || ahead + bits(wire.into()) <= bits(limit.get())
    }

    /// When a packet that comes at `at` has surely been transmitted by, if the transmitter is free at `free`.
    pub(super) fn ends_by(&self, at: Time, free: Time, wire: u32) -> Time {
        let nanos = match self.pace {
            Pace::At(rate) => self.known(wire).unwrap_or_else(|| transmission(rate, wire, 0)).0 + 1,
            Pace::Free | Pace::Along(..) => 0,
        };
        free.max(at) + Span::from_nanos(nanos)
    }

    /// Transmits after all that came before, and says when that starts. `free_at` is then its end.
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
        }
        starts
    }

    /// Transmits along the trace: what a step carries, then what the next one does.
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
            // The last step has a rate, so it is not the last.
            let Some(until) = until else { return };
            let carried = until.since(self.free_at).nanos().saturating_mul(rate);
            left = left.saturating_sub(carried.saturating_sub(self.remainder));
            self.free_at = until;
            self.remainder = 0;
        }
    }
}

/// What befalls packets on the wire.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    delay: Span,
    last_arrival: Time,
    chances: Option<Box<Chances>>,
}

/// Jitter and random loss. Every flow has streams of its own.
#[derive(Clone, Debug)]
struct Chances {
    id: LinkId,
    seed: u64,
    loss: Probability,
    jitter: Span,
    loss_of: Vec<Stream>,
    jitter_of: Vec<Stream>,
}

impl Wire {
    pub(super) fn new(id: LinkId, spec: &LinkSpec, seed: u64) -> Self {
        let LinkSpec { delay, loss, jitter, .. } = *spec;
        let (loss_of, jitter_of) = (Vec::new(), Vec::new());
        let chances = (!loss.is_never() || !jitter.is_zero())
            .then(|| Box::new(Chances { id, seed, loss, jitter, loss_of, jitter_of }));
        Self { delay, last_arrival: Time::ZERO, chances }
    }

    /// Whether packets can be lost.
    #[inline]
    pub(super) fn may_lose(&self) -> bool {
        self.chances.as_ref().is_some_and(|chances| !chances.loss.is_never())
    }

    /// Whether neither loss nor jitter befalls packets.
    #[inline]
    pub(super) fn is_sure(&self) -> bool {
        self.chances.is_none()
    }

    /// When a packet arrives whose transmission ends at `sent`, on a wire that is sure.
    #[inline]
    pub(super) fn carry_surely(&mut self, sent: Time) -> Time {
        self.last_arrival = sent + self.delay;
        self.last_arrival
    }

    /// The propagation delay.
    #[inline]
    pub(super) fn delay(&self) -> Span {
        self.delay
    }

    /// When a packet arrives at the earliest whose transmission ends at `sent`.
    #[inline]
    pub(super) fn soonest(&self, sent: Time) -> Time {
        self.last_arrival.max(sent + self.delay)
    }

    /// When a packet arrives whose transmission ends at `sent`, and whether it is lost. `flow` says whose it is.
    #[inline]
    pub(super) fn carry(&mut self, flow: impl FnOnce() -> usize, sent: Time) -> (Time, bool) {
        let (jitter, lost) = match &mut self.chances {
            Some(chances) => chances.draw(flow()),
            None => (Span::ZERO, false),
        };
        self.last_arrival = self.last_arrival.max(sent + self.delay + jitter);
        (self.last_arrival, lost)
    }

    /// When the last packet so far arrives.
    pub(super) fn last_arrival(&self) -> Time {
        self.last_arrival
    }
}

impl Chances {
    /// The jitter of a packet, and whether it is lost.
    #[cold]
    #[inline(never)]
    fn draw(&mut self, flow: usize) -> (Span, bool) {
        let lost = !self.loss.is_never() && {
            let stream = stream_of(&mut self.loss_of, flow, self.seed, Purpose::Loss, self.id);
            self.loss.covers(stream.bits())
        };
        if self.jitter.is_zero() {
            return (Span::ZERO, lost);
        }
        let stream = stream_of(&mut self.jitter_of, flow, self.seed, Purpose::Jitter, self.id);
        (Span::from_nanos(stream.below(self.jitter.nanos().saturating_add(1))), lost)
    }
}

/// A flow's stream, made when it is first wanted: flows may come up as the run goes on.
fn stream_of(streams: &mut Vec<Stream>, flow: usize, seed: u64, purpose: Purpose, id: LinkId) -> &mut Stream {
    while streams.len() <= flow {
        let minor = u32::try_from(streams.len()).unwrap_or(u32::MAX);
        streams.push(Stream::new(seed, purpose, id.0, minor));
    }
    &mut streams[flow]
}

/// The counters of a queue, with the integrals of what waits in it.
#[derive(Clone, Debug, Default)]
pub(super) struct Meter {
    /// Since when the integrals have to be continued.
    counted_to: Time,
    pub(super) stats: LinkStats,
}

impl Meter {
    /// Continues the integrals to `at`, before what waits changes.
    #[inline]
    pub(super) fn count_to(&mut self, at: Time, packets: u32, bytes: u64) {
        if packets > 0 {
            let nanos = u128::from(at.since(self.counted_to).nanos());
            self.stats.packet_nanos += nanos * u128::from(packets);
            self.stats.byte_nanos += nanos * u128::from(bytes);
        }
        self.counted_to = at;
    }

    /// The counters up to `now`.
    pub(super) fn stats(&self, now: Time, packets: u32, bytes: u64) -> LinkStats {
        let mut copy = self.clone();
        copy.count_to(now.max(self.counted_to), packets, bytes);
        copy.stats
    }

    /// Counts, ahead of time, that a packet of so many bytes will have waited so many nanoseconds.
    #[inline]
    pub(super) fn wait(&mut self, nanos: u64, bytes: u64) {
        self.stats.packet_nanos += u128::from(nanos);
        self.stats.byte_nanos += u128::from(nanos) * u128::from(bytes);
    }

    /// Counts a packet that was accepted.
    pub(super) fn accept(&mut self, wire: u32) {
        self.stats.packets += 1;
        self.stats.bytes += u64::from(wire);
    }

    /// Counts that so much waits.
    #[inline]
    pub(super) fn peak(&mut self, packets: u64, bytes: u64) {
        if packets > u64::from(self.stats.peak_packets) {
            self.stats.peak_packets = u32::try_from(packets).unwrap_or(u32::MAX);
        }
        if bytes > self.stats.peak_bytes {
            self.stats.peak_bytes = bytes;
        }
    }
}
