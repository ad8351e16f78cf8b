//! Why a list of schemes cannot be read.

use firstflight::registry::Missing;

use crate::keys::OptionError;
use crate::quantity::QuantityError;

/// Why a list of schemes cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChoiceError {
    /// An empty item between two commas, or an empty list.
    #[error("a scheme is missing; as in `slow-start,paced:first=10` or `all`")]
    Empty,
    /// An unknown scheme.
    #[error("unknown scheme `{found}`; {hint}")]
    Unknown {
        /// The name found.
        found: String,
        /// The name to write instead, or the schemes that exist.
        hint: String,
    },
    /// A parameter before any scheme, or after `all`.
    #[error("the parameter `{found}` belongs to no scheme; write `NAME:{found}`")]
    Stray {
        /// The item found.
        found: String,
    },
    /// A scheme to remove that is not in the list before it.
    #[error("`-{name}` takes nothing away: `{name}` is not in the list before it")]
    NotListed {
        /// The name found.
        name: String,
    },
    /// Parameters of a scheme that the list removes.
    #[error("`-{found}` has parameters; `-NAME` is wanted, with a scheme's name or a row's label")]
    TakenWithParameters {
        /// The item found, without the dash.
        found: String,
    },
    /// A list from which everything was removed.
    #[error("nothing is left to race; a scheme is wanted, as in `slow-start` or `all,-vegas`")]
    NothingLeft,
    /// A text after a colon that is not `name=value`.
    #[error("`{found}` is no parameter; `name=value` is wanted, as in `paced:first=10`")]
    NotAParameter {
        /// The item found.
        found: String,
    },
    /// A parameter's value that cannot be read.
    #[error("{scheme}: {name}: {error}")]
    Value {
        /// The scheme.
        scheme: &'static str,
        /// The parameter.
        name: String,
        /// The fault.
        error: QuantityError,
    },
    /// A parameter that the scheme does not take, or a value out of range.
    #[error("{0}")]
    Parameter(String),
    /// An option of the path that cannot be read.
    #[error("{scheme}: {error}")]
    Own {
        /// The scheme.
        scheme: &'static str,
        /// The fault.
        error: OptionError,
    },
    /// A label that cannot be part of a file name, or that a spreadsheet would read as a formula.
    #[error(
        "the label `{found}` must be of letters, digits, `-`, `_`, `+` and `.`, and begin with a letter, a digit or `_`"
    )]
    Label {
        /// The label found.
        found: String,
    },
    /// Two rows with one name.
    #[error("`{name}` is in the list twice; distinguish them with `as=label`")]
    Twice {
        /// The name.
        name: String,
    },
    /// A scheme that needs what the simulated host cannot do.
    #[error("{0}")]
    Host(Missing),
}
