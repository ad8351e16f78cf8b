//! Splits the packet log of a host that had several connections into the evidence of each connection.

use std::collections::BTreeMap;

use firstflight::Span;
use firstflight_emulate::{Fate, LoggedPacket, PacketLog, Side};
use firstflight_measure::Evidence;
use firstflight_tcp::{Flags, Segment};
use firstflight_wire::decode_snapped;

use crate::evidence::{Sequence, evidence_of};

/// The packets of one connection.
#[derive(Default)]
pub(crate) struct Connection<'a> {
    /// The segments that the data's sender sent.
    sent: Vec<(&'a LoggedPacket, Segment)>,
    /// The times at which ACKs reached the sender, and their acknowledgement numbers.
    acks: Vec<(u64, u32)>,
}

/// Returns the connections in which `sender` sends from `port`. The key is the other host's port.
pub(crate) fn connections(packet_log: &PacketLog, sender: Side, port: u16) -> BTreeMap<u16, Connection<'_>> {
    let mut all: BTreeMap<u16, Connection<'_>> = BTreeMap::new();
    for packet in packet_log.packets() {
        let Ok(read) = decode_snapped(packet_log.head(packet)) else { continue };
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
    /// Returns the time at which the sender sent its SYN; `None` if it sent none.
    pub(crate) fn began(&self) -> Option<u64> {
        let syn = self.sent.iter().find(|(_, segment)| segment.flags.has(Flags::SYN));
        syn.map(|(packet, _)| packet.entered.nanos())
    }

    /// Returns the evidence of a transfer of `size` bytes, until `limit` after the sender's SYN; `None` if the sender sent no SYN.
    pub(crate) fn evidence(&self, mss: u16, size: u64, limit: Span) -> Option<Evidence> {
        evidence_of(self.sent.iter().copied(), mss, size, limit)
    }

    /// Returns the advances of the cumulative ACK at the sender: the time of each in nanoseconds, and the new offset.
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

#[cfg(test)]
mod tests {
    use super::*;

    use std::net::Ipv4Addr;

    use firstflight::Time;
    use firstflight_emulate::Observer;
    use firstflight_measure::metrics;
    use firstflight_wire::{Addresses, Hosts, Ip, encode};

    const PORT: u16 = 4_433;
    const ISN: u32 = u32::MAX - 500;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// Returns a packet between a port of host A and the server at host B, in wire format.
    fn packet(from: Side, port: u16, segment: &Segment) -> Vec<u8> {
        let [a, b] = [(Ipv4Addr::new(10, 0, 0, 1), port), (Ipv4Addr::new(10, 0, 0, 2), PORT)];
        let (source, destination) = if from == Side::A { (a, b) } else { (b, a) };
        let addresses = Addresses {
            hosts: Hosts::V4 { source: source.0, destination: destination.0 },
            source_port: source.1,
            destination_port: destination.1,
        };
        let payload = vec![7; usize::from(segment.len)];
        let mut bytes = Vec::new();
        encode(&Ip { addresses, identification: 0, hop_limit: 64 }, segment, &payload, &mut bytes)
            .expect("a packet");
        bytes
    }

    fn data(offset: u32) -> Segment {
        let seq = ISN.wrapping_add(1).wrapping_add(offset);
        Segment { seq, len: 1_000, flags: Flags::ACK, ..Segment::default() }
    }

    fn ack(offset: u32) -> Segment {
        Segment { ack: ISN.wrapping_add(1).wrapping_add(offset), flags: Flags::ACK, ..Segment::default() }
    }

    /// Two connections to one server exist at the same time, each with two segments. One segment of the second connection is dropped and
    /// retransmitted. A third connection has the opposite direction.
    #[test]
    fn each_connection_has_its_own_packets_and_acknowledgements() {
        let mut packet_log = PacketLog::default();
        let syn_ack = Segment { seq: ISN, flags: Flags::SYN.with(Flags::ACK), ..Segment::default() };
        let packets = [
            (Side::B, 40_000, 0, syn_ack),
            (Side::B, 40_001, 2, syn_ack),
            (Side::B, 40_000, 10, data(0)),
            (Side::B, 40_001, 11, data(0)),
            (Side::B, 40_001, 12, data(1_000)),
            (Side::B, 40_000, 13, data(1_000)),
            (Side::A, 40_000, 20, ack(2_000)),
            (Side::A, 40_001, 21, ack(0)),
            (Side::B, 40_001, 30, data(0)),
            (Side::A, 40_001, 40, ack(2_000)),
        ];
        for (number, (from, port, millis, segment)) in (0..).zip(&packets) {
            packet_log.entered(number, *from, at(*millis), &packet(*from, *port, segment));
            match number {
                3 => packet_log.dropped(number, at(11), None),
                _ => packet_log.left(number, from.other(), at(millis + 5), &[], false),
            }
        }
        let other = Addresses {
            hosts: Hosts::V4 { source: Ipv4Addr::new(10, 0, 0, 1), destination: Ipv4Addr::new(10, 0, 0, 2) },
            source_port: PORT,
            destination_port: 40_000,
        };
        let mut bytes = Vec::new();
        encode(&Ip { addresses: other, identification: 0, hop_limit: 64 }, &data(0), &[7; 1_000], &mut bytes)
            .expect("a packet");
        packet_log.entered(10, Side::A, at(50), &bytes);
        let all = connections(&packet_log, Side::B, PORT);
        assert_eq!(all.keys().copied().collect::<Vec<_>>(), [40_000, 40_001]);
        let noted = |port: u16| {
            let connection = &all[&port];
            let evidence = connection.evidence(1_000, 2_000, Span::from_secs(9)).expect("a transfer");
            let counts = (metrics::packets_sent(&evidence), metrics::packets_lost(&evidence));
            (connection.began(), evidence.finished_at, counts, connection.acks())
        };
        let ms = |millis: u64| millis * 1_000_000;
        assert_eq!(noted(40_000), (Some(0), Some(ms(18)), (2, 0), vec![(ms(25), 2_000)]));
        assert_eq!(noted(40_001), (Some(ms(2)), Some(ms(35)), (3, 1), vec![(ms(45), 2_000)]));
    }
}
