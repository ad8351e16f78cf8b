//! Flows between hosts on the command line.

use crate::common::{dumbbell, folder, refused, run, status, stderr, stdout};

/// Fifty flows of two schemes on a dumbbell.
fn path() -> Vec<&'static str> {
    dumbbell("50")
}

#[test]
fn population_output_has_rows_alone_and_mixed_with_the_verdict_below() {
    let output = run(&[&path()[..], &["--mixed"]].concat());
    assert_eq!((status(&output), stderr(&output)), (0, String::new()));
    let table = stdout(&output);
    for word in
        ["dumbbell of 10 hosts a side", "50 flows of 73 kB in the mean", "only", "mixed", "lossy", "Best by"]
    {
        assert!(table.contains(word), "{word} in {table}");
    }
    let json = stdout(&run(&[&path()[..], &["--mixed", "--runs", "2", "--json"]].concat()));
    let rows: Vec<serde_json::Value> =
        json.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_eq!(rows.len(), 4);
    for row in &rows {
        assert_eq!(row["runs"], 2);
        assert!(row["fct_median_s"].is_number() && row["fct_median_s_ci95"].is_number(), "{row}");
    }
    let kinds: Vec<&str> = rows.iter().map(|row| row["population"].as_str().expect("a word")).collect();
    assert_eq!(kinds, ["only", "only", "mixed", "mixed"]);
}

#[test]
fn each_flow_option_writes_equally_many_rows_in_json_and_csv() {
    let json = stdout(&run(&[&path()[..], &["--each-flow", "--json"]].concat()));
    let csv = stdout(&run(&[&path()[..], &["--each-flow", "--csv"]].concat()));
    assert_eq!(json.lines().count() + 1, csv.lines().count());
    let measured = json.lines().filter(|line| line.contains("\"measured\":1,")).count();
    assert_eq!(measured, 100);
    assert!(
        csv.starts_with("flow,scheme,params,population,measured,start_s,from,to,size_bytes,fct_s,"),
        "{csv}"
    );
}

#[test]
fn schemes_needing_more_parameters_are_left_out_of_all_with_a_note() {
    let path =
        ["race", "--rate", "20mbit", "--rtt", "40ms", "--topology", "dumbbell:hosts=2", "--flows", "1"];
    for given in [&["--size", "3p", "--json"][..], &["--size", "3p", "--json", "--schemes", "all"]] {
        let output = run(&[&path[..], given].concat());
        let said = stderr(&output);
        assert_eq!((status(&output), stdout(&output).lines().count()), (0, 16), "{said}");
        let notes: Vec<&str> = said.lines().filter(|line| line.starts_with("note: left out: ")).collect();
        for (note, name) in notes.iter().zip(["careful-resume", "leap-saved"]) {
            let says = format!(
                "note: left out: {name}: among flows between hosts, what an earlier connection saved"
            );
            assert!(note.starts_with(&says) && note.contains(&format!("`{name}:saved=64kB,")), "{note}");
        }
        assert_eq!(notes.len(), 2, "{said}");
    }
    let named = [&path[..], &["--size", "3p", "--schemes", "slow-start,careful-resume"]].concat();
    assert!(refused(&named).contains("careful-resume: among flows between hosts"));
}

#[test]
fn invalid_arguments_are_refused_by_name() {
    let refuse = |more: &[&str]| refused(&[&path()[..], more].concat());
    assert!(refuse(&["--rounds", "3"]).contains("rounds: it and flows exclude each other"));
    assert!(refuse(&["--ack-aggregation", "4"]).contains("share the links between hosts"));
    assert!(refuse(&["--arrivals", "poisson"]).contains("`poisson:20`"));
    let alone = |more: &[&str]| refused(&[&["race", "--rate", "1mbit"][..], more].concat());
    assert!(alone(&["--mixed"]).contains("mixed: there is no population"));
    assert!(alone(&["--flows", "3"]).contains("flows run between hosts, as of `dumbbell:hosts=102`"));
    assert!(alone(&["--topology", "dumbbell:hosts=3"]).contains("say how many are measured with flows"));
    assert!(alone(&["--each-flow"]).contains("--each-flow: one flow is measured"));
}

#[test]
fn a_flow_whose_scheme_cannot_be_is_pointed_at() {
    let args = ["race", "--rate", "9mbit", "--flow", "scheme=paced", "--flow", "scheme=hystrat"];
    let output = run(&args);
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(
        said.starts_with("error: --flow: flow 2: unknown scheme `hystrat`; is `hystart` meant?\n"),
        "{said}"
    );
    let mut lines = said.lines().skip(1);
    let (line, caret) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    assert_eq!(line.find("hystrat"), caret.find('^'), "{said}");
}

#[test]
fn a_fault_in_the_second_flow_is_marked_there_despite_equal_text() {
    let same = ["race", "--rate", "9mbit", "--duration", "5s", "--flow", "scheme=paced,start=1s", "--flow"];
    for second in ["start=1s,start=1s", "scheme=paced,start=9s", "scheme=paced,size=0B"] {
        let output = run(&[&same[..], &[second]].concat());
        let said = stderr(&output);
        assert_eq!(status(&output), 2, "{said}");
        let mut lines = said.lines().skip(1);
        let (line, caret) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        let (at, from) = (caret.find('^').expect(&said), line.rfind(second).expect(&said));
        assert!((from..from + second.len()).contains(&at), "{said}");
    }
}

#[test]
fn a_fault_of_a_flow_in_a_file_names_its_line() {
    let file = folder("flows-at-fault").join("flows.toml");
    let refuse = |tables: &str| {
        let text = format!(
            "rate = \"9mbit\"\nduration = \"5s\"\n\n[[flow]]\nscheme = \"paced\"\n\n[[flow]]\n{tables}"
        );
        std::fs::write(&file, text).expect("a file");
        let output = run(&["run", file.to_str().expect("text")]);
        assert_eq!(status(&output), 2);
        stderr(&output)
    };
    let said = refuse("start = \"1s\"\nscheme = \"hystrat\"\n");
    assert!(said.contains("flow: flow 2: unknown scheme `hystrat`; is `hystart` meant?"), "{said}");
    assert!(said.contains("flows.toml:9:10\n  | scheme = \"hystrat\"\n"), "{said}");
    let said = refuse("scheme = \"paced:first=4\"\n");
    assert!(said.contains("have one name, paced") && said.contains("flows.toml:8:10\n"), "{said}");
    let said = refuse("start = \"9s\"\n");
    assert!(said.contains("flow: flow 2: it begins at 9s") && said.contains("flows.toml:7:1\n"), "{said}");
}
