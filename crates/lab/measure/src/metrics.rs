//! The metrics of a run, each defined once (docs/reference/exports.md).
//!
//! Times are nanoseconds since the start of the simulation. Data packets are packets with payload. A packet counts as dropped if it was
//! lost to a full queue or to random loss.

use std::collections::BTreeSet;

use crate::arithmetic::{bps, count, ratio};
use crate::counted::SuCounted;
use crate::evidence::Evidence;

/// Returns the throughput in bit/s: payload delivered in order, over the time from the SYN to the end of the flow's life. The life ends
/// with the last byte of a transfer with a size, or with the run. docs/reference/exports.md; Paced Start section 5.1, Table 3.
pub fn throughput_bps(evidence: &Evidence) -> f64 {
    let recording = &evidence.recording;
    bps(delivered(evidence), recording.ended_at - recording.syn_at).unwrap_or(0.0)
}

/// Payload bytes delivered in order by the end of the flow's life.
fn delivered(evidence: &Evidence) -> u64 {
    let counted = evidence.counted.as_ref().map(|counted| counted.delivered);
    counted.unwrap_or_else(|| delivered_at(evidence, evidence.recording.ended_at))
}

/// Returns the payload bytes delivered in order by `at`, from the recording.
pub fn delivered_at(evidence: &Evidence, at: u64) -> u64 {
    let delivered = &evidence.recording.delivered;
    let before = delivered.partition_point(|(when, _)| *when <= at);
    before.checked_sub(1).map_or(0, |last| delivered[last].1)
}

/// Data packets of the flow, retransmissions included, that the network dropped (docs/reference/exports.md).
pub fn packets_lost(evidence: &Evidence) -> u64 {
    match &evidence.counted {
        Some(counted) => counted.lost,
        None => count(evidence.recording.drops.iter().filter(|drop| drop.len > 0)),
    }
}

/// Data packets sent, retransmissions included.
pub fn packets_sent(evidence: &Evidence) -> u64 {
    evidence.counted.as_ref().map_or_else(|| count(evidence.recording.sends.iter()), |counted| counted.sent)
}

/// Returns the number of retransmissions: data packets that carried data sent before.
pub fn retransmissions(evidence: &Evidence) -> u64 {
    match &evidence.counted {
        Some(counted) => counted.again,
        None => count(evidence.recording.sends.iter().filter(|send| send.retransmission)),
    }
}

/// Loss: data packets dropped over data packets sent; `None` if none was sent. docs/reference/exports.md; Paced Start Table 3.
pub fn loss(evidence: &Evidence) -> Option<f64> {
    ratio(packets_lost(evidence), packets_sent(evidence))
}

/// Returns su-time in nanoseconds: from the first data packet sent until new data is first sent under the avoidance law. This requires that
/// start-up has exited, recovery is over and cwnd ≥ ssthresh. A timeout before that instant, and the slow start after it, are included.
/// `None` if the flow ends first. docs/reference/exports.md; Paced Start Table 3, where su-time ends at the first linear increase.
pub fn su_time(evidence: &Evidence) -> Option<u64> {
    Some(evidence.su_end? - evidence.recording.first_data_at?)
}

/// Returns the end of the span of the su-metrics: the end of su-time, or the end of the flow if su-time did not end.
fn su_until(evidence: &Evidence) -> u64 {
    evidence.su_end.unwrap_or(u64::MAX)
}

/// Returns the counts of su-time, if su-time ended and counts were kept.
fn su_counted(evidence: &Evidence) -> Option<SuCounted> {
    evidence.counted.as_ref()?.su
}

/// Returns the su-throughput in bit/s: the payload sent in su-time that the network did not drop, each byte counted once, over su-time. If
/// su-time did not end: payload delivered in order over the time since the first data packet. `None` if no data was sent
/// (docs/reference/exports.md).
pub fn su_throughput_bps(evidence: &Evidence) -> Option<f64> {
    let recording = &evidence.recording;
    let first = recording.first_data_at?;
    let Some(end) = evidence.su_end else {
        return bps(delivered(evidence), recording.ended_at - first);
    };
    if let Some(su) = su_counted(evidence) {
        return bps(su.bytes, end - first);
    }
    let dropped: BTreeSet<(u64, u64)> = recording
        .drops
        .iter()
        .filter(|drop| drop.len > 0 && drop.sent_at < end)
        .map(|drop| (drop.sent_at, drop.offset))
        .collect();
    let sent = recording.sends.iter().take_while(|send| send.at < end);
    let mut arrived: Vec<(u64, u64)> = sent
        .filter(|send| !dropped.contains(&(send.at, send.offset)))
        .map(|send| (send.offset, send.offset + u64::from(send.len)))
        .collect();
    arrived.sort_unstable();
    let (bytes, _) = arrived.into_iter().fold((0, 0), |(bytes, reached), (from, to)| {
        (bytes + to.saturating_sub(from.max(reached)), reached.max(to))
    });
    bps(bytes, end - first)
}

/// Returns the su-loss: data packets sent in su-time and dropped, over data packets sent in su-time. If su-time did not end, the flow's
/// loss. `None` if none was sent. docs/reference/exports.md; Paced Start Table 3.
pub fn su_loss(evidence: &Evidence) -> Option<f64> {
    if let Some(su) = su_counted(evidence) {
        return ratio(su.lost, su.sent);
    }
    if evidence.counted.is_some() {
        return loss(evidence);
    }
    let until = su_until(evidence);
    let recording = &evidence.recording;
    let sent = count(recording.sends.iter().filter(|send| send.at < until));
    let lost = count(recording.drops.iter().filter(|drop| drop.len > 0 && drop.sent_at < until));
    ratio(lost, sent)
}

