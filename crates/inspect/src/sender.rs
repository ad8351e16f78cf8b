//! One direction of a connection as a sender of data: every packet and every acknowledgement, once, in order.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::curve::{Curve, Period};
use crate::events::{Ack, Climb, Counts, Data, Mark, Resent, Restart, Setting};
use crate::exit::{self, Exit, Start};
use crate::few::Few;
use crate::path::PathWatch;
use crate::rounds::{Departure, Rounds};
use crate::rtt::Rtt;
use crate::scoreboard::{Heard, Scoreboard, Sighting};
use crate::timer::{Fired, Timer};
use crate::trace::{Trace, Tracing};

/// The place of a stream's first byte: room below it for what came before a capture that begins in the middle.
pub(crate) const FIRST: u64 = 1 << 33;

/// Beyond any window (RFC 7323 section 2.3): such a packet belongs to no stream that is known here.
pub(crate) const FARTHEST: u64 = 1 << 30;

/// Retransmissions remembered one by one, so that those found to be spurious can be told from the others.
const MOST_RESENT: usize = 512;

/// Congestion marks remembered.
const MOST_MARKS: usize = 64;

/// Idle restarts listed; more are counted.
const MOST_RESTARTS: usize = 64;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Sender {
    pub(crate) setting: Setting,
    pub(crate) board: Scoreboard,
    pub(crate) rounds: Rounds,
    pub(crate) rtt: Rtt,
    pub(crate) period: Period,
    /// The busy period that brought the most, if it is over.
    largest_period: Option<Box<Period>>,
    /// The end of start-up, if it fell into a busy period that is over.
    exit: Option<Box<Exit>>,
    pub(crate) counts: Counts,
    pub(crate) resent: Few<Resent>,
    /// The first of them that lacks its flight of later.
    awaited: usize,
    marks: Few<Mark>,
    /// The first of them that lacks its flight of later.
    awaited_marks: usize,
    pub(crate) restarts: Few<Restart>,
    pub(crate) trace: Option<Box<Tracing>>,
    /// What is seen of the path; only with a trace.
    pub(crate) path: Option<Box<PathWatch>>,
    pub(crate) first_data: Option<u64>,
    pub(crate) last_data: Option<u64>,
    /// Of the first round, payload that a timer sent.
    pub(crate) probed: u64,
    /// When the first repair ended, and what it repairs.
    pub(crate) first_episode_end: Option<u64>,
    /// Repairing, until this place is acknowledged.
    repairing: Option<u64>,
    /// Acknowledgements on their way to the sender.
    coming: VecDeque<(u64, Ack)>,
    /// Round trips that began before are not measured: the capture's clock was set back then.
    pub(crate) times_since: u64,
    /// The largest payload of one packet.
    largest: u64,
    /// When an acknowledgement last told something new, and when one last came.
    last_ack: Option<u64>,
    last_heard: Option<u64>,
    timer: Timer,
    /// Bytes acknowledged since data left, and whether the last packet was not full.
    acked_since: u64,
    last_was_short: bool,
    /// The right edge of the receiver's window.
    edge: Option<u64>,
    /// Whether that is by a window whose scale is not known, and whether data went beyond it, which proves a scale.
    edge_is_raw: bool,
    is_beyond_edge: bool,
    /// The fewest bytes of options of a packet with payload.
    least_options: Option<u8>,
    /// Each time the flight rose above all before by a thirty-second part: some hundreds of steps at most.
    climbs: Vec<Climb>,
    greatest_flight: u64,
    /// New payload that had left before this busy period.
    sent_before: u64,
    held_at: u64,
    /// The flight's peak in the last round with data.
    last_peak: u64,
}

