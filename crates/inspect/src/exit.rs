//! Where and why a start-up ended, as far as packets tell.
//!
//! A packet does not carry the congestion window; the flight is visible. In slow start the flight grows from round to
//! round. The first of these ends the start-up:
//! - `loss`: the sender repeats data that the receiver did not have, and the flight falls. `timeout`: the repetition came
//!   after a silence. A sender that heeds a loss has a flight well below the old one a round trip later. The loss did not
//!   end the start-up of a sender whose flight stays within a sixteenth of the old one (as BBR's does), is back there in
//!   the next round, or is above it within three rounds; later losses at the same flight do not end it either.
//! - `mark`: congestion marks are echoed and the flight falls, by the rule for losses.
//! - The flight stops growing and the sender goes on sending. The peaks of two rounds (or one round before a loss) exceed
//!   all peaks before by at most a sixteenth or a segment and a half (an eighth or two and a half after two rounds), and
//!   by less than half. The cause is then `receiver-window` if the receiver's window was the limit; `application` if the
//!   sender had nothing to send for three such rounds and the flight never grew again; `drain` if within eight rounds the
//!   flight falls by a quarter without a loss or a mark, as BBR's does; and otherwise `flat`: a threshold, a delay, an ACK
//!   train.

use serde::{Deserialize, Serialize};

use crate::events::{Mark, Resent};
use crate::rounds::Round;

/// Why.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Cause {
    /// Something was lost and sent again.
    Loss,
    /// Something was sent again after a silence.
    Timeout,
    /// The receiver echoed congestion marks.
    Mark,
    /// The flight stopped growing, with no loss, mark or limit to be seen.
    Flat,
    /// The flight stopped growing and then fell, with no loss.
    Drain,
    /// The receiver's window was full.
    ReceiverWindow,
    /// The application had too little to send.
    Application,
}

impl Cause {
    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Timeout => "timeout",
            Self::Mark => "mark",
            Self::Flat => "flat",
            Self::Drain => "drain",
            Self::ReceiverWindow => "receiver-window",
            Self::Application => "application",
        }
    }
}

/// The end of a start-up.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Exit {
    pub(crate) cause: Cause,
    pub(crate) at: u64,
    /// In flight then.
    pub(crate) flight: u64,
    /// The round's place in its busy period, from zero.
    pub(crate) round: usize,
    /// Whether the sender is one that paces, which need not leave for a loss and whose flight need not grow, and packets do not
    /// tell whether it left.
    pub(crate) is_unsure: bool,
}

/// Rounds after one that did not grow within which a fall counts to it.
const DRAIN_WITHIN: usize = 8;
/// Rounds after a loss in which a flight above that of the loss says that it was not heeded.
const OUTGROWN_WITHIN: usize = 3;
/// One of so many lost is what BBR leaves start-up for (draft-ietf-ccwg-bbr section 5.3.1.3).
const TOO_MANY: u64 = 50;
/// Rounds in a row in which the application was the limit.
const STARVED: usize = 3;

/// What is known of a start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<'a> {
    pub(crate) rounds: &'a [Round],
    /// When the flight rose above all before, and to what.
    pub(crate) climbs: &'a [(u64, u64)],
    pub(crate) resent: &'a [Resent],
    pub(crate) marks: &'a [Mark],
    /// What is in flight after a loss is only known where selective acknowledgements come.
    pub(crate) has_sack: bool,
    pub(crate) mss: u64,
}

