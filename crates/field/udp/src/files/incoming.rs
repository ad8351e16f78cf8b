//! A file that a peer sends.

use std::io::Read;

use crate::files::copy::Rest;
use crate::files::error::TransferError;
use crate::files::message::Message;
use crate::files::part::Part;
use crate::files::quota::Share;
use crate::files::talk::Talk;

/// A file of `length` bytes that a peer sends. It is written into a part file.
pub(crate) struct Incoming {
    part: Option<Part>,
    /// The reason why the part file cannot be used; `None` if it can.
    refused: Option<TransferError>,
    length: u64,
    /// `true` once the existing part is read and ends at the offset where the peer's bytes begin.
    is_ready: bool,
}

impl Incoming {
    pub(crate) fn new(part: Result<Part, TransferError>, length: u64) -> Self {
        let (part, refused) = match part {
            Ok(part) => (Some(part), None),
            Err(error) => (None, Some(error)),
        };
        Self { part, refused, length, is_ready: false }
    }

    /// Makes an incoming file from a part that was read completely. The peer sends the rest.
    pub(crate) fn of(part: Part, length: u64) -> Self {
        Self { is_ready: true, ..Self::new(Ok(part), length) }
    }

    /// Returns whether the file can receive bytes now.
    pub(crate) fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// Returns the number of bytes of the file that are present.
    pub(crate) fn there(&self) -> u64 {
        self.part.as_ref().map_or(0, Part::length)
    }

    /// Reads more of the existing part. Once all of it is read, prepares the part for the rest of the file. Returns the number of bytes
    /// read.
    pub(crate) fn prepare(
        &mut self,
        Rest { from, length }: Rest,
        share: Option<&Share>,
        room: &mut [u8],
    ) -> Result<u64, TransferError> {
        let part = self.part()?;
        let read = part.read_on(room)?;
        if read > 0 {
            return Ok(read);
        }
        if let Some(share) = share {
            part.check(share, length)?;
        }
        if from == 0 && part.length() > 0 {
            part.clear()?;
        }
        if from != part.length() || from > length {
            let have = part.length();
            return Err(TransferError::Elsewhere { have, from });
        }
        if let Some(share) = share {
            part.pay(share.clone())?;
        }
        self.is_ready = true;
        Ok(0)
    }

    /// Receives the next bytes, or the line that follows the last bytes. Returns the file's hash once the file has its final name.
    pub(crate) fn receive(
        &mut self,
        talk: &mut Talk,
        peer: &mut impl Read,
        room: &mut [u8],
    ) -> Result<Option<String>, TransferError> {
        let length = self.length;
        let part = self.part()?;
        let there = part.length();
        if there < length {
            let wanted = usize::try_from(length - there).unwrap_or(usize::MAX).min(room.len());
            let room = room.get_mut(..wanted).unwrap_or_default();
            let read = talk.read(peer, room)?;
            if read == 0 {
                return Err(TransferError::Truncated { there, length });
            }
            part.write(room.get(..read).unwrap_or_default())?;
            return Ok(None);
        }
        let sha256 = part.hash();
        match talk.read_message(peer)? {
            Some(Message::End { hash }) if hash == sha256 => {}
            Some(Message::End { .. }) => {
                part.discard();
                return Err(TransferError::Damaged { length });
            }
            Some(other) => return Err(other.instead_of("END")),
            None => return Err(TransferError::Truncated { there, length }),
        }
        part.commit()?;
        Ok(Some(sha256))
    }

    fn part(&mut self) -> Result<&mut Part, TransferError> {
        match self.refused.take() {
            Some(error) => Err(error),
            None => self.part.as_mut().ok_or(TransferError::Silent),
        }
    }
}