impl Sender {
    pub(crate) fn new(start: u64, is_drawn: bool) -> Self {
        Self {
            setting: Setting::default(),
            board: Scoreboard::new(start),
            rounds: Rounds::default(),
            rtt: Rtt::default(),
            period: Period::default(),
            largest_period: None,
            exit: None,
            counts: Counts::default(),
            resent: Few::default(),
            awaited: 0,
            marks: Few::default(),
            awaited_marks: 0,
            restarts: Few::default(),
            trace: is_drawn.then(Box::default),
            path: is_drawn.then(Box::default),
            first_data: None,
            last_data: None,
            probed: 0,
            first_episode_end: None,
            repairing: None,
            coming: VecDeque::new(),
            times_since: 0,
            largest: 0,
            last_ack: None,
            last_heard: None,
            timer: Timer::default(),
            acked_since: 0,
            last_was_short: false,
            edge: None,
            edge_is_raw: false,
            is_beyond_edge: false,
            least_options: None,
            climbs: Vec::new(),
            greatest_flight: 0,
            sent_before: 0,
            held_at: 0,
            last_peak: 0,
        }
    }

    /// Payload bytes of a full segment: what the options leave, or what was seen if that is less than twelve bytes
    /// more (a stack may count the timestamps in or not); where the capture cut the SYNs' options, what the options of data
    /// leave; without options, the largest packet.
    pub(crate) fn mss(&self) -> u64 {
        let Some(option) = self.setting.mss_option.map(u64::from) else { return self.largest.clamp(1, 1460) };
        if self.setting.options_cut {
            // Whether there are timestamps, the headers of data say.
            return option.saturating_sub(self.least_options.unwrap_or(0).into()).max(1);
        }
        let usual = if self.setting.timestamps { option.saturating_sub(12) } else { option };
        if (usual + 1..=option).contains(&self.largest) { self.largest } else { usual.max(1) }
    }

    /// Segments on the wire of a packet with this payload: a card may cut it.
    pub(crate) fn segments(&self, len: u64) -> u64 {
        match self.setting.mss_option.map(u64::from) {
            Some(option) if len > option => len.div_ceil(self.mss()),
            _ => 1,
        }
    }

    /// Whether data passed, and no acknowledgement.
    pub(crate) fn is_unheard(&self) -> bool {
        self.first_data.is_some() && self.last_heard.is_none()
    }

    /// The end of start-up, as far as it can be seen.
    pub(crate) fn exit(&self) -> Option<Exit> {
        self.exit.as_deref().copied().or_else(|| self.exit_of_period())
    }

    /// The end of start-up within the current busy period, judged by the period's own rounds. A start-up that an idle time
    /// interrupts continues after the idle time.
    fn exit_of_period(&self) -> Option<Exit> {
        let first = self.resent.partition_point(|one| one.at < self.period.began);
        let first_mark = self.marks.partition_point(|one| one.at < self.period.began);
        let exit = exit::find(&Start {
            rounds: self.rounds.of_period(),
            climbs: &self.climbs,
            resent: &self.resent[first..],
            marks: &self.marks[first_mark..],
            has_sack: self.board.has_sack,
            peak_before: self.restarts.iter().map(|restart| restart.flight_before).max(),
            mss: self.mss(),
        })?;
        let before = usize::try_from(self.rounds.before).unwrap_or(usize::MAX);
        Some(Exit { round: exit.round.saturating_add(before), ..exit })
    }

    /// Payload that left for the first time.
    fn new_bytes(&self) -> u64 {
        self.counts.bytes.saturating_sub(self.counts.resent_bytes)
    }

    /// The busy period that brought at least nine tenths of all that was delivered.
    pub(crate) fn main_period(&self) -> Option<&Period> {
        let all = self.board.delivered().saturating_sub(FIRST);
        let largest = self.largest_period.as_deref().filter(|one| one.bytes() > self.period.bytes());
        Some(largest.unwrap_or(&self.period)).filter(|one| one.bytes() >= all - all / 10)
    }

