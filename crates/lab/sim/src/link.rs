//! A link of any kind, behind one interface.
//!
//! There are four kinds. In a FIFO that drops only at its tail, each packet's future is known on arrival, so one
//! event per packet is enough ([`DropTail`]). A queue under a discipline selects packets when they leave, and needs
//! one additional event ([`Managed`]). A batching link holds packets back and releases them together ([`Batcher`]), and a
//! mixing link puts packets out of order ([`Mixer`]); they have neither queue nor rate. The code of the latter three is kept out of line, because the path of a packet over a
//! drop-tail link has to stay in the instruction cache.

mod arrival_queue;
mod batcher;
mod drop_tail;
mod flow_streams;
mod managed;
mod mixer;
mod queue_meter;
mod wire;

use firstflight::Time;

use crate::aqm::{Aqm, Waiting};
use crate::descriptor::{Descriptor, Transit};
use crate::packet::{DropCause, LinkId};
use crate::recorder::Recorder;
use crate::spec::LinkSpec;
use crate::stats::LinkStats;

pub(crate) use arrival_queue::Expectation;
use batcher::Batcher;
pub(crate) use drop_tail::{DropTail, DroppedDatagram};
use managed::{LATE, Managed};
use mixer::Mixer;

/// A link at work.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "links are few, and the common kind is better not behind a pointer"
)]
pub(crate) enum Link {
    DropTail(DropTail),
    Other(Other),
}

/// A link of one of the kinds that are rare and slow.
#[derive(Clone, Debug)]
pub(crate) enum Other {
    Managed(Box<Managed>),
    Batcher(Box<Batcher>),
    Mixer(Box<Mixer>),
}

impl Link {
    /// Returns a link at rest. `sole_upstream` says that all packets come from one other link, and that this link is
    /// the last on their routes.
    pub(crate) fn new(id: LinkId, spec: &LinkSpec, seed: u64, sole_upstream: bool) -> Self {
        if let Some(batch) = spec.batch {
            return Self::Other(Other::Batcher(Box::new(Batcher::new(id, batch, spec.delay, seed))));
        }
        if let Some(disorder) = spec.disorder {
            return Self::Other(Other::Mixer(Box::new(Mixer::new(disorder, spec.delay, seed))));
        }
        match Aqm::new(spec.discipline, spec.queue, (id, seed)) {
            Some(aqm) => Self::Other(Other::Managed(Box::new(Managed::new(id, spec, aqm, seed)))),
            None => Self::DropTail(DropTail::new(id, spec, seed, sole_upstream)),
        }
    }

    /// Returns when the last of the packets that have entered so far arrives.
    pub(crate) fn last_arrival(&self) -> Time {
        match self {
            Self::DropTail(link) => link.last_arrival(),
            Self::Other(link) => link.last_arrival(),
        }
    }

    /// Returns the number of packets that the link accepted by `now`. The link has caught up with `now`.
    pub(crate) fn accepted(&self, now: Time) -> u64 {
        match self {
            Self::DropTail(link) => link.accepted_by(now),
            Self::Other(link) => link.stats(Time::ZERO).packets,
        }
    }

    /// Returns the counters up to `now`. The link has caught up with `now`.
    pub(crate) fn stats(&self, now: Time) -> LinkStats {
        match self {
            Self::DropTail(link) => link.stats(now),
            Self::Other(link) => link.stats(now),
        }
    }
}

impl Other {
    /// Enters a packet at the near end. The link may drop it.
    pub(crate) fn enter<W: Recorder>(&mut self, waiting: Waiting, recorder: &mut W) -> Result<(), DropCause> {
        match self {
            Self::Managed(link) => link.enter(waiting, recorder)?,
            Self::Batcher(link) => link.enter(waiting.since, waiting.descriptor),
            Self::Mixer(link) => link.enter(waiting.since, waiting.flow.stream as usize, waiting.descriptor),
        }
        Ok(())
    }

    /// Returns the next event: an arrival, or a packet that leaves the queue.
    pub(crate) fn next_event(&self) -> Option<(Time, u64)> {
        match self {
            Self::Managed(link) => link.next_event(),
            Self::Batcher(link) => link.next_arrival(),
            Self::Mixer(link) => link.next_arrival(),
        }
    }

    /// Returns the time of the next event, if it comes before a packet that enters at `now`. Two events come last at
    /// their instant: the transmitter's start of its next packet, and the release of a batch that the packet may join.
    pub(crate) fn due(&self, now: Time) -> Option<Time> {
        let (at, place) = self.next_event()?;
        (at < now || at == now && !self.is_late(place)).then_some(at)
    }

    /// Returns the first instant at which an event is due.
    pub(crate) fn due_at(&self) -> Option<Time> {
        let (at, place) = self.next_event()?;
        Some(if self.is_late(place) { at.after_nanos(1) } else { at })
    }

    /// Returns whether the next event comes after a packet that enters at its instant.
    fn is_late(&self, place: u64) -> bool {
        match self {
            Self::Managed(_) => place >= LATE,
            Self::Batcher(link) => link.releases_open_batch_next(),
            Self::Mixer(_) => false,
        }
    }

    /// Handles the link's event: takes the first packet that has arrived by `now`, or lets one leave the queue.
    pub(crate) fn event<W: Recorder>(&mut self, now: Time, recorder: &mut W) -> Option<Transit> {
        match self {
            Self::Managed(link) => link.event(now, recorder),
            Self::Batcher(link) => link.arrival(now),
            Self::Mixer(link) => link.arrival(now),
        }
    }

    /// Removes and returns one of the packets that the discipline has dropped since the last call.
    pub(crate) fn take_dropped(&mut self) -> Option<Descriptor> {
        match self {
            Self::Managed(link) => link.take_dropped(),
            Self::Batcher(_) | Self::Mixer(_) => None,
        }
    }

    /// Removes and returns one of the packets that the discipline has marked since the last call.
    pub(crate) fn take_marked(&mut self) -> Option<Descriptor> {
        match self {
            Self::Managed(link) => link.take_marked(),
            Self::Batcher(_) | Self::Mixer(_) => None,
        }
    }

    /// Removes and returns the packet that arrived last, if a second copy of it arrives at the same instant.
    pub(crate) fn take_twice(&mut self) -> Option<Descriptor> {
        match self {
            Self::Mixer(link) => link.take_twice(),
            Self::Managed(_) | Self::Batcher(_) => None,
        }
    }

    /// Adds the second copy of the packet that arrived at `now`.
    pub(crate) fn enter_copy(&mut self, now: Time, descriptor: Descriptor) {
        if let Self::Mixer(link) = self {
            link.enter_copy(now, descriptor);
        }
    }

    fn last_arrival(&self) -> Time {
        match self {
            Self::Managed(link) => link.last_arrival(),
            Self::Batcher(link) => link.last_arrival(),
            Self::Mixer(link) => link.last_arrival(),
        }
    }

    fn stats(&self, now: Time) -> LinkStats {
        match self {
            Self::Managed(link) => link.stats(now),
            Self::Batcher(link) => link.stats(),
            Self::Mixer(link) => link.stats(),
        }
    }
}
