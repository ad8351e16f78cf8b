//! The keys of a path: one table with a row for each key.
//!
//! The command line, scenario files, sweeps, the canonical text and its hash, the title of a result, exclusions and errors use the table.
//! No other place lists the keys. To add a key, write a row in one of the modules below, the code that uses its value, and a field of
//! [`Scenario`]. A test over the whole table finds typos in rows.

mod ends;
mod packets;
mod path;
mod presets;
mod read;
mod row;
mod runs;
mod traces;

pub(crate) use path::LIMIT_AND_DURATION;
pub use row::{Exclusion, Heading, Key, Need};

use crate::options::Options;
use crate::quantity::{self, QuantityError};
use crate::scenario::Scenario;
use crate::suggest::{OPTIONS, meant};

/// Returns all keys, in the order of the help.
pub fn keys() -> impl Iterator<Item = &'static Key> + Clone {
    let of_the_path = presets::KEYS.iter().chain(path::KEYS).chain(traces::KEYS).chain(packets::KEYS);
    of_the_path.chain(ends::KEYS).chain(runs::KEYS)
}

/// Returns the names of all keys, in the order of the help.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    keys().map(|key| key.name)
}

/// Returns the key of this name.
pub fn key(name: &str) -> Option<&'static Key> {
    keys().find(|key| key.name == name)
}

/// Why a key could not be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// An unknown key.
    #[error("there is no option `{key}`; {hint}")]
    UnknownKey {
        /// The key found.
        key: String,
        /// The key to write instead, or the places that list all keys.
        hint: String,
    },
    /// A value that cannot be read.
    #[error("{key}: {error}")]
    Value {
        /// The key.
        key: &'static str,
        /// The fault.
        error: QuantityError,
    },
}

/// The places that list all keys.
pub(crate) const ALL: &str = "`firstflight race --help` and docs/reference/keys.md list all";

impl Options {
    /// Sets the key `name` from its text, as on the command line or in a TOML string.
    ///
    /// # Errors
    /// An unknown key, with what to write instead; a value that cannot be read, with what is allowed.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), OptionError> {
        let Some(key) = key(name) else {
            let hint = meant(name, OPTIONS, names()).unwrap_or_else(|| ALL.to_owned());
            return Err(OptionError::UnknownKey { key: quantity::in_a_line(name), hint });
        };
        (key.parse)(self, text).map_err(|error| OptionError::Value { key: key.name, error })?;
        self.remember(key.name, text);
        Ok(())
    }

    /// Returns the first key that was set although it does not apply to probe trains, and a line that says so. `None` if all set keys
    /// apply, or if no probing is set.
    pub fn not_of_trains(&self) -> Option<(&'static Key, String)> {
        let is_set = |key: &&Key| self.given(key.name).is_some_and(|text| !key.is_off(text));
        key("probe").as_ref().filter(|key| is_set(key))?;
        let key = keys().filter(|key| key.is_of_flows()).find(is_set)?;
        Some((key, format!("{}: it is of flows, and a probing sends trains", key.name)))
    }

    /// Returns `scenario` with the values set here. Copies only keys whose default does not depend on another key.
    pub(crate) fn over(&self, scenario: &Scenario) -> Scenario {
        let mut over = Self::of(self.registry);
        over.plain = scenario.clone();
        for key in keys() {
            // A text in `given` was read before, so it can be read again.
            let read = self.given(key.name).map(|text| (key.parse)(&mut over, text));
            debug_assert!(read.is_none_or(|read| read.is_ok()), "{}", key.name);
        }
        over.plain
    }
}

#[cfg(test)]
mod tests;
