//! Room for connections: who makes room when there are as many as there may be, and how the host lets go at its end.

use std::collections::VecDeque;
use std::sync::Arc;

use firstflight::{Span, Time};
use firstflight_tcp::Standing;

use super::Engine;
use crate::connection::{Connection, State};

/// How often a host that ends looks whether its connections have ended.
const GLANCE: Span = Span::from_millis(10);

/// Connections in the order in which they may make room, by place and generation. Those that are gone are forgotten.
#[derive(Debug, Default)]
pub(super) struct Line(VecDeque<(usize, u64)>);

impl Line {
    /// Puts a connection at the end. `is_there` tells which of the others are.
    fn push(&mut self, entry: (usize, u64), connections: usize, is_there: impl Fn(&(usize, u64)) -> bool) {
        if self.0.len() > 2 * connections + 64 {
            self.0.retain(is_there);
        }
        self.0.push_back(entry);
    }
}

impl Engine {
    /// Remembers what makes a connection one that may make room.
    pub(super) fn line_up(&mut self, entry: (usize, u64), state: &mut State) {
        let (table, connections) = (&self.table, self.table.len());
        let is_there = |(place, generation): &(usize, u64)| {
            table.at(*place).is_some_and(|(_, current)| current == *generation)
        };
        if state.socket.endpoint().standing() == Standing::Closed && !state.at_end {
            state.at_end = true;
            self.at_end.push(entry, connections, is_there);
        }
        if state.is_orphan() && !state.is_lined_up {
            state.is_lined_up = true;
            self.orphans.push(entry, connections, is_there);
        }
    }

    /// Whether there is room for a connection. Connections in TIME-WAIT make room, the oldest first, then those that nobody
    /// holds any more, which are reset.
    pub(super) fn make_room(&mut self, now: Time) -> bool {
        while self.table.len() >= self.options.connections {
            let next = self.at_end.0.pop_front().or_else(|| self.orphans.0.pop_front());
            let Some((place, generation)) = next else { return false };
            let there = self.table.at(place).filter(|(_, current)| *current == generation);
            if let Some(connection) = there.map(|(connection, _)| Arc::clone(connection)) {
                connection.lock().give_up(now, &mut self.link);
                self.remove(place);
            }
        }
        true
    }

    /// Whether nobody is left to use the host, and nothing to be sent.
    pub(super) fn is_done(&self) -> bool {
        let Some(until) = self.stopping else { return false };
        let now = self.now();
        let is_done = |connection: &Arc<Connection>| connection.lock().may_be_left(now);
        now >= until || self.table.all().all(|(_, connection)| is_done(connection))
    }

    /// Until when a host that ends may sleep.
    pub(super) fn next_glance(&self) -> Option<Time> {
        self.stopping.map(|until| until.min(self.now() + GLANCE))
    }

    /// Resets what has not ended: its peer would speak to nobody.
    pub(super) fn leave(&mut self) {
        let now = self.now();
        let connections: Vec<_> = self.table.all().map(|(_, connection)| Arc::clone(connection)).collect();
        for connection in connections {
            connection.lock().give_up(now, &mut self.link);
        }
        self.link.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_forgets_those_that_are_gone() {
        let mut line = Line::default();
        for generation in 0..100_000 {
            line.push((1, generation), 10, |(_, one)| *one + 10 >= generation);
        }
        assert!(line.0.len() <= 2 * 10 + 65, "{}", line.0.len());
        assert!((0..10).all(|back| line.0.contains(&(1, 99_999 - back))));
    }
}
