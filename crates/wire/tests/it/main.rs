//! Headers and captures through the public interface, tshark's reading of them, and two sockets that exchange packets.

mod bytes;
mod round_trip;
mod tshark;
