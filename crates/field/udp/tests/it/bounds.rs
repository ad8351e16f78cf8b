//! Bounds on what one peer, or the peers of one address, can take of a host.

use std::io::{ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Wake, Waker};
use std::thread;
use std::time::Duration;

use firstflight_tcp::{Flags, Segment};
use firstflight_udp::{Host, Listener, SharedMemory, Stream, Worth};

use crate::common::{LOOPBACK, options, receive, send};
use crate::raw::{Raw, ack};

/// Another address of the loopback.
const ELSEWHERE: &str = "127.0.0.2:0";

#[test]
fn one_address_has_a_quarter_of_the_connections() {
    let listener = Listener::bind(LOOPBACK, &options("slow-start").connections(8)).unwrap();
    let raws: Vec<_> = (0..3).map(|_| Raw::to(listener.local_addr())).collect();
    let held: Vec<_> = raws[..2]
        .iter()
        .map(|raw| {
            raw.open(b"").expect("a connection");
            listener.accept().unwrap().0
        })
        .collect();
    assert!(raws[2].open(b"").is_none(), "a third connection");
    let other = Raw::from(ELSEWHERE, listener.local_addr());
    assert!(other.open(b"").is_some(), "another address has connections of its own");
    // One of low worth makes room, and its peer gets a reset.
    for (stream, worth) in [(1, Worth::Low), (0, Worth::Low), (1, Worth::Kept), (1, Worth::Low)] {
        held[stream].set_worth(worth);
        thread::sleep(Duration::from_millis(20));
    }
    assert!(Raw::to(listener.local_addr()).open(b"").is_some());
    assert!(raws[0].receive().expect("a reset").0.flags.has(Flags::RST));
    assert_eq!((&held[0]).read(&mut [0; 8]).unwrap_err().kind(), ErrorKind::ConnectionAborted);
    held[1].set_worth(Worth::Kept);
    assert!(raws[1].receive().is_none());
}

#[test]
fn where_all_connections_are_taken_one_of_the_lowest_worth_makes_room() {
    let listener = Listener::bind(LOOPBACK, &options("slow-start").connections(4)).unwrap();
    let raws: Vec<_> =
        (1..=5).map(|n| Raw::from((format!("127.0.0.{n}"), 0), listener.local_addr())).collect();
    let held: Vec<_> = raws[..4]
        .iter()
        .map(|raw| {
            raw.open(b"").expect("a connection");
            listener.accept().unwrap().0
        })
        .collect();
    assert!(raws[4].open(b"").is_none());
    for (stream, worth) in [(1, Worth::Low), (2, Worth::Lowest), (3, Worth::Lowest)] {
        held[stream].set_worth(worth);
        thread::sleep(Duration::from_millis(20));
    }
    assert!(raws[4].open(b"").is_some());
    assert!(raws[2].receive().expect("a reset").0.flags.has(Flags::RST));
    assert!(raws[1].receive().is_none() && raws[3].receive().is_none());
}

#[test]
fn one_socket_has_a_sixteenth_of_the_connections() {
    let listener = Listener::bind(LOOPBACK, &options("slow-start").connections(32)).unwrap();
    let host = Host::bind(LOOPBACK, &options("slow-start")).unwrap();
    let patience = Duration::from_millis(100);
    let open = |host: &Host| {
        let stream = host.connect_timeout(listener.local_addr(), patience).unwrap();
        thread::sleep(patience);
        listener.try_accept().unwrap().map(|(server, _)| (stream, server))
    };
    let held = [open(&host), open(&host)].map(|pair| pair.expect("a connection"));
    assert!(open(&host).is_none());
    let other = Host::bind(LOOPBACK, &options("slow-start")).unwrap();
    assert!(open(&other).is_some(), "another socket of the address");
    held[0].1.set_worth(Worth::Lowest);
    thread::sleep(patience);
    assert!(open(&host).is_some());
}

