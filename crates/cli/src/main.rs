//! The `firstflight` command.
fn main() {}
