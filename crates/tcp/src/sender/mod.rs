//! The sender: decides which segment may leave when, and what each acknowledgement means.
//!
//! One ACK's way: the scoreboard marks what is newly acknowledged; round-trip and delivery-rate samples are made;
//! losses are marked; the controller hears, in this order, `SpuriousLoss`, `Acked`, `Lost`, `Marked`; recovery
//! computes its window; the pacer takes over the plan. Where the stacks differ, `dialect` says how.

mod ack;
mod dialect;
mod echo;
mod emit;
mod fast;
mod info;
mod losses;
mod marks;
mod offload;
mod patience;
mod prr;
mod quick_start;
mod rack;
mod rate;
mod recovery;
mod rtt;
pub(crate) mod scoreboard;
mod spurious;
mod timers;

use std::mem::offset_of;

use firstflight::brief::{Brief, InBrief};
use firstflight::{
    Avoidance, Bytes, Call, Controller, Delivered, Event, Heard, LostPacket, Pacer, Pacing, Path, Plan,
    SendLimit, Span, Startup, Tag, Time, Told,
};

use crate::config::{Config, Recovery};
use crate::endpoint::Happening;
use crate::journal::Journal;
use dialect::{Dialect, Usage};
use patience::Patience;
use prr::Prr;
use quick_start::Approved;
use rack::{Probe, Rack, Widening};
use rate::RateSampler;
use recovery::{Budget, Mode, Undo};
use rtt::RttEstimator;
use scoreboard::{Arrival, DUP_THRESH, Scoreboard};

pub(crate) use ack::AckInput;
pub(crate) use emit::Outgoing;
pub(crate) use fast::{InRepair, Turn};
pub use offload::Offload;

/// The sending half of an endpoint. Of many flows hardly anything is in a cache when its turn comes, so that what counts is
/// how many lines of one are looked at: in this order lie together what every segment touches, what one that is sent and
/// an expected ACK touch, what a repair does, and what hardly anything does.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Sender<S, R, A> {
    una: u64,
    nxt: u64,
    /// Bytes that the application wrote.
    written: u64,
    mss: Bytes,
    rwnd: u64,
    last_received: Option<Time>,
    timers: Timers,
    unanswered_probes: u32,
    /// Whether a FIN follows what was written.
    fin: bool,
    /// The next retransmission leaves whatever the window says: a fast retransmit, or a partial ACK's.
    forced: bool,
    /// ECN: the next new data carries CWR.
    cwr_due: bool,
    ecn: bool,
    /// ECN: a mark was answered and its window of data is not over.
    reducing_for_marks: bool,
    /// The idle time before what is to be sent next was answered.
    idle_served: bool,
    persist_due: bool,
    /// As little leaves as the peer's window takes.
    override_due: bool,
    probe_due: bool,
    /// After a timeout that F-RTO looks at, new data leaves before anything is sent again.
    new_first: bool,
    established: bool,
    limit: SendLimit,
    recovery: Recovery,
    dialect: Dialect,
    /// Of the full segment that left last.
    last_tag: Tag,
    plan: Plan,
    /// What nobody has taken yet of what happened here and in the endpoint.
    pub(crate) journal: Journal,

    /// The highest offset that the peer's window admits, `rwnd` being that window.
    window_edge: u64,
    next_packet: u64,
    last_sent: Option<Time>,
    pub(crate) packets_sent: u64,
    rate: RateSampler,
    rules: Rules,
    rtt: RttEstimator,
    controller: Controller<S, R, A>,
    rack: Rack,
    undo: Undo,
    board: Scoreboard,

    mode: Mode,
    lists: Lists,
    /// A mark reduced the window, and PRR steers to it.
    reduction: Option<Box<Prr>>,
    wire: Bytes,
    /// The greatest window that the peer ever offered (sender-side silly-window avoidance).
    rwnd_greatest: u64,
    dupacks: u64,
    /// Segments allowed beyond the window by limited transmit (RFC 3042).
    extra: u64,
    /// ECN: no second reduction before this is acknowledged (RFC 3168 section 6.1.2).
    cwr_until: u64,
    reorder_at: Option<Time>,
    persist_at: Option<Time>,
    persist_backoff: u32,
    consecutive_timeouts: u32,
    approved: Approved,
    /// Where what was written is cut as for segmentation offload.
    queue: Option<Box<offload::Queue>>,
    /// Duplicates that the peer reported (RFC 2883).
    duplicates_reported: u64,
    widening: Widening,
    pub(crate) retransmissions: u64,
    probe: Option<Probe>,
    patience: Patience,
    pacer: Pacer,

    /// Where the last episode ended: duplicate ACKs of just that are its own (RFC 6582 section 3.2).
    recovered_to: Option<u64>,
    usage: Usage,
    pub(crate) counted: Counted,
    /// How many ACKs took the shorter way of the expected ones.
    #[cfg(test)]
    expected_acks: u64,
    /// The same of those in a repair.
    #[cfg(test)]
    repair_acks: u64,
}

