//! Records as traces: the events of each connection as passed to the scheme, and its decisions as returned to the kernel.

use std::collections::BTreeMap;

use firstflight::registry::Value;
use firstflight::schemes::SavedPath;
use firstflight::{
    Ack, Bytes, Call, Cause, Event, Exit, Note, Origin, OwnedEvent, Pacing, Path, PathEstimate, Phase, Plan,
    Rate, Span, Tag, Time, TraceRecord,
};
use firstflight_measure::VERSION;
use firstflight_scenario::{Alone, SAVED_RTT, SAVED_WINDOW};
use firstflight_trace::{Departures, FORMAT, Header, Hosts, NOT_HOSTED, Writer};

use crate::facts::{Decision, Facts, Kind, NO_PACING, UNSET, span};
use crate::hosted::Trains;
use crate::record::Record;

/// One connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// The port of the sender.
    pub port: u16,
    /// The port of the receiver.
    pub peer: u16,
    /// The trace: a header, and a line a call.
    pub text: String,
    /// Number of decisions.
    pub decisions: u64,
    /// Number of decisions that answer ACKs.
    pub acks: u64,
}

/// Returns a trace of each connection, in the order of their begins. The header of each has the parameters of `hosted`.
///
/// # Errors
/// Records of a scheme or policy with other parameters than those of `hosted`, records of a connection without its begin, or an answer that
/// does not match the plan or exit from which it was made.
pub fn traces(hosted: &Alone, records: &[Record]) -> Result<Vec<Trace>, String> {
    let mut open: BTreeMap<u64, usize> = BTreeMap::new();
    let mut all: Vec<Connection> = Vec::new();
    let numbers = hosted.numbers();
    for (number, record) in records.iter().enumerate() {
        if record.kind == Kind::Began {
            if record.numbers != numbers {
                return Err(format!(
                    "record {}: the kernel's program had other parameters than {hosted}",
                    number + 1
                ));
            }
            open.insert(record.socket, all.len());
            all.push(Connection::new(hosted, record));
        }
        let connection = open.get(&record.socket).and_then(|&at| all.get_mut(at));
        let connection = connection.ok_or("the records lack the begin of a connection")?;
        connection.take(record).map_err(|what| format!("record {}: {what}", number + 1))?;
    }
    Ok(all.into_iter().map(|connection| connection.trace).collect())
}

/// A connection on its way into a trace.
struct Connection {
    writer: Writer,
    trace: Trace,
    trains: Trains,
    is_policy: bool,
    /// Whether the scheme or policy governs.
    governs: bool,
    last: Option<Plan>,
}

impl Connection {
    fn new(hosted: &Alone, began: &Record) -> Self {
        let facts = &began.facts;
        let none = NOT_HOSTED.to_owned();
        let text = with_saved(hosted, facts);
        let (hosts, scheme, restart) = match hosted {
            Alone::Startup(_) => (Hosts::Startup, text, none.clone()),
            Alone::Restart(_) => (Hosts::Restart, none.clone(), text),
        };
        let header = Header {
            format: FORMAT,
            version: VERSION.to_owned(),
            scheme,
            restart,
            avoidance: none,
            iw_segments: facts.cwnd,
            ssthresh_bytes: facts.ssthresh().map(Bytes::get),
            hosts,
            departures: Departures::WithAcks,
        };
        let trace = Trace {
            port: began.port,
            peer: began.peer,
            text: Writer::header(&header),
            decisions: 0,
            acks: 0,
        };
        let is_policy = hosts == Hosts::Restart;
        let trains = Trains::default();
        Self { writer: Writer::default(), trace, trains, is_policy, governs: false, last: None }
    }

