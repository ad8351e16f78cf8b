//! The scoreboard: the outstanding segments and the state of each.
//!
//! The scoreboard is a ring of fixed-size records in sequence order. No operation goes through the whole window. A SACK block skips marked
//! records through links that become shorter when they are followed (a disjoint-set forest). Losses are marked up to a frontier that only
//! moves forward. Retransmissions are found by a cursor that only moves forward. RACK checks transmissions in time order from the oldest:
//! first transmissions in the ring, retransmissions in a separate list. Each segment is passed once per transmission, so the cost of an ACK
//! does not grow with the window (the HyStart paper, section 2.1, shows what happens otherwise).

mod acknowledged;
mod lost;
mod sacked;

use std::collections::VecDeque;
use std::mem::offset_of;

use firstflight::{Bytes, Delivered, SendLimit, Tag, Time};

use super::rate::Flight;

pub(crate) use acknowledged::Head;

/// Number of SACKed segments above a hole that show its loss (RFC 6675 `DupThresh`).
pub(crate) const DUP_THRESH: u64 = 3;

/// State of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    /// In the network, and sent only once.
    Sent,
    /// Found lost, and not yet retransmitted.
    Lost,
    /// In the network after a retransmission.
    Resent,
    /// Selectively acknowledged.
    Sacked,
}

/// An outstanding segment. It takes 48 bytes, or 51 with the spare room that [`push`] keeps. A retransmission takes 8.5 more for its entry
/// in the order of retransmissions, and a lost retransmission 4.25 for its entry in another list.
#[derive(Clone, Copy, Debug)]
struct Record {
    start: u64,
    sent_at: Time,
    delivered_at_send: Bytes,
    /// The low 32 bits of the packet number. [`Scoreboard::number`] returns the full number.
    packet: u32,
    /// Nanoseconds from the newest delivery to this transmission. `since_first_sent` is the time from the first transmission of the
    /// sampling interval. Both are limited to their maximum (draft-cheng-iccrg-delivery-rate-estimation).
    since_delivery: u32,
    since_first_sent: u32,
    /// Number of records to the next segment that may not be SACKed. Meaningful only if this one is SACKed.
    skip: u32,
    /// Number of sequence numbers of the segment: its payload bytes, and one for a FIN.
    len: u16,
    tag: Tag,
    fate: Fate,
    limit: SendLimit,
    resent: bool,
    fin: bool,
}

const _: () = assert!(size_of::<Record>() == 48);

impl Record {
    fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }

    fn flight(&self) -> Flight {
        Flight {
            sent_at: self.sent_at,
            delivered_at_send: self.delivered_at_send,
            since_delivery: self.since_delivery,
            since_first_sent: self.since_first_sent,
        }
    }

    fn in_network(&self) -> bool {
        matches!(self.fate, Fate::Sent | Fate::Resent)
    }

    fn is_first_in_network(&self) -> bool {
        self.in_network() && !self.resent
    }

    /// Returns the number of consecutive SACKed records that are known to start at this one, or 1 if it is not SACKed. A cursor that only
    /// moves forward does not need to shorten the links that it follows.
    fn length_of_run(&self) -> u64 {
        if self.fate == Fate::Sacked { u64::from(self.skip) } else { 1 }
    }
}

/// The data of a transmission that the scoreboard stores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission {
    pub(crate) at: Time,
    pub(crate) packet: u64,
    pub(crate) tag: Tag,
    pub(crate) limit: SendLimit,
    pub(crate) delivered: Bytes,
    pub(crate) since_delivery: u32,
    pub(crate) since_first_sent: u32,
}

/// A range of the stream to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Range {
    pub(crate) start: u64,
    pub(crate) len: u16,
    pub(crate) fin: bool,
    /// Index of the segment on the scoreboard, which [`Scoreboard::resent`] needs.
    index: u64,
}

/// A newly delivered segment, with the data that the delivery-rate sampler and RACK need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) delivered: Delivered,
    pub(crate) end: u64,
    pub(crate) since_delivery: u32,
    pub(crate) since_first_sent: u32,
}

impl Arrival {
    pub(crate) fn flight(&self) -> Flight {
        Flight {
            sent_at: self.delivered.sent_at,
            delivered_at_send: self.delivered.delivered_at_send,
            since_delivery: self.since_delivery,
            since_first_sent: self.since_first_sent,
        }
    }
}

/// Result of RACK's loss detection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Overdue {
    /// Time at which the next segment becomes overdue, if one waits.
    pub(crate) next: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    index: u32,
    packet: u32,
}

