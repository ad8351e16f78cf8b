use super::*;
use crate::events::{Climb, Mark};

const MSS: u64 = 1000;

/// Returns rounds of 100 ns whose peak flights are these, in segments.
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

/// Returns a climb for each round with a new maximum: the flight reaches it 90 ns into the round, with nine tenths of the round's bytes
/// sent.
fn climbs(rounds: &[Round]) -> Vec<Climb> {
    let (mut greatest, mut sent) = (0, 0);
    let mut climbs = vec![];
    for round in rounds {
        if round.peak > greatest {
            greatest = round.peak;
            climbs.push(Climb { at: round.began + 90, flight: greatest, sent: sent + round.bytes / 10 * 9 });
        }
        sent += round.bytes;
    }
    climbs
}

/// Returns the exit for these rounds and retransmissions.
fn ends(rounds: &[Round], resent: &[Resent], has_sack: bool) -> Option<Exit> {
    let whole = |one: &Resent| Resent { flight_before: one.flight_before.max(one.flight), ..*one };
    let resent = &resent.iter().map(whole).collect::<Vec<_>>();
    find(&Start {
        rounds,
        climbs: &climbs(rounds),
        resent,
        marks: &[],
        has_sack,
        peak_before: None,
        mss: MSS,
    })
}

fn lost(at: u64) -> Resent {
    Resent {
        at,
        start: 0,
        end: 1,
        known: at,
        flight: 300_000,
        flight_before: 0,
        flight_later: Some(150_000),
        sent_later: 300_000,
        delivered_later: 600_000,
        by_timer: false,
        is_tail: false,
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

/// Peak flights per round, in segments, of BBR before a queue of half a BDP, from the simulator.
const BBR: [u64; 15] = [10, 18, 28, 46, 86, 170, 288, 334, 296, 334, 296, 250, 141, 171, 168];

fn repaired(peaks: &[u64], repairs: &[(usize, u64)]) -> Option<Exit> {
    let mut rounds = rounds(peaks);
    let mut resent = vec![];
    for &(round, segments) in repairs {
        rounds[round].resent = segments;
        rounds[round].segments = rounds[round].peak / MSS;
        let (at, flight) = (rounds[round].began + 60, rounds[round].peak);
        resent.push(Resent { at, flight, flight_later: Some(flight - flight / 8), ..lost(at) });
    }
    ends(&rounds, &resent, true)
}

#[test]
fn flight_recovering_after_losses_moves_the_exit_to_its_later_fall() {
    let many = repaired(&BBR, &[(7, 37), (8, 47), (9, 37), (10, 47), (11, 36)]).unwrap();
    assert_eq!((many.cause, many.at, many.flight, many.round), (Cause::Loss, 1100, 296 * MSS, 10));
    // If retransmissions are few, or absent at the end, the flight fell for another reason.
    for repairs in [&[(7, 3), (8, 4), (9, 1), (10, 5)][..], &[(7, 37), (8, 47)]] {
        let few = repaired(&BBR, repairs).unwrap();
        assert_eq!((few.cause, few.round), (Cause::Drain, 10), "{repairs:?}");
    }
}

#[test]
fn a_loss_far_above_ignored_losses_is_the_exit() {
    let exit = repaired(&[20, 40, 80, 160, 300, 200, 150, 151, 152], &[(2, 1), (4, 9)]).unwrap();
    assert_eq!((exit.cause, exit.at), (Cause::Loss, 460));
}

#[test]
fn a_sender_that_gives_up_a_third_has_heeded_the_loss() {
    // CUBIC reduces its window to 0.7 and regains three quarters of the rest in two rounds.
    let exit = repaired(&[10, 20, 40, 80, 62, 66, 70, 72, 74, 75], &[(3, 9)]).unwrap();
    assert_eq!((exit.cause, exit.at), (Cause::Loss, 360));
}

#[test]
fn start_up_continues_past_the_first_packets_if_the_flight_grows_later() {
    let exit = ends(&rounds(&[20, 10, 14, 30, 60, 60, 60, 60]), &[], true).unwrap();
    assert_eq!((exit.cause, exit.round), (Cause::Flat, 4));
    // A flight that never grows is flat from the beginning. It does not drain.
    assert_eq!(ends(&rounds(&[20, 10, 10, 10, 10]), &[], true).unwrap().cause, Cause::Flat);
}

#[test]
fn a_loss_after_the_last_round_that_was_kept_is_told() {
    let exit = ends(&rounds(&[10, 20, 40, 80]), &[lost(5000)], true).unwrap();
    assert_eq!((exit.cause, exit.at, exit.round), (Cause::Loss, 5000, 3));
}

/// Returns rounds with these peaks. The `limited` rounds after the first are limited by the application.
fn starved(peaks: &[u64], limited: usize) -> Vec<Round> {
    let mut all = rounds(peaks);
    all[1..=limited].iter_mut().for_each(|round| round.by_application = true);
    all
}

#[test]
fn requests_and_replies_before_the_bulk_end_nothing_and_a_trickle_does() {
    let bulk = starved(&[3, 1, 1, 2, 1, 10, 20, 40, 60, 60, 60, 60], 4);
    let exit = ends(&bulk, &[], true).unwrap();
    assert_eq!((exit.cause, exit.flight, exit.round), (Cause::Flat, 60 * MSS, 8));
    let trickle = starved(&[10, 20, 20, 20, 20, 20], 5);
    assert_eq!(ends(&trickle, &[], true).unwrap().cause, Cause::Application);
}

/// Returns the exit for these marks. Each has a time, the flight at this time, and the flight an RTT later.
fn marked(peaks: &[u64], marks: &[(u64, u64, u64)]) -> Option<Exit> {
    let rounds = rounds(peaks);
    let mark = |&(at, flight, later)| Mark {
        at,
        flight: flight * MSS,
        flight_later: Some(later * MSS),
        flight_at_answer: None,
    };
    let marks: Vec<_> = marks.iter().map(mark).collect();
    let climbs = climbs(&rounds);
    let start = Start {
        rounds: &rounds,
        climbs: &climbs,
        resent: &[],
        marks: &marks,
        has_sack: true,
        peak_before: None,
        mss: MSS,
    };
    find(&start)
}

#[test]
fn marks_end_it_only_if_the_flight_falls_for_them() {
    let heeded = marked(&[10, 20, 40, 80, 82, 45, 46, 47], &[(420, 81, 45)]).unwrap();
    assert_eq!((heeded.cause, heeded.at, heeded.flight, heeded.round), (Cause::Mark, 420, 81 * MSS, 4));
    // BBR is marked continuously, and drains its queue once it has found its rate.
    let peaks = [10, 20, 40, 80, 82, 82, 83, 83, 83, 40, 40, 40];
    let passed = marked(&peaks, &[(420, 81, 82), (530, 82, 83), (640, 83, 83), (760, 83, 40)]).unwrap();
    assert_eq!(passed.cause, Cause::Drain);
}

#[test]
fn a_reduction_after_a_mark_is_no_drain_of_flat_start_up() {
    let peaks = [10, 20, 40, 60, 60, 61, 61, 62, 40, 40, 41, 41];
    let cut = marked(&peaks, &[(797, 62, 40)]).unwrap();
    assert_eq!((cut.cause, cut.flight), (Cause::Flat, 60 * MSS));
    assert_eq!(marked(&peaks, &[]).unwrap().cause, Cause::Drain);
}

#[test]
fn one_full_window_without_growth_is_a_flat_exit_if_data_remains() {
    let mut left = rounds(&[10, 20, 40, 80, 80, 80]);
    left[5].bytes = 5 * MSS;
    let exit = ends(&left, &[], true).unwrap();
    assert_eq!((exit.cause, exit.flight), (Cause::Flat, 80 * MSS));
    // The data ended within the round, when half of it was sent.
    left.truncate(5);
    left[4].bytes = 40 * MSS;
    assert_eq!(ends(&left, &[], true), None);
}

#[test]
fn a_flight_that_grows_in_every_other_round_has_not_stopped() {
    // Vegas, until the receiver's window limits it.
    let mut all = rounds(&[10, 20, 20, 40, 40, 42, 42, 42]);
    all[5..].iter_mut().for_each(|round| round.by_receiver = true);
    let exit = ends(&all, &[], true).unwrap();
    assert_eq!((exit.cause, exit.flight), (Cause::ReceiverWindow, 40 * MSS));
}

#[test]
fn a_loss_counts_if_few_bytes_follow_despite_a_high_flight() {
    let held = Resent { flight: 40 * MSS, flight_later: Some(40 * MSS), sent_later: 20 * MSS, ..lost(350) };
    let peaks = [10, 20, 40, 40, 20, 21, 22];
    let exit = ends(&rounds(&peaks), &[held], true).unwrap();
    assert_eq!((exit.cause, exit.at), (Cause::Loss, 350));
    let heedless = Resent { sent_later: 40 * MSS, ..held };
    assert_ne!(ends(&rounds(&peaks), &[heedless], true).unwrap().cause, Cause::Loss);
}

#[test]
fn a_long_round_of_repairs_is_no_window_regained() {
    // All lost segments were lost again: the round takes two RTTs, each with half a window.
    let mut all = rounds(&[10, 20, 40, 80, 80, 40, 41, 42]);
    all[4].ended = Some(700);
    all[5..].iter_mut().for_each(|round| {
        round.began += 200;
        round.ended = round.ended.map(|end| end + 200);
    });
    let exit =
        ends(&all, &[Resent { flight: 80 * MSS, flight_later: Some(40 * MSS), ..lost(310) }], true).unwrap();
    assert_eq!((exit.cause, exit.at), (Cause::Loss, 310));
}

#[test]
fn a_tail_loss_is_uncertain_for_paced_senders_only() {
    let last = Resent { flight: 40 * MSS, flight_later: None, ..lost(350) };
    for (triggered, is_unsure) in [(0, true), (10, false)] {
        let mut all = rounds(&[10, 20, 40, 40]);
        for round in &mut all {
            (round.bursts, round.triggered) = (10, triggered);
        }
        let exit = ends(&all, &[last], true).unwrap();
        assert_eq!((exit.cause, exit.unsure.is_some()), (Cause::Loss, is_unsure));
    }
}

#[test]
fn a_paced_loss_without_sack_or_of_few_segments_is_uncertain() {
    let mut all = rounds(&[4, 8, 12, 12, 6, 7, 8, 9]);
    for round in &mut all {
        round.bursts = 10;
    }
    let few = Resent { flight: 12 * MSS, flight_later: Some(12 * MSS), sent_later: 12 * MSS, ..lost(350) };
    assert!(ends(&all, &[few], true).unwrap().unsure.is_some());
    assert!(ends(&all, &[lost(350)], false).unwrap().unsure.is_some());
    let heeded = Resent { flight_later: Some(5 * MSS), sent_later: 6 * MSS, ..few };
    assert_eq!(ends(&all, &[heeded], true).unwrap().unsure, None);
}

#[test]
fn trains_of_a_paced_start_that_never_grow_are_unsure() {
    let mut all = rounds(&[10, 10, 10, 10, 10]);
    for round in &mut all {
        round.bursts = 10;
    }
    assert!(ends(&all, &[], true).unwrap().unsure.is_some());
    for round in &mut all {
        round.triggered = 10;
    }
    let exit = ends(&all, &[], true).unwrap();
    assert_eq!((exit.cause, exit.round, exit.unsure), (Cause::Flat, 0, None));
}

#[test]
fn data_that_runs_out_within_a_round_ends_nothing() {
    let mut all = rounds(&[2, 4, 8, 7, 8, 20, 40, 80, 80, 80]);
    all[3].bytes = MSS;
    (all[4].by_application, all[4].begins_starved) = (true, true);
    let exit = ends(&all, &[], true).unwrap();
    assert_eq!((exit.cause, exit.flight), (Cause::Flat, 80 * MSS));
}

#[test]
fn a_segment_a_round_is_avoidance_from_its_beginning() {
    let peaks = [20, 20, 21, 22, 22, 23, 23];
    let exit = ends(&rounds(&peaks), &[], true).unwrap();
    assert_eq!((exit.cause, exit.round), (Cause::Flat, 0));
}

#[test]
fn a_paced_sender_whose_flight_hardly_falls_behind_a_loss_is_unsure() {
    for (behind, is_unsure) in [(62, true), (45, false)] {
        let mut all = rounds(&[10, 20, 40, 80, 70, behind, behind, behind]);
        for round in &mut all {
            round.bursts = 10;
        }
        // Of the 70 segments in flight after the loss, 20 are lost and repaired in the round after it.
        all[5].resent = 20;
        let one = Resent { flight: 80 * MSS, flight_later: Some(70 * MSS), ..lost(360) };
        assert_eq!(ends(&all, &[one], true).unwrap().unsure.is_some(), is_unsure, "{behind}");
    }
}

#[test]
fn a_window_that_is_used_whole_until_the_data_ends_is_flat() {
    // All of the last round but its first packet was sent as packets were acknowledged, one for one.
    let mut all = rounds(&[10, 20, 40, 80, 80]);
    all[4].ended = None;
    let exit = ends(&all, &[], true).unwrap();
    assert_eq!((exit.cause, exit.at), (Cause::Flat, 390));
    // The flight was level once before, as with Vegas in every other round. A second level round does not show that it has stopped.
    let mut pauses = rounds(&[10, 20, 20, 40, 40, 80, 80]);
    pauses[6].ended = None;
    assert_eq!(ends(&pauses, &[], true), None);
}

#[test]
fn an_exit_after_idle_is_certain_only_above_twice_the_previous_flight() {
    let all = rounds(&[10, 20, 40, 80, 80, 80]);
    let climbs = climbs(&all);
    for (peak_before, unsure) in [(None, None), (Some(30), None), (Some(60), Some(Unsure::BeforePause))] {
        let start = Start {
            rounds: &all,
            climbs: &climbs,
            resent: &[],
            marks: &[],
            has_sack: true,
            peak_before: peak_before.map(|peak| peak * MSS),
            mss: MSS,
        };
        assert_eq!(find(&start).unwrap().unsure, unsure, "{peak_before:?}");
    }
}

#[test]
fn a_law_that_gives_up_a_segment_a_round_drains_nothing() {
    let exit = ends(&rounds(&[8, 16, 16, 15, 14, 13, 12, 11, 10]), &[], true).unwrap();
    assert_eq!((exit.cause, exit.round), (Cause::Flat, 1));
}

#[test]
fn a_fall_with_marks_in_the_round_before_it_is_no_drain() {
    // The first mark was ignored, so none is heeded.
    let peaks = [10, 20, 40, 60, 60, 62, 62, 40, 41, 42];
    let exit = marked(&peaks, &[(330, 58, 60), (650, 62, 61)]).unwrap();
    assert_eq!(exit.cause, Cause::Flat);
}

#[test]
fn a_mark_shortly_before_a_loss_is_the_exit_cause() {
    let all = rounds(&[10, 20, 40, 80, 80, 40, 41, 42]);
    let mark = |at| Mark { at, flight: 80 * MSS, flight_later: Some(79 * MSS), flight_at_answer: None };
    let repair = Resent { flight: 80 * MSS, flight_later: Some(40 * MSS), ..lost(440) };
    let climbs = climbs(&all);
    for (marked_at, cause, at) in [(430, Cause::Mark, 430), (440, Cause::Loss, 440), (310, Cause::Loss, 440)]
    {
        let start = Start {
            rounds: &all,
            climbs: &climbs,
            resent: &[Resent { flight_before: repair.flight, ..repair }],
            marks: &[mark(marked_at)],
            has_sack: true,
            peak_before: None,
            mss: MSS,
        };
        let exit = find(&start).unwrap();
        assert_eq!((exit.cause, exit.at), (cause, at), "{marked_at}");
    }
}

#[test]
fn a_tail_probe_is_no_loss_if_other_retransmissions_follow() {
    let probe = Resent {
        is_tail: true,
        start: 30 * MSS,
        flight: 40 * MSS,
        flight_later: Some(20 * MSS),
        ..lost(310)
    };
    let timer = Resent { by_timer: true, ..lost(390) };
    let exit = ends(&rounds(&[10, 20, 40, 40]), &[probe, timer], true).unwrap();
    assert_eq!((exit.cause, exit.at), (Cause::Timeout, 390));
    // Without other retransmissions, the probe may be a timeout as well.
    let exit = ends(&rounds(&[10, 20, 40, 40]), &[probe], true).unwrap();
    assert_eq!(exit.unsure, Some(Unsure::Tail));
}
