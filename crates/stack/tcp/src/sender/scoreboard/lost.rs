//! Marks outstanding segments as lost, and chooses the next retransmission.

use std::collections::VecDeque;

use firstflight::{Bytes, LostPacket, Time};

use super::{DUP_THRESH, Fate, Overdue, Range, Record, Scoreboard, Slot, Transmission, low, step};

/// The oldest transmission in the network.
#[derive(Clone, Copy, Debug)]
struct Oldest {
    /// Index of the segment's record. `again` says whether the transmission is a retransmission.
    index: u64,
    again: bool,
    /// Number of the packet. `sent_at` is its transmission time.
    number: u64,
    sent_at: Time,
}

impl Scoreboard {
    /// Marks losses by the rule `IsLost` of RFC 6675, for all segments at once. A segment is lost if [`DUP_THRESH`] segments above it are
    /// SACKed. Segments are counted, as in Linux; the RFC counts runs or bytes, which is equal for full segments. The rule is not applied
    /// to retransmissions, because SACKs of older transmissions do not show their loss.
    pub(crate) fn mark_lost_by_sacks(&mut self, lost: &mut Vec<LostPacket>) {
        if !self.may_be_lost_by_sacks() {
            return;
        }
        let end = self.end_index();
        self.frontier = self.frontier.max(self.base);
        while self.frontier < end {
            let sacked_here = self.at(self.frontier).fate == Fate::Sacked;
            let above = self.sacked - self.sacked_below_frontier - u64::from(sacked_here);
            if above < DUP_THRESH {
                break;
            }
            if sacked_here {
                self.sacked_below_frontier += 1;
            } else if self.at(self.frontier).fate == Fate::Sent {
                self.mark_lost(self.frontier, lost);
            }
            self.frontier += 1;
        }
    }

    /// Checks whether there may be [`DUP_THRESH`] SACKed segments above a segment that was sent once, is in the network and was not checked
    /// by RACK. If RACK waits for no segment, this is rarely so.
    #[inline]
    fn may_be_lost_by_sacks(&self) -> bool {
        self.sacked_end > self.unjudged.max(self.frontier) + DUP_THRESH
    }

    /// Marks the first outstanding segment as lost (RFC 5681 section 3.2: on the third duplicate ACK; RFC 6582: on a partial ACK). If it is
    /// a retransmission, marks it only if `resent_too`.
    pub(crate) fn mark_head_lost(&mut self, resent_too: bool, lost: &mut Vec<LostPacket>) {
        let markable = |head: &Record| head.fate == Fate::Sent || resent_too && head.fate == Fate::Resent;
        if self.records.front().is_some_and(markable) {
            self.mark_lost(self.base, lost);
        }
    }

    /// Returns the time of the newest transmission of the first outstanding segment. Returns `None` if there is none, or if it waits for a
    /// retransmission.
    pub(crate) fn head_in_network_since(&self) -> Option<Time> {
        let head = self.records.front()?;
        head.in_network().then_some(head.sent_at)
    }

    fn mark_lost(&mut self, index: u64, lost: &mut Vec<LostPacket>) {
        self.at_mut(index).fate = Fate::Lost;
        let packet = self.lost_packet(self.at(index));
        self.pipe -= packet.bytes.get();
        self.lost += 1;
        if index < self.cursor {
            self.list_lost_again(index);
        } else {
            self.lost_end = self.lost_end.max(index + 1);
        }
        lost.push(packet);
    }

    fn lost_packet(&self, record: &Record) -> LostPacket {
        LostPacket {
            packet: self.number(record.packet),
            bytes: Bytes::new(u64::from(record.len)),
            tag: record.tag,
        }
    }

    /// Returns the loss report of a segment for the case that its newest transmission is lost.
    pub(crate) fn if_lost(&self, range: &Range) -> LostPacket {
        self.lost_packet(self.at(range.index))
    }

    /// Checks whether it is known that no packet sent before packet `newest` is in the network. Later transmissions have higher numbers.
    #[inline]
    pub(crate) fn has_none_before(&self, newest: u64) -> bool {
        newest <= self.oldest
    }

    /// Marks the losses that RACK detects (RFC 8985 section 6.2 step 5). A segment sent before packet `newest` is lost if it is older than
    /// that packet's RTT plus the reordering window, which means that it was sent at or before `deadline`.
    pub(crate) fn mark_overdue(
        &mut self,
        newest: u64,
        deadline: Time,
        lost: &mut Vec<LostPacket>,
    ) -> Overdue {
        while !self.has_none_before(newest)
            && let Some(oldest) = self.oldest()
        {
            self.oldest = oldest.number;
            if oldest.number >= newest {
                break;
            }
            if oldest.sent_at > deadline {
                return Overdue { next: Some(oldest.sent_at) };
            }
            if oldest.again {
                self.order.pop_front();
            } else {
                self.unjudged = oldest.index + 1;
            }
            self.mark_lost(oldest.index, lost);
            self.oldest += 1;
        }
        Overdue::default()
    }

