//! The table of all connections of a capture.

use std::cmp::Reverse;
#[expect(
    clippy::disallowed_types,
    reason = "it is only looked up in, and takes less than an ordered map"
)]
use std::collections::HashMap;
use std::collections::{BTreeSet, VecDeque};
use std::net::SocketAddr;

use firstflight_tcp::{Flags, Segment};

use crate::connection::Connection;
use crate::packed::Slot;
use crate::packet::Packet;
use crate::{Options, SeenAt};

/// Number of connections that may always be awake (not packed). Of the connections in total, one in [`AWAKE_OF`] may be awake in addition.
const AWAKE: usize = 1024;
const AWAKE_OF: usize = 4;

/// Number of connections between the same ends, before the latest one, to which packets may still belong.
const MAX_EARLIER: usize = 4;

/// Number of connections considered for packing at each packet. It exceeds by one the number that a packet can open or unpack.
const TURNS: usize = MAX_EARLIER + 3;

/// The two ends of a connection. The smaller address is first.
type Ends = (SocketAddr, SocketAddr);

fn ends(packet: &Packet) -> Ends {
    (packet.source.min(packet.destination), packet.source.max(packet.destination))
}

/// Number of tunnels remembered per pair of ends.
const MAX_TUNNELS: usize = 64;

/// How a connection was opened.
#[derive(Debug)]
struct Opened {
    /// Sequence number of the SYN or SYN-ACK of the host with the smaller address, and of the other host.
    syns: [Option<u32>; 2],
    /// Index of the previous connection between the same ends.
    before: Option<usize>,
}

#[derive(Debug, Default)]
#[expect(clippy::disallowed_types, reason = "it is only looked up in")]
pub(crate) struct Table {
    /// The connections in the order of their first packets.
    connections: Vec<Slot>,
    /// How each connection was opened. It is kept here to be read without unpacking the connection.
    opened: Vec<Opened>,
    /// Index of the latest connection without a tunnel, for each pair of ends.
    latest: HashMap<Ends, usize>,
    /// Tunnels between each pair of ends, each with the index of its latest connection.
    tunnelled: HashMap<Ends, Vec<(u64, usize)>>,
    /// The connection of the last packet. The next packet often belongs to it, too.
    last: Option<((Ends, u64), usize)>,
    /// The awake connections, in the order in which they are considered for packing.
    awake: VecDeque<usize>,
    /// Reused memory for packing.
    scratch: Vec<u8>,
    /// Number of connections whose time series are kept. `largest` has the sizes and indices of the largest closed ones.
    drawn: usize,
    seen_at: Option<SeenAt>,
    largest: BTreeSet<(u64, Reverse<usize>)>,
}

impl Table {
    pub(crate) fn new(options: &Options) -> Self {
        Self { drawn: options.drawn, seen_at: options.seen_at, ..Self::default() }
    }

    pub(crate) fn packet(&mut self, packet: &Packet) {
        let ends = ends(packet);
        let key = (ends, packet.tunnel);
        let known = match self.last {
            Some((last, index)) if last == key => Some(index),
            _ => self.find(ends, packet),
        };
        if let Some(earlier) = known.and_then(|latest| self.opened_by(latest, packet)) {
            self.deliver(earlier, packet);
            return self.rest(packet.at);
        }
        let latest = match known {
            Some(index) if !self.wake(index).is_over_by(packet) => index,
            _ => self.open(known, ends, packet),
        };
        self.last = Some((key, latest));
        match self.owner(latest, packet) {
            Some(index) => self.deliver(index, packet),
            None => self.wake(latest).leave_out(packet),
        }
        self.rest(packet.at);
    }

    /// Adds a connection that begins with this packet. `known` is the previous connection between the same ends.
    fn open(&mut self, known: Option<usize>, ends: Ends, packet: &Packet) -> usize {
        if let Some(before) = known.filter(|_| packet.segment.flags.has(Flags::SYN)) {
            self.wake(before).replace();
        }
        let index = self.connections.len();
        let connection = Connection::new(packet, self.drawn > 0, self.seen_at);
        self.connections.push(Slot::new(connection));
        self.opened.push(Opened { syns: [None; 2], before: known });
        self.awake.push_back(index);
        self.remember(ends, packet.tunnel, index);
        index
    }

    fn deliver(&mut self, index: usize, packet: &Packet) {
        if packet.segment.flags.has(Flags::SYN) {
            let is_larger = usize::from(packet.source > packet.destination);
            self.opened[index].syns[is_larger] = Some(packet.segment.seq);
        }
        self.wake(index);
        self.connections[index].packet(packet.at, |connection| connection.packet(packet));
    }

