//! Narrow paths that drop longer datagrams silently.

use std::net::{SocketAddr, UdpSocket};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use firstflight_udp::{Host, Listener, Options, Stream};

use crate::common::{LOOPBACK, both_ways, options};

fn impatient() -> Options {
    options("slow-start").set("min-rto", "20ms").unwrap().set("initial-rto", "20ms").unwrap()
}

/// Runs `test` with a path to `server` that carries datagrams of `width` bytes; `later` is a number of datagrams, and the width after them.
fn with_path(server: SocketAddr, width: usize, later: (usize, usize), test: impl FnOnce(SocketAddr)) {
    struct Ends<'a>(&'a AtomicBool);
    impl Drop for Ends<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let (front, back) = (UdpSocket::bind(LOOPBACK).unwrap(), UdpSocket::bind(LOOPBACK).unwrap());
    let (client, over, count) = (OnceLock::new(), AtomicBool::new(false), AtomicUsize::new(0));
    for socket in [&front, &back] {
        socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    }
    thread::scope(|scope| {
        for up in [true, false] {
            let (front, back, client, over, count) = (&front, &back, &client, &over, &count);
            scope.spawn(move || {
                let mut buffer = vec![0; 65_536];
                while !over.load(Ordering::Relaxed) {
                    let Ok((len, from)) = (if up { front } else { back }).recv_from(&mut buffer) else {
                        continue;
                    };
                    if up {
                        client.get_or_init(|| from);
                    }
                    let seen = count.fetch_add(1, Ordering::Relaxed);
                    let most = if seen < later.0 { width } else { later.1 };
                    if let Some(client) = client.get().filter(|_| len <= most) {
                        let (socket, to) = if up { (back, server) } else { (front, *client) };
                        socket.send_to(&buffer[..len], to).unwrap();
                    }
                }
            });
        }
        let _ends = Ends(&over);
        test(front.local_addr().unwrap());
    });
}

#[test]
fn the_handshake_finds_the_width_of_a_path() {
    let listener = Listener::bind(LOOPBACK, &impatient()).unwrap();
    for (width, mss) in [(1_500, 1_452), (1_300, 1_212), (600, 528)] {
        with_path(listener.local_addr(), width, (usize::MAX, 0), |path| {
            let connect = || Stream::connect(path, &impatient()).unwrap();
            let stream = both_ways(&listener, connect, 200_000, 200_000);
            assert_eq!(stream.info().mss, mss, "datagrams of {width} bytes");
        });
    }
}

#[test]
fn a_path_narrowing_during_a_connection_stalls_nothing() {
    let listener = Listener::bind(LOOPBACK, &impatient()).unwrap();
    with_path(listener.local_addr(), 1_500, (100, 1_232), |path| {
        let stream = both_ways(&listener, || Stream::connect(path, &impatient()).unwrap(), 500_000, 500_000);
        assert_eq!(stream.info().mss, 1_452, "it began on the wide path");
    });
}

#[test]
fn datagrams_use_the_configured_size_and_fall_back_above_the_device_limit() {
    // The loopback's packets have 65,536 bytes.
    for largest in [9_000, 65_000, u16::MAX] {
        let options = impatient().largest_datagram(largest);
        let listener = Listener::bind(LOOPBACK, &options).unwrap();
        let client = Host::bind(LOOPBACK, &options).unwrap();
        let stream =
            both_ways(&listener, || client.connect(listener.local_addr()).unwrap(), 500_000, 500_000);
        let mss = stream.info().mss;
        assert!(if largest == u16::MAX { mss < 1_500 } else { mss == largest - 20 }, "{largest}: {mss}");
    }
}
