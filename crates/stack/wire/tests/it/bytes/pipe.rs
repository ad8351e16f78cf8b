//! Two sockets and a pipe of IP packets between them, in virtual time: sent segments are encoded, and may be lost, duplicated and
//! reordered. The applications at both ends write and read random bytes.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use firstflight::registry::{self, AnyController, AnyLaw, AnyRestart, AnyScheme, LawEntry};
use firstflight::schemes::Initial;
use firstflight::{Span, Time};
use firstflight_tcp::bytes::{Settings, Socket};
use firstflight_tcp::{Config, Flags, Role, Segment};
use firstflight_wire::{Addresses, Checksum, Hosts, Ip, decode, encode};

pub(crate) type Any = Socket<AnyScheme, AnyRestart, AnyLaw>;

/// One-way delay of the pipe.
const DELAY: Span = Span::from_millis(10);

pub(crate) fn socket(role: Role, scheme: &str, config: &Config, settings: &Settings) -> Any {
    let initial = Initial { segments: 10, ssthresh: None };
    let scheme = registry::scheme(scheme).and_then(|entry| entry.build(initial, &[]).ok());
    let restart = registry::restart("rfc5681").and_then(|entry| entry.build(initial, &[]).ok());
    let law = registry::law("cubic").map(LawEntry::build);
    let controller =
        AnyController::new(scheme.expect("a scheme"), restart.expect("a policy"), law.expect("a law"));
    Socket::new(role, config, controller, settings)
}

