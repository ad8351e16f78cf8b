//! What a scheme or law minds, as a constant.

use crate::units::Bytes;

/// What a part of the controller minds, for hosts that would rather not say the rest. Each answer is the same at all times
/// of a connection; a type that is one of several, chosen at run time, asks the one that it is.
///
/// [`Hears::ALL`] is always right. A part that declares less promises that it does the same without what it leaves out.
#[derive(Debug)]
pub struct Hears<T> {
    sends: fn(&T) -> bool,
    later_losses: fn(&T) -> bool,
    others: fn(&T) -> bool,
    widen: fn(&mut T, Bytes, Bytes) -> Option<Bytes>,
}

impl<T> Clone for Hears<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Hears<T> {}

impl<T> Hears<T> {
    /// Everything.
    pub const ALL: Self =
        Self { sends: |_| true, later_losses: |_| true, others: |_| true, widen: |_, _, _| None };

    /// [`crate::Event::Sent`] changes nothing.
    #[must_use]
    pub const fn without_sends(self) -> Self {
        self.sends_if(|_| false)
    }

    /// An [`crate::Event::Lost`] that opens no episode changes nothing: an overshoot makes thousands of them.
    #[must_use]
    pub const fn without_later_losses(self) -> Self {
        self.later_losses_if(|_| false)
    }

    /// `overhear` does nothing.
    #[must_use]
    pub const fn without_others(self) -> Self {
        self.others_if(|_| false)
    }

    /// [`crate::Event::Sent`] may change something where `minds` says so.
    #[must_use]
    pub const fn sends_if(self, minds: fn(&T) -> bool) -> Self {
        Self { sends: minds, ..self }
    }

    /// An [`crate::Event::Lost`] that opens no episode may change something where `minds` says so.
    #[must_use]
    pub const fn later_losses_if(self, minds: fn(&T) -> bool) -> Self {
        Self { later_losses: minds, ..self }
    }

    /// `overhear` may do something where `minds` says so.
    #[must_use]
    pub const fn others_if(self, minds: fn(&T) -> bool) -> Self {
        Self { others: minds, ..self }
    }

    /// `widen` does what [`crate::Event::Acked`] would, where the part minds nothing of the ACK but [`crate::Ack::growth`], nothing of
    /// the path but the segment size, and goes on with a plan that differs in the window only. `widen` is given the growth
    /// and the segment size, and answers with the window. Where the part minds more, `widen` does nothing and answers
    /// `None`; the part is then told in full.
    #[must_use]
    pub const fn widened_by(self, widen: fn(&mut T, Bytes, Bytes) -> Option<Bytes>) -> Self {
        Self { widen, ..self }
    }

    /// Whether [`crate::Event::Sent`] may change `part`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a constant in most callers")]
    pub fn sends(&self, part: &T) -> bool {
        (self.sends)(part)
    }

    /// Whether an [`crate::Event::Lost`] that opens no episode may change `part`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a constant in most callers")]
    pub fn later_losses(&self, part: &T) -> bool {
        (self.later_losses)(part)
    }

    /// Whether `part` does anything when it overhears.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a constant in most callers")]
    pub fn others(&self, part: &T) -> bool {
        (self.others)(part)
    }

    /// The window of `part` after an ACK that allows `growth`, with segments of `mss`; `None` if `part` wants the ACK in full.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one step of the shortest way of an ACK")]
    pub fn widen(&self, part: &mut T, growth: Bytes, mss: Bytes) -> Option<Bytes> {
        (self.widen)(part, growth, mss)
    }
}
