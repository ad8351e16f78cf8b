//! The controller with each scheme of the registry and its avoidance law: for each ACK the event, the packets sent for it, and the plan
//! after each, as the sender passes them.

use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;

use firstflight::registry::{self, AnyController, AnyLaw, AnyScheme, Value};
use firstflight::{
    Avoidance, Bytes, Controller, Event, Exit, OwnedEvent, Path, Phase, Plan, Rate, Span, Startup, Step,
};
use firstflight_tcp::Recovery;
use gungraun::prelude::*;

use crate::ACKS;
use crate::line::{INITIAL, Line, MSS, Shape};

/// 25 ms without queueing, 100 Mbit/s, a queue as long as the path: 300 packets of 1040 bytes each.
const SHAPE: Shape = Shape {
    round_trip: Span::from_millis(25),
    packet_time: Span::from_nanos(83_200),
    queue: Span::from_millis(25),
    lossy: (0, 0),
};

/// Controllers, and the events that each of them receives.
type Work = Vec<(AnyController, Vec<Heard>)>;

/// An event, and the path as the sender saw it.
#[derive(Clone, Copy)]
struct Heard {
    phase: Phase,
    event: Event<'static>,
    path: Path,
}

impl Heard {
    fn is_ack(&self) -> bool {
        matches!(self.event, Event::Acked(_))
    }
}

/// The events that a scheme and its law receive on a connection.
type Tape = Rc<RefCell<Vec<Heard>>>;

/// Records the events that `inside` receives while it governs.
#[derive(Clone)]
struct Taped<T> {
    inside: T,
    tape: Tape,
}

impl<T> Taped<T> {
    fn note(&self, phase: Phase, event: &Event<'_>, path: &Path) {
        self.tape.borrow_mut().push(Heard { phase, event: kept(event), path: *path });
    }
}

impl Startup for Taped<AnyScheme> {
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        self.note(Phase::Startup, event, path);
        self.inside.on(event, path)
    }

    fn plan(&self, path: &Path) -> Plan {
        self.inside.plan(path)
    }
}

impl Avoidance for Taped<AnyLaw> {
    fn enter(&mut self, exit: &Exit, path: &Path) {
        self.inside.enter(exit, path);
    }

    fn on(&mut self, event: &Event<'_>, path: &Path) {
        self.note(Phase::Avoidance, event, path);
        self.inside.on(event, path);
    }

    fn observe(&mut self, event: &Event<'_>, path: &Path) {
        self.inside.observe(event, path);
    }

    fn forget_path(&mut self) {
        self.inside.forget_path();
    }

    fn plan(&self, path: &Path) -> Plan {
        self.inside.plan(path)
    }
}

