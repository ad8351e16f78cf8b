//! Reads qlog: what the sender at the log's end did, for each connection of a file.
//!
//! [`read`] accepts version 0.3 and the newest drafts of the main schema (draft-ietf-quic-qlog-main-schema), and the drafts 00 to 02 whose
//! events are arrays with `event_fields`. A file is one JSON text, a JSON text sequence (RFC 7464), or JSON texts one after the other
//! (NDJSON). It is read once, from front to back, and only the packets in flight are kept, so it may be larger than memory.
//!
//! The events of a connection come out as [`Event`]s with the same meaning for every stack: packets sent, packets newly acknowledged, packets
//! lost, and what the stack reports about its congestion controller. Packets that elicit no acknowledgement are left out.
//!
//! Stacks write different names for the same thing. The reader takes those of the schemas, and those that quiche, quic-go, picoquic, neqo,
//! mvfst, quant and aioquic are known to write. A value of an unexpected type is treated as missing. [`Connection::notes`] says what a log
//! lacks.

mod clock;
mod connection;
mod entry;
mod error;
mod event;
mod fields;
mod flight;
mod head;
mod reader;
mod records;

pub use connection::{Connection, Notes};
pub use error::QlogError;
pub use event::{Carries, Event, Metrics, Packet, Space, State};
pub use reader::{Summary, Take, is_qlog, read};
