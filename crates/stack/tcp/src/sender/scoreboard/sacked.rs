//! Marks outstanding segments as SACKed, without going through those already marked.

use super::{Arrival, Fate, Scoreboard};

impl Scoreboard {
    /// Marks every segment that lies completely within the SACK block from `start` to `end`, in stream offsets. Calls `arrived` for each
    /// newly marked segment.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what arrived is dear to pass through memory")]
    pub(crate) fn sack(&mut self, start: u64, end: u64, mut arrived: impl FnMut(Arrival)) {
        // In most cases the block is the block of the previous ACK, extended.
        let (from, upto) = self.marked;
        let mut index = if from == start && upto >= self.base {
            upto
        } else {
            // Or it is the next block, above a lost segment.
            let beyond = upto + 1;
            if beyond >= self.base && beyond < self.end_index() && self.at(beyond).start == start {
                beyond
            } else {
                let Some(first) = self.first_at_or_after(start) else { return };
                first
            }
        };
        let outstanding = self.end_index();
        while index < outstanding {
            let record = *self.at(index);
            if record.fate == Fate::Sacked {
                index = self.next_unsacked(index);
                continue;
            }
            if record.end() > end {
                break;
            }
            self.forget(&record, u64::from(record.len));
            if record.fate == Fate::Lost {
                self.lost -= 1;
            }
            let arrival = self.arrival(&record, true);
            self.note_oldest_delivered(arrival.delivered.packet);
            arrived(arrival);
            let marked = self.at_mut(index);
            marked.fate = Fate::Sacked;
            marked.skip = 1;
            self.sacked += 1;
            self.sacked_bytes += u64::from(record.len);
            if index < self.frontier {
                self.sacked_below_frontier += 1;
            }
            index += 1;
            self.sacked_end = self.sacked_end.max(index);
        }
        self.marked = (start, index);
    }

    /// Returns the first index at or above `index` that is not SACKed. Shortens the links that it follows (path halving).
    pub(super) fn next_unsacked(&mut self, mut index: u64) -> u64 {
        let end = self.end_index();
        while index < end && self.at(index).fate == Fate::Sacked {
            let next = index + u64::from(self.at(index).skip);
            if next < end && self.at(next).fate == Fate::Sacked {
                let beyond = next + u64::from(self.at(next).skip);
                let skip = u32::try_from(beyond - index).unwrap_or(1);
                self.at_mut(index).skip = skip;
                index += u64::from(skip);
            } else {
                index = next;
            }
        }
        index
    }

    /// Returns the index of the first record that starts at or above `offset`. It is estimated from the mean segment size, then searched.
    fn first_at_or_after(&self, offset: u64) -> Option<u64> {
        let (front, back) = (self.records.front()?, self.records.back()?);
        if offset <= front.start {
            return Some(self.base);
        }
        if offset > back.start {
            return None;
        }
        let span = back.start - front.start;
        let last = (self.records.len() - 1) as u64;
        let guess = (offset - front.start).saturating_mul(last) / span.max(1);
        let guess = usize::try_from(guess).unwrap_or(0);
        let fits =
            |i: usize| self.records[i].start >= offset && (i == 0 || self.records[i - 1].start < offset);
        for near in [guess, guess + 1] {
            if near < self.records.len() && fits(near) {
                return Some(self.base + near as u64);
            }
        }
        let found = self.records.partition_point(|record| record.start < offset);
        Some(self.base + found as u64)
    }
}
