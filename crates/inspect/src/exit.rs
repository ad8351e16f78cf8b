//! Where and why a start-up ended, as far as packets tell.
//!
//! A window is not in a packet; what is in flight is. While a sender is in slow start its flight grows from round to
//! round; the first of these ends it:
//! - it sends something again that the receiver had not, and its flight falls: `loss`, or `timeout` if it did so in
//!   silence. A round trip later the flight of a sender that heeds a loss is well below what it was; one within a
//!   sixteenth of it, as BBR's, or above it within three rounds, did not end its start-up by that;
//! - two rounds' peaks, or one's before a loss, are above all before by no more than a sixteenth, or a segment and a
//!   half (an eighth, or two and a half, after two rounds), and by less than half, and the sender goes on sending:
//!   `receiver-window` if the receiver's window held it back, `mark` if congestion marks were echoed, `application` if it
//!   had nothing to send for three such rounds; else `drain` if within eight rounds the flight falls by a quarter with
//!   nothing lost, as BBR's does, and `flat` otherwise: a threshold, a delay, a train.

use crate::events::Resent;
use crate::rounds::Round;

/// Why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Exit {
    pub(crate) cause: Cause,
    pub(crate) at: u64,
    /// In flight then.
    pub(crate) flight: u64,
    /// The round's place, from zero.
    pub(crate) round: usize,
}

/// Rounds after one that did not grow within which a fall counts to it.
const DRAIN_WITHIN: usize = 8;
/// Rounds after a loss in which a flight above that of the loss says that it was not heeded.
const OUTGROWN_WITHIN: usize = 3;
/// Rounds in a row in which the application was the limit.
const STARVED: usize = 3;

/// What is known of a start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<'a> {
    pub(crate) rounds: &'a [Round],
    /// When the flight rose above all before, and to what.
    pub(crate) climbs: &'a [(u64, u64)],
    pub(crate) resent: &'a [Resent],
    /// What is in flight after a loss is only known where selective acknowledgements come.
    pub(crate) has_sack: bool,
    pub(crate) mss: u64,
}

/// The end of the start-up; `None` if the data ended first.
pub(crate) fn find(start: &Start<'_>) -> Option<Exit> {
    let Start { rounds, resent, has_sack, mss, .. } = *start;
    let all = rounds;
    // What comes after an idle time is another start.
    let rounds = &rounds[..rounds.iter().position(|round| round.after_idle).unwrap_or(rounds.len())];
    let start = Start { rounds, ..*start };
    let is_loss =
        |one: &&Resent| !(one.is_spurious || has_sack && (is_ignored(one) || is_outgrown(one, rounds, mss)));
    let loss = resent.iter().find(is_loss);
    let by_loss = |round: usize| {
        loss.map(|one| Exit {
            cause: if one.by_timer { Cause::Timeout } else { Cause::Loss },
            at: one.at,
            flight: one.flight,
            round,
        })
    };
    let is_lost_in = |round: &Round| loss.is_some_and(|one| round.ended.is_none_or(|end| one.at < end));
    let mut greatest = 0;
    let mut starved = 0;
    for (at, round) in rounds.iter().enumerate() {
        if is_lost_in(round) {
            return by_loss(at);
        }
        let before = greatest;
        greatest = greatest.max(round.peak);
        if at == 0 {
            continue;
        }
        if round.by_application && !grew(round.peak, before, 1, mss) {
            starved += 1;
            if starved == STARVED {
                return Some(start.stopped(Cause::Application, before));
            }
            continue;
        }
        starved = 0;
        let next = rounds.get(at + 1);
        let grows = grew(round.peak, before, 1, mss)
            || next.is_some_and(|next| !is_lost_in(next) && grew(next.peak, before, 2, mss));
        if grows || !goes_on(rounds, at) {
            continue;
        }
        if round.by_receiver {
            return Some(start.stopped(Cause::ReceiverWindow, before));
        }
        if round.marked || rounds[at - 1].marked {
            return Some(start.stopped(Cause::Mark, before));
        }
        let stop = drained(rounds, at, greatest, loss).unwrap_or_else(|| start.stopped(Cause::Flat, before));
        // A first burst that a paced start is long below is not its end.
        let until_loss = rounds[at + 1..].iter().take_while(|round| !is_lost_in(round));
        if stop.round == 0 && until_loss.into_iter().any(|round| grew(round.peak, greatest, 1, mss)) {
            continue;
        }
        return Some(stop);
    }
    // A loss after an idle time, or after the last round that was kept.
    let of_loss =
        loss.map_or(0, |one| all.partition_point(|round| round.ended.is_some_and(|end| end <= one.at)));
    by_loss(of_loss.min(all.len().saturating_sub(1)))
}

