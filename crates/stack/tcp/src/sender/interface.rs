//! The types that an endpoint and its sender exchange.

use firstflight::Sent;

/// An acknowledgement in stream offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckInput<'a> {
    pub(crate) ack: u64,
    /// The window that the ACK offers, in bytes.
    pub(crate) window: u64,
    /// SACK blocks, except a block that reports a duplicate.
    pub(crate) blocks: &'a [(u64, u64)],
    /// The duplicate that the first SACK block reports (DSACK, RFC 2883).
    pub(crate) dsack: Option<(u64, u64)>,
    /// Whether the segment carries data, a SYN or a FIN. If so, it is not a duplicate ACK.
    pub(crate) carries_data: bool,
    pub(crate) ece: bool,
    /// The timestamp that the ACK echoes, TSecr (RFC 7323).
    pub(crate) echo: Option<u32>,
}

/// A data segment to send now, in stream offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing {
    pub(crate) start: u64,
    pub(crate) len: u16,
    pub(crate) fin: bool,
    /// Whether the segment carries CWR, the response to an ECN echo.
    pub(crate) cwr: bool,
    /// Whether the segment carries PSH.
    pub(crate) push: bool,
    pub(crate) sent: Sent,
}
