//! The questions of a prober and the answers of a reflector. All numbers are big-endian.
//!
//! | bytes | question | answer |
//! |---|---|---|
//! | 8 | `FFtrain` and the version, 1 | `FFcame ` and the version |
//! | 8 | a random number of the prober | the same |
//! | 2, 2 | train, place in the train | the same |
//! | 8 | | the arrival time of the question: nanoseconds of the reflector's clock |
//! | rest | zeros | |
//!
//! A question is at least as long as its answer, so that a spoofed sender address cannot be used to amplify traffic. A question with train
//! [`GREETING`] belongs to no train.

use firstflight::Time;

const QUESTION: [u8; 8] = *b"FFtrain\x01";
const ANSWER: [u8; 8] = *b"FFcame \x01";

/// The length of an answer, and the minimum length of a question, in bytes.
pub(super) const LENGTH: usize = 28;

/// The minimum size of a train's IP packet. It fits the headers of IPv6, UDP and TCP, with options.
pub const MIN_PACKET: u64 = 100;

/// The train number of a question that asks whether the peer is there.
pub(super) const GREETING: u16 = u16::MAX;

/// A question without its padding, or an answer without its timestamp.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Asked {
    pub(super) session: u64,
    pub(super) train: u16,
    pub(super) packet: u16,
}

impl Asked {
    fn write(self, head: [u8; 8], out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&head);
        out.extend_from_slice(&self.session.to_be_bytes());
        out.extend_from_slice(&self.train.to_be_bytes());
        out.extend_from_slice(&self.packet.to_be_bytes());
    }

    fn read(head: [u8; 8], bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.get(..LENGTH)?.strip_prefix(&head)?;
        let (session, bytes) = bytes.split_first_chunk()?;
        let (train, bytes) = bytes.split_first_chunk()?;
        let (packet, _) = bytes.split_first_chunk()?;
        Some(Self {
            session: u64::from_be_bytes(*session),
            train: u16::from_be_bytes(*train),
            packet: u16::from_be_bytes(*packet),
        })
    }
}

/// Writes a question of `length` bytes.
pub(super) fn question(asked: Asked, length: usize, out: &mut Vec<u8>) {
    asked.write(QUESTION, out);
    out.resize(length.max(LENGTH), 0);
}

/// Reads a question.
pub(super) fn read_question(bytes: &[u8]) -> Option<Asked> {
    Asked::read(QUESTION, bytes)
}

/// Writes the answer to a question that arrived at `at`.
pub(super) fn answer(asked: Asked, at: Time, out: &mut Vec<u8>) {
    asked.write(ANSWER, out);
    out.extend_from_slice(&at.nanos().to_be_bytes());
}

/// Reads an answer. Returns the question, and the time at which the question arrived.
pub(super) fn read_answer(bytes: &[u8]) -> Option<(Asked, Time)> {
    let asked = Asked::read(ANSWER, bytes).filter(|_| bytes.len() == LENGTH)?;
    let nanos = u64::from_be_bytes(*bytes.last_chunk()?);
    Some((asked, Time::from_nanos(nanos.min(u64::MAX >> 1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: Asked = Asked { session: 0x0123_4567_89ab_cdef, train: 3, packet: 15 };

    #[test]
    fn questions_and_answers_round_trip_and_answers_are_never_longer() {
        let (mut asks, mut tells) = (Vec::new(), Vec::new());
        for length in [0, LENGTH, 1_472] {
            question(ASKED, length, &mut asks);
            assert_eq!(read_question(&asks), Some(ASKED));
            answer(ASKED, Time::from_nanos(77), &mut tells);
            assert_eq!(read_answer(&tells), Some((ASKED, Time::from_nanos(77))));
            assert!(tells.len() <= asks.len() && asks.len() == length.max(LENGTH));
        }
        assert_eq!((read_answer(&asks), read_question(&tells)), (None, None));
    }

    #[test]
    fn malformed_datagrams_are_neither_questions_nor_answers() {
        let mut bytes = Vec::new();
        question(ASKED, 40, &mut bytes);
        assert_eq!(read_question(&bytes[..LENGTH - 1]), None);
        bytes[7] = 2;
        assert_eq!(read_question(&bytes), None, "another version");
        answer(ASKED, Time::from_nanos(u64::MAX), &mut bytes);
        assert!(read_answer(&bytes).is_some());
        assert_eq!(read_answer(&[&bytes[..], &[0]].concat()), None);
        assert_eq!(read_answer(&[]), None);
    }
}