#[test]
fn one_address_has_a_quarter_of_those_that_wait_to_be_accepted() {
    let listener = Listener::bind(LOOPBACK, &options("slow-start").backlog(8)).unwrap();
    let opened = |_: &usize| Raw::to(listener.local_addr()).open(b"").is_some();
    assert_eq!((0..4).filter(opened).count(), 2);
    assert!(Raw::from(ELSEWHERE, listener.local_addr()).open(b"").is_some());
    assert!(listener.try_accept().unwrap().is_some());
    assert_eq!((0..4).filter(opened).count(), 1);
}

#[test]
fn one_address_has_a_quarter_of_the_memory() {
    let most = 1_000_000;
    let impatient = options("slow-start").set("min-rto", "20ms").unwrap();
    let listener = Listener::bind(LOOPBACK, &impatient.clone().memory(most)).unwrap();
    // The other host waits for ACKs as usual: a machine that pauses for 20 ms must not make it retransmit.
    let hosts = [(LOOPBACK, &impatient), (ELSEWHERE.parse().unwrap(), &options("slow-start"))]
        .map(|(own, options): (SocketAddr, _)| Host::bind(own, options).unwrap());
    let pair = |host: &Host| (host.connect(listener.local_addr()).unwrap(), listener.accept().unwrap().0);
    let hostile: Vec<_> = (0..10).map(|_| pair(&hosts[0])).collect();
    let (client, server) = pair(&hosts[1]);
    let mut there = 0;
    thread::scope(|scope| {
        for (client, _) in &hostile {
            scope.spawn(move || { client }.write_all(&vec![7; 200_000]));
        }
        let received = || hostile.iter().map(|(_, server)| server.stats().received).sum::<u64>();
        // On a busy machine this takes its time.
        for _ in 0..200 {
            thread::sleep(Duration::from_millis(100));
            if received() >= most / 4 {
                break;
            }
        }
        thread::sleep(Duration::from_millis(300));
        there = received();
        // What an address holds slows that address alone.
        scope.spawn(|| send(&client, 200_000));
        let whole = receive(&server);
        // Aborted before the check: a check that failed earlier would wait for these connections.
        for (client, server) in &hostile {
            client.abort();
            server.abort();
        }
        assert_eq!(whole, 200_000);
        // A machine that pauses makes a probe now and then; with the hostile hosts' address 75 packets are retransmitted.
        let retransmitted = client.stats().retransmissions;
        assert!(retransmitted < 20, "{retransmitted} packets");
    });
    let scarce = 10 * (4_096 + 1_452);
    assert!((most / 4..=most / 4 + scarce).contains(&there), "{there} bytes");
}

#[test]
fn hosts_may_share_their_memory() {
    let memory = SharedMemory::new(200_000);
    let shared = options("slow-start").shared_memory(&memory);
    let listeners = [0; 2].map(|_| Listener::bind(LOOPBACK, &shared).unwrap());
    let write = |listener: &Listener, n: u8| {
        let raw = Raw::from((format!("127.0.0.{n}"), 0), listener.local_addr());
        raw.open(b"").unwrap();
        let (stream, _) = listener.accept().unwrap();
        stream.set_nonblocking(true);
        let written = std::iter::from_fn(|| { &stream }.write(&vec![7; 100_000]).ok()).sum::<usize>();
        (stream, written)
    };
    // The peers of one listener take all the memory, and those of the other get 4 KiB each.
    let mut all: Vec<_> = (1..=8).map(|n| write(&listeners[0], n)).collect();
    let total: usize = all.iter().map(|(_, written)| written).sum();
    assert!(total >= 200_000, "{total}");
    all.push(write(&listeners[1], 9));
    assert_eq!(all[8].1, 4 << 10);
}

