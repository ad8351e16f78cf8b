//! Results of the reader for captures that the tests make byte by byte.

#[path = "../made/mod.rs"]
mod made;
#[path = "../made/start.rs"]
mod start;

mod clock;
mod copies;
mod ecn;
mod evidence;
mod first_window;
mod formats;
mod handshakes;
mod hostile;
mod order;
mod packed;
mod pauses;
mod places;
mod quic;
mod repairs;
mod reuse;
mod shapes;
mod socket;
mod tunnels;
mod vantage;
