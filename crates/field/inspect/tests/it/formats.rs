//! The results of a connection are equal in every format, byte order, resolution, link type and snap length.

use firstflight_inspect::{Found, Inspection, inspect};

use crate::made::{self, Form, PLAIN, frames, pcap, pcapng};

fn read(bytes: &[u8]) -> Inspection {
    inspect(bytes, true).expect("a capture")
}

fn found(bytes: &[u8]) -> Found {
    let inspection = read(bytes);
    assert_eq!(inspection.senders.len(), 1, "one sender: {:?}", inspection.tally);
    inspection.senders.into_iter().next().expect("a sender").found
}

fn about(seconds: Option<f64>, ms: f64) -> bool {
    seconds.is_some_and(|seconds| (seconds * 1e3 - ms).abs() < 1e-3)
}

fn is_the_upload(found: &Found) {
    assert_eq!((found.role, found.vantage), (Some("client"), Some("sender")));
    assert!(about(found.handshake_rtt_s, 40.0) && about(found.min_rtt_s, 40.0), "{found:?}");
    assert!((found.began_at_s - 1_790_000_000.0).abs() < 1e-3, "{}", found.began_at_s);
    assert!(about(Some(found.duration_s), 161.0), "{}", found.duration_s);
    assert_eq!((found.segments_sent.unwrap(), found.data_segments_sent.unwrap()), (9, 7));
    assert_eq!((found.bytes_sent.unwrap(), found.bytes_acked), (7 * 1460, 6 * 1460));
    assert_eq!(found.retransmitted_segments.unwrap(), 1);
    assert_eq!((found.initial_window_segments, found.initial_window_bytes), (Some(3), Some(3 * 1460)));
    assert_eq!(found.exit_cause, Some("loss"));
    assert!(about(found.exit_time_s, 80.0), "{:?}", found.exit_time_s);
}

#[test]
fn pcap_and_pcapng_in_both_byte_orders_and_resolutions() {
    for is_big in [false, true] {
        for per_second in [1_000_000, 1_000_000_000] {
            let form = Form { is_big, per_second, ..PLAIN };
            let frames = frames(101, false, false);
            for bytes in [pcap(form, &frames), pcapng(form, &frames)] {
                let found = found(&bytes);
                is_the_upload(&found);
                assert_eq!((found.mss_bytes, found.window_scale), (Some(1460), Some(7)), "{form:?}");
            }
        }
    }
}

#[test]
fn every_link_type_with_and_without_tags_and_both_versions_of_ip() {
    for link in [0, 1, 12, 101, 108, 113, 228, 229, 276] {
        for is_ipv6 in [false, true] {
            for is_tagged in [false, link == 1] {
                let framed = if link == 108 { 0 } else { link };
                let bytes = pcapng(Form { link, ..PLAIN }, &frames(framed, is_tagged, is_ipv6));
                is_the_upload(&found(&bytes));
            }
        }
    }
}

#[test]
fn a_snap_length_within_the_headers_leaves_what_it_leaves() {
    // 96 bytes hold all headers.
    let snapped = found(&pcap(Form { link: 1, snap: 96, ..PLAIN }, &frames(1, false, false)));
    is_the_upload(&snapped);
    assert_eq!(snapped.mss_bytes, Some(1460));
    // 54 bytes end before the options, which leaves lengths and numbers.
    let bare = found(&pcap(Form { link: 1, snap: 54, ..PLAIN }, &frames(1, false, false)));
    is_the_upload(&bare);
    assert_eq!((bare.mss_bytes, bare.window_scale, bare.sack), (None, None, None));
    assert!(bare.undefined["mss_bytes"].contains("options"), "{:?}", bare.undefined);
    // With IPv6 they end before TCP: there is nothing to follow, and the tally says so.
    let none = read(&pcap(Form { link: 1, snap: 54, ..PLAIN }, &frames(1, false, true)));
    assert!(none.senders.is_empty());
    assert_eq!((none.tally.packets, none.tally.cut), (14, 14));
}

#[test]
fn packets_that_are_missing_are_counted_and_nothing_is_made_up() {
    let mut missing = frames(101, false, false);
    missing.remove(4);
    let early = found(&pcap(PLAIN, &missing));
    assert_eq!(early.unseen_bytes, 1460);
    assert_eq!((early.initial_window_segments, early.exit_cause), (None, None));
    assert!(early.undefined["initial_window_segments"].contains("missing"), "{:?}", early.undefined);
}

#[test]
fn a_connection_that_was_open_before_has_no_start() {
    let open = found(&pcap(PLAIN, &frames(101, false, false)[3..]));
    assert_eq!((open.role, open.vantage, open.handshake_rtt_s), (None, None, None));
    assert_eq!((open.initial_window_segments, open.exit_cause), (None, None));
    assert!(open.undefined["exit_cause"].contains("before the capture began"), "{:?}", open.undefined);
    assert_eq!((open.bytes_sent.unwrap(), open.retransmitted_segments.unwrap()), (7 * 1460, 1));
}

