//! All connections of a capture.

use std::cmp::Reverse;
#[expect(
    clippy::disallowed_types,
    reason = "it is only looked up in, and takes less than an ordered map"
)]
use std::collections::HashMap;
use std::collections::{BTreeSet, VecDeque};
use std::net::SocketAddr;

use crate::asleep::Slot;
use crate::connection::Connection;
use crate::packet::Packet;
use crate::{Options, SeenAt};

/// So many connections may be awake, and one of [`AWAKE_OF`] of those beyond.
const AWAKE: usize = 1024;
const AWAKE_OF: usize = 4;

/// So many are considered for packing at each packet: one more than a packet can open.
const TURNS: usize = 2;

/// The two ends of a packet's connection, the smaller first.
type Ends = (SocketAddr, SocketAddr);

fn ends(packet: &Packet) -> Ends {
    (packet.source.min(packet.destination), packet.source.max(packet.destination))
}

/// So many tunnels are remembered with connections between the same ends.
const MOST_TUNNELS: usize = 64;

#[derive(Debug, Default)]
#[expect(clippy::disallowed_types, reason = "it is only looked up in")]
pub(crate) struct Table {
    /// In order of first packets.
    connections: Vec<Slot>,
    /// The latest connection between two ends without a tunnel.
    latest: HashMap<Ends, usize>,
    /// The latest connections between two ends within tunnels, by tunnel.
    tunnelled: HashMap<Ends, Vec<(u64, usize)>>,
    /// The connection of the last packet: the next is often of the same.
    last: Option<((Ends, u64), usize)>,
    /// Those awake, in the order in which they are considered for packing.
    awake: VecDeque<usize>,
    /// Memory that is used again.
    scratch: Vec<u8>,
    /// How many are drawn, and the size and place of the largest of those that were closed.
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
        let index = match known {
            Some(index) if !self.wake(index).is_over_by(packet) => index,
            _ => {
                let index = self.connections.len();
                let drawn = self.drawn > 0;
                self.connections.push(Slot::new(Connection::new(packet, known, drawn, self.seen_at)));
                self.awake.push_back(index);
                self.remember(ends, packet.tunnel, index);
                index
            }
        };
        self.last = Some((key, index));
        let latest = self.wake(index);
        let (is_after, is_behind, before) =
            (latest.is_after(packet), latest.is_behind(packet), latest.before);
        match before {
            // What the earlier one sends after this one's SYN.
            Some(before) if is_after || is_behind && self.wake(before).holds(packet) => {
                self.wake(before);
                self.connections[before].packet(packet.at, |connection| connection.packet(packet));
            }
            None if is_after => self.wake(index).leave_out(packet),
            _ => self.connections[index].packet(packet.at, |connection| connection.packet(packet)),
        }
        self.rest(packet.at);
    }

    /// The payload that is missing before the packet, if it belongs to a connection that is open.
    pub(crate) fn missing_before(&mut self, packet: &Packet) -> Option<u64> {
        let index = self.find(ends(packet), packet)?;
        self.wake(index).missing_before(packet)
    }

    /// All connections, in order of their first packets. Each is unpacked when its turn comes.
    pub(crate) fn into_connections(self) -> impl Iterator<Item = Connection> {
        self.connections.into_iter().map(Slot::into_connection)
    }

    /// The latest connection of the packet's ends and tunnel; if there is none, one of the same ends outside or in another tunnel
    /// that the packet's numbers fit: a tunnel may have other ends, or another identifier, for each direction, or hold one only.
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
        // A later one may be of this tunnel, too, that began in the tunnel of the other direction.
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
        if within.len() == MOST_TUNNELS {
            within.remove(0);
        }
        within.push((tunnel, index));
    }

    /// Of closed connections only the largest are drawn: traces of the others are forgotten.
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
        let (connection, was_asleep) = self.connections[index].wake();
        if was_asleep {
            self.awake.push_back(index);
        }
        connection
    }

    /// Packs connections that rest, and where too many are awake those that were woken first. The others have another turn when
    /// all had one.
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
