//! Stores the bytes of a part of a stream in pages. A page exists from the time when its first byte is stored until all its bytes are
//! released. Memory is therefore used for stored bytes, not for the limit.

use core::ops::Range;
use std::collections::VecDeque;

/// Size of a page in bytes. A buffer with a smaller limit has smaller pages, and a buffer that returns longer pieces has larger pages.
const PAGE: usize = 16 << 10;

/// Stored bytes, addressed by their offset in the stream.
#[derive(Clone, Debug)]
pub(super) struct Pages {
    /// Size of a page in bytes, a power of two.
    size: usize,
    /// Number of the first page kept. Page `n` begins at the stream offset `n * size`.
    first: u64,
    /// The pages. A page has no bytes after the last stored one, so a new page need not be filled with zeros first.
    kept: VecDeque<Option<Vec<u8>>>,
    /// Number of pages that are allocated.
    count: usize,
    /// The last released page, to be used as the next page.
    spare: Option<Vec<u8>>,
}

impl Pages {
    /// Creates an empty store for at most `room` bytes at a time. The page size is chosen so that a piece of up to `longest` bytes touches
    /// at most two pages.
    pub(super) fn new(room: u64, longest: usize) -> Self {
        let size =
            usize::try_from(room).unwrap_or(usize::MAX).clamp(64, PAGE.max(longest)).next_power_of_two();
        Self { size, first: 0, kept: VecDeque::new(), count: 0, spare: None }
    }

    /// Stores `bytes` from the stream offset `offset` on. Ignores bytes below the released offset.
    pub(super) fn put(&mut self, offset: u64, bytes: &[u8]) {
        let (mut offset, mut rest) = (offset, bytes);
        while !rest.is_empty() {
            let (number, at) = self.place(offset);
            let (here, later) = rest.split_at(rest.len().min(self.size - at));
            if let Some(page) = self.page_to_write(number) {
                // Of a byte below the page's end, the page has an older value. A gap before the byte may be filled later.
                let (before, after) = here.split_at(here.len().min(page.len().saturating_sub(at)));
                if !before.is_empty() {
                    page[at..at + before.len()].copy_from_slice(before);
                }
                if !after.is_empty() {
                    page.resize(at + before.len(), 0);
                    page.extend_from_slice(after);
                }
            }
            offset += here.len() as u64;
            rest = later;
        }
    }

    /// Returns at most `len` bytes from `offset` on, only those in the page of `offset`. Bytes that were never stored are unspecified.
    /// Returns no bytes if the page does not exist.
    pub(super) fn piece(&self, offset: u64, len: usize) -> &[u8] {
        let (number, at) = self.place(offset);
        let page = self.index(number).and_then(|index| self.kept.get(index)?.as_deref());
        page.map_or(&[], |page| &page[at.min(page.len())..page.len().min(at.saturating_add(len))])
    }

    /// Returns the bytes of a range in two pieces. The range must touch at most two pages.
    pub(super) fn two_pieces(&self, range: Range<u64>) -> [&[u8]; 2] {
        let len = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(0);
        let first = self.piece(range.start, len);
        if first.len() == len {
            return [first, &[]];
        }
        [first, self.piece(range.start + first.len() as u64, len - first.len())]
    }

    /// Releases all bytes below `offset`.
    pub(super) fn release(&mut self, offset: u64) {
        let (number, _) = self.place(offset);
        while self.first < number {
            match self.kept.pop_front() {
                Some(page) => {
                    self.count -= usize::from(page.is_some());
                    self.spare = page.or_else(|| self.spare.take());
                    self.first += 1;
                }
                None => self.first = number,
            }
        }
    }

    /// Returns the size of all allocated pages except one, in bytes.
    pub(super) fn beyond_one(&self) -> u64 {
        self.count.saturating_sub(1) as u64 * self.size as u64
    }

    /// Returns the size of a page in bytes.
    pub(super) fn size(&self) -> u64 {
        self.size as u64
    }

    /// Frees the memory kept for later use. To be called when nothing more will be stored.
    pub(super) fn tidy(&mut self) {
        self.spare = None;
        self.kept.shrink_to_fit();
    }

    /// Returns the number of the page that holds `offset`, and the offset in the page.
    fn place(&self, offset: u64) -> (u64, usize) {
        let size = self.size as u64;
        (offset / size, usize::try_from(offset % size).unwrap_or(0))
    }

    fn index(&self, number: u64) -> Option<usize> {
        usize::try_from(number.checked_sub(self.first)?).ok()
    }

    fn page_to_write(&mut self, number: u64) -> Option<&mut Vec<u8>> {
        let index = self.index(number)?;
        if index >= self.kept.len() {
            self.kept.resize_with(index + 1, || None);
        }
        let (size, count, spare) = (self.size, &mut self.count, &mut self.spare);
        let fresh = || {
            *count += 1;
            let mut page = spare.take().unwrap_or_else(|| Vec::with_capacity(size));
            page.clear();
            page
        };
        Some(self.kept[index].get_or_insert_with(fresh))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_piece_of_the_longest_touches_two_pages() {
        for (room, longest) in
            [(1, 1_460), (100, 1_460), (1 << 30, 1_460), (1 << 30, 65_495), (20_000, 65_495)]
        {
            let mut pages = Pages::new(room, longest);
            let longest = u64::try_from(longest).unwrap().min(room);
            let bytes: Vec<u8> = (0..=250).cycle().take(70_000).collect();
            let start = pages.size as u64 - 1;
            pages.put(start, &bytes[..usize::try_from(longest).unwrap()]);
            let [first, second] = pages.two_pieces(start..start + longest);
            assert_eq!([first, second].concat(), bytes[..usize::try_from(longest).unwrap()]);
        }
    }

    #[test]
    fn pages_that_are_released_are_kept_no_longer_but_one() {
        let mut pages = Pages::new(1 << 30, 1);
        pages.put(0, &vec![7; 10 * PAGE]);
        pages.release(9 * PAGE as u64);
        assert_eq!((pages.kept.len(), pages.spare.is_some()), (1, true));
        pages.release(1_000 * PAGE as u64);
        assert_eq!(pages.kept.len(), 0);
        pages.put(1_000 * PAGE as u64 - 1, &[1, 2]);
        assert_eq!((pages.kept.len(), pages.spare.is_some()), (1, false), "what lies below is left out");
        assert_eq!(pages.piece(1_000 * PAGE as u64, 1), [2]);
    }

    proptest! {
        #[test]
        fn the_latest_written_bytes_remain_until_released(
            steps in proptest::collection::vec((0u64..900, 1usize..300, any::<u8>(), 0u64..900), 1..40),
        ) {
            let mut pages = Pages::new(64, 64);
            pages.size = 64;
            let (mut model, mut released) = (vec![None; 1_300], 0);
            for (offset, len, byte, release) in steps {
                pages.put(offset, &vec![byte; len]);
                let start = usize::try_from(offset).unwrap();
                model[start..start + len].fill(Some(byte));
                released = released.max(release);
                pages.release(release);
                for (at, byte) in (0..).zip(&model) {
                    if let Some(byte) = byte.filter(|_| at >= released) {
                        prop_assert_eq!(pages.piece(at, 1), [byte]);
                    }
                }
                prop_assert!(pages.piece(0, 1).is_empty() || released < 64);
                prop_assert_eq!(pages.count, pages.kept.iter().flatten().count());
            }
        }
    }
}