#[test]
fn a_packet_captured_twice_counts_once() {
    // The identification says that it is the same packet.
    let mut twice: Vec<made::Frame> = Vec::new();
    for (number, (at, mut frame)) in frames(101, false, false).into_iter().enumerate() {
        frame[5] = u8::try_from(number + 1).unwrap();
        twice.extend([(at, frame.clone()), (at + 2000, frame)]);
    }
    let found = found(&pcap(PLAIN, &twice));
    // Of nine packets, seven with data.
    assert_eq!(
        (found.duplicates, found.retransmitted_segments.unwrap(), found.bytes_sent.unwrap()),
        (9, 1, 7 * 1460)
    );
}

#[test]
fn packets_other_than_tcp_are_counted_and_skipped() {
    let mut mixed = frames(1, false, false);
    let at = mixed[0].0;
    let mut udp = made::framed(1, false, &mixed[0].1[14..]);
    udp[14 + 9] = 17;
    let mut fragment = mixed[0].1.clone();
    fragment[14 + 6] = 0x20;
    let arp = [&[0; 12][..], &[8, 6], &[0; 28]].concat();
    let mut impossible = mixed[0].1.clone();
    impossible[14 + 20 + 12] = 0x10;
    mixed.extend([udp, fragment, arp, impossible].map(|frame| (at, frame)));
    let inspection = read(&pcap(Form { link: 1, ..PLAIN }, &mixed));
    let tally = inspection.tally;
    assert_eq!((tally.tcp, tally.other, tally.fragments, tally.malformed), (14, 2, 1, 1));
    is_the_upload(&inspection.senders[0].found);
}

#[test]
fn an_unknown_link_type_is_skipped_in_pcapng_and_refused_in_pcap() {
    let inspection = read(&pcapng(Form { link: 147, ..PLAIN }, &frames(101, false, false)));
    assert_eq!((inspection.tally.unknown_link, inspection.senders.len()), (14, 0));
    let error = inspect(&pcap(Form { link: 147, ..PLAIN }, &[])[..], false).expect_err("it is not known");
    assert!(error.to_string().starts_with("byte 20: link type 147 is not known; 0 and 108"), "{error}");
}

#[test]
fn the_same_ends_may_open_another_connection() {
    let mut both = frames(101, false, false);
    let later = frames(101, false, false).into_iter().map(|(at, mut frame)| {
        // Other initial sequence numbers: one byte of either number.
        let (number, acknowledged) = if frame[15] == 1 { (24, 28) } else { (28, 24) };
        frame[number] = 9;
        frame[acknowledged] =
            if frame[33] & made::ACK != 0 && frame[15] == 1 { 0 } else { frame[acknowledged] };
        (at + 10_000 * made::MS, frame)
    });
    both.extend(later);
    let inspection = read(&pcap(PLAIN, &both));
    let numbers: Vec<u64> = inspection.senders.iter().map(|one| one.found.connection).collect();
    assert_eq!(numbers, [1, 2]);
    assert_eq!(
        inspection.senders[0].found.bytes_sent.unwrap(),
        inspection.senders[1].found.bytes_sent.unwrap()
    );
}

#[test]
fn data_both_ways_is_two_senders() {
    let mut both = made::upload();
    let (at, last) = both.last().cloned().expect("a packet");
    both.push((at, made::Segment { len: 700, ..last }));
    let packets = both.into_iter().map(|(at, segment)| (at, made::packet(&segment, false)));
    let inspection = read(&pcap(PLAIN, &packets.collect::<Vec<_>>()));
    let roles: Vec<_> =
        inspection.senders.iter().map(|one| (one.found.role, one.found.bytes_sent.unwrap())).collect();
    assert_eq!(roles, [(Some("client"), 7 * 1460), (Some("server"), 700)]);
    assert_eq!(inspection.senders[1].found.vantage, Some("receiver"));
}

#[test]
fn the_curves_kept_for_a_report_are_the_packets() {
    let inspection = read(&pcap(PLAIN, &frames(101, false, false)));
    let drawn = inspection.senders[0].drawn.as_ref().expect("it was asked for");
    assert_eq!(drawn.trace.sends.len(), 7);
    let places: Vec<u64> = drawn.trace.acks.iter().map(|(_, place)| *place).collect();
    assert_eq!(places, [3 * 1460, 6 * 1460]);
    assert_eq!(drawn.trace.flight.iter().map(|(_, bytes)| *bytes).max(), Some(3 * 1460));
    assert_eq!(drawn.exit, Some(drawn.first_data.expect("data") + 80 * made::MS));
    let without = inspect(&pcap(PLAIN, &frames(101, false, false))[..], false).expect("a capture");
    assert!(without.senders[0].drawn.is_none());
}
