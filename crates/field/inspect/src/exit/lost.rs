//! Finds the losses that a sender heeded.

use super::start::Start;
use crate::events::Resent;
use crate::rounds::Round;

/// Number of rounds after a loss in which the flight is compared with that before the loss. A larger flight in one of them shows that the
/// sender ignored the loss.
pub(super) const OUTGROWN_WITHIN: usize = 3;

/// Number of rounds, after the first RTT of a recovery, in which a paced sender's flight is compared with that before the loss. If it
/// regains this flight, the sender ignored the loss.
const REGAINED_WITHIN: usize = 3;

/// Number of rounds after a loss among which a round without retransmissions is searched. Its flight shows the reduced window.
const CLEAN_WITHIN: usize = 4;

/// The retransmissions of a start-up, and which of these losses the sender heeded.
pub(super) struct Losses<'a> {
    start: &'a Start<'a>,
    /// The first loss that the sender ignored.
    pub(super) ignored: Option<&'a Resent>,
}

impl<'a> Losses<'a> {
    pub(super) fn new(start: &'a Start<'a>) -> Self {
        let mut losses = Self { start, ignored: None };
        losses.ignored =
            start.resent.iter().filter(|one| losses.counts(one)).find(|one| losses.is_ignored(one));
        losses
    }

    /// Returns the first loss that the sender ignored, if the sender is paced.
    pub(super) fn passed(&self) -> Option<&'a Resent> {
        self.ignored.filter(|one| self.start.is_paced(one.at))
    }

    /// Returns the first loss that the sender heeded.
    pub(super) fn heeded(&self) -> Option<&'a Resent> {
        self.start.resent.iter().filter(|one| self.counts(one)).find(|one| {
            let is_outgrown = || is_outgrown(one, self.start.rounds, self.start.mss);
            !(self.is_ignored(one) || self.is_large(one) && (self.is_same(one) || is_outgrown()))
        })
    }

    /// Checks whether packets leave open that the sender heeded the loss.
    pub(super) fn is_undecided(&self, one: &Resent) -> bool {
        let Start { rounds, mss, has_sack, .. } = *self.start;
        !self.is_large(one) && (!has_sack || self.is_held(one) || is_outgrown(one, rounds, mss))
            || is_undecided(one, rounds, mss)
            || self.goes_on_through(one)
    }

    /// Checks whether the traffic after the loss does not show the sender's reaction. This is the case if the sender sent as much as was
    /// delivered in the RTT after the loss, and no later round without retransmissions shows a new window soon. A sender that reduces its
    /// window sends as much only to repair many losses.
    fn goes_on_through(&self, one: &Resent) -> bool {
        let is_as_much = one.sent_later >= one.delivered_later - one.delivered_later / 8;
        let mut behind = self.start.rounds.iter().filter(|round| round.began >= one.at).take(CLEAN_WITHIN);
        is_as_much && !behind.any(|round| round.resent == 0 && round.ended.is_some())
    }

    /// Checks whether a flight of a few segments soon exceeds the flight at the loss. If the sender had halved its window, this would not
    /// be possible.
    pub(super) fn is_outgrown_by_few(&self, one: &Resent) -> bool {
        let Start { rounds, mss, has_sack, .. } = *self.start;
        has_sack && !self.is_large(one) && one.flight >= 8 * mss && is_outgrown(one, rounds, mss)
    }

    /// Checks whether the retransmission repaired a loss. A tail loss probe does not count if it revealed an earlier hole, which was
    /// repaired after it.
    fn counts(&self, one: &Resent) -> bool {
        let is_probe =
            one.is_tail && self.start.resent.iter().any(|other| other.at > one.at && other.start < one.start);
        !one.is_spurious && !is_probe
    }

    /// Checks whether the flight is large enough to judge. With fewer than sixteen segments, a sixteenth is less than one segment.
    fn is_large(&self, one: &Resent) -> bool {
        self.start.has_sack && one.flight >= 16 * self.start.mss
    }

    fn is_held(&self, one: &Resent) -> bool {
        // A paced sender may send only as much as is delivered for one RTT of its recovery, and then continue as before.
        let is_paced = self.start.is_paced(one.at);
        is_ignored(one) || is_regained(one, self.start.rounds, self.start.mss, is_paced)
    }

    fn is_ignored(&self, one: &Resent) -> bool {
        self.is_large(one) && self.is_held(one)
    }

    /// Checks whether the loss occurred at the same flight as an ignored loss. A sender that ignored a loss ignores all others at this
    /// flight, until the flight falls.
    fn is_same(&self, one: &Resent) -> bool {
        self.ignored.is_some_and(|first| {
            !one.by_timer && one.at >= first.at && one.flight <= first.flight_before + first.flight_before / 8
        })
    }
}

