//! The controller composes a start-up scheme, a restart policy and an avoidance law. It owns once what all three
//! need: the phase, when a round trip ends, what counts as growth, loss episodes, idleness and undo.

use crate::judge::{Judge, Lead};
use crate::large::Large;
use crate::seam::{
    Ack, Advice, Avoidance, Cause, Event, Exit, Learned, Loss, Origin, Path, Plan, Startup, Step,
};
use crate::units::{Bytes, Time};

/// Who governs the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// The start-up scheme.
    Startup,
    /// The restart policy, after an idle time.
    Restart,
    /// The avoidance law.
    Avoidance,
}

/// What the controller did, for a host that keeps a record.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Note {
    /// A start-up or restart began.
    Began(Origin),
    /// A start-up or restart ended. Every begin has exactly one exit that stands.
    Exited {
        /// Why, and what was learned.
        exit: Exit,
        /// The phase that ended.
        phase: Phase,
        /// The window when it ended, before any reduction.
        cwnd: Bytes,
        /// Bytes in the network when it ended ([`Path::pipe`]).
        flight: Bytes,
    },
    /// A start-up that an idle time had interrupted goes on. The exit for want of data that ended it no longer
    /// stands.
    Continued,
    /// The window was reduced for a loss, a mark or a timeout.
    Reduced {
        /// The window before.
        from: Bytes,
    },
    /// A reduction was undone. If the start-up had ended by that reduction, its exit no longer stands.
    Undone {
        /// Whether an exit was undone.
        exit: bool,
    },
}

/// The most notes of one event and its ACK: an idle time that interrupts a start-up makes an exit, the begin and the
/// exit of the restart, and the note that the start-up continues.
const NOTES: usize = 4;

type Notes = [Option<Note>; NOTES];

/// The state that governs a connection, which must fit a socket's private area.
#[derive(Clone, Debug)]
pub(crate) struct State<S, R, A> {
    pub(crate) startup: S,
    restart: R,
    pub(crate) avoidance: A,
    pub(crate) judge: Judge,
    pub(crate) phase: Phase,
    /// Whether an answered loss episode is still open.
    pub(crate) episode: bool,
    /// Whether a start-up waits until the restart policy gives the window back.
    interrupted: bool,
}

/// A start-up scheme `S`, a restart policy `R` and an avoidance law `A` at work on one connection.
///
/// The host calls [`Controller::on`] with every event in the order in which the events happened, reads
/// [`Controller::plan`] after each, and calls [`Controller::before_new_data`] before it sends new data with nothing
/// in flight. A host that keeps a record drains [`Controller::take_note`].
///
/// Recovery belongs to the host. At the first loss of an episode the controller answers by the window of its next
/// plan, which is the target of recovery. What is sent until the episode ends is the host's decision.
///
/// A host that knows its scheme, policy and law when it is compiled names their types, and pays for nothing else:
///
/// ```
/// use firstflight::avoidance::Cubic;
/// use firstflight::restart::Rfc5681;
/// use firstflight::schemes::{HyStart, Initial};
/// use firstflight::{Controller, Phase};
///
/// let initial = Initial { segments: 10, ssthresh: None };
/// let controller = Controller::new(HyStart::new(initial), Rfc5681::new(initial), Cubic::new());
/// assert_eq!(controller.phase(), Phase::Startup);
/// ```
///
/// A host that takes names at run time has an [`AnyController`](crate::registry::AnyController).
#[derive(Clone, Debug)]
pub struct Controller<S, R, A> {
    pub(crate) state: State<S, R, A>,
    /// The state before the last reduction.
    undo: Option<Large<State<S, R, A>>>,
    /// When the window was last reduced, and the reduction before that one, which an undo returns to. These two are
    /// outside the state that fits a socket's private area: a host that keeps its state there tracks episodes itself.
    reduced_at: Option<Time>,
    reduced_before: Option<Time>,
    /// Whether a start-up ended since the copy for undo was made.
    exited_since: bool,
    /// Whether the host itself judges what an ACK may widen.
    pub(crate) host_judges: bool,
    /// Whether the law or the restart policy is shown events while another part governs, and whether either depends
    /// on [`Event::Sent`].
    pub(crate) overheard: bool,
    pub(crate) sends_matter: bool,
    /// Notes not yet taken, the oldest first.
    notes: Option<Large<Notes>>,
}

