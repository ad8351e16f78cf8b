//! Slow-start restart as in the stacks of 1997 (Jacobson and Karels; 4.4BSD `tcp_output`): after an idle time slow
//! start begins from one segment. The threshold is kept.
//!
//! RFC 5681 section 4.1 has a restart window in place of the one segment, and measures the idle time from the last
//! packet *sent*; 4.4BSD measures from the last segment *received*. 4.4BSD never notices an idle time that a request
//! ended, because the request is a segment received. Both are parameters.

use crate::interest::Interest;
use crate::interface::{Event, Origin, Path, PathEstimate, Plan, Startup, Step};
use crate::registry::{Kind, Numbers, Parameter, RestartEntry, Value, choice};
use crate::restart::nssr::resumed;
use crate::schemes::{Initial, SlowStart};

const WINDOW: &str = "window";
const SINCE: &str = "since";

/// Slow-start restart.
#[derive(Clone, Debug)]
pub struct Ssr {
    slow: SlowStart,
    /// Whether slow start begins from one segment, rather than from the restart window.
    from_one: bool,
    /// Whether the idle time counts from the last segment received, rather than from the last sent.
    since_received: bool,
}

pub(crate) const SSR: RestartEntry = RestartEntry {
    name: "ssr",
    summary: "slow start again from one segment",
    source: "Visweswaraiah and Heidemann 1997, section 2 (4.4BSD)",
    parameters: &[
        Parameter {
            name: WINDOW,
            kind: Kind::Word(&["one", "restart"]),
            default: Value::Word("one"),
            help: "the window to restart from: one segment, or RFC 5681's restart window",
        },
        Parameter {
            name: SINCE,
            kind: Kind::Word(&["sent", "received"]),
            default: Value::Word("sent"),
            help: "idle since the last packet sent (RFC 5681), or the last segment received (4.4BSD)",
        },
    ],
    needs: crate::restart::NEEDS,
    make: |initial, settings| Ssr::from_numbers(initial, &settings.numbers()).into(),
};

impl Ssr {
    /// Returns the policy that restarts from one segment and counts the idle time from the last packet sent.
    pub fn new(initial: Initial) -> Self {
        Self { slow: SlowStart::new(initial), from_one: true, since_received: false }
    }

    /// Returns the policy with these parameters, in the order of its entry in the registry.
    pub fn from_numbers(initial: Initial, numbers: &Numbers) -> Self {
        Self {
            from_one: numbers.is(const { choice(SSR.parameters, WINDOW, "one") }),
            since_received: numbers.is(const { choice(SSR.parameters, SINCE, "received") }),
            ..Self::new(initial)
        }
    }
}

impl Startup for Ssr {
    const INTEREST: Interest<Self> = Interest::ALL.without_sends().without_others();

    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        let Event::Begin(Origin::AfterIdle { idle, was }) = *event else { return self.slow.on(event, path) };
        let quiet = path.last_received.map_or(idle, |at| path.now.since(at));
        if self.since_received && quiet <= path.rto {
            return resumed(was);
        }
        let window = if self.from_one { was.window.min(path.mss) } else { was.window };
        self.slow.on(&Event::Begin(Origin::AfterIdle { idle, was: PathEstimate { window, ..was } }), path)
    }

    fn plan(&self, path: &Path) -> Plan {
        self.slow.plan(path)
    }
}
