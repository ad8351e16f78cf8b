//! Finds typos in the table's rows: compares what a row says with its effect.

use firstflight::Span;

use super::*;
use crate::parse_file;

type Given = Vec<(&'static str, &'static str)>;

fn resolve(given: &[(&str, &str)]) -> Scenario {
    let mut options = Options::default();
    for (key, text) in given {
        options.set(key, text).expect(text);
    }
    Scenario::resolve(&options).unwrap_or_else(|error| panic!("{given:?}: {error}"))
}

/// Returns options of the user's own path with which the key may be given.
fn beside(key: &Key) -> Given {
    let own = if key.name == "rtt" { ("rate", "100mbit") } else { ("rtt", "80ms") };
    let hosts = ("topology", "dumbbell:hosts=4");
    let needed = match key.needs.map(|need| need.other) {
        Some("flows") => vec![hosts, ("flows", "20")],
        Some(other) => vec![(other, super::key(other).expect("a key").examples[0])],
        None if key.name == "flows" => vec![hosts],
        None => Vec::new(),
    };
    [vec![own], needed].concat()
}

/// Returns options of the user's own path with which the key may be given or left out. They include no hosts, because hosts need flows.
fn beside_default(key: &Key) -> Given {
    if key.name == "flows" { vec![("rtt", "80ms")] } else { beside(key) }
}

#[test]
fn names_and_places_are_given_once() {
    let mut found: Vec<_> = names().collect();
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), keys().count());
    let mut places: Vec<_> = keys().map(|key| key.place).collect();
    places.sort_unstable();
    assert!(places.windows(2).all(|pair| pair[0] < pair[1]) && places[0] == 1, "{places:?}");
}

#[test]
fn help_begins_with_a_capital_and_ends_without_a_full_stop() {
    for key in keys() {
        assert!(key.help.starts_with(|c: char| c.is_ascii_uppercase()), "{}", key.name);
        assert!(
            !key.help.ends_with('.') && !key.help.contains('\n') && !key.help.contains("  "),
            "{}",
            key.name
        );
        assert!(key.is_flag() || key.help_line().ends_with(']'), "{}: what is so without it", key.name);
        assert!(!key.examples.is_empty(), "{}", key.name);
        assert!(key.brief.chars().count() <= 54 && !key.brief.ends_with('.'), "{}", key.name);
        // The default of the law depends on the scheme.
        let shown = key.brief.split_once('[').map(|(_, shown)| shown.trim_end_matches(']'));
        assert!(shown.is_none() || shown == key.default || key.name == "avoidance", "{}", key.name);
    }
}

#[test]
fn a_default_is_what_is_so_without_the_key() {
    for key in keys() {
        let own = key.default.map(|text| (beside_default(key), text));
        let built_in = key.built_in.map(|text| (Vec::new(), text));
        for (beside, text) in own.into_iter().chain(built_in) {
            let without = resolve(&beside);
            assert_eq!(resolve(&[beside, vec![(key.name, text)]].concat()), without, "{} = {text}", key.name);
            let shown = (key.show)(&without);
            assert!(shown.as_deref().is_none_or(|shown| shown == text), "{} = {text}: {shown:?}", key.name);
        }
    }
}

/// Returns the clauses in brackets at the end of a key's help, without the conditions under which they apply.
fn shown_defaults(key: &Key) -> Vec<String> {
    let help = key.help_line();
    let (_, brackets) = help.rsplit_once(" [").expect(key.name);
    let clauses = brackets.trim_end_matches(']').split("; ").map(|clause| {
        let clause = clause.strip_prefix("built-in path: ").unwrap_or(clause);
        let clause = clause.strip_prefix("else ").unwrap_or(clause);
        let clause = clause.split_once(": ").map_or(clause, |(_, value)| value);
        match clause.strip_prefix("with ") {
            Some(condition) => condition.rsplit(' ').next().unwrap_or_default(),
            None => clause.split([',', ' ']).next().unwrap_or_default(),
        }
    });
    clauses.map(str::to_owned).collect()
}

