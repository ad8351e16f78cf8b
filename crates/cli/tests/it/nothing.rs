//! For a capture without TCP, the command lists what the capture has, and ends with 1.

use std::fs;
use std::path::Path;

use crate::common::{folder, refused, run, status, stderr, stdout, text};

/// A pcap of Ethernet frames.
fn capture(path: &Path, frames: &[Vec<u8>]) {
    let header = [0xA1B2_C3D4_u32, 2 | 4 << 16, 0, 0, 65_535, 1];
    let mut bytes: Vec<u8> = header.iter().flat_map(|word| word.to_le_bytes()).collect();
    for (number, frame) in (1..).zip(frames) {
        let length = u32::try_from(frame.len()).expect("short");
        bytes.extend([number, 0, length, length].iter().flat_map(|word: &u32| word.to_le_bytes()));
        bytes.extend(frame);
    }
    fs::write(path, bytes).expect("written");
}

fn ethernet(kind: [u8; 2], payload: &[u8]) -> Vec<u8> {
    [&[2; 12][..], &kind, payload].concat()
}

fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(20 + payload.len()).expect("short");
    let header = [0x45, 0, 0, length, 0, 1, 0, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
    ethernet([8, 0], &[&header[..], payload].concat())
}

#[test]
fn a_capture_without_tcp_reports_its_packet_kinds_and_exits_with_1() {
    let place = folder("nothing");
    let path = place.join("other.pcap");
    let frames = [
        ethernet([8, 6], &[0; 28]),
        ethernet([0x88, 0x63], &[0; 20]),
        ipv4(17, &[200, 1, 1, 187, 0, 8, 0, 0]),
        ipv4(17, &[200, 1, 1, 187, 0, 8, 0, 0]),
        ipv4(17, &[1, 187, 200, 1, 0, 8, 0, 0]),
        ipv4(17, &[200, 1, 200, 2, 0, 8, 0, 0]),
        ipv4(1, &[8, 0, 0, 0]),
        ipv4(132, &[0; 12]),
        ipv4(200, &[0; 12]),
        ethernet([0x81, 0], &[0, 7, 0x88, 0xCC, 0, 0]),
        ethernet([0x12, 0x34], &[0; 20]),
        ethernet([0, 38], &[0x42; 38]),
    ];
    capture(&path, &frames);
    let output = run(&["inspect", text(&path)]);
    assert_eq!((status(&output), stderr(&output).lines().count()), (1, 1), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(
        said.contains("12 packets, 0 of TCP in 0 connections; 12 without TCP (3 UDP of the port of QUIC, "),
        "{said}"
    );
    for kind in [
        "1 ARP",
        "1 PPPoE discovery",
        "1 UDP,",
        "1 ICMP",
        "1 SCTP",
        "1 IP protocol 200",
        "1 LLDP",
        "1 Ethernet type 0x1234",
        "1 LLC",
    ] {
        assert!(said.contains(kind), "{kind}: {said}");
    }
    let json = run(&["inspect", "--json", text(&path)]);
    assert_eq!((status(&json), stdout(&json).as_str()), (1, ""));
    assert!(
        stderr(&json).starts_with("error: no connection is in the files")
            && stderr(&json).contains("3 UDP of"),
        "{}",
        stderr(&json)
    );
    capture(&path, &[]);
    assert_eq!(status(&run(&["inspect", text(&path)])), 1);
}

#[test]
fn a_place_that_is_none_is_refused() {
    let line = refused(&["inspect", "--seen-at", "router", "x.pcap"]);
    assert!(line.contains("sender, receiver and the address"), "{line}");
}

#[test]
fn a_place_that_is_no_end_of_any_connection_is_warned_of() {
    let place = folder("as-race-place");
    let race =
        ["race", "--rate", "20mbit", "--rtt", "50ms", "--schemes", "slow-start", "--pcap", text(&place)];
    assert_eq!(status(&run(&race)), 0);
    let capture = place.join("slow-start-client.pcapng");
    let output_of = |address: &str| stderr(&run(&["inspect", text(&capture), "--seen-at", address]));
    assert!(
        output_of("9.9.9.9").contains("no connection has the address 9.9.9.9 of --seen-at"),
        "{}",
        output_of("9.9.9.9")
    );
    assert_eq!(output_of("10.0.0.1"), "");
}
