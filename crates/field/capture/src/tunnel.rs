//! Decodes IP packets that carry others: IP in IP, GRE, VXLAN, VXLAN-GPE, GENEVE, GTP-U, and MPLS labels in IP or UDP. The innermost packet
//! is analysed.

use std::net::IpAddr;

use crate::layers::{IpTunnel, Kind, Layers, TunnelEnd};
use crate::link::{Link, behind_ethernet_type, behind_labels, behind_ppp, behind_service_header};

const IP_IN_IP: u8 = 4;
const UDP: u8 = 17;
const IPV6_IN_IP: u8 = 41;
const GRE: u8 = 47;
/// IP protocol number of MPLS (RFC 4023 section 3).
const MPLS_IN_IP: u8 = 137;
/// UDP ports of VXLAN: the port of RFC 7348 section 5, and Linux's default port.
const VXLAN_PORTS: [u16; 2] = [4789, 8472];
/// UDP port of VXLAN-GPE (draft-ietf-nvo3-vxlan-gpe-13 section 3.2).
const VXLAN_GPE_PORT: u16 = 4790;
/// UDP ports of GENEVE (RFC 8926 section 3.3), GTP-U (3GPP TS 29.281 section 4.4.2.3) and MPLS (RFC 7510 section 3).
const GENEVE_PORT: u16 = 6081;
const GTP_PORT: u16 = 2152;
const MPLS_PORT: u16 = 6635;

/// Returns the offset of the innermost IP packet in this one; 0 if this packet carries no other. Adds the tunnels around it to `layers`.
pub fn innermost_packet(packet: &[u8], layers: &mut Layers) -> usize {
    let mut at = 0;
    while let Some((protocol, start)) = ip_payload(&packet[at..]) {
        if ![IP_IN_IP, UDP, IPV6_IN_IP, GRE, MPLS_IN_IP].contains(&protocol) {
            break;
        }
        // If the data only looks like a tunnel, its layers are discarded.
        let mut inside = layers.clone();
        let is_ip = |first: &u8| matches!(first >> 4, 4 | 6);
        let more = within(&packet[at..], protocol, start, &mut inside);
        let Some(more) = more.filter(|more| packet.get(at + more).is_some_and(is_ip)) else { break };
        at += more;
        *layers = inside;
    }
    at
}

/// Returns the protocol that an IP packet carries, and the offset of its payload, after IPv6's option and routing headers. Returns `None`
/// for a fragment.
pub fn ip_payload(packet: &[u8]) -> Option<(u8, usize)> {
    const HOP_BY_HOP: u8 = 0;
    const ROUTING: u8 = 43;
    const DESTINATION: u8 = 60;
    if packet.first()? >> 4 == 4 {
        let is_fragment = u16_at(packet, 6)? & 0x3FFF != 0;
        return (!is_fragment).then_some((*packet.get(9)?, usize::from(packet[0] & 15) * 4));
    }
    let (mut protocol, mut at) = (*packet.get(6)?, 40);
    while [HOP_BY_HOP, ROUTING, DESTINATION].contains(&protocol) {
        protocol = *packet.get(at)?;
        at += (usize::from(*packet.get(at + 1)?) + 1) * 8;
    }
    Some((protocol, at))
}

/// Returns the offset of the inner packet in this packet, which carries `protocol` from byte `start` on. Returns `None` if there is no
/// inner packet.
fn within(packet: &[u8], protocol: u8, start: usize, layers: &mut Layers) -> Option<usize> {
    let ends = ends(packet);
    let mut enter = |kind: IpTunnel, id: Option<u32>| layers.enter(Kind::Ip(kind, id), ends);
    match protocol {
        IP_IN_IP | IPV6_IN_IP => {
            enter(IpTunnel::Ip, None)?;
            Some(start)
        }
        MPLS_IN_IP => {
            enter(IpTunnel::Ip, None)?;
            behind_labels(packet, start, layers)
        }
        GRE => gre(packet, start, ends, layers),
        _ => {
            let port = u16_at(packet, start + 2)?;
            let payload = start + 8;
            // GTP-U's endpoint identifier has four bytes, the network identifiers of the others have three.
            let network = || Some(u32_at(packet, payload + 4)? >> 8);
            match port {
                _ if VXLAN_PORTS.contains(&port) && *packet.get(payload)? & 0xF8 == 8 => {
                    enter(IpTunnel::Vxlan, network())?;
                    ethernet(packet, payload + 8, layers)
                }
                VXLAN_GPE_PORT => {
                    enter(IpTunnel::VxlanGpe, network().filter(|_| packet[payload] & 8 != 0))?;
                    vxlan_gpe(packet, payload, layers)
                }
                GENEVE_PORT => {
                    enter(IpTunnel::Geneve, network())?;
                    geneve(packet, payload, layers)
                }
                GTP_PORT => {
                    enter(IpTunnel::GtpU, u32_at(packet, payload + 4))?;
                    gtp(packet, payload)
                }
                MPLS_PORT => {
                    enter(IpTunnel::Ip, None)?;
                    behind_labels(packet, payload, layers)
                }
                _ => None,
            }
        }
    }
}

