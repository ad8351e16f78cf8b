//! Bytes: TCP segments as IPv4 and IPv6 packets and back, and captures of them.
//!
//! - [`encode`] and [`decode`] turn a [`firstflight_tcp::Segment`] into a packet with true checksums and back;
//!   decoding is total: any input gives a packet or an error that says what is wrong and where.
//! - [`encode_tcp`] and [`decode_tcp`] do the same for a segment that something else than IP carries.
//! - [`payload`] gives every byte of a stream a value that follows from its offset alone, so that a capture's
//!   payload can be checked.
//! - [`quick_start`] has the options of RFC 4782.
//! - [`read_passing`] reads what a router or queue needs of any IP packet; [`mark`] and [`write_quick_start`] change what those
//!   may change.
//! - [`Capture`] writes segments as pcapng with nanosecond timestamps, [`RawCapture`] packets of any protocol.
//!
//! The crate keeps no connection's state and reads no clock.

mod address;
mod decode;
mod encode;
mod hop;
mod options;
pub mod payload;
mod pcapng;
pub mod quick_start;
mod raw_capture;
mod tcp;

pub use address::{Addresses, Hosts};
pub use decode::{Checksum, DecodeError, Packet, decode, decode_snapped};
pub use encode::{EncodeError, Ip, encode};
pub use hop::{Passing, mark, read_passing, write_quick_start};
pub use options::{OptionError, read as read_options};
pub use pcapng::{Capture, CaptureError, End, Interface, Sighting};
pub use raw_capture::{Direction, LONGEST_COMMENT, Passed, RawCapture, Tap};
pub use tcp::{TcpSegment, decode_tcp, encode_tcp};
