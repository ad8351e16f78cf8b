//! A synthetic race for the tests of the report: packets through one queue, given as recordings and rows. It is no engine; it only has the
//! shape, the order and the size of the results of a real run.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use firstflight_export::records;
use firstflight_measure::{Drop, Mark, PhaseKind, PhaseSpan, Recording, Row, Send, State};
use firstflight_report::{BasePath, Drawn, Report, Subject, html};

const PACKET: u64 = 960;
const TX: u64 = 80_000;
const RTT: u64 = 80_000_000;
const LIMIT: u64 = 1000;
const SYN: u64 = 3_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Ack { packet: u64, sent: u64 },
    Loss { packet: u64 },
}

/// Returns a run of so many nanoseconds that leaves start-up at the window, or by loss.
#[expect(clippy::too_many_lines, reason = "one loop over one state, told once")]
pub(crate) fn recording(label: &str, length: u64, leave_at: u64) -> Recording {
    let mut run = Recording {
        label: label.into(),
        mss: 960,
        syn_at: SYN,
        ended_at: SYN + length,
        ..Recording::default()
    };
    let start = SYN + RTT;
    run.first_data_at = Some(start);
    run.phases.push(PhaseSpan { from: SYN, to: start, kind: PhaseKind::Handshake });
    let mut heap: BinaryHeap<Reverse<(u64, u64, Event)>> = BinaryHeap::new();
    let (mut order, mut next, mut busy, mut flight) = (0_u64, 0_u64, start, 0_u64);
    let (mut cwnd, mut credit, mut ssthresh) = (10_u64, 0_u64, None::<u64>);
    let mut missing: BTreeSet<u64> = BTreeSet::new();
    let mut arrived: BTreeSet<u64> = BTreeSet::new();
    let (mut delivered, mut recovery_until, mut phase_from) = (0_u64, None::<u64>, start);
    let mut again: Vec<u64> = Vec::new();
    let mut now = start;
    loop {
        while flight < cwnd {
            let (packet, retransmission) = again.pop().map_or((next, false), |packet| (packet, true));
            next += u64::from(!retransmission);
            run.sends.push(Send { at: now, offset: packet * PACKET, len: PACKET as u32, retransmission });
            flight += 1;
            order += 1;
            let queued = busy.saturating_sub(now) / TX;
            if queued >= LIMIT {
                run.drops.push(Drop {
                    at: now,
                    sent_at: now,
                    offset: packet * PACKET,
                    len: PACKET as u32,
                    by_queue: true,
                });
                heap.push(Reverse((now + RTT + queued * TX, order, Event::Loss { packet })));
            } else {
                busy = busy.max(now) + TX;
                run.queue.push((now, queued as u32 + 1));
                heap.push(Reverse((busy + RTT, order, Event::Ack { packet, sent: now })));
            }
        }
        let Some(Reverse((at, _, event))) = heap.pop() else { break };
        if at > run.ended_at {
            break;
        }
        now = at;
        flight -= 1;
        match event {
            Event::Ack { packet, sent } => {
                run.rtts.push((now, now - sent));
                arrived.insert(packet);
                missing.remove(&packet);
                while arrived.remove(&delivered) {
                    delivered += 1;
                }
                run.acks.push((now, delivered * PACKET));
                run.delivered.push((now - RTT / 2, delivered * PACKET));
                match (ssthresh, recovery_until) {
                    (None, _) => {
                        cwnd += 1;
                        if cwnd >= leave_at {
                            ssthresh = Some(cwnd);
                            run.phases.push(PhaseSpan {
                                from: phase_from,
                                to: now,
                                kind: PhaseKind::Startup,
                            });
                            phase_from = now;
                            run.marks.push(Mark {
                                at: now,
                                kind: "exit".into(),
                                text: format!("delay, cwnd {cwnd}"),
                            });
                            run.marks.push(Mark { at: now, kind: "su-end".into(), text: "avoidance".into() });
                        }
                    }
                    (Some(_), None) => {
                        credit += 1;
                        if credit >= cwnd {
                            credit = 0;
                            cwnd += 1;
                        }
                    }
                    (Some(_), Some(until)) if delivered >= until => {
                        recovery_until = None;
                        run.phases.push(PhaseSpan { from: phase_from, to: now, kind: PhaseKind::Recovery });
                        phase_from = now;
                        if !run.marks.iter().any(|mark| mark.kind == "su-end") {
                            run.marks.push(Mark { at: now, kind: "su-end".into(), text: "avoidance".into() });
                        }
                    }
                    _ => {}
                }
            }
            Event::Loss { packet } => {
                missing.insert(packet);
                again.insert(0, packet);
                if recovery_until.is_none() {
                    let kind = if ssthresh.is_none() { PhaseKind::Startup } else { PhaseKind::Avoidance };
                    if ssthresh.is_none() {
                        let text = format!("loss, cwnd {cwnd} → {}", cwnd / 2);
                        run.marks.push(Mark { at: now, kind: "exit".into(), text });
                    }
                    run.marks.push(Mark {
                        at: now,
                        kind: "reduction".into(),
                        text: format!("cwnd {cwnd} → {}", cwnd / 2),
                    });
                    run.phases.push(PhaseSpan { from: phase_from, to: now, kind });
                    phase_from = now;
                    cwnd = (cwnd / 2).max(2);
                    ssthresh = Some(cwnd);
                    recovery_until = Some(next);
                }
            }
        }
        let state = State {
            at: now,
            cwnd: cwnd * PACKET,
            ssthresh: ssthresh.map(|s| s * PACKET),
            in_flight: flight * PACKET,
        };
        run.states.push(state);
    }
    let kind = if recovery_until.is_some() { PhaseKind::Recovery } else { PhaseKind::Avoidance };
    run.phases.push(PhaseSpan { from: phase_from, to: run.ended_at, kind });
    run.available.push((0, 100_000_000));
    run
}

