//! A ring of small values in order. A value's sequence number is the number of values added before it.

/// Minimum capacity of a ring that is not empty.
const LEAST: usize = 16;

/// A first-in-first-out ring. It allocates only when it holds more values than ever before.
#[derive(Clone, Debug)]
pub(crate) struct Ring<T> {
    /// The capacity is a power of two.
    places: Box<[T]>,
    /// Number of values ever removed, and of values ever added.
    head: u64,
    end: u64,
}

impl<T> Default for Ring<T> {
    fn default() -> Self {
        Self { places: Box::default(), head: 0, end: 0 }
    }
}

impl<T: Copy + Default> Ring<T> {
    /// Returns the sequence number of the oldest value.
    #[inline]
    pub(crate) fn head(&self) -> u64 {
        self.head
    }

    /// Returns the sequence number of the next value to be added.
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Returns whether the ring would have to grow for another value.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.end - self.head == self.places.len() as u64
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "taken modulo the number of places")]
    fn place(&self, name: u64) -> usize {
        name as usize & self.places.len().wrapping_sub(1)
    }

    /// Returns the value with this sequence number, which is not below [`Ring::head`]; `None` if it has not been added
    /// yet.
    #[inline]
    pub(crate) fn get(&self, name: u64) -> Option<&T> {
        if name < self.end { self.places.get(self.place(name)) } else { None }
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<&T> {
        self.get(self.head)
    }

    /// Inserts a value before the values at the end for which `comes_after` is true. Returns the number of those
    /// values.
    #[inline]
    pub(crate) fn insert(&mut self, value: T, comes_after: impl Fn(&T) -> bool) -> u64 {
        if self.is_full() {
            self.grow();
        }
        let mut name = self.end;
        while name > self.head {
            let (before, here) = (self.place(name - 1), self.place(name));
            let other = self.places[before];
            if !comes_after(&other) {
                break;
            }
            self.places[here] = other;
            name -= 1;
        }
        let place = self.place(name);
        self.places[place] = value;
        self.end += 1;
        self.end - 1 - name
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet a link, and from few places")]
    pub(crate) fn push(&mut self, value: T) {
        if self.is_full() {
            self.grow();
        }
        let place = self.place(self.end);
        self.places[place] = value;
        self.end += 1;
    }

    /// Removes the first value. The ring is not empty.
    #[inline]
    pub(crate) fn drop_first(&mut self) {
        debug_assert!(self.head < self.end, "nothing is there");
        self.head += 1;
    }

    /// Removes all values before the one with this sequence number, which may be [`Ring::end`].
    #[inline]
    pub(crate) fn drop_to(&mut self, name: u64) {
        debug_assert!(name <= self.end, "nothing is there");
        self.head = self.head.max(name);
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let mut larger = Self {
            places: vec![T::default(); (2 * self.places.len()).max(LEAST)].into_boxed_slice(),
            head: self.head,
            end: self.end,
        };
        for name in self.head..self.end {
            let place = larger.place(name);
            larger.places[place] = self.places[self.place(name)];
        }
        *self = larger;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Compares the ring with a double-ended queue.
        #[test]
        fn ring_entries_leave_in_order_and_keep_their_position(
            puts in proptest::collection::vec(proptest::option::of(0usize..20), 0..600),
        ) {
            let (mut ring, mut model) = (Ring::default(), std::collections::VecDeque::new());
            let mut taken = 0;
            for (value, put) in (0u64..).zip(puts) {
                if let Some(ahead_of) = put {
                    let others = ahead_of.min(model.len());
                    // `comes_after` is false for the values before it.
                    let before: Vec<u64> = model.iter().take(model.len() - others).copied().collect();
                    if others == 0 {
                        ring.push(value);
                    } else {
                        let passed = ring.insert(value, |one| !before.contains(one));
                        prop_assert_eq!(passed, others as u64);
                    }
                    model.insert(model.len() - others, value);
                } else if value % 2 == 0 {
                    prop_assert_eq!(ring.first(), model.front());
                    if model.pop_front().is_some() {
                        ring.drop_first();
                        taken += 1;
                    }
                } else {
                    let many = model.len() as u64 / 2;
                    model.drain(..model.len() / 2);
                    ring.drop_to(taken + many);
                    // Removed values stay removed.
                    ring.drop_to(taken);
                    taken += many;
                }
                prop_assert_eq!((ring.head(), ring.end()), (taken, taken + model.len() as u64));
                for (name, value) in (taken..).zip(&model) {
                    prop_assert_eq!(ring.get(name), Some(value));
                }
                prop_assert_eq!(ring.get(ring.end()), None);
            }
        }
    }
}
