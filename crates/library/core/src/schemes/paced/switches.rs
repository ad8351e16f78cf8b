//! The choices that Paced Start's paper leaves open, or describes in a way that cannot work, one bit each: clear for
//! the practical profile's reading, set for the other reading. `docs/reference/choices.md` lists them by number.

/// A choice, decided otherwise than in the practical profile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u16)]
pub(super) enum Switch {
    /// The exit leaves ssthresh unchanged, rather than at the window (choice-01).
    SsthreshUnset = 1,
    /// Every gap counts, however many segments its ACK covers (choice-02).
    AllAcks = 1 << 1,
    /// The gap before an ACK of a single segment never counts, as section 3.3 says (choice-02).
    LiteralAcks = 1 << 2,
    /// The mean gap is over ACKs, not over segments (choice-03).
    MeanOfAcks = 1 << 3,
    /// One gap that counts is enough (choice-03).
    AnyCoverage = 1 << 4,
    /// The search continues when the next train does not fit the pipe (choice-06).
    IgnoresShortPipe = 1 << 5,
    /// The fill is computed with the smoothed round-trip time (choice-07).
    SmoothedRtt = 1 << 6,
    /// The fill is computed with the latest round-trip time (choice-07).
    LatestRtt = 1 << 7,
    /// The window after the fill is the planned number of packets, not the number sent (choice-07).
    WholeFill = 1 << 8,
    /// A train that was cut is judged by the part that was sent (choice-08).
    JudgesCut = 1 << 9,
    /// A train is judged even if its ACKs arrived closer together than its packets were sent (choice-08).
    JudgesCompressed = 1 << 10,
    /// A first burst without a gap is repeated with as many packets as before (choice-08).
    RepeatsFirst = 1 << 11,
}

/// The set of switches that are on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Switches(u16);

impl Switches {
    /// The practical profile: no switch is on.
    pub(super) const PRACTICAL: Self = Self(0);

    /// The paper's readings, where they can work. Two readings are still the practical ones. The paper drops every ACK
    /// of a single segment (section 3.3). Then no receiver would show the gap of a pair, so the paper's own simulations
    /// cannot have done that. The paper also does not say which RTT the fill uses.
    pub(super) const PAPER: Self = Self(0)
        .with(Switch::SsthreshUnset, true)
        .with(Switch::MeanOfAcks, true)
        .with(Switch::AnyCoverage, true)
        .with(Switch::IgnoresShortPipe, true)
        .with(Switch::WholeFill, true)
        .with(Switch::JudgesCut, true)
        .with(Switch::JudgesCompressed, true)
        .with(Switch::RepeatsFirst, true);

    pub(super) const fn has(self, switch: Switch) -> bool {
        self.0 & switch as u16 != 0
    }

    /// Returns these switches, with `switch` set or clear.
    pub(super) const fn with(self, switch: Switch, set: bool) -> Self {
        let bit = switch as u16;
        Self(if set { self.0 | bit } else { self.0 & !bit })
    }
}
