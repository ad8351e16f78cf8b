//! A connection captured at several places has the results that each sender's nearest place gives alone, no matter which packets of the
//! handshake were retransmitted or lost between the places, and how far the places' clocks are apart.

use crate::made::{ACK, Form, Frame, From, MS, PLAIN, SYN, Segment, packet, pcap};
use crate::start::{Start, syn_options};
use firstflight_inspect::{Found, inspect};

const BULK: [u32; 5] = [10, 20, 30, 30, 30];
/// From one end to the other.
const WAY: u64 = 20 * MS;
/// The places: at the client, between, at the server.
const HOPS: [u64; 3] = [0, 2, 3];

/// A segment, its transmission time, and the number of places that it passed.
#[derive(Clone)]
struct Sent {
    at: u64,
    segment: Segment,
    passes: usize,
}

/// Field in which the places of a capture differ.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mark {
    /// By the hops left, IPv4 or IPv6.
    Hops(bool),
    /// By the interface of a cooked header.
    Interface,
}

/// Returns the times at which a packet passes the places, with the place, in order.
fn sightings(sent: &Sent) -> Vec<(u64, usize)> {
    let order: Vec<usize> = if sent.segment.from == From::Client { vec![0, 1, 2] } else { vec![2, 1, 0] };
    let passed = order.iter().map(|place| {
        let hops = HOPS[*place].abs_diff(HOPS[order[0]]);
        (sent.at + WAY * hops / HOPS[2], *place)
    });
    passed.take(sent.passes).collect()
}

fn frame(sent: &Sent, place: usize, mark: Mark, number: u16) -> Vec<u8> {
    let end = if sent.segment.from == From::Client { 0 } else { 2 };
    let hops = u8::try_from(64 - HOPS[place].abs_diff(HOPS[end])).unwrap();
    let is_ipv6 = mark == Mark::Hops(true);
    let mut bytes = packet(&sent.segment, is_ipv6);
    bytes[if is_ipv6 { 7 } else { 8 }] = if mark == Mark::Interface { 64 } else { hops };
    if !is_ipv6 {
        bytes[4..6].copy_from_slice(&number.to_be_bytes());
    }
    if mark == Mark::Interface {
        let index = u8::try_from(place + 1).unwrap();
        return [&[8, 0, 0, 0, 0, 0, 0, index, 0, 1, 0, 6][..], &[0; 8], &bytes].concat();
    }
    bytes
}

/// Returns the capture of these places, whose clocks are ahead by these times.
fn capture(sent: &[Sent], places: &[(usize, i64)], mark: Mark) -> Vec<Frame> {
    let mut frames: Vec<Frame> = Vec::new();
    for (number, one) in sent.iter().enumerate() {
        let number = u16::try_from(number + 1).unwrap();
        for (at, place) in sightings(one) {
            if let Some((_, ahead)) = places.iter().find(|(which, _)| *which == place) {
                frames.push((at.strict_add_signed(*ahead), frame(one, place, mark, number)));
            }
        }
    }
    frames.sort_by_key(|(at, _)| *at);
    frames
}

fn all(frames: &[Frame], mark: Mark) -> Vec<Found> {
    let link = if mark == Mark::Interface { 276 } else { 101 };
    let found_of = inspect(&pcap(Form { link, ..PLAIN }, frames)[..], false).expect("a capture");
    found_of.senders.into_iter().map(|one| one.found).collect()
}

/// A packet of the handshake: sender, flags, milliseconds after the first packet, and the number of places that it passes.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Early(From, u8, u64, usize);

