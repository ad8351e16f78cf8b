use std::net::{Ipv4Addr, Ipv6Addr};

use firstflight_tcp::Segment;
use firstflight_tcp::quick_start::{Nonce, Options};

use super::*;
use crate::quick_start::RateCode;
use crate::{Addresses, Checksum, Hosts, Ip, decode, encode};

const FOUR: Hosts = Hosts::V4 { source: Ipv4Addr::new(10, 0, 0, 1), destination: Ipv4Addr::new(10, 0, 0, 2) };
const SIX: Hosts = Hosts::V6 { source: Ipv6Addr::LOCALHOST, destination: Ipv6Addr::UNSPECIFIED };

fn packet(hosts: Hosts, source_port: u16, segment: &Segment) -> Vec<u8> {
    let addresses = Addresses { hosts, source_port, destination_port: 5001 };
    let ip = Ip { addresses, identification: 7, hop_limit: 64 };
    let mut bytes = Vec::new();
    encode(&ip, segment, &vec![1; usize::from(segment.len)], &mut bytes).expect("a packet");
    bytes
}

fn request(rate: u8, hop_limit: u8) -> IpOption {
    let rate = RateCode::new(rate).expect("a code");
    IpOption::Request { rate, ttl: 90, hop_limit, nonce: Nonce::new(0x1234_5678) }
}

#[test]
fn a_hop_reads_length_destination_and_ecn_of_both_versions() {
    for (hosts, to, header) in
        [(FOUR, IpAddr::from([10, 0, 0, 2]), 20), (SIX, IpAddr::V6(Ipv6Addr::UNSPECIFIED), 40)]
    {
        let bytes = packet(hosts, 1, &Segment { len: 100, ecn: Ecn::Ect0, ..Segment::default() });
        let seen = read_passing(&bytes).expect("a packet");
        assert_eq!((seen.length, seen.destination), (header + 120, to));
        assert_eq!((seen.ecn, seen.quick_start), (Ecn::Ect0, None));
    }
}

#[test]
fn flows_differ_by_port_and_not_by_what_they_carry() {
    for hosts in [FOUR, SIX] {
        let flow = |port, len| {
            let bytes = packet(hosts, port, &Segment { len, ..Segment::default() });
            read_passing(&bytes).expect("a packet").flow
        };
        assert_eq!(flow(40_000, 0), flow(40_000, 1_000));
        assert_ne!(flow(40_000, 0), flow(40_001, 0));
    }
}

#[test]
fn fragments_of_a_datagram_are_one_flow() {
    let mut bytes = packet(FOUR, 40_000, &Segment { len: 100, ..Segment::default() });
    // More fragments follow.
    bytes[6] = 0x20;
    let first = read_passing(&bytes).expect("a packet").flow;
    bytes[20..24].fill(0xAA);
    assert_eq!(read_passing(&bytes).expect("a packet").flow, first);
}

#[test]
fn a_mark_is_read_back_and_the_checksums_hold() {
    for hosts in [FOUR, SIX] {
        for ecn in [Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
            let mut bytes = packet(hosts, 1, &Segment { len: 9, ecn, ..Segment::default() });
            mark(&mut bytes);
            let read = decode(&bytes).expect("a packet");
            assert_eq!(read.segment.ecn, Ecn::Ce);
            assert_eq!((read.ip_checksum, read.tcp_checksum), (Checksum::Good, Checksum::Good));
        }
    }
}

#[test]
fn a_request_is_answered_where_it_stands() {
    for hosts in [FOUR, SIX] {
        let asks = Options::new(Some(request(9, 64)), None);
        let mut bytes = packet(hosts, 1, &Segment { quick_start: asks, ..Segment::default() });
        assert_eq!(read_passing(&bytes).expect("a packet").quick_start, Some(request(9, 64)));
        write_quick_start(&mut bytes, request(7, 63));
        let read = decode(&bytes).expect("a packet");
        assert_eq!(read.segment.quick_start.ip(), Some(request(7, 63)));
        assert_eq!(read.hop_limit, 63);
        assert_eq!((read.ip_checksum, read.tcp_checksum), (Checksum::Good, Checksum::Good));
    }
}

#[test]
fn a_request_behind_other_options_is_found() {
    // A router alert (RFC 2113) and two no-operations before the request.
    let asks = Options::new(Some(request(9, 64)), None);
    let plain = packet(FOUR, 1, &Segment { quick_start: asks, ..Segment::default() });
    let mut bytes = plain[..20].to_vec();
    bytes.extend([0x94, 4, 0, 0, 1, 1, 25, 8]);
    bytes.extend(&plain[22..28]);
    bytes.extend([1, 1]);
    bytes.extend(&plain[28..]);
    bytes[0] = 0x40 | 9;
    bytes[3] += 8;
    sum_ipv4(&mut bytes);
    assert_eq!(read_passing(&bytes).expect("a packet").quick_start, Some(request(9, 64)));
    write_quick_start(&mut bytes, request(3, 60));
    assert_eq!(read_passing(&bytes).expect("a packet").quick_start, Some(request(3, 60)));
    assert_eq!(decode(&bytes).expect("a packet").ip_checksum, Checksum::Good);
}

#[test]
fn truncated_and_foreign_packets_are_neither_read_nor_changed() {
    let whole = packet(FOUR, 1, &Segment::default());
    for bytes in [&[][..], &[0x45], &[0x60; 39], &[0x50; 40], &whole[..39]] {
        assert_eq!(read_passing(bytes), None, "{bytes:?}");
        let mut same = bytes.to_vec();
        write_quick_start(&mut same, request(1, 1));
        assert_eq!(same, bytes);
    }
    mark(&mut [0x45]);
    mark(&mut []);
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_read_and_changed_without_a_panic(mut bytes in proptest::collection::vec(0u8.., 0..120)) {
        if let Some(seen) = read_passing(&bytes) {
            proptest::prop_assert!(usize::from(seen.length) <= bytes.len());
        }
        write_quick_start(&mut bytes, request(1, 1));
        mark(&mut bytes);
    }
}
