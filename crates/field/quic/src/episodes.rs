//! Loss episodes by transmission time (RFC 9002 section 7.3.2).

use firstflight::Time;

/// The episodes of a path: when the last reduction was, and whether recovery from it lasts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Episodes {
    now: Reduction,
    /// The state to which an undo returns.
    before: Reduction,
    /// Whether a loss began the last episode, and neither a mark followed nor an undo.
    undoable: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Reduction {
    at: Option<Time>,
    /// The instant at which the recovery period began; `None` after persistent congestion.
    recovery: Option<Time>,
}

impl Episodes {
    /// Takes the report at `now` of a loss whose newest packet was sent at `sent_at`.
    pub(crate) fn on_loss(&mut self, now: Time, sent_at: Time, persistent: bool) {
        self.undoable |= self.on_congestion(now, sent_at, persistent);
    }

    /// Takes the report at `now` of a mark of a packet that was sent at `sent_at`. A mark is never spurious.
    pub(crate) fn on_mark(&mut self, now: Time, sent_at: Time) {
        self.undoable = false;
        self.on_congestion(now, sent_at, false);
    }

    /// Returns whether an episode begins.
    fn on_congestion(&mut self, now: Time, sent_at: Time, persistent: bool) -> bool {
        let begins = persistent || self.now.at.is_none_or(|at| sent_at >= at);
        if begins {
            self.before = self.now;
            self.now = Reduction { at: Some(now), recovery: Some(now).filter(|_| !persistent) };
        }
        begins
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    #[test]
    fn only_a_loss_that_began_the_last_episode_is_undone() {
        let mut episodes = Episodes::default();
        episodes.on_mark(at(10), at(5));
        episodes.on_loss(at(11), at(6), false);
        assert!(!episodes.undo(), "a mark began the episode");
        episodes.on_loss(at(20), at(15), false);
        episodes.on_mark(at(21), at(16));
        assert!(!episodes.undo(), "a mark confirms the congestion");
        episodes.on_loss(at(30), at(25), false);
        episodes.on_loss(at(31), at(26), false);
        assert!(episodes.undo());
        assert!(!episodes.undo());
    }
}
