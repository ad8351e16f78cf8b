//! What an acknowledgement means: deliveries, samples, losses, and what the controller is told of them.

use firstflight::{Ack, Avoidance, Bytes, Event, Loss, RttSample, Span, Startup, Time};

use super::prr::{Prr, PrrAck};
use super::rack::LEAST_TIMEOUT;
use super::recovery::{Budget, Episode, Mode, Undo};
use super::scoreboard::Arrival;
use super::{DUP_THRESH, Sender};
use crate::config::Recovery;
use crate::endpoint::Happening;

/// Room that is kept from one ACK to the next, in packets: one that acknowledges a great window at once leaves no more
/// behind.
const MOST_KEPT: usize = 256;

/// An acknowledgement in stream offsets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AckInput<'a> {
    pub(crate) ack: u64,
    /// The window it offers, in bytes.
    pub(crate) window: u64,
    /// SACK blocks, DSACK taken out.
    pub(crate) blocks: &'a [(u64, u64)],
    /// A duplicate reported (RFC 2883).
    pub(crate) dsack: Option<(u64, u64)>,
    /// Whether the segment carried data, a SYN or a FIN: then it is no duplicate ACK.
    pub(crate) carries_data: bool,
    pub(crate) ece: bool,
    /// TSecr (RFC 7323).
    pub(crate) echo: Option<u32>,
}

/// What one ACK brought, gathered for the controller.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Progress {
    pub(super) advanced: u64,
    pub(super) segments: u32,
    /// Bytes newly delivered, and those of them that were SACKed.
    pub(super) bytes: u64,
    pub(super) sacked: u64,
    pub(super) duplicate: bool,
    pub(super) rtt: Option<Span>,
    /// Whether the reordering timer ran when it came.
    pub(super) reordering: bool,
}

impl<S: Startup, R: Startup, A: Avoidance> Sender<S, R, A> {
    /// An acknowledgement arrived. Says whether it was acceptable: one for data never sent is not, and the
    /// endpoint answers it with an ACK of its own (RFC 9293 section 3.10.7.4).
    pub(crate) fn on_ack(&mut self, now: Time, input: &AckInput<'_>) -> bool {
        if input.ack > self.nxt {
            return false;
        }
        self.last_received = Some(now);
        if let Some(queue) = &mut self.queue {
            queue.release();
        }
        if self.is_no_news(input) {
            self.unanswered_probes = 0;
            self.delivery_rate = None;
            return true;
        }
        if self.is_expected(input) {
            self.on_expected_ack(now, input);
            return true;
        }
        self.count_in_recovery(1);
        self.unanswered_probes = 0;
        let old;
        let input = if input.ack >= self.una {
            input
        } else if self.rules.as_linux && !input.blocks.is_empty() {
            // Its blocks are news all the same.
            old = AckInput { ack: self.una, window: self.rwnd, ..*input };
            &old
        } else {
            return true;
        };
        let progress = self.take_in(now, input);
        if progress.advanced > 0 {
            self.consecutive_timeouts = 0;
            if !self.rules.as_linux {
                self.rtt.clear_backoff();
            }
            self.dupacks = if self.counts_duplicates() && self.recovering() {
                // `tcp_remove_reno_sacks`: one segment was the hole, the rest had been told of.
                self.dupacks.saturating_sub(u64::from(progress.segments).saturating_sub(1))
            } else {
                0
            };
            self.extra = 0;
            self.limit_duplicates(u64::from(progress.segments));
        } else if progress.duplicate && !self.retransmits_after_timeout() {
            self.dupacks += 1;
            self.limit_duplicates(0);
        }
        self.answer_probe(now, input);
        self.duplicates_reported += u64::from(input.dsack.is_some());
        self.undo_if_spurious(now, input, &progress);
        // Something above the window that a mark reduced is acknowledged, so that CWR has reached the receiver: an
        // echo is of a new mark.
        if self.una > self.cwr_until {
            self.reducing_for_marks = false;
        }
        // Linux answers a mark before it counts what the ACK acknowledges.
        let ece = input.ece && !self.rules.as_linux;
        self.note_marks(now, input.ece && self.rules.as_linux);
        if self.rules.as_linux {
            // `tcp_fastretrans_alert` comes before `tcp_cong_control`: an ACK that tells of a loss widens nothing, and
            // the one that ends a recovery may.
            self.look_at_timeout(&progress);
            self.end_episode_if_repaired(now);
            self.note_losses(now, &progress);
            self.tell_acked(now, &progress);
        } else {
            self.tell_acked(now, &progress);
            self.end_episode_if_repaired(now);
            self.note_losses(now, &progress);
        }
        self.limited_transmit();
        self.note_marks(now, ece);
        self.steer_to_reduction(&progress);
        self.restart_timers(now, &progress);
        if self.rules.as_linux {
            self.restart_persist(now);
        }
        self.put_lists_away();
        true
    }

