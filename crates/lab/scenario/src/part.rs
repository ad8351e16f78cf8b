//! A part of a controller, for a host such as a kernel, where another implementation does the rest.

use firstflight::registry::{AnyRestart, AnyScheme};
use firstflight::{
    Ack, Bytes, Call, Cause, Event, Exit, FullMargin, Note, Origin, Pacing, Path, Phase, Plan, RoundTracker,
    Startup, Step,
};

/// A start-up scheme or a restart policy, with the judge of its ACKs. It replays the trace of a host that has no other part of a controller
/// ([`firstflight_trace::Hosts`]).
#[derive(Clone, Debug)]
pub struct Part {
    judge: RoundTracker,
    hosted: Hosted,
    /// Whether the part determines the plan.
    governs: bool,
    last: Option<Plan>,
}

#[derive(Clone, Debug)]
enum Hosted {
    Startup(Box<AnyScheme>),
    Restart(Box<AnyRestart>),
}

impl Part {
    /// Returns a part that is a start-up scheme. It determines the plan from the start of the connection, or from the end of an idle time,
    /// to its exit.
    pub(crate) fn startup(scheme: AnyScheme) -> Self {
        Self::of(Hosted::Startup(Box::new(scheme)))
    }

    /// Returns a part that is a restart policy. It determines the plan from the end of an idle time to its exit.
    pub(crate) fn restart(policy: AnyRestart) -> Self {
        Self::of(Hosted::Restart(Box::new(policy)))
    }

    fn of(hosted: Hosted) -> Self {
        Self { judge: RoundTracker::new(), hosted, governs: false, last: None }
    }

    /// Repeats a recorded call. Returns the plan after the call and the notes of the call, as a line of the trace has them.
    pub fn replay(&mut self, call: &Call, path: &Path) -> (Plan, Vec<Note>) {
        let own = Plan::ack_clocked(path.cwnd, None);
        let (phase, exit) = match call {
            Call::On(event) => self.on_event(&event.event(), path),
            Call::NewData | Call::Plan => (Phase::Startup, None),
        };
        let mut notes = Vec::new();
        let plan = match (call, exit) {
            (_, Some(exit)) => {
                let (cwnd, flight) = (path.cwnd, path.flight);
                notes.push(Note::Exited { exit, phase, cwnd, flight });
                Plan::ack_clocked(exit.learned.window, exit.learned.ssthresh)
            }
            // The host requests the plan only after the transmissions, when the state of the path has changed, so the previous plan
            // remains.
            (Call::On(event), None) if matches!(event.event(), Event::Sent(_)) => self.last.unwrap_or(own),
            // The host does not request the plan before the connection is established.
            (Call::On(event), None) if matches!(event.event(), Event::Begin(Origin::Fresh)) => own,
            _ if self.governs => without_burst(self.hosted.plan(path)),
            _ => own,
        };
        self.last = Some(plan);
        (plan, notes)
    }

    /// Passes an event to the part. Returns the phase at the event, and the part's exit if it exits.
    fn on_event(&mut self, event: &Event<'_>, path: &Path) -> (Phase, Option<Exit>) {
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
                // The flight just before an ACK arrives is the maximum since the previous ACK.
                self.judge.sent(path.flight + ack.advanced);
                let mut ack: Ack<'_> = ack;
                let lead = if self.governs { FullMargin::Startup } else { FullMargin::Avoidance };
                self.judge.acked(&mut ack, path, lead);
                self.take(&Event::Acked(ack), path)
            }
            // The host repairs losses, so the host's recovery state shows whether the loss opens an episode.
            Event::Lost(mut loss) => {
                loss.opens_episode = !path.recovering;
                self.take(&Event::Lost(loss), path)
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
            // While the avoidance law determines the plan, the policy only reports the window that remains after partial use.
            Hosted::Restart(policy) => {
                if !matches!(event, Event::Begin(_) | Event::Sent(_) | Event::Acked(_)) {
                    return None;
                }
                let learned = policy.observe(event, path)?;
                return Some(Exit { cause: Cause::AppLimited, learned });
            }
        };
        match step {
            Step::Exit(exit) => {
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
