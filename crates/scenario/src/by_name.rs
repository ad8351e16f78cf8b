//! What a user wrote, read by the names of a registry: the built-in one, or one with schemes from outside the tree.

use firstflight::registry::{AnyController, AnyLaw, AnyRestart, AnyScheme, Registry};
use firstflight_trace::Header;

use crate::choice::{self, ChoiceError, SchemeChoice};
use crate::file::{self, FileError, ScenarioFile};
use crate::header::{self, HeaderError};
use crate::options::Options;
use crate::quantity::QuantityError;
use crate::restart::{self, RestartChoice};

/// Reads what a user wrote by the names of a registry. The functions of the same names read by those of
/// [`Registry::builtin`].
pub trait ByName: Copy {
    /// Options of a path, none of them set, whose schemes, policies and laws are of this registry.
    fn options(self) -> Options;

    /// Reads a list of schemes. An item with `=` and no `:` belongs to the scheme before it; `all` is every scheme;
    /// the same scheme twice takes `as=label`.
    ///
    /// # Errors
    /// Unknown schemes and parameters, values that cannot be read or are out of range, two rows of one name.
    fn parse_choices(self, list: &str) -> Result<Vec<SchemeChoice>, ChoiceError>;

    /// Reads restart policies: `all`, or with commas between.
    ///
    /// # Errors
    /// An unknown policy or parameter, a value out of range, or the same policy twice.
    fn parse_restarts(self, text: &str) -> Result<Vec<RestartChoice>, QuantityError>;

    /// Reads a scenario file.
    ///
    /// # Errors
    /// TOML that cannot be parsed, unknown keys (with the closest known one), values that cannot be read: the first
    /// in the file.
    fn parse_file(self, text: &str) -> Result<ScenarioFile, FileError>;

    /// The controller that the header of a trace describes, as it was before the first call.
    ///
    /// # Errors
    /// A scheme, restart policy or law that cannot be built.
    fn controller_of(self, header: &Header) -> Result<AnyController, HeaderError>;

    /// What that controller is composed of, for whoever puts something between.
    ///
    /// # Errors
    /// As [`ByName::controller_of`].
    fn parts_of(self, header: &Header) -> Result<(AnyScheme, AnyRestart, AnyLaw), HeaderError>;

    /// The header of a trace of `scheme` on what `header`'s was told: its own law, unless that is the recorded scheme.
    ///
    /// # Errors
    /// A text that does not name one scheme.
    fn header_for(self, header: &Header, scheme: &str) -> Result<Header, HeaderError>;
}

impl ByName for Registry {
    fn options(self) -> Options {
        Options::of(self)
    }

    fn parse_choices(self, list: &str) -> Result<Vec<SchemeChoice>, ChoiceError> {
        choice::parse(self, list)
    }

    fn parse_restarts(self, text: &str) -> Result<Vec<RestartChoice>, QuantityError> {
        restart::parse(self, text)
    }

    fn parse_file(self, text: &str) -> Result<ScenarioFile, FileError> {
        file::parse(self, text)
    }

    fn controller_of(self, header: &Header) -> Result<AnyController, HeaderError> {
        header::controller_of(self, header)
    }

    fn parts_of(self, header: &Header) -> Result<(AnyScheme, AnyRestart, AnyLaw), HeaderError> {
        header::parts_of(self, header)
    }

    fn header_for(self, header: &Header, scheme: &str) -> Result<Header, HeaderError> {
        header::header_for(self, header, scheme)
    }
}

/// [`ByName::parse_choices`] of the built-in schemes.
///
/// # Errors
/// As there.
pub fn parse_choices(list: &str) -> Result<Vec<SchemeChoice>, ChoiceError> {
    Registry::builtin().parse_choices(list)
}

/// [`ByName::parse_restarts`] of the built-in policies.
///
/// # Errors
/// As there.
pub fn parse_restarts(text: &str) -> Result<Vec<RestartChoice>, QuantityError> {
    Registry::builtin().parse_restarts(text)
}

/// [`ByName::parse_file`] with the built-in names.
///
/// # Errors
/// As there.
pub fn parse_file(text: &str) -> Result<ScenarioFile, FileError> {
    Registry::builtin().parse_file(text)
}

/// [`ByName::controller_of`] with the built-in names.
///
/// # Errors
/// As there.
pub fn controller_of(header: &Header) -> Result<AnyController, HeaderError> {
    Registry::builtin().controller_of(header)
}
