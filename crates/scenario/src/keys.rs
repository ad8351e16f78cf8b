//! The keys of a path: one table, a row a key.
//!
//! The command line, scenario files, sweeps, the canonical text and its hash, the title of a result, exclusions and errors
//! read the table; nothing else lists keys. A new key is a row here and its use, and a field of [`Scenario`] for its value.
//! A row with a typo fails a test over the whole table.

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
    /// The name, without dashes before it.
    pub name: &'static str,
    /// The heading that help lists it under.
    pub heading: Heading,
    /// What its text is.
    pub kind: Kind,
    /// What help calls the text; nothing for a flag.
    pub placeholder: &'static str,
    /// What it means, in a line that begins with a capital and ends without a full stop. Words that it may be follow by
    /// themselves.
    pub help: &'static str,
    /// The text that says what is so without it, on a path of the user's own.
    pub default: Option<&'static str>,
    /// That text on the built-in path, if it is another.
    pub built_in: Option<&'static str>,
    /// What is so without it, for help, where the defaults do not say it all.
    pub unset: &'static str,
    /// Texts that it may have besides, as [`Key::show`] writes them.
    pub examples: &'static [&'static str],
    /// The key that has to be given with it.
    pub needs: Option<Need>,
    /// Keys that may not be given with it.
    pub excludes: &'static [Exclusion],
    /// Whether a scheme may have it for itself, as in `slow-start:recovery=sack`.
    pub schemes: bool,
    /// Whether a sweep may set it for its paths.
    pub sweeps: bool,
    /// Its place in the canonical text, from one. The text is hashed, so that a place is for ever; a new key has the next one.
    pub place: u8,
    /// Sets it from its text.
    pub parse: fn(&mut Options, &str) -> Result<(), QuantityError>,
    /// Its text in the canonical text of a scenario. A key younger than the first hashes shows nothing at its default, so that
    /// they hold.
    pub show: fn(&Scenario) -> Option<String>,
    /// What the title of a result says of it, after all that every title says.
    pub title: fn(&Scenario) -> Option<String>,
}

/// A heading of help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heading {
    /// The links, and what is sent over them.
    Path,
    /// The two ends.
    Endpoints,
    /// How often: neither hashed nor swept.
    Runs,
}

impl Heading {
    /// As help has it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Path => "Path",
            Self::Endpoints => "Endpoints",
            Self::Runs => "Runs",
        }
    }
}

/// A key that has to be given with another.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// The key that has to be there.
    pub other: &'static str,
    /// What is wrong without it, and what to do.
    pub without: &'static str,
}

/// A key that may not be given with another.
#[derive(Clone, Copy, Debug)]
pub struct Exclusion {
    /// The other.
    pub other: &'static str,
    /// Why.
    pub why: &'static str,
    /// Texts of the excluding key that mean nothing beside the other, and are allowed.
    pub except: &'static [&'static str],
}

/// What most rows of a heading have.
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

/// Every key, in the order of help.
pub fn keys() -> impl Iterator<Item = &'static Key> + Clone {
    path::KEYS.iter().chain(ends::KEYS).chain(runs::KEYS)
}

/// The names of all keys, in the order of help.
pub fn names() -> impl Iterator<Item = &'static str> + Clone {
    keys().map(|key| key.name)
}

/// The key of this name.
pub fn key(name: &str) -> Option<&'static Key> {
    keys().find(|key| key.name == name)
}

impl Key {
    /// Whether it is there or not, rather than of a value.
    pub fn is_flag(&self) -> bool {
        self.kind == Kind::FLAG
    }

    /// What help calls its text.
    pub fn value_name(&self) -> &'static str {
        if self.placeholder.is_empty() { self.kind.placeholder() } else { self.placeholder }
    }

    /// The line of help: what it means, the words that it may be, and what is so without it.
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
    /// No such key.
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

    /// The scenario with what is set here of the keys whose default no other key decides.
    pub(crate) fn over(&self, scenario: &Scenario) -> Scenario {
        let mut over = Self::of(self.registry);
        over.plain = scenario.clone();
        for key in keys() {
            // What could not be read was not set.
            let read = self.given(key.name).map(|text| (key.parse)(&mut over, text));
            debug_assert!(read.is_none_or(|read| read.is_ok()), "{}", key.name);
        }
        over.plain
    }
}

#[cfg(test)]
mod tests;
