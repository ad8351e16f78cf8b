//! Property tests of the scoreboard.

use super::*;
use proptest::prelude::*;

const MSS: u16 = 1_000;

fn how(packet: u64, at: u64) -> Transmission {
    Transmission {
        at: Time::from_nanos(at),
        packet,
        tag: Tag(0),
        limit: SendLimit::Window,
        delivered: Bytes::ZERO,
        since_delivery: 0,
        since_first_sent: 0,
    }
}

fn board(segments: u64) -> Scoreboard {
    let mut board = Scoreboard::new(true);
    for i in 0..segments {
        board.sent(i * u64::from(MSS), MSS, false, &how(i, i));
    }
    board
}

fn sack(board: &mut Scoreboard, from: u64, to: u64) -> usize {
    let mut arrivals = Vec::new();
    board.sack(from * u64::from(MSS), to * u64::from(MSS), |arrival| arrivals.push(arrival));
    arrivals.len()
}

fn lost_by_sacks(board: &mut Scoreboard) -> Vec<u64> {
    let mut lost = Vec::new();
    board.mark_lost_by_sacks(&mut lost);
    lost.iter().map(|packet| packet.packet).collect()
}

/// Returns the number of heap bytes of the rings per segment.
fn bytes_per(segments: u64, board: &Scoreboard) -> u64 {
    (board.memory() as u64).div_ceil(segments)
}

#[test]
fn a_window_sent_once_takes_at_most_51_bytes_a_segment() {
    // If rings doubled, they would be half empty at 2^20 + 1 segments.
    for segments in [100, 1_000, 10_000, 1_000_000, (1 << 20) + 1] {
        let board = board(segments);
        assert!(bytes_per(segments, &board) <= 51, "{segments}: {}", bytes_per(segments, &board));
    }
}

/// Returns the number of bytes that the entries of the three lists need.
fn listed(board: &Scoreboard) -> usize {
    board.records.len() * size_of::<Record>()
        + board.order.len() * size_of::<Slot>()
        + board.again.len() * size_of::<u32>()
}

#[test]
fn the_memory_told_has_room_for_all_three_lists() {
    let mut board = board(1_000);
    board.mark_lost_at_timeout(Time::MAX, false);
    for packet in 1_000..2_000 {
        let range = board.next_lost().expect("all are lost");
        board.resent(&range, &how(packet, packet));
    }
    assert_eq!((board.order.len(), board.again.len()), (1_000, 0));
    assert!(board.memory() >= listed(&board), "{} for {}", board.memory(), listed(&board));
    board.mark_overdue(1_999, Time::MAX, &mut Vec::new());
    assert_eq!(board.again.len(), 999, "all but the newest are lost again");
    // After shrinking there is no spare room, so one list's memory cannot hide that another's is missing.
    board.shrink();
    assert!(board.memory() >= listed(&board), "{} for {}", board.memory(), listed(&board));
}

#[test]
fn a_fin_is_in_the_pipe_and_no_payload_in_the_network() {
    let mut board = board(2);
    let payload = u64::from(MSS) * 2;
    assert_eq!((board.pipe().get(), board.payload_in_network().get()), (payload, payload));
    board.sent(payload, 0, true, &how(2, 2));
    assert_eq!((board.pipe().get(), board.payload_in_network().get()), (payload + 1, payload));
    sack(&mut board, 0, 1);
    assert_eq!(board.payload_in_network().get(), payload / 2);
}

#[test]
fn the_repair_of_half_a_window_uses_64_bytes_per_segment_maximum() {
    let segments = (1 << 20) + 1;
    let mut board = board(segments);
    let mut lost = Vec::new();
    for (packet, sacked) in (segments..).zip((1..segments).step_by(2)) {
        sack(&mut board, sacked, sacked + 1);
        board.mark_lost_by_sacks(&mut lost);
        board.mark_overdue(sacked, Time::from_nanos(sacked), &mut lost);
        if let Some(range) = board.next_lost() {
            board.resent(&range, &how(packet, packet));
        }
    }
    assert_eq!(lost.len() as u64, segments / 2, "all but the last are found");
    assert!(bytes_per(segments, &board) <= 64, "{}", bytes_per(segments, &board));
}

#[test]
fn a_repeatedly_lost_window_uses_64_bytes_per_segment_maximum() {
    // A ring that grows by sixteenths is full one entry before 18,707. With this entry, almost all of the new sixteenth is spare.
    for segments in [1_000, 18_707, 20_000, (1 << 20) + 1] {
        let mut board = board(segments);
        board.mark_lost_at_timeout(Time::MAX, false);
        for round in 1..4 {
            let mut lost = Vec::new();
            for packet in round * segments..(round + 1) * segments {
                let range = board.next_lost().expect("all are lost");
                board.resent(&range, &how(packet, packet));
            }
            assert!(bytes_per(segments, &board) <= 64, "sent again: {}", bytes_per(segments, &board));
            let end = (round + 1) * segments;
            board.mark_overdue(end, Time::from_nanos(end), &mut lost);
            assert_eq!(lost.len() as u64, segments, "all are lost again");
            assert!(bytes_per(segments, &board) <= 64, "lost again: {}", bytes_per(segments, &board));
        }
    }
}

