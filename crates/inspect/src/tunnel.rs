//! IP packets that carry others: IP in IP, GRE, VXLAN, GENEVE and GTP-U. The innermost is what is looked at.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::link::{Link, behind_ethernet_type};

/// Tunnels in tunnels are looked into to this depth.
const MOST_LAYERS: usize = 4;

const IP_IN_IP: u8 = 4;
const UDP: u8 = 17;
const IPV6_IN_IP: u8 = 41;
const GRE: u8 = 47;
/// RFC 7348 section 5, RFC 8926 section 3.3, 3GPP TS 29.281 section 4.4.2.3.
const VXLAN_PORT: u16 = 4789;
const GENEVE_PORT: u16 = 6081;
const GTP_PORT: u16 = 2152;

/// What is within tunnels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Inner {
    /// Where the innermost IP packet begins; 0 if there is no other.
    pub(crate) at: usize,
    /// A number for the tunnels: their kinds, ends and identifiers; 0 without a tunnel. Two tunnels have the same one once in 2^64.
    pub(crate) tunnel: u64,
    /// The tunnel that it is in at once, without those around that.
    pub(crate) outer: Option<Outer>,
}

/// A tunnel, as a packet in it tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Outer {
    pub(crate) from: IpAddr,
    pub(crate) to: IpAddr,
    protocol: u8,
    port: Option<u16>,
    id: Option<u32>,
}

/// The kind and the identifier: `vxlan 5`.
impl fmt::Display for Outer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match (self.protocol, self.port) {
            (GRE, _) => "gre",
            (UDP, Some(VXLAN_PORT)) => "vxlan",
            (UDP, Some(GENEVE_PORT)) => "geneve",
            (UDP, _) => "gtp-u",
            _ => "ip",
        };
        write!(f, "{kind}")?;
        self.id.map_or(Ok(()), |id| write!(f, " {id}"))
    }
}

impl Outer {
    fn of(packet: &[u8]) -> Option<Self> {
        let (_, protocol, port, id) = identity(packet);
        let id = id.map(|bytes| bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)));
        let (from, to): (IpAddr, IpAddr) = if packet.first()? >> 4 == 4 {
            let [from, to] = [12, 16].map(|at| packet.get(at..)?.first_chunk::<4>().copied());
            (from?.into(), to?.into())
        } else {
            let [from, to] = [8, 24].map(|at| packet.get(at..)?.first_chunk::<16>().copied());
            (from?.into(), to?.into())
        };
        Some(Self { from, to, protocol: protocol?, port, id })
    }
}

/// The innermost IP packet in this one.
pub(crate) fn innermost(packet: &[u8]) -> Inner {
    let mut inner = Inner::default();
    let mut hasher = DefaultHasher::new();
    for _ in 0..MOST_LAYERS {
        let outer = &packet[inner.at..];
        let is_inside = |more: &usize| packet.get(inner.at + more).is_some_and(|first| is_ip(*first));
        let Some(more) = within(outer).filter(is_inside) else { break };
        identity(outer).hash(&mut hasher);
        inner = Inner { at: inner.at + more, tunnel: hasher.finish().max(1), outer: Outer::of(outer) };
    }
    inner
}

/// Ends, protocol, port, identifier.
type Identity<'a> = (Option<[&'a [u8]; 2]>, Option<u8>, Option<u16>, Option<&'a [u8]>);

