//! The outputs of `race`, read by the programs that people open them with: pandas, polars, `DuckDB`, tshark, capinfos and a browser. A
//! missing reader is skipped, with a message.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use firstflight_export::columns::POPULATION_COLUMNS;
use firstflight_export::columns::{COLUMNS, Column, JOINED_COLUMNS, Kind};
use firstflight_export::log::{SERIES_COLUMNS, SLOT_COLUMNS};
use firstflight_export::rows;
use serde_json::json;

use crate::common::{folder, run, status, stderr, stdout, text};

const RACE: [&str; 9] = [
    "race",
    "--rate",
    "20mbit",
    "--rtt",
    "40ms",
    "--size",
    "1MB",
    "--schemes",
    "slow-start,paced:as=mine,quick-start",
];

fn race(more: &[&str]) -> Output {
    let output = run(&[&RACE[..], more].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    output
}

/// Returns the Python with the readers of tables, if `.ci/tools` could install them.
fn python() -> Option<PathBuf> {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/venv/bin/python");
    python.is_file().then_some(python)
}

fn read_tables(place: &Path, more: &[&str]) {
    let Some(python) = python() else {
        println!(
            "skipped: no pandas, polars and DuckDB in target/tools/venv, so CSV and Parquet were not read by them"
        );
        return;
    };
    let at = |name: &str| place.join(name);
    let rows = race(&[&["--json", "--parquet", text(&at("rows.parquet"))], more].concat());
    std::fs::write(at("rows.jsonl"), rows.stdout).expect("written");
    std::fs::write(at("rows.csv"), race(&[&["--csv"], more].concat()).stdout).expect("written");
    let mut columns = String::new();
    for column in COLUMNS {
        let kind = format!("{:?}", column.kind);
        let line = json!({"name": column.name, "unit": column.unit, "kind": kind, "meaning": column.meaning});
        writeln!(columns, "{line}").expect("a line");
    }
    std::fs::write(at("columns.jsonl"), columns).expect("written");
    let read = Command::new(python)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/readers.py"))
        .args(["rows.jsonl", "rows.csv", "rows.parquet", "columns.jsonl"].map(at))
        .output()
        .expect("Python runs");
    assert!(read.status.success(), "{}", stderr(&read));
    assert!(stdout(&read).starts_with("3 rows"), "{}", stdout(&read));
}

#[test]
fn pandas_polars_and_duckdb_read_the_rows_typed_and_equal() {
    read_tables(&folder("read-rows"), &[]);
}

#[test]
fn pandas_polars_and_duckdb_read_means_with_their_intervals() {
    read_tables(&folder("read-means"), &["--runs", "3", "--cross", "5mbit"]);
}

fn has(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok();
    if !there {
        println!("skipped: {program} is not installed");
    }
    there
}

#[test]
fn tshark_reads_a_capture_without_a_word_of_complaint() {
    if !has("tshark") {
        return;
    }
    let place = folder("tshark-complaints");
    race(&["--json", "--pcap", text(&place)]);
    for name in ["slow-start-client", "mine-server", "quick-start-client"] {
        let capture = place.join(format!("{name}.pcapng"));
        let mut tshark = Command::new("tshark");
        // As root, tshark warns about being root, which is no message about the capture.
        let read =
            tshark.args(["-n", "-r", text(&capture), "-q", "-z", "expert,error"]).output().expect("runs");
        assert!(read.status.success(), "{}", stderr(&read));
        let said: Vec<String> = stderr(&read)
            .lines()
            .filter(|line| !line.contains("as user \"root\""))
            .map(str::to_owned)
            .collect();
        assert!(said.is_empty(), "{name}: {said:?}");
        assert!(!stdout(&read).contains("Errors ("), "{name}: {}", stdout(&read));
        let fields = ["-T", "fields", "-e", "frame.time_epoch", "-e", "frame.interface_name", "-c", "3"];
        let read =
            Command::new("tshark").args(["-n", "-r", text(&capture)]).args(fields).output().expect("runs");
        let side = name.rsplit('-').next().expect("a side");
        for line in stdout(&read).lines() {
            let (time, interface) = line.split_once('\t').expect("two fields");
            assert_eq!(interface, side);
            assert_eq!(time.split_once('.').map_or(0, |(_, digits)| digits.len()), 9, "nanoseconds: {time}");
        }
    }
}

#[test]
fn capinfos_tells_what_the_capture_is() {
    if !has("capinfos") || !has("tshark") {
        return;
    }
    let place = folder("capinfos");
    race(&["--json", "--pcap", text(&place), "--snap", "100B"]);
    let capture = place.join("slow-start-client.pcapng");
    let output_of = Command::new("capinfos").args(["-M", text(&capture)]).output().expect("runs");
    assert!(output_of.status.success(), "{}", stderr(&output_of));
    let output_of = stdout(&output_of);
    let packets = Command::new("tshark").args(["-n", "-r", text(&capture)]).output().expect("runs");
    let packets = stdout(&packets).lines().count();
    for words in [
        "pcapng",
        "nanoseconds (9)",
        "Raw IP",
        "Strict time order:   True",
        "firstflight",
        "Capture length = 100",
    ] {
        assert!(output_of.contains(words), "{words}: {output_of}");
    }
    assert!(
        output_of
            .lines()
            .any(|line| line.starts_with("Number of packets:") && line.ends_with(&format!(" {packets}"))),
        "{output_of}"
    );
}

#[test]
fn a_browser_draws_the_figure_as_an_image() {
    let chromium = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
        Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    });
    let Some(chromium) = chromium else {
        println!("skipped: no Chromium on the PATH, so the SVG figure was not drawn");
        return;
    };
    let place = folder("svg");
    let figure = place.join("figure.svg");
    race(&["--json", "--figure", text(&figure)]);
    let svg = std::fs::read_to_string(&figure).expect("UTF-8");
    for way in ["href=\"http", "@import", "url(http", "<script", "<image", "<foreignObject"] {
        assert!(!svg.contains(way), "the figure has {way}");
    }
    // An image in a page must be well-formed XML, and may request nothing outside itself.
    let page = place.join("page.html");
    let script = "<!doctype html><img src=\"figure.svg\" onload=\"document.title = 'drawn ' + (this.naturalWidth > 300)\" \
                  onerror=\"document.title = 'broken'\">";
    std::fs::write(&page, script).expect("written");
    let shown = Command::new(chromium)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", place.join("profile").display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser starts");
    assert!(stdout(&shown).contains("<title>drawn true</title>"), "{}", stdout(&shown));
}

