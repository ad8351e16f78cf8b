//! The sender. It decides which segment is sent when, and processes ACKs.
//!
//! The steps for an ACK are, in this order: the scoreboard marks newly acknowledged segments; RTT and delivery-rate samples are taken;
//! losses are marked; the controller receives `SpuriousLoss`, `Acked`, `Lost` and `Marked` events, in this order; recovery computes its
//! window; the pacer adopts the controller's plan. `dialect` describes the differences between the stacks.

mod ack;
mod activity;
mod approved;
mod bandwidth_window;
mod counters;
mod dialect;
mod echo;
mod ecn;
mod emit;
mod fast;
mod info;
mod interface;
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
mod scratch;
mod shaper;
mod spurious;
mod stream;
mod timeouts;
mod timers;
mod user_timeout;

use std::mem::offset_of;

use firstflight::fast_events::{FastAck, FastEvents};
use firstflight::{
    Avoidance, Bytes, Call, Controller, Event, OwnedEvent, Pacing, Path, Plan, Span, Startup, Tag, Time,
    TraceRecord,
};

use crate::config::{Config, InflightLimit, Recovery};
use crate::endpoint_event::EndpointEvent;
use crate::journal::Journal;
use activity::Activity;
use bandwidth_window::BandwidthWindow;
use counters::Counters;
use ecn::Ecn;
use packets::Packets;
use peer_window::{PeerWindow, Persist};
use rack::Rack;
use recovery::{LossRecovery, Undo};
use rtt::RttEstimator;
use rules::Rules;
use scoreboard::Scoreboard;
use scratch::Scratch;
use shaper::Shaper;
use stream::Stream;
use timers::Timers;
use user_timeout::UserTimeout;

pub(crate) use fast::{NextData, NextRepair};
pub(crate) use interface::{AckInput, Outgoing};

/// The sending half of an endpoint.
///
/// If there are many flows, hardly any state of a flow is in a cache when the flow is processed, so each cache line that is used costs
/// time. The fields are sorted by how often they are used. Every segment uses the first group. A transmitted segment and an expected ACK
/// also use the second. Loss recovery uses the third. The rest is rarely used.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Sender<S, R, A> {
    stream: Stream,
    peer_window: PeerWindow,
    activity: Activity,
    timers: Timers,
    /// The newest plan of the controller.
    plan: Plan,
    /// Events of the sender and the endpoint that the host has not taken yet.
    pub(crate) journal: Journal,

    packets: Packets,
    rules: Rules,
    rtt: RttEstimator,
    controller: Controller<S, R, A>,
    rack: Rack,
    undo: Undo,
    board: Scoreboard,

    recovery: LossRecovery,
    scratch: Scratch,
    ecn: Ecn,
    persist: Persist,
    pub(crate) user_timeout: UserTimeout,
    pub(crate) shaper: Shaper,
    pub(crate) counters: Counters,
    /// FreeBSD's limit for the bytes in flight. `None` if the host does not use it, or the connection is not established.
    bandwidth_window: Option<Box<BandwidthWindow>>,
}

