//! The packets that a stream host has in flight, and their accounting in a [`Path`]. The hosts of this crate's tests and of
//! `firstflight-fuzz-bodies` share this file.

use std::collections::VecDeque;

use firstflight::{Ack, Bytes, Delivered, LostPacket, Path, RttSample, Sent, Span, Tag};

/// The packets in flight of one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct InFlight {
    /// In order of sequence.
    packets: VecDeque<Delivered>,
    /// Bytes of the oldest packet that are acknowledged.
    trimmed: Bytes,
    /// Bytes acknowledged selectively beyond the packets in flight.
    sacked: Bytes,
    next_packet: u64,
    /// The offset that ends the recovery under way.
    recovery_end: u64,
}

/// The packets that one ACK newly acknowledges.
#[derive(Clone, Debug)]
pub(crate) struct Acked {
    pub(crate) packets: Vec<Delivered>,
    /// Bytes newly delivered.
    pub(crate) bytes: Bytes,
    /// Bytes by which the cumulative acknowledgement moves.
    pub(crate) advanced: Bytes,
}

impl Acked {
    /// The ACK, with this round-trip sample.
    pub(crate) fn ack(&self, rtt: Option<Span>) -> Ack<'_> {
        let cumulative = self.packets.iter().filter(|packet| !packet.selectively).count();
        let mut ack = Ack::of_stream(&[]);
        ack.packets = &self.packets;
        ack.bytes = self.bytes;
        ack.advanced = self.advanced;
        ack.sacked = self.bytes - self.advanced;
        ack.segments = u32::try_from(cumulative).expect("few");
        ack.duplicate = self.advanced.is_zero();
        ack.rtt = rtt.map(|rtt| RttSample { rtt, handshake: false });
        ack
    }

    /// The ACK of these packets and of those of `other`, which follow.
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.packets.extend(other.packets);
        self.bytes += other.bytes;
        self.advanced += other.advanced;
        self
    }
}

impl InFlight {
    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Delivered> {
        self.packets.iter()
    }

    pub(crate) fn get(&self, index: usize) -> Option<&Delivered> {
        self.packets.get(index)
    }

    /// Sends a full packet under `tag`. The host reports it, and counts the packet after that ([`Path::sent`]).
    pub(crate) fn send(&mut self, tag: Tag, path: &Path) -> Sent {
        let packet = self.next_packet;
        self.next_packet += 1;
        self.packets.push_back(Delivered {
            packet,
            bytes: path.mss,
            sent_at: path.now,
            tag,
            delivered_at_send: path.delivered,
            limit: path.limit,
            retransmitted: false,
            selectively: false,
        });
        Sent { packet, bytes: path.mss, tag, retransmission: false }
    }

    /// Acknowledges the oldest `count` packets and `part` bytes of the next, but never all of it.
    pub(crate) fn acknowledge(&mut self, count: usize, part: u64) -> Acked {
        let packets: Vec<Delivered> = self.packets.drain(..count.min(self.packets.len())).collect();
        let mut bytes = packets.iter().fold(Bytes::ZERO, |sum, packet| sum + packet.bytes);
        if !packets.is_empty() {
            bytes -= std::mem::take(&mut self.trimmed);
        }
        if let Some(oldest) = self.packets.front() {
            let cut = Bytes::new(part).min((oldest.bytes - self.trimmed) - Bytes::new(1));
            self.trimmed += cut;
            bytes += cut;
        }
        let filled = if self.packets.is_empty() { std::mem::take(&mut self.sacked) } else { Bytes::ZERO };
        Acked { packets, bytes, advanced: bytes + filled }
    }

    /// Acknowledges the newest packet selectively, if it is not the oldest, which may be acknowledged in part.
    pub(crate) fn acknowledge_newest(&mut self) -> Option<Acked> {
        if self.packets.len() < 2 {
            return None;
        }
        let mut newest = self.packets.pop_back()?;
        newest.selectively = true;
        self.sacked += newest.bytes;
        Some(Acked { packets: vec![newest], bytes: newest.bytes, advanced: Bytes::ZERO })
    }

    /// Counts an ACK that arrived, and ends the recovery that it completes. The host reports [`firstflight::Event::Acked`] after that.
    pub(crate) fn count(&self, ack: &Ack<'_>, path: &mut Path) {
        path.acked(ack, path.una + ack.advanced.get());
        path.recovering &= path.una < self.recovery_end;
    }

    /// Finds the oldest `count` packets lost. They are repaired when everything now in flight is acknowledged.
    pub(crate) fn lose(&mut self, count: usize, path: &mut Path) -> Vec<LostPacket> {
        let found = self.packets.iter_mut().take(count).map(|packet| {
            packet.retransmitted = true;
            LostPacket { packet: packet.packet, bytes: packet.bytes, tag: packet.tag }
        });
        let lost: Vec<LostPacket> = found.collect();
        if !lost.is_empty() && !path.recovering {
            path.recovering = true;
            self.recovery_end = path.nxt;
        }
        lost
    }
}
