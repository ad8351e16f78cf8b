//! Schemes, policies and laws of types that the crate does not know, by name, in addition to the built-in ones.
#![cfg(feature = "alloc")]

use firstflight::avoidance::{Cubic, Reno};
use firstflight::registry::{
    self, Ability, AnyController, AnyLaw, AnyRestart, AnyScheme, EntryProblem, Kind, LawEntry, Needs,
    Parameter, Registry, RegistryError, SchemeEntry, Value,
};
use firstflight::restart::Rfc5681;
use firstflight::schemes::{HyStartPlus, Initial, QuickStart, QuickStartConfig, SlowStart};
use firstflight::{Avoidance, Event, Exit, Path, Plan, Startup, Step};

use crate::common::{Flow, micros, millis, packets};

const INITIAL: Initial = Initial { segments: 10, ssthresh: None };

/// Slow start as a user would build it around the built-in one.
#[derive(Clone, Debug)]
struct Mine(SlowStart);

impl Startup for Mine {
    fn on(&mut self, event: &Event<'_>, path: &Path) -> Step {
        match event {
            Event::Acked(ack) => self.0.grow(ack.growth.min(path.mss)),
            _ => self.0.on(event, path),
        }
    }

    fn plan(&self, path: &Path) -> Plan {
        self.0.plan(path)
    }
}

/// Reno, by somebody else.
#[derive(Clone, Debug)]
struct MyLaw(Reno);

impl Avoidance for MyLaw {
    fn enter(&mut self, exit: &Exit, path: &Path) {
        self.0.enter(exit, path);
    }

    fn on(&mut self, event: &Event<'_>, path: &Path) {
        self.0.on(event, path);
    }

    fn plan(&self, path: &Path) -> Plan {
        self.0.plan(path)
    }

    fn forget_path(&mut self) {
        self.0.forget_path();
    }
}

const SCHEME: SchemeEntry = SchemeEntry {
    name: "mine",
    summary: "slow start by somebody else",
    source: "this test",
    law: "my-law",
    parameters: &[],
    needs: Needs::of(&[Ability::AckClock]),
    make: |initial, _| AnyScheme::outside(Mine(SlowStart::new(initial))),
};

const LAW: LawEntry = LawEntry {
    name: "my-law",
    summary: "Reno by somebody else",
    source: "this test",
    needs: Needs::of(&[Ability::AckClock]),
    make: || AnyLaw::outside(MyLaw(Reno::new())),
};

const MINE: Registry = Registry::builtin().with_schemes(&[SCHEME]).with_laws(&[LAW]);

/// The windows of a connection with a loss in start-up, one in avoidance, and an idle time.
fn windows(control: AnyController) -> Vec<u64> {
    let mut flow = Flow::established(control, millis(50));
    let mut windows = Vec::new();
    for round in 0..16 {
        if round == 5 || round == 9 {
            flow.fill();
            flow.lose();
        }
        if round == 13 {
            flow.wait(millis(5_000));
            flow.before_new_data();
        }
        flow.round(millis(50), 2, micros(100));
        windows.push(flow.plan().window.get());
    }
    windows
}

#[test]
fn boxed_components_decide_like_built_in_ones() {
    let built_in =
        AnyController::new(SlowStart::new(INITIAL).into(), Rfc5681::new(INITIAL).into(), Reno::new().into());
    let scheme = MINE.scheme("mine").expect("added").build(INITIAL, &[]).expect("no settings");
    let law = MINE.law("my-law").expect("added").build();
    let outside = AnyController::new(scheme, AnyRestart::outside(Rfc5681::new(INITIAL)), law);
    let copy = outside.clone();
    let wanted = windows(built_in);
    assert_eq!(windows(outside), wanted);
    assert_eq!(windows(copy), wanted, "a copy is a controller of its own");
    assert!(wanted.iter().any(|window| *window > packets(70).get()), "{wanted:?}");
}

#[test]
fn a_box_needs_the_events_that_its_type_needs() {
    let boxed = AnyScheme::outside(SlowStart::new(INITIAL));
    assert!(!AnyScheme::INTEREST.sends(&boxed));
    assert!(
        AnyScheme::INTEREST.sends(&AnyScheme::outside(Mine(SlowStart::new(INITIAL)))),
        "the default is everything"
    );
    let law = AnyLaw::outside(Reno::new());
    assert!(
        !AnyLaw::INTEREST.sends(&law)
            && !AnyLaw::INTEREST.others(&law)
            && !AnyLaw::INTEREST.later_losses(&law)
    );
    assert!(AnyLaw::INTEREST.others(&AnyLaw::outside(MyLaw(Reno::new()))));
    let policy = AnyRestart::outside(Rfc5681::new(INITIAL));
    assert!(!AnyRestart::INTEREST.sends(&policy) && !AnyRestart::INTEREST.others(&policy));
}

