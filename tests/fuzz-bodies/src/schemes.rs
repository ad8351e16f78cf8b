//! Runs any sequence of events with every scheme, policy and law.

use firstflight::{Advice, Bytes, Event, Origin, Rate, SendLimit, Span, Tag, TraceRecord};

use crate::Source;
use crate::flow::{Broken, Flow};
use crate::hiding::Parts;

/// Reports any sequence of events that a host may report to any scheme, with any restart policy and law.
pub fn scheme_events(data: &[u8]) {
    let mut source = Source::new(data);
    let flow = Flow::new(&mut source);
    if let Err(Broken { law, text, .. }) = run(flow, &mut source).into_record() {
        panic!("{law}: {text}");
    }
}

/// Runs a controller of `parts`, whose names are `names`, with events that `data` determines. Returns the calls to the controller.
///
/// # Errors
/// Returns the first law of schemes that the controller broke.
pub fn random_calls(
    parts: &Parts,
    names: [&'static str; 3],
    data: &[u8],
) -> Result<Vec<TraceRecord>, Broken> {
    let mut source = Source::new(data);
    let flow = Flow::of(parts, names, &mut source);
    run(flow, &mut source).into_record()
}

fn run(mut flow: Flow, source: &mut Source<'_>) -> Flow {
    if flow.plan().ask.is_some() {
        flow.say(&Event::Asked(!source.once_in(8)));
    }
    let rtt = (!source.once_in(8)).then(|| Span::from_nanos(1 + source.wide()));
    if let Some(rtt) = rtt {
        flow.path.sampled(rtt);
    }
    flow.say(&Event::Established { rtt, syn_lost: source.once_in(8) });
    for _ in 0..2_000 {
        if source.is_empty() || flow.is_broken() {
            break;
        }
        step(&mut flow, source);
    }
    flow
}

fn step(flow: &mut Flow, source: &mut Source<'_>) {
    match source.below(32) {
        0..=4 => flow.path.now = flow.path.now + Span::from_nanos(source.wide()),
        5..=6 => flow.send(1 + source.below(12)),
        7..=11 => flow.fill(),
        12..=17 => {
            let count = 1 + source.below(12);
            flow.acknowledge(count, 0, source);
        }
        18 => {
            let (count, part) = (source.below(3), u64::from(source.byte()));
            flow.acknowledge(count, part, source);
        }
        19 => flow.acknowledge(0, 0, source),
        20 => flow.acknowledge_newest(source),
        21 => flow.lose(1 + source.below(4)),
        22 => flow.say(&Event::Marked { sent_at: None }),
        23 => {
            flow.path.recovering = false;
            flow.say(&Event::TimedOut { repeated: source.once_in(3) });
        }
        24 => flow.say(&Event::SpuriousLoss),
        25 => {
            let own = flow.plan().tag;
            let tag = if source.once_in(4) { Tag(source.short()) } else { own };
            flow.say(&Event::TrainCut(tag));
        }
        26 => {
            if let Some(wake) = flow.path.wake.filter(|_| source.once_in(2)) {
                flow.path.now = flow.path.now.max(wake);
            }
            flow.say(&Event::Woken);
        }
        27 => {
            let mss = u64::from(source.short().max(1));
            flow.path.mss = Bytes::new(mss);
            flow.path.wire = Bytes::new(mss + 40);
            flow.say(&Event::MssChanged);
        }
        28 => flow.path.rwnd = Bytes::new(source.wide()),
        29 => advise(flow, source),
        30 => {
            // If nothing is in flight, this makes the connection idle for long enough.
            flow.path.now = flow.path.now + Span::from_secs(u64::from(source.below(20)));
            flow.before_new_data();
        }
        _ => say_of_host(flow, source),
    }
}

fn advise(flow: &mut Flow, source: &mut Source<'_>) {
    let rate = Rate::from_bps(source.wide());
    match source.below(3) {
        0 => flow.say(&Event::Advice(Advice::QuickStart { approved: Some(rate) })),
        1 => flow.say(&Event::Advice(Advice::QuickStart { approved: None })),
        _ => {}
    }
}

fn say_of_host(flow: &mut Flow, source: &mut Source<'_>) {
    match source.below(5) {
        0 => flow.say(&Event::Asked(source.once_in(2))),
        1 => flow.path.backlog = (!source.once_in(4)).then(|| Bytes::new(source.wide())),
        2 => flow.path.rto = Span::from_nanos(source.wide().max(1)),
        3 => {
            let limits = [SendLimit::Window, SendLimit::App, SendLimit::Pacing, SendLimit::Receiver];
            flow.path.limit = source.pick(&limits);
        }
        // A host moves to another path only after it has sent data on the first.
        _ if flow.path.last_sent.is_some() => flow.say(&Event::Begin(Origin::PathChange)),
        _ => {}
    }
}
