//! No slow-start restart: the window is unchanged, and a whole window may be sent back to back (`SunOS` 4.1.3, as
//! Visweswaraiah and Heidemann describe it in "Improving restart of idle TCP connections", section 2).

use crate::interest::Interest;
use crate::interface::{Cause, Event, Exit, Origin, Path, PathEstimate, Plan, Startup, Step};
use crate::registry::{Ability, Needs, RestartEntry};

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

/// Ends the restart with the window that the connection had before the idle time.
pub(super) fn resumed(was: PathEstimate) -> Step {
    Step::Exit(Exit { cause: Cause::Resumed, learned: was })
}

impl Startup for Nssr {
    const INTEREST: Interest<Self> = Interest::ALL.without_sends().without_others();

    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match event {
            Event::Begin(Origin::AfterIdle { was, .. }) => resumed(*was),
            // The policy exits as soon as it begins after an idle time, so this is reached only if a host begins it
            // otherwise.
            _ => resumed(PathEstimate { window: path.cwnd, ..PathEstimate::default() }),
        }
    }

    fn plan(&self, path: &Path) -> Plan {
        Plan::ack_clocked(path.cwnd, None)
    }
}
