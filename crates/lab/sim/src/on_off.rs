//! An on/off source of unresponsive traffic.

use firstflight::{Rate, Span, Time};

use firstflight_tcp::Role;

use crate::fault::FlowFault;
use crate::packet::{FlowId, Packet, Payload};
use crate::random::{Purpose, Stream};
use crate::sizes::{exponential, least, nanos, pareto, pareto_left};
use crate::source::CbrSpec;
use crate::transmitter::transmission;

/// Datagrams at a constant rate while the source is on, none while it is off. The time to the next packet counts only
/// while the source is on, so the long-run rate is exact however short the periods are.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OnOffSpec {
    /// IP bits per second while it is on.
    pub rate: Rate,
    /// IP bytes of a packet.
    pub packet: u32,
    /// The mean length of an on period.
    pub on: Span,
    /// The mean length of an off period.
    pub off: Span,
    /// Distribution of the lengths of periods.
    pub periods: Periods,
    /// The instant from which no packet is sent; `None` for no end.
    pub stop: Option<Time>,
}

/// A distribution of the lengths of periods.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Periods {
    /// Exponential, as in ns-2's `Exponential` traffic.
    Exponential,
    /// Pareto with this exponent, above one, as in ns-2's `Pareto` traffic (1.5 there).
    Pareto(f64),
}

impl OnOffSpec {
    pub(crate) fn check(&self) -> Result<(), FlowFault> {
        if self.on.is_zero() || self.off.is_zero() {
            return Err(FlowFault::ZeroSpan);
        }
        if let Periods::Pareto(shape) = self.periods
            && !(shape > 1.0 && shape <= 1_000.0)
        {
            return Err(FlowFault::Sizes);
        }
        CbrSpec { rate: self.rate, packet: self.packet, stop: self.stop }.check()
    }

    #[expect(clippy::cast_precision_loss, reason = "a mean is far below 2^53 ns")]
    fn draw(&self, stream: &mut Stream, mean: Span) -> Span {
        let mean = mean.nanos() as f64;
        nanos(match self.periods {
            Periods::Exponential => exponential(stream, mean),
            Periods::Pareto(shape) => pareto(stream, least(mean, shape), shape),
        })
    }

    /// Draws how long a period still lasts, at an instant that is independent of its beginning.
    #[expect(clippy::cast_precision_loss, reason = "a mean is far below 2^53 ns")]
    fn draw_left(&self, stream: &mut Stream, mean: Span) -> Span {
        match self.periods {
            // The exponential distribution has no memory.
            Periods::Exponential => self.draw(stream, mean),
            Periods::Pareto(shape) => {
                let mean = mean.nanos() as f64;
                nanos(pareto_left(stream, least(mean, shape), shape))
            }
        }
    }
}

/// An event of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum OnOffEvent {
    /// A period begins in which the source offers this rate.
    Offers(Rate),
    /// A datagram is sent.
    Sends(Packet),
}

/// The state of an on/off source.
#[derive(Clone, Debug)]
pub(crate) struct OnOff {
    id: FlowId,
    spec: OnOffSpec,
    stream: Stream,
    packets: u64,
    on: bool,
    begun: bool,
    /// The end of the present period.
    until: Time,
    /// On time that remains until the next packet, counted from the beginning of the period or from the last packet.
    due: Span,
    /// The instant from which `due` counts, while the source is on.
    since: Time,
    /// The part of a nanosecond, over the rate, by which the next packet is due later than `due`.
    remainder: u64,
}

impl OnOff {
    /// Returns a source at `start` and its first event. The source is in the state of one that has always run: it is on
    /// or off with the probability of each share of time, and the remainder of its period is drawn.
    pub(crate) fn new(id: FlowId, spec: OnOffSpec, start: Time, seed: u64) -> (Self, Option<Time>) {
        let mut stream = Stream::new(seed, Purpose::OnOff, id.0, 0);
        let on = stream.below(spec.on.nanos().saturating_add(spec.off.nanos())) < spec.on.nanos();
        let (interval, _) = transmission(spec.rate, spec.packet, 0);
        let due = Span::from_nanos(stream.below(interval));
        let left = spec.draw_left(&mut stream, if on { spec.on } else { spec.off });
        let until = start + left;
        let source =
            Self { id, spec, stream, packets: 0, on, begun: false, until, due, since: start, remainder: 0 };
        (source, spec.stop.is_none_or(|stop| start < stop).then_some(start))
    }

