//! A controller of quinn whose bytes in flight and round trips are observed.

use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};

use crate::seen::Seen;

/// A factory of quinn's controllers.
pub(super) type Factory = Arc<dyn ControllerFactory + Send + Sync>;

/// Makes the factory of a host's controllers.
pub(super) enum Factories {
    /// A controller of the stack.
    Own(Factory),
    /// A scheme of Firstflight, whose notes are observed.
    Scheme {
        /// The factory.
        factory: Box<firstflight_quinn::Factory>,
    },
}

impl Factories {
    /// Returns the factory of a host with these observations.
    pub(super) fn of(&self, seen: &Arc<Seen>) -> Factory {
        match self {
            Self::Own(factory) => Arc::clone(factory),
            Self::Scheme { factory, .. } => {
                Arc::new(factory.as_ref().clone().observer(Arc::<Seen>::clone(seen)))
            }
        }
    }
}

/// Makes observed controllers.
pub(super) struct WatchedFactory {
    /// Makes the controllers.
    pub(super) inner: Factory,
    /// The observations.
    pub(super) seen: Arc<Seen>,
}

impl ControllerFactory for WatchedFactory {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let inner = Arc::clone(&self.inner).build(now, mtu);
        Box::new(Watched { inner, seen: Arc::clone(&self.seen) })
    }
}

/// An observed controller.
struct Watched {
    inner: Box<dyn Controller>,
    seen: Arc<Seen>,
}

impl Controller for Watched {
    fn on_sent(&mut self, now: Instant, bytes: u64, last: u64) {
        self.seen.sent(bytes);
        self.inner.on_sent(now, bytes, last);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.seen.measured(now.saturating_duration_since(sent));
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent: bool, lost: u64) {
        self.seen.lost(lost);
        self.inner.on_congestion_event(now, sent, is_persistent, lost);
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.seen.acked(in_flight);
        self.inner.on_end_acks(now, in_flight, app_limited, largest);
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.inner.on_mtu_update(mtu);
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self { inner: self.inner.clone_box(), seen: Arc::clone(&self.seen) })
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}
