//! No slow-start restart: the window is what it was, and a whole window may leave back to back (`SunOS` 4.1.3, as
//! Visweswaraiah and Heidemann describe it in "Improving restart of idle TCP connections", section 2).

use crate::hears::Hears;
use crate::registry::{Ability, Needs, RestartEntry};
use crate::seam::{Cause, Event, Exit, Learned, Origin, Path, Plan, Startup, Step};

/// No slow-start restart.
#[derive(Clone, Debug, Default)]
pub struct Nssr;

pub(crate) const NSSR: RestartEntry = RestartEntry {
    name: "nssr",
    summary: "the window as it was, in one burst",
    source: "Visweswaraiah and Heidemann 1997, section 2 (SunOS)",
    parameters: &[],
    needs: Needs::of(&[Ability::AckClock, Ability::IdleQuestion]),
    make: |_, _| Nssr.into(),
};

/// Gives the window back as it was.
pub(super) fn resumed(was: Learned) -> Step {
    Step::Done(Exit { cause: Cause::Resumed, learned: was })
}

impl Startup for Nssr {
    const HEARS: Hears<Self> = Hears::ALL.without_sends().without_others();

    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match event {
            Event::Begin(Origin::AfterIdle { was, .. }) => resumed(*was),
            // The policy leaves at its begin, so only a host that begins it otherwise gets here.
            _ => resumed(Learned { window: path.cwnd, ..Learned::default() }),
        }
    }

    fn plan(&self, path: &Path) -> Plan {
        Plan::ack_clocked(path.cwnd, None)
    }
}
