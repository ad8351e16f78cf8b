//! The packets inside a port. Each keeps its place from its entry until it leaves or is dropped.

use firstflight_tcp::Ecn;
use firstflight_tcp::quick_start::IpOption;

use crate::packet::PacketId;

/// The data stored for a packet.
#[derive(Clone, Debug)]
pub(super) struct Slot<T> {
    pub(super) payload: T,
    pub(super) ecn: Ecn,
    pub(super) marked: bool,
    pub(super) quick_start: Option<IpOption>,
}

/// The packets inside. The list allocates only when it holds more packets than ever before.
#[derive(Clone, Debug)]
pub(super) struct Slots<T> {
    places: Vec<Option<Slot<T>>>,
    free: Vec<PacketId>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slots<T> {
    /// Returns the number of packets inside.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a packet. Returns its index.
    #[inline]
    pub(super) fn put(&mut self, slot: Slot<T>) -> PacketId {
        if let Some(name) = self.free.pop() {
            self.places[name.index()] = Some(slot);
            return name;
        }
        self.places.push(Some(slot));
        PacketId(u32::try_from(self.places.len() - 1).unwrap_or(u32::MAX))
    }

    /// Removes and returns a packet. Its index is then free for another.
    #[inline]
    pub(super) fn take(&mut self, name: PacketId) -> Option<Slot<T>> {
        let slot = self.places.get_mut(name.index())?.take()?;
        self.free.push(name);
        Some(slot)
    }

    /// Marks a packet as having met congestion.
    pub(super) fn mark(&mut self, name: PacketId) {
        if let Some(Some(slot)) = self.places.get_mut(name.index()) {
            (slot.ecn, slot.marked) = (Ecn::Ce, true);
        }
    }
}