/// A row that goes with the recording.
fn row(run: &Recording, scheme: &str) -> Row {
    let seconds = |ns: u64| ns as f64 / 1e9;
    let first = run.first_data_at.unwrap_or(run.syn_at);
    let mark = |kind: &str| run.marks.iter().find(|mark| mark.kind == kind);
    let bytes = run.delivered.last().map_or(0, |point| point.1);
    let again = run.sends.iter().filter(|send| send.retransmission).count() as u64;
    Row {
        scheme: scheme.into(),
        label: Some(run.label.clone()),
        avoidance: "reno".into(),
        recovery: "sack".into(),
        restart: "rfc5681".into(),
        throughput_bps: bytes as f64 * 8.0 / seconds(run.ended_at - run.syn_at),
        loss: Some(run.drops.len() as f64 / run.sends.len() as f64),
        su_time_s: mark("su-end").map(|mark| seconds(mark.at - first)),
        su_loss: Some(run.drops.len() as f64 / run.sends.len() as f64),
        packets_sent: run.sends.len() as u64,
        packets_lost: run.drops.len() as u64,
        retransmissions: again,
        exit_cause: mark("exit")
            .map_or("none".into(), |mark| mark.text.split(',').next().unwrap_or("").into()),
        exit_time_s: mark("exit").map(|mark| seconds(mark.at - first)),
        exit_cwnd_over_bdp: Some(1.5),
        queue_peak_packets: run.queue.iter().map(|point| u64::from(point.1)).max().unwrap_or(0),
        ideal_kind: "exact".into(),
        seed: 7,
        version: "0.1.0".into(),
        scenario_hash: "c0ffee".into(),
        ..Row::default()
    }
}

/// A synthetic race: the report about it, and the runs to be drawn.
pub(crate) struct MadeUp {
    pub(crate) report: Report,
    pub(crate) recordings: Vec<Recording>,
}

impl MadeUp {
    /// The report's page.
    pub(crate) fn page(&self) -> String {
        let path = BasePath { base_rtt: 80_000_000, packet: 1040 };
        let path = (self.report.subject == Subject::Race).then_some(&path);
        let drawn = self.recordings.iter().map(|run| Drawn::new(run, path)).collect();
        html::render(&Report { drawn, ..self.report.clone() }).expect("renders")
    }
}

/// A race of so many schemes over so many seconds.
pub(crate) fn race(schemes: usize, seconds: u64) -> MadeUp {
    let names = ["slow-start", "paced", "hystart", "limited", "slow-start-paced"];
    let runs: Vec<(Recording, &str)> = (0..schemes)
        .map(|at| {
            let name = names[at % names.len()];
            let label = if at < names.len() { name.to_owned() } else { format!("{name}-{at}") };
            (recording(&label, seconds * 1_000_000_000, [u64::MAX, 900, 1300, 2200, 700][at % 5]), name)
        })
        .collect();
    let rows: Vec<Row> = runs.iter().map(|(run, name)| row(run, name)).collect();
    let begin = SYN + RTT * 3 / 2;
    let report = Report {
        subject: firstflight_report::Subject::Race,
        title: "100 Mbit/s, 80 ms, queue of 1000 packets, no cross traffic, 1000-byte packets".into(),
        command: "firstflight race --rate 100mbit --rtt 80ms --queue 1000p --report out/demo.html".into(),
        version: "0.1.0".into(),
        seed: 7,
        scenario_hash: "c0ffee".into(),
        scenario_text: "rate = \"100mbit\"\nrtt = \"80ms\"\n".into(),
        verdict: "paced enters avoidance first and loses nothing; slow-start overshoots by a whole queue."
            .into(),
        rows: records(&rows).expect("rows are objects"),
        drawn: Vec::new(),
        ideal: vec![(SYN, 0), (begin, 0), (SYN + seconds * 1_000_000_000, (seconds * 1000 - 120) * 12_000)],
        summary: None,
        queue_packets: Some(1000.0),
    };
    MadeUp { report, recordings: runs.into_iter().map(|(run, _)| run).collect() }
}
