//! What was written and is not acknowledged.

use core::ops::Range;
use std::borrow::Cow;

use super::pages::Pages;

/// A send buffer: it takes bytes up to its room, gives any stretch of them as often as it is sent, and makes room as they
/// are acknowledged.
#[derive(Clone, Debug)]
pub(super) struct SendBuffer {
    pages: Pages,
    room: u64,
    /// The first byte that is not acknowledged, and the one after the last that was written, as offsets in the stream.
    start: u64,
    end: u64,
}

impl SendBuffer {
    /// An empty one for at most `room` bytes, which are sent in segments of at most `mss`.
    pub(super) fn new(room: u64, mss: u16) -> Self {
        Self { pages: Pages::new(room, usize::from(mss)), room, start: 0, end: 0 }
    }

    /// Takes as much of the beginning of `bytes` as there is room for; how much that is.
    pub(super) fn write(&mut self, bytes: &[u8]) -> usize {
        let len = bytes.len().min(usize::try_from(self.free()).unwrap_or(usize::MAX));
        self.pages.put(self.end, &bytes[..len]);
        self.end += len as u64;
        len
    }

    /// The bytes of a segment: what of `range` was written and is not released.
    pub(super) fn bytes(&self, range: Range<u64>) -> Payload<'_> {
        let (start, end) = (range.start.max(self.start), range.end.min(self.end));
        Payload(self.pages.two_pieces(start..end.max(start)))
    }

    /// All below `offset` is acknowledged (SND.UNA); the FIN beyond the last byte may be, too.
    pub(super) fn release(&mut self, offset: u64) {
        let offset = offset.min(self.end);
        if offset > self.start {
            self.start = offset;
            self.pages.release(offset);
        }
    }

    /// All was acknowledged and no more will be written: frees what is kept for that.
    pub(super) fn tidy(&mut self) {
        self.pages.release(self.end.next_multiple_of(self.pages.size()));
        self.pages.tidy();
    }

    /// Bytes that [`SendBuffer::write`] would take.
    pub(super) fn free(&self) -> u64 {
        self.room - self.len()
    }

    /// Bytes written and not acknowledged.
    pub(super) fn len(&self) -> u64 {
        self.end - self.start
    }

    /// Whether all that was written is acknowledged.
    pub(super) fn is_empty(&self) -> bool {
        self.end == self.start
    }
}

/// The payload of a segment where it lies in a send buffer: in one piece, or in two.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Payload<'a>([&'a [u8]; 2]);

impl<'a> Payload<'a> {
    /// Both pieces, for a host that writes several at once; the second, or both, may be empty.
    pub fn pieces(self) -> [&'a [u8]; 2] {
        self.0
    }

    /// The bytes in one piece: copied just if they lie in two.
    pub fn joined(self) -> Cow<'a, [u8]> {
        match self.0 {
            [all, []] => Cow::Borrowed(all),
            pieces => Cow::Owned(pieces.concat()),
        }
    }

    /// How many bytes there are.
    pub fn len(self) -> usize {
        self.0[0].len() + self.0[1].len()
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_no_more_than_its_room_and_makes_room_as_bytes_are_acknowledged() {
        let mut buffer = SendBuffer::new(10, 4);
        assert_eq!((buffer.write(b"abcdefgh"), buffer.write(b"ijklmnop"), buffer.write(b"k")), (8, 2, 0));
        assert_eq!(buffer.bytes(2..6).joined().as_ref(), b"cdef");
        buffer.release(3);
        buffer.release(2);
        assert_eq!((buffer.free(), buffer.write(b"klmn"), buffer.len()), (3, 3, 10));
        assert_eq!(buffer.bytes(9..13).joined().as_ref(), b"jklm");
        assert_eq!(buffer.bytes(0..5).joined().as_ref(), b"de", "what was released is not given");
        // The FIN is the fourteenth.
        buffer.release(14);
        assert!(buffer.is_empty() && buffer.bytes(0..14).is_empty());
    }

    #[test]
    fn what_lies_in_two_pages_comes_in_two_pieces() {
        let mut buffer = SendBuffer::new(200, 4);
        buffer.write(&[1; 200]);
        buffer.release(100);
        buffer.write(&[2; 100]);
        let two = buffer.bytes(255..258);
        assert_eq!(two.pieces().map(<[u8]>::len), [1, 2]);
        assert_eq!((two.joined().into_owned(), two.len()), (vec![2; 3], 3));
    }
}