#[test]
fn the_state_of_what_is_boxed_counts_and_not_its_box() {
    let (reno, cubic) = (AnyLaw::from(Reno::new()), AnyLaw::from(Cubic::new()));
    let boxed = [AnyLaw::outside(Reno::new()), AnyLaw::outside(Cubic::new())];
    for (law, boxed) in [reno, cubic].iter().zip(&boxed) {
        let plain = AnyScheme::from(HyStartPlus::new(INITIAL));
        let outside = AnyScheme::outside(HyStartPlus::new(INITIAL));
        let wanted = plain.state_size(law);
        assert_eq!(
            [outside.state_size(law), plain.state_size(boxed), outside.state_size(boxed)],
            [wanted; 3]
        );
    }
    let policy = AnyRestart::outside(Rfc5681::new(INITIAL));
    let built_in = AnyRestart::from(Rfc5681::new(INITIAL));
    assert_eq!(policy.state_size_beside_slow_start(), built_in.state_size_beside_slow_start());
}

#[test]
fn quick_start_goes_around_a_scheme_from_outside() {
    let around = QuickStart::new(Mine(SlowStart::new(INITIAL)), QuickStartConfig::default());
    assert!(AnyScheme::outside(around).state_size(&Reno::new().into()) > 0);
}

#[test]
fn added_entries_stand_behind_the_built_in_ones() {
    assert_eq!(MINE.check(), Ok(()));
    let names: Vec<&str> = MINE.schemes().map(|entry| entry.name).collect();
    assert_eq!((names[0], names[names.len() - 1]), ("slow-start", "mine"));
    assert_eq!(names.len(), registry::schemes().len() + 1);
    assert!(Registry::builtin().scheme("mine").is_none() && registry::scheme("mine").is_none());
    assert_eq!(MINE.laws().last().map(|law| law.name), Some("my-law"));
    assert_eq!(Registry::default(), Registry::builtin());
    assert_ne!(MINE, Registry::builtin());
}

#[test]
fn an_entry_that_a_command_line_cannot_name_is_refused() {
    let problem = |registry: Registry| registry.check().expect_err("refused").problem;
    macro_rules! with {
        ($($field:ident: $value:expr),+) => {
            Registry::builtin().with_schemes(const { &[SchemeEntry { law: "reno", $($field: $value),+, ..SCHEME }] })
        };
    }
    for registry in [
        with!(name: "all"),
        with!(name: ""),
        with!(name: "a,b"),
        with!(name: "a:b"),
        with!(name: "a=b"),
        with!(name: "a b"),
        with!(name: "../a"),
        with!(name: "-a"),
        with!(name: "a/b"),
    ] {
        assert_eq!(problem(registry), EntryProblem::Name, "{registry:?}");
    }
    assert_eq!(problem(with!(name: "slow-start")), EntryProblem::Taken);
    assert_eq!(
        problem(Registry::builtin().with_schemes(const { &[SCHEME, SCHEME] }).with_laws(const { &[LAW] })),
        EntryProblem::Taken
    );
    let nobody = Registry::builtin().with_schemes(const { &[SCHEME] });
    let error = RegistryError { kind: "scheme", name: "mine", problem: EntryProblem::NoLaw("my-law") };
    assert_eq!(nobody.check(), Err(error));
    assert!(error.to_string().contains("`mine`") && error.to_string().contains("no avoidance law `my-law`"));
    let law = Registry::builtin().with_laws(const { &[LawEntry { name: "cubic", ..LAW }] });
    assert_eq!(
        law.check().expect_err("there is one").to_string(),
        "the avoidance law `cubic` cannot be registered: there is another avoidance law of this name"
    );
}

#[test]
fn a_parameter_that_a_command_line_cannot_set_is_refused() {
    const ONE: Parameter = Parameter {
        name: "one",
        kind: Kind::Count { min: 1, max: 9 },
        default: Value::Count(1),
        help: "a number",
    };
    macro_rules! with {
        ($($parameter:expr),+) => {
            Registry::builtin()
                .with_schemes(const { &[SchemeEntry { law: "reno", parameters: &[$($parameter),+], ..SCHEME }] })
                .check()
                .map_err(|error| error.problem)
        };
    }
    assert_eq!(with!(ONE), Ok(()));
    assert_eq!(with!(ONE, ONE), Err(EntryProblem::ParameterTwice("one")));
    assert_eq!(with!(Parameter { name: "as", ..ONE }), Err(EntryProblem::ParameterName("as")));
    assert_eq!(with!(Parameter { name: "a=b", ..ONE }), Err(EntryProblem::ParameterName("a=b")));
    assert_eq!(with!(Parameter { default: Value::Count(10), ..ONE }), Err(EntryProblem::Default("one")));
}
