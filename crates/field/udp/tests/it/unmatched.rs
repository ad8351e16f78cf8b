//! Peers that have not proved their address: the answers that they get, and the effects that they can have.

use std::process::Command;
use std::thread;
use std::time::Duration;

use firstflight_tcp::{Flags, Segment};
use firstflight_udp::{Host, Listener};

use crate::common::{LOOPBACK, options, receive, send};
use crate::raw::{Raw, ack, syn};

#[test]
fn a_syn_answer_is_one_datagram_under_three_times_its_length() {
    let listener = Listener::bind(LOOPBACK, &options("slow-start")).unwrap();
    let raw = Raw::to(listener.local_addr());
    for padding in [0, 100, 500, 1_200, 1_400] {
        for syn in [syn(), Segment { mss: None, window_scale: None, sack_permitted: false, ..syn() }] {
            let sent = raw.send(&syn, &[], &vec![0; padding]);
            let (answer, cookie, len) = raw.receive().expect("an answer");
            assert!(answer.flags.has(Flags::SYN.with(Flags::ACK)) && cookie.len() == 20);
            assert!(len < 3 * sent, "{len} bytes for {sent}");
            assert!(padding < 100 || len == sent, "a padded SYN has an answer as wide: {len} and {sent}");
            // The answer says how wide segments may be.
            let width = sent.min(1_472);
            let least = [528, 1_212, 1_452].into_iter().rfind(|mss| mss + 20 <= width.max(548)).unwrap();
            assert_eq!(usize::from(answer.mss.unwrap().get()), least);
        }
    }
    assert_eq!(raw.receive(), None, "nothing is sent again");
}

#[test]
fn only_the_cookie_opens_a_connection_and_only_once() {
    let listener = Listener::bind(LOOPBACK, &options("slow-start")).unwrap();
    let raw = Raw::to(listener.local_addr());
    raw.send(&syn(), &[], &[]);
    let (answer, cookie, _) = raw.receive().unwrap();
    // Without the cookie, with a wrong one, or with one for another number: no answer, not even a reset.
    raw.send(&ack(&answer), &[], &[]);
    raw.send(&ack(&answer), &[], b"data");
    assert_eq!(raw.receive(), None);
    for (place, segment) in [(15, ack(&answer)), (5, ack(&answer))] {
        let mut forged = cookie.clone();
        forged[place] ^= 1;
        raw.send(&segment, &forged, &[]);
        assert!(raw.receive().unwrap().0.flags.has(Flags::RST));
    }
    raw.send(&Segment { seq: 1_002, ..ack(&answer) }, &cookie, &[]);
    assert!(raw.receive().unwrap().0.flags.has(Flags::RST));

    raw.send(&ack(&answer), &cookie, &[]);
    let (confirmed, _, _) = raw.receive().expect("a sign that the connection is there");
    assert_eq!((confirmed.flags, confirmed.ack), (Flags::ACK, 1_001));
    let (stream, peer) = listener.accept().unwrap();
    assert_eq!(peer, raw.0.local_addr().unwrap());
    assert_eq!(stream.info().mss, 528, "as wide as the SYN was");
    stream.abort();
    assert!(raw.receive().unwrap().0.flags.has(Flags::RST));
    raw.send(&ack(&answer), &cookie, &[]);
    assert!(raw.receive().unwrap().0.flags.has(Flags::RST), "a cookie that was used opens nothing");
}

#[test]
fn a_cookie_is_of_no_use_from_another_address() {
    let listener = Listener::bind(LOOPBACK, &options("slow-start")).unwrap();
    let (raw, other) = (Raw::to(listener.local_addr()), Raw::to(listener.local_addr()));
    raw.send(&syn(), &[], &[]);
    let (answer, cookie, _) = raw.receive().unwrap();
    other.send(&ack(&answer), &cookie, &[]);
    assert!(other.receive().unwrap().0.flags.has(Flags::RST));
    raw.send(&ack(&answer), &cookie, &[]);
    assert_eq!(raw.receive().unwrap().0.flags, Flags::ACK);
    assert_eq!(listener.accept().unwrap().1, raw.0.local_addr().unwrap());
}

#[test]
fn a_peer_mss_of_one_is_raised_to_48_bytes() {
    let listener = Listener::bind(LOOPBACK, &options("slow-start")).unwrap();
    let raw = Raw::to(listener.local_addr());
    raw.send(&Segment { mss: std::num::NonZeroU16::new(1), ..syn() }, &[], &[]);
    let (answer, cookie, _) = raw.receive().unwrap();
    raw.send(&ack(&answer), &cookie, &[]);
    let (mut stream, _) = listener.accept().unwrap();
    std::io::Write::write_all(&mut stream, &[7; 96]).unwrap();
    let lengths = std::iter::from_fn(|| raw.receive()).map(|(segment, ..)| segment.len);
    assert_eq!(lengths.filter(|len| *len > 0).take(2).collect::<Vec<_>>(), [48, 48]);
}

