//! Detects packets that the capture has twice, because it was taken at two interfaces or at a port that mirrors both directions.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use firstflight_tcp::{Flags, Segment};
use serde::{Deserialize, Serialize};

use crate::packet::{Packet, Point};

/// Maximum delay of a captured copy in nanoseconds. Copies come within microseconds, or after a forwarding delay. No timer retransmits so
/// soon.
pub(crate) const LATEST_COPY: u64 = 1_000_000;

/// Maximum time that a packet needs between two capture points, in nanoseconds. No SYN is retransmitted so soon (RFC 6298 section 2.1).
pub(crate) const LONGEST_WAY: u64 = 1_000_000_000;

/// Number of packets remembered per host. Fewer packets pass between a packet and its copy.
const MOST: usize = 64;

/// The last packets of a host.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Recent {
    packets: VecDeque<Passed>,
    /// Time of the latest packet.
    latest: u64,
    /// Fingerprint of the last SYN. If a host retransmits its SYN, the retransmission has another identification.
    syn: Option<u64>,
}

/// A packet that passed.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Passed {
    fingerprint: u64,
    /// Time in nanoseconds modulo 2^32. This range is more than four times as long as packets are remembered.
    at: u32,
    /// Hash of the capture point.
    point: u32,
}

/// Returns a hash of the fields that all copies of a packet have in common. Packets that differ in one of them have the same hash with a
/// probability of 2^-64.
fn fingerprint(packet: &Packet) -> u64 {
    let Packet { segment, len, identification, .. } = packet;
    let Segment { seq, ack, flags, window, .. } = *segment;
    let mut hasher = DefaultHasher::new();
    (seq, ack, flags.0, window, segment.ecn as u8, *len, *identification).hash(&mut hasher);
    segment.timestamps.map(|timestamps| (timestamps.value, timestamps.echo)).hash(&mut hasher);
    segment.sack_blocks().iter().for_each(|block| (block.start, block.end).hash(&mut hasher));
    hasher.finish()
}

/// Returns a hash of a capture point. Two capture points have the same hash with a probability of 2^-32.
fn number_of(point: Point) -> u32 {
    let mut hasher = DefaultHasher::new();
    (point.hops, point.kind, point.interface).hash(&mut hasher);
    low(hasher.finish())
}

/// Returns the lower 32 bits.
#[expect(clippy::cast_possible_truncation, reason = "the lower half is what is wanted")]
fn low(number: u64) -> u32 {
    number as u32
}

impl Passed {
    /// Returns the time from the packet's passing to `at`.
    fn age(&self, at: u64) -> u64 {
        low(at).wrapping_sub(self.at).into()
    }
}

impl Recent {
    /// Removes packets of which no copy can pass at the time `at` or later. Returns whether any packet is left.
    pub(crate) fn forget(&mut self, at: u64) -> bool {
        if at.saturating_sub(self.latest) > LONGEST_WAY {
            self.packets.clear();
        } else if at > self.latest {
            while self.packets.front().is_some_and(|one| one.age(at) > LONGEST_WAY) {
                self.packets.pop_front();
            }
        }
        self.syn.is_some() || !self.packets.is_empty()
    }

    /// Checks whether the packet is a copy of an earlier one, and remembers it if not. A copy passes at most `within` after the packet, or
    /// at another capture point (without TCP timestamps: less than `soon` after it). A pure acknowledgement without an identification is
    /// never a copy at the same point, because a receiver sends equal ones for packets that arrive out of order.
    pub(crate) fn has(&mut self, at: u64, packet: &Packet, within: u64, soon: u64) -> bool {
        let Packet { segment, len, identification, point, .. } = *packet;
        let copied = fingerprint(packet);
        let is_syn = segment.flags.has(Flags::SYN);
        if is_syn {
            if identification.is_some() && self.syn == Some(copied) {
                return true;
            }
            self.syn = Some(copied);
        }
        self.forget(at);
        let has_stamp = segment.timestamps.is_some();
        let may_repeat = identification.is_none() && len == 0 && !is_syn && !segment.flags.has(Flags::FIN);
        let point = number_of(point);
        let is_it = |one: &Passed| {
            let is_at_once = !may_repeat && one.age(at) <= within;
            // A packet without a TCP timestamp at another capture point may be a retransmission on another path.
            let is_elsewhere = one.point != point && (has_stamp || one.age(at) < soon);
            one.fingerprint == copied && (is_at_once || is_elsewhere)
        };
        if self.packets.iter().rev().any(is_it) {
            return true;
        }
        if self.packets.len() == MOST {
            self.packets.pop_front();
        }
        self.packets.push_back(Passed { fingerprint: copied, at: low(at), point });
        self.latest = at;
        false
    }
}
