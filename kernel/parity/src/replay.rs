//! Holds the native scheme to the records of a kernel: the facts of each event must lead to the same decision.

use std::collections::BTreeMap;

use crate::facts::{Facts, Kind, Told};
use crate::hosted::Hosted;
use crate::record::{self, Record};
use crate::resident::Resident;
use crate::{for_each_hosted_scheme, for_each_resident_policy};
use firstflight::Startup;
use firstflight::registry::Numbers;
use firstflight::schemes::Initial;

/// Replays `records` with the native scheme or policy, and says how many decisions and ACKs are equal.
///
/// # Errors
/// The first decision that differs, or what is wrong with the records.
pub(crate) fn run(scheme: &str, records: &str) -> Result<(), String> {
    let records = record::read(records)?;
    let equal = replay_named(scheme, &records).map_err(|error| format!("{scheme}: {error}"))?;
    let acks = records.iter().filter(|record| record.kind == Kind::Acked).count();
    let sockets = records.iter().filter(|record| record.kind == Kind::Began).count();
    println!(
        "{scheme}: {equal} of {equal} decisions equal, of which {acks} at ACKs, in {sockets} connections"
    );
    Ok(())
}

macro_rules! by_name {
    ($function:ident, $host:ident, $module:ident, $($name:literal: $word:ident, $scheme:ident, $make:expr;)+) => {
        fn $function(scheme: &str, records: &[Record]) -> Option<Result<usize, String>> {
            use firstflight::$module::*;

            match scheme {
                $($name => Some(replay::<$host<$scheme>>(records, |facts, numbers| $host::<$scheme>::made(facts, numbers, $make))),)+
                _ => None,
            }
        }
    };
}

macro_rules! schemes {
    ($($tokens:tt)+) => { by_name!(replay_scheme, Hosted, schemes, $($tokens)+); };
}

macro_rules! policies {
    ($($tokens:tt)+) => { by_name!(replay_policy, Resident, restart, $($tokens)+); };
}

for_each_hosted_scheme!(schemes);
for_each_resident_policy!(policies);

fn replay_named(scheme: &str, records: &[Record]) -> Result<usize, String> {
    replay_scheme(scheme, records)
        .or_else(|| replay_policy(scheme, records))
        .unwrap_or_else(|| Err("no kernel hosts it".to_owned()))
}

/// A scheme or a policy as a socket has it.
trait Twin: Sized {
    /// Takes an event, and returns whether the answer is still to come.
    fn take(&mut self, kind: Kind, facts: &Facts, told: &mut Told) -> bool;
    fn answer_to(&mut self, facts: &Facts) -> Told;
}

impl<S: Startup> Hosted<S> {
    fn made(
        facts: &Facts,
        numbers: &Numbers,
        make: impl FnOnce(Initial, &Numbers, &Facts) -> S,
    ) -> (Self, Told) {
        let (mut hosted, step) = Self::begin(make, numbers, facts);
        let mut told = Told::default();
        if told.step(step, facts) {
            told = hosted.answer(facts);
        }
        (hosted, told)
    }
}

impl<S: Startup> Twin for Hosted<S> {
    fn take(&mut self, kind: Kind, facts: &Facts, told: &mut Told) -> bool {
        let step = if kind == Kind::Acked { self.acked(facts) } else { self.hear(kind as u32, facts) };
        told.step(step, facts)
    }

    fn answer_to(&mut self, facts: &Facts) -> Told {
        self.answer(facts)
    }
}

impl<R: Startup> Resident<R> {
    fn made(
        facts: &Facts,
        numbers: &Numbers,
        make: impl FnOnce(Initial, &Numbers, &Facts) -> R,
    ) -> (Self, Told) {
        (Self::begin(make, numbers, facts), Told::default())
    }
}

impl<R: Startup> Twin for Resident<R> {
    fn take(&mut self, kind: Kind, facts: &Facts, told: &mut Told) -> bool {
        let step = if kind == Kind::Acked { self.acked(facts) } else { self.hear(kind as u32, facts) };
        told.step(step, facts)
    }

    fn answer_to(&mut self, facts: &Facts) -> Told {
        self.answer(facts)
    }
}

fn replay<T: Twin>(
    records: &[Record],
    make: impl Fn(&Facts, &Numbers) -> (T, Told),
) -> Result<usize, String> {
    let mut sockets: BTreeMap<u64, T> = BTreeMap::new();
    for (equal, record) in records.iter().enumerate() {
        let Record { kind, socket, facts, told, numbers, .. } = record;
        let native = if *kind == Kind::Began {
            let (twin, told) = make(facts, numbers);
            sockets.insert(*socket, twin);
            told
        } else {
            let twin = sockets.get_mut(socket).ok_or("the records lack the begin of a connection")?;
            let mut native = Told::default();
            if twin.take(*kind, facts, &mut native) { twin.answer_to(facts) } else { native }
        };
        if native != *told {
            return Err(format!(
                "after {equal} equal decisions: kernel {told:?}, native {native:?}, at {kind:?} {facts:?}"
            ));
        }
    }
    Ok(records.len())
}

/// Says how many ACKs of start-up or restart the records have.
///
/// # Errors
/// What is wrong with the records.
pub(crate) fn count(records: &str) -> Result<(), String> {
    let records = record::read(records)?;
    println!("{}", records.iter().filter(|record| record.kind == Kind::Acked).count());
    Ok(())
}
