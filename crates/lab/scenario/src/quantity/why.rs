//! The faults that the text of a quantity can have.

/// The fault of a quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// A text that does not begin with a decimal number.
    #[error("does not begin with a decimal number")]
    NoNumber,
    /// A queue's algorithm without the queue's limit.
    #[error("has no limit")]
    NoLimit,
    /// One of two parts that must be given together, without the other.
    #[error("is only a part")]
    Part,
    /// A number without a unit.
    #[error("has no unit")]
    NoUnit,
    /// An unknown unit.
    #[error("has the unknown unit `{0}`")]
    UnknownUnit(String),
    /// A unit of another kind or an incomplete unit. The value is the text with the intended meaning.
    #[error("is written `{0}` here")]
    Write(String),
    /// A unit with two possible meanings. The values are the texts to write for each.
    #[error("may mean `{}` or `{}`", .0.0, .0.1)]
    Either(Box<(String, String)>),
    /// A negative value.
    #[error("is negative")]
    Negative,
    /// Zero, or a value that rounds to zero.
    #[error("is zero")]
    Zero,
    /// A value that is NaN or infinite.
    #[error("is not finite")]
    NotFinite,
    /// A value too large to be held or simulated.
    #[error("is too large")]
    TooLarge,
    /// A value outside the allowed range.
    #[error("is out of range")]
    OutOfRange,
    /// A word that is not one of the allowed words.
    #[error("is not known")]
    UnknownWord,
    /// A conflict with another part of the text.
    #[error("conflicts with what was said before")]
    Conflict,
    /// A file that cannot be read.
    #[error("cannot be read ({0})")]
    Unreadable(String),
    /// Steps that are not a valid rate trace.
    #[error("is no trace: {0}")]
    Trace(firstflight_sim::TraceFault),
    /// Steps of a file that are not a valid rate trace, and the number of the line at fault.
    #[error("is no trace: {}, in line {}", .0.0, .0.1)]
    TraceLine(Box<(firstflight_sim::TraceFault, usize)>),
    /// A line that is not a time followed by a rate.
    #[error("is not a time and a rate")]
    NoStep,
    /// A line that is not a whole number of milliseconds.
    #[error("is not a whole number of milliseconds")]
    NoMillis,
    /// An error inside a file; [`QuantityError::found`](super::QuantityError::found) is the file's name.
    #[error("has `{}` in line {}, which {}", .0.found, .0.number, .0.why)]
    Line(Box<Line>),
}

/// A line of a file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The line's number, from one.
    pub number: usize,
    /// The text found in the line.
    pub found: String,
    /// The fault of that text.
    pub why: Why,
}
