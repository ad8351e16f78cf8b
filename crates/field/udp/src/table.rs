//! The table of a host's connections. The key of a connection is its two endpoints.
//!
//! Peers choose their endpoint, so the table hashes the keys with a secret, without which no one can make entries collide. The lint against
//! hash maps has its exception here. The lint exists because the order of a hash map differs from run to run, and the table never uses that
//! order.

#[expect(
    clippy::disallowed_types,
    reason = "its order is never used, and its key is what keeps peers from filling one chain"
)]
use std::collections::HashMap;
use std::sync::Arc;

use crate::connection::Connection;
use crate::cookie::Ends;

/// A table of connections. A place is reused only after its connection was removed. The generation of a place distinguishes successive
/// connections.
#[derive(Default)]
pub(crate) struct Table {
    #[expect(clippy::disallowed_types, reason = "as above")]
    by_ends: HashMap<Ends, usize>,
    places: Vec<Place>,
    free: Vec<usize>,
    /// The place that was found last. Segments of one connection often arrive one after the other.
    latest: usize,
}

#[derive(Default)]
struct Place {
    generation: u64,
    entry: Option<(Ends, Arc<Connection>)>,
}

impl Table {
    /// Returns the number of connections.
    pub(crate) fn len(&self) -> usize {
        self.by_ends.len()
    }

    /// Returns the place of the connection with these endpoints.
    pub(crate) fn find(&mut self, ends: &Ends) -> Option<usize> {
        let latest = self.places.get(self.latest).and_then(|place| place.entry.as_ref());
        if latest.is_some_and(|(known, _)| known == ends) {
            return Some(self.latest);
        }
        let place = self.by_ends.get(ends).copied();
        self.latest = place.unwrap_or(self.latest);
        place
    }

    /// Returns the connection at a place, and the place's generation.
    pub(crate) fn at(&self, place: usize) -> Option<(&Arc<Connection>, u64)> {
        let place = self.places.get(place)?;
        Some((&place.entry.as_ref()?.1, place.generation))
    }

    /// Adds a connection and returns its place. No other connection may have its endpoints.
    pub(crate) fn insert(&mut self, ends: Ends, connection: Arc<Connection>) -> usize {
        let place = self.free.pop().unwrap_or(self.places.len());
        if place == self.places.len() {
            self.places.push(Place::default());
        }
        connection.lock().place = place;
        self.places[place].entry = Some((ends, connection));
        self.by_ends.insert(ends, place);
        place
    }

    /// Removes the connection at a place and returns it.
    pub(crate) fn remove(&mut self, place: usize) -> Option<Arc<Connection>> {
        let slot = self.places.get_mut(place)?;
        let (ends, connection) = slot.entry.take()?;
        slot.generation += 1;
        self.by_ends.remove(&ends);
        self.free.push(place);
        if self.by_ends.len() * 4 < self.by_ends.capacity() {
            self.by_ends.shrink_to(self.by_ends.len() * 2);
        }
        Some(connection)
    }

    /// Returns all connections with their places, in the order of the places.
    pub(crate) fn all(&self) -> impl Iterator<Item = (usize, &Arc<Connection>)> {
        self.places.iter().enumerate().filter_map(|(at, place)| Some((at, &place.entry.as_ref()?.1)))
    }
}
