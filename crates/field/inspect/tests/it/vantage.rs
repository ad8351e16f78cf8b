//! The place of the capture can be given, and overrules the one derived from the handshake.

use firstflight_inspect::{Found, Inspector, Options, SeenAt};

use crate::made::{Frame, MS, PLAIN, Segment, packet, pcap, upload};

/// Returns the upload by a host that took half an RTT to acknowledge the SYN-ACK, with 700 bytes in the reverse direction at its end.
fn slow_host() -> Vec<Frame> {
    let mut steps = upload();
    steps[2..].iter_mut().for_each(|(at, _)| *at += 20 * MS);
    let (at, last) = steps.last().cloned().expect("a packet");
    steps.push((at, Segment { len: 700, ..last }));
    steps.iter().map(|(at, segment)| (*at, packet(segment, false))).collect()
}

fn found(seen_at: Option<SeenAt>) -> [Found; 2] {
    let mut inspector = Inspector::new(&Options { seen_at, ..Options::default() });
    inspector.read(&pcap(PLAIN, &slow_host())[..]).expect("a capture");
    let mut all = Vec::new();
    inspector.finish(|senders| all.extend(senders.into_iter().map(|one| one.found)));
    all.try_into().expect("two senders")
}

#[test]
fn a_sender_that_is_told_is_seen_at_its_own_end() {
    let [client, _] = found(None);
    assert_eq!((client.vantage, client.exit_cause), (Some("between"), None));
    for place in ["sender", "10.0.0.1"] {
        let [client, server] = found(Some(place.parse().expect("a place")));
        assert_eq!((client.vantage, client.exit_cause), (Some("sender"), Some("loss")), "{place}");
        assert_eq!(
            (client.handshake_rtt_s, client.initial_window_segments),
            (Some(0.04), Some(3)),
            "{place}"
        );
        assert_eq!(server.vantage, Some("receiver"), "{place}");
        assert_eq!(server.exit_cause, None);
    }
    // The other direction has results by the place only if the address gives it.
    let by_role = &found(Some(SeenAt::Sender))[1];
    assert_eq!(by_role.initial_window_segments, None);
    assert!(by_role.undefined["initial_window_segments"].contains("address"), "{:?}", by_role.undefined);
    assert_eq!(found(Some("10.0.0.1".parse().unwrap()))[1].initial_window_segments, Some(1));
}

#[test]
fn a_receiver_that_is_told_sees_no_flight() {
    for place in ["receiver", "10.0.0.2"] {
        let [client, server] = found(Some(place.parse().expect("a place")));
        assert_eq!((client.vantage, client.exit_cause), (Some("receiver"), None), "{place}");
        assert_eq!((client.handshake_rtt_s, server.vantage), (Some(0.02), Some("sender")), "{place}");
    }
    // A host of no connection here: the place is derived from the handshakes.
    assert_eq!(found(Some("192.0.2.7".parse().unwrap()))[0].vantage, Some("between"));
    assert!("server".parse::<SeenAt>().unwrap_err().contains("sender, receiver and the address"));
}
