//! Encoding and decoding: every segment that a header can express survives, and no input makes the decoder panic.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU16;

use firstflight_tcp::{Ecn, Flags, SackBlock, Segment, Timestamps};
use firstflight_wire::quick_start::{IpOption, Nonce, Options, RateCode, Response};
use firstflight_wire::{
    Addresses, Checksum, DecodeError, EncodeError, Hosts, Ip, decode, decode_snapped, encode, payload,
};
use proptest::prelude::*;

prop_compose! {
    fn segments()(
        numbers in any::<(u32, u32, u16, u8)>(),
        len in 0_u16..3_000,
        ecn in prop::sample::select(vec![Ecn::NotCapable, Ecn::Ect1, Ecn::Ect0, Ecn::Ce]),
        mss in any::<Option<u16>>(),
        window_scale in any::<Option<u8>>(),
        sack_permitted in any::<bool>(),
        timestamps in any::<Option<(u32, u32)>>(),
        blocks in prop::collection::vec(any::<(u32, u32)>(), 0..=4),
        quick_start in prop::option::weighted(0.3, ip_options()),
        response in prop::option::weighted(0.3, any::<(u8, u8, u32)>()),
    ) -> Segment {
        let (seq, ack, window, flags) = numbers;
        let mut segment = Segment {
            seq, ack, len, window, ecn, window_scale, sack_permitted,
            flags: Flags(flags),
            mss: mss.and_then(NonZeroU16::new),
            timestamps: timestamps.map(|(value, echo)| Timestamps { value, echo }),
            quick_start: Options::new(quick_start, response.map(|(rate, ttl_diff, bits)| Response {
                rate: RateCode::from_low_bits(rate), ttl_diff, nonce: Nonce::new(bits),
            })),
            sack_count: u8::try_from(blocks.len()).unwrap(),
            ..Segment::default()
        };
        for (place, (start, end)) in segment.sack.iter_mut().zip(blocks) {
            *place = SackBlock { start, end };
        }
        segment
    }
}

/// Segments whose options fit a header.
fn encodable() -> impl Strategy<Value = Segment> {
    segments().prop_map(|mut segment| {
        while segment.options_length() > 40 {
            if let Some(fewer) = segment.sack_count.checked_sub(1) {
                segment.sack_count = fewer;
                segment.sack[usize::from(fewer)] = SackBlock::default();
            } else {
                segment.timestamps = None;
            }
        }
        segment
    })
}

/// Encodable segments with data.
fn with_data() -> impl Strategy<Value = Segment> {
    encodable().prop_map(|segment| Segment { len: segment.len.max(1), ..segment })
}

fn ip_options() -> impl Strategy<Value = IpOption> {
    any::<(bool, u8, u8, u8, u32)>().prop_map(|(asks, rate, ttl, hop_limit, bits)| {
        let (rate, nonce) = (RateCode::from_low_bits(rate), Nonce::new(bits));
        if asks {
            IpOption::Request { rate, ttl, hop_limit, nonce }
        } else {
            IpOption::Report { rate, nonce }
        }
    })
}

fn headers() -> impl Strategy<Value = Ip> {
    let hosts = prop_oneof![
        any::<(u32, u32)>().prop_map(|(a, b)| Hosts::V4 {
            source: Ipv4Addr::from_bits(a),
            destination: Ipv4Addr::from_bits(b)
        }),
        any::<(u128, u128)>().prop_map(|(a, b)| Hosts::V6 {
            source: Ipv6Addr::from_bits(a),
            destination: Ipv6Addr::from_bits(b)
        }),
    ];
    (hosts, any::<(u16, u16, u16, u8)>()).prop_map(
        |(hosts, (source_port, destination_port, identification, hop_limit))| Ip {
            addresses: Addresses { hosts, source_port, destination_port },
            identification,
            hop_limit,
        },
    )
}

fn bytes_of(ip: &Ip, segment: &Segment, offset: u64) -> Result<Vec<u8>, EncodeError> {
    let mut data = vec![0; usize::from(segment.len)];
    payload::fill(offset, &mut data);
    let mut out = vec![0xAA; 7];
    encode(ip, segment, &data, &mut out).map(|()| out)
}

const IP: Ip = Ip {
    addresses: Addresses {
        hosts: Hosts::V4 { source: Ipv4Addr::new(10, 0, 0, 1), destination: Ipv4Addr::new(10, 0, 0, 2) },
        source_port: 40_000,
        destination_port: 5_001,
    },
    identification: 7,
    hop_limit: 64,
};

