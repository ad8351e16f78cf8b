//! A TCP segment as the payload of a UDP datagram.
//!
//! The payload is the segment as RFC 9293 section 3.1 has it, and nothing else: header, options, data. Its checksum covers a
//! pseudo-header whose addresses are zero, with protocol 6 and the length of the segment: translators (NAT) change addresses, and
//! UDP's own checksum covers those of each hop. A segment with SYN carries no data: what follows its options is padding by which
//! the path's MTU is found.

use std::net::Ipv4Addr;

use firstflight_tcp::Segment;
use firstflight_wire::{Addresses, Checksum, EncodeError, Hosts, TcpSegment, decode_tcp, encode_tcp};

/// The hosts of the pseudo-header.
pub(crate) const NOBODY: Hosts =
    Hosts::V4 { source: Ipv4Addr::UNSPECIFIED, destination: Ipv4Addr::UNSPECIFIED };
/// Bytes of a TCP header without options.
pub(crate) const HEADER: u16 = 20;

/// Appends a segment between two TCP ports.
pub(crate) fn encode(
    (from, to): (u16, u16),
    segment: &Segment,
    further: &[u8],
    payload: [&[u8]; 2],
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let addresses = Addresses { hosts: NOBODY, source_port: from, destination_port: to };
    encode_tcp(&addresses, segment, further, payload, out)
}

/// The segment that a datagram carries, if it carries one whole.
pub(crate) fn decode(datagram: &[u8]) -> Option<TcpSegment<'_>> {
    decode_tcp(NOBODY, datagram).ok().filter(|read| read.checksum == Checksum::Good)
}