impl Start<'_> {
    /// The flight rose to `flight` and no further: the start-up ended when it first was within a sixteenth of that, since
    /// avoidance may have brought the rest.
    fn stopped(&self, cause: Cause, flight: u64) -> Exit {
        let enough = flight - flight / 16;
        let at = self.climbs.iter().find(|(_, climbed)| *climbed >= enough).map_or(0, |(at, _)| *at);
        let round = self.rounds.partition_point(|round| round.ended.is_some_and(|end| end <= at));
        Exit { cause, at, flight, round: round.min(self.rounds.len().saturating_sub(1)) }
    }
}

/// Whether the flight of a round trip later is still within a sixteenth of what it was.
fn is_ignored(lost: &Resent) -> bool {
    !lost.by_timer && lost.flight_later.is_some_and(|later| later >= lost.flight - lost.flight / 16)
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

/// A fall by a quarter soon after, which began before anything was lost: the start-up ended when the flight was last
/// near its peak.
fn drained(rounds: &[Round], at: usize, greatest: u64, loss: Option<&Resent>) -> Option<Exit> {
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
    if loss.is_some_and(|one| one.at <= rounds[before].held_at) {
        return None;
    }
    Some(Exit { cause: Cause::Drain, at: rounds[before].held_at, flight: rounds[before].peak, round: before })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// Rounds of 100 ns with these peaks in segments.
    fn rounds(peaks: &[u64]) -> Vec<Round> {
        let round = |(at, peak): (usize, &u64)| {
            let began = at as u64 * 100;
            Round {
                began,
                ended: Some(began + 100),
                bytes: peak * MSS,
                peak: peak * MSS,
                held_at: began + 95,
                ..Round::default()
            }
        };
        peaks.iter().enumerate().map(round).collect()
    }

    /// With a flight that rises to its round's peak 90 ns into it.
    fn ends(rounds: &[Round], resent: &[Resent], has_sack: bool) -> Option<Exit> {
        let climbs: Vec<_> = rounds.iter().map(|round| (round.began + 90, round.peak)).collect();
        find(&Start { rounds, climbs: &climbs, resent, has_sack, mss: MSS })
    }

    fn lost(at: u64) -> Resent {
        Resent {
            at,
            start: 0,
            end: 1,
            flight: 300_000,
            flight_later: Some(150_000),
            by_timer: false,
            is_spurious: false,
        }
    }

    #[test]
    fn a_loss_ends_it_when_the_sender_repairs_it() {
        let exit = ends(&rounds(&[10, 20, 40, 80, 80]), &[lost(350)], true).unwrap();
        assert_eq!((exit.cause, exit.at, exit.flight, exit.round), (Cause::Loss, 350, 300_000, 3));
        let timer = Resent { by_timer: true, ..lost(350) };
        assert_eq!(ends(&rounds(&[10, 20, 40, 80]), &[timer], true).unwrap().cause, Cause::Timeout);
    }

    #[test]
    fn a_loss_that_the_sender_does_not_heed_ends_nothing() {
        let heedless = Resent { flight: 40 * MSS, flight_later: Some(39 * MSS), ..lost(350) };
        let peaks = [10, 20, 40, 41, 41, 41, 20, 20, 20];
        let exit = ends(&rounds(&peaks), &[heedless], true).unwrap();
        assert_eq!((exit.cause, exit.at), (Cause::Drain, 595));
        assert_eq!(ends(&rounds(&peaks), &[heedless], false).unwrap().cause, Cause::Loss);
    }

    #[test]
    fn a_loss_after_which_the_flight_still_grows_ends_nothing() {
        let outgrown = Resent { flight: 40 * MSS, flight_later: Some(20 * MSS), ..lost(350) };
        let exit = ends(&rounds(&[10, 20, 40, 44, 60, 60, 60, 60]), &[outgrown], true).unwrap();
        assert_eq!((exit.cause, exit.flight), (Cause::Flat, 60 * MSS));
        let heeded = ends(&rounds(&[10, 20, 40, 38, 20, 21, 22, 44, 44]), &[outgrown], true).unwrap();
        assert_eq!((heeded.cause, heeded.at), (Cause::Loss, 350));
    }

    #[test]
    fn a_start_up_does_not_end_with_its_first_packets_if_the_flight_grows_later() {
        let exit = ends(&rounds(&[20, 10, 14, 30, 60, 60, 60, 60]), &[], true).unwrap();
        assert_eq!((exit.cause, exit.round), (Cause::Flat, 4));
        // One that never grows is flat from the beginning, and drains nothing.
        assert_eq!(ends(&rounds(&[20, 10, 10, 10, 10]), &[], true).unwrap().cause, Cause::Flat);
    }

    #[test]
    fn a_loss_after_an_idle_time_is_in_the_round_in_which_it_was() {
        let mut again = rounds(&[10, 20, 40, 40, 60, 30]);
        again[3].after_idle = true;
        let exit = ends(&again, &[lost(450)], true).unwrap();
        assert_eq!((exit.cause, exit.at, exit.round), (Cause::Loss, 450, 4));
        assert_eq!(ends(&again, &[lost(5000)], true).unwrap().round, 5);
    }

    #[test]
    fn what_was_sent_again_for_nothing_ends_nothing() {
        let spurious = Resent { is_spurious: true, ..lost(150) };
        let exit = ends(&rounds(&[10, 20, 40, 80, 80, 80]), &[spurious], true).unwrap();
        assert_eq!((exit.cause, exit.at), (Cause::Flat, 390));
    }

    #[test]
    fn a_flight_that_stops_growing_ends_it_where_it_last_grew() {
        let exit = ends(&rounds(&[10, 20, 40, 41, 42, 43]), &[lost(550)], true).unwrap();
        assert_eq!((exit.cause, exit.at, exit.flight, exit.round), (Cause::Flat, 290, 40_000, 2));
    }

    #[test]
    fn a_flight_that_falls_without_a_loss_ends_it_where_it_begins_to_fall() {
        let exit = ends(&rounds(&[10, 20, 40, 41, 41, 20, 20, 20]), &[], true).unwrap();
        assert_eq!((exit.cause, exit.at, exit.round), (Cause::Drain, 495, 4));
        let exit = ends(&rounds(&[10, 20, 40, 41, 41, 20, 20, 20]), &[lost(480)], true).unwrap();
        assert_eq!(exit.cause, Cause::Flat);
    }

    #[test]
    fn slower_growth_is_growth() {
        // HyStart++'s conservative slow start grows by a quarter a round.
        let exit = ends(&rounds(&[10, 20, 40, 50, 62, 78, 78, 79]), &[], true).unwrap();
        assert_eq!((exit.cause, exit.round), (Cause::Flat, 5));
    }

    #[test]
    fn a_start_from_one_segment_is_growth() {
        // Every ACK counted, delayed: by half a round, rounded up. Doubling every other round, as Vegas does.
        for peaks in [&[1, 2, 3, 5, 8, 12, 12, 12, 12][..], &[1, 2, 2, 4, 4, 8, 8, 12, 12, 12, 12]] {
            let exit = ends(&rounds(peaks), &[], true).unwrap();
            assert_eq!((exit.cause, exit.flight), (Cause::Flat, 12 * MSS), "{peaks:?}");
        }
        // A segment a round is avoidance; from four it is half of them in two rounds, and so is told a segment late.
        let exit = ends(&rounds(&[1, 2, 4, 5, 6, 7, 8, 9]), &[], true).unwrap();
        assert_eq!((exit.cause, exit.flight), (Cause::Flat, 5 * MSS));
    }

    #[test]
    fn the_end_of_the_data_is_no_end_of_start_up() {
        assert_eq!(ends(&rounds(&[10, 20, 40, 40, 5]), &[], true), None);
        assert_eq!(ends(&rounds(&[10]), &[], true), None);
        assert_eq!(ends(&[], &[], true), None);
    }

    #[test]
    fn limits_that_can_be_seen_are_named() {
        let mut full = rounds(&[10, 20, 30, 30, 30, 30]);
        full[3].by_receiver = true;
        assert_eq!(ends(&full, &[], true).unwrap().cause, Cause::ReceiverWindow);
        let mut marked = rounds(&[10, 20, 30, 30, 30, 30]);
        marked[2].marked = true;
        assert_eq!(ends(&marked, &[], true).unwrap().cause, Cause::Mark);
        let mut starved = rounds(&[10, 20, 12, 12, 12, 12]);
        starved[2..].iter_mut().for_each(|round| round.by_application = true);
        let exit = ends(&starved, &[], true).unwrap();
        assert_eq!((exit.cause, exit.round), (Cause::Application, 1));
    }

    #[test]
    fn a_pause_of_the_application_is_not_the_end() {
        let mut paused = rounds(&[10, 20, 8, 40, 80, 80, 80]);
        paused[2].by_application = true;
        assert_eq!(ends(&paused, &[], true).unwrap().round, 4);
    }
}
