//! The dependencies of a scheme or law, as a constant.

use crate::units::Bytes;

/// The events on which a part of the controller (a scheme, policy or law) depends, for hosts that leave other events
/// out. Each answer is constant over a connection. A type that holds one of several parts, chosen at run time,
/// returns the answer of the part that it holds.
///
/// [`Interest::ALL`] is always right. A part that declares fewer events promises the same behaviour without the events
/// that it leaves out.
#[derive(Debug)]
pub struct Interest<T> {
    sends: fn(&T) -> bool,
    later_losses: fn(&T) -> bool,
    others: fn(&T) -> bool,
    widen: fn(&mut T, Bytes, Bytes) -> Option<Bytes>,
}

impl<T> Clone for Interest<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Interest<T> {}

impl<T> Interest<T> {
    /// Every event may change the part.
    pub const ALL: Self =
        Self { sends: |_| true, later_losses: |_| true, others: |_| true, widen: |_, _, _| None };

    /// Declares that [`crate::Event::Sent`] changes nothing in the part.
    #[must_use]
    pub const fn without_sends(self) -> Self {
        self.sends_if(|_| false)
    }

    /// Declares that an [`crate::Event::Lost`] that opens no episode changes nothing. An overshoot causes thousands
    /// of these losses.
    #[must_use]
    pub const fn without_later_losses(self) -> Self {
        self.later_losses_if(|_| false)
    }

    /// Declares that `observe` does nothing.
    #[must_use]
    pub const fn without_others(self) -> Self {
        self.others_if(|_| false)
    }

    /// Declares that [`crate::Event::Sent`] may change a part for which `depends` returns true.
    #[must_use]
    pub const fn sends_if(self, depends: fn(&T) -> bool) -> Self {
        Self { sends: depends, ..self }
    }

    /// Declares that an [`crate::Event::Lost`] that opens no episode may change a part for which `depends` returns
    /// true.
    #[must_use]
    pub const fn later_losses_if(self, depends: fn(&T) -> bool) -> Self {
        Self { later_losses: depends, ..self }
    }

    /// Declares that `observe` may change a part for which `depends` returns true.
    #[must_use]
    pub const fn others_if(self, depends: fn(&T) -> bool) -> Self {
        Self { others: depends, ..self }
    }

    /// Declares a short way for an ACK. `widen` takes [`crate::Ack::growth`] and the segment size, and returns the new
    /// window. It may do this only if the part depends on nothing else of the ACK or the path, and if the ACK changes
    /// nothing in the part's plan but the window. Otherwise `widen` changes nothing and returns `None`, and the part
    /// then gets the whole [`crate::Event::Acked`].
    #[must_use]
    pub const fn widened_by(self, widen: fn(&mut T, Bytes, Bytes) -> Option<Bytes>) -> Self {
        Self { widen, ..self }
    }

    /// Returns whether [`crate::Event::Sent`] may change `part`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a constant in most callers")]
    pub fn sends(&self, part: &T) -> bool {
        (self.sends)(part)
    }

    /// Returns whether an [`crate::Event::Lost`] that opens no episode may change `part`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a constant in most callers")]
    pub fn later_losses(&self, part: &T) -> bool {
        (self.later_losses)(part)
    }

    /// Returns whether `observe` may change `part`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a constant in most callers")]
    pub fn others(&self, part: &T) -> bool {
        (self.others)(part)
    }

    /// Returns the window of `part` after an ACK that allows `growth`, with segments of `mss`; `None` if `part` needs
    /// the whole ACK.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one step of the shortest way of an ACK")]
    pub fn widen(&self, part: &mut T, growth: Bytes, mss: Bytes) -> Option<Bytes> {
        (self.widen)(part, growth, mss)
    }
}
