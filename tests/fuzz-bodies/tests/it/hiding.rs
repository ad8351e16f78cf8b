//! Every scheme, restart policy and law declares the facts of its host that it needs and uses. Undeclared facts do not change its
//! behaviour.

use std::collections::BTreeSet;

use firstflight::registry::{
    self, Ability, Kind, LawEntry, Needs, Parameter, RestartEntry, SchemeEntry, Value,
};
use firstflight::schemes::Initial;
use firstflight::{
    Bytes, Call, Event, Loss, LostPacket, OwnedEvent, Rate, SendLimit, Span, Tag, TraceRecord,
};
use firstflight_fuzz_bodies::hiding::{Hidden, Part, Parts};
use firstflight_fuzz_bodies::random_calls;
use firstflight_lab::record;
use firstflight_scenario::{Options, Scenario, parse_choices};

const INITIAL: Initial = Initial { segments: 10, ssthresh: None };

/// The number of random connections of each variation.
const RANDOM: u64 = 40;

/// The number of times that each race is shaken.
const SHAKES: u64 = 8;

type Settings = Vec<(&'static str, Value)>;

/// Returns the defaults; every word of every parameter that takes words; and a value in place of every quantity that is zero, because at
/// zero a scheme often skips a part of its work.
fn variations(parameters: &'static [Parameter]) -> Vec<Settings> {
    let something = [
        Value::Bytes(Bytes::new(150_000)),
        Value::Span(Span::from_millis(40)),
        Value::Rate(Rate::from_bps(10_240_000)),
    ];
    let nothing = [Value::Bytes(Bytes::ZERO), Value::Span(Span::ZERO), Value::Rate(Rate::ZERO)];
    let filled = |parameter: &Parameter| {
        let place = nothing.iter().position(|value| *value == parameter.default)?;
        Some((parameter.name, something[place])).filter(|(_, value)| parameter.kind.allows(*value))
    };
    let mut all = vec![Vec::new(), parameters.iter().filter_map(filled).collect()];
    all.dedup();
    for parameter in parameters {
        if let Kind::Word(words) = parameter.kind {
            let others = words.iter().map(|word| Value::Word(word)).filter(|word| *word != parameter.default);
            all.extend(others.map(|word| vec![(parameter.name, word)]));
        }
    }
    all
}

fn parts(scheme: (&SchemeEntry, &Settings), restart: (&RestartEntry, &Settings), law: &LawEntry) -> Parts {
    Parts {
        scheme: scheme.0.build(INITIAL, scheme.1).expect("a word of the parameter"),
        restart: restart.0.build(INITIAL, restart.1).expect("a word of the parameter"),
        law: law.build(),
    }
}

/// Marsaglia's xorshift: the same bytes each time.
struct Bytes8(u64);

impl Bytes8 {
    fn next(&mut self) -> u8 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.to_le_bytes()[3]
    }

    fn once_in(&mut self, times: u8) -> bool {
        self.next().is_multiple_of(times)
    }
}

