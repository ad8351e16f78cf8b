//! Loss, duplication, reordering, corruption and blackouts between two endpoints, with every byte checked.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use firstflight::{Span, Time};
use firstflight_tcp::{Config, Happening, Role, Segment};
use firstflight_wire::payload::{self, Offsets};
use firstflight_wire::{Addresses, Checksum, Hosts, Ip, decode, encode};

use crate::Source;
use crate::peer::{self, Any, Memory};

/// One way through the network, without what it does to packets.
const DELAY: Span = Span::from_millis(30);
/// More than any path here needs: the longest timeouts, fifteen of them.
const LONGEST: Span = Span::from_secs(24 * 3_600);
/// More packets than any transfer here needs.
const MOST_PACKETS: u64 = 400_000;
/// The network has a will for so many packets; then it is tame.
const MOST_FATES: u32 = 2_000;

/// One side: an endpoint, its application and its host.
struct Side {
    endpoint: Any,
    config: Config,
    /// What its application sends in all.
    writes: u64,
    /// The bytes that arrived, by offset, and the offsets of the peer's sequence numbers.
    arrived: Vec<bool>,
    /// How many of them are known to have arrived when they were said to be in order.
    in_order: usize,
    offsets: Offsets,
    own: Offsets,
    all_acknowledged: bool,
    aborted: bool,
    memory: Memory,
}

/// A packet on its way: to which side, and its bytes.
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

/// Two endpoints write to each other through a network that drops, duplicates, delays, damages and truncates packets
/// as it likes, and goes dark; then it is tame, and everything must arrive.
pub fn two_endpoints(data: &[u8]) {
    let mut source = Source::new(data);
    let configs = [(); 2].map(|()| peer::config(&mut source));
    // A few segments are as likely as many.
    let written = [source.short(), source.short() % 20_000].map(|most| most >> (source.byte() % 8));
    let sides = [0, 1].map(|n: usize| {
        let role = [Role::Client, Role::Server][n];
        // A buffer that holds no segment is for another target: here every byte must go through in a day.
        let receive_buffer = configs[n].receive_buffer.max(4_000);
        let config = Config { receive_buffer, ..configs[n] };
        Side {
            endpoint: peer::endpoint(role, &config, &mut source),
            config,
            writes: u64::from(written[n]),
            arrived: vec![false; usize::from(written[1 - n])],
            in_order: 0,
            offsets: Offsets::new(configs[1 - n].initial_sequence),
            own: Offsets::new(config.initial_sequence),
            all_acknowledged: false,
            aborted: false,
            memory: Memory::default(),
        }
    });
    let now = Time::from_nanos(1_000_000_000);
    let on_the_way = BTreeMap::new();
    Network { source, now, sides, on_the_way, count: 0, fates: 0, harm: 0, dark_until: now }.run();
}

impl Network<'_> {
    fn run(mut self) {
        let end = self.now + LONGEST;
        self.sides[0].endpoint.open(self.now);
        for side in &mut self.sides {
            side.endpoint.write(side.writes);
            side.endpoint.shut();
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
                side.endpoint.on_timer(self.now);
                side.endpoint.read(u64::MAX);
            }
            self.flush();
        }
        self.check_the_end();
    }

    fn check_the_end(&self) {
        if self.sides.iter().any(|side| side.aborted) {
            // The least that makes an endpoint give up: every one of its seven SYNs, or of the answers.
            assert!(self.harm >= 7, "given up for {} packets", self.harm);
            return;
        }
        for (n, side) in self.sides.iter().enumerate() {
            let (received, whole) = (side.endpoint.stats().received, self.sides[1 - n].writes);
            assert_eq!(received, whole, "side {n} got what was written, after {:?}", self.now);
            assert!(side.all_acknowledged, "side {n} knows that all arrived");
        }
    }

    fn next(&self) -> Option<Time> {
        let arrival = self.on_the_way.first_key_value().map(|((at, _), _)| *at);
        let timers = self.sides.iter().filter_map(|side| side.endpoint.next_timer());
        timers.chain(arrival).min()
    }

    fn flush(&mut self) {
        for from in 0..2 {
            while let Some(transmit) = self.sides[from].endpoint.poll_transmit(self.now) {
                let side = &mut self.sides[from];
                let bytes = side.bytes_of(&transmit.segment);
                self.carry(1 - from, bytes);
            }
            self.sides[from].hear_happenings();
        }
    }

    /// What becomes of a packet.
    fn carry(&mut self, to: usize, mut bytes: Vec<u8>) {
        self.count += 1;
        assert!(self.count < MOST_PACKETS, "the network is flooded");
        let willing = self.fates < MOST_FATES && !self.source.is_empty();
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
                // One byte damaged: a sum of 16-bit words always tells.
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

impl Side {
    fn bytes_of(&mut self, segment: &Segment) -> Vec<u8> {
        let addresses = Addresses {
            hosts: Hosts::V4 { source: Ipv4Addr::LOCALHOST, destination: Ipv4Addr::LOCALHOST },
            source_port: 1,
            destination_port: 2,
        };
        let mut bytes = vec![0; usize::from(segment.len)];
        payload::fill(self.own.of(segment.seq), &mut bytes);
        let mut out = Vec::new();
        encode(&Ip { addresses, identification: 0, hop_limit: 64 }, segment, &bytes, &mut out)
            .expect("an endpoint sends what a header can say");
        out
    }

    /// A packet arrives; one that is damaged goes no further than the checksums.
    fn arrive(&mut self, now: Time, bytes: &[u8]) {
        let Ok(packet) = decode(bytes) else { return };
        if (packet.ip_checksum, packet.tcp_checksum) != (Checksum::Good, Checksum::Good) {
            return;
        }
        if !packet.payload.is_empty() {
            let start = self.offsets.of(packet.segment.seq);
            assert_eq!(payload::first_difference(start, packet.payload), None, "damage went unseen");
            let start = usize::try_from(start).expect("a short stream");
            self.arrived[start..start + packet.payload.len()].fill(true);
        }
        self.endpoint.on_segment(now, &packet.segment);
        self.endpoint.read(u64::MAX);
        let received = usize::try_from(self.endpoint.stats().received).expect("a short stream");
        let news = &self.arrived[self.in_order..received];
        assert!(news.iter().all(|here| *here), "in order is what arrived, and no more");
        self.in_order = received;
    }

    fn hear_happenings(&mut self) {
        while let Some(happening) = self.endpoint.poll_happening() {
            self.all_acknowledged |= happening == Happening::AllAcknowledged;
            self.aborted |= happening == Happening::Aborted;
        }
        self.memory.holds(&self.endpoint, &self.config);
    }
}
