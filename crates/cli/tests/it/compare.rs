//! The options, refusals and messages of `compare` that need no rights. Real packets are in `tests/emulate`.

use serde_json::Value;

use crate::common::{firstflight, refused, run, status, stderr, stdout};

const SIMULATED: [&str; 9] =
    ["compare", "--rate", "20mbit", "--rtt", "40ms", "--queue", "50p", "--habitats", "sim-rfc,sim-linux"];

fn lines(options: &[&str]) -> Vec<Value> {
    let output = run(&[&SIMULATED[..], options, &["--json"]].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    stdout(&output).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn the_simulators_rows_are_those_of_a_race_with_each_stack() {
    let rows = lines(&["--schemes", "slow-start,paced,careful-resume"]);
    assert_eq!(rows.len(), 6);
    for row in rows {
        let [scheme, stack] = ["scheme", "stack"].map(|field| row[field].as_str().expect("text"));
        let path = ["race", "--rate", "20mbit", "--rtt", "40ms", "--queue", "50p", "--size", "2MB"];
        let race =
            run(&[&path[..], &["--schemes", scheme, "--avoidance", "own", "--stack", stack, "--json"]]
                .concat());
        let raced: Value = serde_json::from_str(&stdout(&race)).expect("a row");
        for field in [
            "fct_s",
            "packets_lost",
            "packets_sent",
            "trains",
            "exit_time_s",
            "exit_rate_bps",
            "throughput_bps",
        ] {
            assert_eq!(row[field].as_f64(), raced[field].as_f64(), "{field} of {scheme} with {stack}");
        }
        assert_eq!(row["exit_window_packets"].as_f64(), raced["exit_cwnd_packets"].as_f64(), "{scheme}");
        assert_eq!(row["exit_cause"], raced["exit_cause"], "{scheme}");
        assert_eq!((&row["runs"], &row["void"]), (&1.into(), &0.into()));
        assert!(row["fct_s_difference"].is_null(), "nothing stands beside the simulator");
    }
}

#[test]
fn runs_whose_seeds_differ_are_medians() {
    let rows = lines(&["--schemes", "slow-start", "--loss", "1%", "--runs", "3", "--size", "300kB"]);
    for row in rows {
        let of = |field: &str| row[field].as_f64().expect("a number");
        assert_eq!(row["runs"], 3);
        assert!(of("fct_s_min") < of("fct_s_max"), "{row}");
        assert!(of("fct_s_min") <= of("fct_s") && of("fct_s") <= of("fct_s_max"), "{row}");
    }
    assert_eq!(lines(&["--schemes", "slow-start", "--runs", "3"])[0]["runs"], 1, "no seed changes this path");
}

#[test]
fn a_transfer_that_the_limit_ends_is_told() {
    let limited = ["--schemes", "slow-start", "--limit", "500ms"];
    for row in lines(&limited) {
        assert_eq!((&row["runs"], &row["finished"]), (&1.into(), &0.into()), "{row}");
        assert!(row["fct_s"].is_null(), "{row}");
    }
    let text = stdout(&run(&[&SIMULATED[..], &limited].concat()));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("slow-start in sim-rfc: 1 of 1 transfers did not finish within the limit"),
        "{text}"
    );
    assert_eq!(lines(&["--schemes", "slow-start"])[0]["finished"], 1);
}

#[test]
fn the_table_has_a_row_a_habitat_and_fits_80_columns() {
    let words =
        [&SIMULATED[..], &["--schemes", "slow-start-paced,paced:profile=paper,as=paced-of-the-paper"]];
    let output = firstflight().args(words.concat()).env("COLUMNS", "80").output().expect("it runs");
    let text = stdout(&output);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("Nothing is compared"), "{text}");
    for habitat in ["sim-rfc", "sim-linux"] {
        assert_eq!(text.matches(&format!(" {habitat} ")).count(), 2, "{text}");
    }
    let wide = stdout(&run(&[&words.concat()[..], &["--wide"]].concat()));
    assert!(wide.contains("window") && wide.contains("loss @ "), "{wide}");
    let chosen = stdout(&run(&[&words.concat()[..], &["--columns", "packets_sent,fct_s"]].concat()));
    let head: Vec<_> =
        chosen.lines().find(|line| line.starts_with("scheme ")).expect("a head").split_whitespace().collect();
    assert_eq!(head, ["scheme", "habitat", "sent", "FCT"], "{chosen}");
    let csv = stdout(&run(&[&words.concat()[..], &["--csv"]].concat()));
    assert_eq!(
        (csv.lines().count(), csv.starts_with("scheme,choice,avoidance,habitat,")),
        (5, true),
        "{csv}"
    );
}

#[test]
fn compare_refuses_options_beyond_a_single_transfer_with_a_reason() {
    for (option, value, why) in [
        ("--stack", "linux", "each habitat has its own"),
        ("--duration", "5s", "transfers are compared, which have a size"),
        ("--rounds", "3", "one transfer is compared"),
        ("--flows", "10", "one transfer is compared"),
        ("--app", "10kB/100ms", "data is there from the beginning"),
    ] {
        let said = refused(&["compare", "--rate", "20mbit", "--schemes", "slow-start", option, value]);
        assert!(said.starts_with(&format!("error: {option}: ")) && said.contains(why), "{said}");
    }
    let said = refused(&["compare", "--rate", "20mbit", "--schemes", "slow-start:stack=linux"]);
    assert!(said.contains("`slow-start:stack=linux` sets a stack"), "{said}");
    let said = refused(&["compare", "--rate", "20mbit", "--habitats", "sim-rcf"]);
    assert_eq!(said, "error: --habitats: unknown habitat `sim-rcf`; is `sim-rfc` meant?");
    let said = refused(&["compare", "--rate", "20mbit", "--habitats", "moon"]);
    assert!(
        said.contains("there are sim-rfc, live-rfc, sim-linux, live-linux, kernel, kernel-bpf, and `all`"),
        "{said}"
    );
    let said = refused(&["compare", "--rate", "20mbit", "--columns", "nonsense"]);
    assert!(said.starts_with("error: --columns"), "{said}");
}

#[cfg(not(feature = "kernel"))]
#[test]
fn kernel_bpf_habitat_without_the_feature_is_refused_in_one_line() {
    let said = refused(&["compare", "--rate", "20mbit", "--habitats", "sim-linux,kernel-bpf"]);
    assert!(said.starts_with("error: --habitats: kernel-bpf: ") && said.contains("`make kernel`"), "{said}");
}

#[test]
fn the_help_has_no_options_that_are_refused() {
    let help = stdout(&run(&["compare", "--help"]));
    for option in ["--stack", "--duration", "--rounds", "--idle", "--flows", "--arrivals", "--app"] {
        let is_shown = help.lines().any(|line| line.trim_start().starts_with(&format!("{option} <")));
        assert!(!is_shown, "{option}");
    }
    assert!(help.contains("--habitats <LIST>") && help.contains("--loss"), "{help}");
}
