//! The packets in flight, in order of transmission.

use alloc::collections::VecDeque;

use firstflight::{Bytes, Delivered, Time};

use crate::rate_sampler::AtSend;

/// The maximum number of packets that are not full and have no number: a stack without numbers reports packets that only acknowledge
/// as sent, and never as acknowledged.
const MAX_SMALL: usize = 1_000;

/// A packet in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InFlightPacket {
    /// The stack's number, which may repeat in another packet number space.
    pub(crate) number: Option<u64>,
    pub(crate) delivered: Delivered,
    /// The offset at which the packet ends.
    pub(crate) end: u64,
    pub(crate) at_send: AtSend,
    /// Whether the packet is smaller than the MTU.
    small: bool,
    /// Whether the packet is neither acknowledged nor lost.
    flying: bool,
}

/// The packets in flight. The memory is that of the span from the oldest to the newest packet in flight.
#[derive(Clone, Debug, Default)]
pub(crate) struct InFlight {
    packets: VecDeque<InFlightPacket>,
    bytes: Bytes,
    /// The number of packets in flight that are not full and have no number.
    unnumbered_small: usize,
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

    /// Adds a packet; `mtu` is the size of a full one. Packets that the stack will not report again are dropped.
    pub(crate) fn push(
        &mut self,
        number: Option<u64>,
        delivered: Delivered,
        end: u64,
        at_send: AtSend,
        mtu: Bytes,
    ) {
        self.next = delivered.packet + 1;
        self.bytes += delivered.bytes;
        let small = delivered.bytes < mtu;
        self.unnumbered_small += usize::from(small && number.is_none());
        self.packets.push_back(InFlightPacket { number, delivered, end, at_send, small, flying: true });
        self.bound();
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
    /// a handshake, packets that no one acknowledges). A packet of the whole excess is preferred, then the oldest packets that are not full.
    pub(crate) fn reconcile(&mut self, bytes: Bytes, newest: u64) {
        if self.bytes <= bytes {
            return;
        }
        let mut excess = self.bytes - bytes;
        let old = self.packets.partition_point(|packet| packet.delivered.packet < newest);
        let exact = |packet: &InFlightPacket| packet.flying && packet.delivered.bytes == excess;
        if let Some(index) = self.packets.range(..old).position(exact) {
            self.remove(index);
            return;
        }
        for small in [true, false] {
            for packet in
                self.packets.range_mut(..old).filter(|packet| packet.flying && packet.small == small)
            {
                if packet.delivered.bytes <= excess {
                    packet.flying = false;
                    excess -= packet.delivered.bytes;
                }
            }
        }
        self.drop_holes();
    }

    /// Drops the older half of the packets that are not full and have no number, if there are more than [`MAX_SMALL`].
    fn bound(&mut self) {
        let small = |packet: &InFlightPacket| packet.small && packet.number.is_none();
        if self.unnumbered_small <= MAX_SMALL {
            return;
        }
        let flying = self.packets.iter_mut().filter(|packet| packet.flying && small(packet));
        flying.take(MAX_SMALL / 2).for_each(|packet| packet.flying = false);
        self.drop_holes();
    }

    /// Frees the places of packets that are not in flight, and counts anew.
    fn drop_holes(&mut self) {
        self.packets.retain(|packet| packet.flying);
        self.bytes = Bytes::ZERO;
        self.unnumbered_small = 0;
        for packet in &self.packets {
            self.bytes += packet.delivered.bytes;
            self.unnumbered_small += usize::from(packet.small && packet.number.is_none());
        }
    }

    /// Forgets every packet. Their numbers are not used again.
    pub(crate) fn clear(&mut self) {
        self.packets.clear();
        (self.bytes, self.unnumbered_small) = (Bytes::ZERO, 0);
    }

    fn remove(&mut self, index: usize) -> Option<InFlightPacket> {
        let packet = self.packets.get_mut(index)?;
        packet.flying = false;
        let taken = *packet;
        self.bytes -= taken.delivered.bytes;
        self.unnumbered_small -= usize::from(taken.small && taken.number.is_none());
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

    fn push(packets: &mut InFlight, number: Option<u64>, bytes: u64, at: u64) {
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
        packets.push(number, delivered, 0, AtSend::default(), Bytes::new(1_200));
    }

    #[test]
    fn packets_of_two_spaces_are_distinguished_by_size() {
        let mut packets = InFlight::default();
        push(&mut packets, Some(0), 300, 5);
        push(&mut packets, Some(0), 900, 5);
        assert_eq!(packets.take(Some(0), 900, Time::from_nanos(5)).map(|p| p.delivered.packet), Some(1));
        assert_eq!(packets.take(Some(0), 900, Time::from_nanos(5)).map(|p| p.delivered.packet), None);
        assert_eq!(packets.bytes(), Bytes::new(300));
    }

    #[test]
    fn a_packet_discarded_without_a_report_is_dropped_by_its_size() {
        let mut packets = InFlight::default();
        for (number, bytes) in [(0, 1_200), (1, 40), (2, 1_200), (3, 1_200)] {
            push(&mut packets, Some(number), bytes, number);
        }
        packets.reconcile(Bytes::new(3_600), 3);
        assert_eq!(packets.bytes(), Bytes::new(3_600));
        assert!(packets.take(Some(1), 40, Time::from_nanos(1)).is_none());
        assert!(packets.take(Some(0), 1_200, Time::ZERO).is_some());
    }

    #[test]
    fn packets_that_only_acknowledge_are_dropped_before_full_ones() {
        let mut packets = InFlight::default();
        push(&mut packets, None, 1_200, 0);
        for time in 1..=50 {
            push(&mut packets, None, 40, time);
        }
        push(&mut packets, None, 1_200, 51);
        packets.reconcile(Bytes::new(2_400), 51);
        assert_eq!((packets.bytes(), packets.packets.len()), (Bytes::new(2_400), 2));
    }

    #[test]
    fn the_memory_for_packets_that_only_acknowledge_is_bounded() {
        let mut packets = InFlight::default();
        push(&mut packets, None, 1_200, 0);
        for time in 1..10_000 {
            push(&mut packets, None, 40, time);
            assert!(packets.packets.len() <= MAX_SMALL + 1);
        }
        assert!(packets.take(None, 1_200, Time::ZERO).is_some(), "full packets are kept");
        assert!(packets.take(None, 40, Time::from_nanos(9_999)).is_some());
    }
}