    fn take(&mut self, record: &Record) -> Result<(), String> {
        let Record { kind, facts, decision, .. } = record;
        let path = facts.path();
        self.trace.decisions += 1;
        self.trace.acks += u64::from(*kind == Kind::Acked);
        match kind {
            Kind::Began => {
                self.line(
                    on(&Event::Begin(Origin::Fresh)),
                    &path,
                    Plan::ack_clocked(path.cwnd, None),
                    Vec::new(),
                );
                if self.is_policy {
                    return nothing(decision);
                }
                self.governs = true;
                self.answered(&Event::Established { rtt: span(facts.last_rtt_us), syn_lost: false }, record)
            }
            Kind::Sent | Kind::Resent => {
                let event = Event::Sent(self.trains.sent(*kind == Kind::Resent, facts));
                let path = facts.path_at_departure();
                if decision.over > 0 {
                    let (plan, note) = self.exit(&path, record)?;
                    self.line(on(&event), &path, plan, vec![note]);
                    return Ok(());
                }
                let before = self.last.unwrap_or(Plan::ack_clocked(path.cwnd, None));
                self.line(on(&event), &path, before, Vec::new());
                if self.governs { self.asked(record) } else { nothing(decision) }
            }
            Kind::Acked => {
                let newest = facts.newest(self.trains.tag_below(facts.una));
                let ack: Ack<'_> = facts.ack((facts.newest_sent_us > 0).then_some(&newest));
                self.answered(&Event::Acked(ack), record)
            }
            Kind::Idle => {
                self.governs = true;
                self.answered(
                    &Event::Begin(Origin::AfterIdle { idle: facts.idle(), was: facts.was() }),
                    record,
                )
            }
            // The law received the event, and the policy did not.
            _ if !self.governs => nothing(decision),
            Kind::Dry => match self.trains.cut() {
                Some(tag) => self.answered(&Event::TrainCut(tag), record),
                None => self.asked(record),
            },
            Kind::Woken => self.answered(&Event::Woken, record),
            Kind::Lost => self.answered(&Event::Lost(facts.loss()), record),
            Kind::Marked => self.answered(&Event::Marked { sent_at: None }, record),
            Kind::TimedOut => self.answered(&Event::TimedOut { repeated: false }, record),
        }
    }

    /// Writes the line of an event to which the record has the answer.
    fn answered(&mut self, event: &Event<'_>, record: &Record) -> Result<(), String> {
        let path = record.facts.path();
        let (plan, notes) = if record.decision.over > 0 {
            let (plan, note) = self.exit(&path, record)?;
            (plan, vec![note])
        } else if self.governs {
            (self.plan(record)?, Vec::new())
        } else {
            nothing(&record.decision)?;
            (Plan::ack_clocked(path.cwnd, None), Vec::new())
        };
        self.line(on(event), &path, plan, notes);
        Ok(())
    }

    /// Writes the line of an answer without a separate event.
    fn asked(&mut self, record: &Record) -> Result<(), String> {
        let plan = self.plan(record)?;
        self.line(Call::Plan, &record.facts.path(), plan, Vec::new());
        Ok(())
    }

    fn line(&mut self, call: Call, path: &Path, plan: Plan, notes: Vec<Note>) {
        self.last = Some(plan);
        let decision = TraceRecord { call, path: *path, plan, notes, judged: None };
        self.trace.text.push_str(&self.writer.record(&decision));
    }

    /// Returns the plan of an answer. An answer that differs from its plan is an error.
    fn plan(&mut self, record: &Record) -> Result<Plan, String> {
        let Record { facts, decision, .. } = record;
        let pacing = match decision.pacing {
            0 => Pacing::AckClock,
            1 => Pacing::Rate { rate: Rate::from_bps(decision.pace), burst: Bytes::ZERO },
            2 => Pacing::Train { packets: decision.packets, gap: Span::from_nanos(decision.pace) },
            _ => Pacing::Hold,
        };
        let plan = Plan {
            window: Bytes::new(u64::from(decision.bytes)),
            pacing,
            tag: Tag(u16::try_from(decision.tag).map_err(|_| format!("tag {} is none", decision.tag))?),
            ask: None,
            wake: (decision.wake_ns > 0).then(|| Time::from_nanos(decision.wake_ns)),
            ssthresh: threshold(decision),
        };
        let left = self.trains.plan(&plan, &facts.path());
        same(&facts.decision(&plan, left), decision)?;
        Ok(plan)
    }

    /// Returns the exit of an answer.
    fn exit(&mut self, path: &Path, record: &Record) -> Result<(Plan, Note), String> {
        let Record { facts, decision, .. } = record;
        let cause = usize::try_from(decision.over - 1).ok().and_then(|at| CAUSES.get(at));
        let cause = *cause.ok_or_else(|| format!("there is no cause {}", decision.over))?;
        let window = Bytes::new(u64::from(decision.bytes));
        let rate = (decision.rate != NO_PACING).then(|| Rate::from_bps(decision.pace));
        let exit = Exit { cause, learned: PathEstimate { window, ssthresh: threshold(decision), rate } };
        same(&facts.left(&exit), decision)?;
        let phase = match (self.is_policy, self.governs) {
            (false, _) => Phase::Startup,
            (true, true) => Phase::Restart,
            (true, false) => Phase::Avoidance,
        };
        self.governs = false;
        let plan = Plan::ack_clocked(window, exit.learned.ssthresh);
        Ok((plan, Note::Exited { exit, phase, cwnd: path.cwnd, flight: path.flight }))
    }
}

/// The causes by number.
const CAUSES: [Cause; 12] = [
    Cause::Threshold,
    Cause::Delay,
    Cause::AckTrain,
    Cause::CssEnd,
    Cause::Dispersion,
    Cause::RateFlat,
    Cause::Loss,
    Cause::Timeout,
    Cause::Mark,
    Cause::Advice,
    Cause::Resumed,
    Cause::AppLimited,
];

