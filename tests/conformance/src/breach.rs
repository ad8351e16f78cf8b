//! Breaches of the laws.

use crate::law::Law;

/// The maximum number of breaches that are listed. Further breaches are only counted.
const LISTED: usize = 100;

/// A record of a trace that breaks a law.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Breach {
    /// The line number of the record in the trace.
    pub line: usize,
    /// The law that the record breaks.
    pub law: Law,
    /// The value in the trace, and the allowed values.
    pub what: String,
}

impl std::fmt::Display for Breach {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}: {}", self.line, self.law.name(), self.what)
    }
}

/// The breaches of a trace so far.
#[derive(Clone, Debug, Default)]
pub struct Breaches {
    listed: Vec<Breach>,
    more: u64,
    /// The line of the current record.
    pub(crate) line: usize,
}

impl Breaches {
    /// Returns the first hundred breaches, in order of discovery.
    pub fn listed(&self) -> &[Breach] {
        &self.listed
    }

    /// Returns the number of breaches.
    pub fn count(&self) -> u64 {
        self.listed.len() as u64 + self.more
    }

    /// Adds a breach of the current record.
    pub(crate) fn add(&mut self, law: Law, what: String) {
        self.add_at(self.line, law, what);
    }

    /// Adds a breach of the record on line `line`.
    pub(crate) fn add_at(&mut self, line: usize, law: Law, what: String) {
        if self.listed.len() < LISTED {
            self.listed.push(Breach { line, law, what });
        } else {
            self.more += 1;
        }
    }
}
