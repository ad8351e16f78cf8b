//! The bound on the growth of the window after the first train, for paths that other flows use.

use crate::u32_bytes::Bytes32;
use crate::units::{Bytes, Span};

/// Growth of the bound in bytes for each byte acknowledged. The window then at most doubles in a round trip, as in slow start.
const SLOW_GROWTH: u64 = 1;
/// Growth of the bound in bytes for each byte of a packet that did not wait. The window then at most grows eightfold in a round trip.
const CALM_GROWTH: u64 = 7;
/// Number of packets that may queue by chance. A packet waited if its delay exceeds the minimum by more than their transmission time.
const CHANCE_PACKETS: u64 = 3;
/// Number of consecutive round trips without a rise of the bound that ends the start-up.
const MAX_STALLED: u8 = 2;

/// A bound on the window, and the minimum delay seen.
#[derive(Clone, Debug)]
pub(super) struct Growth {
    /// The bound; zero if the window is not bounded.
    bound: Bytes32,
    /// The bound at the beginning of the round trip, and the number of consecutive round trips in which the bound did not rise.
    before: Bytes32,
    stalled: u8,
    min_delay: Span,
}

impl Growth {
    pub(super) const fn new() -> Self {
        Self { bound: Bytes32::ZERO, before: Bytes32::ZERO, stalled: 0, min_delay: Span::MAX }
    }

    /// Bounds the window by twice the `sent` bytes of a round trip. A greater bound remains.
    pub(super) fn bound_by_twice(&mut self, sent: Bytes) {
        self.bound = self.bound.wide().max(sent * 2).into();
    }

    /// Removes the bound.
    pub(super) fn release(&mut self) {
        self.bound = Bytes32::ZERO;
    }

    /// Returns the part of `window` that the bound permits.
    pub(super) fn permitted(&self, window: Bytes) -> Bytes {
        if self.bound.wide().is_zero() { window } else { window.min(self.bound.wide()) }
    }

    /// Records the `delay` of a packet. Returns whether the packet did not wait, if the bottleneck takes `packet_time` for a packet.
    pub(super) fn is_calm(&mut self, delay: Span, packet_time: Span) -> bool {
        self.min_delay = self.min_delay.min(delay);
        delay <= self.min_delay + packet_time * CHANCE_PACKETS
    }

    /// Begins a round trip. Returns whether the bound did not rise in the last [`MAX_STALLED`] round trips.
    pub(super) fn has_stalled(&mut self) -> bool {
        let has_risen = self.bound != self.before;
        self.stalled = if has_risen { 0 } else { self.stalled.saturating_add(1) };
        self.before = self.bound;
        self.stalled >= MAX_STALLED
    }

    /// Raises the bound for `bytes` acknowledged; `is_calm` if their newest packet did not wait.
    pub(super) fn acked(&mut self, bytes: Bytes, is_calm: bool) {
        if !self.bound.wide().is_zero() {
            let growth = if is_calm { CALM_GROWTH } else { SLOW_GROWTH };
            self.bound = (self.bound.wide() + bytes * growth).into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: Bytes = Bytes::new(1000);
    const PACKET: Span = Span::from_micros(80);

    #[test]
    fn the_window_doubles_in_a_round_trip_with_waits_and_grows_eightfold_without() {
        for (is_calm, factor) in [(false, 2), (true, 8)] {
            let mut growth = Growth::new();
            growth.bound_by_twice(MSS * 10);
            for _ in 0..20 {
                growth.acked(MSS, is_calm);
            }
            assert_eq!(growth.permitted(MSS * 1000), MSS * 20 * factor);
        }
    }

    #[test]
    fn a_packet_behind_three_others_is_calm_and_one_behind_four_is_not() {
        let mut growth = Growth::new();
        let base = Span::from_millis(40);
        assert!(growth.is_calm(base + PACKET, PACKET));
        assert!(growth.is_calm(base, PACKET));
        assert!(growth.is_calm(base + PACKET * 3, PACKET));
        assert!(!growth.is_calm(base + PACKET * 4, PACKET));
    }

    #[test]
    fn a_bound_that_does_not_rise_for_two_round_trips_has_stalled() {
        let mut growth = Growth::new();
        growth.bound_by_twice(MSS * 10);
        assert!(!growth.has_stalled());
        growth.acked(MSS, false);
        assert!(!growth.has_stalled());
        assert!(!growth.has_stalled());
        assert!(growth.has_stalled());
    }

    #[test]
    fn a_window_without_a_bound_is_not_changed_and_a_bound_never_falls() {
        let mut growth = Growth::new();
        growth.acked(MSS, true);
        assert_eq!(growth.permitted(MSS * 1000), MSS * 1000);
        growth.bound_by_twice(MSS * 50);
        growth.bound_by_twice(MSS * 10);
        assert_eq!(growth.permitted(MSS * 1000), MSS * 100);
        growth.release();
        assert_eq!(growth.permitted(MSS * 1000), MSS * 1000);
    }
}
