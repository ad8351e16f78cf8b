//! Laws that every scheme, policy and law obeys under any sequence of events.

use firstflight::fast_events::FastEvents;
use firstflight::registry::{self, AnyController, AnyLaw, AnyPlain, AnyRestart, AnyScheme};
use firstflight::restart::Rfc5681;
use firstflight::schemes::{Initial, SlowStart};
use firstflight::{
    Advice, Avoidance, Bytes, Controller, Event, Exit, Origin, Pacing, Path, Phase, Plan, Rate, Span,
    Startup, Step, Tag,
};
use proptest::prelude::*;

use crate::common::ledger::Ledger;
use crate::common::{Flow, MSS, micros};

/// Forwards to the wrapped part, and checks that a window does not grow with an ACK that allows no growth.
#[derive(Clone)]
struct Watched<T>(T, Held);

/// Maximum window that BBR may restore: its ProbeRTT holds a window back for a while. Its window is at least four segments.
#[derive(Clone)]
struct Held(Bytes);

impl Held {
    /// Returns the maximum window after an event that allows no growth, after a plan with `before`.
    fn max(&mut self, is_bbr: bool, before: Bytes, path: &Path) -> Bytes {
        self.0 = if is_bbr { self.0.max(before).max(path.mss * 4) } else { before };
        self.0
    }
}

impl Startup for Watched<AnyScheme> {
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        let before = self.0.plan(path);
        let step = self.0.on(event, path);
        let after = self.0.plan(path);
        // A scheme that measures with trains moves from one to the next, and leap's are paced; everything else grows by ACKs.
        let is_leap = matches!(self.0, AnyScheme::Plain(AnyPlain::Leap(_)));
        let trains = matches!(before.pacing, Pacing::Train { .. }) || is_leap && before.tag != after.tag;
        let max = self.1.max(matches!(self.0, AnyScheme::Plain(AnyPlain::Bbr(_))), before.window, path);
        if !trains && allows_no_growth(event) {
            assert!(after.window <= max + repaired(event, path, [&before, &after]), "growth without leave");
        }
        step
    }

    fn plan(&self, path: &Path) -> Plan {
        self.0.plan(path)
    }
}

/// A restart policy, and the maximum window that it began with and did not restore yet: it may restore later what it holds back.
#[derive(Clone)]
struct Resting {
    policy: AnyRestart,
    max: Bytes,
}

impl Startup for Resting {
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        if let Event::Begin(Origin::AfterIdle { was, .. }) = event {
            self.max = self.max.max(was.window);
        }
        let before = self.policy.plan(path);
        let step = self.policy.on(event, path);
        if allows_no_growth(event) {
            let max = before.window.max(self.max).max(path.mss);
            assert!(self.policy.plan(path).window <= max, "growth without leave");
        }
        if matches!(step, Step::Exit(_)) {
            self.max = Bytes::ZERO;
        }
        step
    }

    fn observe(&mut self, event: &Event<'_>, path: &Path) -> Option<firstflight::PathEstimate> {
        self.policy.observe(event, path)
    }

    fn plan(&self, path: &Path) -> Plan {
        self.policy.plan(path)
    }
}

impl Avoidance for Watched<AnyLaw> {
    fn enter(&mut self, exit: &Exit, path: &Path) {
        self.0.enter(exit, path);
        if exit.is_congestion() && exit.learned.ssthresh.is_none() {
            let max = exit.learned.window.max(path.mss * 2);
            assert!(self.0.plan(path).window <= max, "congestion does not widen the window");
        }
    }

    fn on(&mut self, event: &Event<'_>, path: &Path) {
        let before = self.0.plan(path);
        self.0.on(event, path);
        let after = self.0.plan(path);
        let max = self.1.max(matches!(self.0, AnyLaw::ProbeBw(_)), before.window, path);
        if allows_no_growth(event) {
            assert!(after.window <= max + repaired(event, path, [&before, &after]), "growth without leave");
        }
        if matches!(event, Event::Marked { .. } | Event::TimedOut { .. }) {
            assert!(after.window <= before.window.max(path.mss * 2), "congestion does not widen the window");
        }
    }

