//! HyStart++ (RFC 9406): slow start that grows at a quarter of the pace for a few rounds (conservative slow start,
//! CSS) when the delay of a round rises, and returns to full growth if the delay falls again.
//!
//! Only the initial slow start runs HyStart++ (section 4.3); after a timeout it is plain slow start. Growth is
//! counted in bytes: the remainder of the division by four is carried to the next ACK. `windowEnd` begins at SND.NXT,
//! so the first round ends with the first ACK and has no samples.

use crate::interest::Interest;
use crate::interface::{Ack, Cause, Event, Origin, Path, Plan, Startup, Step};
use crate::registry::{Ability, Kind, Needs, Numbers, Parameter, SchemeEntry, Value, choice, place};
use crate::schemes::slow_start::NEEDS;
use crate::schemes::{Initial, SlowStart};
use crate::u32_micros::{self, Micros};
use crate::units::Bytes;

/// Section 4.3: `MIN_RTT_THRESH` and `MAX_RTT_THRESH`, in microseconds.
const THRESHOLD: core::ops::RangeInclusive<u32> = 4_000..=16_000;
/// Section 4.3: `MIN_RTT_DIVISOR`.
const RTT_DIVISOR: u32 = 8;
/// Section 4.3: `N_RTT_SAMPLE`.
const SAMPLES: u8 = 8;
/// Section 4.3: `CSS_GROWTH_DIVISOR`.
const GROWTH_DIVISOR: u8 = 4;
/// Section 4.3: `CSS_ROUNDS`.
const CSS_ROUNDS: u8 = 5;
/// Section 4.3: L, for a sender that does not pace.
const UNPACED_LIMIT: u16 = 8;

/// HyStart++.
#[derive(Clone, Debug)]
pub struct HyStartPlus {
    slow: SlowStart,
    /// Minimum RTT of the previous round (`lastRoundMinRTT`).
    last_min: Option<Micros>,
    /// Minimum RTT of this round (`currentRoundMinRTT`).
    current_min: Option<Micros>,
    /// The delay at the entry to conservative slow start (`cssBaselineMinRtt`); `None` outside of it.
    baseline: Option<Micros>,
    /// L in segments; `None` is infinite.
    limit: Option<core::num::NonZeroU16>,
    /// The number of RTT samples in this round, saturating (`rttSampleCount`).
    samples: u8,
    /// Rounds of conservative slow start that have ended.
    rounds: u8,
    most_rounds: u8,
    divisor: u8,
    /// The remainder of the division by the growth divisor (choice-11).
    carry: u8,
    carries: bool,
    resumes: Resume,
    /// Whether this is the initial slow start.
    armed: bool,
}

/// The delay below which conservative slow start returns to slow start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Resume {
    /// Section 4.2: the delay at the entry, which had already risen.
    EntryDelay,
    /// neqo's reading: the threshold of the entry.
    EntryThreshold,
}

const LIMIT: &str = "l";
const PACED: &str = "paced";
const DIVISOR: &str = "divisor";
const ROUNDS: &str = "rounds";
const BASELINE: &str = "baseline";
const DIVISION: &str = "division";

pub(crate) const HYSTART_PLUS: SchemeEntry = SchemeEntry {
    name: "hystart++",
    summary: "slow start that grows at a quarter of the pace once the delay rises, and leaves five rounds later",
    source: "RFC 9406",
    law: "reno",
    parameters: &[
        Parameter {
            name: LIMIT,
            kind: Kind::Count { min: 1, max: u16::MAX as u64 },
            default: Value::Count(UNPACED_LIMIT as u64),
            help: "L, the maximum of segments that one ACK counts for; unlimited when paced, unless it is set",
        },
        Parameter {
            name: PACED,
            kind: Kind::Word(&["no", "yes"]),
            default: Value::Word("no"),
            help: "whether packets are paced, at twice cwnd / srtt",
        },
        Parameter {
            name: DIVISOR,
            kind: Kind::Count { min: 2, max: u8::MAX as u64 },
            default: Value::Count(GROWTH_DIVISOR as u64),
            help: "by how much conservative slow start grows less (CSS_GROWTH_DIVISOR)",
        },
        Parameter {
            name: ROUNDS,
            kind: Kind::Count { min: 1, max: u8::MAX as u64 },
            default: Value::Count(CSS_ROUNDS as u64),
            help: "rounds of conservative slow start, the one in which it begins included (CSS_ROUNDS)",
        },
        Parameter {
            name: BASELINE,
            kind: Kind::Word(&["rfc", "last-min"]),
            default: Value::Word("rfc"),
            help: "it resumes below the delay with which it entered, or below last round's minimum plus the threshold",
        },
        Parameter {
            name: DIVISION,
            kind: Kind::Word(&["carry", "truncate"]),
            default: Value::Word("carry"),
            help: "what becomes of the bytes that the division leaves: carried to the next ACK, or lost",
        },
    ],
    needs: NEEDS.and(Needs::of(&[Ability::Rate])),
    make: |initial, settings| HyStartPlus::from_numbers(initial, &settings.numbers()).into(),
};

