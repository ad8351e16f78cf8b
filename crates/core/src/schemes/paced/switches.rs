//! The choices that Paced Start's paper leaves open, or describes in a way that cannot work, one bit each: clear for
//! the practical profile's reading, set for the other. `docs/choices.md` lists them by number.

/// A choice, decided otherwise than in the practical profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub(super) enum Switch {
    /// choice-01: the exit leaves ssthresh as it was, not at the window.
    SsthreshUnset = 1,
    /// choice-02: every gap counts, however many segments its ACK covers.
    AllAcks = 1 << 1,
    /// choice-02: the gap before an ACK of a single segment never counts, as section 3.3 says.
    LiteralAcks = 1 << 2,
    /// choice-03: the mean gap is over ACKs, not over segments.
    MeanOfAcks = 1 << 3,
    /// choice-03: one gap that counts is enough.
    AnyCoverage = 1 << 4,
    /// choice-06: the search goes on when the next train does not fit the pipe.
    IgnoresShortPipe = 1 << 5,
    /// choice-07: the fill is computed with the smoothed round-trip time.
    SmoothedRtt = 1 << 6,
    /// choice-07: the fill is computed with the latest round-trip time.
    LatestRtt = 1 << 7,
    /// choice-07: the window after the fill is the planned one, not the packets sent.
    WholeFill = 1 << 8,
    /// choice-08: a train that was cut is judged by the part that left.
    JudgesCut = 1 << 9,
    /// choice-08: a train whose ACKs came closer together than it left is judged.
    JudgesCompressed = 1 << 10,
}

/// Every choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Switches(u16);

impl Switches {
    /// Practical.
    pub(super) const PRACTICAL: Self = Self(0);

    /// The paper's readings, where they can work. Two practical readings stay. The paper drops every ACK of a single
    /// segment (section 3.3), but then no receiver gives a pair a gap, and its own simulations cannot have done that.
    /// The paper also does not say which round-trip time the fill takes.
    pub(super) const PAPER: Self = Self(0)
        .with(Switch::SsthreshUnset, true)
        .with(Switch::MeanOfAcks, true)
        .with(Switch::AnyCoverage, true)
        .with(Switch::IgnoresShortPipe, true)
        .with(Switch::WholeFill, true)
        .with(Switch::JudgesCut, true)
        .with(Switch::JudgesCompressed, true);

    pub(super) const fn has(self, switch: Switch) -> bool {
        self.0 & switch as u16 != 0
    }

    /// These switches, with `switch` set or clear.
    pub(super) const fn with(self, switch: Switch, set: bool) -> Self {
        let bit = switch as u16;
        Self(if set { self.0 | bit } else { self.0 & !bit })
    }
}
