//! A packet captured at two places is no retransmission.

use crate::made::{Form, Frame, From, MS, PLAIN, Segment, packet, pcap};
use crate::start::{MSS, Start};
use firstflight_inspect::{Found, inspect};

const BULK: [u32; 9] = [10, 20, 40, 60, 60, 60, 60, 60, 60];
const SEGMENTS: u64 = 430;

fn talk() -> Vec<(u64, Segment)> {
    let mut start = Start::default();
    start.open(0, 0);
    let over = start.bulk(41_000, &BULK);
    start.close(over + 1000);
    start.packets
}

fn all(form: Form, mut frames: Vec<Frame>) -> Vec<Found> {
    frames.sort_by_key(|(at, _)| *at);
    let found_of = inspect(&pcap(form, &frames)[..], false).expect("a capture");
    found_of.senders.into_iter().map(|one| one.found).collect()
}

fn found(frames: Vec<Frame>) -> Found {
    let [found] = <[Found; 1]>::try_from(all(PLAIN, frames)).expect("one sender");
    found
}

/// Returns the segment with so many hops left.
fn hopping(segment: &Segment, is_ipv6: bool, hops: u8) -> Vec<u8> {
    let mut bytes = packet(segment, is_ipv6);
    bytes[if is_ipv6 { 7 } else { 8 }] = hops;
    bytes
}

/// Captures at both ends, with clocks half an RTT plus `skew` apart: packets seen by the near one were seen by the far one before or are
/// seen after.
fn both_ends(talk: &[(u64, Segment)], is_ipv6: bool, skew: u64) -> Vec<Frame> {
    let mut frames = vec![];
    for (at, segment) in talk {
        let (near, far, way) = match segment.from {
            From::Client => (64, 61, skew + 20 * MS),
            From::Server => (61, 64, skew - 20 * MS),
        };
        frames.push((*at + 500 * MS, hopping(segment, is_ipv6, near)));
        frames.push((*at + 500 * MS + way - 200 * MS, hopping(segment, is_ipv6, far)));
    }
    frames
}

#[test]
fn both_ends_of_a_wire_without_identifications_are_undefined_with_the_evidence() {
    for is_ipv6 in [false, true] {
        let mut frames = both_ends(&talk(), is_ipv6, 200 * MS);
        for (_, bytes) in &mut frames {
            bytes[if is_ipv6 { 7 } else { 8 }] = 64;
            if !is_ipv6 {
                bytes[4..6].fill(0);
            }
        }
        let found = found(frames);
        assert_eq!((found.retransmitted_segments, found.bytes_sent), (None, None));
        assert_eq!((found.exit_cause, found.initial_window_segments, found.vantage), (None, None, None));
        let why = &found.undefined["retransmitted_segments"];
        assert!(why.contains("passed again, and no other measures an RTT"), "{why}");
        let why = &found.undefined["handshake_rtt_s"];
        assert!(why.contains("passed twice"), "{why}");
    }
}

fn is_told(found: &Found) {
    assert_eq!((found.retransmitted_segments, found.data_segments_sent), (Some(0), Some(SEGMENTS)));
    assert_eq!((found.initial_window_segments, found.vantage), (Some(10), Some("sender")));
    assert_eq!(found.exit_cause, Some("flat"), "{:?}", found.undefined);
    assert!(
        found.handshake_rtt_s.is_some_and(|rtt| (rtt - 0.04).abs() < 1e-3),
        "{:?}",
        found.handshake_rtt_s
    );
}

#[test]
fn merged_captures_of_both_ends_are_separated_by_hops_despite_clock_skew() {
    // Skews of zero, 5 ms and 120 ms in either direction; 200 is a skew of zero.
    for skew in [200, 205, 195, 320, 80] {
        for is_ipv6 in [false, true] {
            let found = found(both_ends(&talk(), is_ipv6, skew * MS));
            is_told(&found);
            // Packets that the far clock shows before the near one shows a SYN are recognised as copies later.
            assert!(found.duplicates > SEGMENTS - 60, "{skew}: {}", found.duplicates);
        }
    }
}

