//! `--figure`: its refusals, and that the program draws the figures of the schemes' pages.

use std::path::{Path, PathBuf};

use crate::common::{dumbbell, folder, names, refused, run, status, stderr, stdout, text};

/// The folder of the schemes' pages.
fn pages() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemes")
}

/// The pages: name without its ending, and text.
fn all_pages() -> Vec<(String, String)> {
    let pages: Vec<_> = names(&pages())
        .iter()
        .filter_map(|name| name.strip_suffix(".md"))
        .map(|name| {
            let text = std::fs::read_to_string(pages().join(format!("{name}.md"))).expect("a page");
            (name.to_owned(), text)
        })
        .collect();
    assert!(pages.len() >= 15, "a page a scheme: {}", pages.len());
    pages
}

const FOLDER: &str = "docs/schemes/figures/";

/// The commands of a page that draw a figure, as arguments.
fn commands(page: &str) -> Vec<Vec<&str>> {
    let lines =
        page.lines().filter(|line| line.starts_with("firstflight race ") && line.contains(" --figure "));
    lines.map(|line| line.split_whitespace().skip(1).collect()).collect()
}

fn file_of<'a>(arguments: &[&'a str]) -> &'a str {
    let at = arguments.iter().position(|argument| *argument == "--figure").expect("--figure");
    arguments.get(at + 1).and_then(|file| file.strip_prefix(FOLDER)).expect("a file among the figures")
}

/// Returns the drawing itself. The description states the program's version and the hash of all options; a new option changes the
/// description without changing a line.
fn drawing(svg: &str) -> (&str, &str) {
    let (head, rest) = svg.split_once("<desc>").unwrap_or_default();
    (head, rest.split_once("</desc>").unwrap_or_default().1)
}

#[test]
fn the_figures_of_the_pages_are_what_their_commands_draw() {
    let out = folder("figures");
    let mut drawn = Vec::new();
    for (name, page) in all_pages() {
        for mut arguments in commands(&page) {
            let file = file_of(&arguments);
            let made = out.join(file);
            let at = arguments.iter().position(|argument| *argument == "--figure").expect("--figure") + 1;
            arguments[at] = text(&made);
            let output = run(&arguments);
            assert_eq!(status(&output), 0, "{name}: {}", stderr(&output));
            let committed = std::fs::read_to_string(pages().join("figures").join(file)).unwrap_or_default();
            let made = std::fs::read_to_string(&made).expect("a figure");
            assert!(
                drawing(&made) == drawing(&committed),
                "{file} of {name}.md is out of date; `make figures` draws it again"
            );
            assert!(made.len() <= 150_000, "{file} has {} bytes", made.len());
            drawn.push(file.to_owned());
        }
    }
    drawn.sort();
    assert_eq!(drawn, names(&pages().join("figures")), "every figure has a command in a page, and only one");
}

#[test]
fn every_page_has_the_parts_that_a_page_has() {
    for (name, page) in all_pages() {
        for part in [
            "**Idea.**",
            "**Source",
            "```mermaid",
            "**Life of one flow",
            "**Known weaknesses.**",
            "**Ambiguities and our reading.**",
        ] {
            assert!(page.contains(part), "{name}.md lacks {part}");
        }
        let figures = commands(&page);
        assert!(!figures.is_empty(), "{name}.md has no figure");
        for arguments in figures {
            let shown = format!("](figures/{})", file_of(&arguments));
            assert!(page.contains(&shown), "{name}.md makes a figure that it does not show: {shown}");
        }
    }
}

#[test]
fn a_figure_that_cannot_be_is_refused_before_anything_runs() {
    let place = folder("figure-refusals");
    let file = place.join("race.svg");
    let said = refused(&["race", "--figure", text(&file)]);
    assert!(said.contains("--figure") && said.contains("up to 6"), "{said}");
    let said = refused(&["race", "--schemes", "slow-start", "--figure-until", "3s"]);
    assert!(said.contains("--figure"), "{said}");
    let one = ["race", "--schemes", "slow-start", "--figure", text(&file), "--figure-until"];
    for until in ["0s", "-1s", "soon", "1e400s"] {
        let said = refused(&[&one[..], &[until]].concat());
        assert!(said.contains("--figure-until"), "{said}");
    }
    refused(&["race", "--schemes", "slow-start", "--figure", text(&place)]);
    refused(&["race", "--schemes", "slow-start", "--figure", text(&file), "--report", text(&file)]);
    assert_eq!(names(&place), [""; 0]);
}

