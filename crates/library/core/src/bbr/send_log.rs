//! The state of the connection at the transmission of a packet. Packets do not carry this state.

use crate::units::Bytes;

/// Snapshots of the totals of a connection at transmissions. `P.tx_in_flight` and `P.lost` of recent packets are interpolated
/// from the snapshots.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendLog {
    /// The payload bytes of all transmissions, modulo 2^32.
    sent: u32,
    /// The bytes found lost (`C.lost`), modulo 2^32.
    lost: u32,
    /// The snapshots in a ring; `newest` is the index of the newest of `count`.
    marks: [Mark; MARKS],
    newest: u8,
    count: u8,
}

/// The number of snapshots. [`PER_FLIGHT`] are made for each flight, so that they reach back three flights.
const MARKS: usize = 24;
const PER_FLIGHT: u64 = 8;

/// The totals right after the transmission of a packet, modulo 2^32.
#[derive(Clone, Copy, Debug)]
struct Mark {
    packet: u32,
    sent: u32,
    delivered: u32,
    lost: u32,
}

/// The state of the connection at the transmission of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AtSend {
    /// `P.tx_in_flight`: bytes in flight, the packet included.
    pub(crate) in_flight: Bytes,
    /// `C.lost - P.lost`: bytes found lost since the transmission.
    pub(crate) lost_since: Bytes,
}

#[expect(clippy::cast_possible_truncation, reason = "kept modulo 2^32")]
impl SendLog {
    /// Creates a log without snapshots.
    pub(crate) const fn new() -> Self {
        Self {
            sent: 0,
            lost: 0,
            marks: [Mark { packet: 0, sent: 0, delivered: 0, lost: 0 }; MARKS],
            newest: 0,
            count: 0,
        }
    }

    /// Counts a transmission of `bytes` payload bytes, with `pipe` bytes in flight before it and `delivered` bytes delivered.
    pub(crate) fn sent(&mut self, packet: u64, bytes: Bytes, (pipe, delivered): (Bytes, Bytes), mss: Bytes) {
        self.sent = self.sent.wrapping_add(bytes.get() as u32);
        let spacing = (pipe.get() / mss.get().max(1) / PER_FLIGHT).max(1);
        let newest = &self.marks[usize::from(self.newest)];
        let packet = packet as u32;
        if self.count > 0 && u64::from(packet.wrapping_sub(newest.packet)) < spacing {
            return;
        }
        self.newest = if self.count == 0 { 0 } else { (self.newest + 1) % MARKS as u8 };
        self.count = (self.count + 1).min(MARKS as u8);
        self.marks[usize::from(self.newest)] =
            Mark { packet, sent: self.sent, delivered: delivered.get() as u32, lost: self.lost };
    }

    /// Counts bytes that were found lost.
    pub(crate) fn lost(&mut self, bytes: Bytes) {
        self.lost = self.lost.wrapping_add(bytes.get() as u32);
    }

    /// Returns the state at the transmission of packet `packet`, now that `delivered` bytes are delivered.
    pub(crate) fn at(&self, packet: u64, delivered: Bytes) -> AtSend {
        let mark = self.interpolated(packet as u32, delivered.get() as u32);
        let in_flight = mark.sent.wrapping_sub(mark.delivered).wrapping_sub(mark.lost);
        AtSend {
            in_flight: Bytes::new(u64::from(in_flight)),
            lost_since: Bytes::new(u64::from(self.lost.wrapping_sub(mark.lost))),
        }
    }

    /// Returns the totals at `packet`, interpolated between the snapshots around it; the oldest snapshot for an older packet.
    fn interpolated(&self, packet: u32, delivered: u32) -> Mark {
        let mut after = Mark { packet: packet.wrapping_add(1), sent: self.sent, delivered, lost: self.lost };
        for back in 0..self.count {
            let index = (usize::from(self.newest) + MARKS - usize::from(back)) % MARKS;
            let mark = self.marks[index];
            // The difference of two numbers modulo 2^32 is negative if its highest bit is set.
            if packet.wrapping_sub(mark.packet) >> 31 == 0 {
                return between(&mark, &after, packet);
            }
            after = mark;
        }
        after
    }
}

/// Returns the totals at `packet` on the line from one snapshot to a later one.
fn between(before: &Mark, after: &Mark, packet: u32) -> Mark {
    let (part, whole) = (packet.wrapping_sub(before.packet), after.packet.wrapping_sub(before.packet).max(1));
    let at = |from: u32, to: u32| {
        let share = Bytes::new(u64::from(to.wrapping_sub(from))).scale(part.into(), whole.into()).get();
        from.wrapping_add(u32::try_from(share).unwrap_or(u32::MAX))
    };
    Mark {
        packet,
        sent: at(before.sent, after.sent),
        delivered: at(before.delivered, after.delivered),
        lost: at(before.lost, after.lost),
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::vec::Vec;

    use super::*;

    const MSS: Bytes = Bytes::new(1_000);

    /// Simulates a sender with a window of `window` packets that sends four windows. Packets are delivered in order, except each
    /// `lost_every`-th, which is found lost. Returns the log, the bytes delivered, and for each packet the packets in flight including it
    /// and the packets lost before it.
    fn log(window: u64, lost_every: u64) -> (SendLog, Bytes, Vec<(u64, u64)>) {
        let (mut log, mut states) = (SendLog::new(), Vec::new());
        let (mut delivered, mut lost) = (0, 0);
        for packet in 0..4 * window {
            let is_lost = packet >= window && (packet - window) % lost_every == lost_every - 1;
            if is_lost {
                log.lost(MSS);
            }
            lost += u64::from(is_lost);
            delivered += u64::from(packet >= window && !is_lost);
            let pipe = packet - delivered - lost;
            states.push((pipe + 1, lost));
            log.sent(packet, MSS, (MSS * pipe, MSS * delivered), MSS);
        }
        (log, MSS * delivered, states)
    }

    #[test]
    fn the_flight_at_a_transmission_is_known_for_two_flights() {
        for (window, lost_every) in [(4, 1 << 40), (100, 1 << 40), (100, 20), (400, 7)] {
            let (log, delivered, states) = log(window, lost_every);
            let packets = usize::try_from(4 * window).expect("few");
            let (_, lost) = states[packets - 1];
            for (packet, (in_flight, before)) in (0..).zip(&states[..packets]).skip(packets / 2) {
                let at = log.at(packet, delivered);
                let near = |found: Bytes, wanted: u64| {
                    found.get().abs_diff(wanted * 1_000) <= 1_000 * (window / 16 + 1)
                };
                assert!(near(at.in_flight, *in_flight), "{window}, {packet}: {at:?} for {in_flight}");
                assert!(
                    near(at.lost_since, lost - before),
                    "{window}, {packet}: {at:?} for {}",
                    lost - before
                );
            }
        }
    }

    #[test]
    fn totals_wrap() {
        let mut log = SendLog::new();
        log.sent = 500_u32.wrapping_neg();
        log.sent(10, MSS, (Bytes::ZERO, Bytes::new(4_294_966_000)), MSS);
        assert_eq!(log.at(10, Bytes::new(4_294_966_000)).in_flight, Bytes::new(1_796));
    }
}
