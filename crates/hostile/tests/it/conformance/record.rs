//! A record that can be broken in one place.

use std::fs;
use std::path::Path;

use firstflight::{Ack, Call, Event, Loss, OwnedEvent, TraceRecord};
use firstflight_hostile::conformance::{Audit, Breaches, Conformance};
use firstflight_lab::record;
use firstflight_scenario::{Options, Scenario, parse_choices};
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
        while let Some(told) = calls.next_call().expect("a call") {
            all.push((calls.line(), told));
        }
        Self { header, calls: all }
    }

    pub(crate) fn golden(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden/traces");
        Self::read(&fs::read_to_string(folder.join(format!("{name}.jsonl"))).expect("a trace"))
    }

    /// With what the controller judges, as a host that has none may write it.
    pub(crate) fn judged(mut self) -> Self {
        let mut judge = Audit::new(&self.header).expect("a scheme");
        for (_, told) in &mut self.calls {
            told.judged = judge.judge(told);
        }
        self
    }

    pub(crate) fn verdict(&self) -> Breaches {
        let mut conformance = Conformance::with_judge(&self.header).expect("a scheme");
        for (line, told) in &self.calls {
            conformance.hear(*line, told);
        }
        conformance.finish()
    }

    /// The first call from `from` on that is such.
    pub(crate) fn find(&self, from: usize, is: impl Fn(&Event<'_>, &TraceRecord) -> bool) -> usize {
        let such = |told: &TraceRecord| matches!(&told.call, Call::On(heard) if is(&heard.event(), told));
        from + self.calls[from..].iter().position(|(_, told)| such(told)).expect("there is such a call")
    }

    /// Another event in the place of a call's.
    pub(crate) fn set(&mut self, index: usize, event: &Event<'_>) {
        self.calls[index].1.call = Call::On(OwnedEvent::new(event));
    }

    /// A call more, behind one of an ACK: it changes nothing. Gives its index.
    pub(crate) fn insert(&mut self, after: usize, call: Call) -> usize {
        let (line, told) = self.calls[after].clone();
        let mut path = told.path;
        (path.cwnd, path.wake) = (told.plan.window, told.plan.wake);
        let more = TraceRecord { call, path, plan: told.plan, notes: Vec::new(), judged: None };
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

/// The trace of a run; `None` for options that fit no path or no scheme.
pub(crate) fn trace(given: &[(&'static str, &'static str)], scheme: &str, seed: u64) -> Option<String> {
    let mut options = Options::default();
    for (key, value) in given {
        options.set(key, value).expect(key);
    }
    let choice = parse_choices(scheme).expect("a scheme").remove(0);
    record(&Scenario::resolve(&options).ok()?, &choice, seed).ok()
}
