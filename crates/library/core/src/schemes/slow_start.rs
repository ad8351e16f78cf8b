//! Standard slow start (RFC 5681 section 3.1): each ACK widens the window by at most one segment, until the window reaches `ssthresh` or a
//! packet is lost.
//!
//! The scheme has two forms: without pacing, and paced at twice `cwnd / srtt` throughout. Linux paces at twice `cwnd / srtt`
//! only while the window is below half of `ssthresh`, and at 1.2 times `cwnd / srtt` above. Schemes that change only how the
//! window grows, or when growth ends, hold a [`SlowStart`] and leave every other event to it.

use crate::interest::Interest;
use crate::interface::{Advice, Cause, Event, Exit, Origin, Pacing, Path, PathEstimate, Plan, Startup, Step};
use crate::registry::{Ability, Needs, SchemeEntry};
use crate::schemes::Initial;
use crate::u32_bytes::Bytes32;
use crate::units::{Bytes, Rate, Span};

/// Standard slow start, and the base of other schemes.
///
/// A scheme that changes only how the window grows, or when growth ends, holds a `SlowStart`. The scheme handles the events that concern
/// it, passes all others to [`Startup::on`] of the slow start inside, and returns the inner [`Startup::plan`].
///
/// ```
/// use firstflight::schemes::SlowStart;
/// use firstflight::{Bytes, Event, Path, Plan, Startup, Step};
///
/// /// Slow start that grows half as fast.
/// #[derive(Clone, Debug)]
/// struct Gentle {
///     slow: SlowStart,
/// }
///
/// impl Startup for Gentle {
///     fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
///         match event {
///             Event::Acked(ack) => self.slow.grow(ack.slow_start_growth(path.mss) / 2),
///             _ => self.slow.on(event, path),
///         }
///     }
///
///     fn plan(&self, path: &Path) -> Plan {
///         self.slow.plan(path)
///     }
/// }
/// ```
#[derive(Clone, Debug)]
pub struct SlowStart {
    window: Bytes32,
    ssthresh: Option<Bytes32>,
    /// The initial and restart window.
    segments: u16,
    /// Whether the handshake is over. Nothing is sent before its end.
    open: bool,
    paced: bool,
}

/// The needs of slow start on the ACK clock.
pub(crate) const NEEDS: Needs = Needs::of(&[Ability::AckClock]).using(&[Ability::Marks]);

pub(crate) const SLOW_START: SchemeEntry = SchemeEntry {
    name: "slow-start",
    summary: "doubles the window every round trip until ssthresh or a loss",
    source: "RFC 5681 section 3.1",
    law: "reno",
    parameters: &[],
    needs: NEEDS,
    make: |initial, _| SlowStart::new(initial).into(),
};

pub(crate) const SLOW_START_PACED: SchemeEntry = SchemeEntry {
    name: "slow-start-paced",
    summary: "slow start, paced at twice cwnd / srtt up to its end",
    source: "RFC 5681 section 3.1; Linux tcp_update_pacing_rate below ssthresh / 2",
    needs: NEEDS.and(Needs::of(&[Ability::Rate])),
    make: |initial, _| SlowStart::paced(initial).into(),
    ..SLOW_START
};

impl SlowStart {
    /// Returns slow start on the ACK clock.
    pub fn new(initial: Initial) -> Self {
        Self {
            window: Bytes32::ZERO,
            ssthresh: initial.ssthresh.map(Bytes32::from),
            segments: u16::try_from(initial.segments.max(1)).unwrap_or(u16::MAX),
            open: false,
            paced: false,
        }
    }

    /// Returns slow start paced at twice `cwnd / srtt` throughout. Linux (`tcp_update_pacing_rate`) paces at this rate only while `cwnd <
    /// ssthresh / 2`, and then at 1.2 times `cwnd / srtt`.
    pub fn paced(initial: Initial) -> Self {
        Self { paced: true, ..Self::new(initial) }
    }

    /// Returns slow start for the middle of a connection, from `window` and without a threshold. `segments` is the restart window; `paced`
    /// chooses the pacing of [`SlowStart::paced`].
    pub fn resumed(segments: u16, window: Bytes, paced: bool) -> Self {
        Self { window: window.into(), ssthresh: None, segments, open: true, paced }
    }

    /// Returns the congestion window.
    pub fn window(&self) -> Bytes {
        self.window.wide()
    }

    /// Sets the window. Slow start continues even if the window is at the threshold.
    pub fn set_window(&mut self, window: Bytes) {
        self.window = window.into();
    }

    /// Returns the slow-start threshold; `None` is arbitrarily high.
    pub fn threshold(&self) -> Option<Bytes> {
        self.ssthresh.map(Bytes32::wide)
    }

    /// Sets the slow-start threshold. Slow start continues even if the window is at the threshold.
    pub fn set_threshold(&mut self, ssthresh: Option<Bytes>) {
        self.ssthresh = ssthresh.map(Bytes32::from);
    }

