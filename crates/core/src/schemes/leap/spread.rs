//! How the ACKs of the first flight spread, and how long ACKs are held back.

use crate::seam::{Path, Tag};
use crate::units::{Bytes, Rate, Span, Time};

/// Where the flight is halved: 60 % of its bytes, since the first packet is before the first gap.
const HALF: (u64, u64) = (6, 10);
/// The middle may be this far from where an even spread has it, over the whole spread. An eighth is a packet of eight: what
/// one delayed ACK moves.
const UNEVEN: u64 = 8;
/// Instants with ACKs: first, middle and last say whether the spread is even only if there is another between.
const LEAST_INSTANTS: u8 = 4;
/// A receiver delays the ACK of one packet, some of two. More at once were held back on the way.
const BATCH: u64 = 4;

/// The first, a middle and the last ACK of the first flight: what was delivered by then, and when.
#[derive(Clone, Debug, Default)]
pub(super) struct Spread {
    first: Option<(Bytes, Time)>,
    middle: Option<(Bytes, Time)>,
    last: Option<(Bytes, Time)>,
    instants: u8,
}

/// What the first flight says of the capacity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Capacity {
    /// Its ACKs came evenly, at this rate in IP bits per second.
    Even(Rate),
    /// Its ACKs came unevenly or in few instants, at this rate in the mean.
    Uneven(Rate),
    /// Its ACKs came at once, or are missing.
    Unknown,
}

impl Spread {
    /// `delivered` of the `whole` flight at `now`.
    pub(super) fn add(&mut self, delivered: Bytes, whole: Bytes, now: Time) {
        if self.last.is_none_or(|(_, at)| at != now) {
            self.instants = self.instants.saturating_add(1);
        }
        // Of several ACKs in one instant the last counts: what came with the first instant took no time that is known.
        if self.first.is_none_or(|(_, at)| at == now) {
            self.first = Some((delivered, now));
        }
        if self.middle.is_none() || delivered <= whole.scale(HALF.0, HALF.1) {
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
        if self.instants >= LEAST_INSTANTS && off * UNEVEN <= spread {
            Capacity::Even(rate)
        } else {
            Capacity::Uneven(rate)
        }
    }
}

/// How long ACKs are held back on the way: the longest time between two instants with ACKs of packets of one tag, of which the
/// later had those of [`BATCH`] packets or more. Between packets of two tags lies what the plan had between them.
#[derive(Clone, Debug, Default)]
pub(super) struct HoldBack {
    before: Option<Time>,
    /// The newest instant with ACKs, and how many packets they acknowledged.
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
        if let (Some(before), Some(newest)) = (self.before, self.newest)
            && self.packets >= BATCH
        {
            self.longest = self.longest.max(newest.since(before));
        }
        self.before = self.newest.filter(|_| tag == self.tag);
        self.newest = Some(now);
        self.packets = packets;
        self.tag = tag;
    }

    /// A train came in too few instants to be seen: the next is as long as ACKs that are held back for a round trip need.
    pub(super) fn hid_a_train(&mut self, min_rtt: Span) {
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
        let mut held = HoldBack::default();
        let millis = |millis| Time::ZERO + Span::from_millis(millis);
        for at in 40..50 {
            held.acked(2, Tag(1), millis(at));
        }
        assert_eq!(held.longest(), Span::ZERO);
        for packets in [1, 3] {
            held.acked(packets, Tag(1), millis(55));
        }
        held.acked(1, Tag(1), millis(56));
        assert_eq!(held.longest(), Span::from_millis(6));
    }

    #[test]
    fn the_time_between_two_trains_is_no_hold_back() {
        let mut held = HoldBack::default();
        let millis = |millis| Time::ZERO + Span::from_millis(millis);
        for (at, tag) in [(40, 1), (41, 1), (121, 2), (122, 2), (123, 2)] {
            held.acked(4, Tag(tag), millis(at));
        }
        assert_eq!(held.longest(), Span::from_millis(1));
    }
}
