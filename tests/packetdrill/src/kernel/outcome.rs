//! Results of system calls.

use crate::problem::Problem;

/// The result of making a system call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// The call returned.
    Done { result: i64, errno: Option<&'static str> },
    /// The call blocks.
    Blocks,
}

/// Returns the outcome of a call that returned `result`.
pub(super) const fn gave(result: i64) -> Outcome {
    Outcome::Done { result, errno: None }
}

/// Returns the outcome of a call that failed with this error.
pub(super) const fn failed(errno: &'static str) -> Outcome {
    Outcome::Done { result: -1, errno: Some(errno) }
}

pub(super) type Answer = Result<Outcome, Problem>;