impl HyStartPlus {
    /// Returns HyStart++ with the constants of RFC 9406, not paced.
    pub fn new(initial: Initial) -> Self {
        Self {
            slow: SlowStart::new(initial),
            last_min: None,
            current_min: None,
            baseline: None,
            limit: core::num::NonZeroU16::new(UNPACED_LIMIT),
            samples: 0,
            rounds: 0,
            most_rounds: CSS_ROUNDS,
            divisor: GROWTH_DIVISOR,
            carry: 0,
            carries: true,
            resumes: Resume::EntryDelay,
            armed: true,
        }
    }

    /// Returns HyStart++ with the constants of RFC 9406, paced, so that one ACK counts for all bytes that it
    /// acknowledges.
    pub fn paced(initial: Initial) -> Self {
        Self { slow: SlowStart::paced(initial), limit: None, ..Self::new(initial) }
    }

    /// Returns the scheme with these parameters, in the order of its entry in the registry.
    pub fn from_numbers(initial: Initial, numbers: &Numbers) -> Self {
        let scheme = if numbers.is(const { choice(HYSTART_PLUS.parameters, PACED, "yes") }) {
            Self::paced(initial)
        } else {
            Self::new(initial)
        };
        let limit = match numbers.given(const { place(HYSTART_PLUS.parameters, LIMIT) }) {
            Some(limit) => core::num::NonZeroU16::new(u16::try_from(limit).unwrap_or(u16::MAX)),
            None => scheme.limit,
        };
        let byte = |place| u8::try_from(numbers.count(place)).unwrap_or(u8::MAX).max(1);
        Self {
            limit,
            divisor: byte(const { place(HYSTART_PLUS.parameters, DIVISOR) }),
            most_rounds: byte(const { place(HYSTART_PLUS.parameters, ROUNDS) }),
            carries: numbers.is(const { choice(HYSTART_PLUS.parameters, DIVISION, "carry") }),
            resumes: if numbers.is(const { choice(HYSTART_PLUS.parameters, BASELINE, "last-min") }) {
                Resume::EntryThreshold
            } else {
                Resume::EntryDelay
            },
            ..scheme
        }
    }

    /// Handles an ACK (section 4.2, "for each arriving ACK").
    fn acked(&mut self, ack: &Ack<'_>, path: &Path) -> Step {
        if !self.armed {
            return self.slow.grow(ack.slow_start_growth(path.mss));
        }
        if ack.round_ended && self.end_round() {
            return self.slow.leave(Cause::CssEnd);
        }
        if let Some(sample) = ack.rtt {
            let rtt = u32_micros::of(sample.rtt);
            self.current_min = Some(self.current_min.map_or(rtt, |min| min.min(rtt)));
            self.samples = self.samples.saturating_add(1);
        }
        let by = self.increase(ack.growth, path.mss);
        let step = self.slow.grow(by);
        self.judge_delay();
        step
    }

    /// Ends a round and begins the next. Returns whether the round that ended was the last of conservative slow start.
    fn end_round(&mut self) -> bool {
        self.last_min = self.current_min.take();
        self.samples = 0;
        if self.baseline.is_some() {
            self.rounds = self.rounds.saturating_add(1);
        }
        self.rounds >= self.most_rounds
    }

