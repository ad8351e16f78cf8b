//! Measures how late the programs at the ends of a path were. They too depend on the machine's load, and the relay cannot observe this.

use firstflight::Time;
use firstflight_emulate::{Fate, MAX_LATENESS, PacketLog, Side};
use firstflight_measure::Evidence;
use firstflight_tcp::{AckPolicy, Flags};

use crate::evidence::{Carrier, Sequence};

/// Returns the delays of the receiver's ACKs in nanoseconds. A delay lasts from the delivery of the data that an ACK acknowledges to the
/// time at which the ACK enters the path. If the receiver delays ACKs, only ACKs of two segments or more count, because these are sent at
/// once.
pub(crate) fn of_receiver(
    packet_log: &PacketLog,
    carrier: Carrier,
    evidence: &Evidence,
    policy: AckPolicy,
) -> Vec<u64> {
    let mss = u64::from(evidence.recording.mss);
    let least = if policy == AckPolicy::Every { 1 } else { 2 * mss };
    let mut acknowledged = 0;
    let mut late = Vec::new();
    for (at, ack) in acks(packet_log, carrier, |packet| Some(packet.entered)) {
        if ack >= acknowledged + least
            && let Some((had, _)) = evidence.recording.delivered.iter().find(|(_, bytes)| *bytes >= ack)
        {
            late.push(at.saturating_sub(*had));
        }
        acknowledged = acknowledged.max(ack);
    }
    late
}

/// Returns the delays of the sender in nanoseconds. A delay lasts from the delivery of an ACK to its processing. The clocks of the packet
/// log and of the sender differ, so the minimum is subtracted. `heard` has the times at which the sender processed each advance of the
/// cumulative ACK.
pub(crate) fn of_sender(packet_log: &PacketLog, carrier: Carrier, heard: &[(u64, u64)]) -> Vec<u64> {
    let delivered = |packet: &firstflight_emulate::LoggedPacket| match packet.fate {
        Fate::Delivered(at) => Some(at),
        _ => None,
    };
    let mut acknowledged = 0;
    let mut waits: Vec<i128> = Vec::new();
    for (at, ack) in acks(packet_log, carrier, delivered) {
        if ack > acknowledged
            && let Some((then, _)) = heard.get(heard.partition_point(|(_, una)| *una < ack))
        {
            waits.push(i128::from(*then) - i128::from(at));
        }
        acknowledged = acknowledged.max(ack);
    }
    let least = waits.iter().copied().min().unwrap_or(0);
    waits.into_iter().map(|wait| u64::try_from(wait - least).unwrap_or(u64::MAX)).collect()
}

/// Returns whether more than one in a hundred of these delays exceeds the relay's limit, so that the run is invalid.
pub(crate) fn is_void(mut late: Vec<u64>) -> bool {
    late.sort_unstable();
    let place = (late.len() * 99).div_ceil(100);
    late.get(place.wrapping_sub(1)).is_some_and(|late| *late > MAX_LATENESS.nanos())
}

/// Returns the ACKs of host B in order of time: for each its time and the offset that it acknowledges.
fn acks(
    packet_log: &PacketLog,
    carrier: Carrier,
    when: impl Fn(&firstflight_emulate::LoggedPacket) -> Option<Time>,
) -> Vec<(u64, u64)> {
    let mut sequence: Option<Sequence> = None;
    let mut acks = Vec::new();
    for packet in packet_log.packets() {
        let Some(segment) = carrier.segment(packet_log, packet) else { continue };
        if packet.from == Side::A {
            match &mut sequence {
                _ if segment.flags.has(Flags::SYN) => sequence = Some(Sequence::of_syn(segment.seq)),
                Some(sequence) => sequence.sent(&segment),
                None => {}
            }
        } else if let (Some(sequence), Some(at)) = (&sequence, when(packet))
            && segment.flags.has(Flags::ACK)
            && !segment.flags.has(Flags::SYN)
        {
            acks.push((at.nanos(), sequence.offset(segment.ack)));
        }
    }
    acks.sort_unstable();
    acks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_void_above_one_percent_of_answers_over_a_millisecond() {
        let mut late = vec![10_000; 99];
        late.push(5_000_000);
        assert!(!is_void(late.clone()));
        late.push(5_000_000);
        assert!(is_void(late));
        assert!(!is_void(Vec::new()));
        assert!(is_void(vec![1_000_001]));
    }
}
