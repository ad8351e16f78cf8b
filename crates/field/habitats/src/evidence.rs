//! The evidence of a run over an emulated path, derived from its packets.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use firstflight::{Span, Time};
use firstflight_emulate::{Fate, LoggedPacket, PacketLog, Side};
use firstflight_measure::{Drop, Evidence, Recording, Send};
use firstflight_sim::DropCause;
use firstflight_tcp::{Flags, Segment};
use firstflight_wire::{Hosts, decode_snapped, decode_tcp};

/// How packets carry TCP segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Carrier {
    /// Directly in IP.
    Ip,
    /// In UDP, as the endpoint on sockets sends them.
    Udp,
}

/// Bytes of the IPv4 header and the UDP header.
const IP_AND_UDP: usize = 28;
/// The addresses of the pseudo-header of segments over UDP, which are zero (docs/guide/udp.md).
const NOBODY: Hosts = Hosts::V4 { source: Ipv4Addr::UNSPECIFIED, destination: Ipv4Addr::UNSPECIFIED };

impl Carrier {
    /// Returns the segment that a packet carries. The segment's payload length is computed from the packet's length.
    pub(crate) fn segment(self, packet_log: &PacketLog, packet: &LoggedPacket) -> Option<Segment> {
        let head = packet_log.head(packet);
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

/// Returns the evidence of a transfer of `size` bytes from host A in segments of `mss` bytes, as far as packets show it: the data sent,
/// dropped, marked and delivered until `limit` after the SYN. Exits, reductions and timeouts happen inside the sender, so the evidence
/// lacks them. `None` if no connection was opened.
pub fn evidence(
    packet_log: &PacketLog,
    carrier: Carrier,
    mss: u16,
    size: u64,
    limit: Span,
) -> Option<Evidence> {
    let sent = packet_log.packets().iter().filter(|packet| packet.from == Side::A);
    let sent = sent.filter_map(|packet| Some((packet, carrier.segment(packet_log, packet)?)));
    evidence_of(sent, mss, size, limit)
}

/// Returns the evidence from the packets of one sender. They must be in order.
pub(crate) fn evidence_of<'a>(
    sent: impl Iterator<Item = (&'a LoggedPacket, Segment)>,
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
    // Packets sent after the arrival of the last byte, or after the limit, do not belong to the flow, as in the simulator.
    recording.sends.retain(|send| send.at <= recording.ended_at);
    recording.drops.retain(|drop| drop.sent_at <= recording.ended_at);
    Some(Evidence { recording, finished_at, packets_marked: marked, ..Evidence::default() })
}

/// Returns the time at which a packet was dropped, and whether a queue or a policer dropped it. `None` if it was not dropped.
fn dropped(packet: &LoggedPacket) -> Option<(u64, bool)> {
    let Fate::Dropped(at, cause) = packet.fate else { return None };
    Some((Time::nanos(at), matches!(cause, Some(DropCause::Queue | DropCause::Policer))))
}

/// Returns the advances of in-order delivery as times and offsets. Each arrival is a time, the first offset of its data, and the end
/// offset.
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

/// Converts the 32-bit sequence numbers of a sender to offsets in its stream.
pub(crate) struct Sequence {
    first: u32,
    /// The end of the data that was sent so far.
    furthest: u64,
}

impl Sequence {
    pub(crate) fn of_syn(number: u32) -> Self {
        Self { first: number.wrapping_add(1), furthest: 0 }
    }

    /// Returns the offset of a sequence number. Of the possible offsets, it is the one nearest to the end of the sent data.
    #[expect(clippy::cast_possible_truncation, reason = "sequence numbers are offsets modulo 2^32")]
    pub(crate) fn offset(&self, number: u32) -> u64 {
        let from_furthest = number.wrapping_sub(self.first).wrapping_sub(self.furthest as u32).cast_signed();
        self.furthest.saturating_add_signed(i64::from(from_furthest))
    }

    /// Records that a segment with this payload was sent.
    pub(crate) fn sent(&mut self, segment: &Segment) {
        self.furthest = self.furthest.max(self.offset(segment.seq) + u64::from(segment.len));
    }
}

#[cfg(test)]
mod tests;
