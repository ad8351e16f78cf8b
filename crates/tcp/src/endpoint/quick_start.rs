//! Quick-Start's part of the segments (RFC 4782): the request, its answer, the report of the approved rate.

use firstflight::{Ask, Avoidance, Rate, RateCode, Startup, Time};

use crate::quick_start::IpOption;
use crate::segment::Segment;

use super::Endpoint;
use crate::happening::Happening;

impl<S: Startup, R: Startup, A: Avoidance> Endpoint<S, R, A> {
    /// The request that the scheme wants on the segment that leaves now, whose answer acknowledges up to `end`.
    #[cold]
    pub(super) fn request(&mut self, now: Time, end: u64) -> Option<IpOption> {
        let Some(Ask::QuickStart { rate }) = self.sender.ask(now, end == 0) else { return None };
        let may = self.quick_start.may_ask() && !self.sender.lost_quick_start();
        let option = may.then(|| self.quick_start.request(rate, end));
        self.sender.asked(now, may);
        option
    }

    /// A request calls for a response, on an ACK that is not delayed (section 4.2).
    pub(super) fn hear_request(&mut self, segment: &Segment) {
        if let Some(option) = segment.quick_start.ip()
            && self.quick_start.heard(option)
        {
            self.receiver.acknowledge_now();
        }
    }

    /// Whether `segment` answers our request; if so, the scheme is told what was approved.
    #[cold]
    pub(super) fn hear_answer(&mut self, now: Time, segment: &Segment) {
        if let Some(approved) = self.quick_start.answer(self.sender.una(), segment.quick_start.response()) {
            let approved = approved.map(RateCode::rate);
            self.sender.journal.note_of_endpoint(Happening::QuickStart { approved });
            self.sender.advise(now, approved);
        }
    }

    /// The report of the approved rate, on an ACK of its own ahead of the data: a full segment would not be let
    /// through with 8 bytes more.
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
