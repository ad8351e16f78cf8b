//! A capture at one end of a connection, as pcapng with nanosecond timestamps.

use std::borrow::Cow;
use std::io::{self, BufWriter, Write};
use std::net::Ipv4Addr;
use std::num::NonZeroU32;
use std::time::Duration;

use firstflight::Time;
use firstflight_tcp::Segment;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};
use thiserror::Error;

use crate::address::{Addresses, Hosts};
use crate::encode::{EncodeError, Ip, encode};
use crate::payload;

/// One of a connection's two hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Opens the connection: 10.0.0.1, port 40000 + flow.
    Client,
    /// Accepts the connection: 10.0.0.2, port 5001.
    Server,
}

/// The place of a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interface<'a> {
    /// The host that has the interface.
    pub at: End,
    /// The interface's name.
    pub name: &'a str,
    /// A short description of the interface.
    pub description: &'a str,
    /// The most bytes kept of a packet; `None` for all. A truncated packet keeps its length and its checksum, but the
    /// checksum can no longer be verified.
    pub snap_length: Option<NonZeroU32>,
}

/// A segment that passes the interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sighting<'a> {
    /// When the segment passes.
    pub at: Time,
    /// The flow of the segment, which decides the client's port.
    pub flow: u32,
    /// The sender of the segment.
    pub from: End,
    /// The packet's number among its sender's packets. The low 16 bits are its IP identification, by which the packet can
    /// be found in the other end's capture, or be seen to be missing there.
    pub number: u64,
    /// The segment.
    pub segment: &'a Segment,
    /// The stream offset of the segment's first payload byte, which determines the payload (see [`crate::payload`]).
    pub offset: u64,
    /// A comment on the packet, of at most [`LONGEST_COMMENT`] bytes; may be empty.
    pub comment: &'a str,
}

/// An error that ends a capture.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The file could not be written.
    #[error("the capture could not be written: {0}")]
    Write(#[from] io::Error),
    /// A segment that cannot be written as bytes.
    #[error("flow {flow}, segment {seq} at {at} ns cannot be captured: {error}")]
    Encode {
        /// The flow.
        flow: u32,
        /// The segment's sequence number.
        seq: u32,
        /// When the segment passed, in nanoseconds.
        at: u64,
        /// The reason.
        error: EncodeError,
    },
    /// A flow whose port number is too large.
    #[error("flow {flow} has no port: the clients' ports are {FIRST_PORT} + flow, up to 65535")]
    Flow {
        /// The flow.
        flow: u32,
    },
}

/// A capture being written: one section, one interface, link type RAW.
pub struct Capture<W: Write> {
    writer: PcapNgWriter<BufWriter<W>>,
    at: End,
    snap_length: usize,
    packet: Vec<u8>,
    payload: Vec<u8>,
}

/// The most bytes of a comment: an option of pcapng has 16 bits for its length (`opt_comment`, draft-ietf-opsawg-pcapng
/// section 3.5). A longer comment is truncated.
pub const LONGEST_COMMENT: usize = 65_535;

/// Hosts of the connections.
const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
/// The server's port.
const SERVER_PORT: u16 = 5001;
/// Flow 0's port at the client.
const FIRST_PORT: u16 = 40_000;
/// Linux's initial time to live. Hops do not decrement it.
const HOP_LIMIT: u8 = 64;
/// `if_tsresol`: timestamps count units of 10^-9 s.
const NANOSECONDS: u8 = 9;
/// `epb_flags`, bits 0 and 1: the direction.
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;

impl<W: Write> Capture<W> {
    /// Begins a capture on `out`, which is buffered here.
    ///
    /// # Errors
    /// When the headers cannot be written.
    pub fn new(out: W, interface: &Interface<'_>) -> io::Result<Self> {
        let section = SectionHeaderBlock {
            // A fixed byte order, so that a run gives identical bytes on every machine.
            endianness: Endianness::Little,
            options: vec![SectionHeaderOption::UserApplication(Cow::Borrowed(concat!(
                "firstflight ",
                env!("CARGO_PKG_VERSION")
            )))],
            ..SectionHeaderBlock::default()
        };
        let description = InterfaceDescriptionBlock {
            linktype: DataLink::RAW,
            snaplen: interface.snap_length.map_or(0, NonZeroU32::get),
            options: vec![
                InterfaceDescriptionOption::IfName(Cow::Owned(interface.name.to_owned())),
                InterfaceDescriptionOption::IfDescription(Cow::Owned(interface.description.to_owned())),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ],
        };
        let mut writer =
            PcapNgWriter::with_section_header(BufWriter::new(out), section).map_err(write_error)?;
        writer.write_pcapng_block(description).map_err(write_error)?;
        Ok(Self {
            writer,
            at: interface.at,
            snap_length: interface
                .snap_length
                .map_or(usize::MAX, |length| usize::try_from(length.get()).unwrap_or(usize::MAX)),
            packet: Vec::new(),
            payload: Vec::new(),
        })
    }

