//! Quick-Start in the sender: what the scheme asks of the endpoint, what it is told, and what became of the packets
//! sent at the approved rate.

use firstflight::{Advice, Ask, Avoidance, Event, LostPacket, Rate, Startup, Time};

use super::Sender;

/// Bytes of the option in the IP header.
const OPTION: u64 = 8;

/// The packets that left between an approval and the first acknowledgement of one of them: those sent at the
/// approved rate.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Approved {
    /// Their numbers: the first, and one past the last.
    packets: Option<(u64, u64)>,
    /// Where their data ends in the stream.
    until: u64,
    /// Whether one of them was lost. Then the connection does not ask again (RFC 4782 section 4.6).
    lost: bool,
}

impl Approved {
    /// Whether an approval was given.
    pub(super) fn is_awaited(&self) -> bool {
        self.packets.is_some()
    }

    /// A packet was delivered; the next one to be sent, and where in the stream.
    pub(super) fn delivered(&mut self, packet: u64, next: u64, offset: u64) {
        if let Some((first, end @ u64::MAX)) = &mut self.packets
            && packet >= *first
        {
            *end = next;
            self.until = offset;
        }
    }

    /// A timeout or a mark, when `una` was acknowledged.
    pub(super) fn congested(&mut self, una: u64) {
        self.lost |= self.packets.is_some_and(|(_, end)| end == u64::MAX || una <= self.until);
    }

    /// Packets were found lost.
    pub(super) fn lost(&mut self, packets: &[LostPacket]) {
        if let Some((first, end)) = self.packets {
            self.lost |= packets.iter().any(|packet| (first..end).contains(&packet.packet));
        }
    }
}

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// What the scheme asks for. `anew` asks it again, since what the application has written may have changed.
    pub(crate) fn ask(&mut self, now: Time, anew: bool) -> Option<Ask> {
        if anew {
            self.tell_plan(now);
        }
        self.plan.ask
    }

    /// Whether the scheme asks for something.
    pub(crate) fn asks(&self) -> bool {
        self.plan.ask.is_some()
    }

    /// Whether the ask was granted.
    pub(crate) fn asked(&mut self, now: Time, done: bool) {
        self.tell(now, &Event::Asked(done));
    }

    /// Whether a packet sent at an approved rate was lost.
    pub(crate) fn lost_quick_start(&self) -> bool {
        self.approved.lost
    }

    /// The answer to a request.
    pub(crate) fn advise(&mut self, now: Time, approved: Option<Rate>) {
        if approved.is_some() {
            self.approved.packets = Some((self.next_packet, u64::MAX));
        }
        self.tell(now, &Event::Advice(Advice::QuickStart { approved }));
    }

    /// What a full segment has to leave free for the option on the next one.
    pub(super) fn option_room(&self) -> u64 {
        if matches!(self.plan.ask, Some(Ask::QuickStart { .. })) { OPTION } else { 0 }
    }
}
