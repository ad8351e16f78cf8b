//! An independent reader, tshark, finds in a capture the packets that were written. Skipped, with a message, without tshark.

use std::collections::BTreeMap;
use std::fs;
use std::num::{NonZeroU16, NonZeroU32};
use std::path::PathBuf;
use std::process::Command;

use etherparse::{IpNumber, Ipv4Header, TcpHeader};
use firstflight::{Rate, Time};
use firstflight_capture::{End, Interface, SegmentWriter, Sighting};
use firstflight_tcp::{Ecn, Flags, SackBlock, Segment, Timestamps};
use firstflight_wire::payload::{Offsets, first_difference};
use firstflight_wire::quick_start::{self, IpOption, Nonce, RateCode, Response};
use firstflight_wire::{Addresses, Hosts, Ip, encode};

/// A capture file that tshark reads; gone when dropped.
struct File(PathBuf);

impl File {
    fn new(name: &str, bytes: &[u8]) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.pcapng"));
        fs::write(&path, bytes).unwrap();
        Self(path)
    }

    /// Returns the fields of the packets that the filter passes, one row per packet.
    fn fields<const N: usize>(&self, filter: &str, fields: [&str; N]) -> Vec<[String; N]> {
        let mut command = Command::new("tshark");
        command.arg("-r").arg(&self.0).args(["-o", "tcp.check_checksum:TRUE"]);
        command.args(["-o", "ip.check_checksum:TRUE", "-o", "tcp.relative_sequence_numbers:FALSE"]);
        command.args(["-T", "fields", "-E", "separator=|", "-Y", filter]);
        for field in fields {
            command.args(["-e", field]);
        }
        let output = command.output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{errors}");
        assert!(!errors.contains("cut short") && !errors.contains("isn't"), "{errors}");
        let rows = String::from_utf8(output.stdout).unwrap();
        let split = |row: &str| row.split('|').map(str::to_owned).collect::<Vec<_>>();
        rows.lines().map(|row| <[String; N]>::try_from(split(row)).unwrap()).collect()
    }

    fn count(&self, filter: &str) -> usize {
        self.fields(filter, ["frame.number"]).len()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn tshark_is_there() -> bool {
    let there = Command::new("tshark").arg("--version").output().is_ok();
    if !there {
        println!("skipped: there is no tshark here");
    }
    there
}

const CLIENT_ISN: u32 = u32::MAX - 5_000;
const SERVER_ISN: u32 = 77;
const MSS: u16 = 1_448;

/// Returns the sequence number of the client's `n`th data packet.
fn nth(n: u32) -> u32 {
    CLIENT_ISN.wrapping_add(1).wrapping_add(n * u32::from(MSS))
}

/// A packet of the synthetic connection: its transmission time, its sender, whether it arrives.
struct Sent {
    at: u64,
    from: End,
    arrives: bool,
    segment: Segment,
}

/// Returns a handshake, ten segments of which the third is lost, duplicate ACKs with SACK blocks, the retransmission, and the close. The
/// sequence numbers pass 2^32 on the way.
fn connection() -> Vec<Sent> {
    let mut sent: Vec<Sent> = Vec::new();
    let mut at = 1_234_567_891;
    let mut put = |from, arrives, segment| {
        at += 1_000_003;
        let echo = u32::try_from(at / 1_000_000).unwrap();
        let timestamps = Some(Timestamps { value: echo + 1, echo });
        sent.push(Sent { at, from, arrives, segment: Segment { timestamps, ..segment } });
    };
    let syn = Segment {
        seq: CLIENT_ISN,
        window: 64_240,
        flags: Flags::SYN.with(Flags::ECE).with(Flags::CWR),
        mss: NonZeroU16::new(1_460),
        window_scale: Some(7),
        sack_permitted: true,
        ..Segment::default()
    };
    put(End::Client, true, syn);
    let answer = Flags::SYN.with(Flags::ACK).with(Flags::ECE);
    put(
        End::Server,
        true,
        Segment { seq: SERVER_ISN, ack: CLIENT_ISN.wrapping_add(1), flags: answer, ..syn },
    );
    let plain = Segment { flags: Flags::ACK, window: 502, ..Segment::default() };
    let client = Segment { seq: CLIENT_ISN.wrapping_add(1), ack: SERVER_ISN + 1, ..plain };
    put(End::Client, true, client);
    let data = Segment { len: MSS, ecn: Ecn::Ect0, ..client };
    for n in 0..10 {
        put(End::Client, n != 2, Segment { seq: nth(n), ..data });
    }
    let server = Segment { seq: SERVER_ISN + 1, ..plain };
    put(End::Server, true, Segment { ack: nth(2), ..server });
    for n in 4..=10 {
        let mut segment = Segment { ack: nth(2), sack_count: 1, ..server };
        segment.sack[0] = SackBlock { start: nth(3), end: nth(n) };
        put(End::Server, true, segment);
    }
    put(End::Client, true, Segment { seq: nth(2), ..data });
    put(End::Server, true, Segment { ack: nth(10), ..server });
    let fin = Flags::FIN.with(Flags::ACK);
    put(End::Client, true, Segment { seq: nth(10), flags: fin, ..client });
    put(End::Server, true, Segment { ack: nth(10).wrapping_add(1), flags: fin, ..server });
    let last = Segment { seq: nth(10).wrapping_add(1), ack: SERVER_ISN + 2, ..client };
    put(End::Client, true, last);
    sent
}

const CLIENT: Interface<'_> =
    Interface { at: End::Client, name: "client", description: "flow 3, sending end", snap_length: None };
const SERVER: Interface<'_> =
    Interface { at: End::Server, name: "server", description: "flow 3, receiving end", snap_length: None };
/// One-way delay in nanoseconds.
const DELAY: u64 = 40_000_000;

/// Captures the connection at the interface.
fn captured(interface: &Interface<'_>) -> Vec<u8> {
    let mut capture = SegmentWriter::new(Vec::new(), interface).unwrap();
    let mut numbers = [0; 2];
    let mut seen = Vec::new();
    for sent in connection() {
        let number = &mut numbers[usize::from(sent.from == End::Server)];
        if sent.from == interface.at {
            seen.push((sent.at, *number, sent));
        } else if sent.arrives {
            seen.push((sent.at + DELAY, *number, sent));
        }
        *number += 1;
    }
    seen.sort_by_key(|(at, ..)| *at);
    let mut offsets = [Offsets::new(CLIENT_ISN), Offsets::new(SERVER_ISN)];
    for (at, number, Sent { from, segment, .. }) in seen {
        let offset = offsets[usize::from(from == End::Server)].of(segment.seq);
        let at = Time::from_nanos(at);
        capture
            .packet(&Sighting { at, flow: 3, from, number, segment: &segment, offset, comment: "" })
            .unwrap();
    }
    capture.finish().unwrap()
}

/// tshark reports retransmissions and SYNs as notes and chats; a warning or anything more severe means that something is wrong.
const WARNING: &str = "_ws.expert.severity >= 0x600000";
const ALL_GOOD: &str = "tcp.checksum.status == 1 && ip.checksum.status == 1";

#[test]
fn every_packet_reads_back_whole_with_good_checksums() {
    if !tshark_is_there() {
        return;
    }
    let file = File::new("whole", &captured(&CLIENT));
    let packets = connection().len();
    assert_eq!(file.count("tcp"), packets);
    assert_eq!(file.count(ALL_GOOD), packets);
    assert_eq!(file.fields(&format!("_ws.malformed || {WARNING}"), ["_ws.expert.message"]), [[""; 1]; 0]);
    assert_eq!(file.fields("tcp.analysis.retransmission", ["tcp.seq"]).len(), 1);
    assert_eq!(file.count("tcp.analysis.duplicate_ack"), 7);
}

#[test]
fn headers_and_times_read_back_as_they_were_sent() {
    if !tshark_is_there() {
        return;
    }
    let file = File::new("headers", &captured(&CLIENT));
    let wanted = [
        "frame.time_epoch",
        "ip.src",
        "ip.id",
        "ip.ttl",
        "ip.flags.df",
        "ip.dsfield.ecn",
        "tcp.srcport",
        "tcp.dstport",
        "tcp.seq",
        "tcp.ack",
        "tcp.flags",
        "tcp.window_size_value",
        "tcp.len",
        "frame.packet_flags_direction",
    ];
    let rows: BTreeMap<String, _> =
        file.fields("tcp", wanted).into_iter().map(|row| (row[0].clone(), row)).collect();
    let mut numbers = [0; 2];
    for Sent { at, from, segment, .. } in connection() {
        let own = from == End::Client;
        let number = &mut numbers[usize::from(own)];
        let at = if own { at } else { at + DELAY };
        let (source, ports) =
            if own { ("10.0.0.1", ["40003", "5001"]) } else { ("10.0.0.2", ["5001", "40003"]) };
        let row = [
            format!("{}.{:09}", at / 1_000_000_000, at % 1_000_000_000),
            source.to_owned(),
            format!("0x{number:04x}"),
            "64".to_owned(),
            "1".to_owned(),
            (segment.ecn as u8).to_string(),
            ports[0].to_owned(),
            ports[1].to_owned(),
            segment.seq.to_string(),
            segment.ack.to_string(),
            format!("0x{:04x}", segment.flags.0),
            segment.window.to_string(),
            segment.len.to_string(),
            if own { "2" } else { "1" }.to_owned(),
        ];
        *number += 1;
        let mut found = rows.get(&row[0]).cloned().unwrap_or_else(|| panic!("nothing at {}", row[0]));
        found[13] = found[13].trim_start_matches("0x").trim_start_matches('0').to_owned();
        assert_eq!(found, row);
    }
    assert_eq!(rows.len(), connection().len());
}

#[test]
fn options_and_sack_blocks_read_back_equal() {
    if !tshark_is_there() {
        return;
    }
    let file = File::new("options", &captured(&SERVER));
    let syn = ["tcp.options.mss_val", "tcp.options.wscale.shift", "tcp.option_kind", "tcp.hdr_len"];
    // Kinds in order: MSS, SACK permitted, timestamps, NOP, window scale (RFC 7323 appendix A).
    assert_eq!(file.fields("tcp.flags.syn == 1", syn), [["1460", "7", "2,4,8,1,3", "40"]; 2]);
    let times = ["tcp.seq", "tcp.ack", "tcp.options.timestamp.tsval", "tcp.options.timestamp.tsecr"];
    let mut found = file.fields("tcp", times);
    let mut sent: Vec<_> = connection()
        .into_iter()
        .filter(|sent| sent.arrives)
        .map(|Sent { segment: Segment { seq, ack, timestamps, .. }, .. }| {
            let Timestamps { value, echo } = timestamps.unwrap();
            [seq, ack, value, echo].map(|number| number.to_string())
        })
        .collect();
    found.sort();
    sent.sort();
    assert_eq!(found, sent);
    let blocks = file.fields("tcp.options.sack_le", ["tcp.options.sack_le", "tcp.options.sack_re"]);
    let sent: Vec<_> = connection()
        .iter()
        .flat_map(|sent| sent.segment.sack_blocks().to_vec())
        .map(|block| [block.start.to_string(), block.end.to_string()])
        .collect();
    assert_eq!(sent.len(), 7);
    assert_eq!(blocks, sent);
}

#[test]
fn four_sack_blocks_fit_a_header_without_timestamps() {
    if !tshark_is_there() {
        return;
    }
    let mut capture = SegmentWriter::new(Vec::new(), &CLIENT).unwrap();
    let block = |n: u32| SackBlock { start: n * 1_000_000_000, end: n * 1_000_000_000 + 1_460 };
    let segment = Segment {
        flags: Flags::ACK,
        sack_count: 4,
        sack: [block(4), block(1), block(3), block(2)],
        ..Segment::default()
    };
    let at = Time::from_nanos(1);
    let sighting = Sighting {
        at,
        flow: 0,
        from: End::Server,
        number: 65_537,
        segment: &segment,
        offset: 0,
        comment: "",
    };
    capture.packet(&sighting).unwrap();
    let file = File::new("four", &capture.finish().unwrap());
    let found = file.fields(
        ALL_GOOD,
        ["tcp.options.sack_le", "tcp.options.sack_re", "tcp.hdr_len", "tcp.dstport", "ip.id"],
    );
    let (starts, ends) =
        ("4000000000,1000000000,3000000000,2000000000", "4000001460,1000001460,3000001460,2000001460");
    assert_eq!(found, [[starts, ends, "56", "40000", "0x0001"]]);
}

#[test]
fn a_comment_reads_back_with_its_packet_and_is_length_limited() {
    if !tshark_is_there() {
        return;
    }
    let mut capture = SegmentWriter::new(Vec::new(), &CLIENT).unwrap();
    let segment = Segment { len: 3, ..Segment::default() };
    let long = "µ".repeat(40_000);
    for (number, comment) in [(0, ""), (1, "left by delay; 4 µs"), (2, &long), (3, "")] {
        let at = Time::from_nanos(number);
        let from = End::Client;
        capture
            .packet(&Sighting { at, flow: 0, from, number, segment: &segment, offset: 0, comment })
            .unwrap();
    }
    let file = File::new("comments", &capture.finish().unwrap());
    let found = file.fields("frame.comment", ["frame.number", "frame.comment"]);
    assert_eq!(found[0], ["2", "left by delay; 4 µs"]);
    assert_eq!(found[1][0], "3");
    assert!(found[1][1].starts_with("µµµ") && found[1][1].chars().all(|c| c == 'µ'));
    assert_eq!((found.len(), file.count("_ws.malformed"), file.count("frame")), (2, 0, 4));
}

#[test]
fn the_payload_matches_the_stream_at_the_sequence_offset() {
    if !tshark_is_there() {
        return;
    }
    let file = File::new("payload", &captured(&CLIENT));
    let rows = file.fields("tcp.len > 0", ["tcp.seq", "tcp.payload"]);
    assert_eq!(rows.len(), 11);
    for [seq, hex] in rows {
        let bytes: Vec<u8> =
            (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect();
        assert_eq!(bytes.len(), usize::from(MSS));
        let offset = seq.parse::<u32>().unwrap().wrapping_sub(CLIENT_ISN).wrapping_sub(1);
        assert_eq!(first_difference(u64::from(offset), &bytes), None);
    }
}

#[test]
fn each_end_sees_what_passed_it_and_says_which_end_it_is() {
    if !tshark_is_there() {
        return;
    }
    for (interface, lost) in [(CLIENT, 0), (SERVER, 1)] {
        let file = File::new(interface.name, &captured(&interface));
        let names = file.fields("tcp", ["frame.interface_name", "frame.interface_description"]);
        assert_eq!(names, vec![[interface.name, interface.description]; connection().len() - lost]);
        assert_eq!(file.count("tcp.analysis.lost_segment"), lost);
        // The client's packet number 4 is the lost one.
        assert_eq!(file.count("ip.src == 10.0.0.1 && ip.id == 4"), 1 - lost);
    }
}

#[test]
fn a_snap_length_cuts_the_bytes_but_not_the_length() {
    if !tshark_is_there() {
        return;
    }
    let file = File::new("snap", &captured(&Interface { snap_length: NonZeroU32::new(96), ..CLIENT }));
    let rows = file.fields("tcp.len > 0", ["frame.len", "frame.cap_len"]);
    assert_eq!(rows, vec![["1500", "96"]; 11]);
    assert_eq!(file.count("tcp.checksum.status == 1"), connection().len() - 11);
    assert_eq!(file.count("tcp.checksum.status == 0 || _ws.malformed"), 0);
}

#[test]
fn a_damaged_byte_does_not_go_unseen() {
    if !tshark_is_there() {
        return;
    }
    let mut bytes = captured(&CLIENT);
    let place = bytes.windows(16).position(|window| window == b"000000000001456\n").unwrap();
    bytes[place] ^= 1;
    let file = File::new("damaged", &bytes);
    assert_eq!(file.count("tcp.checksum.status == 0"), 1);
    assert_eq!(file.count(ALL_GOOD), connection().len() - 1);
    assert_eq!(file.count(WARNING), 1);
}

#[test]
fn packets_of_ipv6_read_back_with_good_checksums() {
    if !tshark_is_there() {
        return;
    }
    let hosts =
        Hosts::V6 { source: "2001:db8::1".parse().unwrap(), destination: "2001:db8::2".parse().unwrap() };
    let ip = Ip {
        addresses: Addresses { hosts, source_port: 40_000, destination_port: 5_001 },
        identification: 0,
        hop_limit: 61,
    };
    let segment = Segment { ecn: Ecn::Ce, seq: 8, len: 3, flags: Flags::ACK, ..Segment::default() };
    let mut packet = Vec::new();
    encode(&ip, &segment, b"abc", &mut packet).unwrap();
    let file = File::new("six", &one_packet(&packet));
    let fields = ["ipv6.src", "ipv6.hlim", "ipv6.tclass.ecn", "ipv6.plen", "tcp.seq", "tcp.payload"];
    let found = file.fields("tcp.checksum.status == 1", fields);
    assert_eq!(found, [["2001:db8::1", "61", "3", "23", "8", "616263"]]);
}

#[test]
fn quick_start_options_read_back_as_such() {
    if !tshark_is_there() {
        return;
    }
    let rate = RateCode::up(Rate::from_bps(5_000_000));
    let nonce = Nonce::new(0x2AAA_AAA9);
    let option = quick_start::to_ipv4(IpOption::Request { rate, ttl: 10, hop_limit: 64, nonce });
    let response = quick_start::to_tcp(&Response { rate, ttl_diff: 54, nonce });
    let mut ip = Ipv4Header::new(28, 64, IpNumber::TCP, [10, 0, 0, 1], [10, 0, 0, 2]).unwrap();
    ip.options = option.into();
    ip.set_payload_len(28).unwrap();
    ip.header_checksum = ip.calc_header_checksum();
    let mut tcp = TcpHeader::new(40_000, 5_001, 1, 1);
    tcp.set_options_raw(&response).unwrap();
    tcp.checksum = tcp.calc_checksum_ipv4(&ip, &[]).unwrap();
    let packet = [&ip.to_bytes()[..], &tcp.to_bytes()[..]].concat();
    let file = File::new("quick-start", &one_packet(&packet));
    let fields = [
        "ip.opt.qs_func",
        "ip.opt.qs_rate",
        "ip.opt.qs_ttl",
        "ip.opt.qs_nonce",
        "tcp.options.qs.rate",
        "tcp.options.qs.ttl_diff",
    ];
    let found = file.fields(ALL_GOOD, fields);
    assert_eq!(found, [["0", "7", "10", "0x2aaaaaa9", "7", "54"]]);
}

/// Returns a classic capture of one packet, link type RAW, written out by hand.
fn one_packet(packet: &[u8]) -> Vec<u8> {
    let length = u32::try_from(packet.len()).unwrap();
    let words = [0xA1B2_C3D4, 0x0004_0002, 0, 0, 65_535, 101, 0, 0, length, length];
    let mut bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    bytes.extend(packet);
    bytes
}
