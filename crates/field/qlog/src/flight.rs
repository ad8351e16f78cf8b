//! The packets of a connection that are in flight.

use std::collections::BTreeMap;

use crate::event::{Packet, Space};

/// The packet threshold of RFC 9002 section 6.1.1.
const THRESHOLD: u64 = 3;

/// Maximum number of lost packets that are remembered, to recognise those that arrive after all.
const MAX_LOST: usize = 4_096;

type Key = (Space, u64);

/// The packets that were sent and neither acknowledged nor lost.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flight {
    sent: BTreeMap<Key, Packet>,
    lost: BTreeMap<Key, Packet>,
    largest_acked: BTreeMap<Space, u64>,
    /// The largest number of a packet that was sent, of any content.
    largest_sent: BTreeMap<Space, u64>,
    /// The number of congestion marks that the last ACK reported.
    marks: BTreeMap<Space, u64>,
}

impl Flight {
    /// Takes the number of a packet that was sent, whatever it carries.
    pub(crate) fn number(&mut self, space: Space, number: u64) {
        let largest = self.largest_sent.entry(space).or_insert(number);
        *largest = (*largest).max(number);
    }

    /// Returns the largest number of a packet that was sent.
    pub(crate) fn largest(&self, space: Space) -> Option<u64> {
        self.largest_sent.get(&space).copied()
    }

    pub(crate) fn sent(&mut self, packet: Packet) {
        self.sent.insert((packet.space, packet.number), packet);
    }

    /// Acknowledges these ascending ranges of packets that were sent. Their ends are included. Returns the packets that are newly acknowledged, and how many of them were lost.
    pub(crate) fn acked(&mut self, space: Space, ranges: &[(u64, u64)]) -> (Vec<Packet>, usize) {
        let (mut packets, mut spurious) = (Vec::new(), 0);
        for &(first, last) in ranges {
            let largest = self.largest_acked.entry(space).or_insert(last);
            *largest = (*largest).max(last);
            for (map, is_lost) in [(&mut self.sent, false), (&mut self.lost, true)] {
                let keys: Vec<Key> = map.range((space, first)..=(space, last)).map(|(key, _)| *key).collect();
                spurious += if is_lost { keys.len() } else { 0 };
                packets.extend(keys.iter().filter_map(|key| map.remove(key)));
            }
        }
        packets.sort_unstable_by_key(|packet| packet.number);
        (packets, spurious)
    }

    /// Checks whether this number of congestion marks exceeds that of the ACK before.
    pub(crate) fn is_marked(&mut self, space: Space, marks: u64) -> bool {
        let before = self.marks.insert(space, marks);
        marks > before.unwrap_or(0)
    }

    /// Takes a packet that was found lost.
    pub(crate) fn lost(&mut self, space: Space, number: u64) -> Option<Packet> {
        let packet = self.sent.remove(&(space, number))?;
        if self.lost.len() == MAX_LOST {
            self.lost.pop_first();
        }
        self.lost.insert((space, number), packet);
        Some(packet)
    }

    /// Takes the `count` oldest packets of the application up to the number `largest`, for a stack that does not list lost packets.
    pub(crate) fn oldest_lost(&mut self, largest: u64, count: u64) -> Vec<Packet> {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let keys = (Space::Application, 0)..=(Space::Application, largest);
        let numbers: Vec<u64> = self.sent.range(keys).take(count).map(|(key, _)| key.1).collect();
        numbers.into_iter().filter_map(|number| self.lost(Space::Application, number)).collect()
    }

    /// Returns the numbers of the packets of the application that are lost by the packet threshold.
    pub(crate) fn overtaken(&self) -> Vec<u64> {
        let largest = self.largest_acked.get(&Space::Application).copied().unwrap_or(0);
        let Some(last) = largest.checked_sub(THRESHOLD) else { return Vec::new() };
        let keys = (Space::Application, 0)..=(Space::Application, last);
        self.sent.range(keys).map(|(key, _)| key.1).collect()
    }

    /// Forgets the packets of a space whose keys were discarded.
    pub(crate) fn discard(&mut self, space: Space) {
        self.sent.retain(|key, _| key.0 != space);
    }
}