    /// Records the delivery of a packet. If it was the oldest packet in the network, all others are newer. While packets arrive in order,
    /// no search is therefore needed.
    #[inline]
    pub(super) fn note_oldest_delivered(&mut self, packet: u64) {
        self.oldest += u64::from(packet == self.oldest);
    }

    /// Returns the oldest transmission in the network that RACK has not checked.
    #[inline]
    fn oldest(&mut self) -> Option<Oldest> {
        let end = self.end_index();
        self.unjudged = self.unjudged.max(self.base);
        let mut first = None;
        while self.unjudged < end {
            let record = self.at(self.unjudged);
            if record.is_first_in_network() {
                first = Some(self.transmission(self.unjudged, record, false));
                break;
            }
            self.unjudged += record.length_of_run();
        }
        while let Some(&slot) = self.order.front() {
            if first.as_ref().is_some_and(|first| first.number < self.number(slot.packet)) {
                break;
            }
            if let Some(index) = self.live(slot) {
                return Some(self.transmission(index, self.at(index), true));
            }
            self.order.pop_front();
        }
        first
    }

    #[inline]
    fn transmission(&self, index: u64, record: &Record, again: bool) -> Oldest {
        Oldest { index, again, number: self.number(record.packet), sent_at: record.sent_at }
    }

    /// Returns the time of the last transmission before packet `newest` whose segment is still in the network; `None` if there is none.
    pub(crate) fn last_before(&self, newest: u64) -> Option<Time> {
        let first = (self.unjudged.max(self.base)..self.end_index()).map(|index| self.at(index));
        let first = first.filter(|record| record.is_first_in_network());
        let again = self.order.iter().filter_map(|&slot| self.live(slot)).map(|index| self.at(index));
        let before = |record: &&Record| self.number(record.packet) < newest;
        let last = [first.take_while(before).last(), again.take_while(before).last()];
        last.into_iter().flatten().map(|record| record.sent_at).max()
    }

    /// Records a tail loss probe as Linux does. If the segment was not found lost, the probe does not count as a retransmission.
    pub(crate) fn probed(&mut self, range: &Range, how: &Transmission) {
        let was = self.at(range.index).fate;
        self.resent(range, how);
        if was == Fate::Sent {
            self.at_mut(range.index).fate = was;
        }
    }

    /// Returns the index of a retransmission's record, if it is still the newest transmission of the segment and in the network.
    fn live(&self, slot: Slot) -> Option<u64> {
        let index = self.whole(slot.index)?;
        let record = self.at(index);
        (record.packet == slot.packet && record.in_network()).then_some(index)
    }

    /// Returns the index of a record in the list of lost retransmissions, if it still waits to be retransmitted.
    fn waiting(&self, entry: u32) -> Option<u64> {
        self.whole(entry).filter(|index| self.at(*index).fate == Fate::Lost)
    }

    /// Returns the full index of an outstanding record from its low 32 bits.
    fn whole(&self, index: u32) -> Option<u64> {
        let index = self.base + u64::from(index.wrapping_sub(low(self.base)));
        (index < self.end_index()).then_some(index)
    }

    /// Appends a transmission to the order of retransmissions.
    #[inline]
    pub(super) fn list_resent(&mut self, slot: Slot) {
        if self.order.len() == self.order.capacity() {
            let mut order = core::mem::take(&mut self.order);
            make_room(&mut order, self.records.len(), |slot| self.live(*slot).is_some());
            self.order = order;
        }
        self.order.push_back(slot);
    }

    /// Adds segment `index` to the list of lost retransmissions.
    fn list_lost_again(&mut self, index: u64) {
        if self.again.len() == self.again.capacity() {
            let mut again = core::mem::take(&mut self.again);
            make_room(&mut again, self.records.len(), |entry| self.waiting(*entry).is_some());
            self.again = again;
        }
        self.again.push_back(low(index));
    }

