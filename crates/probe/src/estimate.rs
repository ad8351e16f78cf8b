//! What a probing found.

use firstflight::{Rate, Span};

/// Why a probing ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// The turning point was found.
    Turned,
    /// The one gap was tested.
    Tested,
    /// As many trains as allowed were sent, or the gap reached its greatest value, and the search was not at its end.
    Trains,
    /// Two trains in a row showed too few gaps.
    Void,
}

impl Ending {
    /// The ending as a word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Turned => "turning-point",
            Self::Tested => "gap",
            Self::Trains => "trains",
            Self::Void => "void",
        }
    }
}

/// What a probing found. A rate counts IP bytes; what was not found is `None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Estimate {
    /// The rate of the narrowest link.
    pub capacity: Option<Rate>,
    /// PTR: the rate at which the train of the turning point arrived.
    pub ptr: Option<Rate>,
    /// IGI: the capacity less the other traffic in the increased gaps of that train.
    pub igi: Option<Rate>,
    /// The least bandwidth available by which the turning point was equal: its rate at departure less what is tolerated.
    pub low: Option<Rate>,
    /// The most: the least rate that was sent and arrived stretched, or the capacity.
    pub high: Option<Rate>,
    /// The gap at departure of the turning point.
    pub source_gap: Option<Span>,
    /// The gap at arrival of the turning point.
    pub arrival_gap: Option<Span>,
    /// Trains sent.
    pub trains: u16,
    /// Packets sent.
    pub packets: u32,
    /// Packets that did not arrive in time.
    pub lost: u32,
    /// Why it ended; `None` while it goes on.
    pub ending: Option<Ending>,
}
