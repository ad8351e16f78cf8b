//! What a sender knows of a transfer, as a row of a race.

use firstflight::{Bytes, Time};
use firstflight_live::Options;
use firstflight_measure::{Goal, Inside, Measured, Recording, ideal, row};
use firstflight_report::Record;
use serde_json::Value;

use super::watched::Heard;

/// Bytes of the headers of IP and TCP, for the bytes of the ideal, which a transfer has not.
const HEADERS: u64 = 40;

/// The fields of a race's row that no sender knows: what happened in the network, to others, and what would have been best.
const UNKNOWN: [&str; 11] = [
    "packets_marked",
    "su_counts",
    "exit_cwnd_over_bdp",
    "time_to_90pct_s",
    "queue_peak_packets",
    "queue_mean_packets",
    "cross_lost_packets",
    "harm_bps",
    "ideal_kind",
    "seed",
    "scenario_hash",
];

/// The row of a transfer, and what is drawn of it.
pub(super) struct Row {
    pub(super) fields: Record,
    pub(super) recording: Recording,
}

impl Row {
    /// The row that the sender's trace gives; `None` if the trace says nothing. `written` are all the bytes that the sender wrote.
    pub(super) fn of(options: &Options, heard: Heard, written: u64) -> Option<Self> {
        let Heard { overheard, inside, .. } = heard;
        let told = overheard.of_transfer(written);
        let mss = u16::try_from(told.evidence.recording.mss).ok()?;
        let scenario = options.scenario(mss).ok()?;
        let goal = Goal::Transfer { ip_bytes: ideal::ip_bytes(written, u64::from(mss), HEADERS) };
        let measured = Measured {
            goal,
            base_rtt: told.min_rtt.unwrap_or(0),
            mss,
            ..scenario.measured(options.choice(), 0)
        };
        let Ok(Value::Object(mut fields)) = serde_json::to_value(row(&measured, &told.evidence)) else {
            return None;
        };
        for field in UNKNOWN {
            if let Some(value) = fields.get_mut(field) {
                *value = Value::Null;
            }
        }
        Some(Self { fields, recording: joined(told.evidence.recording, inside, told.evidence.su_end) })
    }

    pub(super) fn json(&self) -> String {
        Value::Object(self.fields.clone()).to_string()
    }
}

/// The recording with the inside of its sender.
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