    /// Whether losses are found without SACK, as Linux does it: each duplicate ACK says that some segment was delivered,
    /// and the pipe and PRR count with that.
    pub(super) fn counts_duplicates(&self) -> bool {
        self.rules.as_linux && self.recovery == Recovery::NewReno
    }

    /// Whether all that is out was out at a timeout: duplicates then tell of what was sent again for nothing.
    fn retransmits_after_timeout(&self) -> bool {
        self.counts_duplicates() && matches!(self.mode, Mode::Loss { recover } if self.nxt <= recover)
    }

    /// `tcp_check_reno_reordering`: more duplicates than segments that may have been delivered mean reordering.
    fn limit_duplicates(&mut self, acknowledged: u64) {
        if !self.counts_duplicates() {
            return;
        }
        let out = self.board.segments();
        let holes = (self.board.lost_segments() + self.board.resent_segments()).max(1).min(out);
        if self.dupacks + holes > out {
            self.dupacks = out - holes;
            self.rack.note_degree(out + acknowledged);
        }
    }

    /// Whether an ACK beside data tells nothing: all was acknowledged before and the window is what it was. Of the
    /// segments of a bulk transfer these are the receiver's half.
    fn is_no_news(&self, input: &AckInput<'_>) -> bool {
        input.ack == self.una
            && self.una == self.nxt
            && input.window == self.rwnd
            && input.carries_data
            && input.blocks.is_empty()
            && input.dsack.is_none()
            && !input.ece
            && self.is_at_rest()
    }

    /// Whether nothing is outstanding and nothing of what was is still to be answered.
    fn is_at_rest(&self) -> bool {
        matches!(self.mode, Mode::Open)
            && !self.rules.as_linux
            && self.probe.is_none()
            && !self.reducing_for_marks
            && self.reduction.is_none()
            && !self.undo.armed
            && self.dupacks == 0
            && self.window_edge > self.nxt
    }

    /// What one ACK or timer needed is given back, so that a single large one does not cost memory from then on. Only
    /// an empty list gives back all.
    pub(super) fn put_lists_away(&mut self) {
        self.arrivals.clear();
        self.arrivals.shrink_to(MOST_KEPT);
        self.delivered.clear();
        self.delivered.shrink_to(MOST_KEPT);
        self.lost.clear();
        self.lost.shrink_to(MOST_KEPT);
    }

