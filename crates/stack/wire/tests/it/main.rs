//! Headers through the public interface, and two sockets that exchange packets.

mod bytes;
mod round_trip;
