//! Populations: many flows between hosts, each measured.

use firstflight_lab::{How, RunError, populations, race, run};
use firstflight_measure::{FlowRow, PopulationResult, PopulationRow, population_verdict, rank_populations};
use firstflight_scenario::{Options, Scenario, SchemeChoice, parse_choices};

/// Paced Start's dumbbell (section 5.2.1), smaller.
const DUMBBELL: [(&str, &str); 10] = [
    ("rate", "20mbit"),
    ("rtt", "40ms"),
    ("queue", "100p"),
    ("packet", "1000B"),
    ("topology", "dumbbell:hosts=20"),
    ("flows", "100"),
    ("size", "50p"),
    ("sizes", "exponential"),
    ("warm-up", "2s"),
    ("avoidance", "own"),
];

fn scenario(options: &[(&str, &str)]) -> Scenario {
    let mut set = Options::default();
    for (key, text) in options {
        set.set(key, text).expect(text);
    }
    Scenario::resolve(&set).expect("a scenario")
}

/// The dumbbell with some options set otherwise.
fn dumbbell(options: &[(&str, &str)]) -> Scenario {
    scenario(&[&DUMBBELL[..], options].concat())
}

fn choices(schemes: &str) -> Vec<SchemeChoice> {
    parse_choices(schemes).expect(schemes)
}

fn results(scenario: &Scenario, schemes: &str) -> Vec<PopulationResult> {
    populations(scenario, &choices(schemes), true, &How::default()).expect("populations")
}

/// The only row of the only scheme, and its flows.
fn one(scenario: &Scenario, scheme: &str) -> (PopulationRow, Vec<FlowRow>) {
    let mut results = results(scenario, scheme);
    assert_eq!(results.len(), 1);
    let result = results.remove(0);
    assert_eq!(result.rows.len(), 1);
    (result.rows[0].clone(), result.flows)
}

type Asked = (u32, f64, String, String, Option<u64>);

fn asked(flow: &FlowRow) -> Asked {
    (flow.flow, flow.start_s, flow.from.clone(), flow.to.clone(), flow.size_bytes)
}

#[test]
fn a_seed_brings_the_same_flows_to_every_scheme_alone_and_mixed() {
    let results = results(&dumbbell(&[("mixed", "true")]), "slow-start,paced");
    let names: Vec<(&str, &str)> = results
        .iter()
        .map(|result| (result.rows[0].scheme.as_str(), result.rows[0].population.as_str()))
        .collect();
    let wanted = [("slow-start", "only"), ("paced", "only"), ("slow-start", "mixed"), ("paced", "mixed")];
    assert_eq!(names, wanted);
    // The duration of a run, and so the number of flows after the measured ones, depends on the scheme.
    let measured = |results: &[PopulationResult]| {
        let flows = results.iter().flat_map(|result| &result.flows).filter(|flow| flow.measured == 1);
        let mut flows: Vec<Asked> = flows.map(asked).collect();
        flows.sort_by_key(|flow| flow.0);
        flows
    };
    let all: Vec<_> = [&results[..1], &results[1..2], &results[2..]].map(measured).into();
    assert_eq!(all[0].len(), 100);
    assert_eq!(all[0], all[1]);
    assert_eq!(all[0], all[2]);
    // Each scheme of the mix has about half of them: five standard deviations.
    assert!(results[2].rows[0].flows.abs_diff(50) < 25, "{}", results[2].rows[0].flows);
    assert_eq!(results[2].rows[0].flows + results[3].rows[0].flows, 100);
}

