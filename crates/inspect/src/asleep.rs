//! Connections that rest are packed into bytes: most connections of a large capture rest, and a packed one takes a fifth of the
//! memory or less. What is packed is all that is known of a connection, so that a late packet finds it as it was.

use serde::{Deserialize, Serialize};

use crate::clock::DISORDER;
use crate::connection::Connection;
use crate::recent::LONGEST_WAY;

/// After so long without a packet no copies are awaited, and a packed connection is the smaller for it: a second, and what
/// packets may come out of order.
const SILENCE: u64 = LONGEST_WAY + 2 * DISORDER;

/// A connection, awake or packed.
#[derive(Debug)]
pub(crate) enum Slot {
    Awake {
        connection: Box<Connection>,
        /// From when on it rests if no packet comes before.
        from: u64,
    },
    Asleep(Box<[u8]>),
}

impl Slot {
    pub(crate) fn new(connection: Connection) -> Self {
        Self::Awake { connection: Box::new(connection), from: 0 }
    }

    /// Unpacks the connection if need be; the flag says whether that was so.
    pub(crate) fn wake(&mut self) -> (&mut Connection, bool) {
        let was_asleep = if let Self::Asleep(packed) = self {
            *self = Self::new(unpack(packed));
            true
        } else {
            false
        };
        let Self::Awake { connection, .. } = self else { unreachable!("it was unpacked above") };
        (connection, was_asleep)
    }

    /// The connection takes a packet of the time `at`. One that is closed or has no data rests at once: few packets follow. One
    /// with data rests after some time of silence, so that it is not packed and unpacked at every packet.
    pub(crate) fn packet(&mut self, at: u64, take: impl FnOnce(&mut Connection)) {
        let Self::Awake { connection, from } = self else { return };
        take(connection);
        let is_busy = connection.has_data() && !connection.is_closed();
        *from = if is_busy { at.saturating_add(SILENCE) } else { 0 };
    }

    /// Packs the connection if it rests at the time `now`, or if it `must`; says whether it is asleep. `scratch` is memory that is
    /// used again.
    pub(crate) fn rest(&mut self, now: u64, must: bool, scratch: &mut Vec<u8>) -> bool {
        let Self::Awake { connection, from } = self else { return true };
        if (now < *from && !must) || !connection.may_rest(now) {
            return false;
        }
        scratch.clear();
        let Ok(packed) = postcard::to_extend(&**connection, std::mem::take(scratch)) else { return false };
        *self = Self::Asleep(packed.as_slice().into());
        *scratch = packed;
        true
    }

    /// What a connection that is awake, closed and drawn brought.
    pub(crate) fn drawn_size(&self) -> Option<u64> {
        let Self::Awake { connection, .. } = self else { return None };
        (connection.is_drawn() && connection.is_closed()).then(|| connection.size())
    }

    pub(crate) fn into_connection(self) -> Connection {
        match self {
            Self::Awake { connection, .. } => *connection,
            Self::Asleep(packed) => unpack(&packed),
        }
    }
}

/// Another connection of which all the same is known; `None` if it cannot be packed, which is a defect.
pub(crate) fn copy(connection: &Connection) -> Option<Connection> {
    postcard::to_allocvec(connection).ok().map(|packed| unpack(&packed))
}

fn unpack(packed: &[u8]) -> Connection {
    postcard::from_bytes(packed).expect("what was packed by these types is unpacked by them")
}

/// For a field of another crate's type: timestamps as two numbers.
pub(crate) mod timestamps {
    use firstflight_tcp::Timestamps;
    use serde::{Deserializer, Serializer};

    use super::{Deserialize, Serialize};

    #[expect(clippy::ref_option, reason = "serde hands over a reference to the field")]
    pub(crate) fn serialize<S: Serializer>(
        timestamps: &Option<Timestamps>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        timestamps.map(|Timestamps { value, echo }| (value, echo)).serialize(serializer)
    }

    pub(crate) fn deserialize<'a, D: Deserializer<'a>>(
        deserializer: D,
    ) -> Result<Option<Timestamps>, D::Error> {
        let pair = Option::<(u32, u32)>::deserialize(deserializer)?;
        Ok(pair.map(|(value, echo)| Timestamps { value, echo }))
    }
}