    fn observe(&mut self, event: &Event<'_>, path: &Path) {
        self.0.observe(event, path);
    }

    fn forget_path(&mut self) {
        self.0.forget_path();
    }

    fn plan(&self, path: &Path) -> Plan {
        self.0.plan(path)
    }
}

/// Does not pass on transmissions, or losses that open no episode, while the wrapped part does not depend on them.
#[derive(Clone)]
struct Unminded<T>(T);

impl<T: Startup> Startup for Unminded<T> {
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        if matches!(event, Event::Sent(_)) && !T::INTEREST.sends(&self.0) {
            Step::Stay
        } else {
            self.0.on(event, path)
        }
    }

    fn observe(&mut self, event: &Event<'_>, path: &Path) -> Option<firstflight::PathEstimate> {
        if matches!(event, Event::Sent(_)) && !T::INTEREST.sends(&self.0) {
            None
        } else {
            self.0.observe(event, path)
        }
    }

    fn plan(&self, path: &Path) -> Plan {
        self.0.plan(path)
    }
}

impl Avoidance for Unminded<AnyLaw> {
    fn enter(&mut self, exit: &Exit, path: &Path) {
        self.0.enter(exit, path);
    }

    fn on(&mut self, event: &Event<'_>, path: &Path) {
        let minded = match event {
            Event::Sent(_) => AnyLaw::INTEREST.sends(&self.0),
            Event::Lost(loss) if !loss.opens_episode => AnyLaw::INTEREST.later_losses(&self.0),
            _ => true,
        };
        if minded {
            self.0.on(event, path);
        }
    }

    fn observe(&mut self, event: &Event<'_>, path: &Path) {
        if !matches!(event, Event::Sent(_)) || AnyLaw::INTEREST.sends(&self.0) {
            self.0.observe(event, path);
        }
    }

    fn forget_path(&mut self) {
        self.0.forget_path();
    }

    fn plan(&self, path: &Path) -> Plan {
        self.0.plan(path)
    }
}

fn allows_no_growth(event: &Event<'_>) -> bool {
    matches!(event, Event::Acked(ack) if ack.growth.is_zero())
}

/// Returns the maximum growth during loss recovery of a scheme that paces by a model of the path (BBR).
fn repaired(event: &Event<'_>, path: &Path, plans: [&Plan; 2]) -> Bytes {
    let paced = plans.iter().any(|plan| matches!(plan.pacing, Pacing::Rate { .. }));
    match event {
        Event::Acked(ack) if path.recovering && paced => ack.bytes,
        _ => Bytes::ZERO,
    }
}

type Watching = Flow<Watched<AnyScheme>, Resting, Watched<AnyLaw>>;

#[derive(Clone, Copy, Debug)]
enum Op {
    Wait(u64),
    Send(usize),
    Fill,
    Ack(usize),
    Duplicate,
    Lose,
    Mark,
    TimeOut { repeated: bool },
    Spurious,
    CutTrain,
    StaleCut(u16),
    Wake,
    NewMss(u64),
    NewRwnd(u64),
    Approve(u64),
    Deliver(u64),
    Refuse,
    Asked(bool),
    Idle(u64),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (1u64..30_000).prop_map(Op::Wait),
        3 => (1usize..12).prop_map(Op::Send),
        6 => Just(Op::Fill),
        12 => (1usize..12).prop_map(Op::Ack),
        2 => Just(Op::Duplicate),
        1 => Just(Op::Lose),
        1 => Just(Op::Mark),
        1 => any::<bool>().prop_map(|repeated| Op::TimeOut { repeated }),
        1 => Just(Op::Spurious),
        1 => Just(Op::CutTrain),
        1 => any::<u16>().prop_map(Op::StaleCut),
        1 => Just(Op::Wake),
        1 => (1u64..9_000).prop_map(Op::NewMss),
        1 => (0u64..1_000_000).prop_map(Op::NewRwnd),
        1 => (0u64..10_000_000_000).prop_map(Op::Approve),
        2 => (0u64..1_000_000_000).prop_map(Op::Deliver),
        1 => Just(Op::Refuse),
        1 => any::<bool>().prop_map(Op::Asked),
        1 => (1u64..20).prop_map(Op::Idle),
    ]
}