#[test]
fn the_flows_measured_are_the_first_after_the_warm_up() {
    let (row, flows) = one(&dumbbell(&[]), "slow-start");
    assert_eq!((row.flows, row.unfinished), (100, 0));
    let cold = flows.iter().take_while(|flow| flow.start_s < 2.0).count();
    assert!(cold > 10, "{cold}");
    for (place, flow) in flows.iter().enumerate() {
        assert_eq!(flow.flow as usize, place);
        assert_eq!(flow.measured == 1, (cold..cold + 100).contains(&place), "{place}");
    }
    assert!(flows.windows(2).all(|pair| pair[0].start_s <= pair[1].start_s));
    // They go both ways, never to a host on the same side.
    let side = |host: &str| host.split('/').next().map(str::to_owned);
    assert!(flows.iter().all(|flow| side(&flow.from) != side(&flow.to)));
    assert!(flows.iter().any(|flow| flow.from.starts_with("0/")));
    assert!(flows.iter().any(|flow| flow.from.starts_with("1/")));
}

#[test]
fn a_row_sums_up_the_flows_that_were_measured() {
    let (row, flows) = one(&dumbbell(&[("queue", "10p"), ("size", "200p")]), "slow-start");
    let flows: Vec<&FlowRow> = flows.iter().filter(|flow| flow.measured == 1).collect();
    let sum = |of: fn(&FlowRow) -> u64| flows.iter().map(|flow| of(flow)).sum::<u64>();
    assert!(row.packets_lost > 0 && row.exited_flows > 0, "a short queue loses packets");
    assert_eq!(row.packets_sent, sum(|flow| flow.packets_sent));
    assert_eq!(row.packets_lost, sum(|flow| flow.packets_lost));
    assert_eq!(row.timeouts, sum(|flow| flow.timeouts));
    assert_eq!(row.lossy_flows, sum(|flow| u64::from(flow.packets_lost > 0)));
    assert_eq!(row.exited_flows, sum(|flow| u64::from(flow.exit_cause != "none")));
    let startup_lost = sum(|flow| flow.startup_packets_lost);
    assert!(startup_lost > 0 && startup_lost <= row.packets_lost);
    let ratio = |num: u64| {
        f64::from(u32::try_from(num).expect("few")) / f64::from(u32::try_from(row.packets_sent).expect("few"))
    };
    assert_eq!((row.loss, row.startup_loss), (Some(ratio(row.packets_lost)), Some(ratio(startup_lost))));
    let mut fcts: Vec<f64> = flows.iter().filter_map(|flow| flow.fct_s).collect();
    fcts.sort_by(f64::total_cmp);
    // The smallest value that is not below a share of all values.
    assert_eq!(
        (row.fct_p5_s, row.fct_median_s, row.fct_p95_s),
        (Some(fcts[4]), Some(fcts[49]), Some(fcts[94]))
    );
    let throughputs: Vec<f64> = flows.iter().filter_map(|flow| flow.throughput_bps).collect();
    let mean = throughputs.iter().sum::<f64>() / 100.0;
    assert!((row.throughput_mean_bps.expect("a mean") / mean - 1.0).abs() < 1e-9);
}

/// One transfer of 1 MB across 20 Mbit/s and 40 ms with a queue of 30 packets, which it overshoots.
const ALONE: [(&str, &str); 6] = [
    ("rate", "20mbit"),
    ("rtt", "40ms"),
    ("queue", "30p"),
    ("size", "1MB"),
    ("access-rate", "100gbit"),
    ("ack", "every"),
];

