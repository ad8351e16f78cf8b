//! The endpoint segment by segment, the bytes through it, and what an ACK costs.

mod bytes;
mod costs;
mod endpoint;