    /// Returns the initial and restart window in bytes.
    pub fn initial(&self, path: &Path) -> Bytes {
        path.mss * u64::from(self.segments)
    }

    /// Widens the window. Slow start ends if the window reaches the threshold.
    pub fn grow(&mut self, by: Bytes) -> Step {
        self.window = (self.window() + by).into();
        self.at_threshold()
    }

    /// Ends slow start and sets the threshold to the window ("ssthresh = cwnd"), as every scheme does that finds an exit point.
    pub fn leave(&self, cause: Cause) -> Step {
        self.done(cause, Some(self.window()))
    }

    fn begin(&mut self, origin: Origin, path: &Path) -> Step {
        let initial = path.mss * u64::from(self.segments);
        let (window, ssthresh) = match origin {
            // The threshold stays the one given at construction.
            Origin::Fresh => {
                self.window = initial.into();
                return Step::Stay;
            }
            Origin::PathChange => (initial, None),
            Origin::AfterTimeout { was } => (was.window, was.ssthresh),
            // RFC 5681 section 4.1: the restart window is min(IW, cwnd); ssthresh is kept.
            Origin::AfterIdle { was, .. } => (was.window.min(initial), was.ssthresh),
        };
        self.window = window.into();
        self.ssthresh = ssthresh.map(Bytes32::from);
        self.open = true;
        self.at_threshold()
    }

    fn established(&mut self, syn_lost: bool, path: &Path) -> Step {
        self.open = true;
        // RFC 5681 section 3.1: after a lost SYN the initial window is one segment.
        if syn_lost {
            self.window = path.mss.into();
        }
        self.at_threshold()
    }

    fn at_threshold(&self) -> Step {
        let ssthresh = self.ssthresh.map(Bytes32::wide);
        match ssthresh {
            Some(bytes) if self.window() >= bytes => self.done(Cause::Threshold, ssthresh),
            _ => Step::Stay,
        }
    }

    fn done(&self, cause: Cause, ssthresh: Option<Bytes>) -> Step {
        Step::Exit(Exit { cause, learned: PathEstimate { window: self.window(), ssthresh, rate: None } })
    }

    /// Widens the window for an ACK without the rest of the ACK; see [`Interest::widen`].
    #[inline]
    fn widen(&mut self, growth: Bytes, mss: Bytes) -> Option<Bytes> {
        let window = Bytes32::from(self.window() + growth.min(mss));
        let goes_on = self.ssthresh.is_none_or(|ssthresh| window.wide() < ssthresh.wide());
        if !goes_on || self.paced || !self.open {
            return None;
        }
        self.window = window;
        Some(window.wide())
    }
}

impl Startup for SlowStart {
    const INTEREST: Interest<Self> = Interest::ALL.without_sends().without_others().widened_by(Self::widen);

    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match event {
            Event::Begin(origin) => self.begin(*origin, path),
            Event::Established { syn_lost, .. } => self.established(*syn_lost, path),
            // RFC 5681 section 3.1: cwnd += min(N, SMSS).
            Event::Acked(ack) => self.grow(ack.slow_start_growth(path.mss)),
            // The law that takes over sets the threshold.
            Event::Lost(loss) if loss.opens_episode => self.done(Cause::Loss, None),
            Event::Marked { .. } => self.done(Cause::Mark, None),
            Event::TimedOut { .. } => self.done(Cause::Timeout, None),
            Event::Advice(Advice::Window { window, ssthresh }) => {
                self.window = (*window).into();
                self.ssthresh = ssthresh.map_or(self.ssthresh, |bytes| Some(bytes.into()));
                self.at_threshold()
            }
            // The handshake agreed on another segment size than the initial window was computed with.
            Event::MssChanged if !self.open => {
                self.window = self.initial(path).into();
                Step::Stay
            }
            Event::Sent(_)
            | Event::Lost(_)
            | Event::SpuriousLoss
            | Event::Asked(_)
            | Event::Advice(_)
            | Event::TrainCut(_)
            | Event::Woken
            | Event::MssChanged => Step::Stay,
        }
    }

    fn plan(&self, path: &Path) -> Plan {
        let plan = Plan::ack_clocked(self.window(), self.ssthresh.map(Bytes32::wide));
        if !self.open {
            return Plan { pacing: Pacing::Hold, ..plan };
        }
        let rate =
            path.srtt.filter(|_| self.paced).and_then(|srtt| twice_window_per_rtt(plan.window, srtt, path));
        match rate {
            Some(rate) => Plan { pacing: Pacing::Rate { rate, burst: path.wire }, ..plan },
            None => plan,
        }
    }
}

/// Returns two windows per RTT, in IP bits per second.
pub(super) fn twice_window_per_rtt(window: Bytes, srtt: Span, path: &Path) -> Option<Rate> {
    let wire = window.scale(path.wire.get(), path.mss.get());
    (wire * 2).per(srtt)
}
