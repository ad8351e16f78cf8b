//! The results of a run in the kernel's TCP. Rows are computed from the run's packets, and from its senders' internal events.

use firstflight_measure::Recording;
use serde_json::{Map, Value};

/// The results of a run of one scheme.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The row of the run, without the columns that neither the packets nor the scheme show.
    pub row: Map<String, Value>,
    /// The rows of the flows of a population, in order of their start times.
    pub flows: Vec<Map<String, Value>>,
    /// The recording of the first connection.
    pub recording: Recording,
}

#[cfg(target_os = "linux")]
pub(crate) use linux::Facts;

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;

    use firstflight::{Cause, Span};
    use firstflight_emulate::{PacketLog, Side};
    use firstflight_measure::{Evidence, Recording, row};
    use firstflight_scenario::{Scenario, SchemeChoice};
    use serde_json::{Map, Value};

    use super::Seen;
    use crate::connections::{Connection, connections};
    use crate::hosting::Inside;
    use crate::linux::PORT;
    use crate::population::{self, Flow};
    use crate::replies::replies;
    use crate::sender_events::read_trace;

    /// Facts about a run that its packets do not show.
    pub(crate) struct Facts {
        /// The sizes of the received replies in bytes, by the receiver's port.
        pub(crate) replies: BTreeMap<u16, Vec<u64>>,
        /// The senders' internal events, by the receiver's port.
        pub(crate) inside: Vec<(u16, Inside)>,
        /// The CPU seconds of the run.
        pub(crate) cpu: f64,
    }

    /// Columns that neither packets nor senders' internal events show.
    const NOT_SEEN: [&str; 11] = [
        "timeouts",
        "su_timeouts",
        "su_counts",
        "queue_peak_packets",
        "queue_mean_packets",
        "cross_lost_packets",
        "harm_during_lost_packets",
        "harm_during_bps",
        "longest_wait_s",
        "longest_wait_end",
        "waited_s",
    ];
    /// Columns that the packets alone do not show.
    const OF_THE_INSIDE: [&str; 12] = [
        "su_time_s",
        "su_throughput_bps",
        "su_loss",
        "trains",
        "exit_cause",
        "exit_time_s",
        "exit_rate_bps",
        "exit_cwnd_packets",
        "exit_cwnd_over_bdp",
        "cwnd_before_first_cut_packets",
        "overshoot_lost_packets",
        "time_to_90pct_s",
    ];

    impl Seen {
        pub(crate) fn new(
            scenario: &Scenario,
            choice: &SchemeChoice,
            packet_log: &PacketLog,
            facts: &Facts,
        ) -> Result<Self, String> {
            let all = connections(packet_log, Side::B, PORT);
            let mut flows = Vec::new();
            for (port, connection) in &all {
                let got = facts.replies.get(port).map_or(&[][..], Vec::as_slice);
                let inside = facts.inside.iter().find(|(of, _)| of == port).map(|(_, inside)| inside);
                flows.extend(flow(scenario, connection, got, inside)?);
            }
            flows.sort_by_key(|flow| flow.evidence.recording.syn_at);
            let Some(first) = flows.first() else { return Err("no connection was opened".to_owned()) };
            let recording = Recording { label: choice.name().to_owned(), ..first.evidence.recording.clone() };
            if scenario.population.is_some() {
                let row = population::row(scenario, choice, &flows, (packet_log, Side::B, facts.cpu));
                return Ok(Self { row, flows: population::flow_rows(scenario, choice, &flows), recording });
            }
            let is_inside_known = first.is_inside_known;
            let replies = flows.iter().flat_map(|flow| flow.evidence.replies.iter().copied()).collect();
            let evidence = Evidence { replies, ..flows.swap_remove(0).evidence };
            Ok(Self {
                row: race_row(scenario, choice, &evidence, is_inside_known)?,
                flows: Vec::new(),
                recording,
            })
        }
    }

    /// Returns the evidence of a connection; `None` if the sender sent no SYN.
    fn flow(
        scenario: &Scenario,
        connection: &Connection<'_>,
        got: &[u64],
        inside: Option<&Inside>,
    ) -> Result<Option<Flow>, String> {
        let rounds = scenario.rounds.map_or(1, |rounds| rounds.count);
        let all_came = got.len() >= rounds as usize;
        let size = if all_came { got.iter().sum() } else { u64::MAX };
        let Some(began) = connection.began() else { return Ok(None) };
        let limit = match scenario.population {
            Some(_) => Span::from_nanos(scenario.limit.nanos().saturating_sub(began)),
            None => scenario.limit,
        };
        let Some(mut evidence) = connection.evidence(scenario.mss, size, limit) else { return Ok(None) };
        if let (Some(rounds), Some(bytes)) = (scenario.rounds, got.first()) {
            evidence.replies = replies(&evidence.recording, &connection.acks(), rounds.count, *bytes);
        }
        match inside {
            Some(Inside::Trace(trace)) => {
                let heard = read_trace(trace.as_bytes()).map_err(|error| format!("a trace: {error}"))?;
                heard.add_to(&mut evidence);
                handed_over(&mut evidence);
            }
            Some(Inside::Approved(rate)) => evidence.granted = *rate,
            None => {}
        }
        Ok(Some(Flow { evidence, is_inside_known: matches!(inside, Some(Inside::Trace(_))) }))
    }

    /// Completes the evidence of a scheme that passes the socket to the kernel's avoidance law and then gets no more events. Start-up is
    /// over at the scheme's exit, and an exit because of a loss is a reduction.
    fn handed_over(evidence: &mut Evidence) {
        let Some(exit) = evidence.exits.first().copied() else { return };
        evidence.su_end.get_or_insert(exit.at);
        if evidence.cuts.is_empty() && matches!(exit.cause, Cause::Loss | Cause::Timeout | Cause::Mark) {
            evidence.cuts.push((exit.at, exit.cwnd));
        }
    }

    fn race_row(
        scenario: &Scenario,
        choice: &SchemeChoice,
        evidence: &Evidence,
        is_inside_known: bool,
    ) -> Result<Map<String, Value>, String> {
        let row = serde_json::to_value(row(&scenario.measured(choice, scenario.seed), evidence));
        let Ok(Value::Object(mut row)) = row else { return Err("a row is no object".to_owned()) };
        let unknown = if is_inside_known { &[][..] } else { &OF_THE_INSIDE };
        for column in NOT_SEEN.iter().chain(unknown) {
            row.remove(*column);
        }
        Ok(row)
    }
}
