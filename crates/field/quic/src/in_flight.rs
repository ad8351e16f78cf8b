//! The packets in flight, in order of transmission.

use alloc::collections::VecDeque;

use firstflight::{Bytes, Delivered, Time};

use crate::rate_sampler::AtSend;

/// A packet in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlightPacket {
    /// The stack's number, which may repeat in another packet number space.
    pub(crate) number: Option<u64>,
    pub(crate) delivered: Delivered,
    /// The offset at which the packet ends.
    pub(crate) end: u64,
    pub(crate) at_send: AtSend,
    /// Whether the packet is neither acknowledged nor lost.
    flying: bool,
}

/// The packets in flight. The memory is that of the span from the oldest to the newest packet in flight.
#[derive(Clone, Debug, Default)]
pub(crate) struct InFlight {
    packets: VecDeque<InFlightPacket>,
    bytes: Bytes,
    /// The number of packets of which the controller got an event.
    next: u64,
}

impl InFlight {
    pub(crate) fn bytes(&self) -> Bytes {
        self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Returns the number of the next packet, counted from zero.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    pub(crate) fn push(&mut self, number: Option<u64>, delivered: Delivered, end: u64, at_send: AtSend) {
        self.next = delivered.packet + 1;
        self.bytes += delivered.bytes;
        self.packets.push_back(InFlightPacket { number, delivered, end, at_send, flying: true });
    }

    /// Takes the packet that was sent at `sent_at`, with this number and size. A stack without numbers reports packets of one instant in
    /// order.
    pub(crate) fn take(&mut self, number: Option<u64>, bytes: u64, sent_at: Time) -> Option<InFlightPacket> {
        let from = self.packets.partition_point(|packet| packet.delivered.sent_at < sent_at);
        let fits = |packet: &InFlightPacket| {
            packet.flying && packet.number == number && packet.delivered.bytes.get() == bytes
        };
        // Within one space and one instant, packets are in order of number.
        let until = self.packets.partition_point(|packet| packet.delivered.sent_at <= sent_at);
        let guess = self.packets.range(from..until);
        let guess = guess.take_while(|packet| !packet.flying || packet.number < number).count() + from;
        let found = (guess..until).chain(from..guess).find(|index| fits(&self.packets[*index]));
        // A stack without numbers may report a batch whose packets have other sizes than the host assumed.
        let holds = |packet: &InFlightPacket| packet.flying && packet.delivered.bytes.get() >= bytes;
        let guessed = || (from..until).find(|index| number.is_none() && holds(&self.packets[*index]));
        let found = found.or_else(guessed)?;
        self.remove(found)
    }

    /// Takes the oldest packet with this number, for a stack that reports no transmission time with a loss.
    pub(crate) fn take_lost(&mut self, number: u64, bytes: u64) -> Option<InFlightPacket> {
        let fits = |packet: &InFlightPacket| {
            packet.flying && packet.number == Some(number) && packet.delivered.bytes.get() == bytes
        };
        let found = self.packets.iter().position(fits)?;
        self.remove(found)
    }

    /// Takes the oldest packet if it was sent at `newest` or before.
    pub(crate) fn take_oldest(&mut self, newest: Time) -> Option<InFlightPacket> {
        self.packets.front().filter(|packet| packet.delivered.sent_at <= newest)?;
        self.remove(0)
    }

    /// Drops packets older than packet `newest` until at most `bytes` are in flight: the stack discarded them without a report (packets of
    /// a handshake, packets that no one acknowledges). A packet of the whole excess is preferred to the oldest.
    pub(crate) fn reconcile(&mut self, bytes: Bytes, newest: u64) {
        while self.bytes > bytes {
            let excess = self.bytes - bytes;
            let size = |index: usize| self.packets[index].delivered.bytes;
            let old = |packet: &InFlightPacket| packet.delivered.packet < newest;
            let count = self.packets.iter().take_while(|packet| old(packet)).count();
            let flying = || (0..count).filter(|index| self.packets[*index].flying);
            let exact = flying().find(|index| size(*index) == excess);
            let Some(found) = exact.or_else(|| flying().find(|index| size(*index) < excess)) else { return };
            self.remove(found);
        }
    }

    /// Forgets every packet. Their numbers are not used again.
    pub(crate) fn clear(&mut self) {
        self.packets.clear();
        self.bytes = Bytes::ZERO;
    }

    fn remove(&mut self, index: usize) -> Option<InFlightPacket> {
        let packet = self.packets.get_mut(index)?;
        packet.flying = false;
        let taken = *packet;
        self.bytes -= taken.delivered.bytes;
        while self.packets.front().is_some_and(|packet| !packet.flying) {
            self.packets.pop_front();
        }
        while self.packets.back().is_some_and(|packet| !packet.flying) {
            self.packets.pop_back();
        }
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight::{SendLimit, Tag};

    fn push(packets: &mut InFlight, number: u64, bytes: u64, at: u64) {
        let delivered = Delivered {
            packet: packets.next(),
            bytes: Bytes::new(bytes),
            sent_at: Time::from_nanos(at),
            tag: Tag(0),
            delivered_at_send: Bytes::ZERO,
            limit: SendLimit::Window,
            retransmitted: false,
            selectively: false,
        };
        packets.push(Some(number), delivered, 0, AtSend::default());
    }

    #[test]
    fn packets_of_two_spaces_are_distinguished_by_size() {
        let mut packets = InFlight::default();
        push(&mut packets, 0, 300, 5);
        push(&mut packets, 0, 900, 5);
        assert_eq!(packets.take(Some(0), 900, Time::from_nanos(5)).map(|p| p.delivered.packet), Some(1));
        assert_eq!(packets.take(Some(0), 900, Time::from_nanos(5)).map(|p| p.delivered.packet), None);
        assert_eq!(packets.bytes(), Bytes::new(300));
    }

    #[test]
    fn a_packet_discarded_without_a_report_is_dropped_by_its_size() {
        let mut packets = InFlight::default();
        for (number, bytes) in [(0, 1_200), (1, 40), (2, 1_200), (3, 1_200)] {
            push(&mut packets, number, bytes, number);
        }
        packets.reconcile(Bytes::new(3_600), 3);
        assert_eq!(packets.bytes(), Bytes::new(3_600));
        assert!(packets.take(Some(1), 40, Time::from_nanos(1)).is_none());
        assert!(packets.take(Some(0), 1_200, Time::ZERO).is_some());
    }
}