/// Returns an upload whose handshake begins with these segments, and in which the server sends once. The client's data begins when the
/// first packet arrives that acknowledges its SYN.
fn talk(early: &[Early], from: u64, isn: u32) -> Vec<Sent> {
    let mut start = Start::default();
    start.open(0, 0);
    let over = start.bulk(41_000, &BULK);
    start.close(over + 1000);
    let began = start.packets[0].0;
    let arrives = |one: &&Early| one.0 == From::Server && one.1 & ACK != 0 && one.3 == 3;
    let late = early.iter().find(arrives).map_or(0, |one| one.2) * MS - WAY;
    let mut sent: Vec<Sent> = Vec::new();
    for Early(host, flags, ms, passes) in early {
        let (seq, ack) = if *host == From::Client { (1000, 501) } else { (500, 1001) };
        let seq = if flags & SYN != 0 { seq } else { seq + 1 };
        let options = syn_options(ms * 1000);
        let ack = if flags & ACK != 0 { ack } else { 0 };
        let segment = Segment { from: *host, flags: *flags, seq, ack, options, len: 0 };
        sent.push(Sent { at: began + ms * MS, segment, passes: *passes });
    }
    for (at, segment) in start.packets.into_iter().skip(2) {
        let left = if segment.from == From::Client { at } else { at - WAY };
        sent.push(Sent { at: left + late, segment, passes: 3 });
    }
    let mut said = sent[early.len()].clone();
    said.segment = Segment { from: From::Server, seq: 501, ack: 1001, len: 700, ..said.segment };
    said.at += 10 * MS;
    sent.push(said);
    for one in &mut sent {
        one.at += from;
        let (seq, ack) = if one.segment.from == From::Client { (isn, 2 * isn) } else { (2 * isn, isn) };
        one.segment.seq = one.segment.seq.wrapping_add(seq);
        if one.segment.flags & ACK != 0 {
            one.segment.ack = one.segment.ack.wrapping_add(ack);
        }
    }
    sent.sort_by_key(|one| one.at);
    sent
}

/// Returns a SYN of the client.
const fn syn(ms: u64, passes: usize) -> Early {
    Early(From::Client, SYN, ms, passes)
}

const fn syn_ack(ms: u64, passes: usize) -> Early {
    Early(From::Server, SYN | ACK, ms, passes)
}

/// Returns a SYN of the server, for crossed SYNs.
const fn back_syn(ms: u64, passes: usize) -> Early {
    Early(From::Server, SYN, ms, passes)
}

const fn back_syn_ack(ms: u64, passes: usize) -> Early {
    Early(From::Client, SYN | ACK, ms, passes)
}

/// Handshakes in which packets were lost: one or two places before the server, and before the client.
const HANDSHAKES: [&[Early]; 8] = [
    &[syn(0, 3), syn_ack(20, 3)],
    &[syn(0, 1), syn(1000, 3), syn_ack(1020, 3)],
    &[syn(0, 2), syn(1000, 3), syn_ack(1020, 3)],
    &[syn(0, 3), syn_ack(20, 1), syn_ack(1020, 3)],
    &[syn(0, 3), syn_ack(20, 2), syn_ack(1020, 1), syn_ack(3020, 3)],
    // The SYN is retransmitted, and the SYN-ACK for it too.
    &[syn(0, 3), syn_ack(20, 1), syn(1000, 3), syn_ack(1020, 3)],
    &[syn(0, 1), syn(1000, 3), syn_ack(1020, 2), syn_ack(2020, 3)],
    // The SYN-ACK arrives, and its repetition, too.
    &[syn(0, 3), syn_ack(20, 3), syn_ack(30, 3)],
];

/// Crossed SYNs: all arrive; one of the two is lost; both are, and cross again; a SYN-ACK is lost.
const CROSSED: [&[Early]; 5] = [
    &[syn(0, 3), back_syn(5, 3), syn_ack(20, 3), back_syn_ack(25, 3)],
    &[syn(0, 1), back_syn(5, 3), back_syn_ack(25, 3), Early(From::Server, ACK, 45, 3)],
    &[syn(0, 3), back_syn(5, 1), syn_ack(20, 3)],
    &[syn(0, 2), back_syn(5, 1), syn(1000, 3), back_syn(1003, 3), syn_ack(1020, 3), back_syn_ack(1023, 3)],
    &[syn(0, 3), back_syn(5, 3), syn_ack(20, 3), back_syn_ack(25, 1)],
];

/// Returns the results that do not depend on whether a place is alone or with others. With crossed SYNs, each place has another first host.
fn alike(found: &Found) -> Found {
    Found { duplicates: 0, role: None, ..found.clone() }
}

/// Compares the results of all places together with those of the client's place and the server's, each alone.
#[track_caller]
fn is_as_alone(sent: &[Sent], places: &[(usize, i64)], mark: Mark, what: &str) {
    let together = all(&capture(sent, places, mark), mark);
    let ends = [0, places.len() - 1].map(|at| all(&capture(sent, &places[at..=at], mark), mark));
    let senders: Vec<_> = together.iter().map(|found| (found.connection, &found.from)).collect();
    assert_eq!(senders.len(), ends[0].len(), "{what}: {senders:?}");
    for found in &together {
        let of_end = &ends[usize::from(found.from.ends_with(":80"))];
        let is_it =
            |one: &&Found| one.from == found.from && one.began_at_s.total_cmp(&found.began_at_s).is_eq();
        let alone = of_end.iter().find(is_it).unwrap_or_else(|| panic!("{what}: {:?}", found.from));
        assert_eq!(alone.vantage, Some("sender"), "{what}");
        assert_eq!(alike(found), Found { connection: found.connection, ..alike(alone) }, "{what}");
    }
}