#[test]
fn stale_retransmission_entries_are_removed_before_exceeding_the_board_size() {
    let segments = 10_000;
    let mut board = board(segments);
    for packet in segments..20 * segments {
        let range = board.last().expect("nothing is acknowledged");
        board.resent(&range, &how(packet, packet));
    }
    assert!(bytes_per(segments, &board) <= 60, "{}", bytes_per(segments, &board));
    let mut lost = Vec::new();
    board.mark_overdue(20 * segments, Time::from_nanos(20 * segments), &mut lost);
    assert_eq!(lost.last().map(|lost| lost.packet), Some(20 * segments - 1), "the newest entry is left");
    assert_eq!(lost.len() as u64, segments);
}

#[test]
fn packet_numbers_beyond_32_bits_come_back_whole() {
    let first = u64::from(u32::MAX) - 1;
    let mut board = Scoreboard::new(true);
    for i in 0..4 {
        board.sent(i * u64::from(MSS), MSS, false, &how(first + i, i));
    }
    let mut arrivals = Vec::new();
    board.acknowledge(4 * u64::from(MSS), |arrival| arrivals.push(arrival));
    let numbers: Vec<u64> = arrivals.iter().map(|arrival| arrival.delivered.packet).collect();
    assert_eq!(numbers, [first, first + 1, first + 2, first + 3]);
}

#[test]
fn a_segment_is_lost_once_three_above_it_are_sacked() {
    let mut board = board(10);
    sack(&mut board, 1, 3);
    assert!(lost_by_sacks(&mut board).is_empty());
    sack(&mut board, 1, 4);
    assert_eq!(lost_by_sacks(&mut board), [0]);
    sack(&mut board, 6, 9);
    assert_eq!(lost_by_sacks(&mut board), [4, 5]);
    assert_eq!(board.pipe(), Bytes::new(1_000));
}

#[test]
fn a_segment_marked_lost_too_early_is_detected_when_actually_lost() {
    let mut board = board(12);
    sack(&mut board, 3, 7);
    assert_eq!(lost_by_sacks(&mut board), [0, 1, 2]);
    let range = board.next_lost().expect("three are lost");
    board.resent(&range, &how(12, 12));
    // The original transmission arrives, and the repair is undone.
    board.acknowledge(u64::from(MSS), |_| {});
    board.unmark_lost();
    assert_eq!(board.pipe(), Bytes::new(7_000));
    sack(&mut board, 7, 9);
    assert_eq!(lost_by_sacks(&mut board), [1, 2]);
    assert_eq!(board.pipe(), Bytes::new(3_000));
}

#[test]
fn a_block_that_was_reported_before_marks_nothing_again() {
    let mut board = board(10);
    assert_eq!(sack(&mut board, 2, 6), 4);
    assert_eq!(sack(&mut board, 2, 8), 2);
    assert_eq!(sack(&mut board, 3, 8), 0);
}

#[test]
fn lost_segments_come_back_in_order_and_those_lost_twice_first() {
    let mut board = board(10);
    sack(&mut board, 3, 9);
    assert_eq!(lost_by_sacks(&mut board), [0, 1, 2]);
    for packet in 10..12 {
        let range = board.next_lost().expect("two of three are still lost");
        assert_eq!(range.start, (packet - 10) * 1_000);
        board.resent(&range, &how(packet, 100 + packet));
    }
    let mut lost = Vec::new();
    board.mark_overdue(99, Time::from_nanos(110), &mut lost);
    let found: Vec<u64> = lost.iter().map(|packet| packet.packet).collect();
    assert_eq!(found, [9, 10], "the last original and the first retransmission are overdue");
    assert_eq!(board.next_lost().map(|range| range.start), Some(0));
}

#[test]
fn the_short_ack_path_takes_one_whole_segment_and_no_fin() {
    let mut board = board(2);
    board.sent(2_000, MSS, true, &how(2, 2));
    assert!([999, 1_001, 2_000].iter().all(|una| board.head_up_to(*una).is_none()));
    for packet in 0..2 {
        let first = board.head_up_to((packet + 1) * 1_000).expect("all that is acknowledged");
        assert_eq!((first.packet, first.len), (packet, MSS));
        board.drop_first(first.len);
    }
    assert!(board.head_up_to(3_001).is_none(), "a FIN is more than a segment");
    assert_eq!(board.pipe(), Bytes::new(1_001));
}

