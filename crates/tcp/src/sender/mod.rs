//! The sender: decides which segment may leave when, and what each acknowledgement means.
//!
//! One ACK's way: the scoreboard marks what is newly acknowledged; round-trip and delivery-rate samples are made;
//! losses are marked; the controller hears, in this order, `SpuriousLoss`, `Acked`, `Lost`, `Marked`; recovery
//! computes its window; the pacer takes over the plan. Where the stacks differ, `dialect` says how.

mod ack;
mod activity;
mod bandwidth_window;
mod counters;
mod dialect;
mod echo;
mod emit;
mod fast;
mod info;
mod interface;
mod lists;
mod losses;
mod marks;
mod offload;
mod packets;
mod peer_window;
mod prr;
mod quick_start;
mod rack;
mod rate;
mod recovery;
mod rtt;
mod rules;
pub(crate) mod scoreboard;
mod shaper;
mod spurious;
mod stream;
mod timers;
mod user_timeout;

use std::mem::offset_of;

use firstflight::brief::{Brief, InBrief};
use firstflight::{
    Avoidance, Bytes, Call, Controller, Event, OwnedEvent, Pacing, Path, Plan, Span, Startup, Tag, Time,
    TraceRecord,
};

use crate::config::{Config, InflightLimit, Recovery};
use crate::happening::Happening;
use crate::journal::Journal;
use activity::Activity;
use bandwidth_window::BandwidthWindow;
use counters::Counters;
use lists::Lists;
use marks::Ecn;
use packets::Packets;
use peer_window::{PeerWindow, Persist};
use rack::Rack;
use recovery::{LossRecovery, Undo};
use rtt::RttEstimator;
use rules::Rules;
use scoreboard::Scoreboard;
use shaper::Shaper;
use stream::Stream;
use timers::Timers;
use user_timeout::UserTimeout;

pub(crate) use fast::{NextData, NextRepair};
pub(crate) use interface::{AckInput, Outgoing};

/// The sending half of an endpoint.
///
/// Where there are many flows, hardly anything of one is in a cache when its turn comes, and each cache line that is looked at
/// costs time. The fields stand in the order of how often they are: every segment touches the first group; a segment that is
/// sent, and an expected ACK, touch the second as well; a repair touches the third; the rest is seldom needed.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Sender<S, R, A> {
    stream: Stream,
    peer_window: PeerWindow,
    activity: Activity,
    timers: Timers,
    /// What the controller wants, as it said last.
    plan: Plan,
    /// What happened here and in the endpoint and was not taken yet.
    pub(crate) journal: Journal,

    packets: Packets,
    rules: Rules,
    rtt: RttEstimator,
    controller: Controller<S, R, A>,
    rack: Rack,
    undo: Undo,
    board: Scoreboard,

    recovery: LossRecovery,
    lists: Lists,
    ecn: Ecn,
    persist: Persist,
    pub(crate) user_timeout: UserTimeout,
    pub(crate) shaper: Shaper,
    pub(crate) counters: Counters,
    /// FreeBSD's limit of the flight, if the host has it and the connection is established.
    bandwidth_window: Option<Box<BandwidthWindow>>,
}

