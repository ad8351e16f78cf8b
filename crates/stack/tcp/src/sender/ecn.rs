//! The state of ECN: the marks that were answered, and the CWR that responds to the echo.

use super::prr::Prr;
use super::recovery::Answered;

/// The state of ECN for the connection (RFC 3168).
#[derive(Clone, Debug, Default)]
pub(super) struct Ecn {
    /// Whether both sides agreed to use ECN.
    agreed: bool,
    /// Whether the next new data carries CWR.
    cwr_due: bool,
    /// Whether a mark was answered with a reduction, and the window of data to which the reduction belongs is not yet acknowledged.
    pub(super) reducing: bool,
    /// Stream offset above which an acknowledgement must be for marks to be answered again (section 6.1.2).
    cwr_until: u64,
    /// The PRR state of a reduction for a mark, if it uses PRR.
    pub(super) reduction: Option<Box<Prr>>,
}

impl Ecn {
    pub(super) fn agree(&mut self, agreed: bool) {
        self.agreed = agreed;
    }

    /// Checks whether an ACK reports a mark: it has an ECN echo (`ece`), and ECN was agreed on.
    #[inline]
    pub(super) fn shows_mark(&self, ece: bool) -> bool {
        ece && self.agreed
    }

    /// Checks whether an ECN echo on an ACK up to `una` is for a mark that no reduction has answered yet.
    #[inline]
    pub(super) fn is_unanswered(&self, una: u64) -> bool {
        una > self.cwr_until
    }

    /// Checks whether a mark was answered with a reduction, and its window of data is not yet acknowledged.
    #[inline]
    pub(super) fn is_reducing(&self) -> bool {
        self.reducing
    }

    /// Returns the PRR state of a reduction for a mark, if it uses PRR.
    #[inline]
    pub(super) fn reduction(&self) -> Option<&Prr> {
        self.reduction.as_deref()
    }

    #[inline]
    pub(super) fn reduction_mut(&mut self) -> Option<&mut Prr> {
        self.reduction.as_deref_mut()
    }

    /// Checks whether no mark must be answered and no reduction for a mark is in progress.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.reduction.is_none() && !self.reducing && !self.cwr_due
    }

    /// Begins the reduction for a mark, with PRR if `reduction` is given, otherwise at once.
    pub(super) fn begin(&mut self, reduction: Option<Box<Prr>>) {
        (self.reducing, self.reduction) = (true, reduction);
    }

    /// Ends the reduction, because it is complete or another one replaces it.
    #[inline]
    pub(super) fn end(&mut self) {
        self.reducing = false;
    }

    /// Ends the reduction if the ACK up to `una` acknowledges its whole window of data.
    #[inline]
    pub(super) fn end_if_acknowledged(&mut self, una: u64) {
        if una > self.cwr_until {
            self.reducing = false;
        }
    }

    /// Checks whether a mark was answered with a reduction, and part of its window of data is not acknowledged by an ACK up to `una`.
    pub(super) fn answers_up_to(&self, una: u64) -> bool {
        self.reducing && una < self.cwr_until
    }

    /// Records that a reduction answers all marks on the outstanding data, which ends at `nxt`. The next new data carries CWR (RFC 3168
    /// section 6.1.2). Returns the previous record of answered marks.
    pub(super) fn answer(&mut self, nxt: u64) -> Answered {
        let before = Answered { until: self.cwr_until, due: self.cwr_due };
        if self.agreed {
            self.cwr_until = nxt;
            self.cwr_due = true;
        }
        before
    }

    /// Restores the record `before` of answered marks, because the reduction for a loss that replaced it was spurious. Later marks are
    /// answered again, and a CWR for this reduction need not be sent (Linux `tcp_ecn_withdraw_cwr`).
    pub(super) fn withdraw(&mut self, before: Answered) {
        self.cwr_until = before.until;
        self.cwr_due &= before.due;
    }

    /// Makes the next new data carry CWR.
    pub(super) fn call_for_cwr(&mut self) {
        self.cwr_due |= self.agreed;
    }

    /// Returns whether the new data sent now must carry CWR, and clears this request.
    #[inline]
    pub(super) fn take_cwr(&mut self) -> bool {
        core::mem::take(&mut self.cwr_due)
    }

    /// Checks whether the next new data carries CWR.
    #[cfg(test)]
    pub(super) fn is_cwr_due(&self) -> bool {
        self.cwr_due
    }
}
