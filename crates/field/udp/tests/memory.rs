//! The memory of a server in a separate process: a thousand transfers at once, and a flood of SYNs.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::process::Command;
use std::thread;
use std::time::Duration;

use firstflight_tcp::{Flags, Segment};
use firstflight_udp::{Host, Listener, Options};
use firstflight_wire::{Addresses, Hosts, encode_tcp, payload};

const SERVER: &str = "FIRSTFLIGHT_LIVE_SERVER";
const TRANSFERS: usize = 1_000;

/// Bytes of a transfer, and SYNs of the flood. To set them by hand: `FIRSTFLIGHT_LIVE_SIZES=1000000,1000000`.
fn sizes() -> (u64, u64) {
    let text = std::env::var("FIRSTFLIGHT_LIVE_SIZES").unwrap_or_else(|_| "250000,100000".to_owned());
    let (bytes, syns) = text.split_once(',').unwrap();
    (bytes.parse().unwrap(), syns.parse().unwrap())
}

fn options() -> Options {
    Options::new("slow-start").unwrap().segment_lifetime(firstflight::Span::from_millis(200))
}

/// Returns the peak memory of this process so far, in kB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The client process: it begins all transfers before it reads any, and checks each byte.
#[test]
fn the_client() {
    let Ok(server) = std::env::var(SERVER) else { return };
    let host = Host::bind((Ipv4Addr::LOCALHOST, 0), &options()).unwrap();
    let server: SocketAddr = server.parse().unwrap();
    let streams: Vec<_> = (0..TRANSFERS).map(|_| host.connect(server).unwrap()).collect();
    thread::scope(|scope| {
        for stream in &streams {
            let check = move || {
                stream.set_read_timeout(Some(Duration::from_mins(2)));
                let (mut buffer, mut at) = ([0; 8_192], 0);
                while let len @ 1.. = { stream }.read(&mut buffer).unwrap() {
                    assert_eq!(payload::first_difference(at, &buffer[..len]), None);
                    at += len as u64;
                }
                assert_eq!(at, sizes().0);
            };
            thread::Builder::new().stack_size(64 << 10).spawn_scoped(scope, check).unwrap();
        }
    });
}

#[test]
fn syn_floods_and_a_thousand_transfers_use_bounded_memory() {
    if std::env::var(SERVER).is_ok() {
        return;
    }
    let listener = Listener::bind((Ipv4Addr::LOCALHOST, 0), &options()).unwrap();
    let sockets = addresses();
    flood(&sockets, listener.local_addr(), 1_000);
    let before = peak();
    flood(&sockets, listener.local_addr(), sizes().1);
    let raised = peak() - before;
    println!("a flood of {} first segments raised the server's peak by {raised} kB", sizes().1);
    assert!(raised < 1_000, "{raised} kB");
    drop(sockets);

    let mut client = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_client", "--nocapture"])
        .env(SERVER, listener.local_addr().to_string())
        .spawn()
        .unwrap();
    let streams: Vec<_> = listener.incoming().take(TRANSFERS).collect();
    thread::scope(|scope| {
        for stream in &streams {
            let write = move || {
                stream.set_write_timeout(Some(Duration::from_mins(2)));
                let (mut buffer, mut at) = ([0; 10_000], 0);
                while at < sizes().0 {
                    payload::fill(at, &mut buffer);
                    { stream }.write_all(&buffer).unwrap();
                    at += buffer.len() as u64;
                }
                stream.finish(Some(Duration::from_mins(2))).unwrap();
            };
            thread::Builder::new().stack_size(64 << 10).spawn_scoped(scope, write).unwrap();
        }
    });
    assert!(client.wait().unwrap().success());
    drop(streams);
    let whole = peak();
    println!("{TRANSFERS} transfers: the server's peak is {whole} kB");
    assert!(whole < 100_000, "{whole} kB");
}

/// Sockets of a thousand addresses of the loopback.
fn addresses() -> Vec<UdpSocket> {
    let bind = |n: u32| {
        let socket = UdpSocket::bind((Ipv4Addr::from(0x7F01_0000 + n), 0)).unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        socket
    };
    (0..1_000).map(bind).collect()
}

/// Sends SYNs from a thousand addresses and a hundred ports of each. Waits for the answer to the last of each hundred, so that the server
/// processes them all: a flood that only fills a socket's buffer tests nothing.
fn flood(sockets: &[UdpSocket], server: SocketAddr, count: u64) {
    let hosts = Hosts::V4 { source: Ipv4Addr::UNSPECIFIED, destination: Ipv4Addr::UNSPECIFIED };
    let (mut bytes, mut answered) = (Vec::new(), 0);
    for n in 0..count {
        let source_port = u16::try_from(1_024 + n / 1_000 % 100).unwrap();
        let addresses = Addresses { hosts, source_port, destination_port: 1 };
        let syn = Segment {
            seq: u32::try_from(n).unwrap(),
            flags: Flags::SYN,
            mss: std::num::NonZeroU16::new(1_452),
            window_scale: Some(7),
            sack_permitted: true,
            ..Segment::default()
        };
        bytes.clear();
        encode_tcp(&addresses, &syn, &[], [&[], &[]], &mut bytes).unwrap();
        let socket = &sockets[usize::try_from(n).unwrap() % sockets.len()];
        socket.send_to(&bytes, server).unwrap();
        if n % 100 == 99 {
            answered += u64::from(socket.recv(&mut [0; 100]).is_ok());
        }
    }
    assert!(
        answered * 100 >= count / 10 * 9,
        "{answered} answers to {count} first segments, one in a hundred waited for"
    );
}
