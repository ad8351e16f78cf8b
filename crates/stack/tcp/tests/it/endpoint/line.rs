//! Two endpoints and a line between them: fixed delay each way, an optional bottleneck rate, and a filter that may drop or delay data
//! segments.

use std::collections::BTreeMap;

use firstflight::avoidance::Reno;
use firstflight::restart::Rfc5681;
use firstflight::schemes::{Initial, SlowStart};
use firstflight::{Controller, Note, Span, Startup, Time};
use firstflight_tcp::{Config, Endpoint, EndpointEvent, Role, Segment};

pub(crate) type Plain = Endpoint<SlowStart, Rfc5681, Reno>;

pub(crate) fn endpoint(role: Role, config: &Config, segments: u32) -> Plain {
    let initial = Initial { segments, ssthresh: None };
    Endpoint::new(role, config, Controller::new(SlowStart::new(initial), Rfc5681::new(initial), Reno::new()))
}

/// The action of the line on a segment.
pub(crate) enum Verdict {
    Pass,
    Drop,
    Delay(Span),
    /// The segment arrives changed into this one.
    Change(Segment),
}

pub(crate) struct Line<S = SlowStart, R = Rfc5681> {
    pub(crate) client: Endpoint<S, R, Reno>,
    pub(crate) server: Plain,
    pub(crate) now: Time,
    pub(crate) delay: Span,
    /// Every sent segment: its time, whether it is the client's, and the segment.
    pub(crate) log: Vec<(Time, bool, Segment)>,
    pub(crate) events: Vec<(Time, EndpointEvent)>,
    in_flight: BTreeMap<(Time, u64), (bool, Segment)>,
    count: u64,
}

impl Line {
    pub(crate) fn new(client: &Config, server: &Config, delay: Span) -> Self {
        Self::between(endpoint(Role::Client, client, 10), server, delay)
    }
}

impl<S: Startup, R: Startup> Line<S, R> {
    /// Returns a line from this client to a server in slow start.
    pub(crate) fn between(client: Endpoint<S, R, Reno>, server: &Config, delay: Span) -> Self {
        Self {
            client,
            server: endpoint(Role::Server, server, 10),
            now: Time::ZERO,
            delay,
            log: Vec::new(),
            events: Vec::new(),
            in_flight: BTreeMap::new(),
            count: 0,
        }
    }

    /// Runs until no event is left or `until` is reached.
    pub(crate) fn run(&mut self, until: Time, mut judge: impl FnMut(Time, bool, &Segment) -> Verdict) {
        loop {
            self.flush(&mut judge);
            let arrival = self.in_flight.first_key_value().map(|((at, _), _)| *at);
            let next =
                [arrival, self.client.next_timer(), self.server.next_timer()].into_iter().flatten().min();
            let Some(next) = next.filter(|at| *at <= until) else {
                self.now = self.now.max(until);
                return;
            };
            self.now = self.now.max(next);
            while let Some(entry) = self.in_flight.first_entry().filter(|entry| entry.key().0 <= self.now) {
                let (from_client, segment) = entry.remove();
                if from_client {
                    self.server.on_segment(self.now, &segment);
                } else {
                    self.client.on_segment(self.now, &segment);
                }
                self.flush(&mut judge);
            }
            self.client.on_timer(self.now);
            self.server.on_timer(self.now);
        }
    }

    fn flush(&mut self, judge: &mut impl FnMut(Time, bool, &Segment) -> Verdict) {
        for from_client in [true, false] {
            while let Some(transmit) = if from_client {
                self.client.poll_transmit(self.now)
            } else {
                self.server.poll_transmit(self.now)
            } {
                self.log.push((self.now, from_client, transmit.segment));
                let (extra, arriving) = match judge(self.now, from_client, &transmit.segment) {
                    Verdict::Pass => (Span::ZERO, transmit.segment),
                    Verdict::Delay(extra) => (extra, transmit.segment),
                    Verdict::Change(segment) => (Span::ZERO, segment),
                    Verdict::Drop => continue,
                };
                self.count += 1;
                let at = self.now + self.delay + extra;
                self.in_flight.insert((at, self.count), (from_client, arriving));
                assert!(self.count < 5_000_000, "the line is flooded");
            }
        }
        while let Some(event) = self.client.poll_event() {
            self.events.push((self.now, event));
        }
        while self.server.poll_event().is_some() {}
    }

    /// Returns the client's data segments, in order: the time, and the index of the full segment.
    pub(crate) fn data(&self) -> Vec<(Time, u64)> {
        let first = 1;
        self.log
            .iter()
            .filter(|(_, from_client, segment)| *from_client && segment.len > 0)
            .map(|(at, _, segment)| (*at, u64::from(segment.seq - first) / 1_000))
            .collect()
    }

    /// Returns how often the client's window was reduced.
    pub(crate) fn reductions(&self) -> usize {
        let reduced = |what: &EndpointEvent| matches!(what, EndpointEvent::Control(Note::Reduced { .. }));
        self.events.iter().filter(|(_, what)| reduced(what)).count()
    }

    pub(crate) fn happened(&self, wanted: &EndpointEvent) -> usize {
        self.events.iter().filter(|(_, event)| event == wanted).count()
    }
}

pub(crate) fn config() -> Config {
    Config { mss: 1_000, ack_policy: firstflight_tcp::AckPolicy::Every, ..Config::default() }
}

pub(crate) fn millis(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}