/// The end of the start-up; `None` if the data ended first. All of `start` is of one busy period.
pub(crate) fn find(start: &Start<'_>) -> Option<Exit> {
    let Start { rounds, resent, has_sack, mss, .. } = *start;
    let counts = |one: &&Resent| !one.is_spurious;
    // Of fewer than sixteen segments a sixteenth is none, and nothing tells.
    let is_large = |one: &Resent| has_sack && one.flight >= 16 * mss;
    let is_ignored_by = |one: &Resent| is_ignored(one) || is_regained(one, rounds, mss);
    let is_ignored = |one: &&Resent| is_large(one) && is_ignored_by(one);
    let ignored = resent.iter().filter(counts).find(is_ignored);
    // A sender that did not heed one loss heeds no other of the same flight, until that falls.
    let is_same = |one: &Resent| {
        ignored.is_some_and(|first| {
            !one.by_timer && one.at >= first.at && one.flight <= first.flight + first.flight / 8
        })
    };
    let is_loss = |one: &&Resent| {
        !(is_ignored(one) || is_large(one) && (is_same(one) || is_outgrown(one, rounds, mss)))
    };
    let is_undecided = |one: &Resent| {
        !is_large(one) && (!has_sack || is_ignored_by(one) || is_outgrown(one, rounds, mss))
            || is_undecided(one, rounds, mss)
    };
    let loss = resent.iter().filter(counts).find(is_loss).map(|one| Exit {
        cause: if one.by_timer { Cause::Timeout } else { Cause::Loss },
        at: one.at,
        flight: one.flight,
        round: 0,
        is_unsure: !one.by_timer && is_undecided(one) && start.is_paced(one.at),
    });
    // What the sender cut its window for, first.
    let cut = loss.into_iter().chain(start.heeded_mark()).min_by_key(|cut| cut.at);
    let by_cut = |round: usize| cut.map(|cut| Exit { round, ..cut });
    let is_cut_in = |round: &Round| cut.is_some_and(|cut| round.ended.is_none_or(|end| cut.at < end));
    let mut greatest = 0;
    let mut starved = 0;
    for (at, round) in rounds.iter().enumerate() {
        if is_cut_in(round) {
            return by_cut(at);
        }
        let before = greatest;
        greatest = greatest.max(round.peak);
        if at == 0 {
            continue;
        }
        // The data ran out in a round, too, if the next one began with nothing left to send.
        let next = rounds.get(at + 1);
        let is_starved = round.by_application || next.is_some_and(|next| next.begins_starved);
        if is_starved && !grew(round.peak, before, 1, mss) {
            starved += 1;
            // Requests and replies before the bulk: the window was not used, and grows when it is.
            let until_cut = rounds[at + 1..].iter().take_while(|round| !is_cut_in(round));
            if starved == STARVED && !until_cut.into_iter().any(|round| grew(round.peak, greatest, 1, mss)) {
                return Some(start.stopped(Cause::Application, before));
            }
            continue;
        }
        starved = 0;
        let grows = grew(round.peak, before, 1, mss)
            || next.is_some_and(|next| !is_cut_in(next) && grew(next.peak, before, 2, mss));
        // Vegas widens its window in every other round: one level round is not the end if the next one grows.
        let pauses = next.is_some_and(|next| !is_cut_in(next) && grew(next.peak, before, 1, mss));
        if grows || !(goes_on(rounds, at) || is_full(rounds, at, before, mss) && !pauses) {
            continue;
        }
        if round.by_receiver || next.is_some_and(|next| next.by_receiver) {
            return Some(start.stopped(Cause::ReceiverWindow, before));
        }
        let stop = drained(rounds, at, greatest, cut).unwrap_or_else(|| start.stopped(Cause::Flat, before));
        let stop = ignored.and_then(|one| gave_in(stop, one, rounds)).unwrap_or(stop);
        // A first burst that a paced start is long below is not its end.
        let until_cut = rounds[at + 1..].iter().take_while(|round| !is_cut_in(round));
        if stop.round == 0 && grows_again(until_cut.map(|round| round.peak), greatest, mss) {
            continue;
        }
        // So do the trains of a paced start, of which none may be larger than the one before.
        let is_unsure = stop.round == 0 && start.is_paced(round.ended.unwrap_or(u64::MAX));
        return Some(Exit { is_unsure, ..stop });
    }
    // After the last round that was kept.
    let of_cut =
        cut.map_or(0, |cut| rounds.partition_point(|round| round.ended.is_some_and(|end| end <= cut.at)));
    by_cut(of_cut.min(rounds.len().saturating_sub(1)))
}

