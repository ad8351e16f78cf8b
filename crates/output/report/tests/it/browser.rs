//! The page in a real browser: its script runs, draws every plot it should and makes no requests. Without Chromium the test is skipped,
//! with a message.

use std::path::{Path, PathBuf};
use std::process::Command;

use firstflight_export::write_whole;
use firstflight_inspect::{Found, FoundRound, Inspected};
use firstflight_measure::Mark;
use firstflight_report::{Subject, inspected};

use crate::synthetic;

fn chromium() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).flat_map(|at| names.map(|name| at.join(name))).find(|file| file.is_file())
}

/// Returns the document after its script has run, and the browser's log.
fn load(browser: &Path, page: &Path) -> (String, String) {
    load_in(browser, page, 1400)
}

/// Loads the page as [`load`] does, in a window of this width.
fn load_in(browser: &Path, page: &Path, width: u32) -> (String, String) {
    let profile = page.with_extension("profile");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking"])
        .args(["--enable-logging=stderr", "--virtual-time-budget=8000", "--dump-dom"])
        .arg(format!("--window-size={width},900"))
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser starts");
    let _ = std::fs::remove_dir_all(profile);
    (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

#[test]
fn the_script_draws_every_plot_and_the_console_stays_silent() {
    let Some(browser) = chromium() else {
        println!("skipped: no Chromium on the PATH, so the page's script was not run");
        return;
    };
    let race = synthetic::race(3, 3);
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report.html");
    write_whole(&page, race.page().as_bytes()).expect("written");
    let (document, log) = load(&browser, &page);
    let complaints: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
    assert_eq!(document.matches("class=\"js-plotly-plot\"").count(), 2, "the comparison and the open panel");
    let traces = document.matches("class=\"trace scatter").count();
    // The comparison has two lines of each run and the reference; a panel has ten series.
    assert_eq!(traces, 7 + 10, "every series is drawn");
    for words in ["Sequence", "Bottleneck queue", "recorded points", "start-up"] {
        assert!(document.contains(words), "{words}");
    }
}

#[test]
fn capture_pages_omit_plots_that_captures_cannot_fill() {
    let Some(browser) = chromium() else {
        println!("skipped: no Chromium on the PATH, so the page's script was not run");
        return;
    };
    let mut race = synthetic::race(2, 2);
    let report = &mut race.report;
    report.subject = Subject::Captures;
    report.ideal.clear();
    report.rows.clear();
    for run in &mut race.recordings {
        run.queue.clear();
        run.drops.clear();
        let found = Found { connection: 1, rounds: vec![FoundRound::default()], ..Found::default() };
        let one = Inspected { found, drawn: None };
        run.label = inspected::label(Some(&run.label), &one.found);
        let file = run.label.split(':').next().unwrap_or_default().to_owned();
        report.rows.extend(inspected::labelled(Some(&file), &[one]).expect("records"));
    }
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("captures.html");
    write_whole(&page, race.page().as_bytes()).expect("written");
    let (document, log) = load(&browser, &page);
    let complaints: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
    assert_eq!(document.matches("class=\"js-plotly-plot\"").count(), 2, "the comparison and the open panel");
    for words in ["In flight", "receiver's window", "Rounds", "bytes acknowledged in order"] {
        assert!(document.contains(words), "{words}");
    }
    // The script names the plots, too.
    let source = race.page();
    let titled = |text: &str, title: &str| text.matches(&format!(">{title}<")).count();
    let drawn = |title: &str| titled(&document, title) - titled(&source, title);
    assert_eq!(["In flight", "Round-trip time", "Bottleneck queue"].map(drawn), [2, 1, 0]);
}

#[test]
fn the_page_of_transfers_has_what_their_sender_knows_and_no_queue() {
    let Some(browser) = chromium() else {
        println!("skipped: no Chromium on the PATH, so the page's script was not run");
        return;
    };
    let mut race = synthetic::race(2, 2);
    race.report.subject = Subject::Transfers;
    race.report.ideal.clear();
    race.report.scenario_text = "1: f: 10 bytes".to_owned();
    for row in &mut race.report.rows {
        row.insert("queue_peak_packets".into(), serde_json::Value::Null);
    }
    race.recordings.iter_mut().for_each(|run| run.queue.clear());
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("transfers.html");
    write_whole(&page, race.page().as_bytes()).expect("written");
    let (document, log) = load(&browser, &page);
    let complaints: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
    for words in ["start-up of transfers", "found lost", "1: f: 10 bytes", "Transfer again"] {
        assert!(document.contains(words), "{words}");
    }
    let source = race.page();
    let titled = |text: &str, title: &str| text.matches(&format!(">{title}<")).count();
    let drawn = |title: &str| titled(&document, title) - titled(&source, title);
    assert_eq!(["Window", "Round-trip time", "Bottleneck queue"].map(drawn), [2, 1, 0]);
    // A column without a number in any row is left out.
    assert!(!titled_columns(&document).any(|head| head.contains(">queue")), "a column of the queue");
}

/// The heads of the table of results.
fn titled_columns(document: &str) -> impl Iterator<Item = &str> {
    let table = document.split_once("id=\"verdicts\"").expect("a table").1;
    table.split_once("</thead>").expect("a head").0.split("<th ").skip(1)
}

#[test]
fn excess_lines_beyond_distinguishable_styles_are_hidden_and_noted_in_legend() {
    let Some(browser) = chromium() else {
        println!("skipped: no Chromium on the PATH, so the page's script was not run");
        return;
    };
    let mut race = synthetic::race(1, 1);
    let (run, row) = (race.recordings.remove(0), race.report.rows.remove(0));
    for at in 0..34 {
        let label = format!("row-{at}");
        let mut row = row.clone();
        row.insert("queue_peak_packets".into(), at.into());
        row.insert("label".into(), label.clone().into());
        race.report.rows.push(row);
        race.recordings.push(firstflight_measure::Recording { label, ..run.clone() });
    }
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("many.html");
    write_whole(&page, race.page().as_bytes()).expect("written");
    let (document, log) = load(&browser, &page);
    let complaints: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
    assert!(complaints.is_empty(), "{complaints:#?}");
    assert!(
        document.contains("3 of 34 lines are shown; 32 at most can be distinguished."),
        "the legend says so"
    );
    let legend =
        document.split_once("id=\"legend\"").expect("a legend").1.split_once("</ul>").expect("ends").0;
    let styles: std::collections::BTreeSet<&str> =
        legend.split("style=\"").skip(1).filter_map(|style| style.split('"').next()).collect();
    assert_eq!(styles.len(), 3, "only the lines that are shown have a style");
    assert_eq!(document.matches("class=\"mark\"").count(), 34, "the chart has all of them");
}

#[test]
fn a_race_of_rounds_opens_on_its_restart_with_wide_table_hints() {
    let Some(browser) = chromium() else {
        println!("skipped: no Chromium on the PATH, so the page's script was not run");
        return;
    };
    let mut race = synthetic::race(2, 2);
    for (run, row) in race.recordings.iter_mut().zip(&mut race.report.rows) {
        row.insert("elapsed_s".into(), 1.0.into());
        for at in [1_000_000_000, 1_500_000_000] {
            run.marks.push(Mark { at, kind: "restart".into(), text: "data again after 0.500 s".into() });
        }
    }
    let page = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rounds.html");
    write_whole(&page, race.page().as_bytes()).expect("written");
    for (width, visibility) in [(1900, "display: none"), (700, "visibility: visible")] {
        let (document, log) = load_in(&browser, &page, width);
        let complaints: Vec<&str> = log.lines().filter(|line| line.contains("CONSOLE")).collect();
        assert!(complaints.is_empty(), "{complaints:#?}");
        let pressed = "aria-pressed=\"true\">Restart 1 of 2</button>";
        assert_eq!(document.matches(pressed).count(), 3, "for all, and for each");
        let hint = document.split_once("class=\"more\"").expect("a hint").1.split_once('>').expect("a tag").0;
        assert!(hint.contains(visibility), "{width}: {hint}");
    }
}
