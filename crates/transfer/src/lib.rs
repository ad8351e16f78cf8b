//! Files over a byte stream: whole or not at all, resumable, and compared by SHA-256.
//!
//! The stream is whatever reads and writes: a connection of `firstflight-live`, or of `std::net`. One connection carries one file, from a
//! folder of the server to the client ([`get`]) or from the client into a folder of the server ([`put`]). [`serve`] answers both.
//! `docs/transfer.md` specifies what is said.

#![cfg(target_os = "linux")]

mod copy;
mod error;
mod folder;
mod get;
mod hash;
mod message;
mod part;
mod put;
mod serve;

pub use copy::{Progress, Transferred};
pub use error::TransferError;
pub use folder::Folder;
pub use get::get;
pub use put::put;
pub use serve::{Way, serve};