impl<S, R, A> Sender<S, R, A> {
    /// How many of its first bytes every segment touches, of the journal whether there is anything in it.
    pub(crate) const FIRST_OF_EVERY_SEGMENT: usize = offset_of!(Self, journal) + size_of::<u32>();
    /// The same of what leaves and of expected ACKs.
    pub(crate) const FIRST_OF_SENDING: usize = offset_of!(Self, board) + Scoreboard::FIRST_OF_EVERY_PACKET;
}

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    pub(crate) fn new(config: &Config, mut controller: Controller<S, R, A>) -> Self {
        let dialect = Dialect::new(config);
        if dialect.judges_growth() {
            controller.let_host_judge();
        }
        let mss = Bytes::new(u64::from(config.mss));
        Self {
            controller,
            plan: Plan::ack_clocked(mss, None),
            pacer: Pacer::new(),
            board: Scoreboard::new(config.recovery == Recovery::Rack),
            rtt: dialect.estimator(config),
            rate: RateSampler::default(),
            rack: Rack::new(u64::from(config.reordering)),
            mode: Mode::Open,
            undo: Undo::default(),
            recovery: config.recovery,
            dialect,
            last_tag: Tag::default(),
            rules: Rules {
                probes_tail: config.tail_loss_probe && config.recovery == Recovery::Rack,
                frto: config.frto,
                reordering: u64::from(config.reordering),
                tells_all: config.recovery == Recovery::Ns2Sack1,
                expects: dialect.has_short_ways(),
            },
            #[cfg(test)]
            expected_acks: 0,
            #[cfg(test)]
            repair_acks: 0,
            usage: Usage::default(),
            reduction: None,
            mss,
            wire: mss + Bytes::new(40),
            una: 0,
            nxt: 0,
            written: 0,
            fin: false,
            window_edge: 0,
            rwnd: 0,
            rwnd_greatest: 0,
            dupacks: 0,
            recovered_to: None,
            extra: 0,
            forced: false,
            next_packet: 0,
            last_sent: None,
            last_received: None,
            limit: SendLimit::Window,
            cwr_until: 0,
            cwr_due: false,
            ecn: false,
            reducing_for_marks: false,
            idle_served: false,
            timers: Timers::default(),
            reorder_at: None,
            persist_at: None,
            persist_backoff: 0,
            persist_due: false,
            override_due: false,
            consecutive_timeouts: 0,
            patience: Patience::default(),
            unanswered_probes: 0,
            probe: None,
            probe_due: false,
            new_first: false,
            established: false,
            approved: Approved::default(),
            queue: config.offload.map(|offload| Box::new(offload::Queue::new(offload))),
            journal: Journal::default(),
            lists: Lists::default(),
            duplicates_reported: 0,
            widening: Widening::default(),
            counted: Counted::default(),
            packets_sent: 0,
            retransmissions: 0,
        }
    }

    /// Before the SYN: the start-up begins, on hold.
    pub(crate) fn begin(&mut self, now: Time) {
        self.tell(now, &Event::Begin(firstflight::Origin::Fresh));
    }

    /// The handshake is over.
    pub(crate) fn establish(&mut self, now: Time, agreed: &Agreed) {
        self.established = true;
        let resized = self.mss != Bytes::new(u64::from(agreed.mss));
        self.mss = Bytes::new(u64::from(agreed.mss));
        self.wire = self.mss + Bytes::new(agreed.headers);
        if !agreed.sack && self.recovery.uses_sack() {
            // Without SACK the peer leaves only duplicate ACKs to go by.
            self.recovery = Recovery::NewReno;
            self.rules.probes_tail = false;
        }
        self.ecn = agreed.ecn;
        if let Some(rtt) = agreed.rtt {
            self.rtt.sample_as_linux(rtt, rtt, 0, 0);
        } else if agreed.syn_lost {
            self.rtt.syn_was_lost();
        }
        self.set_window(0, agreed.window);
        if resized {
            self.tell(now, &Event::MssChanged);
        }
        self.tell(now, &Event::Established { rtt: agreed.rtt, syn_lost: agreed.syn_lost });
    }

    pub(crate) fn write(&mut self, bytes: u64) {
        if !self.fin {
            self.written = self.written.saturating_add(bytes);
            if let Some(queue) = &mut self.queue {
                queue.write(bytes);
            }
        }
    }

    pub(crate) fn shut(&mut self) {
        self.fin = true;
    }

    /// Whether a FIN follows what was written.
    pub(crate) fn is_shut(&self) -> bool {
        self.fin
    }

    /// Whether the FIN was sent and acknowledged.
    pub(crate) fn finished(&self) -> bool {
        self.fin && self.una > self.written
    }

    /// Whether the FIN was sent.
    pub(crate) fn fin_sent(&self) -> bool {
        self.fin && self.nxt > self.written
    }

    pub(crate) fn una(&self) -> u64 {
        self.una
    }

    pub(crate) fn nxt(&self) -> u64 {
        self.nxt
    }

    pub(crate) fn ecn(&self) -> bool {
        self.ecn
    }

    pub(crate) fn controller(&self) -> &Controller<S, R, A> {
        &self.controller
    }

    pub(crate) fn ssthresh(&self) -> Option<Bytes> {
        self.plan.ssthresh
    }

    pub(crate) fn rtt(&self) -> (Option<Span>, Option<Span>, Option<Span>) {
        (self.rtt.srtt(), self.rtt.latest(), self.rtt.min())
    }

    pub(crate) fn rtt_samples(&self) -> u32 {
        self.rtt.samples()
    }

    pub(crate) fn payload_in_network(&self) -> Bytes {
        self.board.payload_in_network()
    }

    pub(crate) fn recovering(&self) -> bool {
        matches!(self.mode, Mode::Recovery(_))
    }

    /// Whether losses are being repaired, or a mark was answered and its window of data is not over.
    fn answers_congestion(&self) -> bool {
        self.recovering() || self.reducing_for_marks
    }

    /// The window that governs sending now, limited transmit aside.
    pub(crate) fn window(&self) -> Bytes {
        match &self.mode {
            Mode::Open if self.reducing_for_marks => {
                self.reduction.as_ref().map_or(self.plan.window, |reduction| reduction.window())
            }
            Mode::Open | Mode::Loss { .. } => self.plan.window,
            Mode::Recovery(episode) => match episode.budget {
                Budget::Proportional(prr) => prr.window(),
                Budget::Pipe | Budget::Counted { .. } => self.plan.window,
                Budget::Inflated { by } => {
                    Bytes::new(self.plan.window.get().saturating_add_signed(by)).max(self.mss)
                }
            },
        }
    }

    /// The window that the peer offers.
    pub(crate) fn window_offered(&self) -> u64 {
        self.rwnd
    }

    fn set_window(&mut self, una: u64, window: u64) {
        self.rwnd = window;
        self.rwnd_greatest = self.rwnd_greatest.max(window);
        self.window_edge = una.saturating_add(window);
        if self.window_edge > self.nxt {
            self.persist_at = None;
            self.persist_backoff = 0;
        }
    }

    fn outstanding(&self) -> Bytes {
        Bytes::new(self.nxt - self.una)
    }

    /// The flight size that a law halves (RFC 5681 section 2); ns-2 halves cwnd.
    fn flight_to_reduce(&self) -> Bytes {
        if self.recovery == Recovery::Ns2Sack1 { self.plan.window } else { self.outstanding() }
    }

    fn path(&self, now: Time) -> Path {
        self.path_with(now, self.outstanding(), self.board.pipe())
    }

    #[inline]
    fn path_with(&self, now: Time, flight: Bytes, pipe: Bytes) -> Path {
        Path {
            now,
            mss: self.mss,
            wire: self.wire,
            cwnd: self.plan.window,
            flight,
            pipe,
            srtt: self.rtt.srtt(),
            latest_rtt: self.rtt.latest(),
            min_rtt: self.rtt.min(),
            rwnd: Bytes::new(self.rwnd),
            backlog: Some(Bytes::new(self.backlog())),
            delivered: self.rate.delivered(),
            una: self.una,
            nxt: self.nxt,
            rto: self.rtt.rto(),
            limit: self.limit,
            recovering: self.answers_congestion(),
            last_sent: self.last_sent,
            last_received: self.last_received,
            wake: self.plan.wake,
        }
    }

    fn backlog(&self) -> u64 {
        self.written.saturating_sub(self.nxt)
    }

    /// Keeps what the controller is told from now on.
    pub(crate) fn keep_told(&mut self) {
        self.journal.keep_told();
        self.rules.tells_all = true;
    }

    /// Tells the controller of an ACK of all up to `una` that may widen the window by `advanced` bytes, and takes over its
    /// plan, if it is content to hear no more; says whether it is.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what it is told is dear to pass through memory")]
    fn tell_in_brief(&mut self, una: u64, advanced: Bytes, recovering: bool) -> bool {
        let (nxt, cwnd, mss) = (self.nxt, self.plan.window, self.mss);
        let counts_bytes = self.dialect.counts_bytes();
        let brief = Brief { advanced, una, nxt, cwnd, mss, recovering, counts_bytes };
        if self.rules.tells_all {
            return false;
        }
        let Some(window) = self.controller.acked_in_brief(&brief) else { return false };
        self.plan.window = window;
        true
    }

    /// Tells the controller what happened and takes over its plan.
    fn tell(&mut self, now: Time, event: &Event<'_>) {
        self.tell_of(&self.path(now), event);
    }

    /// The same of what a law answers with a reduction.
    fn tell_of_congestion(&mut self, now: Time, event: &Event<'_>) {
        self.tell_of(&Path { flight: self.flight_to_reduce(), ..self.path(now) }, event);
    }

    fn tell_of(&mut self, path: &Path, event: &Event<'_>) {
        self.controller.on(event, path);
        self.adopt(path, || Call::On(Heard::new(event)));
    }

    /// Takes over a plan that something else than an event changed.
    fn tell_plan(&mut self, now: Time) {
        let path = self.path(now);
        self.adopt(&path, || Call::Plan);
    }

    /// Takes over the plan after a call.
    #[inline]
    fn adopt(&mut self, path: &Path, call: impl FnOnce() -> Call) {
        self.plan = self.controller.plan(path);
        if self.leaves_pacing_to_the_device() {
            self.pacer.adopt(&Plan { pacing: Pacing::AckClock, ..self.plan });
        } else {
            self.pacer.adopt(&self.plan);
        }
        if self.journal.keeps_told() {
            self.keep(path, call());
        } else {
            while let Some(note) = self.controller.take_note() {
                self.journal.note(Happening::Control(note));
            }
        }
    }

    #[inline]
    fn leaves_pacing_to_the_device(&self) -> bool {
        self.dialect.leaves_pacing_to_the_device() && matches!(self.plan.pacing, Pacing::Rate { .. })
    }

    /// Whether the sender's own pacer says when segments leave.
    fn paces(&self) -> bool {
        !matches!(self.plan.pacing, Pacing::AckClock) && !self.leaves_pacing_to_the_device()
    }

    #[cold]
    fn keep(&mut self, path: &Path, call: Call) {
        let mut notes = Vec::new();
        while let Some(note) = self.controller.take_note() {
            self.journal.note(Happening::Control(note));
            notes.push(note);
        }
        self.journal.note_told(Told { call, path: *path, plan: self.plan, notes, judged: None });
    }
}

