//! Packets that the capture has twice, because it was taken at two interfaces or at a port that mirrors both ways.

use std::collections::VecDeque;

use firstflight_tcp::{Flags, Segment};

use crate::packet::Packet;

/// A copy comes within microseconds, or a forwarding delay; no timer sends again so soon.
pub(crate) const LATEST_COPY: u64 = 1_000_000;

/// Packets of a host that are remembered: between a packet and its copy, few others pass.
const MOST: usize = 64;

/// The last packets of a host.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    packets: VecDeque<(u64, Copied)>,
    /// The last SYN: a host that sends it again gives it another identification.
    syn: Option<Copied>,
}

/// What copies have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Copied {
    segment: Segment,
    len: u32,
    identification: Option<u16>,
}

impl Recent {
    /// Whether the same packet passed no longer than `within` before. Without an identification, an acknowledgement
    /// alone never did: a receiver sends the same one again for every packet that comes out of order.
    pub(crate) fn has(&mut self, at: u64, packet: &Packet, within: u64) -> bool {
        let Packet { segment, len, identification, .. } = *packet;
        let copied = Copied { segment, len, identification };
        let is_syn = segment.flags.has(Flags::SYN);
        if identification.is_none() && len == 0 && !is_syn && !segment.flags.has(Flags::FIN) {
            return false;
        }
        if is_syn {
            if identification.is_some() && self.syn == Some(copied) {
                return true;
            }
            self.syn = Some(copied);
        }
        while self.packets.front().is_some_and(|(then, _)| at.saturating_sub(*then) > within) {
            self.packets.pop_front();
        }
        if self.packets.iter().rev().any(|(_, one)| *one == copied) {
            return true;
        }
        if self.packets.len() == MOST {
            self.packets.pop_front();
        }
        self.packets.push_back((at, copied));
        false
    }
}
