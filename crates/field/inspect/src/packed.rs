//! Packs idle connections into bytes, because most connections of a large capture are idle, and a packed connection takes at most a fifth
//! of the memory. The packed form has the connection's full state, so a late packet finds it unchanged.

use crate::clock::DISORDER;
use crate::connection::Connection;
use crate::recent::LONGEST_WAY;

/// Time without a packet after which a connection is packed. After this time no copies of earlier packets can arrive, so the records kept
/// to detect them need not be packed. It is a second plus an allowance for reordered packets.
const SILENCE: u64 = LONGEST_WAY + 2 * DISORDER;

/// A connection, usable or packed.
#[derive(Debug)]
pub(crate) enum Slot {
    Unpacked {
        connection: Box<Connection>,
        /// Time from which the connection may be packed if no packet arrives before.
        from: u64,
    },
    Packed(Box<[u8]>),
}

impl Slot {
    pub(crate) fn new(connection: Connection) -> Self {
        Self::Unpacked { connection: Box::new(connection), from: 0 }
    }

    /// Returns the connection, after unpacking it if needed. The flag is true if it was packed.
    pub(crate) fn wake(&mut self) -> (&mut Connection, bool) {
        let was_packed = if let Self::Packed(packed) = self {
            *self = Self::new(unpack(packed));
            true
        } else {
            false
        };
        let Self::Unpacked { connection, .. } = self else { unreachable!("it was unpacked above") };
        (connection, was_packed)
    }

    /// Passes a packet that arrived at the time `at` to the connection through `take`. A connection that is closed or has no data may be
    /// packed at once, because few packets follow. A connection with data may be packed only after a silence, so that it is not packed and
    /// unpacked for every packet.
    pub(crate) fn packet(&mut self, at: u64, take: impl FnOnce(&mut Connection)) {
        let Self::Unpacked { connection, from } = self else { return };
        take(connection);
        let is_busy = connection.has_data() && !connection.is_closed();
        *from = if is_busy { at.saturating_add(SILENCE) } else { 0 };
    }

    /// Packs the connection if it has been idle long enough at the time `now`. `must` waives this waiting time. Returns whether the
    /// connection is now packed. `scratch` is reused memory.
    pub(crate) fn rest(&mut self, now: u64, must: bool, scratch: &mut Vec<u8>) -> bool {
        let Self::Unpacked { connection, from } = self else { return true };
        if (now < *from && !must) || !connection.may_rest(now) {
            return false;
        }
        scratch.clear();
        let Ok(packed) = postcard::to_extend(&**connection, std::mem::take(scratch)) else { return false };
        *self = Self::Packed(packed.as_slice().into());
        *scratch = packed;
        true
    }

    /// Returns the acknowledged bytes of a connection that is awake, closed and selected for drawing; otherwise `None`.
    pub(crate) fn drawn_size(&self) -> Option<u64> {
        let Self::Unpacked { connection, .. } = self else { return None };
        (connection.is_drawn() && connection.is_closed()).then(|| connection.size())
    }

    pub(crate) fn into_connection(self) -> Connection {
        match self {
            Self::Unpacked { connection, .. } => *connection,
            Self::Packed(packed) => unpack(&packed),
        }
    }
}

/// Returns a copy of the connection; `None` if it cannot be packed, which is a bug.
pub(crate) fn copy(connection: &Connection) -> Option<Connection> {
    postcard::to_allocvec(connection).ok().map(|packed| unpack(&packed))
}

fn unpack(packed: &[u8]) -> Connection {
    postcard::from_bytes(packed).expect("what was packed by these types is unpacked by them")
}
