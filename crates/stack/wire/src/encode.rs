//! Encodes a segment as the bytes of its IP packet.

use etherparse::{IpEcn, IpFragOffset, IpNumber, Ipv4Header, Ipv4Options, Ipv6Header, TcpHeader};
use firstflight_tcp::{Ecn, Flags, MAX_SACK_BLOCKS, Segment};
use thiserror::Error;

use crate::address::{Addresses, Hosts};
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
    let mut tcp = tcp_header(&ip.addresses, segment, &[])?;
    let length = tcp.header_len() + payload.len();
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
            tcp.checksum = tcp.calc_checksum_ipv4(&header, payload).map_err(|_| too_long)?;
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
            tcp.checksum = tcp.calc_checksum_ipv6(&header, payload).map_err(|_| too_long)?;
            out.extend(header.to_bytes());
            out.extend(by_hop.iter().flatten());
        }
    }
    out.extend(tcp.to_bytes());
    out.extend(payload);
    Ok(())
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

/// Returns the TCP header with a checksum of zero. The `further` options follow the segment's options.
pub(crate) fn tcp_header(
    addresses: &Addresses,
    segment: &Segment,
    further: &[u8],
) -> Result<TcpHeader, EncodeError> {
    if usize::from(segment.sack_count) > MAX_SACK_BLOCKS {
        return Err(EncodeError::SackBlocks { count: segment.sack_count });
    }
    let mut options = Vec::with_capacity(options::MAX_LENGTH);
    options::write(segment, &mut options);
    options.extend(further);
    let has = |flag| segment.flags.has(flag);
    let mut header = TcpHeader {
        fin: has(Flags::FIN),
        syn: has(Flags::SYN),
        rst: has(Flags::RST),
        psh: has(Flags::PSH),
        ack: has(Flags::ACK),
        urg: has(Flags::URG),
        ece: has(Flags::ECE),
        cwr: has(Flags::CWR),
        acknowledgment_number: segment.ack,
        ..TcpHeader::new(addresses.source_port, addresses.destination_port, segment.seq, segment.window)
    };
    header.set_options_raw(&options).map_err(|_| EncodeError::Options { length: options.len() })?;
    Ok(header)
}

fn ecn(field: Ecn) -> IpEcn {
    match field {
        Ecn::NotCapable => IpEcn::NotEct,
        Ecn::Ect1 => IpEcn::Ect1,
        Ecn::Ect0 => IpEcn::Ect0,
        Ecn::Ce => IpEcn::CongestionExperienced,
    }
}
