//! The kernel's own TCP as the peer, over a TUN in a separate network namespace. Needs root, or equivalent rights here. Runs only if
//! `FIRSTFLIGHT_PRIVILEGED` is set, as in the last step of `make test`; an ordinary test run skips it.

#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::thread;
use std::time::Duration;

use firstflight_udp::{Host, Options};
use firstflight_wire::payload;
use nix::sched::{CloneFlags, unshare};

const KERNEL: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
const OWN: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);
const TUN: &str = "firstflight0";
const PORT: u16 = 4_433;
const PATIENCE: Duration = Duration::from_secs(30);

/// Returns whether the tests are requested and may create a network with a TUN. Prints a message if they may not.
fn is_allowed() -> bool {
    let try_it = || {
        unshare(CloneFlags::CLONE_NEWNET)?;
        let options = Options::new("slow-start").map_err(std::io::Error::from)?;
        Host::tun(TUN, IpAddr::V4(OWN), &options).map(drop)
    };
    if std::env::var_os("FIRSTFLIGHT_PRIVILEGED").is_none() {
        return false;
    }
    match thread::spawn(try_it).join().unwrap() {
        Ok(()) => true,
        Err(error) => {
            println!("skipped: the kernel's TCP over a TUN of one's own: {error}");
            false
        }
    }
}

/// Runs `test` in a thread with a separate network: a host behind a TUN, and the kernel's IP at the other end. Threads and processes that
/// it starts use the same network.
fn with_kernel(scheme: &str, test: impl FnOnce(&Host) + Send) {
    let options = Options::new(scheme).unwrap().segment_lifetime(firstflight::Span::from_millis(200));
    let options = options.set("rwnd", "1MB").unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            unshare(CloneFlags::CLONE_NEWNET).expect("a network of one's own");
            let host = Host::tun(TUN, IpAddr::V4(OWN), &options).expect("a TUN");
            for words in [
                &["addr", "add", "10.77.0.1/24", "dev", TUN][..],
                &["link", "set", TUN, "mtu", "1500", "txqueuelen", "1000", "up"],
            ] {
                assert!(Command::new("ip").args(words).status().expect("iproute2").success());
            }
            test(&host);
        });
    });
}

fn write(mut to: impl Write, bytes: u64) {
    let (mut buffer, mut at) = (vec![0; 64 << 10], 0);
    while at < bytes {
        let len = buffer.len().min(usize::try_from(bytes - at).unwrap());
        payload::fill(at, &mut buffer[..len]);
        to.write_all(&buffer[..len]).unwrap();
        at += len as u64;
    }
}

fn read(mut from: impl Read) -> u64 {
    let (mut buffer, mut at) = (vec![0; 64 << 10], 0);
    while let len @ 1.. = from.read(&mut buffer).unwrap() {
        assert_eq!(payload::first_difference(at, &buffer[..len]), None, "a wrong byte after {at}");
        at += len as u64;
    }
    at
}

/// Bytes each way. To set them by hand and print the rates: `FIRSTFLIGHT_LIVE_BYTES=50000000`.
fn bytes() -> u64 {
    std::env::var("FIRSTFLIGHT_LIVE_BYTES").ok().and_then(|text| text.parse().ok()).unwrap_or(10_000_000)
}

/// Says how fast the bytes of `transfer` went.
#[expect(clippy::disallowed_methods, reason = "a figure for who asks for one")]
fn timed(what: &str, transfer: impl FnOnce()) {
    let begin = std::time::Instant::now();
    transfer();
    let seconds = begin.elapsed().as_secs_f64();
    let megabits = bytes() * 8 / 1_000_000;
    println!("{what}: {:.0} Mbit/s", f64::from(u32::try_from(megabits).unwrap()) / seconds);
}

#[test]
fn the_kernel_reads_what_the_host_writes() {
    if !is_allowed() {
        return;
    }
    for scheme in ["slow-start", "hystart++:avoidance=cubic", "paced"] {
        with_kernel(scheme, |host| {
            let listener = TcpListener::bind((KERNEL, PORT)).unwrap();
            timed(&format!("{scheme} to the kernel"), || {
                thread::scope(|scope| {
                    scope.spawn(|| assert_eq!(read(listener.accept().unwrap().0), bytes()));
                    let stream = host.connect(SocketAddr::from((KERNEL, PORT))).unwrap();
                    write(&stream, bytes());
                    stream.finish(Some(PATIENCE)).unwrap();
                });
            });
        });
    }
}

#[test]
fn the_host_reads_what_the_kernel_writes() {
    if !is_allowed() {
        return;
    }
    for settings in ["slow-start", "hystart++"] {
        with_kernel(settings, |host| {
            let listener = host.listen(PORT);
            timed("the kernel to the host", || {
                thread::scope(|scope| {
                    scope.spawn(|| {
                        let (stream, peer) = listener.accept().unwrap();
                        assert_eq!(peer.ip(), IpAddr::V4(KERNEL));
                        stream.set_read_timeout(Some(PATIENCE));
                        assert_eq!(read(&stream), bytes());
                    });
                    let mut stream =
                        TcpStream::connect_timeout(&SocketAddr::from((OWN, PORT)), PATIENCE).unwrap();
                    write(&stream, bytes());
                    stream.shutdown(Shutdown::Write).unwrap();
                    assert_eq!(stream.read(&mut [0]).unwrap(), 0, "the host's end");
                });
            });
        });
    }
}

#[test]
fn both_ends_refuse_where_nobody_listens() {
    if !is_allowed() {
        return;
    }
    with_kernel("slow-start", |host| {
        let error = host.connect(SocketAddr::from((KERNEL, PORT))).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
        let error = TcpStream::connect_timeout(&SocketAddr::from((OWN, PORT)), PATIENCE).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
        // Another port than the one that listens.
        let _listener = host.listen(PORT + 1);
        let error = TcpStream::connect_timeout(&SocketAddr::from((OWN, PORT)), PATIENCE).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
    });
}

#[test]
fn many_connections_of_the_kernel_are_served_at_once() {
    if !is_allowed() {
        return;
    }
    with_kernel("slow-start", |host| {
        let listener = host.listen(PORT);
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::scope(|scope| {
                    for stream in listener.incoming().take(50) {
                        scope.spawn(move || {
                            assert_eq!(read(&stream), 100_000);
                            write(&stream, 50_000);
                            stream.finish(Some(PATIENCE)).unwrap();
                        });
                    }
                });
            });
            for _ in 0..50 {
                scope.spawn(|| {
                    let stream =
                        TcpStream::connect_timeout(&SocketAddr::from((OWN, PORT)), PATIENCE).unwrap();
                    write(&stream, 100_000);
                    stream.shutdown(Shutdown::Write).unwrap();
                    assert_eq!(read(&stream), 50_000);
                });
            }
        });
    });
}
