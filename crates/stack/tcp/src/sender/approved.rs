//! The packets sent at a rate that the routers approved (Quick-Start).

use firstflight::LostPacket;

/// The packets sent at an approved rate; `None` inside if no rate was approved.
#[derive(Clone, Debug, Default)]
pub(super) struct Approved(Option<Box<AtRate>>);

/// The packets sent at the approved rate: those sent after the approval and before the first acknowledgement of one of them.
#[derive(Clone, Copy, Debug)]
struct AtRate {
    /// Number of the first packet. `end` is one above the number of the last.
    first: u64,
    end: u64,
    /// Stream offset at which the data of these packets ends.
    until: u64,
    /// Whether one of these packets was lost. If so, the connection sends no more requests (RFC 4782 section 4.6).
    lost: bool,
}

impl Approved {
    /// Checks whether a rate was approved on this connection.
    pub(super) fn is_awaited(&self) -> bool {
        self.0.is_some()
    }

    /// Records that the packets from number `first` on are sent at an approved rate.
    pub(super) fn given(&mut self, first: u64) {
        let (until, lost) = self.0.as_ref().map_or((0, false), |before| (before.until, before.lost));
        self.0 = Some(Box::new(AtRate { first, end: u64::MAX, until, lost }));
    }

    /// Records the delivery of a packet. `next` is the number of the next packet, and `offset` the stream offset of the next new data.
    pub(super) fn delivered(&mut self, packet: u64, next: u64, offset: u64) {
        if let Some(approved) = &mut self.0
            && approved.end == u64::MAX
            && packet >= approved.first
        {
            approved.end = next;
            approved.until = offset;
        }
    }

    /// Records a timeout or a congestion mark at a time when all data below `una` is acknowledged.
    pub(super) fn congested(&mut self, una: u64) {
        if let Some(approved) = &mut self.0 {
            approved.lost |= approved.end == u64::MAX || una <= approved.until;
        }
    }

    /// Records that packets were found lost.
    pub(super) fn lost(&mut self, packets: &[LostPacket]) {
        if let Some(approved) = &mut self.0 {
            let at_rate = approved.first..approved.end;
            approved.lost |= packets.iter().any(|packet| at_rate.contains(&packet.packet));
        }
    }
    /// Checks whether a packet sent at an approved rate was lost.
    pub(super) fn lost_any(&self) -> bool {
        self.0.as_ref().is_some_and(|approved| approved.lost)
    }
}
