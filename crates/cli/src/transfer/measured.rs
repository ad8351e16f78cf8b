//! Turns what the sender knows about a transfer into a row of a race.

use firstflight::{Bytes, Time};
use firstflight_export::{Record, json};
use firstflight_habitats::Observed;
use firstflight_measure::{Goal, Inside, Measured, Recording, ideal, row};
use firstflight_udp::Options;
use serde_json::Value;

/// The record of one connection.
#[derive(Default)]
pub(super) struct Heard {
    /// The evidence from the sender's trace.
    pub(super) observed: Observed,
    /// The sender's internal states, if a report draws them.
    pub(super) inside: Recording,
}

/// The bytes of the IP and TCP headers. They are used only for the ideal, which is undefined for a transfer.
const HEADERS: u64 = 40;

/// The fields of a race's row that a sender cannot know: events in the network, effects on others, and the ideal.
const UNKNOWN: [&str; 15] = [
    "packets_marked",
    "su_counts",
    "exit_cwnd_over_bdp",
    "time_to_90pct_s",
    "queue_peak_packets",
    "queue_mean_packets",
    "cross_lost_packets",
    "harm_during_lost_packets",
    "harm_during_bps",
    "longest_wait_s",
    "longest_wait_end",
    "waited_s",
    "ideal_kind",
    "seed",
    "scenario_hash",
];

/// The row of a transfer, with its recording for the plots.
pub(super) struct Row {
    pub(super) fields: Record,
    pub(super) recording: Recording,
}

impl Row {
    /// Returns the row that follows from the sender's trace; `None` if the trace has no evidence. `written` is the number of bytes that the
    /// sender wrote.
    pub(super) fn of(options: &Options, heard: Heard, written: u64) -> Option<Self> {
        let Heard { observed, inside } = heard;
        let record = observed.of_transfer(written);
        let mss = u16::try_from(record.evidence.recording.mss).ok()?;
        let scenario = options.scenario(mss).ok()?;
        let goal = Goal::Transfer { ip_bytes: ideal::ip_bytes(written, u64::from(mss), HEADERS) };
        let measured = Measured {
            goal,
            base_rtt: record.min_rtt.unwrap_or(0),
            mss,
            ..scenario.measured(options.choice(), 0)
        };
        let Ok(Value::Object(mut fields)) = serde_json::to_value(row(&measured, &record.evidence)) else {
            return None;
        };
        for field in UNKNOWN {
            if let Some(value) = fields.get_mut(field) {
                *value = Value::Null;
            }
        }
        Some(Self { fields, recording: joined(record.evidence.recording, inside, record.evidence.su_end) })
    }

    pub(super) fn json(&self) -> String {
        // A record can always be written as JSON.
        json::line(&self.fields).unwrap_or_default()
    }
}

/// Returns the recording, with the sender's internal states from `inside` added.
fn joined(recording: Recording, inside: Recording, su_end: Option<u64>) -> Recording {
    let Recording { states, rtts, mut phases, marks, .. } = inside;
    let ended_at = recording.ended_at;
    phases.retain(|span| span.from < ended_at);
    if let Some(last) = phases.last_mut() {
        last.to = ended_at;
    }
    let mut joined = Recording { states, rtts, phases, marks, ..recording };
    if let Some(at) = su_end {
        let then = joined.states.iter().take_while(|state| state.at <= at).last();
        let cwnd = Bytes::new(then.map_or(0, |state| state.cwnd));
        Inside::su_end(&mut joined, Time::from_nanos(at), cwnd);
        joined.marks.sort_by_key(|mark| mark.at);
    }
    joined.states.retain(|state| state.at <= ended_at);
    joined.rtts.retain(|(at, _)| *at <= ended_at);
    joined.marks.retain(|mark| mark.at <= ended_at);
    joined
}
