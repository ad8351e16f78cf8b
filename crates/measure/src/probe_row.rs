//! The rows of probings with packet trains. docs/probe.md defines every number.

use firstflight::{Bytes, Rate, Span, Time};
use firstflight_probe::{Ending, Estimate, Measured};
use serde::Serialize;

use crate::VERSION;
use crate::arithmetic::seconds;

/// What a row calls a probing.
pub const PROBE: &str = "probe";

/// A probing that is over, as its host knows it.
#[derive(Clone, Debug)]
pub struct Probed<'a> {
    /// How it probed, as the key `probe` says it.
    pub search: String,
    /// IP bytes of a packet.
    pub wire: Bytes,
    /// What it found.
    pub estimate: &'a Estimate,
    /// When its first packet left.
    pub began: Time,
    /// When it was over.
    pub ended: Time,
    /// The round trip without queueing.
    pub rtt: Option<Span>,
    /// The bandwidth that was truly available, in bit/s, where that is known.
    pub available: Option<f64>,
    /// The least truth of which an error is defined.
    pub least_truth: f64,
    /// The seed of the run.
    pub seed: u64,
    /// Hash of the scenario.
    pub scenario_hash: String,
}

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

impl Probed<'_> {
    /// The row of the probing.
    pub fn row(&self) -> ProbeRow {
        let found = self.estimate;
        let (source, arrival) = (in_seconds(found.source_gap), in_seconds(found.arrival_gap));
        let (ptr, igi) = (bps(found.ptr), bps(found.igi));
        let truth = self.available.filter(|truth| *truth >= self.least_truth);
        let error = |rate: Option<f64>| Some(rate? / truth? - 1.0);
        let elapsed = seconds(self.ended.nanos_since(self.began));
        ProbeRow {
            scheme: PROBE.to_owned(),
            search: self.search.clone(),
            ptr_bps: ptr,
            igi_bps: igi,
            low_bps: bps(found.low),
            high_bps: bps(found.high),
            capacity_bps: bps(found.capacity),
            available_bps: self.available,
            ptr_error: error(ptr),
            igi_error: error(igi),
            ending: found.ending.map_or("limit", Ending::name).to_owned(),
            source_gap_s: source,
            arrival_gap_s: arrival,
            gap_difference_s: difference(arrival, source),
            source_rate_bps: found.source_gap.and_then(|gap| bps(self.wire.per(gap))),
            trains: found.trains.into(),
            packets: found.packets.into(),
            packets_lost: found.lost.into(),
            elapsed_s: Some(elapsed),
            round_trips: self.rtt.map(|rtt| elapsed / seconds(rtt.nanos())).filter(|trips| trips.is_finite()),
            seed: self.seed,
            version: VERSION.to_owned(),
            scenario_hash: self.scenario_hash.clone(),
        }
    }

    /// The row of one of its trains.
    pub fn train(&self, train: &Measured) -> TrainRow {
        let (source, arrival) = (in_seconds(train.source_gap()), in_seconds(train.arrival_gap()));
        TrainRow {
            train: train.train.into(),
            at_s: seconds(train.began.nanos_since(self.began)),
            asked_gap_s: seconds(train.asked.nanos()),
            source_gap_s: source,
            arrival_gap_s: arrival,
            gap_difference_s: difference(arrival, source),
            source_rate_bps: bps(train.source_rate(self.wire)),
            arrival_rate_bps: bps(train.arrival_rate(self.wire)),
            verdict: train.verdict.name().to_owned(),
            gaps: train.gaps.into(),
            packets: train.packets.into(),
            packets_lost: train.lost.into(),
            seed: self.seed,
            version: VERSION.to_owned(),
            scenario_hash: self.scenario_hash.clone(),
        }
    }
}

fn difference(arrival: Option<f64>, source: Option<f64>) -> Option<f64> {
    Some(arrival? - source?)
}

#[expect(clippy::cast_precision_loss, reason = "rates are far below 2^53 bit/s")]
fn bps(rate: Option<Rate>) -> Option<f64> {
    rate.map(|rate| rate.bps() as f64)
}

fn in_seconds(span: Option<Span>) -> Option<f64> {
    span.map(|span| seconds(span.nanos()))
}
