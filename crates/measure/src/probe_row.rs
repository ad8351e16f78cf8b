//! The rows of probings with packet trains. docs/probe.md defines every number.

use serde::Serialize;

/// A probing of a path. Rates count IP bits per second; `None` (JSON `null`) where a number is undefined.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ProbeRow {
    /// `probe`.
    pub scheme: String,
    /// How it probed, as the key `probe` says it.
    pub search: String,
    /// PTR: the rate at which the train of the turning point arrived. With one gap, at which its train did.
    pub ptr_bps: Option<f64>,
    /// IGI: the capacity found less the other traffic in the increased gaps of that train.
    pub igi_bps: Option<f64>,
    /// The least bandwidth available by what arrived unchanged.
    pub low_bps: Option<f64>,
    /// The most, by what arrived stretched, or by the capacity.
    pub high_bps: Option<f64>,
    /// The rate of the narrowest link that the first burst showed.
    pub capacity_bps: Option<f64>,
    /// The truth: the least over the links of what they could have carried beside the other traffic of the same run without the
    /// probing, from its first departure to its end.
    pub available_bps: Option<f64>,
    /// PTR over the truth, less one; undefined where less than 1 % of the path's rate is available.
    pub ptr_error: Option<f64>,
    /// IGI over the truth, less one.
    pub igi_error: Option<f64>,
    /// Why it ended: `turning-point`, `gap`, `trains` or `void`.
    pub ending: String,
    /// The mean gap at departure of the turning point's trains.
    pub source_gap_s: Option<f64>,
    /// The mean gap at arrival.
    pub arrival_gap_s: Option<f64>,
    /// The gap at arrival less the gap at departure.
    pub gap_difference_s: Option<f64>,
    /// The rate at which the turning point's trains left.
    pub source_rate_bps: Option<f64>,
    /// Trains sent, a round trip each.
    pub trains: u64,
    /// Packets sent.
    pub packets: u64,
    /// Of those, how many did not arrive in time.
    pub packets_lost: u64,
    /// From the first departure to the end.
    pub elapsed_s: Option<f64>,
    /// That time in base round trips.
    pub round_trips: Option<f64>,
    /// The seed of the run.
    pub seed: u64,
    /// The program's version.
    pub version: String,
    /// Hash of the scenario.
    pub scenario_hash: String,
}

/// A train of a probing. Gaps are means over the counted gaps: those between packets in a row that arrived, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TrainRow {
    /// Its number in the probing, from zero.
    pub train: u64,
    /// When its first packet left, from the first departure of the probing.
    pub at_s: f64,
    /// The gap that was asked for; zero for back to back.
    pub asked_gap_s: f64,
    /// The mean gap at departure.
    pub source_gap_s: Option<f64>,
    /// The mean gap at arrival.
    pub arrival_gap_s: Option<f64>,
    /// The gap at arrival less the gap at departure.
    pub gap_difference_s: Option<f64>,
    /// The rate at which it left.
    pub source_rate_bps: Option<f64>,
    /// The rate at which it arrived.
    pub arrival_rate_bps: Option<f64>,
    /// What the gaps say: `burst`, `congested`, `equal`, `open` (judged with the next of the same gap) or `void`.
    pub verdict: String,
    /// Counted gaps.
    pub gaps: u64,
    /// Packets sent.
    pub packets: u64,
    /// Of those, how many did not arrive in time.
    pub packets_lost: u64,
    /// The seed of the run.
    pub seed: u64,
    /// The program's version.
    pub version: String,
    /// Hash of the scenario.
    pub scenario_hash: String,
}