#[test]
fn each_sender_in_merged_captures_is_reported_from_its_own_end() {
    let mut talk = talk();
    // The server also sends data, once.
    let mut said = talk[2].1.clone();
    (said.from, said.seq, said.ack, said.len) = (From::Server, 501, 1001, 700);
    talk.insert(3, (talk[2].0 + 20 * MS, said));
    let all = all(PLAIN, both_ends(&talk, false, 200 * MS));
    let said: Vec<_> = all.iter().map(|one| (one.role, one.vantage, one.retransmitted_segments)).collect();
    let sender = Some("sender");
    assert_eq!(said, [(Some("client"), sender, Some(0)), (Some("server"), sender, Some(0))]);
}

/// A router receives packets of several segments and cuts them: each packet passes whole with 64 hops left, and in pieces with 63.
#[test]
fn pieces_of_a_packet_that_was_seen_whole_were_not_sent_again() {
    for has_syn in [true, false] {
        let mut frames = vec![];
        let talk = talk();
        let mut whole: Option<(u64, Segment)> = None;
        let end = |frames: &mut Vec<Frame>, whole: &mut Option<(u64, Segment)>| {
            if let Some((at, segment)) = whole.take() {
                frames.push((at, hopping(&segment, false, 64)));
            }
        };
        for (at, segment) in &talk {
            let is_data = segment.len == MSS as usize;
            match &mut whole {
                Some((_, last))
                    if is_data
                        && segment.seq == last.seq + u32::try_from(last.len).unwrap()
                        && last.len < 8 * MSS as usize
                        && segment.options == last.options =>
                {
                    last.len += segment.len;
                }
                _ => {
                    end(&mut frames, &mut whole);
                    whole = Some((*at, segment.clone()));
                }
            }
            let is_syn = segment.flags & 2 != 0;
            if has_syn || !is_syn {
                frames.push((*at + 3 * MS, hopping(segment, false, 63)));
            }
        }
        end(&mut frames, &mut whole);
        let found = found(frames);
        assert_eq!(found.retransmitted_segments, Some(0), "{has_syn}");
        assert_eq!(found.data_segments_sent, Some(SEGMENTS), "{has_syn}");
    }
}

/// Returns a cooked frame of this packet type.
fn cooked(kind: u8, segment: &Segment) -> Vec<u8> {
    [&[0, kind][..], &[0; 12], &[0x86, 0xDD], &packet(segment, true)].concat()
}

#[test]
fn bridge_interface_copies_are_recognised_by_packet_type() {
    let mut frames = vec![];
    for (at, segment) in talk() {
        let (first, second) = if segment.from == From::Client { (0, 4) } else { (3, 4) };
        // Packets to the client leave later than they arrived.
        let (here, there) =
            if segment.from == From::Client { (at, at + 12 * MS) } else { (at - 12 * MS, at) };
        frames.push((here, cooked(first, &segment)));
        frames.push((there, cooked(second, &segment)));
    }
    let all = all(Form { link: 113, ..PLAIN }, frames);
    is_told(&all[0]);
}

#[test]
fn a_repetition_keeps_its_hops_and_has_a_newer_timestamp() {
    let mut talk = talk();
    // The thirtieth data segment, retransmitted 45 ms later.
    let data = talk.iter().filter(|(_, segment)| segment.len > 0).nth(30).expect("data").clone();
    let mut again = data.1;
    let stamp = u32::from_be_bytes(again.options[4..8].try_into().unwrap()) + 15;
    again.options[4..8].copy_from_slice(&stamp.to_be_bytes());
    talk.push((data.0 + 15 * MS, again));
    assert_eq!(found(both_ends(&talk, true, 200 * MS)).retransmitted_segments, Some(1));
}

#[test]
fn copies_that_nothing_tells_from_repetitions_leave_the_numbers_undefined() {
    let mut frames = vec![];
    for (at, mut segment) in talk() {
        // No timestamps, no identifications, one interface, the same hops.
        segment.options = if segment.flags & 2 == 0 { vec![] } else { vec![2, 4, 5, 180, 1, 3, 3, 7] };
        let later = if segment.from == From::Client { 15 * MS } else { 1000 };
        frames.push((at, packet(&segment, false)));
        frames.push((at + later, packet(&segment, false)));
    }
    let found = found(frames);
    for field in
        ["retransmitted_segments", "bytes_sent", "initial_window_segments", "exit_cause", "min_rtt_s"]
    {
        assert!(found.undefined[field].contains("twice"), "{field}: {:?}", found.undefined.get(field));
    }
    assert_eq!((found.retransmitted_segments, found.exit_cause), (None, None));
}
