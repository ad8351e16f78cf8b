//! One direction of a connection: its sender of data. Processes every packet and every acknowledgement once, in order.

mod acks;
mod first_packets;
mod full_size;
mod packets;
mod periods;
mod retransmissions;
mod state;
mod window;

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::events::{Ack, Counts, Setting};
use crate::rounds::Rounds;
use crate::rtt::Rtt;
use crate::scoreboard::Scoreboard;
use crate::timer::Timer;
use crate::transfer::Transfer;
use state::{Drawn, Flight, Instants, Limits, Marks, Periods, Recovery, Segments};

/// Offset of a stream's first byte. The offsets below are for earlier data of the stream, if the capture begins in the middle.
pub(crate) const FIRST: u64 = 1 << 33;

/// Distance larger than any window (RFC 7323 section 2.3). A packet that is so far away does not belong to the stream.
pub(crate) const FARTHEST: u64 = 1 << 30;

/// State of a sender.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Sender {
    pub(crate) setting: Setting,
    pub(crate) board: Scoreboard,
    pub(crate) rounds: Rounds,
    pub(crate) rtt: Rtt,
    pub(crate) counts: Counts,
    pub(crate) instants: Instants,
    pub(crate) periods: Periods,
    pub(crate) recovery: Recovery,
    marks: Marks,
    flight: Flight,
    pub(crate) segments: Segments,
    limits: Limits,
    timer: Timer,
    pub(crate) transfer: Transfer,
    /// Acknowledgements that passed the capture point but have not yet reached the sender, with their arrival times.
    coming: VecDeque<(u64, Ack)>,
    pub(crate) drawn: Drawn,
}

impl Sender {
    pub(crate) fn new(start: u64, is_drawn: bool) -> Self {
        Self {
            setting: Setting::default(),
            board: Scoreboard::new(start),
            rounds: Rounds::default(),
            rtt: Rtt::default(),
            counts: Counts::default(),
            instants: Instants::default(),
            periods: Periods::default(),
            recovery: Recovery::default(),
            marks: Marks::default(),
            flight: Flight::default(),
            segments: Segments::default(),
            limits: Limits::default(),
            timer: Timer::default(),
            transfer: Transfer::default(),
            coming: VecDeque::new(),
            drawn: Drawn { trace: is_drawn.then(Box::default), path: is_drawn.then(Box::default) },
        }
    }

    /// Returns the payload bytes of a full segment.
    pub(crate) fn mss(&self) -> u64 {
        self.segments.full.full(&self.setting)
    }

    /// Checks whether the first round shows that the sender had no more to send.
    pub(crate) fn first_round_ran_out(&self) -> bool {
        let round = self.rounds.kept.first();
        let silence = round.and_then(|round| Some(round.ended?.saturating_sub(round.last_sent?)));
        let is_full = |len| self.segments.full.is_full(len, &self.setting);
        self.segments.first.ran_out(silence, is_full)
    }

    /// Checks whether data passed but no acknowledgement did.
    pub(crate) fn lacks_acks(&self) -> bool {
        self.instants.first_data.is_some() && self.instants.last_ack.is_none()
    }

    /// Returns the number of payload bytes sent for the first time.
    fn new_bytes(&self) -> u64 {
        self.counts.bytes.saturating_sub(self.counts.resent_bytes)
    }

    /// Releases memory that a closed connection does not need.
    pub(crate) fn shrink(&mut self) {
        self.receive_until(u64::MAX);
        self.rounds.shrink();
        self.board.shrink();
        self.periods.current.curve.shrink();
        self.flight.climbs.shrink_to_fit();
        self.recovery.resent.shrink_to_fit();
        self.marks.kept.shrink_to_fit();
        self.periods.restarts.shrink_to_fit();
        self.coming.shrink_to_fit();
    }

    /// Delivers all acknowledgements to the sender when the capture ends.
    pub(crate) fn finish(&mut self) {
        self.receive_until(u64::MAX);
        self.end_window();
        self.rounds.close();
        self.forget_raw_windows();
    }

    /// Begins the stream after the data in the SYN, of which the SYN-ACK acknowledged `bytes`.
    pub(crate) fn skip(&mut self, bytes: u64) {
        self.board = Scoreboard::new(FIRST + bytes);
        self.counts.syn_data += bytes;
    }

    /// Counts a SYN with payload.
    pub(crate) fn syn_data(&mut self, bytes: u64) {
        self.counts.segments += 1;
        self.counts.data_segments += 1;
        self.counts.bytes += bytes;
    }

    pub(crate) fn mark(&mut self, at: u64, kind: &'static str, text: String) {
        if let Some(trace) = &mut self.drawn.trace {
            trace.mark(at, kind, text);
        }
    }
}