/// Checks whether the sender ignored the loss. An RTT after the loss, its flight is still within a sixteenth of the flight before, and
/// three quarters of this flight were sent since. The second condition is needed because lost data counts as in flight until it is
/// repaired; a sender that heeds the loss repairs it at a lower rate.
fn is_ignored(lost: &Resent) -> bool {
    let is_held =
        lost.flight_later.is_some_and(|later| later >= lost.flight_before - lost.flight_before / 16);
    !lost.by_timer && is_held && lost.sent_later >= lost.flight_before - lost.flight_before / 4
}

/// Checks whether the sender's reaction to the loss is not visible. This is so if the data ended or the application had none within an RTT
/// after the loss, or if the flight stayed above three quarters of its value before. CUBIC's factor of 0.7 leads to a lower flight, unless
/// the flight is full of retransmissions.
fn is_undecided(lost: &Resent, rounds: &[Round], mss: u64) -> bool {
    let after = |round: &&Round| round.ended.is_none_or(|end| end > lost.at);
    let is_over = !rounds.iter().any(|round| round.began > lost.at && round.bytes > 0);
    let is_starved = rounds.iter().filter(after).take(2).any(|round| round.by_application);
    let later = rounds.partition_point(|round| round.began < lost.at);
    let mut behind = rounds.iter().skip(later + 1).take(OUTGROWN_WITHIN);
    // Subtracts the lost part of the first round's flight. The next rounds repair it, up to the first round without retransmissions.
    let repairs = rounds.iter().skip(later + 1).map(|round| round.resent * mss);
    let unrepaired: u64 = repairs.take_while(|bytes| *bytes > 0).sum();
    let enough = lost.flight_before - lost.flight_before / 4;
    // A sender has one round to heed the loss. The round after the loss is used only if it began late enough.
    let of_loss = rounds.iter().find(|round| round.ended.is_some_and(|end| end > lost.at));
    let length = of_loss.and_then(|round| Some(round.ended? - round.began)).unwrap_or(u64::MAX);
    let is_late = |round: &&Round| round.began >= lost.at.saturating_add(length / 8 * 7);
    let first = rounds.get(later).filter(is_late);
    let is_held = first.is_some_and(|round| round.peak.saturating_sub(unrepaired) > enough)
        || behind.any(|round| round.peak > enough);
    lost.flight_later.is_none() || is_over || is_starved || is_held
}

/// Checks whether the sender soon regains its flight: the flight comes back within a sixteenth of its value before the loss. It must do so
/// in the first round that begins seven eighths of a round after the loss; for a paced sender, in one of the first rounds that begin three
/// quarters of a round after it. A sender that heeded the loss needs many rounds to regain half a window. With CUBIC, which gives up 0.3,
/// two rounds suffice only if the RTT is half a second and the window 30 segments (RFC 9438 section 4.2).
fn is_regained(lost: &Resent, rounds: &[Round], mss: u64, is_paced: bool) -> bool {
    let of_loss = |round: &&Round| round.ended.is_some_and(|end| end > lost.at);
    let Some((began, ended)) =
        rounds.iter().find(of_loss).and_then(|round| Some((round.began, round.ended?)))
    else {
        return false;
    };
    let (eighths, within) = if is_paced { (6, REGAINED_WITHIN) } else { (7, 1) };
    let heeded_by = lost.at.saturating_add((ended - began) / 8 * eighths);
    let mut next = rounds.iter().filter(|round| round.began >= heeded_by).take(within);
    let is_back = |round: &Round| round.peak >= lost.flight_before - lost.flight_before / 16;
    // Lost data keeps the flight up until it is repaired, so the sending rate is checked as well. If packets are lost again during a
    // recovery, a round becomes long.
    let is_as_fast = |round: &Round| {
        let sent = u128::from(round.bytes + round.resent * mss);
        let length = round.ended.map_or(ended - began, |end| end - round.began);
        let enough = u128::from(lost.flight_before - lost.flight_before / 4);
        sent * u128::from(ended - began) >= enough * u128::from(length)
    };
    !lost.by_timer && next.any(|round| is_back(round) && is_as_fast(round))
}

/// Checks whether the flight exceeds the flight at the loss within a few rounds. A sender that heeds a loss is far below it at that time.
fn is_outgrown(lost: &Resent, rounds: &[Round], mss: u64) -> bool {
    let after = rounds.iter().filter(|round| round.began >= lost.at).take(OUTGROWN_WITHIN);
    !lost.by_timer
        && after
            .into_iter()
            .any(|round| round.peak > lost.flight_before + (lost.flight_before / 32).max(2 * mss))
}
