//! Firstflight's start-up schemes as congestion controllers of quinn.
