//! What happens next: at most one pending event for each device, ordered by time and then by sequence.

use firstflight::Time;

/// Children of a node. Four keep the heap shallow, and siblings lie side by side: of four that are always there the least is
/// found without a jump.
const ARITY: u32 = 4;

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
    fn sooner(self, other: Self) -> Self {
        if other < self { other } else { self }
    }

    /// When it is; [`NEVER`] is never.
    #[inline]
    fn nanos(self) -> u64 {
        (self.0 >> (DEVICE + SEQUENCE)) as u64
    }

    #[inline]
    fn sequence(self) -> u64 {
        u64::try_from(self.0 >> DEVICE & ((1 << SEQUENCE) - 1)).unwrap_or(0)
    }

    #[inline]
    fn device(self) -> u32 {
        const MASK: u128 = (1 << DEVICE) - 1;
        u32::try_from(self.0 & MASK).unwrap_or(0)
    }
}

/// As many events as are cheaper to search than to keep in order.
const FEW: usize = 8;
/// How many of them are searched each time, those of devices whose event moves most if there is room. Of the others only the
/// least is.
const BUSY: usize = 4;

/// What stands where there is no event: later than any.
const NONE: Entry = Entry(u128::MAX);

/// The root, so that siblings begin where a multiple of [`ARITY`] is.
const ROOT: u32 = ARITY - 1;

/// Both, to look into memory by.
const FIRST: usize = ROOT as usize;
const SIBLINGS: usize = ARITY as usize;

/// A place in memory, or a device, as the agenda keeps it.
fn name(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(ABSENT)
}

/// The events in a heap or, while there are few, in no order. It allocates when it is made and when a device comes up.
#[derive(Clone, Debug)]
pub(crate) struct Agenda {
    /// The events while there are few, and nothing in other places.
    few: [Entry; FEW],
    /// The least of those behind the first [`BUSY`].
    least_of_calm: Entry,
    /// The events of a heap, from the root on without a gap; behind them nothing, up to the next multiple of [`ARITY`], so
    /// that there are always as many siblings.
    heap: Vec<Entry>,
    count: usize,
    /// Whether they are in the heap.
    ordered: bool,
    /// Where the event of each device is.
    place: Vec<u32>,
    /// The first of the devices whose event hardly moves.
    calm_from: usize,
}

impl Agenda {
    /// An empty agenda for this many devices. From `calm_from` on are those whose event hardly moves.
    pub(crate) fn new(devices: usize, calm_from: usize) -> Self {
        let heap = Vec::with_capacity((FIRST + devices).next_multiple_of(SIBLINGS));
        Self {
            few: [NONE; FEW],
            least_of_calm: NONE,
            heap,
            count: 0,
            ordered: false,
            place: vec![ABSENT; devices],
            calm_from,
        }
    }

    /// Makes room for this many more devices.
    pub(crate) fn grow(&mut self, devices: usize) {
        self.place.resize(self.place.len() + devices, ABSENT);
    }

    /// The next event: when, its place in the order, and whose.
    #[inline]
    pub(crate) fn next(&self) -> Option<(Time, u64, u32)> {
        let next =
            if self.ordered { self.heap.get(FIRST).copied().unwrap_or(NONE) } else { self.least_of_few() };
        let nanos = next.nanos();
        if nanos == NEVER {
            // Nothing happens sooner than it was to.
            return (next != NONE).then(|| (Time::MAX, next.sequence(), next.device()));
        }
        Some((Time::from_nanos(nanos), next.sequence(), next.device()))
    }

    /// The least of those in no order: without a jump for each, of which a processor could not guess one.
    #[inline]
    fn least_of_few(&self) -> Entry {
        let [one, two, three, four, ..] = self.few;
        one.sooner(two).sooner(three.sooner(four)).sooner(self.least_of_calm)
    }

    /// Puts an event, or nothing, at a place of the few.
    #[inline]
    fn put_few(&mut self, place: usize, entry: Entry) {
        self.few[place] = entry;
        if place >= BUSY {
            self.find_least_of_calm();
        }
    }

    #[inline(never)]
    fn find_least_of_calm(&mut self) {
        self.least_of_calm = self.few[BUSY..].iter().copied().fold(NONE, Entry::sooner);
    }

    /// Sets the event of a device, in place of the one it had.
    #[inline]
    pub(crate) fn set(&mut self, device: usize, at: Time, sequence: u64) {
        let entry = Entry::new(at, sequence, name(device));
        let place = self.place[device];
        if self.ordered {
            return self.move_in_heap(place, entry);
        }
        match self.few.get_mut(place as usize) {
            Some(had) => {
                *had = entry;
                if place as usize >= BUSY {
                    self.find_least_of_calm();
                }
            }
            None => self.add(entry),
        }
    }

    /// The same in the heap, where this is the place of the device's event if it has one.
    #[inline]
    fn move_in_heap(&mut self, place: u32, entry: Entry) {
        match self.heap.get_mut(place as usize) {
            Some(had) if entry < *had => self.rise(place, entry),
            Some(had) => {
                *had = entry;
                self.sink(place, entry);
            }
            None => self.add(entry),
        }
    }

