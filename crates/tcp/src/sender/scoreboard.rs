//! The scoreboard: what is outstanding, and what became of each segment.
//!
//! A ring of fixed-size records in order of sequence. No operation walks the window: a SACK block skips what is
//! already marked through links that shorten as they are followed (a disjoint-set forest), losses are marked by a
//! frontier that only moves forward, retransmissions are found by a cursor that only moves forward, and RACK
//! walks transmissions in order of time from the oldest: the first ones along the ring, those sent again along a
//! list of their own. Each segment is passed once per transmission, so the cost of an ACK does not grow with the
//! window (the HyStart paper, section 2.1, shows what happens otherwise).

mod acknowledged;
mod lost;
mod sacked;

use std::collections::VecDeque;
use std::mem::offset_of;

use firstflight::{Bytes, Delivered, SendLimit, Tag, Time};

use super::rate::Flight;

pub(crate) use acknowledged::Head;

/// SACKed segments above a hole that make it lost (RFC 6675 `DupThresh`).
pub(crate) const DUP_THRESH: u64 = 3;

/// What became of a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    /// In the network, sent once.
    Sent,
    /// Found lost, waiting to be sent again.
    Lost,
    /// In the network again.
    Resent,
    /// Selectively acknowledged.
    Sacked,
}

/// A segment outstanding: 48 bytes, 51 with the room that [`push`] keeps; 8.5 more for its place in the order of
/// retransmissions if it was sent again, and 4.25 for one in the list of those lost again.
#[derive(Clone, Copy, Debug)]
struct Record {
    start: u64,
    sent_at: Time,
    delivered_at_send: Bytes,
    /// Low 32 bits of the packet's number; see [`Scoreboard::number`].
    packet: u32,
    /// Nanoseconds from the newest delivery, and from the first transmission of the sampling interval, to this
    /// transmission; saturating (draft-cheng-iccrg-delivery-rate-estimation).
    since_delivery: u32,
    since_first_sent: u32,
    /// How far on the next segment that may not be SACKed is; meaningful when this one is.
    skip: u32,
    /// Sequence length: payload, and one for the FIN.
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

    /// How many records from this one on, which is one of them, are SACKed as far as it knows, or else one: a cursor that
    /// only moves forward need not shorten the links that it follows.
    fn length_of_run(&self) -> u64 {
        if self.fate == Fate::Sacked { u64::from(self.skip) } else { 1 }
    }
}

/// A transmission, as the scoreboard keeps it.
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
    /// The segment's place on the scoreboard, for [`Scoreboard::resent`].
    index: u64,
}

/// A newly delivered segment, with what the delivery-rate sampler and RACK need besides.
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

/// What RACK found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Overdue {
    /// When the next segment becomes overdue, if any is waiting.
    pub(crate) next: Option<Time>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    index: u32,
    packet: u32,
}

/// The scoreboard of a sender. What every packet touches comes first.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Scoreboard {
    records: VecDeque<Record>,
    /// Index of the first record; indices never repeat.
    base: u64,
    /// The number of the packet sent last.
    newest: u64,
    /// Sequence length of records in the network.
    pipe: u64,
    sacked_bytes: u64,
    sacked: u64,
    lost: u64,
    /// Records sent more than once.
    repeated: u64,
    /// No transmission in the network is older than this packet's, as far as was looked at.
    oldest: u64,
    /// Records below the frontier have been judged by RFC 6675's rule. This and the next two may lie below the base.
    frontier: u64,
    sacked_below_frontier: u64,
    /// Lost records at or above the cursor are found by scanning, those below it are in `again`.
    cursor: u64,
    lost_end: u64,
    /// Of the records at or above it RACK has to judge those sent once, which left in their order.
    unjudged: u64,
    /// One past the highest SACKed record.
    sacked_end: u64,
    /// Where the block starts that was marked last, and the index of the first record that did not lie whole within it:
    /// anew once an ACK ends within a record, for of its rest a block may start there.
    marked: (u64, u64),
    /// Retransmissions in order of time; entries of segments since acknowledged or sent once more are stale.
    order: VecDeque<Slot>,
    again: VecDeque<u32>,
    /// Whether the order of retransmissions is kept, which RACK needs.
    ordered: bool,
}

impl Scoreboard {
    /// How many of the scoreboard's first bytes every packet touches.
    pub(crate) const FIRST_OF_EVERY_PACKET: usize = offset_of!(Self, sacked);

    /// A scoreboard that keeps the order of retransmissions, if RACK is to walk it.
    pub(crate) fn new(ordered: bool) -> Self {
        Self { ordered, ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Bytes of the heap.
    pub(crate) fn memory(&self) -> usize {
        self.records.capacity() * size_of::<Record>()
            + self.order.capacity() * size_of::<Slot>()
            + self.again.capacity() * size_of::<u32>()
    }

    /// Bytes in the network: neither delivered nor lost (RFC 6675 `pipe`).
    pub(crate) fn pipe(&self) -> Bytes {
        Bytes::new(self.pipe)
    }

    /// Payload bytes in the network: the pipe without the FIN, which is the last segment's.
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

    /// Whether there is a place for one more segment.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.records.len() != self.records.capacity()
    }

    /// Segments outstanding.
    pub(crate) fn segments(&self) -> u64 {
        self.records.len() as u64
    }

    /// Segments in the network: neither delivered nor lost.
    pub(crate) fn in_network(&self) -> u64 {
        self.segments() - self.sacked - self.lost
    }

    /// Segments found lost and not yet sent again.
    pub(crate) fn lost_segments(&self) -> u64 {
        self.lost
    }

    /// Segments sent again, and not delivered or lost since.
    pub(crate) fn resent_segments(&self) -> u64 {
        self.records.iter().filter(|record| record.fate == Fate::Resent).count() as u64
    }

    /// When the first outstanding segment left, the last time.
    pub(crate) fn head_sent(&self) -> Option<Time> {
        self.records.front().map(|head| head.sent_at)
    }

    /// Whether any segment is found lost and not yet sent again.
    pub(crate) fn has_lost(&self) -> bool {
        self.lost > 0
    }

    /// Whether the first outstanding segment was selectively acknowledged: the receiver reneged.
    pub(crate) fn head_sacked(&self) -> bool {
        self.records.front().is_some_and(|head| head.fate == Fate::Sacked)
    }

    /// Gives back room that what is outstanding does not need: the rings grew with a window that was reduced since.
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

    /// New data left.
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

    /// A range found by one of the `next_*` functions left again.
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

    /// The outstanding segment with the highest sequence: what a tail loss probe, or RFC 6675's rescue, sends
    /// again.
    pub(crate) fn last(&self) -> Option<Range> {
        let last = self.end_index().checked_sub(1).filter(|_| !self.records.is_empty())?;
        (self.at(last).fate != Fate::Sacked).then(|| self.range(last))
    }

    /// The segment of an index that one of the `next_*` functions gave.
    #[inline]
    pub(crate) fn range(&self, index: u64) -> Range {
        let record = self.at(index);
        Range { start: record.start, len: record.len - u16::from(record.fin), fin: record.fin, index }
    }

    /// The whole number of a packet: fewer than 2^32 leave while one is outstanding, for what is outstanding holds
    /// the window, which is less than 2^30 bytes (RFC 7323 section 2.3).
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

/// Adds to a ring that grows by a sixteenth: doubling would keep up to twice the memory that the window needs.
#[inline]
fn push<T>(ring: &mut VecDeque<T>, item: T) {
    if ring.len() == ring.capacity() {
        ring.reserve_exact(step(ring.len()));
    }
    ring.push_back(item);
}

/// By how much a full ring grows.
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
