//! A record that can be broken in one place.

use std::fs;
use std::path::Path;

use firstflight::{Ack, Call, Event, Loss, OwnedEvent, TraceRecord};
use firstflight_conformance::{Audit, Breaches, Conformance};
use firstflight_lab::record;
use firstflight_scenario::{Options, Scenario, controller_of, parse_choices};
use firstflight_trace::{Header, read};

/// The calls, each with its line.
pub(crate) struct Record {
    pub(crate) header: Header,
    pub(crate) calls: Vec<(usize, TraceRecord)>,
}

impl Record {
    pub(crate) fn read(text: &str) -> Self {
        let (header, mut calls) = read(text.as_bytes()).expect("a header");
        let mut all = Vec::new();
        while let Some(record) = calls.next_call().expect("a call") {
            all.push((calls.line(), record));
        }
        Self { header, calls: all }
    }

    pub(crate) fn golden(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/traces");
        Self::read(&fs::read_to_string(folder.join(format!("{name}.jsonl"))).expect("a trace"))
    }

    /// Fills in the controller's values, as a host that has none may write them.
    pub(crate) fn judged(mut self) -> Self {
        let mut judge = Audit::new(controller_of(&self.header).expect("a scheme"));
        for (_, record) in &mut self.calls {
            record.judged = judge.judge(record);
        }
        self
    }

    pub(crate) fn verdict(&self) -> Breaches {
        let mut conformance =
            Conformance::of(&self.header, Some(controller_of(&self.header).expect("a scheme")));
        for (line, record) in &self.calls {
            conformance.check_record(*line, record);
        }
        conformance.finish()
    }

    /// Returns the index of the first call from `from` on for which `is` holds.
    pub(crate) fn find(&self, from: usize, is: impl Fn(&Event<'_>, &TraceRecord) -> bool) -> usize {
        let such =
            |record: &TraceRecord| matches!(&record.call, Call::On(heard) if is(&heard.event(), record));
        from + self.calls[from..].iter().position(|(_, record)| such(record)).expect("there is such a call")
    }

    /// Replaces the event of a call.
    pub(crate) fn set(&mut self, index: usize, event: &Event<'_>) {
        self.calls[index].1.call = Call::On(OwnedEvent::new(event));
    }

    /// Inserts a call after that of an ACK, with no other change. Returns its index.
    pub(crate) fn insert(&mut self, after: usize, call: Call) -> usize {
        let (line, record) = self.calls[after].clone();
        let mut path = record.path;
        (path.cwnd, path.wake) = (record.plan.window, record.plan.wake);
        let more = TraceRecord { call, path, plan: record.plan, notes: Vec::new(), judged: None };
        self.calls.insert(after + 1, (line, more));
        for (line, _) in &mut self.calls[after + 1..] {
            *line += 1;
        }
        after + 1
    }

    pub(crate) fn say(&mut self, after: usize, event: &Event<'_>) -> usize {
        self.insert(after, Call::On(OwnedEvent::new(event)))
    }

    pub(crate) fn change_ack(&mut self, index: usize, change: impl FnOnce(&mut Ack<'_>)) {
        let heard = self.heard(index);
        let Event::Acked(mut ack) = heard.event() else { panic!("it is no ACK") };
        change(&mut ack);
        self.set(index, &Event::Acked(ack));
    }

    pub(crate) fn change_loss(&mut self, index: usize, change: impl FnOnce(&mut Loss<'_>)) {
        let heard = self.heard(index);
        let Event::Lost(mut loss) = heard.event() else { panic!("it is no loss") };
        change(&mut loss);
        self.set(index, &Event::Lost(loss));
    }

    pub(crate) fn heard(&self, index: usize) -> OwnedEvent {
        match &self.calls[index].1.call {
            Call::On(heard) => heard.clone(),
            Call::NewData | Call::Plan => panic!("it is no event"),
        }
    }
}

/// Returns the trace of a run; `None` for options that fit no path or no scheme.
pub(crate) fn trace(given: &[(&'static str, &'static str)], scheme: &str, seed: u64) -> Option<String> {
    let mut options = Options::default();
    for (key, value) in given {
        options.set(key, value).expect(key);
    }
    let choice = parse_choices(scheme).expect("a scheme").remove(0);
    record(&Scenario::resolve(&options).ok()?, &choice, seed).ok()
}
