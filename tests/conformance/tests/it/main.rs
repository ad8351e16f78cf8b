//! The simulator's TCP host keeps the laws of hosts, on the golden traces and on any path. For a record that breaks a law, the check names
//! the law and the place.

mod any_path;
mod broken;
mod record;
mod without_stream;

use std::fs;
use std::path::Path;

use any_path::{Draw, any_path, command};
use firstflight::registry;
use firstflight_conformance::{Breach, Conformance, Law, check};
use firstflight_scenario::controller_of;
use firstflight_trace::read;
use record::{Record, trace};

fn first_breach(text: &str) -> Option<Breach> {
    let (header, calls) = read(text.as_bytes()).expect("a header");
    check(&header, controller_of(&header).ok(), calls).expect("a trace").listed().first().cloned()
}

fn golden_traces() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/traces");
    let files = fs::read_dir(folder).expect("golden traces");
    let paths = files.map(|file| file.expect("it is listed").path());
    paths.map(|path| (path.display().to_string(), fs::read_to_string(&path).expect("a trace"))).collect()
}

#[test]
fn the_golden_traces_keep_every_law() {
    let traces = golden_traces();
    assert!(traces.len() > 20, "{}", traces.len());
    for (name, text) in traces {
        assert_eq!(first_breach(&text), None, "{name}");
    }
}

#[test]
fn recorded_judgements_match_and_are_complete_or_absent() {
    for (name, text) in golden_traces() {
        let mut record = Record::read(&text).judged();
        assert_eq!(record.verdict().listed(), [], "{name}");
        let judged: Vec<usize> =
            (0..record.calls.len()).filter(|&i| record.calls[i].1.judged.is_some()).collect();
        let second = judged[1];
        record.calls[second].1.judged = None;
        let verdict = record.verdict();
        let laws: Vec<(Law, usize)> =
            verdict.listed().iter().map(|breach| (breach.law, breach.line)).collect();
        assert_eq!(laws, [(Law::Judged, record.calls[second].0)], "{name}");
    }
}

#[test]
fn a_number_of_any_size_is_judged() {
    for (name, text) in golden_traces().into_iter().filter(|(name, _)| name.contains("paced")) {
        let (header, lines) = text.split_once('\n').expect("a header");
        let ends: Vec<usize> = lines.match_indices([',', '}']).map(|(at, _)| at).collect();
        for &end in ends.iter().step_by(29) {
            let start = lines[..end].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |before| before + 1);
            if start == end {
                continue;
            }
            for number in [0, u64::MAX] {
                let text = format!("{header}\n{}{number}{}", &lines[..start], &lines[end..]);
                let (header, calls) = read(text.as_bytes()).expect("a header");
                // The reader refuses it, or it is judged.
                let verdict = check(&header, controller_of(&header).ok(), calls);
                assert!(
                    verdict.is_err() || verdict.is_ok_and(|verdict| verdict.listed().len() <= 100),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn checker_memory_is_bounded_by_the_flight() {
    let given = [("rate", "20mbit"), ("rtt", "20ms"), ("size", "3MB"), ("loss", "5%"), ("jitter", "5ms")];
    let record = Record::read(&trace(&given, "slow-start", 1).expect("a run"));
    let mut conformance = Conformance::new();
    let (mut kept, mut in_flight) = (0, 0);
    for (line, record) in &record.calls {
        conformance.check_record(*line, record);
        kept = kept.max(conformance.kept());
        in_flight = in_flight.max((record.path.nxt - record.path.una) / record.path.mss.get());
    }
    assert!(record.calls.len() > 3_000, "{} calls", record.calls.len());
    assert!(kept as u64 <= 2 * in_flight, "{kept} kept, {in_flight} in flight");
}

/// `HOSTS=10000` tests more paths, `HOSTS_FROM=160` others.
#[test]
fn the_simulators_host_keeps_every_law_over_any_path() {
    let number =
        |name: &str, usual: u64| std::env::var(name).map_or(usual, |text| text.parse().expect("a number"));
    let (from, runs) = (number("HOSTS_FROM", 0), number("HOSTS", 160));
    let schemes: Vec<&str> = registry::schemes().iter().map(|scheme| scheme.name).collect();
    let mut broken = Vec::new();
    let mut calls = 0;
    for seed in from..from + runs {
        let given = any_path(&mut Draw::new(seed));
        let scheme = schemes[usize::try_from(seed).expect("small") % schemes.len()];
        let Some(text) = trace(&given, scheme, seed) else { continue };
        calls += text.lines().count();
        let breach =
            first_breach(&text).map(|breach| format!("{breach}\n  {}", command(&given, scheme, seed)));
        broken.extend(breach);
    }
    assert!(broken.is_empty(), "{} of {runs}:\n{}", broken.len(), broken.join("\n"));
    assert!(calls as u64 > 100 * runs, "{calls} calls");
}

#[test]
fn a_host_judging_growth_itself_is_not_bound_by_ack_advance() {
    for scheme in ["slow-start", "hystart", "paced", "suss"] {
        for limited in [("app", "3kB,20ms"), ("rwnd", "8p")] {
            let ends = [("iw", "40p"), ("stack", "linux"), limited];
            let path = [("rate", "20mbit"), ("rtt", "20ms"), ("size", "400kB")];
            let text = trace(&[path, ends].concat(), scheme, 1).expect("a run");
            let judged = |n: u32| text.contains(&format!("\"advanced\":0,\"sacked\":0,\"segments\":{n}"));
            assert!((1..10).any(judged), "it judges: {scheme}, {limited:?}");
            assert!(first_breach(&text).is_none(), "{scheme}, {limited:?}");
        }
    }
}

#[test]
fn every_law_has_a_unique_name_and_its_statement_in_the_documentation() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/laws.md");
    let book = fs::read_to_string(book).expect("docs/reference/laws.md");
    let (_, table) = book.split_once("<!-- laws of hosts -->\n").expect("where they begin");
    let (table, _) = table.split_once("<!-- end of the laws of hosts -->").expect("where they end");
    let laws = Law::ALL.iter().map(|law| format!("- `{}`: {}\n", law.name(), law.statement()));
    assert_eq!(table, laws.collect::<String>());
    let mut names: Vec<&str> = Law::ALL.iter().map(|law| law.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Law::ALL.len());
}
