//! Two sockets connected by packets: their bytes and the end of the connection.

mod endings;
mod pipe;
mod transfer;
