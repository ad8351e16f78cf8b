//! Captures that could take a reader far more time than they have packets: five times as large, each of these shapes took 15 to 23 seconds
//! in a release build when a packet could cost a pass over all data in flight, and a connection a million intervals. The tests check that
//! they are read completely; the time taken is not asserted.

use firstflight_inspect::inspect;

use crate::made::{ACK, DAY, Form, From, PLAIN, SYN, Segment, packet, pcap};

fn segment(from: From, seq: u32, ack: u32, len: u32) -> Segment {
    Segment { from, flags: ACK, seq, ack, options: vec![], len: len as usize }
}

/// Returns an acknowledgement up to `place` with these blocks.
fn sack(place: u32, blocks: &[(u32, u32)]) -> Segment {
    let length = u8::try_from(2 + 8 * blocks.len()).expect("four blocks at most");
    let mut options = vec![1, 1, 5, length];
    let ends = blocks.iter().flat_map(|&(from, to)| [from, to]);
    options.extend(ends.flat_map(|place| (1001 + place).to_be_bytes()));
    Segment { options, ..segment(From::Server, 501, 1001 + place, 0) }
}

fn data(place: u32, len: u32) -> Segment {
    segment(From::Client, 1001 + place, 501, len)
}

/// Returns a capture of a handshake over 40 ms and these packets, one every 10 µs, truncated to the headers.
fn capture(rest: impl IntoIterator<Item = Segment>) -> Vec<u8> {
    let options = vec![2, 4, 5, 180, 1, 3, 3, 14, 4, 2, 1, 1];
    let syn = Segment { flags: SYN, seq: 1000, options: options.clone(), ..segment(From::Client, 0, 0, 0) };
    let answer = Segment { flags: SYN | ACK, seq: 500, options, ..segment(From::Server, 0, 1001, 0) };
    let opening = [(0, syn), (40_000_000, answer), (40_001_000, segment(From::Client, 1001, 501, 0))];
    let rest = rest.into_iter().enumerate().map(|(at, one)| (41_000_000 + at as u64 * 10_000, one));
    let written = |(at, one): (u64, Segment)| (DAY + at, packet(&one, false));
    let frames: Vec<_> = opening.into_iter().chain(rest).map(written).collect();
    pcap(Form { snap: 100, ..PLAIN }, &frames)
}

/// Checks that all packets are read, and returns the retransmissions of the first connection's sender.
#[track_caller]
fn read(capture: &[u8], packets: u64, connections: u64) -> u64 {
    let inspection = inspect(capture, false).expect("a capture");
    assert_eq!((inspection.tally.packets, inspection.tally.tcp), (packets, packets));
    assert_eq!(inspection.senders.last().map_or(0, |one| one.found.connection), connections);
    inspection.senders[0].found.retransmitted_segments.unwrap()
}

/// Places in no order, each once.
fn scattered(count: u32) -> impl Iterator<Item = u32> {
    (0..count).map(move |index| u32::try_from(u64::from(index) * 999_983 % u64::from(count)).expect("less"))
}

#[test]
fn a_large_window_behind_a_hole() {
    const COUNT: u32 = 40_000;
    let packets = (0..COUNT).flat_map(|place| [data(place * 100, 100), sack(0, &[(100, place * 100 + 100)])]);
    assert_eq!(read(&capture(packets), 3 + 2 * u64::from(COUNT), 1), 0);
}

#[test]
fn blocks_in_the_middle_of_everything() {
    const COUNT: u32 = 40_000;
    let packets = (0..COUNT).map(|place| data(place * 100, 100));
    let byte = |place: u32| (place * 100 + 50, place * 100 + 51);
    let blocks = scattered(COUNT).map(|place| sack(0, &[byte(place)]));
    assert_eq!(read(&capture(packets.chain(blocks)), 3 + 2 * u64::from(COUNT), 1), 0);
}

