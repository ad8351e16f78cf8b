//! Quick-Start (RFC 4782) around any scheme: requests a rate from the routers. If all of them approve, the connection
//! sends at that rate for one RTT instead of probing for it.
//!
//! The routers' answer arrives with the SYN-ACK, or after an idle time with the acknowledgement of the packet that
//! carried the request. The window is then the rate times the RTT, and packets are paced. The first acknowledgement
//! of a packet sent at the approved rate ends that: the window becomes the bytes really sent, and the scheme inside
//! continues from there. Without an approval the scheme inside does everything. After a loss among the packets sent
//! at the approved rate, the window is what it would have been without Quick-Start.
//!
//! Sources: RFC 4782 sections 4.1 to 4.8; the analysis of Scharf (2007), whose senders differ in profile `scharf`.
//!
//! Deviations: pacing is exact, where the analysis has a granularity of 1 ms. An echo does not say which packet was
//! marked. A mark therefore counts against the packets sent at the approved rate until later data is acknowledged.
//!
//! The scheme inside is a type parameter, so that nesting needs no allocation: a host that knows its scheme writes
//! `QuickStart<SlowStart>` and pays for no more. By name, the inside is [`crate::registry::AnyPlain`], any scheme
//! that is not itself built around another. An enum that could hold itself would need a heap, or a second layer with
//! an undefined meaning (two requests for one window).

mod entry;

use crate::interface::{
    Ack, Advice, Ask, Cause, Event, Exit, Loss, Origin, Pacing, Path, PathEstimate, Plan, Startup, Step, Tag,
};
use crate::rate_code::RateCode;
use crate::u32_bytes::Bytes32;
use crate::units::{Bytes, Rate, Span, Time};

pub(crate) use entry::{AROUND, QUICK_START, QUICK_START_AGAIN};

/// The tag of packets sent at the approved rate.
const APPROVED: Tag = Tag(u16::MAX);
/// RFC 4782 section 4.1: the RTT assumed while it is unknown.
const UNKNOWN_RTT: Span = Span::from_millis(100);
/// RFC 4782 section 4.4: sending at the approved rate starts within one RTT, and within three seconds.
const LATEST_START: Span = Span::from_secs(3);
/// RFC 3742 section 2: slow start is limited from 100 segments.
const MAX_SSTHRESH: u64 = 100;

/// How Quick-Start requests a rate, and how it continues afterwards.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuickStartConfig {
    /// The rate to request; [`RateCode::DENIED`] requests the rate that the data ready to send can use over one RTT
    /// (RFC 4782 section 4.1).
    pub request: RateCode,
    /// Whether the window after sending at the approved rate is the bytes sent, rather than all bytes that could have
    /// been sent (choice-18).
    pub window_is_sent: bool,
    /// Whether slow start after that is limited (RFC 3742; choice-20). RFC 4782 section 4.4 demands the limit; the
    /// analysis does not apply it.
    pub limited: bool,
    /// Whether slow start after that ends at twice the window of the approved rate, rather than at the earlier
    /// threshold (the analysis, section III; RFC 4782 allows it).
    pub twice: bool,
    /// Whether a connection that got no approval sends another request after an idle time (choice-19). RFC 4782 section
    /// 4.4 bars only a connection whose nonce did not agree (the host checks that) or that lost a packet at an approved
    /// rate.
    pub retries: bool,
    /// Whether to send no request if the initial window holds all the data, because a request would only delay the data
    /// (choice-22).
    pub skips_small: bool,
}

impl Default for QuickStartConfig {
    fn default() -> Self {
        Self {
            request: RateCode::DENIED,
            window_is_sent: true,
            limited: true,
            twice: true,
            retries: true,
            skips_small: true,
        }
    }
}

/// Quick-Start around `S`.
#[derive(Clone, Debug)]
pub struct QuickStart<S> {
    inner: S,
    config: QuickStartConfig,
    stage: Stage,
    /// Whether this is a restart in mid-connection, after an idle time.
    resumes: bool,
    allowed: Allowed,
    /// The window before an idle time, if the request must not exceed it.
    ceiling: Option<Bytes32>,
}

