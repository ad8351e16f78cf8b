//! The connections of a host, by their ends.
//!
//! Peers choose the ends, so the table hashes them with a key of its own: whoever does not know it cannot make its entries collide.
//! The lint against hash maps has its exception here. Its reason is an order that differs from run to run; the table is never
//! walked in its order.

#[expect(
    clippy::disallowed_types,
    reason = "its order is never used, and its key is what keeps peers from filling one chain"
)]
use std::collections::HashMap;
use std::sync::Arc;

use crate::connection::Connection;
use crate::cookie::Ends;

/// The table. A place in it is taken again only after its connection was removed; generations tell the one from the other.
#[derive(Default)]
pub(crate) struct Table {
    #[expect(clippy::disallowed_types, reason = "as above")]
    by_ends: HashMap<Ends, usize>,
    places: Vec<Place>,
    free: Vec<usize>,
}

#[derive(Default)]
struct Place {
    generation: u64,
    entry: Option<(Ends, Arc<Connection>)>,
}

impl Table {
    /// The number of connections.
    pub(crate) fn len(&self) -> usize {
        self.by_ends.len()
    }

    /// The place of the connection with these ends.
    pub(crate) fn find(&self, ends: &Ends) -> Option<usize> {
        self.by_ends.get(ends).copied()
    }

    /// The connection at a place, and the place's generation.
    pub(crate) fn at(&self, place: usize) -> Option<(&Arc<Connection>, u64)> {
        let place = self.places.get(place)?;
        Some((&place.entry.as_ref()?.1, place.generation))
    }

    /// Takes a connection in. No other has its ends.
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

    /// Lets go of the connection at a place.
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

    /// Every connection with its place, in the order of the places.
    pub(crate) fn all(&self) -> impl Iterator<Item = (usize, &Arc<Connection>)> {
        self.places.iter().enumerate().filter_map(|(at, place)| Some((at, &place.entry.as_ref()?.1)))
    }
}
