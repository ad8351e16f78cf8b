//! Transfers files over a byte stream. A file arrives whole or not at all, an interrupted transfer can be resumed, and SHA-256 verifies
//! each file.
//!
//! The stream is any type that reads and writes, such as a connection of `firstflight-udp` or of `std::net`. One connection carries one
//! file, either from a folder of the server to the client ([`get`]) or from the client into a folder of the server ([`put`]). On the
//! server, an [`Exchange`] answers both. `docs/guide/transfer.md` specifies the protocol, and the resources that an unknown peer can use.

mod copy;
mod error;
mod exchange;
mod folder;
mod get;
mod hash;
mod hashes;
mod incoming;
mod listing;
mod message;
mod part;
mod put;
mod quota;
mod sweep;
mod talk;

pub use copy::{CHUNK, Progress, Transferred};
pub use error::TransferError;
pub use exchange::{Exchange, Step};
pub use folder::{Folder, Way, check, check_new};
pub use get::{compare, get, get_into};
pub use listing::{Entry, MAX_LISTED, list};
pub use put::put;
pub use quota::{Quota, Share};
