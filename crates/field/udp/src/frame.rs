//! A TCP segment as the payload of a UDP datagram.
//!
//! The payload is the segment in the format of RFC 9293 section 3.1, and nothing else: header, options, data. The checksum covers a
//! pseudo-header whose addresses are zero, with protocol 6 and the length of the segment, because translators (NAT) change addresses. UDP's
//! own checksum covers the addresses of each hop. A segment with SYN carries no data: the bytes after its options are padding with which
//! the path's MTU is found.

use std::net::Ipv4Addr;

use firstflight_tcp::Segment;
use firstflight_wire::{Addresses, Checksum, EncodeError, Hosts, TcpSegment, decode_tcp, encode_tcp};

/// The addresses of the pseudo-header.
pub(crate) const NOBODY: Hosts =
    Hosts::V4 { source: Ipv4Addr::UNSPECIFIED, destination: Ipv4Addr::UNSPECIFIED };
/// Bytes of a TCP header without options.
pub(crate) const HEADER: u16 = 20;

/// Appends the bytes of a segment between two TCP ports.
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

/// Returns the segment that a datagram carries, if it is complete and valid.
pub(crate) fn decode(datagram: &[u8]) -> Option<TcpSegment<'_>> {
    decode_tcp(NOBODY, datagram).ok().filter(|read| read.checksum == Checksum::Good)
}
