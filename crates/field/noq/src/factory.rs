//! The factory of controllers, and the abilities of noq.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Instant;

use firstflight::registry::{Ability, AnyLaw, AnyRestart, AnyScheme, Offers};
use firstflight::{Avoidance, Controller, Span, Startup, Time};
use firstflight_quic::{Blueprint, Choice, ChoiceError, ExitReport, Observer};
use noq_proto::congestion::{Controller as NoqController, ControllerFactory};

use crate::controller::FirstflightController;

macro_rules! offers {
    ($host:literal $(, $more:expr)*) => {
        Offers::of($host, &[
            Ability::AckClock, Ability::Rate, Ability::Hold, Ability::PacketAcks, Ability::Sends, Ability::DeliveryRate,
            Ability::LateTimer, Ability::SegmentCounts, Ability::LostPackets, Ability::SpuriousLosses, Ability::Marks,
            Ability::IdleQuestion, $($more),*
        ])
    };
}

/// The abilities of noq 1.4 on sockets.
pub const OFFERS: Offers = offers!("noq on sockets");

/// The abilities of noq 1.4 in virtual time, with a peer that acknowledges each packet (the ACK frequency extension): gaps of trains are
/// exact, transmission times are exact, and each ACK arrives by itself.
pub const OFFERS_IN_VIRTUAL_TIME: Offers =
    offers!("noq in virtual time", Ability::Train, Ability::ExactSendTimes, Ability::DenseAcks);

/// Builds a [`FirstflightController`] for each path of noq.
#[derive(Clone, Debug)]
pub struct Factory<S = AnyScheme, R = AnyRestart, A = AnyLaw> {
    blueprint: Blueprint<S, R, A>,
    restart_paces: bool,
}

impl Factory {
    /// Returns the factory of a choice by name, for noq on sockets.
    ///
    /// # Errors
    /// A part that needs an ability that [`OFFERS`] does not have.
    pub fn new(choice: &Choice) -> Result<Self, ChoiceError> {
        Self::offering(choice, OFFERS)
    }

    /// Returns the factory of a scheme by name with its default law and parameters, for noq on sockets.
    ///
    /// # Errors
    /// A name that no scheme has, and the errors of [`Factory::new`].
    pub fn named(scheme: &str) -> Result<Self, ChoiceError> {
        Self::new(&Choice::named(scheme)?)
    }

    /// Returns the factory of a choice by name, for connections of `noq-proto` in virtual time.
    ///
    /// # Errors
    /// A part that needs an ability that [`OFFERS_IN_VIRTUAL_TIME`] does not have.
    pub fn in_virtual_time(choice: &Choice) -> Result<Self, ChoiceError> {
        Self::offering(choice, OFFERS_IN_VIRTUAL_TIME)
    }

    fn offering(choice: &Choice, offers: Offers) -> Result<Self, ChoiceError> {
        Ok(Self { blueprint: Blueprint::of(choice, offers)?, restart_paces: choice.restart_paces() })
    }
}

impl<S: Startup, R: Startup, A: Avoidance> Factory<S, R, A> {
    /// Returns the factory of controllers like this one, to which no event was reported yet. The caller answers for the abilities that its
    /// parts need.
    pub fn of(controller: Controller<S, R, A>) -> Self {
        Self { blueprint: Blueprint::new(controller), restart_paces: true }
    }

    /// Calls `call` at each exit from a start-up or restart.
    pub fn on_exit(self, call: impl Fn(&ExitReport) + Send + Sync + 'static) -> Self {
        Self { blueprint: self.blueprint.on_exit(call), ..self }
    }

    /// Adds an observer of all controllers, which can record traces.
    pub fn observer(self, observer: Arc<dyn Observer>) -> Self {
        Self { blueprint: self.blueprint.observer(observer), ..self }
    }

    /// Sets the bytes of the headers of IP and UDP, which rates count: 28 with IPv4, the default, and 48 with IPv6.
    pub fn headers(self, bytes: u64) -> Self {
        Self { blueprint: self.blueprint.headers(bytes), ..self }
    }

    /// Sets the `max_ack_delay` of peers (RFC 9000 section 18.2), a part of the probe timeout. The default is 25 ms.
    pub fn max_ack_delay(self, delay: Span) -> Self {
        Self { blueprint: self.blueprint.max_ack_delay(delay), ..self }
    }
}

impl<S, R, A> ControllerFactory for Factory<S, R, A>
where
    S: Startup + Debug + Send + Sync + 'static,
    R: Startup + Debug + Send + Sync + 'static,
    A: Avoidance + Debug + Send + Sync + 'static,
{
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn NoqController> {
        let host = self.blueprint.host(current_mtu.into(), Time::ZERO);
        Box::new(FirstflightController::new(host, now, self.restart_paces))
    }
}