/// The scoreboard of a sender. Fields that every packet uses come first.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Scoreboard {
    records: VecDeque<Record>,
    /// Index of the first record. Indices are never reused.
    base: u64,
    /// Number of the last packet sent.
    newest: u64,
    /// Number of sequence numbers in the network.
    pipe: u64,
    sacked_bytes: u64,
    sacked: u64,
    lost: u64,
    /// Number of records sent more than once.
    repeated: u64,
    /// A lower bound of the packet numbers that are in the network.
    oldest: u64,
    /// RFC 6675's rule was applied to all records below this index. This and the next two indices may be below `base`.
    frontier: u64,
    sacked_below_frontier: u64,
    /// Lost records at or above this index are found by a search. Those below it are in `again`.
    cursor: u64,
    lost_end: u64,
    /// Lowest index of the records sent once that RACK still has to check. They were sent in sequence order.
    unjudged: u64,
    /// One above the index of the highest SACKed record.
    sacked_end: u64,
    /// Start of the last SACK block that was marked, and the index of the first record that was not completely within it. Reset when an ACK
    /// ends within a record, because a block may then start at the rest of the record.
    marked: (u64, u64),
    /// Retransmissions in time order. Entries are stale if their segment was acknowledged or retransmitted since.
    order: VecDeque<Slot>,
    again: VecDeque<u32>,
    /// Whether the order of retransmissions is recorded. RACK needs it.
    ordered: bool,
}

impl Scoreboard {
    /// Number of bytes at the beginning of the scoreboard that every packet uses.
    pub(crate) const FIRST_OF_EVERY_PACKET: usize = offset_of!(Self, sacked);

