//! The help, its examples and the manual pages can be typed and read.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{firstflight, folder, names, refused, run, status, stderr, stdout, text};

/// Returns the output of a command on a terminal of 80 columns.
fn narrow(arguments: &[&str]) -> String {
    let output = firstflight().args(arguments).env("COLUMNS", "80").output().expect("the command runs");
    assert_eq!((status(&output), stderr(&output)), (0, String::new()), "{arguments:?}");
    stdout(&output)
}

/// The commands that the help lists, without `help` itself.
fn commands() -> Vec<String> {
    let help = stdout(&run(&["--help"]));
    let groups = ["Simulate:", "Measure:", "Real paths:", "Reproduce:", "About:"];
    assert!(groups.iter().all(|group| help.lines().any(|line| line == *group)), "{help}");
    let listed = help.lines().skip_while(|line| *line != "Simulate:").take_while(|line| *line != "Options:");
    let listed = listed.filter(|line| line.starts_with("  ") && !line.starts_with("    "));
    let names = listed.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help");
    names.map(str::to_owned).collect()
}

#[test]
fn the_short_help_fits_a_screen_and_says_where_the_rest_is() {
    for command in commands() {
        let help = narrow(&[&command, "-h"]);
        let lines = help.lines().count();
        assert!(lines <= 40, "{command}: {lines} lines\n{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{command}\n{help}");
        assert!(help.ends_with(&format!("firstflight {command} --help\n")), "{command}\n{help}");
        assert!(help.lines().count() < narrow(&[&command, "--help"]).lines().count(), "{command}");
    }
    assert!(narrow(&["-h"]).lines().count() <= 40);
    let race = narrow(&["race", "-h"]);
    assert!(race.lines().count() >= 24, "{race}");
    for word in ["Path:", "Schemes:", "Endpoints:", "Runs:", "Output:", "--rate", "--schemes", "--report"] {
        assert!(race.contains(word), "{word} in {race}");
    }
}

#[test]
fn help_of_a_command_is_the_same_however_it_is_asked_for() {
    for command in commands() {
        assert_eq!(narrow(&["help", &command]), narrow(&[&command, "--help"]), "{command}");
    }
    assert_eq!(refused(&["help", "rase"]), "error: unknown command `rase`; is `race` meant?");
}

/// The command lines among the examples of a help.
fn examples(help: &str) -> Vec<String> {
    let after = help.split_once("Examples:\n").expect("examples").1;
    let lines = after.lines().filter_map(|line| line.strip_prefix("    firstflight "));
    lines.map(str::to_owned).collect()
}

#[test]
fn every_example_of_the_help_runs() {
    let place = folder("examples-of-the-help");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::create_dir(place.join("scenarios")).expect("a folder");
    for file in names(&root.join("scenarios")) {
        fs::copy(root.join("scenarios").join(&file), place.join("scenarios").join(&file)).expect("a copy");
    }
    fs::copy(root.join("tests/packetdrill/scripts/after_idle.pkt"), place.join("my-test.pkt"))
        .expect("a copy");
    let mut count = 0;
    // A race writes the files that the later examples read.
    let last = |command: &String| command == "inspect" || command == "replay";
    let (after, before): (Vec<_>, Vec<_>) = commands().into_iter().partition(last);
    for command in before.into_iter().chain(after) {
        let help = stdout(&run(&[&command, "--help"]));
        for line in examples(&help) {
            // A hundredth of the standard grid takes a minute; `crates/cli/src/examples.rs` has it parsed.
            if line.starts_with("sweep") && line.contains("--shard") || line.starts_with("score") {
                continue;
            }
            // Commands on a real path need rights that a test may not have; `tests/emulate` and `tests/kernel` run them.
            let is_real = ["emulate", "kernel", "watch"].iter().any(|one| line.starts_with(one));
            // A server runs until it is interrupted, and its clients need it; `transfer.rs` and `probe.rs` run them.
            let is_of_two =
                ["serve", "get", "put", "reflect", "probe 127"].iter().any(|one| line.starts_with(one));
            if is_real || is_of_two || line.starts_with("compare") && !line.contains("--habitats") {
                continue;
            }
            let words: Vec<&str> = line.split_whitespace().map(|word| word.trim_matches('\'')).collect();
            let output = firstflight().args(words).current_dir(&place).output().expect("the command runs");
            assert_eq!(status(&output), 0, "{line}: {}", stderr(&output));
            assert!(line.contains("--dir") || !output.stdout.is_empty(), "{line}");
            count += 1;
        }
    }
    assert!(count >= 20, "{count} examples ran");
}

#[test]
fn each_command_has_a_manual_page_with_examples_and_related_pages() {
    let place = folder("manual").join("man1");
    let output = run(&["man", "--dir", text(&place)]);
    assert_eq!((status(&output), stdout(&output)), (0, String::new()), "{}", stderr(&output));
    let pages = names(&place);
    let wanted = commands().into_iter().map(|name| format!("firstflight-{name}.1"));
    for page in wanted.chain(["firstflight.1".to_owned(), "firstflight-model-quick-start.1".to_owned()]) {
        assert!(pages.contains(&page), "{page} in {pages:?}");
        let page_text = fs::read_to_string(place.join(&page)).expect("a page");
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "SEE ALSO"] {
            let is_there = page_text.contains(&format!("\n.SH {section}\n"))
                || page_text.contains(&format!("\n.SH \"{section}\"\n"));
            assert!(is_there || section == "EXAMPLES" && page.contains("model-"), "{section} in {page}");
        }
    }
    let page = stdout(&run(&["man", "race"]));
    assert_eq!(page, fs::read_to_string(place.join("firstflight-race.1")).expect("a page"));
    assert_eq!(stdout(&run(&["man"])), fs::read_to_string(place.join("firstflight.1")).expect("a page"));
    let nested = stdout(&run(&["man", "model", "quick-start"]));
    assert!(nested.contains("firstflight\\-model\\-quick\\-start"), "{nested}");
    assert!(refused(&["man", "rase"]).contains("there is no page `rase`; is `race` meant?"));
    let file = place.join("firstflight.1");
    assert!(refused(&["man", "--dir", text(&file)]).contains("--dir: cannot write into"));
}

#[test]
fn manual_pages_render_without_a_warning() {
    let place = folder("manual-rendered");
    run(&["man", "--dir", text(&place)]);
    let mut rendered = 0;
    for page in names(&place) {
        let arguments = ["-man", "-ww", "-k", "-Tutf8", "-P", "-cbou"];
        let Ok(output) = Command::new("groff").args(arguments).arg(place.join(&page)).output() else {
            println!("skipped: groff is not installed, so the manual pages were not rendered");
            return;
        };
        assert_eq!(stderr(&output), "", "{page}");
        assert!(stdout(&output).contains("SEE ALSO"), "{page}");
        rendered += 1;
    }
    assert!(rendered >= 12, "{rendered}");
}
