//! The bytes that a run delivers in its first round trips, which the later avoidance law cannot change, and the packets that queues
//! dropped.

use crate::arithmetic::count;
use crate::counted::{Counted, EARLY};
use crate::evidence::Evidence;
use crate::metrics::delivered_at;

/// The round trips after which a sweep counts deliveries.
pub const EARLY_ROUND_TRIPS: [u64; EARLY] = [2, 3, 5];

/// The early part of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Early {
    /// Payload bytes delivered in order by the time that each of [`EARLY_ROUND_TRIPS`] base RTTs has passed after a handshake of one base
    /// RTT.
    pub delivered: [u64; EARLY_ROUND_TRIPS.len()],
    /// The flow's data packets that a queue or a policer dropped. Random loss is not counted.
    pub queue_lost: u64,
}

/// Returns the instant at which `round_trips` base RTTs have passed after a handshake of one base RTT.
pub(crate) fn after_handshake(syn_at: u64, base_rtt: u64, round_trips: u64) -> u64 {
    syn_at.saturating_add(base_rtt.saturating_mul(round_trips + 1))
}

/// Returns the instants by which early deliveries are counted. The flow sends its SYN at `syn_at`, over a path of this base RTT, both in
/// nanoseconds.
pub fn early_instants(syn_at: u64, base_rtt: u64) -> [u64; EARLY_ROUND_TRIPS.len()] {
    EARLY_ROUND_TRIPS.map(|trips| after_handshake(syn_at, base_rtt, trips))
}

/// Returns the early part of a run over a path of this base RTT in nanoseconds.
pub(crate) fn early(evidence: &Evidence, base_rtt: u64) -> Early {
    if let Some(Counted { early, queue_lost, .. }) = &evidence.counted {
        return Early { delivered: *early, queue_lost: *queue_lost };
    }
    let recording = &evidence.recording;
    let by = |trips| delivered_at(evidence, after_handshake(recording.syn_at, base_rtt, trips));
    let by_queue = recording.drops.iter().filter(|drop| drop.by_queue && drop.len > 0);
    Early { delivered: EARLY_ROUND_TRIPS.map(by), queue_lost: count(by_queue) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Drop, Recording};

    #[test]
    fn early_bytes_count_per_round_trip_and_only_queue_losses_count() {
        let dropped = |len, by_queue| Drop { at: 0, sent_at: 0, offset: 0, len, by_queue };
        let recording = Recording {
            syn_at: 1_000,
            delivered: vec![(1_300, 10), (1_301, 20), (1_400, 30), (1_600, 40), (1_601, 50)],
            drops: vec![dropped(960, true), dropped(960, false), dropped(0, true), dropped(1, true)],
            ..Recording::default()
        };
        let early = early(&Evidence { recording, ..Evidence::default() }, 100);
        assert_eq!(early, Early { delivered: [10, 30, 40], queue_lost: 2 });
    }
}