/// Returns a pseudo-random number that follows from two others.
pub(crate) fn random(seed: u64, index: u64) -> u64 {
    let mut z = seed ^ index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Fills `bytes` with a random stream from `offset` on.
pub(crate) fn fill(seed: u64, offset: u64, bytes: &mut [u8]) {
    let mut word = [0; 8];
    for (at, byte) in (offset..).zip(bytes) {
        let in_word = usize::try_from(at % 8).expect("below eight");
        if in_word == 0 || at == offset {
            word = random(seed, at / 8).to_le_bytes();
        }
        *byte = word[in_word];
    }
}

/// The pipe's impairments of packets, in thousandths of them.
#[derive(Clone, Copy, Default)]
pub(crate) struct Harm {
    pub(crate) lost: u64,
    pub(crate) doubled: u64,
    /// These packets take up to three delays longer than others.
    pub(crate) late: u64,
}

/// Reading behavior of an application.
#[derive(Clone, Copy)]
pub(crate) enum Reader {
    AtOnce,
    /// Reads this many bytes every 5 ms; after each `stops_after` bytes it does nothing for a while.
    Slow {
        piece: usize,
        stops_after: u64,
        rests: Span,
    },
}

/// One end: the socket and its application.
pub(crate) struct End {
    pub(crate) socket: Any,
    seed: u64,
    writes: u64,
    written: u64,
    pub(crate) read: u64,
    reader: Reader,
    reads_at: Time,
    shuts: bool,
    /// Segments sent with a window of zero.
    pub(crate) closed_windows: u64,
    /// Number of RSTs sent.
    pub(crate) resets: u64,
}

pub(crate) struct Pipe {
    pub(crate) now: Time,
    pub(crate) ends: [End; 2],
    pub(crate) harm: Harm,
    /// Whether every packet to this end is lost.
    pub(crate) deaf: [bool; 2],
    seed: u64,
    count: u64,
    on_the_way: BTreeMap<(Time, u64), (usize, Vec<u8>)>,
    scratch: Vec<u8>,
}

impl Pipe {
    /// Makes a pipe whose ends each write this many bytes, close, and read the other's bytes.
    pub(crate) fn new(
        sockets: [Any; 2],
        writes: [u64; 2],
        readers: [Reader; 2],
        harm: Harm,
        seed: u64,
    ) -> Self {
        let now = Time::from_nanos(1_000_000_000);
        let [client, server] = sockets;
        let end = |n: usize, socket| End {
            socket,
            seed: seed.wrapping_mul(2).wrapping_add(n as u64),
            writes: writes[n],
            written: 0,
            read: 0,
            reader: readers[n],
            reads_at: now,
            shuts: true,
            closed_windows: 0,
            resets: 0,
        };
        let ends = [end(0, client), end(1, server)];
        let mut pipe = Self {
            now,
            ends,
            harm,
            deaf: [false; 2],
            seed,
            count: 0,
            on_the_way: BTreeMap::new(),
            scratch: vec![0; 1 << 16],
        };
        pipe.ends[0].socket.open(now);
        pipe
    }

    /// Keeps the end from closing by itself.
    pub(crate) fn stays_open(&mut self, end: usize) {
        self.ends[end].shuts = false;
    }

    /// Runs until there are no more events, or to an instant.
    pub(crate) fn run(&mut self, until: Time) {
        self.act();
        while let Some(at) = self.next() {
            if at > until {
                self.now = until;
                return;
            }
            self.now = self.now.max(at);
            while let Some(entry) = self.on_the_way.first_entry().filter(|entry| entry.key().0 <= self.now) {
                let (to, bytes) = entry.remove();
                let packet = decode(&bytes).expect("what was encoded");
                assert_eq!((packet.ip_checksum, packet.tcp_checksum), (Checksum::Good, Checksum::Good));
                self.ends[to].socket.on_segment(self.now, &packet.segment, packet.payload);
                self.act();
            }
            for end in &mut self.ends {
                end.socket.on_timer(self.now);
            }
            self.act();
        }
    }

    /// Delivers a forged segment.
    pub(crate) fn inject(&mut self, to: usize, segment: &Segment, payload: &[u8]) {
        self.ends[to].socket.on_segment(self.now, segment, payload);
        self.act();
    }

    fn next(&self) -> Option<Time> {
        let arrival = self.on_the_way.first_key_value().map(|((at, _), _)| *at);
        let timers = self.ends.iter().filter_map(|end| end.socket.next_timer());
        let readers = self.ends.iter().filter(|end| end.socket.readable() > 0).map(|end| end.reads_at);
        timers.chain(readers).chain(arrival).min()
    }

    /// Lets the applications write and read, and sends all segments that may be sent.
    pub(crate) fn act(&mut self) {
        for from in 0..2 {
            let other = self.ends[1 - from].seed;
            self.ends[from].application(self.now, other, &mut self.scratch);
            let mut packet = Vec::new();
            while let Some((transmit, payload)) = self.ends[from].socket.poll(self.now) {
                let addresses = Addresses {
                    hosts: Hosts::V4 { source: Ipv4Addr::LOCALHOST, destination: Ipv4Addr::LOCALHOST },
                    source_port: 1,
                    destination_port: 2,
                };
                let ip = Ip { addresses, identification: 0, hop_limit: 64 };
                encode(&ip, &transmit.segment, &payload.joined(), &mut packet).expect("a header can say it");
                self.ends[from].note(&transmit.segment);
                self.carry(1 - from, &packet);
            }
        }
    }

    fn carry(&mut self, to: usize, packet: &[u8]) {
        let dice = |sides: u64, n: u64| random(self.seed ^ n, self.count) % sides;
        let copies = if self.deaf[to] || dice(1_000, 1) < self.harm.lost {
            0
        } else {
            1 + u64::from(dice(1_000, 2) < self.harm.doubled)
        };
        let is_late = dice(1_000, 3) < self.harm.late;
        let late = Span::from_micros(if is_late { dice(30_000, 4) } else { 0 });
        for copy in 0..copies {
            let at = self.now + DELAY + late + Span::from_millis(7) * copy;
            self.on_the_way.insert((at, self.count * 2 + copy), (to, packet.to_vec()));
        }
        self.count += 1;
    }
}

impl End {
    fn application(&mut self, now: Time, other: u64, scratch: &mut [u8]) {
        while self.written < self.writes {
            let most = scratch.len().min(usize::try_from(self.writes - self.written).unwrap_or(usize::MAX));
            // Pieces of any length.
            let len = usize::try_from(random(self.seed, self.written)).unwrap_or(0) % most + 1;
            let len = len.min(usize::try_from(self.socket.writable()).unwrap_or(usize::MAX));
            fill(self.seed, self.written, &mut scratch[..len]);
            let taken = self.socket.write(&scratch[..len]);
            self.written += taken as u64;
            if taken == 0 {
                break;
            }
        }
        if self.written == self.writes && self.shuts {
            self.socket.shutdown();
        }
        match self.reader {
            Reader::AtOnce => while self.read_some(other, usize::MAX, scratch) > 0 {},
            Reader::Slow { piece, stops_after, rests } => {
                while self.reads_at <= now && self.socket.readable() > 0 {
                    let before = self.read;
                    self.read_some(other, piece, scratch);
                    let stops = before / stops_after < self.read / stops_after;
                    self.reads_at = now + if stops { rests } else { Span::from_millis(5) };
                }
            }
        }
    }

    /// Reads at most `most` bytes, and compares them with those that the other end wrote.
    fn read_some(&mut self, other: u64, most: usize, scratch: &mut [u8]) -> usize {
        let (found, expected) = scratch.split_at_mut(1 << 15);
        let room = most.min(found.len());
        let len = self.socket.read(&mut found[..room]);
        fill(other, self.read, &mut expected[..len]);
        assert!(
            found[..len] == expected[..len],
            "another byte came than was written after byte {}",
            self.read
        );
        self.read += len as u64;
        len
    }

    fn note(&mut self, segment: &Segment) {
        self.closed_windows += u64::from(segment.window == 0 && !segment.flags.has(Flags::RST));
        self.resets += u64::from(segment.flags.has(Flags::RST));
    }
}