/// What the two directions of a tunnel have in common: its ends, the smaller first, its protocol and port, and its identifier.
fn identity(packet: &[u8]) -> Identity<'_> {
    let is_ipv4 = packet.first().is_some_and(|first| first >> 4 == 4);
    let (addresses, length, start) =
        if is_ipv4 { (12, 4, usize::from(packet[0] & 15) * 4) } else { (8, 16, 40) };
    let address = |at: usize| packet.get(at..at + length);
    let ends = address(addresses).zip(address(addresses + length));
    let ends = ends.map(|(from, to)| [from.min(to), from.max(to)]);
    let protocol = packet.get(if is_ipv4 { 9 } else { 6 }).copied();
    let id = |at: usize, bytes: usize| packet.get(at..at + bytes);
    match protocol {
        Some(GRE) => {
            let flags = u16_at(packet, start).unwrap_or(0);
            let key = start + if flags & 0x8000 == 0 { 4 } else { 8 };
            (ends, protocol, None, id(key, 4).filter(|_| flags & 0x2000 != 0))
        }
        Some(UDP) => {
            let port = u16_at(packet, start + 2);
            // The endpoint of GTP-U is of four bytes, the networks of the others of three.
            (ends, protocol, port, id(start + 12, if port == Some(GTP_PORT) { 4 } else { 3 }))
        }
        _ => (ends, protocol, None, None),
    }
}

fn is_ip(first: u8) -> bool {
    matches!(first >> 4, 4 | 6)
}

/// Where the packet within this one begins.
fn within(packet: &[u8]) -> Option<usize> {
    let (protocol, start) = match packet.first()? >> 4 {
        4 => {
            let is_fragment = u16_at(packet, 6)? & 0x3FFF != 0;
            (!is_fragment).then_some((*packet.get(9)?, usize::from(packet[0] & 15) * 4))?
        }
        _ => (*packet.get(6)?, 40),
    };
    match protocol {
        IP_IN_IP | IPV6_IN_IP => Some(start),
        GRE => gre(packet, start),
        UDP => {
            let ports = [u16_at(packet, start)?, u16_at(packet, start + 2)?];
            let payload = start + 8;
            match ports[1] {
                VXLAN_PORT if packet.get(payload)? & 8 != 0 => ethernet(packet, payload + 8),
                GENEVE_PORT => geneve(packet, payload),
                GTP_PORT => gtp(packet, payload),
                _ => None,
            }
        }
        _ => None,
    }
}

/// RFC 2784, with the key and sequence number of RFC 2890.
fn gre(packet: &[u8], start: usize) -> Option<usize> {
    let flags = u16_at(packet, start)?;
    if flags & 0x4007 != 0 {
        return None;
    }
    let optional = [0x8000, 0x2000, 0x1000].iter().filter(|flag| flags & **flag != 0).count();
    let behind = start + 4 + 4 * optional;
    match u16_at(packet, start + 2)? {
        // Transparent Ethernet.
        0x6558 => ethernet(packet, behind),
        kind => behind_ethernet_type(packet, kind, behind),
    }
}

fn geneve(packet: &[u8], start: usize) -> Option<usize> {
    let first = packet.get(start)?;
    let behind = start + 8 + usize::from(first & 0x3F) * 4;
    match u16_at(packet, start + 2)? {
        _ if first >> 6 != 0 => None,
        0x6558 => ethernet(packet, behind),
        kind => behind_ethernet_type(packet, kind, behind),
    }
}

/// Version 1, a packet of a user (message 255), with or without extension headers.
fn gtp(packet: &[u8], start: usize) -> Option<usize> {
    let first = packet.get(start)?;
    if first >> 4 != 3 || *packet.get(start + 1)? != 255 {
        return None;
    }
    let has_optional = first & 7 != 0;
    if !has_optional {
        return Some(start + 8);
    }
    let mut at = start + 12;
    let mut next = *packet.get(start + 11)?;
    while first & 4 != 0 && next != 0 {
        let length = usize::from(*packet.get(at)?) * 4;
        next = *packet.get(at + length.checked_sub(1)?)?;
        at += length;
    }
    Some(at)
}

fn ethernet(packet: &[u8], start: usize) -> Option<usize> {
    let (before, _) = Link::Ethernet.ip(packet.get(start..)?)?;
    Some(start + before as usize)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|two| u16::from_be_bytes(*two))
}
