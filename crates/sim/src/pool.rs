//! Packets in the network, each at one place from its first link to its last: links pass their names on.

use crate::packet::{Packet, PacketId};

/// The packets of a run. It allocates while more are in the network than ever before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pool {
    packets: Vec<Packet>,
    /// Places that hold no packet.
    free: Vec<PacketId>,
}

impl Pool {
    /// Puts a packet in.
    #[inline]
    pub(crate) fn put(&mut self, packet: Packet) -> PacketId {
        *self.spare() = packet;
        self.take_spare().0
    }

    /// The place that the next packet will have, with what was left there.
    #[inline]
    pub(crate) fn spare(&mut self) -> &mut Packet {
        let id = match self.free.last() {
            Some(id) => *id,
            None => self.make_room(),
        };
        &mut self.packets[id.index()]
    }

    /// The spare place holds a packet now.
    #[inline]
    pub(crate) fn take_spare(&mut self) -> (PacketId, &mut Packet) {
        let id = self.free.pop().unwrap_or_default();
        (id, &mut self.packets[id.index()])
    }

    #[cold]
    fn make_room(&mut self) -> PacketId {
        let id = PacketId(u32::try_from(self.packets.len()).unwrap_or(u32::MAX));
        self.packets.push(Packet::default());
        self.free.push(id);
        id
    }

    /// How many packets there ever were at once.
    #[inline]
    pub(crate) fn places(&self) -> usize {
        self.packets.len()
    }

    /// Takes a packet out, whose name is then free for another.
    #[inline]
    pub(crate) fn take(&mut self, id: PacketId) -> Packet {
        self.free.push(id);
        self.packets[id.index()]
    }

    /// Its name is then free for another.
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