#[test]
fn one_flow_alone_is_what_a_race_says_of_it() {
    let between = [("topology", "dumbbell:hosts=1,ways=onward"), ("flows", "1"), ("arrivals", "every:1s")];
    for scheme in ["slow-start", "paced", "hystart", "slow-start:recovery=newreno"] {
        let (_, flows) = one(&scenario(&[&ALONE[..], &between[..]].concat()), scheme);
        let [flow] = flows.as_slice() else { panic!("{scheme}: {} flows", flows.len()) };
        let back = [&ALONE[..], &[("reverse-rate", "20mbit")]].concat();
        let raced = race(&scenario(&back), &choices(scheme), &How::default()).expect("a race");
        let row = &raced[0].rows[0];
        assert_eq!(flow.exit_cause, row.exit_cause, "{scheme}");
        let counts = (flow.packets_sent, flow.packets_lost, flow.timeouts);
        assert_eq!(counts, (row.packets_sent, row.packets_lost, row.timeouts), "{scheme}");
        // The links between the routers and the hosts take a tenth of a microsecond more, each way.
        let close = |a: Option<f64>, b: Option<f64>| match (a, b) {
            (Some(a), Some(b)) => (a - b).abs() < 1e-4,
            (a, b) => a.is_none() && b.is_none(),
        };
        assert!(close(flow.fct_s, row.fct_s.flatten()), "{scheme}: {:?} {:?}", flow.fct_s, row.fct_s);
        assert!(close(flow.su_time_s, row.su_time_s), "{scheme}: {:?} {:?}", flow.su_time_s, row.su_time_s);
        // Without an end of start-up both counts cover the flow; with one, both cover the packets sent in start-up.
        let in_startup = f64::from(u32::try_from(flow.startup_packets_lost).expect("few"));
        let su_loss = row.su_loss.expect("data was sent");
        assert_eq!(in_startup > 0.0, su_loss > 0.0, "{scheme}");
    }
}

#[test]
fn the_results_do_not_depend_on_the_number_of_threads() {
    let path = dumbbell(&[("mixed", "true"), ("runs", "2"), ("flows", "30")]);
    let of = |jobs| {
        let how = How { jobs: Some(jobs), ..How::default() };
        let results = populations(&path, &choices("slow-start,paced"), true, &how).expect("populations");
        results.into_iter().map(|result| (result.rows, result.flows)).collect::<Vec<_>>()
    };
    let alone = of(1);
    assert_eq!(alone, of(4));
    assert!(alone.iter().all(|(rows, _)| rows.len() == 2 && rows[0].seed + 1 == rows[1].seed));
}

#[test]
fn with_a_duration_flows_share_the_bottleneck_until_it_ends() {
    let path = scenario(&[
        ("rate", "20mbit"),
        ("rtt", "20ms"),
        ("topology", "dumbbell:hosts=2,ways=onward"),
        ("flows", "2"),
        ("arrivals", "every:1s"),
        ("duration", "10s"),
    ]);
    let (row, flows) = one(&path, "slow-start");
    assert_eq!((row.flows, row.unfinished, row.fct_mean_s), (2, 2, None));
    assert!(flows.iter().all(|flow| flow.size_bytes.is_none() && flow.fct_s.is_none()));
    let bits = |flow: &FlowRow| flow.throughput_bps.expect("a throughput") * (10.0 - flow.start_s);
    let used = flows.iter().map(bits).sum::<f64>() / 10.0;
    // Payload is 1460 of 1500 bytes.
    assert!((0.9..1.0).contains(&(used / (20e6 * 1460.0 / 1500.0))), "{used}");
}

#[test]
fn little_s_law_holds_between_arrivals_completion_times_and_flows_under_way() {
    let (row, flows) = one(&dumbbell(&[("flows", "500")]), "slow-start");
    let flows: Vec<&FlowRow> = flows.iter().filter(|flow| flow.measured == 1).collect();
    let span = flows[499].start_s - flows[0].start_s;
    let busy: f64 = flows.iter().filter_map(|flow| flow.fct_s).sum();
    let active = row.active_mean.expect("a mean");
    // The difference is flows that straddle the ends: a few of five hundred.
    assert!((active / (busy / span) - 1.0).abs() < 0.03, "{active} {}", busy / span);
}

#[test]
fn a_population_is_not_one_run_and_one_run_is_no_population() {
    let path = dumbbell(&[]);
    let choice = choices("slow-start");
    assert!(matches!(run(&path, &choice[0], 1, false, None, &|| false), Err(RunError::IsPopulation)));
    let refused = |path: &Scenario, schemes: &str| {
        populations(path, &choices(schemes), false, &How::default()).expect_err("refused").to_string()
    };
    assert!(refused(&Scenario::default(), "paced").starts_with("flows: there is no population"));
    assert!(refused(&dumbbell(&[("mixed", "true")]), "paced").starts_with("mixed: at least two schemes"));
    let unsaid = refused(&path, "careful-resume");
    assert!(unsaid.contains("`careful-resume:saved=64kB,rtt=40ms`"), "{unsaid}");
}

