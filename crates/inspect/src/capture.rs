//! Capture files: pcap and pcapng, in either byte order, read once from front to back.
//!
//! The frames are read here and not by a library, because an error must say at which byte of the file it is and
//! what would be allowed there, because a snapped frame is longer than the snap length by nature, and because
//! timestamps come in the resolution that the file gives: `pcap-file` 2.0 does none of these.

mod pcap;
mod pcapng;
mod source;

use std::io::{self, Read};

use thiserror::Error;

use crate::link::Link;
use pcap::Pcap;
use pcapng::Pcapng;
use source::Source;

/// A frame as it was captured.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Nanoseconds since 1970, or since whatever the capture counts from.
    pub at: u64,
    /// What its first bytes are; `None` for a link type that is not known here.
    pub link: Option<Link>,
    /// The interface's number in its section.
    pub interface: u32,
    /// What was kept of it.
    pub data: &'a [u8],
    /// Its length on the wire, in bytes.
    pub original: u32,
}

/// A file that cannot be read (on).
#[derive(Debug, Error)]
pub enum ReadError {
    /// The system's fault.
    #[error("byte {at}: {source}")]
    Io {
        /// How far the file had been read.
        at: u64,
        /// What the system said.
        source: io::Error,
    },
    /// The file is not as its format says.
    #[error("byte {at}: {what}")]
    Format {
        /// Where the fault begins.
        at: u64,
        /// What is wrong, and what is allowed.
        what: String,
    },
}

/// The file ends inside a frame: what came before is whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut {
    /// Where the frame that is cut begins.
    pub at: u64,
    /// How many bytes of it are there.
    pub found: u64,
    /// How many there should be.
    pub needed: u64,
}

/// More than any frame: the largest segment that Linux hands to a device is half a megabyte, and everything that
/// writes captures cuts at 256 KiB unless told otherwise.
pub(crate) const LARGEST_FRAME: u32 = 16 << 20;

/// A capture file being read.
#[derive(Debug)]
pub struct Capture<R> {
    source: Source<R>,
    format: Format,
    cut: Option<Cut>,
}

#[derive(Debug)]
enum Format {
    Pcap(Pcap),
    Pcapng(Pcapng),
}

/// What reading one record came to.
pub(crate) enum Step {
    /// A frame: when, on which link and interface, where its bytes are in what was peeked, its length on the wire.
    Frame {
        at: u64,
        link: Option<Link>,
        interface: u32,
        data: core::ops::Range<usize>,
        original: u32,
        consume: usize,
    },
    /// Something else of so many bytes.
    Skip(u64),
    /// The file ended where a record may begin.
    End,
    /// The file ended inside a record.
    Cut(Cut),
}

impl<R: Read> Capture<R> {
    /// Reads the file's header.
    ///
    /// # Errors
    /// When it cannot be read, or is neither pcap nor pcapng.
    pub fn new(input: R) -> Result<Self, ReadError> {
        let mut source = Source::new(input);
        let start = source.peek(4)?;
        let Some(magic) = start.first_chunk::<4>().copied() else {
            let found = start.len();
            return Err(format_error(0, format!("the file has {found} bytes; a capture has 24 or more")));
        };
        let format = if magic == pcapng::SECTION {
            Format::Pcapng(Pcapng::default())
        } else {
            Format::Pcap(Pcap::new(&mut source, magic)?)
        };
        Ok(Self { source, format, cut: None })
    }

    /// The next frame; `None` at the end of the file.
    ///
    /// # Errors
    /// When the file cannot be read on.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, ReadError> {
        loop {
            let step = match &mut self.format {
                Format::Pcap(pcap) => pcap.step(&mut self.source)?,
                Format::Pcapng(pcapng) => pcapng.step(&mut self.source)?,
            };
            match step {
                Step::Frame { at, link, interface, data, original, consume } => {
                    let data = &self.source.take(consume)[data];
                    return Ok(Some(Frame { at, link, interface, data, original }));
                }
                Step::Skip(bytes) => {
                    let at = self.source.offset();
                    let skipped = self.source.skip(bytes)?;
                    if skipped < bytes {
                        self.cut = Some(Cut { at, found: skipped, needed: bytes });
                        return Ok(None);
                    }
                }
                Step::End => return Ok(None),
                Step::Cut(cut) => {
                    self.cut = Some(cut);
                    return Ok(None);
                }
            }
        }
    }

    /// Where the file ends too early, if it does; known once all frames are read.
    pub fn cut(&self) -> Option<Cut> {
        self.cut
    }

    /// Packets that the capture itself says it missed (pcapng's interface statistics).
    pub fn dropped(&self) -> u64 {
        match &self.format {
            Format::Pcap(_) => 0,
            Format::Pcapng(pcapng) => pcapng.dropped(),
        }
    }

    /// Packets without a time (pcapng's simple packets), which are left out.
    pub fn timeless(&self) -> u64 {
        match &self.format {
            Format::Pcap(_) => 0,
            Format::Pcapng(pcapng) => pcapng.timeless(),
        }
    }

    /// Bytes read so far.
    pub fn offset(&self) -> u64 {
        self.source.offset()
    }
}

pub(crate) fn format_error(at: u64, what: impl Into<String>) -> ReadError {
    ReadError::Format { at, what: what.into() }
}

/// The byte order of a file or section.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    Little,
    Big,
}

impl Order {
    /// The number at byte `at`; zero past the end, which callers rule out.
    pub(crate) fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let two = bytes.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or_default();
        if self == Self::Little { u16::from_le_bytes(two) } else { u16::from_be_bytes(two) }
    }

    /// The number at byte `at`; zero past the end, which callers rule out.
    pub(crate) fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let four = bytes.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or_default();
        if self == Self::Little { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) }
    }

    /// The number at byte `at`; zero past the end, which callers rule out.
    pub(crate) fn u64(self, bytes: &[u8], at: usize) -> u64 {
        let eight = bytes.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or_default();
        if self == Self::Little { u64::from_le_bytes(eight) } else { u64::from_be_bytes(eight) }
    }
}
