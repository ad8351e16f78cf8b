//! A pair of ends may be reused: which packets belong to which connection.

use firstflight_inspect::{Found, inspect};

use crate::made::{ACK, DAY, From, MS, PLAIN, SYN, Segment, packet, pcap};

const FIN: u8 = 1;
const RST: u8 = 4;
const LEN: u32 = 1000;

fn segment(from: From, flags: u8, seq: u32, ack: u32, len: u32) -> Segment {
    Segment { from, flags, seq, ack, options: vec![], len: len as usize }
}

fn found(story: &[(u64, Segment)]) -> Vec<Found> {
    let frames: Vec<_> = story.iter().map(|(ms, segment)| (DAY + ms * MS, packet(segment, false))).collect();
    let inspection = inspect(&pcap(PLAIN, &frames)[..], false).expect("a capture");
    inspection.senders.into_iter().map(|one| one.found).collect()
}

/// Returns an upload of three segments over 40 ms that begins at `ms`, with these initial sequence numbers; without its end.
fn open(ms: u64, [client, server]: [u32; 2]) -> Vec<(u64, Segment)> {
    let data = |place: u32| {
        let seq = client.wrapping_add(1 + place * LEN);
        segment(From::Client, ACK, seq, server.wrapping_add(1), LEN)
    };
    vec![
        (ms, segment(From::Client, SYN, client, 0, 0)),
        (ms + 40, segment(From::Server, SYN | ACK, server, client.wrapping_add(1), 0)),
        (ms + 40, segment(From::Client, ACK, client.wrapping_add(1), server.wrapping_add(1), 0)),
        (ms + 41, data(0)),
        (ms + 41, data(1)),
        (ms + 41, data(2)),
        (ms + 81, segment(From::Server, ACK, server.wrapping_add(1), client.wrapping_add(1 + 3 * LEN), 0)),
    ]
}

/// Closes the connection: both ends send a FIN, and both receive the other's.
fn close(ms: u64, [client, server]: [u32; 2]) -> Vec<(u64, Segment)> {
    let (end, answer) = (client.wrapping_add(1 + 3 * LEN), server.wrapping_add(1));
    vec![
        (ms, segment(From::Client, ACK | FIN, end, answer, 0)),
        (ms + 40, segment(From::Server, ACK | FIN, answer, end.wrapping_add(1), 0)),
        (ms + 40, segment(From::Client, ACK, end.wrapping_add(1), answer.wrapping_add(1), 0)),
    ]
}

/// Checks for two connections of three segments each, without retransmissions.
#[track_caller]
fn are_two(all: &[Found]) {
    assert_eq!(all.iter().map(|one| one.connection).collect::<Vec<_>>(), [1, 2]);
    for one in all {
        assert_eq!((one.data_segments_sent.unwrap(), one.retransmitted_segments.unwrap()), (3, 0), "{one:?}");
        assert_eq!((one.unseen_bytes, one.bytes_acked), (0, 3 * u64::from(LEN)), "{one:?}");
        assert!(one.handshake_rtt_s.is_some_and(|rtt| (rtt - 0.04).abs() < 1e-9), "{:?}", one.undefined);
    }
}

const ONE: [u32; 2] = [1000, 500];
/// Initial sequence numbers that grow with time, as in RFC 6528, and some arbitrary ones.
const LATER: [[u32; 2]; 3] =
    [[900_000, 700_000], [3_000_000_000, 4_000_000_000], [4_294_960_000, 4_294_960_500]];

#[test]
fn a_syn_with_another_number_opens_another_connection() {
    for later in LATER {
        are_two(&found(&[open(0, ONE), close(100, ONE), open(1000, later)].concat()));
        // After a reset, and without any end.
        let reset = vec![(100, segment(From::Server, RST, 501, 0, 0))];
        are_two(&found(&[open(0, ONE), reset, open(1000, later)].concat()));
        are_two(&found(&[open(0, ONE), open(1000, later)].concat()));
    }
}

#[test]
fn a_syn_with_the_same_number_is_a_retransmission() {
    let again = vec![(0, segment(From::Client, SYN, 1000, 0, 0))];
    let all = found(&[again, open(1000, ONE)].concat());
    assert_eq!(all.len(), 1);
    assert!(all[0].undefined["handshake_rtt_s"].contains("SYN was retransmitted"), "{:?}", all[0].undefined);
}

#[test]
fn a_second_answer_with_another_number_stays_in_the_same_connection() {
    // A stateless host generates a new number for each answer (RFC 4987 section 3.6).
    let mut story = open(0, ONE);
    story.insert(1, (20, segment(From::Server, SYN | ACK, 77_777, 1001, 0)));
    assert_eq!(found(&story).len(), 1);
}

