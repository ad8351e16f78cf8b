//! The sources of a host's peers: how many connections and cookies each has, and which of its connections may be dropped to make room.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;

use crate::memory::Held;
use crate::source::Source;

/// The reason why a connection may be dropped to make room. Connections with the first reason are dropped first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Why {
    /// The connection is in TIME-WAIT.
    AtEnd,
    /// No handle of the connection is left.
    Orphan,
    /// The connection has the lowest worth to the application.
    Lowest,
    /// The connection has low worth to the application.
    Low,
}

impl Why {
    const ALL: [Self; 4] = [Self::AtEnd, Self::Orphan, Self::Lowest, Self::Low];
}

/// A connection that may be dropped to make room: its place, the place's generation, and its mark ([`crate::Worth`]). The mark is zero if
/// the reason is not worth.
pub(super) type Entry = (usize, u64, u64);

/// A queue for each reason, with the connections that may be dropped to make room, oldest first. Some may no longer exist.
#[derive(Debug, Default)]
pub(super) struct Lines([VecDeque<Entry>; Why::ALL.len()]);

impl Lines {
    /// Adds a connection to the queue of a reason. If the queue is long, first removes the entries that `may_go` rejects.
    pub(super) fn push(
        &mut self,
        why: Why,
        entry: Entry,
        connections: usize,
        may_go: impl Fn(Why, &Entry) -> bool,
    ) {
        let line = &mut self.0[why as usize];
        if line.len() > 2 * connections + 8 {
            line.retain(|entry| may_go(why, entry));
        }
        line.push_back(entry);
    }

    /// Removes and returns the next connection to drop, and the reason.
    pub(super) fn pop(&mut self) -> Option<(Why, Entry)> {
        Why::ALL.into_iter().find_map(|why| Some((why, self.0[why as usize].pop_front()?)))
    }
}

/// The number of connections of some peers, and the queues of those that may be dropped.
#[derive(Debug, Default)]
pub(super) struct PeerConnections {
    pub(super) connections: usize,
    pub(super) lines: Lines,
}

/// The share of a host's resources that one source of peers uses.
#[derive(Debug)]
pub(super) struct Usage {
    pub(super) peers: PeerConnections,
    /// The number of unexpired cookies with which the source opened connections.
    pub(super) cookies: usize,
    /// Bytes that the source's connections hold.
    pub(super) memory: Arc<Held>,
}

impl Usage {
    fn new(memory: u64) -> Self {
        Self { peers: PeerConnections::default(), cookies: 0, memory: Held::new(memory) }
    }

    fn is_any(&self) -> bool {
        self.peers.connections > 0 || self.cookies > 0 || Arc::strong_count(&self.memory) > 1
    }
}

/// The usage of each source that has state at the host, and of each socket that has connections.
#[derive(Debug)]
pub(super) struct Sources {
    by: BTreeMap<Source, Usage>,
    sockets: BTreeMap<SocketAddr, PeerConnections>,
    /// The maximum number of bytes that the connections of one source may hold.
    memory: u64,
    /// The number of sources at which sources without state are removed.
    crowd: usize,
}

/// The minimum of [`Sources::crowd`].
const MIN_CROWD: usize = 64;

impl Sources {
    pub(super) fn new(memory: u64) -> Self {
        Self { by: BTreeMap::new(), sockets: BTreeMap::new(), memory, crowd: MIN_CROWD }
    }

    pub(super) fn of(&mut self, source: Source) -> &mut Usage {
        self.tidy();
        let memory = self.memory;
        self.by.entry(source).or_insert_with(|| Usage::new(memory))
    }

    fn tidy(&mut self) {
        if self.by.len() >= self.crowd {
            self.by.retain(|_, usage| usage.is_any());
            self.crowd = MIN_CROWD.max(2 * self.by.len());
        }
    }

    pub(super) fn get(&self, source: Source) -> Option<&Usage> {
        self.by.get(&source)
    }

    /// Counts an additional connection of a peer.
    pub(super) fn opened(&mut self, peer: SocketAddr) {
        for peers in self.of_peer(peer) {
            peers.connections += 1;
        }
    }

    /// Counts a connection of a peer that is gone.
    pub(super) fn closed(&mut self, peer: SocketAddr) {
        let [socket, _] = self.of_peer(peer).map(|peers| {
            peers.connections = peers.connections.saturating_sub(1);
            peers.connections
        });
        if socket == 0 {
            self.sockets.remove(&peer);
        }
    }

    /// Returns the number of connections of a peer's socket, and the number of connections of its source.
    pub(super) fn connections(&self, peer: SocketAddr) -> [usize; 2] {
        let of_source = self.get(Source::of(peer.ip())).map(|usage| &usage.peers);
        [self.sockets.get(&peer), of_source].map(|peers| peers.map_or(0, |peers| peers.connections))
    }

    /// Returns the [`PeerConnections`] of a peer's socket, and the [`PeerConnections`] of its source.
    pub(super) fn of_peer(&mut self, peer: SocketAddr) -> [&mut PeerConnections; 2] {
        self.tidy();
        let Self { by, sockets, memory, .. } = self;
        let usage = by.entry(Source::of(peer.ip())).or_insert_with(|| Usage::new(*memory));
        [sockets.entry(peer).or_default(), &mut usage.peers]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_forgets_those_that_are_gone() {
        let mut lines = Lines::default();
        for generation in 0..100_000 {
            lines.push(Why::Orphan, (1, generation, 0), 10, |_, one| one.1 + 10 >= generation);
        }
        let line = &lines.0[Why::Orphan as usize];
        assert!(line.len() <= 2 * 10 + 9, "{}", line.len());
        assert!((0..10).all(|back| line.contains(&(1, 99_999 - back, 0))));
    }

    #[test]
    fn connections_in_time_wait_make_room_before_those_in_use() {
        let mut lines = Lines::default();
        for (why, place) in
            [(Why::Low, 1), (Why::Orphan, 2), (Why::AtEnd, 3), (Why::Low, 4), (Why::Lowest, 5)]
        {
            lines.push(why, (place, 0, 0), 10, |_, _| true);
        }
        let order = std::iter::from_fn(|| lines.pop()).map(|(_, (place, ..))| place);
        assert_eq!(order.collect::<Vec<_>>(), [3, 2, 5, 1, 4]);
    }

    #[test]
    fn sources_that_have_nothing_are_forgotten() {
        let mut sources = Sources::new(100);
        let source = |n: u32| Source::of(std::net::Ipv4Addr::from(n).into());
        sources.of(source(0)).cookies = 1;
        for n in 1..100_000 {
            sources.of(source(n));
        }
        assert!(sources.by.len() <= MIN_CROWD + 1, "{}", sources.by.len());
        let peer = SocketAddr::from(([192, 0, 2, 1], 7));
        sources.opened(peer);
        sources.opened(peer);
        sources.closed(peer);
        assert_eq!(sources.of_peer(peer).map(|peers| peers.connections), [1, 1]);
        sources.closed(peer);
        assert!(sources.sockets.is_empty());
        assert_eq!(sources.get(source(0)).map(|usage| usage.cookies), Some(1));
    }
}
