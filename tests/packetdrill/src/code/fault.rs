//! Errors of code.

/// Why a snippet of code failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// An assertion does not hold.
    Failed(String),
    /// Code outside the supported part of Python, or code with an error.
    Unsupported(String),
}
