//! All connections of a capture.

#[expect(
    clippy::disallowed_types,
    reason = "it is only looked up in, and takes less than an ordered map"
)]
use std::collections::HashMap;
use std::net::SocketAddr;

use crate::connection::Connection;
use crate::packet::Packet;

#[derive(Debug, Default)]
#[expect(clippy::disallowed_types, reason = "it is only looked up in")]
#[expect(clippy::vec_box, reason = "the list grows without moving what is in it")]
pub(crate) struct Table {
    /// Each in its own place, so that the list grows without moving them.
    pub(crate) connections: Vec<Box<Connection>>,
    /// The latest connection between two ends, the smaller end first.
    latest: HashMap<(SocketAddr, SocketAddr), usize>,
    /// The connection of the last packet: the next is often of the same.
    last: Option<((SocketAddr, SocketAddr), usize)>,
    is_drawn: bool,
}

impl Table {
    pub(crate) fn new(is_drawn: bool) -> Self {
        Self { is_drawn, ..Self::default() }
    }

    pub(crate) fn packet(&mut self, packet: &Packet) {
        let key = if packet.source <= packet.destination {
            (packet.source, packet.destination)
        } else {
            (packet.destination, packet.source)
        };
        let known = match self.last {
            Some((last, index)) if last == key => Some(index),
            _ => self.latest.get(&key).copied(),
        };
        let index = match known {
            Some(index) if !self.connections[index].is_over_by(packet) => index,
            _ => {
                self.connections.push(Box::new(Connection::new(packet, known, self.is_drawn)));
                self.latest.insert(key, self.connections.len() - 1);
                self.connections.len() - 1
            }
        };
        self.last = Some((key, index));
        let latest = &self.connections[index];
        let (is_after, before) = (latest.is_after(packet), latest.before);
        match before {
            // What the earlier one sends after this one's SYN.
            Some(before)
                if is_after || latest.is_behind(packet) && self.connections[before].holds(packet) =>
            {
                self.connections[before].packet(packet);
            }
            None if is_after => self.connections[index].leave_out(packet),
            _ => self.connections[index].packet(packet),
        }
    }
}
