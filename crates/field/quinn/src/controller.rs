//! quinn's controller over a host.

use std::any::Any;
use std::time::Instant;

use firstflight::registry::{AnyLaw, AnyRestart, AnyScheme};
use firstflight::{Avoidance, Bytes, Span, Startup, Time};
use firstflight_quic::{AckEnd, Host, PacketSent};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerMetrics};

/// A congestion controller of quinn that runs a Firstflight controller.
///
/// [`Controller::into_any`] gives it back, for what a scheme learned: see [`Host::exit`].
#[derive(Clone, Debug)]
pub struct FirstflightController<S = AnyScheme, R = AnyRestart, A = AnyLaw> {
    host: Host<S, R, A>,
    /// The instant at which the host's clock is zero.
    origin: Instant,
}

impl<S: Startup, R: Startup, A: Avoidance> FirstflightController<S, R, A> {
    pub(crate) fn new(host: Host<S, R, A>, origin: Instant) -> Self {
        Self { host, origin }
    }

    /// Returns the host.
    pub fn host(&self) -> &Host<S, R, A> {
        &self.host
    }

    fn time(&self, at: Instant) -> Time {
        Time::ZERO + Span::from(at.saturating_duration_since(self.origin))
    }
}

impl<S, R, A> Controller for FirstflightController<S, R, A>
where
    S: Startup + Send + Sync + 'static,
    R: Startup + Send + Sync + 'static,
    A: Avoidance + Send + Sync + 'static,
{
    fn on_sent(&mut self, now: Instant, bytes: u64, _last_packet_number: u64) {
        let (now, full) = (self.time(now), self.host.path().mss.get());
        let mut left = bytes;
        while left > 0 {
            let bytes = left.min(full);
            self.host.on_packet_sent(now, PacketSent { number: None, bytes });
            left -= bytes;
        }
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, _app_limited: bool, _: &RttEstimator) {
        let packet = PacketSent { number: None, bytes };
        self.host.on_packet_acked(self.time(now), packet, self.time(sent));
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, _: Option<u64>) {
        self.host.on_ack_end(self.time(now), AckEnd { in_flight: Some(in_flight), app_limited });
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        let (now, sent) = (self.time(now), self.time(sent));
        if lost_bytes == 0 {
            self.host.on_mark(now, sent);
        } else {
            self.host.on_unlisted_loss(now, sent, lost_bytes, is_persistent_congestion);
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.host.on_mtu(new_mtu.into());
    }

    fn window(&self) -> u64 {
        // quinn sends while `in_flight + packet < window`.
        self.host.window().get().saturating_add(1)
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.host.window().get();
        metrics.ssthresh = self.host.plan().ssthresh.map(Bytes::get);
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.host.window().get()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
