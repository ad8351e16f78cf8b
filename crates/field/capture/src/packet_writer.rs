//! Writes a capture of IP packets, given as bytes, at one or several places: pcapng with nanosecond timestamps.

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::num::NonZeroU32;
use std::time::Duration;

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::interface_statistics::{InterfaceStatisticsBlock, InterfaceStatisticsOption};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};

/// A place where packets are captured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tap<'a> {
    /// The interface's name.
    pub name: &'a str,
    /// A short description of the interface.
    pub description: &'a str,
    /// Maximum number of bytes kept of a packet; `None` for all. A truncated packet keeps its length and its checksum, but the checksum can
    /// no longer be verified.
    pub snap_length: Option<NonZeroU32>,
}

/// Whether the host that has the interface sends or receives a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// The host receives the packet.
    Inbound = 1,
    /// The host sends the packet.
    Outbound = 2,
}

/// A packet that passes a place of capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passed<'a> {
    /// The index of the [`Tap`] where it passes.
    pub tap: u32,
    /// The time when it passes, in nanoseconds since 1970 or since another origin that all packets of the capture share.
    pub at: u64,
    /// The packet's direction.
    pub direction: Direction,
    /// The packet's bytes, from the IP header on.
    pub bytes: &'a [u8],
    /// A comment on the packet, of at most [`LONGEST_COMMENT`] bytes. May be empty.
    pub comment: &'a str,
}

/// A capture being written. It has one section and link type RAW.
pub struct PacketWriter<W: Write> {
    writer: PcapNgWriter<BufWriter<W>>,
    snap_lengths: Vec<usize>,
}

/// Maximum number of bytes of a comment, because the length of an option of pcapng has 16 bits (`opt_comment`, draft-ietf-opsawg-pcapng
/// section 3.5). A longer comment is truncated.
pub const LONGEST_COMMENT: usize = 65_535;

/// Value of the interface option `if_tsresol`: timestamps count units of 10^-9 s.
const NANOSECONDS: u8 = 9;

impl<W: Write> PacketWriter<W> {
    /// Starts a capture at these places and writes its headers to `out`, through a buffer.
    ///
    /// # Errors
    /// If the headers cannot be written.
    pub fn new(out: W, taps: &[Tap<'_>]) -> io::Result<Self> {
        let section = SectionHeaderBlock {
            // A fixed byte order gives identical bytes on every machine.
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

    /// Adds a packet. Packets should be added in the order of their times.
    ///
    /// # Errors
    /// If the packet cannot be written, or the capture has no interface with the index [`Passed::tap`].
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

    /// Adds the statistics of the interface `tap`: the number of packets that it `missed`, and a comment on the whole capture. `at` is the
    /// time of the statistics, in the unit of [`Passed::at`].
    ///
    /// # Errors
    /// If the statistics cannot be written.
    pub fn statistics(&mut self, tap: u32, at: u64, missed: u64, comment: &str) -> io::Result<()> {
        self.writer
            .write_pcapng_block(InterfaceStatisticsBlock {
                interface_id: tap,
                // The format has the high half of the timestamp first, but the library writes the number unchanged.
                timestamp: at.rotate_left(32),
                options: vec![
                    InterfaceStatisticsOption::Comment(Cow::Borrowed(comment)),
                    InterfaceStatisticsOption::IsbIfDrop(missed),
                ],
            })
            .map_err(write_error)?;
        Ok(())
    }

    /// Ends the capture and returns its writer.
    ///
    /// # Errors
    /// If the last bytes cannot be written. Dropping the capture instead would hide that error.
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
