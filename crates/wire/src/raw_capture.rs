//! A capture of IP packets as bytes, at one place or several: pcapng with nanosecond timestamps.

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::num::NonZeroU32;
use std::time::Duration;

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};

/// A place where packets are captured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tap<'a> {
    /// The interface's name.
    pub name: &'a str,
    /// A short description of the interface.
    pub description: &'a str,
    /// The most bytes kept of a packet; `None` for all. A truncated packet keeps its length and its checksum, but the
    /// checksum can no longer be verified.
    pub snap_length: Option<NonZeroU32>,
}

/// Whether a packet comes from the host that has the interface, or to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// To the host.
    Inbound = 1,
    /// From the host.
    Outbound = 2,
}

/// A packet that passes a tap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passed<'a> {
    /// The tap, by its index.
    pub tap: u32,
    /// When it passes, in nanoseconds since 1970 or since whatever the capture counts from.
    pub at: u64,
    /// Its direction.
    pub direction: Direction,
    /// Its bytes, from the IP header on.
    pub bytes: &'a [u8],
    /// A comment, of at most [`LONGEST_COMMENT`] bytes; may be empty.
    pub comment: &'a str,
}

/// A capture being written: one section, link type RAW.
pub struct RawCapture<W: Write> {
    writer: PcapNgWriter<BufWriter<W>>,
    snap_lengths: Vec<usize>,
}

/// The most bytes of a comment: an option of pcapng has 16 bits for its length (`opt_comment`, draft-ietf-opsawg-pcapng
/// section 3.5). A longer comment is truncated.
pub const LONGEST_COMMENT: usize = 65_535;

/// `if_tsresol`: timestamps count units of 10^-9 s.
const NANOSECONDS: u8 = 9;

impl<W: Write> RawCapture<W> {
    /// Begins a capture at these taps on `out`, which is buffered here.
    ///
    /// # Errors
    /// When the headers cannot be written.
    pub fn new(out: W, taps: &[Tap<'_>]) -> io::Result<Self> {
        let section = SectionHeaderBlock {
            // A fixed byte order, so that a run gives identical bytes on every machine.
            endianness: Endianness::Little,
            options: vec![SectionHeaderOption::UserApplication(Cow::Borrowed(concat!(
                "firstflight ",
                env!("CARGO_PKG_VERSION")
            )))],
            ..SectionHeaderBlock::default()
        };
        let mut writer =
            PcapNgWriter::with_section_header(BufWriter::new(out), section).map_err(write_error)?;
        for tap in taps {
            let description = InterfaceDescriptionBlock {
                linktype: DataLink::RAW,
                snaplen: tap.snap_length.map_or(0, NonZeroU32::get),
                options: vec![
                    InterfaceDescriptionOption::IfName(Cow::Owned(tap.name.to_owned())),
                    InterfaceDescriptionOption::IfDescription(Cow::Owned(tap.description.to_owned())),
                    InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
                ],
            };
            writer.write_pcapng_block(description).map_err(write_error)?;
        }
        let snap = |tap: &Tap<'_>| {
            tap.snap_length.map_or(usize::MAX, |length| usize::try_from(length.get()).unwrap_or(usize::MAX))
        };
        Ok(Self { writer, snap_lengths: taps.iter().map(snap).collect() })
    }

    /// Adds a packet. Packets should be added in order of time.
    ///
    /// # Errors
    /// A write error, or a tap that there is not.
    pub fn packet(&mut self, passed: &Passed<'_>) -> io::Result<()> {
        let Passed { tap, at, direction, bytes, comment } = *passed;
        let snap = self.snap_lengths.get(tap as usize).copied().unwrap_or(usize::MAX);
        let mut options = vec![EnhancedPacketOption::Flags(direction as u32)];
        if !comment.is_empty() {
            let mut end = comment.len().min(LONGEST_COMMENT);
            while !comment.is_char_boundary(end) {
                end -= 1;
            }
            options.push(EnhancedPacketOption::Comment(Cow::Borrowed(&comment[..end])));
        }
        self.writer
            .write_pcapng_block(EnhancedPacketBlock {
                interface_id: tap,
                timestamp: Duration::from_nanos(at),
                original_len: u32::try_from(bytes.len()).unwrap_or(u32::MAX),
                data: Cow::Borrowed(&bytes[..bytes.len().min(snap)]),
                options,
            })
            .map_err(write_error)?;
        Ok(())
    }

    /// Ends the capture and returns its writer.
    ///
    /// # Errors
    /// An error in writing the last bytes. A dropped capture would hide that error.
    pub fn finish(self) -> io::Result<W> {
        let mut out = self.writer.into_inner().into_inner().map_err(io::IntoInnerError::into_error)?;
        out.flush()?;
        Ok(out)
    }
}

fn write_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}