    /// Marks what the ACK acknowledges and makes the samples.
    fn take_in(&mut self, now: Time, input: &AckInput<'_>) -> Progress {
        self.arrivals.clear();
        let advanced = input.ack - self.una;
        // `tcp_may_update_window`: a window that only shrinks is no news.
        let window_changed = if self.rules.as_linux {
            input.window > self.rwnd || input.window == 0
        } else {
            input.window != self.rwnd
        };
        let (segments, trimmed) = self.board.acknowledge(input.ack, &mut self.arrivals);
        let cumulative = self.arrivals.len();
        self.una = input.ack;
        if window_changed || advanced > 0 || input.carries_data || !self.rules.as_linux {
            self.set_window(input.ack, input.window);
        }
        if self.recovery.uses_sack() {
            for &(start, end) in input.blocks {
                if let Some(queue) = &mut self.queue {
                    queue.cut(start);
                    queue.cut(end);
                }
                if start >= self.una && end <= self.nxt && start < end {
                    self.board.sack(start, end, &mut self.arrivals);
                }
            }
        }
        let (mut bytes, mut sacked) = (trimmed, 0);
        let mut newest: Option<usize> = None;
        let mut newest_clean: Option<Time> = None;
        self.delivered.clear();
        let min_rtt = self.rtt.min();
        self.note_reordering(cumulative);
        for (i, arrival) in self.arrivals.iter().enumerate() {
            let delivered = arrival.delivered;
            bytes += delivered.bytes.get();
            if i >= cumulative {
                sacked += delivered.bytes.get();
            }
            if !self.rules.as_linux {
                self.rack.delivered(now, min_rtt, arrival, false);
            }
            self.approved.delivered(delivered.packet, self.next_packet, self.nxt);
            if newest.is_none_or(|n| self.arrivals[n].delivered.packet < delivered.packet) {
                newest = Some(i);
            }
            if !delivered.retransmitted {
                newest_clean = newest_clean.max(Some(delivered.sent_at));
            }
            self.delivered.push(delivered);
        }
        if self.rules.as_linux {
            // What was selectively acknowledged comes first there.
            let (whole, selective) = self.arrivals.split_at(cumulative);
            for arrival in selective.iter().chain(whole) {
                self.rack.delivered(now, min_rtt, arrival, true);
            }
            if advanced > 0 && !self.recovery.uses_sack() {
                // `tcp_remove_reno_sacks`: the duplicates before told of all but one.
                let told = (self.mss * self.dupacks).get();
                bytes = bytes.saturating_sub(told).max(bytes.min(self.mss.get()));
            }
        }
        // Karn's algorithm, and more: an ACK that a retransmission set free also covers data that arrived long
        // before it, and says nothing about the round trip.
        let repaired = self.delivered.iter().any(|delivered| delivered.retransmitted);
        let rtt = if self.rules.as_linux {
            self.sample_as_linux(now, cumulative)
        } else {
            let rtt = newest_clean.filter(|_| !repaired).map(|sent_at| now.since(sent_at));
            rtt.inspect(|&rtt| self.rtt.sample(rtt))
        };
        let newest = newest.map(|n| self.arrivals[n].flight());
        self.delivery_rate = self.rate.on_ack(now, Bytes::new(bytes), newest);
        let duplicate = if self.recovery.uses_sack() {
            // RFC 6675 section 2: a duplicate ACK brings new SACK information.
            advanced == 0 && sacked > 0
        } else {
            // RFC 5681 section 2.
            advanced == 0 && !input.carries_data && !window_changed && self.nxt > self.una
        };
        let reordering = self.reorder_at.is_some();
        Progress { advanced, segments, bytes, sacked, duplicate, rtt, reordering }
    }

    /// Linux's round-trip samples (`tcp_clean_rtx_queue`, `tcp_sacktag_one`): the estimate hears of the oldest segment
    /// acknowledged cumulatively, or else selectively; what is given is of the newest, of those SACKed first.
    fn sample_as_linux(&mut self, now: Time, cumulative: usize) -> Option<Span> {
        let (whole, selective) = self.arrivals.split_at(cumulative);
        let whole = if whole.iter().any(|arrival| arrival.delivered.retransmitted) { &[] } else { whole };
        let clean = |group: &[Arrival]| {
            let mut clean = group.iter().filter(|arrival| !arrival.delivered.retransmitted);
            let first = clean.next()?;
            Some((first.delivered.sent_at, clean.next_back().unwrap_or(first).delivered.sent_at))
        };
        let (whole, selective) = (clean(whole), clean(selective));
        let (oldest, newest) = (whole.or(selective)?.0, selective.or(whole)?.1);
        let newest = now.since(newest);
        self.rtt.sample_as_linux(now.since(oldest), newest, self.una, self.nxt);
        Some(newest)
    }

    /// Whether something arrived late: once for what was acknowledged selectively, once for the rest.
    fn note_reordering(&mut self, cumulative: usize) {
        if self.recovery != Recovery::Rack {
            return;
        }
        let (whole, selective) = self.arrivals.split_at(cumulative);
        for group in [selective, whole] {
            let clean = group.iter().filter(|arrival| !arrival.delivered.retransmitted);
            if let Some(start) = clean.map(|arrival| arrival.end - arrival.delivered.bytes.get()).min() {
                self.rack.note_late(start, self.mss);
            }
        }
    }

    pub(super) fn tell_acked(&mut self, now: Time, progress: &Progress) {
        if progress.advanced == 0 && progress.bytes == 0 && !progress.duplicate {
            return;
        }
        let packets = core::mem::take(&mut self.delivered);
        let ack = Ack {
            packets: &packets,
            bytes: Bytes::new(progress.bytes),
            advanced: Bytes::new(self.counts(progress)),
            sacked: Bytes::new(progress.sacked),
            segments: progress.segments,
            duplicate: progress.duplicate,
            rtt: progress.rtt.map(|rtt| RttSample { rtt, handshake: false }),
            delivery_rate: self.delivery_rate,
            round_ended: false,
            round_sent: Bytes::ZERO,
            growth: Bytes::ZERO,
        };
        self.tell(now, &Event::Acked(ack));
        self.delivered = packets;
    }

