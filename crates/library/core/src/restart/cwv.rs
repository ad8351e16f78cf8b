//! Congestion window validation: what a window is still worth after an idle time, or after it was not fully used.
//!
//! `rfc7661`, the default ("new CWV"): the window is kept, but counts as not validated. The whole window may be sent, paced over one RTT
//! (section 4.4 requires that or a limit on bursts), and the window does not grow. The window is validated when pipeACK, the maximum
//! acknowledged per RTT in the last max(3 RTT, 1 s), is half of the window. A loss before that leaves half of max(pipeACK, flight). After
//! five minutes without validation (NVP) the threshold is at least three quarters of the window, and the window is halved, but not below
//! the initial window.
//!
//! `rfc2861` (Historic): each idle RTO halves the window, or the part of it that the receiver accepts, down to one segment, and the
//! threshold is at least three quarters of the window. If the application leaves the window unfilled for one RTO, the window loses half of
//! its unused part. `linux`: an idle time halves the window down to the restart window, and the RTO that is just over does not count
//! (`tcp_cwnd_restart`). One RTO in which at most half of the window was used removes half of the unused part, down to the restart window
//! (`tcp_cwnd_validate`, `tcp_cwnd_application_limited`).
//!
//! Deviations. The policy judges whether the window is validated only from an idle time on. An application that sends little but steadily
//! is handled by the controller, which grows no window that is not full. RFC 7661 lowers the window by the retransmitted bytes when
//! recovery ends. Here recovery belongs to the host, and the window after it is the target. The samples of pipeACK age in two bins of one
//! sampling period each. Outside of slow start, Linux decays a window that was not full, even if more than half of it was used. This policy
//! does not, because it does not know whether the connection is in slow start.

use crate::interface::{
    Ack, Cause, Event, Exit, Loss, Origin, Pacing, Path, PathEstimate, Plan, Sent, Startup, Step,
};
use crate::registry::{Ability, Kind, Needs, Numbers, Parameter, RestartEntry, Value, choice, place};
use crate::restart::nssr::resumed;
use crate::schemes::{Initial, SlowStart};
use crate::u32_bytes::Bytes32;
use crate::units::{Bytes, Span, Time};

/// RFC 7661 section 4.2: the sampling period is max(3 RTT, 1 s).
const SAMPLING_RTTS: u64 = 3;
const SAMPLING_LEAST: Span = Span::from_secs(1);

/// RFC 7661 section 4.4: five minutes.
const PERIOD: Span = Span::from_secs(300);

const RULE: &str = "rule";
const NVP: &str = "nvp";
const PACING: &str = "pacing";

