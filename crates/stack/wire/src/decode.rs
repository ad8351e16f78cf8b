//! Decodes the bytes of an IP packet as a TCP segment. Any input gives a packet or an error.

use etherparse::checksum::Sum16BitWords;
use etherparse::{IpNumber, Ipv4HeaderSlice, Ipv6ExtensionsSlice, Ipv6HeaderSlice, TcpHeaderSlice, err};
use firstflight_tcp::{Ecn, Flags, Segment};
use thiserror::Error;

use crate::address::{Addresses, Hosts};
use crate::options::{self, OptionError};
use crate::quick_start::{self, IpOption};

/// A decoded packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packet<'a> {
    /// Hosts and ports.
    pub addresses: Addresses,
    /// IPv4's identification field.
    pub identification: Option<u16>,
    /// IPv4's time to live or IPv6's hop limit.
    pub hop_limit: u8,
    /// The segment. Its payload length is computed from the IP header, even if the capture holds fewer bytes.
    pub segment: Segment,
    /// The captured part of the payload.
    pub payload: &'a [u8],
    /// The state of the IPv4 header's checksum. [`Checksum::Good`] for IPv6, which has no header checksum.
    pub ip_checksum: Checksum,
    /// The state of the TCP checksum.
    pub tcp_checksum: Checksum,
}

/// The state of a checksum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Checksum {
    /// The checksum fits the bytes.
    Good,
    /// The checksum does not fit the bytes: they were damaged, or captured before the network card filled it in.
    Bad,
    /// Some of the bytes that the checksum covers were not captured.
    Unknown,
}

/// The reason why bytes cannot be decoded as a whole TCP packet. Offsets count from the packet's first byte.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum DecodeError {
    /// There is no byte at all.
    #[error("the packet is empty")]
    Empty,
    /// The version is neither 4 nor 6.
    #[error("the packet's first four bits say IP version {0}; 4 and 6 are known")]
    Version(u8),
    /// The IPv4 header cannot be read.
    #[error("IPv4 header: {0}")]
    Ipv4(err::ipv4::HeaderSliceError),
    /// The IPv6 header cannot be read.
    #[error("IPv6 header: {0}")]
    Ipv6(err::ipv6::HeaderSliceError),
    /// The IPv6 extension headers, which begin at byte 40, cannot be read.
    #[error("IPv6 extension headers at byte 40: {0}")]
    Extensions(err::ipv6_exts::HeaderSliceError),
    /// The packet is one fragment of a datagram.
    #[error("the packet is a fragment; a TCP segment is read from a whole datagram only")]
    Fragment,
    /// The packet carries another protocol.
    #[error("the packet carries IP protocol {0}, not TCP (6)")]
    NotTcp(u8),
    /// The IP length field leaves no room for the headers.
    #[error("the IP length field says {said} bytes, but the headers take {needed}")]
    Length {
        /// The length in the IP header, IP header included.
        said: usize,
        /// The length of the headers.
        needed: usize,
    },
    /// The bytes end before the packet's end.
    #[error("the packet is {said} bytes long by its IP header, but only {found} are there")]
    Cut {
        /// The length in the IP header, IP header included.
        said: usize,
        /// The number of bytes given.
        found: usize,
    },
    /// The TCP header cannot be read.
    #[error("TCP header at byte {at}: {error}")]
    Tcp {
        /// The offset of the TCP header.
        at: usize,
        /// The reason.
        error: err::tcp::HeaderSliceError,
    },
    /// A TCP option cannot be read.
    #[error(transparent)]
    Option(#[from] OptionError),
}

/// Decodes a whole IP packet. Ignores bytes after its end, for example an Ethernet frame's padding. Reports wrong checksums but accepts the
/// packet. Drops the urgent pointer and the reserved bits.
///
/// # Errors
/// If the bytes are not a whole TCP segment. The error says what is wrong and where.
pub fn decode(bytes: &[u8]) -> Result<Packet<'_>, DecodeError> {
    let packet = decode_snapped(bytes)?;
    let missing = usize::from(packet.segment.len) - packet.payload.len();
    if missing > 0 {
        return Err(DecodeError::Cut { said: bytes.len() + missing, found: bytes.len() });
    }
    Ok(packet)
}

