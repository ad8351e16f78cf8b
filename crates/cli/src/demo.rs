//! `firstflight demo`: a first race, which needs no options and no files.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

/// The race of the demonstration: all schemes over the built-in path, and slow start with the recovery of RFC 6675.
const RACE: [&str; 3] = ["race", "--schemes", "all,slow-start:recovery=sack,as=slow-start-rfc6675"];

/// `firstflight demo`.
#[derive(Args, Debug)]
pub(crate) struct Demo {
    /// Write a report: one HTML file that opens offline.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

impl Demo {
    /// Returns the command line of the race that the demonstration is. It begins with the name of the program.
    pub(crate) fn race(&self, program: &str) -> Vec<OsString> {
        let mut words = vec![OsString::from(program)];
        words.extend(RACE.map(OsString::from));
        if let Some(file) = &self.report {
            words.extend(["--report".into(), file.clone().into_os_string()]);
        }
        words
    }
}
