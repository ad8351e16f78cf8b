//! Restart after idle against ns-2, in the set-up of Visweswaraiah and Heidemann 1997, Figures 6 and 7.

use firstflight_lab::{How, race, run};
use firstflight_scenario::{Options, Scenario, over_restarts, parse_choices, parse_file};

/// Independent values from ns-2: elapsed seconds in restart rounds and packets dropped a reply over all rounds, each
/// with the half-width of its 90 % interval.
const NS_2: [(&str, [f64; 2], [f64; 2]); 5] = [
    ("ssr", [1.98, 0.05], [0.25, 0.03]),
    ("nssr", [1.58, 0.04], [1.33, 0.06]),
    ("vegas", [1.39, 0.03], [1.03, 0.04]),
    ("rbp-rate", [1.72, 0.06], [0.25, 0.04]),
    ("rbp-cwnd", [1.56, 0.06], [0.97, 0.08]),
];

/// One client of `Agent/TCP/Vegas/RBP` in ns-2: the bottleneck's delay in milliseconds, the reply in segments, and the elapsed seconds
/// of five restarts in the mean. `ns restart.tcl -policy rbp-rate -queue 24 -clients 1 -rounds 6 -delay_ms D -reply N`.
const NS_2_RATE: [(u32, u32, f64); 20] = [
    (100, 8, 0.6265),
    (100, 12, 0.8887),
    (100, 16, 0.7090),
    (100, 20, 1.4020),
    (100, 24, 1.1679),
    (200, 8, 0.9788),
    (200, 12, 1.5887),
    (200, 16, 1.2817),
    (200, 20, 1.7850),
    (200, 24, 1.4840),
    (300, 8, 1.3748),
    (300, 12, 2.2887),
    (300, 16, 2.3334),
    (300, 20, 2.5350),
    (300, 24, 2.4085),
    (500, 8, 2.1668),
    (500, 12, 3.6887),
    (500, 16, 3.3373),
    (500, 20, 4.0350),
    (500, 24, 2.6591),
];

/// Student's t of nine degrees of freedom, 90 % over 95 %.
const TO_90: f64 = 1.833_113 / 2.262_157;

