//! What the text of a value is: one list of kinds for the keys of a path and the parameters of models.
//!
//! `firstflight::registry::Kind`, of schemes' parameters, stays what it is: a bound on an integer, checked without an allocator by
//! whoever embeds the library, whom no text reaches. Here is what people write: packets, shares of any precision, words of
//! a key's own. The library would have to grow all of that, and `f64`, for readers that it does not have. What both kinds have in
//! common is the text of a rate, a time, a size and a share, and both have it from [`crate::quantity`].

/// What the text of a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A rate, [`crate::quantity::rate`].
    Rate,
    /// A time, [`crate::quantity::span`].
    Span,
    /// Bytes, [`crate::quantity::bytes`].
    Size,
    /// Whole segments, [`crate::quantity::packets`].
    Packets,
    /// A share of a whole, [`crate::quantity::fraction`].
    Share,
    /// A whole number up to this.
    Count(u64),
    /// A number a second, such as `10/s`.
    PerSecond,
    /// One of these words.
    Word(&'static [&'static str]),
    /// The limit of a queue, [`crate::quantity::queue`].
    Queue,
    /// Words of its own, which help calls this.
    Text(&'static str),
}

impl Kind {
    /// There or not.
    pub const FLAG: Self = Self::Word(&["true", "false"]);

    /// Whether a text of this kind is a number that a sweep may draw between two others.
    pub const fn is_a_number(self) -> bool {
        matches!(self, Self::Rate | Self::Span | Self::Size | Self::Share | Self::Queue)
    }

    /// What help calls a text of this kind.
    pub const fn placeholder(self) -> &'static str {
        match self {
            Self::Rate => "RATE",
            Self::Span => "TIME",
            Self::Size => "BYTES",
            Self::Packets => "PACKETS",
            Self::Share => "SHARE",
            Self::Count(_) => "N",
            Self::PerSecond => "N/s",
            Self::Word(_) => "WORD",
            Self::Queue => "SIZE",
            Self::Text(name) => name,
        }
    }
}
