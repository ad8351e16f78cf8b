use super::*;

use firstflight::Span;
use firstflight_emulate::{Observer, Side};
use firstflight_measure::metrics;
use firstflight_wire::{Addresses, Ip, encode, encode_tcp};
use proptest::prelude::*;

const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
/// A limit that is longer than any of these transfers takes.
const MINUTE: Span = Span::from_secs(60);
const ISN: u32 = u32::MAX - 500;

fn at(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// Returns an IP packet with this segment.
fn packet(carrier: Carrier, segment: &Segment) -> Vec<u8> {
    let payload = vec![7; usize::from(segment.len)];
    let addresses = Addresses {
        hosts: Hosts::V4 { source: CLIENT, destination: SERVER },
        source_port: 40_000,
        destination_port: 4_433,
    };
    let mut bytes = Vec::new();
    match carrier {
        Carrier::Ip => {
            encode(&Ip { addresses, identification: 0, hop_limit: 64 }, segment, &payload, &mut bytes)
                .expect("a packet");
        }
        Carrier::Udp => {
            bytes.resize(IP_AND_UDP, 0);
            let addresses = Addresses { hosts: NOBODY, ..addresses };
            encode_tcp(&addresses, segment, &[], [&payload, &[]], &mut bytes).expect("a segment");
        }
    }
    bytes
}

fn syn() -> Segment {
    Segment { seq: ISN, flags: Flags::SYN, ..Segment::default() }
}

fn data(offset: u32, len: u16) -> Segment {
    Segment { seq: ISN.wrapping_add(1).wrapping_add(offset), len, flags: Flags::ACK, ..Segment::default() }
}

/// Returns the log of three packets. The queue drops the second packet, which is retransmitted. The sequence numbers wrap.
fn packet_log(carrier: Carrier) -> PacketLog {
    let mut packet_log = PacketLog::default();
    let mut enters = |number, millis, segment: &Segment| {
        packet_log.entered(number, Side::A, at(millis), &packet(carrier, segment));
    };
    // The SYN over UDP is padded. Padding does not count as data.
    enters(0, 10, &Segment { len: if carrier == Carrier::Udp { 900 } else { 0 }, ..syn() });
    enters(1, 50, &data(0, 1_000));
    enters(2, 51, &data(1_000, 1_000));
    enters(3, 52, &data(2_000, 500));
    enters(4, 60, &Segment { flags: Flags::ACK, ..data(2_500, 0) });
    enters(5, 90, &data(1_000, 1_000));
    enters(6, 120, &data(2_500, 1_000));
    packet_log.dropped(2, at(51), Some(DropCause::Queue));
    packet_log.dropped(4, at(60), Some(DropCause::Random));
    packet_log.left(0, Side::B, at(30), &[], false);
    packet_log.left(1, Side::B, at(70), &[], true);
    packet_log.left(3, Side::B, at(72), &[], false);
    packet_log.left(5, Side::B, at(110), &[], false);
    packet_log
}

#[test]
fn the_packets_of_a_run_are_its_evidence_in_either_carrier() {
    for carrier in [Carrier::Ip, Carrier::Udp] {
        let evidence = evidence(&packet_log(carrier), carrier, 1_000, 2_500, MINUTE).expect("a connection");
        let recording = &evidence.recording;
        assert_eq!((recording.syn_at, recording.first_data_at), (10_000_000, Some(50_000_000)));
        let sent: Vec<_> =
            recording.sends.iter().map(|send| (send.offset, send.len, send.retransmission)).collect();
        // Packets sent after the arrival of the last byte do not count.
        let first = [(0, 1_000, false), (1_000, 1_000, false), (2_000, 500, false), (1_000, 1_000, true)];
        assert_eq!(sent, first, "{carrier:?}");
        assert_eq!(metrics::packets_lost(&evidence), 1, "an ACK that is lost is no data");
        assert_eq!(recording.delivered, [(70_000_000, 1_000), (110_000_000, 2_500)]);
        assert_eq!(metrics::fct(&evidence), Some(100_000_000));
        assert_eq!(evidence.packets_marked, 1);
    }
}

#[test]
fn a_transfer_that_is_not_all_delivered_has_no_completion_time() {
    let evidence =
        evidence(&packet_log(Carrier::Ip), Carrier::Ip, 1_000, 3_500, MINUTE).expect("a connection");
    assert_eq!((evidence.finished_at, evidence.recording.ended_at), (None, 60_010_000_000));
}

#[test]
fn deliveries_after_the_limit_are_excluded_from_the_flow() {
    // The SYN is sent at 10 ms. The last byte arrives at 110 ms, in the packet retransmitted at 90 ms.
    let limited = |limit: u64| {
        let limit = Span::from_millis(limit);
        evidence(&packet_log(Carrier::Udp), Carrier::Udp, 1_000, 2_500, limit).expect("a connection")
    };
    assert_eq!(metrics::fct(&limited(100)), Some(100_000_000), "the limit itself is in time");
    let late = limited(99);
    assert_eq!((metrics::fct(&late), late.recording.ended_at), (None, 109_000_000));
    assert_eq!(late.recording.delivered, [(70_000_000, 1_000)]);
    assert_eq!((metrics::packets_sent(&late), metrics::packets_sent(&limited(79))), (4, 3));
}

#[test]
fn without_a_syn_there_is_no_connection() {
    let mut packet_log = PacketLog::default();
    packet_log.entered(0, Side::A, at(1), &packet(Carrier::Ip, &data(0, 100)));
    packet_log.entered(1, Side::A, at(2), &[0; 40]);
    assert!(evidence(&packet_log, Carrier::Ip, 1_000, 100, MINUTE).is_none());
}

proptest! {
    #[test]
    fn delivery_in_order_reaches_what_arrived_without_a_gap(
        arrivals in proptest::collection::vec((0u64..40, 1u64..6), 0..60),
    ) {
        let pieces: Vec<(u64, u64, u64)> =
            (0..).zip(&arrivals).map(|(at, (from, len))| (at, *from, from + len)).collect();
        let delivered = in_order(pieces.clone());
        let (mut had, mut steps) = ([false; 64], delivered.iter().peekable());
        let mut reached = 0;
        for (at, from, to) in pieces {
            (from..to).for_each(|byte| had[usize::try_from(byte).unwrap()] = true);
            let now = had.iter().take_while(|byte| **byte).count() as u64;
            if now > reached {
                prop_assert_eq!(steps.next(), Some(&(at, now)));
                reached = now;
            }
        }
        prop_assert_eq!(steps.next(), None);
    }

    #[test]
    fn whatever_entered_the_path_is_evidence_or_none(
        packets in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..200), 0..20),
        size in any::<u64>(),
    ) {
        for carrier in [Carrier::Ip, Carrier::Udp] {
            let mut packet_log = PacketLog::default();
            for (number, bytes) in (0..).zip(&packets) {
                packet_log.entered(number, Side::A, at(number), bytes);
            }
            evidence(&packet_log, carrier, 1_460, size, MINUTE);
        }
    }
}