    /// What of an ACK may widen the window: Linux looks itself at whether the window was the limit, and once reordering
    /// was seen it counts what is delivered in any order (`tcp_may_raise_cwnd`).
    fn counts(&self, progress: &Progress) -> u64 {
        if !self.rules.as_linux {
            return progress.advanced;
        }
        let window = self.plan.window;
        let slow_start = self.plan.ssthresh.is_none_or(|ssthresh| window < ssthresh);
        if !self.usage.is_limit(window.packets(self.mss), slow_start) {
            return 0;
        }
        if self.rack.reordering > self.rules.reordering {
            progress.advanced.max(progress.bytes)
        } else {
            progress.advanced
        }
    }

    /// ns-2 lowers its pipe for every ACK of a recovery, stale ones included.
    fn count_in_recovery(&mut self, packets: u64) {
        if let Mode::Recovery(Episode { budget: Budget::Counted { pipe }, .. }) = &mut self.mode {
            *pipe = pipe.saturating_sub(packets);
        }
    }

    fn end_episode_if_repaired(&mut self, now: Time) {
        let overdue = self.head_is_overdue(now);
        // Without SACK Linux holds on until something above is acknowledged (`tcp_try_undo_recovery`).
        let una = if self.rules.as_linux && !self.recovery.uses_sack() {
            self.una.saturating_sub(1)
        } else {
            self.una
        };
        match &mut self.mode {
            Mode::Recovery(episode) => {
                let satisfied = match self.recovery {
                    // "If it is the first or second one after a retransmission, Vegas again checks."
                    Recovery::Vegas if self.dupacks == 0 && overdue && episode.worried > 0 => {
                        episode.worried -= 1;
                        false
                    }
                    Recovery::Reno | Recovery::Vegas => self.dupacks == 0,
                    _ => false,
                };
                let episode = *episode;
                if una >= episode.recover || satisfied {
                    self.mode = Mode::Open;
                    if self.rules.as_linux {
                        self.dupacks = 0;
                    }
                    self.undo.until = self.nxt;
                    if matches!(self.recovery, Recovery::NewReno | Recovery::NewRenoSteady) {
                        self.recovered_to = Some(episode.recover);
                    }
                    self.happenings.push_back(Happening::RecoveryEnded);
                }
            }
            Mode::Loss { recover } if una >= *recover => {
                self.recovered_to = Some(*recover);
                self.mode = Mode::Open;
                self.undo.until = self.nxt;
            }
            Mode::Loss { .. } | Mode::Open => {}
        }
    }

    /// Whether the first outstanding segment was last sent longer ago than the fine-grained timeout of Vegas.
    fn head_is_overdue(&self, now: Time) -> bool {
        let sent_at = self.board.head_in_network_since();
        sent_at.zip(self.rtt.fine()).is_some_and(|(sent_at, fine)| now.since(sent_at) >= fine)
    }

    /// Finds losses and answers them.
    fn note_losses(&mut self, now: Time, progress: &Progress) {
        self.lost.clear();
        let timed_out = self.rules.as_linux && matches!(self.mode, Mode::Loss { .. });
        let resent = if timed_out { self.board.resent_segments() } else { 0 };
        match self.recovery {
            Recovery::Rack => {
                // RFC 8985 section 6.2: once reordering was seen, counting SACKs is no evidence.
                if !self.rack.reordering_seen && !self.rules.as_linux {
                    self.board.mark_lost_by_sacks(&mut self.lost);
                }
                // `tcp_rack_mark_lost`: only what is delivered can show that something else is overdue.
                let advanced = core::mem::take(&mut self.rack.advanced);
                if advanced || !self.rules.as_linux {
                    self.mark_overdue(now);
                }
                self.rack.timed = advanced && self.reorder_at.is_some();
            }
            Recovery::Sack => {
                if self.dupacks >= DUP_THRESH && matches!(self.mode, Mode::Open) {
                    self.board.mark_head_lost(false, &mut self.lost);
                }
                self.board.mark_lost_by_sacks(&mut self.lost);
            }
            Recovery::NewReno
            | Recovery::NewRenoSteady
            | Recovery::Reno
            | Recovery::Vegas
            | Recovery::Ns2Sack1 => {
                let early = self.recovery == Recovery::Vegas && self.head_is_overdue(now);
                if early && progress.duplicate && matches!(self.mode, Mode::Recovery(_)) {
                    // What was sent again is lost, too: another episode.
                    self.mode = Mode::Open;
                    self.happenings.push_back(Happening::RecoveryEnded);
                }
                // RFC 6582 section 3.2 step 1: the duplicates of an episode's own retransmissions start no new one.
                let fresh = self.recovered_to != Some(self.una) || self.rules.as_linux;
                let enough = if self.rules.as_linux {
                    self.dupacks >= self.rack.reordering
                } else {
                    self.dupacks == DUP_THRESH || early
                };
                if enough && progress.duplicate && fresh && matches!(self.mode, Mode::Open) {
                    self.board.mark_head_lost(true, &mut self.lost);
                }
            }
        }
        if matches!(self.mode, Mode::Recovery(_)) {
            self.go_on_recovering(now, progress);
        } else if matches!(self.mode, Mode::Open) && self.board.has_lost()
            || timed_out && self.board.resent_segments() < resent
        {
            // Linux leaves the state after a timeout, too, once what was sent again is lost (`FLAG_LOST_RETRANS`).
            self.begin_recovery(now, progress);
        }
    }

