//! Checks hosts that report transmissions with the next ACK. Their packets have no numbers. A transmission is only known to be between two
//! ACKs. Therefore the laws of single packets and of pacing do not apply to these hosts.

use std::collections::VecDeque;

use firstflight::{Ack, Event, Origin, Pacing, Path, Span, Time, TraceRecord};
use firstflight_trace::Hosts;

use crate::breach::Breaches;
use crate::law::Law;
use crate::order::event;

/// The maximum number of stretches in memory. The send times of data in older stretches are not checked.
const MOST: usize = 1 << 16;

/// Data that was sent between two calls.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    /// The offset at which the stretch ends.
    end: u64,
    after: Time,
    by: Time,
}

/// The state of the host after the calls so far.
#[derive(Debug)]
pub(super) struct Late {
    hosts: Hosts,
    begun: bool,
    established: bool,
    before: Option<Path>,
    /// The plans made since the previous ACK: for each the time at which it was made, and its wake-up time.
    wakes: Vec<(Time, Time)>,
    /// The end of the data reported as sent.
    nxt: Option<u64>,
    una: u64,
    latest: Option<Span>,
    /// The arrival time of the previous ACK.
    heard: Time,
    left: VecDeque<Stretch>,
    /// The longest gap between packets in any plan so far. Linux stamps the packet that follows a paced packet with the time that pacing
    /// had set for it, even if pacing has ended and the packet was sent earlier.
    gap: Span,
    /// Whether data was retransmitted since all data was last acknowledged.
    again: bool,
}

impl Late {
    pub(super) fn new(hosts: Hosts) -> Self {
        Self {
            hosts,
            begun: false,
            established: false,
            before: None,
            wakes: Vec::new(),
            nxt: None,
            una: 0,
            latest: None,
            heard: Time::ZERO,
            left: VecDeque::new(),
            gap: Span::ZERO,
            again: false,
        }
    }

    pub(super) fn check_record(&mut self, record: &TraceRecord, breaches: &mut Breaches) {
        let (event, path) = (event(record), &record.path);
        self.order(event.as_ref(), path, breaches);
        self.counts(event.as_ref(), path, breaches);
        if let Some(event) = &event {
            self.said(event, path, breaches);
        }
        self.wakes.retain(|(at, _)| *at >= self.heard);
        let gap = match record.plan.pacing {
            Pacing::Train { gap, .. } => gap,
            Pacing::Rate { rate, .. } => rate.time_for(path.wire),
            Pacing::AckClock | Pacing::Hold => Span::ZERO,
        };
        self.gap = self.gap.max(gap);
        self.wakes.extend(record.plan.wake.map(|wake| (path.now, wake)));
        if matches!(event, Some(Event::Acked(_))) {
            self.heard = path.now;
        }
        self.before = Some(*path);
    }

    fn order(&mut self, event: Option<&Event<'_>>, path: &Path, breaches: &mut Breaches) {
        let fresh = matches!(event, Some(Event::Begin(Origin::Fresh)));
        if self.begun == fresh {
            let what =
                if fresh { "`begin fresh` is said again" } else { "the first call is not `begin fresh`" };
            breaches.add(Law::Begin, what.to_owned());
        }
        self.begun = true;
        match event {
            Some(Event::Begin(Origin::AfterIdle { .. })) if self.hosts == Hosts::Restart => {}
            Some(Event::Begin(origin)) if *origin != Origin::Fresh => {
                breaches.add(
                    Law::Begin,
                    format!("{origin:?} is said; such a host says none but of what it hosts"),
                );
            }
            Some(Event::Established { .. }) => {
                if self.established || self.hosts == Hosts::Restart {
                    breaches.add(Law::Established, "it is said again, or to a policy alone".to_owned());
                }
                self.established = true;
                // The RTT samples of the handshake have been reported before this call.
                self.latest = path.latest_rtt;
            }
            Some(Event::Sent(_) | Event::Acked(_) | Event::Lost(_) | Event::TimedOut { .. })
                if !self.established && self.hosts == Hosts::Startup =>
            {
                breaches.add(Law::Established, "data is reported before it".to_owned());
                self.established = true;
            }
            _ => {}
        }
        let Some(before) = &self.before else {
            self.latest = path.latest_rtt;
            self.una = path.una;
            return;
        };
        if path.now < before.now {
            let (is, was) = (path.now.nanos(), before.now.nanos());
            breaches.add(Law::Time, format!("the instant is {is} ns; it was {was} ns before"));
        }
        if path.mss != before.mss && !matches!(event, Some(Event::MssChanged)) {
            let (is, was) = (path.mss.get(), before.mss.get());
            breaches.add(
                Law::MssChanged,
                format!("mss is {is} B; it was {was} B and no call says that it changed"),
            );
        }
        if path.last_received < before.last_received || path.last_received > Some(path.now) {
            breaches.add(Law::LastReceived, "last_received goes back or is ahead".to_owned());
        }
    }

