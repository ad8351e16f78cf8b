//! The pages of docs/evidence, the README's table and picture, and the numbers of pages: each lists every scheme of the registry, and is
//! what its source gives.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use firstflight::registry;
use firstflight_scenario::presets::presets;
use serde_json::Value;

use crate::common::{names, run, status, stderr, stdout};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Runs a script of bench/evidence. Returns `None` if there is no Python that can run it.
fn python(script: &str, arguments: &[&str]) -> Option<Output> {
    // The scripts read TOML, by a module of Python 3.11.
    let version = Command::new("python3").args(["-c", "import tomllib"]).output();
    if !version.is_ok_and(|output| output.status.success()) {
        println!("skipped: bench/evidence/{script} needs python3, version 3.11 or later");
        return None;
    }
    let mut command = Command::new("python3");
    command.arg("-B").arg(root().join("bench/evidence").join(script)).args(arguments);
    Some(command.output().expect("python3 runs"))
}

/// Returns the words in code spans of a text.
fn code(text: &str) -> BTreeSet<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Returns the paragraph of a page that begins with these words, or an empty text.
fn paragraph<'a>(page: &'a str, begin: &str) -> &'a str {
    page.split("\n\n").find(|paragraph| paragraph.starts_with(begin)).unwrap_or_default()
}

/// Returns the schemes of the registry that `listed` lacks.
fn missing(listed: &BTreeSet<&str>) -> Vec<&'static str> {
    registry::schemes().iter().map(|entry| entry.name).filter(|name| !listed.contains(name)).collect()
}

#[test]
fn the_readme_lists_every_scheme() {
    let readme = page("README.md");
    let section = readme.split_once("\n## Schemes\n").expect("a section").1;
    let rows: String = section.lines().filter(|line| line.starts_with("| `")).collect();
    assert!(missing(&code(&rows)).is_empty(), "README.md has no row of {:?}", missing(&code(&rows)));
    assert!(readme.contains("](docs/images/schemes.svg)"), "README.md shows the picture");
}

#[test]
fn the_picture_of_the_readme_has_every_scheme_and_is_what_its_command_draws() {
    let picture = page("docs/images/schemes.svg");
    for entry in registry::schemes() {
        assert!(picture.contains(&format!(">{}</text>", entry.name)), "the picture lacks {}", entry.name);
    }
    assert!(picture.contains("width=\"900\" height=\"400\""), "its size");
    let Some(output) = python("picture.py", &[env!("CARGO_BIN_EXE_firstflight"), "-"]) else { return };
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert!(
        stdout(&output) == picture,
        "docs/images/schemes.svg is out of date; `make figures` draws it again"
    );
}

#[test]
fn the_picture_of_the_named_paths_has_every_path_and_is_what_its_data_gives() {
    let picture = page("docs/images/presets.svg");
    for preset in presets() {
        assert!(picture.contains(&format!(">{}</text>", preset.name)), "the picture lacks {}", preset.name);
    }
    let Some(output) = python("presets.py", &["--draw", "-"]) else { return };
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert!(
        stdout(&output) == picture,
        "docs/images/presets.svg is out of date; `bench/evidence/presets.py --draw` draws it again"
    );
}

#[test]
fn every_page_of_evidence_is_what_its_data_gives() {
    let Some(output) = python("render.py", &["--check"]) else { return };
    assert_eq!(status(&output), 0, "{}{}", stdout(&output), stderr(&output));
}

/// A page that lists schemes has each scheme of the registry among them, or names it as absent, with the reason.
#[test]
fn a_page_of_evidence_has_every_scheme_or_says_why_it_does_not() {
    let mut pages = 0;
    for name in names(&root().join("docs/evidence")) {
        let text = page(&format!("docs/evidence/{name}"));
        let listed = paragraph(&text, "**Schemes:**");
        if listed.is_empty() {
            continue;
        }
        pages += 1;
        let absent = paragraph(&text, "**Absent:**");
        let (listed, absent) = (code(listed), code(absent));
        let unnamed: Vec<_> = missing(&listed).into_iter().filter(|name| !absent.contains(name)).collect();
        assert!(
            unnamed.is_empty() || absent.contains("others"),
            "docs/evidence/{name} has neither a result of {unnamed:?} nor a reason"
        );
        let both: Vec<_> = listed.intersection(&absent).collect();
        assert!(both.is_empty(), "docs/evidence/{name} has results of {both:?}, which it names as absent");
    }
    assert!(pages >= 4, "{pages} pages list schemes");
    let costs = page("docs/evidence/costs.md");
    let rows: String = costs.lines().filter(|line| line.starts_with("| `")).collect();
    assert!(missing(&code(&rows)).is_empty(), "costs.md lacks {:?}", missing(&code(&rows)));
}

/// Returns the number of claims of these papers, and of those with each status. Own claims do not count.
fn claims(papers: &[&str]) -> (usize, [usize; 4]) {
    let all: Vec<Value> = papers
        .iter()
        .flat_map(|paper| {
            let text = page(&format!("golden/papers/{paper}.json"));
            serde_json::from_str::<Vec<Value>>(&text).expect("a list of claims")
        })
        .collect();
    let all = || all.iter().filter(|claim| claim["own"] != true);
    let of = |status: &str| all().filter(|claim| claim["status"] == status).count();
    (all().count(), ["holds", "does_not_hold", "not_testable", "unsettled"].map(of))
}

#[test]
fn the_numbers_of_pages_are_those_of_their_sources() {
    let (all, [hold, fail, _, unsettled]) =
        claims(&["adaptive-start", "hystart", "past", "quick-start", "rbp"]);
    let (cases, [hold_cases, fail_cases, untested_cases, _]) = claims(&["bbr"]);
    let rows = stdout(&run(&["paper", "list", "--json"])).lines().count();
    let scripts = names(&root().join("tests/packetdrill/scripts"));
    let schemes = registry::schemes().len();
    let scripts = scripts.iter().filter_map(|name| name.strip_suffix(".pkt")).count();
    for (file, sentence) in [
        ("README.md", format!("{hold} of {all} claims of five papers hold")),
        ("README.md", format!("{fail} do not, and {unsettled} are unsettled")),
        ("README.md", format!("{hold_cases} of {cases} claims of BBR's test cases")),
        ("docs/guide/papers.md", format!("compares {all} claims of the five papers")),
        ("docs/guide/papers.md", format!("{hold} hold, {fail} do not, {unsettled} are unsettled")),
        ("docs/guide/papers.md", format!("Of {cases} claims of the test cases")),
        ("docs/guide/papers.md", format!("{hold_cases} hold, {fail_cases} do not, and {untested_cases} is")),
        ("docs/guide/papers.md", format!("{rows} figures, tables, sentences")),
        ("docs/evidence/linux.md", format!("all {scripts} pass here")),
        ("docs/decisions/measure.md", format!("({} of {schemes} schemes, not", schemes - 1)),
    ] {
        let words = page(file).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains(&sentence), "{file} does not say: {sentence}");
    }
}

/// Measured figures are in docs/evidence. The words are those with which pages report a measurement.
#[test]
fn pages_for_use_hold_no_tables_of_measurements() {
    for folder in ["docs/guide", "docs/reference"] {
        for name in names(&root().join(folder)) {
            let text = page(&format!("{folder}/{name}"));
            for words in ["virtual machine with Linux", "two cores of an idle", "medians of seven"] {
                assert!(!text.contains(words), "{folder}/{name} has a measurement: {words}");
            }
        }
    }
}
