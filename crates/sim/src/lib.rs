//! Firstflight: sim.
