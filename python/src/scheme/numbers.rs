//! Numbers of a user's code, as the library's integers.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt};

/// Returns `value` as a whole number of `unit` from `min` on; a fraction is rounded down. `what` names the value in errors.
///
/// # Errors
/// `TypeError` for a value that is no number, and `ValueError` for one that is not finite or below `min`.
pub(super) fn whole(value: &Bound<'_, PyAny>, what: &str, unit: &str, min: u64) -> PyResult<u64> {
    let allowed = || format!("allowed is a number of {unit} from {min}");
    let refused = || format!("{what} is {}: {}", shown(value), allowed());
    if value.is_instance_of::<PyBool>() {
        return Err(PyTypeError::new_err(refused()));
    }
    if value.is_instance_of::<PyFloat>() {
        let number: f64 = value.extract()?;
        #[expect(clippy::cast_precision_loss, reason = "the minimum is small")]
        if !number.is_finite() || number < min as f64 {
            return Err(PyValueError::new_err(refused()));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "neither negative nor NaN; large values saturate"
        )]
        return Ok(number as u64);
    }
    match value.extract::<u64>() {
        Ok(number) if number >= min => Ok(number),
        Ok(_) => Err(PyValueError::new_err(refused())),
        Err(_) if value.is_instance_of::<PyInt>() => Err(PyValueError::new_err(refused())),
        Err(_) => Err(PyTypeError::new_err(refused())),
    }
}

/// Returns the whole number of an optional value; `None` for `None`.
///
/// # Errors
/// Those of [`whole`].
pub(super) fn maybe(
    value: Option<&Bound<'_, PyAny>>,
    what: &str,
    unit: &str,
    min: u64,
) -> PyResult<Option<u64>> {
    value.map(|value| whole(value, what, unit, min)).transpose()
}

/// Returns a value as an error shows it: its `repr`, cut, and its type.
pub(super) fn shown(value: &Bound<'_, PyAny>) -> String {
    const MOST: usize = 60;
    if value.is_none() {
        return "None".to_owned();
    }
    let text = value.repr().map_or_else(|_| "a value without repr".to_owned(), |text| text.to_string());
    let cut = if text.chars().count() > MOST {
        text.chars().take(MOST).chain("…".chars()).collect()
    } else {
        text
    };
    let of = value.get_type().name().map_or_else(|_| String::new(), |name| format!(" ({name})"));
    format!("{cut}{of}")
}
