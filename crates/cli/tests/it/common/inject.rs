//! The library of `tests/inject.c`, which disturbs a command at a call on files.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

/// The disturbances of a call: a signal, an I/O error, or a disk that is full from then on.
pub(crate) const DISTURBANCES: [&str; 5] = ["INT", "EIO", "TERM", "ENOSPC", "KILL"];

/// Whether every disturbance is tried at every call.
pub(crate) fn is_large() -> bool {
    std::env::var_os("FIRSTFLIGHT_INJECT").is_some()
}

/// Builds the library; `None`, and a message, if there is no C compiler.
pub(crate) fn library() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let build = || {
        let library =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(concat!("inject-", env!("CARGO_CRATE_NAME"), ".so"));
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/inject.c");
        let arguments = ["-shared", "-fPIC", "-O1", source, "-ldl", "-o"];
        let built = Command::new("cc").args(arguments).arg(&library).output().ok()?;
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        Some(library)
    };
    let library = BUILT.get_or_init(build).as_deref();
    if library.is_none() {
        println!("skipped: disturbed commands: there is no C compiler");
    }
    library
}

/// Runs the command with a disturbance at a call on files of the folder. Also returns the number of calls.
pub(crate) fn disturbed(
    mut command: Command,
    folder: &Path,
    (at, what): (usize, &str),
) -> Option<(Output, usize)> {
    let count = folder.with_extension("calls");
    std::fs::write(&count, "").expect("a file");
    command.env("LD_PRELOAD", library()?).env("INJECT_FOLDER", folder).env("INJECT_COUNT", &count);
    let output = command.env("INJECT_AT", at.to_string()).env("INJECT_WHAT", what).output();
    Some((output.expect("the command runs"), std::fs::read(&count).expect("a file").len()))
}
