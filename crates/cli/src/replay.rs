//! `firstflight replay EVENTS.jsonl`: a recorded trace, told to a scheme again.

use std::fmt::Display;
use std::fs::File;
use std::io::BufReader;

use firstflight::registry::{AnyController, Registry};
use firstflight::{Bytes, Call, Event, Exit, Note, Pacing, Path, Plan, TraceRecord};
use firstflight_hostile::conformance::{Breaches, Conformance};
use firstflight_report::log::{origin_name, phase_name};
use firstflight_report::prose;
use firstflight_scenario::{ByName, Part, quantity};
use firstflight_trace::{Calls, Header, Hosts, Writer, read};

use crate::args::Replay;
use crate::failure::Failure;
use crate::output;

/// Replays, and prints what the scheme decides; to the recorded scheme, also whether it decides the same. Whatever scheme
/// hears it, the record's host is held to the laws of hosts: what a host may not say is no measure of any scheme.
pub(crate) fn replay(replay: &Replay, registry: Registry) -> Result<(), Failure> {
    let name = replay.events.display().to_string();
    let refuse = |what: &dyn Display| Failure::usage(format!("{name}: {what}"));
    let file = File::open(&replay.events).map_err(|error| refuse(&error))?;
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
    // A recorded scheme that this version cannot build has no judge.
    let host = Conformance::with_judge_of(registry, &recorded).unwrap_or_default();
    let heard = tell(twin, host, calls, shown, &name)?;
    let different = heard.first_different.as_ref().filter(|_| same);
    let decided = different.map(|Different { line, now, then }| {
        (*line, format!("line {line}: it decides {now}; recorded is {then}"))
    });
    let mut faults: Vec<(usize, String)> = [broken(&heard.breaches), decided].into_iter().flatten().collect();
    if !faults.is_empty() {
        // What comes first may be the cause.
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
    output::print(&format!("{} calls; {verdict}\n", heard.calls))
}

/// What hears the calls: as much of a controller as the host of the trace has.
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

/// What a replay found.
struct Heard {
    calls: u64,
    breaches: Breaches,
    first_different: Option<Different>,
}

/// A decision that is not the recorded one.
struct Different {
    line: usize,
    now: String,
    then: String,
}

fn tell(
    mut twin: Twin,
    mut host: Conformance,
    mut calls: Calls<BufReader<File>>,
    mut shown: Shown,
    name: &str,
) -> Result<Heard, Failure> {
    let mut heard = Heard { calls: 0, breaches: Breaches::default(), first_different: None };
    loop {
        let told = match calls.next_call() {
            Ok(Some(told)) => told,
            Ok(None) => break,
            Err(error) => {
                shown.flush()?;
                return Err(Failure::usage(format!("{name}: {error}")));
            }
        };
        heard.calls += 1;
        host.hear(calls.line(), &told);
        let (plan, notes) = twin.replay(&told.call, &told.path);
        if heard.first_different.is_none() && (plan, &notes) != (told.plan, &told.notes) {
            let (now, then) = (decision(&plan, &notes), decision(&told.plan, &told.notes));
            heard.first_different = Some(Different { line: calls.line(), now, then });
        }
        // What was judged for one scheme is not what is judged for another.
        let judged = told.judged.filter(|_| shown.same);
        shown.add(&TraceRecord { plan, notes, judged, ..told })?;
    }
    shown.flush()?;
    heard.breaches = host.finish();
    Ok(heard)
}

/// The first law that the host breaks, and how much else it does.
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

/// The decisions on their way to standard output.
struct Shown {
    buffer: String,
    /// Whether they are of the recorded scheme.
    same: bool,
    form: Form,
}

enum Form {
    /// A trace of its own.
    Trace(Box<Writer>),
    /// A line where something changes, or for every call.
    Text { all: bool, width: Option<usize>, last: Option<Plan> },
}

/// How much is printed at a time.
const CHUNK: usize = 1 << 16;

impl Shown {
    fn trace(header: &Header, same: bool) -> Self {
        Self { buffer: Writer::header(header), same, form: Form::Trace(Box::default()) }
    }

    fn text(header: &Header, all: bool, same: bool) -> Self {
        let Header { scheme, restart, avoidance, .. } = header;
        let columns = format!("{:>12}  {:<13} {:>11}  {:<36} {}", "seconds", "call", "window", "pacing", "");
        let title = match header.hosts {
            Hosts::Controller => format!("{scheme}, then {avoidance}; restart {restart}"),
            Hosts::Startup => format!("{scheme} alone"),
            Hosts::Restart => format!("restart {restart} alone"),
        };
        let title = prose::fold(&title, output::stdout_width(), 2);
        let buffer = format!("{title}\n{}\n", columns.trim_end());
        Self { buffer, same, form: Form::Text { all, width: output::stdout_width(), last: None } }
    }

    fn add(&mut self, told: &TraceRecord) -> Result<(), Failure> {
        match &mut self.form {
            Form::Trace(writer) => self.buffer.push_str(&writer.told(told)),
            Form::Text { all, width, last } => {
                let changed = last.replace(told.plan) != Some(told.plan) || !told.notes.is_empty();
                if *all || changed {
                    let seconds = told.path.now.nanos();
                    let at = format!("{}.{:09}", seconds / 1_000_000_000, seconds % 1_000_000_000);
                    let notes = told.notes.iter().map(note).collect::<Vec<_>>().join("; ");
                    let plan = format!(
                        "{at:>12}  {:<13} {:>11}  {:<36} ",
                        call_name(&told.call),
                        format!("{} B", told.plan.window.get()),
                        pacing(&told.plan)
                    );
                    self.buffer.push_str(&decided(&plan, &notes, *width));
                    self.buffer.push('\n');
                }
            }
        }
        if self.buffer.len() >= CHUNK { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let text = std::mem::take(&mut self.buffer);
        output::print(&text)
    }
}

/// The plan with its notes behind it; below it, if there is no room behind.
fn decided(plan: &str, notes: &str, width: Option<usize>) -> String {
    let line = format!("{plan}{notes}");
    let line = line.trim_end();
    match width {
        Some(width) if line.len() > width => {
            let notes = prose::fold(&format!("{:14}{notes}", ""), Some(width), 2);
            format!("{}\n{notes}", plan.trim_end())
        }
        _ => line.to_owned(),
    }
}

fn call_name(call: &Call) -> &'static str {
    let heard = match call {
        Call::On(heard) => heard,
        Call::NewData => return "new-data",
        Call::Plan => return "plan",
    };
    match heard.event() {
        Event::Begin(_) => "begin",
        Event::Established { .. } => "established",
        Event::Sent(_) => "sent",
        Event::Acked(_) => "acked",
        Event::Lost(_) => "lost",
        Event::Marked { .. } => "marked",
        Event::TimedOut { .. } => "timed-out",
        Event::SpuriousLoss => "spurious-loss",
        Event::Asked(_) => "asked",
        Event::Advice(_) => "advice",
        Event::TrainCut(_) => "train-cut",
        Event::Woken => "woken",
        Event::MssChanged => "mss-changed",
    }
}

fn decision(plan: &Plan, notes: &[Note]) -> String {
    let Plan { window, tag, ask, wake, ssthresh, .. } = plan;
    let mut words = vec![format!("a window of {} B, {}", window.get(), pacing(plan))];
    words.extend(ssthresh.map(|bytes| format!("ssthresh {} B", bytes.get())));
    words.extend(Some(tag.0).filter(|tag| *tag != 0).map(|tag| format!("tag {tag}")));
    words.extend(ask.map(|ask| format!("ask {ask:?}")));
    words.extend(wake.map(|at| format!("wake at {} ns", at.nanos())));
    words.extend(notes.iter().map(note));
    words.join(", ")
}

fn pacing(plan: &Plan) -> String {
    match plan.pacing {
        Pacing::AckClock => "ack clock".to_owned(),
        Pacing::Rate { rate, .. } => format!("{} bit/s", rate.bps()),
        Pacing::Train { packets, gap } => {
            format!("train {} of {packets} packets, gap {}", plan.tag.0, quantity::show_span(gap))
        }
        Pacing::Hold => "hold".to_owned(),
    }
}

fn note(note: &Note) -> String {
    match *note {
        Note::Began(origin) => format!("begin {}", origin_name(origin)),
        Note::Exited { exit: Exit { cause, learned }, phase, .. } => {
            let threshold = learned.ssthresh.map(Bytes::get).map(|bytes| format!(", ssthresh {bytes} B"));
            let rate = learned.rate.map(|rate| format!(", {} bit/s", rate.bps()));
            let found = [threshold, rate].into_iter().flatten().collect::<String>();
            format!(
                "exit {} by {}: window {} B{found}",
                phase_name(phase),
                cause.name(),
                learned.window.get()
            )
        }
        Note::Continued => "goes on".to_owned(),
        Note::Reduced { from } => format!("reduced from {} B", from.get()),
        Note::Undone { exit } => if exit { "undone, the exit too" } else { "undone" }.to_owned(),
    }
}
