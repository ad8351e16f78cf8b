//! The bound of a path, which is the ideal sender that knows the path after one round trip, and a run's deliveries compared with it.

use firstflight_measure::arithmetic::seconds;
use firstflight_measure::{EARLY_ROUND_TRIPS, Early, Row, columns};
use firstflight_scenario::Scenario;
use serde::{Deserialize, Serialize};

use super::bound::steady_hop;

columns! {
    /// The fields of a sweep's row about the ideal sender that knows the path after one round trip, and about the run's own first round
    /// trips. The bound is undefined if the rate available to the flow changes, or if the flow is not one transfer with a size.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
    pub struct EarlyFields {
        pub bound_fct_s: Option<f64> = ["s"]
            "The completion time of the ideal that knows the path after one round trip: an initial window is sent after the \
             handshake, and one base RTT after that the ideal knows the path. Undefined where the rate available to the flow \
             changes, with several bottlenecks, and without one transfer of a size.";
        pub bound_available_bps: Option<f64> = ["bit/s"]
            "The rate available to the flow, headers included; with bulk TCP a fair share. Undefined where the bound is \
             undefined.";
        pub bound_bytes_2: Option<f64> = ["B"]
            "Payload that this ideal has delivered two base RTTs after a handshake that takes one. Undefined where the bound is \
             undefined.";
        pub bound_bytes_3: Option<f64> = ["B"] "The same by three round trips.";
        pub bound_bytes_5: Option<f64> = ["B"] "The same by five round trips.";
        pub delivered_bytes_2: u64 = ["B"]
            "Payload that the flow had delivered in order two base RTTs after a handshake that takes one.";
        pub delivered_bytes_3: u64 = ["B"] "The same by three round trips.";
        pub delivered_bytes_5: u64 = ["B"] "The same by five round trips.";
        pub queue_lost_packets: u64 = ["packets"]
            "The flow's data packets that a queue or a policer dropped: the lost ones less those of random loss.";
    }
}

impl EarlyFields {
    /// Returns the fields of a path's bound, without a run.
    #[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
    pub(super) fn of(scenario: &Scenario) -> Self {
        let Some(hop) = steady_hop(scenario) else { return Self::default() };
        let ideal = scenario.ideal_sender();
        let (packet, mss) = (u64::from(scenario.packet()), u64::from(scenario.mss));
        let first = u64::from(scenario.iw) * packet;
        let Some(informed) = ideal.informed_after_a_round_trip(first) else { return Self::default() };
        let available = ideal.available(std::slice::from_ref(&hop), 0);
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

    /// Returns these fields with a run's deliveries added.
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

    /// Returns the bytes that the bound and the run have delivered by each of [`EARLY_ROUND_TRIPS`].
    pub fn delivered(&self) -> [(Option<f64>, u64); EARLY_ROUND_TRIPS.len()] {
        [
            (self.bound_bytes_2, self.delivered_bytes_2),
            (self.bound_bytes_3, self.delivered_bytes_3),
            (self.bound_bytes_5, self.delivered_bytes_5),
        ]
    }
}
