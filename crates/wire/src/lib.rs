//! Firstflight: wire.
