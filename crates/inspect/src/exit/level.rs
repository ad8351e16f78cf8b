//! Whether a flight grows, has stopped, or falls.

use super::{Cause, Exit, Start};
use crate::events::Resent;
use crate::rounds::Round;

/// Rounds after one that did not grow within which a fall counts to it.
const DRAIN_WITHIN: usize = 8;
/// One of so many lost is what BBR leaves start-up for (draft-ietf-ccwg-bbr section 5.3.1.3).
const TOO_MANY: u64 = 50;

/// Whether the peak grew by more in these rounds than avoidance does: a segment a round, and a twentieth a round in
/// Linux's CUBIC before its first loss. A limited slow start (RFC 3742) that is down to a sixteenth a round is past
/// telling from it. A flight of a few segments that grows by half does what slow start does under delayed
/// acknowledgements, and no avoidance: those begin at two segments at least (RFC 5681 section 3.1).
pub(super) fn grew(peak: u64, before: u64, rounds: u64, mss: u64) -> bool {
    peak > before + (before / 16 * rounds).max(rounds * mss + mss / 2) || peak >= before + before.div_ceil(2)
}

/// Whether any of these peaks grew by clearly more than avoidance does, above `greatest` and all before it.
pub(super) fn grows_again(peaks: impl Iterator<Item = u64>, mut greatest: u64, mss: u64) -> bool {
    for peak in peaks {
        if peak > greatest + (greatest / 8).max(2 * mss + mss / 2) {
            return true;
        }
        greatest = greatest.max(peak);
    }
    false
}

/// Whether the sender goes on after the round: at the end of the data every flight stops growing.
pub(super) fn goes_on(rounds: &[Round], at: usize) -> bool {
    let later: u64 = rounds[at + 1..].iter().map(|round| round.bytes).sum();
    rounds[at].ended.is_some()
        && rounds.get(at + 1).is_some_and(|next| next.ended.is_some())
        && later >= rounds[at].bytes / 2
}

/// Whether the round sent a whole window, no larger than the one before, and data was left after it: then the window held it
/// back from its beginning to its end.
pub(super) fn is_full(rounds: &[Round], at: usize, before: u64, mss: u64) -> bool {
    let round = &rounds[at];
    let is_level = round.peak <= before + (before / 32).max(mss);
    let has_more = rounds[at + 1..].iter().any(|later| later.bytes > 0);
    round.ended.is_some() && is_level && has_more && round.bytes >= before - before / 8 && before >= 16 * mss
}

/// A fall by a quarter soon after, at once from near the peak, before which nothing was lost or marked and the sender was not held back:
/// the start-up ended when the flight was last near its peak.
pub(super) fn drained(start: &Start<'_>, at: usize, greatest: u64, cut: Option<Exit>) -> Option<Exit> {
    let Start { rounds, marks, mss, .. } = *start;
    let falls = |round: &Round| round.peak < greatest - greatest / 4;
    let soon = rounds.iter().enumerate().skip(at).take(DRAIN_WITHIN);
    let (fall, round) = soon.into_iter().find(|(_, round)| falls(round) && round.ended.is_some())?;
    if rounds[at..=fall].iter().any(|round| round.by_application || round.by_receiver)
        || !goes_on(rounds, fall)
    {
        return None;
    }
    // Of the first packets there is no growth that could have stopped.
    let before = fall.checked_sub(1).filter(|before| *before > 0)?;
    let last = &rounds[before];
    // A law that gives up a segment a round falls slowly; a flight that is full of repairs goes up and down.
    let is_repairing = rounds[at..=before].iter().any(|round| round.resent > 0);
    if last.peak < greatest - greatest / 8 && !is_repairing {
        return None;
    }
    let is_marked = marks.iter().any(|mark| (last.began..round.began).contains(&mark.at));
    // Of few segments, one less is more than a sixteenth.
    let is_few = greatest < 16 * mss;
    let is_before = |cut: &Exit| round.ended.is_none_or(|end| cut.at < end);
    let falls_for = |cut: Exit| cut.at <= last.held_at || is_few && is_before(&cut);
    if is_marked || cut.is_some_and(falls_for) {
        return None;
    }
    Some(Exit { cause: Cause::Drain, at: last.held_at, flight: last.peak, round: before, unsure: None })
}

/// Where a sender that had not heeded losses falls after all, it left for them if they were many, and still being
/// repaired in the round before the fall.
pub(super) fn gave_in(drain: Exit, ignored: &Resent, rounds: &[Round]) -> Option<Exit> {
    let fall = rounds.get(drain.round + 1)?;
    let since = rounds.partition_point(|round| round.ended.is_some_and(|end| end <= ignored.at));
    let through = rounds.get(since..=drain.round)?;
    let sum = |of: fn(&Round) -> u64| through.iter().map(of).sum::<u64>();
    let are_many = sum(|round| round.resent) * TOO_MANY > sum(|round| round.segments);
    let is_by_loss = drain.cause == Cause::Drain && are_many && rounds[drain.round].resent > 0;
    is_by_loss.then_some(Exit { cause: Cause::Loss, at: fall.began, ..drain })
}
