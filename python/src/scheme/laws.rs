//! The laws of schemes, on a class of Python.

use firstflight::registry::{Ability, SchemeEntry, law, restart};
use firstflight::schemes::Initial;
use firstflight::{Call, TraceRecord};
use firstflight_fuzz_bodies::hiding::{Hidden, Part, Parts};
use firstflight_fuzz_bodies::{Broken, random_calls};
use pyo3::prelude::*;

use super::events::name;

/// The number of random bytes that determine the events of a case.
const BYTES: usize = 700;

/// The calls between two copies of a connection.
const COPIES: usize = 16;

/// A law that a class breaks.
#[derive(Debug)]
pub(crate) struct Breach {
    law: &'static str,
    case: u64,
    call: usize,
    event: &'static str,
    at: u64,
    text: String,
}

impl Breach {
    /// Returns the exception for the breach by `class`.
    pub(crate) fn error(&self, py: Python<'_>, class: &Bound<'_, PyAny>) -> PyErr {
        let Self { law, case, call, event, at, text } = self;
        let made = py.import(super::watch::MODULE).and_then(|module| {
            module.call_method1("_breach", (class, *law, *case, *call, *event, *at, text))
        });
        made.map_or_else(|error| error, PyErr::from_value)
    }
}

/// Marsaglia's xorshift: the same bytes for the same seed.
struct Random(u64);

impl Random {
    fn bytes(&mut self) -> Vec<u8> {
        let mut next = || {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0.to_le_bytes()[3]
        };
        (0..BYTES).map(|_| next()).collect()
    }
}

/// Checks the scheme of `entry` against the laws of schemes in `cases` random sequences of events that `seed` determines. Stops early if
/// `is_interrupted`. Returns the first law that it breaks.
pub(crate) fn check(
    entry: &SchemeEntry,
    cases: u64,
    seed: u64,
    is_interrupted: &dyn Fn() -> bool,
) -> Option<Breach> {
    let law = law(entry.law)?;
    let policy = restart("rfc5681")?;
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for case in 0..cases {
        if is_interrupted() {
            return None;
        }
        let data = random.bytes();
        let initial = Initial { segments: 1 + u32::try_from(case % 20).unwrap_or(0), ssthresh: None };
        let parts = || {
            Some(Parts {
                scheme: entry.build(initial, &[]).ok()?,
                restart: policy.build(initial, &[]).ok()?,
                law: law.build(),
            })
        };
        let own = parts()?;
        let calls = match random_calls(&own, [entry.name, policy.name, law.name], &data) {
            Ok(calls) => calls,
            Err(Broken { law, call, text, record }) => {
                return Some(breach(law, case, (call, record.get(call)), text));
            }
        };
        let found = repeats(&parts()?, &calls)
            .or_else(|| copies(&own, &calls))
            .or_else(|| needs(&own, entry, &calls));
        if let Some((law, call, text)) = found {
            return Some(breach(law, case, (call, calls.get(call)), text));
        }
    }
    None
}

fn breach(
    law: &'static str,
    case: u64,
    (call, record): (usize, Option<&TraceRecord>),
    text: String,
) -> Breach {
    let event = match record.map(|record| &record.call) {
        Some(Call::On(event)) => name(&event.event()),
        Some(Call::NewData) => "Begin",
        _ => "the plan",
    };
    let at = record.map_or(0, |record| record.path.now.nanos());
    Breach { law, case, call, event, at, text }
}

type Found = Option<(&'static str, usize, String)>;

/// Reports the calls to a second connection, which must decide like the first.
fn repeats(parts: &Parts, calls: &[TraceRecord]) -> Found {
    let mut control = parts.open();
    calls.iter().enumerate().find_map(|(at, record)| {
        let (plan, _) = control.replay(&record.call, &record.path);
        let text = || {
            format!(
                "the plan is {plan:?} instead of {:?} in another connection with the same events",
                record.plan
            )
        };
        (plan != record.plan).then(|| ("the same events make the same plans", at, text()))
    })
}

/// Reports the calls to a connection and to a copy of it, in turn. Both must decide like the first.
fn copies(parts: &Parts, calls: &[TraceRecord]) -> Found {
    let mut control = parts.open();
    let mut copy = control.clone();
    for (at, record) in calls.iter().enumerate() {
        if at % COPIES == 0 {
            copy = control.clone();
        }
        for one in [&mut copy, &mut control] {
            let (plan, _) = one.replay(&record.call, &record.path);
            if plan != record.plan {
                let text = format!("the plan is {plan:?} instead of {:?} after a copy for undo", record.plan);
                return Some(("a copy shares nothing with its original", at, text));
            }
        }
    }
    None
}

/// Finds a kind of plan or a fact on which the scheme depends and which it does not declare.
fn needs(parts: &Parts, entry: &SchemeEntry, calls: &[TraceRecord]) -> Found {
    const LAW: &str = "needs and uses name all that the scheme depends on";
    if let Some((at, ability)) = parts.undeclared_plan(Part::Scheme, entry.needs, calls) {
        return Some((LAW, at, format!("its plan requires {}", ability.name())));
    }
    let hidden = Hidden::undeclared(entry.needs);
    let (at, _) = parts.differs(Part::Scheme, &hidden, calls)?;
    // The smallest set that makes a difference: mostly one fact.
    let smallest = hidden.each().fold(hidden.clone(), |hidden, ability| {
        let fewer = hidden.without(ability);
        if parts.differs(Part::Scheme, &fewer, calls).is_some() { fewer } else { hidden }
    });
    let facts: Vec<_> = smallest.each().map(Ability::name).collect();
    Some((LAW, at, format!("its plan depends on {}", facts.join(", or "))))
}