impl<S: Startup, R: Startup, A: Avoidance> Controller<S, R, A> {
    /// Bytes of state that governs a connection, without the copy kept for undo.
    pub const STATE_SIZE: usize = size_of::<State<S, R, A>>();

    /// A controller for a new connection; say [`Event::Begin`] with [`Origin::Fresh`] before the SYN.
    pub fn new(startup: S, restart: R, avoidance: A) -> Self {
        let overheard = R::HEARS.others(&restart) || A::HEARS.others(&avoidance);
        let sends_matter = R::HEARS.sends(&restart) || A::HEARS.sends(&avoidance);
        let state = State {
            startup,
            restart,
            avoidance,
            judge: Judge::new(),
            phase: Phase::Startup,
            episode: false,
            interrupted: false,
        };
        Self {
            state,
            undo: None,
            reduced_at: None,
            reduced_before: None,
            exited_since: false,
            host_judges: false,
            overheard,
            sends_matter,
            notes: None,
        }
    }

    /// Leaves to the host whether the window was the limit: [`Ack::advanced`] then says what may widen the window.
    pub fn let_host_judge(&mut self) {
        self.host_judges = true;
    }

    /// Who governs.
    pub fn phase(&self) -> Phase {
        self.state.phase
    }

    /// What the host should do from now on. The window is never below one segment.
    #[inline]
    pub fn plan(&self, path: &Path) -> Plan {
        let mut plan = match self.state.phase {
            Phase::Startup | Phase::Restart => self.plan_of_start(path),
            Phase::Avoidance => self.state.avoidance.plan(path),
        };
        plan.window = plan.window.max(path.mss);
        plan
    }

    #[inline(never)]
    fn plan_of_start(&self, path: &Path) -> Plan {
        if self.state.phase == Phase::Startup {
            self.state.startup.plan(path)
        } else {
            self.state.restart.plan(path)
        }
    }

    /// The oldest note not yet taken.
    pub fn take_note(&mut self) -> Option<Note> {
        let notes: &mut Notes = self.notes.as_mut()?;
        let first = notes[0].take();
        notes.rotate_left(1);
        if notes[0].is_none() {
            self.notes = None;
        }
        first
    }

    /// Drops the copy for undo, because the last reduction was right and no [`Event::SpuriousLoss`] will follow. Does
    /// nothing while the episode is open: another loss of the episode may still turn out to be spurious.
    pub fn forget_undo(&mut self) {
        if !self.state.episode {
            self.undo = None;
        }
    }

    /// Takes one event: fills in what schemes leave to the controller, and hands the event to the part that governs.
    pub fn on(&mut self, event: &Event<'_>, path: &Path) {
        match *event {
            Event::Begin(origin) => self.begin(origin, path),
            Event::Acked(_) => self.hear_own(&mut { *event }, path),
            Event::Lost(loss) => self.lost(loss, path),
            Event::Marked { sent_at } => self.marked(sent_at, path),
            // RFC 5681 section 3.1: the loss window is one full-sized segment.
            Event::TimedOut { repeated } => self.timed_out(repeated, path.mss, path),
            Event::SpuriousLoss => self.spurious(path),
            Event::Sent(sent) => {
                let added = if sent.retransmission { Bytes::ZERO } else { sent.bytes };
                self.state.judge.sent(path.flight + added);
                self.forward(event, path);
            }
            Event::Established { .. }
            | Event::Asked(_)
            | Event::Advice(_)
            | Event::TrainCut(_)
            | Event::Woken
            | Event::MssChanged => self.forward(event, path),
        }
    }

