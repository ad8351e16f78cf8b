//! A scheme and a judge alone, as in a kernel, make the same plans in start-up as under a controller.

use firstflight::registry;
use firstflight::{Call, Event, FullMargin, Note, Plan, RoundTracker, Startup, TraceRecord};
use firstflight_lab::record;
use firstflight_scenario::{Options, Scenario, controller_of, parse_choices};

const PATHS: [&str; 3] = [
    "rate=20mbit rtt=40ms queue=50p size=600kB",
    "rate=50mbit rtt=30ms queue=2bdp size=900kB ack=delayed jitter=1ms",
    "rate=10mbit rtt=80ms size=300kB ack=linux cross=3mbit",
];

/// Returns the scheme's plan after a call, with the judge's values; `None` once start-up or its first episode is over.
fn hear<S: Startup>(scheme: &mut S, judge: &mut RoundTracker, reported: &TraceRecord) -> Option<Plan> {
    let path = &reported.path;
    if let Call::On(heard) = &reported.call {
        let event = match heard.event() {
            Event::Begin(origin) => {
                judge.begin(path);
                judge.forget_path();
                Event::Begin(origin)
            }
            Event::Sent(sent) => {
                judge.sent(path.flight + sent.bytes);
                Event::Sent(sent)
            }
            Event::Acked(mut ack) => {
                judge.acked(&mut ack, path, FullMargin::Startup);
                Event::Acked(ack)
            }
            Event::Lost(_) | Event::Marked { .. } | Event::TimedOut { .. } => return None,
            other => other,
        };
        scheme.on(&event, path);
    }
    let ended = reported.notes.iter().any(|note| matches!(note, Note::Exited { .. }));
    let plan = scheme.plan(path);
    (!ended).then_some(Plan { window: plan.window.max(path.mss), ..plan })
}

#[test]
fn a_scheme_and_a_judge_alone_make_the_plans_of_start_up() {
    for entry in registry::schemes() {
        for path in PATHS {
            let mut options = Options::default();
            for (key, text) in path.split(' ').filter_map(|option| option.split_once('=')) {
                options.set(key, text).expect("an option");
            }
            let scenario = Scenario::resolve(&options).expect("a scenario");
            let choice = parse_choices(entry.name).expect("a scheme").remove(0);
            let trace = record(&scenario, &choice, 1).expect("a run");
            let (header, mut calls) = firstflight_trace::read(trace.as_bytes()).expect("a trace");
            let (mut scheme, _, _) = controller_of(&header).expect("its controller").into_parts();
            let mut judge = RoundTracker::new();
            let mut compared = 0;
            while let Some(reported) = calls.next_call().expect("a call") {
                let Some(plan) = hear(&mut scheme, &mut judge, &reported) else { break };
                assert_eq!(plan, reported.plan, "{} over {path}, line {}", entry.name, calls.line());
                compared += 1;
            }
            assert!(compared > 20, "{} over {path}: {compared} plans", entry.name);
        }
    }
}
