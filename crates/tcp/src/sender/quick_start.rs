//! Quick-Start in the sender: what the scheme asks of the endpoint, what it is told, and what became of the packets
//! sent at the approved rate.

use firstflight::{Advice, Ask, Avoidance, Event, LostPacket, Rate, Startup, Time};

use super::Sender;

/// Bytes of the option in the IP header.
const OPTION: u64 = 8;

/// What became of an approval, if one was given.
#[derive(Clone, Debug, Default)]
pub(super) struct Approved(Option<Box<AtRate>>);

/// The packets sent at the approved rate: those that left between the approval and the first acknowledgement of one of them.
#[derive(Clone, Copy, Debug)]
struct AtRate {
    /// Their numbers: the first, and one past the last.
    first: u64,
    end: u64,
    /// Where their data ends in the stream.
    until: u64,
    /// Whether one of them was lost. Then the connection does not ask again (RFC 4782 section 4.6).
    lost: bool,
}

impl Approved {
    /// Whether an approval was given.
    pub(super) fn is_awaited(&self) -> bool {
        self.0.is_some()
    }

    /// The packets from `first` on are sent at an approved rate.
    pub(super) fn given(&mut self, first: u64) {
        let (until, lost) = self.0.as_ref().map_or((0, false), |before| (before.until, before.lost));
        self.0 = Some(Box::new(AtRate { first, end: u64::MAX, until, lost }));
    }

    /// A packet was delivered while `next` is the number of the packet to be sent next, and `offset` its place in the stream.
    pub(super) fn delivered(&mut self, packet: u64, next: u64, offset: u64) {
        if let Some(approved) = &mut self.0
            && approved.end == u64::MAX
            && packet >= approved.first
        {
            approved.end = next;
            approved.until = offset;
        }
    }

    /// A timeout or a mark came while all up to `una` was acknowledged.
    pub(super) fn congested(&mut self, una: u64) {
        if let Some(approved) = &mut self.0 {
            approved.lost |= approved.end == u64::MAX || una <= approved.until;
        }
    }

    /// Packets were found lost.
    pub(super) fn lost(&mut self, packets: &[LostPacket]) {
        if let Some(approved) = &mut self.0 {
            let at_rate = approved.first..approved.end;
            approved.lost |= packets.iter().any(|packet| at_rate.contains(&packet.packet));
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
        self.packets.approved.0.as_ref().is_some_and(|approved| approved.lost)
    }

    /// The answer to a request.
    pub(crate) fn advise(&mut self, now: Time, approved: Option<Rate>) {
        if approved.is_some() {
            self.packets.approve();
        }
        self.tell(now, &Event::Advice(Advice::QuickStart { approved }));
    }

    /// What a full segment has to leave free for the option on the next one.
    pub(super) fn option_room(&self) -> u64 {
        if matches!(self.plan.ask, Some(Ask::QuickStart { .. })) { OPTION } else { 0 }
    }
}