fn apply<S: Startup, R: Startup, A: Avoidance>(flow: &mut Flow<S, R, A>, op: Op) {
    match op {
        Op::Wait(span) => flow.wait(micros(span)),
        Op::Send(count) => flow.send(count),
        Op::Fill => {
            // Bounded, for a scheme may find a large window.
            let room = flow.plan().window - flow.path.flight;
            flow.send(usize::try_from(room.packets(flow.path.mss).min(200)).expect("small"));
        }
        Op::Ack(count) => flow.ack(count.min(flow.in_flight().max(1))),
        Op::Duplicate => flow.ack_with(0, None),
        Op::Lose => flow.lose(),
        Op::Mark => flow.say(&Event::Marked { sent_at: None }),
        Op::TimeOut { repeated } => flow.time_out(repeated),
        Op::Spurious => flow.say(&Event::SpuriousLoss),
        Op::CutTrain => flow.train_cut(flow.plan().tag),
        Op::StaleCut(tag) => flow.train_cut(Tag(tag)),
        Op::Wake => flow.say(&Event::Woken),
        Op::NewMss(mss) => {
            flow.path.mss = Bytes::new(mss);
            flow.path.wire = Bytes::new(mss + 40);
            flow.say(&Event::MssChanged);
        }
        Op::NewRwnd(rwnd) => flow.path.rwnd = Bytes::new(rwnd),
        Op::Approve(bps) => {
            let approved = Some(Rate::from_bps(bps));
            flow.say(&Event::Advice(Advice::QuickStart { approved }));
        }
        Op::Refuse => flow.say(&Event::Advice(Advice::QuickStart { approved: None })),
        Op::Asked(done) => flow.say(&Event::Asked(done)),
        Op::Deliver(bps) => flow.delivery_rate = Some(Rate::from_bps(bps)),
        Op::Idle(seconds) => {
            flow.wait(Span::from_secs(seconds));
            flow.before_new_data();
        }
    }
}

fn watching(scheme: usize, restart: usize, law: usize, segments: u32) -> Watching {
    let (startup, policy, law) = chosen(scheme, restart, law, segments);
    let resting = Resting { policy, max: Bytes::ZERO };
    ready(Controller::new(Watched(startup, Held(Bytes::ZERO)), resting, Watched(law, Held(Bytes::ZERO))))
}

fn chosen(scheme: usize, restart: usize, law: usize, segments: u32) -> (AnyScheme, AnyRestart, AnyLaw) {
    let entry = &registry::schemes()[scheme % registry::schemes().len()];
    let initial = Initial { segments, ssthresh: None };
    let startup = entry.build(initial, &[]).expect("defaults are allowed");
    let restart = &registry::restarts()[restart % registry::restarts().len()];
    let policy = restart.build(initial, &[]).expect("defaults are allowed");
    (startup, policy, registry::laws()[law % registry::laws().len()].build())
}

