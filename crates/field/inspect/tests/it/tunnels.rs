//! TCP within other headers is found by its inner addresses.

use std::path::Path;
use std::process::Command;

use crate::made::{Form, PLAIN, frames, pcap};
use firstflight_inspect::inspect;

fn ipv4(protocol: u8, inner: &[u8]) -> Vec<u8> {
    let length = u16::try_from(20 + inner.len()).unwrap().to_be_bytes();
    [&[0x45, 0][..], &length, &[0, 1, 0x40, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2], inner]
        .concat()
}

fn ipv6(protocol: u8, inner: &[u8]) -> Vec<u8> {
    let length = u16::try_from(inner.len()).unwrap().to_be_bytes();
    [&[0x60, 0, 0, 0][..], &length, &[protocol, 64], &[0xFD; 32], inner].concat()
}

fn udp(port: u16, inner: &[u8]) -> Vec<u8> {
    let length = u16::try_from(8 + inner.len()).unwrap().to_be_bytes();
    ipv4(17, &[&[200, 1][..], &port.to_be_bytes(), &length, &[0, 0], inner].concat())
}

fn ethernet(kind: [u8; 2], inner: &[u8]) -> Vec<u8> {
    [&[2; 12][..], &kind, inner].concat()
}

const IP: [u8; 2] = [8, 0];

type Wrap = fn(&[u8]) -> Vec<u8>;

