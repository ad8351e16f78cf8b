//! Results of several runs, some of which may be missing after an interrupt.

use crate::error::RunError;

/// Results of several runs. The variant says whether an interrupt left runs out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completed<T> {
    /// All runs are finished.
    Whole(T),
    /// An interrupt left runs out.
    Partial {
        /// The results of the finished runs. Each of these runs was finished completely.
        finished: T,
        /// The number of runs that are missing.
        missing: u64,
    },
}

impl<T> Completed<T> {
    /// Creates the variant for results of which `missing` runs are missing.
    pub(crate) fn missing(results: T, missing: u64) -> Self {
        if missing == 0 { Self::Whole(results) } else { Self::Partial { finished: results, missing } }
    }

    /// Returns the results if all runs are finished.
    ///
    /// # Errors
    /// Fails with [`RunError::Interrupted`] if runs are missing.
    pub fn whole(self) -> Result<T, RunError> {
        match self {
            Self::Whole(results) => Ok(results),
            Self::Partial { .. } => Err(RunError::Interrupted),
        }
    }
}

/// Returns `None` for an interrupted run, and every other result unchanged. The caller counts the missing runs.
pub(crate) fn kept<T>(result: Result<T, RunError>) -> Option<Result<T, RunError>> {
    match result {
        Err(RunError::Interrupted) => None,
        other => Some(other),
    }
}