/// A flow whose handshake is over.
fn ready<S: Startup, R: Startup, A: Avoidance>(control: Controller<S, R, A>) -> Flow<S, R, A> {
    let mut flow = Flow::new(control);
    if flow.plan().ask.is_some() {
        flow.say(&Event::Asked(true));
    }
    flow.establish(micros(20_000), false);
    flow
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn every_begin_has_one_standing_exit_and_windows_grow_only_with_leave(
        scheme in 0usize..64,
        restart in 0usize..24,
        law in 0usize..24,
        segments in 1u32..20,
        ops in proptest::collection::vec(op(), 1..120),
    ) {
        let mut flow = watching(scheme, restart, law, segments);
        let mut ledger = Ledger::default();
        for op in ops {
            apply(&mut flow, op);
            for note in flow.notes.drain(..) {
                ledger.follow(&note);
            }
            prop_assert_eq!(ledger.is_open(), flow.control.phase() != Phase::Avoidance);
        }
    }

    #[test]
    fn the_same_events_make_the_same_plans(
        scheme in 0usize..64,
        restart in 0usize..24,
        law in 0usize..24,
        ops in proptest::collection::vec(op(), 1..80),
    ) {
        let (mut one, mut other) = (watching(scheme, restart, law, 10), watching(scheme, restart, law, 10));
        for op in ops {
            apply(&mut one, op);
            apply(&mut other, op);
            prop_assert_eq!(one.plan(), other.plan());
            prop_assert_eq!(&one.notes, &other.notes);
        }
    }

    #[test]
    fn components_without_interest_in_an_event_behave_identically_without_it(
        scheme in 0usize..64,
        restart in 0usize..24,
        law in 0usize..24,
        ops in proptest::collection::vec(op(), 1..120),
    ) {
        let (startup, policy, law) = chosen(scheme, restart, law, 10);
        let unminded = Controller::new(Unminded(startup.clone()), Unminded(policy.clone()), Unminded(law.clone()));
        let (mut one, mut other) = (ready(Controller::new(startup, policy, law)), ready(unminded));
        for op in ops {
            apply(&mut one, op);
            apply(&mut other, op);
            prop_assert_eq!(one.plan(), other.plan());
            prop_assert_eq!(&one.notes, &other.notes);
        }
    }

    #[test]
    fn short_and_full_reports_of_acks_and_losses_are_equivalent(
        scheme in 0usize..64,
        restart in 0usize..24,
        law in 0usize..24,
        segments in 1u32..20,
        ops in proptest::collection::vec(op(), 1..120),
    ) {
        // Few combinations take the short way: every other case is one of them.
        let (scheme, restart, law) = if scheme % 2 == 0 { (1, restart % 2, law % 2) } else { (scheme, restart, law) };
        let (startup, policy, law) = chosen(scheme, restart, law, segments);
        let mut one = ready(Controller::new(startup, policy, law));
        let mut other = one.clone();
        other.briefly = true;
        for op in ops {
            apply(&mut one, op);
            apply(&mut other, op);
            prop_assert_eq!(one.plan(), other.plan());
            prop_assert_eq!(&one.notes, &other.notes);
        }
    }
}

#[test]
fn slow_start_and_reno_accept_fast_acks_until_the_threshold() {
    let initial = Initial { segments: 10, ssthresh: Some(MSS * 20) };
    // 5 ACKs of two packets, then 8, of which the fifth reaches the threshold; cubic needs the last three whole.
    for (law, brief) in [(0, 12), (1, 12), (2, 9)] {
        let startup = SlowStart::new(initial);
        let law = registry::laws()[law].build();
        let mut flow = ready(Controller::new(startup, Rfc5681::new(initial), law));
        flow.briefly = true;
        for _ in 0..2 {
            flow.round(micros(20_000), 2, Span::ZERO);
        }
        assert_eq!((flow.control.phase(), flow.brief), (Phase::Avoidance, brief));
    }
}

#[test]
fn reno_needs_only_the_first_loss_of_an_episode_and_westwood_all() {
    let initial = Initial { segments: 10, ssthresh: None };
    for (name, needs_later) in [("reno", false), ("cubic", false), ("westwood", true)] {
        let law = registry::law(name).expect("it is one of them").build();
        let mut flow = ready(Controller::new(SlowStart::new(initial), Rfc5681::new(initial), law));
        flow.fill();
        assert!(flow.control.needs_losses(true), "it has not answered");
        flow.lose();
        assert_eq!(flow.control.needs_losses(true), needs_later, "{name}");
        assert!(flow.control.needs_losses(false), "it is another episode");
    }
}

#[test]
fn every_entry_builds_a_controller() {
    let initial = Initial { segments: 10, ssthresh: None };
    for scheme in registry::schemes() {
        let law = registry::law(scheme.law).expect("the default law exists");
        let startup = scheme.build(initial, &[]).expect("defaults are allowed");
        for restart in registry::restarts() {
            let restart = restart.build(initial, &[]).expect("defaults are allowed");
            let control: AnyController = Controller::new(startup.clone(), restart, law.build());
            assert_eq!(control.phase(), Phase::Startup);
        }
    }
}
