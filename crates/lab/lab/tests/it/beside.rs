//! Cross traffic with a start, a stop and a direction, next to one flow and next to populations.

use firstflight_lab::{How, populations, race, run, run_without};
use firstflight_measure::{FlowRow, Row, add_harm, row};
use firstflight_scenario::{Options, Scenario, parse_choices};

const PATH: [(&str, &str); 4] = [("rate", "20mbit"), ("rtt", "40ms"), ("ack", "every"), ("duration", "4s")];

fn scenario(options: &[(&str, &str)]) -> Scenario {
    let mut set = Options::default();
    for (key, text) in PATH.iter().chain(options) {
        set.set(key, text).expect(text);
    }
    Scenario::resolve(&set).unwrap_or_else(|error| panic!("{options:?}: {error}"))
}

fn raced(path: &Scenario, jobs: usize) -> Vec<Row> {
    let choices = parse_choices("slow-start,paced").expect("schemes");
    let results = race(path, &choices, &How { jobs: Some(jobs), ..How::default() }).expect("a race");
    results.into_iter().flat_map(|result| result.rows).collect()
}

#[test]
fn cross_traffic_with_start_and_stop_reduces_the_ideal_only_in_between() {
    let path = scenario(&[("cross", "10mbit,start=1s,stop=3s")]);
    let choice = parse_choices("slow-start").expect("a scheme").remove(0);
    let recording = run(&path, &choice, 1, false, None, &|| false).expect("a run").evidence.recording;
    assert_eq!(recording.syn_at, 0);
    let second = 1_000_000_000;
    assert_eq!(recording.available, [(0, 20_000_000), (second, 10_000_000), (3 * second, 20_000_000)]);
    // All 2.5 MB of datagrams arrive after the first second and before the third ends.
    let ends = [second, 3 * second + 200_000_000, 4 * second];
    let totals = run_without(&path, 1, &ends, &|| false).expect("a run").totals;
    assert_eq!((totals[0].delivered, totals[1]), (0, totals[2]));
    assert!(totals[2].delivered.abs_diff(2_500_000) < 3_000, "{}", totals[2].delivered);
}

#[test]
fn instants_count_from_the_syn_also_behind_a_warm_up() {
    let path = scenario(&[("cross", "tcp:1;5mbit,start=1s")]);
    let choice = parse_choices("slow-start").expect("a scheme").remove(0);
    let recording = run(&path, &choice, 1, false, None, &|| false).expect("a run").evidence.recording;
    assert_eq!(recording.syn_at, 10_000_000_000);
    assert_eq!(
        recording.available.last(),
        Some(&(11_000_000_000, 7_500_000)),
        "half of what datagrams leave"
    );
}

#[test]
fn all_entries_have_one_row_whatever_runs_beside_and_in_whatever_order() {
    for cross in [
        "10mbit,start=500ms",
        "onoff:5mbit,100ms,100ms;tcp:1,hystart,start=500ms,stop=2s;3mbit,start=1s",
        "poisson:5mbit,20p,exponential,rtt=40ms..200ms,rwnd=64kB;poisson:5mbit,20p,way=reverse",
        "tcp:2,way=reverse,start=0s;web:20%,stop=3s",
    ] {
        let path = scenario(&[("cross", cross), ("reverse-rate", "20mbit"), ("runs", "2")]);
        let rows = raced(&path, 1);
        assert_eq!(rows, raced(&path, 4), "{cross}");
        // Each run is made separately, without a common warm-up.
        for found in rows.iter().filter(|row| row.scheme == "slow-start") {
            let choice = parse_choices("slow-start").expect("a scheme").remove(0);
            let outcome = run(&path, &choice, found.seed, false, None, &|| false).expect("a run");
            let mut alone = row(&path.measured(&choice, found.seed), &outcome.evidence);
            let recording = &outcome.evidence.recording;
            let (from, end) = (recording.syn_at, recording.ended_at);
            let without = run_without(&path, found.seed, &[end], &|| false).expect("a run");
            add_harm(&mut alone, outcome.cross, without.totals[0], end - from);
            assert_eq!(
                (alone.throughput_bps, alone.packets_sent, alone.packets_lost, alone.harm_during_bps),
                (found.throughput_bps, found.packets_sent, found.packets_lost, found.harm_during_bps),
                "{cross}"
            );
        }
    }
}

