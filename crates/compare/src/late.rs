//! How late the ends of a path were: the programs at its ends meet the machine too, and the relay does not know.

use firstflight::Time;
use firstflight_emulate::{Fate, Side, Tape, VOID};
use firstflight_measure::Evidence;
use firstflight_tcp::{AckPolicy, Flags};

use crate::evidence::{Carrier, Sequence};

/// From when the receiver had what an ACK acknowledges to when that ACK entered the path, in nanoseconds. Of a receiver that delays
/// ACKs those of two segments and more count, which are not delayed.
pub(crate) fn of_receiver(tape: &Tape, carrier: Carrier, evidence: &Evidence, policy: AckPolicy) -> Vec<u64> {
    let mss = u64::from(evidence.recording.mss);
    let least = if policy == AckPolicy::Every { 1 } else { 2 * mss };
    let mut acknowledged = 0;
    let mut late = Vec::new();
    for (at, ack) in acks(tape, carrier, |packet| Some(packet.entered)) {
        if ack >= acknowledged + least
            && let Some((had, _)) = evidence.recording.delivered.iter().find(|(_, bytes)| *bytes >= ack)
        {
            late.push(at.saturating_sub(*had));
        }
        acknowledged = acknowledged.max(ack);
    }
    late
}

/// From when an ACK was delivered to the sender to when the sender heard it, in nanoseconds, less the least of these: the two have
/// clocks of their own. `heard` is when the sender heard that the stream is acknowledged up to where.
pub(crate) fn of_sender(tape: &Tape, carrier: Carrier, heard: &[(u64, u64)]) -> Vec<u64> {
    let delivered = |packet: &firstflight_emulate::Taped| match packet.fate {
        Fate::Delivered(at) => Some(at),
        _ => None,
    };
    let mut acknowledged = 0;
    let mut waits: Vec<i128> = Vec::new();
    for (at, ack) in acks(tape, carrier, delivered) {
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

/// Whether one in a hundred was too late, by the rule of the relay.
pub(crate) fn is_void(mut late: Vec<u64>) -> bool {
    late.sort_unstable();
    let place = (late.len() * 99).div_ceil(100);
    late.get(place.wrapping_sub(1)).is_some_and(|late| *late > VOID.nanos())
}

/// The ACKs of host B, in order of time: an instant of each, and the offset that it acknowledges.
fn acks(
    tape: &Tape,
    carrier: Carrier,
    when: impl Fn(&firstflight_emulate::Taped) -> Option<Time>,
) -> Vec<(u64, u64)> {
    let mut sequence: Option<Sequence> = None;
    let mut acks = Vec::new();
    for packet in tape.packets() {
        let Some(segment) = carrier.segment(tape, packet) else { continue };
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
    fn a_run_is_void_if_more_than_one_answer_in_a_hundred_took_over_a_millisecond() {
        let mut late = vec![10_000; 99];
        late.push(5_000_000);
        assert!(!is_void(late.clone()));
        late.push(5_000_000);
        assert!(is_void(late));
        assert!(!is_void(Vec::new()));
        assert!(is_void(vec![1_000_001]));
    }
}
