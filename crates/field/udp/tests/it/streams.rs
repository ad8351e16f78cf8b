//! Streams as applications use them.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, UdpSocket};
use std::thread;
use std::time::Duration;

use firstflight_udp::{Host, Listener, Stream};

use crate::common::{LOOPBACK, both_ways, options, receive, send};

#[test]
fn a_connection_moves_bytes_both_ways_at_once_and_ends() {
    let listener = Listener::bind(LOOPBACK, &options("slow-start")).unwrap();
    let connect = || Stream::connect(listener.local_addr(), &options("slow-start")).unwrap();
    let stream = both_ways(&listener, connect, 3_000_000, 2_000_000);
    assert_eq!(stream.stats().received, 2_000_000);
}

#[test]
fn fifty_megabytes_arrive_as_they_were_written() {
    let listener = Listener::bind(LOOPBACK, &options("hystart++")).unwrap();
    let connect = || Stream::connect(listener.local_addr(), &options("hystart++")).unwrap();
    both_ways(&listener, connect, 50_000_000, 0);
}

#[test]
fn one_socket_has_many_connections_in_both_roles() {
    let one = Host::bind(LOOPBACK, &options("slow-start")).unwrap();
    let other = Host::bind(LOOPBACK, &options("slow-start")).unwrap();
    let (mine, theirs) = (one.listen(0), other.listen(0));
    thread::scope(|scope| {
        for listener in [&mine, &theirs] {
            scope.spawn(|| {
                thread::scope(|scope| {
                    for stream in listener.incoming().take(20) {
                        scope.spawn(move || assert_eq!(receive(&stream), 100_000));
                    }
                });
            });
        }
        for _ in 0..20 {
            scope.spawn(|| send(&one.connect(other.local_addr()).unwrap(), 100_000));
            scope.spawn(|| send(&other.connect(one.local_addr()).unwrap(), 100_000));
        }
    });
}

#[test]
fn a_server_that_speaks_first_is_heard() {
    let listener = Listener::bind(LOOPBACK, &options("slow-start")).unwrap();
    let address = listener.local_addr();
    let server = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        (&stream).write_all(b"hello").unwrap();
        stream.finish(None).unwrap();
    });
    let mut stream = Stream::connect(address, &options("slow-start")).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert_eq!(text, "hello");
    server.join().unwrap();
}

#[test]
fn a_missing_listener_refuses_and_a_silent_peer_times_out() {
    let host = Host::bind(LOOPBACK, &options("slow-start")).unwrap();
    let refused = Stream::connect(host.local_addr(), &options("slow-start")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    let silent = UdpSocket::bind(LOOPBACK).unwrap();
    let timed_out =
        host.connect_timeout(silent.local_addr().unwrap(), Duration::from_millis(50)).unwrap_err();
    assert_eq!(timed_out.kind(), ErrorKind::TimedOut);
}

#[test]
fn a_reset_is_an_error_and_reads_respect_their_timeouts() {
    let listener = Listener::bind(LOOPBACK, &options("slow-start")).unwrap();
    let stream = Stream::connect(listener.local_addr(), &options("slow-start")).unwrap();
    let (other, peer) = listener.accept().unwrap();
    assert_ne!(peer.port(), 0);
    stream.set_read_timeout(Some(Duration::from_millis(20)));
    assert_eq!((&stream).read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::TimedOut);
    stream.set_nonblocking(true);
    assert_eq!((&stream).read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::WouldBlock);
    stream.set_nonblocking(false);
    stream.set_read_timeout(None);
    other.abort();
    assert_eq!((&stream).read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    assert_eq!((&stream).write(&[0; 8]).unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[test]
fn a_writer_blocks_on_a_full_window_and_cannot_write_after_shutdown() {
    let listener = Listener::bind(LOOPBACK, &options("slow-start")).unwrap();
    let stream = Stream::connect(listener.local_addr(), &options("slow-start")).unwrap();
    let (other, _) = listener.accept().unwrap();
    stream.set_write_timeout(Some(Duration::from_millis(200)));
    let mut written = 0;
    let error = loop {
        match (&stream).write(&[7; 10_000]) {
            Ok(n) => written += n,
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert!(written < 1_000_000, "{written} bytes for a peer that reads none");
    stream.shutdown(Shutdown::Write);
    assert_eq!((&stream).write(&[7]).unwrap_err().kind(), ErrorKind::BrokenPipe);
    let mut read = Vec::new();
    (&other).read_to_end(&mut read).unwrap();
    assert_eq!(read, vec![7; written]);
}

#[test]
fn both_address_families_work_and_wildcard_sockets_answer_from_the_requested_address() {
    for (bound, asked) in
        [("[::1]:0", "[::1]"), ("0.0.0.0:0", "127.0.0.7"), ("[::]:0", "[::1]"), ("[::]:0", "127.0.0.9")]
    {
        let listener = match Listener::bind(bound, &options("slow-start")) {
            Ok(listener) => listener,
            Err(error) => {
                println!("skipped: a host on {bound}: {error}");
                continue;
            }
        };
        let address = format!("{asked}:{}", listener.local_addr().port());
        let stream = both_ways(
            &listener,
            || Stream::connect(&*address, &options("slow-start")).unwrap(),
            300_000,
            300_000,
        );
        assert_eq!(stream.peer_addr().to_string(), address);
        let width = if bound.starts_with('[') { 1_432 } else { 1_452 };
        assert_eq!(stream.info().mss, width, "{bound}");
    }
}

#[test]
fn a_host_at_its_connection_limit_refuses_until_room_returns() {
    // The server allows one socket two connections.
    let listener = Listener::bind(LOOPBACK, &options("slow-start").connections(32)).unwrap();
    let client = Host::bind(LOOPBACK, &options("slow-start").connections(2)).unwrap();
    let streams = [(); 2].map(|()| client.connect(listener.local_addr()).unwrap());
    assert!(client.connect(listener.local_addr()).unwrap_err().to_string().contains("has 2 connections"));
    let accepted = [(); 2].map(|()| listener.accept().unwrap().0);
    // Both ends are closed: connections in TIME-WAIT make room.
    for (stream, other) in streams.iter().zip(&accepted) {
        stream.finish(None).unwrap();
        assert_eq!(receive(other), 0);
        other.finish(None).unwrap();
        assert_eq!(receive(stream), 0);
    }
    let stream = client.connect(listener.local_addr()).unwrap();
    send(&stream, 1_000);
    assert_eq!(receive(&listener.accept().unwrap().0), 1_000);
}

#[test]
fn written_data_arrives_despite_an_immediate_drop_of_stream_and_host() {
    let listener = Listener::bind(LOOPBACK, &options("slow-start")).unwrap();
    let mut stream = Stream::connect(listener.local_addr(), &options("slow-start")).unwrap();
    let (other, _) = listener.accept().unwrap();
    let reader = thread::spawn(move || receive(&other));
    let mut bytes = vec![0; 200_000];
    firstflight_wire::payload::fill(0, &mut bytes);
    stream.write_all(&bytes).unwrap();
    drop(stream);
    assert_eq!(reader.join().unwrap(), 200_000);
}