impl<S, R, A> Sender<S, R, A> {
    /// How many of the sender's first bytes every segment touches; of the journal that is whether there is anything in it.
    pub(crate) const FIRST_OF_EVERY_SEGMENT: usize = offset_of!(Self, journal) + size_of::<u32>();
    /// How many of the sender's first bytes a segment that leaves and an expected ACK touch.
    pub(crate) const FIRST_OF_SENDING: usize = offset_of!(Self, board) + Scoreboard::FIRST_OF_EVERY_PACKET;
}

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    pub(crate) fn new(config: &Config, mut controller: Controller<S, R, A>) -> Self {
        let rules = Rules::new(config);
        if rules.dialect.judges_growth() {
            controller.let_host_judge();
        }
        let mss = Bytes::new(u64::from(config.mss));
        Self {
            stream: Stream::new(mss),
            peer_window: PeerWindow::default(),
            activity: Activity::default(),
            timers: Timers::default(),
            plan: Plan::ack_clocked(mss, None),
            journal: Journal::default(),
            packets: Packets::default(),
            rules,
            rtt: rules.dialect.estimator(config),
            controller,
            rack: Rack::new(rules.reordering),
            undo: Undo::default(),
            board: Scoreboard::new(config.recovery == Recovery::Rack),
            recovery: LossRecovery::default(),
            lists: Lists::default(),
            ecn: Ecn::default(),
            persist: Persist::default(),
            user_timeout: UserTimeout::default(),
            shaper: Shaper::new(config.offload),
            counters: Counters::default(),
            bandwidth_window: None,
        }
    }

    /// Before the SYN: the start-up begins, on hold.
    pub(crate) fn begin(&mut self, now: Time) {
        self.tell(now, &Event::Begin(firstflight::Origin::Fresh));
    }

    /// The handshake is over.
    pub(crate) fn establish(&mut self, now: Time, agreed: &Agreed) {
        let resized = self.stream.establish(Bytes::new(u64::from(agreed.mss)), agreed.headers);
        if !agreed.sack {
            self.rules.do_without_sack();
        }
        self.ecn.agree(agreed.ecn);
        if let Some(rtt) = agreed.rtt {
            self.rtt.sample_as_linux(rtt, rtt, 0, 0);
        } else if agreed.syns_lost > 0 {
            self.rtt.syn_was_lost();
        }
        if self.rules.inflight_limit == InflightLimit::FreeBsd {
            self.bandwidth_window = Some(Box::new(BandwidthWindow::new(now, agreed.rtt)));
        }
        self.take_window(0, agreed.window);
        if resized {
            self.tell(now, &Event::MssChanged);
        }
        let syn_lost = self.rules.dialect.heeds_lost_syns(agreed.syns_lost);
        self.tell(now, &Event::Established { rtt: agreed.rtt, syn_lost });
    }

    pub(crate) fn write(&mut self, bytes: u64) {
        if self.stream.write(bytes)
            && let Some(queue) = &mut self.shaper.queue
        {
            queue.write(bytes);
        }
    }

    /// The application wrote `bytes` and will write more soon.
    pub(crate) fn write_more(&mut self, bytes: u64) {
        let before = self.stream.written();
        self.write(bytes);
        if let Some(queue) = &mut self.shaper.queue
            && self.stream.written() > before
        {
            queue.more_follows();
        }
    }

    /// Gives up what was written and found no room. Gives how many bytes that is.
    pub(crate) fn drop_untaken(&mut self) -> u64 {
        let untaken = self.shaper.untaken();
        if let Some(queue) = &mut self.shaper.queue {
            queue.drop_untaken();
            self.stream.take_back(untaken);
        }
        untaken
    }

    /// Gives up the data that was written and has not left. With an offload queue it gives up the data that has found no room in
    /// the send buffer. Returns how long the stream then is, in bytes.
    pub(crate) fn take_back(&mut self) -> u64 {
        if self.shaper.queue.is_some() {
            self.drop_untaken();
        } else if !self.stream.is_shut() {
            self.stream.take_back(self.stream.backlog());
        }
        self.stream.written()
    }

    pub(crate) fn shut(&mut self) {
        self.stream.shut();
    }

    /// Whether a FIN follows what was written.
    pub(crate) fn is_shut(&self) -> bool {
        self.stream.is_shut()
    }

    /// Whether the FIN was sent and acknowledged.
    pub(crate) fn finished(&self) -> bool {
        self.stream.finished()
    }

    /// Whether the FIN was sent.
    pub(crate) fn fin_sent(&self) -> bool {
        self.stream.fin_sent()
    }

    pub(crate) fn una(&self) -> u64 {
        self.stream.una()
    }

    pub(crate) fn nxt(&self) -> u64 {
        self.stream.nxt()
    }

    pub(crate) fn controller(&self) -> &Controller<S, R, A> {
        &self.controller
    }

    /// The tag of the train that the plan sends, if it sends one.
    pub(crate) fn train(&self) -> Option<Tag> {
        matches!(self.plan.pacing, Pacing::Train { .. }).then_some(self.plan.tag)
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

    /// Data packets sent, retransmissions included.
    pub(crate) fn packets_sent(&self) -> u64 {
        self.packets.sent()
    }

    pub(crate) fn payload_in_network(&self) -> Bytes {
        self.board.payload_in_network()
    }

    pub(crate) fn recovering(&self) -> bool {
        self.recovery.is_fast()
    }

    /// Whether losses are being repaired, or a mark was answered and its window of data is not over.
    fn is_reducing(&self) -> bool {
        self.recovery.is_fast() || self.ecn.is_reducing()
    }

    /// The window that governs sending now, limited transmit aside.
    pub(crate) fn window(&self) -> Bytes {
        match self.ecn.reduction() {
            Some(reduction) if self.recovery.is_open() && self.ecn.is_reducing() => reduction.window(),
            _ => self.recovery.window(self.plan.window, self.stream.mss()),
        }
    }

    /// The window that governs sending now, limited transmit included and the limit of what is in flight, if there is one.
    fn window_to_fill(&self) -> Bytes {
        let extra =
            if self.recovery.extra == 0 { Bytes::ZERO } else { self.stream.mss() * self.recovery.extra };
        let window = self.window() + extra;
        self.bandwidth_window.as_ref().map_or(window, |limit| window.min(limit.bytes()))
    }

    /// The window that the peer offers.
    pub(crate) fn window_offered(&self) -> u64 {
        self.peer_window.offered()
    }

    /// The peer acknowledges all up to `una` and offers `window` bytes from there.
    fn take_window(&mut self, una: u64, window: u64) {
        self.peer_window.offer(una, window);
        if self.peer_window.admits(self.stream.nxt()) {
            self.persist.stop();
        }
    }

    /// The flight size that a law halves (RFC 5681 section 2); ns-2 halves cwnd.
    fn flight_to_reduce(&self) -> Bytes {
        if self.rules.method == Recovery::Ns2Sack1 { self.plan.window } else { self.stream.outstanding() }
    }

    fn path(&self, now: Time) -> Path {
        self.path_with(now, self.stream.outstanding(), self.board.pipe())
    }

    #[inline]
    fn path_with(&self, now: Time, flight: Bytes, pipe: Bytes) -> Path {
        Path {
            now,
            mss: self.stream.mss(),
            wire: self.stream.wire(),
            cwnd: self.plan.window,
            flight,
            pipe,
            srtt: self.rtt.srtt(),
            latest_rtt: self.rtt.latest(),
            min_rtt: self.rtt.min(),
            rwnd: Bytes::new(self.peer_window.offered()),
            backlog: Some(Bytes::new(self.stream.backlog())),
            delivered: self.packets.rate.delivered(),
            una: self.stream.una(),
            nxt: self.stream.nxt(),
            rto: self.rtt.rto(),
            limit: self.activity.limit,
            recovering: self.is_reducing(),
            last_sent: self.packets.last_sent(),
            last_received: self.activity.last_received(),
            wake: self.plan.wake,
        }
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
        let (nxt, cwnd, mss) = (self.stream.nxt(), self.plan.window, self.stream.mss());
        let counts_bytes = self.rules.dialect.counts_bytes();
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

    /// Tells the controller of what a law answers with a reduction.
    fn tell_of_congestion(&mut self, now: Time, event: &Event<'_>) {
        self.tell_of(&Path { flight: self.flight_to_reduce(), ..self.path(now) }, event);
    }

    fn tell_of(&mut self, path: &Path, event: &Event<'_>) {
        self.controller.on(event, path);
        self.adopt(path, || Call::On(OwnedEvent::new(event)));
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
        self.shaper.adopt(&self.plan, self.rules.dialect);
        if self.journal.keeps_told() {
            self.keep(path, call());
        } else {
            while let Some(note) = self.controller.take_note() {
                self.journal.note(Happening::Control(note));
            }
        }
    }

    #[cold]
    fn keep(&mut self, path: &Path, call: Call) {
        let mut notes = Vec::new();
        while let Some(note) = self.controller.take_note() {
            self.journal.note(Happening::Control(note));
            notes.push(note);
        }
        self.journal.note_told(TraceRecord { call, path: *path, plan: self.plan, notes, judged: None });
    }
}

/// What the handshake agreed on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agreed {
    pub(crate) mss: u16,
    pub(crate) sack: bool,
    /// Bytes of headers of a data segment.
    pub(crate) headers: u16,
    pub(crate) ecn: bool,
    pub(crate) window: u64,
    pub(crate) rtt: Option<Span>,
    /// How often our SYN or SYN-ACK was sent again.
    pub(crate) syns_lost: u32,
}
