//! A file whose order is wrong and whose times are right has the same results as in order; a packet with a wrong time changes nothing.

use crate::made::{Form, Frame, From, MS, PLAIN, Segment, packet, pcap, pcapng};
use crate::start::Start;
use firstflight_inspect::{Found, Inspection, inspect};

const BULK: [u32; 9] = [10, 20, 40, 60, 60, 60, 60, 60, 60];

/// Returns an upload in which the flight grows to sixty segments, `slower` times as slow.
fn talk(slower: u64, has_stamps: bool) -> Vec<(u64, Segment)> {
    let mut start = Start::default();
    start.open(0, 0);
    let over = start.bulk(41_000, &BULK);
    start.close(over + 1000);
    let began = start.packets[0].0;
    for (at, segment) in &mut start.packets {
        *at = began + (*at - began) * slower;
        if !has_stamps {
            segment.options.truncate(if segment.flags & 2 == 0 { 0 } else { 12 });
        }
    }
    start.packets.sort_by_key(|(at, _)| *at);
    // No two packets have the same time: only the order of the file would distinguish those.
    let numbered = (0..).zip(start.packets);
    numbered.map(|(number, (at, segment))| (at + number, segment)).collect()
}

fn frames(talk: &[(u64, Segment)]) -> Vec<Frame> {
    talk.iter().map(|(at, segment)| (*at, packet(segment, false))).collect()
}

fn read(form: Form, frames: &[Frame]) -> Inspection {
    inspect(&pcap(form, frames)[..], false).expect("a capture")
}

fn only(mut inspection: Inspection) -> Found {
    let all: Vec<_> = inspection.senders.iter().map(|one| (one.found.connection, &one.found.from)).collect();
    assert_eq!(all.len(), 1, "{all:?}");
    inspection.senders.remove(0).found
}

/// Returns the packets in blocks of so many milliseconds, in which the packets of one queue follow those of another.
fn in_blocks<T: Clone>(packets: &[(u64, T)], ms: u64, queue: impl Fn(usize, &T) -> usize) -> Vec<(u64, T)> {
    let began = packets[0].0;
    let block = |at: u64| (at - began) / (ms * MS);
    let mut numbered: Vec<_> = packets.iter().enumerate().collect();
    numbered.sort_by_key(|(number, (at, one))| (block(*at), queue(*number, one), *number));
    numbered.into_iter().map(|(_, one)| one.clone()).collect()
}

#[test]
fn a_file_of_blocks_of_queues_says_what_it_says_in_order() {
    for has_stamps in [true, false] {
        let talk = talk(1, has_stamps);
        let plain = only(read(PLAIN, &frames(&talk)));
        assert_eq!((plain.exit_cause, plain.initial_window_segments), (Some("flat"), Some(10)));
        for ms in [1, 12, 30, 60, 250, 500] {
            // A queue for each direction, either one first; and processors that take packets by turns.
            let by_direction = in_blocks(&talk, ms, |_, one| usize::from(one.from == From::Server));
            let the_other_first = in_blocks(&talk, ms, |_, one| usize::from(one.from == From::Client));
            let two = in_blocks(&talk, ms, |number, _| number * 7 / 3 % 2);
            let five = in_blocks(&talk, ms, |number, _| number * 11 % 5);
            for mixed in [by_direction, the_other_first, two, five] {
                let inspection = read(PLAIN, &frames(&mixed));
                let times = inspection.tally.times;
                assert_eq!((times.displaced, times.wrong, times.set_back), (0, 0, 0), "{ms} {times:?}");
                assert!(times.sorted > 0, "{ms}");
                assert_eq!(only(inspection), plain, "{ms}");
            }
        }
    }
}

#[test]
fn blocks_are_sorted_in_every_format_and_resolution() {
    let talk = talk(1, true);
    let mixed = frames(&in_blocks(&talk, 60, |_, one| usize::from(one.from == From::Server)));
    for per_second in [1_000_000, 1_000_000_000] {
        let form = Form { per_second, ..PLAIN };
        let plain = only(read(form, &frames(&talk)));
        assert_eq!(only(read(form, &mixed)), plain);
        let found_of = inspect(&pcapng(form, &mixed)[..], false).expect("a capture");
        assert_eq!(only(found_of), plain);
    }
}

#[test]
fn order_beyond_the_window_is_unknown_and_measurements_are_undefined() {
    for has_stamps in [true, false] {
        // Eight seconds in blocks of three.
        let talk = talk(20, has_stamps);
        let plain = only(read(PLAIN, &frames(&talk)));
        assert_eq!(plain.exit_cause, Some("flat"));
        let by_direction = in_blocks(&talk, 3_000, |_, one| usize::from(one.from == From::Server));
        let the_other_first = in_blocks(&talk, 3_000, |_, one| usize::from(one.from == From::Client));
        let two = in_blocks(&talk, 3_000, |number, _| number * 7 / 3 % 2);
        for mixed in [by_direction, the_other_first, two] {
            let inspection = read(PLAIN, &frames(&mixed));
            assert!(inspection.tally.times.displaced > 0, "{:?}", inspection.tally.times);
            let found = only(inspection);
            for field in
                ["exit_cause", "initial_window_segments", "retransmitted_segments", "min_rtt_s", "pacing"]
            {
                let why = &found.undefined[field];
                assert!(why.contains("their order is not known"), "{field}: {why}");
            }
            assert_eq!((found.exit_cause, found.min_rtt_s, found.rounds.len()), (None, None, 0));
            assert_eq!(found.mss_bytes, plain.mss_bytes);
        }
    }
}

#[test]
fn a_packet_with_a_wrong_timestamp_changes_no_measurement() {
    for has_stamps in [true, false] {
        let talk = talk(1, has_stamps);
        let plain = only(read(PLAIN, &frames(&talk)));
        // A segment within the fourth round, and an acknowledgement; one of each; and several.
        let of = |from: From, place: usize| {
            let is_it = |(_, (_, one)): &(usize, &(u64, Segment))| one.from == from && one.flags == 16;
            talk.iter().enumerate().filter(is_it).nth(place).expect("a packet").0
        };
        let [data, ack] = [of(From::Client, 90), of(From::Server, 60)];
        for places in [vec![data], vec![ack], vec![data, ack], vec![ack, ack + 2, data, data + 3]] {
            for ms in [-90_000_i64, -3_000, -500, -20, -12, 12, 20, 500, 3_000, 50_000, 3_600_000_000] {
                let mut wrong = frames(&talk);
                for place in &places {
                    wrong[*place].0 = wrong[*place].0.strict_add_signed(ms * MS.cast_signed());
                }
                let inspection = read(PLAIN, &wrong);
                let times = inspection.tally.times;
                let what = format!("{places:?} {ms} {has_stamps}");
                assert_eq!((times.wrong, times.set_back), (places.len() as u64, 0), "{what}: {times:?}");
                let found = only(inspection);
                assert_eq!(found.min_rtt_s, plain.min_rtt_s, "{what}");
                assert_eq!(found.retransmitted_segments, plain.retransmitted_segments, "{what}");
                assert_eq!(
                    (found.exit_cause, found.exit_time_s),
                    (plain.exit_cause, plain.exit_time_s),
                    "{what}"
                );
                assert_eq!(found.exit_flight_bytes, plain.exit_flight_bytes, "{what}");
                assert_eq!((found.rounds_total, found.pacing), (plain.rounds_total, plain.pacing), "{what}");
                assert!((found.duration_s - plain.duration_s).abs() < 1e-9, "{what}");
            }
        }
    }
}
