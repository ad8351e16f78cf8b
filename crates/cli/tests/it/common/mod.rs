//! Runs the built command.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The command, with nobody's terminal settings.
pub(crate) fn firstflight() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_firstflight"));
    command.stdin(Stdio::null()).env_remove("NO_COLOR").env_remove("COLUMNS");
    command
}

/// What it says to `arguments`.
pub(crate) fn run(arguments: &[&str]) -> Output {
    firstflight().args(arguments).output().expect("the command runs")
}

/// Its exit status.
pub(crate) fn status(output: &Output) -> i32 {
    output.status.code().expect("it ends by itself, not by a signal")
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

/// Expects a refusal: exit 2, nothing on standard output, and on standard error one `error:` line, with nothing
/// behind it but the place. Gives the line.
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

/// An empty folder of this test's own.
pub(crate) fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        std::fs::remove_dir_all(&path).expect("the folder of an earlier run goes away");
    }
    std::fs::create_dir_all(&path).expect("a folder");
    path
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

/// A path as an argument.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}