/// Encapsulations: name, link type, how an IP packet is wrapped.
const WRAPS: [(&str, u16, Wrap); 41] = [
    ("PPPoE", 1, |ip| ethernet([0x88, 0x64], &[&[0x11, 0, 0, 1, 0, 9, 0, 0x21][..], ip].concat())),
    ("MPLS", 1, |ip| ethernet([0x88, 0x47], &[&[0, 1, 0, 64, 0, 2, 1, 64][..], ip].concat())),
    ("PPP", 9, |ip| [&[0xFF, 3, 0, 0x21][..], ip].concat()),
    ("PPP, short", 9, |ip| [&[0x21][..], ip].concat()),
    ("PPPoE alone", 51, |ip| [&[0x11, 0, 0, 1, 0, 9, 0, 0x21][..], ip].concat()),
    ("IP in IP", 101, |ip| ipv4(4, ip)),
    ("IP in IPv6", 101, |ip| ipv6(4, ip)),
    ("GRE", 101, |ip| ipv4(47, &[&[0, 0, 8, 0][..], ip].concat())),
    ("GRE with key", 101, |ip| ipv4(47, &[&[0x20, 0, 8, 0, 0, 0, 0, 7][..], ip].concat())),
    ("GRE, Ethernet", 101, |ip| ipv4(47, &[&[0, 0, 0x65, 0x58][..], &ethernet(IP, ip)].concat())),
    ("VXLAN", 101, |ip| udp(4789, &[&[8, 0, 0, 0, 0, 0, 5, 0][..], &ethernet(IP, ip)].concat())),
    ("GENEVE", 101, |ip| {
        udp(6081, &[&[1, 0, 0x65, 0x58, 0, 0, 5, 0, 1, 2, 3, 0][..], &ethernet(IP, ip)].concat())
    }),
    ("GTP-U", 101, |ip| udp(2152, &[&[0x30, 255, 0, 9, 0, 0, 0, 1][..], ip].concat())),
    ("GTP-U, extended", 101, |ip| {
        udp(2152, &[&[0x34, 255, 0, 9, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0x10, 9, 0][..], ip].concat())
    }),
    ("GRE in VXLAN", 101, |ip| {
        let gre = ipv4(47, &[&[0, 0, 8, 0][..], ip].concat());
        udp(4789, &[&[8, 0, 0, 0, 0, 0, 5, 0][..], &ethernet(IP, &gre)].concat())
    }),
    ("PPPoE behind a VLAN tag", 1, |ip| {
        ethernet([0x81, 0], &[&[0, 5, 0x88, 0x64, 0x11, 0, 1, 1, 0, 9, 0, 0x21][..], ip].concat())
    }),
    ("MPLS alone", 219, |ip| [&[0, 6, 0x51, 64][..], ip].concat()),
    ("MPLS in PPP", 9, |ip| [&[0xFF, 3, 2, 0x81, 0, 6, 0x51, 64][..], ip].concat()),
    ("MPLS in Cisco's framing", 104, |ip| [&[0x0F, 0, 0x88, 0x47, 0, 6, 0x51, 64][..], ip].concat()),
    ("MPLS, Ethernet with a control word", 1, |ip| {
        ethernet([0x88, 0x47], &[&[0, 6, 0x51, 64, 0, 0, 0, 0][..], &ethernet(IP, ip)].concat())
    }),
    ("MPLS, Ethernet", 1, |ip| ethernet([0x88, 0x47], &[&[0, 6, 0x51, 64][..], &ethernet(IP, ip)].concat())),
    ("MPLS in IP", 101, |ip| ipv4(137, &[&[0, 6, 0x51, 64][..], ip].concat())),
    ("MPLS in UDP", 101, |ip| udp(6635, &[&[0, 6, 0x51, 64][..], ip].concat())),
    ("MPLS in GRE", 101, |ip| ipv4(47, &[&[0, 0, 0x88, 0x47, 0, 6, 0x51, 64][..], ip].concat())),
    ("IP in IPv6 with an option", 101, |ip| ipv6(60, &[&[4, 0, 4, 1, 4, 1, 0, 0][..], ip].concat())),
    ("VXLAN of Linux", 101, |ip| udp(8472, &[&[8, 0, 0, 0, 0, 0, 5, 0][..], &ethernet(IP, ip)].concat())),
    ("GRE, PPP", 101, |ip| {
        ipv4(
            47,
            &[&[0x30, 0x81, 0x88, 0x0B, 0, 9, 0, 4, 0, 0, 0, 1, 0, 0, 0, 1, 0xFF, 3, 0, 0x21][..], ip]
                .concat(),
        )
    }),
    ("GRE, mirrored", 101, |ip| {
        ipv4(
            47,
            &[&[0x10, 0, 0x88, 0xBE, 0, 0, 0, 1, 0x10, 0, 0, 1, 0, 0, 0, 0][..], &ethernet(IP, ip)].concat(),
        )
    }),
    ("VXLAN-GPE", 101, |ip| udp(4790, &[&[0x0C, 0, 0, 1, 0, 0, 5, 0][..], ip].concat())),
    ("VXLAN-GPE, Ethernet", 101, |ip| {
        udp(4790, &[&[0x0C, 0, 0, 3, 0, 0, 5, 0][..], &ethernet(IP, ip)].concat())
    }),
    ("VXLAN-GPE as VXLAN", 101, |ip| udp(4790, &[&[8, 0, 0, 0, 0, 0, 5, 0][..], &ethernet(IP, ip)].concat())),
    ("VXLAN-GPE without network, services", 101, |ip| {
        udp(4790, &[&[4, 0, 0, 4, 0, 0, 0, 0, 0x0F, 0xC2, 2, 1, 0, 0, 1, 255][..], ip].concat())
    }),
    ("MPLS in VXLAN-GPE", 101, |ip| {
        udp(4790, &[&[0x0C, 0, 0, 5, 0, 0, 5, 0, 0, 6, 0x51, 64][..], ip].concat())
    }),
    ("GRE, services", 101, |ip| {
        let services = [0x0F, 0xC6, 1, 3, 0, 0, 1, 255, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4];
        ipv4(47, &[&[0, 0, 0x89, 0x4F][..], &services, &ethernet(IP, ip)].concat())
    }),
    ("PPP with its direction", 204, |ip| [&[1, 0xFF, 3, 0, 0x21][..], ip].concat()),
    ("PPP with its direction as its address", 166, |ip| [&[0, 3, 0, 0x21][..], ip].concat()),
    ("VN-tag", 1, |ip| ethernet([0x89, 0x26], &[&[0x80, 0, 0, 0, 8, 0][..], ip].concat())),
    ("VN-tag, VLAN tag", 1, |ip| {
        ethernet([0x89, 0x26], &[&[0, 5, 0, 1, 0x81, 0, 0, 5, 8, 0][..], ip].concat())
    }),
    ("VN-tag, mirrored", 101, |ip| {
        let tagged = ethernet([0x89, 0x26], &[&[0x80, 0, 0, 0, 8, 0][..], ip].concat());
        ipv4(47, &[&[0x10, 0, 0x88, 0xBE, 0, 0, 0, 1, 0x10, 0, 0, 1, 0, 0, 0, 0][..], &tagged].concat())
    }),
    ("NFLOG", 239, |ip| nflog(u16::to_le_bytes, ip)),
    ("NFLOG, big-endian", 239, |ip| nflog(u16::to_be_bytes, ip)),
];

