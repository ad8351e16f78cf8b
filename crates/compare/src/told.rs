//! What the trace of a sender says of a transfer where nobody saw its packets: the same evidence, as far as a sender knows it.

use std::collections::{BTreeMap, VecDeque};

use crate::heard::Heard;
use firstflight::{Call, Event, Loss, Path, Sent, Span, TraceRecord};
use firstflight_measure::{Drop, Evidence, Recording, Send};

/// A sender's trace as far as it was heard.
#[derive(Default)]
pub struct Overheard {
    heard: Heard,
    packets: Packets,
}

/// What a sender's trace says of a transfer.
#[derive(Clone, Debug)]
pub struct Told {
    /// The evidence. A packet is dropped where the sender found it lost, by a queue for all that it knows. Data is delivered half of the
    /// least round trip before its ACK. The SYN leaves a handshake's round trip before the connection is established.
    pub evidence: Evidence,
    /// The least round-trip time in nanoseconds; `None` without a sample.
    pub min_rtt: Option<u64>,
}

impl Overheard {
    /// Takes the next record of the trace.
    pub fn take(&mut self, record: &TraceRecord) {
        self.packets.take(record);
        self.heard.take(record);
    }

    /// What it says of the first `size` bytes of the stream.
    pub fn of_transfer(self, size: u64) -> Told {
        let Self { heard, packets: Packets { mut recording, opened, min_rtt, last, .. } } = self;
        let half = min_rtt.unwrap_or(0) / 2;
        recording.delivered =
            recording.acks.iter().map(|(at, una)| (at.saturating_sub(half), *una)).collect();
        recording.syn_at = opened.unwrap_or(0);
        recording.first_data_at = recording.sends.first().map(|first| first.at);
        let finished_at = recording.delivered.iter().find(|(_, una)| *una >= size).map(|(at, _)| *at);
        recording.ended_at = finished_at.unwrap_or(last).max(recording.syn_at);
        recording.sends.retain(|send| send.at <= recording.ended_at);
        recording.drops.retain(|drop| drop.sent_at <= recording.ended_at);
        let mut evidence = Evidence { recording, finished_at, ..Evidence::default() };
        heard.add_to(&mut evidence);
        Told { evidence, min_rtt }
    }
}

/// The packets of a sender, as its trace has them.
#[derive(Default)]
struct Packets {
    recording: Recording,
    /// When the SYN left.
    opened: Option<u64>,
    min_rtt: Option<u64>,
    last: u64,
    /// By number: when a packet left, from where, and how long it is.
    in_flight: BTreeMap<u64, (u64, u64, u32)>,
    /// Where the packets begin that were found lost and have not been sent again.
    lost: VecDeque<u64>,
}

impl Packets {
    fn take(&mut self, record: &TraceRecord) {
        let (path, at) = (&record.path, record.path.now.nanos());
        self.last = at;
        self.recording.mss = u32::try_from(path.mss.get()).unwrap_or(u32::MAX);
        let rtts = [path.min_rtt.map(Span::nanos), self.min_rtt];
        self.min_rtt = rtts.into_iter().flatten().min();
        let Call::On(event) = &record.call else { return };
        match event.event() {
            Event::Established { rtt, .. } => {
                self.opened.get_or_insert(at.saturating_sub(rtt.map_or(0, Span::nanos)));
            }
            Event::Sent(sent) => self.sent(at, path, &sent),
            Event::Acked(_) if self.recording.acks.last().is_none_or(|(_, una)| *una < path.una) => {
                self.recording.acks.push((at, path.una));
            }
            Event::Lost(loss) => self.lost(at, &loss),
            _ => {}
        }
    }

    fn sent(&mut self, at: u64, path: &Path, sent: &Sent) {
        let len = u32::try_from(sent.bytes.get()).unwrap_or(u32::MAX);
        let mut again = || self.lost.pop_front().unwrap_or(path.una);
        let offset = if sent.retransmission { again() } else { path.nxt };
        self.recording.sends.push(Send { at, offset, len, retransmission: sent.retransmission });
        self.in_flight.insert(sent.packet, (at, offset, len));
        // A window of a million packets is beyond any sender; what is older has long been told of.
        while self.in_flight.len() > 1 << 20 {
            self.in_flight.pop_first();
        }
    }

    fn lost(&mut self, at: u64, loss: &Loss<'_>) {
        for packet in loss.packets {
            let Some((sent_at, offset, len)) = self.in_flight.remove(&packet.packet) else { continue };
            self.recording.drops.push(Drop { at, sent_at, offset, len, by_queue: true });
            self.lost.push_back(offset);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_lab as lab;
    use firstflight_measure::row;
    use firstflight_scenario::{Options, Scenario, all_schemes};
    use firstflight_trace::read;

    /// Of a sender that repairs by SACK and is not misled, its own view is that of the network.
    #[test]
    fn the_row_of_a_trace_is_that_of_the_run_as_far_as_a_sender_can_know() {
        let mut set = Options::default();
        for (key, value) in [("rate", "20mbit"), ("rtt", "40ms"), ("queue", "50p"), ("size", "2MB")] {
            set.set(key, value).expect("an option");
        }
        let scenario = Scenario::resolve(&set).expect("a scenario");
        for choice in all_schemes() {
            let choice = lab::resumed(&scenario, &choice, &|| false).expect("a run");
            let seen = lab::run(&scenario, &choice, 1, true, None, &|| false).expect("a run").evidence;
            let trace = lab::record(&scenario, &choice, 1).expect("a trace");
            let mut overheard = Overheard::default();
            let (_, mut calls) = read(trace.as_bytes()).expect("a trace");
            while let Some(record) = calls.next_call().expect("a record") {
                overheard.take(&record);
            }
            let told = overheard.of_transfer(2_000_000);
            let measured = scenario.measured(&choice, 1);
            let [network, sender] = [&seen, &told.evidence].map(|evidence| row(&measured, evidence));
            let name = choice.to_string();
            assert_eq!(told.evidence.exits, seen.exits, "{name}");
            assert_eq!(
                (sender.exit_cause, sender.exit_time_s),
                (network.exit_cause, network.exit_time_s),
                "{name}"
            );
            assert_eq!(sender.su_time_s, network.su_time_s, "{name}");
            assert_eq!(sender.timeouts, network.timeouts, "{name}");
            assert_eq!(told.min_rtt.map(|rtt| rtt / 1_000_000), Some(40), "{name}");
            // The simulator's trace ends with the last delivery, before its ACK.
            let reached = |evidence: &Evidence| {
                let delivered = &evidence.recording.delivered;
                delivered.iter().find(|(_, to)| *to >= 1_800_000).expect("nine tenths").0
                    - evidence.recording.syn_at
            };
            let (late, soon) = (reached(&told.evidence), reached(&seen));
            assert!(late.abs_diff(soon) < 30_000_000, "{name}: {late} and {soon}");
            #[expect(clippy::cast_precision_loss, reason = "small counts")]
            for (one, other) in [
                (sender.packets_lost as f64, network.packets_lost as f64),
                (sender.packets_sent as f64, network.packets_sent as f64),
                (sender.overshoot_lost_packets as f64, network.overshoot_lost_packets as f64),
            ] {
                assert!((one - other).abs() <= 0.02 * other, "{name}: {one} and {other}");
            }
        }
    }
}
