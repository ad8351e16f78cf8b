//! Values over time of the measured flow, computed from the recording of its run. Times are in seconds since the SYN was sent.

use firstflight_measure::Recording;

/// A quantity over time.
pub(crate) struct Series {
    /// The name after `series.` in expressions.
    pub(crate) name: &'static str,
    /// Computes the series from a recording. The second argument is the width of a time slot in nanoseconds.
    pub(crate) of: fn(&Recording, u64) -> Vec<(f64, f64)>,
}

/// Every series. Rates have one value for each time slot, at the start of the slot. Other series have one value at each change.
pub(crate) const SERIES: &[Series] = &[
    // Payload delivered in order, in bit/s.
    Series { name: "throughput_bps", of: |recording, slot| delivered(recording, slot) },
    // Payload sent, retransmissions included, in bit/s.
    Series { name: "sent_bps", of: |recording, slot| sent(recording, slot) },
    // Payload delivered in order since the SYN, in bytes.
    Series { name: "delivered_bytes", of: |recording, _| pairs(recording, &recording.delivered) },
    // The congestion window, in bytes of payload.
    Series { name: "cwnd_bytes", of: |recording, _| state(recording, |state| Some(state.cwnd)) },
    // The slow-start threshold, in bytes of payload. It has no values while it is infinite.
    Series { name: "ssthresh_bytes", of: |recording, _| state(recording, |state| state.ssthresh) },
    // The sender's estimate of the bytes in flight.
    Series { name: "in_flight_bytes", of: |recording, _| state(recording, |state| Some(state.in_flight)) },
    // The packets in the bottleneck's queue.
    Series {
        name: "queue_packets",
        of: |recording, _| {
            recording.queue.iter().map(|(at, packets)| (since(recording, *at), f64::from(*packets))).collect()
        },
    },
    // RTT samples, in seconds.
    Series {
        name: "rtt_s",
        of: |recording, _| {
            recording.rtts.iter().map(|(at, nanos)| (since(recording, *at), seconds(*nanos))).collect()
        },
    },
    // The offset of the first payload byte of each data packet sent.
    Series {
        name: "sequence_bytes",
        of: |recording, _| {
            recording.sends.iter().map(|send| (since(recording, send.at), real(send.offset))).collect()
        },
    },
    // The time at which each data packet was sent, in seconds. Its `diff` gives the gaps between packets.
    Series {
        name: "sent_s",
        of: |recording, _| {
            recording
                .sends
                .iter()
                .map(|send| (since(recording, send.at), since(recording, send.at)))
                .collect()
        },
    },
    // The number of the flow's packets dropped so far, at each drop.
    Series {
        name: "dropped_packets",
        of: |recording, _| {
            recording
                .drops
                .iter()
                .zip(1u32..)
                .map(|(drop, count)| (since(recording, drop.at), f64::from(count)))
                .collect()
        },
    },
];

fn delivered(recording: &Recording, slot: u64) -> Vec<(f64, f64)> {
    let mut before = 0;
    let parts = recording.delivered.iter().map(|(at, offset)| {
        let bytes = offset.saturating_sub(before);
        before = before.max(*offset);
        (*at, bytes)
    });
    slots(recording, slot, parts)
}

fn sent(recording: &Recording, slot: u64) -> Vec<(f64, f64)> {
    slots(recording, slot, recording.sends.iter().map(|send| (send.at, u64::from(send.len))))
}

/// Sums bytes in each time slot from the SYN to the end of the run and converts the sums to bit/s. Omits an incomplete last slot.
fn slots(recording: &Recording, slot: u64, parts: impl Iterator<Item = (u64, u64)>) -> Vec<(f64, f64)> {
    const MOST: u64 = 10_000_000;
    let slot = slot.max(1);
    let life = recording.ended_at.saturating_sub(recording.syn_at);
    let count = usize::try_from((life / slot).min(MOST)).unwrap_or(0);
    let mut bytes = vec![0u64; count];
    for (at, part) in parts {
        let place = usize::try_from(at.saturating_sub(recording.syn_at) / slot).unwrap_or(usize::MAX);
        if let Some(sum) = bytes.get_mut(place) {
            *sum += part;
        }
    }
    (0u64..).zip(bytes).map(|(place, sum)| (seconds(place * slot), real(sum) * 8.0 / seconds(slot))).collect()
}

fn state(recording: &Recording, of: fn(&firstflight_measure::State) -> Option<u64>) -> Vec<(f64, f64)> {
    recording.states.iter().filter_map(|one| Some((since(recording, one.at), real(of(one)?)))).collect()
}

fn pairs(recording: &Recording, pairs: &[(u64, u64)]) -> Vec<(f64, f64)> {
    pairs.iter().map(|(at, value)| (since(recording, *at), real(*value))).collect()
}

fn since(recording: &Recording, at: u64) -> f64 {
    seconds(at.saturating_sub(recording.syn_at))
}

fn seconds(nanos: u64) -> f64 {
    real(nanos) / 1e9
}

#[expect(clippy::cast_precision_loss, reason = "exact up to 2^53")]
fn real(value: u64) -> f64 {
    value as f64
}