/// How much may still be requested.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Allowed {
    Any,
    /// The connection has met congestion, so at most the window before the idle time (RFC 4782 section 4.8). The
    /// threshold does not show congestion, because Quick-Start itself sets one.
    AsBefore,
    /// No rate may be requested: a packet sent at an approved rate was lost (section 4.6), or a request was denied
    /// (choice-19).
    Nothing,
}

#[derive(Clone, Copy, Debug)]
enum Stage {
    /// The scheme inside does everything.
    Off,
    /// A request is to be sent.
    Wanting,
    /// A request was sent.
    Waiting,
    /// No useful rate was approved, and this has to be reported.
    Reporting { approved: RateCode },
    /// Sends at the approved rate.
    Sending(Sending),
    /// Slow start goes on from the window sent.
    Sent(Carried),
}

/// Sending at the approved rate.
#[derive(Clone, Copy, Debug)]
struct Sending {
    rate: RateCode,
    reported: bool,
    /// The window approved: the rate times a round trip.
    window: Bytes32,
    /// The bytes sent so far.
    sent: Bytes32,
    /// The latest instant at which sending may start.
    latest: Time,
}

/// The data sent at the approved rate, and how much of it was delivered.
#[derive(Clone, Copy, Debug)]
struct Carried {
    rate: RateCode,
    /// The window approved: the rate times a round trip.
    window: Bytes32,
    /// The bytes delivered of the data sent at the rate.
    delivered: Bytes32,
    /// The window that slow start would have by now without an approval.
    without: Bytes32,
    /// The limit of `without`. The packets sent at the rate are acknowledged within one RTT of the first ACK, and in
    /// that RTT slow start would at most have doubled its own window, however many ACKs arrive.
    without_at_most: Bytes32,
    /// The remainder of the division by K: growth that is still due (choice-13).
    owed: Bytes32,
    /// The offset at which the data sent at the rate ends.
    end: u64,
}

impl<S: Startup> QuickStart<S> {
    /// Returns Quick-Start around `inner`.
    pub fn new(inner: S, config: QuickStartConfig) -> Self {
        Self { inner, config, stage: Stage::Off, resumes: false, allowed: Allowed::Any, ceiling: None }
    }

    /// Returns the scheme inside.
    pub fn inside(&self) -> &S {
        &self.inner
    }

    fn begin(&mut self, origin: Origin, event: &Event<'_>, path: &Path) -> Step {
        let step = self.inner.on(event, path);
        self.resumes = matches!(origin, Origin::AfterIdle { .. });
        if matches!(origin, Origin::Fresh | Origin::PathChange) && self.allowed == Allowed::AsBefore {
            // The congestion was on another path.
            self.allowed = Allowed::Any;
        }
        self.ceiling = match origin {
            Origin::AfterIdle { was, .. } if self.allowed == Allowed::AsBefore => Some(was.window.into()),
            Origin::AfterIdle { .. } | Origin::Fresh | Origin::AfterTimeout { .. } | Origin::PathChange => {
                None
            }
        };
        let asks = match origin {
            Origin::Fresh => true,
            Origin::AfterIdle { .. } => self.allowed != Allowed::Nothing,
            Origin::AfterTimeout { .. } | Origin::PathChange => false,
        };
        self.stage = if asks { Stage::Wanting } else { Stage::Off };
        step
    }

    /// Returns the rate to request (section 4.1); `None` if there is nothing to gain.
    fn request(&self, window: Bytes, path: &Path) -> Option<RateCode> {
        let ready = path.backlog.unwrap_or(Bytes::MAX);
        if ready.is_zero() || self.config.skips_small && ready <= window {
            return None;
        }
        let rtt = path.srtt.unwrap_or(UNKNOWN_RTT);
        let as_rate = |bytes: Bytes| bytes.scale(path.wire.get(), path.mss.get()).per(rtt);
        let wanted = match self.config.request {
            RateCode::DENIED => RateCode::up(as_rate(ready)?),
            code => code,
        };
        let max = match self.ceiling {
            Some(bytes) => RateCode::down(as_rate(bytes.wide())?),
            None => RateCode::MAX,
        };
        Some(wanted.min(max)).filter(|code| !code.is_denied())
    }

