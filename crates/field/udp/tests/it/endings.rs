//! How connections end, and the errors that readers and writers get.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::thread;
use std::time::Duration;

use firstflight::Span;
use firstflight_udp::{Host, Listener, Options, Stream};

use crate::common::{LOOPBACK, options, receive, send, within};

/// Both ends of a new connection: the client's, the server's, and the listener.
fn pair(options: &Options) -> (Stream, Stream, Listener) {
    let listener = Listener::bind(LOOPBACK, options).unwrap();
    let client = Stream::connect(listener.local_addr(), options).unwrap();
    let (server, _) = listener.accept().unwrap();
    (client, server, listener)
}

#[test]
fn a_half_that_is_closed_leaves_the_other_open() {
    let (client, server, _listener) = pair(&options("slow-start"));
    send(&client, 10_000);
    assert_eq!(receive(&server), 10_000);
    // The client has closed, and still reads.
    thread::scope(|scope| {
        scope.spawn(|| send(&server, 1_000_000));
        assert_eq!(receive(&client), 1_000_000);
    });
    server.finish(Some(Duration::from_secs(5))).unwrap();
}

#[test]
fn both_sides_may_close_at_once() {
    let (client, server, _listener) = pair(&options("slow-start"));
    for stream in [&client, &server] {
        stream.shutdown(Shutdown::Write);
    }
    for stream in [&client, &server] {
        assert_eq!(receive(stream), 0);
        stream.finish(Some(Duration::from_secs(5))).unwrap();
    }
}

#[test]
fn a_shut_half_wakes_who_waits_for_it() {
    let (client, _server, _listener) = pair(&options("slow-start"));
    within(Duration::from_secs(10), move || {
        thread::scope(|scope| {
            let reader = scope.spawn(|| (&client).read(&mut [0; 8]));
            let writer = scope.spawn(|| {
                loop {
                    if let Err(error) = (&client).write(&[7; 10_000]) {
                        return error.kind();
                    }
                }
            });
            // Long enough that both wait.
            thread::sleep(Duration::from_millis(300));
            client.shutdown(Shutdown::Both);
            assert_eq!(reader.join().unwrap().unwrap(), 0);
            assert_eq!(writer.join().unwrap(), ErrorKind::BrokenPipe);
        });
    });
}

#[test]
fn a_closed_window_outlasts_the_user_timeout_while_probes_are_answered() {
    let options = options("slow-start").set("min-rto", "20ms").unwrap().set("initial-rto", "20ms").unwrap();
    let (client, server, _listener) = pair(&options.user_timeout(Span::from_millis(300)));
    thread::scope(|scope| {
        scope.spawn(|| send(&client, 2_000_000));
        thread::sleep(Duration::from_millis(1_500));
        assert_eq!(receive(&server), 2_000_000);
    });
}

#[test]
fn a_peer_that_is_gone_without_a_word_is_a_timeout() {
    // A relay that forwards the handshake and then closes its socket: after that the peer gets no answer.
    let options = options("slow-start").set("min-rto", "20ms").unwrap();
    let relay = std::net::UdpSocket::bind(LOOPBACK).unwrap();
    relay.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let listener = Listener::bind(LOOPBACK, &options).unwrap();
    let (path, server) = (relay.local_addr().unwrap(), listener.local_addr());
    let forward = thread::spawn(move || {
        let (mut client, mut buffer) = (None, [0; 2_000]);
        for _ in 0..20 {
            let Ok((len, from)) = relay.recv_from(&mut buffer) else { continue };
            let to = if from == server { client.unwrap() } else { server };
            client = client.or((from != server).then_some(from));
            relay.send_to(&buffer[..len], to).unwrap();
        }
    });
    let stream = Stream::connect(path, &options.user_timeout(Span::from_millis(500))).unwrap();
    forward.join().unwrap();
    let error = loop {
        if let Err(error) = (&stream).write_all(&[7; 10_000]) {
            break error;
        }
    };
    assert_eq!(error.kind(), ErrorKind::TimedOut);
    assert_eq!((&stream).read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::TimedOut);
}

#[test]
fn a_closing_host_resets_open_connections_and_waits_for_closing_peers() {
    let (client, server, _listener) = pair(&options("slow-start"));
    send(&client, 1_000);
    drop(client);
    // The peer reads all data, and then gets a reset at once, not after timeouts: the client's host is gone.
    assert_eq!(receive(&server), 1_000);
    server.set_write_timeout(Some(Duration::from_secs(5)));
    let error = loop {
        if let Err(error) = (&server).write(&[7; 1_000]) {
            break error;
        }
    };
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);

    let (client, server, _listener) = pair(&options("slow-start"));
    send(&client, 1_000);
    assert_eq!(receive(&server), 1_000);
    server.shutdown(Shutdown::Write);
    drop(client);
    server
        .finish(Some(Duration::from_secs(5)))
        .expect("an acknowledgement, for the client waited for the end");
}

#[test]
fn connections_that_clients_left_do_not_fill_a_server() {
    // Each client ends as a process does: its socket is closed while its last segments are in flight.
    let few = options("slow-start").connections(8);
    let listener = Listener::bind(LOOPBACK, &few).unwrap();
    for _ in 0..40 {
        let quick = options("slow-start").linger(Duration::ZERO);
        let stream = Stream::connect(listener.local_addr(), &quick).unwrap();
        (&stream).write_all(b"hello").unwrap();
        drop(stream);
        let (server, _) = listener.accept().unwrap();
        server.set_read_timeout(Some(Duration::from_secs(5)));
        let _ = (&server).read(&mut [0; 8]);
    }
}

#[test]
fn connections_waiting_for_accept_are_reset_when_the_last_listener_drops() {
    let host = Host::bind(LOOPBACK, &options("slow-start")).unwrap();
    let listener = host.listen(0);
    let client = Stream::connect(host.local_addr(), &options("slow-start")).unwrap();
    (&client).write_all(b"hello").unwrap();
    client.set_read_timeout(Some(Duration::from_secs(5)));
    // The server knows of the connection once it has acknowledged something.
    while client.info().acknowledged == 0 {
        thread::yield_now();
    }
    drop(listener);
    assert_eq!((&client).read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::ConnectionReset);
    let refused = Stream::connect(host.local_addr(), &options("slow-start")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
}

#[test]
fn the_thread_of_a_host_ends_with_its_last_handle() {
    let (client, server, listener) = pair(&options("slow-start"));
    let address = listener.local_addr();
    drop(listener);
    // A stream keeps the host.
    (&client).write_all(b"hello").unwrap();
    let mut text = [0; 5];
    (&server).read_exact(&mut text).unwrap();
    drop((client, server));
    // The port is free again.
    drop(std::net::UdpSocket::bind(address).expect("a port that is free again"));
}

#[test]
fn impossible_addresses_fail_immediately() {
    let host = Host::bind(LOOPBACK, &options("slow-start")).unwrap();
    let taken = Listener::bind(host.local_addr(), &options("slow-start")).unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::AddrInUse);
    within(Duration::from_secs(10), move || {
        for peer in ["[::1]:7", "127.0.0.1:0"] {
            let error = host.connect(peer.parse().unwrap()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{peer}");
            assert!(error.to_string().contains(peer), "{error}");
        }
        // The loopback's address speaks to the loopback only.
        let error = host.connect(SocketAddr::from(([192, 0, 2, 1], 7))).unwrap_err();
        assert!([ErrorKind::InvalidInput, ErrorKind::NetworkUnreachable].contains(&error.kind()), "{error}");
    });
}
