//! ECE is a congestion mark where RFC 3168's ECN was agreed on, and part of a counter where Accurate ECN was.

use crate::made::{From, PLAIN, packet, pcap};
use crate::start::Start;
use firstflight_inspect::{Found, inspect};

const ECE: u8 = 0x40;
const CWR: u8 = 0x80;
/// AE is in the byte before the other flags.
const AE: u8 = 1;

/// Returns the results for a start-up whose flight falls after its sixth round. The flags are those of the SYN, of its answer, and of the
/// server's acknowledgements by their index; the first two include AE.
fn found(syn: (u8, u8), answer: (u8, u8), echoed: impl Fn(usize) -> (u8, u8)) -> Found {
    let mut start = Start::default();
    start.open(0, 0);
    let over = start.bulk(41_000, &[10, 20, 40, 80, 160, 80, 80, 80, 80, 80]);
    start.close(over + 1000);
    let mut packets = start.packets;
    packets.sort_by_key(|(at, _)| *at);
    let mut acks = 0;
    let frames = packets.iter().map(|(at, segment)| {
        let mut bytes = packet(segment, false);
        let (ae, flags) = match (segment.flags & 2, segment.from) {
            (2, From::Client) => syn,
            (2, From::Server) => answer,
            (_, From::Client) => (0, 0),
            (_, From::Server) => {
                acks += 1;
                echoed(acks)
            }
        };
        bytes[32] |= ae;
        bytes[33] |= flags;
        (*at, bytes)
    });
    let frames: Vec<_> = frames.collect();
    inspect(&pcap(PLAIN, &frames)[..], false).expect("a capture").senders.remove(0).found
}

/// From the 155th acknowledgement on, early in the sixth round.
const MARKED: usize = 155;

#[test]
fn ece_is_a_mark_where_rfc_3168_was_agreed_on() {
    let marked =
        found((0, ECE | CWR), (0, ECE), |ack| (0, if (MARKED..350).contains(&ack) { ECE } else { 0 }));
    assert_eq!((marked.ecn, marked.ecn_feedback), (Some(true), Some("rfc3168")));
    assert_eq!(marked.exit_cause, Some("mark"));
}

#[test]
fn ece_is_nothing_where_no_ecn_or_a_reflected_one_was_answered() {
    for (syn, answer) in
        [((0, 0), (0, 0)), ((0, ECE | CWR), (0, ECE | CWR)), ((AE, ECE | CWR), (AE, ECE | CWR))]
    {
        let all = found(syn, answer, |_| (0, ECE));
        assert_eq!((all.ecn, all.ecn_feedback), (Some(false), None));
        assert_eq!(all.exit_cause, Some("drain"), "{syn:?} {answer:?}");
        assert!(all.undefined["ecn_feedback"].contains("agree"));
    }
}

/// Returns the counter as AE and flags.
fn counted(value: usize) -> (u8, u8) {
    let bit = |bit: usize| u8::try_from(value >> bit & 1).unwrap();
    (bit(2), (bit(1) * CWR) | (bit(0) * ECE))
}

#[test]
fn accurate_ecn_marks_are_detected_by_counter_changes_instead_of_flags() {
    let quiet = found((AE, ECE | CWR), (0, CWR), |_| counted(5));
    assert_eq!(
        (quiet.ecn, quiet.ecn_feedback, quiet.exit_cause),
        (Some(true), Some("accecn"), Some("drain"))
    );
    let marked = found((AE, ECE | CWR), (0, CWR), |ack| counted(5 + ack.saturating_sub(MARKED).min(40)));
    assert_eq!(marked.exit_cause, Some("mark"));
    let off = found((AE, ECE | CWR), (0, CWR), |ack| counted(usize::from(ack > MARKED)));
    assert_eq!(off.exit_cause, Some("drain"));
}