/// Congestion window validation.
#[derive(Clone, Debug)]
pub struct Cwv {
    slow: SlowStart,
    rule: Rule,
    initial: u16,
    paced: bool,
    /// Time for which a window stays valid without validation.
    period: Span,
    /// The kept window, while it is not validated.
    unvalidated: Option<Unvalidated>,
    /// Time since which the window has not been full (RFC 2861 `T_prev`, Linux `snd_cwnd_stamp`), and the maximum part of the window that
    /// was used (`W_used`, `snd_cwnd_used`).
    unfilled_since: Time,
    used: Bytes32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rule {
    Rfc7661,
    Rfc2861,
    Linux,
}

/// A window that is kept without being validated.
#[derive(Clone, Copy, Debug)]
struct Unvalidated {
    window: Bytes32,
    ssthresh: Option<Bytes32>,
    /// The time since which the window has not been validated.
    since: Time,
    /// Bytes acknowledged in this round trip.
    acked: Bytes32,
    /// Maximum sample of this sampling period and of the previous one.
    samples: [Bytes32; 2],
    /// End of this sampling period.
    until: Time,
}

pub(crate) const CWV: RestartEntry = RestartEntry {
    name: "cwv",
    summary: "the window as it was, paced and frozen until it is validated; half of it after five minutes",
    source: "RFC 7661; RFC 2861 as rule=rfc2861",
    parameters: &[
        Parameter {
            name: RULE,
            kind: Kind::Word(&["rfc7661", "rfc2861", "linux"]),
            default: Value::Word("rfc7661"),
            help: "new congestion window validation, the Historic one, or Linux's restart",
        },
        Parameter {
            name: NVP,
            kind: Kind::Span { min: Span::from_secs(1), max: Span::from_secs(1_000 * 3600) },
            default: Value::Span(PERIOD),
            help: "how long a window is kept without being validated (rfc7661)",
        },
        Parameter {
            name: PACING,
            kind: Kind::Word(&["rate", "none"]),
            default: Value::Word("rate"),
            help: "how a window that is not validated leaves: over a round trip, or as ACKs allow (rfc7661)",
        },
    ],
    needs: Needs::of(&[Ability::AckClock, Ability::Rate, Ability::IdleQuestion, Ability::Sends]).using(&[
        Ability::Backlog,
        Ability::ExactSendTimes,
        Ability::Marks,
    ]),
    make: |initial, settings| Cwv::from_numbers(initial, &settings.numbers()).into(),
};

impl Cwv {
    /// Returns the policy with these parameters, in the order of its entry in the registry.
    pub fn from_numbers(initial: Initial, numbers: &Numbers) -> Self {
        Self {
            rule: if numbers.is(const { choice(CWV.parameters, RULE, "rfc2861") }) {
                Rule::Rfc2861
            } else if numbers.is(const { choice(CWV.parameters, RULE, "linux") }) {
                Rule::Linux
            } else {
                Rule::Rfc7661
            },
            paced: numbers.is(const { choice(CWV.parameters, PACING, "rate") }),
            period: numbers.span(const { place(CWV.parameters, NVP) }),
            ..Self::new(initial)
        }
    }

    /// Returns the policy of RFC 7661 with its defaults.
    pub fn new(initial: Initial) -> Self {
        Self {
            slow: SlowStart::new(initial),
            rule: Rule::Rfc7661,
            initial: u16::try_from(initial.segments).unwrap_or(u16::MAX),
            paced: true,
            period: PERIOD,
            unvalidated: None,
            unfilled_since: Time::ZERO,
            used: Bytes32::ZERO,
        }
    }

    /// Updates the window after a data segment was sent (RFC 2861 section 3.1): if the application left the window unfilled for one RTO,
    /// half of the unused part is lost.
    fn after_sending(&mut self, sent: &Sent, path: &Path) -> Option<PathEstimate> {
        let out = path.flight + if sent.retransmission { Bytes::ZERO } else { sent.bytes };
        let window = path.cwnd.min(path.rwnd);
        if out + path.mss > window {
            (self.unfilled_since, self.used) = (path.now, Bytes32::ZERO);
            return None;
        }
        // The segment being sent still counts as ready to be sent.
        if path.backlog.is_some_and(|backlog| backlog > sent.bytes) {
            return None;
        }
        self.used = self.used.wide().max(out).into();
        if path.now.since(self.unfilled_since) < path.rto {
            return None;
        }
        let used = core::mem::replace(&mut self.used, Bytes32::ZERO).wide();
        self.unfilled_since = path.now;
        let ssthresh = Some(path.cwnd.scale(3, 4));
        Some(PathEstimate { window: ((window + used) / 2).max(path.mss), ssthresh, rate: None })
    }

