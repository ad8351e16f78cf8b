//! Checks every preset, and how a preset and other keys combine.

use super::*;
use crate::keys::names;
use crate::presets::{Source, preset, presets};
use crate::{Scenario, parse_file, quantity};

fn options(given: &[(&str, &str)]) -> Options {
    let mut options = Options::default();
    for (key, text) in given {
        options.set(key, text).unwrap_or_else(|error| panic!("{error}"));
    }
    options
}

fn scenario(given: &[(&str, &str)]) -> Scenario {
    Scenario::resolve(&options(given)).unwrap_or_else(|error| panic!("{given:?}: {error}"))
}

/// Checks that a preset with other keys gives the scenario of the words, whatever the order.
fn same(path: &str, given: &[(&str, &str)], words: &[(&str, &str)]) {
    let wanted = scenario(words);
    let preset = [("path", path)];
    for all in [[&preset, given].concat(), [given, &preset].concat()] {
        let found = scenario(&all);
        assert_eq!(found, wanted, "{all:?}");
        assert_eq!(found.hash(), wanted.hash(), "{all:?}");
    }
}

#[test]
fn names_are_given_once_and_say_their_source() {
    let mut found: Vec<_> = presets().flat_map(Preset::names).collect();
    let count = found.len();
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), count);
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    for preset in presets() {
        assert!(preset.names().all(|name| name.chars().all(plain)), "{}", preset.name);
        assert!(preset.name.len() <= 26, "{}", preset.name);
        let Source { name, address, file, licence, commit, .. } = preset.source;
        for text in [preset.title, preset.entry, name, file, licence] {
            assert!(!text.is_empty() && text.trim() == text, "{}", preset.name);
        }
        assert!(address.starts_with("https://"), "{}", preset.name);
        assert!(commit.is_empty() || commit.len() == 40, "{}", preset.name);
        assert!(preset.all_notes().count() > 0, "{}", preset.name);
        for note in preset.all_notes() {
            assert!(note.ends_with('.') && !note.contains("  "), "{}: {note}", preset.name);
        }
    }
}

#[test]
fn a_preset_is_its_words_to_the_hash() {
    for preset in presets() {
        for name in preset.names() {
            same(name, &[], preset.words);
        }
        let found = scenario(&[("path", preset.name)]);
        assert_eq!(found.origin.name(), Some(preset.name));
        assert!(
            (found.describe() + ",").contains(&format!(", path {},", preset.name)),
            "{}",
            found.describe()
        );
        assert!(!found.canonical().contains("path"), "{}", found.canonical());
        let again = parse_file(&found.canonical()).expect("a scenario").options;
        assert_eq!(Scenario::resolve(&again), Ok(found));
        assert!(scenario(preset.words).origin.name().is_none());
    }
}

#[test]
fn words_are_keys_of_links_as_the_canonical_text_writes_them() {
    for preset in presets() {
        let shown = scenario(preset.words).settings();
        for (name, text) in preset.words {
            let key = key(name).expect(name);
            assert!(key.real && key.sweeps && !key.repeats, "{}: {name}", preset.name);
            assert_eq!(preset.words.iter().filter(|(other, _)| other == name).count(), 1, "{name}");
            let canonical = shown.iter().find(|(shown, _)| shown == name).map(|(_, text)| text);
            let canonical = options(&[(name, canonical.expect(name))]);
            assert_eq!(canonical.plain, options(&[(name, text)]).plain, "{}: {name} = {text}", preset.name);
        }
        let places: Vec<_> =
            preset.words.iter().map(|(name, _)| names().position(|other| other == *name)).collect();
        assert!(places.iter().all(Option::is_some), "{}", preset.name);
    }
}

#[test]
fn a_queue_in_time_is_the_bytes_of_the_rate_in_this_time() {
    let mut times = 0;
    for preset in presets().filter(|preset| !preset.queue.is_empty()) {
        let words = preset.queue.split_once(' ');
        let queue = preset.word("queue").expect(preset.name);
        let Some((packets, "packets")) = words else {
            let span = quantity::span(&preset.queue.replace(' ', "")).expect(preset.name);
            for (rate, queue) in [("rate", "queue"), ("reverse-rate", "reverse-queue")] {
                let Some(text) = preset.word(queue) else { continue };
                let rate = quantity::rate(preset.word(rate).expect(preset.name)).expect("a rate");
                let bytes = u128::from(rate.bps()) * u128::from(span.nanos()) / 8_000_000_000;
                let found = quantity::amount(text).expect(text).in_bytes(1);
                assert_eq!(found.map(|bytes| u128::from(bytes.get())), Some(bytes), "{}", preset.name);
                times += 1;
            }
            continue;
        };
        assert_eq!(queue, format!("{packets}p"), "{}", preset.name);
    }
    assert!(times > 20, "{times}");
}

