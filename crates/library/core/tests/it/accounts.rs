//! The accounts of a host that has none: `Path::sent`, `Path::acked` and `Path::lost`.

use firstflight::avoidance::Reno;
use firstflight::restart::Rfc5681;
use firstflight::schemes::{Initial, SlowStart};
use firstflight::{Ack, Bytes, Controller, Event, Loss, LostPacket, Origin, Path, Sent, Span, Tag, Time};

const MSS: Bytes = Bytes::new(1_200);

#[test]
fn a_lost_packet_leaves_the_flight_and_the_connection_can_be_idle() {
    let initial = Initial { segments: 10, ssthresh: None };
    let mut controller = Controller::new(SlowStart::new(initial), Rfc5681::new(initial), Reno::new());
    let mut path = Path::new(Time::ZERO, MSS, MSS);
    controller.on(&Event::Begin(Origin::Fresh), &path);
    controller.on(&Event::Established { rtt: Some(Span::from_millis(40)), syn_lost: false }, &path);
    for _ in 0..5 {
        path.sent(MSS);
    }
    path.now = Time::ZERO + Span::from_millis(40);
    // The first packet is lost, the others are acknowledged.
    let ack = Ack::unlisted(MSS * 4, 4, true);
    path.acked(&ack, 6_000);
    controller.on(&Event::Acked(ack), &path);
    assert_eq!((path.flight, path.una), (MSS, 6_000));
    let lost = [LostPacket { packet: 0, bytes: MSS, tag: Tag::default() }];
    path.lost(&Loss::new(&lost));
    assert_eq!((path.flight, path.pipe, path.una), (Bytes::ZERO, Bytes::ZERO, path.nxt));
    assert!(!controller.before_new_data(&path), "not idle for longer than the timeout yet");
    path.now = path.now + Span::from_secs(30);
    assert!(controller.before_new_data(&path), "a restart begins after 30 s");
}

#[test]
fn slow_start_doubles_with_delayed_acks_if_the_ack_counts_bytes() {
    let grown = |counts_bytes| {
        let initial = Initial { segments: 10, ssthresh: None };
        let mut controller = Controller::new(SlowStart::new(initial), Rfc5681::new(initial), Reno::new());
        let mut path = Path::new(Time::ZERO, MSS, MSS);
        controller.on(&Event::Begin(Origin::Fresh), &path);
        controller.on(&Event::Established { rtt: Some(Span::from_millis(40)), syn_lost: false }, &path);
        for packet in 0..10 {
            path.cwnd = controller.plan(&path).window;
            let sent = Sent { packet, bytes: MSS, tag: Tag::default(), retransmission: false };
            controller.on(&Event::Sent(sent), &path);
            path.sent(MSS);
        }
        for pair in 1..=5 {
            let ack = Ack::unlisted(MSS * 2, 2, counts_bytes);
            path.acked(&ack, pair * 2_400);
            controller.on(&Event::Acked(ack), &path);
        }
        controller.plan(&path).window.packets(MSS)
    };
    assert_eq!((grown(true), grown(false)), (20, 15), "RFC 9002 section 7.3.1; RFC 5681 section 3.1");
}
