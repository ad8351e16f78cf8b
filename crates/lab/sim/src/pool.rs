//! The pool of packets in the network. A packet keeps its place from its first link to its last; links pass on the
//! index of the place.

use crate::packet::{Packet, PacketId};

/// The packets of a run. The pool allocates only when it holds more packets than ever before.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    packets: Vec<Packet>,
    /// The place of the next packet.
    spare: PacketId,
    /// Other places that hold no packet.
    free: Vec<PacketId>,
}

impl Default for Pool {
    fn default() -> Self {
        Self { packets: vec![Packet::default()], spare: PacketId(0), free: Vec::new() }
    }
}

impl Pool {
    /// Adds a packet. Returns its index.
    #[inline]
    pub(crate) fn put(&mut self, packet: Packet) -> PacketId {
        *self.spare() = packet;
        self.take_spare().0
    }

    /// Returns the place of the next packet, with its old content.
    #[inline]
    pub(crate) fn spare(&mut self) -> &mut Packet {
        &mut self.packets[self.spare.index()]
    }

    /// Returns the index that the next packet gets.
    #[inline]
    pub(crate) const fn spare_id(&self) -> PacketId {
        self.spare
    }

    /// Makes the spare place, which the caller has filled, a packet. Returns its index.
    #[inline]
    pub(crate) fn take_spare(&mut self) -> (PacketId, &mut Packet) {
        let next = match self.free.pop() {
            Some(id) => id,
            None => self.make_room(),
        };
        let id = std::mem::replace(&mut self.spare, next);
        (id, &mut self.packets[id.index()])
    }

    #[cold]
    fn make_room(&mut self) -> PacketId {
        self.packets.push(Packet::default());
        PacketId(u32::try_from(self.packets.len() - 1).unwrap_or(u32::MAX))
    }

    /// Returns the maximum number of packets ever present at once, plus the spare one.
    #[inline]
    pub(crate) fn places(&self) -> usize {
        self.packets.len()
    }

    /// Removes and returns a packet. Its index is then free for another.
    #[inline]
    pub(crate) fn take(&mut self, id: PacketId) -> Packet {
        self.free.push(id);
        self.packets[id.index()]
    }

    /// Removes a packet without a copy. Its index is then free for another.
    #[inline]
    pub(crate) fn forget(&mut self, id: PacketId) {
        self.free.push(id);
    }

    #[inline]
    pub(crate) fn get(&self, id: PacketId) -> &Packet {
        &self.packets[id.index()]
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.packets[id.index()]
    }
}
