//! Any scheme with any parameters, before any avoidance law, keeps the laws over any path; and the same seed makes the same bytes,
//! whichever schemes race and however many threads run.
//!
//! `PROPTEST_CASES=10000 cargo test -p firstflight-lab --test it random_paths` runs more cases.

use firstflight::registry::{self, Kind, Parameter, Value};
use firstflight::{Bytes, Rate, Span};
use firstflight_lab::run;
use firstflight_measure::row;
use firstflight_scenario::{Options, Scenario, parse_choices};
use proptest::prelude::*;
use proptest::sample::select;

use crate::laws::{from_the_beginning, keep_the_laws, watched};

/// Options as on the command line.
type Given = Vec<(&'static str, String)>;

/// A path, and the scheme on it.
#[derive(Clone)]
struct Case {
    options: Given,
    scheme: String,
}

impl std::fmt::Debug for Case {
    /// As the command that makes it again.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("firstflight race")?;
        for (key, text) in &self.options {
            match text.as_str() {
                "true" => write!(f, " --{key}")?,
                text => write!(f, " --{key} {text}")?,
            }
        }
        write!(f, " --schemes {}", self.scheme)
    }
}

impl Case {
    fn scenario(&self) -> Result<Scenario, String> {
        let mut set = Options::default();
        for (key, text) in &self.options {
            set.set(key, text).map_err(|error| error.to_string())?;
        }
        Scenario::resolve(&set).map_err(|error| error.to_string())
    }
}

/// Two digits times a power of ten, so that a value is as likely in each power.
fn log_uniform(powers: std::ops::RangeInclusive<u32>) -> impl Strategy<Value = u64> {
    (10_u64..100, powers).prop_map(|(digits, power)| digits * 10_u64.pow(power))
}

/// Adds the options that a strategy makes, or leaves them unset.
fn maybe(options: impl Strategy<Value = Given> + 'static) -> BoxedStrategy<Given> {
    prop_oneof![Just(Given::new()), options].boxed()
}

fn one(key: &'static str, text: impl Strategy<Value = String> + 'static) -> BoxedStrategy<Given> {
    text.prop_map(move |text| vec![(key, text)]).boxed()
}