    fn counts(&mut self, event: Option<&Event<'_>>, path: &Path, breaches: &mut Breaches) {
        let stream = path.nxt.saturating_sub(path.una);
        if path.flight.get() != stream {
            let is = path.flight.get();
            breaches.add(Law::Flight, format!("flight is {is} B; {stream} B are between una and nxt"));
        }
        if path.nxt < path.una {
            breaches.add(Law::Nxt, format!("nxt is {}; una is {}", path.nxt, path.una));
        }
        match event {
            Some(Event::Acked(ack)) => {
                self.acked(ack, path, breaches);
                // All data that was sent has been reported before this call.
                let due = self.nxt.unwrap_or(path.nxt);
                if path.nxt != due {
                    breaches.add(Law::Nxt, format!("nxt is {}; by the reports it is {due}", path.nxt));
                }
                self.nxt = Some(path.nxt);
            }
            Some(Event::Sent(sent)) => {
                let before = self.nxt.unwrap_or(path.nxt);
                if !sent.retransmission && path.nxt != before {
                    breaches.add(
                        Law::Nxt,
                        format!("nxt is {} before these transmissions; it was {before}", path.nxt),
                    );
                }
                if sent.retransmission {
                    self.again = true;
                    if self.nxt.unwrap_or(path.nxt) <= self.una {
                        breaches.add(Law::Retransmission, "it is said; nothing is outstanding".to_owned());
                    }
                } else {
                    let end = path.nxt.saturating_add(sent.bytes.get());
                    self.nxt = Some(end);
                    self.left.push_back(Stretch { end, after: self.heard, by: path.now });
                    if self.left.len() > MOST {
                        self.left.pop_front();
                    }
                }
            }
            _ => self.nxt = self.nxt.or(Some(path.nxt)),
        }
    }

    fn acked(&mut self, ack: &Ack<'_>, path: &Path, breaches: &mut Breaches) {
        let due = self.una.saturating_add(ack.advanced.get());
        if path.una != due {
            breaches.add(Law::Una, format!("una is {}; by the reports it is {due}", path.una));
        }
        self.una = path.una;
        if ack.duplicate && !ack.advanced.is_zero() {
            let advanced = ack.advanced.get();
            breaches.add(Law::Duplicate, format!("a duplicate advances by {advanced} B"));
        }
        if let Some(before) = &self.before
            && path.delivered < before.delivered
        {
            let (is, was) = (path.delivered.get(), before.delivered.get());
            breaches.add(Law::Delivered, format!("delivered is {is}; it was {was} before"));
        }
        let shown = |rtt: Option<Span>| rtt.map_or("none".to_owned(), |rtt| format!("{} ns", rtt.nanos()));
        let latest = ack.rtt.map(|sample| sample.rtt).or(self.latest);
        if path.latest_rtt != latest {
            let [is, due] = [path.latest_rtt, latest].map(shown);
            breaches.add(Law::Rtt, format!("latest_rtt is {is}; by the reported samples it is {due}"));
        }
        self.latest = path.latest_rtt;
        if ack.rtt.is_some_and(|sample| sample.rtt.is_zero()) {
            breaches.add(Law::RttSample, "the sample is zero".to_owned());
        }
        self.newest(ack, path, breaches);
        self.again &= path.nxt > path.una;
    }

    /// Checks the newest packet that arrived in stream order. It must have been sent within the stretch that contains its end.
    fn newest(&mut self, ack: &Ack<'_>, path: &Path, breaches: &mut Breaches) {
        let Some(newest) = ack.newest else { return };
        if newest.sent_at > path.now {
            let (is, now) = (newest.sent_at.nanos(), path.now.nanos());
            breaches.add(Law::PacketAsSent, format!("the newest packet has sent_at {is}; it is {now} ns"));
        }
        while self.left.front().is_some_and(|stretch| stretch.end < path.una) {
            self.left.pop_front();
        }
        let Some(stretch) = self.left.front().copied() else { return };
        let in_order = ack.sacked.is_zero() && !ack.advanced.is_zero() && !self.again && !path.recovering;
        if in_order && !(stretch.after..=stretch.by + self.gap).contains(&newest.sent_at) {
            let is = newest.sent_at.nanos();
            let (after, by) = (stretch.after.nanos(), (stretch.by + self.gap).nanos());
            let what = format!("the newest packet has sent_at {is}; it left between {after} and {by} ns");
            breaches.add(Law::PacketAsSent, what);
        }
    }

    fn said(&self, event: &Event<'_>, path: &Path, breaches: &mut Breaches) {
        match event {
            // The host detects a due wake-up before it reports the transmissions of the ACK. These may change the plan.
            Event::Woken if !self.wakes.iter().any(|(_, wake)| *wake <= path.now) => {
                let now = path.now.nanos();
                breaches
                    .add(Law::Woken, format!("it is said at {now} ns; no plan requests a wake-up by then"));
            }
            Event::SpuriousLoss => {
                breaches.add(Law::SpuriousLoss, "such a host leaves recovery to another".to_owned());
            }
            Event::Asked(_) => breaches.add(Law::Asked, "such a host asks no routers".to_owned()),
            Event::Advice(_) => breaches.add(Law::Advice, "such a host asks no routers".to_owned()),
            _ => {}
        }
    }
}