#[test]
fn a_flow_that_comes_as_the_run_ends_is_not_measured() {
    let every =
        [("topology", "dumbbell:hosts=4"), ("flows", "5"), ("arrivals", "every:1s"), ("duration", "4s")];
    let scenario = scenario(&[&DUMBBELL[..4], &every].concat());
    let (row, flows) = one(&scenario, "slow-start");
    assert_eq!((row.flows, row.unfinished), (4, 4));
    // The last flow arrived, as the list of all flows shows, and has no throughput yet.
    let last = flows.last().expect("five flows");
    assert_eq!((flows.len(), last.start_s, last.measured, last.throughput_bps), (5, 4.0, 0, None));
    let seen: Vec<f64> = flows[..4].iter().filter_map(|flow| flow.throughput_bps).collect();
    assert_eq!(row.throughput_mean_bps, Some(seen.iter().sum::<f64>() / 4.0));
    assert_eq!(row.throughput_p95_bps, seen.iter().copied().max_by(f64::total_cmp));
}

#[test]
fn a_verdict_of_several_runs_names_schemes_it_cannot_decide_between() {
    let said = |runs: &str, schemes| {
        let scenario = dumbbell(&[("runs", runs), ("flows", "40")]);
        let mut results =
            populations(&scenario, &choices(schemes), false, &How::default()).expect("populations");
        rank_populations(&mut results);
        population_verdict(40, &results, &[])
    };
    let alike = said("4", "limited,slow-start");
    let lead = "By a flow's throughput, each scheme by itself: limited (reno) and slow-start (reno) alike, a mean of ";
    assert!(alike.starts_with(lead) && !alike.contains("decide"), "{alike}");
    let near = said("4", "slow-start,hystart");
    assert!(near.contains("note: 4 runs do not decide between "), "{near}");
    // Equal schemes are named together even when the race has other schemes.
    let three = said("4", "limited,slow-start,vegas");
    assert!(three.contains("limited (reno) and slow-start (reno) alike, a mean of "), "{three}");
    assert!(three.contains(" Worst: vegas (vegas), ") && !three.contains("decide"), "{three}");
    assert!(!alike.contains("Worst"), "{alike}");
    // One is far behind in every run.
    let apart = said("4", "slow-start,vegas");
    assert!(apart.contains(" Worst: vegas (vegas), ") && !apart.contains("decide"), "{apart}");
    assert!(said("1", "limited,slow-start").contains("\nnote: one run decides nothing, because "));
}

#[test]
fn the_verdict_says_that_no_flow_was_measured_only_if_none_was() {
    let few = [("sizes", "fixed"), ("flows", "4"), ("arrivals", "every:4s"), ("warm-up", "30s")];
    let choices = parse_choices("slow-start").expect("a scheme");
    let said = |limit: &str| {
        let scenario = dumbbell(&[&few[..], &[("limit", limit)]].concat());
        let results = populations(&scenario, &choices, false, &How::default()).expect("a race");
        population_verdict(4, &results, &[])
    };
    assert_eq!(said("31s"), "No flow was measured: slow-start (reno), no throughput, 0 of 4 flows measured.");
    let one = said("33s");
    assert!(one.starts_with("slow-start (reno), ") && one.ends_with(", 1 of 4 flows measured."), "{one}");
}

/// Scharf's set-up with access links of a tenth of the rate (2007, section VI), shorter.
const ASKING_FLOWS: [(&str, &str); 11] = [
    ("rate", "100mbit"),
    ("rtt", "100ms"),
    ("queue", "50p"),
    ("topology", "dumbbell:hosts=50,ways=onward"),
    ("access-rate", "10mbit"),
    ("flows", "600"),
    ("arrivals", "poisson:10"),
    ("size", "250kB"),
    ("iw", "3p"),
    ("warm-up", "10s"),
    ("recovery", "newreno"),
];
const ASKS: &str = "quick-start:request=5.12mbit,profile=scharf";

