//! The endpoint segment by segment, its bytes, and the costs of an ACK.

mod bytes;
mod costs;
mod endpoint;