/// Returns the packet in netfilter's log, after the attributes that the kernel writes before it.
fn nflog(order: fn(u16) -> [u8; 2], ip: &[u8]) -> Vec<u8> {
    let attribute = |kind: u16, value: &[u8]| {
        let length = u16::try_from(value.len() + 4).unwrap();
        let padding = vec![0; value.len().next_multiple_of(4) - value.len()];
        [&order(length)[..], &order(kind), value, &padding].concat()
    };
    let before = [attribute(1, &[8, 0, 1, 0]), attribute(10, b"in\0"), attribute(4, &[0, 0, 0, 3])];
    [vec![2, 0, 0, 7], before.concat(), attribute(9, ip)].concat()
}

#[test]
fn every_encapsulation_is_looked_into() {
    for (name, link, wrap) in WRAPS {
        let wrapped: Vec<_> = frames(101, false, false).iter().map(|(at, ip)| (*at, wrap(ip))).collect();
        let found_of = inspect(&pcap(Form { link, ..PLAIN }, &wrapped)[..], false).expect("a capture");
        assert_eq!((found_of.tally.tcp, found_of.senders.len()), (14, 1), "{name}: {:?}", found_of.tally);
        let found = &found_of.senders[0].found;
        assert_eq!((found.from.as_str(), found.bytes_sent), ("10.0.0.1:40000", Some(7 * 1460)), "{name}");
        assert_eq!(found_of.tally.tunnelled, if link == 101 { 14 } else { 0 }, "{name}");
        let tunnel = match name {
            "IP in IP" | "IP in IPv6" | "IP in IPv6 with an option" => Some("ip"),
            "GRE" | "GRE, Ethernet" | "GRE in VXLAN" | "GRE, PPP" | "GRE, mirrored" | "GRE, services"
            | "VN-tag, mirrored" => Some("gre"),
            "GRE with key" => Some("gre 7"),
            "VXLAN" | "VXLAN of Linux" => Some("vxlan 5"),
            "VXLAN-GPE" | "VXLAN-GPE, Ethernet" | "VXLAN-GPE as VXLAN" => Some("vxlan-gpe 5"),
            "VXLAN-GPE without network, services" => Some("vxlan-gpe"),
            "GENEVE" => Some("geneve 5"),
            "GTP-U" | "GTP-U, extended" => Some("gtp-u 1"),
            "PPPoE" | "PPPoE alone" => Some("pppoe 1"),
            "PPPoE behind a VLAN tag" => Some("pppoe 257"),
            "MPLS" => Some("mpls 16/32"),
            _ if name.starts_with("MPLS") => Some("mpls 101"),
            _ => None,
        };
        assert_eq!(found.tunnel.as_deref(), tunnel, "{name}");
        let end = match name {
            "PPPoE" | "PPPoE behind a VLAN tag" => Some("02:02:02:02:02:02"),
            "IP in IPv6" | "IP in IPv6 with an option" => Some("fdfd:fdfd:fdfd:fdfd:fdfd:fdfd:fdfd:fdfd"),
            // A layer without ends is within one that has ends.
            _ if link == 101 => Some("192.0.2.1"),
            _ => None,
        };
        assert_eq!(found.outer_from.as_deref(), end, "{name}");
    }
}

#[test]
fn tshark_finds_identical_segments_behind_vn_tags_and_in_nflog() {
    if Command::new("tshark").arg("--version").output().is_err() {
        println!("skipped: tshark is not installed");
        return;
    }
    let plain = frames(101, false, false);
    // tshark reads a log's attributes in the byte order of the machine.
    for name in ["VN-tag, VLAN tag", "NFLOG"] {
        let (_, link, wrap) = WRAPS.into_iter().find(|one| one.0 == name).expect("it is listed");
        let wrapped: Vec<_> = plain.iter().map(|(at, ip)| (*at, wrap(ip))).collect();
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{link}-{}.pcap", name.len()));
        std::fs::write(&path, pcap(Form { link, ..PLAIN }, &wrapped)).expect("written");
        let fields = ["-T", "fields", "-e", "ip.src", "-e", "tcp.len"];
        let read = Command::new("tshark").arg("-nr").arg(&path).args(fields).output().expect("tshark runs");
        let said = String::from_utf8_lossy(&read.stdout).into_owned();
        let sum = |host: &str| -> (usize, u64) {
            let of_host = said.lines().filter_map(|line| line.strip_prefix(host)?.trim().parse::<u64>().ok());
            (of_host.clone().count(), of_host.sum())
        };
        assert_eq!((sum("10.0.0.1\t"), sum("10.0.0.2\t")), ((9, 7 * 1460), (5, 0)), "{name}: {said}");
    }
}

