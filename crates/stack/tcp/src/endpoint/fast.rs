//! The fast paths of an endpoint and their public interface, [`Fast`]. `predicted` processes expected segments, and `repair` the ACKs of a
//! repair. The full path in `exchange.rs` handles all segments. If a fast path can handle a segment, it leads to the same state as the full
//! path.

use core::mem::offset_of;

use firstflight::{Avoidance, Sent, Startup, Time};

use super::Endpoint;
use crate::segment::Segment;
use crate::sender::Sender;

mod predicted;
mod repair;

/// An interface for a host that calls endpoints millions of times, as a simulator does. Each kind of segment has a separate call, segments
/// are written directly to the place where the host stores them, and quick checks avoid long ones.
///
/// Other hosts do not need it. [`Endpoint::poll_transmit`], [`Endpoint::next_timer`] and [`Endpoint::poll_event`] return the same
/// segments at the same times, and leave the endpoint in the same state. Property tests next to the fast paths
/// (`endpoint/fast/predicted/tests.rs`, `sender/fast/expected/tests.rs`, `sender/fast/repair/tests.rs`) run both interfaces in parallel and
/// compare the sent segments and the resulting states.
///
/// [`Endpoint::fast`] returns it.
#[derive(Debug)]
pub struct Fast<'a, S, R, A>(&'a mut Endpoint<S, R, A>);

impl<S, R, A> Fast<'_, S, R, A> {
    /// Number of bytes at the beginning of an [`Endpoint`] that are used if it only receives. A host with many endpoints may prefetch them.
    pub const FIRST_OF_RECEIVING: usize =
        offset_of!(Endpoint<S, R, A>, sender) + Sender::<S, R, A>::FIRST_OF_EVERY_SEGMENT;
    /// Number of bytes at the beginning of an [`Endpoint`] that are used if it sends and has nothing to repair.
    pub const FIRST_OF_SENDING: usize =
        offset_of!(Endpoint<S, R, A>, sender) + Sender::<S, R, A>::FIRST_OF_SENDING;
}

/// The kind of the segment that may be sent next, from a quick check.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NextSegment {
    /// A full segment of new data. [`Fast::full_segment`] returns it.
    Full,
    /// An ACK without data. [`Fast::pure_ack`] returns it.
    Ack,
    /// No segment.
    Nothing,
    /// Another segment, or none. [`Fast::transmit_into`] decides.
    Other,
}

/// The next transmission during a repair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RepairSegment {
    /// A data packet, with its [`Segment::ip_length`].
    Leaves(Sent, u32),
    /// No segment, until something arrives or a timer is due.
    Nothing,
    /// Another segment, or none. [`Fast::transmit_into`] decides.
    Other,
}

/// Data about a segment that was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departure {
    /// For a data packet: its packet number, its tag, and whether it is a retransmission.
    pub sent: Option<Sent>,
    /// Whether it is certain that nothing else may be sent now, so that the endpoint need not be polled again. If `false`, this is not
    /// known.
    pub last: bool,
    /// The segment's [`Segment::ip_length`].
    pub ip_length: u32,
    /// Whether the segment carries Quick-Start options.
    pub asks: bool,
}

impl Departure {
    /// Returns the data about a segment of any kind. Other segments may follow it.
    pub(super) fn of(segment: &Segment, sent: Option<Sent>) -> Self {
        let asks = !segment.quick_start.is_empty();
        Self { sent, last: false, ip_length: segment.ip_length(), asks }
    }
}

impl<S: Startup, R: Startup, A: Avoidance> Endpoint<S, R, A> {
    /// Returns the interface for a host that needs speed more than a small interface.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is nothing but a name")]
    pub fn fast(&mut self) -> Fast<'_, S, R, A> {
        Fast(self)
    }
}

impl<S: Startup, R: Startup, A: Avoidance> Fast<'_, S, R, A> {
    /// Returns which of the usual segments may be sent.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place of a host")]
    pub fn ready(&mut self) -> NextSegment {
        self.0.ready()
    }

    /// Writes the segment that [`NextSegment::Full`] announces to `place`. Returns its [`Segment::ip_length`], and true if it is certain
    /// that nothing else may be sent now. [`Fast::last_full`] returns the packet's data.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is another function's name")]
    pub fn full_segment(&mut self, now: Time, place: &mut Segment) -> (u32, bool) {
        self.0.full_segment(now, place)
    }

    /// Returns the data about the packet that [`Fast::full_segment`] wrote last.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is another function's name")]
    pub fn last_full(&self) -> Sent {
        self.0.sender.last_full()
    }

    /// Writes the segment that [`NextSegment::Ack`] announces to `place`. Returns its [`Segment::ip_length`]. Nothing else may be sent now.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet, and from one place of a host")]
    pub fn pure_ack(&mut self, now: Time, place: &mut Segment) -> u32 {
        self.0.predicted_ack(now, place)
    }

    /// Checks whether losses are being repaired. If so, [`Fast::repair_segment`] should be called first.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is another function's name")]
    pub fn is_repairing(&self) -> bool {
        self.0.sender.recovering()
    }

    /// Writes the next segment that may be sent during a repair to `place`. Leaves `place` unchanged if there is none or it cannot be
    /// decided here.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet of a repair, and from one place of a host")]
    pub fn repair_segment(&mut self, now: Time, place: &mut Segment) -> RepairSegment {
        self.0.repair_segment(now, place)
    }

    /// Writes the next segment of any kind that may be sent to `place`. Returns `None` if there is none; `place` is then unspecified.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is another function's name")]
    pub fn transmit_into(&mut self, now: Time, place: &mut Segment) -> Option<Departure> {
        self.0.transmit_into(now, place)
    }

    /// Checks whether [`Endpoint::next_timer`] is not earlier than `at`; `None` means never. The check is quick. If it returns false, the
    /// timer may still be later, and the host must call [`Endpoint::next_timer`].
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is another function's name")]
    pub fn needs_no_waking_before(&self, at: Option<Time>) -> bool {
        self.0.needs_no_waking_before(at)
    }

    /// Checks whether [`Endpoint::poll_event`] or [`Endpoint::poll_trace`] would return anything.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "it is another function's name")]
    pub fn has_news(&self) -> bool {
        self.0.sender.journal.has_news()
    }
}