    /// [`Controller::on`] for a host that does not need `event` afterwards: the controller fills its values into
    /// `event` itself.
    #[inline]
    pub(crate) fn hear_own(&mut self, event: &mut Event<'_>, path: &Path) {
        if let Event::Acked(ack) = event {
            self.judge(ack, path);
            self.forward(event, path);
        } else {
            self.on(event, path);
        }
    }

    /// Begins a restart if the connection was idle. The host calls this before it sends new data.
    ///
    /// A connection is idle if nothing is in flight and nothing was sent for longer than the retransmission timeout
    /// (RFC 5681 section 4.1). Returns whether a restart began.
    pub fn before_new_data(&mut self, path: &Path) -> bool {
        let Some(last_sent) = path.last_sent else { return false };
        let idle = path.now.since(last_sent);
        if !path.flight.is_zero() || idle <= path.rto || path.nxt != path.una {
            return false;
        }
        self.begin(Origin::AfterIdle { idle, was: self.learned(path) }, path);
        true
    }

    fn learned(&self, path: &Path) -> Learned {
        let plan = self.plan(path);
        Learned { window: plan.window, ssthresh: plan.ssthresh, rate: None }
    }

    fn begin(&mut self, origin: Origin, path: &Path) {
        let idle = matches!(origin, Origin::AfterIdle { .. });
        if idle {
            self.interrupt(path);
        } else {
            self.close_open_phase(path);
            self.state.interrupted = false;
        }
        self.state.phase = match origin {
            Origin::AfterIdle { .. } => Phase::Restart,
            Origin::Fresh | Origin::AfterTimeout { .. } | Origin::PathChange => Phase::Startup,
        };
        self.state.judge.begin(path);
        if matches!(origin, Origin::Fresh | Origin::PathChange) {
            self.forget_path();
        }
        self.note(Note::Began(origin));
        self.forward(&Event::Begin(origin), path);
    }

    /// A start-up that an idle time interrupts leaves for want of data, so that every begin has its exit. The
    /// start-up keeps its state: [`Controller::resume`] may let it go on. The packets of an earlier reduction are all
    /// acknowledged by now, so that reduction can no longer be undone.
    fn interrupt(&mut self, path: &Path) {
        self.state.interrupted = match self.state.phase {
            Phase::Startup => true,
            Phase::Restart => self.state.interrupted,
            Phase::Avoidance => false,
        };
        if self.state.phase != Phase::Avoidance {
            self.note_exit(Exit { cause: Cause::App, learned: self.learned(path) }, path);
        }
        self.undo = None;
    }

    /// Losses and packets in flight on another path say nothing about the new one (RFC 9000 section 9.4). No later
    /// news of them gives the old window back, the old episode hides no loss, the old flight is no evidence that the
    /// window was full, and the law forgets its rates and windows.
    fn forget_path(&mut self) {
        self.undo = None;
        self.reduced_at = None;
        self.state.episode = false;
        self.state.judge.forget_path();
        self.state.avoidance.forget_path();
    }

    /// A start-up that a new path interrupts leaves for want of data.
    fn close_open_phase(&mut self, path: &Path) {
        let open = self.state.phase != Phase::Avoidance && path.last_sent.is_some();
        if open {
            let learned = self.learned(path);
            self.leave(Exit { cause: Cause::App, learned }, path);
        }
    }

    /// Fills in what schemes leave to the controller at an ACK.
    #[inline]
    pub(crate) fn judge(&mut self, ack: &mut Ack<'_>, path: &Path) {
        self.state.episode &= path.recovering;
        if self.host_judges {
            self.state.judge.acked_at_the_limit(ack, path);
        } else {
            let lead = self.state.lead();
            self.state.judge.acked(ack, path, lead);
        }
    }

