//! The entries of this crate.

use crate::avoidance;
use crate::registry::entry::{LawEntry, RestartEntry, SchemeEntry};
use crate::registry::needs::{Missing, Needs, Offers, check};
use crate::registry::parameter::Value;
use crate::registry::plain::PLAIN;
use crate::restart;
use crate::schemes;

/// The schemes, in the order in which lists show them.
static SCHEMES: [SchemeEntry; PLAIN.len() + 1] = {
    let mut all = [schemes::QUICK_START; PLAIN.len() + 1];
    let mut index = 0;
    while index < PLAIN.len() {
        all[index] = PLAIN[index];
        index += 1;
    }
    all
};

/// The restart policies.
static RESTARTS: &[RestartEntry] = &[
    restart::RFC5681,
    restart::SSR,
    restart::NSSR,
    restart::RBP_RATE,
    restart::RBP_CWND,
    restart::CWV,
    restart::QUICK_START_AGAIN,
];

/// The avoidance laws.
static LAWS: &[LawEntry] = &[
    avoidance::RENO,
    avoidance::RENO_ACKS,
    avoidance::CUBIC,
    avoidance::CUBIC_LINUX,
    avoidance::VEGAS,
    avoidance::VEGAS_LINUX,
    avoidance::WESTWOOD,
    avoidance::BBR,
    avoidance::BBR_CRUISE,
];

/// Returns every start-up scheme.
pub fn schemes() -> &'static [SchemeEntry] {
    &SCHEMES
}

/// Returns every restart policy.
pub fn restarts() -> &'static [RestartEntry] {
    RESTARTS
}

/// Returns every avoidance law.
pub fn laws() -> &'static [LawEntry] {
    LAWS
}

/// Returns the start-up scheme of this name; `None` if there is none.
pub fn scheme(name: &str) -> Option<&'static SchemeEntry> {
    SCHEMES.iter().find(|entry| entry.name == name)
}

/// Returns the restart policy of this name; `None` if there is none.
pub fn restart(name: &str) -> Option<&'static RestartEntry> {
    RESTARTS.iter().find(|entry| entry.name == name)
}

/// Returns the avoidance law of this name; `None` if there is none.
pub fn law(name: &str) -> Option<&'static LawEntry> {
    LAWS.iter().find(|entry| entry.name == name)
}

impl SchemeEntry {
    /// Returns the needs of the scheme with these settings. A scheme built around another also has the needs of the inner scheme.
    pub fn needs_with(&self, settings: &[(&str, Value)]) -> Needs {
        let around = schemes::AROUND;
        let inside = settings.iter().find(|(name, _)| *name == around && self.parameter(around).is_some());
        match inside {
            Some((_, Value::Word(inside))) => {
                scheme(inside).map_or(self.needs, |entry| self.needs.and(entry.needs))
            }
            _ => self.needs,
        }
    }

    /// Checks that a host can run this scheme with these settings.
    ///
    /// # Errors
    /// Returns the first ability that the scheme needs and the host does not have.
    pub fn check(&self, settings: &[(&str, Value)], offers: Offers) -> Result<(), Missing> {
        check(self.name, self.needs_with(settings), offers)
    }
}
