//! What the reader finds in captures that the tests make byte by byte.

#[path = "../made/mod.rs"]
mod made;

mod clock;
mod evidence;
mod formats;
mod hostile;
mod reuse;
mod shapes;
