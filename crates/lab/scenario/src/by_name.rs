//! Reads the user's text with the names of a registry: the built-in registry, or a registry with schemes from outside the tree.

use firstflight::registry::{AnyController, Registry};
use firstflight_trace::Header;

use crate::choice::{self, ChoiceError, SchemeChoice};
use crate::file::{self, FileError, ScenarioFile};
use crate::header::{self, HeaderError};
use crate::options::Options;
use crate::part::Part;
use crate::quantity::QuantityError;
use crate::restart::{self, RestartChoice};

/// Reads the user's text with the names of a registry. This module's functions of the same names use [`Registry::builtin`].
pub trait ByName: Copy {
    /// Returns options of a path, none of them set. They take schemes, policies and laws from this registry.
    fn options(self) -> Options;

    /// Reads a list of schemes. An item with `=` and no `:` is a parameter of the preceding scheme. `all` is every scheme. `-NAME` removes
    /// the row of this label, or the rows of this scheme, from the preceding ones, or from all if it is the first item. A scheme that is
    /// listed twice needs `as=label`.
    ///
    /// # Errors
    /// Unknown schemes and parameters, values that cannot be read or are out of range, two rows of one name.
    fn parse_choices(self, list: &str) -> Result<Vec<SchemeChoice>, ChoiceError>;

    /// Reads restart policies, separated by commas, or `all`.
    ///
    /// # Errors
    /// An unknown policy or parameter, a value out of range, or the same policy twice.
    fn parse_restarts(self, text: &str) -> Result<Vec<RestartChoice>, QuantityError>;

    /// Reads a scenario file.
    ///
    /// # Errors
    /// TOML that cannot be parsed, an unknown key (with the closest known one), a value that cannot be read. The error is
    /// the first in the file.
    fn parse_file(self, text: &str) -> Result<ScenarioFile, FileError>;

    /// Returns the controller that the header of a trace describes, in its initial state.
    ///
    /// # Errors
    /// A scheme, restart policy or law that cannot be built.
    fn controller_of(self, header: &Header) -> Result<AnyController, HeaderError>;

    /// Returns the part of a controller that the header's host runs, in its initial state; `None` if the host runs a whole controller.
    ///
    /// # Errors
    /// A scheme or restart policy that cannot be built, or a header that names what the host of a part does not have.
    fn part_of(self, header: &Header) -> Result<Option<Part>, HeaderError>;

    /// Returns `header` with `scheme` in place of its scheme. The law remains if `scheme` is the recorded scheme; otherwise the header gets
    /// the law of `scheme`.
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

    fn part_of(self, header: &Header) -> Result<Option<Part>, HeaderError> {
        header::part_of(self, header)
    }

    fn header_for(self, header: &Header, scheme: &str) -> Result<Header, HeaderError> {
        header::header_for(self, header, scheme)
    }
}

/// [`ByName::parse_choices`] of the built-in schemes.
///
/// # Errors
/// As [`ByName::parse_choices`].
pub fn parse_choices(list: &str) -> Result<Vec<SchemeChoice>, ChoiceError> {
    Registry::builtin().parse_choices(list)
}

/// [`ByName::parse_restarts`] of the built-in policies.
///
/// # Errors
/// As [`ByName::parse_restarts`].
pub fn parse_restarts(text: &str) -> Result<Vec<RestartChoice>, QuantityError> {
    Registry::builtin().parse_restarts(text)
}

/// [`ByName::parse_file`] with the built-in names.
///
/// # Errors
/// As [`ByName::parse_file`].
pub fn parse_file(text: &str) -> Result<ScenarioFile, FileError> {
    Registry::builtin().parse_file(text)
}

/// [`ByName::controller_of`] with the built-in names.
///
/// # Errors
/// As [`ByName::controller_of`].
pub fn controller_of(header: &Header) -> Result<AnyController, HeaderError> {
    Registry::builtin().controller_of(header)
}