    /// Returns the connection to which a SYN or SYN-ACK belongs, if it is one of the few before `latest`. This happens because packets of
    /// that connection pass another capture point later.
    fn opened_by(&self, latest: usize, packet: &Packet) -> Option<usize> {
        let Segment { flags, seq, ack, .. } = packet.segment;
        let from = usize::from(packet.source > packet.destination);
        let has_syn = |index: &usize| {
            let syns = self.opened[*index].syns;
            let answers =
                || flags.has(Flags::ACK) && syns[1 - from].map(|seq| seq.wrapping_add(1)) == Some(ack);
            syns[from] == Some(seq) || answers()
        };
        let is_earlier = flags.has(Flags::SYN) && !has_syn(&latest);
        is_earlier.then(|| self.earlier(latest).find(has_syn)).flatten()
    }

    /// Returns the connection to which the packet belongs, `latest` or one of the few before it. It is an earlier connection if the
    /// packet's sequence numbers lie before the SYN of `latest`. It is the previous connection if the numbers lie above all that was seen
    /// of `latest` and within what was seen of the previous one. Returns `None` if they lie before the earliest.
    fn owner(&mut self, latest: usize, packet: &Packet) -> Option<usize> {
        let connection = self.wake(latest);
        let (is_after, is_behind) = (connection.is_after(packet), connection.is_behind(packet));
        let Some(before) = self.opened[latest].before else { return (!is_after).then_some(latest) };
        if !is_after {
            return Some(if is_behind && self.wake(before).holds(packet) { before } else { latest });
        }
        let earlier: Vec<_> = self.earlier(latest).collect();
        earlier.into_iter().find(|index| !self.wake(*index).is_after(packet)).or(Some(before))
    }

    /// Returns the few previous connections between the same ends, from the latest to the earliest.
    fn earlier(&self, latest: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.opened[latest].before, |index| self.opened[*index].before)
            .take(MAX_EARLIER)
    }

    /// Returns the number of payload bytes missing before the packet, if it belongs to an open connection.
    pub(crate) fn missing_before(&mut self, packet: &Packet) -> Option<u64> {
        let index = self.find(ends(packet), packet)?;
        self.wake(index).missing_before(packet)
    }

    /// Returns all connections in the order of their first packets. Unpacks each one only when it is returned.
    pub(crate) fn into_connections(self) -> impl Iterator<Item = Connection> {
        self.connections.into_iter().map(Slot::into_connection)
    }

    /// Returns the latest connection with the packet's ends and tunnel. If there is none, or the packet's sequence numbers do not fit it,
    /// returns a connection of the same ends in another tunnel, or in none, that they fit. A tunnel may have different ends or identifiers
    /// in its two directions, or carry only one direction.
    fn find(&mut self, ends: Ends, packet: &Packet) -> Option<usize> {
        let plain = self.latest.get(&ends).copied();
        if self.tunnelled.is_empty() && packet.tunnel == 0 {
            return plain;
        }
        let within = self.tunnelled.get(&ends).cloned().unwrap_or_default();
        let is_it = |known: &&(u64, usize)| known.0 == packet.tunnel;
        let own = if packet.tunnel == 0 { plain } else { within.iter().find(is_it).map(|(_, index)| *index) };
        if let Some(own) = own
            && self.wake(own).fits(packet)
        {
            return Some(own);
        }
        // A later connection may also belong to this tunnel, if it began in the tunnel of the other direction.
        let is_later = |index: &usize| own.is_none_or(|own| *index > own);
        let mut others = within.iter().rev().map(|(_, index)| *index).chain(plain).filter(is_later);
        let Some(fitting) = others.find(|index| self.wake(*index).fits(packet)) else { return own };
        self.remember(ends, packet.tunnel, fitting);
        Some(fitting)
    }

    fn remember(&mut self, ends: Ends, tunnel: u64, index: usize) {
        if tunnel == 0 {
            self.latest.insert(ends, index);
            return;
        }
        let within = self.tunnelled.entry(ends).or_default();
        within.retain(|(known, _)| *known != tunnel);
        if within.len() == MAX_TUNNELS {
            within.remove(0);
        }
        within.push((tunnel, index));
    }

    /// Discards the time series of all closed connections except the largest.
    fn keep_largest(&mut self, index: usize) {
        let Some(size) = self.connections[index].drawn_size() else { return };
        self.largest.insert((size, Reverse(index)));
        if self.largest.len() > self.drawn
            && let Some((_, Reverse(smallest))) = self.largest.pop_first()
        {
            self.wake(smallest).forget_traces();
        }
    }

    fn wake(&mut self, index: usize) -> &mut Connection {
        let (connection, was_packed) = self.connections[index].wake();
        if was_packed {
            self.awake.push_back(index);
        }
        connection
    }

    /// Packs idle connections. If too many are awake, packs those that were woken first even if they are not idle. Connections that stay
    /// awake are moved to the end of the queue.
    fn rest(&mut self, now: u64) {
        let limit = AWAKE + self.connections.len() / AWAKE_OF;
        for _ in 0..TURNS {
            if self.awake.len() <= AWAKE {
                return;
            }
            let must = self.awake.len() > limit;
            let Some(index) = self.awake.pop_front() else { return };
            self.keep_largest(index);
            if !self.connections[index].rest(now, must, &mut self.scratch) {
                self.awake.push_back(index);
            }
        }
    }
}