    /// Updates the window after the last of the data that may be sent (Linux `tcp_cwnd_validate`): if at most half of the window was used
    /// for one RTO, half of the unused part is lost.
    fn after_sending_in_linux(&mut self, sent: &Sent, path: &Path) -> Option<PathEstimate> {
        let out = path.flight + sent.bytes;
        if sent.retransmission {
            return None;
        }
        if out * 2 > path.cwnd {
            (self.unfilled_since, self.used) = (path.now, Bytes32::ZERO);
            return None;
        }
        // The segment being sent still counts as ready to be sent.
        let goes_on = path.backlog.is_some_and(|backlog| backlog > sent.bytes) && out + path.mss <= path.rwnd;
        if goes_on {
            return None;
        }
        self.used = self.used.wide().max(out).into();
        if path.now.since(self.unfilled_since) < path.rto {
            return None;
        }
        self.unfilled_since = path.now;
        if path.recovering {
            return None;
        }
        let used = core::mem::replace(&mut self.used, Bytes32::ZERO).wide();
        let used = used.max(path.mss * u64::from(self.initial));
        let ssthresh = Some(path.cwnd.scale(3, 4));
        (used < path.cwnd).then(|| PathEstimate { window: (path.cwnd + used) / 2, ssthresh, rate: None })
    }

    fn begin(&mut self, idle: Span, was: PathEstimate, path: &Path) -> Step {
        (self.unfilled_since, self.used) = (path.now, Bytes32::ZERO);
        let before = self.unvalidated.take();
        let restart = path.mss * u64::from(self.initial);
        let timeouts = idle.nanos() / path.rto.nanos().max(1);
        match self.rule {
            // Section 3.1: win = min(cwnd, receiver's declared max window).
            Rule::Rfc2861 => self.decayed(halved(was.window.min(path.rwnd), timeouts, path.mss), was, path),
            Rule::Linux => {
                let over = idle.nanos().saturating_sub(1) / path.rto.nanos().max(1);
                self.decayed(halved(was.window, over, restart.min(was.window)), was, path)
            }
            Rule::Rfc7661 => {
                // The window was not validated in the idle time, nor before it if the last restart was not over.
                let since = before.map_or(path.now - idle, |before| before.since);
                if path.now.since(since) > self.period {
                    return self.expired(was, path);
                }
                let period = sampling_period(path);
                self.unvalidated = Some(Unvalidated {
                    window: was.window.into(),
                    ssthresh: was.ssthresh.map(Bytes32::from),
                    since,
                    acked: Bytes32::ZERO,
                    samples: [Bytes32::ZERO; 2],
                    until: path.now + period,
                });
                Step::Stay
            }
        }
    }

    /// Ends the non-validated period (RFC 7661 section 4.4.3).
    fn expired(&mut self, was: PathEstimate, path: &Path) -> Step {
        let min = (path.mss * u64::from(self.initial)).min(was.window);
        self.decayed((was.window / 2).max(min), was, path)
    }

    /// Begins slow start from a decayed window. RFC 2861 section 3 and RFC 7661 section 4.4.3: the threshold remembers three quarters of
    /// the window.
    fn decayed(&mut self, window: Bytes, was: PathEstimate, path: &Path) -> Step {
        self.unvalidated = None;
        let ssthresh = was.ssthresh.map(|ssthresh| ssthresh.max(was.window.scale(3, 4)));
        let was = PathEstimate { window, ssthresh, rate: None };
        self.slow.on(&Event::Begin(Origin::AfterTimeout { was }), path)
    }

    fn acked(&mut self, ack: &Ack<'_>, path: &Path) -> Step {
        let Some(mut kept) = self.unvalidated else { return self.slow.on(&Event::Acked(*ack), path) };
        if path.now >= kept.until {
            kept.samples = [Bytes32::ZERO, kept.samples[0]];
            kept.until = path.now + sampling_period(path);
        }
        kept.acked = (kept.acked.wide() + ack.bytes).into();
        // No samples are taken during loss recovery (RFC 7661 section 4.2).
        if ack.round_ended && !path.recovering {
            kept.samples[0] = kept.samples[0].wide().max(kept.acked.wide()).into();
            kept.acked = Bytes32::ZERO;
        }
        self.unvalidated = Some(kept);
        if kept.pipe_ack() * 2 >= kept.window.wide() {
            self.unvalidated = None;
            return resumed(kept.learned());
        }
        if path.now.since(kept.since) > self.period {
            return self.expired(kept.learned(), path);
        }
        Step::Stay
    }

