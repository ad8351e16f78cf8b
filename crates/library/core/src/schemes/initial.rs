//! The start of a new connection.

use crate::units::{Bytes, Span};

/// The window and threshold with which a new connection starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Initial {
    /// The initial window in segments, at most 65535.
    pub segments: u32,
    /// The initial slow-start threshold; `None` is "arbitrarily high" (RFC 5681 section 3.1).
    pub ssthresh: Option<Bytes>,
}

/// What an earlier connection over the same path learned, for schemes that resume it (RFC 9959 section 3.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SavedPath {
    /// The window in bytes that the path carried (`saved_cwnd`).
    pub window: Bytes,
    /// The minimum RTT (`saved_rtt`).
    pub rtt: Span,
}