/// Columns as `docs/reference/exports.md` lists them.
fn listed(columns: impl Iterator<Item = &'static Column>) -> String {
    let mut table = String::from("| Column | Type | Unit | Meaning |\n|---|---|---|---|\n");
    for column in columns {
        let kind = match column.kind {
            Kind::Text => "text",
            Kind::Truth => "true or false",
            Kind::Whole => "whole",
            Kind::Real => "real",
        };
        writeln!(table, "| `{}` | {kind} | {} | {} |", column.name, column.unit, column.meaning)
            .expect("a line");
    }
    table
}

/// `UPDATE_GOLDEN=1` writes the page anew.
#[test]
fn the_manual_lists_every_column_as_it_is() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/exports.md");
    let manual = std::fs::read_to_string(&path).expect("the manual");
    let races = COLUMNS.iter().chain(JOINED_COLUMNS).chain(POPULATION_COLUMNS);
    let tables = [
        ("columns", listed(races)),
        ("columns of senders", listed(rows::columns())),
        ("columns of series", listed(SERIES_COLUMNS.iter())),
        ("columns of slots", listed(SLOT_COLUMNS.iter())),
    ];
    let mut updated = manual.clone();
    for (name, table) in tables {
        let [begin, end] = [format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->")];
        let (before, rest) = updated.split_once(&begin).expect("a beginning of the table");
        let (_, after) = rest.split_once(&end).expect("an end of the table");
        updated = [before, &begin, &table, &end, after].concat();
    }
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, updated).expect("written");
        return;
    }
    assert_eq!(
        manual, updated,
        "docs/reference/exports.md is behind the columns; UPDATE_GOLDEN=1 writes it anew"
    );
}