#[test]
fn unread_data_is_bounded_by_the_memory_limit_of_the_host() {
    let most = 1_000_000;
    let impatient = options("slow-start").set("min-rto", "20ms").unwrap();
    let listener = Listener::bind(LOOPBACK, &impatient.clone().memory(most)).unwrap();
    // Each source may use a quarter of the memory, so that several are needed to fill it.
    let host = |n: usize| Host::bind((format!("127.0.0.{n}"), 0), &impatient).unwrap();
    let hosts: Vec<_> = (1..=6).map(host).collect();
    let streams: Vec<_> = (0..30).map(|n| hosts[n % 6].connect(listener.local_addr()).unwrap()).collect();
    let servers: Vec<_> = streams.iter().map(|_| listener.accept().unwrap().0).collect();
    thread::scope(|scope| {
        for stream in &streams {
            scope.spawn(|| send(stream, 200_000));
        }
        // 6 MB are on their way, as far as windows allow. No application reads.
        thread::sleep(Duration::from_secs(1));
        let there: u64 = servers.iter().map(|server| server.stats().received).sum();
        let scarce = 30 * (4_096 + 1_452);
        assert!((most..=most + scarce).contains(&there), "{there} bytes");
        for server in &servers {
            scope.spawn(|| assert_eq!(receive(server), 200_000));
        }
    });
}

#[test]
fn stray_segments_are_answered_with_no_more_bytes_than_received() {
    let listener = Listener::bind(LOOPBACK, &options("slow-start")).unwrap();
    let host = Host::bind(LOOPBACK, &options("slow-start")).unwrap();
    for server in [listener.local_addr(), host.local_addr()] {
        let raw = Raw::to(server);
        for flags in 0..=255 {
            if Flags(flags).has(Flags::SYN) && !Flags(flags).has(Flags::ACK) {
                continue;
            }
            let segment = Segment { flags: Flags(flags), seq: 9, ack: 7, ..Segment::default() };
            let sent = raw.send(&segment, &[], &[]);
            raw.0.set_read_timeout(Some(Duration::from_millis(2))).unwrap();
            while let Some((_, _, len)) = raw.receive() {
                assert!(len <= sent, "{len} for {sent}, flags {flags:#x}");
            }
        }
        // Bytes that are no segment.
        for bytes in [&[][..], &[0; 19], &[255; 60], &[0x50; 40]] {
            raw.0.send(bytes).unwrap();
        }
        assert_eq!(raw.receive(), None);
    }
}

#[test]
fn wireshark_reads_the_datagrams_as_tcp() {
    if Command::new("tshark").arg("-v").output().is_err() {
        println!("skipped: Wireshark's Decode As: tshark is not installed");
        return;
    }
    let listener = Listener::bind(LOOPBACK, &options("slow-start")).unwrap();
    let raw = Raw::to(listener.local_addr());
    let (client, server) = (raw.0.local_addr().unwrap().port(), listener.local_addr().port());
    let mut capture = Pcap::new();
    capture.datagram(client, server, &raw.send_bytes(&syn(), &[], &[0; 100]));
    let (answer, cookie, bytes) = raw.receive_bytes().unwrap();
    capture.datagram(server, client, &bytes);
    capture.datagram(client, server, &raw.send_bytes(&ack(&answer), &cookie, &[]));
    capture.datagram(server, client, &raw.receive_bytes().unwrap().2);
    let data = Segment { flags: Flags::ACK.with(Flags::PSH), ..ack(&answer) };
    capture.datagram(client, server, &raw.send_bytes(&data, &[], b"hello"));

    let path = std::env::temp_dir().join(format!("firstflight-udp-{}.pcap", std::process::id()));
    std::fs::write(&path, &capture.0).unwrap();
    let decode_as = format!("udp.port=={server},tcp");
    let fields = ["tcp.flags", "tcp.len", "tcp.seq", "tcp.options.mss_val", "_ws.malformed"];
    let output = Command::new("tshark")
        .args(["-r", path.to_str().unwrap(), "-d", &decode_as, "-T", "fields", "-E", "separator=,"])
        .args(fields.iter().flat_map(|field| ["-e", field]))
        .output()
        .unwrap();
    std::fs::remove_file(&path).unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let padded = bytes.len() - 52;
    let expected =
        format!("0x0002,100,0,1452,\n0x0012,{padded},0,528,\n0x0010,0,1,,\n0x0010,0,1,,\n0x0018,5,1,,\n");
    assert_eq!(text, expected, "{}", String::from_utf8_lossy(&output.stderr));
}

/// A capture of UDP over IPv4 on the loopback, without link headers.
struct Pcap(Vec<u8>);

impl Pcap {
    fn new() -> Self {
        let mut header = Vec::new();
        for word in [0xA1B2_C3D4_u32, 0x0004_0002, 0, 0, 65_535, 101] {
            header.extend(word.to_le_bytes());
        }
        Self(header)
    }

    fn datagram(&mut self, from: u16, to: u16, payload: &[u8]) {
        let builder = etherparse::PacketBuilder::ipv4([127, 0, 0, 1], [127, 0, 0, 1], 64).udp(from, to);
        let mut packet = Vec::new();
        builder.write(&mut packet, payload).unwrap();
        let len = u32::try_from(packet.len()).unwrap();
        for word in [0, 0, len, len] {
            self.0.extend(u32::to_le_bytes(word));
        }
        self.0.extend(packet);
    }
}
