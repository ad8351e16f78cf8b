//! The payload of a stream. It depends on the offset alone, so that a capture can be checked byte by byte.
//!
//! The stream consists of lines of sixteen bytes. Each line has fifteen decimal digits and a newline. The digits are the offset of the
//! line's first byte; from 10^15 on, they are its last fifteen digits. "Follow TCP stream" in any tool therefore shows offsets.

/// Length of a line in bytes, with its newline.
const LINE: u64 = 16;
/// Number of decimal digits in a line.
const DIGITS: usize = 15;

/// Fills `bytes` with the stream's bytes from `offset` on. Offsets above `u64::MAX` wrap to zero.
pub fn fill(offset: u64, bytes: &mut [u8]) {
    let mut start = offset - offset % LINE;
    let mut skip = usize::try_from(offset % LINE).unwrap_or(0);
    let mut rest = bytes;
    while !rest.is_empty() {
        let text = line(start);
        let here = rest.len().min(text.len() - skip);
        let (now, later) = rest.split_at_mut(here);
        now.copy_from_slice(&text[skip..skip + here]);
        rest = later;
        skip = 0;
        start = start.wrapping_add(LINE);
    }
}

/// Compares `bytes` with the stream from `offset` on. Returns the index of the first byte that differs, or `None` if all are equal.
pub fn first_difference(offset: u64, bytes: &[u8]) -> Option<usize> {
    let mut expected = [0; 256];
    let mut at = offset;
    for (n, chunk) in bytes.chunks(expected.len()).enumerate() {
        let expected = &mut expected[..chunk.len()];
        fill(at, expected);
        if let Some(i) = chunk.iter().zip(&*expected).position(|(found, want)| found != want) {
            return Some(n * 256 + i);
        }
        at = at.wrapping_add(256);
    }
    None
}

/// Converts the sequence numbers of one direction of a connection to stream offsets. Offsets may exceed 2^32: the state counts the wraps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Offsets {
    first: u32,
    newest: u64,
}

impl Offsets {
    /// Creates the state for a sender whose SYN has sequence number `initial_sequence`. The sequence number after it has offset 0.
    pub const fn new(initial_sequence: u32) -> Self {
        Self { first: initial_sequence.wrapping_add(1), newest: 0 }
    }

    /// Returns the offset of sequence number `seq`. Of the possible offsets, it is the one closest to the largest offset so far. The SYN's
    /// own sequence number gives 0.
    pub fn of(&mut self, seq: u32) -> u64 {
        // A sequence number holds the low half of the offset.
        let expected = self.first.wrapping_add(u32::try_from(self.newest & 0xFFFF_FFFF).unwrap_or(0));
        let ahead = seq.wrapping_sub(expected).cast_signed();
        let offset = self.newest.saturating_add_signed(i64::from(ahead));
        self.newest = self.newest.max(offset);
        offset
    }
}

fn line(start: u64) -> [u8; 16] {
    let mut text = *b"000000000000000\n";
    let mut left = start;
    for place in text[..DIGITS].iter_mut().rev() {
        *place += u8::try_from(left % 10).unwrap_or(0);
        left /= 10;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_says_the_offset_of_its_first_byte() {
        let mut bytes = [0; 40];
        fill(1_460, &mut bytes);
        assert_eq!(&bytes, b"00000001456\n000000000001472\n000000000001");
    }

    #[test]
    fn a_byte_depends_on_its_offset_alone() {
        let mut whole = [0; 1_000];
        fill(0, &mut whole);
        for offset in 0..=900 {
            let mut part = [0; 100];
            fill(offset as u64, &mut part);
            assert_eq!(part, whole[offset..offset + 100]);
        }
    }

    #[test]
    fn a_difference_is_found_where_it_is() {
        let mut bytes = [0; 700];
        fill(77, &mut bytes);
        assert_eq!(first_difference(77, &bytes), None);
        // From offset 80 on the stream reads "000000000000080". Its first thirteen digits agree with "000000000000096", the line at 96.
        assert_eq!(first_difference(96, &bytes[3..]), Some(13));
        bytes[600] ^= 1;
        assert_eq!(first_difference(77, &bytes), Some(600));
    }

    #[test]
    fn payload_offsets_follow_sequence_wraparound_and_step_back_for_retransmissions() {
        let initial = u32::MAX - 10;
        let mut offsets = Offsets::new(initial);
        assert_eq!((offsets.of(initial), offsets.of(initial.wrapping_add(1))), (0, 0));
        let step = 1_u64 << 30;
        let mut seq = initial.wrapping_add(1);
        for n in 1..=12 {
            seq = seq.wrapping_add(1 << 30);
            assert_eq!(offsets.of(seq), n * step);
        }
        let behind = initial.wrapping_add(1).wrapping_sub(1_460);
        assert_eq!(offsets.of(behind), 12 * step - 1_460);
    }

    #[test]
    fn the_end_of_the_offsets_is_no_end_of_the_stream() {
        let mut bytes = [0; 64];
        fill(u64::MAX - 3, &mut bytes);
        assert_eq!(&bytes[4..20], b"000000000000000\n");
    }
}
