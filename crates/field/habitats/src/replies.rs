//! Finds the times, drops and bursts of each reply in the packets of a connection that sends several replies and is idle after each.

use firstflight_measure::Recording;
use firstflight_measure::rounds::Reply;

/// The maximum gap in nanoseconds between packets of one burst. A real host takes some microseconds to pass a packet to its device. A host
/// that is late by more than a millisecond makes its run invalid.
const INSTANT: u64 = 1_000_000;

/// Returns the first `count` replies of a recorded connection, each of `bytes` bytes. A reply begins with its first packet. `acks` are the
/// advances of the cumulative ACK at the sender: the time of each in nanoseconds, and the new offset.
pub(crate) fn replies(recording: &Recording, acks: &[(u64, u64)], count: u32, bytes: u64) -> Vec<Reply> {
    let reached = |times: &[(u64, u64)], least: u64| {
        times.iter().find(|(_, offset)| *offset >= least).map(|(at, _)| *at)
    };
    let one = |round: u32| {
        let (from, to) = (u64::from(round) * bytes, (u64::from(round) + 1) * bytes);
        let is_of_it = |offset: u64| (from..to).contains(&offset);
        let sends: Vec<u64> =
            recording.sends.iter().filter(|send| is_of_it(send.offset)).map(|send| send.at).collect();
        let began = *sends.first()?;
        let drops = recording.drops.iter().filter(|drop| drop.len > 0 && is_of_it(drop.offset)).count();
        Some(Reply {
            round,
            began,
            ended: reached(&recording.delivered, to),
            acked: reached(acks, to),
            drops: drops as u64,
            burst: longest_burst(&sends),
            clocked: reached(acks, from + 1),
        })
    };
    (0..count).map_while(one).collect()
}

fn longest_burst(sends: &[u64]) -> u64 {
    let (mut longest, mut burst, mut last) = (0, 0, None);
    for at in sends {
        let goes_on = last.is_some_and(|last: u64| at.saturating_sub(last) < INSTANT);
        burst = if goes_on { burst + 1 } else { 1 };
        longest = longest.max(burst);
        last = Some(*at);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_measure::{Drop, Send};

    const MS: u64 = 1_000_000;

    #[test]
    fn replies_are_split_by_bytes_and_bursts_by_millisecond_gaps() {
        let send = |at: u64, offset| Send { at, offset, len: 100, retransmission: false };
        let recording = Recording {
            sends: vec![
                send(0, 0),
                send(MS / 2, 100),
                send(900 * MS, 200),
                send(900 * MS + 10, 300),
                send(900 * MS + 20, 200),
            ],
            drops: vec![Drop { at: 901 * MS, sent_at: 900 * MS, offset: 200, len: 100, by_queue: true }],
            delivered: vec![(40 * MS, 100), (41 * MS, 200), (950 * MS, 400)],
            ..Recording::default()
        };
        let acks = [(80 * MS, 200), (990 * MS, 400)];
        let [first, second] = replies(&recording, &acks, 2, 200).try_into().expect("two");
        assert_eq!((first.began, first.ended, first.acked), (0, Some(41 * MS), Some(80 * MS)));
        assert_eq!((first.burst, first.drops, first.clocked), (2, 0, Some(80 * MS)));
        assert_eq!((second.began, second.ended, second.acked), (900 * MS, Some(950 * MS), Some(990 * MS)));
        assert_eq!((second.burst, second.drops, second.clocked), (3, 1, Some(990 * MS)));
        assert_eq!(replies(&recording, &acks, 3, 200).len(), 2, "a reply that did not begin is none");
    }
}
