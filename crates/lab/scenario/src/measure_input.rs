//! Values of a scenario with which `firstflight-measure` evaluates a run over it.

use firstflight::registry::{Help, Needs};
use firstflight::{Span, Time};
use firstflight_measure::available::{carried_by, rate_at};
use firstflight_measure::ideal::{ENDLESS, ip_bytes};
use firstflight_measure::{ALONE, Contest, IdealKind, IdealSender, Measured, Policer, Subject};
use firstflight_sim::{Batch, RateTrace};

use crate::asking::is_quick_start;
use crate::bottleneck::{Aqm, AqmKind};
use crate::choice::SchemeChoice;
use crate::keywords::{self, Cross};
use crate::quic::OWN;
use crate::scenario::{Goal, Scenario};
use crate::traces::TraceOrigin;

/// The time before a flow for which a trace that repeats is known, in addition to the limit.
const BEFORE: Span = Span::from_secs(600);

/// The maximum number of steps of a trace that repeats in the ideal sender. The mean rate follows.
const MOST_STEPS: usize = 1 << 20;

/// The time after the end of a transfer for which opportunities are known one by one.
const SLACK: Span = Span::from_secs(10);

impl Scenario {
    /// Returns the scheme and the path of a run with this seed.
    pub fn measured(&self, choice: &SchemeChoice, seed: u64) -> Measured {
        Measured {
            subject: self.subject(choice),
            seed,
            scenario_hash: self.hash(),
            goal: self.goal_of_runs(),
            ideal_kind: self.ideal_kind(),
            base_rtt: self.rtt.nanos(),
            packet: self.packet(),
            mss: self.mss,
            quick_start: is_quick_start(self, choice),
            writes_in_pieces: self.app.is_some(),
        }
    }

    /// Returns the scheme with its settings, as the rows of a result identify it.
    pub fn subject(&self, choice: &SchemeChoice) -> Subject {
        let own = self.for_scheme(choice);
        let plain = Subject {
            scheme: choice.entry.name.to_owned(),
            label: choice.label.clone(),
            params: choice.params(),
            avoidance: choice.law(own.avoidance).to_owned(),
            recovery: keywords::recovery_name(own.recovery).to_owned(),
            stack: keywords::stack_of_row(own.stack, own.quic).map(str::to_owned),
            restart: own.restart.to_string(),
            deploy: self.deploy(choice),
            source_hash: self.registry.source_of(choice.entry.name).map(|hash| format!("{hash:016x}")),
        };
        if own.quic.is_none() {
            return plain;
        }
        Subject {
            avoidance: if choice.own_controller().is_some() { OWN.to_owned() } else { plain.avoidance },
            recovery: "rfc9002".to_owned(),
            restart: "none".to_owned(),
            ..plain
        }
    }

    /// Returns which parties besides the sender must support the scheme, its law or its restart policy: words of [`Help`] joined by `+`, or
    /// `alone` if none must.
    pub fn deploy(&self, choice: &SchemeChoice) -> String {
        let own = self.for_scheme(choice);
        let law = own.registry.law(choice.law(own.avoidance)).map(|law| law.needs).unwrap_or_default();
        deploy(choice.needs().and(own.restart.entry.needs).and(law))
    }

    /// Returns the condition that ends a run.
    pub fn goal_of_runs(&self) -> firstflight_measure::Goal {
        match self.goal {
            _ if self.rounds.is_some() => firstflight_measure::Goal::Rounds,
            Goal::Size(size) => firstflight_measure::Goal::Transfer { ip_bytes: self.ip_bytes(size.get()) },
            Goal::Duration(_) => firstflight_measure::Goal::Duration,
        }
    }

    /// Returns whether the ideal completion time is exact or assumes a fair share.
    pub fn ideal_kind(&self) -> IdealKind {
        if self.is_responsive() { IdealKind::FairShare } else { IdealKind::Exact }
    }

    /// Returns the criterion by which the results of a race over this scenario are compared.
    pub fn contest(&self) -> Contest {
        Contest {
            goal: self.goal_of_runs(),
            payload_bps: self.payload_bps(),
            seeded: self.seed_changes_runs(),
        }
    }

    /// Checks whether the seed can change a run, that is, whether anything on the path is random. The FQ-CoDel queue of a flow is random
    /// too, but it matters only to flows that share the path with others, and then the starts of those flows are random anyway.
    pub fn seed_changes_runs(&self) -> bool {
        let draws = |aqm: Aqm| matches!(aqm.kind, AqmKind::Red | AqmKind::Pie);
        self.has_cross()
            || (self.population.is_some() && self.script.is_empty())
            || !self.loss.is_zero()
            || !self.ack_loss.is_zero()
            || self.loss_bursts.is_some()
            || self.ack_loss_bursts.is_some()
            || self.reorder.is_some()
            || !self.duplicate.is_zero()
            || matches!(self.aggregation, Some(Batch::Every(_)))
            || self.jitter.is_some()
            || self.reverse_jitter.is_some()
            || self.rate_origin.as_ref().is_some_and(TraceOrigin::is_seeded)
            || self.delay_origin.as_ref().is_some_and(TraceOrigin::is_seeded)
            || self.pacing_timer.is_some()
            || self.timer_noise.is_some()
            || self.aqm.is_some_and(draws)
            || matches!(self.ack_aggregation, Some(Batch::Every(_)))
            || self.rounds.is_some_and(|rounds| rounds.spread.is_some() || rounds.clients > 1)
    }