#[test]
fn bulk_flows_end_at_their_stop_and_reverse_traffic_slows_only_acks() {
    let goodput = |cross: &str| {
        let path = scenario(&[("cross", cross), ("reverse-rate", "2mbit"), ("duration", "10s")]);
        raced(&path, 1)[0].throughput_bps
    };
    let (alone, stopped, bulk) =
        (goodput("none"), goodput("tcp:3,start=0s,stop=1s"), goodput("tcp:3,start=0s"));
    assert!(bulk < stopped && stopped < alone, "{bulk:?} {stopped:?} {alone:?}");
    let against = goodput("1mbit,start=0s,way=reverse");
    assert!(against > bulk, "{against:?}: ACKs of 20 Mbit/s take .5 of the 2 Mbit/s back");
}

fn flows(options: &[(&str, &str)], schemes: &str) -> (Vec<FlowRow>, u64) {
    let path = scenario(&[&[("topology", "dumbbell:hosts=4,ways=onward")], options].concat());
    let choices = parse_choices(schemes).expect(schemes);
    let results = populations(&path, &choices, true, &How::default()).expect("populations");
    let measured = results.iter().map(|result| result.rows[0].flows).sum();
    (results.into_iter().flat_map(|result| result.flows).collect(), measured)
}

#[test]
fn rows_of_a_population_are_of_its_own_flows_beside_whatever_arrives() {
    let own = [("arrivals", "at:1s,2s,3s"), ("duration", "4s")];
    let all = "2mbit;tcp:1;poisson:20,5p;poisson:2mbit,5p,way=reverse,start=1s";
    let (alone, _) = flows(&own, "slow-start,paced");
    let (beside, measured) = flows(&[&own[..], &[("cross", all)]].concat(), "slow-start,paced");
    assert_eq!((beside.len(), measured), (6, 6));
    let starts = |flows: &[FlowRow]| flows.iter().map(|flow| flow.start_s).collect::<Vec<_>>();
    assert_eq!(starts(&beside), starts(&alone));
    assert!(beside.iter().all(|flow| flow.measured == 1));
    let sum = |flows: &[FlowRow]| flows.iter().filter_map(|flow| flow.throughput_bps).sum::<f64>();
    assert!(sum(&beside) < sum(&alone), "others take their part");
}

#[test]
fn as_many_flows_are_measured_as_asked_for_beside_whatever_arrives() {
    let own =
        [("flows", "30"), ("arrivals", "poisson:20"), ("warm-up", "1s"), ("size", "5p"), ("limit", "60s")];
    let path: Vec<_> =
        own.iter().copied().chain([("cross", "poisson:50,5p;poisson:50,5p,way=reverse")]).collect();
    let given: Vec<_> = PATH[..3].iter().copied().chain(path).collect();
    let mut set = Options::default();
    for (key, text) in given.iter().chain(&[("topology", "dumbbell:hosts=4")]) {
        set.set(key, text).expect(text);
    }
    let path = Scenario::resolve(&set).expect("a scenario");
    let choices = parse_choices("slow-start").expect("a scheme");
    let results = populations(&path, &choices, true, &How::default()).expect("populations");
    assert_eq!((results[0].rows[0].flows, results[0].rows[0].unfinished), (30, 0));
    let measured: Vec<u32> =
        results[0].flows.iter().filter(|flow| flow.measured == 1).map(|flow| flow.flow).collect();
    assert_eq!(measured.len(), 30);
    assert!(measured.windows(2).any(|pair| pair[1] - pair[0] > 1), "others arrived between them");
}

#[test]
fn beside_scripted_flows_cross_traffic_is_of_no_flow_of_the_script() {
    let script = [
        ("flow", "start=1s,scheme=hystart;start=2s,scheme=slow-start"),
        ("cross", "tcp:1,way=reverse;1mbit"),
    ];
    let (rows, measured) = flows(&script, "slow-start");
    assert_eq!((rows.len(), measured), (2, 2));
    assert_eq!(rows.iter().map(|row| row.start_s).collect::<Vec<_>>(), [1.0, 2.0]);
}

