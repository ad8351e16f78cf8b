//! Settings of a probe.

use crate::{Bytes, Span};

use crate::probe::measured::MAX_PACKETS;

/// How the source gaps are chosen, and when a gap is judged unchanged at the receiver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    /// Narrows an interval around the turning point. A congested train determines the next gap by `g_d = g_B + (1 - α) g_s` (section 3 of
    /// the paper). After an equal train, the next gap is smaller. Two gaps are equal if the growth is less than the tolerance times `g_B`,
    /// because this gives the same error of the rate at any share of the capacity. The minimum rate tried is a fiftieth of the capacity.
    Bracket,
    /// The paper's control. The gap starts at half of `g_B` and grows in steps of an eighth of `g_B`. The search ends when a gap grew by
    /// less than the tolerance times the larger of the source gap and the arrival gap.
    Paper,
    /// The control of the paper's program, version 2.2. The gap starts at three quarters of a burst's mean arrival gap and grows in steps
    /// of a quarter of it. The search ends when two consecutive gaps grew by no more than 5 µs; the first of the two is the turning point.
    Program,
    /// Tests this one gap, without a search.
    Gap(Span),
}

/// Settings of a probe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Setting {
    /// How gaps are chosen.
    pub control: Control,
    /// Number of packets of a train.
    pub packets: u16,
    /// Number of trains sent with each gap, one per RTT. The gaps of these trains are evaluated together.
    pub repeats: u16,
    /// Size of a packet in IP bytes.
    pub wire: Bytes,
    /// The tolerance δ in millionths: a gap is equal if it grew by less than this share. [`Control`] says of what the share is taken.
    /// [`Control::Program`] has no tolerance.
    pub tolerance_ppm: u32,
    /// Allowance for clock errors. A gap that grew by no more than this is equal, whatever the tolerance. For IGI, a gap is increased only
    /// if it exceeds both `g_B` and the source gap by more than this.
    pub slack: Span,
    /// Maximum number of trains sent in the whole probe.
    pub most_trains: u16,
}

/// The reason why a setting is impossible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Faulty {
    /// The number of packets is out of range. A comparison of two gaps needs at least three packets, and at most [`MAX_PACKETS`] can be
    /// stored.
    Packets,
    /// The number of trains is zero.
    Trains,
    /// The packet size is zero, or more than IP can carry.
    Wire,
    /// The tolerance is 100 % or more.
    Tolerance,
}

impl Setting {
    /// Returns the default setting of `control`, from the paper or the program that defines it, with packets of `wire` IP bytes.
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

    /// Returns this setting with `repeats` trains for each gap. The maximum number of trains is scaled, so that the maximum number of gaps
    /// stays the same.
    #[must_use]
    pub const fn repeated(self, repeats: u16) -> Self {
        let repeats = if repeats == 0 { 1 } else { repeats };
        let gaps = self.most_trains / if self.repeats == 0 { 1 } else { self.repeats };
        Self { repeats, most_trains: gaps.saturating_mul(repeats), ..self }
    }

    /// # Errors
    /// The reason why the setting is impossible.
    pub const fn check(&self) -> Result<(), Faulty> {
        let wire = self.wire.get();
        match self {
            Self { packets, .. } if *packets < 3 || *packets as usize > MAX_PACKETS => Err(Faulty::Packets),
            Self { most_trains: 0, .. } | Self { repeats: 0, .. } => Err(Faulty::Trains),
            _ if wire == 0 || wire > 65_535 => Err(Faulty::Wire),
            Self { tolerance_ppm, .. } if *tolerance_ppm >= 1_000_000 => Err(Faulty::Tolerance),
            _ => Ok(()),
        }
    }
}
