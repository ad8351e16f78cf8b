//! The parts of `firstflight watch` that need no kernel: the comparison of two collections, and refusals.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::common::{folder, refused, run, status, stderr, stdout, text};

/// A file of start-ups with this overshoot.
fn rows(place: &Path, name: &str, overshoot: u64) -> String {
    let rows: Vec<_> = (0..40u64)
        .map(|at| {
            let value = json!({
                "exit_cause": "loss", "exit_flight_bytes": 100_000, "mss_bytes": 1_000, "bytes_acked": 1_000_000,
                "overshoot_segments": overshoot + at % 5, "congestion_control": "cubic", "prefix": "10.0.0.0/24",
            });
            value.as_object().expect("an object").clone()
        })
        .collect();
    let path = place.join(name);
    fs::write(&path, firstflight_export::parquet::to_bytes(&rows).expect("Parquet")).expect("a file");
    text(&path).to_owned()
}

#[test]
fn two_collections_are_compared_with_intervals() {
    let place = folder("watch-compare");
    let (before, after) = (rows(&place, "before.parquet", 30), rows(&place, "after.parquet", 3));
    let output = run(&["watch", "--compare", &before, &after]);
    let table = stdout(&output);
    assert_eq!((status(&output), stderr(&output)), (0, String::new()), "{table}");
    assert!(table.starts_with("before: 40 start-ups to 1 prefixes: 40 by cubic ("), "{table}");
    let overshoot = table.lines().find(|line| line.starts_with("overshoot, mean")).expect("a line");
    assert!(overshoot.contains("32.0 p") && overshoot.contains("5.00 p"), "{overshoot}");
    assert!(overshoot.ends_with("better"), "{overshoot}");
    assert!(!table.contains("rate at exit"), "nobody has one: {table}");
    let lines = stdout(&run(&["watch", "--compare", &before, &after, "--json"]));
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let line = lines.iter().find(|line| line["measure"] == "overshoot, mean").expect("a line");
    assert_eq!(
        (&line["before"], &line["after"], &line["difference"]),
        (&32.0.into(), &5.0.into(), &(-27.0).into())
    );
    assert_eq!(
        (&line["verdict"], &line["before_starts"], &line["drawn"]),
        (&"better".into(), &40.into(), &"connections".into())
    );
    let interval = line["interval"].as_array().expect("two ends");
    assert!(interval[0].as_f64() < Some(-27.0) && interval[1].as_f64() > Some(-27.0), "{line}");
}

#[test]
fn watch_refuses_invalid_comparisons_and_options_in_one_line() {
    let place = folder("watch-refused");
    let rows = rows(&place, "rows.parquet", 3);
    let other = place.join("other.parquet");
    let record = json!({ "scheme": "paced" }).as_object().expect("an object").clone();
    fs::write(&other, firstflight_export::parquet::to_bytes(&[record]).expect("Parquet")).expect("a file");
    let none = place.join("none.parquet");
    fs::write(place.join("text"), "no rows").expect("a file");
    for (words, wanted) in [
        (vec!["--compare", &rows], "2 values"),
        (vec!["--compare", &rows, text(&none)], "No such file"),
        (vec!["--compare", &rows, text(&place.join("text"))], "Parquet: "),
        (
            vec!["--compare", &rows, text(&other)],
            "it has no column exit_cause, so it was written neither by `watch --parquet`",
        ),
        (vec!["--compare", &rows, &rows, "--port", "80"], "cannot be used with"),
        (vec!["--prefix", "24"], "such as 24/48"),
        (vec!["--port", "0"], "0 is not in 1..=65535"),
    ] {
        let line = refused(&[&["watch"], &words[..]].concat());
        assert!(line.contains(wanted), "{words:?}: {line}");
    }
}

/// With the feature, the kernel tests run this command.
#[test]
#[cfg(not(feature = "kernel"))]
fn without_the_feature_watch_says_how_to_build_it() {
    let line = refused(&["watch"]);
    assert!(line.contains("watch: this firstflight is built without it; `make kernel`, or"), "{line}");
}

#[test]
fn a_damaged_collection_is_refused_in_one_line() {
    let place = folder("watch-damaged");
    let good = rows(&place, "good.parquet", 30);
    let whole = fs::read(&good).expect("a file");
    let bad = place.join("bad.parquet");
    let mut refusals = 0;
    for at in (0..whole.len()).step_by(whole.len() / 60) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        fs::write(&bad, damaged).expect("a file");
        let output = run(&["watch", "--compare", &good, text(&bad)]);
        assert!([0, 2].contains(&status(&output)), "{at}: {} {}", status(&output), stderr(&output));
        if status(&output) == 2 {
            refusals += 1;
            let said = stderr(&output);
            let error = said.lines().next().expect("a line");
            assert!(error.starts_with("error: --compare: ") && error.contains("bad.parquet: "), "{said}");
            assert!(!said.contains("panicked"), "{said}");
        }
    }
    assert!(refusals > 0, "no damage was seen");
}
