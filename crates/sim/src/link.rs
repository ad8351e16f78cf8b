//! A link, of whichever kind its description asks for, behind one interface.
//!
//! A FIFO that drops only at its tail knows each packet's future on arrival and needs one event a packet
//! ([`DropTail`]). A queue that decides when a packet leaves it needs another for that ([`Managed`]). What holds
//! packets back and releases them together has neither queue nor rate ([`Batcher`]). What the latter two do is kept
//! out of line: the path of a packet over a drop-tail link has to stay in the instruction cache.

mod batcher;
mod drop_tail;
mod managed;
mod parts;

use firstflight::Time;

use crate::aqm::Aqm;
use crate::network::LinkSpec;
use crate::packet::{DropCause, LinkId, Packet, PacketId};
use crate::pool::{Parcel, Pool};
use crate::recorder::Recorder;
use crate::stats::{FlowStats, LinkStats};

use batcher::Batcher;
use drop_tail::DropTail;
use managed::Managed;
pub(crate) use parts::transmission;

/// A packet on a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage {
    /// The packet; of one on whose arrival nothing depends, the number of the flow.
    pub(crate) packet: PacketId,
    wire: u32,
    /// When its transmission starts: until then it waits in the queue.
    starts: Time,
    /// When it arrives at the far end.
    pub(crate) arrives: Time,
    /// Its place in the order of all events, four times, and its fate.
    place: u64,
}

/// What becomes of a packet at the far end, as the low bits of [`Passage::place`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    /// It arrives, and something depends on when.
    Arrives = 0,
    /// Nothing depends on the instant of its arrival: a datagram that reaches its sink.
    Quiet = 1,
    /// It is lost on the wire.
    Lost = 2,
}

impl Passage {
    pub(crate) const fn new(parcel: Parcel, starts: Time, arrives: Time, sequence: u64, fate: Fate) -> Self {
        let Parcel { id, wire, .. } = parcel;
        Self { packet: id, wire, starts, arrives, place: sequence << 2 | fate as u64 }
    }

    /// Its place in the order of all events.
    pub(crate) const fn sequence(&self) -> u64 {
        self.place >> 2
    }

    /// Whether it is lost on the wire.
    pub(crate) const fn is_lost(&self) -> bool {
        self.place & Fate::Lost as u64 != 0
    }

    /// Whether nothing depends on the instant of its arrival.
    pub(crate) const fn is_quiet(&self) -> bool {
        self.place & Fate::Quiet as u64 != 0
    }
}

impl Default for Passage {
    fn default() -> Self {
        Self { packet: PacketId::default(), wire: 0, starts: Time::ZERO, arrives: Time::ZERO, place: 0 }
    }
}

const _: () = assert!(size_of::<Passage>() == 32);

/// What came of a packet's entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Entry {
    /// It does not go through.
    Dropped(DropCause),
    /// It goes through, and the link's next event need not change.
    Behind,
    /// It goes through, nothing depends on when it arrives, and nobody needs to know more of it.
    Quietly,
    /// It goes through, and the link's next event is at this instant, in this place of the order.
    Next(Time, u64),
}

/// A link at work.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "links are few, and the common kind is better not behind a pointer"
)]
pub(crate) enum Link {
    DropTail(DropTail),
    Managed(Box<Managed>),
    Batcher(Box<Batcher>),
}

impl Link {
    pub(crate) fn new(id: LinkId, spec: &LinkSpec, seed: u64) -> Self {
        if let Some(batch) = spec.batch {
            return Self::Batcher(Box::new(Batcher::new(id, batch, spec.delay, seed)));
        }
        match Aqm::new(spec, id, seed) {
            Some(aqm) => Self::Managed(Box::new(Managed::new(id, spec, aqm, seed))),
            None => Self::DropTail(DropTail::new(id, spec, seed)),
        }
    }

    /// A packet comes to the near end. `quiet` says that nothing depends on when it arrives.
    #[inline]
    pub(crate) fn enter<W: Recorder>(
        &mut self,
        now: Time,
        parcel: Parcel,
        quiet: bool,
        sequence: u64,
        (pool, flows, recorder): (&mut Pool, &mut [FlowStats], &mut W),
    ) -> Entry {
        match self {
            Self::DropTail(link) => link.enter(now, parcel, quiet, sequence, (flows, recorder)),
            Self::Managed(link) => link.enter(now, parcel, sequence, (pool, recorder)),
            Self::Batcher(link) => link.enter(now, parcel, sequence),
        }
    }

    /// The next event: an arrival that something depends on, or a packet that leaves the queue.
    pub(crate) fn next_event(&self) -> Option<(Time, u64)> {
        match self {
            Self::DropTail(link) => link.next_arrival(),
            Self::Managed(link) => link.next_event(),
            Self::Batcher(link) => link.next_arrival(),
        }
    }

    /// The link's event: takes the first packet that has arrived by `now`, quiet or not, or lets one leave the
    /// queue.
    pub(crate) fn event<W: Recorder>(
        &mut self,
        now: Time,
        (pool, recorder): (&mut Pool, &mut W),
    ) -> Option<Passage> {
        match self {
            Self::DropTail(link) => link.arrival(now, recorder),
            Self::Managed(link) => link.event(now, (pool, recorder)),
            Self::Batcher(link) => link.arrival(now),
        }
    }

    /// Counts what has reached its sink by `now`, ahead of any packet on which something depends.
    #[inline]
    pub(crate) fn sink<W: Recorder>(&mut self, now: Time, flows: &mut [FlowStats], recorder: &mut W) {
        if let Self::DropTail(link) = self {
            link.sink(now, flows, recorder);
        }
    }

    /// Whether a packet whose arrival nothing depends on is sure to go through quietly, unless it is dropped.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        matches!(self, Self::DropTail(link) if link.is_quiet())
    }

    /// Whether its queue may drop and mark packets after they entered it.
    #[inline]
    pub(crate) fn is_managed(&self) -> bool {
        matches!(self, Self::Managed(_))
    }

    /// Takes one of the packets that the queue's discipline dropped since it was last asked.
    pub(crate) fn take_dropped(&mut self) -> Option<Packet> {
        match self {
            Self::DropTail(_) | Self::Batcher(_) => None,
            Self::Managed(link) => link.take_dropped(),
        }
    }

    /// Takes one of the packets that the queue's discipline marked since it was last asked.
    pub(crate) fn take_marked(&mut self) -> Option<Packet> {
        match self {
            Self::DropTail(_) | Self::Batcher(_) => None,
            Self::Managed(link) => link.take_marked(),
        }
    }

    /// When the last packet so far arrives.
    pub(crate) fn last_arrival(&self) -> Time {
        match self {
            Self::DropTail(link) => link.last_arrival(),
            Self::Managed(link) => link.last_arrival(),
            Self::Batcher(link) => link.last_arrival(),
        }
    }

    /// Lets the transmissions start that are due by `now`.
    pub(crate) fn catch_up<W: Recorder>(&mut self, now: Time, recorder: &mut W) {
        match self {
            Self::DropTail(link) => link.catch_up(now, recorder),
            // Their events do it all.
            Self::Managed(_) | Self::Batcher(_) => {}
        }
    }

    /// Counters up to `now`, which the link has caught up with.
    pub(crate) fn stats(&self, now: Time) -> LinkStats {
        match self {
            Self::DropTail(link) => link.stats(now),
            Self::Managed(link) => link.stats(now),
            Self::Batcher(link) => link.stats(),
        }
    }
}
