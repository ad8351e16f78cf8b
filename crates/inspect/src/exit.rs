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

mod level;
mod lost;

use level::{drained, gave_in, goes_on, grew, grows_again, is_full};
use lost::{Losses, OUTGROWN_WITHIN};
use serde::{Deserialize, Serialize};

use crate::events::{Climb, Mark, Resent};
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
    /// Why packets do not tell whether the sender left there, or what for; `None` if they do.
    pub(crate) unsure: Option<Unsure>,
}

/// Why packets do not tell of an end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Unsure {
    /// A sender that paces need not leave for a loss, and nothing shows that it did.
    Heeded,
    /// A sender that paces, whose flight was never above its first packets: a train need not be larger than the one before.
    NeverGrew,
    /// Behind an idle time the flight grew to no more than twice what it was before, or not at all: the end may have been before.
    BeforePause,
    /// The last segment alone was sent again after a silence: a probe of the tail, or a timeout.
    Tail,
}

/// Rounds in a row in which the application was the limit.
const STARVED: usize = 3;

/// What is known of a start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<'a> {
    pub(crate) rounds: &'a [Round],
    /// When the flight rose above all before, and to what.
    pub(crate) climbs: &'a [Climb],
    pub(crate) resent: &'a [Resent],
    pub(crate) marks: &'a [Mark],
    /// What is in flight after a loss is only known where selective acknowledgements come.
    pub(crate) has_sack: bool,
    /// If an idle time is before it: the most that was in flight before.
    pub(crate) peak_before: Option<u64>,
    pub(crate) mss: u64,
}

/// The end of the start-up; `None` if the data ended first. All of `start` is of one busy period.
///
/// A start-up that left in the last round trips before an idle time did not show it. Behind the idle time it may slow-start again, up to
/// what it left with, which is no more than twice the flight before: an end there is told only above that.
pub(crate) fn find(start: &Start<'_>) -> Option<Exit> {
    let exit = find_in(start)?;
    let is_by_itself = matches!(exit.cause, Cause::ReceiverWindow | Cause::Application);
    let may_be_over = start.peak_before.is_some_and(|peak| exit.flight <= 2 * peak) && !is_by_itself;
    Some(if may_be_over { Exit { unsure: exit.unsure.or(Some(Unsure::BeforePause)), ..exit } } else { exit })
}

fn find_in(start: &Start<'_>) -> Option<Exit> {
    let Start { rounds, mss, .. } = *start;
    let losses = Losses::new(start);
    // What the sender cut its window for, first.
    let loss = losses.heeded().map(|one| start.loss(one, &losses));
    let cut = loss.into_iter().chain(start.heeded_mark()).min_by_key(|cut| cut.at);
    let cut = cut.map(|cut| start.marked_before(cut).unwrap_or(cut));
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
        // A round in which the data ended says nothing of growth, but for what left at a level flight.
        let is_told = goes_on(rounds, at) || is_full(rounds, at, before, mss) && !pauses;
        if (grows || !is_told) && (pauses || !start.is_level(at, greatest)) {
            continue;
        }
        if round.by_receiver || next.is_some_and(|next| next.by_receiver && !is_cut_in(next)) {
            return Some(start.stopped(Cause::ReceiverWindow, before));
        }
        let flight = if grows || !is_told { greatest } else { before };
        let stop = drained(start, at, greatest, cut).unwrap_or_else(|| start.stopped(Cause::Flat, flight));
        let stop = losses.ignored.and_then(|one| gave_in(stop, one, rounds)).unwrap_or(stop);
        // A first burst that a paced start is long below is not its end.
        let until_cut = rounds[at + 1..].iter().take_while(|round| !is_cut_in(round));
        if stop.round == 0 && grows_again(until_cut.map(|round| round.peak), greatest, mss) {
            if start.peak_before.is_some() {
                return Some(Exit { unsure: Some(Unsure::BeforePause), ..stop });
            }
            continue;
        }
        return Some(Exit { unsure: start.unsure_of(&stop, round), ..stop });
    }
    // After the last round that was kept.
    let of_cut =
        cut.map_or(0, |cut| rounds.partition_point(|round| round.ended.is_some_and(|end| end <= cut.at)));
    by_cut(of_cut.min(rounds.len().saturating_sub(1)))
}

