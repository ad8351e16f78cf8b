//! The values that a controller fills in before a scheme gets an event.

use std::cell::Cell;
use std::rc::Rc;

use firstflight::registry::{AnyLaw, AnyRestart, AnyScheme, Registry};
use firstflight::{
    Avoidance, Call, Controller, Event, Exit, Judged, Learned, Path, Plan, Startup, Step, TraceRecord,
};
use firstflight_scenario::{ByName, HeaderError};
use firstflight_trace::Header;

use super::{Breaches, Law};

/// A controller of the trace's own scheme, policy and law, each wrapped so that the values which the controller fills
/// in at an ACK or a loss can be read.
#[derive(Debug)]
pub struct Audit {
    controller: Controller<Ear<AnyScheme>, Ear<AnyRestart>, Ear<AnyLaw>>,
    heard: Rc<Cell<Option<Judged>>>,
    /// Whether the trace has the filled-in values, once that is known.
    recorded: bool,
}

impl Audit {
    /// An audit before the first call.
    ///
    /// # Errors
    /// A scheme, restart policy or law that cannot be built.
    pub fn new(header: &Header) -> Result<Self, Box<HeaderError>> {
        Self::of(Registry::builtin(), header)
    }

    /// [`Audit::new`], where the header names a scheme, policy or law of this registry.
    ///
    /// # Errors
    /// As for [`Audit::new`].
    pub fn of(registry: Registry, header: &Header) -> Result<Self, Box<HeaderError>> {
        let (startup, restart, law) = registry.parts_of(header).map_err(Box::new)?;
        let heard = Rc::default();
        let controller =
            Controller::new(Ear::at(startup, &heard), Ear::at(restart, &heard), Ear::at(law, &heard));
        Ok(Self { controller, heard, recorded: false })
    }

    /// Replays the next call, and returns the values that the controller fills in.
    pub fn judge(&mut self, told: &TraceRecord) -> Option<Judged> {
        self.heard.set(None);
        self.controller.replay(&told.call, &told.path);
        self.heard.take()
    }

    /// Checks the next call. Returns whether to go on: a trace without the first filled-in values has none.
    pub(super) fn hear(&mut self, told: &TraceRecord, breaches: &mut Breaches) -> bool {
        let judgeable = matches!(&told.call, Call::On(heard)
            if matches!(heard.event(), Event::Acked(_) | Event::Lost(_)));
        if judgeable && told.judged.is_none() && !self.recorded {
            return false;
        }
        self.recorded |= judgeable;
        let judged = self.judge(told);
        if judgeable && judged != told.judged {
            let [is, was] = [told.judged, judged].map(show);
            breaches.add(Law::Judged, format!("on record is {is}; the controller judges {was}"));
        }
        true
    }
}

fn show(judged: Option<Judged>) -> String {
    match judged {
        None => "nothing".to_owned(),
        Some(Judged::Lost { opens_episode: true }) => "an episode that opens".to_owned(),
        Some(Judged::Lost { opens_episode: false }) => "no episode that opens".to_owned(),
        Some(Judged::Acked { round_ended, round_sent, growth }) => {
            let round = if round_ended {
                format!("a round that ended with {} B sent", round_sent.get())
            } else {
                format!("no round that ended, with {} B sent", round_sent.get())
            };
            format!("{round}, and growth by {} B", growth.get())
        }
    }
}

/// A part, and the filled-in values that it last got.
#[derive(Clone, Debug)]
struct Ear<T> {
    part: T,
    heard: Rc<Cell<Option<Judged>>>,
}

impl<T> Ear<T> {
    fn at(part: T, heard: &Rc<Cell<Option<Judged>>>) -> Self {
        Self { part, heard: Rc::clone(heard) }
    }

    fn hear(&self, event: &Event<'_>) {
        if let Some(judged) = Judged::of(event) {
            self.heard.set(Some(judged));
        }
    }
}

impl<T: Startup> Startup for Ear<T> {
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        self.hear(event);
        self.part.on(event, path)
    }

    fn overhear(&mut self, event: &Event<'_>, path: &Path) -> Option<Learned> {
        self.part.overhear(event, path)
    }

    fn plan(&self, path: &Path) -> Plan {
        self.part.plan(path)
    }
}

impl<T: Avoidance> Avoidance for Ear<T> {
    fn enter(&mut self, exit: &Exit, path: &Path) {
        self.part.enter(exit, path);
    }

    fn on(&mut self, event: &Event<'_>, path: &Path) {
        self.hear(event);
        self.part.on(event, path);
    }

    fn overhear(&mut self, event: &Event<'_>, path: &Path) {
        self.part.overhear(event, path);
    }

    fn forget_path(&mut self) {
        self.part.forget_path();
    }

    fn plan(&self, path: &Path) -> Plan {
        self.part.plan(path)
    }
}
