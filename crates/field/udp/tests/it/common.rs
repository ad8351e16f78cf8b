//! Transfers whose every byte is checked.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::thread;
use std::time::Duration;

use firstflight_udp::{Listener, Options, Stream};
use firstflight_wire::payload;

/// The loopback, with a port that the system chooses.
pub(crate) const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
/// Long enough for any test, so that a stalled one fails.
const PATIENCE: Option<Duration> = Some(Duration::from_secs(30));

pub(crate) fn options(scheme: &str) -> Options {
    Options::new(scheme).expect("a scheme").segment_lifetime(firstflight::Span::from_millis(200))
}

/// Writes the stream of `firstflight_wire::payload` up to `bytes`, and waits until the peer has acknowledged it.
pub(crate) fn send(stream: &Stream, bytes: u64) {
    stream.set_write_timeout(PATIENCE);
    let mut buffer = vec![0; 64 << 10];
    let mut at = 0;
    while at < bytes {
        let len = buffer.len().min(usize::try_from(bytes - at).unwrap_or(usize::MAX));
        payload::fill(at, &mut buffer[..len]);
        { stream }.write_all(&buffer[..len]).expect("room in time");
        at += len as u64;
    }
    stream.finish(PATIENCE).expect("an acknowledgement of all in time");
}

/// Reads to the end and checks each byte. Returns the number of bytes.
pub(crate) fn receive(stream: &Stream) -> u64 {
    stream.set_read_timeout(PATIENCE);
    let mut buffer = vec![0; 64 << 10];
    let mut at = 0;
    loop {
        let len = match { stream }.read(&mut buffer) {
            Ok(len) => len,
            Err(error) => panic!("after {at} bytes of {stream:?}: {error}; {:?}", stream.info()),
        };
        if len == 0 {
            return at;
        }
        assert_eq!(payload::first_difference(at, &buffer[..len]), None, "a wrong byte after {at}");
        at += len as u64;
    }
}

/// Transfers bytes each way over one connection at once. Returns the client's stream.
pub(crate) fn both_ways(listener: &Listener, connect: impl FnOnce() -> Stream, up: u64, down: u64) -> Stream {
    thread::scope(|scope| {
        let server = scope.spawn(|| {
            let (stream, _) = listener.accept().expect("a connection");
            thread::scope(|scope| {
                scope.spawn(|| send(&stream, down));
                assert_eq!(receive(&stream), up);
            });
        });
        let stream = connect();
        thread::scope(|scope| {
            scope.spawn(|| send(&stream, up));
            assert_eq!(receive(&stream), down);
        });
        server.join().expect("the server's side");
        stream
    })
}

/// Runs `test`, and fails if it does not end within `time`.
pub(crate) fn within(time: Duration, test: impl FnOnce() + Send + 'static) {
    let (done, over) = std::sync::mpsc::channel();
    let thread = thread::spawn(move || {
        test();
        let _ = done.send(());
    });
    match over.recv_timeout(time) {
        Err(std::sync::mpsc::RecvTimeoutError::Timeout) => panic!("it waits still after {time:?}"),
        // A panic of the thread is the test's.
        _ => thread.join().unwrap(),
    }
}
