//! The agenda of events: at most one for each device, ordered by time and then by sequence number.

use firstflight::Time;

use crate::prefetch::{self, fetch_slice};

/// Number of children of a node. Four keep the heap shallow. Siblings are adjacent in memory, and the earliest of
/// four is found without a branch.
const ARITY: u32 = 4;

/// A device without an event has no place in the heap.
const ABSENT: u32 = u32::MAX;

/// An event as one number, so that a comparison takes no branch. From the top bits down: instant, sequence number,
/// device. Of two events at one instant the one scheduled first comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Entry(u128);

/// Bits of a device's number: enough for more devices than memory has room for.
const DEVICE: u32 = 28;
/// Bits of a sequence number: enough for ten days of computing, at 50 ns per event.
pub(crate) const SEQUENCE: u32 = 44;
/// The first instant that cannot be represented, two years after the start of the run.
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

    /// Returns the time of the event; [`NEVER`] represents any later instant.
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

/// Maximum number of events for which a search through all of them costs less than a heap.
const FEW: usize = 8;
/// Number of unordered events that each search visits. They belong to the devices that move most often, as far as there
/// is room. Of the other unordered events only the earliest is stored.
const BUSY: usize = 4;

/// The entry of no event, later than any other.
const NONE: Entry = Entry(u128::MAX);

/// Index of the root in memory, chosen so that siblings begin at a multiple of [`ARITY`].
const ROOT: u32 = ARITY - 1;

/// [`ROOT`] and [`ARITY`] as indices.
const FIRST: usize = ROOT as usize;
const SIBLINGS: usize = ARITY as usize;

/// Converts an index in memory, or a device, to the integer size that the agenda stores.
fn name(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(ABSENT)
}

/// The agenda: a heap, or a few events in no order. It allocates when it is made and when devices are added.
#[derive(Clone, Debug)]
pub(crate) struct Agenda {
    /// The events while they are few; the other places hold [`NONE`].
    few: [Entry; FEW],
    /// The earliest of the unordered events after the first [`BUSY`].
    least_of_calm: Entry,
    /// The heap, from the root on without a gap. It is padded with [`NONE`] to a multiple of [`ARITY`], so that a node
    /// always has all siblings.
    heap: Vec<Entry>,
    count: usize,
    /// Whether the events are in the heap.
    ordered: bool,
    /// Index of each device's event.
    place: Vec<u32>,
    /// The first of the devices whose events rarely move.
    calm_from: usize,
}

impl Agenda {
    /// Returns an empty agenda for this many devices. The events of devices from `calm_from` on rarely move.
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

    /// Returns the next event: its time, its sequence number, and its device.
    #[inline]
    pub(crate) fn next(&self) -> Option<(Time, u64, u32)> {
        let next =
            if self.ordered { self.heap.get(FIRST).copied().unwrap_or(NONE) } else { self.least_of_few() };
        let nanos = next.nanos();
        if nanos == NEVER {
            // [`NEVER`] represents any later instant. The event gets [`Time::MAX`], so that it does not come before its
            // time.
            return (next != NONE).then(|| (Time::MAX, next.sequence(), next.device()));
        }
        Some((Time::from_nanos(nanos), next.sequence(), next.device()))
    }

    /// Returns the device whose event comes second; `None` unless the events are in a heap.
    #[inline]
    pub(crate) fn after_next(&self) -> Option<u32> {
        let [one, two, three, four] = *self.heap.get(FIRST + 1..)?.first_chunk::<SIBLINGS>()?;
        let next = one.sooner(two).sooner(three.sooner(four));
        (next != NONE).then(|| next.device())
    }

    /// Returns the number of events.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Returns the earliest of the unordered events, without a branch for each, which a processor could not predict.
    #[inline]
    fn least_of_few(&self) -> Entry {
        let [one, two, three, four, ..] = self.few;
        one.sooner(two).sooner(three.sooner(four)).sooner(self.least_of_calm)
    }

    /// Stores an event at a place of the unordered events.
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

    /// Sets the event of a device and replaces its previous one.
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

    /// Does the work of [`Agenda::set`] in the heap. `place` is the index of the device's event, if it has one.
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

    /// Removes the event of a device, if it has one.
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
        // Half of [`FEW`], so that an event that repeatedly appears and disappears does not rebuild the heap each
        // time.
        if self.count <= FEW / 2 {
            self.leave_unordered();
        }
    }

    /// Makes a heap of the unordered events.
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

    /// Converts the remaining heap to the few unordered events.
    #[cold]
    fn leave_unordered(&mut self) {
        self.ordered = false;
        let end = FIRST + std::mem::take(&mut self.count);
        for place in FIRST..end {
            self.add_to_few(self.heap[place]);
        }
        self.heap.clear();
    }

    /// Puts `entry` at `hole`, or as far above it as the order requires.
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

    /// Puts `entry`, which is at `from`, as far below as the order requires.
    #[inline(never)]
    fn sink(&mut self, from: u32, entry: Entry) {
        let mut hole = from;
        loop {
            let first = (hole + 1 - ROOT) * ARITY;
            let Some(children) = self.heap.get(first as usize..).and_then(<[Entry]>::first_chunk::<SIBLINGS>)
            else {
                break;
            };
            if self.count > prefetch::MANY {
                // The children of all four are fetched, because it is not yet known which of the four is the earliest,
                // and so whose children come next.
                let next = (first + 1 - ROOT) as usize * SIBLINGS;
                self.heap.get(next..next + SIBLINGS * SIBLINGS).inspect(|all| fetch_slice(all));
            }
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
    fn simultaneous_events_are_delivered_in_scheduling_order() {
        let mut agenda = Agenda::new(2, 2);
        agenda.set(1, at(5), 0);
        agenda.set(0, at(5), 1);
        assert_eq!(agenda.next(), Some((at(5), 0, 1)));
        agenda.clear(1);
        assert_eq!(agenda.next(), Some((at(5), 1, 0)));
    }

    #[test]
    fn an_event_after_the_last_representable_instant_is_not_early() {
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
        /// Compares the agenda with a list that is searched as a whole.
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
                if agenda.ordered {
                    let mut all: Vec<_> = (0..).zip(&model).filter_map(|(d, e)| e.map(|(t, s)| (t, s, d))).collect();
                    all.sort_unstable();
                    prop_assert_eq!(agenda.after_next(), all.get(1).map(|(.., device)| *device));
                }
            }
        }
    }
}