    fn lost(&mut self, mut loss: Loss<'_>, path: &Path) {
        let unanswered = self.is_unanswered(loss.sent_at, path);
        // Persistent congestion is answered by the collapse alone, and not by a halving first.
        loss.opens_episode = unanswered && !loss.persistent;
        if loss.opens_episode {
            self.reduce(path, |state| state.episode = true);
        }
        self.forward(&Event::Lost(loss), path);
        if loss.persistent {
            // RFC 9002 section 7.6.2: the answer is a TCP sender's response to a retransmission timeout. The minimum
            // window is two segments, as section 7.2 recommends. The threshold of an episode that was already
            // answered stays. A law that answered without a threshold (BBR) is asked for one now.
            let keeps = !unanswered && self.learned(path).ssthresh.is_some();
            self.timed_out(keeps, path.mss * 2, path);
        }
    }

    fn marked(&mut self, sent_at: Option<Time>, path: &Path) {
        if self.is_unanswered(sent_at, path) {
            self.reduce(path, |state| state.episode = true);
            self.forward(&Event::Marked { sent_at }, path);
        }
    }

    /// Whether congestion is still unanswered that was met by a packet which left at `sent_at`.
    fn is_unanswered(&self, sent_at: Option<Time>, path: &Path) -> bool {
        match (sent_at, self.reduced_at) {
            // RFC 9002 section 7.3.2. A packet that left at the instant of the reduction left after the reduction,
            // because an arrival caused the reduction before the host could send. The RFC's comparison (appendix B.6)
            // counts such a packet to the episode.
            (Some(sent_at), Some(reduced_at)) => sent_at >= reduced_at,
            (Some(_), None) => true,
            // One ACK can end an episode and open the next, or carry a mark of later data.
            (None, _) => !(self.state.episode && path.recovering),
        }
    }

    /// Answers a retransmission timeout, or persistent congestion, and goes on in slow start from `window`.
    fn timed_out(&mut self, repeated: bool, window: Bytes, path: &Path) {
        let was = self.learned(path);
        let event = Event::TimedOut { repeated };
        if repeated {
            if self.state.phase != Phase::Avoidance {
                self.note_exit(Exit { cause: Cause::Timeout, learned: was }, path);
            }
            self.state.phase = Phase::Avoidance;
        } else {
            self.reduce(path, |state| state.episode = false);
            self.forward(&event, path);
        }
        if self.state.phase == Phase::Avoidance {
            let ssthresh = if repeated { was.ssthresh } else { self.learned(path).ssthresh };
            let was = Learned { window, ssthresh, rate: None };
            self.begin(Origin::AfterTimeout { was }, path);
        }
    }

    fn spurious(&mut self, path: &Path) {
        let Some(mut before) = self.undo.take() else { return };
        core::mem::swap(&mut self.state, &mut before);
        self.reduced_at = self.reduced_before;
        self.state.judge.begin_round(path);
        self.note(Note::Undone { exit: self.exited_since });
        self.forward(&Event::SpuriousLoss, path);
    }

    /// Keeps a copy for undo, then marks the reduction.
    fn reduce(&mut self, path: &Path, mark: impl FnOnce(&mut State<S, R, A>)) {
        self.undo = Some(Large::<State<S, R, A>>::from(self.state.clone()));
        self.exited_since = false;
        self.reduced_before = self.reduced_at.replace(path.now);
        mark(&mut self.state);
        self.note(Note::Reduced { from: self.plan(path).window });
    }

    #[inline]
    pub(crate) fn forward(&mut self, event: &Event<'_>, path: &Path) {
        if self.state.phase == Phase::Avoidance {
            // The case of most ACKs: no part answers, and no start-up is running.
            let worth = self.state.restart.overhear(event, path);
            self.state.avoidance.on(event, path);
            if let Some(learned) = worth {
                self.narrow(&Exit { cause: Cause::App, learned }, path);
            }
        } else {
            self.forward_to_start(event, path);
        }
    }