/// Decodes an IP packet of which a capture may have kept only the beginning. The headers must be complete; the payload may be truncated.
///
/// # Errors
/// If the bytes are not a TCP segment. The error says what is wrong and where.
pub fn decode_snapped(bytes: &[u8]) -> Result<Packet<'_>, DecodeError> {
    let network = match bytes.first().ok_or(DecodeError::Empty)? >> 4 {
        4 => ipv4(bytes)?,
        6 => ipv6(bytes)?,
        version => return Err(DecodeError::Version(version)),
    };
    let Network { hosts, identification, hop_limit, ecn, quick_start, start, end, ip_checksum } = network;
    let captured = bytes.get(start..end.min(bytes.len())).unwrap_or(&[]);
    let (header, mut segment) = tcp(captured, start)?;
    let header_length = header.slice().len();
    segment.len = (end - start)
        .checked_sub(header_length)
        .and_then(|len| u16::try_from(len).ok())
        .ok_or(DecodeError::Length { said: end, needed: start + header_length })?;
    segment.ecn = ecn;
    segment.quick_start = quick_start::Options::new(quick_start, segment.quick_start.response());
    Ok(Packet {
        addresses: Addresses {
            hosts,
            source_port: header.source_port(),
            destination_port: header.destination_port(),
        },
        identification,
        hop_limit,
        segment,
        payload: &captured[header_length..],
        ip_checksum,
        tcp_checksum: tcp_checksum(hosts, captured, end - start),
    })
}

/// Decodes the TCP header at the beginning of `bytes` and returns it together with its fields as a segment. `start` is the offset of
/// `bytes` in the packet, for errors. The caller sets the length of the payload.
pub(crate) fn tcp(bytes: &[u8], start: usize) -> Result<(TcpHeaderSlice<'_>, Segment), DecodeError> {
    let header = TcpHeaderSlice::from_slice(bytes).map_err(|error| DecodeError::Tcp { at: start, error })?;
    let mut segment = Segment {
        seq: header.sequence_number(),
        ack: header.acknowledgment_number(),
        window: header.window_size(),
        flags: Flags(bytes[13]),
        ..Segment::default()
    };
    options::read(header.options(), start + TCP_FIXED, &mut segment)?;
    Ok((header, segment))
}

/// Length of a TCP header without options, in bytes.
pub(crate) const TCP_FIXED: usize = 20;

/// The contents of the IP headers.
struct Network {
    hosts: Hosts,
    identification: Option<u16>,
    hop_limit: u8,
    ecn: Ecn,
    quick_start: Option<IpOption>,
    /// The offset of the TCP header.
    start: usize,
    /// The offset of the packet's end, computed from its length field. At least `start`.
    end: usize,
    ip_checksum: Checksum,
}

fn ipv4(bytes: &[u8]) -> Result<Network, DecodeError> {
    let header = Ipv4HeaderSlice::from_slice(bytes).map_err(DecodeError::Ipv4)?;
    if header.is_fragmenting_payload() {
        return Err(DecodeError::Fragment);
    }
    if header.protocol() != IpNumber::TCP {
        return Err(DecodeError::NotTcp(header.protocol().0));
    }
    let (start, end) = (header.slice().len(), usize::from(header.total_len()));
    if end < start {
        return Err(DecodeError::Length { said: end, needed: start });
    }
    Ok(Network {
        hosts: Hosts::V4 { source: header.source_addr(), destination: header.destination_addr() },
        identification: Some(header.identification()),
        hop_limit: header.ttl(),
        ecn: ecn(header.ecn().value()),
        quick_start: quick_start::among_ipv4(header.options(), header.ttl()),
        start,
        end,
        ip_checksum: verdict(&Sum16BitWords::new().add_slice(header.slice())),
    })
}

