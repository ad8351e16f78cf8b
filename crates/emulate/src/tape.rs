//! A run kept in memory: each packet's headers, when it entered, and what became of it.

use firstflight::Time;
use firstflight_sim::DropCause;

use crate::addresses::Side;
use crate::relay::Observer;

/// Every packet that entered the path, in order of entry.
#[derive(Clone, Debug, Default)]
pub struct Tape {
    packets: Vec<Taped>,
    heads: Vec<u8>,
}

/// A packet of a tape.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Taped {
    /// The host that sent it.
    pub from: Side,
    /// When it entered the path.
    pub entered: Time,
    /// Its IP bytes.
    pub length: usize,
    /// What became of it.
    pub fate: Fate,
    /// Whether a queue marked it as having met congestion.
    pub is_marked: bool,
    /// Where its first bytes are kept.
    head: usize,
}

/// What became of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// It was on the path when the run ended.
    Inside,
    /// It was delivered.
    Delivered(Time),
    /// It was dropped; without a cause, the host did not take it.
    Dropped(Time, Option<DropCause>),
}

/// Bytes that are kept of a packet: more than the headers of TCP in UDP in IPv4 with all options of TCP.
pub const HEAD: usize = 128;

impl Tape {
    /// The packets, in order of entry.
    pub fn packets(&self) -> &[Taped] {
        &self.packets
    }

    /// The first bytes of a packet, [`HEAD`] at most, as it entered.
    pub fn head(&self, packet: &Taped) -> &[u8] {
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

impl Observer for Tape {
    fn entered(&mut self, _: u64, from: Side, at: Time, bytes: &[u8]) {
        let head = self.heads.len();
        self.heads.extend_from_slice(bytes.get(..HEAD).unwrap_or(bytes));
        let (length, fate) = (bytes.len(), Fate::Inside);
        self.packets.push(Taped { from, entered: at, length, fate, is_marked: false, head });
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
        let mut tape = Tape::default();
        tape.entered(0, Side::A, at(1), &[1; 1_500]);
        tape.entered(1, Side::B, at(2), &[2; 40]);
        tape.entered(2, Side::A, at(3), &[3; 200]);
        tape.dropped(2, at(4), Some(DropCause::Queue));
        tape.left(0, Side::B, at(5), &[1; 1_500], true);
        let fates: Vec<_> = tape.packets().iter().map(|packet| (packet.fate, packet.is_marked)).collect();
        let dropped = Fate::Dropped(at(4), Some(DropCause::Queue));
        assert_eq!(fates, [(Fate::Delivered(at(5)), true), (Fate::Inside, false), (dropped, false)]);
        let heads: Vec<_> = tape.packets().iter().map(|packet| tape.head(packet).to_vec()).collect();
        assert_eq!(heads, [vec![1; HEAD], vec![2; 40], vec![3; HEAD]]);
        assert_eq!(tape.packets()[0].length, 1_500);
    }
}