#[test]
fn a_peer_that_acknowledges_nothing_gets_a_small_send_buffer() {
    let generous = options("slow-start").send_buffer(16 << 20).whole_send_buffer(true);
    let listener = Listener::bind(LOOPBACK, &generous).unwrap();
    Raw::to(listener.local_addr()).open(b"").unwrap();
    let (stream, _) = listener.accept().unwrap();
    stream.set_nonblocking(true);
    let written: usize = std::iter::from_fn(|| { &stream }.write(&[7; 10_000]).ok()).sum();
    assert_eq!(written, 64 << 10);
    // Who acknowledges finds more.
    let (client, server, _listener) = pair(&generous);
    thread::scope(|scope| {
        scope.spawn(|| send(&server, 1_000_000));
        assert_eq!(receive(&client), 1_000_000);
    });
}

/// Both ends of a new connection: the client's, the server's, and the listener.
fn pair(options: &firstflight_udp::Options) -> (Stream, Stream, Listener) {
    let listener = Listener::bind(LOOPBACK, options).unwrap();
    let client = Stream::connect(listener.local_addr(), options).unwrap();
    let (server, _) = listener.accept().unwrap();
    (client, server, listener)
}

#[test]
fn out_of_order_bytes_are_charged_with_their_bookkeeping_overhead() {
    let wide = options("slow-start").set("rwnd", "16MB").unwrap();
    let listener = Listener::bind(LOOPBACK, &wide.memory(1 << 20)).unwrap();
    let raw = Raw::to(listener.local_addr());
    let answer = raw.open(b"").unwrap();
    raw.0.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let mut kept = 0;
    for n in 1..40_000_u32 {
        raw.send(&Segment { seq: 1_001 + 2 * n, ..ack(&answer) }, &[], b"x");
        // Each that is kept is acknowledged at once.
        if raw.receive().is_none() {
            break;
        }
        kept = n;
    }
    // 256 KiB and 16 KiB, of 48 bytes each.
    assert!((5_000..7_000).contains(&kept), "{kept} bytes");
}

struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Count {
    /// Waits until it was woken, and forgets that.
    fn was_woken(&self) -> bool {
        (0..500).any(|_| {
            thread::sleep(Duration::from_millis(2));
            self.0.swap(0, Ordering::SeqCst) > 0
        })
    }
}

#[test]
fn wakers_of_nonblocking_sockets_are_woken_when_progress_is_possible() {
    let options = options("slow-start").send_buffer(64 << 10);
    let listener = Listener::bind(LOOPBACK, &options).unwrap();
    let [accepts, reads] = [0; 2].map(|_| Arc::new(Count(AtomicUsize::new(0))));
    listener.set_waker(Some(Waker::from(Arc::clone(&accepts))));
    assert!(listener.try_accept().unwrap().is_none());
    let client = Stream::connect(listener.local_addr(), &options).unwrap();
    assert!(accepts.was_woken());
    let (server, _) = listener.try_accept().unwrap().expect("a connection");
    server.set_nonblocking(true);
    server.set_waker(Some(Waker::from(Arc::clone(&reads))));
    let kind = |result: std::io::Result<usize>| result.unwrap_err().kind();
    assert_eq!(kind((&server).read(&mut [0; 8])), ErrorKind::WouldBlock);
    (&client).write_all(b"hello").unwrap();
    assert!(reads.was_woken());
    assert_eq!((&server).read(&mut [0; 8]).unwrap(), 5);

    // No one reads at the other end: the window and the buffer become full.
    let fill = || {
        (0..20).fold(0, |written, _| {
            thread::sleep(Duration::from_millis(10));
            written + std::iter::from_fn(|| (&server).write(&[7; 10_000]).ok()).sum::<usize>()
        })
    };
    let written = fill();
    reads.0.store(0, Ordering::SeqCst);
    (&client).read_exact(&mut vec![0; written]).unwrap();
    assert!(reads.was_woken());
    assert!(fill() > 0);

    assert_eq!(server.finish(None).unwrap_err().kind(), ErrorKind::WouldBlock);
    client.set_read_timeout(Some(Duration::from_secs(5)));
    let _ = (&client).read_to_end(&mut Vec::new());
    assert!(reads.was_woken());
    server.finish(None).unwrap();
    drop((server, client));
    drop(listener);
}
