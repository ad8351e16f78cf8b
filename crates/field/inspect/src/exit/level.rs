//! Detects flights that grow, have stopped growing, or fall.

use super::cause::{Cause, Exit};
use super::start::Start;
use crate::events::Resent;
use crate::rounds::Round;

/// Number of rounds after a level round within which a fall of the flight is attributed to the same exit.
const DRAIN_WITHIN: usize = 8;
/// Reciprocal of the loss rate at which BBR ends start-up (draft-ietf-ccwg-bbr section 5.3.1.3).
const TOO_MANY: u64 = 50;

/// Checks whether the peak grew in these rounds by more than an avoidance phase adds. Avoidance adds a segment a round or, in Linux's CUBIC
/// before its first loss, a twentieth a round. A limited slow start (RFC 3742) that has slowed to a sixteenth a round cannot be
/// distinguished from avoidance. If a flight of a few segments grows by half, it is slow start under delayed acknowledgements: avoidance
/// begins at two segments or more (RFC 5681 section 3.1).
pub(super) fn grew(peak: u64, before: u64, rounds: u64, mss: u64) -> bool {
    peak > before + (before / 16 * rounds).max(rounds * mss + mss / 2) || peak >= before + before.div_ceil(2)
}

/// Checks whether any of these peaks exceeds `greatest` and all earlier peaks by clearly more than an avoidance phase adds.
pub(super) fn grows_again(peaks: impl Iterator<Item = u64>, mut greatest: u64, mss: u64) -> bool {
    for peak in peaks {
        if peak > greatest + (greatest / 8).max(2 * mss + mss / 2) {
            return true;
        }
        greatest = greatest.max(peak);
    }
    false
}

/// Checks whether the sender continues after the round. If the data ends, the flight stops growing for this reason alone.
pub(super) fn goes_on(rounds: &[Round], at: usize) -> bool {
    let later: u64 = rounds[at + 1..].iter().map(|round| round.bytes).sum();
    rounds[at].ended.is_some()
        && rounds.get(at + 1).is_some_and(|next| next.ended.is_some())
        && later >= rounds[at].bytes / 2
}

/// Checks whether the round sent a whole window that was not larger than the previous one, and data was left after it. In this case the
/// window limited the sender in the whole round.
pub(super) fn is_full(rounds: &[Round], at: usize, before: u64, mss: u64) -> bool {
    let round = &rounds[at];
    let is_level = round.peak <= before + (before / 32).max(mss);
    let has_more = rounds[at + 1..].iter().any(|later| later.bytes > 0);
    round.ended.is_some() && is_level && has_more && round.bytes >= before - before / 8 && before >= 16 * mss
}

/// Returns the exit with cause [`Cause::Drain`] if the flight soon falls by a quarter: directly from near its peak, without a loss or mark
/// before, and without another limit of the sender. Start-up ended when the flight was last near its peak.
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
    // A flight that falls after the first round never grew.
    let before = fall.checked_sub(1).filter(|before| *before > 0)?;
    let last = &rounds[before];
    // If an avoidance law reduces its window by a segment a round, the flight falls slowly. If the flight contains many retransmissions, it
    // varies.
    let is_repairing = rounds[at..=before].iter().any(|round| round.resent > 0);
    if last.peak < greatest - greatest / 8 && !is_repairing {
        return None;
    }
    let is_marked = marks.iter().any(|mark| (last.began..round.began).contains(&mark.at));
    // If the flight has few segments, a single segment is more than a sixteenth of it.
    let is_few = greatest < 16 * mss;
    let is_before = |cut: &Exit| round.ended.is_none_or(|end| cut.at < end);
    // The flight is last seen near its peak a little before the sender stops sending.
    let held = last.held_at.saturating_add(last.ended.map_or(0, |end| (end - last.began) / 16));
    let falls_for = |cut: Exit| cut.known <= held || is_few && is_before(&cut);
    if is_marked || cut.is_some_and(falls_for) {
        return None;
    }
    Some(Exit { round: before, ..Exit::new(Cause::Drain, last.held_at, last.peak) })
}

/// Changes the cause from a drain to a loss if the sender first ignored losses and then its flight fell. The losses must be many and still
/// be repaired in the round before the fall.
pub(super) fn gave_in(drain: Exit, ignored: &Resent, rounds: &[Round]) -> Option<Exit> {
    let fall = rounds.get(drain.round + 1)?;
    let since = rounds.partition_point(|round| round.ended.is_some_and(|end| end <= ignored.at));
    let through = rounds.get(since..=drain.round)?;
    let sum = |of: fn(&Round) -> u64| through.iter().map(of).sum::<u64>();
    let are_many = sum(|round| round.resent) * TOO_MANY > sum(|round| round.segments);
    let is_by_loss = drain.cause == Cause::Drain && are_many && rounds[drain.round].resent > 0;
    is_by_loss.then_some(Exit { cause: Cause::Loss, at: fall.began, known: fall.began, ..drain })
}
