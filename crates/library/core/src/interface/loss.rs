//! Losses.

use super::Tag;
use crate::units::{Bytes, Time};

/// Packets found lost.
#[non_exhaustive]
#[derive(Clone, Copy, Debug)]
pub struct Loss<'a> {
    /// The packets newly found lost.
    pub packets: &'a [LostPacket],
    /// Payload bytes of the lost packets.
    pub bytes: Bytes,
    /// Number of separate ranges of the stream that the packets form.
    pub ranges: u32,
    /// Transmission time of the newest of the packets, from a host with packet numbers. The last reduction answers
    /// every loss of a packet sent before it, whenever the loss is found (RFC 9002 section 7.3.2). If the host gives
    /// `None`, an episode lasts as long as [`Path::recovering`](super::Path::recovering).
    pub sent_at: Option<Time>,
    /// Whether this loss opens an episode. The [`crate::Controller`] fills this in.
    pub opens_episode: bool,
    /// Whether everything in flight was lost for longer than the persistence threshold (RFC 9002 section 7.6). The
    /// [`crate::Controller`] answers persistent congestion like a timeout. Hosts without that notion set false.
    pub persistent: bool,
}

impl<'a> Loss<'a> {
    /// Returns the loss of `packets`, in order of transmission. The host sets the other fields that it
    /// knows.
    pub fn new(packets: &'a [LostPacket]) -> Self {
        let bytes = packets.iter().fold(Bytes::ZERO, |sum, packet| sum + packet.bytes);
        let gaps = packets.windows(2).filter(|pair| pair[1].packet != pair[0].packet + 1).count();
        let ranges = usize::from(!packets.is_empty()) + gaps;
        Self { ranges: u32::try_from(ranges).unwrap_or(u32::MAX), packets, ..Self::of(bytes) }
    }

    /// Returns the loss of `bytes` in one range, for a host that keeps no list of packets.
    pub const fn of(bytes: Bytes) -> Self {
        Self { packets: &[], bytes, ranges: 1, sent_at: None, opens_episode: false, persistent: false }
    }
}

/// A packet found lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LostPacket {
    /// The number of the lost transmission.
    pub packet: u64,
    /// Payload bytes.
    pub bytes: Bytes,
    /// Tag of the plan under which the packet was sent.
    pub tag: Tag,
}