#[test]
fn pieces_sent_again_in_the_middle_of_everything() {
    const COUNT: u32 = 40_000;
    let packets = (0..COUNT).map(|place| data(place * 100, 100));
    let again = scattered(COUNT).map(|place| data(place * 100 + 50, 1));
    assert_eq!(read(&capture(packets.chain(again)), 3 + 2 * u64::from(COUNT), 1), u64::from(COUNT));
}

#[test]
fn many_small_packets_sent_again_in_one_large_packet_again_and_again() {
    const COUNT: u32 = 12_000;
    let packets = (0..COUNT).map(|place| data(place, 1));
    let holes = (0..COUNT / 2).map(|place| sack(0, &[(place * 2 + 1, place * 2 + 2)]));
    let mut bytes = capture(packets.chain(holes));
    let mut again = pcap(Form { snap: 100, ..PLAIN }, &[(0, packet(&data(0, COUNT), false))]).split_off(24);
    for number in 0..2 * COUNT {
        // More than a round trip apart: no copies of one.
        let time = DAY + (2_000_000_000 + u64::from(number) * 50_000_000);
        let halves =
            [time / 1_000_000_000, time % 1_000_000_000].map(|half| u32::try_from(half).expect("a time"));
        again[..8].copy_from_slice(&halves.map(u32::to_le_bytes).concat());
        bytes.extend(&again);
    }
    // Each large one is nine segments.
    assert_eq!(read(&bytes, 3 + u64::from(COUNT) * 7 / 2, 1), 9 * 2 * u64::from(COUNT));
}

#[test]
fn packets_in_the_wrong_order_by_thousands() {
    let place = |number: u32| number / 1000 * 1000 + 999 - number % 1000;
    let at = |number: u32| DAY + u64::from(place(number)) * 9_000;
    // The order of the file is wrong, or its times are.
    for numbers in [place as fn(u32) -> u32, |number| number] {
        let frame = |number: u32| (at(number), packet(&data(numbers(number) * 100, 100), false));
        let frames: Vec<_> = (0..80_000).map(frame).collect();
        assert_eq!(read(&pcap(Form { snap: 100, ..PLAIN }, &frames), 80_000, 1), 0);
    }
}

#[test]
fn a_clock_that_is_set_at_every_packet() {
    for step in [20, 5_000] {
        let at = |number: u32| DAY + u64::from(100_000 - number) * step * 1_000_000;
        let frame = |number: u32| (at(number), packet(&data(number * 100, 100), false));
        let frames: Vec<_> = (0..80_000).map(frame).collect();
        assert_eq!(read(&pcap(Form { snap: 100, ..PLAIN }, &frames), 80_000, 1), 0);
    }
}

#[test]
fn many_connections_that_each_look_long() {
    // A few packets of tiny segments over a second, and an acknowledgement of far more data.
    let options = vec![2, 4, 0, 1];
    let mut frames = Vec::new();
    for number in 0..600_u32 {
        let first = number.wrapping_mul(1_000_003);
        let syn =
            Segment { flags: SYN, seq: first, options: options.clone(), ..segment(From::Client, 0, 0, 0) };
        let answer = Segment {
            flags: SYN | ACK,
            seq: 500,
            options: options.clone(),
            ..segment(From::Server, 0, first + 1, 0)
        };
        let found_of = |bytes: u32| segment(From::Server, 501, first + 1 + bytes, 0);
        let steps = [
            (0, syn),
            (1, answer),
            (1, segment(From::Client, first + 1, 501, 0)),
            (2, segment(From::Client, first + 1, 501, 1)),
            (3, found_of(1)),
            (900_000, found_of(2)),
            (1_000_000, found_of(500_000_000)),
        ];
        frames.extend(steps.map(|(micros, one)| {
            (DAY + u64::from(number) * 2_000_000_000 + micros * 1000, packet(&one, false))
        }));
    }
    assert_eq!(read(&pcap(PLAIN, &frames), 600 * 7, 600), 0);
}
