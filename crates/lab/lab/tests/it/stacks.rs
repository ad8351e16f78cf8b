//! The two stacks in races: where the senders of `--stack linux` differ from those of the RFCs, and where they must not.

use firstflight_lab::{How, populations, race, record};
use firstflight_measure::{PopulationResult, Row, SchemeResult};
use firstflight_scenario::{Options, Scenario, controller_of, parse_choices};
use firstflight_trace::read;

type Given<'a> = &'a [(&'a str, &'a str)];

fn scenario(options: Given<'_>) -> Scenario {
    let mut set = Options::default();
    for (key, text) in options {
        set.set(key, text).expect(text);
    }
    Scenario::resolve(&set).expect("a scenario")
}

fn run(options: Given<'_>, schemes: &str) -> Vec<SchemeResult> {
    let choices = parse_choices(schemes).expect(schemes);
    race(&scenario(options), &choices, &How::default()).expect("a race")
}

/// The rows of one scheme by the RFCs and with Linux's sender.
fn both(options: Given<'_>, scheme: &str) -> [Row; 2] {
    ["rfc", "linux"].map(|stack| run(&[options, &[("stack", stack)]].concat(), scheme)[0].rows[0].clone())
}

#[test]
fn linuxs_schemes_race_as_linuxs_senders_and_the_rows_say_so() {
    let path = [("rate", "20mbit"), ("rtt", "80ms"), ("stack", "linux"), ("size", "2MB")];
    for result in run(&path, "slow-start,hystart-linux,suss") {
        let row = &result.rows[0];
        assert_eq!(row.stack.as_deref(), Some("linux"), "{}", row.scheme);
        assert!(row.throughput_bps > 1e6 && row.fct_s.flatten().is_some(), "{row:?}");
    }
    let by_rfc = run(&path[..2], "slow-start");
    assert_eq!(by_rfc[0].rows[0].stack, None);
    assert!(!serde_json::to_string(&by_rfc[0].object()).expect("JSON").contains("stack"));
}

#[test]
fn both_stacks_race_side_by_side_as_options_of_a_scheme() {
    let path = [("rate", "20mbit"), ("rtt", "80ms"), ("size", "2MB")];
    let rows = run(&path, "slow-start,slow-start:stack=linux,as=linux");
    let alone = run(&[&path[..], &[("stack", "linux")]].concat(), "slow-start");
    assert_eq!((rows[0].rows[0].stack.as_deref(), rows[1].rows[0].stack.as_deref()), (None, Some("linux")));
    assert_eq!(rows[1].rows[0].fct_s, alone[0].rows[0].fct_s, "its least timeout comes with it, too");
}

#[test]
fn the_stack_moves_no_hash_unless_it_is_linuxs() {
    let path = [("rate", "20mbit"), ("rtt", "80ms")];
    let of = |more: Given<'_>| scenario(&[&path[..], more].concat());
    assert_eq!(of(&[]).hash(), of(&[("stack", "rfc")]).hash());
    let linux = of(&[("stack", "linux")]);
    assert_ne!(of(&[]).hash(), linux.hash());
    assert!(
        linux.command("firstflight", "slow-start").contains(" --min-rto 200ms"),
        "{}",
        linux.command("firstflight", "slow-start")
    );
    assert!(
        linux.command("firstflight", "slow-start").contains(" --stack linux "),
        "{}",
        linux.command("firstflight", "slow-start")
    );
    assert!(linux.describe().ends_with(", Linux's senders"), "{}", linux.describe());
}

#[test]
fn another_stack_is_refused_with_those_that_there_are() {
    let error = Options::default().set("stack", "bsd").expect_err("unknown");
    assert_eq!(error.to_string(), "stack: `bsd` is not known; stacks are `rfc`, `linux`, `noq` and `quinn`");
}

#[test]
fn a_recovery_unsupported_by_linux_is_refused_for_path_and_scheme() {
    let line = "recovery: with the stack `linux` losses are repaired by `rack`, or without SACK by `newreno`, and not by \
                `vegas`; the stack `rfc` has all";
    let mut set = Options::default();
    for (key, text) in [("stack", "linux"), ("recovery", "vegas")] {
        set.set(key, text).expect(text);
    }
    assert_eq!(Scenario::resolve(&set).expect_err("refused").to_string(), line);
    let choices = parse_choices("slow-start:stack=linux,recovery=vegas").expect("schemes");
    let error = race(&scenario(&[("rate", "20mbit")]), &choices, &How::default()).expect_err("refused");
    assert_eq!(error.to_string(), line);
}

