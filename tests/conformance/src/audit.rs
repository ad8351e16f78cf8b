//! The values that a controller fills in before it passes an event to a scheme.

use std::cell::Cell;
use std::rc::Rc;

use firstflight::registry::{AnyController, AnyLaw, AnyRestart, AnyScheme};
use firstflight::{
    Avoidance, Call, Controller, Event, Exit, Judged, Path, PathEstimate, Plan, Startup, Step, TraceRecord,
};

use crate::breach::Breaches;
use crate::law::Law;

/// A controller with the trace's scheme, policy and law. Each of them is wrapped, so that the values can be read that the controller fills
/// in for an ACK or a loss.
#[derive(Debug)]
pub struct Audit {
    controller: Controller<Ear<AnyScheme>, Ear<AnyRestart>, Ear<AnyLaw>>,
    heard: Rc<Cell<Option<Judged>>>,
    /// Whether the trace has the filled-in values. The first call that can have them decides.
    recorded: bool,
}

impl Audit {
    /// Makes an audit for a trace of `controller`, which is in its initial state.
    pub fn new(controller: AnyController) -> Self {
        let (startup, restart, law) = controller.into_parts();
        let heard = Rc::default();
        let controller =
            Controller::new(Ear::at(startup, &heard), Ear::at(restart, &heard), Ear::at(law, &heard));
        Self { controller, heard, recorded: false }
    }

    /// Replays the next call. Returns the values that the controller fills in, if any.
    pub fn judge(&mut self, record: &TraceRecord) -> Option<Judged> {
        self.heard.set(None);
        self.controller.replay(&record.call, &record.path);
        self.heard.take()
    }

    /// Checks the next call. Returns whether to continue. If the first call that can have filled-in values has none, later calls have none
    /// either.
    pub(super) fn check_record(&mut self, record: &TraceRecord, breaches: &mut Breaches) -> bool {
        let judgeable = matches!(&record.call, Call::On(heard)
            if matches!(heard.event(), Event::Acked(_) | Event::Lost(_)));
        if judgeable && record.judged.is_none() && !self.recorded {
            return false;
        }
        self.recorded |= judgeable;
        let judged = self.judge(record);
        if judgeable && judged != record.judged {
            let [is, was] = [record.judged, judged].map(show);
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

/// A part of the controller, and the filled-in values that it last received.
#[derive(Clone, Debug)]
struct Ear<T> {
    part: T,
    heard: Rc<Cell<Option<Judged>>>,
}

impl<T> Ear<T> {
    fn at(part: T, heard: &Rc<Cell<Option<Judged>>>) -> Self {
        Self { part, heard: Rc::clone(heard) }
    }

    fn check_record(&self, event: &Event<'_>) {
        if let Some(judged) = Judged::of(event) {
            self.heard.set(Some(judged));
        }
    }
}

impl<T: Startup> Startup for Ear<T> {
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        self.check_record(event);
        self.part.on(event, path)
    }

    fn observe(&mut self, event: &Event<'_>, path: &Path) -> Option<PathEstimate> {
        self.part.observe(event, path)
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
        self.check_record(event);
        self.part.on(event, path);
    }

    fn observe(&mut self, event: &Event<'_>, path: &Path) {
        self.part.observe(event, path);
    }

    fn forget_path(&mut self) {
        self.part.forget_path();
    }

    fn plan(&self, path: &Path) -> Plan {
        self.part.plan(path)
    }
}
