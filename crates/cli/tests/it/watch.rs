//! The parts of `firstflight watch` that need no kernel: the comparison of two groups of start-ups, and refusals.

use std::fs;
use std::path::Path;

use firstflight_export::Record;
use serde_json::{Value, json};

use crate::common::{folder, refused, run, status, stderr, stdout, text};

/// Start-ups with this overshoot, whose transfers end sooner without it.
fn records(overshoot: u64, law: &str) -> Vec<Record> {
    let row = |at: u64| {
        let number = |value: u64| f64::from(u32::try_from(value).expect("a small number"));
        let time = 0.4 + 0.01 * number(overshoot) + 0.005 * number(at % 7);
        let value = json!({
            "exit_cause": "loss", "exit_flight_bytes": 100_000, "mss_bytes": 1_000, "bytes_acked": 400_000,
            "overshoot_segments": overshoot + at % 5, "congestion_control": law, "prefix": "10.0.0.0/24",
            "transfer_s": time, "transfer_bytes": 400_000, "handshake_rtt_s": 0.04,
            "retransmitted_segments": overshoot + at % 5, "data_segments_sent": 400,
        });
        value.as_object().expect("an object").clone()
    };
    (0..40).map(row).collect()
}

/// A file of start-ups with this overshoot.
fn rows(place: &Path, name: &str, overshoot: u64) -> String {
    let path = place.join(name);
    let bytes = firstflight_export::parquet::to_bytes(&records(overshoot, "cubic")).expect("Parquet");
    fs::write(&path, bytes).expect("a file");
    text(&path).to_owned()
}

/// A file of lines, of start-ups by two congestion controls that took turns.
fn lines(place: &Path) -> String {
    let path = place.join("rows.jsonl");
    let both = records(30, "cubic").into_iter().zip(records(3, "ff_hystart_pp"));
    let line = |row: &Record| serde_json::to_string(row).expect("JSON") + "\n";
    let text_of: String = both.map(|(one, other)| line(&one) + &line(&other)).collect();
    // A kill while a line was written.
    fs::write(&path, text_of + "{\"exit_cause\":\"lo").expect("a file");
    text(&path).to_owned()
}

#[test]
fn two_collections_are_compared_with_intervals() {
    let place = folder("watch-compare");
    let (before, after) = (rows(&place, "before.parquet", 30), rows(&place, "after.parquet", 3));
    let output = run(&["watch", "--compare", &before, &after]);
    let table = stdout(&output);
    assert_eq!((status(&output), stderr(&output)), (0, String::new()), "{table}");
    assert!(table.starts_with("Transfers of 100 kB to 1 MB end 38 ± "), "{table}");
    assert!(
        table.contains(" % sooner.\n84 ± ") && table.contains(" % fewer segments are retransmitted.\n"),
        "{table}"
    );
    assert!(table.contains("before: 40 start-ups to 1 prefixes: 40 by cubic; 40 compared ("), "{table}");
    let completion = table.lines().find(|line| line.starts_with("100 kB-1 MB")).expect("a line");
    assert!(completion.contains("completion") && completion.ends_with("better"), "{completion}");
    let overshoot = table.lines().find(|line| line.starts_with("overshoot, mean")).expect("a line");
    assert!(overshoot.contains("32.0 p") && overshoot.contains("5.00 p"), "{overshoot}");
    assert!(overshoot.ends_with("better"), "{overshoot}");
    assert!(!table.contains("rate at exit"), "no row has one: {table}");
    let lines = stdout(&run(&["watch", "--compare", &before, &after, "--json"]));
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let line = lines.iter().find(|line| line["measure"] == "overshoot, mean").expect("a line");
    let shown = ["first", "second", "difference"]
        .map(|name| format!("{:.3}", line[name].as_f64().expect("a number")));
    assert_eq!(shown, ["32.000", "5.000", "-27.000"]);
    assert_eq!(
        (&line["verdict"], &line["first_starts"], &line["drawn"], &line["first_group"]),
        (&"better".into(), &40.into(), &"connections".into(), &before.as_str().into())
    );
    let line = lines.iter().find(|line| line["measure"] == "completion").expect("a line");
    assert_eq!((&line["transfer"], &line["verdict"]), (&"100 kB-1 MB".into(), &"better".into()));
    assert!(line["sentence"].as_str().is_some_and(|sentence| table.starts_with(sentence)), "{line}");
    let line = lines.iter().find(|line| line["measure"] == "overshoot, mean").expect("a line");
    let interval = line["interval"].as_array().expect("two ends");
    assert!(interval[0].as_f64() < Some(-27.0) && interval[1].as_f64() > Some(-27.0), "{line}");
}

#[test]
fn two_congestion_controls_of_one_file_are_compared() {
    let place = folder("watch-groups");
    let file = lines(&place);
    let output = run(&["watch", "--compare", &file, "--groups", "cubic,ff_hystart_pp"]);
    let table = stdout(&output);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert!(
        stderr(&output).contains("rows.jsonl: 1 lines are no whole rows, and are left out"),
        "{}",
        stderr(&output)
    );
    assert!(table.starts_with("Transfers of 100 kB to 1 MB end 38 ± "), "{table}");
    assert!(table.contains("\nff_hystart_pp: 40 start-ups to 1 prefixes"), "{table}");
    let turned = stdout(&run(&["watch", "--compare", &file, "--groups", "ff_hystart_pp,cubic"]));
    assert!(
        turned.contains(" % later.\n") && turned.contains(" more segments are retransmitted.\n")
            || turned.contains("instead of"),
        "{turned}"
    );
    let json = stdout(&run(&["watch", "--compare", &file, "--groups", "cubic,ff_hystart_pp", "--json"]));
    assert!(
        json.lines().next().is_some_and(|line| line.contains("\"second_group\":\"ff_hystart_pp\"")),
        "{json}"
    );
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
        (vec!["--compare", &rows], "one file needs --groups CC,CC"),
        (vec!["--compare", &rows, &rows, &rows], "without --groups CC,CC it takes two files"),
        (vec!["--compare", &rows, "--groups", "cubic"], "`cubic` is not two congestion controls"),
        (vec!["--compare", &rows, "--groups", "cubic,cubic"], "both groups are cubic"),
        (vec!["--compare", &rows, "--groups", "cubic,reno"], "no start-up is under reno; they have cubic"),
        (vec!["--groups", "cubic,reno"], "--compare"),
        (vec!["--compare", &rows, text(&none)], "No such file"),
        (vec!["--compare", &rows, text(&place.join("text"))], "Parquet: "),
        (
            vec!["--compare", &rows, text(&other)],
            "it has no column exit_cause, so it is no file of `watch` or of `inspect --parquet`",
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