    /// Handles the source's event: a period begins or ends, or a datagram is due.
    #[inline(never)]
    pub(crate) fn on_timer(&mut self, now: Time) -> OnOffEvent {
        if !self.begun {
            self.begun = true;
        } else if now >= self.until {
            self.turn(now);
        } else {
            return OnOffEvent::Sends(self.send(now));
        }
        OnOffEvent::Offers(if self.on { self.spec.rate } else { Rate::ZERO })
    }

    /// Returns when [`OnOff::on_timer`] is to be called next; `None` once the source has stopped.
    pub(crate) fn next(&self) -> Option<Time> {
        let next = if self.on { self.until.min(self.since + self.due) } else { self.until };
        Some(next).filter(|next| self.spec.stop.is_none_or(|stop| *next < stop))
    }

    /// Returns when the source stops, if that is in the middle of an on period and no event comes before.
    pub(crate) fn cut_off_at(&self) -> Option<Time> {
        self.spec.stop.filter(|_| self.on && self.next().is_none())
    }

    /// Returns the flow of the datagrams.
    pub(crate) fn flow(&self) -> FlowId {
        self.id
    }

    fn turn(&mut self, now: Time) {
        if self.on {
            self.due -= now.since(self.since);
        }
        self.on = !self.on;
        self.since = now;
        let mean = if self.on { self.spec.on } else { self.spec.off };
        self.until = now + self.spec.draw(&mut self.stream, mean);
    }

    fn send(&mut self, now: Time) -> Packet {
        let packet = Packet {
            flow: self.id,
            from: Role::Client,
            retransmission: false,
            wire: self.spec.packet,
            number: self.packets,
            sent_at: now,
            payload: Payload::Datagram,
        };
        self.packets += 1;
        let (nanos, remainder) = transmission(self.spec.rate, self.spec.packet, self.remainder);
        self.remainder = remainder;
        self.since = now;
        self.due = Span::from_nanos(nanos);
        packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ON: u64 = 100_000_000;
    const OFF: u64 = 300_000_000;

    fn sources(periods: Periods) -> impl Iterator<Item = OnOff> {
        let spec = OnOffSpec {
            rate: Rate::from_bps(8_000_000),
            packet: 1_000,
            on: Span::from_nanos(ON),
            off: Span::from_nanos(OFF),
            periods,
            stop: None,
        };
        (0..40_000).map(move |seed| OnOff::new(FlowId(0), spec, Time::ZERO, seed).0)
    }

    /// Returns whether a source is on at an instant, and the number of its changes by then.
    fn at(source: &mut OnOff, instant: u64) -> (bool, u32) {
        // No datagram becomes due in the meantime.
        source.due = Span::from_nanos(u64::MAX);
        let mut turns = 0;
        while source.until.nanos() <= instant {
            source.turn(source.until);
            turns += 1;
        }
        (source.on, turns)
    }

    #[test]
    fn an_on_off_source_is_stationary_from_its_start() {
        for periods in
            [Periods::Exponential, Periods::Pareto(1.5), Periods::Pareto(3.0), Periods::Pareto(100.0)]
        {
            // A window of 10 ms each; the minimum Pareto period on of these exponents is 33, 67 and 99 ms.
            let windows = [0, 20, 60, 100, 250, 1_000, 3_000].map(|millis| millis * 1_000_000);
            let mut seen = [(0_u32, 0_u32); 7];
            for mut source in sources(periods) {
                for ((on, turns), begins) in seen.iter_mut().zip(windows) {
                    *on += u32::from(at(&mut source, begins).0);
                    *turns += at(&mut source, begins + 10_000_000).1;
                }
            }
            for ((on, turns), begins) in seen.into_iter().zip(windows) {
                // The source is on for a quarter of the time and changes within 200 ms. The test allows five standard
                // deviations of 40 000 coins.
                assert!(on.abs_diff(10_000) < 433, "{periods:?}: {on} on at {begins}");
                assert!(turns.abs_diff(2_000) < 5 * 44 + 10, "{periods:?}: {turns} turns from {begins}");
            }
        }
    }

    #[test]
    fn sources_with_an_exponent_near_one_rarely_change_state() {
        let forever = sources(Periods::Pareto(1.000_001)).filter(|source| source.until.nanos() == 1 << 62);
        assert!(forever.count() > 39_900);
    }
}