fn ends(packet: &[u8]) -> Option<[TunnelEnd; 2]> {
    let [from, to]: [IpAddr; 2] = if packet.first()? >> 4 == 4 {
        let at = |at: usize| packet.get(at..)?.first_chunk::<4>().copied();
        [at(12)?.into(), at(16)?.into()]
    } else {
        let at = |at: usize| packet.get(at..)?.first_chunk::<16>().copied();
        [at(8)?.into(), at(24)?.into()]
    };
    Some([TunnelEnd::Ip(from), TunnelEnd::Ip(to)])
}

/// Decodes a GRE header (RFC 2784) with the key and sequence number of RFC 2890. Version 1 carries PPP (RFC 2637 section 4.1).
fn gre(packet: &[u8], start: usize, ends: Option<[TunnelEnd; 2]>, layers: &mut Layers) -> Option<usize> {
    const CHECKSUM: u16 = 0x8000;
    const ROUTING: u16 = 0x4000;
    const KEY: u16 = 0x2000;
    const SEQUENCE: u16 = 0x1000;
    const ACKNOWLEDGED: u16 = 0x0080;
    let flags = u16_at(packet, start)?;
    let version = flags & 7;
    if flags & ROUTING != 0 || version > 1 {
        return None;
    }
    let has = |flag: u16| flags & flag != 0;
    let optional = [has(CHECKSUM), has(KEY), has(SEQUENCE), has(ACKNOWLEDGED) && version == 1];
    let behind = start + 4 + 4 * optional.into_iter().filter(|has| *has).count();
    let key = u32_at(packet, start + if has(CHECKSUM) { 8 } else { 4 }).filter(|_| has(KEY));
    // In version 1, the key's upper half is a length, and its lower half is the receiver's call number. This differs between the
    // directions, so it is not used.
    layers.enter(Kind::Ip(IpTunnel::Gre, key.filter(|_| version == 0)), ends)?;
    match u16_at(packet, start + 2)? {
        // Ethernet frames.
        0x6558 => ethernet(packet, behind, layers),
        // Mirrored Ethernet frames (ERSPAN). Type II has a sequence number and a header, type I has neither.
        0x88BE => ethernet(packet, behind + if has(SEQUENCE) { 8 } else { 0 }, layers),
        0x22EB => {
            let has_more = packet.get(behind + 11)? & 1 != 0;
            ethernet(packet, behind + if has_more { 20 } else { 12 }, layers)
        }
        0x880B => behind_ppp(packet, behind, layers),
        kind => behind_ethernet_type(packet, kind, behind, layers),
    }
}

/// Decodes a VXLAN-GPE header of version 0 that is not an OAM message. If the next-protocol bit is not set, Ethernet follows, as in VXLAN.
fn vxlan_gpe(packet: &[u8], start: usize, layers: &mut Layers) -> Option<usize> {
    const VERSION: u8 = 0x30;
    const NEXT_PROTOCOL: u8 = 0x04;
    const OPERATIONS: u8 = 0x01;
    let flags = *packet.get(start)?;
    let behind = start + 8;
    match *packet.get(start + 3)? {
        _ if flags & (VERSION | OPERATIONS) != 0 => None,
        _ if flags & NEXT_PROTOCOL == 0 => ethernet(packet, behind, layers),
        1 | 2 => Some(behind),
        3 => ethernet(packet, behind, layers),
        4 => behind_service_header(packet, behind, layers),
        5 => behind_labels(packet, behind, layers),
        _ => None,
    }
}

fn geneve(packet: &[u8], start: usize, layers: &mut Layers) -> Option<usize> {
    let first = packet.get(start)?;
    let behind = start + 8 + usize::from(first & 0x3F) * 4;
    match u16_at(packet, start + 2)? {
        _ if first >> 6 != 0 => None,
        0x6558 => ethernet(packet, behind, layers),
        kind => behind_ethernet_type(packet, kind, behind, layers),
    }
}

/// Decodes a GTP-U header of version 1 with a user packet (message type 255), with or without extension headers.
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

fn ethernet(packet: &[u8], start: usize, layers: &mut Layers) -> Option<usize> {
    let (before, _) = Link::Ethernet.ip(packet.get(start..)?, layers)?;
    Some(start + before as usize)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|two| u16::from_be_bytes(*two))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|four| u32::from_be_bytes(*four))
}
