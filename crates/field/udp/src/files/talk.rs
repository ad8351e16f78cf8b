//! The buffers of a connection. They hold bytes that were read but not used yet, and lines that are queued but not written yet. A read or
//! write may return [`ErrorKind::WouldBlock`]. Then nothing is lost, and the same call continues later.

use std::io::{self, ErrorKind, IoSlice, Read, Write};

use crate::files::error::TransferError;
use crate::files::message::{LONGEST, Message};

/// The number of bytes that are read at a time when a line is expected.
const PIECE: usize = 4 << 10;

/// The buffers of both directions of a connection.
#[derive(Debug, Default)]
pub(crate) struct Talk {
    unread: Vec<u8>,
    unwritten: Vec<u8>,
}

impl Talk {
    /// Queues a line. The next [`Talk::flush`] writes it, or it is written together with the next bytes.
    pub(crate) fn say(&mut self, message: &Message) {
        self.unwritten.extend_from_slice(message.line().as_bytes());
    }

    /// Returns the number of bytes of the queued lines.
    pub(crate) fn queued(&self) -> usize {
        self.unwritten.len()
    }

    /// Writes the queued lines.
    pub(crate) fn flush(&mut self, peer: &mut impl Write) -> Result<(), TransferError> {
        while !self.unwritten.is_empty() {
            let written = self.write(peer).map_err(TransferError::Connection)?;
            self.unwritten.drain(..written);
        }
        self.tidy();
        peer.flush().map_err(TransferError::Connection)
    }

    /// Writes the queued lines, then `bytes`, and then `last` if there is one, in one write if possible. Returns the number of `bytes` that
    /// were written. `last` is queued only after all bytes are written; what remains of it stays queued.
    ///
    /// With a separate write of `last`, the first window would contain a short segment. This would shift the ends of start-up's rounds,
    /// compared with full segments only.
    pub(crate) fn write_with(
        &mut self,
        peer: &mut impl Write,
        bytes: &[u8],
        last: Option<&Message>,
    ) -> Result<usize, TransferError> {
        let (said, last) = (self.unwritten.len(), last.map_or_else(String::new, Message::line));
        let pieces = [&self.unwritten, bytes, last.as_bytes()].map(IoSlice::new);
        let written = retry(|| peer.write_vectored(&pieces)).map_err(TransferError::Connection)?;
        if written == 0 {
            return Err(TransferError::Connection(ErrorKind::WriteZero.into()));
        }
        let of_bytes = written.saturating_sub(said).min(bytes.len());
        self.unwritten.drain(..written.min(said));
        if of_bytes == bytes.len() {
            let of_last = written.saturating_sub(said + of_bytes);
            self.unwritten.extend_from_slice(last.as_bytes().get(of_last..).unwrap_or_default());
        }
        self.tidy();
        Ok(of_bytes)
    }

    fn write(&self, peer: &mut impl Write) -> io::Result<usize> {
        match retry(|| peer.write(&self.unwritten))? {
            0 => Err(ErrorKind::WriteZero.into()),
            written => Ok(written),
        }
    }

    /// Frees empty buffers, so that no memory is held for a peer that does not read.
    fn tidy(&mut self) {
        if self.unwritten.is_empty() {
            self.unwritten = Vec::new();
        }
    }

    /// Returns the peer's next line, after any `WAIT` lines; `None` if the peer ended before it sent anything.
    pub(crate) fn read_message(&mut self, peer: &mut impl Read) -> Result<Option<Message>, TransferError> {
        loop {
            while let Some(end) = self.unread.iter().position(|byte| *byte == b'\n') {
                let message = Message::read(self.unread.get(..end).unwrap_or_default())?;
                self.unread.drain(..=end);
                if message != Message::Wait {
                    return Ok(Some(message));
                }
            }
            if self.unread.len() >= LONGEST {
                return Err(Message::unexpected(&self.unread));
            }
            let mut piece = [0; PIECE];
            match retry(|| peer.read(&mut piece)).map_err(TransferError::Connection)? {
                0 if self.unread.is_empty() => return Ok(None),
                0 => return Err(Message::unexpected(&self.unread)),
                read => self.unread.extend_from_slice(piece.get(..read).unwrap_or_default()),
            }
        }
    }