proptest! {
    #[test]
    fn encoded_segments_decode_to_the_same_segment(ip in headers(), segment in segments(), offset: u64) {
        let length = segment.options_length();
        match bytes_of(&ip, &segment, offset) {
            Err(error) => {
                prop_assert!(length > 40, "{error}");
                prop_assert_eq!(error, EncodeError::Options { length: usize::try_from(length).unwrap() });
            }
            Ok(bytes) => {
                prop_assert!(length <= 40);
                let v4 = matches!(ip.addresses.hosts, Hosts::V4 { .. });
                // IPv6's header is 20 bytes longer, and its option has a separate header of 8 bytes.
                let longer = if v4 { 0 } else if segment.quick_start.ip().is_some() { 28 } else { 20 };
                let wire = usize::try_from(segment.ip_length()).unwrap() + longer;
                prop_assert_eq!(bytes.len(), wire);
                let packet = decode(&bytes).unwrap();
                prop_assert_eq!(packet.segment, segment);
                prop_assert_eq!(packet.addresses, ip.addresses);
                prop_assert_eq!(packet.identification, v4.then_some(ip.identification));
                let hop_limit = match segment.quick_start.ip() {
                    Some(IpOption::Request { hop_limit, .. }) => hop_limit,
                    _ => ip.hop_limit,
                };
                prop_assert_eq!(packet.hop_limit, hop_limit);
                prop_assert_eq!(payload::first_difference(offset, packet.payload), None);
                prop_assert_eq!((packet.ip_checksum, packet.tcp_checksum), (Checksum::Good, Checksum::Good));
            }
        }
    }

    #[test]
    fn a_bit_flipped_in_the_payload_breaks_the_tcp_checksum(
        ip in headers(), segment in with_data(), place: prop::sample::Index, bit in 0..8_u8,
    ) {
        let mut bytes = bytes_of(&ip, &segment, 0).unwrap();
        let place = bytes.len() - 1 - place.index(usize::from(segment.len));
        bytes[place] ^= 1 << bit;
        prop_assert_eq!(decode(&bytes).unwrap().tcp_checksum, Checksum::Bad);
    }

    #[test]
    fn a_truncated_packet_is_decoded_as_far_as_captured(
        ip in headers(), segment in with_data(), place: prop::sample::Index,
    ) {
        let bytes = bytes_of(&ip, &segment, 0).unwrap();
        let kept = bytes.len() - 1 - place.index(usize::from(segment.len));
        let cut = decode_snapped(&bytes[..kept]).unwrap();
        prop_assert_eq!(cut.segment, segment);
        prop_assert_eq!(cut.tcp_checksum, Checksum::Unknown);
        prop_assert_eq!(cut.payload.len(), kept - (bytes.len() - usize::from(segment.len)));
        prop_assert_eq!(
            decode(&bytes[..kept]).unwrap_err(),
            DecodeError::Cut { said: bytes.len(), found: kept }
        );
    }

    #[test]
    fn any_bytes_decode_to_a_packet_or_an_error(bytes: Vec<u8>, version in prop::sample::select(vec![0x45, 0x4F, 0x60])) {
        let mut bytes = bytes;
        let _ = decode(&bytes);
        if let Some(first) = bytes.first_mut() {
            *first = version;
        }
        let _ = decode_snapped(&bytes);
    }

    #[test]
    fn a_damaged_packet_decodes_to_a_packet_or_an_error(
        ip in headers(), segment in encodable(), damage in prop::collection::vec(any::<(prop::sample::Index, u8)>(), 1..6),
        kept: prop::sample::Index,
    ) {
        let mut bytes = bytes_of(&ip, &segment, 0).unwrap();
        let headers = bytes.len() - usize::from(segment.len);
        for (place, value) in damage {
            bytes[place.index(headers)] = value;
        }
        if let Ok(packet) = decode(&bytes) {
            prop_assert_eq!(packet.payload.len(), usize::from(packet.segment.len));
        }
        let _ = decode_snapped(&bytes[..kept.index(bytes.len())]);
    }
}

