//! Congestion marks as receivers echo them: with the ECE flag of RFC 3168, or with the counter of Accurate ECN (RFC 9768).

use firstflight_tcp::Flags;
use serde::{Deserialize, Serialize};

use crate::packet::Packet;

/// How a connection echoes marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Feedback {
    /// Marks are not echoed.
    None,
    /// RFC 3168: ECE is set until the sender responds with CWR.
    Classic,
    /// RFC 9768: AE, CWR and ECE together are a counter of marked packets.
    Accurate,
}

/// Returns the flags AE, CWR and ECE as a number of three bits (RFC 9768 section 3.2).
pub(crate) fn ace(packet: &Packet) -> u8 {
    let flag = |flag| u8::from(packet.segment.flags.has(flag));
    u8::from(packet.ae) << 2 | flag(Flags::CWR) << 1 | flag(Flags::ECE)
}

impl Feedback {
    /// Returns the feedback that the flags of the SYN and of the SYN-ACK negotiate (RFC 9768 table 2, RFC 3168 section 6.1.1). If the
    /// SYN-ACK has the same flags as the SYN, something reflected them, and no feedback is negotiated.
    pub(crate) fn agreed(syn: u8, answer: u8) -> Self {
        match (syn, answer) {
            (0b111, 0b010 | 0b011 | 0b100 | 0b110) => Self::Accurate,
            (0b111 | 0b011, 0b001 | 0b101) => Self::Classic,
            _ => Self::None,
        }
    }
}

/// A host's counter of marked packets, read from its acknowledgements.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Counter {
    /// Last reported value, modulo eight.
    last: u8,
    is_read: bool,
    /// Whether the host does not maintain the counter. A first value of zero shows this (RFC 9768 section 3.2.2.4).
    is_off: bool,
}

impl Default for Counter {
    /// Starts the counter at five (RFC 9768 section 3.2.1).
    fn default() -> Self {
        Self { last: 5, is_read: false, is_off: false }
    }
}

impl Counter {
    /// Checks whether this value of the counter reports new marks since the previous one.
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
    fn ecn_feedback_follows_the_two_negotiation_tables() {
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