#[test]
fn late_packets_of_an_old_connection_stay_out_of_the_new_one() {
    for later in LATER {
        let mut story = [open(0, ONE), close(100, ONE), open(1000, later)].concat();
        // Its last data and its FIN, repeated after the new SYN and after the new data.
        let late = segment(From::Client, ACK, 1001 + 2 * LEN, 501, LEN);
        let fin = segment(From::Client, ACK | FIN, 1001 + 3 * LEN, 501, 0);
        story.insert(11, (1001, late.clone()));
        story.extend([(1100, late), (1101, fin)]);
        let mut all = found(&story);
        assert_eq!(
            (all[0].retransmitted_segments.unwrap(), all[0].data_segments_sent.unwrap()),
            (2, 5),
            "{later:?}"
        );
        assert_eq!(all[1].exit_cause, None, "the new one has no FIN: {later:?}");
        all[0].data_segments_sent = Some(3);
        all[0].retransmitted_segments = Some(0);
        are_two(&all);
    }
}

/// Returns a half-open connection (RFC 9293 section 3.5.1): a host that still has the old connection acknowledges that one; the opener
/// resets it and retransmits its SYN.
fn half_open(later: [u32; 2]) -> Vec<(u64, Segment)> {
    let asked = vec![
        (1000, segment(From::Client, SYN, later[0], 0, 0)),
        (1040, segment(From::Server, ACK, 501, 1001 + 3 * LEN, 0)),
        (1040, segment(From::Client, RST, 1001 + 3 * LEN, 0, 0)),
    ];
    [asked, open(2000, later)].concat()
}

#[test]
fn an_answer_and_reset_of_the_old_connection_stay_with_it() {
    for later in LATER {
        let all = found(&[open(0, ONE), half_open(later)].concat());
        assert_eq!(all.iter().map(|one| one.connection).collect::<Vec<_>>(), [1, 2], "{later:?}");
        for one in &all {
            assert_eq!((one.data_segments_sent.unwrap(), one.unseen_bytes), (3, 0), "{later:?}: {one:?}");
        }
        assert_eq!((all[0].exit_cause, all[1].exit_cause), (Some("none"), None), "the old one was reset");
    }
}

#[test]
fn an_old_connection_outside_the_capture_is_not_reported() {
    // Numbers above the old ones: those lie below the SYN, and so before it.
    let all = found(&half_open(LATER[0]));
    assert_eq!(all.len(), 1);
    assert_eq!((all[0].data_segments_sent.unwrap(), all[0].unseen_bytes, all[0].exit_cause), (3, 0, None));
}

#[test]
fn answers_to_different_unseen_syns_open_separate_connections() {
    let answers_only = [open(0, ONE), open(1000, LATER[0])].concat();
    let answers_only: Vec<_> = answers_only.into_iter().filter(|(_, one)| one.from == From::Server).collect();
    assert_eq!(found(&answers_only).len(), 2);
}

#[test]
fn data_beyond_the_end_of_a_closed_connection_is_of_another_one() {
    for later in [[900_000, 700_000], [3_000_000_000, 4_000_000_000]] {
        let middle = open(1000, later).split_off(3);
        let all = found(&[open(0, ONE), close(100, ONE), middle].concat());
        assert_eq!(all.len(), 2, "{later:?}");
        assert_eq!((all[0].data_segments_sent.unwrap(), all[1].data_segments_sent.unwrap()), (3, 3));
        assert_eq!(all[1].role, None, "its handshake is not in the capture");
    }
    // Retransmitted data is not.
    let again = vec![(200, segment(From::Client, ACK, 1001 + 2 * LEN, 501, LEN))];
    assert_eq!(found(&[open(0, ONE), close(100, ONE), again].concat()).len(), 1);
}

#[test]
fn a_connection_ended_by_a_new_syn_states_that_reason() {
    let all = found(&[open(0, ONE), open(1000, LATER[0])].concat());
    for field in ["exit_cause", "exit_time_s"] {
        let why = &all[0].undefined[field];
        assert!(why.starts_with("a new SYN of the same ports ended the connection"), "{field}: {why}");
        assert!(all[1].undefined[field].starts_with("the capture ends before"), "{:?}", all[1].undefined);
    }
    // A connection closed before ended by itself.
    let closed = found(&[open(0, ONE), close(100, ONE), open(1000, LATER[0])].concat());
    assert_eq!(closed[0].exit_cause, Some("none"));
}
