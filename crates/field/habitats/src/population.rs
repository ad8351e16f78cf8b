//! Rows of a population that are computed from packets, as defined in docs/reference/exports.md. They have only the columns that
//! packets show.

use firstflight_emulate::{Fate, LoggedPacket, PacketLog, Side};
use firstflight_measure::arithmetic::{bps, ratio, seconds};
use firstflight_measure::scorecard::{self, PathFacts};
use firstflight_measure::{Evidence, Quantile, VERSION, WINDOW_FIELDS, metrics, quantile};
use firstflight_scenario::{Scenario, SchemeChoice};
use serde_json::{Map, Value, json};

/// The evidence of one flow of a population.
pub(crate) struct Flow {
    /// The evidence of the connection.
    pub(crate) evidence: Evidence,
    /// Whether the evidence includes the sender's internal events.
    pub(crate) is_inside_known: bool,
}

/// Returns the rows of all flows, in order of their start times.
pub(crate) fn flow_rows(
    scenario: &Scenario,
    choice: &SchemeChoice,
    flows: &[Flow],
) -> Vec<Map<String, Value>> {
    flows.iter().enumerate().map(|(number, flow)| flow_row(scenario, choice, number, flow)).collect()
}

fn flow_row(scenario: &Scenario, choice: &SchemeChoice, number: usize, flow: &Flow) -> Map<String, Value> {
    let evidence = &flow.evidence;
    let recording = &evidence.recording;
    let size = evidence.finished_at.and_then(|_| recording.delivered.last()).map(|(_, bytes)| *bytes);
    let mut row = named(scenario, choice);
    set(&mut row, "flow", json!(number));
    set(&mut row, "measured", json!(1));
    set(&mut row, "start_s", json!(seconds(recording.syn_at)));
    set(&mut row, "size_bytes", json!(size));
    set(&mut row, "fct_s", json!(metrics::fct(evidence).map(seconds)));
    set(&mut row, "throughput_bps", json!(metrics::throughput_bps(evidence)));
    set(&mut row, "packets_sent", json!(metrics::packets_sent(evidence)));
    set(&mut row, "packets_lost", json!(metrics::packets_lost(evidence)));
    if flow.is_inside_known {
        let packet = u64::from(scenario.packet());
        let mss = u64::from(scenario.mss);
        let path = PathFacts { available: &[], base_rtt: scenario.rtt.nanos(), packet, mss };
        let exit = scorecard::first_exit(evidence);
        set(&mut row, "exit_cause", json!(exit.map_or("none", |exit| exit.cause.name())));
        set(&mut row, "exit_cwnd_packets", json!(scorecard::exit_cwnd_packets(evidence, &path)));
        set(&mut row, "su_time_s", json!(metrics::su_time(evidence).map(seconds)));
        set(&mut row, "startup_packets_lost", json!(startup_lost(evidence)));
    }
    for window in &scenario.windows {
        let (from, until) = (window.from.nanos(), window.until.nanos());
        let bytes = metrics::delivered_at(evidence, until) - metrics::delivered_at(evidence, from);
        set(&mut row, &format!("{}_{}", WINDOW_FIELDS[1], window.suffix()), json!(bps(bytes, until - from)));
    }
    row
}

/// Returns the number of data packets that were sent in start-up and dropped.
fn startup_lost(evidence: &Evidence) -> usize {
    let is_of_it = |sent: u64| evidence.su_end.is_none_or(|end| sent < end);
    evidence.recording.drops.iter().filter(|drop| drop.len > 0 && is_of_it(drop.sent_at)).count()
}

