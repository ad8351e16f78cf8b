//! What a probing is asked to do.

use firstflight::{Bytes, Span};

use crate::measured::MOST_PACKETS;

/// How the gaps are chosen, and when a gap counts as unchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    /// Brackets the turning point. A congested train's gaps say the next gap by `g_d = g_B + (1 - α) g_s` (section 3 of the
    /// paper); a train that arrived as it left is followed by one of a smaller gap. Gaps are equal if they grew by less than
    /// the tolerance times `g_B`, which is the same error of the rate at any share of the capacity. A fiftieth of the
    /// capacity is the least rate that is tried.
    Bracket,
    /// The paper's: from half of `g_B` on an eighth of it more each time, until a gap grew by less than the tolerance times
    /// the greater gap.
    Paper,
    /// Its program's, version 2.2: from three quarters of a burst's gap on a quarter of it more each time, until two gaps in
    /// a row grew by no more than 5 µs. The first of the two is the turning point.
    Program,
    /// One gap, without a search.
    Gap(Span),
}

/// A probing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setting {
    /// How gaps are chosen.
    pub control: Control,
    /// Packets of a train.
    pub packets: u16,
    /// Trains sent with each gap, one a round trip; their gaps are taken together.
    pub repeats: u16,
    /// IP bytes of a packet.
    pub wire: Bytes,
    /// δ: two gaps are equal if they differ by less than this many millionths; of what, [`Control`] says. The program's
    /// control has none.
    pub tolerance_ppm: u32,
    /// The error of clocks: two gaps that differ by no more than the slack are equal, whatever the tolerance. IGI counts a gap as
    /// increased if the gap exceeds both `g_B` and the source gap by more than the slack.
    pub slack: Span,
    /// The most trains that are sent.
    pub most_trains: u16,
}

/// What makes a setting impossible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Faulty {
    /// Fewer than three packets have no two gaps to compare, more than [`MOST_PACKETS`] are not kept.
    Packets,
    /// No train.
    Trains,
    /// A packet without bytes, or of more than IP can carry.
    Wire,
    /// A tolerance of 100 % or more.
    Tolerance,
}

impl Setting {
    /// The setting of a control as its source has it, with packets of `wire` IP bytes.
    pub const fn of(control: Control, wire: Bytes) -> Self {
        let (packets, repeats, most_trains) = match control {
            Control::Bracket => (16, 1, 10),
            Control::Paper => (16, 1, 100),
            Control::Program => (60, 3, 300),
            Control::Gap(_) => (16, 1, 2),
        };
        let slack = Span::from_micros(5);
        Self { control, packets, repeats, wire, tolerance_ppm: 100_000, slack, most_trains }
    }

    /// This setting with another number of trains for each gap; the search may take as many gaps as before.
    #[must_use]
    pub const fn repeated(self, repeats: u16) -> Self {
        let repeats = if repeats == 0 { 1 } else { repeats };
        let gaps = self.most_trains / if self.repeats == 0 { 1 } else { self.repeats };
        Self { repeats, most_trains: gaps.saturating_mul(repeats), ..self }
    }

    /// # Errors
    /// What is impossible.
    pub const fn check(&self) -> Result<(), Faulty> {
        let wire = self.wire.get();
        match self {
            Self { packets, .. } if *packets < 3 || *packets as usize > MOST_PACKETS => Err(Faulty::Packets),
            Self { most_trains: 0, .. } | Self { repeats: 0, .. } => Err(Faulty::Trains),
            _ if wire == 0 || wire > 65_535 => Err(Faulty::Wire),
            Self { tolerance_ppm, .. } if *tolerance_ppm >= 1_000_000 => Err(Faulty::Tolerance),
            _ => Ok(()),
        }
    }
}