impl Start<'_> {
    /// Whether departures of the rounds that ended by `until` are paced as a rule, rather than caused by acknowledgements.
    fn is_paced(&self, until: u64) -> bool {
        let is_before = |round: &&Round| round.ended.is_some_and(|end| end <= until);
        let sum = |of: fn(&Round) -> u64| self.rounds.iter().filter(is_before).map(of).sum::<u64>();
        10 * sum(|round| round.triggered) < 9 * sum(|round| round.bursts)
    }

    /// The first congestion mark that the sender heeded. One whose flight a mark did not lower, as BBR's, heeds no other of
    /// the same flight.
    fn heeded_mark(&self) -> Option<Exit> {
        let is_passed = |mark: &Mark| {
            let mut after = self.rounds.iter().filter(|round| round.began >= mark.at).take(OUTGROWN_WITHIN);
            !is_heeded(mark)
                || after.any(|round| round.peak > mark.flight + (mark.flight / 32).max(2 * self.mss))
        };
        let passed = self.marks.iter().find(|mark| is_passed(mark));
        let is_same = |mark: &Mark| {
            passed.is_some_and(|one| mark.at >= one.at && mark.flight <= one.flight + one.flight / 8)
        };
        let mark = self.marks.iter().find(|mark| !is_passed(mark) && !is_same(mark))?;
        Some(Exit { cause: Cause::Mark, at: mark.at, flight: mark.flight, round: 0, is_unsure: false })
    }

    /// The flight rose to `flight` and no further: the start-up ended when it first was within a sixteenth of that, or within
    /// two segments and a half (a quarter at most), since avoidance may have brought the rest.
    fn stopped(&self, cause: Cause, flight: u64) -> Exit {
        let by_avoidance = (flight / 16).max((2 * self.mss + self.mss / 2).min(flight / 4));
        let enough = flight - by_avoidance;
        let at = self.climbs.iter().find(|(_, climbed)| *climbed >= enough).map_or(0, |(at, _)| *at);
        let round = self.rounds.partition_point(|round| round.ended.is_some_and(|end| end <= at));
        Exit { cause, at, flight, round: round.min(self.rounds.len().saturating_sub(1)), is_unsure: false }
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

/// Whether any of these peaks grew by more than avoidance does, above `greatest` and all before it.
fn grows_again(peaks: impl Iterator<Item = u64>, mut greatest: u64, mss: u64) -> bool {
    for peak in peaks {
        if grew(peak, greatest, 1, mss) {
            return true;
        }
        greatest = greatest.max(peak);
    }
    false
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

/// Whether the peak grew by more in these rounds than avoidance does: a segment a round, and a twentieth a round in
/// Linux's CUBIC before its first loss. A limited slow start (RFC 3742) that is down to a sixteenth a round is past
/// telling from it. A flight of a few segments that grows by half does what slow start does under delayed
/// acknowledgements, and no avoidance: those begin at two segments at least (RFC 5681 section 3.1).
fn grew(peak: u64, before: u64, rounds: u64, mss: u64) -> bool {
    peak > before + (before / 16 * rounds).max(rounds * mss + mss / 2) || peak >= before + before.div_ceil(2)
}

/// Whether the sender goes on after the round: at the end of the data every flight stops growing.
fn goes_on(rounds: &[Round], at: usize) -> bool {
    let later: u64 = rounds[at + 1..].iter().map(|round| round.bytes).sum();
    rounds[at].ended.is_some() && later >= rounds[at].bytes / 2
}

/// Whether the flight of half a round trip after the mark, or when the sender answered if the data ended before, is below what
/// it was by more than a sixteenth.
fn is_heeded(mark: &Mark) -> bool {
    let later = mark.flight_later.or(mark.flight_at_answer);
    later.is_some_and(|later| later < mark.flight - mark.flight / 16)
}

/// Whether the round sent a whole window, no larger than the one before, and data was left after it: then the window held it
/// back from its beginning to its end.
fn is_full(rounds: &[Round], at: usize, before: u64, mss: u64) -> bool {
    let round = &rounds[at];
    let is_level = round.peak <= before + (before / 32).max(mss);
    let has_more = rounds[at + 1..].iter().any(|later| later.bytes > 0);
    round.ended.is_some() && is_level && has_more && round.bytes >= before - before / 8 && before >= 16 * mss
}

/// A fall by a quarter soon after, which began before anything was lost or marked: the start-up ended when the flight was last
/// near its peak.
fn drained(rounds: &[Round], at: usize, greatest: u64, cut: Option<Exit>) -> Option<Exit> {
    let falls = |round: &Round| round.peak < greatest - greatest / 4;
    let soon = rounds.iter().enumerate().skip(at).take(DRAIN_WITHIN);
    let (fall, round) = soon.into_iter().find(|(_, round)| falls(round) && round.ended.is_some())?;
    if round.by_application || round.by_receiver {
        return None;
    }
    if !goes_on(rounds, fall) {
        return None;
    }
    // Of the first packets there is no growth that could have stopped.
    let before = fall.checked_sub(1).filter(|before| *before > 0)?;
    let held_at = rounds[before].held_at;
    let falls_for =
        |cut: Exit| cut.at <= held_at || cut.cause == Cause::Mark && cut.flight >= greatest - greatest / 16;
    if cut.is_some_and(falls_for) {
        return None;
    }
    Some(Exit {
        cause: Cause::Drain,
        at: held_at,
        flight: rounds[before].peak,
        round: before,
        is_unsure: false,
    })
}

/// Where a sender that had not heeded losses falls after all, it left for them if they were many, and still being
/// repaired in the round before the fall.
fn gave_in(drain: Exit, ignored: &Resent, rounds: &[Round]) -> Option<Exit> {
    let fall = rounds.get(drain.round + 1)?;
    let since = rounds.partition_point(|round| round.ended.is_some_and(|end| end <= ignored.at));
    let through = rounds.get(since..=drain.round)?;
    let sum = |of: fn(&Round) -> u64| through.iter().map(of).sum::<u64>();
    let are_many = sum(|round| round.resent) * TOO_MANY > sum(|round| round.segments);
    let is_by_loss = drain.cause == Cause::Drain && are_many && rounds[drain.round].resent > 0;
    is_by_loss.then_some(Exit { cause: Cause::Loss, at: fall.began, ..drain })
}

#[cfg(test)]
mod tests;
