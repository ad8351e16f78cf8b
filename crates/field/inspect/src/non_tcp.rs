//! Counts the packets other than TCP by kind, to describe a capture that has no TCP.

use std::collections::BTreeMap;

use firstflight_capture::{Link, ip_payload};

/// Numbers of packets other than TCP, by kind.
#[derive(Debug, Default)]
pub(crate) struct NonTcp(BTreeMap<Kind, u64>);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    /// A frame that is neither IP nor Ethernet.
    NoIp,
    /// A PPP frame without IP.
    Ppp,
    /// An Ethernet frame without IP, with its type.
    Ethernet(u16),
    /// An IP packet, with its protocol number.
    Ip(u8),
    /// A UDP packet to or from a port of this service.
    Udp(&'static str),
}

/// Services by their port numbers (IANA).
const SERVICES: [(u16, &str); 8] = [
    (443, "QUIC"),
    (53, "DNS"),
    (67, "DHCP"),
    (68, "DHCP"),
    (123, "NTP"),
    (500, "IKE"),
    (4500, "IPsec"),
    (5353, "mDNS"),
];

impl NonTcp {
    /// Counts a frame without IP.
    pub(crate) fn frame(&mut self, link: Link, frame: &[u8]) {
        let kind = match link {
            Link::Mpls => Kind::Ethernet(0x8847),
            Link::PppoE => Kind::Ethernet(0x8864),
            Link::Ppp | Link::PppDirected => Kind::Ppp,
            _ => link.ethernet_type(frame).map_or(Kind::NoIp, Kind::Ethernet),
        };
        *self.0.entry(kind).or_default() += 1;
    }

    /// Counts an IP packet of a protocol other than TCP.
    pub(crate) fn packet(&mut self, packet: &[u8]) {
        let is_ipv4 = packet.first().is_some_and(|first| first >> 4 == 4);
        let first = packet.get(if is_ipv4 { 9 } else { 6 }).copied().unwrap_or(0);
        let (protocol, header) = ip_payload(packet).unwrap_or((first, packet.len()));
        let port = |at: usize| Some(u16::from_be_bytes(*packet.get(header + at..)?.first_chunk()?));
        let by_port = |port: Option<u16>| SERVICES.iter().find(|(known, _)| Some(*known) == port);
        let service = by_port(port(0)).or_else(|| by_port(port(2)));
        let kind = match (protocol, service) {
            (17, Some((_, name))) => Kind::Udp(name),
            (protocol, _) => Kind::Ip(protocol),
        };
        *self.0.entry(kind).or_default() += 1;
    }

    /// Returns the kinds as text, each with its number of packets, in descending order of these numbers.
    pub(crate) fn named(&self) -> Vec<(String, u64)> {
        let mut named: Vec<_> = self.0.iter().map(|(kind, count)| (kind.name(), *count)).collect();
        named.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        named
    }
}

impl Kind {
    fn name(self) -> String {
        let known = match self {
            Self::NoIp => "without IP",
            Self::Ppp => "PPP without IP",
            Self::Ethernet(0x0806) => "ARP",
            Self::Ethernet(0x8863) => "PPPoE discovery",
            Self::Ethernet(0x8864) => "PPPoE sessions without IP",
            Self::Ethernet(0x8847 | 0x8848) => "MPLS without IP",
            Self::Ethernet(0x88CC) => "LLDP",
            Self::Ethernet(0x88F7) => "PTP",
            Self::Ethernet(0x888E) => "EAPOL",
            Self::Ethernet(0x88E5) => "MACsec",
            Self::Ethernet(0x0800 | 0x86DD) => "IP that is cut or contradicts its version",
            Self::Ethernet(..0x0600) => "LLC (spanning tree and others)",
            Self::Ethernet(kind) => return format!("Ethernet type 0x{kind:04x}"),
            Self::Ip(1) => "ICMP",
            Self::Ip(2) => "IGMP",
            Self::Ip(4 | 41) => "IP in IP that is cut",
            Self::Ip(17) => "UDP",
            Self::Ip(47) => "GRE",
            Self::Ip(50) => "ESP",
            Self::Ip(51) => "AH",
            Self::Ip(58) => "ICMPv6",
            Self::Ip(89) => "OSPF",
            Self::Ip(103) => "PIM",
            Self::Ip(112) => "VRRP",
            Self::Ip(132) => "SCTP",
            Self::Ip(protocol) => return format!("IP protocol {protocol}"),
            Self::Udp(service) => return format!("UDP of the port of {service}"),
        };
        known.to_owned()
    }
}