    /// Returns the available rate in payload bits per second. `None` with a rate trace, with outages, with a policer, or with cross traffic
    /// other than one constant bit rate.
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
    fn payload_bps(&self) -> Option<f64> {
        if self.beside.iter().any(|entry| !entry.reverse) {
            return None;
        }
        let unresponsive = match self.cross {
            Cross::None => 0,
            Cross::Cbr(rate) => rate.bps(),
            Cross::Tcp(_)
            | Cross::OnOff { .. }
            | Cross::Poisson { .. }
            | Cross::Users { .. }
            | Cross::Web(_) => return None,
        };
        if self.rate_trace.is_some() || self.outage.is_some() || self.policer.is_some() {
            return None;
        }
        let left = self.rate.bps().saturating_sub(unresponsive).min(self.access_rate.bps());
        let left = self.receiver_access_rate.map_or(left, |rate| left.min(rate.bps()));
        Some(left as f64 * f64::from(self.mss) / f64::from(self.packet()))
    }

    /// Returns the ideal sender of this scenario. Along a trace of opportunities its link has the mean rates of bins of
    /// [`RateTrace::BIN`].
    pub fn ideal_sender(&self) -> IdealSender {
        let rates = match &self.rates() {
            Some(trace) if trace.period().is_some() || !trace.start().is_zero() => {
                trace.unrolled(Time::ZERO + self.limit + BEFORE, MOST_STEPS)
            }
            Some(trace) => trace.steps().iter().map(|(at, rate)| (at.nanos(), rate.bps())).collect(),
            None => vec![(0, self.rate.bps())],
        };
        IdealSender {
            access_bps: self.access_rate.bps(),
            receiver_bps: self.receiver_access_rate.map(firstflight::Rate::bps),
            opportunities: None,
            rates,
            policer: self
                .policer
                .map(|policer| Policer { bps: policer.rate.bps(), burst: policer.burst.get() }),
            base_rtt: self.rtt.nanos(),
            writes: self.writes().collect(),
            ip_bytes: match self.goal {
                Goal::Size(size) => Some(self.ip_bytes(size.get())),
                Goal::Duration(_) => None,
            },
        }
    }

    /// Returns the ideal sender with the opportunities of a trace one by one, from time zero until its transfer is sure to be complete on
    /// an empty path, and the mean rates of bins after that. Without opportunities this is [`Scenario::ideal_sender`].
    ///
    /// An opportunity carries the IP bytes that full packets have in it. It is a bound for packets of other sizes, because each packet uses
    /// some bytes in addition.
    pub fn ideal_sender_of_packets(&self) -> IdealSender {
        let sender = self.ideal_sender();
        let Some(trace) = self.rate_trace.as_ref().filter(|trace| trace.millis().is_some()) else {
            return sender;
        };
        let begins = (self.flow_start() + self.rtt).nanos();
        let bytes = sender.ip_bytes.map(|bytes| bytes.saturating_mul(2));
        let carried = bytes.and_then(|bytes| carried_by(&sender.rates, begins, bytes));
        let latest = Time::ZERO + self.flow_start() + self.limit;
        let until = carried.map_or(latest, |at| (Time::from_nanos(at) + SLACK).min(latest));
        let packet = u64::from(self.packet());
        let bits = u64::from(RateTrace::OPPORTUNITY) * 8 * packet;
        // All bits of an opportunity pass in the nanosecond before it.
        let rate =
            (u128::from(bits) * 1_000_000_000).div_ceil(u128::from(packet) + u128::from(RateTrace::OVERHEAD));
        let rate = u64::try_from(rate).unwrap_or(u64::MAX);
        let mut steps = vec![(0, 0)];
        for (at, count) in trace.opportunities_until(until) {
            let before = at.nanos().saturating_sub(1);
            if steps.last().is_some_and(|(last, _)| *last == before) {
                steps.pop();
            }
            steps.extend([(before, rate.saturating_mul(count)), (at.nanos(), 0)]);
        }
        let until = until.nanos().max(steps.last().map_or(0, |(at, _)| at + 1));
        let later = sender.rates.iter().filter(|(at, _)| *at > until).copied();
        let from = rate_at(&sender.rates, until).unwrap_or(0);
        steps.extend(std::iter::once((until, from)).chain(later));
        IdealSender { opportunities: Some(steps), ..sender }
    }

    /// Returns the writes of the application: nanoseconds after the SYN, and IP bytes.
    fn writes(&self) -> impl Iterator<Item = (u64, u64)> {
        let size = match self.goal {
            Goal::Size(size) => size.get(),
            Goal::Duration(_) => ENDLESS,
        };
        let app = self.app.filter(|_| self.is_sized());
        let (bytes, period) = app.map_or((size, 0), |app| (app.bytes.get().max(1), app.period.nanos()));
        let rest = move |written: u64| self.ip_bytes(size.saturating_sub(written));
        let count = if bytes == 0 { 0 } else { size.div_ceil(bytes) };
        (0..count).map(move |index| {
            let written = index.saturating_mul(bytes);
            let own = rest(written) - rest(written.saturating_add(bytes));
            (period.saturating_mul(index), own)
        })
    }

    /// Returns the IP bytes of `payload` bytes in full segments.
    fn ip_bytes(&self, payload: u64) -> u64 {
        let mss = u64::from(self.mss);
        ip_bytes(payload, mss, u64::from(self.packet()) - mss)
    }
}

/// Returns which parties besides the sender must support a scheme with these needs: words of [`Help`] joined by `+`, or `alone` if none
/// must.
pub fn deploy(needs: Needs) -> String {
    let words: Vec<&str> = needs.help().map(Help::name).collect();
    if words.is_empty() { ALONE.to_owned() } else { words.join("+") }
}

#[cfg(test)]
mod tests;
