//! The send buffer: data that was written and is not acknowledged.

use core::ops::Range;
use std::borrow::Cow;

use super::pages::Pages;

/// A send buffer. It stores written bytes up to its limit, returns any range of them for transmissions and retransmissions, and releases
/// them when they are acknowledged.
#[derive(Clone, Debug)]
pub(super) struct SendBuffer {
    pages: Pages,
    room: u64,
    /// Stream offset of the first byte that is not acknowledged. `end` is the offset after the last written byte.
    start: u64,
    end: u64,
}

impl SendBuffer {
    /// Creates an empty buffer for at most `room` bytes, which are sent in segments of at most `mss` bytes.
    pub(super) fn new(room: u64, mss: u16) -> Self {
        Self { pages: Pages::new(room, usize::from(mss)), room, start: 0, end: 0 }
    }

    /// Stores as much of the beginning of `bytes` as there is room for. Returns the number of bytes stored.
    pub(super) fn write(&mut self, bytes: &[u8]) -> usize {
        let len = bytes.len().min(usize::try_from(self.free()).unwrap_or(usize::MAX));
        self.pages.put(self.end, &bytes[..len]);
        self.end += len as u64;
        len
    }

    /// Returns the bytes of a segment: the part of `range` that was written and is not released.
    pub(super) fn bytes(&self, range: Range<u64>) -> Payload<'_> {
        let (start, end) = (range.start.max(self.start), range.end.min(self.end));
        Payload(self.pages.two_pieces(start..end.max(start)))
    }

    /// Releases all bytes below `offset` (SND.UNA), because they are acknowledged. `offset` may include the FIN after the last byte.
    pub(super) fn release(&mut self, offset: u64) {
        let offset = offset.min(self.end);
        if offset > self.start {
            self.start = offset;
            self.pages.release(offset);
        }
    }

    /// Frees the memory kept for more data. To be called when all data was acknowledged and no more will be written.
    pub(super) fn tidy(&mut self) {
        self.pages.release(self.end.next_multiple_of(self.pages.size()));
        self.pages.tidy();
    }

    /// Returns the number of bytes for which [`SendBuffer::write`] has room.
    pub(super) fn free(&self) -> u64 {
        self.room - self.len()
    }

    /// Returns the number of bytes that were written and are not acknowledged.
    pub(super) fn len(&self) -> u64 {
        self.end - self.start
    }

    /// Checks whether all written data is acknowledged.
    pub(super) fn is_empty(&self) -> bool {
        self.end == self.start
    }
}

/// The payload of a segment, in place in a send buffer. It is in one piece or in two.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Payload<'a>([&'a [u8]; 2]);

impl<'a> Payload<'a> {
    /// Returns both pieces, for a host that can write several at once. The second one, or both, may be empty.
    pub fn pieces(self) -> [&'a [u8]; 2] {
        self.0
    }

    /// Returns the bytes in one piece. Copies them only if they are in two pieces.
    pub fn joined(self) -> Cow<'a, [u8]> {
        match self.0 {
            [all, []] => Cow::Borrowed(all),
            pieces => Cow::Owned(pieces.concat()),
        }
    }

    /// Returns the number of bytes.
    pub fn len(self) -> usize {
        self.0[0].len() + self.0[1].len()
    }

    /// Checks whether there are no bytes.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_send_buffer_is_bounded_and_gains_room_as_bytes_are_released() {
        let mut buffer = SendBuffer::new(10, 4);
        assert_eq!((buffer.write(b"abcdefgh"), buffer.write(b"ijklmnop"), buffer.write(b"k")), (8, 2, 0));
        assert_eq!(buffer.bytes(2..6).joined().as_ref(), b"cdef");
        buffer.release(3);
        buffer.release(2);
        assert_eq!((buffer.free(), buffer.write(b"klmn"), buffer.len()), (3, 3, 10));
        assert_eq!(buffer.bytes(9..13).joined().as_ref(), b"jklm");
        assert_eq!(buffer.bytes(0..5).joined().as_ref(), b"de", "what was released is not given");
        // Offset 13 is the FIN.
        buffer.release(14);
        assert!(buffer.is_empty() && buffer.bytes(0..14).is_empty());
    }

    #[test]
    fn bytes_across_two_pages_are_returned_in_two_pieces() {
        let mut buffer = SendBuffer::new(200, 4);
        buffer.write(&[1; 200]);
        buffer.release(100);
        buffer.write(&[2; 100]);
        let two = buffer.bytes(255..258);
        assert_eq!(two.pieces().map(<[u8]>::len), [1, 2]);
        assert_eq!((two.joined().into_owned(), two.len()), (vec![2; 3], 3));
    }
}
