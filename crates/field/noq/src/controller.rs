//! noq's controller over a host.

use std::any::Any;
use std::fmt::Debug;
use std::time::{Duration, Instant};

use firstflight::registry::{AnyLaw, AnyRestart, AnyScheme};
use firstflight::{Avoidance, Bytes, Pacing, Rate, Span, Startup, Time};
use firstflight_quic::{AckEnd, Host, Limit, PacketSent};
use noq_proto::RttEstimator;
use noq_proto::congestion::{Controller, ControllerMetrics};

use crate::pacing::{UNPACED, one_packet_bucket, rate_of_gap};

/// Below this minimum RTT a paced plan keeps the credit of noq's bucket after a pause: discarding it can cost 10 ms.
const SHORT_RTT: Span = Span::from_millis(10);

/// A congestion controller of noq that runs a Firstflight controller.
///
/// `noq_proto::Connection::congestion_state` and [`Controller::into_any`] give it back, for what a scheme learned: see [`Host::exit`].
#[derive(Clone, Debug)]
pub struct FirstflightController<S = AnyScheme, R = AnyRestart, A = AnyLaw> {
    host: Host<S, R, A>,
    /// The instant at which the host's clock is zero.
    origin: Instant,
    /// Whether a restart policy may pace, so that a pause on the ACK clock must leave no credit either.
    restart_paces: bool,
    /// Whether nothing was sent since the application was the limit.
    paused: bool,
    /// Whether the plan paces, and whether nothing was sent since it began to.
    paces: bool,
    begins_to_pace: bool,
    /// Bytes of the last packet: what noq's bucket has to earn before the next one.
    debt: Bytes,
}

impl<S: Startup, R: Startup, A: Avoidance> FirstflightController<S, R, A> {
    pub(crate) fn new(host: Host<S, R, A>, origin: Instant, restart_paces: bool) -> Self {
        Self {
            host,
            origin,
            restart_paces,
            paused: true,
            paces: false,
            begins_to_pace: false,
            debt: Bytes::ZERO,
        }
    }

    /// Returns the host.
    pub fn host(&self) -> &Host<S, R, A> {
        &self.host
    }

    fn time(&self, at: Instant) -> Time {
        Time::ZERO + Span::from(at.saturating_duration_since(self.origin))
    }

    /// Notes whether the plan begins to pace, after each call that can change the plan.
    fn note_pacing(&mut self) {
        let paces = matches!(self.host.plan().pacing, Pacing::Rate { .. } | Pacing::Train { .. });
        self.begins_to_pace = paces && (self.begins_to_pace || !self.paces);
        self.paces = paces;
    }

    /// Returns the pacing rate in bytes per second, and the maximum batch in bytes.
    fn pacing(&self) -> (u64, Option<u64>) {
        let mtu = self.host.path().mss;
        if !self.host.is_established() {
            return (UNPACED, None);
        }
        let pauses = |matters: bool| self.paused && matters;
        let long = self.host.path().min_rtt.is_none_or(|rtt| rtt >= SHORT_RTT);
        let low = (one_packet_bucket(mtu), Some(mtu.get()));
        match self.host.plan().pacing {
            // The bucket still has the credit of the ACK clock.
            Pacing::Train { .. } | Pacing::Rate { .. } if self.begins_to_pace => low,
            Pacing::Train { .. } if pauses(true) => low,
            Pacing::Rate { .. } if pauses(long) => low,
            Pacing::AckClock if pauses(long && self.restart_paces) => low,
            Pacing::Train { .. } => (self.rate_until_due(), Some(mtu.get())),
            Pacing::Rate { burst, .. } => (self.rate_until_due(), Some(burst.max(mtu).get())),
            Pacing::AckClock | Pacing::Hold => (UNPACED, None),
        }
    }
}

impl<S: Startup, R: Startup, A: Avoidance> FirstflightController<S, R, A> {
    /// Returns the rate in bytes per second at which the bucket earns the last packet until the pacer releases the next one. If the pacer has
    /// released it, because the window or recovery held it back, the bucket earns no more than that packet until now.
    fn rate_until_due(&self) -> u64 {
        let path = self.host.path();
        let (Some(due), Some(sent)) = (self.host.pacer().ready_at(path.wire, false), path.last_sent) else {
            return UNPACED;
        };
        rate_of_gap(self.debt, due.max(path.now).since(sent))
    }
}

impl<S, R, A> Controller for FirstflightController<S, R, A>
where
    S: Startup + Debug + Send + Sync + 'static,
    R: Startup + Debug + Send + Sync + 'static,
    A: Avoidance + Debug + Send + Sync + 'static,
{
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        let packet = PacketSent { number: Some(pn), bytes: bytes.into() };
        (self.paused, self.begins_to_pace) = (false, false);
        let (due, path) = (self.host.pacer().ready_at(self.host.path().wire, false), self.host.path());
        let paced = matches!(self.host.plan().pacing, Pacing::Rate { .. });
        let held_back = paced && due.is_some_and(|due| due < path.now);
        self.host.on_packet_sent(self.time(now), packet);
        self.note_pacing();
        // noq's bucket counts whole bytes at each poll. After a wait that the pacer did not end it may hold a byte or two too many.
        let surplus = Bytes::new(if held_back { 2 } else { 0 });
        self.debt = Bytes::new(bytes.into()).min(self.host.path().mss) - surplus;
    }

    fn on_cwnd_limited(&mut self) {
        self.host.set_limit(Limit::Window);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, pn: u64, _: bool, _: &RttEstimator) {
        let packet = PacketSent { number: Some(pn), bytes };
        self.host.on_packet_acked(self.time(now), packet, self.time(sent));
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _: Option<u64>) {
        self.host.on_ack_end(self.time(now), AckEnd { in_flight: Some(in_flight), app_limited });
        self.paused |= app_limited || in_flight == 0;
        self.note_pacing();
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        _lost_bytes: u64,
        _largest_lost_pn: u64,
    ) {
        if is_ecn {
            self.host.on_mark(self.time(now), self.time(sent));
        } else {
            self.host.on_loss(self.time(now), is_persistent_congestion);
        }
        self.note_pacing();
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, _now: Instant) {
        self.host.on_packet_lost(pn, lost_bytes.into(), None);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.host.on_spurious_loss();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.host.on_mtu(new_mtu.into());
    }

    fn on_ack_frequency_update(&mut self, _: u64, requested_max_ack_delay: Duration) {
        self.host.set_max_ack_delay(Span::from(requested_max_ack_delay));
    }

    fn window(&self) -> u64 {
        let train_is_over = self.host.pacer().train_left() == 0;
        let held = match self.host.plan().pacing {
            Pacing::Hold => self.host.is_established(),
            Pacing::Train { .. } => train_is_over,
            Pacing::AckClock | Pacing::Rate { .. } => false,
        };
        // No datagram fits a window of a byte. noq does not allow zero.
        if held { 1 } else { self.host.window().get() }
    }

    fn metrics(&self) -> ControllerMetrics {
        let (pacing_rate, send_quantum) = self.pacing();
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.host.window().get();
        metrics.ssthresh = self.host.plan().ssthresh.map(Bytes::get);
        metrics.pacing_rate = Some(pacing_rate);
        metrics.send_quantum = send_quantum;
        metrics.bandwidth_estimate = self.host.learned_rate().map(Rate::bps);
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        // The copy is for a rebinding. noq counts from zero there, and reports losses of earlier packets without a congestion event.
        let mut copy = self.clone();
        copy.host.forget_in_flight();
        Box::new(copy)
    }

    fn initial_window(&self) -> u64 {
        self.host.window().get()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
