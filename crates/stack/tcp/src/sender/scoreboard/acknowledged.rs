//! Removes outstanding segments that a cumulative ACK acknowledges.

use firstflight::{Bytes, Delivered, Time};

use super::{Arrival, Fate, Record, Scoreboard, low};
use crate::sender::rate::Flight;

/// Result of an ACK on an orderly scoreboard ([`Scoreboard::is_orderly`]).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    /// Number of segments that were fully acknowledged. `bytes` is the number of bytes acknowledged.
    pub(crate) segments: u32,
    pub(crate) bytes: u64,
    /// The last segment that was fully acknowledged.
    pub(crate) newest: Option<Head>,
}

/// The first outstanding segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct First {
    /// The number of the segment's packet.
    pub(crate) packet: u64,
    pub(crate) sent_at: Time,
    /// The segment's payload bytes.
    pub(crate) len: u16,
}

impl First {
    #[inline]
    pub(crate) fn bytes(&self) -> Bytes {
        Bytes::new(u64::from(self.len))
    }
}

/// A segment removed from the head of the scoreboard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// The number of the segment's packet.
    pub(crate) packet: u64,
    /// The stream offset at which the segment ends.
    pub(crate) end: u64,
    /// The segment's payload bytes.
    pub(crate) bytes: u64,
    pub(crate) flight: Flight,
}

impl Scoreboard {
    /// Processes a cumulative ACK up to `una`. Calls `arrived` for each newly delivered segment. Returns the number of acknowledged
    /// segments, including SACKed ones, and the number of bytes acknowledged of a partly acknowledged segment.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what arrived is dear to pass through memory")]
    pub(crate) fn acknowledge(&mut self, una: u64, mut arrived: impl FnMut(Arrival)) -> (u32, u64) {
        let (mut segments, mut trimmed) = (0, 0);
        while let Some(head) = self.records.front_mut() {
            if head.end() <= una {
                let record = *head;
                self.records.pop_front();
                self.forget(&record, u64::from(record.len));
                if record.fate != Fate::Sacked {
                    let arrival = self.arrival(&record, false);
                    self.note_oldest_delivered(arrival.delivered.packet);
                    arrived(arrival);
                }
                self.drop_head(&record);
                segments += 1;
            } else {
                if head.start < una {
                    let cut = una - head.start;
                    head.start = una;
                    head.len -= u16::try_from(cut).unwrap_or(head.len);
                    let record = *head;
                    if record.fate != Fate::Sacked {
                        trimmed = cut;
                    }
                    self.forget(&record, cut);
                    self.marked = (una, self.base);
                }
                break;
            }
        }
        (segments, trimmed)
    }

    /// Checks whether every outstanding segment was sent only once, after packet `newest` if there is one, and none is known to be lost or
    /// SACKed.
    #[inline]
    pub(crate) fn is_orderly(&self, newest: Option<u64>) -> bool {
        let later = |head: &Record| newest.is_none_or(|newest| self.number(head.packet) > newest);
        self.sacked | self.lost | self.repeated == 0 && self.records.front().is_none_or(later)
    }

    /// Acknowledges segments, as [`Scoreboard::acknowledge`]. Requires [`Scoreboard::is_orderly`]. Calls `delivered` for each delivered
    /// segment.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "what it gives is used at once, and is dear to pass through memory"
    )]
    pub(crate) fn acknowledge_in_order(&mut self, una: u64, mut delivered: impl FnMut(Delivered)) -> Tally {
        let before = self.base;
        let mut newest = self.take_head(una, &mut delivered);
        let mut bytes = newest.map_or(0, |head| head.bytes);
        // In most cases there is only one segment.
        while let Some(head) = newest
            && head.end < una
            && let Some(next) = self.take_head(una, &mut delivered)
        {
            newest = Some(next);
            bytes += next.bytes;
        }
        if newest.is_none_or(|head| head.end < una)
            && let Some(head) = self.records.front_mut()
        {
            let cut = una - head.start;
            head.start = una;
            head.len -= u16::try_from(cut).unwrap_or(head.len);
            self.pipe -= cut;
            bytes += cut;
            self.marked = (una, self.base);
        }
        Tally { segments: low(self.base - before), bytes, newest }
    }

    /// Returns the first segment if `una` acknowledges exactly this segment and it has no FIN. It may then be removed with
    /// [`Scoreboard::drop_first`].
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as above")]
    pub(crate) fn head_up_to(&self, una: u64) -> Option<First> {
        let head = self.records.front().filter(|head| head.end() == una && !head.fin)?;
        Some(First { packet: self.number(head.packet), sent_at: head.sent_at, len: head.len })
    }

    /// Removes the first segment, which has `len` bytes.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as above")]
    pub(crate) fn drop_first(&mut self, len: u16) {
        self.pipe -= u64::from(len);
        self.records.pop_front();
        self.base += 1;
    }

    /// Removes the first segment if it ends at or below `una`, and calls `delivered` for it. Returns `None` if it ends above.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "as above")]
    fn take_head(&mut self, una: u64, delivered: &mut impl FnMut(Delivered)) -> Option<Head> {
        let head = self.records.front().filter(|head| head.end() <= una)?;
        let packet = self.delivered(head, false);
        let bytes = u64::from(head.len - u16::from(head.fin));
        let taken = Head { packet: packet.packet, end: head.end(), bytes, flight: head.flight() };
        self.pipe -= u64::from(head.len);
        delivered(packet);
        self.records.pop_front();
        self.base += 1;
        Some(taken)
    }

    /// Subtracts `bytes` bytes of a record from the counters.
    pub(super) fn forget(&mut self, record: &Record, bytes: u64) {
        match record.fate {
            Fate::Sent | Fate::Resent => self.pipe -= bytes,
            Fate::Sacked => self.sacked_bytes -= bytes,
            Fate::Lost => {}
        }
    }

    fn drop_head(&mut self, record: &Record) {
        match record.fate {
            Fate::Sacked => {
                self.sacked -= 1;
                if self.base < self.frontier {
                    self.sacked_below_frontier -= 1;
                }
            }
            Fate::Lost => self.lost -= 1,
            Fate::Sent | Fate::Resent => {}
        }
        self.base += 1;
        if record.resent {
            self.repeated -= 1;
            if self.repeated == 0 {
                self.order.clear();
            }
        }
        if self.records.is_empty() {
            self.again.clear();
        }
    }
}