#[test]
fn a_plain_packet_has_the_bytes_and_sums_worked_out_by_hand() {
    // Header layouts of RFC 791 and 9293, sums of RFC 1071 over them, computed independently of this crate.
    let segment = Segment {
        seq: 1,
        ack: 2,
        len: 4,
        window: 1_000,
        flags: Flags::ACK.with(Flags::PSH),
        ecn: Ecn::Ect0,
        ..Segment::default()
    };
    assert_eq!(
        bytes_of(&IP, &segment, 0).unwrap(),
        [
            0x45, 2, 0, 44, 0, 7, 0x40, 0, 64, 6, 0x26, 0xC1, 10, 0, 0, 1, 10, 0, 0, 2, // IPv4
            0x9C, 0x40, 0x13, 0x89, 0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x18, 3, 0xE8, 0x87, 0xB1, 0,
            0, // TCP
            b'0', b'0', b'0', b'0',
        ]
    );
}

#[test]
fn padding_after_the_packet_is_left_alone() {
    let mut bytes = bytes_of(&IP, &Segment::default(), 0).unwrap();
    bytes.extend([0x55; 6]);
    let packet = decode(&bytes).unwrap();
    assert_eq!((packet.payload.len(), packet.tcp_checksum), (0, Checksum::Good));
}

#[test]
fn a_damaged_ipv4_header_has_a_bad_checksum() {
    let mut bytes = bytes_of(&IP, &Segment::default(), 0).unwrap();
    bytes[8] -= 1;
    assert_eq!(decode(&bytes).unwrap().ip_checksum, Checksum::Bad);
}

#[test]
fn a_segment_that_no_header_can_say_is_refused_and_leaves_nothing() {
    let refused = |segment: &Segment, data: &[u8]| {
        let mut out = vec![1, 2, 3];
        let error = encode(&IP, segment, data, &mut out).unwrap_err();
        assert_eq!(out, []);
        error
    };
    let plain = Segment::default();
    assert_eq!(refused(&Segment { len: 9, ..plain }, &[0; 8]), EncodeError::Payload { segment: 9, given: 8 });
    assert_eq!(refused(&Segment { sack_count: 5, ..plain }, &[]), EncodeError::SackBlocks { count: 5 });
    let wide = Segment { sack_count: 4, timestamps: Some(Timestamps::default()), ..plain };
    assert_eq!(refused(&wide, &[]), EncodeError::Options { length: 48 });
    let long = Segment { len: 65_496, ..plain };
    assert_eq!(refused(&long, &vec![0; 65_496]), EncodeError::TooLong { length: 65_536 });
    let longest = Segment { len: 65_495, ..plain };
    assert_eq!(decode(&bytes_of(&IP, &longest, 3).unwrap()).unwrap().segment, longest);
}

#[test]
fn packets_other_than_tcp_are_reported_by_kind() {
    let good = bytes_of(&IP, &Segment { len: 3, ..Segment::default() }, 0).unwrap();
    let with = |place: usize, value: u8| {
        let mut bytes = good.clone();
        bytes[place] = value;
        decode(&bytes).unwrap_err()
    };
    assert_eq!(decode(&[]).unwrap_err(), DecodeError::Empty);
    assert_eq!(with(0, 0x55), DecodeError::Version(5));
    assert_eq!(with(9, 17), DecodeError::NotTcp(17));
    assert_eq!(with(6, 0x20), DecodeError::Fragment);
    assert_eq!(with(3, 19), DecodeError::Length { said: 19, needed: 20 });
    assert!(matches!(with(3, 39), DecodeError::Tcp { at: 20, .. }));
    assert_eq!(with(3, 44), DecodeError::Cut { said: 44, found: 43 });
    assert!(matches!(with(32, 0x40), DecodeError::Tcp { at: 20, .. }));
}

#[test]
fn extension_headers_of_ipv6_are_passed_over() {
    let source = Ipv6Addr::LOCALHOST;
    let hosts = Hosts::V6 { source, destination: source };
    let ip = Ip { addresses: Addresses { hosts, ..IP.addresses }, ..IP };
    let segment = Segment { len: 20, window: 9, ..Segment::default() };
    let plain = bytes_of(&ip, &segment, 0).unwrap();
    // A hop-by-hop header of eight bytes: TCP next, length 0, PadN of four.
    let mut bytes = [&plain[..40], &[6, 0, 1, 4, 0, 0, 0, 0], &plain[40..]].concat();
    bytes[5] += 8;
    bytes[6] = 0;
    let packet = decode(&bytes).unwrap();
    assert_eq!((packet.segment, packet.tcp_checksum), (segment, Checksum::Good));
    assert_eq!(payload::first_difference(0, packet.payload), None);
}