    /// Records the routers' answer for later requests (choice-19).
    fn note_answer(&mut self, approved: Option<Rate>) {
        let denied = approved.is_none_or(|rate| RateCode::down(rate).is_denied());
        if denied && !self.config.retries {
            self.allowed = Allowed::Nothing;
        }
    }

    /// Takes the routers' answer: the window is R T / (MSS + H) segments (section 4.4).
    fn answered(&mut self, approved: RateCode, path: &Path) {
        let rtt = path.srtt.unwrap_or_default();
        let window = path.mss * approved.rate().over(rtt).packets(path.wire);
        self.stage = if window > self.inner.plan(path).window {
            Stage::Sending(Sending {
                rate: approved,
                reported: false,
                window: window.into(),
                sent: Bytes32::ZERO,
                latest: path.now + rtt.min(LATEST_START),
            })
        } else {
            Stage::Reporting { approved }
        };
    }

    fn acked(&mut self, ack: &Ack<'_>, path: &Path) -> Step {
        let approved = ack.packets.iter().filter(|packet| packet.tag == APPROVED);
        let delivered = approved.fold(Bytes::ZERO, |sum, packet| sum + packet.bytes);
        match &mut self.stage {
            Stage::Sending(sending) if !delivered.is_zero() => {
                let sending = *sending;
                self.first_acked(sending, delivered, ack, path)
            }
            Stage::Sent(carried) => {
                let step = ack.advanced.min(path.mss);
                carried.without = (carried.without.wide() + step).min(carried.without_at_most.wide()).into();
                carried.delivered = (carried.delivered.wide() + delivered).into();
                let mut ack = *ack;
                if self.config.limited {
                    ack.growth = carried.limit(ack.growth, self.inner.plan(path).window, path);
                }
                self.inner.on(&Event::Acked(ack), path)
            }
            Stage::Off | Stage::Wanting | Stage::Waiting | Stage::Reporting { .. } | Stage::Sending(_) => {
                if matches!(self.stage, Stage::Wanting) && self.resumes && !ack.advanced.is_zero() {
                    // The packets sent after the idle time carried no request.
                    self.stage = Stage::Off;
                }
                self.inner.on(&Event::Acked(*ack), path)
            }
        }
    }

    /// Handles the acknowledgement of the first packet sent at the approved rate. The window becomes the bytes sent,
    /// which are the flight and the bytes acknowledged since, and at least the window before.
    fn first_acked(&mut self, sending: Sending, delivered: Bytes, ack: &Ack<'_>, path: &Path) -> Step {
        let before = self.inner.plan(path).window;
        let all = sending.window.wide().max(before);
        let window = if self.config.window_is_sent { sending.sent.wide().clamp(before, all) } else { all };
        self.stage = Stage::Sent(Carried {
            rate: sending.rate,
            window: sending.window,
            delivered: delivered.into(),
            without: (before + ack.advanced.min(path.mss)).into(),
            without_at_most: (before * 2).into(),
            owed: Bytes32::ZERO,
            end: path.nxt,
        });
        let ssthresh = self.config.twice.then(|| sending.window.wide() * 2);
        match self.go_on(window, ssthresh, path) {
            Step::Stay => self.inner.on(&Event::Acked(Ack { growth: Bytes::ZERO, ..*ack }), path),
            done @ Step::Exit(_) => done,
        }
    }

    /// Handles the loss or mark of a packet sent at the approved rate (sections 4.6 and 4.8). The window is what it
    /// would have been without Quick-Start, in mid-connection at most half of the window approved; ssthresh is half
    /// of the bytes delivered.
    fn refuted(&mut self, cause: Cause, path: &Path) -> Step {
        let (without, window, delivered) = match self.stage {
            Stage::Sent(carried) => (carried.without.wide(), carried.window.wide(), carried.delivered.wide()),
            Stage::Sending(sending) => (self.inner.plan(path).window, sending.window.wide(), Bytes::ZERO),
            Stage::Off | Stage::Wanting | Stage::Waiting | Stage::Reporting { .. } => return Step::Stay,
        };
        let max = if self.resumes { window / 2 } else { window };
        // The estimate of that window exceeds the present window only if the approved rate was lower.
        let now = self.inner.plan(path).window;
        self.bar();
        match self.go_on(without.min(max).min(now).max(path.mss), Some(half(delivered, path)), path) {
            // The window is beyond the threshold, but the loss is what ends start-up.
            Step::Exit(exit) => Step::Exit(Exit { cause, ..exit }),
            Step::Stay => Step::Stay,
        }
    }

