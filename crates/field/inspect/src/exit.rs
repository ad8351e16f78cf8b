//! Finds where and why a start-up ended, as far as packets show.
//!
//! Packets do not carry the congestion window, but the bytes in flight are visible. In slow start the flight grows from round to round. The
//! start-up ends with the first of these events:
//! - `loss`: the sender retransmits data that the receiver did not have, and the flight falls. `timeout`: the retransmission followed a
//!   silence. A sender that heeds a loss has a flight well below the old one an RTT later. A loss does not end start-up if the flight stays
//!   within a sixteenth of the old one (as with BBR), is back at it in the next round, or exceeds it within three rounds. Later losses at
//!   the same flight do not end start-up either.
//! - `mark`: congestion marks are echoed, and the flight falls as defined for losses.
//! - The flight stops growing although the sender continues to send. The peaks of two rounds (or of one round before a loss) exceed all
//!   earlier peaks by at most a sixteenth or a segment and a half (an eighth or two and a half segments after two rounds), and by less than
//!   half. There are four causes. `receiver-window`: the receiver's window was the limit. `application`: the sender had nothing to send in
//!   three of these rounds, and the flight never grew again. `drain`: within eight rounds the flight falls by a quarter without a loss or a
//!   mark, as with BBR. `flat`: any other cause, for example a threshold, a delay or an ACK train.

mod cause;
mod level;
mod lost;
mod passed;
mod start;

use level::{drained, gave_in, goes_on, grew, grows_again, is_full};
use lost::{Losses, OUTGROWN_WITHIN};

use crate::events::{Mark, Resent};
use crate::rounds::{Round, are_shaped};

pub use cause::Cause;
pub(crate) use cause::{Exit, Unsure};
pub(crate) use start::Start;

/// Number of consecutive application-limited rounds after which the exit's cause is the application.
const STARVED: usize = 3;

/// Returns the end of the start-up; `None` if the data ended first. All data of `start` belongs to one busy period.
///
/// If a start-up ended in the last RTTs before an idle time, packets did not show it. After the idle time the sender may slow-start again
/// up to the window of that exit, which is at most twice the flight before. An exit at or below this flight is therefore reported as
/// uncertain.
pub(crate) fn find(start: &Start<'_>) -> Option<Exit> {
    let exit = find_in(start)?;
    let is_by_itself = matches!(exit.cause, Cause::ReceiverWindow | Cause::Application);
    let may_be_over = start.peak_before.is_some_and(|peak| exit.flight <= 2 * peak) && !is_by_itself;
    Some(if may_be_over { Exit { unsure: exit.unsure.or(Some(Unsure::BeforePause)), ..exit } } else { exit })
}

fn find_in(start: &Start<'_>) -> Option<Exit> {
    let Start { rounds, mss, .. } = *start;
    let losses = Losses::new(start);
    // The first loss or mark for which the sender reduced its window.
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
        // The data also ran out in a round if the next round began with nothing left to send.
        let next = rounds.get(at + 1);
        let is_starved = round.by_application || next.is_some_and(|next| next.begins_starved);
        if is_starved && !grew(round.peak, before, 1, mss) {
            starved += 1;
            // Requests and replies may precede a bulk transfer. They do not use the window, so the flight grows again in the bulk transfer.
            let until_cut = rounds[at + 1..].iter().take_while(|round| !is_cut_in(round));
            // Behind a shaper the end of a write and the shaper look alike.
            let is_shaped = are_shaped(rounds);
            if starved == STARVED
                && !is_shaped
                && !until_cut.into_iter().any(|round| grew(round.peak, greatest, 1, mss))
            {
                return Some(start.stopped(Cause::Application, before));
            }
            continue;
        }
        if round.by_shaper && !grew(round.peak, before, 1, mss) {
            continue;
        }
        starved = 0;
        let grows = grew(round.peak, before, 1, mss)
            || next.is_some_and(|next| !is_cut_in(next) && grew(next.peak, before, 2, mss));
        // Vegas increases its window only in every other round. One level round is therefore not the end if the next one grows.
        let pauses = next.is_some_and(|next| !is_cut_in(next) && grew(next.peak, before, 1, mss));
        // A round in which the data ended shows no growth. It is used only if enough was sent at a level flight.
        let is_shown = goes_on(rounds, at) || is_full(rounds, at, before, mss) && !pauses;
        if (grows || !is_shown) && (pauses || !start.is_level(at, greatest)) {
            continue;
        }
        let is_by_now = |one: &&Resent| round.ended.is_none_or(|end| one.at <= end);
        if let Some(one) = losses.passed().filter(is_by_now) {
            return Some(start.passed(one));
        }
        if round.by_receiver || next.is_some_and(|next| next.by_receiver && !is_cut_in(next)) {
            return Some(start.stopped(Cause::ReceiverWindow, before));
        }
        let flight = if grows || !is_shown { greatest } else { before };
        let stop = drained(start, at, greatest, cut).unwrap_or_else(|| start.stopped(Cause::Flat, flight));
        let stop = losses.ignored.and_then(|one| gave_in(stop, one, rounds)).unwrap_or(stop);
        // A paced start may begin with a burst, followed by a long time with a smaller flight. This is not the end of start-up.
        let until_cut = rounds[at + 1..].iter().take_while(|round| !is_cut_in(round));
        if stop.round == 0 && grows_again(until_cut.map(|round| round.peak), greatest, mss) {
            if start.peak_before.is_some() {
                return Some(Exit { unsure: Some(Unsure::BeforePause), ..stop });
            }
            continue;
        }
        return Some(Exit { unsure: start.unsure_of(&stop, round), ..stop });
    }
    // The loss or mark may come after the last round that was kept.
    let of_cut =
        cut.map_or(0, |cut| rounds.partition_point(|round| round.ended.is_some_and(|end| end <= cut.at)));
    by_cut(of_cut.min(rounds.len().saturating_sub(1)))
}

