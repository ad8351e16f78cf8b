//! The stream bytes in a datagram. Packets of the null session are not encrypted, so their frames can be read.

use firstflight_sim::Carried;

/// Bytes of every connection ID ([`crate::instants`] of both stacks use the same length).
pub(crate) const CID: usize = 8;
/// Bytes of the tag at the end of every packet.
pub(crate) const TAG: usize = 16;

/// Returns the stream bytes in a datagram: the position of the first and the number of all. Reading stops at a frame that is unknown.
pub(crate) fn carried(datagram: &[u8]) -> Carried {
    let mut carried = Carried::default();
    let mut rest = Reader(datagram);
    while let Some(payload) = rest.packet() {
        let mut frames = Reader(payload);
        while let Some((offset, len)) = frames.stream() {
            if carried.len == 0 {
                carried.offset = offset;
            }
            carried.len = carried.len.saturating_add(u16::try_from(len).unwrap_or(u16::MAX));
        }
    }
    carried
}

/// Bytes that are yet to be read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    /// Reads a variable-length integer (RFC 9000 section 16).
    fn number(&mut self) -> Option<u64> {
        let first = self.byte()?;
        let mut value = u64::from(first & 0x3f);
        for byte in self.take((1 << (first >> 6)) - 1)? {
            value = value << 8 | u64::from(*byte);
        }
        Some(value)
    }

    fn numbers(&mut self, count: usize) -> Option<()> {
        (0..count).try_for_each(|_| self.number().map(drop))
    }

    fn length(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    /// Returns the frames of the next packet of the datagram; none for a packet of the handshake (RFC 9000 section 17).
    fn packet(&mut self) -> Option<&'a [u8]> {
        let first = self.byte()?;
        let number = usize::from(first & 3) + 1;
        if first & 0x80 == 0 {
            self.take(CID + number)?;
            let frames = self.0.len().checked_sub(TAG)?;
            return std::mem::take(&mut self.0).get(..frames);
        }
        self.take(4)?;
        for _ in 0..2 {
            let id = self.byte()?;
            self.take(id.into())?;
        }
        if first & 0x30 == 0 {
            let token = self.length()?;
            self.take(token)?;
        }
        let length = self.length()?;
        self.take(length)?;
        Some(&[])
    }

    /// Skips frames up to the next stream frame. Returns its position and length; `None` if there is none.
    fn stream(&mut self) -> Option<(u64, usize)> {
        loop {
            match self.number()? {
                0x00 | 0x01 | 0x1e | 0x1f => {}
                kind @ (0x02 | 0x03) => {
                    self.numbers(2)?;
                    let ranges = self.length()?.min(self.0.len());
                    self.numbers(1 + 2 * ranges + if kind == 0x03 { 3 } else { 0 })?;
                }
                0x04 => self.numbers(3)?,
                0x05 | 0x11 | 0x15 => self.numbers(2)?,
                0x06 => {
                    self.number()?;
                    let length = self.length()?;
                    self.take(length)?;
                }
                0x07 => {
                    let length = self.length()?;
                    self.take(length)?;
                }
                kind @ 0x08..=0x0f => {
                    self.number()?;
                    let offset = if kind & 4 == 0 { 0 } else { self.number()? };
                    let length = if kind & 2 == 0 { self.0.len() } else { self.length()? };
                    self.take(length)?;
                    return Some((offset, length));
                }
                0x10 | 0x12 | 0x13 | 0x14 | 0x16 | 0x17 | 0x19 => self.numbers(1)?,
                0x18 => {
                    self.numbers(2)?;
                    let id = self.byte()?;
                    self.take(usize::from(id) + 16)?;
                }
                0x1a | 0x1b => drop(self.take(8)?),
                0xaf => self.numbers(4)?,
                _ => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a packet with a short header, a packet number of one byte, and these frames.
    fn short(frames: &[u8]) -> Vec<u8> {
        [&[0x40; 1 + CID + 1][..], frames, &[0; TAG]].concat()
    }

    #[test]
    fn stream_frames_behind_acks_are_found_and_summed() {
        let ack = [0x02, 0x44, 0x00, 0x01, 0x01, 0x03, 0x02, 0x02];
        let bounded = [0x0e, 0x02, 0x41, 0x00, 0x03, 9, 9, 9];
        let open = [0x0c, 0x02, 0x42, 0x00, 9, 9];
        let seen = carried(&short(&[&ack[..], &bounded, &open].concat()));
        assert_eq!((seen.offset, seen.len), (0x100, 5));
        assert_eq!(carried(&short(&ack)).len, 0);
    }

    #[test]
    fn a_packet_behind_one_of_the_handshake_is_read_too() {
        let handshake = [&[0xe0, 0, 0, 0, 1, 0, 0, 0x03][..], &[9, 9, 9]].concat();
        let both = [handshake, short(&[0x08, 0x00, 7, 7])].concat();
        assert_eq!((carried(&both).offset, carried(&both).len), (0, 2));
    }

    #[test]
    fn bytes_cut_off_anywhere_are_no_stream_bytes_and_no_panic() {
        let whole = short(&[0x0e, 0x02, 0x41, 0x00, 0x03, 9, 9, 9]);
        for length in 0..whole.len() - 8 {
            assert!(carried(&whole[..length]).len <= 3);
        }
    }
}