    /// RACK's loss detection, on an ACK or when its timer fires.
    pub(super) fn mark_overdue(&mut self, now: Time) {
        let eager = matches!(self.mode, Mode::Recovery(_) | Mode::Loss { .. })
            || self.board.sacked_segments() >= self.rules.reordering;
        let patience = self.rack.patience(self.rtt.srtt(), self.rtt.min(), eager);
        let overdue = self.board.mark_overdue(self.rack.newest, now - patience, &mut self.lost);
        self.reorder_at = if self.rules.as_linux {
            // `tcp_rack_detect_loss` waits for all of them.
            self.board.last_before(self.rack.newest).map(|sent_at| sent_at + patience + LEAST_TIMEOUT)
        } else {
            overdue.next.map(|sent_at| sent_at + patience)
        };
    }

    /// The first loss of an episode: the controller answers with a target, and recovery steers to it.
    pub(super) fn begin_recovery_by_timer(&mut self, now: Time) {
        // `tcp_rack_reo_timeout` counts one segment as delivered.
        let bytes = if self.rules.as_linux { self.mss.get() } else { 0 };
        self.begin_recovery(now, &Progress { bytes, ..Progress::default() });
    }

    fn begin_recovery(&mut self, now: Time, progress: &Progress) {
        let outstanding = self.outstanding();
        self.happenings.push_back(Happening::RecoveryBegan { flight: outstanding });
        self.undo = Undo { armed: true, ..Undo::default() };
        self.extra = 0;
        self.forced = true;
        self.probe_at = None;
        let prior = self.plan.window;
        self.tell_lost(now);
        self.answer_marks_with_this();
        let budget = match self.recovery {
            Recovery::Rack => {
                let sacked_before = self.board.sacked_bytes() - Bytes::new(progress.sacked);
                let mut prr = if self.rules.as_linux {
                    Prr::begin_as_linux(prior)
                } else {
                    Prr::begin(outstanding, sacked_before, Bytes::new(progress.advanced))
                };
                prr.on_ack(&self.prr_ack(progress));
                Budget::Proportional(prr)
            }
            Recovery::Sack => Budget::Pipe,
            Recovery::NewReno if self.rules.as_linux => {
                let mut prr = Prr::begin_as_linux(prior);
                prr.on_ack(&self.prr_ack(progress));
                Budget::Proportional(prr)
            }
            Recovery::NewReno | Recovery::NewRenoSteady | Recovery::Reno => {
                Budget::Inflated { by: self.signed(DUP_THRESH) }
            }
            Recovery::Vegas => {
                // ns-2 restarts the timer with what it sends early.
                self.rto_at = Some(now + self.rtt.rto());
                Budget::Inflated { by: self.signed(self.dupacks) }
            }
            Recovery::Ns2Sack1 => {
                self.rto_at = Some(now + self.rtt.rto());
                Budget::Counted { pipe: outstanding.packets(self.mss).saturating_sub(DUP_THRESH) }
            }
        };
        self.mode = Mode::Recovery(Episode {
            recover: self.nxt,
            partial_seen: false,
            worried: 2,
            budget,
            hole: 0,
            rescued: false,
        });
    }

    /// `segments` full segments, for signed arithmetic.
    fn signed(&self, segments: u64) -> i64 {
        i64::try_from((self.mss * segments).get()).unwrap_or(i64::MAX)
    }

