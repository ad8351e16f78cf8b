//! The losses of a round of start-up.

use super::LOSS_PERCENT;
use crate::interface::{Loss, Path};
use crate::u32_bytes::Bytes32;

/// The losses of the present round of start-up. They decide whether Startup ends (section "Exiting Startup Based on Packet Loss").
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundLosses {
    lost: Bytes32,
    /// [`Path::delivered`] when the round began, modulo 2^32.
    delivered_before: u32,
    /// The number of the newest lost packet, modulo 2^32.
    last: u32,
    /// The number of separate ranges of lost packets.
    ranges: u8,
    /// Whether a loss was being repaired when the round began.
    repairing: bool,
}

impl RoundLosses {
    /// Begins a round.
    #[expect(clippy::cast_possible_truncation, reason = "kept modulo 2^32")]
    pub(crate) fn start_round(&mut self, path: &Path) {
        let delivered_before = path.delivered.get() as u32;
        *self = Self { delivered_before, last: self.last, repairing: path.recovering, ..Self::default() };
    }

    /// Adds packets that were found lost.
    #[expect(clippy::cast_possible_truncation, reason = "kept modulo 2^32")]
    pub(crate) fn add(&mut self, loss: &Loss<'_>) {
        self.lost = (self.lost.wide() + loss.bytes).into();
        for packet in loss.packets {
            let number = packet.packet as u32;
            if self.ranges == 0 || number != self.last.wrapping_add(1) {
                self.ranges = self.ranges.saturating_add(1);
            }
            self.last = number;
        }
    }

    /// Returns whether a loss was being repaired for the whole round, more than 2 % of the round was lost, and the losses are in at least
    /// `ranges` separate ranges.
    pub(crate) fn are_high(&self, path: &Path, ranges: u8) -> bool {
        self.repairing && path.recovering && self.ranges >= ranges && self.exceed_threshold(path)
    }

    /// Returns whether more than 2 % of the round's bytes were lost.
    #[expect(clippy::cast_possible_truncation, reason = "kept modulo 2^32")]
    pub(crate) fn exceed_threshold(&self, path: &Path) -> bool {
        let delivered = u64::from((path.delivered.get() as u32).wrapping_sub(self.delivered_before));
        let lost = self.lost.wide().get();
        lost * 100 > (delivered + lost) * LOSS_PERCENT
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interface::{LostPacket, Tag};
    use crate::units::Bytes;

    fn lost(losses: &mut RoundLosses, numbers: &[u64]) {
        for number in numbers {
            let packets = [LostPacket { packet: *number, bytes: Bytes::new(1_000), tag: Tag(0) }];
            let bytes = Bytes::new(1_000);
            let loss = Loss { bytes, ranges: 1, ..Loss::new(&packets) };
            losses.add(&loss);
        }
    }

    #[test]
    fn packets_lost_one_after_another_are_one_range_however_they_are_reported() {
        let mut losses = RoundLosses::default();
        lost(&mut losses, &[3, 4, 5, 9, 10, 20]);
        assert_eq!(losses.ranges, 3);
        assert_eq!(losses.lost.wide(), Bytes::new(6_000));
    }
}
