//! One direction of a connection as a sender of data: every packet and every acknowledgement, once, in order.

mod again;
mod data;
mod heard;
mod periods;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::curve::Period;
use crate::events::{Ack, Climb, Counts, Mark, Resent, Restart, Setting};
use crate::exit::Exit;
use crate::few::Few;
use crate::path::PathWatch;
use crate::rounds::Rounds;
use crate::rtt::Rtt;
use crate::scoreboard::Scoreboard;
use crate::timer::Timer;
use crate::trace::Tracing;

/// The place of a stream's first byte: room below it for what came before a capture that begins in the middle.
pub(crate) const FIRST: u64 = 1 << 33;

/// Beyond any window (RFC 7323 section 2.3): such a packet belongs to no stream that is known here.
pub(crate) const FARTHEST: u64 = 1 << 30;

/// What is known of a sender.
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

    /// Payload that left for the first time.
    fn new_bytes(&self) -> u64 {
        self.counts.bytes.saturating_sub(self.counts.resent_bytes)
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

    pub(crate) fn mark(&mut self, at: u64, kind: &'static str, text: String) {
        if let Some(trace) = &mut self.trace {
            trace.mark(at, kind, text);
        }
    }
}