#[test]
fn a_rate_of_transfers_is_offered_in_the_mean() {
    let path = scenario(&[("cross", "poisson:5mbit,20p,fixed"), ("duration", "100s")]);
    let ends = [10_000_000_000, 110_000_000_000];
    let totals = run_without(&path, 1, &ends, &|| false).expect("a run").totals;
    #[expect(clippy::cast_precision_loss, reason = "a test's sums")]
    let payload = (totals[1].delivered - totals[0].delivered) as f64 * 8.0 / 100.0;
    // 20 packets of 1500 bytes each: 2083 transfers, give or take 46.
    let wanted = 5e6 * 1460.0 / 1500.0;
    assert!((payload / wanted - 1.0).abs() < 0.1, "{payload} of {wanted}");
}

#[test]
fn crossing_transfers_and_users_apply_the_scheme_and_law_of_their_entry() {
    for traffic in ["poisson:2,400p,fixed", "users:4,300kB,fixed"] {
        let lost = |ends: &str| {
            let cross = format!("{traffic},start=0s{ends}");
            let path = scenario(&[("cross", &cross), ("queue", "20p")]);
            let rows = raced(&path, 1);
            (rows[0].harm_during_lost_packets, rows[0].throughput_bps)
        };
        let plain = lost("");
        assert_eq!(plain, lost(",scheme=slow-start"), "{traffic}: slow start is the default");
        assert_eq!(plain, lost(",law=cubic"), "{traffic}: and the path's law");
        let others = [",scheme=paced", ",law=reno", ",scheme=paced,law=reno"].map(&lost);
        assert!(others.iter().all(|other| *other != plain), "{traffic}: {plain:?} and {others:?}");
    }
}

#[test]
fn waiting_users_have_one_file_each_and_finish_more_with_faster_senders() {
    let path = |iw| {
        let mut set = Options::default();
        let users = [
            ("rate", "20mbit"),
            ("rtt", "200ms"),
            ("topology", "dumbbell:hosts=1,ways=onward"),
            ("flows", "100000"),
            ("arrivals", "users:3"),
            ("size", "30kB"),
            ("sizes", "pareto=1.1"),
            ("limit", "120s"),
            ("cross", "users:3,30kB,pareto=1.1,way=reverse"),
            ("iw", iw),
        ];
        for (key, text) in users {
            set.set(key, text).expect(text);
        }
        Scenario::resolve(&set).expect("a scenario")
    };
    let files = |iw, jobs| {
        let choices = parse_choices("slow-start").expect("a scheme");
        let how = How { jobs: Some(jobs), ..How::default() };
        populations(&path(iw), &choices, true, &how).expect("populations").remove(0).flows
    };
    let slow = files("1p", 1);
    assert_eq!(slow, files("1p", 2));
    // At most three of them run at a time, regardless of the reverse traffic.
    let mut changes: Vec<(f64, i32)> = Vec::new();
    for flow in &slow {
        let end = flow.start_s + flow.fct_s.unwrap_or(1e3);
        changes.extend([(flow.start_s, 1), (end, -1)]);
    }
    changes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let most = changes
        .iter()
        .scan(0, |now, (_, by)| {
            *now += by;
            Some(*now)
        })
        .max();
    assert_eq!(most, Some(3));
    let fast = files("10p", 1);
    assert!(fast.len() > slow.len(), "{} files and {}", fast.len(), slow.len());
}

#[test]
fn users_without_a_size_are_refused() {
    let mut set = Options::default();
    for (key, text) in [
        ("rtt", "40ms"),
        ("topology", "dumbbell:hosts=1"),
        ("flows", "9"),
        ("arrivals", "users:3"),
        ("duration", "5s"),
    ] {
        set.set(key, text).expect(text);
    }
    let error = Scenario::resolve(&set).expect_err("no size").to_string();
    assert!(error.starts_with("arrivals: users wait for files of a size"), "{error}");
}
