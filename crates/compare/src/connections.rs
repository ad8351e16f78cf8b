//! The connections of a tape on which one host serves many: each with its own evidence.

use std::collections::BTreeMap;

use firstflight::Span;
use firstflight_emulate::{Fate, Side, Tape, Taped};
use firstflight_measure::Evidence;
use firstflight_tcp::{Flags, Segment};
use firstflight_wire::decode_snapped;

use crate::evidence::{Sequence, evidence_of};

/// The packets of one connection.
#[derive(Default)]
pub(crate) struct Connection<'a> {
    /// What the sender of the data sent.
    sent: Vec<(&'a Taped, Segment)>,
    /// When acknowledgements reached it, and their numbers.
    acks: Vec<(u64, u32)>,
}

/// The connections in which `sender` sends from `port`, by the other host's port.
pub(crate) fn connections(tape: &Tape, sender: Side, port: u16) -> BTreeMap<u16, Connection<'_>> {
    let mut all: BTreeMap<u16, Connection<'_>> = BTreeMap::new();
    for packet in tape.packets() {
        let Ok(read) = decode_snapped(tape.head(packet)) else { continue };
        let (from, to) = (read.addresses.source_port, read.addresses.destination_port);
        let segment = read.segment;
        if packet.from == sender && from == port {
            all.entry(to).or_default().sent.push((packet, segment));
        } else if packet.from != sender
            && to == port
            && segment.flags.has(Flags::ACK)
            && let Fate::Delivered(at) = packet.fate
        {
            all.entry(from).or_default().acks.push((at.nanos(), segment.ack));
        }
    }
    all
}

impl Connection<'_> {
    /// When the sender's SYN left; `None` if it answered none.
    pub(crate) fn began(&self) -> Option<u64> {
        let syn = self.sent.iter().find(|(_, segment)| segment.flags.has(Flags::SYN));
        syn.map(|(packet, _)| packet.entered.nanos())
    }

    /// The evidence of a transfer of `size` bytes until `limit` after the sender's SYN; `None` if the sender answered none.
    pub(crate) fn evidence(&self, mss: u16, size: u64, limit: Span) -> Option<Evidence> {
        evidence_of(self.sent.iter().copied(), mss, size, limit)
    }

    /// When the sender heard that the stream is acknowledged up to where.
    pub(crate) fn acks(&self) -> Vec<(u64, u64)> {
        let syn = self.sent.iter().find(|(_, segment)| segment.flags.has(Flags::SYN));
        let Some((_, syn)) = syn else { return Vec::new() };
        let mut sequence = Sequence::of_syn(syn.seq);
        let (mut acks, mut sent) = (self.acks.clone(), self.sent.iter().peekable());
        acks.sort_unstable_by_key(|(at, _)| *at);
        let mut reached: Vec<(u64, u64)> = Vec::new();
        for (at, number) in acks {
            while let Some((_, segment)) = sent.next_if(|(packet, _)| packet.entered.nanos() <= at) {
                sequence.sent(segment);
            }
            let offset = sequence.offset(number);
            if offset > reached.last().map_or(0, |(_, offset)| *offset) {
                reached.push((at, offset));
            }
        }
        reached
    }
}
