//! The decisions of a replay as text, or as a new trace.

use firstflight::{Bytes, Call, Event, Exit, Note, Pacing, Plan, Time, TraceRecord};
use firstflight_export::Record;
use firstflight_export::log::{origin_name, phase_name};
use firstflight_report::prose;
use firstflight_report::table::Selected;
use firstflight_scenario::quantity;
use firstflight_trace::{Header, Hosts, Writer, in_a_line};
use serde_json::Value;

use crate::failure::Failure;
use crate::output;
use crate::session;

/// The output of decisions on standard output.
pub(super) struct Shown {
    buffer: String,
    /// Whether the decisions are those of the recorded scheme.
    pub(super) same: bool,
    form: Form,
    /// The rows of the decisions that are shown, if a session needs them.
    rows: Option<Vec<(Record, Vec<String>)>>,
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
    /// Creates the output of a new trace.
    pub(super) fn trace(header: &Header, same: bool) -> Self {
        Self { buffer: Writer::header(header), same, form: Form::Trace(Box::default()), rows: None }
    }

    /// Creates the output of text. `all` says whether every call has a line.
    pub(super) fn text(header: &Header, all: bool, same: bool) -> Self {
        let Header { scheme, restart, avoidance, .. } = header;
        let columns = format!("{:>12}  {:<13} {:>11}  {:<36} {}", "seconds", "call", "window", "pacing", "");
        let title = match header.hosts {
            Hosts::Controller => format!("{scheme}, then {avoidance}; restart {restart}"),
            Hosts::Startup => format!("{scheme} alone"),
            Hosts::Restart => format!("restart {restart} alone"),
        };
        let title = prose::fold(&in_a_line(&title), output::stdout_width(), 2);
        let buffer = format!("{title}\n{}\n", columns.trim_end());
        let form = Form::Text { all, width: output::stdout_width(), last: None };
        Self { buffer, same, form, rows: session::current().map(|_| Vec::new()) }
    }

    /// Adds a call.
    pub(super) fn add(&mut self, record: &TraceRecord) -> Result<(), Failure> {
        match &mut self.form {
            Form::Trace(writer) => self.buffer.push_str(&writer.record(record)),
            Form::Text { all, width, last } => {
                let changed = last.replace(record.plan) != Some(record.plan) || !record.notes.is_empty();
                if *all || changed {
                    let seconds = record.path.now.nanos();
                    let at = format!("{}.{:09}", seconds / 1_000_000_000, seconds % 1_000_000_000);
                    let notes = record.notes.iter().map(note).collect::<Vec<_>>().join("; ");
                    if let Some(rows) = &mut self.rows {
                        let window = record.plan.window.get().to_string();
                        let call = call_name(&record.call).to_owned();
                        rows.push((
                            row(record),
                            vec![at.clone(), call, window, pacing(&record.plan), notes.clone()],
                        ));
                    }
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

    /// Writes the last of what was added, and gives the session the table of the decisions.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        if let Some(rows) = self.rows.take() {
            let (records, cells) = rows.into_iter().unzip();
            session::table("rows", || records);
            session::selected(|| Selected {
                heads: ["seconds", "call", "window (B)", "pacing", "notes"].map(str::to_owned).to_vec(),
                is_numbers: vec![true, false, true, false, false],
                rows: cells,
            });
        }
        self.flush()
    }

    /// Writes what was added.
    pub(super) fn flush(&mut self) -> Result<(), Failure> {
        let text = std::mem::take(&mut self.buffer);
        output::print(&text)
    }
}

/// Returns a decision as a row: the call, and the plan after it.
#[expect(clippy::cast_precision_loss, reason = "times of records are below 2^53 nanoseconds, 104 days")]
fn row(record: &TraceRecord) -> Record {
    let Plan { window, ssthresh, wake, .. } = record.plan;
    let rate = match record.plan.pacing {
        Pacing::Rate { rate, .. } => Some(rate.bps()),
        _ => None,
    };
    let seconds = |at: Time| at.nanos() as f64 / 1e9;
    let notes = record.notes.iter().map(note).collect::<Vec<_>>().join("; ");
    let fields = [
        ("time_s", Value::from(seconds(record.path.now))),
        ("call", Value::from(call_name(&record.call))),
        ("window_bytes", Value::from(window.get())),
        ("pacing", Value::from(pacing(&record.plan))),
        ("pacing_bps", rate.map_or(Value::Null, Value::from)),
        ("ssthresh_bytes", ssthresh.map_or(Value::Null, |bytes| Value::from(bytes.get()))),
        ("wake_s", wake.map_or(Value::Null, |at| Value::from(seconds(at)))),
        ("notes", Value::from(notes)),
    ];
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
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

/// Returns a decision as text.
pub(super) fn decision(plan: &Plan, notes: &[Note]) -> String {
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
