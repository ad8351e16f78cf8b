//! A capture at one end of a connection, as pcapng with nanosecond timestamps.

use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::num::NonZeroU32;

use firstflight::Time;
use firstflight_tcp::Segment;
use thiserror::Error;

use crate::address::{Addresses, Hosts};
use crate::encode::{EncodeError, Ip, encode};
use crate::payload;
use crate::raw_capture::{Direction, Passed, RawCapture, Tap};

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
    /// A comment on the packet, of at most [`crate::LONGEST_COMMENT`] bytes; may be empty.
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
    raw: RawCapture<W>,
    at: End,
    packet: Vec<u8>,
    payload: Vec<u8>,
}

/// Hosts of the connections.
const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
/// The server's port.
const SERVER_PORT: u16 = 5001;
/// Flow 0's port at the client.
const FIRST_PORT: u16 = 40_000;
/// Linux's initial time to live. Hops do not decrement it.
const HOP_LIMIT: u8 = 64;

impl<W: Write> Capture<W> {
    /// Begins a capture on `out`, which is buffered here.
    ///
    /// # Errors
    /// When the headers cannot be written.
    pub fn new(out: W, interface: &Interface<'_>) -> io::Result<Self> {
        let Interface { at, name, description, snap_length } = *interface;
        let raw = RawCapture::new(out, &[Tap { name, description, snap_length }])?;
        Ok(Self { raw, at, packet: Vec::new(), payload: Vec::new() })
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
        let direction = if from == self.at { Direction::Outbound } else { Direction::Inbound };
        let passed = Passed { tap: 0, at: at.nanos(), direction, bytes: &self.packet, comment };
        Ok(self.raw.packet(&passed)?)
    }

    /// Ends the capture and returns its writer.
    ///
    /// # Errors
    /// An error in writing the last bytes. A dropped capture would hide that error.
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
