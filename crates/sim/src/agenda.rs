//! What happens next: at most one pending event for each device, ordered by time and then by sequence.

use firstflight::Time;

/// Children of a node. Four keep the heap shallow, and siblings lie side by side: of four that are always there the least is
/// found without a jump.
const ARITY: usize = 4;

/// A device without an event has no place in the heap.
const ABSENT: u32 = u32::MAX;

/// An instant, the place in the order of events, and the device, from the top bits down: of two events at one instant
/// the one scheduled first comes first. One number, so that a comparison takes no branch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Entry(u128);

/// Bits of the device: more than memory has room for.
const DEVICE: u32 = 28;
/// Bits of the place in the order: at a twentieth of a microsecond of work an event, ten days'.
pub(crate) const SEQUENCE: u32 = 44;
/// The first instant that is never reached, two years after the beginning.
const NEVER: u64 = (1 << (u128::BITS - DEVICE - SEQUENCE)) - 1;

impl Entry {
    #[inline]
    fn new(at: Time, sequence: u64, device: u32) -> Self {
        debug_assert!(sequence >> SEQUENCE == 0 && device >> DEVICE == 0, "beyond what an entry holds");
        let low = u128::from(sequence) << DEVICE | u128::from(device);
        Self(u128::from(at.nanos().min(NEVER)) << (DEVICE + SEQUENCE) | low)
    }

    #[inline]
    fn at(self) -> Time {
        let nanos = u64::try_from(self.0 >> (DEVICE + SEQUENCE)).unwrap_or(NEVER);
        // Nothing happens sooner than it was to.
        if nanos == NEVER { Time::MAX } else { Time::from_nanos(nanos) }
    }

    #[inline]
    fn sequence(self) -> u64 {
        u64::try_from(self.0 >> DEVICE & ((1 << SEQUENCE) - 1)).unwrap_or(0)
    }

    #[inline]
    fn device(self) -> usize {
        const MASK: u128 = (1 << DEVICE) - 1;
        usize::try_from(self.0 & MASK).unwrap_or(0)
    }
}

/// As many events as are cheaper to search than to keep in order.
const FEW: usize = 8;

/// What stands where there is no event: later than any.
const NONE: Entry = Entry(u128::MAX);

/// The root, so that siblings begin where a multiple of [`ARITY`] is.
const ROOT: usize = ARITY - 1;

/// The events in a heap or, while there are few, in no order. It allocates when it is made and when a device comes up.
#[derive(Clone, Debug)]
pub(crate) struct Agenda {
    /// The events, from the root on without a gap; behind them nothing, up to the next multiple of [`ARITY`], so that there
    /// are always as many siblings.
    heap: Vec<Entry>,
    /// Where the last event ends.
    end: usize,
    ordered: bool,
    /// Where the event of each device is.
    place: Vec<u32>,
}

impl Agenda {
    /// An empty agenda for this many devices.
    pub(crate) fn new(devices: usize) -> Self {
        let mut heap = Vec::with_capacity((ROOT + devices).next_multiple_of(ARITY));
        heap.resize(ARITY, NONE);
        Self { heap, end: ROOT, ordered: false, place: vec![ABSENT; devices] }
    }

    /// Makes room for this many more devices.
    pub(crate) fn grow(&mut self, devices: usize) {
        self.place.resize(self.place.len() + devices, ABSENT);
    }

    /// The next event: when, its place in the order, and whose.
    #[inline]
    pub(crate) fn next(&self) -> Option<(Time, u64, usize)> {
        let next = if self.ordered {
            self.heap.get(ROOT).copied()
        } else {
            self.heap.get(ROOT..self.end)?.iter().copied().min()
        };
        next.map(|entry| (entry.at(), entry.sequence(), entry.device()))
    }

    /// Sets the event of a device, in place of the one it had.
    #[inline]
    pub(crate) fn set(&mut self, device: usize, at: Time, sequence: u64) {
        let Ok(name) = u32::try_from(device) else { return };
        let entry = Entry::new(at, sequence, name);
        let place = self.place[device] as usize;
        match self.heap.get_mut(place) {
            Some(had) if !self.ordered => *had = entry,
            Some(had) => {
                if entry < *had {
                    self.rise(place, entry);
                } else {
                    self.sink(place, entry);
                }
            }
            None => self.add(entry),
        }
    }

    #[inline(never)]
    fn add(&mut self, entry: Entry) {
        let last = self.end;
        self.end += 1;
        if last == self.heap.len() {
            self.heap.resize(last + ARITY, NONE);
        }
        self.put(last, entry);
        if self.ordered {
            self.rise(last, entry);
        } else if self.end > ROOT + FEW {
            self.order();
        }
    }