#[test]
fn layers_without_end_are_left_alone() {
    let at = 1_790_000_000_000_000_000;
    // Label stacks and Ethernet in each other, as deep as a frame allows.
    let mut deep = Vec::new();
    while deep.len() < 60_000 {
        deep.extend(ethernet([0x88, 0x47], &[0, 6, 0x51, 64, 0, 0, 0, 0]));
    }
    let mut nested = frames(101, false, false)[0].1.clone();
    for _ in 0..100 {
        nested = ipv4(4, &nested);
    }
    let found_of = inspect(&pcap(Form { link: 1, ..PLAIN }, &[(at, deep)])[..], false).expect("a capture");
    assert_eq!((found_of.tally.other, found_of.senders.len()), (1, 0));
    let found_of = inspect(&pcap(PLAIN, &[(at, nested)])[..], false).expect("a capture");
    assert_eq!((found_of.tally.other_ip, found_of.senders.len()), (1, 0));
}

/// Adds a label stack that has another label for each direction.
fn labelled(customer: u8, ip: &[u8]) -> Vec<u8> {
    let label = customer * 2 + u8::from(ip[15] == 1);
    ethernet([0x88, 0x47], &[&[0, 1, 0, 64, 0, label, 1, 64][..], ip].concat())
}

/// Returns the connection opened again later with other numbers.
fn again(frames: &[(u64, Vec<u8>)], later: u64) -> Vec<(u64, Vec<u8>)> {
    let changed = |(at, ip): &(u64, Vec<u8>)| {
        let mut ip = ip.clone();
        let is_client = ip[15] == 1;
        let (number, acknowledged) = if is_client { (24, 28) } else { (28, 24) };
        ip[number] ^= 0x90;
        if ip[33] & 16 != 0 || !is_client {
            ip[acknowledged] ^= 0x50;
        }
        (at + later, ip)
    };
    frames.iter().map(changed).collect()
}

#[test]
fn customers_with_equal_addresses_are_separated_by_their_mpls_labels() {
    let plain = frames(101, false, false);
    let wrap = |customer: u8, frames: &[(u64, Vec<u8>)]| -> Vec<(u64, Vec<u8>)> {
        frames.iter().map(|(at, ip)| (*at, labelled(customer, ip))).collect()
    };
    let mut both = [wrap(5, &plain), wrap(9, &again(&plain, 3_000_000))].concat();
    both.sort_by_key(|(at, _)| *at);
    let found_of = inspect(&pcap(Form { link: 1, ..PLAIN }, &both)[..], false).expect("a capture");
    let found: Vec<_> = found_of.senders.iter().map(|one| &one.found).collect();
    let tunnels: Vec<_> = found.iter().map(|found| found.tunnel.as_deref()).collect();
    assert_eq!(tunnels, [Some("mpls 16/176"), Some("mpls 16/304")]);
    assert!(found.iter().all(|found| found.bytes_sent == Some(7 * 1460) && found.out_of_window == 0));
    assert!(found.iter().all(|found| found.outer_from.is_none()), "labels have no ends");
}

#[test]
fn a_connection_that_is_opened_again_is_one_in_both_directions_labels() {
    let plain = frames(101, false, false);
    let both = [plain.clone(), again(&plain, 60_000_000_000)].concat();
    let wrapped: Vec<_> = both.iter().map(|(at, ip)| (*at, labelled(5, ip))).collect();
    let found_of = inspect(&pcap(Form { link: 1, ..PLAIN }, &wrapped)[..], false).expect("a capture");
    assert_eq!(found_of.senders.len(), 2);
    for one in &found_of.senders {
        let found = &one.found;
        assert_eq!((found.bytes_sent, found.bytes_acked), (Some(7 * 1460), 6 * 1460));
        assert_eq!((found.exit_cause, found.out_of_window), (Some("loss"), 0));
    }
}