    /// Returns the growth of `cwnd += min(N, L * SMSS)`, divided in conservative slow start.
    fn increase(&mut self, acked: Bytes, mss: Bytes) -> Bytes {
        let max = self.limit.map_or(Bytes::MAX, |limit| mss * u64::from(limit.get()));
        let counted = acked.min(max);
        if self.baseline.is_none() {
            return counted;
        }
        let divisor = u64::from(self.divisor);
        let owed = counted + Bytes::new(u64::from(self.carry));
        let whole = owed / divisor;
        if self.carries {
            self.carry = u8::try_from((owed - whole * divisor).get()).unwrap_or(0);
        }
        whole
    }

    /// Enters conservative slow start, or leaves it for slow start again.
    fn judge_delay(&mut self) {
        let (Some(current), true) = (self.current_min, self.samples >= SAMPLES) else { return };
        match self.baseline {
            Some(baseline) if current < baseline => self.baseline = None,
            Some(_) => {}
            None => {
                let Some(bar) = self.last_min.map(entry_delay) else { return };
                if current >= bar {
                    self.baseline = Some(match self.resumes {
                        Resume::EntryDelay => current,
                        Resume::EntryThreshold => bar,
                    });
                    self.rounds = 0;
                }
            }
        }
    }

    fn begin(&mut self, origin: Origin) {
        self.armed = matches!(origin, Origin::Fresh | Origin::PathChange);
        (self.last_min, self.current_min, self.baseline) = (None, None, None);
        (self.samples, self.rounds, self.carry) = (0, 0, 0);
    }
}

/// Returns the delay from which conservative slow start begins: `lastRoundMinRTT + max(MIN_RTT_THRESH,
/// min(lastRoundMinRTT / MIN_RTT_DIVISOR, MAX_RTT_THRESH))`.
fn entry_delay(last: Micros) -> Micros {
    last.saturating_add((last.get() / RTT_DIVISOR).clamp(*THRESHOLD.start(), *THRESHOLD.end()))
}

impl Startup for HyStartPlus {
    const INTEREST: Interest<Self> = Interest::ALL.without_sends();

    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match event {
            Event::Acked(ack) => self.acked(ack, path),
            Event::Begin(origin) => {
                self.begin(*origin);
                self.slow.on(event, path)
            }
            left_to_slow_start!(Event::Established { .. }, Event::SpuriousLoss) => self.slow.on(event, path),
        }
    }

    fn plan(&self, path: &Path) -> Plan {
        self.slow.plan(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: Bytes = Bytes::new(1_460);

    fn in_css() -> HyStartPlus {
        let initial = Initial { segments: 10, ssthresh: None };
        HyStartPlus { baseline: Micros::new(1), ..HyStartPlus::new(initial) }
    }

    #[test]
    fn the_delay_must_rise_by_an_eighth_between_4_and_16_milliseconds() {
        let bar = |millis: u32| Micros::new(millis * 1_000).map(|last| entry_delay(last).get());
        assert_eq!([16, 20, 100, 200, 300].map(bar), [20_000, 24_000, 112_500, 216_000, 316_000].map(Some));
    }

    #[test]
    fn conservative_slow_start_adds_a_quarter_of_what_counts() {
        assert_eq!(in_css().increase(MSS * 2, MSS), Bytes::new(730));
        assert_eq!(in_css().increase(Bytes::new(20_000), MSS), Bytes::new(2_920), "L = 8 caps at 11680");
        let unlimited = &mut HyStartPlus { limit: None, ..in_css() };
        assert_eq!(unlimited.increase(Bytes::new(20_000), MSS), Bytes::new(5_000));
    }

    #[test]
    fn the_division_remainder_is_carried_or_discarded() {
        let added = |carries| {
            let mut scheme = HyStartPlus { carries, ..in_css() };
            (0..4).fold(Bytes::ZERO, |sum, _| sum + scheme.increase(Bytes::new(1_003), MSS))
        };
        assert_eq!(added(true), Bytes::new(1_003));
        assert_eq!(added(false), Bytes::new(1_000));
    }
}