/// The row and the flows with these settings in addition to [`ASKING_FLOWS`].
fn asking(more: &[(&str, &str)]) -> (PopulationRow, Vec<FlowRow>) {
    let (row, flows) = one(&scenario(&[&ASKING_FLOWS[..], more].concat()), ASKS);
    (row, flows.into_iter().filter(|flow| flow.measured == 1).collect())
}

#[test]
fn the_threshold_of_the_links_between_routers_does_not_rule_access_links() {
    let router = |share: &str| format!("threshold={share},rtt-max=100ms,reduction=no");
    let success = |access: &[(&str, &str)], share: &str| {
        let router = router(share);
        let (row, _) = asking(&[access, &[("qs-router", router.as_str())]].concat());
        assert_eq!(row.qs_requests, Some(600));
        row.qs_success.flatten().expect("requests were sent")
    };
    // Equation 10 gives .46 and .90 (load .2, deviation .1); a run of 600 has a deviation of .02.
    let (third, half) = (success(&[], "0.3"), success(&[], "0.5"));
    assert!((third - 0.44).abs() < 0.1 && (half - 0.86).abs() < 0.1, "{third} {half}");
    // Half of 10 Mbit/s is less than 5.12, and so is the rate of a link of 5.
    assert!(success(&[("qs-access", &router("0.5"))], "0.5") < 1e-9);
    assert!(success(&[("qs-access", "all"), ("access-rate", "5mbit")], "0.5") > 0.7);
    let slow = [("access-rate", "5mbit"), ("qs-router", "threshold=0.5,rtt-max=100ms")];
    let (row, flows) = asking(&slow);
    assert_eq!(row.qs_lowered, row.qs_approved, "a link of 5 Mbit/s carries no 5.12");
    assert!(flows.iter().all(|flow| flow.granted_rate_bps.flatten().is_none_or(|rate| rate <= 2.56e6)));
}

#[test]
fn a_row_of_flows_that_ask_sums_up_what_each_was_granted() {
    let (row, flows) = asking(&[("qs-router", "threshold=0.3,rtt-max=100ms")]);
    assert!(flows.iter().all(|flow| flow.requested_rate_bps == Some(Some(5.12e6))));
    let granted: Vec<f64> = flows.iter().filter_map(|flow| flow.granted_rate_bps.flatten()).collect();
    let lowered = granted.iter().filter(|rate| **rate < 5.12e6).count();
    assert!(lowered > 50 && granted.len() > lowered && granted.len() < 600, "{lowered} of {}", granted.len());
    assert_eq!((row.qs_approved, row.qs_lowered), (Some(granted.len() as u64), Some(lowered as u64)));
    let mean = row.qs_rate_mean_bps.flatten().expect("some were granted");
    let off: f64 = granted.iter().map(|rate| rate - mean).sum();
    assert!(off.abs() < 1.0, "{off}");
    let (row, flows) = one(&scenario(&ASKING_FLOWS), "slow-start");
    assert_eq!((row.qs_requests, row.qs_success, flows[0].granted_rate_bps), (None, None, None));
}

#[test]
fn quick_start_hops_are_counted_from_the_sender_link_onwards() {
    let granted = |hops: &str| {
        let (row, _) = asking(&[("qs-hops", hops), ("flows", "100"), ("warm-up", "none")]);
        row.qs_approved.expect("they ask")
    };
    // The senders' links, the link between routers, the receivers' links: if one does not take part, nothing is approved.
    let all = granted("all");
    assert!(all > 50, "{all}");
    assert_eq!([granted("none"), granted("1"), granted("2"), granted("3")], [0, 0, 0, all]);
}