/// Returns the calls of a host whose events random bytes choose.
fn random(parts: &Parts, names: [&'static str; 3]) -> Vec<Vec<TraceRecord>> {
    let mut bytes = Bytes8(9_406);
    let mut connection = || (0..700).map(|_| bytes.next()).collect::<Vec<u8>>();
    let calls = |data: &[u8]| random_calls(parts, names, data).expect("no law is broken");
    (0..RANDOM).map(|_| calls(&connection())).collect()
}

/// Changes facts of some calls: the limit on sending, the backlog, the counts of ACKs; and inserts marks and spurious losses. The compared
/// controllers receive the same calls, so these need not be realistic.
fn shaken(calls: &[TraceRecord], seed: u64) -> Vec<TraceRecord> {
    let mut bytes = Bytes8(seed);
    let apps = u8::try_from(4 * seed).unwrap_or(u8::MAX);
    let mut all = Vec::new();
    for reported in calls {
        let mut reported = reported.clone();
        if bytes.once_in(apps) {
            reported.path.backlog = Some(Bytes::new(u64::from(bytes.next()) / 128 * 1_460));
        }
        if let Call::On(heard) = &reported.call
            && let Event::Acked(ack) = heard.event()
        {
            let mut packets = ack.packets.to_vec();
            for packet in &mut packets {
                if bytes.once_in(apps) {
                    packet.limit = SendLimit::App;
                }
                packet.selectively ^= bytes.once_in(24);
            }
            let segments = if bytes.once_in(8) { 1 + u32::from(bytes.next() % 3) } else { ack.segments };
            reported.call = Call::On(OwnedEvent::new(&Event::Acked({
                let mut ack = ack;
                ack.packets = &packets;
                ack.segments = segments;
                ack
            })));
        }
        let (path, plan) = (reported.path, reported.plan);
        let lost = [LostPacket { packet: 0, bytes: path.mss, tag: plan.tag }];
        all.push(reported);
        let more = match bytes.next() {
            // A mark ends start-up, so half of the connections have none.
            0 if seed.is_multiple_of(2) => Event::Marked { sent_at: None },
            1 | 68..76 if plan.ssthresh.is_some() => Event::SpuriousLoss,
            2 => Event::Woken,
            3 => Event::TrainCut(plan.tag),
            4..12 if plan.tag == Tag::default() && seed.is_multiple_of(4) => Event::Lost(Loss::new(&lost)),
            4..68 if plan.tag != Tag::default() && seed.is_multiple_of(3) => Event::Lost(Loss::new(&lost)),
            _ => continue,
        };
        all.push(TraceRecord { call: Call::On(OwnedEvent::new(&more)), path, ..all[0].clone() });
    }
    all
}

/// Paths on which schemes reach most of their states: a queue that overflows, delayed ACKs of an application that pauses, random losses.
const PATHS: [&str; 6] = [
    "rate=20mbit rtt=40ms queue=50p size=600kB",
    "rate=20mbit rtt=40ms queue=10bdp size=2MB",
    "rate=20mbit rtt=40ms size=60kB rounds=8 idle=60ms",
    "rate=5mbit rtt=60ms size=90kB rounds=3 idle=2s ack=delayed",
    "rate=10mbit rtt=30ms size=300kB loss=1% ack=every jitter=3ms",
    "rate=50mbit rtt=40ms size=1MB cross=20mbit",
];

/// Returns the simulator's calls in races under `scheme`, `restart` and `law`, both unchanged and shaken, with the parts that received
/// them.
fn raced(scheme: &str, restart: &str, law: &str) -> Vec<(Parts, Vec<TraceRecord>)> {
    let races = PATHS.iter().map(|path| race(path, scheme, restart, law));
    races
        .flat_map(|(parts, calls)| {
            let mut all: Vec<_> = (1..=SHAKES).map(|seed| shaken(&calls, seed)).collect();
            all.push(calls);
            all.into_iter().map(move |calls| (parts.clone(), calls))
        })
        .collect()
}

fn race(path: &str, scheme: &str, restart: &str, law: &str) -> (Parts, Vec<TraceRecord>) {
    let mut options = Options::default();
    let own = [("restart", restart), ("avoidance", law)];
    let path = path.split(' ').filter_map(|option| option.split_once('='));
    for (key, text) in path.chain(own) {
        options.set(key, text).expect("an option");
    }
    let scenario = Scenario::resolve(&options).expect("a scenario");
    let choice = parse_choices(scheme).expect("a scheme").remove(0);
    let trace = record(&scenario, &choice, 1).expect("a run");
    let (header, mut calls) = firstflight_trace::read(trace.as_bytes()).expect("a trace");
    let initial = Initial { segments: header.iw_segments, ssthresh: header.ssthresh_bytes.map(Bytes::new) };
    let policy = firstflight_scenario::parse_restarts(&header.restart).expect("a policy").remove(0);
    let parts = Parts {
        scheme: parse_choices(&header.scheme).expect("a scheme").remove(0).build(initial).expect("settings"),
        restart: policy.build(initial).expect("settings"),
        law: registry::law(&header.avoidance).expect("a law").build(),
    };
    (parts, std::iter::from_fn(move || calls.next_call().expect("a call")).collect())
}

fn text(name: &str, settings: &Settings) -> String {
    let words: Vec<_> = settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    if words.is_empty() { name.to_owned() } else { format!("{name}:{}", words.join(",")) }
}

/// Returns the facts and plans that `part` uses on these calls and does not declare.
fn undeclared(parts: &Parts, part: Part, needs: Needs, calls: &[TraceRecord]) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    found.extend(parts.undeclared_plan(part, needs, calls).map(|(_, ability)| ability.name()));
    let hidden = Hidden::undeclared(needs);
    if parts.differs(part, &hidden, calls).is_some() {
        // The smallest set that makes a difference: mostly one fact, sometimes several of which any one would suffice.
        let least = hidden.each().fold(hidden.clone(), |hidden, ability| {
            let less = hidden.without(ability);
            if parts.differs(part, &less, calls).is_some() { less } else { hidden }
        });
        found.extend(least.each().map(Ability::name));
    }
    found
}

/// The parts of a controller, and the calls that they received.
type Connection = (Parts, Vec<TraceRecord>);

/// One entry of the registry with the connections on which it is tested.
struct Tried {
    name: &'static str,
    part: Part,
    /// For each variation of its settings: its declaration, and the connections.
    variations: Vec<(Needs, Vec<Connection>)>,
}