impl Start<'_> {
    /// Returns the exit that this loss causes.
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
        Exit { known: one.known, unsure, ..Exit::new(cause, one.at, one.flight) }
    }

    /// Returns the reason why the exit `stop` is uncertain, if it is. By the end of `round`, the flight had stopped growing.
    fn unsure_of(&self, stop: &Exit, round: &Round) -> Option<Unsure> {
        if stop.round > 0 {
            None
        } else if self.peak_before.is_some() {
            Some(Unsure::BeforePause)
        } else {
            // A paced start may send several trains of equal size.
            self.is_paced(round.ended.unwrap_or(u64::MAX)).then_some(Unsure::NeverGrew)
        }
    }

    /// Checks whether the sender is paced. This is true if the rounds that ended by `until` are mostly paced rather than ACK-clocked, or if
    /// the first packets were not sent back to back.
    fn is_paced(&self, until: u64) -> bool {
        let is_before = |round: &&Round| round.ended.is_some_and(|end| end <= until);
        let sum = |of: fn(&Round) -> u64| self.rounds.iter().filter(is_before).map(of).sum::<u64>();
        let is_first_paced = self.rounds.first().is_some_and(|first| {
            !first.by_application && first.departures > 1 && 2 * first.back_to_back <= first.departures
        });
        is_first_paced || 10 * sum(|round| round.triggered) < 9 * sum(|round| round.bursts)
    }

    /// Returns the exit for the first congestion mark that the sender heeded. If a mark did not lower the sender's flight (as with BBR),
    /// the sender is assumed to ignore all marks at this flight.
    fn heeded_mark(&self) -> Option<Exit> {
        let passed = self.marks.iter().find(|mark| self.is_passed(mark));
        let is_same = |mark: &Mark| {
            passed.is_some_and(|one| mark.at >= one.at && mark.flight <= one.flight + one.flight / 8)
        };
        let mark = self.marks.iter().find(|mark| !self.is_passed(mark) && !is_same(mark))?;
        Some(Exit::new(Cause::Mark, mark.at, mark.flight))
    }

    /// Checks whether the sender ignored the mark.
    fn is_passed(&self, mark: &Mark) -> bool {
        let mut after = self.rounds.iter().filter(|round| round.began >= mark.at).take(OUTGROWN_WITHIN);
        // If the sender responds after the round's last acknowledgements, the response shows only in the round after the next.
        let length = self.length_at(mark.at);
        let behind = self.rounds.iter().find(|round| round.began >= mark.at.saturating_add(length / 8 * 7));
        let is_lower =
            behind.is_some_and(|round| round.ended.is_some() && round.peak < mark.flight - mark.flight / 8);
        !(is_heeded(mark) || is_lower)
            || after.any(|round| round.peak > mark.flight + (mark.flight / 32).max(2 * self.mss))
    }

    /// Returns a mark's exit in place of a loss's exit `cut`, if the mark was echoed within an RTT before the loss. The sender heeded the
    /// mark, but the packets lost by then keep its flight up. Returns `None` if the sender ignored an earlier mark.
    fn marked_before(&self, cut: Exit) -> Option<Exit> {
        if cut.cause != Cause::Loss {
            return None;
        }
        let since = cut.at.saturating_sub(self.length_at(cut.at));
        let first = self.marks.iter().find(|mark| self.is_passed(mark) || mark.at >= since)?;
        let is_it = (since..cut.at).contains(&first.at);
        is_it.then_some(Exit {
            cause: Cause::Mark,
            at: first.at,
            known: first.at,
            flight: first.flight,
            ..cut
        })
    }

    /// Returns the length of the round that contains the time `at`.
    fn length_at(&self, at: u64) -> u64 {
        let of = self.rounds.iter().find(|round| round.ended.is_none_or(|end| end > at));
        of.map_or(0, |round| round.ended.unwrap_or(at).saturating_sub(round.began))
    }

    /// Checks whether enough was sent at a level flight by the end of the round `at` to rule out slow start. Slow start grows by a segment
    /// for each acknowledgement. For each segment of growth it therefore sends one segment more than the acknowledgement acknowledges.
    fn is_level(&self, at: usize, flight: u64) -> bool {
        let stop = self.stopped(Cause::Flat, flight);
        let since = &self.rounds[stop.round.min(at)..=at];
        let sum = |of: fn(&Round) -> u64| since.iter().map(of).sum::<u64>();
        if since.iter().any(|round| round.by_application || round.resent > 0) {
            return false;
        }
        let low = flight - self.by_avoidance(flight);
        let sent_by = self.climbs.iter().find(|climb| climb.flight >= low).map_or(0, |climb| climb.sent);
        // The sender sends its first packets without waiting for an acknowledgement.
        let first = self.rounds.first().map_or(0, |round| round.bytes);
        let sent_by = if stop.round == 0 { first.max(sent_by) } else { sent_by };
        let sent = self.rounds[..=at].iter().map(|round| round.bytes).sum::<u64>().saturating_sub(sent_by);
        let an_ack = sum(|round| round.acked).div_ceil((sum(|round| round.acks) * self.mss).max(1)).max(1);
        let enough = (2 * (an_ack + 1) * self.by_avoidance(flight)).max(flight / 4 * 3);
        // A paced sender must send this for two rounds. So must a sender whose flight was level before and grew again, as with Vegas in
        // every other round.
        let mut peak = 0;
        let mut is_longer = self.is_paced(self.rounds[at].ended.unwrap_or(u64::MAX));
        for (place, round) in self.rounds[..stop.round.min(at)].iter().enumerate() {
            is_longer |= place > 0 && !grew(round.peak, peak, 1, self.mss);
            peak = peak.max(round.peak);
        }
        flight >= 8 * self.mss && sent >= if is_longer { enough.max(2 * flight) } else { enough }
    }

    /// Returns the part of a flight that the avoidance phase may have added: a sixteenth, or two and a half segments (at most a quarter).
    fn by_avoidance(&self, flight: u64) -> u64 {
        (flight / 16).max((2 * self.mss + self.mss / 2).min(flight / 4))
    }

    /// Returns the exit for a flight that rose to `flight` and no further. Start-up ended when the flight first came within the part that
    /// avoidance may have added.
    fn stopped(&self, cause: Cause, flight: u64) -> Exit {
        let enough = flight - self.by_avoidance(flight);
        let at = self.climbs.iter().find(|climb| climb.flight >= enough).map_or(0, |climb| climb.at);
        let round = self.rounds.partition_point(|round| round.ended.is_some_and(|end| end <= at));
        Exit { round: round.min(self.rounds.len().saturating_sub(1)), ..Exit::new(cause, at, flight) }
    }
}

/// Checks whether the flight fell by more than a sixteenth after the mark. It is measured half an RTT after the mark or, if the data ended
/// before, when the sender responded to the mark.
fn is_heeded(mark: &Mark) -> bool {
    let later = mark.flight_later.or(mark.flight_at_answer);
    later.is_some_and(|later| later < mark.flight - mark.flight / 16)
}

#[cfg(test)]
mod tests;
