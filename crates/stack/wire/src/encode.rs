//! Encodes a segment as the bytes of its IP packet.

use etherparse::{IpEcn, IpFragOffset, IpNumber, Ipv4Header, Ipv4Options, Ipv6Header};
use firstflight_tcp::{Ecn, MAX_SACK_BLOCKS, Segment};
use thiserror::Error;

use crate::address::{Addresses, Hosts};
use crate::decode::{pseudo_header, sum_of};
use crate::options;
use crate::quick_start::{self, IpOption};

/// The fields of an IP header that a segment does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ip {
    /// Hosts and ports.
    pub addresses: Addresses,
    /// IPv4's identification field; IPv6 has none.
    pub identification: u16,
    /// IPv4's time to live or IPv6's hop limit. If the segment has a Quick-Start request, the request's hop limit is used instead.
    pub hop_limit: u8,
}

/// The reason why a segment cannot be written as bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum EncodeError {
    /// A payload whose length differs from the segment's.
    #[error("the segment has {segment} bytes of payload, but {given} were given")]
    Payload {
        /// The segment's length.
        segment: u16,
        /// The length of the payload given.
        given: usize,
    },
    /// More SACK blocks than a header holds.
    #[error("the segment counts {count} SACK blocks; it holds at most {MAX_SACK_BLOCKS}")]
    SackBlocks {
        /// The number of blocks.
        count: u8,
    },
    /// The options do not fit the header (RFC 9293 section 3.1).
    #[error("the segment has {length} bytes of TCP options; a header holds at most {}", options::MAX_LENGTH)]
    Options {
        /// Bytes of options.
        length: usize,
    },
    /// The packet is longer than the IP length field allows.
    #[error("the packet would be {length} bytes long; the IP length field holds at most 65535")]
    TooLong {
        /// Bytes of the IP header (counted only for IPv4), TCP header, options and payload.
        length: usize,
    },
}

/// Writes `segment` with `payload` as an IP packet into `out` and replaces its contents. Computes the checksums. Sets "don't fragment" in
/// IPv4 packets, so that their identification field is free for any use (RFC 6864).
///
/// # Errors
/// If a header cannot express the segment. `out` is then empty.
pub fn encode(ip: &Ip, segment: &Segment, payload: &[u8], out: &mut Vec<u8>) -> Result<(), EncodeError> {
    out.clear();
    if payload.len() != usize::from(segment.len) {
        return Err(EncodeError::Payload { segment: segment.len, given: payload.len() });
    }
    let length = header_length(segment, &[])? + payload.len();
    let hop_limit = match segment.quick_start.ip() {
        Some(IpOption::Request { hop_limit, .. }) => hop_limit,
        Some(IpOption::Report { .. }) | None => ip.hop_limit,
    };
    match ip.addresses.hosts {
        Hosts::V4 { source, destination } => {
            let options = segment
                .quick_start
                .ip()
                .map_or_else(Ipv4Options::new, |option| quick_start::to_ipv4(option).into());
            let whole = Ipv4Header::MIN_LEN + options.len() + length;
            let too_long = EncodeError::TooLong { length: whole };
            let total_len = u16::try_from(whole).map_err(|_| too_long)?;
            let mut header = Ipv4Header {
                ecn: ecn(segment.ecn),
                total_len,
                identification: ip.identification,
                dont_fragment: true,
                fragment_offset: IpFragOffset::ZERO,
                time_to_live: hop_limit,
                protocol: IpNumber::TCP,
                source: source.octets(),
                destination: destination.octets(),
                options,
                ..Ipv4Header::default()
            };
            header.header_checksum = header.calc_header_checksum();
            out.extend(header.to_bytes());
        }
        Hosts::V6 { source, destination } => {
            let by_hop = segment.quick_start.ip().map(hop_by_hop);
            let length = length + by_hop.map_or(0, |bytes| bytes.len());
            let too_long = EncodeError::TooLong { length };
            let header = Ipv6Header {
                traffic_class: segment.ecn as u8,
                payload_length: u16::try_from(length).map_err(|_| too_long)?,
                next_header: if by_hop.is_some() { IpNumber::IPV6_HEADER_HOP_BY_HOP } else { IpNumber::TCP },
                hop_limit,
                source: source.octets(),
                destination: destination.octets(),
                ..Ipv6Header::default()
            };
            out.extend(header.to_bytes());
            out.extend(by_hop.iter().flatten());
        }
    }
    encode_tcp(&ip.addresses, segment, &[], [payload, &[]], out)
}

