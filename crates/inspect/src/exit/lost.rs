//! Whether a sender heeded what it lost.

use super::Start;
use crate::events::Resent;
use crate::rounds::Round;

/// Rounds after a loss in which a flight above that of the loss says that it was not heeded.
pub(super) const OUTGROWN_WITHIN: usize = 3;

/// Rounds after a loss in which one without repairs shows the window.
const CLEAN_WITHIN: usize = 4;

/// What was sent again, and which of it the sender heeded.
pub(super) struct Losses<'a> {
    start: &'a Start<'a>,
    /// The first that the sender did not heed.
    pub(super) ignored: Option<&'a Resent>,
}

impl<'a> Losses<'a> {
    pub(super) fn new(start: &'a Start<'a>) -> Self {
        let mut losses = Self { start, ignored: None };
        losses.ignored =
            start.resent.iter().filter(|one| losses.counts(one)).find(|one| losses.is_ignored(one));
        losses
    }

    /// The first that the sender heeded.
    pub(super) fn heeded(&self) -> Option<&'a Resent> {
        self.start.resent.iter().filter(|one| self.counts(one)).find(|one| {
            let is_outgrown = || is_outgrown(one, self.start.rounds, self.start.mss);
            !(self.is_ignored(one) || self.is_large(one) && (self.is_same(one) || is_outgrown()))
        })
    }

    /// Whether nothing shows that it was heeded.
    pub(super) fn is_undecided(&self, one: &Resent) -> bool {
        let Start { rounds, mss, has_sack, .. } = *self.start;
        !self.is_large(one) && (!has_sack || self.is_held(one) || is_outgrown(one, rounds, mss))
            || is_undecided(one, rounds, mss)
            || self.goes_on_through(one)
    }

    /// Whether as much left as was delivered in the round trip behind the loss, which a sender that lowers its window does not do but for
    /// repairs of many, and no round soon behind it repairs nothing, to show what the window is then.
    fn goes_on_through(&self, one: &Resent) -> bool {
        let is_as_much = one.sent_later >= one.delivered_later - one.delivered_later / 8;
        let mut behind = self.start.rounds.iter().filter(|round| round.began >= one.at).take(CLEAN_WITHIN);
        is_as_much && !behind.any(|round| round.resent == 0 && round.ended.is_some())
    }

    /// Whether the flight of a few segments is soon above that of the loss, and half of it could not be.
    pub(super) fn is_outgrown_by_few(&self, one: &Resent) -> bool {
        let Start { rounds, mss, has_sack, .. } = *self.start;
        has_sack && !self.is_large(one) && one.flight >= 8 * mss && is_outgrown(one, rounds, mss)
    }

    /// Whether it was sent again for a loss. A probe of the tail is no loss if what it brought to light is sent again behind it.
    fn counts(&self, one: &Resent) -> bool {
        let is_probe =
            one.is_tail && self.start.resent.iter().any(|other| other.at > one.at && other.start < one.start);
        !one.is_spurious && !is_probe
    }

    /// Of fewer than sixteen segments a sixteenth is none, and nothing tells.
    fn is_large(&self, one: &Resent) -> bool {
        self.start.has_sack && one.flight >= 16 * self.start.mss
    }

    fn is_held(&self, one: &Resent) -> bool {
        is_ignored(one) || is_regained(one, self.start.rounds, self.start.mss)
    }

    fn is_ignored(&self, one: &Resent) -> bool {
        self.is_large(one) && self.is_held(one)
    }

    /// A sender that did not heed one loss heeds no other of the same flight, until that falls.
    fn is_same(&self, one: &Resent) -> bool {
        self.ignored.is_some_and(|first| {
            !one.by_timer && one.at >= first.at && one.flight <= first.flight + first.flight / 8
        })
    }
}

/// Whether the flight of a round trip later is still within a sixteenth of what it was, and three quarters of it left in the
/// meantime: what is lost counts as in flight until it is repaired, and a sender that heeds a loss repairs at a lower rate.
fn is_ignored(lost: &Resent) -> bool {
    let is_held = lost.flight_later.is_some_and(|later| later >= lost.flight - lost.flight / 16);
    !lost.by_timer && is_held && lost.sent_later >= lost.flight - lost.flight / 4
}

/// Whether the data ended, or the application had none, before a round trip after the loss was over; or the flight stayed above three
/// quarters of what it was, which CUBIC's 0.7 does not and a flight that is full of repairs may.
fn is_undecided(lost: &Resent, rounds: &[Round], mss: u64) -> bool {
    let after = |round: &&Round| round.ended.is_none_or(|end| end > lost.at);
    let is_over = !rounds.iter().any(|round| round.began > lost.at && round.bytes > 0);
    let is_starved = rounds.iter().filter(after).take(2).any(|round| round.by_application);
    let later = rounds.partition_point(|round| round.began < lost.at);
    let mut behind = rounds.iter().skip(later + 1).take(OUTGROWN_WITHIN);
    // Of the first round's flight that is lost which the rounds behind it send again, until one repairs nothing.
    let repairs = rounds.iter().skip(later + 1).map(|round| round.resent * mss);
    let unrepaired: u64 = repairs.take_while(|bytes| *bytes > 0).sum();
    let enough = lost.flight - lost.flight / 4;
    // A sender that heeds the loss has a round for it: the round behind the loss counts only if it began so late.
    let of_loss = rounds.iter().find(|round| round.ended.is_some_and(|end| end > lost.at));
    let length = of_loss.and_then(|round| Some(round.ended? - round.began)).unwrap_or(u64::MAX);
    let is_late = |round: &&Round| round.began >= lost.at.saturating_add(length / 8 * 7);
    let first = rounds.get(later).filter(is_late);
    let is_held = first.is_some_and(|round| round.peak.saturating_sub(unrepaired) > enough)
        || behind.any(|round| round.peak > enough);
    lost.flight_later.is_none() || is_over || is_starved || is_held
}

/// Whether the first round that begins a round after the loss, an eighth less, is back within a sixteenth of its flight: half
/// a window takes many rounds to regain, and the 0.3 of it that CUBIC gives up take two only where the round trip is
/// half a second and the window 30 segments (RFC 9438 section 4.2).
fn is_regained(lost: &Resent, rounds: &[Round], mss: u64) -> bool {
    let within = |round: &&Round| round.ended.is_some_and(|end| end > lost.at);
    let Some((began, ended)) = rounds.iter().find(within).and_then(|round| Some((round.began, round.ended?)))
    else {
        return false;
    };
    let heeded_by = lost.at.saturating_add((ended - began) / 8 * 7);
    let next = rounds.iter().find(|round| round.began >= heeded_by);
    let is_back = |round: &Round| round.peak >= lost.flight - lost.flight / 16;
    // What is lost keeps the flight up until it is repaired. A repair that loses packets again makes a round long.
    let is_as_fast = |round: &Round| {
        let sent = u128::from(round.bytes + round.resent * mss);
        let length = round.ended.map_or(ended - began, |end| end - round.began);
        sent * u128::from(ended - began) >= u128::from(lost.flight - lost.flight / 4) * u128::from(length)
    };
    !lost.by_timer && next.is_some_and(|round| is_back(round) && is_as_fast(round))
}

/// Whether the flight passes that of the loss within a few rounds: a sender that heeds a loss is long below it then.
fn is_outgrown(lost: &Resent, rounds: &[Round], mss: u64) -> bool {
    let after = rounds.iter().filter(|round| round.began >= lost.at).take(OUTGROWN_WITHIN);
    !lost.by_timer
        && after.into_iter().any(|round| round.peak > lost.flight + (lost.flight / 32).max(2 * mss))
}
