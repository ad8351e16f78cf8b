//! Firstflight's start-up schemes as congestion controllers of noq.

pub mod resume;
