//! The command can read every file of `scenarios/`, so an example never becomes invalid.

use std::path::{Path, PathBuf};

use firstflight_lab::parse_sweep;
use firstflight_scenario::{Options, Scenario, over_restarts, parse_choices, parse_file};

use crate::common::{run, status, stderr, stdout, text};

/// The files, sorted.
fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let entries = std::fs::read_dir(folder).expect("the folder");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    assert!(files.iter().all(|file| file.extension().is_some_and(|end| end == "toml")), "{files:?}");
    assert!(files.len() >= 5, "{files:?}");
    files
}

/// Returns the command in the file's comment, without its name.
fn command(text: &str) -> Vec<String> {
    let after = text.split_once("`firstflight ").expect("a file says how it is run").1;
    let (command, _) = after.split_once('`').expect("in one line");
    command.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn every_example_is_read_by_the_command_that_stands_in_it() {
    for file in files() {
        let name = format!("scenarios/{}", file.file_name().expect("a name").to_string_lossy());
        let contents = std::fs::read_to_string(&file).expect("UTF-8");
        let command = command(&contents);
        assert_eq!(command[1], name, "it names itself");
        match command[0].as_str() {
            "run" => {
                let said = parse_file(&contents).unwrap_or_else(|error| panic!("{name}: {error}"));
                let (list, _) = said.schemes.as_ref().unwrap_or_else(|| panic!("{name} names its schemes"));
                let choices = parse_choices(list).unwrap_or_else(|error| panic!("{name}: {error}"));
                let rows = over_restarts(choices, &said.options);
                assert!(!rows.unwrap_or_else(|error| panic!("{name}: {error}")).is_empty());
                let scenario =
                    Scenario::resolve(&said.options).unwrap_or_else(|error| panic!("{name}: {error}"));
                let unset = Scenario::resolve(&Options::default()).expect("the built-in path");
                assert_ne!(scenario.hash(), unset.hash(), "{name} is a path of its own");
            }
            "sweep" => {
                let sweep = parse_sweep(&contents).unwrap_or_else(|error| panic!("{name}: {error}"));
                let last = (sweep.paths() - 1).to_string();
                for path in ["0", &last] {
                    let output = run(&["sweep", text(&file), "--show", path]);
                    assert_eq!(status(&output), 0, "{name}: {}", stderr(&output));
                    assert!(stdout(&output).starts_with("firstflight race --rate "), "{name}");
                }
            }
            other => panic!("{name} is run with {other}"),
        }
    }
}