fn ipv6(bytes: &[u8]) -> Result<Network, DecodeError> {
    let header = Ipv6HeaderSlice::from_slice(bytes).map_err(DecodeError::Ipv6)?;
    let fixed = header.slice().len();
    let end = fixed + usize::from(header.payload_length());
    let after = &bytes[fixed..end.min(bytes.len())];
    let (extensions, protocol, _) =
        Ipv6ExtensionsSlice::from_slice(header.next_header(), after).map_err(DecodeError::Extensions)?;
    if extensions.is_fragmenting_payload() {
        return Err(DecodeError::Fragment);
    }
    if protocol != IpNumber::TCP {
        return Err(DecodeError::NotTcp(protocol.0));
    }
    let by_hop =
        if header.next_header() == IpNumber::IPV6_HEADER_HOP_BY_HOP { extensions.slice() } else { &[] };
    Ok(Network {
        hosts: Hosts::V6 { source: header.source_addr(), destination: header.destination_addr() },
        identification: None,
        hop_limit: header.hop_limit(),
        quick_start: quick_start::among_hop_by_hop(by_hop, header.hop_limit()),
        ecn: ecn(header.ecn().value()),
        start: fixed + extensions.slice().len(),
        end,
        ip_checksum: Checksum::Good,
    })
}

/// Returns the ECN codepoint in the two low bits of `field`, the traffic class or type of service.
pub(crate) fn ecn(field: u8) -> Ecn {
    match field & 3 {
        0 => Ecn::NotCapable,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

/// Checks the checksum of a TCP segment of `length` bytes (RFC 9293 section 3.1). `captured` is the segment's beginning. The sum also
/// covers the pseudo-header; for IPv6 it is that of RFC 8200 section 8.1, which has the same sum in another layout.
pub(crate) fn tcp_checksum(hosts: Hosts, captured: &[u8], length: usize) -> Checksum {
    let (Ok(covered), true) = (u32::try_from(length), captured.len() == length) else {
        return Checksum::Unknown;
    };
    verdict(&sum_of(pseudo_header(hosts, covered), captured))
}

/// Adds the 16-bit words of `bytes` to a sum. Four independent sums let the processor add several words at a time.
pub(crate) fn sum_of(mut sum: Sum16BitWords, bytes: &[u8]) -> Sum16BitWords {
    let (blocks, rest) = bytes.as_chunks::<16>();
    // A sum of 32-bit words is congruent to the sum of their halves. 64 bits hold it for any packet.
    let mut sums = [0_u64; 4];
    for block in blocks {
        for (sum, word) in sums.iter_mut().zip(block.as_chunks::<4>().0) {
            *sum += u64::from(u32::from_ne_bytes(*word));
        }
    }
    for part in sums {
        sum = sum.add_8bytes(part.to_ne_bytes());
    }
    sum.add_slice(rest)
}

/// Returns the sum of the pseudo-header's words, for a TCP segment of `length` bytes.
pub(crate) fn pseudo_header(hosts: Hosts, length: u32) -> Sum16BitWords {
    let mut sum = match hosts {
        Hosts::V4 { source, destination } => {
            Sum16BitWords::new().add_4bytes(source.octets()).add_4bytes(destination.octets())
        }
        Hosts::V6 { source, destination } => {
            Sum16BitWords::new().add_16bytes(source.octets()).add_16bytes(destination.octets())
        }
    };
    sum.add_4bytes(length.to_be_bytes()).add_2bytes([0, IpNumber::TCP.0])
}

/// Checks a sum: bytes that hold their own checksum sum to all ones, whose complement is zero (RFC 1071 section 1).
fn verdict(sum: &Sum16BitWords) -> Checksum {
    if sum.ones_complement() == 0 { Checksum::Good } else { Checksum::Bad }
}
