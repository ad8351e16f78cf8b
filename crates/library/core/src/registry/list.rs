//! The entries that can be chosen by name: the entries of this crate, and those that a user adds.

use core::fmt;

use super::{LawEntry, Parameter, RestartEntry, SchemeEntry, laws, restarts, schemes};

/// The schemes, restart policies and laws that can be chosen by name: the built-in ones, then those added.
///
/// A registry is a small value (a few pointers), passed to all code that reads names.
#[derive(Clone, Copy, Debug, Default)]
pub struct Registry {
    schemes: &'static [SchemeEntry],
    restarts: &'static [RestartEntry],
    laws: &'static [LawEntry],
    source: Option<u64>,
}

/// An entry that the registry rejects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegistryError {
    /// Kind of the entry, such as a scheme.
    pub kind: &'static str,
    /// The name of the entry.
    pub name: &'static str,
    /// Why the registry rejects the entry.
    pub problem: EntryProblem,
}

/// Why the registry rejects an entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EntryProblem {
    /// The name cannot be written in a list of names, or cannot be a file name.
    Name,
    /// Another entry has the name.
    Taken,
    /// The scheme names an avoidance law that is not registered. The value is that name.
    NoLaw(&'static str),
    /// The name of a parameter cannot be written on a command line, or has a meaning there.
    ParameterName(&'static str),
    /// Two parameters have this name.
    ParameterTwice(&'static str),
    /// The default of this parameter is not one of its allowed values.
    Default(&'static str),
}

impl Registry {
    /// Returns the entries of this crate.
    pub const fn builtin() -> Self {
        Self { schemes: &[], restarts: &[], laws: &[], source: None }
    }

    /// Returns the registry with these schemes in addition to the built-in ones. They replace schemes that were added
    /// before.
    #[must_use]
    pub const fn with_schemes(self, schemes: &'static [SchemeEntry]) -> Self {
        Self { schemes, ..self }
    }

    /// Returns the registry with these restart policies in addition to the built-in ones. They replace policies that
    /// were added before.
    #[must_use]
    pub const fn with_restarts(self, restarts: &'static [RestartEntry]) -> Self {
        Self { restarts, ..self }
    }

    /// Returns the registry with these laws in addition to the built-in ones. They replace laws that were added
    /// before.
    #[must_use]
    pub const fn with_laws(self, laws: &'static [LawEntry]) -> Self {
        Self { laws, ..self }
    }

    /// Returns the registry with the source code of the schemes that were added. Results have the hash of the code, which
    /// distinguishes two versions of a scheme: pass `include_str!(file!())`, or the concatenation of several files.
    #[must_use]
    pub const fn with_source(self, code: &str) -> Self {
        // FNV-1a (RFC 9923) with 64 bits.
        let (bytes, mut hash, mut at) = (code.as_bytes(), 0xcbf2_9ce4_8422_2325_u64, 0);
        while at < bytes.len() {
            hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0000_0100_0000_01b3);
            at += 1;
        }
        Self { source: Some(hash), ..self }
    }

    /// Returns the hash of the source code of an added scheme; `None` for a built-in scheme, or if the code is not known.
    pub fn source_of(self, scheme: &str) -> Option<u64> {
        self.source.filter(|_| self.schemes.iter().any(|entry| entry.name == scheme))
    }

    /// Returns every start-up scheme, in the order in which lists show them.
    pub fn schemes(self) -> impl Iterator<Item = &'static SchemeEntry> + Clone {
        schemes().iter().chain(self.schemes)
    }

    /// Returns every restart policy.
    pub fn restarts(self) -> impl Iterator<Item = &'static RestartEntry> + Clone {
        restarts().iter().chain(self.restarts)
    }

    /// Returns every avoidance law.
    pub fn laws(self) -> impl Iterator<Item = &'static LawEntry> + Clone {
        laws().iter().chain(self.laws)
    }

    /// Returns the start-up scheme of this name; `None` if there is none.
    pub fn scheme(self, name: &str) -> Option<&'static SchemeEntry> {
        self.schemes().find(|entry| entry.name == name)
    }

    /// Returns the restart policy of this name; `None` if there is none.
    pub fn restart(self, name: &str) -> Option<&'static RestartEntry> {
        self.restarts().find(|entry| entry.name == name)
    }

    /// Returns the avoidance law of this name; `None` if there is none.
    pub fn law(self, name: &str) -> Option<&'static LawEntry> {
        self.laws().find(|entry| entry.name == name)
    }

    /// Checks that every name can be written on a command line and has one meaning.
    ///
    /// # Errors
    /// Returns the first added entry that the registry must reject, with the reason.
    pub fn check(self) -> Result<(), RegistryError> {
        let of = |kind, name| move |problem| RegistryError { kind, name, problem };
        let names = || self.schemes().map(|entry| entry.name);
        for SchemeEntry { name, law, parameters, .. } in self.schemes {
            check_entry(name, names(), parameters).map_err(of("scheme", name))?;
            if self.law(law).is_none() {
                return Err(of("scheme", name)(EntryProblem::NoLaw(law)));
            }
        }
        let names = || self.restarts().map(|entry| entry.name);
        for RestartEntry { name, parameters, .. } in self.restarts {
            check_entry(name, names(), parameters).map_err(of("restart policy", name))?;
        }
        let names = || self.laws().map(|entry| entry.name);
        for LawEntry { name, .. } in self.laws {
            check_entry(name, names(), &[]).map_err(of("avoidance law", name))?;
        }
        Ok(())
    }
}

