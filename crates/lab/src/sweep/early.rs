//! What is known after one round trip: the bound of a path, and how a run stands to it.

use firstflight_measure::arithmetic::seconds;
use firstflight_measure::{EARLY_ROUND_TRIPS, Early, Row};
use firstflight_scenario::Scenario;
use serde::{Deserialize, Serialize};

use super::bound::steady_hop;

/// The fields of a sweep's row about the sender that knows the path after one round trip, and about the run's own beginning.
/// The bound is undefined where the rate available to the flow changes, and without one transfer of a size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EarlyFields {
    /// The completion time of the ideal that sends an initial window after the handshake, and a round trip later knows all.
    pub bound_fct_s: Option<f64>,
    /// The rate available to the flow, in IP bits per second.
    pub bound_available_bps: Option<f64>,
    /// Payload bytes that this ideal has delivered by two round trips after the handshake.
    pub bound_bytes_2: Option<f64>,
    /// By three.
    pub bound_bytes_3: Option<f64>,
    /// By five.
    pub bound_bytes_5: Option<f64>,
    /// Payload bytes that the run had delivered by two base round trips after a handshake of one.
    pub delivered_bytes_2: u64,
    /// By three.
    pub delivered_bytes_3: u64,
    /// By five.
    pub delivered_bytes_5: u64,
    /// The run's data packets that a queue or a policer dropped.
    pub queue_lost_packets: u64,
}

impl EarlyFields {
    /// The bound of a path.
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
    pub(super) fn of(scenario: &Scenario) -> Self {
        let Some(hop) = steady_hop(scenario) else { return Self::default() };
        let ideal = scenario.ideal_sender();
        let (packet, mss) = (u64::from(scenario.packet()), u64::from(scenario.mss));
        let first = u64::from(scenario.iw) * packet;
        let Some(informed) = ideal.informed_after_a_round_trip(first) else { return Self::default() };
        let available = ideal.available(std::slice::from_ref(&hop));
        let stream = informed.stream(&[hop], 0);
        let delivered = informed.delivered_early(&stream, 0, (mss, packet));
        let [two, three, five] = std::array::from_fn(|place| delivered.get(place).map(|bytes| *bytes as f64));
        Self {
            bound_fct_s: informed.end(&stream).map(seconds),
            bound_available_bps: available.first().map(|(_, bps)| *bps as f64),
            bound_bytes_2: two,
            bound_bytes_3: three,
            bound_bytes_5: five,
            ..Self::default()
        }
    }

    /// The bound of the path, and beside it what a run delivered.
    pub(super) fn with(self, row: &Row) -> Self {
        let Early { delivered: [two, three, five], queue_lost } = row.early;
        Self {
            delivered_bytes_2: two,
            delivered_bytes_3: three,
            delivered_bytes_5: five,
            queue_lost_packets: queue_lost,
            ..self
        }
    }

    /// What the bound has delivered by each of [`EARLY_ROUND_TRIPS`], and the run.
    pub fn delivered(&self) -> [(Option<f64>, u64); EARLY_ROUND_TRIPS.len()] {
        [
            (self.bound_bytes_2, self.delivered_bytes_2),
            (self.bound_bytes_3, self.delivered_bytes_3),
            (self.bound_bytes_5, self.delivered_bytes_5),
        ]
    }
}