    fn timed_out(&mut self, event: &Event<'_>, path: &Path) -> Step {
        if !self.outstanding(path) {
            self.stage = Stage::Off;
            return self.inner.on(event, path);
        }
        let delivered = match self.stage {
            Stage::Sent(carried) => carried.delivered.wide(),
            _ => Bytes::ZERO,
        };
        self.bar();
        let learned = PathEstimate {
            window: self.inner.plan(path).window,
            ssthresh: Some(half(delivered.min(path.flight), path)),
            rate: None,
        };
        Step::Exit(Exit { cause: Cause::Timeout, learned })
    }

    /// Returns whether a packet sent at the approved rate may still be lost or marked.
    fn outstanding(&self, path: &Path) -> bool {
        match self.stage {
            Stage::Sending(sending) => sending.sent != Bytes32::ZERO,
            Stage::Sent(carried) => path.una <= carried.end,
            Stage::Off | Stage::Wanting | Stage::Waiting | Stage::Reporting { .. } => false,
        }
    }

    fn bar(&mut self) {
        self.allowed = Allowed::Nothing;
        self.stage = Stage::Off;
    }

    fn go_on(&mut self, window: Bytes, ssthresh: Option<Bytes>, path: &Path) -> Step {
        self.inner.on(&Event::Advice(Advice::Window { window, ssthresh }), path)
    }

    fn asked(&mut self, done: bool, path: &Path) -> Step {
        self.stage = match self.stage {
            Stage::Wanting if done => Stage::Waiting,
            Stage::Wanting | Stage::Reporting { .. } => Stage::Off,
            Stage::Sending(sending) => Stage::Sending(Sending { reported: true, ..sending }),
            Stage::Off | Stage::Waiting | Stage::Sent(_) => return self.inner.on(&Event::Asked(done), path),
        };
        Step::Stay
    }

    fn sent(&mut self, event: &Event<'_>, bytes: Bytes, path: &Path) -> Step {
        if let Stage::Sending(sending) = &mut self.stage {
            if sending.is_late(path) {
                self.stage = Stage::Off;
            } else {
                sending.sent = (sending.sent.wide() + bytes).into();
            }
        }
        self.inner.on(event, path)
    }

    fn lost(&mut self, loss: &Loss<'_>, path: &Path) -> Step {
        let ours = loss.opens_episode && loss.packets.iter().any(|packet| packet.tag == APPROVED);
        match self.stage {
            Stage::Sending(_) | Stage::Sent(_) if ours => self.refuted(Cause::Loss, path),
            _ => self.inner.on(&Event::Lost(*loss), path),
        }
    }

    /// Returns the approved rate that was used, for the record of an exit.
    fn rate_used(&self) -> Option<RateCode> {
        match self.stage {
            Stage::Sent(carried) => Some(carried.rate),
            Stage::Off | Stage::Wanting | Stage::Waiting | Stage::Reporting { .. } | Stage::Sending(_) => {
                None
            }
        }
    }

    /// Records whether there was congestion (section 4.8).
    fn note_congestion(&mut self, event: &Event<'_>) {
        if matches!(event, Event::Lost(_) | Event::Marked { .. } | Event::TimedOut { .. }) {
            self.allowed = self.allowed.max(Allowed::AsBefore);
        }
    }