#[test]
fn script_figure_has_one_panel_per_flow_on_a_shared_time_axis() {
    let file = folder("figure-of-a-script").join("flows.svg");
    let path = ["race", "--rate", "20mbit", "--rtt", "40ms", "--duration", "4s", "--json"];
    let flows = ["--flow", "scheme=hystart,end=3s", "--flow", "scheme=paced,start=1s,end=3s"];
    let race = [&path[..], &flows].concat();
    let output = run(&[&race[..], &["--figure", text(&file)]].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert_eq!(stdout(&output), stdout(&run(&race)), "drawing changes no row");
    let figure = std::fs::read_to_string(&file).expect("a figure");
    for words in ["hystart, flow 0", "paced, flow 1", "seconds since the beginning of the run"] {
        assert!(figure.contains(words), "{words}");
    }
    // Three flows of each of three schemes are too many.
    let many = ["--flow", "start=0s", "--flow", "start=1s", "--flow", "start=2s"];
    let schemes = ["--schemes", "slow-start,paced,hystart", "--figure", text(&file)];
    assert!(refused(&[&path[..], &many, &schemes].concat()).contains("9 rows are too many"));
}

#[test]
fn population_figure_and_report_show_the_first_measured_flow_of_each_row() {
    let place = folder("figure-of-a-population");
    let (figure, report) = (place.join("flows.svg"), place.join("flows.html"));
    let race = [&dumbbell("12")[..], &["--mixed", "--json"]].concat();
    let output = run(&[&race[..], &["--figure", text(&figure), "--report", text(&report)]].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert_eq!(stdout(&output), stdout(&run(&race)), "drawing changes no row");
    let flows = stdout(&run(&[&race[..], &["--each-flow"]].concat()));
    let flows: Vec<serde_json::Value> =
        flows.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    let (figure, report) = [figure, report].map(|file| std::fs::read_to_string(file).expect("a file")).into();
    let rows: Vec<serde_json::Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_eq!(rows.len(), 4);
    for row in &rows {
        let is_first = |flow: &&serde_json::Value| {
            flow["scheme"] == row["scheme"]
                && flow["population"] == row["population"]
                && flow["measured"] == 1
        };
        let first = flows.iter().find(is_first).expect("a measured flow");
        let scheme = row["scheme"].as_str().expect("a scheme");
        let mixed = if row["population"] == "mixed" { ", mixed" } else { "" };
        let label = format!("{scheme}, flow {}{mixed}", first["flow"]);
        assert!(figure.contains(&label) && report.contains(&label), "{label}");
    }
    assert!(
        figure.contains("seconds since the first data packet") && report.contains("dumbbell of 10 hosts")
    );
    let many = ["--schemes", "slow-start,paced,hystart,vegas", "--mixed", "--figure", "x.svg"];
    let path = dumbbell("12");
    let (unlisted, _) = path.split_last_chunk::<2>().expect("schemes");
    assert!(refused(&[unlisted, &many].concat()).contains("8 rows are too many"));
}

#[test]
fn a_script_has_a_report_with_a_panel_for_each_flow() {
    let file = folder("report-of-a-script").join("flows.html");
    let path = ["race", "--rate", "20mbit", "--rtt", "40ms", "--duration", "4s", "--each-flow"];
    let flows = ["--flow", "scheme=hystart,end=3s", "--flow", "scheme=paced,start=1s,end=3s"];
    let output = run(&[&path[..], &flows, &["--report", text(&file)]].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let report = std::fs::read_to_string(&file).expect("a report");
    for words in ["hystart, flow 0", "paced, flow 1", "id=\"flow-1\"", "<dt>completed in</dt>"] {
        assert!(report.contains(words), "{words}");
    }
}

#[test]
fn the_ending_chooses_the_format_and_the_options_the_look() {
    let place = folder("figure-formats");
    let race =
        ["race", "--rate", "10mbit", "--rtt", "20ms", "--size", "50kB", "--schemes", "slow-start,hystart++"];
    let draw = |name: &str, options: &[&str]| {
        let file = place.join(name);
        let output = run(&[&race[..], &["--figure", text(&file)], options].concat());
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        std::fs::read(&file).expect("a figure")
    };
    let sized = ["--figure-overlay", "--figure-size", "600x400", "--figure-font", "14"];
    let svg = String::from_utf8(draw("o.svg", &sized)).expect("text");
    assert!(svg.contains("width=\"600\" height=\"400\"") && svg.matches("window, packets").count() == 1);
    let png = draw("o.png", &sized);
    assert!(png.starts_with(b"\x89PNG"));
    assert_eq!(png[16..24], [0, 0, 2, 88, 0, 0, 1, 144], "600 x 400 pixels");
    assert!(draw("o.pdf", &[]).starts_with(b"%PDF"));
}

#[test]
fn a_look_that_cannot_be_is_refused_in_one_line() {
    let place = folder("figure-looks");
    let file = place.join("race.svg");
    for (option, values) in [
        ("--figure-size", &["600", "x", "600x", "99x400", "600x10001", "1e400x5", "200x400", "-1x5"][..]),
        ("--figure-font", &["3", "big", "101", "NaN", "90"]),
    ] {
        for value in values {
            let said = refused(&["race", "--schemes", "slow-start", "--figure", text(&file), option, value]);
            assert!(said.starts_with(&format!("error: {option}: ")), "{value}: {said}");
        }
        let said = refused(&["race", "--schemes", "slow-start", option, "600x400"]);
        assert!(said.contains("--figure <FILE>"), "{said}");
    }
    let said = refused(&["race", "--schemes", "slow-start", "--figure", text(&place.join("race.eps"))]);
    assert!(said.contains("`.svg` or `.png` or `.pdf`"), "{said}");
    let low = ["race", "--size", "50kB", "--schemes", "slow-start", "--figure-size", "600x150"];
    let output = run(&[&low[..], &["--figure", text(&file)]].concat());
    assert!(status(&output) != 0 && stderr(&output).contains("is the minimum"), "{}", stderr(&output));
    assert_eq!(names(&place), [""; 0]);
}
