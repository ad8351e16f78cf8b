//! Judges ACKs: whether a round trip ends with one, and whether it is evidence that the window may grow.
//!
//! [`crate::Controller`] has a [`Judge`], so no scheme judges by itself. A host that runs a scheme alone, and leaves
//! loss recovery and avoidance to somebody else (a kernel), keeps a [`Judge`] beside the scheme to fill in what
//! [`Ack`] leaves to the controller.

use crate::seam::{Ack, Path};
use crate::units::Bytes;

/// How much larger than the flight a window may be and still count as full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lead {
    /// Up to twice the flight: a start-up or restart governs.
    Startup,
    /// Up to a segment more than the flight: an avoidance law governs.
    Avoidance,
}

/// Judges the ACKs of one connection. Twelve bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Judge {
    /// Low 32 bits of the offset ([`Path::nxt`]) that ends the round.
    round_end: u32,
    /// The greatest flight size of this round and of the one before, in bytes, saturating.
    peak: u32,
    peak_before: u32,
}

impl Judge {
    /// A judge for a new connection.
    pub const fn new() -> Self {
        Self { round_end: 0, peak: 0, peak_before: 0 }
    }

    /// A start-up or restart begins, and with it a round. The present flight is the only evidence.
    pub fn begin(&mut self, path: &Path) {
        self.start_round(path.nxt, path.flight);
        self.peak_before = 0;
    }

    /// The connection goes on over another path: the flight on the old one is no evidence.
    pub fn forget_path(&mut self) {
        self.peak = 0;
    }

    /// Begins a new round, because the reduction that ended the last one was undone.
    pub fn begin_round(&mut self, path: &Path) {
        self.start_round(path.nxt, path.flight);
    }

    /// Counts a packet that left; `flight` bytes ([`Path::flight`]) are now in flight, the packet included.
    #[inline]
    pub fn sent(&mut self, flight: Bytes) {
        let flight = u32::try_from(flight.get()).unwrap_or(u32::MAX);
        self.peak = self.peak.max(flight);
    }

    /// Fills in what `ack` leaves to the controller: [`Ack::growth`], [`Ack::round_ended`] and [`Ack::round_sent`].
    #[inline]
    pub fn acked(&mut self, ack: &mut Ack<'_>, path: &Path, lead: Lead) {
        self.judge(ack, path, self.window_was_the_limit(lead, path.cwnd, path.mss));
    }

    /// [`Judge::acked`] for a host that judges by itself whether the window was the limit: [`Ack::advanced`] then
    /// says what may widen the window.
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

    /// Whether an ACK up to `una` ends the round. A round trip ends with the first ACK for data sent after the round
    /// began (the HyStart paper and Linux; RFC 9406 section 4.2 calls the mark windowEnd). Offsets are compared
    /// modulo 2^32, as in TCP.
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

    /// Whether the flight of the last two rounds shows that the window `cwnd` limited sending. A window may grow to
    /// twice the flight in start-up, and to a segment more than the flight in avoidance
    /// (draft-ietf-ccwg-ratelimited-increase; RFC 7661 section 4.3 states the need).
    #[inline]
    pub fn window_was_the_limit(&self, lead: Lead, cwnd: Bytes, mss: Bytes) -> bool {
        let peak = Bytes::new(u64::from(self.peak.max(self.peak_before)));
        match lead {
            Lead::Avoidance => cwnd < peak + mss,
            Lead::Startup => cwnd < peak * 2,
        }
    }
}
