//! `firstflight replay EVENTS.jsonl`: replays a recorded trace to a scheme.

use std::fmt::Display;
use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use clap::Args;
use firstflight::registry::{AnyController, Registry};
use firstflight::{Bytes, Call, Event, Exit, Note, Pacing, Path, Plan, TraceRecord};
use firstflight_conformance::{Breaches, Conformance};
use firstflight_export::log::{origin_name, phase_name};
use firstflight_report::prose;
use firstflight_scenario::{ByName, Part, quantity};
use firstflight_trace::{Calls, Header, Hosts, Writer, in_a_line, read};

use crate::failure::Failure;
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct Replay {
    /// The trace: a file that `race --events` wrote, or another host's record in that format.
    pub(crate) events: PathBuf,
    /// The scheme that replays the trace, with its parameters, as in `--schemes` [the recorded scheme, whose decisions are
    /// then compared].
    #[arg(long, value_name = "NAME[:K=V,...]", allow_hyphen_values = true)]
    pub(crate) scheme: Option<String>,
    /// Print every call, not only those that change the plan.
    #[arg(long, conflicts_with = "json")]
    pub(crate) all: bool,
    /// Print a new trace: the recorded calls with the plans of this scheme.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Replays the trace, and prints the scheme's decisions. For the recorded scheme, also checks that the decisions are the recorded ones. For
/// any scheme, checks the recorded host against the laws of hosts, because calls that break the laws are no test of a scheme.
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
    output::print(&(in_a_line(&format!("{} calls; {verdict}", heard.calls)) + "\n"))
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
    mut calls: Calls<BufReader<File>>,
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
    shown.flush()?;
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

/// The output of decisions on standard output.
struct Shown {
    buffer: String,
    /// Whether the decisions are those of the recorded scheme.
    same: bool,
    form: Form,
}

enum Form {
    /// A new trace with the decisions is printed.
    Trace(Box<Writer>),
    /// A line is printed for each change of the plan, or for every call.
    Text { all: bool, width: Option<usize>, last: Option<Plan> },
}

/// The number of bytes printed at a time.
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
        let title = prose::fold(&in_a_line(&title), output::stdout_width(), 2);
        let buffer = format!("{title}\n{}\n", columns.trim_end());
        Self { buffer, same, form: Form::Text { all, width: output::stdout_width(), last: None } }
    }

    fn add(&mut self, record: &TraceRecord) -> Result<(), Failure> {
        match &mut self.form {
            Form::Trace(writer) => self.buffer.push_str(&writer.record(record)),
            Form::Text { all, width, last } => {
                let changed = last.replace(record.plan) != Some(record.plan) || !record.notes.is_empty();
                if *all || changed {
                    let seconds = record.path.now.nanos();
                    let at = format!("{}.{:09}", seconds / 1_000_000_000, seconds % 1_000_000_000);
                    let notes = record.notes.iter().map(note).collect::<Vec<_>>().join("; ");
                    let plan = format!(
                        "{at:>12}  {:<13} {:>11}  {:<36} ",
                        call_name(&record.call),
                        format!("{} B", record.plan.window.get()),
                        pacing(&record.plan)
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

/// Returns the plan followed by its notes. If there is no room after the plan, the notes are below it.
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
        _ => "event",
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
