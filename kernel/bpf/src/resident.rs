//! A restart policy in a socket, in addition to a law of the kernel. The law is active except during a restart.

use firstflight::registry::Numbers;
use firstflight::schemes::Initial;
use firstflight::{Event, FullMargin, Origin, Path, PathEstimate, RoundTracker, Startup, Step};

use crate::facts::{Decision, Facts, Kind};
use crate::hosted::{Trains, answer, deliver, is_departure, on_ack};

/// A restart policy of a socket, with the [`RoundTracker`] of the socket's ACKs.
#[derive(Clone, Debug)]
pub struct Resident<R> {
    judge: RoundTracker,
    trains: Trains,
    policy: R,
    /// Whether the policy is active: from the end of an idle time until its exit.
    governs: bool,
}

/// A BPF program handles an event in parts for the verifier, as for a start-up scheme. While the law is active, the
/// policy only observes, and [`Resident::governs`] returns false.
impl<R: Startup> Resident<R> {
    /// Creates the policy for an established connection. At first it only observes.
    #[inline(always)]
    pub fn begin(
        make: impl FnOnce(Initial, &Numbers, &Facts) -> R,
        numbers: &Numbers,
        facts: &Facts,
    ) -> Self {
        let initial = Initial { segments: facts.cwnd, ssthresh: facts.ssthresh() };
        let mut policy = make(initial, numbers, facts);
        let path = facts.path();
        policy.observe(&Event::Begin(Origin::Fresh), &path);
        let mut judge = RoundTracker::new();
        judge.begin(&path);
        Self { judge, trains: Trains::default(), policy, governs: false }
    }

    /// Returns whether the policy is active, rather than the kernel's law.
    #[inline(always)]
    pub fn governs(&self) -> bool {
        self.governs
    }

    /// Handles an ACK.
    #[inline(always)]
    pub fn acked(&mut self, facts: &Facts) -> Step {
        let Self { judge, trains, policy, governs } = self;
        if *governs {
            let step =
                on_ack(judge, trains, facts, FullMargin::Startup, |event, path| policy.on(event, path));
            return self.left(step);
        }
        let observe = |event: &Event<'_>, path: &Path| narrowed(policy.observe(event, path));
        on_ack(judge, trains, facts, FullMargin::Avoidance, observe)
    }

    /// Handles an event other than a begin or an ACK.
    #[inline(always)]
    pub fn on_event(&mut self, kind: u32, facts: &Facts) -> Step {
        if kind == Kind::Idle as u32 {
            let path = facts.path();
            self.judge.begin(&path);
            self.governs = true;
            let origin = Origin::AfterIdle { idle: facts.idle(), was: facts.was() };
            let step = self.policy.on(&Event::Begin(origin), &path);
            return self.left(step);
        }
        if is_departure(kind) {
            let sent = self.trains.sent(kind == Kind::Resent as u32, facts);
            let path = facts.path_at_departure();
            if self.governs {
                let step = self.policy.on(&Event::Sent(sent), &path);
                return self.left(step);
            }
            return narrowed(self.policy.observe(&Event::Sent(sent), &path));
        }
        if !self.governs {
            return Step::Stay;
        }
        let step = deliver(&mut self.policy, &mut self.trains, kind, facts);
        self.left(step)
    }

    /// Returns the policy's answer after an event that is no exit; an empty answer while the law is active.
    #[inline(always)]
    pub fn answer(&mut self, facts: &Facts) -> Decision {
        if self.governs { answer(&self.policy, &mut self.trains, facts) } else { Decision::default() }
    }

    #[inline(always)]
    fn left(&mut self, step: Step) -> Step {
        self.governs &= matches!(step, Step::Stay);
        step
    }
}

/// Converts the policy's reduction of a window that was used in part, while the law is active.
#[inline(always)]
fn narrowed(worth: Option<PathEstimate>) -> Step {
    use firstflight::{Cause, Exit};

    worth.map_or(Step::Stay, |learned| Step::Exit(Exit { cause: Cause::AppLimited, learned }))
}

/// The restart policies that a kernel can host: name, name as an identifier, and constructor with parameters.
#[macro_export]
macro_rules! for_each_resident_policy {
    ($take:ident) => {
        $take! {
            "rfc5681": rfc5681, Rfc5681, |initial, _, _| Rfc5681::new(initial);
            "ssr": ssr, Ssr, |initial, numbers, _| Ssr::from_numbers(initial, numbers);
            "nssr": nssr, Nssr, |_, _, _| Nssr;
            "rbp-rate": rbp_rate, Rbp, |initial, numbers, _| Rbp::rate_from_numbers(initial, numbers);
            "rbp-cwnd": rbp_cwnd, Rbp, |initial, numbers, _| Rbp::window_from_numbers(initial, numbers);
            "cwv": cwv, Cwv, |initial, numbers, _| Cwv::from_numbers(initial, numbers);
        }
    };
}