    /// Reads bytes that are not a line.
    pub(crate) fn read(&mut self, peer: &mut impl Read, room: &mut [u8]) -> Result<usize, TransferError> {
        if self.unread.is_empty() {
            return retry(|| peer.read(room)).map_err(TransferError::Connection);
        }
        let length = self.unread.len().min(room.len());
        for (to, from) in room.iter_mut().zip(self.unread.drain(..length)) {
            *to = from;
        }
        if self.unread.is_empty() {
            self.unread = Vec::new();
        }
        Ok(length)
    }
}

fn retry(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that reads and writes this number of bytes at a time. Every other call fails with `WouldBlock`.
    struct Slow {
        step: usize,
        refuses: bool,
        given: Vec<u8>,
        taken: Vec<u8>,
    }

    impl Slow {
        fn new(step: usize, given: &[u8]) -> Self {
            Self { step, refuses: false, given: given.to_vec(), taken: Vec::new() }
        }

        fn turn(&mut self) -> io::Result<()> {
            self.refuses = !self.refuses;
            if self.refuses { Err(ErrorKind::WouldBlock.into()) } else { Ok(()) }
        }
    }

    impl Read for Slow {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            self.turn()?;
            let length = self.step.min(room.len()).min(self.given.len());
            room[..length].copy_from_slice(&self.given[..length]);
            self.given.drain(..length);
            Ok(length)
        }
    }

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.turn()?;
            let length = self.step.min(bytes.len());
            self.taken.extend_from_slice(&bytes[..length]);
            Ok(length)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// Repeats the call until it does not fail with `WouldBlock`.
    fn until_done<T>(mut call: impl FnMut() -> Result<T, TransferError>) -> Result<T, TransferError> {
        loop {
            match call() {
                Err(TransferError::Connection(error)) if error.kind() == ErrorKind::WouldBlock => {}
                done => return done,
            }
        }
    }

    #[test]
    fn lines_and_bytes_are_read_in_whatever_pieces_they_come() {
        for step in 1..20 {
            let mut peer = Slow::new(step, b"WAIT\nWAIT\nDATA 3 0\nabcNO x\n");
            let mut talk = Talk::default();
            let line = until_done(|| talk.read_message(&mut peer)).unwrap();
            assert_eq!(line, Some(Message::Data { length: 3, from: 0 }));
            let mut bytes = Vec::new();
            while bytes.len() < 3 {
                let mut room = [0; 8];
                let left = 3 - bytes.len();
                let read = until_done(|| talk.read(&mut peer, &mut room[..left])).unwrap();
                bytes.extend_from_slice(&room[..read]);
            }
            assert_eq!(bytes, b"abc");
            assert_eq!(
                until_done(|| talk.read_message(&mut peer)).unwrap(),
                Some(Message::No { why: "x".into() })
            );
            assert_eq!(until_done(|| talk.read_message(&mut peer)).unwrap(), None);
        }
    }

    #[test]
    fn lines_and_bytes_are_written_in_whatever_pieces_they_are_taken() {
        for step in 1..30 {
            let (mut peer, mut talk) = (Slow::new(step, b""), Talk::default());
            talk.say(&Message::Data { length: 5, from: 0 });
            let mut at = 0;
            while at < 5 {
                let last = Message::No { why: "end".to_owned() };
                at += until_done(|| talk.write_with(&mut peer, &b"hello"[at..], Some(&last))).unwrap();
            }
            until_done(|| talk.flush(&mut peer)).unwrap();
            assert_eq!(peer.taken, b"DATA 5 0\nhelloNO end\n", "{step} at a time");
        }
    }

    #[test]
    fn an_unterminated_line_is_refused_with_bounded_buffering() {
        let mut talk = Talk::default();
        let error = talk.read_message(&mut io::repeat(b'x')).unwrap_err();
        assert!(matches!(error, TransferError::Protocol(..)), "{error}");
        assert!(talk.unread.len() < LONGEST + PIECE);
    }
}
