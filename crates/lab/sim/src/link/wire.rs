//! The wire of a link: propagation, random loss, jitter, delay over time.

use std::collections::BTreeMap;

use firstflight::{Span, Time};

use crate::packet::LinkId;
use crate::quantity::Probability;
use crate::random::{Purpose, Stream};
use crate::spec::LinkSpec;
use crate::trace::DelayTrace;

/// A wire: its delay, random loss, jitter and delay over time.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    delay: Span,
    last_arrival: Time,
    chances: Option<Box<Chances>>,
}

/// Jitter, random loss and delay over time. Every flow has its own streams of random numbers.
#[derive(Clone, Debug)]
struct Chances {
    id: LinkId,
    seed: u64,
    loss: Probability,
    jitter: Span,
    loss_of: Streams,
    jitter_of: Streams,
    /// The extra delay over time, and the index of the step in force.
    delays: Option<(DelayTrace, u64)>,
}

/// The random streams of flows, by the flow's number.
#[derive(Clone, Debug, Default)]
struct Streams {
    /// Streams of the flows from number zero on without a gap.
    first: Vec<Stream>,
    /// Streams of the flows whose numbers are far beyond the others.
    far: BTreeMap<usize, Stream>,
}

impl Wire {
    pub(super) fn new(id: LinkId, spec: &LinkSpec, seed: u64) -> Self {
        let LinkSpec { delay, loss, jitter, .. } = *spec;
        let (loss_of, jitter_of) = (Streams::default(), Streams::default());
        let delays = spec.delays.clone().map(|trace| {
            let place = trace.place(Time::ZERO);
            (trace, place)
        });
        let chances = (!loss.is_never() || !jitter.is_zero() || delays.is_some())
            .then(|| Box::new(Chances { id, seed, loss, jitter, loss_of, jitter_of, delays }));
        Self { delay, last_arrival: Time::ZERO, chances }
    }

    /// Returns whether packets can be lost.
    #[inline]
    pub(super) fn may_lose(&self) -> bool {
        self.chances.as_ref().is_some_and(|chances| !chances.loss.is_never())
    }

    /// Returns whether the wire has neither loss, jitter nor delay over time.
    #[inline]
    pub(super) fn is_sure(&self) -> bool {
        self.chances.is_none()
    }

    /// Returns when a packet arrives whose transmission ends at `sent`. The wire has neither loss, jitter nor delay over time.
    #[inline]
    pub(super) fn carry_surely(&mut self, sent: Time) -> Time {
        self.last_arrival = sent + self.delay;
        self.last_arrival
    }

    /// Returns the propagation delay.
    #[inline]
    pub(super) fn delay(&self) -> Span {
        self.delay
    }

    /// Returns the earliest instant at which a packet can arrive whose transmission ends at `sent`.
    #[inline]
    pub(super) fn soonest(&self, sent: Time) -> Time {
        self.last_arrival.max(sent + self.delay)
    }

    /// Returns when a packet arrives whose transmission ends at `sent`, and whether it is lost. `flow` gives the
    /// flow's number.
    #[inline]
    pub(super) fn carry(&mut self, flow: impl FnOnce() -> usize, sent: Time) -> (Time, bool) {
        let (jitter, lost) = match &mut self.chances {
            Some(chances) => {
                let (jitter, lost) = chances.draw(flow());
                (jitter + chances.delay_at(sent), lost)
            }
            None => (Span::ZERO, false),
        };
        self.last_arrival = self.last_arrival.max(sent + self.delay + jitter);
        (self.last_arrival, lost)
    }

    /// Returns when the last of the packets sent so far arrives.
    pub(super) fn last_arrival(&self) -> Time {
        self.last_arrival
    }
}

impl Chances {
    /// Returns the extra delay of a packet whose transmission ends at `sent`.
    fn delay_at(&mut self, sent: Time) -> Span {
        self.delays.as_mut().map_or(Span::ZERO, |(trace, place)| trace.delay_at(place, sent))
    }

    /// Draws the jitter of a packet, and whether it is lost.
    #[cold]
    #[inline(never)]
    fn draw(&mut self, flow: usize) -> (Span, bool) {
        let lost = !self.loss.is_never() && {
            let stream =
                self.loss_of.of(flow, |minor| Stream::new(self.seed, Purpose::Loss, self.id.0, minor));
            self.loss.covers(stream.bits())
        };
        if self.jitter.is_zero() {
            return (Span::ZERO, lost);
        }
        let stream =
            self.jitter_of.of(flow, |minor| Stream::new(self.seed, Purpose::Jitter, self.id.0, minor));
        (Span::from_nanos(stream.below(self.jitter.nanos().saturating_add(1))), lost)
    }
}

/// Number of streams to fill a gap from which a flow's number counts as far beyond the others.
const GAP: usize = 1 << 10;

impl Streams {
    /// Returns the stream of a flow. Streams are created when they are first needed, because flows may be added
    /// during a run.
    fn of(&mut self, flow: usize, make: impl Fn(u32) -> Stream) -> &mut Stream {
        let new = |flow: usize| make(u32::try_from(flow).unwrap_or(u32::MAX));
        let Self { first, far } = self;
        if flow >= first.len() + GAP {
            return far.entry(flow).or_insert_with(|| new(flow));
        }
        while first.len() <= flow {
            let next = first.len();
            first.push(far.remove(&next).unwrap_or_else(|| new(next)));
        }
        &mut first[flow]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flow_streams_are_independent_of_order_and_use_memory_per_flow() {
        let new = |minor| Stream::new(7, Purpose::Loss, 0, minor);
        let mut streams = Streams::default();
        let mut draws = vec![Vec::new(); 4_000];
        for flow in [3, 3_000, 2_000, 20_000_000, 3, 3_000, 900, 1_900, 2_000, 2_900, 3_000, 20_000_000] {
            let bits = streams.of(flow, new).bits();
            draws[flow % 4_000].push((flow, bits));
        }
        for (flow, bits) in draws.iter().flatten() {
            let place = draws[flow % 4_000].iter().position(|draw| draw == &(*flow, *bits));
            let mut alone = new(u32::try_from(*flow).expect("small"));
            let expected = (0..=place.expect("drawn")).map(|_| alone.bits()).last();
            assert_eq!(Some(*bits), expected, "{flow}");
        }
        assert!(streams.first.len() + streams.far.len() < 4_000, "not one for each of 20 000 000");
    }
}
