//! The factory of controllers, and the abilities of quinn.

use std::sync::Arc;
use std::time::Instant;

use firstflight::registry::{Ability, AnyLaw, AnyRestart, AnyScheme, Offers};
use firstflight::{Avoidance, Controller, Span, Startup, Time};
use firstflight_quic::{Blueprint, Choice, ChoiceError, ExitReport, Observer};
use quinn_proto::congestion::{Controller as QuinnController, ControllerFactory};

use crate::controller::FirstflightController;

/// The abilities of quinn 0.11.
pub const OFFERS: Offers = Offers::of(
    "quinn 0.11",
    &[
        Ability::AckClock,
        Ability::PacketAcks,
        Ability::Sends,
        Ability::DeliveryRate,
        Ability::LateTimer,
        Ability::SegmentCounts,
        Ability::Marks,
        Ability::IdleQuestion,
    ],
);

/// Builds a [`FirstflightController`] for each path of quinn.
#[derive(Clone, Debug)]
pub struct Factory<S = AnyScheme, R = AnyRestart, A = AnyLaw> {
    blueprint: Blueprint<S, R, A>,
}

impl Factory {
    /// Returns the factory of a choice by name.
    ///
    /// # Errors
    /// A part that needs an ability that [`OFFERS`] does not have.
    pub fn new(choice: &Choice) -> Result<Self, ChoiceError> {
        Ok(Self { blueprint: Blueprint::of(choice, OFFERS)? })
    }

    /// Returns the factory of a scheme by name with its default law and parameters.
    ///
    /// # Errors
    /// A name that no scheme has, and the errors of [`Factory::new`].
    pub fn named(scheme: &str) -> Result<Self, ChoiceError> {
        Self::new(&Choice::named(scheme)?)
    }
}

impl<S: Startup, R: Startup, A: Avoidance> Factory<S, R, A> {
    /// Returns the factory of controllers like this one, to which no event was reported yet. The caller answers for the abilities that its
    /// parts need; of a plan only the window has an effect.
    pub fn of(controller: Controller<S, R, A>) -> Self {
        Self { blueprint: Blueprint::new(controller) }
    }

    /// Calls `call` at each exit from a start-up or restart.
    pub fn on_exit(self, call: impl Fn(&ExitReport) + Send + Sync + 'static) -> Self {
        Self { blueprint: self.blueprint.on_exit(call) }
    }

    /// Adds an observer of all controllers, which can record traces.
    pub fn observer(self, observer: Arc<dyn Observer>) -> Self {
        Self { blueprint: self.blueprint.observer(observer) }
    }

    /// Sets the bytes of the headers of IP and UDP, which rates count: 28 with IPv4, the default, and 48 with IPv6.
    pub fn headers(self, bytes: u64) -> Self {
        Self { blueprint: self.blueprint.headers(bytes) }
    }

    /// Sets the `max_ack_delay` of peers (RFC 9000 section 18.2), a part of the probe timeout. The default is 25 ms.
    pub fn max_ack_delay(self, delay: Span) -> Self {
        Self { blueprint: self.blueprint.max_ack_delay(delay) }
    }
}

impl<S, R, A> ControllerFactory for Factory<S, R, A>
where
    S: Startup + Send + Sync + 'static,
    R: Startup + Send + Sync + 'static,
    A: Avoidance + Send + Sync + 'static,
{
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn QuinnController> {
        Box::new(FirstflightController::new(self.blueprint.host(current_mtu.into(), Time::ZERO), now))
    }
}
