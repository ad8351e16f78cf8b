//! The errors of reading.

use std::{fmt, io};

/// The reason why a file cannot be read.
#[derive(Debug)]
pub enum QlogError {
    /// The system cannot read it.
    Io(io::Error),
    /// It is not qlog. The text says what is there and what is allowed.
    Format(String),
}

impl fmt::Display for QlogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => error.fmt(f),
            Self::Format(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for QlogError {}
