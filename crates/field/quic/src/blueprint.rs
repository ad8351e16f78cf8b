//! The blueprint of hosts, for a stack that builds a controller for each path.

use alloc::sync::Arc;
use core::fmt;

use firstflight::registry::{AnyLaw, AnyRestart, AnyScheme, Offers};
use firstflight::{Avoidance, Bytes, Controller, Note, Span, Startup, Time, TraceRecord};

use crate::choice::{Choice, ChoiceError};
use crate::exit_report::ExitReport;
use crate::host::Host;
use crate::observer::Observer;
use crate::settings::Settings;

/// What the hosts of all connections of a configuration share: the controller at its start, the settings and the observers.
#[derive(Clone, Debug)]
pub struct Blueprint<S, R, A> {
    controller: Controller<S, R, A>,
    settings: Settings,
    observer: Option<Arc<dyn Observer>>,
}

impl Blueprint<AnyScheme, AnyRestart, AnyLaw> {
    /// Returns the blueprint of a choice by name, for a stack with these abilities.
    ///
    /// # Errors
    /// The errors of [`Choice::build`].
    pub fn of(choice: &Choice, offers: Offers) -> Result<Self, ChoiceError> {
        Ok(Self::new(choice.build(offers)?))
    }
}

impl<S: Startup, R: Startup, A: Avoidance> Blueprint<S, R, A> {
    /// Returns a blueprint with this controller, to which no event was reported yet.
    pub fn new(controller: Controller<S, R, A>) -> Self {
        Self { controller, settings: Settings::default(), observer: None }
    }

    /// Sets the bytes of the headers of IP and UDP: 28 with IPv4, 48 with IPv6.
    pub fn headers(mut self, bytes: u64) -> Self {
        self.settings.headers = Bytes::new(bytes);
        self
    }

    /// Sets the peer's `max_ack_delay` (RFC 9000 section 18.2).
    pub fn max_ack_delay(mut self, delay: Span) -> Self {
        self.settings.max_ack_delay = delay;
        self
    }

    /// Adds an observer, which the hosts of all connections share.
    pub fn observer(mut self, observer: Arc<dyn Observer>) -> Self {
        self.observer = Some(match self.observer {
            None => observer,
            Some(before) => Arc::new(Both(before, observer)),
        });
        self
    }

    /// Calls `call` at each exit from a start-up or restart.
    pub fn on_exit(self, call: impl Fn(&ExitReport) + Send + Sync + 'static) -> Self {
        self.observer(Arc::new(OnExit(call)))
    }

    /// Returns the host of a new connection or path, whose datagrams carry at most `mtu` bytes of UDP payload.
    pub fn host(&self, mtu: u64, now: Time) -> Host<S, R, A> {
        let settings = Settings { mtu: Bytes::new(mtu), ..self.settings };
        Host::observed(self.controller.clone(), settings, now, self.observer.clone())
    }
}

struct OnExit<F>(F);

impl<F> fmt::Debug for OnExit<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OnExit")
    }
}

impl<F: Fn(&ExitReport) + Send + Sync> Observer for OnExit<F> {
    fn on_exit(&self, report: &ExitReport) {
        (self.0)(report);
    }
}

#[derive(Debug)]
struct Both(Arc<dyn Observer>, Arc<dyn Observer>);

impl Observer for Both {
    fn on_exit(&self, report: &ExitReport) {
        self.0.on_exit(report);
        self.1.on_exit(report);
    }

    fn on_note(&self, at: Time, note: &Note) {
        self.0.on_note(at, note);
        self.1.on_note(at, note);
    }

    fn records_calls(&self) -> bool {
        self.0.records_calls() || self.1.records_calls()
    }

    fn on_call(&self, record: TraceRecord) {
        if self.0.records_calls() && self.1.records_calls() {
            self.0.on_call(record.clone());
            self.1.on_call(record);
        } else if self.0.records_calls() {
            self.0.on_call(record);
        } else {
            self.1.on_call(record);
        }
    }
}
