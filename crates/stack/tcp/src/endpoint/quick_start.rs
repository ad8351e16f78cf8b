//! Quick-Start in segments (RFC 4782): the request, the response, and the report of the approved rate.

use firstflight::{Ask, Avoidance, Rate, RateCode, Startup, Time};

use crate::quick_start::IpOption;
use crate::segment::Segment;

use super::Endpoint;
use crate::endpoint_event::EndpointEvent;

impl<S: Startup, R: Startup, A: Avoidance> Endpoint<S, R, A> {
    /// Returns the scheme's Quick-Start request for the segment that is sent now, if there is one. The response to it will acknowledge data
    /// up to the offset `end`.
    #[cold]
    pub(super) fn request(&mut self, now: Time, end: u64) -> Option<IpOption> {
        let Some(Ask::QuickStart { rate }) = self.sender.ask(now, end == 0) else { return None };
        let may = self.quick_start.may_ask() && !self.sender.lost_quick_start();
        let option = may.then(|| self.quick_start.request(rate, end));
        self.sender.asked(now, may);
        option
    }

    /// Processes a Quick-Start request. The ACK with the response is not delayed (section 4.2).
    pub(super) fn on_request(&mut self, segment: &Segment) {
        if let Some(option) = segment.quick_start.ip()
            && self.quick_start.heard(option)
        {
            self.receiver.acknowledge_now();
        }
    }

    /// If `segment` answers the request of this side, passes the approved rate to the scheme.
    #[cold]
    pub(super) fn on_answer(&mut self, now: Time, segment: &Segment) {
        if let Some(approved) = self.quick_start.answer(self.sender.una(), segment.quick_start.response()) {
            let approved = approved.map(RateCode::rate);
            self.sender.journal.note_of_endpoint(EndpointEvent::QuickStart { approved });
            self.sender.advise(now, approved);
        }
    }

    /// Creates an ACK with the report of the approved rate. It is sent before the data in a separate segment, because a full segment with 8
    /// more bytes might be too long for the path.
    #[cold]
    pub(super) fn report(&mut self, now: Time) -> Segment {
        let approved = match self.sender.ask(now, false) {
            Some(Ask::ReportApproved { rate }) => {
                self.sender.asked(now, true);
                rate
            }
            Some(Ask::QuickStart { .. }) | None => Rate::ZERO,
        };
        let mut segment = Segment::default();
        self.pure_ack(now, &mut segment);
        segment.quick_start.set_ip(self.quick_start.report(approved));
        segment
    }
}
