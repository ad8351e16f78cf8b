//! The receive buffer: data that arrived and was not read.

use firstflight::{Avoidance, Startup};

use crate::endpoint::Endpoint;
use crate::segment::Segment;

use super::pages::Pages;

/// A receive buffer. It has the bytes, and the endpoint knows which ranges of the stream arrived. A byte that arrived is not overwritten,
/// and a byte beyond the receive window is not stored.
#[derive(Clone, Debug)]
pub(super) struct Reassembly {
    pages: Pages,
}

impl Reassembly {
    /// Creates an empty buffer for a receive window of at most `window` bytes.
    pub(super) fn new(window: u64) -> Self {
        Self { pages: Pages::new(window, 0) }
    }

    /// Stores those payload bytes of a segment that the endpoint lacks. To be called before the endpoint processes the segment. If the
    /// endpoint then refuses the segment, these bytes are still missing, and bytes that arrive later overwrite them.
    pub(super) fn take_in<S: Startup, R: Startup, A: Avoidance>(
        &mut self,
        endpoint: &Endpoint<S, R, A>,
        segment: &Segment,
        payload: &[u8],
    ) {
        let Some(place) = endpoint.arriving_range(segment) else { return };
        let at = |offset: u64| usize::try_from(offset - place.start).unwrap_or(usize::MAX);
        let mut rest = place.clone();
        while let Some(gap) = endpoint.missing(rest) {
            self.pages.put(gap.start, payload.get(at(gap.start)..at(gap.end)).unwrap_or_default());
            rest = gap.end..place.end;
        }
    }

    /// Returns the number of heap bytes in use for data that arrived, in order or not. One page is not counted.
    pub(super) fn held(&self) -> u64 {
        self.pages.beyond_one()
    }

    /// Frees the memory kept for more data, or all memory if all data was read. To be called when no more data can arrive.
    pub(super) fn tidy<S: Startup, R: Startup, A: Avoidance>(&mut self, endpoint: &Endpoint<S, R, A>) {
        let readable = endpoint.readable_range();
        if readable.is_empty() {
            self.pages.release(readable.end.next_multiple_of(self.pages.size()));
        }
        self.pages.tidy();
    }

    /// Copies data in order that the application has not read into `bytes`, and reports it to the endpoint as read. Returns the number of
    /// bytes copied.
    pub(super) fn read<S: Startup, R: Startup, A: Avoidance>(
        &mut self,
        endpoint: &mut Endpoint<S, R, A>,
        bytes: &mut [u8],
    ) -> usize {
        let readable = endpoint.readable_range();
        let there = usize::try_from(readable.end - readable.start).unwrap_or(usize::MAX);
        let len = bytes.len().min(there);
        let (mut offset, mut rest) = (readable.start, &mut bytes[..len]);
        while !rest.is_empty() {
            let piece = self.pages.piece(offset, rest.len());
            // All data that an endpoint counts as readable was stored here before.
            debug_assert!(!piece.is_empty(), "no page has byte {offset}");
            if piece.is_empty() {
                rest.fill(0);
                break;
            }
            let (here, later) = rest.split_at_mut(piece.len());
            here.copy_from_slice(piece);
            offset += piece.len() as u64;
            rest = later;
        }
        endpoint.read(len as u64);
        self.pages.release(readable.start + len as u64);
        len
    }
}
