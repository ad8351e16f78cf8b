//! Paths by name: `firstflight paths`, `--path`, and `path` in files and sweeps.

use serde_json::Value;

use firstflight_scenario::presets::presets;

use crate::common::{folder, names, refused, run, status, stderr, stdout, text};

fn listed(more: &[&str]) -> Vec<Value> {
    let json = stdout(&run(&[&["paths", "--json"], more].concat()));
    json.lines().map(|line| serde_json::from_str(line).expect("an object a line")).collect()
}

/// The rows as JSON. Notes on standard error are not expected.
fn rows(arguments: &[&str]) -> String {
    let output = run(&[arguments, &["--json"]].concat());
    assert_eq!((status(&output), stderr(&output)), (0, String::new()), "{arguments:?}");
    stdout(&output)
}

#[test]
fn the_list_has_every_path_and_json_has_its_source_and_words() {
    let table = stdout(&run(&["paths"]));
    let all = listed(&[]);
    assert_eq!(all.len(), presets().count());
    for (preset, object) in presets().zip(&all) {
        assert!(table.lines().any(|line| line.starts_with(&format!("{} ", preset.name))), "{}", preset.name);
        assert_eq!(object["name"], preset.name);
        for (key, word) in preset.words {
            assert_eq!(object["path"][key], *word, "{object}");
        }
        assert_eq!(object["options"], preset.command_line());
        for key in ["name", "address", "file", "entry", "licence"] {
            assert!(object["source"][key].as_str().is_some_and(|text| !text.is_empty()), "{object}");
        }
        assert!(object["notes"].as_array().is_some_and(|notes| !notes.is_empty()), "{object}");
    }
}

#[test]
fn a_name_or_an_alias_shows_one_path_and_a_wrong_one_the_closest() {
    let text = stdout(&run(&["paths", "geo"]));
    for words in
        ["quicly-geo, also geo", "--rate 50mbit --rtt 600ms --queue 3750kB", "MIT", "a queue of 600 ms"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert_eq!(listed(&["geo"])[0]["name"], "quicly-geo");
    let line = refused(&["paths", "quicly-goe"]);
    assert!(line.contains("there is no path `quicly-goe`; is `quicly-geo` meant?"), "{line}");
    let line = refused(&["race", "--path", "xxxxxxxxxxxx"]);
    assert!(
        line.starts_with("error: --path: `xxxxxxxxxxxx` is not known; `firstflight paths` lists"),
        "{line}"
    );
}

#[test]
fn a_race_over_a_path_by_name_is_the_race_over_its_words() {
    let more = ["--size", "100kB", "--schemes", "slow-start,paced"];
    for preset in presets().filter(|preset| ["quicly-leo", "noq-i819"].contains(&preset.name)) {
        let line = preset.command_line();
        let words: Vec<&str> = line.split(' ').collect();
        let by_name = rows(&[&["race", "--path", preset.name], &more[..]].concat());
        assert_eq!(by_name, rows(&[&["race"], &words[..], &more].concat()), "{}", preset.name);
    }
    let changed = rows(&[&["race", "--rate", "9mbit", "--path", "quicly-leo"], &more[..]].concat());
    let words = ["race", "--rate", "9mbit", "--rtt", "40ms", "--queue", "500kB"];
    assert_eq!(changed, rows(&[&words[..], &more].concat()));
    let table = stdout(&run(&[&["race", "--path", "leo"], &more[..]].concat()));
    assert!(table.lines().next().is_some_and(|title| title.ends_with(", path quicly-leo")), "{table}");
}

#[test]
fn files_name_a_path_and_an_option_names_another() {
    let file = folder("paths-file").join("path.toml");
    std::fs::write(&file, "path = \"quicly-dsl\"\nsize = \"50kB\"\nschemes = [\"paced\"]\n").expect("a file");
    let race = ["--size", "50kB", "--schemes", "paced"];
    let wanted = rows(&[&["race", "--path", "quicly-dsl"], &race[..]].concat());
    assert_eq!(rows(&["run", text(&file)]), wanted);
    let wanted = rows(&[&["race", "--path", "quicly-geo"], &race[..]].concat());
    assert_eq!(rows(&["run", text(&file), "--path", "quicly-geo"]), wanted);
    std::fs::write(&file, "rate = \"9mbit\"\nsize = \"50kB\"\nschemes = [\"paced\"]\n").expect("a file");
    let output = run(&["run", text(&file), "--path", "quicly-geo", "--json"]);
    assert_eq!(stdout(&output), wanted);
    assert!(stderr(&output).contains("--path replaces `rate` of "), "{}", stderr(&output));
    std::fs::write(&file, "[path]\nrate = \"9mbit\"\n").expect("a file");
    let line = refused(&["run", text(&file)]);
    assert!(line.contains("`[path]` is of sweeps"), "{line}");
}

#[test]
fn sweeps_take_a_list_of_paths_and_shares_of_their_rates() {
    let place = folder("paths-sweep");
    let (file, out) = (place.join("sweep.toml"), place.join("out"));
    let sweep = "schemes = [\"slow-start\"]\ngive-up = 20\n[path]\npath = [\"quicly-dsl\", \"wpt-cable\"]\n\
                 size = \"50kB\"\nreverse-rate = { share = \"10%\" }\n";
    std::fs::write(&file, sweep).expect("a file");
    let command = stdout(&run(&["sweep", text(&file), "--show", "1"]));
    for words in ["--rate 5mbit", "--reverse-rate 500kbit", "--queue 50p", "--rtt 28ms"] {
        assert!(command.contains(words), "{words}: {command}");
    }
    let output = run(&["sweep", text(&file), "--out", text(&out)]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert!(names(&out).iter().any(|name| !name.starts_with('.')));
    std::fs::write(&file, sweep.replace("wpt-cable", "wpt-cabel")).expect("a file");
    let line = refused(&["sweep", text(&file), "--show", "1"]);
    assert!(line.contains("path: `wpt-cabel` is not known; is `wpt-cable` meant?"), "{line}");
}

#[test]
fn emulate_takes_a_path_and_refuses_what_real_packets_cannot_do() {
    let with = |more: &[&str]| refused(&[&["emulate"], more, &["--", "true", "--", "true"]].concat());
    let line = with(&["--path", "quicly-dsl", "--size", "1MB"]);
    assert!(line.starts_with("error: --size: the programs decide what is sent"), "{line}");
    let line = with(&["--path", "quicly-dls"]);
    assert!(line.starts_with("error: --path: `quicly-dls` is not known; is `quicly-dsl` meant?"), "{line}");
    let line = with(&["--path", "quicly-dsl", "--cross", "tcp:3"]);
    assert!(line.starts_with("error: --cross: `tcp:3` is only simulated"), "{line}");
}
