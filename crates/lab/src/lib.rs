//! Firstflight: lab.
