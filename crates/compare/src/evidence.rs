//! The evidence of a run over an emulated path: what its packets say.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use firstflight::{Span, Time};
use firstflight_emulate::{Fate, Side, Tape, Taped};
use firstflight_measure::{Drop, Evidence, Recording, Send};
use firstflight_sim::DropCause;
use firstflight_tcp::{Flags, Segment};
use firstflight_wire::{Hosts, decode_snapped, decode_tcp};

/// How TCP segments are carried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Carrier {
    /// In IP.
    Ip,
    /// In UDP, as the endpoint on sockets has them.
    Udp,
}

/// Bytes of the headers of IPv4 and UDP.
const IP_AND_UDP: usize = 28;
/// Segments in UDP are between no hosts (docs/live.md).
const NOBODY: Hosts = Hosts::V4 { source: Ipv4Addr::UNSPECIFIED, destination: Ipv4Addr::UNSPECIFIED };

impl Carrier {
    /// The segment that a packet carries, with the payload's length that the packet's own length says.
    pub(crate) fn segment(self, tape: &Tape, packet: &Taped) -> Option<Segment> {
        let head = tape.head(packet);
        match self {
            Self::Ip => decode_snapped(head).ok().map(|read| read.segment),
            Self::Udp => {
                let read = decode_tcp(NOBODY, head.get(IP_AND_UDP..)?).ok()?;
                let missing = u16::try_from(packet.length - head.len()).ok()?;
                Some(Segment { len: read.segment.len + missing, ..read.segment })
            }
        }
    }
}

/// The evidence of a transfer from host A of `size` bytes in segments of `mss` bytes, as far as packets say it: what was sent,
/// dropped, marked and delivered, until `limit` after the SYN. Exits, reductions and timeouts are inside the sender. `None` if no
/// connection was opened.
pub fn evidence(tape: &Tape, carrier: Carrier, mss: u16, size: u64, limit: Span) -> Option<Evidence> {
    let sent = tape.packets().iter().filter(|packet| packet.from == Side::A);
    let sent = sent.filter_map(|packet| Some((packet, carrier.segment(tape, packet)?)));
    evidence_of(sent, mss, size, limit)
}

/// The evidence of the packets of one sender, in order.
pub(crate) fn evidence_of<'a>(
    sent: impl Iterator<Item = (&'a Taped, Segment)>,
    mss: u16,
    size: u64,
    limit: Span,
) -> Option<Evidence> {
    let mut recording = Recording { mss: u32::from(mss), ..Recording::default() };
    let mut sequence: Option<Sequence> = None;
    let mut arrivals: Vec<(u64, u64, u64)> = Vec::new();
    let mut marked = 0;
    for (packet, segment) in sent {
        let at = packet.entered.nanos();
        if segment.flags.has(Flags::SYN) {
            if sequence.is_none() {
                recording.syn_at = at;
            }
            sequence = Some(Sequence::of_syn(segment.seq));
            continue;
        }
        let Some(sequence) = &mut sequence else { continue };
        if segment.len == 0 {
            if let Some((dropped, by_queue)) = dropped(packet) {
                recording.drops.push(Drop { at: dropped, sent_at: at, offset: 0, len: 0, by_queue });
            }
            continue;
        }
        let (offset, len) = (sequence.offset(segment.seq), u32::from(segment.len));
        let end = offset + u64::from(len);
        let retransmission = end <= sequence.furthest;
        sequence.sent(&segment);
        recording.sends.push(Send { at, offset, len, retransmission });
        marked += u64::from(packet.is_marked);
        match packet.fate {
            Fate::Delivered(at) => arrivals.push((at.nanos(), offset, end)),
            Fate::Dropped(..) => {
                let (dropped, by_queue) = dropped(packet)?;
                recording.drops.push(Drop { at: dropped, sent_at: at, offset, len, by_queue });
            }
            Fate::Inside => {}
        }
    }
    sequence?;
    let until = |syn_at: u64| syn_at.saturating_add(limit.nanos());
    arrivals.retain(|(at, ..)| *at <= until(recording.syn_at));
    recording.first_data_at = recording.sends.first().map(|first| first.at);
    recording.drops.sort_by_key(|drop| drop.at);
    recording.delivered = in_order(arrivals);
    let finished_at = recording.delivered.iter().find(|(_, bytes)| *bytes >= size).map(|(at, _)| *at);
    recording.ended_at = finished_at.unwrap_or_else(|| until(recording.syn_at));
    // What is sent after the last byte arrived, or after the limit, is beyond the flow's life, as in the simulator.
    recording.sends.retain(|send| send.at <= recording.ended_at);
    recording.drops.retain(|drop| drop.sent_at <= recording.ended_at);
    Some(Evidence { recording, finished_at, packets_marked: marked, ..Evidence::default() })
}

/// When a packet was dropped, if it was, and whether a queue or a policer dropped it.
fn dropped(packet: &Taped) -> Option<(u64, bool)> {
    let Fate::Dropped(at, cause) = packet.fate else { return None };
    Some((Time::nanos(at), matches!(cause, Some(DropCause::Queue | DropCause::Policer))))
}

/// In-order delivery: when it advanced, and to which offset, from what arrived: (when, from, to).
fn in_order(mut arrivals: Vec<(u64, u64, u64)>) -> Vec<(u64, u64)> {
    arrivals.sort_unstable();
    let (mut reached, mut beyond) = (0, BTreeMap::<u64, u64>::new());
    let mut delivered = Vec::new();
    for (at, from, to) in arrivals {
        let end = beyond.entry(from).or_default();
        *end = (*end).max(to);
        let before = reached;
        while let Some(next) = beyond.first_entry().filter(|next| *next.key() <= reached) {
            reached = reached.max(next.remove());
        }
        if reached > before {
            delivered.push((at, reached));
        }
    }
    delivered
}

/// The sequence numbers of a sender, of 32 bits, as offsets in its stream.
pub(crate) struct Sequence {
    first: u32,
    /// Where the data sent so far ends.
    furthest: u64,
}

impl Sequence {
    pub(crate) fn of_syn(number: u32) -> Self {
        Self { first: number.wrapping_add(1), furthest: 0 }
    }

    /// The offset nearest to what was sent.
    #[expect(clippy::cast_possible_truncation, reason = "sequence numbers are offsets modulo 2^32")]
    pub(crate) fn offset(&self, number: u32) -> u64 {
        let from_furthest = number.wrapping_sub(self.first).wrapping_sub(self.furthest as u32).cast_signed();
        self.furthest.saturating_add_signed(i64::from(from_furthest))
    }

    /// A segment with this payload was sent.
    pub(crate) fn sent(&mut self, segment: &Segment) {
        self.furthest = self.furthest.max(self.offset(segment.seq) + u64::from(segment.len));
    }
}

#[cfg(test)]
mod tests;