    #[inline(never)]
    fn add(&mut self, entry: Entry) {
        if !self.ordered && self.count == FEW {
            self.order();
        }
        if self.ordered {
            let end = FIRST + self.count;
            if end == self.heap.len() {
                self.heap.resize(end + SIBLINGS, NONE);
            }
            self.count += 1;
            self.rise(name(end), entry);
        } else {
            self.add_to_few(entry);
        }
    }

    fn add_to_few(&mut self, entry: Entry) {
        let device = entry.device() as usize;
        let first = if device < self.calm_from { 0 } else { BUSY };
        let places = (0..FEW).map(|place| (first + place) % FEW);
        let Some(place) = places.into_iter().find(|place| self.few[*place] == NONE) else { return };
        self.put_few(place, entry);
        self.place[device] = name(place);
        self.count += 1;
    }

    /// Takes the event of a device away, if it has one.
    pub(crate) fn clear(&mut self, device: usize) {
        let place = std::mem::replace(&mut self.place[device], ABSENT);
        if place == ABSENT {
            return;
        }
        self.count -= 1;
        if !self.ordered {
            return self.put_few(place as usize, NONE);
        }
        let last = std::mem::replace(&mut self.heap[FIRST + self.count], NONE);
        if last.device() as usize != device {
            let sooner = last < self.heap[place as usize];
            self.put(place, last);
            if sooner {
                self.rise(place, last);
            } else {
                self.sink(place, last);
            }
        }
        // Half as many, so that an event that comes and goes does not order them each time.
        if self.count <= FEW / 2 {
            self.leave_unordered();
        }
    }

    /// Makes a heap of what is in no order.
    #[cold]
    fn order(&mut self) {
        self.ordered = true;
        self.heap.resize((FIRST + FEW).next_multiple_of(SIBLINGS), NONE);
        self.heap[FIRST..FIRST + FEW].copy_from_slice(&self.few);
        self.few = [NONE; FEW];
        self.least_of_calm = NONE;
        for place in (FIRST..FIRST + FEW).rev() {
            let (entry, place) = (self.heap[place], name(place));
            self.put(place, entry);
            self.sink(place, entry);
        }
    }

    /// Takes what is left of a heap out of it.
    #[cold]
    fn leave_unordered(&mut self) {
        self.ordered = false;
        let end = FIRST + std::mem::take(&mut self.count);
        for place in FIRST..end {
            self.add_to_few(self.heap[place]);
        }
        self.heap.clear();
    }

    /// Puts `entry` at `hole` or as far above as its order says.
    fn rise(&mut self, mut hole: u32, entry: Entry) {
        while hole > ROOT {
            let parent = hole / ARITY + ROOT - 1;
            let above = self.heap[parent as usize];
            if above <= entry {
                break;
            }
            self.put(hole, above);
            hole = parent;
        }
        self.put(hole, entry);
    }

    /// Puts `entry`, which is at `from`, as far below as its order says.
    #[inline(never)]
    fn sink(&mut self, from: u32, entry: Entry) {
        let mut hole = from;
        loop {
            let first = (hole + 1 - ROOT) * ARITY;
            let Some(children) = self.heap.get(first as usize..).and_then(<[Entry]>::first_chunk::<SIBLINGS>)
            else {
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
        if hole != from {
            self.put(hole, entry);
        }
    }

    #[inline]
    fn put(&mut self, place: u32, entry: Entry) {
        self.heap[place as usize] = entry;
        self.place[entry.device() as usize] = place;
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
        let mut agenda = Agenda::new(2, 2);
        agenda.set(1, at(5), 0);
        agenda.set(0, at(5), 1);
        assert_eq!(agenda.next(), Some((at(5), 0, 1)));
        agenda.clear(1);
        assert_eq!(agenda.next(), Some((at(5), 1, 0)));
    }

    #[test]
    fn an_event_beyond_the_last_instant_that_is_kept_does_not_come_early() {
        let mut agenda = Agenda::new(1, 1);
        agenda.set(0, at(NEVER - 1), 0);
        assert_eq!(agenda.next(), Some((at(NEVER - 1), 0, 0)));
        for late in [NEVER, NEVER + 1, u64::MAX - 1] {
            agenda.set(0, at(late), 1);
            assert_eq!(agenda.next(), Some((Time::MAX, 1, 0)));
        }
    }

    #[test]
    fn an_event_can_be_moved_both_ways_and_taken_away() {
        let mut agenda = Agenda::new(3, 3);
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
            calm_from in 0usize..12,
            operations in proptest::collection::vec((0usize..40, proptest::option::of(0u64..50)), 1..400),
        ) {
            let mut agenda = Agenda::new(40, calm_from);
            let mut model: Vec<Option<(Time, u64)>> = vec![None; 40];
            for (sequence, (device, when)) in (0u64..).zip(operations) {
                let device = device % devices;
                match when {
                    Some(nanos) => agenda.set(device, at(nanos), sequence),
                    None => agenda.clear(device),
                }
                model[device] = when.map(|nanos| (at(nanos), sequence));
                let least = (0..).zip(&model).filter_map(|(d, e)| e.map(|(t, s)| (t, s, d))).min();
                prop_assert_eq!(agenda.next(), least);
            }
        }
    }
}
