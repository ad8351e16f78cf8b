//! Reads the parts of a packet that a router or queue needs, and changes the two that it may change in the IP header: the ECN field and the
//! Quick-Start request.

use std::net::IpAddr;

use etherparse::checksum::Sum16BitWords;
use etherparse::{IpNumber, Ipv4HeaderSlice, Ipv6ExtensionsSlice, Ipv6HeaderSlice};
use firstflight_tcp::Ecn;

use crate::decode::ecn;
use crate::quick_start::{self, IpOption};

/// A packet of any protocol as a hop sees it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passing {
    /// Length of the IP packet in bytes, as its header says.
    pub length: u16,
    /// The destination host.
    pub destination: IpAddr,
    /// A hash that identifies the packet's flow. It covers the addresses, the protocol and, for an unfragmented TCP, UDP, DCCP or SCTP
    /// packet, the ports.
    pub flow: u64,
    /// The packet's ECN codepoint.
    pub ecn: Ecn,
    /// The Quick-Start option of the packet's IP header.
    pub quick_start: Option<IpOption>,
}

/// Reads a whole IP packet of any protocol. Returns `None` if the bytes are not an IP packet. Never panics.
pub fn read_passing(bytes: &[u8]) -> Option<Passing> {
    match bytes.first()? >> 4 {
        4 => passing_v4(bytes),
        6 => passing_v6(bytes),
        _ => None,
    }
}

fn passing_v4(bytes: &[u8]) -> Option<Passing> {
    let header = Ipv4HeaderSlice::from_slice(bytes).ok()?;
    let (start, length) = (header.slice().len(), header.total_len());
    let body = bytes.get(start..usize::from(length))?;
    let ports = ports(header.protocol(), header.is_fragmenting_payload(), body);
    Some(Passing {
        length,
        destination: header.destination_addr().into(),
        flow: flow(&[&header.source(), &header.destination(), &[header.protocol().0], ports]),
        ecn: ecn(header.ecn().value()),
        quick_start: quick_start::among_ipv4(header.options(), header.ttl()),
    })
}

fn passing_v6(bytes: &[u8]) -> Option<Passing> {
    let header = Ipv6HeaderSlice::from_slice(bytes).ok()?;
    let start = header.slice().len();
    let length = u16::try_from(start + usize::from(header.payload_length())).ok()?;
    let after = bytes.get(start..usize::from(length))?;
    let (extensions, protocol, body) = Ipv6ExtensionsSlice::from_slice(header.next_header(), after).ok()?;
    let by_hop =
        if header.next_header() == IpNumber::IPV6_HEADER_HOP_BY_HOP { extensions.slice() } else { &[] };
    let ports = ports(protocol, extensions.is_fragmenting_payload(), body);
    Some(Passing {
        length,
        destination: header.destination_addr().into(),
        flow: flow(&[&header.source(), &header.destination(), &[protocol.0], ports]),
        ecn: ecn(header.ecn().value()),
        quick_start: quick_start::among_hop_by_hop(by_hop, header.hop_limit()),
    })
}

/// Returns the four bytes of the two ports at the beginning of `body`. Returns no bytes if the protocol has no ports or the packet is a
/// fragment.
fn ports(protocol: IpNumber, is_fragment: bool, body: &[u8]) -> &[u8] {
    const WITH_PORTS: [IpNumber; 4] = [IpNumber::TCP, IpNumber::UDP, IpNumber::DCCP, IpNumber::SCTP];
    if is_fragment || !WITH_PORTS.contains(&protocol) { &[] } else { body.get(..4).unwrap_or(&[]) }
}

/// Returns the 64-bit FNV-1a hash of the parts (RFC 9923).
fn flow(parts: &[&[u8]]) -> u64 {
    parts.iter().copied().flatten().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Sets an IP packet's ECN field to congestion experienced (RFC 3168 section 5) and adjusts the checksum of an IPv4 header. Does not change
/// bytes that are not an IP packet.
pub fn mark(bytes: &mut [u8]) {
    match bytes {
        [first, traffic, ..] if *first >> 4 == 4 => {
            *traffic |= Ecn::Ce as u8;
            sum_ipv4(bytes);
        }
        [first, second, ..] if *first >> 4 == 6 => *second |= (Ecn::Ce as u8) << 4,
        _ => {}
    }
}

/// Replaces the Quick-Start option of an IP header by `option`. If `option` is a request, also sets the IP hop limit to the request's,
/// because routers decrement both (RFC 4782 section 3.3). Adjusts the checksum of an IPv4 header. Does not change a packet without a
/// Quick-Start option.
pub fn write_quick_start(bytes: &mut [u8], option: IpOption) {
    let hop_limit = match option {
        IpOption::Request { hop_limit, .. } => Some(hop_limit),
        IpOption::Report { .. } => None,
    };
    match bytes.first().map(|first| first >> 4) {
        Some(4) => {
            let end = 4 * usize::from(bytes.first().map_or(0, |first| first & 15));
            let Some(at) = bytes.get(20..end).and_then(quick_start::place_in_ipv4) else { return };
            let Some(place) = bytes.get_mut(20 + at..28 + at) else { return };
            place.copy_from_slice(&quick_start::to_ipv4(option));
            if let (Some(ttl), Some(hop_limit)) = (bytes.get_mut(8), hop_limit) {
                *ttl = hop_limit;
            }
            sum_ipv4(bytes);
        }
        Some(6) => {
            if bytes.get(6) != Some(&IpNumber::IPV6_HEADER_HOP_BY_HOP.0) {
                return;
            }
            let Some(at) = bytes.get(40..).and_then(quick_start::place_in_hop_by_hop) else { return };
            let Some(place) = bytes.get_mut(40 + at..48 + at) else { return };
            place.copy_from_slice(&quick_start::to_ipv6(option));
            if let (Some(limit), Some(hop_limit)) = (bytes.get_mut(7), hop_limit) {
                *limit = hop_limit;
            }
        }
        _ => {}
    }
}

/// Recomputes the checksum of an IPv4 header.
fn sum_ipv4(bytes: &mut [u8]) {
    let end = 4 * usize::from(bytes.first().map_or(0, |first| first & 15));
    let Some(header) = bytes.get_mut(..end).filter(|header| header.len() >= 20) else { return };
    header[10..12].fill(0);
    let sum = Sum16BitWords::new().add_slice(header).ones_complement();
    header[10..12].copy_from_slice(&sum.to_ne_bytes());
}

#[cfg(test)]
mod tests;
