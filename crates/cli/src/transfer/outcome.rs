//! The failures of a command that transfers several files.

use std::net::SocketAddr;

use firstflight_udp::files::TransferError;

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output;

/// The message for an interrupt while no file is being received.
pub(super) const INTERRUPTED: &str = "interrupted";
/// The message for an interrupt of a file whose part is kept.
pub(super) const KEPT: &str = "interrupted; what came is kept, and the next try resumes there";
/// The message for an interrupt of a file that is written as it arrives.
pub(super) const WRITTEN: &str = "interrupted; standard output has only what came";

/// Counts the files of a command, and reports those that failed.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// Whether the command has several files or a folder. The only file of a command has its own exit code.
    pub(super) is_of_many: bool,
    done: u64,
    failed: u64,
    /// The failure that ends the command.
    last: Option<Failure>,
}

impl Outcome {
    pub(super) fn new(is_of_many: bool) -> Self {
        Self { is_of_many, ..Self::default() }
    }

    /// Counts a file that was transferred.
    pub(super) fn succeeds(&mut self) {
        self.done += 1;
    }

    /// Counts a file that failed. Reports it at once if there may be others. `interrupted` is the message if the user interrupted.
    pub(super) fn fails(
        &mut self,
        name: &str,
        error: TransferError,
        (interrupt, interrupted): (&Interrupt, &'static str),
    ) {
        self.failed += 1;
        if interrupt.happened() {
            self.last = Some(Failure::interrupted(interrupted));
        } else if !self.is_of_many {
            self.last = Some(failure(error));
        } else {
            output::say(&format!("error: {name}: {error}"));
        }
    }

    /// Ends the command with this failure, whatever else happened.
    pub(super) fn stops(&mut self, failure: Failure) {
        self.last = Some(failure);
    }

    /// Returns whether nothing more is to be transferred.
    pub(super) fn is_over(&self) -> bool {
        self.last.is_some()
    }

    /// Reports that the rest of the files is not tried, because the server cannot be reached.
    pub(super) fn gives_up(&self, address: SocketAddr) {
        if self.is_of_many {
            output::say(&format!("note: {address} is not tried again"));
        }
    }

    /// Returns the failure of the command, if any file failed.
    pub(super) fn end(self) -> Result<(), Failure> {
        match self {
            Self { last: Some(failure), .. } => Err(failure),
            Self { failed: 0, .. } => Ok(()),
            Self { done, failed, .. } => {
                Err(Failure::write(format!("{failed} of {} transfers failed", failed + done)))
            }
        }
    }
}

fn failure(error: TransferError) -> Failure {
    match error {
        TransferError::Exists(_)
        | TransferError::Path(_)
        | TransferError::Busy(_)
        | TransferError::Kind { .. } => Failure::usage(error),
        other => Failure::write(other),
    }
}