    /// Handles a loss (RFC 7661 section 4.4.1): half of the flight that the path was seen to carry is left.
    fn lost(&mut self, loss: &Loss<'_>, path: &Path) -> Step {
        let Some(kept) = self.unvalidated else { return self.slow.on(&Event::Lost(*loss), path) };
        if !loss.opens_episode {
            return Step::Stay;
        }
        self.unvalidated = None;
        let seen = kept.pipe_ack().max(path.flight).min(kept.window.wide());
        let target = (seen / 2).max(path.mss * 2);
        let learned = PathEstimate { window: target, ssthresh: Some(target), rate: None };
        Step::Exit(Exit { cause: Cause::Loss, learned })
    }

    fn congested(&mut self, event: &Event<'_>, cause: Cause, path: &Path) -> Step {
        match self.unvalidated.take() {
            None => self.slow.on(event, path),
            Some(kept) => {
                Step::Exit(Exit { cause, learned: PathEstimate { ssthresh: None, ..kept.learned() } })
            }
        }
    }
}

impl Unvalidated {
    fn learned(&self) -> PathEstimate {
        PathEstimate { window: self.window.wide(), ssthresh: self.ssthresh.map(Bytes32::wide), rate: None }
    }

    fn pipe_ack(&self) -> Bytes {
        self.samples[0].wide().max(self.samples[1].wide())
    }
}

fn sampling_period(path: &Path) -> Span {
    path.srtt.map_or(SAMPLING_LEAST, |srtt| SAMPLING_LEAST.max(srtt * SAMPLING_RTTS))
}

/// Returns `window` halved `times` times, but at least `min`.
fn halved(window: Bytes, times: u64, min: Bytes) -> Bytes {
    let by = 1u64.checked_shl(u32::try_from(times).unwrap_or(u32::MAX)).unwrap_or(u64::MAX);
    (window / by).max(min)
}

impl Startup for Cwv {
    #[inline(never)]
    fn observe(&mut self, event: &Event<'_>, path: &Path) -> Option<PathEstimate> {
        match event {
            Event::Sent(sent) => match self.rule {
                Rule::Rfc7661 => None,
                Rule::Rfc2861 => self.after_sending(sent, path),
                Rule::Linux => self.after_sending_in_linux(sent, path),
            },
            // On a new path no window was left unfilled.
            Event::Begin(Origin::Fresh | Origin::PathChange) => {
                (self.unfilled_since, self.used, self.unvalidated) = (path.now, Bytes32::ZERO, None);
                None
            }
            _ => None,
        }
    }

    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match event {
            Event::Begin(Origin::AfterIdle { idle, was }) => self.begin(*idle, *was, path),
            Event::Acked(ack) => self.acked(ack, path),
            Event::Lost(loss) => self.lost(loss, path),
            Event::Marked { .. } => self.congested(event, Cause::Mark, path),
            Event::TimedOut { .. } => self.congested(event, Cause::Timeout, path),
            Event::Begin(_)
            | Event::Established { .. }
            | Event::Sent(_)
            | Event::SpuriousLoss
            | Event::Asked(_)
            | Event::Advice(_)
            | Event::TrainCut(_)
            | Event::Woken
            | Event::MssChanged
                if self.unvalidated.is_some() =>
            {
                Step::Stay
            }
            _ => self.slow.on(event, path),
        }
    }

    fn plan(&self, path: &Path) -> Plan {
        let Some(kept) = &self.unvalidated else { return self.slow.plan(path) };
        let window = kept.window.wide();
        let plan = Plan::ack_clocked(window, kept.ssthresh.map(Bytes32::wide));
        let wire = window.scale(path.wire.get(), path.mss.get());
        match path.srtt.filter(|_| self.paced).and_then(|srtt| wire.per(srtt)) {
            Some(rate) => Plan { pacing: Pacing::Rate { rate, burst: path.wire }, ..plan },
            None => plan,
        }
    }
}