#[test]
fn packets_resembling_tunnels_are_not_unwrapped() {
    let at = 1_790_000_000_000_000_000;
    for other in [udp(4789, &[8; 30]), udp(2152, &[0x30, 1, 0, 0]), ipv4(47, &[0x40, 0, 8, 0]), ipv4(4, &[])]
    {
        let found_of = inspect(&pcap(PLAIN, &[(at, other)])[..], false).expect("a capture");
        assert_eq!((found_of.tally.other_ip, found_of.tally.tunnelled, found_of.senders.len()), (1, 0, 0));
    }
}

/// Returns the packet in VXLAN with this network, between these two hosts.
fn vxlan(network: u8, hosts: [u8; 2], ip: &[u8]) -> Vec<u8> {
    let mut outer = udp(4789, &[&[8, 0, 0, 0, 0, 0, network, 0][..], &ethernet(IP, ip)].concat());
    (outer[15], outer[19]) = (hosts[0], hosts[1]);
    outer
}

#[test]
fn connections_of_the_same_inner_ends_in_two_tunnels_are_two() {
    let plain = frames(101, false, false);
    // The other tenant's numbers differ by a byte each, and its packets pass a little later.
    let other = plain.iter().map(|(at, ip)| {
        let mut ip = ip.clone();
        let is_client = ip[15] == 1;
        let (number, acknowledged) = if is_client { (24, 28) } else { (28, 24) };
        ip[number] ^= 9;
        if ip[33] & 16 != 0 || !is_client {
            ip[acknowledged] ^= 5;
        }
        (at + 3_000_000, ip)
    });
    let other: Vec<_> = other.collect();
    for (one_tunnel, other_tunnel) in [((5, [1, 2]), (6, [1, 2])), ((5, [1, 2]), (5, [1, 3]))] {
        let wrap = |(network, hosts): (u8, [u8; 2]), frames: &[(u64, Vec<u8>)]| -> Vec<(u64, Vec<u8>)> {
            let outer = |ip: &[u8]| if ip[15] == 1 { hosts } else { [hosts[1], hosts[0]] };
            frames.iter().map(|(at, ip)| (*at, vxlan(network, outer(ip), ip))).collect()
        };
        let mut both = [wrap(one_tunnel, &plain), wrap(other_tunnel, &other)].concat();
        both.sort_by_key(|(at, _)| *at);
        let found_of = inspect(&pcap(PLAIN, &both)[..], false).expect("a capture");
        let found: Vec<_> = found_of.senders.iter().map(|one| &one.found).collect();
        assert_eq!(found.len(), 2, "{one_tunnel:?} {other_tunnel:?}");
        for found in found {
            assert_eq!((found.bytes_sent, found.retransmitted_segments), (Some(7 * 1460), Some(1)));
            assert_eq!((found.exit_cause, found.out_of_window), (Some("loss"), 0));
        }
    }
}

#[test]
fn a_tunnel_of_each_direction_or_of_one_holds_one_connection() {
    type Wrap = fn(&[u8]) -> Vec<u8>;
    let wraps: [Wrap; 3] = [
        // A separate network, or another pair of ends, for each direction; and the answers outside a tunnel.
        |ip| vxlan(if ip[15] == 1 { 5 } else { 6 }, [1, 2], ip),
        |ip| vxlan(5, if ip[15] == 1 { [1, 2] } else { [3, 4] }, ip),
        |ip| if ip[15] == 1 { ipv4(4, ip) } else { ip.to_vec() },
    ];
    for wrap in wraps {
        let wrapped: Vec<_> = frames(101, false, false).iter().map(|(at, ip)| (*at, wrap(ip))).collect();
        let found_of = inspect(&pcap(PLAIN, &wrapped)[..], false).expect("a capture");
        assert_eq!(found_of.senders.len(), 1);
        let found = &found_of.senders[0].found;
        assert_eq!((found.bytes_acked, found.exit_cause), (6 * 1460, Some("loss")));
        let tunnel = found.tunnel.as_deref().expect("the sender's packets are in one");
        assert!(["vxlan 5", "ip"].contains(&tunnel), "{tunnel}");
        let outer = [&found.outer_from, &found.outer_to].map(|end| end.as_deref().expect("an address"));
        assert_eq!(outer, ["192.0.2.1", "192.0.2.2"]);
    }
}
