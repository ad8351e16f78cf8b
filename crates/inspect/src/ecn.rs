//! Congestion marks as receivers echo them: by RFC 3168's flag, or by the counter of Accurate ECN (RFC 9768).

use firstflight_tcp::Flags;
use serde::{Deserialize, Serialize};

use crate::packet::Packet;

/// How a connection tells of marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Feedback {
    /// Not at all.
    None,
    /// RFC 3168: ECE stands until the sender answers with CWR.
    Classic,
    /// RFC 9768: AE, CWR and ECE are a counter of marked packets.
    Accurate,
}

/// The flags AE, CWR and ECE as a number of three bits (RFC 9768 section 3.2).
pub(crate) fn ace(packet: &Packet) -> u8 {
    let flag = |flag| u8::from(packet.segment.flags.has(flag));
    u8::from(packet.ae) << 2 | flag(Flags::CWR) << 1 | flag(Flags::ECE)
}

impl Feedback {
    /// What the flags of the SYN and of its answer agree on (RFC 9768 table 2, RFC 3168 section 6.1.1). An answer that has the
    /// flags of the SYN was reflected and agrees on nothing.
    pub(crate) fn agreed(syn: u8, answer: u8) -> Self {
        match (syn, answer) {
            (0b111, 0b010 | 0b011 | 0b100 | 0b110) => Self::Accurate,
            (0b111 | 0b011, 0b001 | 0b101) => Self::Classic,
            _ => Self::None,
        }
    }
}

/// A host's counter of marked packets.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Counter {
    /// As it was last told, modulo eight.
    last: u8,
    is_read: bool,
    /// A first value of nought says that the counter is not kept (RFC 9768 section 3.2.2.4).
    is_off: bool,
}

impl Default for Counter {
    /// It begins at five (RFC 9768 section 3.2.1).
    fn default() -> Self {
        Self { last: 5, is_read: false, is_off: false }
    }
}

impl Counter {
    /// Whether the value tells of marks since the last one.
    pub(crate) fn rises(&mut self, ace: u8) -> bool {
        self.is_off |= !self.is_read && ace == 0;
        let rises = ace != self.last && !self.is_off;
        (self.last, self.is_read) = (ace, true);
        rises
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_tells_of_marks_when_it_moves() {
        let mut counter = Counter::default();
        assert_eq!(
            [5, 5, 6, 6, 0, 0, 1].map(|ace| counter.rises(ace)),
            [false, false, true, false, true, false, true]
        );
        let mut off = Counter::default();
        assert_eq!([0, 3].map(|ace| off.rises(ace)), [false, false]);
    }

    #[test]
    fn what_is_agreed_stands_in_two_tables() {
        for (syn, answer, agreed) in [
            (0b111, 0b010, Feedback::Accurate),
            (0b111, 0b001, Feedback::Classic),
            (0b011, 0b001, Feedback::Classic),
            (0b111, 0b111, Feedback::None),
            (0b011, 0b011, Feedback::None),
            (0b000, 0b001, Feedback::None),
            (0b011, 0b000, Feedback::None),
        ] {
            assert_eq!(Feedback::agreed(syn, answer), agreed, "{syn:03b} {answer:03b}");
        }
    }
}
