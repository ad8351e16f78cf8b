//! The kinds of values: one list for the keys of a path and the parameters of models.
//!
//! `firstflight::registry::Kind`, the kind of a scheme's parameter, is another type: a bound on an integer, which an embedder checks
//! without an allocator and without text. The kinds here describe texts that people write: packets, shares of any precision, words. The
//! library would need all of these, and `f64`, without a use for them. For both types, [`crate::quantity`] reads rates, times, sizes and
//! shares.

/// The kind of a value.
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
    /// A whole number up to this maximum.
    Count(u64),
    /// A number per second, such as `10/s`.
    PerSecond,
    /// One of these words.
    Word(&'static [&'static str]),
    /// The limit of a queue, [`crate::quantity::queue`].
    Queue,
    /// A time, or a whole number of packets. The batches of ACK aggregation have this kind.
    SpanOrCount,
    /// A text of another form, with this placeholder in the help.
    Text(&'static str),
}

impl Kind {
    /// A flag, which is set or not set.
    pub const FLAG: Self = Self::Word(&["true", "false"]);

    /// Checks whether values of this kind are numbers, so that a sweep may choose a random value between two others.
    pub const fn is_a_number(self) -> bool {
        matches!(self, Self::Rate | Self::Span | Self::Size | Self::Share | Self::Queue | Self::SpanOrCount)
    }

    /// Returns the placeholder of a value of this kind in the help.
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
            Self::SpanOrCount => "SPAN|N",
            Self::Text(name) => name,
        }
    }
}
