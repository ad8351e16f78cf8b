//! Reads and writes capture files.
//!
//! - [`Reader`] reads the frames of a pcap or pcapng file, once from front to back. [`Unzip`] unpacks files that gzip compressed.
//! - [`Link`] finds the IP packet in a frame, and [`innermost_packet`] the packet within tunnels. [`Layers`] has the tunnels, sessions and
//!   label stacks around it.
//! - [`PacketWriter`] writes IP packets of any protocol as pcapng with nanosecond timestamps. [`SegmentWriter`] writes the TCP segments of
//!   a simulated connection.
//!
//! The crate analyses nothing: it has the formats, and `firstflight-inspect` has what they show.

mod layers;
mod link;
mod packet_writer;
mod reader;
mod segment_writer;
mod tunnel;
mod unzip;

pub use layers::{Layer, Layers, TUNNEL_KINDS, TunnelEnd};
pub use link::Link;
pub use packet_writer::{Direction, LONGEST_COMMENT, PacketWriter, Passed, Tap};
pub use reader::{Cut, Frame, ReadError, Reader};
pub use segment_writer::{End, Interface, SegmentWriter, Sighting, WriteError};
pub use tunnel::{innermost_packet, ip_payload};
pub use unzip::Unzip;