#[test]
fn holes_below_the_highest_sack_are_listed_in_order_unless_retransmitted() {
    let mut board = board(10);
    sack(&mut board, 1, 2);
    sack(&mut board, 4, 6);
    sack(&mut board, 7, 8);
    assert_eq!(lost_by_sacks(&mut board), [0, 2, 3]);
    let first = board.next_lost().expect("three are lost");
    board.resent(&first, &how(10, 10));
    let mut from = 0;
    let mut holes = Vec::new();
    while let Some(index) = board.next_hole_index(&mut from) {
        holes.push(index);
        from += 1;
    }
    assert_eq!(holes, [2, 3, 6], "not the one that left again, and none above the highest");
}

#[test]
fn an_ack_in_the_middle_of_a_segment_trims_it() {
    let mut board = board(3);
    let mut arrivals = Vec::new();
    assert_eq!(board.acknowledge(1_400, |arrival| arrivals.push(arrival)), (1, 400));
    assert_eq!(board.pipe(), Bytes::new(1_600));
    assert_eq!(board.acknowledge(2_000, |arrival| arrivals.push(arrival)), (1, 0));
    assert_eq!(board.pipe(), Bytes::new(1_000));
}

#[test]
fn a_block_starting_within_a_segment_marks_its_unacknowledged_remainder() {
    for (end, marked) in [(3_000, 1), (1_999, 0)] {
        let mut board = board(4);
        let marks = |board: &mut Scoreboard, end| {
            let mut count = 0;
            board.sack(1_001, end, |_| count += 1);
            count
        };
        assert_eq!(marks(&mut board, end), marked, "not the segment that it begins in");
        if marked == 0 {
            board.acknowledge_in_order(1_001, |_| {});
        } else {
            board.acknowledge(1_001, |_| {});
        }
        assert_eq!(marks(&mut board, end.max(2_000)), 1);
    }
}

#[test]
fn a_timeout_marks_everything_unsacked_lost_with_nothing_in_flight() {
    let mut board = board(5);
    sack(&mut board, 2, 3);
    board.mark_lost_at_timeout(Time::MAX, false);
    assert_eq!(board.pipe(), Bytes::ZERO);
    let mut starts = Vec::new();
    while let Some(range) = board.next_lost() {
        board.resent(&range, &how(10 + range.start, 1_000 + range.start));
        starts.push(range.start);
    }
    assert_eq!(starts, [0, 1_000, 3_000, 4_000]);
}

#[test]
fn a_timeout_keeps_recent_transmissions_in_flight_but_not_the_first_segment() {
    let mut board = board(6);
    sack(&mut board, 1, 2);
    // The first segment is retransmitted after all others.
    board.mark_lost_at_timeout(Time::ZERO, false);
    let first = board.next_lost().expect("the first is lost");
    board.resent(&first, &how(6, 6));
    // Segments 0 to 3 are overdue.
    board.mark_lost_at_timeout(Time::from_nanos(3), false);
    assert_eq!(board.pipe(), Bytes::new(2_000));
    assert_eq!(board.lost_segments(), 3);
    let mut lost = Vec::new();
    board.mark_overdue(7, Time::from_nanos(4), &mut lost);
    assert_eq!(lost.iter().map(|packet| packet.packet).collect::<Vec<_>>(), [4], "RACK still judges them");
}

#[test]
fn segments_unmarked_as_lost_count_as_in_flight_again() {
    let mut board = board(5);
    board.mark_lost_at_timeout(Time::MAX, false);
    let first = board.next_lost().expect("all are lost");
    board.resent(&first, &how(9, 99));
    board.unmark_lost();
    assert_eq!(board.pipe(), Bytes::new(5_000));
    assert!(!board.has_lost());
}

/// State of a segment in a simple list, with which the scoreboard is compared.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Model {
    Sent,
    Lost,
    Resent,
    Sacked,
}

#[derive(Clone, Debug)]
enum Step {
    Send(u8),
    Ack(u8),
    Sack(u8, u8),
    Resend,
    MarkBySacks,
    /// RACK considers segments overdue that were sent at least this number of transmissions ago.
    MarkOverdue(u8),
    /// A timeout marks segments as lost that were sent at least this number of transmissions ago.
    Timeout(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (1u8..20).prop_map(Step::Send),
        2 => (0u8..10).prop_map(Step::Ack),
        6 => (0u8..60, 1u8..20).prop_map(|(from, len)| Step::Sack(from, len)),
        3 => Just(Step::Resend),
        3 => Just(Step::MarkBySacks),
        2 => (0u8..40).prop_map(Step::MarkOverdue),
        1 => prop_oneof![Just(0), 0u8..40].prop_map(Step::Timeout),
    ];
    proptest::collection::vec(step, 1..120)
}

