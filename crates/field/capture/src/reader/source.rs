//! Reads a file through one buffer that grows only to the size of the largest record present. A large length field in a record does not
//! allocate memory by itself.

use std::io::{ErrorKind, Read};

use super::error::ReadError;

/// Number of bytes requested from the file at a time.
const CHUNK: usize = 256 << 10;

#[derive(Debug)]
pub(super) struct Source<R> {
    input: R,
    buffer: Vec<u8>,
    /// Beginning of the unread part of the buffer.
    start: usize,
    end: usize,
    /// Number of bytes of the file before `start`.
    offset: u64,
}

impl<R: Read> Source<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, buffer: vec![0; CHUNK], start: 0, end: 0, offset: 0 }
    }

    /// Returns the offset in the file of the next byte to be read.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the next `count` bytes without consuming them. Returns fewer if the file ends before.
    pub(super) fn peek(&mut self, count: usize) -> Result<&[u8], ReadError> {
        while self.end - self.start < count {
            if self.end == self.buffer.len() {
                self.make_room(count);
            }
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => break,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(source) => {
                    let at = self.offset + (self.end - self.start) as u64;
                    return Err(ReadError::Io { at, source });
                }
            }
        }
        let there = count.min(self.end - self.start);
        Ok(&self.buffer[self.start..self.start + there])
    }

    /// Makes room in a full buffer: discards the bytes already read, or enlarges the buffer.
    fn make_room(&mut self, count: usize) {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        } else {
            self.buffer.resize(count.min(2 * self.buffer.len()), 0);
        }
    }

    /// Consumes `count` peeked bytes, and returns them.
    pub(super) fn take(&mut self, count: usize) -> &[u8] {
        let from = self.start;
        let count = count.min(self.end - from);
        self.start += count;
        self.offset += count as u64;
        &self.buffer[from..from + count]
    }

    /// Skips `count` bytes. Returns how many there were before the end of the file.
    pub(super) fn skip(&mut self, count: u64) -> Result<u64, ReadError> {
        let mut left = count;
        while left > 0 {
            let next = usize::try_from(left).unwrap_or(usize::MAX).min(CHUNK);
            let there = self.peek(next)?.len();
            if there == 0 {
                break;
            }
            self.take(there);
            left -= there as u64;
        }
        Ok(count - left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_without_its_bytes_takes_no_memory() {
        let mut source = Source::new(&[7; 10][..]);
        assert_eq!(source.peek(16 << 20).unwrap(), [7; 10]);
        assert_eq!(source.buffer.len(), CHUNK);
    }

    #[test]
    fn the_buffer_grows_to_the_largest_record_and_keeps_what_is_unread() {
        let file: Vec<u8> = (0..3 * CHUNK + 1000).map(|place| u8::try_from(place % 251).unwrap()).collect();
        let mut source = Source::new(&file[..]);
        source.peek(100).unwrap();
        source.take(100);
        let record = 2 * CHUNK + 5;
        assert_eq!(source.peek(record).unwrap(), &file[100..100 + record]);
        assert_eq!(source.buffer.len(), record);
        source.take(record);
        let rest = file.len() - 100 - record;
        assert_eq!(source.peek(16 << 20).unwrap(), &file[100 + record..]);
        assert_eq!((source.take(rest).len(), source.offset()), (rest, file.len() as u64));
        assert!(source.buffer.len() <= 4 * CHUNK);
    }
}
