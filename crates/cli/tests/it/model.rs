//! `firstflight model` on the built command: the papers' numbers, curves, and refusals in one line.

use crate::common::{folder, names, refused, run, status, stderr, stdout, text};

fn rows(arguments: &[&str]) -> Vec<serde_json::Value> {
    let output = run(&[&["model"], arguments, &["--json"]].concat());
    assert_eq!((status(&output), stderr(&output)), (0, String::new()), "{arguments:?}");
    stdout(&output).lines().map(|line| serde_json::from_str(line).expect("an object")).collect()
}

fn number(row: &serde_json::Value, field: &str) -> f64 {
    row[field].as_f64().unwrap_or_else(|| panic!("{field} in {row}"))
}

#[test]
fn the_reference_case_of_each_model_is_that_of_its_paper() {
    for (arguments, field, expected) in [
        (&["slow-start"][..], "transfer_s", 0.98775),
        (&["quick-start"], "transfer_s", 0.40428),
        (&["quick-start-probability"], "mean_transfer_s", 0.46540),
        (&["ring-buffer"], "hold_s", 0.2),
        (&["paced"], "exit_gap", 1.53333),
        (&["limited"], "time_s", 20.92877),
        (
            &["slow-start", "--mss", "1452B", "--packet", "1500B", "--segments-per-ack", "1"],
            "response_s",
            0.7010,
        ),
    ] {
        let rows = rows(arguments);
        assert_eq!(rows.len(), 1, "{arguments:?}");
        let found = number(&rows[0], field);
        assert!((found / expected - 1.0).abs() < 5e-5, "{arguments:?}: {found}, not {expected}");
        assert_eq!(rows[0]["model"], arguments[0]);
    }
    assert_eq!(rows(&["paced-table"]).len(), 5);
}

#[test]
fn a_sweep_has_one_json_row_and_one_table_line_per_point() {
    let swept = rows(&["quick-start", "--sweep", "size=1kB..10MB"]);
    assert_eq!(swept.len(), 41);
    let best = swept.iter().map(|row| number(row, "improvement")).fold(0.0, f64::max);
    assert!((2.6..2.8).contains(&best), "mid-sized transfers gain most: {best}");
    let table = stdout(&run(&["model", "quick-start", "--sweep", "size=10kB,100kB"]));
    let lines: Vec<_> = table.lines().skip(3).collect();
    assert_eq!(lines.len(), 3, "{table}");
    assert!(lines[1].trim_start().starts_with("10kB") && lines[1].contains("0.16605"), "{table}");
    let csv = stdout(&run(&["model", "ring-buffer", "--csv"]));
    assert!(csv.starts_with("model,max_rtt_s,interval_s,hold_s,slots,") && csv.lines().count() == 2, "{csv}");
}

#[test]
fn a_curve_has_one_line_per_column_and_names_columns_and_parameters() {
    let place = folder("model-curve");
    let file = place.join("curve.svg");
    let arguments =
        ["model", "quick-start-probability", "--sweep", "threshold=0.05..1", "--svg", text(&file)];
    let output = run(&[&arguments[..], &["--columns", "success,success_reduced"]].concat());
    assert_eq!((status(&output), stderr(&output)), (0, format!("wrote {}\n", file.display())));
    let svg = std::fs::read_to_string(&file).expect("a file");
    assert_eq!(svg.matches("<polyline").count(), 2, "{svg}");
    assert!(
        svg.contains("success_reduced:") && svg.contains("threshold:") && svg.contains("load 0.2"),
        "{svg}"
    );
    let points = svg.split("points=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("points");
    assert_eq!(points.split(' ').count(), 20);
    assert_eq!(names(&place), ["curve.svg"]);
}

#[test]
fn model_options_out_of_range_are_refused_by_name_with_allowed_values() {
    for (model, option, value, words) in [
        ("slow-start", "--size", "0B", "is zero"),
        ("slow-start", "--rate", "-10mbit", "is negative"),
        ("slow-start", "--rtt", "nan", "is not finite"),
        ("slow-start", "--mss", "1kbit", "is written `125B` here"),
        ("slow-start", "--segments-per-ack", "0", "not allowed"),
        ("quick-start", "--request", "20mbit", "above the path's rate"),
        ("quick-start-probability", "--threshold", "1.1", "from 0 to 1"),
        ("quick-start-probability", "--arrivals", "-1", "is negative"),
        ("quick-start-probability", "--deviation", "0", "above 0"),
        ("paced", "--available", "0", "above 0"),
        ("limited", "--division", "up", "there are carry, truncate"),
        ("slow-start", "--sweep", "iw=3p..1p", "does not rise"),
    ] {
        let line = refused(&["model", model, option, value]);
        assert!(line.starts_with(&format!("error: {option}: ")) && line.contains(words), "{line}");
    }
    let line = refused(&["model", "slow-strat"]);
    assert!(line.contains("unknown model `slow-strat`") && line.contains("`slow-start`"), "{line}");
}

#[test]
fn nothing_is_written_when_the_sweep_or_the_file_is_refused() {
    let place = folder("model-refused");
    let file = place.join("curve.svg");
    std::fs::write(&file, "an earlier one").expect("a file");
    for sweep in ["request=1mbit..20mbit", "size=1kB..1MB,", "small=ask,slow-start"] {
        refused(&["model", "quick-start", "--sweep", sweep, "--svg", text(&file)]);
    }
    assert_eq!(std::fs::read_to_string(&file).expect("still there"), "an earlier one");
    refused(&["model", "quick-start", "--sweep", "size=1kB..1MB", "--svg", text(&place)]);
    refused(&["model", "quick-start", "--svg", text(&file)]);
    assert_eq!(names(&place), ["curve.svg"]);
}

#[test]
fn without_a_name_the_models_are_listed() {
    let list = stdout(&run(&["model"]));
    for model in ["slow-start", "quick-start-probability", "ring-buffer", "paced-table", "limited"] {
        assert!(list.lines().any(|line| line == model), "{list}");
    }
    assert!(list.contains("--threshold: "), "{list}");
}
