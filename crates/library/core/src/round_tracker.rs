//! Judges ACKs: whether an ACK ends a round trip, and whether it shows that the window may grow.
//!
//! [`crate::Controller`] has a [`RoundTracker`], so schemes do not judge. A host that runs a scheme alone, where loss
//! recovery and avoidance belong to other code (a kernel), keeps a [`RoundTracker`] with the scheme, which fills in what
//! [`Ack`] leaves to the controller.

use crate::interface::{Ack, Path};
use crate::units::Bytes;

/// The margin by which a window may exceed the flight and still count as full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FullMargin {
    /// Up to twice the flight, while a start-up or restart is active.
    Startup,
    /// Up to the flight plus one segment, while an avoidance law is active.
    Avoidance,
}

/// Judges the ACKs of one connection. The state takes twelve bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RoundTracker {
    /// Low 32 bits of the offset ([`Path::nxt`]) that ends the round.
    round_end: u32,
    /// Maximum flight size of this round and of the previous one, in bytes, saturating.
    peak: u32,
    peak_before: u32,
}

impl RoundTracker {
    /// Returns a judge for a new connection.
    pub const fn new() -> Self {
        Self { round_end: 0, peak: 0, peak_before: 0 }
    }

    /// Begins the first round of a start-up or restart. From here on only the present flight counts as evidence that
    /// the window was full.
    pub fn begin(&mut self, path: &Path) {
        self.start_round(path.nxt, path.flight);
        self.peak_before = 0;
    }

    /// Discards the flight of the old path as evidence, because the connection continues over another path.
    pub fn forget_path(&mut self) {
        self.peak = 0;
    }

    /// Begins a new round, because the reduction that ended the last one was undone.
    pub fn begin_round(&mut self, path: &Path) {
        self.start_round(path.nxt, path.flight);
    }

    /// Counts a packet that was sent; `flight` bytes ([`Path::flight`]) are now in flight, including the packet.
    #[inline]
    pub fn sent(&mut self, flight: Bytes) {
        let flight = u32::try_from(flight.get()).unwrap_or(u32::MAX);
        self.peak = self.peak.max(flight);
    }

    /// Fills in what `ack` leaves to the controller: [`Ack::growth`], [`Ack::round_ended`] and [`Ack::round_sent`].
    #[inline]
    pub fn acked(&mut self, ack: &mut Ack<'_>, path: &Path, lead: FullMargin) {
        self.judge(ack, path, self.window_was_the_limit(lead, path.cwnd, path.mss));
    }

    /// Does the work of [`RoundTracker::acked`] for a host that itself judges whether the window was the limit:
    /// [`Ack::advanced`] then says by how much the window may grow.
    #[inline]
    pub fn acked_at_the_limit(&mut self, ack: &mut Ack<'_>, path: &Path) {
        self.judge(ack, path, true);
    }

    #[inline]
    fn judge(&mut self, ack: &mut Ack<'_>, path: &Path, limited: bool) {
        ack.growth = if path.recovering || !limited { Bytes::ZERO } else { ack.advanced };
        ack.round_ended = self.round_ended(path.una);
        ack.round_sent = Bytes::ZERO;
        if ack.round_ended {
            ack.round_sent = self.sent_in_round(path);
            self.start_round(path.nxt, path.flight);
        }
    }

    /// Returns whether an ACK up to `una` ends the round. A round trip ends with the first ACK for data sent after
    /// the round began (the HyStart paper and Linux; RFC 9406 section 4.2 calls the mark windowEnd). Offsets are
    /// compared modulo 2^32, as in TCP.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "compared modulo 2^32")]
    pub(crate) fn round_ended(&self, una: u64) -> bool {
        (una as u32).wrapping_sub(self.round_end).wrapping_sub(1) < u32::MAX / 2
    }

    #[expect(clippy::cast_possible_truncation, reason = "compared modulo 2^32")]
    fn sent_in_round(&self, path: &Path) -> Bytes {
        Bytes::new(u64::from((path.nxt as u32).wrapping_sub(self.round_end)))
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "compared modulo 2^32")]
    pub(crate) fn start_round(&mut self, nxt: u64, flight: Bytes) {
        self.round_end = nxt as u32;
        self.peak_before = self.peak;
        self.peak = u32::try_from(flight.get()).unwrap_or(u32::MAX);
    }

    /// Returns whether the flight of the last two rounds shows that the window `cwnd` limited sending. A window may
    /// grow to twice the flight in start-up, and to the flight plus one segment in avoidance
    /// (draft-ietf-ccwg-ratelimited-increase; RFC 7661 section 4.3 states the need).
    #[inline]
    pub fn window_was_the_limit(&self, lead: FullMargin, cwnd: Bytes, mss: Bytes) -> bool {
        let peak = Bytes::new(u64::from(self.peak.max(self.peak_before)));
        match lead {
            FullMargin::Avoidance => cwnd < peak + mss,
            FullMargin::Startup => cwnd < peak * 2,
        }
    }
}