#[test]
fn any_other_key_replaces_a_word_whatever_the_order() {
    let dsl = [("rate", "30mbit"), ("rtt", "30ms"), ("queue", "187500B")];
    same("quicly-dsl", &[("rate", "10mbit")], &[("rate", "10mbit"), dsl[1], dsl[2]]);
    same("quicly-dsl", &[("queue", "codel:100p")], &[dsl[0], dsl[1], ("queue", "codel:100p")]);
    same(
        "quicly-dsl",
        &[("loss", "1%"), ("size", "2MB")],
        &[&dsl[..], &[("loss", "1%"), ("size", "2MB")]].concat(),
    );
    same("quicly-dsl", &[("duration", "5s")], &[&dsl[..], &[("duration", "5s")]].concat());
    same("quicly-dsl", &[("packet", "1000B")], &[&dsl[..], &[("packet", "1000B")]].concat());
    same("none", &[("rtt", "30ms")], &[("rtt", "30ms")]);
    same("none", &[], &[]);
    let title = scenario(&[("path", "quicly-dsl"), ("rate", "10mbit")]).describe();
    assert!(title.ends_with(", path quicly-dsl with changes"), "{title}");
    // The last of two presets applies.
    same("quicly-dsl", &[("path", "quicly-dsl")], &dsl);
}

#[test]
fn a_word_that_a_key_excludes_is_left_out() {
    let low = preset("picoquic-low-and-up").expect("a preset");
    let without = |out: &[&str]| -> Vec<(&str, &str)> {
        low.words.iter().copied().filter(|(key, _)| !out.contains(key)).collect()
    };
    let trace = ("rate-trace", "0s=1mbit,5s=2mbit");
    same(
        low.name,
        &[("rate", "4mbit")],
        &[without(&["rate", "rate-trace"]), vec![("rate", "4mbit")]].concat(),
    );
    same(low.name, &[trace], &[without(&["rate", "rate-trace"]), vec![trace]].concat());
    // A trace that is turned off leaves the rate of the preset.
    same(low.name, &[("rate-trace", "none")], &without(&["rate-trace"]));
    // Jitter of the reverse path and a population exclude each other.
    let flows = [("topology", "dumbbell:hosts=2"), ("flows", "3")];
    same("noq-i819", &flows, &[&flows[..], &[("rtt", "20ms"), ("jitter", "5ms")]].concat());
}

#[test]
fn options_are_expanded_once() {
    let given = options(&[("path", "picoquic-blackhole"), ("loss", "1%")]);
    let expanded = given.expanded().into_owned();
    assert_eq!(expanded.expanded().as_ref(), &expanded);
    assert_eq!(expanded.given("rtt"), Some("80ms"));
    assert_eq!(options(&[("loss", "1%")]).expanded().as_ref(), &options(&[("loss", "1%")]));
}

#[test]
fn a_wrong_name_is_one_line_with_the_closest_name() {
    let fault = |name: &str| Options::default().set("path", name).expect_err(name).to_string();
    assert_eq!(
        fault("quicly-dls"),
        "path: `quicly-dls` is not known; is `quicly-dsl` meant? `firstflight paths` lists all"
    );
    assert_eq!(fault("zzzzzzzzzz"), "path: `zzzzzzzzzz` is not known; `firstflight paths` lists all");
    assert!(fault("").starts_with("path: `` is not known; "));
}

#[test]
fn a_file_names_a_preset_and_options_over_the_file_apply_as_they_do_without_it() {
    let file = "path = \"quicly-dsl\"\nloss = \"1%\"\n";
    let of = |text: &str| parse_file(text).expect(text).options;
    let dsl = [("rate", "30mbit"), ("rtt", "30ms"), ("queue", "187500B"), ("loss", "1%")];
    assert_eq!(Scenario::resolve(&of(file)), Ok(scenario(&dsl)));
    let over = |text: &str, given: &[(&'static str, &str)]| {
        let given: Vec<_> = given.iter().map(|(key, text)| (*key, (*text).to_owned())).collect();
        let (both, replaced) = of(text).with(&given).expect("values that can be read");
        let replaced: Vec<_> = replaced.iter().map(|one| format!("{}<{}", one.key, one.by)).collect();
        (Scenario::resolve(&both).expect("a scenario"), replaced.join(" "))
    };
    let (found, replaced) = over(file, &[("rate", "10mbit")]);
    assert_eq!(found, scenario(&[("rate", "10mbit"), dsl[1], dsl[2], dsl[3]]));
    assert_eq!(replaced, "");
    let (found, _) = over(file, &[("path", "quicly-geo")]);
    assert_eq!(found, scenario(&[("path", "quicly-geo"), ("loss", "1%")]));
    let (found, _) = over(file, &[("path", "none")]);
    assert_eq!(found, scenario(&[("loss", "1%")]));
    // A preset replaces the file's words of the path, but not an option next to it.
    let plain = "rate = \"9mbit\"\nrtt = \"9ms\"\nqueue = \"9p\"\nrate-trace = \"0s=9mbit,1s=8mbit\"\nloss = \"1%\"\n";
    let (found, replaced) = over(plain, &[("path", "quicly-dsl"), ("queue", "64kB")]);
    assert_eq!(found, scenario(&[("path", "quicly-dsl"), ("queue", "64kB"), ("loss", "1%")]));
    assert_eq!(replaced, "rate<path rtt<path rate-trace<path");
}
