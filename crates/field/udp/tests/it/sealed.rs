//! Datagrams sealed with a key: peers with the key, and strangers, who get no answer.

use std::thread;
use std::time::Duration;

use firstflight_tcp::Segment;
use firstflight_udp::{Host, Key, Listener, Options, Stream};

use crate::common::{LOOPBACK, both_ways, options};
use crate::raw::{Raw, syn};

fn sealed(options: Options) -> Options {
    options.key(Key::new([7; 32]))
}

#[test]
fn a_stream_crosses_sealed_datagrams_both_ways() {
    let sealed = sealed(options("slow-start"));
    let crosses = |client: &Options, width: u16| {
        let listener = Listener::bind(LOOPBACK, &sealed).unwrap();
        let stream = both_ways(
            &listener,
            || Stream::connect(listener.local_addr(), client).unwrap(),
            100_000,
            200_000,
        );
        assert_eq!(stream.info().mss + 20, width);
    };
    crosses(&sealed, 1_432);
    crosses(&sealed.clone().batches(false), 1_432);
    crosses(&sealed.clone().largest_datagram(900), 508);
}

#[test]
fn a_peer_without_the_right_key_receives_no_datagram() {
    let listener = Listener::bind(LOOPBACK, &sealed(options("slow-start"))).unwrap();
    let host = Host::bind(LOOPBACK, &sealed(options("slow-start"))).unwrap();
    for server in [listener.local_addr(), host.local_addr()] {
        let raw = Raw::to(server);
        raw.0.set_read_timeout(Some(Duration::from_millis(2))).unwrap();
        for flags in 0..=255 {
            raw.send(&Segment { flags: firstflight_tcp::Flags(flags), ..syn() }, &[], &[0; 100]);
        }
        for length in 0..100 {
            raw.0.send(&vec![7; length]).unwrap();
        }
        assert_eq!(raw.receive(), None);
    }
    let other = options("slow-start").key(Key::new([8; 32]));
    for other in [other, options("slow-start")] {
        let client = Host::bind(LOOPBACK, &other).unwrap();
        let error = client.connect_timeout(listener.local_addr(), Duration::from_millis(100)).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
    }
    assert!(listener.try_accept().unwrap().is_none());
}

#[test]
fn a_datagram_that_comes_back_to_its_sender_is_not_heard() {
    // A mirror returns all that the client sends, from the address to which the client sent.
    let mirror = std::net::UdpSocket::bind(LOOPBACK).unwrap();
    mirror.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    let address = mirror.local_addr().unwrap();
    let echo = thread::spawn(move || {
        let mut bytes = [0; 2_000];
        let mut count = 0;
        while let Ok((length, from)) = mirror.recv_from(&mut bytes) {
            mirror.send_to(&bytes[..length], from).unwrap();
            count += 1;
        }
        count
    });
    let host = Host::bind(LOOPBACK, &sealed(options("slow-start"))).unwrap();
    let _listener = host.listen(0);
    let error = host.connect_timeout(address, Duration::from_millis(200)).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
    // The SYN, and the reset when the client gives up. The client answers nothing that was reflected.
    assert!(echo.join().unwrap() <= 2);
}
