//! `firstflight replay FILE`: replays a recorded trace, or the qlog of a QUIC connection, to a scheme.

mod open_loop;
mod options;
mod shown;

use std::fmt::Display;
use std::io::BufReader;

use firstflight::registry::{AnyController, Registry};
use firstflight::{Call, Note, Path, Plan, TraceRecord};
use firstflight_conformance::{Breaches, Conformance};
use firstflight_scenario::{ByName, Part};
use firstflight_trace::{Calls, Header, in_a_line, read};

use crate::captures::{self, Input};
use crate::failure::Failure;
use crate::output;
use crate::session;
pub(crate) use options::Replay;
use shown::{Shown, decision};

/// Replays the trace, and prints the scheme's decisions. For the recorded scheme, also checks that the decisions are the recorded ones. For
/// any scheme, checks the recorded host against the laws of hosts, because calls that break the laws are no test of a scheme.
pub(crate) fn replay(replay: &Replay, registry: Registry) -> Result<(), Failure> {
    let name = replay.events.display().to_string();
    let refuse = |what: &dyn Display| Failure::usage(format!("{name}: {what}"));
    let file = captures::opened(&replay.events)?;
    if file.is_qlog() {
        return open_loop::replay(replay, file, registry);
    }
    let (recorded, calls) = read(BufReader::new(file)).map_err(|error| refuse(&error))?;
    let header = match &replay.scheme {
        Some(scheme) => registry
            .header_for(&recorded, scheme)
            .map_err(|error| Failure::usage(format!("--scheme: {error}")))?,
        None => recorded.clone(),
    };
    let twin = match registry.part_of(&header).map_err(|error| refuse(&error))? {
        Some(part) => Twin::Part(part),
        None => Twin::Whole(Box::new(registry.controller_of(&header).map_err(|error| refuse(&error))?)),
    };
    let same = Header { version: recorded.version.clone(), ..header.clone() } == recorded;

    let shown =
        if replay.json { Shown::trace(&header, same) } else { Shown::text(&header, replay.all, same) };
    // If this version cannot build the recorded scheme, the values that a controller fills in are not compared.
    let host = Conformance::of(&recorded, registry.controller_of(&recorded).ok());
    let heard = tell(twin, host, calls, shown, &name)?;
    let different = heard.first_different.as_ref().filter(|_| same);
    let decided = different.map(|Different { line, now, then }| {
        (*line, format!("line {line}: it decides {now}; recorded is {then}"))
    });
    let mut faults: Vec<(usize, String)> = [broken(&heard.breaches), decided].into_iter().flatten().collect();
    if !faults.is_empty() {
        // The first fault comes first, because it may be the cause of the others.
        faults.sort_by_key(|(line, _)| *line);
        let faults: Vec<String> = faults.into_iter().map(|(_, what)| what).collect();
        return Err(Failure::check(format!("{name}: {}", faults.join("; besides, "))));
    }
    if replay.json {
        return Ok(());
    }
    let verdict = match (same, heard.first_different) {
        (true, _) => "every decision as recorded".to_owned(),
        (false, None) => format!("every decision as {} made it", recorded.scheme),
        (false, Some(first)) => {
            format!("the first decision that {} did not make is on line {}", recorded.scheme, first.line)
        }
    };
    let verdict = in_a_line(&format!("{} calls; {verdict}", heard.calls));
    session::text("verdict", || verdict.clone());
    output::print(&(verdict + "\n"))
}

/// The receiver of the recorded calls: a whole controller, or only a start-up or a restart, as the trace's host has.
enum Twin {
    Whole(Box<AnyController>),
    Part(Part),
}

impl Twin {
    fn replay(&mut self, call: &Call, path: &Path) -> (Plan, Vec<Note>) {
        match self {
            Self::Whole(controller) => controller.replay(call, path),
            Self::Part(part) => part.replay(call, path),
        }
    }
}

/// Results of a replay.
struct Heard {
    calls: u64,
    breaches: Breaches,
    first_different: Option<Different>,
}

/// A decision that differs from the recorded one.
struct Different {
    line: usize,
    now: String,
    then: String,
}

fn tell(
    mut twin: Twin,
    mut host: Conformance,
    mut calls: Calls<BufReader<Input>>,
    mut shown: Shown,
    name: &str,
) -> Result<Heard, Failure> {
    let mut heard = Heard { calls: 0, breaches: Breaches::default(), first_different: None };
    loop {
        let record = match calls.next_call() {
            Ok(Some(record)) => record,
            Ok(None) => break,
            Err(error) => {
                shown.flush()?;
                return Err(Failure::usage(format!("{name}: {error}")));
            }
        };
        heard.calls += 1;
        host.check_record(calls.line(), &record);
        let (plan, notes) = twin.replay(&record.call, &record.path);
        if heard.first_different.is_none() && (plan, &notes) != (record.plan, &record.notes) {
            let (now, then) = (decision(&plan, &notes), decision(&record.plan, &record.notes));
            heard.first_different = Some(Different { line: calls.line(), now, then });
        }
        // The judgement of one scheme does not apply to another scheme.
        let judged = record.judged.filter(|_| shown.same);
        shown.add(&TraceRecord { plan, notes, judged, ..record })?;
    }
    shown.finish()?;
    heard.breaches = host.finish();
    Ok(heard)
}

/// Returns the line of the trace in which the host first breaks a law, and a description of its breaches. `None` if it breaks none.
fn broken(breaches: &Breaches) -> Option<(usize, String)> {
    let first = breaches.listed().first()?;
    let mut others: Vec<&str> = breaches.listed()[1..].iter().map(|breach| breach.law.name()).collect();
    others.sort_unstable();
    others.dedup();
    let what = match breaches.count() - 1 {
        0 => first.to_string(),
        more => format!("{first} ({more} more: {})", others.join(", ")),
    };
    Some((first.line, what))
}
