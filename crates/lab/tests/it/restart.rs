//! Restart after idle against ns-2, in the set-up of Visweswaraiah and Heidemann 1997, Figures 6 and 7.

use firstflight_lab::{How, race};
use firstflight_scenario::{Options, Scenario, over_restarts, parse_choices, parse_file};

/// Independent values from ns-2: elapsed seconds in restart rounds and packets dropped a reply over all rounds, each
/// with the half-width of its 90 % interval.
const NS_2: [(&str, [f64; 2], [f64; 2]); 5] = [
    ("ssr", [1.97, 0.04], [0.22, 0.03]),
    ("nssr", [1.63, 0.04], [1.35, 0.12]),
    ("vegas", [1.38, 0.05], [1.06, 0.07]),
    ("rbp-rate", [1.65, 0.07], [0.26, 0.04]),
    ("rbp-cwnd", [1.58, 0.09], [0.94, 0.13]),
];

/// Student's t of nine degrees of freedom, 90 % over 95 %.
const TO_90: f64 = 1.833_113 / 2.262_157;

/// Label, and our elapsed time and drops with their 90 % half-widths.
fn ours() -> Vec<(String, [f64; 2], [f64; 2])> {
    let text = include_str!("../../../../scenarios/restart-after-idle.toml");
    let file = parse_file(text).expect("a scenario");
    let (list, _) = file.schemes.expect("schemes");
    let scenario = Scenario::resolve(&file.options).expect("a scenario");
    assert_eq!(scenario.runs, 10);
    let results = race(&scenario, &parse_choices(&list).expect("schemes"), &How::default()).expect("a race");
    let row = |result: &firstflight_measure::SchemeResult| {
        let object = result.object();
        let number = |field: &str| object[field].as_f64().expect(field);
        let both = |field: &str| [number(field), number(&format!("{field}_ci95")) * TO_90];
        (result.name.clone(), both("elapsed_s"), both("drops_all_rounds"))
    };
    results.iter().map(row).collect()
}

/// What lies outside of the two intervals.
fn outside(labels: &[&str], which: usize) -> Vec<String> {
    let ours = ours();
    let of = |label: &str| {
        let (_, elapsed, drops) = ours.iter().find(|(found, ..)| found == label).expect(label);
        let (_, their_elapsed, their_drops) = NS_2.iter().find(|(found, ..)| *found == label).expect(label);
        let (mine, theirs) = [(elapsed, their_elapsed), (drops, their_drops)][which];
        let apart = (mine[0] - theirs[0]).abs() > mine[1] + theirs[1];
        apart.then(|| format!("{label}: {:.3}±{:.3}, ns-2 {}±{}", mine[0], mine[1], theirs[0], theirs[1]))
    };
    labels.iter().filter_map(|label| of(label)).collect()
}

#[test]
fn every_restart_takes_as_long_as_in_ns_2() {
    assert_eq!(outside(&["ssr", "nssr", "vegas", "rbp-rate", "rbp-cwnd"], 0), [""; 0]);
}

#[test]
fn every_restart_drops_as_much_as_in_ns_2() {
    assert_eq!(outside(&["ssr", "nssr", "vegas", "rbp-rate", "rbp-cwnd"], 1), [""; 0]);
}

#[test]
fn all_policies_make_a_row_each_with_the_same_bytes_on_every_run() {
    let mut options = Options::default();
    for (key, value) in [
        ("rate", "10mbit"),
        ("rtt", "40ms"),
        ("rounds", "3"),
        ("idle", "10s"),
        ("size", "24kB"),
        ("restart", "all"),
    ] {
        options.set(key, value).expect(key);
    }
    let choices = over_restarts(parse_choices("slow-start").expect("a scheme"), &options).expect("rows");
    let scenario = Scenario::resolve(&options).expect("a scenario");
    let run = |jobs| race(&scenario, &choices, &How { jobs: Some(jobs), ..How::default() }).expect("a race");
    let results = run(1);
    let restarts: Vec<&str> = results.iter().map(|result| result.rows[0].restart.as_str()).collect();
    assert_eq!(restarts, ["rfc5681", "ssr", "nssr", "rbp-rate", "rbp-cwnd", "cwv", "quick-start"]);
    for (one, other) in results.iter().zip(run(2)) {
        assert_eq!(one.rows, other.rows);
        let row = &one.rows[0];
        assert_eq!((row.fct_s, row.cost), (None, None));
        assert_eq!(row.drops, Some(Some(0.0)));
        let elapsed = row.elapsed_s.flatten().expect("a time");
        // Half a round trip and the time of 17 packets at the least; a second at the most.
        assert!((0.02 + 0.0192..1.0).contains(&elapsed), "{}: {elapsed}", row.restart);
        let acked = row.elapsed_acked_s.flatten().expect("a time");
        assert!((elapsed + 0.02..elapsed + 0.3).contains(&acked), "{}: {acked}", row.restart);
        assert!(row.ack_clock_s.flatten().is_some_and(|clock| clock >= 0.04));
        let burst = row.burst_packets.flatten().expect("a burst");
        let paced = ["rbp-cwnd", "cwv"].contains(&row.restart.as_str());
        assert_eq!(burst <= 4.0, paced || row.restart == "ssr" || row.restart == "rbp-rate", "{burst}");
    }
    let of = |restart: &str| {
        let result = results.iter().find(|result| result.rows[0].restart == restart).expect(restart);
        result.rows[0].elapsed_s.flatten().expect("a time")
    };
    assert!(
        of("nssr") < of("rbp-cwnd") && of("rbp-cwnd") < of("ssr"),
        "pacing is between burst and slow start"
    );
}