#[test]
fn every_default_that_the_help_shows_can_be_typed() {
    // If another key or the scheme decides a default, the help states the default in words. It then begins with one of these words.
    const WORDS: [&str; 6] = ["ten", "the", "each", "peak", "equal", "--duration"];
    let mut typed = 0;
    for key in keys().filter(|key| !key.is_flag()) {
        for text in shown_defaults(key) {
            if WORDS.contains(&text.as_str()) {
                continue;
            }
            let set = Options::default().set(key.name, &text);
            assert_eq!(set, Ok(()), "{} = {text}", key.name);
            typed += 1;
        }
    }
    assert!(typed >= keys().count(), "{typed}");
}

#[test]
fn off_values_may_be_none_or_zero_and_change_nothing() {
    for (name, texts) in [
        ("cross", &["none", "0", "0mbit", "tcp:0", "web:0%"][..]),
        ("rounds", &["none", "0"]),
        ("flows", &["none", "0"]),
        ("spread", &["none", "0", "0ms"]),
        ("receiver-access-rate", &["none"]),
        ("reverse-queue", &["none"]),
        ("loss", &["0", "0%", "0.0"]),
        ("ack-loss", &["0", "0%"]),
        ("jitter", &["none", "0", "0ms", "0s", "0.0ms"]),
        ("policer", &["none", "0"]),
        ("pacing-timer", &["none", "0", "0ms"]),
        ("gso", &["none", "0", "0B"]),
        ("rate-trace", &["none"]),
        ("ack-aggregation", &["none", "0", "0ms"]),
        ("reorder", &["none", "0", "0%,3p"]),
        ("duplicate", &["0", "0%"]),
        ("outage", &["none", "0"]),
        ("aggregation", &["none", "0", "0ms"]),
        ("app", &["all"]),
        ("mixed", &["false"]),
    ] {
        let key = super::key(name).expect(name);
        let flows = vec![("rtt", "80ms"), ("topology", "dumbbell:hosts=4"), ("flows", "20")];
        for text in texts {
            assert!(key.is_off(text), "{name} = {text}");
            let plain = vec![("rtt", "80ms")];
            assert_eq!(
                resolve(&[plain.clone(), vec![(name, text)]].concat()),
                resolve(&plain),
                "{name} = {text}"
            );
            if name != "flows" {
                let with = resolve(&[flows.clone(), vec![(name, text)]].concat());
                assert_eq!(with, resolve(&flows), "{name} = {text} beside flows");
            }
        }
        assert!(key.examples.iter().all(|text| !key.is_off(text)), "{name}");
    }
}

#[test]
fn a_zero_needs_no_unit() {
    let rounds = |idle| resolve(&[("rtt", "80ms"), ("rounds", "3"), ("idle", idle)]);
    assert_eq!(rounds("0").rounds.map(|rounds| rounds.idle), Some(Span::ZERO));
    assert_eq!(rounds("0ms"), rounds("0"));
    // If a zero has no meaning, the error must name the zero as the fault.
    for key in keys() {
        let Err(error) = Options::default().set(key.name, "0") else { continue };
        let error = error.to_string();
        assert!(!error.contains("has no unit"), "{error}");
    }
}

#[test]
fn an_example_changes_the_scenario_and_is_shown_as_it_is_written() {
    for key in keys() {
        for text in key.examples {
            // Hosts need flows, so the path without `flows` has no hosts.
            let without = if key.name == "flows" { resolve(&[]) } else { resolve(&beside(key)) };
            let with = resolve(&[beside(key), vec![(key.name, *text)]].concat());
            assert_ne!(with, without, "{} = {text}", key.name);
            let shown = (key.show)(&with);
            assert!(shown.as_deref().is_none_or(|shown| shown == *text), "{} = {text}: {shown:?}", key.name);
            if key.heading == Heading::Runs {
                assert_eq!(with.canonical(), without.canonical(), "{}", key.name);
                continue;
            }
            assert_ne!(with.canonical(), without.canonical(), "{} = {text}", key.name);
            assert_ne!(with.hash(), without.hash(), "{} = {text}", key.name);
            let again = parse_file(&with.canonical()).expect("a scenario").options;
            assert_eq!(Scenario::resolve(&again), Ok(with), "{} = {text}", key.name);
        }
    }
}