    /// Creates an empty scoreboard. If `ordered`, it records the order of retransmissions, which RACK needs.
    pub(crate) fn new(ordered: bool) -> Self {
        Self { ordered, ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Returns the number of heap bytes.
    pub(crate) fn memory(&self) -> usize {
        self.records.capacity() * size_of::<Record>()
            + self.order.capacity() * size_of::<Slot>()
            + self.again.capacity() * size_of::<u32>()
    }

    /// Returns the number of bytes in the network, which are neither delivered nor lost (RFC 6675 `pipe`).
    pub(crate) fn pipe(&self) -> Bytes {
        Bytes::new(self.pipe)
    }

    /// Returns the number of payload bytes in the network: the pipe without the FIN, which is part of the last segment.
    pub(crate) fn payload_in_network(&self) -> Bytes {
        let fin = self.records.back().is_some_and(|last| last.fin && last.in_network());
        Bytes::new(self.pipe.saturating_sub(u64::from(fin)))
    }

    pub(crate) fn sacked_bytes(&self) -> Bytes {
        Bytes::new(self.sacked_bytes)
    }

    pub(crate) fn sacked_segments(&self) -> u64 {
        self.sacked
    }

    /// Checks whether another segment can be added without an allocation.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.records.len() != self.records.capacity()
    }

    /// Returns the number of outstanding segments.
    pub(crate) fn segments(&self) -> u64 {
        self.records.len() as u64
    }

    /// Returns the number of segments in the network, which are neither delivered nor lost.
    pub(crate) fn in_network(&self) -> u64 {
        self.segments() - self.sacked - self.lost
    }

    /// Returns the number of segments found lost and not yet retransmitted.
    pub(crate) fn lost_segments(&self) -> u64 {
        self.lost
    }

    /// Returns the number of segments that were retransmitted and neither delivered nor found lost since.
    pub(crate) fn resent_segments(&self) -> u64 {
        self.records.iter().filter(|record| record.fate == Fate::Resent).count() as u64
    }

    /// Returns the time of the newest transmission of the first outstanding segment.
    pub(crate) fn head_sent(&self) -> Option<Time> {
        self.records.front().map(|head| head.sent_at)
    }

    /// Checks whether any segment is found lost and not yet retransmitted.
    pub(crate) fn has_lost(&self) -> bool {
        self.lost > 0
    }

    /// Checks whether the first outstanding segment was selectively acknowledged, which shows that the receiver reneged.
    pub(crate) fn head_sacked(&self) -> bool {
        self.records.front().is_some_and(|head| head.fate == Fate::Sacked)
    }

    /// Frees memory that the outstanding segments do not need, because the window was reduced after the rings had grown.
    pub(crate) fn shrink(&mut self) {
        let enough = self.records.len() + step(self.records.len());
        self.records.shrink_to(enough);
        self.order.shrink_to_fit();
        if self.lost == 0 {
            self.again.clear();
        }
        self.again.shrink_to_fit();
    }

    fn end_index(&self) -> u64 {
        self.base + self.records.len() as u64
    }

    fn at(&self, index: u64) -> &Record {
        &self.records[position(index, self.base)]
    }

    fn at_mut(&mut self, index: u64) -> &mut Record {
        &mut self.records[position(index, self.base)]
    }

    /// Adds a segment of new data that was sent.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what it is told is dear to pass through memory")]
    pub(crate) fn sent(&mut self, start: u64, payload: u16, fin: bool, how: &Transmission) {
        let len = payload + u16::from(fin);
        self.newest = how.packet;
        let record = Record {
            start,
            sent_at: how.at,
            packet: low(how.packet),
            delivered_at_send: how.delivered,
            since_delivery: how.since_delivery,
            since_first_sent: how.since_first_sent,
            skip: 1,
            len,
            tag: how.tag,
            fate: Fate::Sent,
            limit: how.limit,
            resent: false,
            fin,
        };
        push(&mut self.records, record);
        self.pipe += u64::from(len);
    }

    /// Records the retransmission of a range that one of the `next_*` functions found.
    pub(crate) fn resent(&mut self, range: &Range, how: &Transmission) {
        self.newest = how.packet;
        let record = self.at_mut(range.index);
        let was = record.fate;
        let len = u64::from(record.len);
        record.sent_at = how.at;
        record.packet = low(how.packet);
        record.delivered_at_send = how.delivered;
        record.since_delivery = how.since_delivery;
        record.since_first_sent = how.since_first_sent;
        record.tag = how.tag;
        record.limit = how.limit;
        record.fate = Fate::Resent;
        let again = core::mem::replace(&mut record.resent, true);
        self.repeated += u64::from(!again);
        if was == Fate::Lost {
            self.lost -= 1;
            self.pipe += len;
        }
        if self.ordered {
            self.list_resent(Slot { index: low(range.index), packet: low(how.packet) });
        }
    }

    /// Returns the outstanding segment with the highest offset, which a tail loss probe or the rescue of RFC 6675 retransmits. `None` if it
    /// is SACKed.
    pub(crate) fn last(&self) -> Option<Range> {
        let last = self.end_index().checked_sub(1).filter(|_| !self.records.is_empty())?;
        (self.at(last).fate != Fate::Sacked).then(|| self.range(last))
    }

    /// Returns the range of the segment at an index that one of the `next_*` functions returned.
    #[inline]
    pub(crate) fn range(&self, index: u64) -> Range {
        let record = self.at(index);
        Range { start: record.start, len: record.len - u16::from(record.fin), fin: record.fin, index }
    }

    /// Returns the full number of a packet from its low 32 bits. While a packet is outstanding, fewer than 2^32 packets are sent, because
    /// the outstanding data fits the window, which is less than 2^30 bytes (RFC 7323 section 2.3).
    fn number(&self, packet: u32) -> u64 {
        self.newest - u64::from(low(self.newest).wrapping_sub(packet))
    }

    fn arrival(&self, record: &Record, selectively: bool) -> Arrival {
        Arrival {
            delivered: self.delivered(record, selectively),
            end: record.end(),
            since_delivery: record.since_delivery,
            since_first_sent: record.since_first_sent,
        }
    }

    #[inline]
    fn delivered(&self, record: &Record, selectively: bool) -> Delivered {
        Delivered {
            packet: self.number(record.packet),
            bytes: Bytes::new(u64::from(record.len - u16::from(record.fin))),
            sent_at: record.sent_at,
            tag: record.tag,
            delivered_at_send: record.delivered_at_send,
            limit: record.limit,
            retransmitted: record.resent,
            selectively,
        }
    }
}

/// Appends to a ring, which grows by a sixteenth when it is full. Doubling would take up to twice the memory that the window needs.
#[inline]
fn push<T>(ring: &mut VecDeque<T>, item: T) {
    if ring.len() == ring.capacity() {
        ring.reserve_exact(step(ring.len()));
    }
    ring.push_back(item);
}

/// Returns the number of entries by which a full ring grows.
fn step(len: usize) -> usize {
    (len / 16).max(8)
}

#[expect(clippy::cast_possible_truncation, reason = "an index lies within 2^32 of the base")]
fn position(index: u64, base: u64) -> usize {
    (index - base) as usize
}

#[expect(clippy::cast_possible_truncation, reason = "compared modulo 2^32")]
fn low(number: u64) -> u32 {
    number as u32
}

#[cfg(test)]
mod tests;
