//! The packets that are known to arrive at the near end of a link, and when.
//!
//! The link before knows when a packet arrives here as soon as it accepts the packet, and announces it. So nothing need
//! happen at the instant of the arrival: this link looks at its expected arrivals when something depends on them.

use firstflight::Time;

use crate::descriptor::Descriptor;
use crate::ring::Ring;

/// Expected arrivals, in order of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArrivalQueue {
    expected: Ring<Expected>,
    /// The latest arrival ever announced.
    latest: Time,
    /// IP bytes of all expected packets.
    bytes: u64,
}

/// How a link answers when a packet is announced to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expectation {
    /// The link does not expect packets, or not this one. The packet has to enter by an event at its arrival.
    Refused,
    /// The link will look at the packet before anything depends on it.
    Taken,
    /// The link will look at the packet, and its next event may have changed.
    EventMoved,
}

/// A packet, and when it arrives.
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

/// A packet is put before at most this many others. Further in, as behind a long queue of another link, an event of its
/// own costs less.
const REACH: u64 = 32;

impl ArrivalQueue {
    /// Adds a packet that arrives at `at`. Returns how many come before it; `None`, and nothing is added, if it would
    /// come before more than [`REACH`] others.
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

    /// Adds a packet that does not arrive later than all others so far: [`ArrivalQueue::put`] at length.
    // Out of line: inlined, the new entry would also be spilled to memory on the usual path, and read back before the
    // store is complete.
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

    /// Takes the first packet if it arrives before `at` or, at `at`, no later in the event order than `sequence`.
    #[inline]
    pub(crate) fn take(&mut self, at: Time, sequence: u64) -> Option<Expected> {
        let first = *self.first_by(at, sequence)?;
        self.drop_first(first.descriptor.wire());
        Some(first)
    }

    /// The packet that [`ArrivalQueue::take`] would take.
    #[inline]
    pub(crate) fn first_by(&self, at: Time, sequence: u64) -> Option<&Expected> {
        self.expected.first().filter(|first| first.at < at || first.place() <= (at, sequence))
    }

    /// Takes the first packet, which is there and has `wire` IP bytes.
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

    /// How many packets were ever added.
    #[inline]
    pub(crate) fn count(&self) -> u64 {
        self.expected.end()
    }

    #[inline]
    pub(crate) fn len(&self) -> u64 {
        self.expected.end() - self.expected.head()
    }

    /// IP bytes of all expected packets.
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
        /// Against a list that is sorted as a whole.
        #[test]
        fn what_comes_is_taken_in_the_order_of_its_coming(
            puts in proptest::collection::vec((0u64..200, proptest::option::of(0u64..200)), 1..300),
        ) {
            let (mut arrivals, mut model) = (ArrivalQueue::default(), Vec::new());
            for (name, (at, take)) in (0u64..).zip(puts) {
                // Each sequence number occurs once, in no order: a packet that left its host earlier may arrive later.
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
