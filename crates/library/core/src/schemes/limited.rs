//! Limited slow start (RFC 3742): beyond `max_ssthresh` the window grows by at most half of `max_ssthresh` per round
//! trip, whatever its size.

use crate::interest::Interest;
use crate::interface::{Event, Path, Plan, Startup, Step};
use crate::registry::{Kind, Numbers, Parameter, SchemeEntry, Value, choice, place};
use crate::schemes::slow_start::NEEDS;
use crate::schemes::{Initial, SlowStart};
use crate::u32_bytes::Bytes32;
use crate::units::Bytes;

/// Limited slow start.
#[derive(Clone, Debug)]
pub struct Limited {
    slow: SlowStart,
    /// `max_ssthresh` in segments.
    max: u16,
    /// Whether the remainder of the division by K is carried to the next ACK (choice-13).
    carries: bool,
    carry: Bytes32,
}

const MAX_SSTHRESH: &str = "max-ssthresh";
const DIVISION: &str = "division";

pub(crate) const LIMITED: SchemeEntry = SchemeEntry {
    name: "limited",
    summary: "slow start that adds at most half of max-ssthresh a round trip",
    source: "RFC 3742",
    law: "reno",
    parameters: &[
        Parameter {
            name: MAX_SSTHRESH,
            kind: Kind::Count { min: 2, max: u16::MAX as u64 },
            // RFC 3742 section 2: 100 MSS is recommended.
            default: Value::Count(100),
            help: "segments from which growth is limited",
        },
        Parameter {
            name: DIVISION,
            kind: Kind::Word(&["carry", "truncate"]),
            default: Value::Word("carry"),
            help: "what becomes of the rest of MSS / K: carried to the next ACK, or lost as RFC 3742 writes it",
        },
    ],
    needs: NEEDS,
    make: |initial, settings| Limited::from_numbers(initial, &settings.numbers()).into(),
};

impl Limited {
    /// Returns limited slow start with `max_ssthresh` in segments, at least 2.
    pub fn new(initial: Initial, max_ssthresh: u16) -> Self {
        Self { slow: SlowStart::new(initial), max: max_ssthresh.max(2), carries: true, carry: Bytes32::ZERO }
    }

    /// Returns the scheme with these parameters, in the order of its entry in the registry.
    pub fn from_numbers(initial: Initial, numbers: &Numbers) -> Self {
        let max = u16::try_from(numbers.count(const { place(LIMITED.parameters, MAX_SSTHRESH) }))
            .unwrap_or(u16::MAX);
        Self {
            carries: numbers.is(const { choice(LIMITED.parameters, DIVISION, "carry") }),
            ..Self::new(initial, max)
        }
    }

    /// Returns the growth (RFC 3742 section 2): `K = int(cwnd / (0.5 max_ssthresh))`, `cwnd += int(MSS / K)`.
    fn increase(&mut self, acked: Bytes, path: &Path) -> Bytes {
        let max = path.mss * u64::from(self.max);
        let window = self.slow.window();
        if window <= max {
            return acked;
        }
        let k = (window * 2).packets(max);
        if !self.carries {
            return acked / k;
        }
        // After the segment size has grown, K is smaller: the remainder of the larger K must stay below one byte.
        let owed = self.carry.wide().min(Bytes::new(k - 1)) + acked;
        let whole = owed / k;
        self.carry = (owed - whole * k).into();
        whole
    }
}

impl Startup for Limited {
    const INTEREST: Interest<Self> = Interest::ALL.without_sends();

    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match event {
            Event::Acked(ack) => {
                let by = self.increase(ack.slow_start_growth(path.mss), path);
                self.slow.grow(by)
            }
            Event::Begin(_) => {
                self.carry = Bytes32::ZERO;
                self.slow.on(event, path)
            }
            left_to_slow_start!(Event::Established { .. }, Event::SpuriousLoss) => self.slow.on(event, path),
        }
    }

    fn plan(&self, path: &Path) -> Plan {
        self.slow.plan(path)
    }
}
