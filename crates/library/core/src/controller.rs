//! The controller composes a start-up scheme, a restart policy and an avoidance law. It implements once what all
//! three need: the phase, the ends of round trips, the bytes that count as growth, loss episodes, idleness and undo.

use crate::interface::{
    Ack, Advice, Avoidance, Cause, Event, Exit, Loss, Origin, Path, PathEstimate, Plan, Startup, Step,
};
use crate::maybe_box::MaybeBox;
use crate::round_tracker::{FullMargin, RoundTracker};
use crate::units::{Bytes, Time};

/// The part of the controller that is active: it decides the plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// The start-up scheme.
    Startup,
    /// The restart policy, after an idle time.
    Restart,
    /// The avoidance law.
    Avoidance,
}

/// An action of the controller, for a host that keeps a record.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Note {
    /// A start-up or restart began.
    Began(Origin),
    /// A start-up or restart ended. For each [`Note::Began`] exactly one exit is not withdrawn.
    Exited {
        /// The cause of the end, and what was learned.
        exit: Exit,
        /// The phase that ended.
        phase: Phase,
        /// The window when the phase ended, before any reduction.
        cwnd: Bytes,
        /// Bytes in the network when the phase ended ([`Path::pipe`]).
        flight: Bytes,
    },
    /// A start-up that an idle time had interrupted continues. Its exit by [`Cause::AppLimited`] is withdrawn.
    Continued,
    /// The window was reduced for a loss, a mark or a timeout.
    Reduced {
        /// The window before the reduction.
        from: Bytes,
    },
    /// A reduction was undone. If that reduction had ended the start-up, its exit is withdrawn.
    Undone {
        /// Whether an exit was withdrawn too.
        exit: bool,
    },
}

/// Maximum number of notes that one event and its ACK can make. An idle time that interrupts a start-up makes four: the
/// start-up's exit, the restart's start and exit, and the note that the start-up continues.
const NOTES: usize = 4;

type Notes = [Option<Note>; NOTES];

/// The state of one connection. It must fit a socket's private area.
#[derive(Clone, Debug)]
pub(crate) struct State<S, R, A> {
    pub(crate) startup: S,
    restart: R,
    pub(crate) avoidance: A,
    pub(crate) judge: RoundTracker,
    pub(crate) phase: Phase,
    /// Whether a loss episode to which the controller has responded is still open.
    pub(crate) episode: bool,
    /// Whether an interrupted start-up waits for the end of the restart.
    interrupted: bool,
}

/// A start-up scheme `S`, a restart policy `R` and an avoidance law `A` at work on one connection.
///
/// The host calls [`Controller::on`] with every event in the order in which the events happened, reads
/// [`Controller::plan`] after each, and calls [`Controller::before_new_data`] before it sends new data with nothing
/// in flight. A host that keeps a record drains [`Controller::take_note`].
///
/// Recovery belongs to the host. At the first loss of an episode the controller sets the window of its next plan to
/// the target of recovery. The host decides what to send until the episode ends.
///
/// A host that knows its scheme, policy and law at compile time names their types, and pays for nothing else:
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
/// A host that chooses the parts by name at run time uses an [`AnyController`](crate::registry::AnyController).
#[derive(Clone, Debug)]
pub struct Controller<S, R, A> {
    pub(crate) state: State<S, R, A>,
    /// The state before the last reduction.
    undo: Option<MaybeBox<State<S, R, A>>>,
    /// Time of the newest reduction, and time of the reduction before, to which an undo returns. Both are outside the
    /// state that must fit a socket's private area: a host that keeps its state there tracks episodes itself.
    reduced_at: Option<Time>,
    reduced_before: Option<Time>,
    /// Whether a start-up ended since the copy for undo was made.
    exited_since: bool,
    /// Whether the host itself decides by how much an ACK may widen the window.
    pub(crate) host_limits_growth: bool,
    /// Whether the law or the restart policy gets events while another part is active, and whether either depends on
    /// [`Event::Sent`].
    pub(crate) observes: bool,
    pub(crate) sends_matter: bool,
    /// Notes not yet taken, the oldest first.
    notes: Option<MaybeBox<Notes>>,
}

impl<S: Startup, R: Startup, A: Avoidance> Controller<S, R, A> {
    /// Size in bytes of the state of one connection, without the copy kept for undo.
    pub const STATE_SIZE: usize = size_of::<State<S, R, A>>();

    /// Creates a controller for a new connection. Report [`Event::Begin`] with [`Origin::Fresh`] before the SYN.
    pub fn new(startup: S, restart: R, avoidance: A) -> Self {
        let observes = R::INTEREST.others(&restart) || A::INTEREST.others(&avoidance);
        let sends_matter = R::INTEREST.sends(&restart) || A::INTEREST.sends(&avoidance);
        let state = State {
            startup,
            restart,
            avoidance,
            judge: RoundTracker::new(),
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
            host_limits_growth: false,
            observes,
            sends_matter,
            notes: None,
        }
    }

    /// Lets the host judge whether the window limited sending. From now on [`Ack::advanced`] must say by how much the
    /// window may grow.
    pub fn host_limits_growth(&mut self) {
        self.host_limits_growth = true;
    }