/// Returns the number of retransmission timeouts in su-time, or in the whole flow if su-time did not end.
pub fn su_timeouts(evidence: &Evidence) -> u64 {
    let until = su_until(evidence);
    count(evidence.timeouts.iter().filter(|at| **at < until))
}

/// Returns the flow completion time in nanoseconds, from the SYN to the delivery of the last byte; `None` if the flow did not finish.
pub fn fct(evidence: &Evidence) -> Option<u64> {
    Some(evidence.finished_at? - evidence.recording.syn_at)
}

/// Returns the mean number of packets waiting at the bottleneck over the flow's life. The packet in transmission is not counted.
#[expect(clippy::cast_precision_loss, reason = "the nearest double is what is wanted")]
pub fn queue_mean_packets(evidence: &Evidence) -> f64 {
    let life = evidence.recording.ended_at - evidence.recording.syn_at;
    if life == 0 { 0.0 } else { evidence.queue_packet_nanos as f64 / life as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Drop, Recording, Send};

    const MS: u64 = 1_000_000;

    fn send(at: u64, offset: u64, retransmission: bool) -> Send {
        Send { at: at * MS, offset, len: 1000, retransmission }
    }

    fn dropped(sent_at: u64, offset: u64) -> Drop {
        let (at, sent_at) = ((sent_at + 5) * MS, sent_at * MS);
        Drop { at, sent_at, offset, len: 1000, by_queue: true }
    }

    /// Returns a flow with its SYN at 100 ms and data from 200 ms. The packet at 1000 is lost and repaired within su-time, and another is
    /// lost later.
    fn evidence() -> Evidence {
        let recording = Recording {
            mss: 1000,
            syn_at: 100 * MS,
            first_data_at: Some(200 * MS),
            ended_at: 1_100 * MS,
            sends: vec![
                send(200, 0, false),
                send(201, 1000, false),
                send(202, 2000, false),
                send(300, 1000, true),
                send(400, 3000, false),
                send(500, 4000, false),
            ],
            drops: vec![
                Drop { at: 0, sent_at: 210 * MS, offset: 0, len: 0, by_queue: true },
                dropped(201, 1000),
                dropped(400, 3000),
            ],
            delivered: vec![(250 * MS, 1000), (350 * MS, 3000), (2_000 * MS, 9000)],
            ..Recording::default()
        };
        Evidence {
            recording,
            su_end: Some(400 * MS),
            timeouts: vec![280 * MS, 450 * MS],
            queue_packet_nanos: 5_000 * u128::from(MS),
            finished_at: Some(350 * MS),
            ..Evidence::default()
        }
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-9 * b.abs()
    }

    #[test]
    fn throughput_is_payload_delivered_over_the_time_since_the_syn() {
        // 3000 bytes are in order after one second, at the end of the flow's life. Later deliveries do not count.
        assert!(close(throughput_bps(&evidence()), 24_000.0));
    }

    #[test]
    fn loss_counts_data_packets_and_no_acks() {
        let evidence = evidence();
        assert_eq!((packets_sent(&evidence), packets_lost(&evidence)), (6, 2));
        assert_eq!(retransmissions(&evidence), 1);
        assert!(close(loss(&evidence).expect("data was sent"), 2.0 / 6.0));
        assert_eq!(loss(&Evidence::default()), None);
    }

    #[test]
    fn su_time_runs_from_the_first_data_to_avoidance() {
        assert_eq!(su_time(&evidence()), Some(200 * MS));
        assert_eq!(su_time(&Evidence { su_end: None, ..evidence() }), None);
    }

    #[test]
    fn su_throughput_counts_each_delivered_byte_of_su_time_once() {
        // Four packets are sent before 400 ms, one of which is dropped: 3000 distinct bytes in 0.2 s.
        assert!(close(su_throughput_bps(&evidence()).expect("data was sent"), 120_000.0));
        let mut twice = evidence();
        twice.recording.sends.insert(4, send(399, 2000, true));
        assert!(close(su_throughput_bps(&twice).expect("data was sent"), 120_000.0));
        let mut lost_twice = evidence();
        lost_twice.recording.drops.push(dropped(300, 1000));
        assert!(close(su_throughput_bps(&lost_twice).expect("data was sent"), 80_000.0));
    }

    #[test]
    fn su_loss_and_su_timeouts_look_at_su_time_only() {
        let evidence = evidence();
        assert!(close(su_loss(&evidence).expect("data was sent"), 0.25));
        assert_eq!(su_timeouts(&evidence), 1);
    }

    #[test]
    fn without_an_end_of_start_up_the_su_metrics_cover_the_flow() {
        let evidence = Evidence { su_end: None, ..evidence() };
        assert!(close(su_loss(&evidence).expect("data was sent"), 2.0 / 6.0));
        assert_eq!(su_timeouts(&evidence), 2);
        assert!(close(su_throughput_bps(&evidence).expect("data was sent"), 3000.0 * 8.0 / 0.9));
        assert_eq!(su_throughput_bps(&Evidence::default()), None);
        assert_eq!(su_loss(&Evidence::default()), None);
    }

    #[test]
    fn completion_runs_from_the_syn_to_the_last_byte_delivered() {
        assert_eq!(fct(&evidence()), Some(250 * MS));
        assert_eq!(fct(&Evidence { finished_at: None, ..evidence() }), None);
    }

    #[test]
    fn the_mean_queue_is_its_integral_over_the_life() {
        assert!(close(queue_mean_packets(&evidence()), 5.0));
    }
}
