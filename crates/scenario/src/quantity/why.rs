//! What can be wrong with a quantity.

/// What is wrong with a quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// A text that does not begin with a decimal number.
    #[error("does not begin with a decimal number")]
    NoNumber,
    /// A queue's algorithm without the queue's limit.
    #[error("has no limit")]
    NoLimit,
    /// One of two parts that are wanted together.
    #[error("is only a part")]
    Part,
    /// A number without a unit.
    #[error("has no unit")]
    NoUnit,
    /// An unknown unit.
    #[error("has the unknown unit `{0}`")]
    UnknownUnit(String),
    /// A unit of another kind or half a unit, and the text that says the same.
    #[error("is written `{0}` here")]
    Write(String),
    /// A unit that may say two things, and the texts that say either.
    #[error("may mean `{}` or `{}`", .0.0, .0.1)]
    Either(Box<(String, String)>),
    /// A negative value.
    #[error("is negative")]
    Negative,
    /// Zero, or a value that rounds to zero.
    #[error("is zero")]
    Zero,
    /// NaN or infinite.
    #[error("is not finite")]
    NotFinite,
    /// A value too large to be held or simulated.
    #[error("is too large")]
    TooLarge,
    /// A value outside the allowed range.
    #[error("is out of range")]
    OutOfRange,
    /// A word that is not one of those allowed.
    #[error("is not known")]
    UnknownWord,
    /// A conflict with another part of the text.
    #[error("conflicts with what was said before")]
    Conflict,
    /// A file that cannot be read.
    #[error("cannot be read ({0})")]
    Unreadable(String),
    /// Steps that make no rate trace.
    #[error("is no trace: {0}")]
    Trace(firstflight_sim::TraceFault),
    /// Steps of a file that make no rate trace, and the line.
    #[error("is no trace: {}, in line {}", .0.0, .0.1)]
    TraceLine(Box<(firstflight_sim::TraceFault, usize)>),
    /// A line that is not a time and a rate.
    #[error("is not a time and a rate")]
    NoStep,
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
    /// What is wrong with that text.
    pub why: Why,
}

/// Quotes a user's text for a one-line error: control characters are shown as escapes.
pub fn in_a_line(text: &str) -> String {
    let shown = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(shown).collect()
}
