//! A warm-up simulated once for all schemes of a seed gives the results of separate runs from the beginning.

use std::sync::Mutex;

use firstflight_lab::{How, race, run, run_without};
use firstflight_measure::{Recording, Row, add_harm, row, set_ideal};
use firstflight_scenario::keywords::Cross;
use firstflight_scenario::{Options, Scenario, SchemeChoice, over_restarts, parse_choices};

/// Options as on the command line.
type Given = &'static [(&'static str, &'static str)];

/// The results of a race: each scheme's name, rows, and the first run's recording.
type Said = Vec<(String, Vec<Row>, Recording)>;

/// Raced together, and each run alone from the beginning.
fn both_ways(options: &[(&str, &str)], schemes: &str, jobs: usize) -> [Said; 2] {
    let mut set = Options::default();
    for (key, text) in options {
        set.set(key, text).expect(text);
    }
    let scenario = Scenario::resolve(&set).expect("a scenario");
    let choices = over_restarts(parse_choices(schemes).expect(schemes), &set).expect("restarts");
    let recordings = Mutex::new(Vec::new());
    let take = |recording: &Recording| recordings.lock().expect("no panic").push(recording.clone());
    let how = How { jobs: Some(jobs), record: Some(&take), ..How::default() };
    let together = race(&scenario, &choices, &how).expect("a race");
    let alone = together.iter().map(|result| {
        let choice = as_it_ran(&result.rows[0]);
        let runs = result.rows.iter().map(|raced| {
            let seed = raced.seed;
            let outcome = run(&scenario, &choice, seed, true, None, &|| false).expect("a run");
            let mut row = row(&scenario.measured(&choice, seed), &outcome.evidence);
            let recording = outcome.evidence.recording;
            if scenario.cross != Cross::None {
                let (from, end) = (recording.syn_at, recording.ended_at);
                let without = run_without(&scenario, seed, &[end], &|| false).expect("a run");
                add_harm(&mut row, outcome.cross, without.totals[0], end - from);
                if let Some(ideal) = &without.ideal {
                    set_ideal(&mut row, scenario.goal_of_runs(), ideal, from);
                }
            }
            // Harm after the flow's end is computed only by the race: tests/it/harm.rs.
            row.harm = raced.harm;
            (row, recording)
        });
        let (rows, mut recordings): (Vec<Row>, Vec<Recording>) = runs.unzip();
        (result.name.clone(), rows, recordings.remove(0))
    });
    let alone = alone.collect();
    let mut recordings = recordings.into_inner().expect("no panic");
    let together = together.into_iter().map(|result| {
        let name = result.name.clone();
        let at = recordings.iter().position(|recording| recording.label == name).expect("recorded");
        (name, result.rows, recordings.swap_remove(at))
    });
    [together.collect(), alone]
}

/// The scheme of a row with the parameters of its run, including the values that an earlier connection saved.
fn as_it_ran(row: &Row) -> SchemeChoice {
    let label = row.label.as_ref().map(|label| format!("as={label}"));
    let params = Some(row.params.clone()).filter(|params| !params.is_empty());
    let parts: Vec<String> = params.into_iter().chain(label).collect();
    let colon = if parts.is_empty() { "" } else { ":" };
    parse_choices(&format!("{}{colon}{}", row.scheme, parts.join(","))).expect("a scheme").remove(0)
}

/// Returns the runs of a scheme as text.
fn lines((name, rows, recording): &(String, Vec<Row>, Recording)) -> [String; 3] {
    let json = |rows: &[Row]| serde_json::to_string(rows).expect("JSON");
    [name.clone(), json(rows), serde_json::to_string(recording).expect("JSON")]
}

fn same(options: &[(&str, &str)], schemes: &str) {
    for jobs in [1, 3] {
        let [together, alone] = both_ways(options, schemes, jobs);
        assert_eq!(together.len(), alone.len());
        for (together, alone) in together.iter().zip(&alone) {
            assert!(together.2.delivered.len() > 1, "{} delivers", together.0);
            // Not by `assert_eq`, which would print a recording.
            assert!(lines(together) == lines(alone), "{options:?}: {} is not as it is alone", together.0);
        }
    }
}

/// 5 Mbit/s and 30 ms, two runs.
const PATH: Given = &[("rate", "5mbit"), ("rtt", "30ms"), ("size", "100kB"), ("runs", "2")];

/// Schemes that ask routers, use values that an earlier connection saved, keep rings of samples, or pace.
const SCHEMES: &str = "slow-start,quick-start,careful-resume,bbr,paced,hystart++:avoidance=cubic";

#[test]
fn beside_any_cross_traffic() {
    for cross in [
        "none",
        "2mbit",
        "tcp:1",
        "tcp:3",
        "onoff:3mbit,300ms,500ms",
        "onoff:3mbit,200ms,300ms,pareto=1.5",
        "poisson:10,20kB",
        "web:30%",
    ] {
        same(&[PATH, &[("cross", cross)]].concat(), SCHEMES);
    }
}

#[test]
fn over_any_link_and_queue() {
    let links: [Given; 12] = [
        &[("loss", "1%"), ("jitter", "5ms")],
        &[("queue", "codel:100p,ecn"), ("ecn", "true")],
        &[("queue", "fq-codel:100p"), ("loss", "0.5%")],
        &[("queue", "pie:100p,ecn"), ("ecn", "true")],
        &[("queue", "red:60p")],
        &[("queue", "3p")],
        &[("policer", "3mbit,30kB")],
        &[("ack-aggregation", "10ms")],
        &[("reverse-rate", "200kbit"), ("reverse-rtt-share", "20%"), ("reverse-queue", "10p")],
        &[("topology", "parking-lot:hops=3,cross=each"), ("jitter", "1ms")],
        &[("timestamps", "true"), ("rwnd", "20p"), ("qs-hops", "1")],
        &[("duration", "3s"), ("recovery", "newreno")],
    ];
    for link in links {
        let given = link.iter().map(|(key, _)| *key).collect::<Vec<_>>();
        let path = PATH.iter().filter(|(key, _)| !(*key == "size" && given.contains(&"duration")));
        let options: Vec<_> = path.chain(link).chain(&[("cross", "tcp:2")]).copied().collect();
        same(&options, "slow-start,quick-start,paced");
        let last = options.len() - 1;
        let options = [&options[..last], &[("cross", "onoff:2mbit,300ms,300ms")]].concat();
        same(&options, "quick-start,hystart");
    }
    let traced: Given =
        &[("rate-trace", "0s=5mbit,10.05s=2mbit,10.2s=8mbit"), ("rtt", "30ms"), ("size", "200kB")];
    same(&[traced, &[("cross", "tcp:2")]].concat(), "slow-start,quick-start");
}

#[test]
fn with_rounds_of_several_clients() {
    let rounds: Given = &[("rounds", "3"), ("idle", "2s"), ("clients", "3"), ("size", "30kB")];
    let path: Given = &[("rate", "5mbit"), ("rtt", "30ms"), ("runs", "2"), ("cross", "tcp:1")];
    let all = &[("restart", "rfc5681,nssr,rbp-rate,quick-start")];
    same(&[path, rounds, all].concat(), "slow-start");
    same(&[path, rounds].concat(), "slow-start,slow-start:restart=quick-start,as=asks,quick-start");
}

#[test]
fn where_the_others_may_ask_routers_themselves() {
    let path: Given = &[("rate", "5mbit"), ("rtt", "30ms"), ("size", "100kB"), ("restart", "quick-start")];
    same(&[path, &[("cross", "poisson:10,20kB")]].concat(), "slow-start,slow-start:restart=rfc5681,as=not");
}