/// Returns the IPv6 hop-by-hop options header with `option`, padded to a multiple of eight bytes (RFC 8200 section 4.3).
fn hop_by_hop(option: IpOption) -> [u8; 16] {
    const PADDING: [u8; 6] = [1, 4, 0, 0, 0, 0];
    let mut header = [0; 16];
    header[..2].copy_from_slice(&[IpNumber::TCP.0, 1]);
    header[2..10].copy_from_slice(&quick_start::to_ipv6(option));
    header[10..].copy_from_slice(&PADDING);
    header
}

/// Bytes of a TCP header without options.
const FIXED: usize = 20;
/// Offset of the checksum in the TCP header, in bytes.
const CHECKSUM: usize = 16;

/// Appends to `out` a TCP header for `segment` and the two pieces of its payload. The checksum also covers the pseudo-header with the hosts
/// of `addresses` (RFC 9293 section 3.1, RFC 8200 section 8.1). The `further` options follow the segment's options; padding fills them to
/// whole words.
///
/// # Errors
/// If a header cannot express the segment, or the payload's length differs from the segment's. `out` is then unchanged.
pub fn encode_tcp(
    addresses: &Addresses,
    segment: &Segment,
    further: &[u8],
    payload: [&[u8]; 2],
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let given = payload[0].len() + payload[1].len();
    if given != usize::from(segment.len) {
        return Err(EncodeError::Payload { segment: segment.len, given });
    }
    let header = header_length(segment, further)?;
    let length = header + given;
    let covered = u32::try_from(length).map_err(|_| EncodeError::TooLong { length })?;
    let start = out.len();
    out.reserve(length);
    let mut fixed = [0; FIXED];
    fixed[..2].copy_from_slice(&addresses.source_port.to_be_bytes());
    fixed[2..4].copy_from_slice(&addresses.destination_port.to_be_bytes());
    fixed[4..8].copy_from_slice(&segment.seq.to_be_bytes());
    fixed[8..12].copy_from_slice(&segment.ack.to_be_bytes());
    // The data offset in words is the high half of its byte. A header has at most fifteen words.
    fixed[12] = u8::try_from(header / 4).unwrap_or(0) << 4;
    fixed[13] = segment.flags.0;
    fixed[14..16].copy_from_slice(&segment.window.to_be_bytes());
    out.extend_from_slice(&fixed);
    options::write(segment, out);
    out.extend_from_slice(further);
    out.resize(start + header, 0);
    out.extend_from_slice(payload[0]);
    out.extend_from_slice(payload[1]);
    let sum = sum_of(pseudo_header(addresses.hosts, covered), &out[start..]);
    // The library sums words in the machine's byte order, so the sum is written in this order too.
    out[start + CHECKSUM..start + CHECKSUM + 2].copy_from_slice(&sum.ones_complement().to_ne_bytes());
    Ok(())
}

/// Returns the bytes of the TCP header of a segment with further options.
fn header_length(segment: &Segment, further: &[u8]) -> Result<usize, EncodeError> {
    if usize::from(segment.sack_count) > MAX_SACK_BLOCKS {
        return Err(EncodeError::SackBlocks { count: segment.sack_count });
    }
    let own = usize::try_from(segment.options_length()).unwrap_or(usize::MAX);
    let length = own.saturating_add(further.len());
    if length > options::MAX_LENGTH {
        return Err(EncodeError::Options { length });
    }
    Ok(FIXED + length.next_multiple_of(4))
}

fn ecn(field: Ecn) -> IpEcn {
    match field {
        Ecn::NotCapable => IpEcn::NotEct,
        Ecn::Ect1 => IpEcn::Ect1,
        Ecn::Ect0 => IpEcn::Ect0,
        Ecn::Ce => IpEcn::CongestionExperienced,
    }
}
