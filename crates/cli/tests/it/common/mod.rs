//! Runs the built command.

mod command;
#[cfg(target_os = "linux")]
pub(crate) mod inject;

use std::path::Path;
use std::process::Output;

pub(crate) use command::{firstflight, folder, status, stderr, stdout, text};

/// Returns the output of the command with `arguments`.
pub(crate) fn run(arguments: &[&str]) -> Output {
    firstflight().args(arguments).output().expect("the command runs")
}

/// Asserts a refusal: exit 2, nothing on standard output, and on standard error one `error:` line, followed only by the place. Returns the
/// line.
pub(crate) fn refused(arguments: &[&str]) -> String {
    let output = run(arguments);
    let err = stderr(&output);
    assert_eq!(status(&output), 2, "{arguments:?} said {err}");
    assert_eq!(stdout(&output), "", "{arguments:?}");
    let mut lines = err.lines();
    let first = lines.next().unwrap_or_default().to_owned();
    assert!(first.starts_with("error: "), "{arguments:?} said {err}");
    assert!(
        lines.all(|line| line.starts_with("  | ") || line.starts_with(" --> ")),
        "{arguments:?} said {err}"
    );
    first
}

/// The names in a folder, sorted.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Returns a race of two schemes among this many flows of random sizes on a dumbbell.
pub(crate) fn dumbbell(flows: &'static str) -> Vec<&'static str> {
    let path = ["race", "--rate", "20mbit", "--rtt", "40ms", "--topology", "dumbbell:hosts=10"];
    let sizes =
        ["--flows", flows, "--size", "50p", "--sizes", "exponential", "--schemes", "slow-start,paced"];
    [&path[..], &sizes].concat()
}
