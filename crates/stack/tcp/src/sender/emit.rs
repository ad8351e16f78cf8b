//! Chooses the next segment: retransmissions first, then new data. The congestion window, the peer's window and the pacer limit it.

use firstflight::fast_events::FastEvents;
use firstflight::{Avoidance, Bytes, Call, Event, Rate, SendLimit, Sent, Startup, Time};

use super::Sender;
use super::fast::NextRepair;
use super::interface::Outgoing;
use super::offload::{Limit, Situation};
use super::rack::Probe;
use super::recovery::{Budget, Mode, Undo};
use super::scoreboard::{Range, Transmission};
use super::shaper::is_paced_here;
use crate::clock;
use crate::config::Recovery;

/// The segment to send next.
#[derive(Clone, Copy, Debug)]
enum Next {
    Again(Range),
    New { len: u16, fin: bool },
}

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// Returns the next data segment that may be sent at `now`.
    pub(crate) fn poll(&mut self, now: Time) -> Option<Outgoing> {
        self.settle_timeouts();
        if self.mends() {
            match self.poll_in_repair(now) {
                NextRepair::Leaves(outgoing) => return Some(outgoing),
                NextRepair::Nothing => return None,
                NextRepair::Unclear => {}
            }
        }
        if self.rests() {
            return None;
        }
        self.timers.pace_at = None;
        if !self.stream.is_established() {
            return None;
        }
        if self.recovery.probe.take_due()
            && let Some(next) = self.tail_probe(now)
        {
            self.counters.probes += 1;
            self.recovery.probe.left(match next {
                Next::Again(range) => Probe {
                    end: range.start + u64::from(range.len) + u64::from(range.fin),
                    again: Some(self.board.if_lost(&range)),
                },
                Next::New { len, fin } => {
                    Probe { end: self.stream.nxt() + u64::from(len) + u64::from(fin), again: None }
                }
            });
            let outgoing = self.send_as(now, next, true);
            self.timers.probe_at = None;
            // RFC 8985 section 7.3: the RTO timer is restarted.
            self.timers.rto_at = Some(now + self.rtt.rto());
            return Some(outgoing);
        }
        if self.shaper.queue.as_mut().is_some_and(|queue| queue.take_wake())
            && let Some((len, fin)) = self.next_new(now, true)
        {
            return Some(self.send(now, Next::New { len, fin }));
        }
        let idle = !self.stream.is_outstanding()
            && self.stream.backlog() > 0
            && self.peer_window.admits(self.stream.nxt());
        if idle && !self.activity.is_idle_served() {
            self.restart_if_idle(now);
        }
        if self.recovery.new_first {
            if let Some(outgoing) = self.send_new(now) {
                return Some(outgoing);
            }
            if matches!(self.recovery.mode, Mode::Loss { recover } if self.stream.nxt() > recover) {
                return None;
            }
            (self.recovery.new_first, self.undo.frto) = (false, false);
        }
        if self.shaper.pacer.train_left() == 0
            && let Some(index) = self.retransmission()
        {
            // The value is built in its final place, because copying a value that was just written field by field stalls the processor.
            let range = self.board.range(index);
            let bytes = Bytes::new(u64::from(range.len));
            let forced = core::mem::take(&mut self.recovery.forced);
            if !forced && !self.fits(bytes) {
                self.take_in_writes(now);
                self.activity.limit = SendLimit::Window;
                return None;
            }
            if !self.on_the_clock(now, bytes, true) {
                self.recovery.forced = forced;
                return None;
            }
            let stretch = (range.start, range.len, range.fin);
            return Some(self.send_range(now, stretch, Some((&range, false))));
        }
        self.send_new(now)
    }

    /// Checks whether there is nothing to do: all written data and, if there is one, the FIN are acknowledged, and no packet train waits
    /// for more data. This is always so for an endpoint that only receives.
    #[inline]
    pub(crate) fn rests(&mut self) -> bool {
        let rests = !self.stream.is_outstanding()
            && self.stream.is_all_sent()
            && self.stream.is_established()
            && self.recovery.is_open()
            && !self.recovery.probe.is_due()
            && self.shaper.pacer.train_left() == 0;
        if rests {
            self.timers.pace_at = None;
            self.activity.limit = SendLimit::App;
        }
        rests
    }

    fn restart_if_idle(&mut self, now: Time) {
        let path = self.path(now);
        if self.controller.before_new_data(&path) {
            self.activity.idle_was_served();
            self.undo = Undo::default();
            self.adopt(&path, || Call::NewData);
        }
    }

    /// Returns the scoreboard index of the segment that recovery retransmits before any new data; `None` if there is none.
    #[inline]
    fn retransmission(&mut self) -> Option<u64> {
        match (&mut self.recovery.mode, self.rules.method) {
            (Mode::Open, _) if !self.board.has_lost() => None,
            (Mode::Recovery(episode), Recovery::Ns2Sack1) => {
                let first = self.board.next_lost_index();
                first.or_else(|| self.board.next_hole_index(&mut episode.hole))
            }
            _ => self.board.next_lost_index(),
        }
    }

    /// Sends new data. If there is none, tries rules 3 and 4 of RFC 6675. Records what limits sending.
    fn send_new(&mut self, now: Time) -> Option<Outgoing> {
        let Some((len, fin)) = self.next_new(now, false) else {
            let next = self.last_resort(now)?;
            return Some(self.send(now, next));
        };
        let bytes = Bytes::new(u64::from(len));
        if self.shaper.queue.is_none() && !self.fits(bytes) && len > 0 {
            self.activity.limit = SendLimit::Window;
            return None;
        }
        if len > 0 && !self.on_the_clock(now, bytes, false) {
            return None;
        }
        Some(self.send_range(now, (self.stream.nxt(), len, fin), None))
    }

    /// Returns the length of the next new segment, and whether it has the FIN. Returns `None` if the application or the peer's window is
    /// the limit. A tail loss probe (`probing`) gets one segment regardless of the congestion window.
    fn next_new(&mut self, now: Time, probing: bool) -> Option<(u16, bool)> {
        let backlog = self.stream.backlog();
        if backlog == 0 {
            let fin = self.stream.is_shut() && self.stream.nxt() == self.stream.written();
            // The FIN takes one byte of the window (RFC 9293 section 3.4).
            let shut_out = fin && !self.peer_window.admits(self.stream.nxt());
            self.activity.limit = if shut_out { SendLimit::Receiver } else { SendLimit::App };
            return (fin && !shut_out).then_some((0, true));
        }
        if self.shaper.queue.is_some() {
            return self.next_of_burst(now, probing);
        }
        let full = self.full_segment().min(backlog);
        let overridden = self.persist.overrides_silly_window();
        let Some(len) = self.peer_window.segment(self.stream.nxt(), full, overridden) else {
            self.activity.limit = SendLimit::Receiver;
            return None;
        };
        let len = u16::try_from(len).unwrap_or(u16::MAX);
        Some((len, self.ends_with(len)))
    }

    /// Checks whether the next `len` bytes are sent with the FIN: they are the last, and the peer's window has room for the FIN.
    fn ends_with(&self, len: u16) -> bool {
        let end = self.stream.nxt() + u64::from(len);
        self.stream.is_shut() && end == self.stream.written() && end < self.peer_window.edge()
    }

    /// Returns the payload bytes of a full segment.
    #[inline]
    pub(super) fn full_segment(&self) -> u64 {
        self.stream.mss().get().saturating_sub(self.option_room()).max(1)
    }

    /// Returns the length of the next segment of a burst, if segmentation offload is used. The offload queue checks the windows itself.
    fn next_of_burst(&mut self, now: Time, probing: bool) -> Option<(u16, bool)> {
        let situation = Situation { probing, ..self.situation(now) };
        let next = self.shaper.queue.as_mut()?.next(&situation);
        match next {
            Ok(len) => {
                let len = u16::try_from(len).unwrap_or(u16::MAX);
                Some((len, self.ends_with(len)))
            }
            Err(limit) => {
                self.activity.limit = match limit {
                    Limit::Application => SendLimit::App,
                    Limit::Window => {
                        self.shaper.window_use.note(
                            self.stream.una(),
                            self.stream.nxt(),
                            self.board.segments(),
                            true,
                        );
                        SendLimit::Window
                    }
                    Limit::Receiver => SendLimit::Receiver,
                };
                None
            }
        }
    }

    /// Lets the offload queue store written data, even if nothing may be sent.
    fn take_in_writes(&mut self, now: Time) {
        if self.shaper.queue.is_some() {
            let situation = self.situation(now);
            if let Some(queue) = &mut self.shaper.queue {
                queue.take_in_all(&situation);
            }
        }
    }

    fn situation(&self, now: Time) -> Situation {
        Situation {
            now,
            mss: self.full_segment(),
            una: self.stream.una(),
            nxt: self.stream.nxt(),
            window_edge: self.peer_window.edge().max(self.stream.nxt()),
            window: self.peer_window.offered(),
            window_greatest: self.peer_window.greatest(),
            cwnd: self.window_to_fill().get() / self.stream.mss().get(),
            in_flight: self.board.in_network(),
            srtt: self.rtt.srtt(),
            min_rtt: self.rtt.min(),
            rate: self.pacing_rate(),
            head_sent: self.board.head_sent(),
            recovering: !self.recovery.is_open(),
            fin: self.stream.is_shut(),
            probing: false,
            one_by_one: self.rules.counts_duplicates() && self.recovery.is_fast(),
            on_a_clock: is_paced_here(&self.plan, self.rules.dialect),
        }
    }

    /// Returns the rate at which Linux would pace (`tcp_update_pacing_rate`). Linux uses it for the size of bursts even without pacing.
    fn pacing_rate(&self) -> Option<Rate> {
        let window = self.window();
        let starting = self.plan.ssthresh.is_none_or(|ssthresh| window < ssthresh / 2);
        let bytes = window
            .max(self.stream.mss() * self.board.segments())
            .scale(if starting { 200 } else { 120 }, 100);
        bytes.per(self.rtt.srtt()?)
    }

    /// Applies rules 3 and 4 of RFC 6675 `NextSeg`. Before that, ends a packet train early if it lacks data, and starts the persist timer
    /// if nothing is outstanding.
    fn last_resort(&mut self, now: Time) -> Option<Next> {
        self.cut_train_if_dry(now);
        let held_back =
            self.shaper.queue.is_some() && self.activity.limit == SendLimit::App && self.stream.backlog() > 0;
        if (self.activity.limit == SendLimit::Receiver || held_back)
            && !self.stream.is_outstanding()
            && !self.persist.is_armed()
        {
            self.persist.arm(now, &self.rules.dialect.waits_for_window(self.rtt.rto()));
        }
        if self.rules.method != Recovery::Sack {
            return None;
        }
        let mss = self.stream.mss();
        let fits = self.fits(mss);
        let Mode::Recovery(episode) = &mut self.recovery.mode else { return None };
        if !fits {
            return None;
        }
        if let Some(index) = self.board.next_hole_index(&mut episode.hole) {
            return Some(Next::Again(self.board.range(index)));
        }
        if episode.rescued {
            return None;
        }
        episode.rescued = true;
        self.board.last().map(Next::Again)
    }

    /// Ends a packet train early if it lacks data or room in the peer's window, and notifies the scheme. A train that has not begun because
    /// of a lack of data waits instead.
    fn cut_train_if_dry(&mut self, now: Time) {
        let left = self.shaper.pacer.train_left();
        let begun = self.shaper.pacer.train_begun();
        if left == 0 || !begun && self.activity.limit == SendLimit::App {
            return;
        }
        self.shaper.pacer.cut_train();
        self.report(now, &Event::TrainCut(self.plan.tag));
    }

    /// Checks whether `bytes` more bytes fit the window. If nothing is in the network, a segment always fits.
    pub(super) fn fits(&self, bytes: Bytes) -> bool {
        let used = match (&self.recovery.mode, self.rules.method) {
            (Mode::Recovery(episode), _) if let Budget::Counted { pipe } = episode.budget => {
                self.stream.mss() * pipe
            }
            (Mode::Open, Recovery::Ns2Sack1) => self.stream.outstanding(),
            _ => self.board.pipe(),
        };
        used.is_zero() || used + bytes <= self.window_to_fill()
    }

    /// Checks whether the pacer allows `bytes` bytes to be sent now. If not, records when it will.
    fn on_the_clock(&mut self, now: Time, bytes: Bytes, retransmission: bool) -> bool {
        match self.shaper.pacer.ready_at(bytes + self.stream.headers(), retransmission) {
            Some(at) if at <= now => true,
            later => {
                self.timers.pace_at = later;
                self.activity.limit = SendLimit::Pacing;
                false
            }
        }
    }

    /// Chooses the content of a tail loss probe (RFC 8985 section 7.3): new data if any may be sent, otherwise the last segment as a
    /// retransmission.
    fn tail_probe(&mut self, now: Time) -> Option<Next> {
        let limit = self.activity.limit;
        let new = self
            .next_new(now, true)
            .filter(|(len, _)| *len > 0 && self.plan.pacing != firstflight::Pacing::Hold);
        self.activity.limit = limit;
        match new {
            Some((len, fin)) if self.shaper.pacer.train_left() == 0 => Some(Next::New { len, fin }),
            _ => self.board.last().map(Next::Again),
        }
    }

    /// Sends a segment and records it on the scoreboard.
    fn send(&mut self, now: Time, next: Next) -> Outgoing {
        self.send_as(now, next, false)
    }

    /// Sends a segment; if `probing`, as a tail loss probe.
    fn send_as(&mut self, now: Time, next: Next, probing: bool) -> Outgoing {
        match next {
            Next::Again(range) => {
                self.send_range(now, (range.start, range.len, range.fin), Some((&range, probing)))
            }
            Next::New { len, fin } => self.send_range(now, (self.stream.nxt(), len, fin), None),
        }
    }

    /// Sends a segment and records it on the scoreboard. The tuple has the segment's start, its length, and whether it ends the stream. For
    /// a retransmission, `again` has the segment's range on the scoreboard, and whether it is sent as a probe.
    fn send_range(
        &mut self,
        now: Time,
        (start, len, fin): (u64, u16, bool),
        again: Option<(&Range, bool)>,
    ) -> Outgoing {
        let retransmission = again.is_some();
        let bytes = Bytes::new(u64::from(len));
        // The state before this transmission determines how bursts are divided.
        let situation = (retransmission && self.shaper.queue.is_some()).then(|| self.situation(now));
        let (how, sent) = self.transmission(now, len, retransmission);
        self.shaper.pacer.sent(now, bytes + self.stream.headers());
        let counted_first = retransmission && self.is_first_of_count();
        if let Some(reduction) = self.ecn.reduction_mut() {
            reduction.sent(bytes);
        }
        if let Mode::Recovery(episode) = &mut self.recovery.mode {
            match &mut episode.budget {
                Budget::Proportional(prr) => prr.sent(bytes),
                // ns-2 does not count the fast retransmit itself in its pipe.
                Budget::Counted { pipe } if !counted_first => *pipe += 1,
                Budget::Counted { .. } | Budget::Pipe | Budget::Inflated { .. } => {}
            }
        }
        self.report_sent(now, &sent);
        if let Some((range, probing)) = again {
            if probing && !self.rules.dialect.probes_are_resent() {
                self.board.probed(range, &how);
            } else {
                self.board.resent(range, &how);
            }
            // A probe does not belong to a repair that may be undone (RFC 3708 section 2; `__tcp_retransmit_skb`).
            if !probing {
                let end = start + u64::from(len) + u64::from(fin);
                self.undo.note_resent(start, end, clock::stamp(now));
            }
            self.counters.retransmissions += u64::from(len > 0);
        } else {
            self.board.sent(start, len, fin, &how);
            self.persist.data_left();
            self.stream.advance(start + u64::from(len) + u64::from(fin));
            self.note_window_use();
        }
        self.packets.left(now, len > 0);
        self.activity.sent();
        if self.begins_timeout(start, retransmission) {
            self.timers.rto_at = Some(now + self.rtt.rto());
        }
        if !retransmission {
            self.schedule_probe(now, self.timeout_for_probe(now));
        }
        let cwr = !retransmission && self.ecn.take_cwr();
        let (end, mss) = (start + u64::from(len), self.stream.mss().get());
        let push = len > 0
            && self.shaper.queue.as_mut().is_some_and(|queue| match &situation {
                Some(situation) => queue.resent(situation, start, end),
                None => queue.sent(now, end, mss, u64::from(len)),
            });
        Outgoing { start, len, fin, cwr, push, sent }
    }

    /// Takes the next packet number for a packet with `len` bytes. Returns the scoreboard's record of the transmission, and the
    /// controller's event for it.
    #[inline]
    pub(super) fn transmission(&mut self, now: Time, len: u16, retransmission: bool) -> (Transmission, Sent) {
        let packet = self.packets.take_number();
        let (since_delivery, since_first_sent) = self.packets.rate.on_send(now, self.board.pipe().is_zero());
        let path_limit =
            if self.stream.backlog() <= u64::from(len) { SendLimit::App } else { self.activity.limit };
        let how = Transmission {
            at: now,
            packet,
            tag: self.plan.tag,
            limit: path_limit,
            delivered: self.packets.rate.delivered(),
            since_delivery,
            since_first_sent,
        };
        (how, Sent { packet, bytes: Bytes::new(u64::from(len)), tag: self.plan.tag, retransmission })
    }

    /// Reports a sent packet to the controller. To be called before the packet is on the scoreboard, because the flight that is reported
    /// must exclude this packet.
    #[inline]
    pub(super) fn report_sent(&mut self, now: Time, sent: &Sent) {
        if self.journal.records_trace() || self.controller.needs_sends() {
            self.report(now, &Event::Sent(*sent));
        } else {
            let added = if sent.retransmission { Bytes::ZERO } else { sent.bytes };
            self.controller.count_sent(self.stream.outstanding() + added);
        }
    }

    /// Checks whether the packet sent now is the fast retransmit of ns-2, the first retransmission of its episode.
    fn is_first_of_count(&self) -> bool {
        self.recovery.is_fast() && self.undo.resent.is_none()
    }
}
