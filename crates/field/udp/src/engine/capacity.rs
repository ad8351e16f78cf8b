//! The capacity for connections: which connection is dropped when the maximum is reached, and how the host drops all connections when it
//! ends.

use std::net::SocketAddr;
use std::sync::Arc;

use firstflight::{Span, Time};
use firstflight_tcp::Status;

use super::Engine;
use super::sources::{Entry, Why};
use crate::connection::{Connection, State};
use crate::table::Table;
use crate::worth::Worth;

/// The interval at which a host that ends checks whether its connections have ended.
const GLANCE: Span = Span::from_millis(10);

/// Returns whether a queued connection still exists and may still be dropped for this reason.
fn may_go(table: &Table, why: Why, (place, generation, mark): &Entry) -> bool {
    table.at(*place).is_some_and(|(connection, current)| {
        current == *generation && (matches!(why, Why::AtEnd | Why::Orphan) || connection.mark() == *mark)
    })
}

impl Engine {
    /// Adds a connection to the queues of connections that may be dropped, once for each reason that is new.
    pub(super) fn line_up(
        &mut self,
        (place, generation): (usize, u64),
        connection: &Connection,
        state: &mut State,
    ) {
        let mut whys = [None; 3];
        if state.socket.endpoint().status() == Status::Closed && !state.at_end {
            state.at_end = true;
            whys[0] = Some((Why::AtEnd, 0));
        }
        if state.is_orphan() && !state.is_lined_up {
            state.is_lined_up = true;
            whys[1] = Some((Why::Orphan, 0));
        }
        let mark = connection.mark();
        if state.lined_mark != mark {
            state.lined_mark = mark;
            whys[2] = match Worth::of(mark) {
                Worth::Kept => None,
                Worth::Low => Some((Why::Low, mark)),
                Worth::Lowest => Some((Why::Lowest, mark)),
            };
        }
        let peer = state.is_of_peer.then_some(state.route.ends.peer);
        for (why, mark) in whys.into_iter().flatten() {
            self.push(why, (place, generation, mark), peer);
        }
    }

    fn push(&mut self, why: Why, entry: Entry, peer: Option<SocketAddr>) {
        let (table, connections) = (&self.table, self.table.len());
        let may_go = |why: Why, entry: &Entry| may_go(table, why, entry);
        self.lines.push(why, entry, connections, may_go);
        for peers in peer.map(|peer| self.sources.of_peer(peer)).into_iter().flatten() {
            peers.lines.push(why, entry, peers.connections, may_go);
        }
    }

    /// Makes room for a connection that `peer` opens. Returns whether there is room. If the peer's socket has its maximum number of
    /// connections, one of this socket's connections is dropped. If the peer's source has its maximum, one of this source's connections is
    /// dropped. If the host has its maximum, one of all connections is dropped. The order is: the oldest in TIME-WAIT, the oldest without a
    /// handle, the one that has had the lowest worth for longest, and the one that has had low worth for longest. All but those in
    /// TIME-WAIT are reset.
    pub(super) fn make_room(&mut self, now: Time, peer: Option<SocketAddr>) -> bool {
        if self.takes_room(now, peer) {
            return true;
        }
        // Connections that the application has just dropped make room, too.
        self.obey();
        self.takes_room(now, peer)
    }

    fn takes_room(&mut self, now: Time, peer: Option<SocketAddr>) -> bool {
        let bounds = [self.options.connections_of_a_socket(), self.options.connections_of_a_source()];
        if let Some(peer) = peer {
            for (which, most) in bounds.into_iter().enumerate() {
                while self.sources.connections(peer)[which] >= most {
                    let next = self.sources.of_peer(peer)[which].lines.pop();
                    if !self.takes_room_of(now, next) {
                        return false;
                    }
                }
            }
        }
        while self.table.len() >= self.options.connections {
            let next = self.lines.pop();
            if !self.takes_room_of(now, next) {
                return false;
            }
        }
        true
    }

    /// Drops the next connection of a queue if it still may be dropped. Returns `false` if the queue is empty.
    fn takes_room_of(&mut self, now: Time, next: Option<(Why, Entry)>) -> bool {
        let Some((why, entry)) = next else { return false };
        let there = self.table.at(entry.0).filter(|_| may_go(&self.table, why, &entry));
        if let Some(connection) = there.map(|(connection, _)| Arc::clone(connection)) {
            connection.lock().give_up(now, &mut self.link);
            self.remove(entry.0);
        }
        true
    }

    /// Returns whether a host whose handles are gone may end: nothing is left to send, or the linger time is over.
    pub(super) fn is_done(&self) -> bool {
        let Some(until) = self.stopping else { return false };
        let now = self.now();
        let is_done = |connection: &Arc<Connection>| connection.lock().may_be_left(now);
        now >= until || self.table.all().all(|(_, connection)| is_done(connection))
    }

    /// Returns the time until which a host that ends may sleep.
    pub(super) fn next_glance(&self) -> Option<Time> {
        self.stopping.map(|until| until.min(self.now() + GLANCE))
    }

    /// Resets the connections that have not ended, because no one would answer their peers.
    pub(super) fn leave(&mut self) {
        let now = self.now();
        let connections: Vec<_> = self.table.all().map(|(_, connection)| Arc::clone(connection)).collect();
        for connection in connections {
            connection.lock().give_up(now, &mut self.link);
        }
        self.link.flush();
    }
}