fn tried(names: [&'static str; 3], parts: &Parts, texts: [&str; 3]) -> Vec<(Parts, Vec<TraceRecord>)> {
    let random = random(parts, names).into_iter().map(|calls| (parts.clone(), calls));
    random.chain(raced(texts[0], texts[1], texts[2])).collect()
}

fn schemes() -> impl Iterator<Item = Tried> {
    let (restart, none) = (registry::restart("rfc5681").expect("registered"), Vec::new());
    registry::schemes().iter().map(move |entry| {
        let law = registry::law(entry.law).expect("registered");
        let variations = variations(entry.parameters).into_iter().map(|settings| {
            let parts = parts((entry, &settings), (restart, &none), law);
            let text = text(entry.name, &settings);
            let calls = tried([entry.name, restart.name, law.name], &parts, [&text, restart.name, law.name]);
            (entry.needs_with(&settings), calls)
        });
        Tried { name: entry.name, part: Part::Scheme, variations: variations.collect() }
    })
}

fn restarts() -> impl Iterator<Item = Tried> {
    let (scheme, none) = (registry::scheme("slow-start").expect("registered"), Vec::new());
    let law = registry::law("reno").expect("registered");
    registry::restarts().iter().map(move |entry| {
        let variations = variations(entry.parameters).into_iter().map(|settings| {
            let parts = parts((scheme, &none), (entry, &settings), law);
            let text = text(entry.name, &settings).replace(':', "/");
            let calls = tried([scheme.name, entry.name, law.name], &parts, [scheme.name, &text, law.name]);
            (entry.needs, calls)
        });
        Tried { name: entry.name, part: Part::Restart, variations: variations.collect() }
    })
}

fn laws() -> impl Iterator<Item = Tried> {
    let (restart, none) = (registry::restart("rfc5681").expect("registered"), Vec::new());
    registry::laws().iter().map(move |entry| {
        // Some laws take over from slow start, and some take over from their own scheme the values that it measured.
        let own = registry::schemes().iter().filter(|scheme| scheme.law == entry.name);
        let first = registry::scheme("slow-start").into_iter();
        let variations = first.chain(own.filter(|scheme| scheme.name != "slow-start")).map(|scheme| {
            let parts = parts((scheme, &none), (restart, &none), entry);
            let names = [scheme.name, restart.name, entry.name];
            (entry.needs, tried(names, &parts, names))
        });
        Tried { name: entry.name, part: Part::Law, variations: variations.collect() }
    })
}

/// Returns the facts that an entry uses and does not declare, one sentence for each.
fn undeclared_of(tried: &Tried) -> Vec<String> {
    let mut found = BTreeSet::new();
    for (needs, connections) in &tried.variations {
        for (parts, calls) in connections {
            found.extend(undeclared(parts, tried.part, *needs, calls));
        }
    }
    let say = |fact| format!("{} goes by {fact}, which it does not declare", tried.name);
    found.into_iter().map(say).collect()
}

/// Returns the facts that an entry declares and does not use, one sentence for each.
fn idle_of(tried: &Tried) -> Vec<String> {
    let declared = |ability: &Ability| {
        // The facts of the defaults: those that an inner scheme adds are tested with that scheme.
        tried
            .variations
            .first()
            .is_some_and(|(needs, _)| needs.iter().chain(needs.used()).any(|other| other == *ability))
    };
    let matters = |ability: &Ability| {
        tried.variations.iter().flat_map(|(_, connections)| connections).any(|(parts, calls)| {
            let others = Ability::ALL.into_iter().filter(|other| !Needs::of(&[*other]).has(*ability));
            let without = Needs::of(&others.collect::<Vec<_>>());
            parts.undeclared_plan(tried.part, without, calls).is_some()
                || parts.differs(tried.part, &Hidden::only(*ability), calls).is_some()
        })
    };
    // No event reports whether ACKs come one at a time: see `packet_host.rs`. Every plan may fall back to the ACK clock.
    let untold = [Ability::DenseAcks, Ability::AckClock];
    let idle = Ability::ALL.into_iter().filter(|ability| !untold.contains(ability));
    idle.filter(declared)
        .filter(|ability| !matters(ability))
        .map(|ability| format!("{} declares {}, which changes nothing", tried.name, ability.name()))
        .collect()
}

fn judge(tried: impl Iterator<Item = Tried>) {
    let faults: Vec<_> = tried.flat_map(|tried| [undeclared_of(&tried), idle_of(&tried)].concat()).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn scheme_declarations_are_necessary_and_sufficient() {
    judge(schemes());
}

#[test]
fn restart_policy_declarations_are_necessary_and_sufficient() {
    judge(restarts());
}

#[test]
fn law_declarations_are_necessary_and_sufficient() {
    judge(laws());
}

/// A declaration that lacks one fact is detected.
#[test]
fn a_need_that_is_not_declared_is_named() {
    let mut tried = schemes().find(|tried| tried.name == "hystart-linux").expect("registered");
    for (needs, _) in &mut tried.variations {
        *needs = Needs::of(&[Ability::AckClock, Ability::Rate]).using(&[Ability::Marks]);
    }
    let wanted =
        "hystart-linux goes by a count of the packets that each ACK acknowledges, which it does not declare";
    assert_eq!(undeclared_of(&tried), [wanted]);
}
