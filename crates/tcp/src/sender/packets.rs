//! Packets: each transmission of a segment is one, with a number of its own that never repeats.

use firstflight::{Bytes, Sent, Tag, Time};

use super::quick_start::Approved;
use super::rate::RateSampler;

/// The numbers of packets, and what is measured of them on the way.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(super) struct Packets {
    /// The number of the packet to be sent next.
    next: u64,
    /// Data packets sent, retransmissions included.
    sent: u64,
    /// When the last packet left.
    last_sent: Option<Time>,
    /// The delivery rate.
    pub(super) rate: RateSampler,
    /// Those that left at a rate that Quick-Start approved.
    pub(super) approved: Approved,
    /// The tag of the full segment that left last.
    last_tag: Tag,
}

impl Packets {
    /// The number of the packet to be sent next.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        self.next
    }

    /// The number of the packet that leaves now.
    #[inline]
    pub(super) fn take_number(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        number
    }

    /// The packet left, with or without data.
    #[inline]
    pub(super) fn left(&mut self, now: Time, with_data: bool) {
        self.sent += u64::from(with_data);
        self.last_sent = Some(now);
    }

    /// A full segment of new data left, with this tag.
    #[inline]
    pub(super) fn full_left(&mut self, now: Time, tag: Tag) {
        self.next += 1;
        self.left(now, true);
        self.last_tag = tag;
    }

    /// Data packets sent, retransmissions included.
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }

    /// When the last packet left.
    #[inline]
    pub(super) fn last_sent(&self) -> Option<Time> {
        self.last_sent
    }

    /// The full segment that left last, of `bytes`.
    #[inline]
    pub(super) fn last_full(&self, bytes: Bytes) -> Sent {
        Sent { packet: self.next - 1, bytes, tag: self.last_tag, retransmission: false }
    }

    /// The packets from now on are sent at an approved rate.
    pub(super) fn approve(&mut self) {
        self.approved.given(self.next);
    }
}
