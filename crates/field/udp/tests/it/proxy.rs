//! A hostile UDP proxy: it loses, damages, repeats, delays and replays datagrams between a client and a server.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use firstflight_udp::{Host, Listener, Options};

use crate::common::{LOOPBACK, both_ways, options};

/// The proxy's faults, each applied to one datagram in this many; 0 is never.
#[derive(Clone, Copy)]
struct Harm {
    lose: u64,
    damage: u64,
    repeat: u64,
    /// Delivers it some datagrams later.
    delay: u64,
    /// Delivers one of the last thousand besides.
    replay: u64,
}

/// A proxy in front of a server. It ends when it is dropped.
struct Proxy {
    address: SocketAddr,
    ends: Arc<AtomicBool>,
    packets: Arc<AtomicU64>,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Proxy {
    fn new(server: SocketAddr, harm: Harm, seed: u64) -> Self {
        let front = UdpSocket::bind(LOOPBACK).unwrap();
        let address = front.local_addr().unwrap();
        let back = UdpSocket::bind(LOOPBACK).unwrap();
        for socket in [&front, &back] {
            socket.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
            socket2::SockRef::from(socket).set_recv_buffer_size(4 << 20).unwrap();
        }
        let (ends, packets) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let client = Arc::new(Mutex::new(None));
        let threads = [true, false].map(|up| {
            let (front, back) = (front.try_clone().unwrap(), back.try_clone().unwrap());
            let (ends, packets, client) = (Arc::clone(&ends), Arc::clone(&packets), Arc::clone(&client));
            thread::spawn(move || {
                let from = if up { &front } else { &back };
                let mut way = Way {
                    harm,
                    random: seed + u64::from(up),
                    late: BTreeMap::new(),
                    last: Vec::new(),
                    count: 0,
                };
                let mut buffer = vec![0; 65_536];
                while !ends.load(Ordering::Relaxed) {
                    let out = match from.recv_from(&mut buffer) {
                        Ok((len, sender)) => {
                            if up {
                                *client.lock().unwrap() = Some(sender);
                            }
                            packets.fetch_add(1, Ordering::Relaxed);
                            way.pass(&buffer[..len])
                        }
                        Err(error)
                            if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) =>
                        {
                            way.rest()
                        }
                        Err(_) => Vec::new(),
                    };
                    for datagram in out {
                        let _ = match (up, *client.lock().unwrap()) {
                            (true, _) => back.send_to(&datagram, server),
                            (false, Some(client)) => front.send_to(&datagram, client),
                            (false, None) => Ok(0),
                        };
                    }
                }
            })
        });
        Self { address, ends, packets, threads: threads.into() }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().unwrap();
        }
    }
}

/// One direction.
struct Way {
    harm: Harm,
    random: u64,
    late: BTreeMap<u64, Vec<u8>>,
    last: Vec<Vec<u8>>,
    count: u64,
}

impl Way {
    /// Returns the datagrams that leave the proxy when a datagram arrives.
    fn pass(&mut self, datagram: &[u8]) -> Vec<Vec<u8>> {
        self.count += 1;
        let mut out: Vec<Vec<u8>> = Vec::new();
        let harm = self.harm;
        let place = usize::try_from(self.draw() % 1_000).unwrap();
        if self.last.len() < 1_000 {
            self.last.push(datagram.to_vec());
        } else {
            self.last[place] = datagram.to_vec();
        }
        if self.happens(harm.delay) {
            let due = (self.count + 1 + self.draw() % 40) * 1_000 + self.draw() % 1_000;
            self.late.insert(due, datagram.to_vec());
        } else if self.happens(harm.damage) {
            out.push(self.damaged(datagram));
        } else if !self.happens(harm.lose) {
            out.push(datagram.to_vec());
        }
        if self.happens(harm.repeat) {
            out.push(datagram.to_vec());
        }
        if self.happens(harm.replay) {
            let place = usize::try_from(self.draw()).unwrap() % self.last.len();
            out.push(self.last[place].clone());
        }
        let later = self.late.split_off(&(self.count * 1_000 + 1_000));
        out.extend(std::mem::replace(&mut self.late, later).into_values());
        out
    }

    /// Returns the delayed datagrams after a time without arrivals.
    fn rest(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.late).into_values().collect()
    }

    /// Inverts a burst of at most fifteen bits, which the checksum always detects.
    fn damaged(&mut self, datagram: &[u8]) -> Vec<u8> {
        let mut bytes = datagram.to_vec();
        let pattern = 1 + self.draw() % 0x7FFF;
        let first = usize::try_from(self.draw()).unwrap() % (bytes.len() * 8 - 14);
        for bit in (0..15).filter(|bit| (pattern >> bit) & 1 == 1) {
            bytes[(first + bit) / 8] ^= 0x80 >> ((first + bit) % 8);
        }
        bytes
    }

    fn happens(&mut self, one_in: u64) -> bool {
        one_in > 0 && self.draw().is_multiple_of(one_in)
    }

    /// xorshift64*.
    fn draw(&mut self) -> u64 {
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        self.random.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 1
    }
}

const EVERYTHING: Harm = Harm { lose: 200, damage: 100, repeat: 100, delay: 100, replay: 100 };

/// Transfers through a proxy until it has forwarded this many datagrams.
fn transfers(harm: Harm, packets: u64, options: &Options) {
    let listener = Listener::bind(LOOPBACK, options).unwrap();
    let client = Host::bind(LOOPBACK, options).unwrap();
    let proxy = Proxy::new(listener.local_addr(), harm, 0x9E37_79B9_7F4A_7C15);
    while proxy.packets.load(Ordering::Relaxed) < packets {
        both_ways(&listener, || client.connect(proxy.address).unwrap(), 8_000_000, 8_000_000);
    }
}

/// Options with short timeouts, and a TIME-WAIT that lasts many of them.
fn impatient(scheme: &str) -> Options {
    options(scheme)
        .segment_lifetime(firstflight::Span::from_secs(2))
        .set("min-rto", "20ms")
        .unwrap()
        .set("initial-rto", "50ms")
        .unwrap()
}

#[test]
fn datagrams_damaged_duplicated_delayed_or_replayed_corrupt_no_data_and_stall_nothing() {
    // By hand: LIVE_PACKETS=10000000.
    let packets = std::env::var("LIVE_PACKETS").ok().and_then(|text| text.parse().ok()).unwrap_or(100_000);
    transfers(EVERYTHING, packets, &impatient("slow-start"));
}

#[test]
fn a_path_that_only_reorders_and_replays_stalls_nothing() {
    let harm = Harm { lose: 0, damage: 0, repeat: 20, delay: 10, replay: 20 };
    transfers(harm, 20_000, &impatient("hystart++").set("timestamps", "true").unwrap());
}

#[test]
fn many_short_connections_open_and_end_under_replays_of_each_others_handshakes() {
    let options = impatient("slow-start");
    let listener = Listener::bind(LOOPBACK, &options).unwrap();
    let client = Host::bind(LOOPBACK, &options).unwrap();
    let harm = Harm { lose: 20, damage: 50, repeat: 5, delay: 5, replay: 3 };
    let proxy = Proxy::new(listener.local_addr(), harm, 77);
    for _ in 0..60 {
        both_ways(&listener, || client.connect(proxy.address).unwrap(), 10_000, 10_000);
    }
}
