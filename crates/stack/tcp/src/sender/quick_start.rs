//! The sender's part of Quick-Start: the scheme's requests, and the responses to them.

use firstflight::{Advice, Ask, Avoidance, Event, Rate, Startup, Time};

use super::Sender;

/// Length of the option in the IP header in bytes.
const OPTION: u64 = 8;

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Returns the scheme's request, if there is one. If `anew`, gets a new plan first, because the application may have written more data.
    pub(crate) fn ask(&mut self, now: Time, anew: bool) -> Option<Ask> {
        if anew {
            self.report_plan(now);
        }
        self.plan.ask
    }

    /// Checks whether the scheme has a request or a report to send.
    pub(crate) fn asks(&self) -> bool {
        self.plan.ask.is_some()
    }

    /// Notifies the scheme whether its request or report was sent.
    pub(crate) fn asked(&mut self, now: Time, done: bool) {
        self.report(now, &Event::Asked(done));
    }

    /// Checks whether a packet sent at an approved rate was lost.
    pub(crate) fn lost_quick_start(&self) -> bool {
        self.packets.approved.lost_any()
    }

    /// Passes the scheme the response to its request.
    pub(crate) fn advise(&mut self, now: Time, approved: Option<Rate>) {
        if approved.is_some() {
            self.packets.approve();
        }
        self.report(now, &Event::Advice(Advice::QuickStart { approved }));
    }

    /// Returns the number of bytes by which full segments must be shorter, so that the next one has room for the Quick-Start option.
    pub(super) fn option_room(&self) -> u64 {
        if matches!(self.plan.ask, Some(Ask::QuickStart { .. })) { OPTION } else { 0 }
    }
}
