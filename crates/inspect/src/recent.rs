//! Packets that the capture has twice, because it was taken at two interfaces or at a port that mirrors both ways.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use firstflight_tcp::{Flags, Segment};
use serde::{Deserialize, Serialize};

use crate::packet::{Packet, Point};

/// A copy comes within microseconds, or a forwarding delay; no timer sends again so soon.
pub(crate) const LATEST_COPY: u64 = 1_000_000;

/// From one place to another no packet takes longer, and no SYN is sent again so soon (RFC 6298 section 2.1).
pub(crate) const LONGEST_WAY: u64 = 1_000_000_000;

/// Packets of a host that are remembered: between a packet and its copy, few others pass.
const MOST: usize = 64;

/// The last packets of a host.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Recent {
    packets: VecDeque<Passed>,
    /// When the latest of them passed.
    latest: u64,
    /// The last SYN: a host that sends it again gives it another identification.
    syn: Option<u64>,
}

/// A packet that passed.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Passed {
    fingerprint: u64,
    /// When, in nanoseconds modulo 2^32, which is more than four times what is remembered.
    at: u32,
    /// A number for the place.
    point: u32,
}

/// A number for what copies have in common: two packets that differ in it have the same one once in 2^64.
fn fingerprint(packet: &Packet) -> u64 {
    let Packet { segment, len, identification, .. } = packet;
    let Segment { seq, ack, flags, window, .. } = *segment;
    let mut hasher = DefaultHasher::new();
    (seq, ack, flags.0, window, segment.ecn as u8, *len, *identification).hash(&mut hasher);
    segment.timestamps.map(|timestamps| (timestamps.value, timestamps.echo)).hash(&mut hasher);
    segment.sack_blocks().iter().for_each(|block| (block.start, block.end).hash(&mut hasher));
    hasher.finish()
}

/// A number for a place: of two places the same one once in 2^32.
fn number_of(point: Point) -> u32 {
    let mut hasher = DefaultHasher::new();
    (point.hops, point.kind, point.interface).hash(&mut hasher);
    low(hasher.finish())
}

/// The lower half.
#[expect(clippy::cast_possible_truncation, reason = "the lower half is what is wanted")]
fn low(number: u64) -> u32 {
    number as u32
}

impl Passed {
    /// How long before `at` it passed.
    fn age(&self, at: u64) -> u64 {
        low(at).wrapping_sub(self.at).into()
    }
}

impl Recent {
    /// Forgets what no packet from the time `at` on can be a copy of; says whether anything is left.
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

    /// Whether the same packet passed no longer than `within` before, or at another place, without timestamps less than `soon`
    /// before. Without an identification, an acknowledgement alone never passed here before: a receiver sends the same one again for every packet that comes out of order.
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
            // Without a timestamp, another place may be another way.
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