    /// Takes the event of a device away, if it has one.
    pub(crate) fn clear(&mut self, device: usize) {
        let place = std::mem::replace(&mut self.place[device], ABSENT) as usize;
        if place >= self.end {
            return;
        }
        self.end -= 1;
        let last = std::mem::replace(&mut self.heap[self.end], NONE);
        // Half as many, so that an event that comes and goes does not order them each time.
        self.ordered &= self.end > ROOT + FEW / 2;
        if place == self.end {
            return;
        }
        if !self.ordered {
            self.put(place, last);
        } else if last < self.heap[place] {
            self.rise(place, last);
        } else {
            self.sink(place, last);
        }
    }

    /// Makes a heap of what is in no order.
    #[cold]
    fn order(&mut self) {
        self.ordered = true;
        for place in (ROOT..self.end).rev() {
            self.sink(place, self.heap[place]);
        }
    }

    /// Puts `entry` at `hole` or as far above as its order says.
    fn rise(&mut self, mut hole: usize, entry: Entry) {
        while hole > ROOT {
            let parent = hole / ARITY + ROOT - 1;
            let above = self.heap[parent];
            if above <= entry {
                break;
            }
            self.put(hole, above);
            hole = parent;
        }
        self.put(hole, entry);
    }

    /// Puts `entry` at `hole` or as far below as its order says.
    fn sink(&mut self, mut hole: usize, entry: Entry) {
        loop {
            let first = (hole + 1 - ROOT) * ARITY;
            let Some(children) = self.heap.get(first..).and_then(<[Entry]>::first_chunk::<ARITY>) else {
                break;
            };
            let [one, two, three, four] = *children;
            let left = if two < one { (1, two) } else { (0, one) };
            let right = if four < three { (3, four) } else { (2, three) };
            let (child, least) = if right.1 < left.1 { right } else { left };
            if entry <= least {
                break;
            }
            self.put(hole, least);
            hole = first + child;
        }
        self.put(hole, entry);
    }

    fn put(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.place[entry.device()] = u32::try_from(place).unwrap_or(ABSENT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    #[test]
    fn of_two_events_at_one_instant_the_first_scheduled_comes_first() {
        let mut agenda = Agenda::new(2);
        agenda.set(1, at(5), 0);
        agenda.set(0, at(5), 1);
        assert_eq!(agenda.next(), Some((at(5), 0, 1)));
        agenda.clear(1);
        assert_eq!(agenda.next(), Some((at(5), 1, 0)));
    }

    #[test]
    fn an_event_beyond_the_last_instant_that_is_kept_does_not_come_early() {
        let mut agenda = Agenda::new(1);
        agenda.set(0, at(NEVER - 1), 0);
        assert_eq!(agenda.next(), Some((at(NEVER - 1), 0, 0)));
        for late in [NEVER, NEVER + 1, u64::MAX - 1] {
            agenda.set(0, at(late), 1);
            assert_eq!(agenda.next(), Some((Time::MAX, 1, 0)));
        }
    }

    #[test]
    fn an_event_can_be_moved_both_ways_and_taken_away() {
        let mut agenda = Agenda::new(3);
        agenda.set(0, at(10), 0);
        agenda.set(1, at(20), 1);
        agenda.set(1, at(5), 2);
        assert_eq!(agenda.next(), Some((at(5), 2, 1)));
        agenda.set(1, at(30), 3);
        assert_eq!(agenda.next(), Some((at(10), 0, 0)));
        agenda.clear(0);
        agenda.clear(0);
        assert_eq!(agenda.next(), Some((at(30), 3, 1)));
        agenda.clear(1);
        assert_eq!(agenda.next(), None);
    }

    proptest! {
        /// Against a list that is searched whole.
        #[test]
        fn the_next_event_is_the_least_of_all(
            devices in 1usize..40,
            operations in proptest::collection::vec((0usize..40, proptest::option::of(0u64..50)), 1..400),
        ) {
            let mut agenda = Agenda::new(40);
            let mut model: Vec<Option<(Time, u64)>> = vec![None; 40];
            for (sequence, (device, when)) in (0u64..).zip(operations) {
                let device = device % devices;
                match when {
                    Some(nanos) => agenda.set(device, at(nanos), sequence),
                    None => agenda.clear(device),
                }
                model[device] = when.map(|nanos| (at(nanos), sequence));
                let least = model.iter().enumerate().filter_map(|(d, e)| e.map(|(t, s)| (t, s, d))).min();
                prop_assert_eq!(agenda.next(), least);
            }
        }
    }
}
