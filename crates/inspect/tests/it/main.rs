//! What the reader finds in captures that the tests make byte by byte.

#[path = "../made/mod.rs"]
mod made;
#[path = "../made/start.rs"]
mod start;

mod asleep;
mod clock;
mod copies;
mod ecn;
mod evidence;
mod formats;
mod handshakes;
mod hostile;
mod pauses;
mod reuse;
mod seen;
mod shapes;
mod socket;
mod tunnels;
