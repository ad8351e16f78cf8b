//! The start of a new connection.

use crate::units::Bytes;

/// The window and threshold with which a new connection starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Initial {
    /// The initial window in segments, at most 65535.
    pub segments: u32,
    /// The initial slow-start threshold; `None` is "arbitrarily high" (RFC 5681 section 3.1).
    pub ssthresh: Option<Bytes>,
}