#[test]
fn keys_newer_than_the_first_hashes_show_nothing_at_default() {
    const FIRST: u8 = 44;
    for key in keys().filter(|key| key.place > FIRST) {
        assert_eq!((key.show)(&resolve(&beside(key))), None, "{}", key.name);
    }
}

#[test]
fn a_key_is_refused_without_its_requirements_or_with_excluded_keys() {
    for key in keys() {
        let refused = |beside: &[(&str, &str)]| {
            let mut options = Options::default();
            for (name, text) in beside.iter().copied().chain([(key.name, key.examples[0])]) {
                options.set(name, text).expect(text);
            }
            let error = Scenario::resolve(&options).expect_err(key.name);
            assert_eq!(error.key, key.name, "{error}");
            error.to_string()
        };
        if let Some(need) = key.needs {
            assert_eq!(refused(&[("rtt", "80ms")]), format!("{}: {}", key.name, need.without));
        }
        for Exclusion { other, why, except } in key.excludes {
            let example = super::key(other).expect("a key").examples[0];
            let beside = [beside(key), beside_other(other), vec![(*other, example)]].concat();
            let wanted = format!("{}: it and {other} exclude each other: {why}", key.name);
            assert_eq!(refused(&beside), wanted);
            for text in *except {
                resolve(&[beside.clone(), vec![(key.name, *text)]].concat());
            }
        }
    }
}

fn beside_other(name: &str) -> Given {
    super::key(name).map_or_else(Vec::new, beside)
}

#[test]
fn a_key_with_a_letter_missing_is_told_which_key_is_meant() {
    for key in keys() {
        let typo = &key.name[..key.name.len() - 1];
        if super::key(typo).is_none() {
            let error = Options::default().set(typo, "1").expect_err(typo).to_string();
            assert_eq!(error, format!("there is no option `{typo}`; is `{}` meant?", key.name));
        }
    }
    let error = Options::default().set("zzzzzzzz", "1").expect_err("no such key").to_string();
    assert_eq!(
        error,
        "there is no option `zzzzzzzz`; `firstflight race --help` and docs/reference/keys.md list all"
    );
    let error = Options::default().set("bandwidth", "1mbit").expect_err("a word from elsewhere").to_string();
    assert_eq!(error, "there is no option `bandwidth`; write `rate`");
}

#[test]
fn values_outside_simulable_ranges_are_refused() {
    for (key, text) in [
        ("mss", "63"),
        ("mss", "65484"),
        ("packet", "115B"),
        ("loss", "100%"),
        ("loss", "1.0"),
        ("iw", "0p"),
        ("iw", "65536p"),
        ("clients", "1001"),
        ("idle", "-1s"),
        ("runs", "0"),
        ("runs", "1000001"),
        ("seed", "-1"),
        ("reverse-rtt-share", "1.1"),
        ("timestamps", "yes"),
    ] {
        assert!(Options::default().set(key, text).is_err(), "{key} = {text}");
    }
}

#[test]
fn keys_of_flows_and_of_their_ends_say_nothing_of_trains() {
    let refused = |given: &[(&str, &str)]| {
        let mut options = Options::default();
        for (name, text) in given {
            options.set(name, text).expect(text);
        }
        options.not_of_trains().map(|(_, why)| why)
    };
    for (key, value) in [
        ("size", "1MB"),
        ("duration", "5s"),
        ("iw", "3p"),
        ("ack", "linux"),
        ("rwnd", "64kB"),
        ("recovery", "sack"),
        ("restart", "ssr"),
        ("avoidance", "cubic"),
        ("host-cpu", "list"),
        ("stack", "linux"),
        ("windows", "0s..1s"),
        ("flow", "scheme=paced"),
    ] {
        let why = format!("{key}: it is of flows, and a probing sends trains");
        assert_eq!(refused(&[("probe", "bracket"), (key, value)]), Some(why));
        assert_eq!(refused(&[("probe", "none"), (key, value)]), None);
    }
    assert_eq!(refused(&[("probe", "bracket"), ("cross", "tcp:2"), ("queue", "50p"), ("runs", "3")]), None);
    assert_eq!(refused(&[("probe", "bracket"), ("flows", "none")]), None);
}
