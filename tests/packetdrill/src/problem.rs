//! The reasons why a script did not pass.

use std::fmt;

/// The reason why a script did not pass, and its line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// The line of the script, counted from one.
    pub line: usize,
    /// The kind of problem.
    pub kind: Kind,
    /// The description, in one line. For a mismatch of packets, one line for each packet follows.
    pub message: String,
}

/// The kinds of problems.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The endpoint did not do what the script expects.
    Mismatch,
    /// The script uses a feature that is not supported here.
    Unsupported,
    /// The script has a syntax error.
    Unreadable,
}

impl Problem {
    pub(crate) fn mismatch(line: usize, message: impl fmt::Display) -> Self {
        Self::new(line, Kind::Mismatch, message)
    }

    pub(crate) fn unsupported(line: usize, construct: impl fmt::Display) -> Self {
        Self::new(line, Kind::Unsupported, construct)
    }

    pub(crate) fn unreadable(line: usize, message: impl fmt::Display) -> Self {
        Self::new(line, Kind::Unreadable, message)
    }

    fn new(line: usize, kind: Kind, message: impl fmt::Display) -> Self {
        Self { line, kind, message: message.to_string() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Mismatch => "mismatch",
            Kind::Unsupported => "not supported",
            Kind::Unreadable => "unreadable",
        };
        write!(f, "{}: {kind}: {}", self.line, self.message)
    }
}