fn word(key: &'static str, words: &'static [&'static str]) -> BoxedStrategy<Given> {
    one(key, select(words).prop_map(str::to_owned))
}

fn queue() -> impl Strategy<Value = String> {
    let limit = prop_oneof![
        (1_u32..200).prop_map(|packets| format!("{packets}p")),
        (1_u32..=400).prop_map(|percent| format!("{}bdp", f64::from(percent) / 100.0)),
    ];
    let managed = select(&["codel", "fq-codel", "pie"][..]);
    let settings = select(&["", ",ecn", ",target=1ms", ",target=50ms,ecn"][..]);
    let red = (6_u32..300, select(&["", ",ecn", ",p=1", ",p=0.01,ecn"][..]));
    prop_oneof![
        3 => limit.clone(),
        2 => (managed, limit, settings).prop_map(|(kind, limit, more)| format!("{kind}:{limit}{more}")),
        1 => red.prop_map(|(limit, more)| format!("red:{limit}p{more}")),
    ]
}

/// The ends: what they agree on, how they acknowledge, repair and restart.
fn ends() -> impl Strategy<Value = Given> {
    let recoveries: &[&str] = &["rack", "sack", "newreno", "newreno-steady", "reno", "ns2-sack1"];
    let laws: Vec<_> = registry::laws().iter().map(|law| law.name.to_owned()).collect();
    (
        one("mss", (500_u32..=8960).prop_map(|mss| mss.to_string())),
        one("iw", (1_u32..=50).prop_map(|iw| format!("{iw}p"))),
        word("ack", &["every", "delayed", "linux", "freebsd", "windows-xp"]),
        maybe(word("recovery", recoveries)),
        maybe(one("avoidance", select(laws))),
        maybe(one("rwnd", (1_u32..200).prop_map(|rwnd| format!("{rwnd}p")))),
        maybe(one("ssthresh", (1_u32..200).prop_map(|ssthresh| format!("{ssthresh}p")))),
        maybe(one("min-rto", (1_u32..3_000).prop_map(|ms| format!("{ms}ms")))),
        maybe(word("timestamps", &["true"])),
        maybe(word("ecn", &["true"])),
    )
        .prop_map(|(a, b, c, d, e, f, g, h, i, j)| [a, b, c, d, e, f, g, h, i, j].concat())
}

/// A sender with coarse transmission times, and a return path with random delays.
fn rough() -> impl Strategy<Value = Given> {
    let timer = one("pacing-timer", select(&["50us", "1ms", "10ms"][..]).prop_map(str::to_owned));
    let gso = one("gso", (1_u32..=65_536).prop_map(|bytes| format!("{bytes}B")));
    let back = one("reverse-jitter", (1_u32..50).prop_map(|ms| format!("{ms}ms")));
    (maybe(timer), maybe(gso), maybe(back)).prop_map(|(a, b, c)| [a, b, c].concat())
}

/// Impairments of packets on the path.
fn troubles() -> impl Strategy<Value = Given> {
    let span = || (1_u32..50).prop_map(|ms| format!("{ms}ms"));
    let trace = proptest::collection::vec((1_u32..2_000, 0_u32..20), 1..6).prop_map(|steps| {
        let mut at = 0;
        let steps = steps.into_iter().map(|(wait, rate)| {
            at += wait;
            format!(",{at}ms={}", if rate == 0 { "0".to_owned() } else { format!("{rate}mbit") })
        });
        // The trace ends with a rate, or no flow would finish.
        format!("0s=5mbit{},60s=1mbit", steps.collect::<String>())
    });
    (
        maybe(one("loss", (0_u32..=100).prop_map(|permille| format!("{}%", f64::from(permille) / 10.0)))),
        maybe(one("jitter", span())),
        maybe(rough()),
        maybe(one("reverse-rtt-share", (0_u32..=100).prop_map(|percent| format!("{percent}%")))),
        maybe(one("reverse-rate", log_uniform(4..=8).prop_map(|bps| format!("{bps}bit")))),
        maybe(one("access-rate", log_uniform(5..=9).prop_map(|bps| format!("{bps}bit")))),
        prop_oneof![
            4 => Just(Given::new()),
            1 => one("ack-aggregation", span()),
            1 => one("ack-aggregation", (1_u32..64).prop_map(|acks| acks.to_string())),
        ],
        prop_oneof![
            6 => Just(Given::new()),
            1 => one("policer", (log_uniform(5..=8), 20_u32..500).prop_map(|(bps, kilobytes)| {
                format!("{bps}bit,{kilobytes}kB")
            })),
            1 => one("rate-trace", trace),
        ],
        maybe(word("qs-hops", &["none", "1", "2"])),
        one("seed", (0_u64..1_000_000).prop_map(|seed| seed.to_string())),
    )
        .prop_map(|(a, b, c, d, e, f, g, h, i, j)| [a, b, c, d, e, f, g, h, i, j].concat())
}

/// A path of any rate and length that the flow has for itself.
fn alone() -> impl Strategy<Value = Given> {
    let rtt = log_uniform(1..=4).prop_map(|micros| format!("{}us", (micros * 10).min(2_000_000)));
    let rounds = (2_u32..6, 1_u32..20_000, prop_oneof![Just(String::from("none")), Just(String::from("1s"))]);
    (
        one("rate", log_uniform(4..=8).prop_map(|bps| format!("{bps}bit"))),
        one("rtt", rtt),
        prop_oneof![
            3 => one("size", log_uniform(0..=4).prop_map(|bytes| format!("{}B", bytes / 10))),
            2 => one("size", (100_u32..=1_500).prop_map(|kilobytes| format!("{kilobytes}kB"))),
            1 => (100_u32..=1_500, 1_u32..300, 1_u32..3_000).prop_map(|(size, write, every)| vec![
                ("size", format!("{size}kB")),
                ("app", format!("{write}kB,{every}ms")),
            ]),
            1 => (rounds, 1_u32..100).prop_map(|((rounds, idle, spread), kilobytes)| vec![
                ("size", format!("{kilobytes}kB")),
                ("rounds", rounds.to_string()),
                ("idle", format!("{idle}ms")),
                ("spread", spread),
            ]),
        ],
        Just(vec![("limit", "700h".to_owned())]),
    )
        .prop_map(|(a, b, c, d)| [a, b, c, d].concat())
}

/// A path shared with other traffic: slow enough that a case is quick.
fn shared() -> impl Strategy<Value = Given> {
    let cross = prop_oneof![
        (1_u32..=60).prop_map(|percent| format!("{}bit", percent * 20_000)),
        (1_u32..=3).prop_map(|flows| format!("tcp:{flows}")),
        (1_u32..=80, 1_u32..2_000, 1_u32..2_000, select(&["", ",pareto=1.5"][..])).prop_map(
            |(percent, on, off, law)| {
                // A packet of 9012 bytes takes 3605 ms at 1 % of the rate, and the minimum of a Pareto distribution is a third of its mean.
                let min = 3 * 3_605 / percent / 2 + 1;
                format!("onoff:{}bit,{}ms,{}ms{law}", percent * 20_000, min + on, min + off)
            }
        ),
        (1_u32..=10, 1_u32..15, select(&["", ",fixed", ",lognormal", ",pareto=1.2"][..]))
            .prop_map(|(arrivals, size, law)| format!("poisson:{arrivals},{size}kB{law}")),
        (1_u32..=60).prop_map(|percent| format!("web:{percent}%")),
    ];
    (
        Just(vec![("rate", "2mbit".to_owned()), ("limit", "2000s".to_owned())]),
        one("rtt", (1_u32..200).prop_map(|ms| format!("{ms}ms"))),
        one("size", (1_u32..50).prop_map(|kilobytes| format!("{kilobytes}kB"))),
        one("cross", cross),
    )
        .prop_map(|(a, b, c, d)| [a, b, c, d].concat())
}

/// A value in the declared range of a parameter: the minimum, the maximum, or one between, small values as likely as large ones.
fn value(parameter: &'static Parameter) -> BoxedStrategy<String> {
    let between = |min: u64, max: u64| {
        prop_oneof![
            Just(min),
            Just(max),
            (0_u32..64, any::<u64>())
                .prop_map(move |(bits, draw)| { min.saturating_add(draw >> bits).min(max) }),
        ]
    };
    let text = |value: Value| value.to_string();
    match parameter.kind {
        Kind::Count { min, max } => between(min, max).prop_map(move |v| text(Value::Count(v))).boxed(),
        Kind::CountOr { word, min, max } => {
            prop_oneof![Just(word.to_owned()), between(min, max).prop_map(move |v| text(Value::Count(v))),]
                .boxed()
        }
        Kind::Span { min, max } => between(min.nanos(), max.nanos())
            .prop_map(move |v| text(Value::Span(Span::from_nanos(v))))
            .boxed(),
        Kind::Rate { min, max } => {
            between(min.bps(), max.bps()).prop_map(move |v| text(Value::Rate(Rate::from_bps(v)))).boxed()
        }
        Kind::Bytes { min, max } => {
            between(min.get(), max.get()).prop_map(move |v| text(Value::Bytes(Bytes::new(v)))).boxed()
        }
        Kind::Fraction { min_ppm, max_ppm } => between(u64::from(min_ppm), u64::from(max_ppm))
            .prop_map(move |v| text(Value::Fraction { ppm: u32::try_from(v).expect("a fraction") }))
            .boxed(),
        Kind::Word(words) => select(words).prop_map(str::to_owned).boxed(),
    }
}

/// Some of the parameters, each at most once.
fn settings(parameters: &'static [Parameter]) -> BoxedStrategy<Vec<String>> {
    let each: Vec<_> = parameters
        .iter()
        .map(|parameter| {
            proptest::option::of(value(parameter).prop_map(move |text| format!("{}={text}", parameter.name)))
        })
        .collect();
    each.prop_map(|settings| settings.into_iter().flatten().collect()).boxed()
}

/// A scheme, with parameters and a restart policy with its own.
fn scheme() -> impl Strategy<Value = String> {
    let policy = select(registry::restarts())
        .prop_flat_map(|entry| settings(entry.parameters).prop_map(move |set| (entry.name, set)));
    let own = select(registry::schemes())
        .prop_flat_map(|entry| settings(entry.parameters).prop_map(move |set| (entry.name, set)));
    (own, proptest::option::of(policy)).prop_map(|((name, mut settings), policy)| {
        if let Some((policy, own)) = policy {
            let parts: Vec<String> = [policy.to_owned()].into_iter().chain(own).collect();
            settings.push(format!("restart={}", parts.join("/")));
        }
        let colon = if settings.is_empty() { "" } else { ":" };
        format!("{name}{colon}{}", settings.join(","))
    })
}

fn beside() -> impl Strategy<Value = &'static str> {
    select(registry::schemes()).prop_map(|entry| entry.name)
}

