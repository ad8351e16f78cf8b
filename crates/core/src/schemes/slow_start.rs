//! Standard slow start (RFC 5681 section 3.1): the window grows by at most a segment for each ACK, until it
//! reaches `ssthresh` or a packet is lost.
//!
//! Plain and with pacing at twice `cwnd / srtt`, as Linux paces it.

use crate::seam::{Cause, Event, Exit, Learned, Origin, Pacing, Path, Plan, Startup, Step};
use crate::units::{Bytes, Rate};

/// What a new connection starts from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Initial {
    /// The initial window in segments.
    pub segments: u32,
    /// The initial slow-start threshold; `None` is "arbitrarily high" (RFC 5681 section 3.1).
    pub ssthresh: Option<Bytes>,
}

/// Standard slow start.
#[derive(Clone, Debug)]
pub struct SlowStart {
    initial: Initial,
    window: Bytes,
    ssthresh: Option<Bytes>,
    /// Before the handshake is over nothing is sent.
    open: bool,
    paced: bool,
}

impl SlowStart {
    /// Slow start on the ACK clock.
    pub fn new(initial: Initial) -> Self {
        Self { initial, window: Bytes::ZERO, ssthresh: initial.ssthresh, open: false, paced: false }
    }

    /// Slow start paced at twice `cwnd / srtt` (Linux `tcp_update_pacing_rate`, ratio 200 % in slow start).
    pub fn paced(initial: Initial) -> Self {
        Self { paced: true, ..Self::new(initial) }
    }

    fn begin(&mut self, origin: Origin, path: &Path) -> Step {
        match origin {
            Origin::Fresh | Origin::PathChange => {
                self.window = path.mss * u64::from(self.initial.segments);
                self.ssthresh = self.initial.ssthresh;
                self.open = origin == Origin::PathChange;
            }
            Origin::AfterTimeout { was } => {
                self.window = was.window;
                self.ssthresh = was.ssthresh;
                self.open = true;
            }
            // RFC 5681 section 4.1: the restart window is min(IW, cwnd); ssthresh is kept.
            Origin::AfterIdle { was, .. } => {
                self.window = was.window.min(path.mss * u64::from(self.initial.segments));
                self.ssthresh = was.ssthresh;
                self.open = true;
            }
        }
        self.at_threshold()
    }

    fn at_threshold(&self) -> Step {
        match self.ssthresh {
            Some(ssthresh) if self.window >= ssthresh => self.done(Cause::Threshold),
            _ => Step::Stay,
        }
    }

    fn done(&self, cause: Cause) -> Step {
        let ssthresh = self.ssthresh.filter(|_| cause == Cause::Threshold);
        Step::Done(Exit { cause, learned: Learned { window: self.window, ssthresh, rate: None } })
    }
}

impl Startup for SlowStart {
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match event {
            Event::Begin(origin) => self.begin(*origin, path),
            Event::Established { syn_lost, .. } => {
                self.open = true;
                // RFC 5681 section 3.1: after a lost SYN the initial window is one segment.
                if *syn_lost {
                    self.window = path.mss;
                }
                Step::Stay
            }
            Event::Acked(ack) => {
                // RFC 5681 section 3.1: cwnd += min(N, SMSS).
                self.window += ack.growth.min(path.mss);
                self.at_threshold()
            }
            Event::Lost(_) => self.done(Cause::Loss),
            Event::Marked => self.done(Cause::Mark),
            Event::TimedOut { .. } => self.done(Cause::Timeout),
            Event::Sent(_)
            | Event::SpuriousLoss
            | Event::Asked(_)
            | Event::Advice(_)
            | Event::TrainCut(_)
            | Event::Woken
            | Event::MssChanged => Step::Stay,
        }
    }

    fn plan(&self, path: &Path) -> Plan {
        let plan = Plan::ack_clocked(self.window, self.ssthresh);
        if !self.open {
            return Plan { pacing: Pacing::Hold, ..plan };
        }
        match path.srtt {
            Some(srtt) if self.paced => {
                let pacing = match twice_window_per_rtt(self.window, srtt, path) {
                    Some(rate) => Pacing::Rate { rate, burst: path.wire },
                    None => Pacing::AckClock,
                };
                Plan { pacing, ..plan }
            }
            _ => plan,
        }
    }
}

/// Twice the window a round trip, in IP bits per second.
fn twice_window_per_rtt(window: Bytes, srtt: crate::Span, path: &Path) -> Option<Rate> {
    let wire = window.scale(path.wire.get(), path.mss.get());
    (wire * 2).per(srtt)
}
