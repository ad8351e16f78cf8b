//! Runs two endpoints that carry bytes over a network with loss, duplication, reordering, corruption and blackouts. Checks each byte.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use firstflight::{Span, Time};
use firstflight_tcp::bytes::{Payload, Settings};
use firstflight_tcp::{Config, Role, Segment};
use firstflight_wire::payload;
use firstflight_wire::{Addresses, Checksum, Hosts, Ip, decode, encode};

use crate::Source;
use crate::peer::{self, AnySocket, Memory};

/// The one-way delay of the network without interference.
const DELAY: Span = Span::from_millis(30);
/// An upper bound on the duration of any run here. It exceeds fifteen of the longest timeouts.
const LONGEST: Span = Span::from_secs(24 * 3_600);
/// An upper bound on the packets that any transfer here needs.
const MAX_PACKETS: u64 = 400_000;
/// The number of packets with which the network may interfere. Afterwards it delivers every packet.
const MAX_FATES: u32 = 2_000;

/// One side: a socket and its application.
struct Side {
    socket: AnySocket,
    config: Config,
    /// The number of bytes that the application sends in total.
    writes: u64,
    /// The number of bytes that the application has read.
    read: u64,
    memory: Memory,
}

/// A packet in the network: the index of the receiving side, and the bytes.
type Packet = (usize, Vec<u8>);

struct Network<'a> {
    source: Source<'a>,
    now: Time,
    sides: [Side; 2],
    on_the_way: BTreeMap<(Time, u64), Packet>,
    count: u64,
    fates: u32,
    harm: u32,
    dark_until: Time,
}

/// Runs two endpoints that write to each other through a network. At random, the network drops, duplicates, delays, damages and truncates
/// packets, and has blackouts. Later it delivers every packet, and all data must then arrive.
pub fn two_endpoints(data: &[u8]) {
    let mut source = Source::new(data);
    let configs = [(); 2].map(|()| peer::config(&mut source));
    // Small and large numbers of segments are equally likely.
    let written = [source.short(), source.short() % 20_000].map(|most| most >> (source.byte() % 8));
    let sides = [0, 1].map(|n: usize| {
        let role = [Role::Client, Role::Server][n];
        // Another target tests buffers smaller than a segment. With these, not every byte would arrive within a day, as this target
        // requires.
        let receive_buffer = configs[n].receive_buffer.max(4_000);
        let config = Config { receive_buffer, ..configs[n] };
        let settings = Settings { send_buffer: 1 << 16, ..Settings::default() };
        let socket = peer::socket(role, &config, &settings, &mut source);
        Side { socket, config, writes: u64::from(written[n]), read: 0, memory: Memory::default() }
    });
    let now = Time::from_nanos(1_000_000_000);
    let on_the_way = BTreeMap::new();
    Network { source, now, sides, on_the_way, count: 0, fates: 0, harm: 0, dark_until: now }.run();
}

