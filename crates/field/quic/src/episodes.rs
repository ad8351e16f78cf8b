//! Loss episodes by transmission time (RFC 9002 section 7.3.2).

use firstflight::Time;

/// The episodes of a path: when the last reduction was, and whether recovery from it lasts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Episodes {
    now: Reduction,
    /// The state to which an undo returns.
    before: Reduction,
    /// Whether there is a reduction that may be undone.
    undoable: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Reduction {
    at: Option<Time>,
    /// Start of the recovery period; none after persistent congestion.
    recovery: Option<Time>,
}

impl Episodes {
    /// Takes the report at `now` of congestion that a packet sent at `sent_at` met.
    pub(crate) fn on_congestion(&mut self, now: Time, sent_at: Time, persistent: bool) {
        self.undoable = true;
        if persistent || self.now.at.is_none_or(|at| sent_at >= at) {
            self.before = self.now;
            self.now = Reduction { at: Some(now), recovery: Some(now).filter(|_| !persistent) };
        }
    }

    /// Returns whether recovery lasts; `newest` is the transmission time of the newest acknowledged packet.
    pub(crate) fn recovering(&self, newest: Option<Time>) -> bool {
        self.now.recovery.is_some_and(|start| newest.is_none_or(|sent_at| sent_at < start))
    }

    /// Returns to the state before the last reduction. Returns false if there is none that may be undone.
    pub(crate) fn undo(&mut self) -> bool {
        if core::mem::take(&mut self.undoable) {
            self.now = self.before;
            return true;
        }
        false
    }
}
