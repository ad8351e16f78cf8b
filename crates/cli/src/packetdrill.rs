//! `firstflight packetdrill FILE.pkt…`: scripts against the TCP endpoint.

use std::path::{Path, PathBuf};

use firstflight_packetdrill::{Kind, Problem};
use firstflight_scenario::read_text;

use crate::excerpt;
use crate::failure::{Code, Failure};
use crate::output;

/// Runs the scripts in order and prints a line for each, with both packets of a mismatch. The error is the worst of the
/// scripts' outcomes.
pub(crate) fn run(files: &[PathBuf]) -> Result<(), Failure> {
    let mut failed = 0;
    let mut unsupported = 0;
    for file in files {
        let problem = run_one(file);
        match problem.as_ref().map(code) {
            Some(Code::Check) => failed += 1,
            Some(_) => unsupported += 1,
            None => {}
        }
        output::print(&line(file, problem.as_ref()))?;
    }
    let of = files.len();
    match (failed, unsupported) {
        (0, 0) => Ok(()),
        (_, 0) => Err(Failure::check(format!("{failed} of {of} scripts failed"))),
        (0, _) => {
            Err(Failure::usage(format!("{unsupported} of {of} scripts are not supported or not readable")))
        }
        (_, _) => Err(Failure::usage(format!(
            "{unsupported} of {of} scripts are not supported or not readable, {failed} failed"
        ))),
    }
}

fn run_one(file: &Path) -> Option<Problem> {
    let unreadable = |message: String| Problem { line: 0, kind: Kind::Unreadable, message };
    match read_text(file) {
        Err(error) => Some(unreadable(format!("cannot be read: {error}"))),
        Ok(text) => firstflight_packetdrill::run(&text).err(),
    }
}

fn code(problem: &Problem) -> Code {
    match problem.kind {
        Kind::Mismatch => Code::Check,
        Kind::Unsupported | Kind::Unreadable => Code::Usage,
    }
}

fn line(file: &Path, problem: Option<&Problem>) -> String {
    let name = excerpt::name(file);
    let Some(problem) = problem else { return format!("PASS {name}\n") };
    let word = match problem.kind {
        Kind::Mismatch => "FAIL",
        Kind::Unsupported => "UNSUPPORTED",
        Kind::Unreadable => "UNREADABLE",
    };
    let place = if problem.line == 0 { String::new() } else { format!(":{}", problem.line) };
    let message = match problem.kind {
        // Of packets both are shown, a line each.
        Kind::Mismatch => problem.message.lines().map(excerpt::message).collect::<Vec<_>>().join("\n"),
        Kind::Unsupported | Kind::Unreadable => excerpt::message(&problem.message),
    };
    format!("{word} {name}{place}: {message}\n")
}