/// Two registries are equal if they hold the same names: [`Registry::check`] ensures that a name has one meaning.
impl PartialEq for Registry {
    fn eq(&self, other: &Self) -> bool {
        self.schemes().map(|entry| entry.name).eq(other.schemes().map(|entry| entry.name))
            && self.restarts().map(|entry| entry.name).eq(other.restarts().map(|entry| entry.name))
            && self.laws().map(|entry| entry.name).eq(other.laws().map(|entry| entry.name))
    }
}

impl Eq for Registry {}

fn check_entry(
    name: &str,
    mut names: impl Iterator<Item = &'static str> + Clone,
    parameters: &[Parameter],
) -> Result<(), EntryProblem> {
    if !is_word(name) || name == "all" {
        return Err(EntryProblem::Name);
    }
    if names.clone().filter(|other| *other == name).count() > 1 {
        return Err(EntryProblem::Taken);
    }
    debug_assert!(names.any(|other| other == name), "{name} is one of them");
    for (index, parameter) in parameters.iter().enumerate() {
        // `as=` labels a row; the other names are options of a path that a scheme may override.
        let taken = ["as", "iw", "avoidance", "recovery", "restart", "stack"];
        if !is_word(parameter.name) || taken.contains(&parameter.name) {
            return Err(EntryProblem::ParameterName(parameter.name));
        }
        if parameters.iter().take(index).any(|before| before.name == parameter.name) {
            return Err(EntryProblem::ParameterTwice(parameter.name));
        }
        if !parameter.kind.allows(parameter.default) {
            return Err(EntryProblem::Default(parameter.name));
        }
    }
    Ok(())
}

/// Returns whether `name` can be written in every list of a command line, and in a file name.
fn is_word(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_+.".contains(&byte);
    name.bytes().all(is_plain) && name.bytes().next().is_some_and(|first| !b"-.".contains(&first))
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, name, problem } = self;
        write!(f, "the {kind} `{name}` cannot be registered: ")?;
        match problem {
            EntryProblem::Name => f.write_str(
                "a name is of letters, digits, `-`, `_`, `+` and `.`, begins with neither `-` nor `.`, and is not `all`",
            ),
            EntryProblem::Taken => write!(f, "there is another {kind} of this name"),
            EntryProblem::NoLaw(law) => write!(f, "there is no avoidance law `{law}` to go with it"),
            EntryProblem::ParameterName(parameter) => write!(
                f,
                "`{parameter}` is no name of a parameter, which is of letters, digits, `-`, `_`, `+` and `.`, begins with \
                 neither `-` nor `.`, and is not `as`"
            ),
            EntryProblem::ParameterTwice(parameter) => write!(f, "it has two parameters `{parameter}`"),
            EntryProblem::Default(parameter) => {
                write!(f, "the default of `{parameter}` is not among the values that it takes")
            }
        }
    }
}

impl core::error::Error for RegistryError {}
