//! A connection that is idle while many others pass has the same results as alone.

use firstflight_inspect::{Found, inspect};

use crate::made::{ACK, Frame, From, MS, PLAIN, SYN, Segment, frames, packet, pcap, upload};

/// More connections than are kept awake.
const OTHERS: u16 = 1_500;

/// Returns the results of the connections with this port, with their numbers set to zero.
fn found(frames: &[Frame], port: u16) -> Vec<Found> {
    let all = inspect(&pcap(PLAIN, frames)[..], false).expect("a capture").senders;
    let port = format!(":{port}");
    let mine = all.into_iter().map(|one| one.found);
    mine.filter(|one| one.from.ends_with(&port) || one.to.ends_with(&port))
        .map(|one| Found { connection: 0, ..one })
        .collect()
}

/// SYNs of other connections, a microsecond before `at`.
fn others(at: u64) -> impl Iterator<Item = Frame> {
    (0..OTHERS).map(move |port| {
        let syn = Segment { from: From::Client, flags: SYN, seq: 7, ack: 0, options: vec![], len: 0 };
        let mut frame = packet(&syn, false);
        frame[20..22].copy_from_slice(&(1_000 + port).to_be_bytes());
        (at - 1_000, frame)
    })
}

/// Checks that with others before every packet the results equal those alone.
fn is_the_same_among_others(alone: &[Frame]) {
    let among: Vec<Frame> = alone.iter().flat_map(|frame| others(frame.0).chain([frame.clone()])).collect();
    let expected = found(alone, 40_000);
    assert!(!expected.is_empty());
    assert_eq!(found(&among, 40_000), expected);
}

#[test]
fn an_upload_with_loss_and_copies_is_reported_as_if_alone() {
    let upload = frames(101, false, false);
    is_the_same_among_others(&upload);
    // The same upload with identifications, captured at two places 100 µs apart.
    let mut twice: Vec<Frame> = Vec::new();
    for (number, (at, mut frame)) in upload.into_iter().enumerate() {
        frame[5] = u8::try_from(number + 1).unwrap();
        let mut copy = frame.clone();
        copy[8] -= 1;
        twice.extend([(at, frame), (at + MS / 10, copy)]);
    }
    is_the_same_among_others(&twice);
}

#[test]
fn a_closed_connection_late_packet_and_successor_are_reported_as_if_alone() {
    let mut steps = upload();
    let end = steps.last().expect("packets").0;
    let fin = |from, seq, ack| Segment { from, flags: ACK | 1, seq, ack, options: vec![], len: 0 };
    let last = 1001 + 6 * 1460;
    steps.push((end + MS, fin(From::Client, last, 501)));
    steps.push((end + 41 * MS, fin(From::Server, 501, last + 1)));
    steps.push((end + 41 * MS, Segment { flags: ACK, ..fin(From::Client, last + 1, 502) }));
    // Data retransmitted long after it was acknowledged.
    steps.push((end + 900 * MS, Segment { flags: ACK, len: 1460, ..fin(From::Client, last - 1460, 501) }));
    // Another connection between the same ends, with timestamps and options, and a late packet of the first after its SYN.
    let options = vec![8, 10, 0, 0, 0, 9, 0, 0, 0, 0, 1, 1];
    let syn = Segment { from: From::Client, flags: SYN, seq: 900_000, ack: 0, options, len: 0 };
    steps.push((end + 2_000 * MS, syn));
    steps.push((end + 2_001 * MS, Segment { flags: ACK, len: 1460, ..fin(From::Client, last - 1460, 501) }));
    let frames: Vec<Frame> = steps.iter().map(|(at, segment)| (*at, packet(segment, false))).collect();
    is_the_same_among_others(&frames);
}