    pub(super) fn prr_ack(&self, progress: &Progress) -> PrrAck {
        let (told, new) = if self.counts_duplicates() {
            (self.mss * self.dupacks, self.mss * u64::from(progress.duplicate))
        } else {
            (Bytes::ZERO, Bytes::ZERO)
        };
        PrrAck {
            delivered: Bytes::new(progress.bytes) + new,
            pipe: self.board.pipe() - told,
            ssthresh: self.plan.window,
            safe: progress.advanced > 0 && self.lost.is_empty(),
            mss: self.mss,
        }
    }

    /// An ACK in the middle of a recovery.
    fn go_on_recovering(&mut self, now: Time, progress: &Progress) {
        let held = matches!(self.mode, Mode::Recovery(episode) if self.una >= episode.recover);
        if self.counts_duplicates() && progress.advanced > 0 && !held {
            // `tcp_newreno_mark_lost`.
            self.board.mark_head_lost(true, &mut self.lost);
        }
        if !self.lost.is_empty() {
            self.tell_lost(now);
        }
        let ack = self.prr_ack(progress);
        let (one, acked) = (self.signed(1), i64::try_from(progress.advanced).unwrap_or(i64::MAX));
        let partial = progress.advanced > 0;
        let full = progress.advanced >= self.mss.get();
        let as_linux = self.rules.as_linux;
        let Mode::Recovery(episode) = &mut self.mode else { return };
        match &mut episode.budget {
            Budget::Proportional(_) if as_linux && ack.delivered.is_zero() => {}
            Budget::Proportional(prr) => prr.on_ack(&ack),
            Budget::Pipe => {}
            // ns-2 deflates the window at once.
            Budget::Inflated { by } if partial && self.recovery == Recovery::Vegas => {
                *by = 0;
                self.forced = true;
            }
            Budget::Inflated { by } => {
                if partial {
                    // RFC 6582 section 3.2 step 4: deflate by what was acknowledged, add back a segment, and
                    // send the next hole.
                    *by = by.saturating_sub(acked) + if full { one } else { 0 };
                    self.forced = true;
                } else if progress.duplicate {
                    *by = by.saturating_add(one);
                }
            }
            Budget::Counted { pipe } => {
                if partial {
                    *pipe = pipe.saturating_sub(1);
                }
            }
        }
        if partial && matches!(episode.budget, Budget::Inflated { .. }) {
            self.lost.clear();
            self.board.mark_head_lost(true, &mut self.lost);
            self.tell_lost(now);
        }
    }

    pub(super) fn tell_lost(&mut self, now: Time) {
        let packets = core::mem::take(&mut self.lost);
        self.approved.lost(&packets);
        let bytes = packets.iter().fold(Bytes::ZERO, |sum, packet| sum + packet.bytes);
        let ranges = usize::from(!packets.is_empty())
            + packets.windows(2).filter(|pair| pair[1].packet != pair[0].packet + 1).count();
        let loss = Loss {
            packets: &packets,
            bytes,
            ranges: u32::try_from(ranges).unwrap_or(u32::MAX),
            opens_episode: false,
            persistent: false,
        };
        self.tell(now, &Event::Lost(loss));
        self.lost = packets;
    }

    /// RFC 3042: a new segment on each of the first two duplicate ACKs. With a pipe that leaves out SACKed
    /// segments this comes of itself.
    fn limited_transmit(&mut self) {
        // Vegas has something better than to wait for the third.
        let by_hand = !matches!(self.recovery, Recovery::Rack | Recovery::Sack | Recovery::Vegas);
        if self.counts_duplicates() {
            self.extra = self.dupacks;
        } else if by_hand && matches!(self.mode, Mode::Open) {
            self.extra = self.dupacks.min(DUP_THRESH - 1);
        }
    }

    pub(super) fn restart_timers(&mut self, now: Time, progress: &Progress) {
        if self.nxt == self.una {
            self.rto_at = None;
            self.probe_at = None;
            self.reorder_at = None;
            return;
        }
        if self.rules.as_linux {
            return self.restart_timers_as_linux(now, progress);
        }
        if progress.advanced == 0 {
            return;
        }
        let impatient = self.recovery == Recovery::NewReno;
        let keep = match &mut self.mode {
            Mode::Recovery(episode) => core::mem::replace(&mut episode.partial_seen, true) && impatient,
            Mode::Open | Mode::Loss { .. } => false,
        };
        if !keep {
            self.rto_at = Some(now + self.rtt.rto());
        }
        self.schedule_probe(now, self.rto_at);
    }
}
