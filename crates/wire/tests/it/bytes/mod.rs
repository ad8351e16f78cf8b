//! Two sockets that are joined by packets: bytes and how they end.

mod endings;
mod pipe;
mod transfer;