fn on(event: &Event<'_>) -> Call {
    Call::On(OwnedEvent::new(event))
}

/// While the law governs, a policy answers nothing.
fn nothing(decision: &Decision) -> Result<(), String> {
    if *decision == Decision::default() {
        Ok(())
    } else {
        Err(format!("the law governs, and the answer is {decision:?}"))
    }
}

fn threshold(decision: &Decision) -> Option<Bytes> {
    (decision.threshold != UNSET).then(|| Bytes::new(u64::from(decision.threshold)))
}

/// Checks that the kernel's answer, including packets and payload rates, equals the native answer for its plan or exit.
fn same(native: &Decision, decision: &Decision) -> Result<(), String> {
    if native == decision {
        Ok(())
    } else {
        Err(format!("the kernel has {decision:?}; of that plan it is {native:?}"))
    }
}

/// Returns the scheme or policy with its parameters. The values saved by an earlier connection are in a map of the kernel's object; in a
/// trace they are a parameter, and replace one that was given.
fn with_saved(hosted: &Alone, facts: &Facts) -> String {
    let mut settings = hosted.settings().to_vec();
    if let Some(SavedPath { window, rtt }) = facts.saved() {
        settings.retain(|(name, _)| ![SAVED_WINDOW, SAVED_RTT].contains(name));
        settings.extend([(SAVED_WINDOW, Value::Bytes(window)), (SAVED_RTT, Value::Span(rtt))]);
    }
    hosted.text_with(&settings)
}

#[cfg(test)]
mod tests {
    use firstflight::registry::Registry;
    use firstflight::schemes::Limited;
    use firstflight_scenario::ByName;
    use firstflight_trace::read;

    use super::*;
    use crate::hosted::Hosted;

    fn hosted(text: &str) -> Alone {
        Alone::parse(Registry::builtin(), text).expect(text)
    }

    /// Returns the record of a begin with the answer of the scheme `limited` with these parameters.
    fn began(text: &str, saved: u32) -> Record {
        let facts = Facts {
            now_us: 1_000_000,
            mss: 1448,
            wire: 1500,
            cwnd: 10,
            ssthresh: crate::facts::NO_THRESHOLD,
            srtt_us: 40_000,
            rtt_us: 40_000,
            last_rtt_us: 40_000,
            min_rtt_us: 40_000,
            rto_us: 240_000,
            rwnd: 65_535,
            saved_bytes: saved,
            saved_rtt_us: if saved > 0 { 30_000 } else { 0 },
            ..Facts::default()
        };
        let numbers = hosted(text).numbers();
        let make = |initial, numbers: &_, _: &_| Limited::from_numbers(initial, numbers);
        let (mut native, _) = Hosted::begin(make, &numbers, &facts);
        let decision = native.answer(&facts);
        Record { kind: Kind::Began, port: 5001, peer: 40_000, socket: 7, facts, decision, numbers }
    }

    fn header(trace: &Trace) -> Header {
        read(trace.text.as_bytes()).expect("a trace").0
    }

    #[test]
    fn the_header_of_a_trace_has_the_parameters_of_the_kernels_program() {
        for text in ["limited", "limited:max-ssthresh=20,division=truncate"] {
            let made = traces(&hosted(text), &[began(text, 0)]).expect(text);
            let [trace] = made.as_slice() else { panic!("{made:?}") };
            let header = header(trace);
            assert_eq!((header.scheme.as_str(), header.restart.as_str()), (text, NOT_HOSTED));
            assert!(Registry::builtin().part_of(&header).expect("a part").is_some());
        }
    }

    #[test]
    fn records_of_a_program_with_other_parameters_make_no_trace() {
        for (program, named) in [
            ("limited:max-ssthresh=20", "limited"),
            ("limited", "limited:max-ssthresh=20"),
            ("limited:max-ssthresh=20", "limited:max-ssthresh=21"),
        ] {
            let refused = traces(&hosted(named), &[began(program, 0)]).expect_err(named);
            assert!(refused.ends_with(&format!("other parameters than {named}")), "{refused}");
        }
    }

    #[test]
    fn saved_destination_values_replace_given_values() {
        let given = hosted("careful-resume:saved=100kB,beta=50%,rtt=40ms");
        let facts = began("limited", 50_000).facts;
        assert_eq!(with_saved(&given, &facts), "careful-resume:beta=50%,saved=50kB,rtt=30ms");
        let without = began("limited", 0).facts;
        assert_eq!(with_saved(&given, &without), given.to_string());
    }
}
