//! Encodes TCP segments as IPv4 and IPv6 packets, and decodes them.
//!
//! - [`encode`] and [`decode`] turn a [`firstflight_tcp::Segment`] into a packet with correct checksums and back. Decoding accepts any
//!   input: it gives a packet or an error that says what is wrong and where.
//! - [`encode_tcp`] and [`decode_tcp`] convert a segment that a protocol other than IP carries.
//! - [`payload`] computes every payload byte of a stream from its offset alone, so that the payload in a capture can be checked.
//! - [`quick_start`] encodes and decodes the Quick-Start options of RFC 4782.
//! - [`read_passing`] reads the fields of any IP packet that a router or queue needs. [`mark`] and [`write_quick_start`] change the fields
//!   that routers and queues may change.
//!
//! The crate keeps no state of connections and reads no clock.

mod address;
mod decode;
mod encode;
mod hop;
mod options;
pub mod payload;
pub mod quick_start;
mod tcp;

pub use address::{Addresses, Hosts};
pub use decode::{Checksum, DecodeError, Packet, decode, decode_snapped};
pub use encode::{EncodeError, Ip, encode, encode_tcp};
pub use hop::{Passing, mark, read_passing, write_quick_start};
pub use options::{OptionError, read as read_options};
pub use tcp::{TcpSegment, decode_tcp};