/// Returns the event with lists that outlive it: a benchmark is a separate process, and short.
fn kept(event: &Event<'_>) -> Event<'static> {
    Box::leak(Box::new(OwnedEvent::new(event))).event()
}

/// Returns the scheme and its law, with the parameters set that keep it from being plain slow start.
fn parts(name: &str) -> (AnyScheme, AnyLaw) {
    let entry = registry::scheme(name).expect("a scheme of the registry");
    let settings: &[(&str, Value)] = match name {
        "careful-resume" => &[
            ("saved", Value::Bytes(Bytes::new(300 * u64::from(MSS)))),
            ("rtt", Value::Span(SHAPE.round_trip)),
        ],
        "quick-start" => &[("request", Value::Rate(Rate::from_bps(10_240_000)))],
        _ => &[],
    };
    let scheme = entry.build(INITIAL, settings).expect("settings that it takes");
    (scheme, registry::law(entry.law).expect("a law of the registry").build())
}

fn restart() -> firstflight::registry::AnyRestart {
    let entry = registry::restart("rfc5681").expect("the default policy");
    entry.build(INITIAL, &[]).expect("no settings")
}

/// Returns all events that a scheme and its law receive, until the law has received enough.
fn tape(name: &str) -> Vec<Heard> {
    let tape = Tape::default();
    let (scheme, law) = parts(name);
    let scheme = Taped { inside: scheme, tape: Rc::clone(&tape) };
    let law = Taped { inside: law, tape: Rc::clone(&tape) };
    let mut line = Line::new(Recovery::Rack, Controller::new(scheme, restart(), law), SHAPE);
    let mut looked_at = 0;
    let mut settled = 0;
    while settled < ACKS {
        line.step();
        let heard = tape.borrow();
        settled += heard[looked_at..].iter().filter(|heard| is_settled(heard)).count();
        looked_at = heard.len();
    }
    assert_eq!(line.client.stats().timeouts, 0, "{name}: a timeout begins start-up anew");
    tape.take()
}

/// Checks for an ACK that avoidance receives with no loss to repair.
fn is_settled(heard: &Heard) -> bool {
    heard.phase == Phase::Avoidance && heard.is_ack() && !heard.path.recovering
}

/// Returns the events from the first ACK that `wanted` accepts until [`ACKS`] of them or the end of the phase, repeated to that number.
fn work(name: &str, wanted: fn(&Heard) -> bool) -> Work {
    let tape = tape(name);
    let from = tape.iter().position(wanted).expect("every scheme hears an ACK in either phase");
    let phase = tape[from].phase;
    let (scheme, law) = parts(name);
    let mut controller = Controller::new(scheme, restart(), law);
    for heard in &tape[..from] {
        on_ack(&mut controller, heard);
    }
    let mut work = Work::new();
    let mut left = ACKS;
    while left > 0 {
        let mut part = Vec::new();
        for heard in tape[from..].iter().take_while(|heard| heard.phase == phase) {
            if heard.is_ack() {
                if left == 0 {
                    break;
                }
                left -= 1;
            }
            part.push(*heard);
        }
        work.push((controller.clone(), part));
    }
    work
}

fn in_startup(name: &str) -> Work {
    work(name, |heard| heard.phase == Phase::Startup && heard.is_ack())
}

fn in_avoidance(name: &str) -> Work {
    work(name, is_settled)
}

fn on_ack(controller: &mut AnyController, heard: &Heard) {
    controller.on(&heard.event, &heard.path);
    black_box(controller.plan(&heard.path));
    while let Some(note) = controller.take_note() {
        black_box(note);
    }
}

fn replay(mut work: Work) -> Work {
    for (controller, tape) in &mut work {
        for heard in tape {
            on_ack(controller, heard);
        }
    }
    work
}

#[library_benchmark(setup = in_startup)]
#[bench::slow_start("slow-start")]
#[bench::slow_start_paced("slow-start-paced")]
#[bench::limited("limited")]
#[bench::vegas("vegas")]
#[bench::packet_pair("packet-pair")]
#[bench::adaptive("adaptive")]
#[bench::paced("paced")]
#[bench::hystart("hystart")]
#[bench::hystart_linux("hystart-linux")]
#[bench::hystart_plus_plus("hystart++")]
#[bench::suss("suss")]
#[bench::rapid_start("rapid-start")]
#[bench::search("search")]
#[bench::bbr("bbr")]
#[bench::careful_resume("careful-resume")]
#[bench::leap("leap")]
#[bench::leap_saved("leap-saved")]
#[bench::quick_start("quick-start")]
fn startup(work: Work) -> Work {
    replay(work)
}

#[library_benchmark(setup = in_avoidance)]
#[bench::slow_start("slow-start")]
#[bench::slow_start_paced("slow-start-paced")]
#[bench::limited("limited")]
#[bench::vegas("vegas")]
#[bench::packet_pair("packet-pair")]
#[bench::adaptive("adaptive")]
#[bench::paced("paced")]
#[bench::hystart("hystart")]
#[bench::hystart_linux("hystart-linux")]
#[bench::hystart_plus_plus("hystart++")]
#[bench::suss("suss")]
#[bench::rapid_start("rapid-start")]
#[bench::search("search")]
#[bench::bbr("bbr")]
#[bench::careful_resume("careful-resume")]
#[bench::leap("leap")]
#[bench::leap_saved("leap-saved")]
#[bench::quick_start("quick-start")]
fn avoidance(work: Work) -> Work {
    replay(work)
}