impl Start<'_> {
    /// The end by this loss.
    fn loss(&self, one: &Resent, losses: &Losses<'_>) -> Exit {
        let unsure = if one.by_timer {
            None
        } else if one.is_tail {
            Some(Unsure::Tail)
        } else {
            let is_undecided =
                losses.is_undecided(one) && self.is_paced(one.at) || losses.is_outgrown_by_few(one);
            is_undecided.then_some(Unsure::Heeded)
        };
        let cause = if one.by_timer { Cause::Timeout } else { Cause::Loss };
        Exit { cause, at: one.at, flight: one.flight, round: 0, unsure }
    }

    /// Why it is unsure that the flight stopped there, as it did by the end of `round`.
    fn unsure_of(&self, stop: &Exit, round: &Round) -> Option<Unsure> {
        if stop.round > 0 {
            None
        } else if self.peak_before.is_some() {
            Some(Unsure::BeforePause)
        } else {
            // The trains of a paced start may be one as large as the other.
            self.is_paced(round.ended.unwrap_or(u64::MAX)).then_some(Unsure::NeverGrew)
        }
    }

    /// Whether departures of the rounds that ended by `until` are paced as a rule, rather than caused by acknowledgements, or the first
    /// packets did not leave back to back.
    fn is_paced(&self, until: u64) -> bool {
        let is_before = |round: &&Round| round.ended.is_some_and(|end| end <= until);
        let sum = |of: fn(&Round) -> u64| self.rounds.iter().filter(is_before).map(of).sum::<u64>();
        let is_first_paced = self.rounds.first().is_some_and(|first| {
            !first.by_application && first.departures > 1 && 2 * first.back_to_back <= first.departures
        });
        is_first_paced || 10 * sum(|round| round.triggered) < 9 * sum(|round| round.bursts)
    }

    /// The first congestion mark that the sender heeded. One whose flight a mark did not lower, as BBR's, heeds no other of
    /// the same flight.
    fn heeded_mark(&self) -> Option<Exit> {
        let passed = self.marks.iter().find(|mark| self.is_passed(mark));
        let is_same = |mark: &Mark| {
            passed.is_some_and(|one| mark.at >= one.at && mark.flight <= one.flight + one.flight / 8)
        };
        let mark = self.marks.iter().find(|mark| !self.is_passed(mark) && !is_same(mark))?;
        Some(Exit { cause: Cause::Mark, at: mark.at, flight: mark.flight, round: 0, unsure: None })
    }

    /// Whether the sender did not heed the mark.
    fn is_passed(&self, mark: &Mark) -> bool {
        let mut after = self.rounds.iter().filter(|round| round.began >= mark.at).take(OUTGROWN_WITHIN);
        // What is heeded behind the round's last acknowledgements shows in the round behind the next.
        let length = self.length_at(mark.at);
        let behind = self.rounds.iter().find(|round| round.began >= mark.at.saturating_add(length / 8 * 7));
        let is_lower =
            behind.is_some_and(|round| round.ended.is_some() && round.peak < mark.flight - mark.flight / 8);
        !(is_heeded(mark) || is_lower)
            || after.any(|round| round.peak > mark.flight + (mark.flight / 32).max(2 * self.mss))
    }

    /// Where a mark was echoed within a round trip before a loss that the sender heeded, it had heeded the mark, and what was lost by
    /// then keeps its flight up. A sender that passed a mark before heeds none.
    fn marked_before(&self, cut: Exit) -> Option<Exit> {
        if cut.cause != Cause::Loss {
            return None;
        }
        let since = cut.at.saturating_sub(self.length_at(cut.at));
        let first = self.marks.iter().find(|mark| self.is_passed(mark) || mark.at >= since)?;
        let is_it = (since..cut.at).contains(&first.at);
        is_it.then_some(Exit { cause: Cause::Mark, at: first.at, flight: first.flight, ..cut })
    }

    /// How long the round took that was then.
    fn length_at(&self, at: u64) -> u64 {
        let of = self.rounds.iter().find(|round| round.ended.is_none_or(|end| end > at));
        of.map_or(0, |round| round.ended.unwrap_or(at).saturating_sub(round.began))
    }

    /// Whether by the end of the round so much left at a level flight that no slow start is at work: one that grows by a segment an
    /// acknowledgement sends for each segment that the flight grows by those acknowledged and one more.
    fn is_level(&self, at: usize, flight: u64) -> bool {
        let stop = self.stopped(Cause::Flat, flight);
        let since = &self.rounds[stop.round.min(at)..=at];
        let sum = |of: fn(&Round) -> u64| since.iter().map(of).sum::<u64>();
        if since.iter().any(|round| round.by_application || round.resent > 0) {
            return false;
        }
        let low = flight - self.by_avoidance(flight);
        let sent_by = self.climbs.iter().find(|climb| climb.flight >= low).map_or(0, |climb| climb.sent);
        // Nothing had to be acknowledged for the first packets.
        let first = self.rounds.first().map_or(0, |round| round.bytes);
        let sent_by = if stop.round == 0 { first.max(sent_by) } else { sent_by };
        let sent = self.rounds[..=at].iter().map(|round| round.bytes).sum::<u64>().saturating_sub(sent_by);
        let an_ack = sum(|round| round.acked).div_ceil((sum(|round| round.acks) * self.mss).max(1)).max(1);
        let enough = (2 * (an_ack + 1) * self.by_avoidance(flight)).max(flight / 4 * 3);
        // A sender that paces, or whose flight was level before and grew again, as Vegas's in every other round, has two rounds for it.
        let mut peak = 0;
        let mut is_longer = self.is_paced(self.rounds[at].ended.unwrap_or(u64::MAX));
        for (place, round) in self.rounds[..stop.round.min(at)].iter().enumerate() {
            is_longer |= place > 0 && !grew(round.peak, peak, 1, self.mss);
            peak = peak.max(round.peak);
        }
        flight >= 8 * self.mss && sent >= if is_longer { enough.max(2 * flight) } else { enough }
    }

    /// What avoidance may have brought of a flight: a sixteenth, or two segments and a half (a quarter at most).
    fn by_avoidance(&self, flight: u64) -> u64 {
        (flight / 16).max((2 * self.mss + self.mss / 2).min(flight / 4))
    }

    /// The flight rose to `flight` and no further: the start-up ended when it first was as high as that, less what avoidance may have
    /// brought.
    fn stopped(&self, cause: Cause, flight: u64) -> Exit {
        let enough = flight - self.by_avoidance(flight);
        let at = self.climbs.iter().find(|climb| climb.flight >= enough).map_or(0, |climb| climb.at);
        let round = self.rounds.partition_point(|round| round.ended.is_some_and(|end| end <= at));
        Exit { cause, at, flight, round: round.min(self.rounds.len().saturating_sub(1)), unsure: None }
    }
}

/// Whether the flight of half a round trip after the mark, or when the sender answered if the data ended before, is below what
/// it was by more than a sixteenth.
fn is_heeded(mark: &Mark) -> bool {
    let later = mark.flight_later.or(mark.flight_at_answer);
    later.is_some_and(|later| later < mark.flight - mark.flight / 16)
}

#[cfg(test)]
mod tests;