    /// A packet with payload passed.
    pub(crate) fn data(&mut self, data: &Data) {
        let Data { at, start, end, origin, options_len, answers_echo } = *data;
        self.hear_until(at);
        let len = end - start;
        if end > self.board.una + FARTHEST || start + FARTHEST < self.board.una {
            self.counts.out_of_window += 1;
            return;
        }
        let is_probe = len == 1 && end <= self.board.una && self.board.flight() == 0;
        let flight_before = self.board.flight();
        let (una, next) = (self.board.una, self.board.next);
        let soon = self.soon();
        let seen = self.board.saw(at, start, end, &origin, soon);
        if seen.is_duplicate {
            self.counts.duplicates += 1;
            return;
        }
        self.largest = self.largest.max(len);
        self.least_options = Some(self.least_options.map_or(options_len, |least| least.min(options_len)));
        let segments = self.segments(len);
        self.counts.segments += segments;
        self.counts.packets += 1;
        self.counts.data_segments += segments;
        self.counts.bytes += len;
        if is_probe {
            return;
        }
        self.first_data = self.first_data.or(Some(at));
        let is_late = seen.again == 0 && seen.exposed.is_some_and(|exposed| !self.answers(at, exposed));
        if is_late {
            self.board.came_late(start, end, at);
            self.counts.reordered += 1;
        }
        let is_again = !is_late && seen.again + seen.filled > 0 && seen.new == 0;
        if seen.new > 0 && flight_before == 0 && self.last_data.is_some() {
            self.starts_again(at, start, seen.new);
        } else if self.rounds.current().is_none() {
            self.rounds.begin(at, start, false);
            self.period.began = at;
        }
        if is_again {
            self.sent_again(at, (start, end), una, flight_before, segments, &seen);
        }
        self.note_limits(at, flight_before);
        if answers_echo && let Some(mark) = self.marks.last_mut() {
            mark.flight_at_answer.get_or_insert(flight_before);
        }
        let flight = self.board.flight();
        self.watch_flight(at, flight);
        let is_probe = !is_again && self.is_probe_of_the_first_round(at, flight_before, segments);
        self.probed += if is_probe { seen.new } else { 0 };
        self.rounds.departed(&Departure {
            at,
            new_bytes: seen.new + if is_late { seen.filled } else { 0 },
            segments,
            is_new: !is_again,
            is_probe,
            since_ack: self.last_ack.map(|last| at.saturating_sub(last)),
            flight,
            held_at: self.held_at,
        });
        let mss = self.mss();
        // A sender sends in order: at its own end, a hole is what the capture missed.
        let (hole, is_away) = (start.saturating_sub(next), self.setting.shift > 0);
        let by_receiver = self.edge.is_some_and(|edge| self.board.next + mss > edge);
        self.is_beyond_edge |= self.edge.is_some_and(|edge| self.board.next > edge);
        if let Some(round) = self.rounds.current() {
            round.by_receiver |= by_receiver;
            round.has_gaps |= hole > 0 && !is_away;
            if is_away {
                // It was lost on its way here, or comes late: then it counts with its own packet.
                round.begins_behind_hole |= hole > 0 && round.bytes == seen.new;
                round.lost += hole;
            }
            if is_late {
                round.lost = round.lost.saturating_sub(seen.filled);
            }
        }
        self.last_peak = self.last_peak.max(flight);
        self.last_was_short = !len.is_multiple_of(mss);
        self.acked_since = 0;
        self.last_data = Some(at);
        if let Some(path) = &mut self.path {
            path.departed(at, start, len);
        }
        if let Some(trace) = &mut self.trace {
            trace.sends.push((at, start.saturating_sub(FIRST), len, is_again));
            trace.flight.push((at, flight));
        }
    }

    /// An acknowledgement passed at `at`; it reaches the sender later where the capture is not at the sender.
    pub(crate) fn ack(&mut self, at: u64, ack: Ack) {
        // Those that are due are heard now: a host that sends no data must not pile them up.
        self.hear_until(at);
        if self.setting.shift == 0 {
            self.hear(at, &ack);
        } else {
            self.coming.push_back((at.saturating_add(self.setting.shift - self.setting.slack()), ack));
        }
    }

    /// Gives back memory that a connection that is closed does not need.
    pub(crate) fn shrink(&mut self) {
        self.hear_until(u64::MAX);
        self.rounds.shrink();
        self.board.shrink();
        self.period.curve.shrink();
        self.climbs.shrink_to_fit();
        self.resent.shrink_to_fit();
        self.marks.shrink_to_fit();
        self.restarts.shrink_to_fit();
        self.coming.shrink_to_fit();
    }

