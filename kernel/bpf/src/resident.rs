//! A restart policy as a socket has it, beside a law of the kernel that governs the rest of the time.

use firstflight::registry::Numbers;
use firstflight::schemes::Initial;
use firstflight::{Event, Judge, Lead, Learned, Origin, Path, Startup, Step};

use crate::facts::{Facts, Kind, Told};
use crate::hosted::{Trains, answer, is_departure, tell, tell_ack};

/// A restart policy that a socket has, with the judge of its ACKs.
#[derive(Clone, Debug)]
pub struct Resident<R> {
    judge: Judge,
    trains: Trains,
    policy: R,
    /// Whether the policy governs, from the end of an idle time until it leaves.
    governs: bool,
}

/// In parts for the verifier, as a start-up scheme is. While the law governs, the policy only overhears, and
/// [`Resident::governs`] says no.
impl<R: Startup> Resident<R> {
    /// A connection is established.
    #[inline(always)]
    pub fn begin(
        make: impl FnOnce(Initial, &Numbers, &Facts) -> R,
        numbers: &Numbers,
        facts: &Facts,
    ) -> Self {
        let initial = Initial { segments: facts.cwnd, ssthresh: facts.ssthresh() };
        let mut policy = make(initial, numbers, facts);
        let path = facts.path();
        policy.overhear(&Event::Begin(Origin::Fresh), &path);
        let mut judge = Judge::new();
        judge.begin(&path);
        Self { judge, trains: Trains::default(), policy, governs: false }
    }

    /// Whether the policy governs.
    #[inline(always)]
    pub fn governs(&self) -> bool {
        self.governs
    }

    /// An ACK.
    #[inline(always)]
    pub fn acked(&mut self, facts: &Facts) -> Step {
        let Self { judge, trains, policy, governs } = self;
        if *governs {
            let step = tell_ack(judge, trains, facts, Lead::Startup, |event, path| policy.on(event, path));
            return self.left(step);
        }
        let overhear = |event: &Event<'_>, path: &Path| narrowed(policy.overhear(event, path));
        tell_ack(judge, trains, facts, Lead::Avoidance, overhear)
    }

    /// Something else than a begin or an ACK.
    #[inline(always)]
    pub fn hear(&mut self, kind: u32, facts: &Facts) -> Step {
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
            return narrowed(self.policy.overhear(&Event::Sent(sent), &path));
        }
        if !self.governs {
            return Step::Stay;
        }
        let step = tell(&mut self.policy, &mut self.trains, kind, facts);
        self.left(step)
    }

    /// What the policy wants after an event at which it stays; nothing where the law governs.
    #[inline(always)]
    pub fn answer(&mut self, facts: &Facts) -> Told {
        if self.governs { answer(&self.policy, &mut self.trains, facts) } else { Told::default() }
    }

    #[inline(always)]
    fn left(&mut self, step: Step) -> Step {
        self.governs &= matches!(step, Step::Stay);
        step
    }
}

/// What the window is still worth that was used in part, as the policy says it beside the law.
#[inline(always)]
fn narrowed(worth: Option<Learned>) -> Step {
    use firstflight::{Cause, Exit};

    worth.map_or(Step::Stay, |learned| Step::Done(Exit { cause: Cause::App, learned }))
}

/// The restart policies that a kernel can host: name, name as an identifier, and how the policy is made with its
/// parameters.
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
