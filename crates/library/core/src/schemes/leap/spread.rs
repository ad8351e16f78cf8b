//! The spread of the ACKs of the first flight, and the time for which ACKs are held back.

use crate::interface::{Path, Tag};
use crate::units::{Bytes, Rate, Span, Time};

/// The share of the flight's bytes at its middle: 60 %, because the first packet precedes the first gap.
const HALF_OF_FLIGHT: (u64, u64) = (6, 10);
/// A spread is even if its middle is off by at most the whole spread divided by this. One delayed ACK moves the middle by one packet of
/// eight.
const EVENNESS_DIVISOR: u64 = 8;
/// The minimum number of instants with ACKs for an even spread: the first, the middle, the last, and one more.
const MIN_INSTANTS: u8 = 4;
/// The minimum number of packets acknowledged at one instant whose ACKs were held back on the path. A receiver itself delays the ACK of one
/// packet, or of two.
const HOLDBACK_PACKETS: u64 = 4;

/// The first, a middle and the last ACK of the first flight: the bytes delivered by then, and the time.
#[derive(Clone, Debug, Default)]
pub(super) struct Spread {
    first: Option<(Bytes, Time)>,
    middle: Option<(Bytes, Time)>,
    last: Option<(Bytes, Time)>,
    instants: u8,
}

/// The capacity according to the first flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Capacity {
    /// The ACKs arrived evenly, at this rate in IP bits per second.
    Even(Rate),
    /// The ACKs arrived unevenly or in few instants, at this mean rate.
    Uneven(Rate),
    /// The ACKs arrived at one instant, or are missing.
    Unknown,
}

impl Spread {
    /// Records that `delivered` bytes of the `whole` flight are acknowledged at `now`.
    pub(super) fn add(&mut self, delivered: Bytes, whole: Bytes, now: Time) {
        if self.last.is_none_or(|(_, at)| at != now) {
            self.instants = self.instants.saturating_add(1);
        }
        // Of several ACKs at the first instant the last one counts: the time that these bytes took is unknown.
        if self.first.is_none_or(|(_, at)| at == now) {
            self.first = Some((delivered, now));
        }
        if self.middle.is_none() || delivered <= whole.scale(HALF_OF_FLIGHT.0, HALF_OF_FLIGHT.1) {
            self.middle = Some((delivered, now));
        }
        self.last = Some((delivered, now));
    }

    pub(super) fn capacity(&self, path: &Path) -> Capacity {
        let (Some(first), Some(middle), Some(last)) = (self.first, self.middle, self.last) else {
            return Capacity::Unknown;
        };
        let wire = |bytes: Bytes| bytes.scale(path.wire.get(), path.mss.get());
        let spread = last.1.since(first.1);
        let rate = wire(last.0 - first.0).per(spread).filter(|rate| !rate.is_zero());
        let Some(rate) = rate else { return Capacity::Unknown };
        let half = middle.1.since(first.1);
        let even = rate.time_for(wire(middle.0 - first.0));
        let off = half.max(even) - half.min(even);
        if self.instants >= MIN_INSTANTS && off * EVENNESS_DIVISOR <= spread {
            Capacity::Even(rate)
        } else {
            Capacity::Uneven(rate)
        }
    }
}

/// The longest time for which ACKs were held back on the path: the longest time between two instants with ACKs of packets of one tag, if
/// the later instant acknowledged at least [`HOLDBACK_PACKETS`] packets. Packets of two tags have a gap that the plan made.
#[derive(Clone, Debug, Default)]
pub(super) struct HoldBack {
    before: Option<Time>,
    /// The newest instant with ACKs, and the number of packets acknowledged at it.
    newest: Option<Time>,
    packets: u64,
    tag: Tag,
    longest: Span,
}

impl HoldBack {
    pub(super) fn acked(&mut self, packets: u64, tag: Tag, now: Time) {
        if self.newest == Some(now) {
            self.packets += packets;
            return;
        }
        match (self.before, self.newest) {
            (Some(before), Some(newest)) if self.packets >= HOLDBACK_PACKETS => {
                self.longest = self.longest.max(newest.since(before));
            }
            _ => {}
        }
        self.before = self.newest.filter(|_| tag == self.tag);
        self.newest = Some(now);
        self.packets = packets;
        self.tag = tag;
    }

    /// Records that a train's ACKs arrived in too few instants to measure it. The next train is long enough for ACKs that are held back for
    /// one RTT.
    pub(super) fn missed_train(&mut self, min_rtt: Span) {
        self.longest = self.longest.max(min_rtt);
    }

    pub(super) fn longest(&self) -> Span {
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: Bytes = Bytes::new(1000);

    fn capacity(acks: &[(u64, u64)]) -> Capacity {
        let mut spread = Spread::default();
        for &(packets, millis) in acks {
            spread.add(MSS * packets, MSS * 10, Time::ZERO + Span::from_millis(millis));
        }
        spread.capacity(&Path::new(Time::ZERO, MSS, MSS))
    }

    #[test]
    fn ten_packets_a_millisecond_apart_are_a_packet_a_millisecond() {
        let acks: [(u64, u64); 10] = core::array::from_fn(|at| (at as u64 + 1, at as u64 + 40));
        assert_eq!(capacity(&acks), Capacity::Even(Rate::from_bps(8_000_000)));
    }

    #[test]
    fn the_first_ack_of_two_packets_takes_no_part_in_the_rate() {
        assert_eq!(
            capacity(&[(2, 41), (4, 43), (6, 45), (8, 47), (10, 49)]),
            Capacity::Even(Rate::from_bps(8_000_000))
        );
    }

    #[test]
    fn a_gap_in_the_middle_or_few_instants_are_uneven() {
        let gap = [(1, 40), (2, 41), (3, 42), (4, 43), (5, 44), (6, 80), (7, 81), (8, 82), (9, 83), (10, 84)];
        assert!(matches!(capacity(&gap), Capacity::Uneven(_)), "{:?}", capacity(&gap));
        assert!(matches!(capacity(&[(1, 40), (5, 44), (10, 49)]), Capacity::Uneven(_)));
    }

    #[test]
    fn acks_at_once_say_nothing() {
        assert_eq!(capacity(&[]), Capacity::Unknown);
        assert_eq!(capacity(&[(1, 40)]), Capacity::Unknown);
        assert_eq!(capacity(&[(5, 40), (10, 40)]), Capacity::Unknown);
    }

    #[test]
    fn acks_of_four_packets_at_once_were_held_back_since_the_instant_before_and_those_of_two_were_not() {
        let mut holdback = HoldBack::default();
        let millis = |millis| Time::ZERO + Span::from_millis(millis);
        for at in 40..50 {
            holdback.acked(2, Tag(1), millis(at));
        }
        assert_eq!(holdback.longest(), Span::ZERO);
        for packets in [1, 3] {
            holdback.acked(packets, Tag(1), millis(55));
        }
        holdback.acked(1, Tag(1), millis(56));
        assert_eq!(holdback.longest(), Span::from_millis(6));
    }

    #[test]
    fn the_time_between_two_trains_is_no_hold_back() {
        let mut holdback = HoldBack::default();
        let millis = |millis| Time::ZERO + Span::from_millis(millis);
        for (at, tag) in [(40, 1), (41, 1), (121, 2), (122, 2), (123, 2)] {
            holdback.acked(4, Tag(tag), millis(at));
        }
        assert_eq!(holdback.longest(), Span::from_millis(1));
    }
}
