//! What a run in the kernel's TCP came to: rows from its packets, and from what is known of the inside of its senders.

use firstflight_measure::Recording;
use serde_json::{Map, Value};

/// What was seen of a run of one scheme.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// The row of the run. It lacks what neither packets nor the scheme tell.
    pub row: Map<String, Value>,
    /// The rows of the flows of a population, in order of their begins.
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
    use firstflight_emulate::{Side, Tape};
    use firstflight_measure::{Evidence, Recording, row};
    use firstflight_scenario::{Scenario, SchemeChoice};
    use serde_json::{Map, Value};

    use super::Seen;
    use crate::connections::{Connection, connections};
    use crate::heard::hear;
    use crate::hosting::Inside;
    use crate::linux::PORT;
    use crate::population::{self, Flow};
    use crate::replies::replies;

    /// What is known beside the packets.
    pub(crate) struct Facts {
        /// The bytes of the replies that were received, by the receiver's port.
        pub(crate) replies: BTreeMap<u16, Vec<u64>>,
        /// The inside of senders, likewise.
        pub(crate) inside: Vec<(u16, Inside)>,
        /// Seconds of processors that the run took.
        pub(crate) cpu: f64,
    }

    /// Columns that neither packets nor schemes tell.
    const NOT_SEEN: [&str; 7] = [
        "timeouts",
        "su_timeouts",
        "su_counts",
        "queue_peak_packets",
        "queue_mean_packets",
        "cross_lost_packets",
        "harm_bps",
    ];
    /// Columns that the packets alone do not tell.
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
            tape: &Tape,
            facts: &Facts,
        ) -> Result<Self, String> {
            let all = connections(tape, Side::B, PORT);
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
                let row = population::row(scenario, choice, &flows, (tape, Side::B, facts.cpu));
                return Ok(Self { row, flows: population::flow_rows(scenario, choice, &flows), recording });
            }
            let is_told = first.is_told;
            let replies = flows.iter().flat_map(|flow| flow.evidence.replies.iter().copied()).collect();
            let evidence = Evidence { replies, ..flows.swap_remove(0).evidence };
            Ok(Self { row: race_row(scenario, choice, &evidence, is_told)?, flows: Vec::new(), recording })
        }
    }

    /// A connection with what is known of it; `None` if the server answered no SYN.
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
                let heard = hear(trace.as_bytes()).map_err(|error| format!("a trace: {error}"))?;
                heard.add_to(&mut evidence);
                handed_over(&mut evidence);
            }
            Some(Inside::Approved(rate)) => evidence.granted = *rate,
            None => {}
        }
        Ok(Some(Flow { evidence, is_told: matches!(inside, Some(Inside::Trace(_))) }))
    }

    /// The scheme hears no more once it has left the socket to the kernel's law: start-up is over with its exit, and an exit by a
    /// loss is a reduction.
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
        is_told: bool,
    ) -> Result<Map<String, Value>, String> {
        let row = serde_json::to_value(row(&scenario.measured(choice, scenario.seed), evidence));
        let Ok(Value::Object(mut row)) = row else { return Err("a row is no object".to_owned()) };
        let unknown = if is_told { &[][..] } else { &OF_THE_INSIDE };
        for column in NOT_SEEN.iter().chain(unknown) {
            row.remove(*column);
        }
        Ok(row)
    }
}