/// Two hosts at either end, all flows one way: a flow's path alone.
const ONE_WAY: [(&str, &str); 9] = [
    ("rate", "10mbit"),
    ("rtt", "100ms"),
    ("queue", "500p"),
    ("topology", "dumbbell:hosts=2,ways=onward"),
    ("access-rate", "100mbit"),
    ("flows", "1"),
    ("arrivals", "every:10s"),
    ("size", "1MB"),
    ("iw", "10p"),
];

#[test]
fn a_flow_between_hosts_meets_the_way_back_that_a_race_meets() {
    // Rate, queue and delay of either direction, and the link to the receiver: a flow alone ends when it ends in a race over the same
    // links. A host's access link is on both return paths of a population and on none of a race, so this one is fast.
    for more in [
        &[("reverse-rate", "100kbit")][..],
        &[("reverse-rate", "50kbit"), ("reverse-queue", "5p")],
        &[("reverse-rate", "200kbit"), ("reverse-rtt-share", "0.9")],
        &[("reverse-rate", "10mbit"), ("receiver-access-rate", "4mbit")],
        &[("reverse-rate", "10mbit"), ("receiver-access-rate", "4mbit"), ("queue", "20p")],
    ] {
        let fast = ("access-rate", "10gbit");
        let between = scenario(&[&ONE_WAY[..], more, &[fast]].concat());
        let (row, _) = one(&between, "slow-start");
        let of_a_race = |option: &&(&str, &str)| !["topology", "flows", "arrivals"].contains(&option.0);
        let options: Vec<_> = ONE_WAY.iter().filter(of_a_race).chain(more).chain([&fast]).copied().collect();
        let alone = race(&scenario(&options), &choices("slow-start"), &How::default()).expect("a race");
        let (found, wanted) =
            (row.fct_mean_s.expect("it ends"), alone[0].rows[0].fct_s.flatten().expect("it ends"));
        assert!((found / wanted - 1.0).abs() < 0.001, "{more:?}: {found} {wanted}");
        assert_eq!(row.packets_lost, alone[0].rows[0].packets_lost, "{more:?}");
    }
}

#[test]
fn population_trains_sum_over_flows_and_equal_those_of_a_race() {
    let fast = ("access-rate", "10gbit");
    let between = scenario(&[&ONE_WAY[..], &[fast]].concat());
    let (row, flows) = one(&between, "paced");
    let of_a_race = |option: &&(&str, &str)| !["topology", "flows", "arrivals"].contains(&option.0);
    let options: Vec<_> = ONE_WAY.iter().filter(of_a_race).chain([&fast]).copied().collect();
    let alone = race(&scenario(&options), &choices("paced"), &How::default()).expect("a race");
    let trains = alone[0].rows[0].trains.expect("trains are sent");
    assert!(trains > 2 && flows.iter().all(|flow| flow.trains == Some(trains)), "{trains}");
    assert_eq!(row.trains, Some(trains * row.flows));
    let (row, flows) = one(&between, "slow-start");
    assert!(row.trains.is_none() && flows.iter().all(|flow| flow.trains.is_none()));
}

#[test]
fn reverse_flows_are_limited_by_the_reverse_rate() {
    // Both ways: half of the flows send over the slow direction.
    let (_, flows) = one(
        &scenario(&[
            ("rate", "20mbit"),
            ("rtt", "20ms"),
            ("topology", "dumbbell:hosts=4"),
            ("flows", "40"),
            ("arrivals", "every:20s"),
            ("size", "1MB"),
            ("reverse-rate", "2mbit"),
        ]),
        "slow-start",
    );
    let rates = |router: &str| {
        let of = flows.iter().filter(|flow| flow.from.starts_with(router));
        of.filter_map(|flow| flow.throughput_bps).collect::<Vec<_>>()
    };
    let (onward, back) = (rates("0/"), rates("1/"));
    assert!(onward.len() > 5 && back.len() > 5, "{} {}", onward.len(), back.len());
    assert!(
        onward.iter().all(|rate| *rate > 8e6) && back.iter().all(|rate| *rate < 2e6),
        "{onward:?} {back:?}"
    );
}