/// The timers that most segments touch. Those of reordering and of a closed window are set while something is to be repaired or
/// waited for, and lie with that.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Timers {
    /// What the next two count from while nothing but expected ACKs puts them off: both are `None` then, and made when they
    /// are asked for.
    put_off: Option<PutOff>,
    /// When what is outstanding times out (RFC 6298 section 5).
    rto_at: Option<Time>,
    /// When the tail is probed (RFC 8985 section 7.2).
    probe_at: Option<Time>,
    /// When the pacer lets the next segment leave.
    pace_at: Option<Time>,
}

/// What one ACK or one timer is about, listed while it is served. The room is kept from one to the next.
#[derive(Clone, Debug, Default)]
#[repr(C)]
struct Lists {
    /// What an ACK delivers: first what it acknowledges cumulatively, in order, then what it does selectively.
    arrivals: Vec<Arrival>,
    /// The same as the controller hears of it.
    delivered: Vec<Delivered>,
    /// What was found lost.
    lost: Vec<LostPacket>,
}

/// What seldom happens and is counted for [`crate::Stats`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counted {
    /// Retransmission timeouts.
    pub(crate) timeouts: u64,
    /// Probes of the tail.
    pub(crate) probes: u64,
    /// Reductions that were taken back.
    pub(crate) undone: u64,
}

/// When the retransmission timer and the probe of the tail were put off last.
#[derive(Clone, Copy, Debug)]
struct PutOff {
    timeout_from: Time,
    probe_from: Time,
}

/// What a host may choose of how losses are found and answered: see [`Config`].
#[derive(Clone, Copy, Debug)]
struct Rules {
    /// Whether the tail is probed, which is RACK's.
    probes_tail: bool,
    frto: bool,
    /// Segments above a hole that tell of its loss.
    reordering: u64,
    /// Whether the controller is told what it says it does not mind: for a trace, or because the flight is not what is
    /// outstanding.
    tells_all: bool,
    /// Whether what is expected, or usual in a repair, may take its shorter way: not in every dialect; a test makes it take
    /// the other.
    expects: bool,
}

/// What the handshake agreed on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agreed {
    pub(crate) mss: u16,
    pub(crate) sack: bool,
    /// Bytes of headers of a data segment.
    pub(crate) headers: u64,
    pub(crate) ecn: bool,
    pub(crate) window: u64,
    pub(crate) rtt: Option<Span>,
    pub(crate) syn_lost: bool,
}