    /// Adds a packet. Packets should be added in order of time.
    ///
    /// # Errors
    /// A write error, or a segment that a header cannot express.
    pub fn packet(&mut self, seen: &Sighting<'_>) -> Result<(), CaptureError> {
        let Sighting { at, flow, from, number, segment, offset, comment } = *seen;
        let ip = Ip {
            addresses: addresses(flow, from).ok_or(CaptureError::Flow { flow })?,
            identification: u16::try_from(number & 0xFFFF).unwrap_or(0),
            hop_limit: HOP_LIMIT,
        };
        self.payload.resize(usize::from(segment.len), 0);
        payload::fill(offset, &mut self.payload);
        encode(&ip, segment, &self.payload, &mut self.packet).map_err(|error| CaptureError::Encode {
            flow,
            seq: segment.seq,
            at: at.nanos(),
            error,
        })?;
        let kept = self.packet.len().min(self.snap_length);
        let direction = if from == self.at { OUTBOUND } else { INBOUND };
        let mut options = vec![EnhancedPacketOption::Flags(direction)];
        if !comment.is_empty() {
            let mut end = comment.len().min(LONGEST_COMMENT);
            while !comment.is_char_boundary(end) {
                end -= 1;
            }
            options.push(EnhancedPacketOption::Comment(Cow::Borrowed(&comment[..end])));
        }
        self.writer
            .write_pcapng_block(EnhancedPacketBlock {
                interface_id: 0,
                timestamp: Duration::from_nanos(at.nanos()),
                original_len: u32::try_from(self.packet.len()).unwrap_or(u32::MAX),
                data: Cow::Borrowed(&self.packet[..kept]),
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

fn addresses(flow: u32, from: End) -> Option<Addresses> {
    let client_port = u16::try_from(flow).ok().and_then(|flow| FIRST_PORT.checked_add(flow))?;
    Some(match from {
        End::Client => Addresses {
            hosts: Hosts::V4 { source: CLIENT, destination: SERVER },
            source_port: client_port,
            destination_port: SERVER_PORT,
        },
        End::Server => Addresses {
            hosts: Hosts::V4 { source: SERVER, destination: CLIENT },
            source_port: SERVER_PORT,
            destination_port: client_port,
        },
    })
}

fn write_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERFACE: Interface<'_> =
        Interface { at: End::Client, name: "client", description: "", snap_length: None };

    /// A writer that is full after this many bytes.
    #[derive(Debug)]
    struct Disk {
        room: usize,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = bytes.len().min(self.room);
            self.room -= taken;
            if taken == 0 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(taken) }
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn sighting(segment: &Segment) -> Sighting<'_> {
        Sighting { at: Time::ZERO, flow: 0, from: End::Client, number: 0, segment, offset: 0, comment: "" }
    }

    fn write_to(disk: Disk, packets: usize) -> Result<Disk, CaptureError> {
        let segment = Segment { len: 1_460, ..Segment::default() };
        let mut capture = Capture::new(disk, &INTERFACE)?;
        for _ in 0..packets {
            capture.packet(&sighting(&segment))?;
        }
        Ok(capture.finish()?)
    }

    #[test]
    fn a_full_disk_is_an_error_wherever_it_fills() {
        let whole = 1_000_000 - write_to(Disk { room: 1_000_000 }, 20).unwrap().room;
        assert!(whole > 20 * 1_500);
        for room in [0, 1, 100, 8_192, whole / 2, whole - 1] {
            let Err(CaptureError::Write(error)) = write_to(Disk { room }, 20) else {
                panic!("{room} bytes of {whole} were enough");
            };
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        }
    }

    #[test]
    fn what_cannot_be_captured_is_refused_and_the_capture_goes_on() {
        let mut capture = Capture::new(Vec::new(), &INTERFACE).unwrap();
        let good = Segment::default();
        let bad = Segment { sack_count: 9, seq: 77, ..good };
        let refused = capture.packet(&sighting(&bad)).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "flow 0, segment 77 at 0 ns cannot be captured: the segment counts 9 SACK blocks; it holds at most 4"
        );
        let refused = capture.packet(&Sighting { flow: 25_536, ..sighting(&good) }).unwrap_err();
        assert!(matches!(refused, CaptureError::Flow { flow: 25_536 }));
        capture.packet(&Sighting { flow: 25_535, ..sighting(&good) }).unwrap();
        let after = capture.finish().unwrap();
        let mut alone = Capture::new(Vec::new(), &INTERFACE).unwrap();
        alone.packet(&Sighting { flow: 25_535, ..sighting(&good) }).unwrap();
        assert_eq!(after, alone.finish().unwrap());
    }
}
