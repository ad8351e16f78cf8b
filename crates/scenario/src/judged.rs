//! What `firstflight-measure` needs from a scenario to evaluate a run over it.

use firstflight::registry::{Help, Needs};
use firstflight_measure::ideal::{ENDLESS, ip_bytes};
use firstflight_measure::{ALONE, Contest, IdealKind, IdealSender, Measured, Policer, Subject};
use firstflight_sim::Batch;

use crate::asking::is_quick_start;
use crate::bottleneck::{Aqm, AqmKind};
use crate::choice::SchemeChoice;
use crate::scenario::{Goal, Scenario};
use crate::words::{self, Cross};

impl Scenario {
    /// The scheme and the path of a run of this scheme with this seed.
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
        }
    }

    /// The scheme as rows name it.
    pub fn subject(&self, choice: &SchemeChoice) -> Subject {
        let own = self.for_scheme(choice);
        Subject {
            scheme: choice.entry.name.to_owned(),
            label: choice.label.clone(),
            params: choice.params(),
            avoidance: choice.law(own.avoidance).to_owned(),
            recovery: words::recovery_name(own.recovery).to_owned(),
            stack: words::stack_if_not_rfc(own.stack).map(str::to_owned),
            restart: own.restart.to_string(),
            deploy: self.deploy(choice),
        }
    }

    /// What the scheme, its law and its restart policy need beyond the sender: words of [`Help`] joined by `+`, or `alone`.
    pub fn deploy(&self, choice: &SchemeChoice) -> String {
        let own = self.for_scheme(choice);
        let law = own.registry.law(choice.law(own.avoidance)).map(|law| law.needs).unwrap_or_default();
        deploy(choice.needs().and(own.restart.entry.needs).and(law))
    }

    /// The condition that ends a run.
    pub fn goal_of_runs(&self) -> firstflight_measure::Goal {
        match self.goal {
            _ if self.rounds.is_some() => firstflight_measure::Goal::Rounds,
            Goal::Size(size) => firstflight_measure::Goal::Transfer { ip_bytes: self.ip_bytes(size.get()) },
            Goal::Duration(_) => firstflight_measure::Goal::Duration,
        }
    }

    /// Whether the ideal is exact or a fair share.
    pub fn ideal_kind(&self) -> IdealKind {
        if self.is_responsive() { IdealKind::FairShare } else { IdealKind::Exact }
    }

    /// The criterion by which the results of a race over this scenario are compared.
    pub fn contest(&self) -> Contest {
        Contest {
            goal: self.goal_of_runs(),
            payload_bps: self.payload_bps(),
            seeded: self.seed_changes_runs(),
        }
    }

    /// Whether the seed can change a run: whether anything on the path is drawn at random. Which queue of FQ-CoDel a flow
    /// gets is, and matters to flows beside others alone, which start at random themselves.
    pub fn seed_changes_runs(&self) -> bool {
        let draws = |aqm: Aqm| matches!(aqm.kind, AqmKind::Red | AqmKind::Pie);
        self.has_cross()
            || (self.population.is_some() && self.script.is_empty())
            || !self.loss.is_zero()
            || !self.ack_loss.is_zero()
            || self.jitter.is_some()
            || self.reverse_jitter.is_some()
            || self.pacing_timer.is_some()
            || self.aqm.is_some_and(draws)
            || matches!(self.ack_aggregation, Some(Batch::Every(_)))
            || self.rounds.is_some_and(|rounds| rounds.spread.is_some() || rounds.clients > 1)
    }

    /// The payload share of the available rate; `None` if other traffic shares the path.
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
        if self.rate_trace.is_some() || self.policer.is_some() {
            return None;
        }
        let left = self.rate.bps().saturating_sub(unresponsive).min(self.access_rate.bps());
        let left = self.receiver_access_rate.map_or(left, |rate| left.min(rate.bps()));
        Some(left as f64 * f64::from(self.mss) / f64::from(self.packet()))
    }

    /// The ideal sender of this scenario.
    pub fn ideal_sender(&self) -> IdealSender {
        let rates = match &self.rate_trace {
            Some(trace) => trace.steps().iter().map(|(at, rate)| (at.nanos(), rate.bps())).collect(),
            None => vec![(0, self.rate.bps())],
        };
        IdealSender {
            access_bps: self.access_rate.bps(),
            receiver_bps: self.receiver_access_rate.map(firstflight::Rate::bps),
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

    /// The writes of the application: nanoseconds after the SYN, and IP bytes.
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

    /// The IP bytes of `payload` bytes in full segments.
    fn ip_bytes(&self, payload: u64) -> u64 {
        let mss = u64::from(self.mss);
        ip_bytes(payload, mss, u64::from(self.packet()) - mss)
    }
}

/// What these needs are beyond the sender: words of [`Help`] joined by `+`, or `alone`.
pub fn deploy(needs: Needs) -> String {
    let words: Vec<&str> = needs.help().map(Help::name).collect();
    if words.is_empty() { ALONE.to_owned() } else { words.join("+") }
}

#[cfg(test)]
mod tests;
