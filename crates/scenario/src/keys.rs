//! The keys of a path: one table with a row for each key.
//!
//! The command line, scenario files, sweeps, the canonical text and its hash, the title of a result, exclusions and errors
//! read the table. No other place lists the keys. A new key is a row here, the code that uses its value, and a field of
//! [`Scenario`]. A test over the whole table finds typos in a row.

mod ends;
mod path;
mod read;
mod runs;

pub(crate) use path::LIMIT_AND_DURATION;

use crate::kind::Kind;
use crate::options::Options;
use crate::quantity::{self, QuantityError};
use crate::scenario::Scenario;
use crate::words::closest;

/// A key of a path: `--rate` on the command line, `rate` in a scenario file.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The name, without leading dashes.
    pub name: &'static str,
    /// The heading of the help under which the key is listed.
    pub heading: Heading,
    /// The kind of the key's value.
    pub kind: Kind,
    /// The placeholder of the value in the help; empty for a flag.
    pub placeholder: &'static str,
    /// The meaning of the key in one line that begins with a capital and ends without a full stop. The help adds the words
    /// of a [`Kind::Word`].
    pub help: &'static str,
    /// The default on a path of the user's own.
    pub default: Option<&'static str>,
    /// The default on the built-in path, if it differs.
    pub built_in: Option<&'static str>,
    /// The default in words, for the help, where `default` and `built_in` do not tell all.
    pub unset: &'static str,
    /// Further values of the key, as [`Key::show`] writes them.
    pub examples: &'static [&'static str],
    /// The key that must be given together with this one.
    pub needs: Option<Need>,
    /// Keys that may not be given together with this one.
    pub excludes: &'static [Exclusion],
    /// Whether a scheme may set the key for its own flows, as in `slow-start:recovery=sack`.
    pub schemes: bool,
    /// Whether a sweep may set the key for its paths.
    pub sweeps: bool,
    /// The place of the key in the canonical text, from one. The text is hashed, so a place never changes; a new key takes
    /// the next one.
    pub place: u8,
    /// Sets the key from its text.
    pub parse: fn(&mut Options, &str) -> Result<(), QuantityError>,
    /// The key's value in the canonical text of a scenario. A key added after the first hashes shows nothing at its
    /// default, so that old hashes stay valid.
    pub show: fn(&Scenario) -> Option<String>,
    /// The part of a result's title that the key adds at the end.
    pub title: fn(&Scenario) -> Option<String>,
}

/// A heading of the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heading {
    /// The links, and what is sent over them.
    Path,
    /// The two ends.
    Endpoints,
    /// The number of runs and their seeds, which are neither hashed nor swept.
    Runs,
}

impl Heading {
    /// The heading as the help shows it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Path => "Path",
            Self::Endpoints => "Endpoints",
            Self::Runs => "Runs",
        }
    }
}

/// A key that must be given together with another.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// The other key.
    pub other: &'static str,
    /// The error without the other key, and what to do.
    pub without: &'static str,
}

/// A key that may not be given together with another.
#[derive(Clone, Copy, Debug)]
pub struct Exclusion {
    /// The other key.
    pub other: &'static str,
    /// The reason.
    pub why: &'static str,
    /// Values of the excluding key that have no effect beside the other key, and so are allowed.
    pub except: &'static [&'static str],
}

/// The default row of a heading: the values that most of its keys share.
const fn row(heading: Heading) -> Key {
    Key {
        name: "",
        heading,
        kind: Kind::Text("TEXT"),
        placeholder: "",
        help: "",
        default: None,
        built_in: None,
        unset: "",
        examples: &[],
        needs: None,
        excludes: &[],
        schemes: false,
        sweeps: !matches!(heading, Heading::Runs),
        place: 0,
        parse: |_, _| Ok(()),
        show: |_| None,
        title: |_| None,
    }
}

/// All keys, in the order of the help.
pub fn keys() -> impl Iterator<Item = &'static Key> + Clone {
    path::KEYS.iter().chain(ends::KEYS).chain(runs::KEYS)
}

/// The names of all keys, in the order of the help.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    keys().map(|key| key.name)
}

/// The key of this name.
pub fn key(name: &str) -> Option<&'static Key> {
    keys().find(|key| key.name == name)
}

impl Key {
    /// Whether the key is a flag, which takes no value.
    pub fn is_flag(&self) -> bool {
        self.kind == Kind::FLAG
    }

    /// The placeholder of the key's value in the help.
    pub fn value_name(&self) -> &'static str {
        if self.placeholder.is_empty() { self.kind.placeholder() } else { self.placeholder }
    }

    /// The key's line in the help: its meaning, the words that it takes, and its default.
    pub fn help_line(&self) -> String {
        let words = match self.kind {
            Kind::Word(words) if !self.is_flag() => format!(": {}", words.join(", ")),
            _ => String::new(),
        };
        let unset = match (self.unset, self.built_in, self.default) {
            _ if self.is_flag() => String::new(),
            ("", Some(built_in), Some(default)) => format!(" [built-in path: {built_in}; else {default}]"),
            ("", Some(built_in), None) => format!(" [built-in path: {built_in}]"),
            ("", None, Some(default)) => format!(" [{default}]"),
            ("", None, None) => String::new(),
            (unset, ..) => format!(" [{unset}]"),
        };
        format!("{}{words}{unset}", self.help)
    }
}

/// Why a key could not be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// An unknown key.
    #[error("there is no option `{key}`{}", hint(*.closest))]
    UnknownKey {
        /// The key found.
        key: String,
        /// The key that may be meant.
        closest: Option<&'static str>,
    },
    /// A value that cannot be read.
    #[error("{key}: {error}")]
    Value {
        /// The key.
        key: &'static str,
        /// What is wrong.
        error: QuantityError,
    },
}

fn hint(closest: Option<&str>) -> String {
    let all = || names().collect::<Vec<_>>().join(", ");
    closest.map_or_else(|| format!("; there are {}", all()), |key| format!("; is `{key}` meant?"))
}

impl Options {
    /// Sets the key `name` from its text, as on the command line or in a TOML string.
    ///
    /// # Errors
    /// An unknown key, with the closest one known; a value that cannot be read, with what is allowed.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), OptionError> {
        let Some(key) = key(name) else {
            let closest = closest(name, names());
            return Err(OptionError::UnknownKey { key: quantity::in_a_line(name), closest });
        };
        (key.parse)(self, text).map_err(|error| OptionError::Value { key: key.name, error })?;
        self.remember(key.name, text);
        Ok(())
    }

    /// `scenario` with the values set here. Only keys whose default no other key decides are copied.
    pub(crate) fn over(&self, scenario: &Scenario) -> Scenario {
        let mut over = Self::of(self.registry);
        over.plain = scenario.clone();
        for key in keys() {
            // A value that cannot be read was never set.
            let read = self.given(key.name).map(|text| (key.parse)(&mut over, text));
            debug_assert!(read.is_none_or(|read| read.is_ok()), "{}", key.name);
        }
        over.plain
    }
}

#[cfg(test)]
mod tests;