impl<S, R, A> Sender<S, R, A> {
    /// Number of bytes at the beginning of the sender that every segment uses. They include the field of the journal that says whether it
    /// is empty.
    pub(crate) const FIRST_OF_EVERY_SEGMENT: usize = offset_of!(Self, journal) + size_of::<u32>();
    /// Number of bytes at the beginning of the sender that a transmitted segment and an expected ACK use.
    pub(crate) const FIRST_OF_SENDING: usize = offset_of!(Self, board) + Scoreboard::FIRST_OF_EVERY_PACKET;
}

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    pub(crate) fn new(config: &Config, mut controller: Controller<S, R, A>) -> Self {
        let rules = Rules::new(config);
        if rules.dialect.judges_growth() {
            controller.host_limits_growth();
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
            scratch: Scratch::default(),
            ecn: Ecn::default(),
            persist: Persist::default(),
            user_timeout: UserTimeout::default(),
            shaper: Shaper::new(config.offload),
            counters: Counters::default(),
            bandwidth_window: None,
        }
    }

    /// Starts the scheme before the SYN is sent. It waits until the connection is established.
    pub(crate) fn begin(&mut self, now: Time) {
        self.report(now, &Event::Begin(firstflight::Origin::Fresh));
    }

    /// Sets the parameters negotiated in the handshake, and starts sending data.
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
            self.report(now, &Event::MssChanged);
        }
        let syn_lost = self.rules.dialect.heeds_lost_syns(agreed.syns_lost);
        self.report(now, &Event::Established { rtt: agreed.rtt, syn_lost });
    }

    pub(crate) fn write(&mut self, bytes: u64) {
        if self.stream.write(bytes)
            && let Some(queue) = &mut self.shaper.queue
        {
            queue.write(bytes);
        }
    }

    /// Adds `bytes` bytes that the application wrote, with more to follow soon.
    pub(crate) fn write_more(&mut self, bytes: u64) {
        let before = self.stream.written();
        self.write(bytes);
        if let Some(queue) = &mut self.shaper.queue
            && self.stream.written() > before
        {
            queue.more_follows();
        }
    }

    /// Discards the written data for which there was no room in the send buffer. Returns its length in bytes.
    pub(crate) fn drop_unqueued(&mut self) -> u64 {
        let unqueued_bytes = self.shaper.unqueued_bytes();
        if let Some(queue) = &mut self.shaper.queue {
            queue.drop_unqueued();
            self.stream.take_back(unqueued_bytes);
        }
        unqueued_bytes
    }

    /// Discards data that was written and not sent. With an offload queue, discards only the data that had no room in the send buffer.
    /// Returns the resulting length of the stream in bytes.
    pub(crate) fn take_back(&mut self) -> u64 {
        if self.shaper.queue.is_some() {
            self.drop_unqueued();
        } else if !self.stream.is_shut() {
            self.stream.take_back(self.stream.backlog());
        }
        self.stream.written()
    }

    pub(crate) fn shut(&mut self) {
        self.stream.shut();
    }

    /// Checks whether a FIN will follow the written data, or was sent.
    pub(crate) fn is_shut(&self) -> bool {
        self.stream.is_shut()
    }

    /// Checks whether the FIN was sent and acknowledged.
    pub(crate) fn finished(&self) -> bool {
        self.stream.finished()
    }

    /// Checks whether the FIN was sent.
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

    /// Returns the tag of the packet train that the plan sends; `None` if it sends none.
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

    /// Returns the number of data packets sent, including retransmissions.
    pub(crate) fn packets_sent(&self) -> u64 {
        self.packets.sent()
    }

    pub(crate) fn payload_in_network(&self) -> Bytes {
        self.board.payload_in_network()
    }

    pub(crate) fn recovering(&self) -> bool {
        self.recovery.is_fast()
    }

    /// Checks whether losses are being repaired, or a mark was answered with a reduction and its window of data is not yet acknowledged.
    fn is_reducing(&self) -> bool {
        self.recovery.is_fast() || self.ecn.is_reducing()
    }

    /// Returns the congestion window that is used now, without limited transmit.
    pub(crate) fn window(&self) -> Bytes {
        match self.ecn.reduction() {
            Some(reduction) if self.recovery.is_open() && self.ecn.is_reducing() => reduction.window(),
            _ => self.recovery.window(self.plan.window, self.stream.mss()),
        }
    }

    /// Returns the window that sending may fill now. It includes limited transmit and, if used, FreeBSD's limit for the bytes in flight.
    fn window_to_fill(&self) -> Bytes {
        let extra =
            if self.recovery.extra == 0 { Bytes::ZERO } else { self.stream.mss() * self.recovery.extra };
        let window = self.window() + extra;
        self.bandwidth_window.as_ref().map_or(window, |limit| window.min(limit.bytes()))
    }

    /// Returns the window that the peer offers.
    pub(crate) fn window_offered(&self) -> u64 {
        self.peer_window.offered()
    }

    /// Records that the peer acknowledged all data below `una` and offers a window of `window` bytes above it.
    fn take_window(&mut self, una: u64, window: u64) {
        self.peer_window.offer(una, window);
        if self.peer_window.admits(self.stream.nxt()) {
            self.persist.stop();
        }
    }

    /// Returns the flight size that an avoidance law halves (RFC 5681 section 2). For ns-2 it is the congestion window.
    fn flight_to_reduce(&self) -> Bytes {
        if self.rules.method == Recovery::Ns2Sack1 {
            self.plan.window
        } else if self.rules.dialect.halves_the_window() {
            self.plan.window.min(Bytes::new(self.peer_window.offered()))
        } else {
            self.stream.outstanding()
        }
    }

    fn path(&self, now: Time) -> Path {
        self.path_with(now, self.stream.outstanding(), self.board.pipe())
    }

    #[inline]
    fn path_with(&self, now: Time, flight: Bytes, pipe: Bytes) -> Path {
        let mut path = Path::new(now, self.stream.mss(), self.stream.wire());
        path.cwnd = self.plan.window;
        path.flight = flight;
        path.pipe = pipe;
        path.srtt = self.rtt.srtt();
        path.latest_rtt = self.rtt.latest();
        path.min_rtt = self.rtt.min();
        path.rwnd = Bytes::new(self.peer_window.offered());
        path.backlog = Some(Bytes::new(self.stream.backlog()));
        path.delivered = self.packets.rate.delivered();
        path.una = self.stream.una();
        path.nxt = self.stream.nxt();
        path.rto = self.rtt.rto();
        path.limit = self.activity.limit;
        path.recovering = self.is_reducing();
        path.last_sent = self.packets.last_sent();
        path.last_received = self.activity.last_received();
        path.wake = self.plan.wake;
        path
    }

    /// Starts to record the controller's calls.
    pub(crate) fn record_trace(&mut self) {
        self.journal.record_trace();
        self.rules.reports_all = true;
    }

    /// Passes the controller a short form of an ACK: all data below `una` is acknowledged, and the window may grow by `advanced` bytes.
    /// Then adopts the controller's window. Returns false, without doing this, if the controller needs the full event.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "what it is told is dear to pass through memory")]
    fn report_fast(&mut self, una: u64, advanced: Bytes, recovering: bool) -> bool {
        let (nxt, cwnd, mss) = (self.stream.nxt(), self.plan.window, self.stream.mss());
        let counts_bytes = self.rules.dialect.counts_bytes();
        let brief = FastAck { advanced, una, nxt, cwnd, mss, recovering, counts_bytes };
        if self.rules.reports_all {
            return false;
        }
        let Some(window) = self.controller.acked_fast(&brief) else { return false };
        self.plan.window = window;
        true
    }

    /// Passes an event to the controller and adopts its plan.
    fn report(&mut self, now: Time, event: &Event<'_>) {
        self.report_on(&self.path(now), event);
    }

    /// Passes the controller an event to which an avoidance law responds with a reduction.
    fn report_congestion(&mut self, now: Time, event: &Event<'_>) {
        let mut path = self.path(now);
        path.flight = self.flight_to_reduce();
        self.report_on(&path, event);
    }

    fn report_on(&mut self, path: &Path, event: &Event<'_>) {
        self.controller.on(event, path);
        self.adopt(path, || Call::On(OwnedEvent::new(event)));
    }

    /// Adopts a plan that changed without an event.
    fn report_plan(&mut self, now: Time) {
        let path = self.path(now);
        self.adopt(&path, || Call::Plan);
    }

    /// Adopts the controller's plan after a call.
    #[inline]
    fn adopt(&mut self, path: &Path, call: impl FnOnce() -> Call) {
        self.plan = self.controller.plan(path);
        self.shaper.adopt(&self.plan, self.rules.dialect);
        if self.journal.records_trace() {
            self.keep(path, call());
        } else {
            while let Some(note) = self.controller.take_note() {
                self.journal.note(EndpointEvent::Control(note));
            }
        }
    }

    #[cold]
    fn keep(&mut self, path: &Path, call: Call) {
        let mut notes = Vec::new();
        while let Some(note) = self.controller.take_note() {
            self.journal.note(EndpointEvent::Control(note));
            notes.push(note);
        }
        self.journal.record(TraceRecord { call, path: *path, plan: self.plan, notes, judged: None });
    }
}

/// The parameters that the handshake negotiated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Agreed {
    pub(crate) mss: u16,
    pub(crate) sack: bool,
    /// Length of the headers of a data segment in bytes.
    pub(crate) headers: u16,
    pub(crate) ecn: bool,
    pub(crate) window: u64,
    pub(crate) rtt: Option<Span>,
    /// Number of retransmissions of the SYN or SYN-ACK of this side.
    pub(crate) syns_lost: u32,
}
