//! The rows of probings with packet trains. docs/guide/probe.md defines every number.

use firstflight::probe::{Ending, Estimate, Measured};
use firstflight::{Bytes, Rate, Span, Time};
use serde::Serialize;

use crate::VERSION;
use crate::arithmetic::seconds;

/// The scheme's name in the rows of probings.
pub const PROBE: &str = "probe";

/// A finished probing, with what its host knows about it.
#[derive(Clone, Debug)]
pub struct Probed<'a> {
    /// The settings of the search, in the form of the key `probe`.
    pub search: String,
    /// IP bytes of a packet.
    pub wire: Bytes,
    /// The result of the probing.
    pub estimate: &'a Estimate,
    /// When the probing's first packet was sent.
    pub began: Time,
    /// When the probing ended.
    pub ended: Time,
    /// The path's round trip without queueing.
    pub rtt: Option<Span>,
    /// The bandwidth that was truly available, in bit/s; `None` if it is not known.
    pub available: Option<f64>,
    /// The minimum truly available bandwidth for which an error is defined.
    pub least_truth: f64,
    /// The seed of the run.
    pub seed: u64,
    /// Hash of the scenario.
    pub scenario_hash: String,
}

/// The result of probing a path. Rates are in IP bits per second. `None` (JSON `null`) means that a number is undefined.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ProbeRow {
    /// Always `probe`.
    pub scheme: String,
    /// The settings of the search, in the form of the key `probe`.
    pub search: String,
    /// PTR: the arrival rate of the turning point's train, or if the search has only one gap, of that gap's train. It is at most the
    /// capacity.
    pub ptr_bps: Option<f64>,
    /// IGI: the measured capacity minus the other traffic that shows in the increased gaps of that train.
    pub igi_bps: Option<f64>,
    /// The lower bound of the available bandwidth, from trains that arrived unchanged.
    pub low_bps: Option<f64>,
    /// The upper bound of the available bandwidth, from trains that arrived stretched, or from the capacity.
    pub high_bps: Option<f64>,
    /// The capacity of the narrowest link, which the first burst showed.
    pub capacity_bps: Option<f64>,
    /// The truly available bandwidth: the minimum over the links of what they could have carried in addition to the other traffic. It is
    /// measured in the same run without the probing, from the probing's first transmission to its end.
    pub available_bps: Option<f64>,
    /// `ptr_bps` over `available_bps`, minus one; undefined if less than 1 % of the path's rate is available.
    pub ptr_error: Option<f64>,
    /// `igi_bps` over `available_bps`, minus one; undefined as `ptr_error`.
    pub igi_error: Option<f64>,
    /// Why the probing ended: `turning-point`, `gap`, `trains` or `void`; `limit` if it ended before the search did.
    pub ending: String,
    /// The mean gap of the turning point's trains at the sender.
    pub source_gap_s: Option<f64>,
    /// The mean gap of the turning point's trains at arrival.
    pub arrival_gap_s: Option<f64>,
    /// `arrival_gap_s` minus `source_gap_s`.
    pub gap_difference_s: Option<f64>,
    /// The rate at which the turning point's trains were sent.
    pub source_rate_bps: Option<f64>,
    /// Trains sent. Each takes a round trip.
    pub trains: u64,
    /// Packets sent.
    pub packets: u64,
    /// Packets that did not arrive in time.
    pub packets_lost: u64,
    /// From the probing's first transmission to its end.
    pub elapsed_s: Option<f64>,
    /// `elapsed_s` in base round trips.
    pub round_trips: Option<f64>,
    /// The seed of the run.
    pub seed: u64,
    /// The program's version.
    pub version: String,
    /// Hash of the scenario.
    pub scenario_hash: String,
}

/// One train of a probing. Mean gaps are over the counted gaps: those between consecutive packets of which both arrived, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TrainRow {
    /// The train's number in the probing, from zero.
    pub train: u64,
    /// When the train's first packet was sent, from the first transmission of the probing.
    pub at_s: f64,
    /// The gap that the search requested; zero for packets back to back.
    pub asked_gap_s: f64,
    /// The mean gap at the sender.
    pub source_gap_s: Option<f64>,
    /// The mean gap at arrival.
    pub arrival_gap_s: Option<f64>,
    /// `arrival_gap_s` minus `source_gap_s`.
    pub gap_difference_s: Option<f64>,
    /// The rate at which the train was sent.
    pub source_rate_bps: Option<f64>,
    /// The rate at which the train arrived.
    pub arrival_rate_bps: Option<f64>,
    /// The classification of the gaps: `burst`, `congested`, `equal`, `open` (judged together with the next train of the same gap) or
    /// `void`.
    pub verdict: String,
    /// The number of counted gaps.
    pub gaps: u64,
    /// Packets sent.
    pub packets: u64,
    /// Packets that did not arrive in time.
    pub packets_lost: u64,
    /// The seed of the run.
    pub seed: u64,
    /// The program's version.
    pub version: String,
    /// Hash of the scenario.
    pub scenario_hash: String,
}

impl Probed<'_> {
    /// Returns the row of the probing.
    pub fn row(&self) -> ProbeRow {
        let found = self.estimate;
        let (source, arrival) = (in_seconds(found.source_gap), in_seconds(found.arrival_gap));
        // The narrowest link bounds the available bandwidth. With coarse timestamps a train may appear to arrive faster.
        let within =
            |rate: Option<Rate>| bps(rate.map(|rate| found.capacity.map_or(rate, |most| rate.min(most))));
        let (ptr, igi) = (within(found.ptr), within(found.igi));
        let truth = self.available.filter(|truth| *truth >= self.least_truth);
        let error = |rate: Option<f64>| Some(rate? / truth? - 1.0);
        let elapsed = seconds(self.ended.nanos_since(self.began));
        ProbeRow {
            scheme: PROBE.to_owned(),
            search: self.search.clone(),
            ptr_bps: ptr,
            igi_bps: igi,
            low_bps: within(found.low),
            high_bps: within(found.high),
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

    /// Returns the row of one train of the probing.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_estimate_exceeds_the_capacity() {
        let rate = |mbit: u64| Some(Rate::from_bps(mbit * 1_000_000));
        let estimate = Estimate {
            capacity: rate(310),
            ptr: rate(398),
            igi: rate(290),
            high: rate(400),
            ..Estimate::default()
        };
        let probed = Probed {
            search: String::new(),
            wire: Bytes::new(1_500),
            estimate: &estimate,
            began: Time::ZERO,
            ended: Time::ZERO,
            rtt: None,
            available: None,
            least_truth: 0.0,
            seed: 0,
            scenario_hash: String::new(),
        };
        let row = probed.row();
        let rates =
            [row.capacity_bps, row.ptr_bps, row.igi_bps, row.high_bps].map(|rate| rate.map(|bps| bps / 1e6));
        assert_eq!(rates, [310.0, 310.0, 290.0, 310.0].map(Some));
    }
}