fn case() -> impl Strategy<Value = Case> {
    over(prop_oneof![4 => alone().boxed(), 1 => shared().boxed()])
}

fn over(path: impl Strategy<Value = Given>) -> impl Strategy<Value = Case> {
    (path, one("queue", queue()), ends(), troubles(), scheme()).prop_map(
        |(path, queue, ends, troubles, scheme)| {
            let mut options = [path, queue, ends, troubles].concat();
            if options.iter().any(|(key, _)| *key == "rate-trace") {
                options.retain(|(key, _)| *key != "rate");
            }
            Case { options, scheme }
        },
    )
}

/// A failure is reported as a command, so no file is kept. Each fixed failure has its own test.
fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

/// The bare ACK after a SYN-ACK with a Quick-Start response offers the receive buffer in a scaled field.
#[test]
fn a_quick_start_sender_does_not_send_more_than_a_buffer_above_65535_bytes() {
    let options = [
        ("rate", "100mbit"),
        ("rtt", "81ms"),
        ("size", "126kB"),
        ("queue", "1p"),
        ("mss", "1338"),
        ("iw", "1p"),
        ("rwnd", "49p"),
    ];
    let options = options.map(|(key, text)| (key, text.to_owned())).to_vec();
    let path = Case { options, scheme: "quick-start".to_owned() }.scenario().expect("a path");
    keep_the_laws(&path, "quick-start").expect("the laws");
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_scheme_keeps_the_laws_over_any_path(case in case()) {
        let path = case.scenario().map_err(TestCaseError::fail)?;
        keep_the_laws(&path, &case.scheme).map_err(TestCaseError::fail)?;
    }

    #[test]
    fn the_same_seed_makes_the_same_bytes_whoever_else_races(case in case(), beside in beside()) {
        let path = case.scenario().map_err(TestCaseError::fail)?;
        let alone = parse_choices(&case.scheme).expect("a scheme");
        let list = format!("{beside}:as=beside,{}", case.scheme);
        let together = parse_choices(&list).expect("two schemes");
        let one = watched(&path, &alone, 1).map_err(TestCaseError::fail)?.remove(0);
        let other = watched(&path, &together, 2).map_err(TestCaseError::fail)?.remove(1);
        prop_assert_eq!(&one.row, &other.row);
        prop_assert_eq!(one.digest(), other.digest());
    }

    /// Without figures packets are counted as they pass, with figures they are listed; the row is the same.
    #[test]
    fn counted_measurements_equal_those_of_the_full_recording(case in case()) {
        let path = case.scenario().map_err(TestCaseError::fail)?;
        let choice = parse_choices(&case.scheme).expect("a scheme").remove(0);
        let measured = path.measured(&choice, path.seed);
        let outcome = |full| {
            let outcome = run(&path, &choice, path.seed, full, None, &|| false);
            outcome.map_err(|error| TestCaseError::fail(error.to_string()))
        };
        let brief = outcome(false)?.evidence;
        prop_assert!(brief.recording.sends.is_empty() && brief.recording.delivered.is_empty());
        let mut whole = outcome(true)?.evidence;
        prop_assert_eq!(&brief.counted, &whole.counted);
        let counted = row(&measured, &brief);
        prop_assert_eq!(&counted, &row(&measured, &whole));
        whole.counted = None;
        prop_assert_eq!(&counted, &row(&measured, &whole));
    }

    #[test]
    fn shared_warm_ups_give_the_same_results_as_runs_from_the_beginning(case in over(shared()), beside in beside()) {
        let path = case.scenario().map_err(TestCaseError::fail)?;
        let list = format!("quick-start:as=asks,{beside}:as=beside,{}", case.scheme);
        let choices = parse_choices(&list).expect("three schemes");
        for (shared, choice) in watched(&path, &choices, 2).map_err(TestCaseError::fail)?.iter().zip(&choices) {
            if choice.lacks_saved() {
                // Values that an earlier connection saved are not part of the choice.
                continue;
            }
            let mut alone = from_the_beginning(&path, choice).map_err(TestCaseError::fail)?;
            // Harm after the flow's end is computed only by the race.
            alone.row.harm = shared.row.harm;
            prop_assert_eq!(&alone.row, &shared.row);
            prop_assert_eq!(alone.digest(), shared.digest());
        }
    }
}