/// Returns the row of the whole run. `sender` is the host whose flows are measured, and `cpu` the CPU seconds of the run.
pub(crate) fn row(
    scenario: &Scenario,
    choice: &SchemeChoice,
    flows: &[Flow],
    (packet_log, sender, cpu): (&PacketLog, Side, f64),
) -> Map<String, Value> {
    let evidence = || flows.iter().map(|flow| &flow.evidence);
    let sum = |of: fn(&Evidence) -> u64| evidence().map(of).sum::<u64>();
    let (sent, lost) = (sum(metrics::packets_sent), sum(metrics::packets_lost));
    let throughputs = sorted(evidence().map(|evidence| Some(metrics::throughput_bps(evidence))));
    let fcts = sorted(evidence().map(|evidence| metrics::fct(evidence).map(seconds)));
    let mut row = named(scenario, choice);
    set(&mut row, "flows", json!(flows.len()));
    set(&mut row, "unfinished", json!(evidence().filter(|one| one.finished_at.is_none()).count()));
    for (name, values) in [("throughput", &throughputs), ("fct", &fcts)] {
        let unit = if name == "fct" { "s" } else { "bps" };
        set(&mut row, &format!("{name}_mean_{unit}"), json!(mean(values)));
        for (part, q) in [("p5", 0.05), ("median", 0.5), ("p95", 0.95)] {
            set(&mut row, &format!("{name}_{part}_{unit}"), json!(at(values, q)));
        }
    }
    set(&mut row, "loss", json!(ratio(lost, sent)));
    set(&mut row, "lossy_flows", json!(evidence().filter(|one| metrics::packets_lost(one) > 0).count()));
    set(&mut row, "packets_sent", json!(sent));
    set(&mut row, "packets_lost", json!(lost));
    set(&mut row, "sender_cpu", json!(cpu / seconds(scenario.limit.nanos())));
    for window in &scenario.windows {
        let span = (window.from.nanos(), window.until.nanos());
        let delivered = |evidence: &Evidence| {
            metrics::delivered_at(evidence, span.1) - metrics::delivered_at(evidence, span.0)
        };
        let goodput: u64 = evidence().map(delivered).sum();
        let ways = [sender, sender.other()].map(|side| way(packet_log, side, span));
        // The row has the utilisation of the busier of the two links between the hosts.
        let busier = if ways[0].0 >= ways[1].0 { ways[0] } else { ways[1] };
        let rate = bps(busier.0, span.1 - span.0);
        #[expect(clippy::cast_precision_loss, reason = "rates are far below 2^53 bit/s")]
        let utilisation = rate.map(|rate| rate / scenario.rate.bps() as f64);
        let [utilised, good, dropped] = WINDOW_FIELDS.map(|stem| format!("{stem}_{}", window.suffix()));
        set(&mut row, &utilised, json!(utilisation));
        set(&mut row, &good, json!(bps(goodput, span.1 - span.0)));
        set(&mut row, &dropped, json!(busier.1));
    }
    row
}

/// Returns the delivered IP bytes and the dropped packets of a host's packets within a time window.
fn way(packet_log: &PacketLog, from: Side, (begin, end): (u64, u64)) -> (u64, u64) {
    let mut sums = (0, 0);
    let packet = |packet: &LoggedPacket| match packet.fate {
        Fate::Delivered(at) => (at.nanos(), packet.length as u64, 0),
        Fate::Dropped(at, _) => (at.nanos(), 0, 1),
        Fate::Inside => (u64::MAX, 0, 0),
    };
    for (at, bytes, dropped) in packet_log.packets().iter().filter(|one| one.from == from).map(packet) {
        if (begin..end).contains(&at) {
            sums = (sums.0 + bytes, sums.1 + dropped);
        }
    }
    sums
}

/// Returns the columns that every row has.
fn named(scenario: &Scenario, choice: &SchemeChoice) -> Map<String, Value> {
    let subject = scenario.subject(choice);
    let mut row = Map::new();
    set(&mut row, "scheme", json!(subject.scheme));
    if let Some(label) = subject.label {
        set(&mut row, "label", json!(label));
    }
    set(&mut row, "params", json!(subject.params));
    set(&mut row, "population", json!("only"));
    set(&mut row, "avoidance", json!(subject.avoidance));
    set(&mut row, "restart", json!(subject.restart));
    set(&mut row, "seed", json!(scenario.seed));
    set(&mut row, "version", json!(VERSION));
    set(&mut row, "scenario_hash", json!(scenario.hash()));
    row
}

fn set(row: &mut Map<String, Value>, name: &str, value: Value) {
    row.insert(name.to_owned(), value);
}