impl Network<'_> {
    fn run(mut self) {
        let end = self.now + LONGEST;
        self.sides[0].socket.open(self.now);
        for side in &mut self.sides {
            let mut bytes = vec![0; usize::try_from(side.writes).expect("a short stream")];
            payload::fill(0, &mut bytes);
            assert_eq!(side.socket.write(&bytes), bytes.len(), "the send buffer has room for all");
            side.socket.shutdown();
        }
        self.flush();
        while let Some(at) = self.next().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            while let Some(entry) = self.on_the_way.first_entry().filter(|entry| entry.key().0 <= self.now) {
                let (to, bytes) = entry.remove();
                self.sides[to].arrive(self.now, &bytes);
                self.flush();
            }
            for side in &mut self.sides {
                side.socket.on_timer(self.now);
                side.read();
            }
            self.flush();
        }
        self.check_the_end();
    }

    fn check_the_end(&self) {
        if self.sides.iter().any(|side| side.socket.error().is_some()) {
            // An endpoint gives up only if the network damaged or dropped at least seven packets: all of its seven SYNs, or the answers to
            // them.
            assert!(self.harm >= 7, "given up for {} packets", self.harm);
            return;
        }
        for (n, side) in self.sides.iter().enumerate() {
            let whole = self.sides[1 - n].writes;
            assert_eq!(side.read, whole, "side {n} read what was written, after {:?}", self.now);
            assert!(side.socket.is_at_end(), "side {n} knows that it is all");
            assert!(side.socket.is_all_acknowledged(), "side {n} knows that all arrived");
            assert!(side.socket.is_finished(), "side {n} has waited, if it closed first");
        }
    }

    fn next(&self) -> Option<Time> {
        let arrival = self.on_the_way.first_key_value().map(|((at, _), _)| *at);
        let timers = self.sides.iter().filter_map(|side| side.socket.next_timer());
        timers.chain(arrival).min()
    }

    fn flush(&mut self) {
        for from in 0..2 {
            while let Some((transmit, payload)) = self.sides[from].socket.poll(self.now) {
                let bytes = packet(&transmit.segment, payload);
                self.carry(1 - from, bytes);
            }
            let side = &mut self.sides[from];
            side.memory.holds(side.socket.endpoint(), &side.config);
        }
    }

    /// Decides the fate of a packet.
    fn carry(&mut self, to: usize, mut bytes: Vec<u8>) {
        self.count += 1;
        assert!(self.count < MAX_PACKETS, "the network is flooded");
        let willing = self.fates < MAX_FATES && !self.source.is_empty();
        self.fates += u32::from(willing);
        let fate = if willing { self.source.byte() } else { 0 };
        let mut delay = DELAY;
        let mut copies = 1;
        self.harm += 1;
        match fate {
            128..=159 => copies = 0,
            160..=175 => copies = 2 + self.source.below(3),
            176..=207 => delay += Span::from_millis(u64::from(self.source.below(500))),
            208..=231 => {
                // One byte is damaged. A checksum of 16-bit words always detects this.
                let at = usize::from(self.source.short()) % bytes.len();
                bytes[at] ^= self.source.byte().max(1);
            }
            232..=247 => bytes.truncate(usize::from(self.source.short()) % bytes.len()),
            248..=255 => {
                self.dark_until = self.now + Span::from_millis(u64::from(self.source.short()));
            }
            _ => self.harm -= 1,
        }
        if self.now < self.dark_until {
            self.harm += 1;
            return;
        }
        for copy in 0..copies {
            let at = self.now + delay + Span::from_millis(7) * u64::from(copy);
            self.on_the_way.insert((at, self.count * 8 + u64::from(copy)), (to, bytes.clone()));
        }
    }
}

/// Returns the packet with this segment.
fn packet(segment: &Segment, payload: Payload<'_>) -> Vec<u8> {
    let addresses = Addresses {
        hosts: Hosts::V4 { source: Ipv4Addr::LOCALHOST, destination: Ipv4Addr::LOCALHOST },
        source_port: 1,
        destination_port: 2,
    };
    let mut out = Vec::new();
    encode(&Ip { addresses, identification: 0, hop_limit: 64 }, segment, &payload.joined(), &mut out)
        .expect("an endpoint sends what a header can say");
    out
}

impl Side {
    /// Processes a packet that arrives. The checksums discard damaged packets.
    fn arrive(&mut self, now: Time, bytes: &[u8]) {
        let Ok(packet) = decode(bytes) else { return };
        if (packet.ip_checksum, packet.tcp_checksum) != (Checksum::Good, Checksum::Good) {
            return;
        }
        self.socket.on_segment(now, &packet.segment, packet.payload);
        self.read();
    }

    /// Lets the application read all available data.
    fn read(&mut self) {
        let mut bytes = [0; 4_096];
        while let len @ 1.. = self.socket.read(&mut bytes) {
            assert_eq!(payload::first_difference(self.read, &bytes[..len]), None, "what is read was written");
            self.read += len as u64;
        }
    }
}
