//! Derives a transfer's evidence from the sender's trace alone, without packets, as far as a sender can know it.

use std::collections::{BTreeMap, VecDeque};

use crate::packed::Packed;
use crate::sender_events::SenderTrace;
use firstflight::{Call, Event, Loss, Path, Sent, Span, TraceRecord};
use firstflight_measure::{Drop, Evidence, Recording, Send};

/// The state of reading a sender's trace.
#[derive(Default)]
pub struct Observed {
    heard: SenderTrace,
    packets: Packets,
}

/// The evidence of a transfer from the sender's trace.
#[derive(Clone, Debug)]
pub struct Told {
    /// The evidence. A packet counts as dropped by a queue when the sender declares it lost. Data counts as delivered half the minimum RTT
    /// before its ACK arrives. The SYN counts as sent one handshake RTT before the connection is established.
    pub evidence: Evidence,
    /// The minimum RTT in nanoseconds; `None` without a sample.
    pub min_rtt: Option<u64>,
}

impl Observed {
    /// Reads the next record of the trace.
    pub fn take(&mut self, record: &TraceRecord) {
        self.packets.take(record);
        self.heard.take(record);
    }

    /// Returns the bytes of heap memory in use. A packet needs at most ten bytes, and a packet in flight a record in addition.
    pub fn memory(&self) -> usize {
        let Packets { recording, sends, acks, in_flight, lost, .. } = &self.packets;
        sends.memory()
            + acks.memory()
            + recording.drops.capacity() * size_of::<Drop>()
            + in_flight.len() * 2 * size_of::<(u64, InFlight)>()
            + lost.capacity() * size_of::<u64>()
            + self.heard.memory()
    }

    /// Returns the evidence of the first `size` bytes of the stream.
    pub fn of_transfer(self, size: u64) -> Told {
        let Self { heard, packets } = self;
        let Packets { mut recording, sends, acks, opened, min_rtt, last, .. } = packets;
        let half = min_rtt.unwrap_or(0) / 2;
        recording.sends = sends.rows().map(send).collect();
        recording.acks = acks.rows().map(|[at, una]| (at, una)).collect();
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

/// The packets of a sender as its trace shows them.
#[derive(Default)]
struct Packets {
    /// The recording, without the sent packets and the acknowledgements.
    recording: Recording,
    /// The sent packets: for each the time, the offset, the length, and 1 if it is a retransmission.
    sends: Packed<4>,
    /// The advances of the cumulative ACK: for each the time and the offset.
    acks: Packed<2>,
    /// The time at which the SYN was sent.
    opened: Option<u64>,
    min_rtt: Option<u64>,
    last: u64,
    /// The unacknowledged packets, by packet number.
    in_flight: BTreeMap<u64, InFlight>,
    /// The offsets of packets that were declared lost and are not retransmitted yet.
    lost: VecDeque<u64>,
}

/// The time of a packet's transmission, its offset and its length.
type InFlight = (u64, u64, u32);

fn send([at, offset, len, again]: [u64; 4]) -> Send {
    Send { at, offset, len: u32::try_from(len).unwrap_or(u32::MAX), retransmission: again == 1 }
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
            Event::Acked(_) if self.acks.is_empty() || self.acks.last()[1] < path.una => {
                self.acks.push([at, path.una]);
                // Acknowledged packets can no longer be declared lost.
                while let Some(first) = self.in_flight.first_entry()
                    && first.get().1 + u64::from(first.get().2) <= path.una
                {
                    first.remove();
                }
            }
            Event::Lost(loss) => self.lost(at, &loss),
            _ => {}
        }
    }

    fn sent(&mut self, at: u64, path: &Path, sent: &Sent) {
        let len = u32::try_from(sent.bytes.get()).unwrap_or(u32::MAX);
        let mut again = || self.lost.pop_front().unwrap_or(path.una);
        let offset = if sent.retransmission { again() } else { path.nxt };
        self.sends.push([at, offset, u64::from(len), u64::from(sent.retransmission)]);
        self.in_flight.insert(sent.packet, (at, offset, len));
        // No sender has a window of a million packets, so older packets were acknowledged or declared lost long ago.
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

    /// If a sender repairs losses by SACK and makes no wrong guesses, its trace shows the same as the network.
    #[test]
    fn a_trace_row_matches_the_run_for_values_known_to_the_sender() {
        let mut set = Options::default();
        for (key, value) in [("rate", "20mbit"), ("rtt", "40ms"), ("queue", "50p"), ("size", "2MB")] {
            set.set(key, value).expect("an option");
        }
        let scenario = Scenario::resolve(&set).expect("a scenario");
        for choice in all_schemes() {
            let choice = lab::resumed(&scenario, &choice, &|| false).expect("a run");
            let seen = lab::run(&scenario, &choice, 1, true, None, &|| false).expect("a run").evidence;
            let trace = lab::record(&scenario, &choice, 1).expect("a trace");
            let mut overheard = Observed::default();
            let (_, mut calls) = read(trace.as_bytes()).expect("a trace");
            while let Some(record) = calls.next_call().expect("a record") {
                overheard.take(&record);
            }
            let noted = overheard.of_transfer(2_000_000);
            let measured = scenario.measured(&choice, 1);
            let [network, sender] = [&seen, &noted.evidence].map(|evidence| row(&measured, evidence));
            let name = choice.to_string();
            assert_eq!(noted.evidence.exits, seen.exits, "{name}");
            assert_eq!(
                (sender.exit_cause, sender.exit_time_s),
                (network.exit_cause, network.exit_time_s),
                "{name}"
            );
            assert_eq!(sender.su_time_s, network.su_time_s, "{name}");
            assert_eq!(sender.timeouts, network.timeouts, "{name}");
            assert_eq!(noted.min_rtt.map(|rtt| rtt / 1_000_000), Some(40), "{name}");
            // The simulator's trace ends with the last delivery, before the ACK of that data arrives.
            let reached = |evidence: &Evidence| {
                let delivered = &evidence.recording.delivered;
                delivered.iter().find(|(_, to)| *to >= 1_800_000).expect("nine tenths").0
                    - evidence.recording.syn_at
            };
            let (late, soon) = (reached(&noted.evidence), reached(&seen));
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
