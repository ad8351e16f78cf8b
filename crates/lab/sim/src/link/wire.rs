//! The wire of a link: propagation, random loss, jitter, delay over time.

use firstflight::{Span, Time};

use super::flow_streams::FlowStreams;
use crate::loss_bursts::BurstChain;
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

/// Jitter, random loss and delay over time. Every flow has its own streams of random numbers; bursty loss is of the link.
#[derive(Clone, Debug)]
struct Chances {
    id: LinkId,
    seed: u64,
    loss: Probability,
    bursts: Option<BurstChain>,
    jitter: Span,
    loss_of: FlowStreams,
    jitter_of: FlowStreams,
    /// The extra delay over time, and the index of the step in force.
    delays: Option<(DelayTrace, u64)>,
}

impl Wire {
    pub(super) fn new(id: LinkId, spec: &LinkSpec, seed: u64) -> Self {
        let LinkSpec { delay, loss, bursts, jitter, .. } = *spec;
        let bursts =
            bursts.filter(|bursts| !bursts.is_never()).map(|bursts| BurstChain::new(bursts, id, seed));
        let (loss_of, jitter_of) = (FlowStreams::default(), FlowStreams::default());
        let delays = spec.delays.clone().map(|trace| {
            let place = trace.place(Time::ZERO);
            (trace, place)
        });
        let is_sure = loss.is_never() && bursts.is_none() && jitter.is_zero() && delays.is_none();
        let chances = (!is_sure)
            .then(|| Box::new(Chances { id, seed, loss, bursts, jitter, loss_of, jitter_of, delays }));
        Self { delay, last_arrival: Time::ZERO, chances }
    }

    /// Returns whether packets can be lost.
    #[inline]
    pub(super) fn may_lose(&self) -> bool {
        self.chances.as_ref().is_some_and(|chances| !chances.loss.is_never() || chances.bursts.is_some())
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
        let lost = self.bursts.as_mut().is_some_and(BurstChain::loses) || lost;
        if self.jitter.is_zero() {
            return (Span::ZERO, lost);
        }
        let stream =
            self.jitter_of.of(flow, |minor| Stream::new(self.seed, Purpose::Jitter, self.id.0, minor));
        (Span::from_nanos(stream.below(self.jitter.nanos().saturating_add(1))), lost)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loss_bursts::LossBursts;

    #[test]
    fn bursty_loss_moves_neither_jitter_nor_random_loss() {
        let spec = LinkSpec {
            loss: Probability::ratio(1, 10),
            jitter: Span::from_micros(100),
            ..LinkSpec::new(None, Span::from_millis(1))
        };
        let bursts = LossBursts {
            to_bad: Probability::ratio(1, 5),
            to_good: Probability::ratio(1, 5),
            in_bad: Probability::ratio(1, 2),
            in_good: Probability::NEVER,
        };
        let carried = |bursts| {
            let mut wire = Wire::new(LinkId(0), &LinkSpec { bursts, ..spec.clone() }, 7);
            // The packets are further apart than the jitter, so that no packet delays another.
            let sent = (0..1_000u64).map(|packet| Time::from_nanos(packet * 1_000_000));
            sent.map(|at| wire.carry(|| 0, at)).collect::<Vec<_>>()
        };
        let (alone, with) = (carried(None), carried(Some(bursts)));
        let lost = |packets: &[(Time, bool)]| packets.iter().filter(|(_, lost)| *lost).count();
        assert!(lost(&with) > 2 * lost(&alone));
        for ((at, lost), (other_at, other_lost)) in alone.into_iter().zip(with) {
            assert!(at == other_at && (!lost || other_lost));
        }
    }
}
