//! What arrived and was not read.

use firstflight::{Avoidance, Startup};

use crate::endpoint::Endpoint;
use crate::segment::Segment;

use super::pages::Pages;

/// A receive buffer. The endpoint knows which ranges of the stream arrived; the buffer has the bytes at their places. A byte
/// that arrived is not overwritten, and a byte beyond the window has no place.
#[derive(Clone, Debug)]
pub(super) struct Reassembly {
    pages: Pages,
}

impl Reassembly {
    /// An empty one for a receive window of at most `window` bytes.
    pub(super) fn new(window: u64) -> Self {
        Self { pages: Pages::new(window, 0) }
    }

    /// Puts what the endpoint lacks of the payload of a segment at its place, before the endpoint hears the segment. The
    /// endpoint may refuse the segment: then the bytes count as missing, and whatever arrives for them takes their place.
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

    /// Bytes of the heap that hold what arrived, in order or not, but for a page.
    pub(super) fn held(&self) -> u64 {
        self.pages.beyond_one()
    }

    /// No more will arrive: frees what is kept for that, and once all is read everything.
    pub(super) fn tidy<S: Startup, R: Startup, A: Avoidance>(&mut self, endpoint: &Endpoint<S, R, A>) {
        let readable = endpoint.readable_range();
        if readable.is_empty() {
            self.pages.release(readable.end.next_multiple_of(self.pages.size()));
        }
        self.pages.tidy();
    }

    /// Copies the first bytes in order that the application has not taken into `bytes`, and takes them of the endpoint; how
    /// many there were.
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
            // What an endpoint counts as readable was put here.
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
