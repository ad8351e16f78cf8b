//! Errors of invalid inputs, which name the parameter.

use std::ops::RangeInclusive;

use firstflight_scenario::quantity::QuantityError;

/// An invalid input of a model. Its text begins with the name of the parameter.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// A text that is not a quantity of the parameter's kind.
    #[error("{parameter}: {error}")]
    Text {
        /// The parameter.
        parameter: &'static str,
        /// The error in the text.
        error: QuantityError,
    },
    /// A number outside the model's domain.
    #[error("{parameter}: {found} is not allowed; {allowed}")]
    Domain {
        /// The parameter.
        parameter: &'static str,
        /// The number.
        found: f64,
        /// The allowed range, as a clause.
        allowed: &'static str,
    },
    /// Two inputs that conflict.
    #[error("{parameter}: {why}")]
    Together {
        /// The parameter that the error names.
        parameter: &'static str,
        /// A text that names the two inputs, and what is allowed.
        why: String,
    },
}

impl ModelError {
    /// Returns the parameter that the error names.
    pub fn parameter(&self) -> &'static str {
        match self {
            Self::Text { parameter, .. }
            | Self::Domain { parameter, .. }
            | Self::Together { parameter, .. } => parameter,
        }
    }

    /// Returns the text at fault as it was written; empty if no single text is at fault.
    pub fn found(&self) -> &str {
        match self {
            Self::Text { error, .. } => &error.found,
            Self::Domain { .. } | Self::Together { .. } => "",
        }
    }
}

/// Checks that a number is finite and above zero.
pub(super) fn positive(parameter: &'static str, found: f64) -> Result<(), ModelError> {
    refuse_unless(found.is_finite() && found > 0.0, parameter, found, "a finite number above 0 is")
}

/// Checks that a number is finite and not negative.
pub(super) fn not_negative(parameter: &'static str, found: f64) -> Result<(), ModelError> {
    refuse_unless(found.is_finite() && found >= 0.0, parameter, found, "a finite number from 0 up is")
}

/// Checks that a number is a share, from 0 to 1.
pub(super) fn share(parameter: &'static str, found: f64) -> Result<(), ModelError> {
    within(0.0..=1.0, parameter, found, "a number from 0 to 1 is")
}

/// Checks that a number is a share above 0, up to 1.
pub(super) fn positive_share(parameter: &'static str, found: f64) -> Result<(), ModelError> {
    refuse_unless(found > 0.0 && found <= 1.0, parameter, found, "a number above 0 and at most 1 is")
}

/// Checks that a number is within a range, which `allowed` describes as a clause.
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