/// Returns the values in ascending order, undefined values last.
fn sorted(values: impl Iterator<Item = Option<f64>>) -> Vec<Option<f64>> {
    let mut values: Vec<_> = values.collect();
    values.sort_by(|a, b| a.unwrap_or(f64::INFINITY).total_cmp(&b.unwrap_or(f64::INFINITY)));
    values
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn mean(values: &[Option<f64>]) -> Option<f64> {
    let all: Option<Vec<f64>> = values.iter().copied().collect();
    let all = all.filter(|all| !all.is_empty())?;
    Some(all.iter().sum::<f64>() / all.len() as f64)
}

fn at(values: &[Option<f64>], q: f64) -> Option<f64> {
    match quantile(values, q, false) {
        Quantile::Value { value, .. } => Some(value),
        Quantile::Undefined | Quantile::Beyond { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use firstflight_measure::{Drop, Recording, Send};
    use firstflight_scenario::{Options, parse_choices};

    const S: u64 = 1_000_000_000;

    /// Returns a flow of 3 kB that begins at `began` and takes two seconds. It loses one packet in start-up and one packet later.
    fn flow(began: u64, is_inside_known: bool) -> Flow {
        let send = |at: u64, offset| Send { at: began + at, offset, len: 1_000, retransmission: false };
        let lost =
            |at: u64| Drop { at: began + at, sent_at: began + at, offset: 0, len: 1_000, by_queue: true };
        let recording = Recording {
            syn_at: began,
            mss: 1_000,
            first_data_at: Some(began + S / 2),
            sends: vec![send(S / 2, 0), send(S, 1_000), send(S, 2_000)],
            drops: vec![lost(S / 2), lost(S)],
            delivered: vec![(began + S, 1_000), (began + 2 * S, 3_000)],
            ended_at: began + 2 * S,
            ..Recording::default()
        };
        let evidence = Evidence {
            recording,
            finished_at: Some(began + 2 * S),
            su_end: Some(began + S),
            ..Evidence::default()
        };
        Flow { evidence, is_inside_known }
    }

    fn scenario() -> Scenario {
        let mut set = Options::default();
        for (key, value) in [
            ("rate", "8mbit"),
            ("topology", "dumbbell:hosts=1,ways=onward"),
            ("arrivals", "at:1s,3s"),
            ("duration", "9s"),
            ("warm-up", "none"),
            ("windows", "2s..4s"),
        ] {
            set.set(key, value).expect("an option");
        }
        Scenario::resolve(&set).expect("a scenario")
    }

    #[test]
    fn rows_contain_packet_measurements_and_only_known_internal_values() {
        let choice = &parse_choices("slow-start:as=sack").expect("a scheme")[0];
        let flows = [flow(S, false), flow(3 * S, true)];
        let rows = flow_rows(&scenario(), choice, &flows);
        let of = |number: usize, name: &str| rows[number].get(name).cloned();
        assert_eq!((of(0, "throughput_bps"), of(0, "fct_s")), (Some(json!(12_000.0)), Some(json!(2.0))));
        assert_eq!((of(0, "size_bytes"), of(1, "start_s")), (Some(json!(3_000)), Some(json!(3.0))));
        assert_eq!((of(0, "startup_packets_lost"), of(0, "exit_cause")), (None, None));
        assert_eq!(
            (of(1, "startup_packets_lost"), of(1, "exit_cause")),
            (Some(json!(1)), Some(json!("none")))
        );
        // From 2 s to 4 s, 3,000 bytes of the first flow are delivered, 1,000 of them at 2 s, and 1,000 bytes of the second flow at 4 s.
        let row = row(&scenario(), choice, &flows, (&PacketLog::default(), Side::B, 4.5));
        assert_eq!(
            (row["goodput_bps_2s_4s"].clone(), row["sender_cpu"].clone()),
            (json!(12_000.0), json!(0.5))
        );
        assert_eq!((row["label"].clone(), row["packets_lost"].clone()), (json!("sack"), json!(4)));
        assert_eq!((row["flows"].clone(), row["lossy_flows"].clone()), (json!(2), json!(2)));
        assert_eq!(row["dropped_packets_2s_4s"], json!(0));
    }
}
