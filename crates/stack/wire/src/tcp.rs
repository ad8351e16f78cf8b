//! Decodes TCP segments without an IP header, which another protocol such as UDP carries.

use firstflight_tcp::Segment;

use crate::address::Hosts;
use crate::decode::{self, Checksum, DecodeError};

/// A decoded TCP segment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TcpSegment<'a> {
    /// TCP port of the sender.
    pub source_port: u16,
    /// TCP port of the receiver.
    pub destination_port: u16,
    /// The segment. It lacks the fields that an IP header has: the ECN field and the Quick-Start request.
    pub segment: Segment,
    /// The bytes of all options, known and unknown.
    pub options: &'a [u8],
    /// The payload.
    pub payload: &'a [u8],
    /// The state of the checksum. It is never [`Checksum::Unknown`].
    pub checksum: Checksum,
}

/// Decodes `bytes` as one TCP segment between `hosts`, which the checksum also covers. Reports a wrong checksum but accepts the segment.
/// Drops the urgent pointer and the reserved bits.
///
/// # Errors
/// If the bytes are not a TCP segment. The error says what is wrong and where.
pub fn decode_tcp(hosts: Hosts, bytes: &[u8]) -> Result<TcpSegment<'_>, DecodeError> {
    let (header, mut segment) = decode::tcp(bytes, 0)?;
    let needed = header.slice().len();
    let said = bytes.len();
    segment.len = u16::try_from(said - needed).map_err(|_| DecodeError::Length { said, needed })?;
    Ok(TcpSegment {
        source_port: header.source_port(),
        destination_port: header.destination_port(),
        segment,
        options: &bytes[decode::TCP_FIXED..needed],
        payload: &bytes[needed..],
        checksum: decode::tcp_checksum(hosts, bytes, said),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Addresses;
    use crate::encode::{EncodeError, encode_tcp};
    use etherparse::checksum::Sum16BitWords;
    use firstflight_tcp::Flags;
    use proptest::prelude::*;
    use std::net::Ipv4Addr;

    const NOBODY: Hosts = Hosts::V4 { source: Ipv4Addr::UNSPECIFIED, destination: Ipv4Addr::UNSPECIFIED };
    const PORTS: Addresses = Addresses { hosts: NOBODY, source_port: 40_000, destination_port: 4_433 };

    #[test]
    fn a_segment_with_split_payload_and_unknown_options_round_trips() {
        let segment = Segment { seq: 7, ack: 9, len: 5, flags: Flags::ACK, window: 3, ..Segment::default() };
        let (unknown, mut bytes) = ([253, 4, 1, 2], vec![1, 2, 3]);
        encode_tcp(&PORTS, &segment, &unknown, [b"abc", b"de"], &mut bytes).unwrap();
        let read = decode_tcp(NOBODY, &bytes[3..]).unwrap();
        assert_eq!((read.segment, read.payload, read.options), (segment, &b"abcde"[..], &unknown[..]));
        assert_eq!((read.source_port, read.destination_port, read.checksum), (40_000, 4_433, Checksum::Good));
        let refused = encode_tcp(&PORTS, &segment, &[0; 44], [b"abc", b"de"], &mut bytes);
        assert_eq!(refused, Err(EncodeError::Options { length: 44 }));
        assert_eq!(bytes.len(), 3 + 24 + 5, "what cannot be written leaves nothing");
    }

    proptest! {
        #[test]
        fn an_ip_packet_has_the_same_segment(
            payload in proptest::collection::vec(any::<u8>(), 0..100),
            cut in 0usize..100,
            seq in any::<u32>(),
        ) {
            let (source, destination) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 9, 8, 7));
            let addresses = Addresses { hosts: Hosts::V4 { source, destination }, ..PORTS };
            let len = u16::try_from(payload.len()).unwrap();
            let segment = Segment { seq, len, flags: Flags::ACK, ..Segment::default() };
            let (mut packet, mut bytes) = (Vec::new(), Vec::new());
            crate::encode(&crate::Ip { addresses, identification: 0, hop_limit: 64 }, &segment, &payload, &mut packet).unwrap();
            let (first, second) = payload.split_at(cut.min(payload.len()));
            encode_tcp(&addresses, &segment, &[], [first, second], &mut bytes).unwrap();
            prop_assert_eq!(&packet[20..], &bytes[..]);
        }

        #[test]
        fn the_sum_is_that_of_its_words_one_by_one(bytes in proptest::collection::vec(any::<u8>(), 0..=200)) {
            let begin = || Sum16BitWords::new().add_2bytes([0x12, 0xfe]);
            let (sum, expected) = (decode::sum_of(begin(), &bytes), begin().add_slice(&bytes));
            prop_assert_eq!(sum.ones_complement(), expected.ones_complement());
        }

        #[test]
        fn a_burst_of_fifteen_bits_never_passes(
            payload in proptest::collection::vec(any::<u8>(), 0..100),
            place in any::<proptest::sample::Index>(),
            pattern in 1u16..1 << 15,
        ) {
            let len = u16::try_from(payload.len()).unwrap();
            let mut bytes = Vec::new();
            encode_tcp(&PORTS, &Segment { len, ..Segment::default() }, &[], [&payload, &[]], &mut bytes).unwrap();
            let first = place.index(bytes.len() * 8 - 14);
            for bit in (0..15).filter(|bit| pattern & 1 << bit != 0) {
                bytes[(first + bit) / 8] ^= 0x80 >> ((first + bit) % 8);
            }
            let read = decode_tcp(NOBODY, &bytes);
            prop_assert!(read.is_err() || read.unwrap().checksum == Checksum::Bad);
        }
    }
}
