//! A part of a controller as a host has it that leaves the rest to somebody else: to a kernel.

use firstflight::registry::{AnyRestart, AnyScheme};
use firstflight::{
    Ack, Bytes, Call, Cause, Event, Exit, Judge, Lead, Loss, Note, Origin, Pacing, Path, Phase, Plan,
    Startup, Step,
};

/// A start-up scheme or a restart policy with the judge of its ACKs, to replay the trace of a host that has no more
/// ([`firstflight_trace::Hosts`]).
#[derive(Clone, Debug)]
pub struct Part {
    judge: Judge,
    hosted: Hosted,
    /// Whether the part governs.
    governs: bool,
    last: Option<Plan>,
}

#[derive(Clone, Debug)]
enum Hosted {
    Startup(Box<AnyScheme>),
    Restart(Box<AnyRestart>),
}

impl Part {
    /// A start-up scheme, which governs from its begin to its exit.
    pub(crate) fn startup(scheme: AnyScheme) -> Self {
        Self::of(Hosted::Startup(Box::new(scheme)))
    }

    /// A restart policy, which governs from the end of an idle time to its exit.
    pub(crate) fn restart(policy: AnyRestart) -> Self {
        Self::of(Hosted::Restart(Box::new(policy)))
    }

    fn of(hosted: Hosted) -> Self {
        Self { judge: Judge::new(), hosted, governs: false, last: None }
    }

    /// Repeats a recorded call. Returns the plan after the call and the notes of the call, as the line of a trace has them.
    pub fn replay(&mut self, call: &Call, path: &Path) -> (Plan, Vec<Note>) {
        let own = Plan::ack_clocked(path.cwnd, None);
        let (phase, exit) = match call {
            Call::On(heard) => self.hear(&heard.event(), path),
            Call::NewData | Call::Plan => (Phase::Startup, None),
        };
        let mut notes = Vec::new();
        let plan = match (call, exit) {
            (_, Some(exit)) => {
                let (cwnd, flight) = (path.cwnd, path.flight);
                notes.push(Note::Exited { exit, phase, cwnd, flight });
                Plan::ack_clocked(exit.learned.window, exit.learned.ssthresh)
            }
            // Asked for after the departures, with the path as it is by then.
            (Call::On(heard), None) if matches!(heard.event(), Event::Sent(_)) => self.last.unwrap_or(own),
            // Not asked for before the connection is established.
            (Call::On(heard), None) if matches!(heard.event(), Event::Begin(Origin::Fresh)) => own,
            _ if self.governs => without_burst(self.hosted.plan(path)),
            _ => own,
        };
        self.last = Some(plan);
        (plan, notes)
    }

    /// Has the part hear an event. Returns the phase at the event, and the part's exit.
    fn hear(&mut self, event: &Event<'_>, path: &Path) -> (Phase, Option<Exit>) {
        match (event, &self.hosted) {
            (Event::Begin(Origin::Fresh), Hosted::Startup(_))
            | (Event::Begin(Origin::AfterIdle { .. }), _) => {
                self.judge.begin(path);
                self.governs = true;
            }
            (Event::Begin(_), _) => self.judge.begin(path),
            _ => {}
        }
        let phase = match (&self.hosted, self.governs) {
            (Hosted::Startup(_), _) => Phase::Startup,
            (Hosted::Restart(_), true) => Phase::Restart,
            (Hosted::Restart(_), false) => Phase::Avoidance,
        };
        let exit = match *event {
            Event::Acked(ack) => {
                // What is in flight when an ACK arrives is the most since the ACK before.
                self.judge.sent(path.flight + ack.advanced);
                let mut ack: Ack<'_> = ack;
                let lead = if self.governs { Lead::Startup } else { Lead::Avoidance };
                self.judge.acked(&mut ack, path, lead);
                self.take(&Event::Acked(ack), path)
            }
            // Who repairs the loss is the host.
            Event::Lost(loss) => {
                self.take(&Event::Lost(Loss { opens_episode: !path.recovering, ..loss }), path)
            }
            other => self.take(&other, path),
        };
        (phase, exit)
    }

    fn take(&mut self, event: &Event<'_>, path: &Path) -> Option<Exit> {
        let step = match &mut self.hosted {
            Hosted::Startup(scheme) if self.governs => scheme.on(event, path),
            Hosted::Startup(_) => return None,
            Hosted::Restart(policy) if self.governs => policy.on(event, path),
            // What a window is still worth that was used in part is said beside the law.
            Hosted::Restart(policy) => {
                if !matches!(event, Event::Begin(_) | Event::Sent(_) | Event::Acked(_)) {
                    return None;
                }
                let learned = policy.overhear(event, path)?;
                return Some(Exit { cause: Cause::App, learned });
            }
        };
        match step {
            Step::Done(exit) => {
                self.governs = false;
                Some(exit)
            }
            Step::Stay => None,
        }
    }
}

impl Hosted {
    fn plan(&self, path: &Path) -> Plan {
        match self {
            Self::Startup(scheme) => scheme.plan(path),
            Self::Restart(policy) => policy.plan(path),
        }
    }
}

fn without_burst(plan: Plan) -> Plan {
    match plan.pacing {
        Pacing::Rate { rate, .. } => Plan { pacing: Pacing::Rate { rate, burst: Bytes::ZERO }, ..plan },
        Pacing::AckClock | Pacing::Train { .. } | Pacing::Hold => plan,
    }
}
