//! A record of a capture file: a frame, or bytes to skip.

use super::error::Cut;
use crate::link::Link;

/// Maximum accepted frame length. No frame is as long: the largest segment that Linux passes to a device has half a megabyte, and capture
/// programs truncate frames at 256 KiB by default.
pub(super) const LARGEST_FRAME: u32 = 16 << 20;

/// Result of reading one record.
pub(super) enum Step {
    /// A frame: time, link type, interface, the range of its bytes in the peeked data, and its length on the wire.
    Frame {
        at: u64,
        link: Option<Link>,
        interface: u32,
        data: core::ops::Range<usize>,
        original: u32,
        consume: usize,
    },
    /// Another record, of this many bytes, which is skipped.
    Skip(u64),
    /// The file ended at the end of a record.
    End,
    /// The file ended inside a record.
    Cut(Cut),
}