    #[inline(never)]
    fn forward_to_start(&mut self, event: &Event<'_>, path: &Path) {
        let restarting = self.state.phase == Phase::Restart;
        let worth = if restarting { None } else { self.state.restart.overhear(event, path) };
        let step = self.tell_owner(event, path);
        let resumes = restarting && matches!(step, Step::Done(Exit { cause: Cause::Resumed, .. }));
        let hears_it_next = resumes && matches!(event, Event::Acked(_));
        if !hears_it_next {
            self.state.avoidance.overhear(event, path);
        }
        if let Step::Done(exit) = step {
            self.leave(exit, path);
        }
        // The ACK that ends a restart by [`Cause::Resumed`] is the first ACK of the part that goes on.
        if hears_it_next {
            self.forward(event, path);
        }
        if let Some(learned) = worth {
            self.narrow(&Exit { cause: Cause::App, learned }, path);
        }
    }

    fn tell_owner(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match self.state.phase {
            Phase::Startup => self.state.startup.on(event, path),
            Phase::Restart => self.state.restart.on(event, path),
            Phase::Avoidance => {
                self.state.avoidance.on(event, path);
                Step::Stay
            }
        }
    }

    fn leave(&mut self, exit: Exit, path: &Path) {
        self.note_exit(exit, path);
        if self.state.phase == Phase::Restart && exit.cause == Cause::Resumed {
            self.resume(&exit, path);
        } else {
            self.state.interrupted = false;
            self.state.phase = Phase::Avoidance;
            self.state.avoidance.enter(&exit, path);
        }
    }

    /// The ACK clock is back, and the interrupted start-up or law goes on with its own state. Its window is the old
    /// one, unless the policy leaves with a smaller window.
    fn resume(&mut self, exit: &Exit, path: &Path) {
        if core::mem::take(&mut self.state.interrupted) {
            self.state.phase = Phase::Startup;
            self.note(Note::Continued);
        } else {
            self.state.phase = Phase::Avoidance;
        }
        self.narrow(exit, path);
    }

    /// The governing part goes on with the window that the restart policy leaves, if that is smaller than its own. In
    /// avoidance, a slow start leads back to the threshold if the window is below it.
    #[inline(never)]
    fn narrow(&mut self, exit: &Exit, path: &Path) {
        let Learned { window, ssthresh, .. } = exit.learned;
        let now = self.plan(path);
        if window >= now.window {
            return;
        }
        // No threshold is lowered, and none is set where there was none.
        let ssthresh = now.ssthresh.map(|now| ssthresh.map_or(now, |ssthresh| ssthresh.max(now)));
        match self.state.phase {
            Phase::Startup => {
                let advice = Event::Advice(Advice::Window { window, ssthresh });
                if let Step::Done(exit) = self.tell_owner(&advice, path) {
                    self.leave(exit, path);
                }
            }
            Phase::Avoidance => {
                if ssthresh.is_some_and(|ssthresh| window < ssthresh) {
                    self.begin(Origin::AfterTimeout { was: Learned { window, ssthresh, rate: None } }, path);
                } else {
                    let learned = Learned { ssthresh, ..exit.learned };
                    self.state.avoidance.enter(&Exit { learned, ..*exit }, path);
                }
            }
            Phase::Restart => {}
        }
    }

    fn note_exit(&mut self, exit: Exit, path: &Path) {
        let phase = self.state.phase;
        self.exited_since = true;
        // The ACK that ended the phase may have widened the window first.
        let cwnd = path.cwnd.max(exit.learned.window);
        self.note(Note::Exited { exit, phase, cwnd, flight: path.pipe });
    }

    fn note(&mut self, note: Note) {
        let notes: &mut Notes = self.notes.get_or_insert_with(|| Large::<Notes>::from([None; NOTES]));
        if let Some(free) = notes.iter_mut().find(|slot| slot.is_none()) {
            *free = Some(note);
        } else {
            // The host does not take notes, so the oldest can go.
            notes.rotate_left(1);
            notes[NOTES - 1] = Some(note);
        }
    }
}

impl<S, R, A> State<S, R, A> {
    /// How far the window may lead the flight while this phase lasts.
    #[inline]
    pub(crate) fn lead(&self) -> Lead {
        match self.phase {
            Phase::Avoidance => Lead::Avoidance,
            Phase::Startup | Phase::Restart => Lead::Startup,
        }
    }
}