    /// Marks the losses of a timeout: the first segment (RFC 6298 section 5.4), and all others that are not SACKed and were sent at or
    /// before `deadline`. If `forget_sacks`, the SACK marks are removed and all segments are lost, because the receiver reneged (RFC 2018
    /// section 8) or the host does not keep SACK marks.
    pub(crate) fn mark_lost_at_timeout(&mut self, deadline: Time, forget_sacks: bool) {
        (self.pipe, self.lost) = (0, 0);
        let mut unjudged = None;
        for (index, record) in (self.base..).zip(&mut self.records) {
            let overdue = index == self.base || record.sent_at <= deadline;
            if forget_sacks || overdue && record.fate != Fate::Sacked {
                record.fate = Fate::Lost;
            }
            if record.in_network() {
                self.pipe += u64::from(record.len);
                unjudged = unjudged.or(Some(index).filter(|_| !record.resent));
            }
            self.lost += u64::from(record.fate == Fate::Lost);
        }
        if forget_sacks {
            self.marked = (0, 0);
            self.sacked = 0;
            self.sacked_bytes = 0;
            self.sacked_below_frontier = 0;
            self.sacked_end = self.base;
        }
        self.restart_cursor();
        self.unjudged = unjudged.unwrap_or_else(|| self.end_index());
        if self.pipe == 0 {
            self.order.clear();
        }
    }

    fn restart_cursor(&mut self) {
        self.cursor = self.base;
        self.lost_end = self.end_index();
        self.again.clear();
    }

    /// Removes the marks of spurious losses. The segments are in the network again, with their first transmission.
    pub(crate) fn unmark_lost(&mut self) {
        let mut pipe = 0;
        for record in &mut self.records {
            if record.fate == Fate::Lost {
                record.fate = if record.resent { Fate::Resent } else { Fate::Sent };
            }
            if record.in_network() {
                pipe += u64::from(record.len);
            }
        }
        self.pipe = pipe;
        // All records must be checked again.
        (self.frontier, self.sacked_below_frontier) = (self.base, 0);
        self.oldest = 0;
        self.lost = 0;
        self.again.clear();
        self.cursor = self.base;
        self.lost_end = self.base;
        let base = self.base;
        self.unjudged = base;
        self.order.clear();
        let mut slots: Vec<(Time, Slot)> = (base..)
            .zip(&self.records)
            .filter(|(_, record)| record.in_network() && record.resent)
            .map(|(index, record)| (record.sent_at, Slot { index: low(index), packet: record.packet }))
            .collect();
        slots.sort_by_key(|(at, slot)| (*at, slot.packet));
        self.order.extend(slots.into_iter().map(|(_, slot)| slot));
    }

    /// Returns the segment of [`Scoreboard::next_lost_index`].
    #[cfg(any(test, feature = "bench"))]
    pub(crate) fn next_lost(&mut self) -> Option<Range> {
        self.next_lost_index().map(|index| self.range(index))
    }

    /// Returns the index of the lost segment to retransmit first; `None` if none is lost. Lost retransmissions come first, because they are
    /// the oldest holes. The others follow in sequence order (RFC 6675 `NextSeg` rule 1).
    #[inline]
    pub(crate) fn next_lost_index(&mut self) -> Option<u64> {
        if self.lost > 0 {
            return self.find_next_lost();
        }
        // No segment is lost, so all entries of the list are stale.
        self.again.clear();
        self.cursor = self.cursor.max(self.lost_end.min(self.end_index()));
        None
    }

    fn find_next_lost(&mut self) -> Option<u64> {
        while let Some(&entry) = self.again.front() {
            match self.waiting(entry) {
                Some(index) => return Some(index),
                None => self.again.pop_front(),
            };
        }
        let end = self.lost_end.min(self.end_index());
        self.cursor = self.cursor.max(self.base);
        while self.cursor < end {
            let record = self.at(self.cursor);
            if record.fate == Fate::Lost {
                return Some(self.cursor);
            }
            self.cursor += record.length_of_run();
        }
        None
    }

    /// Returns the index of the first segment at or above `from` that was never retransmitted and lies below the highest SACKed one,
    /// whether or not it is lost (RFC 6675 `NextSeg` rule 3; ns-2's `GetNextRetran`). Advances `from`; the caller stores it for the episode
    /// and initializes it to zero.
    pub(crate) fn next_hole_index(&mut self, from: &mut u64) -> Option<u64> {
        *from = (*from).max(self.base);
        while *from < self.sacked_end.min(self.end_index()) {
            let record = self.at(*from);
            if record.fate != Fate::Sacked && !record.resent {
                return Some(*from);
            }
            let next = self.next_unsacked(*from);
            *from = if next > *from { next } else { *from + 1 };
        }
        None
    }
}

/// Makes room in a full list of records. Each record has at most one entry that is not stale. The list grows at most as large as the ring
/// of the records would. If it has this size, stale entries are removed, which are at least a sixteenth of the list.
#[cold]
fn make_room<T>(list: &mut VecDeque<T>, records: usize, is_live: impl Fn(&T) -> bool) {
    let most = records + step(records);
    if list.len() >= most {
        list.retain(is_live);
    }
    if list.len() == list.capacity() {
        list.reserve_exact(step(list.len()).min(most.saturating_sub(list.len())).max(1));
    }
}