#[test]
fn each_sender_is_described_by_its_nearest_place_whatever_was_retransmitted() {
    for handshake in HANDSHAKES.into_iter().chain(CROSSED) {
        let sent = talk(handshake, 500 * MS, 0);
        for mark in [Mark::Hops(false), Mark::Hops(true), Mark::Interface] {
            for places in [&[0, 2][..], &[0, 1, 2]] {
                let places: Vec<_> = places.iter().map(|place| (*place, 0)).collect();
                is_as_alone(&sent, &places, mark, &format!("{handshake:?} {mark:?} {places:?}"));
            }
        }
    }
}

#[test]
fn clocks_that_are_apart_change_no_sender() {
    const HOUR: i64 = 3_600_000;
    for handshake in HANDSHAKES.into_iter().chain(CROSSED) {
        let sent = talk(handshake, 10_000 * MS, 0);
        for ahead in [-5, 120, -700, 1500, -HOUR] {
            let ahead = ahead * 1_000_000;
            let two = vec![(0, 0), (2, ahead)];
            let three = vec![(0, ahead / 2), (1, 0), (2, ahead)];
            let captures = [(Mark::Hops(false), two), (Mark::Interface, three)];
            let is_crossed = CROSSED.contains(&handshake);
            for (mark, places) in captures.into_iter().take(2 - usize::from(is_crossed)) {
                is_as_alone(&sent, &places, mark, &format!("{handshake:?} {mark:?} {places:?}"));
            }
        }
    }
}

#[test]
fn reused_ports_give_the_same_connections_at_two_places_as_at_one() {
    for handshake in HANDSHAKES {
        let both: Vec<_> = [(0, 0), (5_000, 70_000_000), (10_000, 7_000_000)]
            .iter()
            .flat_map(|(ms, isn)| talk(handshake, (10_000 + ms) * MS, *isn))
            .collect();
        for ahead in [0, 120, -3_000, 4_800, 6_000] {
            let places = [(0, 0), (2, ahead * 1_000_000)];
            is_as_alone(&both, &places, Mark::Hops(false), &format!("{handshake:?} {ahead}"));
        }
    }
}

#[test]
fn crossed_syns_have_the_round_trip_that_each_ends_capture_shows() {
    for (handshake, is_repeated) in CROSSED.into_iter().zip([false, false, false, true, false]) {
        let sent = talk(handshake, 500 * MS, 0);
        for (place, sender) in [(0, "10.0.0.1:40000"), (2, "10.0.0.2:80")] {
            let all = all(&capture(&sent, &[(place, 0)], Mark::Hops(false)), Mark::Hops(false));
            let found = all.iter().find(|one| one.from == sender).expect("both send");
            assert_eq!(found.vantage, Some("sender"), "{handshake:?} {place}: {:?}", found.undefined);
            let rtt = (!is_repeated).then_some(0.04);
            let found_of = found.handshake_rtt_s.map(|rtt| (rtt * 1e4).round() / 1e4);
            assert_eq!(found_of, rtt, "{handshake:?} {place}: {:?}", found.undefined);
            if place == 0 {
                assert_eq!(found.initial_window_limit, Some("window"), "{handshake:?}");
                assert_eq!(found.initial_window_segments, Some(10), "{handshake:?}");
                assert!(found.min_rtt_s.is_some_and(|rtt| (rtt - 0.04).abs() < 1e-3), "{handshake:?}");
            }
        }
    }
}

#[test]
fn a_retransmitted_syn_on_another_route_loses_no_sender() {
    let sent = talk(HANDSHAKES[1], 500 * MS, 0);
    let mut frames = capture(&sent, &[(0, 0)], Mark::Hops(false));
    // From the retransmission on, the client's packets have one hop less left.
    for (_, bytes) in frames.iter_mut().skip(1).filter(|(_, bytes)| bytes[15] == 1) {
        bytes[8] -= 1;
    }
    let found = all(&frames, Mark::Hops(false));
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].retransmitted_segments, found[0].initial_window_segments), (Some(0), Some(10)));
    assert_eq!(found[0].vantage, Some("sender"));
    assert_eq!(SYN & frames[0].1[33], SYN);
}