/// Label, and our elapsed time and drops with their 90 % half-widths.
fn ours() -> Vec<(String, [f64; 2], [f64; 2])> {
    let text = include_str!("../../../../../scenarios/restart-after-idle.toml");
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

/// Returns the results outside of the two intervals.
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

/// Vegas drops a fifth more than in ns-2. Most of the difference disappears if its window grows at the end of a reply as in ns-2
/// (bench/ns2/README.md). Means of many seeds: 97 in ns-2.
#[test]
fn vegas_drops_match_ns2_only_with_window_growth_of_ns2() {
    const NS_2: f64 = 1.043;
    let file =
        parse_file(include_str!("../../../../../scenarios/restart-after-idle.toml")).expect("a scenario");
    let mut options = file.options.clone();
    options.set("runs", "40").expect("runs");
    let scenario = Scenario::resolve(&options).expect("a scenario");
    let vegas = "vegas:recovery=vegas,restart=nssr";
    let choices =
        parse_choices(&format!("{vegas},as=rfc7661,{vegas},app-limited-growth=ns2-vegas,as=ns2-vegas"))
            .expect("schemes");
    let results = race(&scenario, &choices, &How::default()).expect("a race");
    let over = |label: &str| {
        let result = results.iter().find(|result| result.name == label).expect(label);
        result.object()["drops_all_rounds"].as_f64().expect("drops") / NS_2
    };
    let [validated, nearly_full] = ["rfc7661", "ns2-vegas"].map(over);
    assert!(validated > 1.12, "{validated}");
    assert!((0.9..1.1).contains(&nearly_full), "{nearly_full}");
}

// `vegas` drops a fifth more than in ns-2.
#[test]
fn every_restart_but_vegas_drops_as_much_as_in_ns_2() {
    assert_eq!(outside(&["ssr", "nssr", "rbp-rate", "rbp-cwnd"], 1), [""; 0]);
}

#[test]
fn rbp_rate_elapsed_times_match_ns2_at_every_delay_and_size() {
    let text = include_str!("../../../../../scenarios/restart-after-idle.toml");
    let file = parse_file(text).expect("a scenario");
    let (list, _) = file.schemes.expect("schemes");
    let choices: Vec<_> = parse_choices(&list)
        .expect("schemes")
        .into_iter()
        .filter(|choice| choice.to_string().contains("rbp-rate"))
        .collect();
    let elapsed = |delay: u32, reply: u32| {
        let mut options = file.options.clone();
        // In addition, access links of 1 ms each way.
        let rtt = format!("{}ms", 2 * delay + 4);
        let reply = format!("{reply}p");
        for (key, value) in [
            ("rtt", rtt.as_str()),
            ("size", &reply),
            ("queue", "24p"),
            ("clients", "1"),
            ("rounds", "6"),
            ("runs", "1"),
        ] {
            options.set(key, value).expect(key);
        }
        let scenario = Scenario::resolve(&options).expect("a scenario");
        let results = race(&scenario, &choices, &How::default()).expect("a race");
        results[0].rows[0].elapsed_s.flatten().expect("a time")
    };
    let apart = NS_2_RATE.iter().filter_map(|&(delay, reply, theirs)| {
        let ours = elapsed(delay, reply);
        ((ours / theirs - 1.0).abs() > 0.015)
            .then(|| format!("{delay} ms, {reply}: {ours:.4} s, ns-2 {theirs} s"))
    });
    assert_eq!(apart.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn every_restart_policy_has_a_reproducible_row() {
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
        // At least half an RTT and the time of 17 packets; at most a second.
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

/// Rounds of clients that have these flows, or else as many of a scheme.
fn clients(more: &[(&str, &str)], schemes: &str) -> Vec<firstflight_measure::SchemeResult> {
    let mut options = Options::default();
    for (key, text) in [
        ("rate", "2mbit"),
        ("rtt", "100ms"),
        ("queue", "6p"),
        ("rounds", "4"),
        ("idle", "5s"),
        ("size", "24kB"),
    ]
    .iter()
    .chain(more)
    {
        options.set(key, text).expect(text);
    }
    let scenario = Scenario::resolve(&options).expect("a scenario");
    race(&scenario, &parse_choices(schemes).expect("schemes"), &How::default()).expect("a race")
}

#[test]
fn explicit_clients_give_the_same_rounds_as_a_client_count() {
    let alike = clients(&[("clients", "4")], "slow-start:restart=nssr,as=nssr");
    let script = ["scheme=slow-start:as=nssr,restart=nssr"; 4].join(";");
    let said = clients(&[("flow", &script)], "slow-start");
    let numbers = |results: &[firstflight_measure::SchemeResult]| {
        let row = &results[0].rows[0];
        (row.elapsed_s, row.drops_all_rounds, row.burst_packets, row.ack_clock_s, row.packets_sent)
    };
    assert!(alike[0].rows[0].drops.flatten().is_some_and(|drops| drops > 0.0), "the queue is short");
    assert_eq!(numbers(&said), numbers(&alike));
}

#[test]
fn a_row_of_mixed_clients_is_of_the_schemes_own_clients() {
    // Two names of one scheme: the clients behave as under one name, and each row has a part of them.
    let script = "scheme=slow-start:as=a,restart=nssr;scheme=slow-start:as=b,restart=nssr;scheme=slow-start:as=b,restart=nssr";
    // So close to each other that their packets meet in the queue.
    let close = ("spread", "50ms");
    let [a, b] = <[_; 2]>::try_from(clients(&[("flow", script), close], "slow-start")).expect("two rows");
    let all = clients(&[("clients", "3"), close], "slow-start:restart=nssr");
    let of = |result: &firstflight_measure::SchemeResult| {
        let row = &result.rows[0];
        [row.elapsed_s, row.drops].map(|value| value.flatten().expect("a number"))
    };
    let (of_a, of_b) = (of(&a), of(&b));
    for (at, all) in of(&all[0]).into_iter().enumerate() {
        assert!(((of_a[at] + 2.0 * of_b[at]) / 3.0 - all).abs() < 1e-9, "{of_a:?} {of_b:?} {all}");
    }
    assert!(of_a.iter().zip(of_b).any(|(a, b)| (a - b).abs() > 1e-9), "{of_a:?} {of_b:?}");
    assert_eq!([a.name.as_str(), b.name.as_str()], ["a", "b"]);
}

#[test]
fn mixed_clients_keep_their_own_policies_and_acks() {
    let script = "scheme=slow-start,restart=ssr;scheme=slow-start,restart=nssr;scheme=slow-start:as=every,restart=ssr,ack=every";
    let results =
        clients(&[("flow", script), ("queue", "100p"), ("ack", "delayed"), ("iw", "1p")], "slow-start");
    let row = |name: &str| &results.iter().find(|result| result.name == name).expect(name).rows[0];
    let burst = |name| row(name).burst_packets.flatten().expect("a burst");
    assert!(burst("slow-start+ssr") < burst("slow-start+nssr"), "a whole window leaves at once without ssr");
    // The first packet of a restart is acknowledged at once, or after the delayed-ACK timer.
    let clock = |name| row(name).ack_clock_s.flatten().expect("an ACK");
    assert!(
        clock("every") + 0.01 < clock("slow-start+ssr"),
        "{} {}",
        clock("every"),
        clock("slow-start+ssr")
    );
}

#[test]
fn mixed_clients_measure_the_same_with_a_shared_warm_up() {
    let script = "scheme=slow-start:as=a,restart=ssr;scheme=quick-start,restart=quick-start";
    let given = [("flow", script), ("cross", "tcp:1"), ("runs", "2")];
    let mut options = Options::default();
    for (key, text) in
        [("rate", "2mbit"), ("rtt", "100ms"), ("rounds", "3"), ("idle", "5s")].iter().chain(&given)
    {
        options.set(key, text).expect(text);
    }
    let scenario = Scenario::resolve(&options).expect("a scenario");
    let raced = race(&scenario, &[], &How::default()).expect("a race");
    assert_eq!(raced.len(), 2);
    for choice in scenario.cast(None).expect("a cast").choices {
        let result = raced.iter().find(|result| result.name == choice.name()).expect("a row");
        for row in &result.rows {
            let outcome = run(&scenario, &choice, row.seed, false, None, &|| false).expect("a run");
            let alone = firstflight_measure::row(&scenario.measured(&choice, row.seed), &outcome.evidence);
            assert_eq!(
                (alone.elapsed_s, alone.drops, alone.packets_sent),
                (row.elapsed_s, row.drops, row.packets_sent),
                "{}",
                choice.name()
            );
        }
    }
}