    /// Returns whether the controller judges whether the window limited sending. If not, the host does
    /// ([`Controller::host_limits_growth`]).
    pub const fn judges_growth(&self) -> bool {
        !self.host_limits_growth
    }

    /// Returns the scheme, the restart policy and the law.
    pub fn into_parts(self) -> (S, R, A) {
        let State { startup, restart, avoidance, .. } = self.state;
        (startup, restart, avoidance)
    }

    /// Returns the part that is active.
    pub fn phase(&self) -> Phase {
        self.state.phase
    }

    /// Returns the plan for the host: window, pacing, tag and wake-up. The window is never below one segment.
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

    /// Returns the oldest note not yet taken; `None` if there is none.
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
    /// nothing while the episode is open: another loss of the episode may still prove spurious.
    pub fn forget_undo(&mut self) {
        if !self.state.episode {
            self.undo = None;
        }
    }

    /// Handles one event: fills in the values that the controller computes, and passes the event to the active part.
    pub fn on(&mut self, event: &Event<'_>, path: &Path) {
        match *event {
            Event::Begin(origin) => self.begin(origin, path),
            Event::Acked(_) => self.on_owned(&mut { *event }, path),
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

    /// Does the work of [`Controller::on`] for a host that does not need `event` afterwards: the controller fills its
    /// values into `event` itself.
    #[inline]
    pub(crate) fn on_owned(&mut self, event: &mut Event<'_>, path: &Path) {
        if let Event::Acked(ack) = event {
            self.judge(ack, path);
            self.forward(event, path);
        } else {
            self.on(event, path);
        }
    }

    /// Begins a restart if the connection was idle. The host calls this before it sends new data.
    ///
    /// A connection is idle if nothing is in flight and its last transmission was more than the retransmission
    /// timeout ago (RFC 5681 section 4.1). Returns whether a restart began.
    pub fn before_new_data(&mut self, path: &Path) -> bool {
        let Some(last_sent) = path.last_sent else { return false };
        let idle = path.now.since(last_sent);
        if !path.flight.is_zero() || idle <= path.rto || path.nxt != path.una {
            return false;
        }
        self.begin(Origin::AfterIdle { idle, was: self.learned(path) }, path);
        true
    }

    fn learned(&self, path: &Path) -> PathEstimate {
        let plan = self.plan(path);
        PathEstimate { window: plan.window, ssthresh: plan.ssthresh, rate: None }
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

    /// Ends a start-up or restart that an idle time interrupts, with the cause [`Cause::AppLimited`], so that each begin has
    /// its exit. A start-up keeps its state, because [`Controller::resume`] may continue it. All packets of an earlier
    /// reduction are acknowledged by now, so that reduction can no longer be undone.
    fn interrupt(&mut self, path: &Path) {
        self.state.interrupted = match self.state.phase {
            Phase::Startup => true,
            Phase::Restart => self.state.interrupted,
            Phase::Avoidance => false,
        };
        if self.state.phase != Phase::Avoidance {
            self.note_exit(Exit { cause: Cause::AppLimited, learned: self.learned(path) }, path);
        }
        self.undo = None;
    }

    /// Forgets the old path, because losses and packets in flight there say nothing about the new path (RFC 9000
    /// section 9.4). No later report about the old packets restores the old window. The old episode hides no loss, the
    /// old flight does not show that the window was full, and the law forgets its rates and windows.
    fn forget_path(&mut self) {
        self.undo = None;
        self.reduced_at = None;
        self.state.episode = false;
        self.state.judge.forget_path();
        self.state.avoidance.forget_path();
    }

    /// Ends a start-up or restart that a new path interrupts, with the cause [`Cause::AppLimited`].
    fn close_open_phase(&mut self, path: &Path) {
        let open = self.state.phase != Phase::Avoidance && path.last_sent.is_some();
        if open {
            let learned = self.learned(path);
            self.leave(Exit { cause: Cause::AppLimited, learned }, path);
        }
    }

    /// Fills in the values of `ack` that the controller computes.
    #[inline]
    pub(crate) fn judge(&mut self, ack: &mut Ack<'_>, path: &Path) {
        self.state.episode &= path.recovering;
        if self.host_limits_growth {
            self.state.judge.acked_at_the_limit(ack, path);
        } else {
            let lead = self.state.lead();
            self.state.judge.acked(ack, path, lead);
        }
    }

    fn lost(&mut self, mut loss: Loss<'_>, path: &Path) {
        let unanswered = self.is_unanswered(loss.sent_at, path);
        // Persistent congestion is answered by [`Controller::timed_out`] alone, without a reduction before.
        loss.opens_episode = unanswered && !loss.persistent;
        if loss.opens_episode {
            self.reduce(path, |state| state.episode = true);
        }
        self.forward(&Event::Lost(loss), path);
        if loss.persistent {
            // RFC 9002 section 7.6.2: the answer is a TCP sender's response to a retransmission timeout. The minimum
            // window is two segments, as section 7.2 recommends. The threshold of an episode that was already
            // answered is kept. A law that answered without a threshold (BBR) must return one now.
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

    /// Returns whether the congestion reported by a packet sent at `sent_at` is still unanswered.
    fn is_unanswered(&self, sent_at: Option<Time>, path: &Path) -> bool {
        match (sent_at, self.reduced_at) {
            // RFC 9002 section 7.3.2. A packet sent at the instant of the reduction was sent after the reduction,
            // because an arrival caused the reduction before the host could send. The RFC's comparison (appendix B.6)
            // counts this packet to the episode.
            (Some(sent_at), Some(reduced_at)) => sent_at >= reduced_at,
            (Some(_), None) => true,
            // One ACK can end an episode and open the next, or carry a mark of later data.
            (None, _) => !(self.state.episode && path.recovering),
        }
    }

    /// Answers a retransmission timeout, or persistent congestion, and continues in slow start from `window`.
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
            let was = PathEstimate { window, ssthresh, rate: None };
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

    /// Keeps a copy of the state for undo, then marks the reduction in the state.
    fn reduce(&mut self, path: &Path, mark: impl FnOnce(&mut State<S, R, A>)) {
        self.undo = Some(MaybeBox::<State<S, R, A>>::from(self.state.clone()));
        self.exited_since = false;
        self.reduced_before = self.reduced_at.replace(path.now);
        mark(&mut self.state);
        self.note(Note::Reduced { from: self.plan(path).window });
    }

    #[inline]
    pub(crate) fn forward(&mut self, event: &Event<'_>, path: &Path) {
        if self.state.phase == Phase::Avoidance {
            // The common case of an ACK: no part answers, and no start-up is running.
            let worth = self.state.restart.observe(event, path);
            self.state.avoidance.on(event, path);
            if let Some(learned) = worth {
                self.narrow(&Exit { cause: Cause::AppLimited, learned }, path);
            }
        } else {
            self.forward_to_start(event, path);
        }
    }

    #[inline(never)]
    fn forward_to_start(&mut self, event: &Event<'_>, path: &Path) {
        let restarting = self.state.phase == Phase::Restart;
        let worth = if restarting { None } else { self.state.restart.observe(event, path) };
        let step = self.tell_owner(event, path);
        let resumes = restarting && matches!(step, Step::Exit(Exit { cause: Cause::Resumed, .. }));
        let observes_next = resumes && matches!(event, Event::Acked(_));
        if !observes_next {
            self.state.avoidance.observe(event, path);
        }
        if let Step::Exit(exit) = step {
            self.leave(exit, path);
        }
        // The ACK that ends a restart by [`Cause::Resumed`] is the first ACK of the part that continues.
        if observes_next {
            self.forward(event, path);
        }
        if let Some(learned) = worth {
            self.narrow(&Exit { cause: Cause::AppLimited, learned }, path);
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

    /// Continues the interrupted start-up or law with its own state, because the ACK clock is back. The window is the
    /// one before the idle time, or the restart policy's window if that is smaller.
    fn resume(&mut self, exit: &Exit, path: &Path) {
        if core::mem::take(&mut self.state.interrupted) {
            self.state.phase = Phase::Startup;
            self.note(Note::Continued);
        } else {
            self.state.phase = Phase::Avoidance;
        }
        self.narrow(exit, path);
    }

    /// Continues the active part with the window of the restart policy, if that is smaller than the part's own window.
    /// In avoidance, slow start leads back to the threshold if the window is below it.
    #[inline(never)]
    fn narrow(&mut self, exit: &Exit, path: &Path) {
        let PathEstimate { window, ssthresh, .. } = exit.learned;
        let now = self.plan(path);
        if window >= now.window {
            return;
        }
        // This lowers no threshold, and sets none where there was none.
        let ssthresh = now.ssthresh.map(|now| ssthresh.map_or(now, |ssthresh| ssthresh.max(now)));
        match self.state.phase {
            Phase::Startup => {
                let advice = Event::Advice(Advice::Window { window, ssthresh });
                if let Step::Exit(exit) = self.tell_owner(&advice, path) {
                    self.leave(exit, path);
                }
            }
            Phase::Avoidance => {
                if ssthresh.is_some_and(|ssthresh| window < ssthresh) {
                    self.begin(
                        Origin::AfterTimeout { was: PathEstimate { window, ssthresh, rate: None } },
                        path,
                    );
                } else {
                    let learned = PathEstimate { ssthresh, ..exit.learned };
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
        let notes: &mut Notes = self.notes.get_or_insert_with(|| MaybeBox::<Notes>::from([None; NOTES]));
        if let Some(free) = notes.iter_mut().find(|slot| slot.is_none()) {
            *free = Some(note);
        } else {
            // The host takes no notes, so the oldest note is overwritten.
            notes.rotate_left(1);
            notes[NOTES - 1] = Some(note);
        }
    }
}

impl<S, R, A> State<S, R, A> {
    /// Returns by how much the window may exceed the flight while this phase lasts.
    #[inline]
    pub(crate) fn lead(&self) -> FullMargin {
        match self.phase {
            Phase::Avoidance => FullMargin::Avoidance,
            Phase::Startup | Phase::Restart => FullMargin::Startup,
        }
    }
}