    /// The capture is over: all acknowledgements arrive.
    pub(crate) fn finish(&mut self) {
        self.hear_until(u64::MAX);
        self.rounds.close();
        self.forget_raw_windows();
    }

    fn hear_until(&mut self, at: u64) {
        while let Some((when, ack)) = self.coming.front().copied().filter(|(when, _)| *when <= at) {
            self.coming.pop_front();
            self.hear(when, &ack);
        }
    }

    fn hear(&mut self, at: u64, ack: &Ack) {
        if ack.to > self.board.next.saturating_add(FARTHEST) {
            self.counts.out_of_window += 1;
            return;
        }
        self.last_heard = Some(at);
        let blocks = &ack.blocks[..ack.block_count];
        let before = self.board.highest;
        let (una_before, flight_before) = (self.board.una, self.board.flight());
        let delivered_before = self.board.delivered();
        let mut sample = None;
        let mut newly = 0;
        if ack.to > self.board.una {
            newly = ack.to - self.board.una;
            self.timer.start(at);
            let Heard { newest_sent, unseen } = self.board.acknowledge(ack.to);
            sample = newest_sent.map(|sent| (sent, ack.to));
            if unseen > 0 {
                self.counts.unseen_bytes += unseen;
                if let Some(round) = self.rounds.current() {
                    round.has_gaps = true;
                }
            }
            if let Some(trace) = &mut self.trace {
                trace.acks.push((at, ack.to.saturating_sub(FIRST)));
            }
        }
        for (place, &(start, end)) in blocks.iter().enumerate() {
            if start >= end {
                continue;
            }
            // RFC 2883 section 4: the first block tells of a duplicate if it lies below the acknowledgement or
            // within the second block.
            let within_next = blocks.get(1).is_some_and(|&(from, to)| from <= start && end <= to);
            if place == 0 && (end <= ack.to || within_next) {
                self.came_twice(start, end);
                continue;
            }
            sample = sample.max(self.board.sack(start, end).newest_sent.map(|sent| (sent, end)));
        }
        if self.board.delivered() > delivered_before {
            self.period.curve.step(at, self.board.delivered().saturating_sub(FIRST));
            let (delivered, mss) = (self.board.delivered().saturating_sub(FIRST), self.mss());
            let is_whole = blocks.is_empty() && self.repairing.is_none();
            if let Some(path) = &mut self.path {
                path.delivered(at, delivered, mss);
                if newly > 0 && is_whole {
                    path.acknowledged(newly, mss);
                }
            }
        }
        let is_full = blocks.is_empty() && newly > 0 && newly.is_multiple_of(self.mss().max(1));
        self.counts_of_time(at, sample, is_full);
        let edge = ack.to.saturating_add(ack.window);
        if self.edge != Some(edge)
            && ack.is_scaled
            && let Some(trace) = &mut self.trace
        {
            trace.window.push((at, ack.window));
        }
        self.edge = Some(self.edge.map_or(edge, |last| last.max(edge)));
        self.edge_is_raw |= !ack.is_scaled;
        let sacked =
            flight_before.saturating_sub(newly.min(flight_before)).saturating_sub(self.board.flight());
        let acked = newly + sacked;
        if acked > 0 {
            self.acked_since += acked;
            self.rounds.acknowledged(at, self.board.highest, acked, self.board.next);
            self.last_ack = Some(at);
        }
        let apart = self.rtt.smoothed().or(self.setting.handshake).unwrap_or(0);
        if ack.echo
            && self.marks.len() < MOST_MARKS
            && self.marks.last().is_none_or(|last| at.saturating_sub(last.at) >= apart)
        {
            let flight = flight_before;
            self.marks.push(Mark { at, flight, flight_later: None, flight_at_answer: None });
        }
        if self.repairing.is_some_and(|until| self.board.una >= until) {
            self.repairing = None;
            self.first_episode_end = self.first_episode_end.or(Some(at));
            if let Some(trace) = &mut self.trace {
                trace.end_recovery(at);
            }
        }
        if (self.board.highest > before || self.board.una > una_before)
            && let Some(trace) = &mut self.trace
        {
            trace.flight.push((at, self.board.flight()));
        }
    }

