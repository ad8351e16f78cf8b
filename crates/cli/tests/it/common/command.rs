//! The built command, its output, and folders for its files.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Returns the command, without any user's terminal settings.
pub(crate) fn firstflight() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_firstflight"));
    command.stdin(Stdio::null()).env_remove("NO_COLOR").env_remove("COLUMNS");
    command
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

/// Creates an empty folder that only this test uses.
pub(crate) fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if path.exists() {
        std::fs::remove_dir_all(&path).expect("the folder of an earlier run goes away");
    }
    std::fs::create_dir_all(&path).expect("a folder");
    path
}

/// A path as an argument.
pub(crate) fn text(path: &Path) -> &str {
    path.to_str().expect("UTF-8")
}
