//! The capture at one end of a real connection, as pcapng. Segments are written as IP packets between the addresses of the two hosts,
//! whatever protocol carried them. If the sender exits from start-up, a comment on its next data packet describes the exit.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use firstflight::{Note, Time};
use firstflight_capture::{Direction, PacketWriter, Passed, Tap};
use firstflight_tcp::Segment;
use firstflight_wire::{Addresses, Hosts, Ip, encode};

use super::captures::remark;
use super::naming::naming;
use crate::write::WholeFile;

/// The capture of a connection at one of its ends.
pub(super) struct EndCapture {
    path: PathBuf,
    /// The capture; `None` after it was finished or failed.
    capture: Option<PacketWriter<WholeFile>>,
    failed: Option<io::Error>,
    /// The addresses of packets that this host sends.
    out: Addresses,
    /// The wall-clock time at which the capture's clock is zero, in nanoseconds since 1970.
    epoch: u64,
    /// The number of the next packet in each direction, for the identification field of IPv4.
    numbers: [u16; 2],
    /// Comments that the next data packet sent will have.
    remarks: Vec<String>,
    packet: Vec<u8>,
}

/// The addresses of the two ends of a captured connection, and the time.
#[derive(Clone, Copy, Debug)]
pub struct CapturedEnds {
    /// The address and the TCP port of the capturing host.
    pub own: SocketAddr,
    /// The address and the TCP port of the other host.
    pub peer: SocketAddr,
    /// The wall-clock time at which the capture's clock is zero, in nanoseconds since 1970.
    pub epoch: u64,
}

impl EndCapture {
    /// Returns the name of an end's file. `end` is `sender` or `receiver`.
    pub(super) fn file_name(name: &str, end: &str) -> String {
        format!("{name}-{end}.pcapng")
    }

    /// Starts a file in `folder`. The file gets its name when it is finished. `snap` is the maximum number of bytes kept of a packet;
    /// `None` keeps whole packets.
    ///
    /// # Errors
    /// Fails if the file cannot be created.
    pub(super) fn begin(
        folder: &Path,
        (name, end): (&str, &str),
        ends: &CapturedEnds,
        snap: Option<NonZeroU32>,
    ) -> io::Result<Self> {
        let path = folder.join(Self::file_name(name, end));
        let file = WholeFile::create(&path).map_err(|error| naming(&path, &error.source))?;
        let description = format!("{} with {}: the {end}'s end", ends.own, ends.peer);
        let tap = Tap { name: end, description: &description, snap_length: snap };
        let capture = PacketWriter::new(file, &[tap]).map_err(|error| naming(&path, &error))?;
        let hosts = match (ends.own.ip().to_canonical(), ends.peer.ip().to_canonical()) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => Hosts::V4 { source, destination },
            (IpAddr::V6(source), IpAddr::V6(destination)) => Hosts::V6 { source, destination },
            // A socket that is bound to all addresses does not know its own address.
            (_, IpAddr::V4(destination)) => Hosts::V4 { source: Ipv4Addr::UNSPECIFIED, destination },
            (_, IpAddr::V6(destination)) => Hosts::V6 { source: [0; 16].into(), destination },
        };
        let out = Addresses { hosts, source_port: ends.own.port(), destination_port: ends.peer.port() };
        Ok(Self {
            path,
            capture: Some(capture),
            failed: None,
            out,
            epoch: ends.epoch,
            numbers: [0; 2],
            remarks: Vec::new(),
            packet: Vec::new(),
        })
    }

    /// Records a segment that the host sent.
    pub(super) fn sent(&mut self, at: Time, segment: &Segment, payload: &[u8]) {
        let has_data = segment.len > 0;
        let comment = if has_data { std::mem::take(&mut self.remarks).join("; ") } else { String::new() };
        self.add(at, Direction::Outbound, (segment, payload), &comment);
    }

    /// Records a segment that arrived at the host.
    pub(super) fn arrived(&mut self, at: Time, segment: &Segment, payload: &[u8]) {
        self.add(at, Direction::Inbound, (segment, payload), "");
    }

    /// Records a note of the host's controller.
    pub(super) fn note(&mut self, at: Time, note: Note) {
        self.remarks.extend(remark(at, note));
    }

    fn add(&mut self, at: Time, direction: Direction, (segment, payload): (&Segment, &[u8]), comment: &str) {
        let Some(capture) = &mut self.capture else { return };
        let (addresses, number) = match direction {
            Direction::Outbound => (self.out, &mut self.numbers[0]),
            Direction::Inbound => (back(self.out), &mut self.numbers[1]),
        };
        let ip = Ip { addresses, identification: *number, hop_limit: 64 };
        *number = number.wrapping_add(1);
        let encoded = encode(&ip, segment, payload, &mut self.packet).map_err(io::Error::other);
        let written = encoded.and_then(|()| {
            let at = self.epoch.saturating_add(at.nanos());
            capture.packet(&Passed { tap: 0, at, direction, bytes: &self.packet, comment })
        });
        if let Err(error) = written {
            self.failed = Some(naming(&self.path, &error));
            self.capture = None;
        }
    }

    /// Finishes the file when the connection ends, and gives it this name.
    ///
    /// # Errors
    /// Returns the error of the first write that failed.
    pub(super) fn finish(mut self, (name, end): (&str, &str)) -> io::Result<()> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let Some(capture) = self.capture.take() else { return Ok(()) };
        let path = self.path.with_file_name(Self::file_name(name, end));
        let mut file = capture.finish().map_err(|error| naming(&path, &error))?;
        file.rename(&path).and_then(|()| file.commit()).map_err(|error| naming(&path, &error.source))
    }
}

fn back(out: Addresses) -> Addresses {
    let hosts = match out.hosts {
        Hosts::V4 { source, destination } => Hosts::V4 { source: destination, destination: source },
        Hosts::V6 { source, destination } => Hosts::V6 { source: destination, destination: source },
    };
    Addresses { hosts, source_port: out.destination_port, destination_port: out.source_port }
}