    /// A round-trip sample, of a full segment or another, whole: where the capture is not at the sender, the other part comes with
    /// the shift.
    fn counts_of_time(&mut self, at: u64, newest: Option<(u64, u64)>, is_full: bool) {
        let mss = self.mss();
        if let Some((sent, end)) = newest.filter(|(sent, _)| *sent >= self.times_since) {
            let rtt = at.saturating_sub(sent) + self.setting.slack();
            self.rtt.sample(rtt);
            if let Some(trace) = &mut self.trace {
                trace.rtts.push((at, rtt));
            }
            if let Some(path) = &mut self.path {
                path.round_trip((sent, end), rtt, is_full, mss);
            }
        }
    }

    /// The receiver says that it got these bytes twice.
    fn came_twice(&mut self, start: u64, end: u64) {
        self.counts.spurious_segments += self.segments(end - start);
        let is_it = |resent: &&mut Resent| !resent.is_spurious && resent.start < end && start < resent.end;
        // Of several copies the last one was for nothing, as far as one knows.
        if let Some(resent) = self.resent.iter_mut().rev().find(is_it) {
            resent.is_spurious = true;
        }
    }

    /// Whether a segment of new data, before anything was acknowledged, is a timer's: a probe of the tail (RFC 8985 section 7.2), two
    /// round trips after the data before it, of which one is left for jitter by a sixteenth. Two segments are acknowledged sooner, if
    /// none waits in a queue.
    fn is_probe_of_the_first_round(&self, at: u64, flight_before: u64, segments: u64) -> bool {
        let Some((last, handshake)) = self.last_data.zip(self.setting.handshake) else { return false };
        let wait = 2 * handshake - handshake / 8;
        self.last_ack.is_none()
            && self.rounds.count == 0
            && segments == 1
            && flight_before >= 2 * self.mss()
            && at.saturating_sub(last) >= wait.max(1)
    }

    /// Whether what passes at `at` can be an answer to what came to light at `since`: that takes a round trip; a
    /// tenth of it is left for jitter.
    fn answers(&self, at: u64, since: u64) -> bool {
        let round_trip = self.rtt.least().into_iter().chain(self.setting.handshake).min().unwrap_or(0);
        at.saturating_sub(since) >= round_trip - round_trip / 10
    }

    /// Sooner than this after it passed, nothing is sent again: that takes a round trip; an eighth of it is left for jitter.
    fn soon(&self) -> u64 {
        let round_trip = self.rtt.least().into_iter().chain(self.setting.handshake).min().unwrap_or(0);
        round_trip - round_trip / 8
    }

    /// Whether most of what was sent again came too soon for that: then the capture has it twice, and nothing tells the copies
    /// from what was sent again.
    pub(crate) fn has_copies(&self) -> bool {
        self.counts.too_soon >= 4 && 2 * self.counts.too_soon >= self.counts.resent_segments
            || self.is_all_twice()
    }

    /// Whether acknowledgements came, and no round trip of data is known because nearly all that was sent passed again: what a host sends again leaves the rest to
    /// measure a round trip by.
    pub(crate) fn is_all_twice(&self) -> bool {
        let counts = &self.counts;
        let first = counts.data_segments.saturating_sub(counts.resent_segments);
        let is_unknown = self.rtt.least().is_none() && self.board.una > FIRST;
        is_unknown && counts.resent_segments >= 4 && 8 * counts.resent_segments >= 7 * first
    }

