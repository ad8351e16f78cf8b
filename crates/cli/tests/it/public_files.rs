//! The files by which the public meets the repository: workflows run what people run, and versions agree.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::common::names;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn file(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the commands of a workflow's steps.
fn commands(workflow: &str) -> Vec<String> {
    let lines = workflow.lines().map(|line| line.trim_start().trim_start_matches("- "));
    lines.filter_map(|line| line.strip_prefix("run:")).map(|command| command.trim().to_owned()).collect()
}

/// Returns whether a command is a target of the Makefile, or a script of `.ci` with its arguments.
fn is_of_the_repository(command: &str, makefile: &str) -> bool {
    let words: Vec<&str> = command.split(' ').collect();
    match words[..] {
        ["make", target] => makefile.lines().any(|line| line == format!("{target}:")),
        [script, ..] if script.starts_with(".ci/") => {
            let metadata = fs::metadata(root().join(script));
            metadata.is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
        }
        _ => false,
    }
}

#[test]
fn every_step_of_a_workflow_is_a_command_that_the_repository_has() {
    let makefile = file("Makefile");
    let mut count = 0;
    for name in names(&root().join(".github/workflows")) {
        let workflow = file(&format!(".github/workflows/{name}"));
        for command in commands(&workflow) {
            assert!(
                is_of_the_repository(&command, &makefile),
                "{name}: `{command}` is not in the repository"
            );
            count += 1;
        }
        // An action is code of others: a hash names it, not a tag that may move.
        for action in workflow.lines().filter_map(|line| line.trim_start().strip_prefix("- uses: ")) {
            let hash = action.split(['@', ' ']).nth(1).unwrap_or_default();
            let is_hash = hash.len() == 40 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
            assert!(is_hash, "{name}: {action} has no hash of a commit");
        }
    }
    assert!(count >= 5, "{count} steps");
    assert_eq!(commands("steps:\n  - run: make test\n  - name: x\n    run: |\n"), ["make test", "|"]);
    for wrong in ["make nothing", "|", "cargo test", ".ci/nothing", ".ci/readers.txt", "make test && true"] {
        assert!(!is_of_the_repository(wrong, &makefile), "{wrong}");
    }
}

#[test]
fn changelog_citation_and_packages_have_one_version() {
    let version = env!("CARGO_PKG_VERSION");
    let changelog = file("CHANGELOG.md");
    let newest = changelog.lines().find_map(|line| line.strip_prefix("## ")).expect("a release");
    assert_eq!(newest.split(' ').next(), Some(version), "CHANGELOG.md begins with {newest}");
    assert!(file("CITATION.cff").lines().any(|line| line == format!("version: {version}")), "CITATION.cff");
    let releases: Vec<&str> = changelog.split("\n## ").skip(1).collect();
    for release in releases {
        let name = release.lines().next().unwrap_or_default();
        assert!(
            release.contains("\n### Numbers that changed\n"),
            "{name} does not say which numbers changed"
        );
    }
}

/// Returns the rows of a Markdown table whose first column is headed `head`, without the two lines of the head.
fn rows_below<'a>(text: &'a str, head: &str) -> Vec<&'a str> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with(&format!("| {head} |")));
    lines.by_ref().take(2).for_each(drop);
    lines.take_while(|line| line.starts_with('|')).collect()
}

#[test]
fn the_page_of_the_promise_has_the_minimum_rust_of_each_published_crate() {
    let published = file(".ci/crates");
    let mut expected: Vec<(String, String)> = Vec::new();
    for manifest in ["library/core", "stack/trace", "field/quic", "field/quinn", "field/noq"] {
        let manifest: toml::Table = file(&format!("crates/{manifest}/Cargo.toml")).parse().expect("TOML");
        let text = |key: &str| manifest["package"][key].as_str().expect("a text").to_owned();
        expected.push((text("name"), text("rust-version")));
    }
    let mut names: Vec<&str> = expected.iter().map(|(name, _)| name.as_str()).collect();
    let mut listed: Vec<&str> = published.lines().collect();
    names.sort_unstable();
    listed.sort_unstable();
    assert_eq!(names, listed, ".ci/crates");
    let page = file("docs/reference/stability.md");
    let mut stated: Vec<(String, String)> = Vec::new();
    for row in rows_below(&page, "Crates").iter().filter(|row| row.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let version = cells[1].split(',').next().unwrap_or_default();
        let crates = cells[0].split(", ").map(|name| name.trim_matches('`').to_owned());
        stated.extend(crates.map(|name| (name, version.to_owned())));
    }
    stated.sort();
    expected.sort();
    assert_eq!(stated, expected);
}

#[test]
fn readme_and_guide_name_the_same_calls_of_a_packet_host() {
    let (readme, guide) = (file("crates/field/quic/README.md"), file("docs/guide/embedding.md"));
    let rows = rows_below(&readme, "When");
    assert!(rows.len() >= 8, "{rows:?}");
    assert_eq!(rows, rows_below(&guide, "When"));
}
