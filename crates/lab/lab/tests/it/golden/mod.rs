//! The golden results: traces of every scheme and restart policy, and the hashes of whole races.

mod races;

use std::path::PathBuf;

use firstflight_lab::record;
use firstflight_scenario::{
    Options, Scenario, SchemeChoice, all_schemes, controller_of, over_restarts, parse_choices,
};
use firstflight_trace::read;

use races::{RACES, hash, root};

/// Checks whether the golden files must be rewritten.
fn updating() -> bool {
    std::env::var_os("UPDATE_GOLDEN").is_some()
}

fn scenario(settings: &[(&str, &str)]) -> (Options, Scenario) {
    let mut options = Options::default();
    for (key, value) in settings {
        options.set(key, value).expect(key);
    }
    let scenario = Scenario::resolve(&options).expect("a scenario");
    (options, scenario)
}

/// Each scheme goes on with its own law.
const OWN: (&str, &str) = ("avoidance", "own");

/// Name, trace.
fn traces() -> Vec<(String, String)> {
    let small = [("rate", "10mbit"), ("rtt", "40ms"), ("queue", "15p"), ("size", "240kB"), ("iw", "4p"), OWN];
    let (_, start) = scenario(&small);
    let schemes = all_schemes().into_iter().map(|choice| (choice.name().to_owned(), start.clone(), choice));
    let rounds = [
        ("rate", "4mbit"),
        ("rtt", "60ms"),
        ("rounds", "3"),
        ("idle", "5s"),
        ("size", "24kB"),
        ("restart", "all"),
        OWN,
    ];
    let (options, idle) = scenario(&rounds);
    let choices = over_restarts(parse_choices("slow-start").expect("a scheme"), &options).expect("policies");
    let restarts = choices.into_iter().map(|choice| {
        let policy = choice.name().trim_start_matches("slow-start+");
        (format!("restart-{policy}"), idle.clone(), choice)
    });
    let trace = |(name, scenario, choice): (String, Scenario, SchemeChoice)| {
        (name, record(&scenario, &choice, 1).expect("a run"))
    };
    schemes.chain(restarts).map(trace).collect()
}

fn trace_file(name: &str) -> PathBuf {
    root().join("traces").join(format!("{name}.jsonl"))
}

#[test]
fn every_scheme_and_restart_policy_reproduces_its_golden_trace() {
    for (name, trace) in traces() {
        let path = trace_file(&name);
        if updating() {
            std::fs::write(&path, &trace).expect("a golden file");
        }
        let golden = std::fs::read_to_string(&path).unwrap_or_default();
        let first = golden.lines().zip(trace.lines()).position(|(golden, now)| golden != now);
        let lines = (golden.lines().count(), trace.lines().count());
        assert_eq!((first, lines.0), (None, lines.1), "{}: the first line that differs", path.display());
    }
}

#[test]
fn every_golden_trace_replays_to_the_same_decisions() {
    let folder = std::fs::read_dir(root().join("traces")).expect("the golden traces");
    let mut count = 0;
    for path in folder.map(|entry| entry.expect("a file").path()) {
        let text = std::fs::read_to_string(&path).expect("a trace");
        let (header, mut calls) = read(text.as_bytes()).expect("a header");
        let mut controller = controller_of(&header).expect("a controller");
        while let Some(record) = calls.next_call().expect("a line") {
            let (plan, notes) = controller.replay(&record.call, &record.path);
            assert_eq!(
                (plan, notes),
                (record.plan, record.notes),
                "{} line {}",
                path.display(),
                calls.line()
            );
        }
        count += 1;
    }
    assert!(count > firstflight::registry::schemes().len());
}

#[test]
fn races_have_their_golden_hashes_whatever_the_number_of_jobs() {
    let path = root().join("races/hashes.txt");
    let hashes = |jobs: usize| -> String {
        RACES.iter().map(|name| format!("{name} {}\n", hash(name, jobs))).collect::<Vec<_>>().concat()
    };
    let one = hashes(1);
    if updating() {
        std::fs::write(&path, &one).expect("a golden file");
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap_or_default(), one, "{}", path.display());
    assert_eq!(hashes(8), one, "8 jobs");
}

#[test]
fn the_golden_races_are_those_that_are_hashed() {
    let folder = std::fs::read_dir(root().join("races")).expect("the golden races");
    let mut names: Vec<String> = folder
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .filter_map(|path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()))
        .collect();
    names.sort();
    assert_eq!(names, RACES);
}