    /// New data with nothing in flight: a restart if the time since the last data is longer than the timer.
    fn starts_again(&mut self, at: u64, start: u64, new: u64) {
        let idle = at.saturating_sub(self.last_data.unwrap_or(at));
        if idle <= self.rtt.timeout() {
            return;
        }
        self.counts.restarts += 1;
        if let Some(path) = &mut self.path {
            path.again(at);
        }
        self.rounds.finish(at);
        self.forget_raw_windows();
        self.exit = self.exit().map(Box::new);
        self.begin_period(at);
        self.sent_before = self.new_bytes().saturating_sub(new);
        self.rounds.begin(at, start, true);
        if self.restarts.len() < MOST_RESTARTS {
            let round = self.rounds.kept.len();
            self.restarts.push(Restart { at, idle, flight_before: self.last_peak, round });
        }
        self.last_peak = 0;
        self.mark(
            at,
            Trace::RESTART,
            format!("data again after {}.{:03} s", idle / 1_000_000_000, idle / 1_000_000 % 1000),
        );
    }

    /// Data that went beyond a window whose scale is not known proves that it has one: then it bounded nothing that is known.
    fn forget_raw_windows(&mut self) {
        if self.edge_is_raw && self.is_beyond_edge {
            self.rounds.forget_receiver();
        }
    }

    /// Whether the receiver's window would have bounded what its rounds say that it bounded only if it has no scale.
    pub(crate) fn has_raw_windows(&self) -> bool {
        self.edge_is_raw
    }

    /// Whether data proves that the receiver's window has a scale that is not known.
    pub(crate) fn proves_a_scale(&self) -> bool {
        self.edge_is_raw && self.is_beyond_edge
    }

    /// The answer to the SYN acknowledged so many bytes of data in it: the stream goes on behind them.
    pub(crate) fn skip(&mut self, bytes: u64) {
        self.board = Scoreboard::new(FIRST + bytes);
        self.counts.syn_data += bytes;
    }

    /// A SYN with payload passed.
    pub(crate) fn syn_data(&mut self, bytes: u64) {
        self.counts.segments += 1;
        self.counts.data_segments += 1;
        self.counts.bytes += bytes;
    }

    fn begin_period(&mut self, at: u64) {
        let mut curve = Curve::default();
        curve.step(at, self.board.delivered().saturating_sub(FIRST));
        let over = std::mem::replace(&mut self.period, Period { began: at, curve });
        if self.largest_period.as_ref().is_none_or(|largest| over.bytes() > largest.bytes()) {
            self.largest_period = Some(Box::new(over));
        }
        self.climbs.clear();
        (self.greatest_flight, self.held_at) = (0, at);
    }

    fn sent_again(
        &mut self,
        at: u64,
        (start, end): (u64, u64),
        una: u64,
        flight: u64,
        segments: u64,
        seen: &Sighting,
    ) {
        self.counts.resent_segments += segments;
        if let Some(path) = &mut self.path
            && let Some(sent) = seen.first_seen.filter(|_| seen.before == 0)
        {
            path.lost(sent);
        }
        let is_too_soon = seen.last_seen.is_some_and(|last| at.saturating_sub(last) < self.soon());
        self.counts.too_soon += if is_too_soon { segments } else { 0 };
        self.counts.resent_bytes += end - start;
        let is_first = start <= una && end > una;
        let last = self.last_heard.max(self.last_data).unwrap_or(at);
        let is_last = segments == 1 && end == self.board.next;
        // A probe of the tail takes selective acknowledgements (RFC 8985 section 4).
        let alone = is_last && !self.setting.no_sack;
        let fired = self.timer.fired(at, last, (seen.before, alone), &self.rtt, self.setting.handshake);
        let fired = fired.filter(|_| is_first);
        let by_timer = fired.is_some();
        if is_first {
            self.timer.start(at);
        }
        if let Some(fired) = fired {
            self.counts.timeouts += 1;
            let text = match fired {
                Fired::Silent => "sent again after a silence: a timeout, as it seems",
                Fired::Late => "sent for the third time, and late: a timeout, as it seems",
            };
            self.mark(at, Trace::TIMEOUT, text.to_owned());
        }
        if self.resent.len() < MOST_RESENT {
            self.resent.push(Resent {
                at,
                start,
                end,
                flight,
                flight_later: None,
                sent_later: self.counts.bytes - (end - start),
                delivered_later: self.board.delivered(),
                by_timer,
                is_tail: alone && seen.before == 0 && self.board.highest <= start,
                is_spurious: false,
            });
        }
        if self.repairing.is_none() && end > una {
            self.repairing = Some(self.board.next);
            self.counts.episodes += 1;
            if let Some(trace) = &mut self.trace {
                trace.begin_recovery(at);
            }
        }
        // What the repair lost of its own belongs to it.
        let within = |end: u64| seen.first_seen.is_some_and(|seen| seen <= end);
        if self.counts.episodes > 0 && self.first_episode_end.is_none_or(within) {
            self.counts.first_episode_segments += segments;
        }
    }