proptest! {
    #[test]
    fn the_scoreboard_agrees_with_a_plain_list(steps in steps()) {
        let mss = u64::from(MSS);
        let mut board = Scoreboard::new(true);
        let mut model: Vec<Model> = Vec::new();
        let mut left: Vec<u64> = Vec::new();
        // Whether a segment was ever retransmitted.
        let mut again: Vec<bool> = Vec::new();
        let (mut una, mut packet) = (0usize, 0u64);
        for step in steps {
            match step {
                Step::Send(n) => for _ in 0..n {
                    board.sent(model.len() as u64 * mss, MSS, false, &how(packet, packet));
                    model.push(Model::Sent);
                    left.push(packet);
                    again.push(false);
                    packet += 1;
                },
                Step::Ack(n) => {
                    let calm = model[una..].iter().all(|fate| *fate == Model::Sent) && !again[una..].contains(&true);
                    una = (una + usize::from(n)).min(model.len());
                    let upto = una as u64 * mss;
                    // Uses the fast path for an ACK of one segment, if nothing else is in progress.
                    match board.head_up_to(upto).filter(|_| calm) {
                        Some(first) => {
                            prop_assert_eq!(first.packet, left[una - 1]);
                            board.drop_first(first.len);
                        }
                        None => {
                            board.acknowledge(upto, |_| {});
                        }
                    }
                }
                Step::Sack(from, len) => {
                    let from = una + usize::from(from);
                    let to = (from + usize::from(len)).min(model.len());
                    let mut arrivals = Vec::new();
                    board.sack(from as u64 * mss, to as u64 * mss, |arrival| arrivals.push(arrival));
                    let fresh = model.iter_mut().take(to).skip(from).filter(|fate| **fate != Model::Sacked);
                    let count = fresh.map(|fate| *fate = Model::Sacked).count();
                    prop_assert_eq!(arrivals.len(), count);
                }
                Step::Resend => {
                    let expected = model.iter().skip(una).any(|fate| *fate == Model::Lost);
                    let range = board.next_lost();
                    prop_assert_eq!(range.is_some(), expected);
                    if let Some(range) = range {
                        let at = usize::try_from(range.start / mss).unwrap();
                        prop_assert_eq!(model[at], Model::Lost);
                        board.resent(&range, &how(packet, packet));
                        model[at] = Model::Resent;
                        left[at] = packet;
                        again[at] = true;
                        packet += 1;
                    }
                }
                Step::MarkBySacks => {
                    board.mark_lost_by_sacks(&mut Vec::new());
                    for at in una..model.len() {
                        let above = model[at + 1..].iter().filter(|fate| **fate == Model::Sacked).count();
                        if model[at] == Model::Sent && above >= 3 {
                            model[at] = Model::Lost;
                        }
                    }
                }
                Step::MarkOverdue(ago) => {
                    let deadline = packet.saturating_sub(u64::from(ago));
                    let mut lost = Vec::new();
                    board.mark_overdue(packet, Time::from_nanos(deadline), &mut lost);
                    for at in una..model.len() {
                        if matches!(model[at], Model::Sent | Model::Resent) && left[at] <= deadline {
                            model[at] = Model::Lost;
                            prop_assert!(lost.iter().any(|lost| lost.packet == left[at]));
                        }
                    }
                }
                Step::Timeout(ago) => {
                    let deadline = packet.saturating_sub(u64::from(ago));
                    board.mark_lost_at_timeout(Time::from_nanos(deadline), false);
                    for at in una..model.len() {
                        if model[at] != Model::Sacked && (at == una || left[at] <= deadline) {
                            model[at] = Model::Lost;
                        }
                    }
                }
            }
            let outstanding = &model[una..];
            let pipe = outstanding.iter().filter(|fate| matches!(fate, Model::Sent | Model::Resent)).count();
            let sacked = outstanding.iter().filter(|fate| **fate == Model::Sacked).count();
            prop_assert_eq!(board.pipe(), Bytes::new(pipe as u64 * mss));
            prop_assert_eq!(board.repeated, again[una..].iter().filter(|again| **again).count() as u64);
            let in_network = |at: &usize| matches!(model[*at], Model::Sent | Model::Resent);
            let before = (una..model.len()).filter(in_network).filter(|at| left[*at] + 3 < packet).map(|at| left[at]).max();
            prop_assert_eq!(board.last_before(packet.saturating_sub(3)), before.map(Time::from_nanos));
            prop_assert_eq!(board.sacked_bytes(), Bytes::new(sacked as u64 * mss));
            prop_assert_eq!(board.has_lost(), outstanding.contains(&Model::Lost));
        }
    }
}
