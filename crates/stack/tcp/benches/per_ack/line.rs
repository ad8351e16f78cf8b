//! A bulk transfer over a line with one bottleneck, to make the events that are counted.

use std::collections::VecDeque;

use firstflight::avoidance::Reno;
use firstflight::restart::Rfc5681;
use firstflight::schemes::{Initial, SlowStart};
use firstflight::{Avoidance, Controller, Span, Startup, Time};
use firstflight_tcp::{AckPolicy, Config, Endpoint, Recovery, Role, Segment};

/// Payload bytes of a packet, so that a million of them fit the largest window of TCP (RFC 7323 section 2.3).
pub(crate) const MSS: u16 = 1_000;
/// Time from the start of one packet to the start of the next at the sender.
const LEAVING: Span = Span::from_micros(1);

/// Initial window before the first packet: ten segments.
pub(crate) const INITIAL: Initial = Initial { segments: 10, ssthresh: None };

/// Two endpoints and a bottleneck.
pub(crate) struct Line<S, R, A> {
    pub(crate) client: Endpoint<S, R, A>,
    server: Endpoint<SlowStart, Rfc5681, Reno>,
    now: Time,
    shape: Shape,
    /// Segments on their way to the server, and their arrival times.
    forward: VecDeque<(Time, Segment)>,
    /// When the bottleneck has sent everything in its queue.
    free_at: Time,
    /// Sequence number of the first byte never sent.
    highest: u32,
}

/// Properties of the line.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// Round-trip time without queueing.
    pub(crate) round_trip: Span,
    /// Transmission time of a packet at the bottleneck.
    pub(crate) packet_time: Span,
    /// Maximum wait in the bottleneck's queue.
    pub(crate) queue: Span,
    /// Packets of which every second one, the first included, is lost in its first transmission.
    pub(crate) lossy: (u64, u64),
}

impl<S: Startup, R: Startup, A: Avoidance> Line<S, R, A> {
    /// Returns a connection whose SYN was sent, with unlimited data to send.
    pub(crate) fn new(recovery: Recovery, controller: Controller<S, R, A>, shape: Shape) -> Self {
        let config = Config { mss: MSS, recovery, ack_policy: AckPolicy::Every, ..Config::default() };
        let server = Controller::new(SlowStart::new(INITIAL), Rfc5681::new(INITIAL), Reno::new());
        let mut line = Self {
            client: Endpoint::new(Role::Client, &config, controller),
            server: Endpoint::new(Role::Server, &config, server),
            now: Time::ZERO + Span::from_secs(1),
            shape,
            forward: VecDeque::new(),
            free_at: Time::ZERO,
            highest: 0,
        };
        line.client.write(u64::MAX / 2);
        line.client.open(line.now);
        line.transmit();
        line
    }

    /// Processes the next event: a timer, or a segment that arrives at the server and its ACK at the client. Then the client sends what it
    /// may. Returns the ACK.
    pub(crate) fn step(&mut self) -> Option<(Time, Segment)> {
        let arrival = self.forward.front().map(|(at, _)| *at);
        let timer = self.client.next_timer().filter(|timer| arrival.is_none_or(|at| *timer < at));
        let mut heard = None;
        if let Some(timer) = timer {
            self.now = self.now.max(timer);
            self.client.on_timer(self.now);
        } else {
            let (at, segment) = self.forward.pop_front().expect("a sender with data has a packet or a timer");
            self.now = self.now.max(at);
            self.server.on_segment(self.now, &segment);
            while let Some(answer) = self.server.poll_transmit(self.now) {
                heard = Some((self.now, answer.segment));
                self.client.on_segment(self.now, &answer.segment);
            }
        }
        self.transmit();
        while self.client.poll_event().is_some() {}
        heard
    }

    fn transmit(&mut self) {
        while let Some(transmit) = self.client.poll_transmit(self.now) {
            let segment = transmit.segment;
            let end = segment.seq + segment.sequence_length();
            let first_time = end > self.highest;
            self.highest = self.highest.max(end);
            let index = u64::from(segment.seq) / u64::from(MSS);
            let (from, to) = self.shape.lossy;
            let lost = first_time && (from..to).contains(&index) && (index - from).is_multiple_of(2);
            let starts = self.now.max(self.free_at);
            if !lost && starts.since(self.now) <= self.shape.queue {
                self.free_at = starts + self.shape.packet_time;
                self.forward.push_back((self.free_at + self.shape.round_trip, segment));
            }
            self.now = self.now + LEAVING;
        }
    }
}
