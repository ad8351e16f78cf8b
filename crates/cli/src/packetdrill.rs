//! `firstflight packetdrill FILE.pkt…`: runs packetdrill scripts against the TCP endpoint.

use std::path::{Path, PathBuf};

use clap::Args;
use firstflight_packetdrill::{Kind, Problem};
use firstflight_scenario::read_text;

use crate::excerpt;
use crate::failure::{Code, Failure};
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct Scripts {
    /// The scripts, run in this order; each gets a line with PASS, FAIL, UNSUPPORTED or UNREADABLE.
    #[arg(required = true, value_name = "FILE.pkt")]
    pub(crate) files: Vec<PathBuf>,
    /// How early or late an event may be, in microseconds, for all scripts; without it each script says, or 4000.
    #[arg(long = "tolerance_usecs", value_name = "USECS", value_parser = clap::value_parser!(u32).range(1..=1_000_000_000))]
    pub(crate) tolerance_usecs: Option<u32>,
}

/// Runs the scripts in order. Prints a line for each, and both packets of a mismatch. Fails with the worst outcome of the scripts.
pub(crate) fn run(scripts: &Scripts) -> Result<(), Failure> {
    let files = &scripts.files;
    let mut failed = 0;
    let mut unsupported = 0;
    for file in files {
        let problem = run_one(file, scripts.tolerance_usecs);
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

fn run_one(file: &Path, tolerance_usecs: Option<u32>) -> Option<Problem> {
    let unreadable = |message: String| Problem { line: 0, kind: Kind::Unreadable, message };
    match read_text(file) {
        Err(error) => Some(unreadable(format!("cannot be read: {error}"))),
        Ok(text) => firstflight_packetdrill::run(&text, tolerance_usecs).err(),
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
        // If packets do not match, both are shown, each on its own line.
        Kind::Mismatch => problem.message.lines().map(excerpt::message).collect::<Vec<_>>().join("\n"),
        Kind::Unsupported | Kind::Unreadable => excerpt::message(&problem.message),
    };
    format!("{word} {name}{place}: {message}\n")
}
