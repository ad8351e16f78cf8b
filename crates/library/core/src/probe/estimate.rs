//! Results of a probe.

use crate::{Rate, Span};

/// The reason why a probe ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// The turning point was found.
    Turned,
    /// The single gap of [`Control::Gap`](crate::probe::Control::Gap) was tested.
    Tested,
    /// The maximum number of trains was sent or the gap reached its maximum before the turning point was found.
    Trains,
    /// Two consecutive trains had too few gaps that could be measured.
    Void,
}

impl Ending {
    /// Returns the ending's name in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Turned => "turning-point",
            Self::Tested => "gap",
            Self::Trains => "trains",
            Self::Void => "void",
        }
    }
}

/// Results of a probe. Rates count IP bytes. A value that was not found is `None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Estimate {
    /// The capacity: the rate of the narrowest link.
    pub capacity: Option<Rate>,
    /// PTR: the arrival rate of the train at the turning point.
    pub ptr: Option<Rate>,
    /// IGI: the capacity minus the rate of the other traffic, which is computed from the increased gaps of that train.
    pub igi: Option<Rate>,
    /// Lower bound of the available bandwidth: the sending rate of the train at the turning point, reduced by the tolerance. `None` if the
    /// gaps of that train grew.
    pub low: Option<Rate>,
    /// Upper bound of the available bandwidth: the minimum sending rate of a congested train, but at most the capacity.
    pub high: Option<Rate>,
    /// The mean gap at the sender, at the turning point.
    pub source_gap: Option<Span>,
    /// The mean gap at the receiver, at the turning point.
    pub arrival_gap: Option<Span>,
    /// Number of trains sent.
    pub trains: u16,
    /// Number of packets sent.
    pub packets: u32,
    /// Number of packets that did not arrive in time.
    pub lost: u32,
    /// The reason why the probe ended. `None` while it continues.
    pub ending: Option<Ending>,
}
