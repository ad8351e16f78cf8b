//! The pages that one reads first: every block of commands runs, and prints the block of output that follows it.
#![cfg(unix)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{folder, status, stderr, stdout, text};

const PROGRAM: &str = env!("CARGO_BIN_EXE_firstflight");

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// A block of commands, and the blocks of output that follow it before the next commands.
struct Step {
    commands: String,
    outputs: Vec<String>,
}

/// Returns the steps of a page.
fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut block: Option<(&str, String)> = None;
    for line in page.lines() {
        match (&mut block, line.strip_prefix("```")) {
            (None, Some(language)) => block = Some((language, String::new())),
            (Some((_, inside)), None) => inside.extend([line, "\n"]),
            (Some(_), Some(_)) => {
                let (language, inside) = block.take().expect("a block");
                match (language, steps.last_mut()) {
                    ("sh", _) => steps.push(Step { commands: inside, outputs: Vec::new() }),
                    ("", Some(step)) => step.outputs.push(inside),
                    (other, _) => panic!("a block of `{other}` is neither commands nor their output"),
                }
            }
            (None, None) => {}
        }
    }
    steps
}

/// Returns whether the lines of `said` are those of `wanted`, in which `…` represents any lines.
fn is_like(said: &[&str], wanted: &[&str]) -> bool {
    match wanted.split_first() {
        None => said.is_empty(),
        Some((&"…", rest)) => (0..=said.len()).any(|from| is_like(&said[from..], rest)),
        Some((first, rest)) => {
            said.split_first().is_some_and(|(line, more)| line == first && is_like(more, rest))
        }
    }
}

/// Runs the blocks of a page in a folder like the clone's: with the built programs, and with a `cargo` that builds in the clone. The page has
/// so many blocks of commands and of output, or more.
fn run(page: &str, commands: usize, outputs: usize) {
    let page_text = fs::read_to_string(root().join(page)).expect("a page");
    let steps = steps(&page_text);
    assert!(steps.len() >= commands, "{page}: {} blocks of commands", steps.len());
    let place = folder(&page.replace('/', "-"));
    let programs = Path::new(PROGRAM).parent().expect("a folder");
    for inside in ["bin", "target"] {
        fs::create_dir(place.join(inside)).expect("a folder");
    }
    std::os::unix::fs::symlink(programs, place.join("target/debug")).expect("a link");
    let cargo = place.join("bin/cargo");
    let own = programs.join("own-scheme");
    let script = format!(
        "#!/bin/sh\n[ -x '{}' ] || {{ cd '{}' && exec '{}' \"$@\"; }}\n",
        text(&own),
        text(root()),
        env!("CARGO")
    );
    fs::write(&cargo, script).expect("a script");
    let mode = Command::new("chmod").arg("+x").arg(&cargo).status().expect("chmod runs");
    assert!(mode.success());
    let path = format!(
        "{}:{}:{}",
        text(&place.join("bin")),
        text(programs),
        std::env::var("PATH").unwrap_or_default()
    );

    for step in &steps {
        let output = Command::new("sh")
            .args(["-e", "-c", &step.commands])
            .current_dir(&place)
            .env("PATH", &path)
            .env("COLUMNS", "100")
            .stdin(Stdio::null())
            .output()
            .expect("sh runs");
        let (out, err) = (stdout(&output), stderr(&output));
        assert_eq!(status(&output), 0, "{page}: {}{out}{err}", step.commands);
        let said: Vec<&str> = out.lines().collect();
        for wanted in &step.outputs {
            assert!(is_like(&said, &wanted.lines().collect::<Vec<_>>()), "{page}: {}{out}", step.commands);
        }
    }
    let shown: usize = steps.iter().map(|step| step.outputs.len()).sum();
    assert!(shown >= outputs, "{page}: {shown} blocks of output");
}

#[test]
fn every_block_of_the_tutorial_runs_and_prints_what_the_page_shows() {
    let page = fs::read_to_string(root().join("docs/guide/tutorial.md")).expect("a page");
    let words = page.split_whitespace().count();
    assert!(words <= 1500, "{words} words");
    run("docs/guide/tutorial.md", 12, 5);
}

#[test]
fn the_first_minute_runs_and_prints_what_the_page_shows() {
    run("docs/start.md", 4, 1);
}

#[test]
fn every_answer_runs_and_prints_what_the_page_shows() {
    run("docs/faq.md", 20, 20);
}

#[test]
fn lines_that_are_left_out_may_be_none_or_many() {
    assert!(is_like(&["a", "b"], &["a", "b"]) && is_like(&["a", "b"], &["…", "a", "…", "b", "…"]));
    assert!(is_like(&["a", "x", "y", "b"], &["a", "…", "b"]) && !is_like(&["a", "b", "c"], &["a", "b"]));
}
