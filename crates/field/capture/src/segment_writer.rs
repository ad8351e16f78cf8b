//! Writes a capture taken at one end of a connection, as pcapng with nanosecond timestamps.

use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::num::NonZeroU32;

use firstflight::Time;
use firstflight_tcp::Segment;
use firstflight_wire::{Addresses, EncodeError, Hosts, Ip, encode, payload};
use thiserror::Error;

use crate::packet_writer::{Direction, PacketWriter, Passed, Tap};

/// One of a connection's two hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The host that opens the connection. Its address is 10.0.0.1, its port is 40000 + flow.
    Client,
    /// The host that accepts the connection. Its address is 10.0.0.2, its port is 5001.
    Server,
}

/// The network interface at which a capture is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interface<'a> {
    /// The host that has the interface.
    pub at: End,
    /// The interface's name.
    pub name: &'a str,
    /// A short description of the interface.
    pub description: &'a str,
    /// Maximum number of bytes kept of a packet; `None` for all. A truncated packet keeps its length and its checksum, but the checksum can
    /// no longer be verified.
    pub snap_length: Option<NonZeroU32>,
}

/// A segment that passes the capturing interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sighting<'a> {
    /// When the segment passes.
    pub at: Time,
    /// The number of the segment's flow. The client's port is 40000 + flow.
    pub flow: u32,
    /// The sender of the segment.
    pub from: End,
    /// The packet's number among the packets of its sender. Its low 16 bits are the IP identification. With it, the packet can be found in
    /// the other end's capture, or is known to be missing there.
    pub number: u64,
    /// The segment.
    pub segment: &'a Segment,
    /// The stream offset of the segment's first payload byte. The payload follows from it (see [`firstflight_wire::payload`]).
    pub offset: u64,
    /// A comment on the packet, of at most [`crate::LONGEST_COMMENT`] bytes; may be empty.
    pub comment: &'a str,
}

/// The reason why a packet cannot be captured.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The file could not be written.
    #[error("the capture could not be written: {0}")]
    Write(#[from] io::Error),
    /// The segment cannot be written as bytes.
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
    /// The flow's number is so large that the client has no port for it.
    #[error("flow {flow} has no port: the clients' ports are {FIRST_PORT} + flow, up to 65535")]
    Flow {
        /// The flow.
        flow: u32,
    },
}

/// A capture being written. It has one section, one interface and link type RAW.
pub struct SegmentWriter<W: Write> {
    raw: PacketWriter<W>,
    at: End,
    packet: Vec<u8>,
    payload: Vec<u8>,
}

/// Address of the client in all captures.
const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
/// The server's port.
const SERVER_PORT: u16 = 5001;
/// The client's port for flow 0.
const FIRST_PORT: u16 = 40_000;
/// Linux's initial time to live. Captured packets have this value, because the simulated hops do not decrement it.
const HOP_LIMIT: u8 = 64;

impl<W: Write> SegmentWriter<W> {
    /// Starts a capture and writes its headers to `out`, through a buffer.
    ///
    /// # Errors
    /// If the headers cannot be written.
    pub fn new(out: W, interface: &Interface<'_>) -> io::Result<Self> {
        let Interface { at, name, description, snap_length } = *interface;
        let raw = PacketWriter::new(out, &[Tap { name, description, snap_length }])?;
        Ok(Self { raw, at, packet: Vec::new(), payload: Vec::new() })
    }

    /// Adds a packet. Packets should be added in the order of their times.
    ///
    /// # Errors
    /// If the packet cannot be written, or a header cannot express the segment.
    pub fn packet(&mut self, seen: &Sighting<'_>) -> Result<(), WriteError> {
        let Sighting { at, flow, from, number, segment, offset, comment } = *seen;
        let ip = Ip {
            addresses: addresses(flow, from).ok_or(WriteError::Flow { flow })?,
            identification: u16::try_from(number & 0xFFFF).unwrap_or(0),
            hop_limit: HOP_LIMIT,
        };
        self.payload.resize(usize::from(segment.len), 0);
        payload::fill(offset, &mut self.payload);
        encode(&ip, segment, &self.payload, &mut self.packet).map_err(|error| WriteError::Encode {
            flow,
            seq: segment.seq,
            at: at.nanos(),
            error,
        })?;
        let direction = if from == self.at { Direction::Outbound } else { Direction::Inbound };
        let passed = Passed { tap: 0, at: at.nanos(), direction, bytes: &self.packet, comment };
        Ok(self.raw.packet(&passed)?)
    }

    /// Ends the capture and returns its writer.
    ///
    /// # Errors
    /// If the last bytes cannot be written. Dropping the capture instead would hide that error.
    pub fn finish(self) -> io::Result<W> {
        self.raw.finish()
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

#[cfg(test)]
mod tests {
    use super::*;

    const INTERFACE: Interface<'_> =
        Interface { at: End::Client, name: "client", description: "", snap_length: None };

    /// A writer that fails once it has taken this number of bytes.
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

    fn write_to(disk: Disk, packets: usize) -> Result<Disk, WriteError> {
        let segment = Segment { len: 1_460, ..Segment::default() };
        let mut capture = SegmentWriter::new(disk, &INTERFACE)?;
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
            let Err(WriteError::Write(error)) = write_to(Disk { room }, 20) else {
                panic!("{room} bytes of {whole} were enough");
            };
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        }
    }

    #[test]
    fn an_uncapturable_segment_is_refused_and_the_capture_continues() {
        let mut capture = SegmentWriter::new(Vec::new(), &INTERFACE).unwrap();
        let good = Segment::default();
        let bad = Segment { sack_count: 9, seq: 77, ..good };
        let refused = capture.packet(&sighting(&bad)).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "flow 0, segment 77 at 0 ns cannot be captured: the segment counts 9 SACK blocks; it holds at most 4"
        );
        let refused = capture.packet(&Sighting { flow: 25_536, ..sighting(&good) }).unwrap_err();
        assert!(matches!(refused, WriteError::Flow { flow: 25_536 }));
        capture.packet(&Sighting { flow: 25_535, ..sighting(&good) }).unwrap();
        let after = capture.finish().unwrap();
        let mut alone = SegmentWriter::new(Vec::new(), &INTERFACE).unwrap();
        alone.packet(&Sighting { flow: 25_535, ..sighting(&good) }).unwrap();
        assert_eq!(after, alone.finish().unwrap());
    }
}
