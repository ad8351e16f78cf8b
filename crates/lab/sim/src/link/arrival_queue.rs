//! The packets that are known to arrive at the near end of a link, with their arrival times.
//!
//! The upstream link knows a packet's arrival time here as soon as it accepts the packet, and announces the packet.
//! Therefore no event is needed at the arrival: this link processes its expected arrivals when something depends on
//! them.

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

/// A link's answer to the announcement of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Expectation {
    /// The link does not expect packets, or not this one. The packet must enter by an event at its arrival.
    Refused,
    /// The link will process the packet before anything depends on it.
    Taken,
    /// The link will process the packet, and its next event may have changed.
    EventMoved,
}

/// An announced packet, with its arrival time.
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

/// Maximum number of packets before which a new packet is inserted. If more packets come after it, for example because
/// another link has a long queue, a separate event costs less.
const REACH: u64 = 32;

impl ArrivalQueue {
    /// Adds a packet that arrives at `at`. Returns the number of packets before it. Returns `None`, and adds nothing,
    /// if it would come before more than [`REACH`] others.
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

    /// Adds a packet that arrives no later than the latest so far: the rare case of [`ArrivalQueue::put`].
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

    /// Removes and returns the first packet if it arrives before `at` or, at `at`, no later in the event order than
    /// `sequence`.
    #[inline]
    pub(crate) fn take(&mut self, at: Time, sequence: u64) -> Option<Expected> {
        let first = *self.first_by(at, sequence)?;
        self.drop_first(first.descriptor.wire());
        Some(first)
    }

    /// Returns the packet that [`ArrivalQueue::take`] would take.
    #[inline]
    pub(crate) fn first_by(&self, at: Time, sequence: u64) -> Option<&Expected> {
        self.expected.first().filter(|first| first.at < at || first.place() <= (at, sequence))
    }

    /// Removes the first packet, which exists and has `wire` IP bytes.
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

    /// Returns the number of packets ever added.
    #[inline]
    pub(crate) fn count(&self) -> u64 {
        self.expected.end()
    }

    #[inline]
    pub(crate) fn len(&self) -> u64 {
        self.expected.end() - self.expected.head()
    }

    /// Returns the IP bytes of all expected packets.
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
        /// Compares the queue with a list that is sorted as a whole.
        #[test]
        fn arrivals_are_taken_in_arrival_order(
            puts in proptest::collection::vec((0u64..200, proptest::option::of(0u64..200)), 1..300),
        ) {
            let (mut arrivals, mut model) = (ArrivalQueue::default(), Vec::new());
            for (name, (at, take)) in (0u64..).zip(puts) {
                // Each sequence number occurs once, in no order: a packet that its host sent earlier may arrive
                // later.
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
