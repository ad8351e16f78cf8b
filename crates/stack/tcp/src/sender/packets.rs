//! Packets. Each transmission of a segment is a packet with a unique number.

use firstflight::{Bytes, Sent, Tag, Time};

use super::approved::Approved;
use super::rate::RateSampler;

/// Assigns packet numbers, and records measurements of sent packets.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(super) struct Packets {
    /// The number of the next packet.
    next: u64,
    /// Number of data packets sent, including retransmissions.
    sent: u64,
    /// Time at which the last packet was sent.
    last_sent: Option<Time>,
    /// Measures the delivery rate.
    pub(super) rate: RateSampler,
    /// Tracks the packets sent at a rate that Quick-Start approved.
    pub(super) approved: Approved,
    /// The tag of the last full segment sent.
    last_tag: Tag,
}

impl Packets {
    /// Returns the number of the next packet.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// Returns the number of the packet that is sent now, and increments it.
    #[inline]
    pub(super) fn take_number(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        number
    }

    /// Records that a packet was sent, with or without data.
    #[inline]
    pub(super) fn left(&mut self, now: Time, with_data: bool) {
        self.sent += u64::from(with_data);
        self.last_sent = Some(now);
    }

    /// Records that a full segment of new data was sent with this tag.
    #[inline]
    pub(super) fn full_left(&mut self, now: Time, tag: Tag) {
        self.next += 1;
        self.left(now, true);
        self.last_tag = tag;
    }

    /// Returns the number of data packets sent, including retransmissions.
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    /// Returns the time at which the last packet was sent.
    #[inline]
    pub(super) fn last_sent(&self) -> Option<Time> {
        self.last_sent
    }

    /// Returns the packet data of the last full segment, which has `bytes` of payload.
    #[inline]
    pub(super) fn last_full(&self, bytes: Bytes) -> Sent {
        Sent { packet: self.next - 1, bytes, tag: self.last_tag, retransmission: false }
    }

    /// Records that the packets from the next one on are sent at an approved rate.
    pub(super) fn approve(&mut self) {
        self.approved.given(self.next);
    }
}
