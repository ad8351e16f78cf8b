//! Reads capture files, pcap and pcapng, in either byte order, once from front to back.
//!
//! There are three reasons why this module reads the frames and no library does. An error must give the position in the file and the
//! allowed values. A truncated frame's length on the wire exceeds the snap length, which is no error. Timestamps have the resolution that
//! the file gives. `pcap-file` 2.0 supports none of these.

mod byte_order;
mod error;
mod pcap;
mod pcapng;
mod record;
mod source;

use std::io::Read;

use crate::link::Link;
use pcap::Pcap;
use pcapng::Pcapng;
use record::Step;
use source::Source;

pub use error::{Cut, ReadError};

/// A frame as it was captured.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Time in nanoseconds since 1970, or since another origin that the capture uses.
    pub at: u64,
    /// Type of the frame's first header; `None` for an unknown link type.
    pub link: Option<Link>,
    /// Number of the capturing interface in its section of the file.
    pub interface: u32,
    /// The captured bytes.
    pub data: &'a [u8],
    /// Length of the frame on the wire, in bytes.
    pub original: u32,
}

/// A capture file being read.
#[derive(Debug)]
pub struct Reader<R> {
    source: Source<R>,
    format: Format,
    cut: Option<Cut>,
}

#[derive(Debug)]
enum Format {
    Pcap(Pcap),
    Pcapng(Pcapng),
}

impl<R: Read> Reader<R> {
    /// Reads the file's header.
    ///
    /// # Errors
    /// If the file cannot be read, or is neither pcap nor pcapng.
    pub fn new(input: R) -> Result<Self, ReadError> {
        let mut source = Source::new(input);
        let start = source.peek(4)?;
        let Some(magic) = start.first_chunk::<4>().copied() else {
            let found = start.len();
            return Err(ReadError::format(
                0,
                format!("the file has {found} bytes; a capture has 24 or more"),
            ));
        };
        let format = if magic == pcapng::SECTION {
            Format::Pcapng(Pcapng::default())
        } else {
            Format::Pcap(Pcap::new(&mut source, magic)?)
        };
        Ok(Self { source, format, cut: None })
    }

    /// Returns the next frame, or `None` at the end of the file.
    ///
    /// # Errors
    /// If the file cannot be read further.
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

    /// Returns where the file ends inside a frame, if it does. Known only after all frames were read.
    pub fn cut(&self) -> Option<Cut> {
        self.cut
    }

    /// Returns the number of packets that the capture reports as not captured, from pcapng's interface statistics.
    pub fn dropped(&self) -> u64 {
        match &self.format {
            Format::Pcap(_) => 0,
            Format::Pcapng(pcapng) => pcapng.dropped(),
        }
    }

    /// Returns the number of packets without a time (pcapng's simple packets). They are skipped.
    pub fn timeless(&self) -> u64 {
        match &self.format {
            Format::Pcap(_) => 0,
            Format::Pcapng(pcapng) => pcapng.timeless(),
        }
    }

    /// Returns the number of bytes read so far.
    pub fn offset(&self) -> u64 {
        self.source.offset()
    }
}
