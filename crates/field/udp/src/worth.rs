//! The worth of connections to the application.

/// The worth of a connection to the application. It decides whether the connection may be dropped to make room for a new one
/// ([`Stream::set_worth`](crate::Stream::set_worth)).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Worth {
    /// The connection is never dropped to make room for another. This is the default.
    #[default]
    Kept,
    /// The connection may be dropped if no connection of the lowest worth is left.
    Low,
    /// The connection is the first to be dropped.
    Lowest,
}

impl Worth {
    /// Returns the worth that a mark contains.
    pub(crate) fn of(mark: u64) -> Self {
        match mark % 4 {
            0 => Self::Kept,
            1 => Self::Low,
            _ => Self::Lowest,
        }
    }

    /// Returns the mark with this worth that follows the mark `before`. A mark contains a worth and the number of changes.
    pub(crate) fn mark(self, before: u64) -> u64 {
        let number = before / 4 + 1;
        4 * number
            + match self {
                Self::Kept => 0,
                Self::Low => 1,
                Self::Lowest => 2,
            }
    }
}
