//! What happens next: at most one pending event for each device, ordered by time and then by sequence.

use firstflight::Time;

/// Children of a node. Four keep the heap shallow, and siblings lie side by side.
const ARITY: usize = 4;

/// A device without an event has no place in the heap.
const ABSENT: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Nanoseconds above, sequence below: of two events at one instant the one scheduled first comes first. One
    /// number, so that a comparison takes no branch.
    key: u128,
    device: u32,
}

impl Entry {
    fn new(at: Time, sequence: u64, device: u32) -> Self {
        Self { key: (u128::from(at.nanos()) << 64) | u128::from(sequence), device }
    }

    fn at(self) -> Time {
        Time::from_nanos(u64::try_from(self.key >> 64).unwrap_or(u64::MAX))
    }
}

/// An indexed heap over devices. It allocates when it is made and when a device comes up.
#[derive(Clone, Debug)]
pub(crate) struct Agenda {
    heap: Vec<Entry>,
    /// Where each device is in the heap.
    place: Vec<u32>,
}

impl Agenda {
    /// An empty agenda for this many devices.
    pub(crate) fn new(devices: usize) -> Self {
        Self { heap: Vec::with_capacity(devices), place: vec![ABSENT; devices] }
    }

    /// Makes room for this many more devices.
    pub(crate) fn grow(&mut self, devices: usize) {
        self.place.resize(self.place.len() + devices, ABSENT);
    }

    /// The next event: when, and whose.
    pub(crate) fn next(&self) -> Option<(Time, usize)> {
        self.heap.first().map(|entry| (entry.at(), entry.device as usize))
    }

    /// Sets the event of a device, in place of the one it had.
    pub(crate) fn set(&mut self, device: usize, at: Time, sequence: u64) {
        let Ok(name) = u32::try_from(device) else { return };
        let entry = Entry::new(at, sequence, name);
        let place = self.place[device];
        if place == ABSENT {
            self.heap.push(entry);
            self.rise(self.heap.len() - 1, entry);
        } else {
            let place = place as usize;
            let sooner = entry.key < self.heap[place].key;
            if sooner { self.rise(place, entry) } else { self.sink(place, entry) }
        }
    }

    /// Takes the event of a device away, if it has one.
    pub(crate) fn clear(&mut self, device: usize) {
        let place = std::mem::replace(&mut self.place[device], ABSENT);
        if place == ABSENT {
            return;
        }
        let place = place as usize;
        let Some(last) = self.heap.pop() else { return };
        if place == self.heap.len() {
            return;
        }
        let sooner = last.key < self.heap[place].key;
        if sooner { self.rise(place, last) } else { self.sink(place, last) }
    }

    /// Puts `entry` at `hole` or as far above as its order says.
    fn rise(&mut self, mut hole: usize, entry: Entry) {
        while hole > 0 {
            let parent = (hole - 1) / ARITY;
            let above = self.heap[parent];
            if above.key <= entry.key {
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
            let first = hole * ARITY + 1;
            let end = (first + ARITY).min(self.heap.len());
            let Some((&head, rest)) = self.heap.get(first..end).and_then(<[Entry]>::split_first) else {
                break;
            };
            let (mut child, mut least) = (first, head);
            for (place, &entry) in (first + 1..).zip(rest) {
                let sooner = entry.key < least.key;
                child = if sooner { place } else { child };
                least = if sooner { entry } else { least };
            }
            if entry.key <= least.key {
                break;
            }
            self.put(hole, least);
            hole = child;
        }
        self.put(hole, entry);
    }

    fn put(&mut self, place: usize, entry: Entry) {
        self.heap[place] = entry;
        self.place[entry.device as usize] = u32::try_from(place).unwrap_or(ABSENT);
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
        assert_eq!(agenda.next(), Some((at(5), 1)));
        agenda.clear(1);
        assert_eq!(agenda.next(), Some((at(5), 0)));
    }

    #[test]
    fn an_event_can_be_moved_both_ways_and_taken_away() {
        let mut agenda = Agenda::new(3);
        agenda.set(0, at(10), 0);
        agenda.set(1, at(20), 1);
        agenda.set(1, at(5), 2);
        assert_eq!(agenda.next(), Some((at(5), 1)));
        agenda.set(1, at(30), 3);
        assert_eq!(agenda.next(), Some((at(10), 0)));
        agenda.clear(0);
        agenda.clear(0);
        assert_eq!(agenda.next(), Some((at(30), 1)));
        agenda.clear(1);
        assert_eq!(agenda.next(), None);
    }

    proptest! {
        /// Against a list that is searched whole.
        #[test]
        fn the_next_event_is_the_least_of_all(
            operations in proptest::collection::vec((0usize..40, proptest::option::of(0u64..50)), 1..400),
        ) {
            let mut agenda = Agenda::new(40);
            let mut model: Vec<Option<(Time, u64)>> = vec![None; 40];
            for (sequence, (device, when)) in (0u64..).zip(operations) {
                match when {
                    Some(nanos) => agenda.set(device, at(nanos), sequence),
                    None => agenda.clear(device),
                }
                model[device] = when.map(|nanos| (at(nanos), sequence));
                let least = model.iter().enumerate().filter_map(|(d, e)| e.map(|(t, s)| (t, s, d))).min();
                prop_assert_eq!(agenda.next(), least.map(|(t, _, d)| (t, d)));
            }
        }
    }
}