    fn take(&mut self, event: &Event<'_>, path: &Path) -> Step {
        self.note_congestion(event);
        match event {
            Event::Begin(origin) => self.begin(*origin, event, path),
            Event::Established { .. } => {
                if let Stage::Wanting = self.stage {
                    // There was nothing to gain, or the host could not send the request.
                    self.stage = Stage::Off;
                }
                self.inner.on(event, path)
            }
            Event::Asked(done) => self.asked(*done, path),
            Event::Advice(Advice::QuickStart { approved }) if matches!(self.stage, Stage::Waiting) => {
                self.note_answer(*approved);
                self.answered(approved.map_or(RateCode::DENIED, RateCode::down), path);
                Step::Stay
            }
            Event::Sent(sent) if !sent.retransmission => self.sent(event, sent.bytes, path),
            Event::Acked(ack) => self.acked(ack, path),
            Event::Lost(loss) => self.lost(loss, path),
            Event::Marked { .. } if self.outstanding(path) => self.refuted(Cause::Mark, path),
            Event::TimedOut { .. } => self.timed_out(event, path),
            Event::Sent(_)
            | Event::Marked { .. }
            | Event::SpuriousLoss
            | Event::Advice(_)
            | Event::TrainCut(_)
            | Event::Woken
            | Event::MssChanged => self.inner.on(event, path),
        }
    }
}

impl Sending {
    /// Returns whether the approval is too old to start with.
    fn is_late(&self, path: &Path) -> bool {
        self.sent == Bytes32::ZERO && path.now > self.latest
    }
}

impl Carried {
    /// Applies limited slow start (RFC 3742 section 2) beyond `max_ssthresh`, which is 100 segments, or the window
    /// approved if that is more: an ACK adds MSS / K, with K = cwnd / (`max_ssthresh` / 2), rounded down.
    fn limit(&mut self, growth: Bytes, window: Bytes, path: &Path) -> Bytes {
        let max = (path.mss * MAX_SSTHRESH).max(self.window.wide());
        if window <= max {
            return growth;
        }
        let k = (window * 2).packets(max);
        let owed = self.owed.wide() + growth.min(path.mss);
        let whole = owed / k;
        self.owed = (owed - whole * k).into();
        whole
    }
}

/// Returns half of `bytes`, at least two segments (RFC 5681 equation 4).
fn half(bytes: Bytes, path: &Path) -> Bytes {
    (bytes / 2).max(path.mss * 2)
}

impl<S: Startup> Startup for QuickStart<S> {
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match self.take(event, path) {
            Step::Exit(mut exit) => {
                exit.learned.rate = exit.learned.rate.or(self.rate_used().map(RateCode::rate));
                Step::Exit(exit)
            }
            Step::Stay => Step::Stay,
        }
    }

    /// Records, for a restart policy, that the start-up lost a packet at an approved rate, or was denied one, and
    /// that there was congestion.
    #[inline(never)]
    fn observe(&mut self, event: &Event<'_>, path: &Path) -> Option<PathEstimate> {
        self.note_congestion(event);
        match event {
            Event::Lost(loss) if loss.packets.iter().any(|packet| packet.tag == APPROVED) => {
                self.allowed = Allowed::Nothing;
            }
            Event::Advice(Advice::QuickStart { approved }) => self.note_answer(*approved),
            _ => {}
        }
        self.inner.observe(event, path)
    }

    fn plan(&self, path: &Path) -> Plan {
        let plan = self.inner.plan(path);
        match &self.stage {
            // Only the first packet after the idle time carries the request: the answer to a later one would count
            // traffic of this connection.
            Stage::Wanting if self.resumes && !path.flight.is_zero() => plan,
            Stage::Wanting => {
                let ask = self.request(plan.window, path).map(|code| Ask::QuickStart { rate: code.rate() });
                Plan { ask, ..plan }
            }
            Stage::Reporting { approved } => {
                Plan { ask: Some(Ask::ReportApproved { rate: approved.rate() }), ..plan }
            }
            Stage::Sending(sending) if !sending.is_late(path) => {
                let rate = sending.rate.rate();
                Plan {
                    window: sending.window.wide().max(plan.window),
                    pacing: Pacing::Rate { rate, burst: path.wire },
                    tag: APPROVED,
                    ask: (!sending.reported).then_some(Ask::ReportApproved { rate }),
                    ..plan
                }
            }
            Stage::Off | Stage::Waiting | Stage::Sending(_) | Stage::Sent(_) => plan,
        }
    }
}
