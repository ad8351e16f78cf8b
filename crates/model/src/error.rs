//! Inputs that make no sense, refused by name.

use std::ops::RangeInclusive;

use firstflight_scenario::quantity::QuantityError;

/// An input that a model refuses. Its text begins with the name of the parameter.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// Text that is not such a quantity.
    #[error("{parameter}: {error}")]
    Text {
        /// The parameter.
        parameter: &'static str,
        /// What is wrong with the text.
        error: QuantityError,
    },
    /// A number outside the model's domain.
    #[error("{parameter}: {found} is not allowed; {allowed}")]
    Domain {
        /// The parameter.
        parameter: &'static str,
        /// The number.
        found: f64,
        /// What is, as a clause.
        allowed: &'static str,
    },
    /// Two inputs that do not go together.
    #[error("{parameter}: {why}")]
    Together {
        /// The parameter that is at fault rather than the other.
        parameter: &'static str,
        /// What they are and what is allowed.
        why: String,
    },
}

impl ModelError {
    /// The parameter it is about.
    pub fn parameter(&self) -> &'static str {
        match self {
            Self::Text { parameter, .. }
            | Self::Domain { parameter, .. }
            | Self::Together { parameter, .. } => parameter,
        }
    }

    /// What was found, as it was written; empty if no single text is at fault.
    pub fn found(&self) -> &str {
        match self {
            Self::Text { error, .. } => &error.found,
            Self::Domain { .. } | Self::Together { .. } => "",
        }
    }
}

/// A finite number above zero.
pub(super) fn positive(parameter: &'static str, found: f64) -> Result<(), ModelError> {
    refuse_unless(found.is_finite() && found > 0.0, parameter, found, "a finite number above 0 is")
}

/// A finite number from zero up.
pub(super) fn not_negative(parameter: &'static str, found: f64) -> Result<(), ModelError> {
    refuse_unless(found.is_finite() && found >= 0.0, parameter, found, "a finite number from 0 up is")
}

/// A share of a whole: from 0 to 1.
pub(super) fn share(parameter: &'static str, found: f64) -> Result<(), ModelError> {
    within(0.0..=1.0, parameter, found, "a number from 0 to 1 is")
}

/// A share that is not nothing: above 0, up to 1.
pub(super) fn positive_share(parameter: &'static str, found: f64) -> Result<(), ModelError> {
    refuse_unless(found > 0.0 && found <= 1.0, parameter, found, "a number above 0 and at most 1 is")
}

/// A number within a range; `allowed` says which, as a clause.
pub(super) fn within(
    range: RangeInclusive<f64>,
    parameter: &'static str,
    found: f64,
    allowed: &'static str,
) -> Result<(), ModelError> {
    refuse_unless(range.contains(&found), parameter, found, allowed)
}

pub(super) fn refuse_unless(
    holds: bool,
    parameter: &'static str,
    found: f64,
    allowed: &'static str,
) -> Result<(), ModelError> {
    if holds { Ok(()) } else { Err(ModelError::Domain { parameter, found, allowed }) }
}
