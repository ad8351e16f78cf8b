//! The packet log of a run in memory: each packet's headers, its time of entry, and its fate.

use firstflight::Time;
use firstflight_sim::DropCause;

use crate::addresses::Side;
use crate::relay::Observer;

/// The log: every packet that entered the path, in order of entry.
#[derive(Clone, Debug, Default)]
pub struct PacketLog {
    packets: Vec<LoggedPacket>,
    heads: Vec<u8>,
}

/// A packet of the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoggedPacket {
    /// The host that sent the packet.
    pub from: Side,
    /// The time at which the packet entered the path.
    pub entered: Time,
    /// The number of IP bytes of the packet.
    pub length: usize,
    /// The fate of the packet.
    pub fate: Fate,
    /// Whether a queue marked the packet as having met congestion.
    pub is_marked: bool,
    /// The offset of the packet's first bytes in `heads`.
    head: usize,
}

/// The fate of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// The packet was on the path when the run ended.
    Inside,
    /// The packet was delivered at this time.
    Delivered(Time),
    /// The packet was dropped at this time. A cause of `None` means that the host rejected it.
    Dropped(Time, Option<DropCause>),
}

/// The number of bytes that are kept of each packet. It is more than the headers of TCP in UDP in IPv4 with all TCP options.
pub const HEAD: usize = 128;

impl PacketLog {
    /// Returns the packets, in order of entry.
    pub fn packets(&self) -> &[LoggedPacket] {
        &self.packets
    }

    /// Returns the first bytes of a packet as it entered the path, at most [`HEAD`] bytes.
    pub fn head(&self, packet: &LoggedPacket) -> &[u8] {
        let end = packet.head + packet.length.min(HEAD);
        self.heads.get(packet.head..end).unwrap_or_default()
    }

    fn decide(&mut self, number: u64, fate: Fate, is_marked: bool) {
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        if let Some(packet) = self.packets.get_mut(place) {
            (packet.fate, packet.is_marked) = (fate, is_marked);
        }
    }
}

impl Observer for PacketLog {
    fn entered(&mut self, _: u64, from: Side, at: Time, bytes: &[u8]) {
        let head = self.heads.len();
        self.heads.extend_from_slice(bytes.get(..HEAD).unwrap_or(bytes));
        let (length, fate) = (bytes.len(), Fate::Inside);
        self.packets.push(LoggedPacket { from, entered: at, length, fate, is_marked: false, head });
    }

    fn left(&mut self, number: u64, _: Side, at: Time, _: &[u8], marked: bool) {
        self.decide(number, Fate::Delivered(at), marked);
    }

    fn dropped(&mut self, number: u64, at: Time, cause: Option<DropCause>) {
        self.decide(number, Fate::Dropped(at, cause), false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight::Span;

    #[test]
    fn a_tape_has_each_packet_with_its_headers_and_its_fate() {
        let at = |millis| Time::ZERO + Span::from_millis(millis);
        let mut packet_log = PacketLog::default();
        packet_log.entered(0, Side::A, at(1), &[1; 1_500]);
        packet_log.entered(1, Side::B, at(2), &[2; 40]);
        packet_log.entered(2, Side::A, at(3), &[3; 200]);
        packet_log.dropped(2, at(4), Some(DropCause::Queue));
        packet_log.left(0, Side::B, at(5), &[1; 1_500], true);
        let fates: Vec<_> =
            packet_log.packets().iter().map(|packet| (packet.fate, packet.is_marked)).collect();
        let dropped = Fate::Dropped(at(4), Some(DropCause::Queue));
        assert_eq!(fates, [(Fate::Delivered(at(5)), true), (Fate::Inside, false), (dropped, false)]);
        let heads: Vec<_> =
            packet_log.packets().iter().map(|packet| packet_log.head(packet).to_vec()).collect();
        assert_eq!(heads, [vec![1; HEAD], vec![2; 40], vec![3; HEAD]]);
        assert_eq!(packet_log.packets()[0].length, 1_500);
    }
}
