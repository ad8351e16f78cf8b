//! The wire of a link: propagation, random loss, jitter.

use firstflight::{Span, Time};

use crate::packet::LinkId;
use crate::quantity::Probability;
use crate::random::{Purpose, Stream};
use crate::spec::LinkSpec;

/// A wire: its delay, random loss and jitter.
#[derive(Clone, Debug)]
pub(super) struct Wire {
    delay: Span,
    last_arrival: Time,
    chances: Option<Box<Chances>>,
}

/// Jitter and random loss. Every flow has its own streams of random numbers.
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

    /// Whether the wire has neither loss nor jitter.
    #[inline]
    pub(super) fn is_sure(&self) -> bool {
        self.chances.is_none()
    }

    /// When a packet arrives whose transmission ends at `sent`. The wire has neither loss nor jitter.
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

    /// The earliest instant at which a packet can arrive whose transmission ends at `sent`.
    #[inline]
    pub(super) fn soonest(&self, sent: Time) -> Time {
        self.last_arrival.max(sent + self.delay)
    }

    /// When a packet arrives whose transmission ends at `sent`, and whether it is lost. `flow` gives the flow's number.
    #[inline]
    pub(super) fn carry(&mut self, flow: impl FnOnce() -> usize, sent: Time) -> (Time, bool) {
        let (jitter, lost) = match &mut self.chances {
            Some(chances) => chances.draw(flow()),
            None => (Span::ZERO, false),
        };
        self.last_arrival = self.last_arrival.max(sent + self.delay + jitter);
        (self.last_arrival, lost)
    }

    /// When the last packet arrives of those sent so far.
    pub(super) fn last_arrival(&self) -> Time {
        self.last_arrival
    }
}

impl Chances {
    /// Draws the jitter of a packet, and whether it is lost.
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

/// The stream of a flow. Streams are made when they are first needed, because flows may be added during a run.
fn stream_of(streams: &mut Vec<Stream>, flow: usize, seed: u64, purpose: Purpose, id: LinkId) -> &mut Stream {
    while streams.len() <= flow {
        let minor = u32::try_from(streams.len()).unwrap_or(u32::MAX);
        streams.push(Stream::new(seed, purpose, id.0, minor));
    }
    &mut streams[flow]
}
