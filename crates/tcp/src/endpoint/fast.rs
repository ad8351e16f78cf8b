//! The fast ways of an endpoint, and their door: [`Fast`]. `predicted` takes in the segments that are expected, `repair` the ACKs
//! of a repair. The other ways are `exchange.rs`'s, which know everything; where both can be taken they lead to the same state.

use core::mem::offset_of;

use firstflight::{Avoidance, Sent, Startup, Time};

use super::Endpoint;
use crate::segment::Segment;
use crate::sender::Sender;

mod predicted;
mod repair;

/// An endpoint for a host that asks millions of times, as a simulator does: each kind of segment has a call of its own, the
/// segment is written to where the host keeps it, and short looks spare long ones.
///
/// No other host needs it. [`Endpoint::poll_transmit`], [`Endpoint::next_timer`] and [`Endpoint::poll_happening`] give the same
/// segments at the same times, and leave the endpoint in the same state: the property tests beside the fast ways
/// (`endpoint/fast/predicted/tests.rs`, `sender/fast/expected/tests.rs`, `sender/fast/repair/tests.rs`) run both side by side and
/// compare what leaves and what is left.
///
/// From [`Endpoint::fast`].
#[derive(Debug)]
pub struct Fast<'a, S, R, A>(&'a mut Endpoint<S, R, A>);

impl<S, R, A> Fast<'_, S, R, A> {
    /// How many of its first bytes an endpoint touches that only receives: what a host with many endpoints may fetch ahead.
    pub const FIRST_OF_RECEIVING: usize =
        offset_of!(Endpoint<S, R, A>, sender) + Sender::<S, R, A>::FIRST_OF_EVERY_SEGMENT;
    /// How many of its first bytes an endpoint touches that sends and has nothing to repair.
    pub const FIRST_OF_SENDING: usize =
        offset_of!(Endpoint<S, R, A>, sender) + Sender::<S, R, A>::FIRST_OF_SENDING;
}

/// Which segment may leave next, as far as a short look tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextSegment {
    /// A full segment of new data, by [`Fast::full_segment`].
    Full,
    /// An ACK without data, by [`Fast::pure_ack`].
    Ack,
    /// None.
    Nothing,
    /// Another segment, or none; [`Fast::transmit_into`] decides.
    Other,
}

/// What leaves in a repair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RepairSegment {
    /// This data packet; its [`Segment::ip_length`].
    Leaves(Sent, u32),
    /// Nothing, until something arrives or a timer is due.
    Nothing,
    /// Another segment, or none: [`Fast::transmit_into`] knows.
    Other,
}

/// A segment left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departure {
    /// For data packets: the packet's number, its tag, and whether its data was sent before.
    pub sent: Option<Sent>,
    /// Whether nothing else may leave now, so that the endpoint need not be asked. May be `false` though nothing else may.
    pub last: bool,
    /// Its [`Segment::ip_length`].
    pub ip_length: u32,
    /// Whether it carries Quick-Start options.
    pub asks: bool,
}

impl Departure {
    /// A segment of whatever kind, behind which there may be others.
    pub(super) fn of(segment: &Segment, sent: Option<Sent>) -> Self {
        let asks = !segment.quick_start.is_empty();
        Self { sent, last: false, ip_length: segment.ip_length(), asks }
    }
}

impl<S: Startup, R: Startup, A: Avoidance> Endpoint<S, R, A> {
    /// The endpoint for a host to which speed matters more than a small interface.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is nothing but a name")]
    pub fn fast(&mut self) -> Fast<'_, S, R, A> {
        Fast(self)
    }
}

impl<S: Startup, R: Startup, A: Avoidance> Fast<'_, S, R, A> {
    /// Which of the usual segments may leave.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place of a host")]
    pub fn ready(&mut self) -> NextSegment {
        self.0.ready()
    }

    /// Writes the segment that [`NextSegment::Full`] promises to `place`. Gives its [`Segment::ip_length`], and whether nothing
    /// else may leave now, which may be `false` though nothing else may. [`Fast::last_full`] says what it carries.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is another function's name")]
    pub fn full_segment(&mut self, now: Time, place: &mut Segment) -> (u32, bool) {
        self.0.full_segment(now, place)
    }

    /// What the segment carries that [`Fast::full_segment`] wrote last.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is another function's name")]
    pub fn last_full(&self) -> Sent {
        self.0.sender.last_full()
    }

    /// Writes the segment that [`NextSegment::Ack`] promises to `place`; nothing else may leave now. Gives its
    /// [`Segment::ip_length`].
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place of a host")]
    pub fn pure_ack(&mut self, now: Time, place: &mut Segment) -> u32 {
        self.0.predicted_ack(now, place)
    }

    /// Whether losses are being repaired, so that [`Fast::repair_segment`] is the call to begin with.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is another function's name")]
    pub fn is_repairing(&self) -> bool {
        self.0.sender.recovering()
    }

    /// Writes the next segment that may leave while losses are repaired to `place`, or leaves `place` as it is.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet of a repair, and from one place of a host")]
    pub fn repair_segment(&mut self, now: Time, place: &mut Segment) -> RepairSegment {
        self.0.repair_segment(now, place)
    }

    /// Writes the next segment that may leave, whatever it is, to `place`. If none may leave, `place` holds anything.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is another function's name")]
    pub fn transmit_into(&mut self, now: Time, place: &mut Segment) -> Option<Departure> {
        self.0.transmit_into(now, place)
    }

    /// Whether [`Endpoint::next_timer`] is no earlier than `at`, or there is neither, as far as a short look tells: it
    /// mostly spares a host the longer one.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is another function's name")]
    pub fn needs_no_waking_before(&self, at: Option<Time>) -> bool {
        self.0.needs_no_waking_before(at)
    }

    /// Whether [`Endpoint::poll_happening`] or [`Endpoint::poll_told`] would give anything.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is another function's name")]
    pub fn has_news(&self) -> bool {
        self.0.sender.journal.has_news()
    }
}
