//! A typo in a row is found here: what a row says is held against what it does.

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

/// A path of the user's own on which the key may be given.
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

#[test]
fn names_and_places_are_given_once_and_places_have_no_gap() {
    let mut found: Vec<_> = names().collect();
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), keys().count());
    let mut places: Vec<_> = keys().map(|key| key.place).collect();
    places.sort_unstable();
    assert!(places.iter().copied().eq(1..=u8::try_from(found.len()).expect("few keys")), "{places:?}");
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
    }
}

#[test]
fn a_default_is_what_is_so_without_the_key() {
    for key in keys() {
        let own = key.default.map(|text| (beside(key), text));
        let built_in = key.built_in.map(|text| (Vec::new(), text));
        for (beside, text) in own.into_iter().chain(built_in) {
            let without = resolve(&beside);
            assert_eq!(resolve(&[beside, vec![(key.name, text)]].concat()), without, "{} = {text}", key.name);
            let shown = (key.show)(&without);
            assert!(shown.as_deref().is_none_or(|shown| shown == text), "{} = {text}: {shown:?}", key.name);
        }
    }
}

#[test]
fn an_example_changes_the_scenario_and_is_shown_as_it_is_written() {
    for key in keys() {
        for text in key.examples {
            // Hosts without flows are none.
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
fn a_key_that_came_after_the_first_hashes_shows_nothing_at_its_default() {
    const FIRST: u8 = 44;
    for key in keys().filter(|key| key.place > FIRST) {
        assert_eq!((key.show)(&resolve(&beside(key))), None, "{}", key.name);
    }
}

#[test]
fn a_key_is_refused_without_what_it_needs_and_with_what_it_excludes() {
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
    assert!(error.starts_with("there is no option `zzzzzzzz`; there are rate, rtt,"), "{error}");
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    for (key, text) in [
        ("mss", "63"),
        ("mss", "65484"),
        ("packet", "115B"),
        ("loss", "100%"),
        ("loss", "1.0"),
        ("iw", "0p"),
        ("iw", "65536p"),
        ("rounds", "0"),
        ("clients", "1001"),
        ("idle", "0s"),
        ("runs", "0"),
        ("runs", "1000001"),
        ("seed", "-1"),
        ("reverse-rtt-share", "1.1"),
        ("timestamps", "yes"),
    ] {
        assert!(Options::default().set(key, text).is_err(), "{key} = {text}");
    }
}