    /// Whether the sender had had nothing to send before this packet. Then it had nothing in flight and was silent, or had sent
    /// its last packet short; or acknowledgements had come to which it did not answer: some while it repairs nothing and sent
    /// its last packet short, or those of half of its flight and more while it repairs nothing. Away from the sender a silence is
    /// counted from when it heard the acknowledgement at the latest.
    fn note_limits(&mut self, at: u64, flight_before: u64) {
        let silent = self.last_ack.max(self.last_data).map_or(0, |last| at.saturating_sub(last));
        let silent = silent.saturating_sub(self.setting.slack());
        let rest = self.rtt.smoothed().or(self.setting.handshake).unwrap_or(0) / 4;
        // Away from the sender what waits on its way, in a queue as long as the round trip, is no silence of the sender.
        let is_away = self.setting.shift > 0;
        let pause = if is_away { 4 * rest } else { rest / 8 };
        let mss = self.mss();
        let unanswered = |share: u64| {
            self.repairing.is_none()
                && self.acked_since > 4 * mss
                && self.acked_since * share >= flight_before
        };
        let had_nothing = (self.last_was_short && self.acked_since > 0 && silent > pause)
            || (self.last_was_short && unanswered(4))
            || (silent > pause && unanswered(1) && !self.was_marked(at))
            || (flight_before == 0
                && self.last_data.is_some()
                && (silent > pause.max(rest) || self.last_was_short));
        let may_have_paused = is_away && silent > rest / 8 && unanswered(1);
        if may_have_paused && let Some(round) = self.rounds.current() {
            round.begins_late |= round.first_sent.is_none();
        }
        if had_nothing && let Some(round) = self.rounds.current() {
            round.by_application = true;
            round.begins_starved |= round.first_sent.is_none();
        }
    }

    /// Whether a congestion mark was echoed in the last two round trips: a sender that heeds it may be silent for half of one.
    fn was_marked(&self, at: u64) -> bool {
        let round_trip = self.rtt.smoothed().or(self.setting.handshake).unwrap_or(0);
        self.marks.last().is_some_and(|mark| at.saturating_sub(mark.at) <= 2 * round_trip)
    }

    fn watch_flight(&mut self, at: u64, flight: u64) {
        let round_trip = self.rtt.smoothed().or(self.setting.handshake).unwrap_or(0);
        while let Some(resent) = self.resent.get_mut(self.awaited)
            && at.saturating_sub(resent.at) >= round_trip
        {
            resent.flight_later = Some(flight);
            resent.sent_later = self.counts.bytes - resent.sent_later;
            resent.delivered_later = self.board.delivered() - resent.delivered_later;
            self.awaited += 1;
        }
        while let Some(mark) = self.marks.get_mut(self.awaited_marks)
            && at.saturating_sub(mark.at) >= round_trip / 2
        {
            mark.flight_later = Some(flight);
            self.awaited_marks += 1;
        }
        if flight > self.greatest_flight + self.greatest_flight / 32 {
            self.greatest_flight = flight;
            self.climbs.push(Climb { at, flight, sent: self.new_bytes() - self.sent_before });
        }
        if flight >= self.greatest_flight - self.greatest_flight / 16 {
            self.held_at = at;
        }
    }

    pub(crate) fn mark(&mut self, at: u64, kind: &'static str, text: String) {
        if let Some(trace) = &mut self.trace {
            trace.mark(at, kind, text);
        }
    }
}
