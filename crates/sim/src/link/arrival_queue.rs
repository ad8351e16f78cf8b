//! What is known to come to a link, and when.
//!
//! The link before knows when a packet arrives here as soon as it takes it, so that nothing need happen at that instant
//! unless something depends on it: the link here looks at what came when it has to.

use firstflight::Time;

use crate::descriptor::Descriptor;
use crate::ring::Ring;

/// What comes, in the order of its coming.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArrivalQueue {
    expected: Ring<Expected>,
    /// When the last of all that ever came or comes does so.
    latest: Time,
    /// IP bytes of all of it.
    bytes: u64,
}

/// What came of expecting a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expectation {
    /// The link does not expect packets, or not this one: it has to be told when it comes.
    Refused,
    /// It will look at it before anything depends on it.
    Taken,
    /// It will, but its next event may be another now.
    EventMoved,
}

/// A packet, and when it comes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Expected {
    pub(crate) at: Time,
    pub(crate) descriptor: Descriptor,
}

const _: () = assert!(size_of::<Expected>() == 24);

impl Expected {
    #[inline]
    pub(crate) fn place(&self) -> (Time, u64) {
        (self.at, self.descriptor.sequence())
    }
}

/// Before how many others a packet is put in. Behind another link's long queue it would be dearer than an event.
const REACH: u64 = 32;

impl ArrivalQueue {
    /// Puts in a packet that comes at `at`, and says in which place; `None` if it would be before too many others.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once a packet a link, and from few places")]
    pub(crate) fn put(&mut self, at: Time, descriptor: Descriptor) -> Option<u64> {
        let count = self.len();
        if self.latest >= at {
            return self.put_ahead(at, descriptor);
        }
        self.latest = at;
        self.bytes += u64::from(descriptor.wire());
        self.expected.push(Expected { at, descriptor });
        Some(count)
    }

    /// The same of one that does not come later than all that ever did.
    // By itself, or what is put in would be kept in memory for it on the other way, too: written piece by piece and read at
    // once, for which a processor waits.
    #[inline(never)]
    fn put_ahead(&mut self, at: Time, descriptor: Descriptor) -> Option<u64> {
        let new = Expected { at, descriptor };
        let is_later = |one: &Expected| one.at > new.at || one.place() > new.place();
        let count = self.len();
        if count > REACH && self.get(count - 1 - REACH).is_some_and(is_later) {
            return None;
        }
        self.bytes += u64::from(descriptor.wire());
        Some(count - self.expected.insert(new, is_later))
    }

    /// The first that comes no later than `at` and, at that instant, than the `sequence`-th event.
    #[inline]
    pub(crate) fn take(&mut self, at: Time, sequence: u64) -> Option<Expected> {
        let first = *self.first_by(at, sequence)?;
        self.drop_first(first.descriptor.wire());
        Some(first)
    }

    /// The same where it stays.
    #[inline]
    pub(crate) fn first_by(&self, at: Time, sequence: u64) -> Option<&Expected> {
        self.expected.first().filter(|first| first.at < at || first.place() <= (at, sequence))
    }

    /// Takes the first, which is there and has so many IP bytes.
    #[inline]
    pub(crate) fn drop_first(&mut self, wire: u32) {
        self.expected.drop_first();
        self.bytes -= u64::from(wire);
    }

    #[inline]
    pub(crate) fn first(&self) -> Option<&Expected> {
        self.expected.first()
    }

    #[inline]
    pub(crate) fn get(&self, place: u64) -> Option<&Expected> {
        self.expected.get(self.expected.head() + place)
    }

    /// How many were ever put in.
    #[inline]
    pub(crate) fn count(&self) -> u64 {
        self.expected.end()
    }

    #[inline]
    pub(crate) fn len(&self) -> u64 {
        self.expected.end() - self.expected.head()
    }

    /// IP bytes of all that comes.
    #[inline]
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::packet::{PacketId, Position};

    proptest! {
        /// Against a list that is sorted whole.
        #[test]
        fn what_comes_is_taken_in_the_order_of_its_coming(
            puts in proptest::collection::vec((0u64..200, proptest::option::of(0u64..200)), 1..300),
        ) {
            let (mut arrivals, mut model) = (ArrivalQueue::default(), Vec::new());
            for (name, (at, take)) in (0u64..).zip(puts) {
                // Every number once, in no order: who left its host before another may be expected later.
                let sequence = name * 211 % 307;
                let descriptor = Descriptor::segment(PacketId(0), Position::default(), 40, false).in_place(sequence);
                let later = model.iter().filter(|one| **one > (at, sequence)).count() as u64;
                let put = arrivals.put(Time::from_nanos(at), descriptor);
                prop_assert_eq!(put, (later <= REACH).then(|| model.len() as u64 - later));
                if put.is_some() {
                    model.push((at, sequence));
                    model.sort_unstable();
                }
                while let Some(until) = take {
                    let taken = arrivals.take(Time::from_nanos(until), sequence / 2);
                    let first = model.first().copied().filter(|first| *first <= (until, sequence / 2));
                    prop_assert_eq!(taken.map(|one| (one.at.nanos(), one.descriptor.sequence())), first);
                    if first.is_none() {
                        break;
                    }
                    model.remove(0);
                }
                prop_assert_eq!((arrivals.len(), arrivals.bytes()), (model.len() as u64, 40 * model.len() as u64));
            }
        }
    }
}