/// The minimum RTO is one second in RFC 6298 section 2.4, and 200 ms plus the RTT in Linux.
#[test]
fn a_flow_that_must_wait_for_timeouts_waits_shorter_with_linux() {
    let path = [("rate", "10mbit"), ("rtt", "40ms"), ("size", "30kB"), ("loss", "30%"), ("seed", "4")];
    let [rfc, linux] = both(&path, "slow-start");
    assert!(rfc.timeouts > 0 && linux.timeouts > 0, "{} {}", rfc.timeouts, linux.timeouts);
    assert!(linux.fct_s < rfc.fct_s, "{:?} {:?}", linux.fct_s, rfc.fct_s);
}

/// In a race the sender itself paces for a scheme that needs pacing, as over a device without a queue. The pacing timer releases new data.
#[test]
fn pacing_schemes_are_paced_with_both_stacks() {
    let path = [("rate", "50mbit"), ("rtt", "80ms"), ("size", "1MB"), ("iw", "40p"), ("queue", "1000p")];
    let (plain, paced) = (both(&path, "slow-start"), both(&path, "slow-start-paced"));
    for (plain, paced) in plain.into_iter().zip(paced) {
        assert!(paced.queue_peak_packets * 5 < plain.queue_peak_packets * 4, "{paced:?}");
        let [plain, paced] = [plain, paced].map(|row| row.fct_s.flatten().expect("it finishes"));
        assert!(paced < plain * 1.05, "{paced} {plain}");
    }
}

#[test]
fn many_flows_of_either_stack_finish() {
    let dumbbell = [
        ("rate", "20mbit"),
        ("rtt", "40ms"),
        ("queue", "100p"),
        ("topology", "dumbbell:hosts=10"),
        ("flows", "60"),
        ("size", "50kB"),
        ("warm-up", "1s"),
        ("stack", "linux"),
    ];
    let choices = parse_choices("slow-start,hystart-linux").expect("schemes");
    let results = populations(&scenario(&dumbbell), &choices, true, &How::default()).expect("populations");
    for PopulationResult { rows, .. } in results {
        assert_eq!((rows[0].stack.as_deref(), rows[0].unfinished), (Some("linux"), 0));
    }
}

/// A flow without an end buffers what its window may soon hold, and no more.
#[test]
fn an_endless_flow_continues_for_the_whole_duration() {
    let [rfc, linux] = both(&[("rate", "50mbit"), ("rtt", "20ms"), ("duration", "5s")], "hystart-linux");
    assert!(
        linux.throughput_bps > rfc.throughput_bps * 0.8,
        "{} {}",
        linux.throughput_bps,
        rfc.throughput_bps
    );
}

#[test]
fn a_trace_of_linuxs_sender_replays_to_the_plans_that_were_made() {
    let path = scenario(&[
        ("rate", "20mbit"),
        ("rtt", "60ms"),
        ("size", "600kB"),
        ("stack", "linux"),
        ("loss", "1%"),
    ]);
    for scheme in ["slow-start", "hystart-linux", "suss"] {
        let choice = parse_choices(scheme).expect(scheme).remove(0);
        let text = record(&path, &choice, 1).expect("a run");
        let (header, mut calls) = read(text.as_bytes()).expect("a header");
        assert_eq!(header.scheme, format!("{scheme}:stack=linux"));
        let mut controller = controller_of(&header).expect("a controller");
        while let Some(record) = calls.next_call().expect("a line") {
            let (plan, notes) = controller.replay(&record.call, &record.path);
            assert_eq!((plan, notes), (record.plan, record.notes), "{scheme} line {}", calls.line());
        }
    }
}

#[test]
fn a_receiver_withholding_sack_blocks_slows_recovery_to_duplicate_acks() {
    let time = |options: Given<'_>| {
        let path =
            [("rate", "10mbit"), ("rtt", "100ms"), ("queue", "1bdp"), ("size", "3MB"), ("ack", "every")];
        let row = run(&[&path[..], options].concat(), "slow-start")[0].rows[0].clone();
        (row.fct_s.flatten().expect("it ends"), row.packets_lost)
    };
    let withheld = ("sack-blocks", "withheld");
    for recovery in ["rack", "sack"].map(|recovery| ("recovery", recovery)) {
        let ((with, lost), (without, _)) = (time(&[recovery]), time(&[recovery, withheld]));
        assert!(lost > 20 && without > 1.2 * with, "{recovery:?}: {lost} lost, {without} {with}");
    }
    let newreno = ("recovery", "newreno");
    assert_eq!(time(&[newreno]), time(&[newreno, withheld]), "it agrees on no SACK");
}
