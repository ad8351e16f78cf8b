//! The first minute: the command alone, `demo` and `doctor`.

use std::process::Output;

use serde_json::Value;

use crate::common::{firstflight, folder, names, run, status, stderr, stdout, text};

#[test]
fn the_command_alone_names_three_commands_that_run() {
    let output = run(&[]);
    assert_eq!((status(&output), stderr(&output).as_str()), (0, ""));
    let said = stdout(&output);
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    let commands: Vec<&str> = said
        .lines()
        .filter_map(|line| line.strip_prefix("  firstflight "))
        .filter_map(|line| line.split("   ").next())
        .collect();
    assert_eq!(commands.len(), 3, "{said}");
    let place = folder("first-minute-commands");
    for command in commands {
        let output = firstflight().args(command.split(' ')).current_dir(&place).output().expect("it runs");
        assert_eq!(status(&output), 0, "{command}: {}", stderr(&output));
    }
    assert_eq!(names(&place), [""; 0]);
}

#[test]
fn a_group_of_commands_alone_is_refused() {
    assert_eq!(status(&run(&["kernel"])), 2);
}

#[test]
fn demo_is_the_race_of_all_schemes_in_an_empty_folder() {
    let place = folder("first-minute-demo");
    let run_in = |arguments: &[&str]| {
        let mut command = firstflight();
        command.args(arguments).current_dir(&place).env_remove("HOME").output().expect("it runs")
    };
    let demo = run_in(&["demo", "--report", "demo.html"]);
    assert_eq!(status(&demo), 0, "{}", stderr(&demo));
    let race = run_in(&["race", "--schemes", "all,slow-start:recovery=sack,as=slow-start-rfc6675"]);
    assert_eq!(stdout(&demo), stdout(&race));
    let page = std::fs::read_to_string(place.join("demo.html")).expect("the report is written");
    assert!(
        page.contains("firstflight race --rate 100mbit --rtt 80ms"),
        "the report has the command of the race"
    );
    assert_eq!(names(&place), ["demo.html"]);
}

#[test]
fn demo_refuses_a_report_that_cannot_be_written() {
    let missing = folder("first-minute-missing").join("none/demo.html");
    let output = run(&["demo", "--report", text(&missing)]);
    assert_eq!((status(&output), stdout(&output).as_str()), (2, ""));
    let said = stderr(&output);
    assert!(said.contains("demo.html") && said.contains("| firstflight demo --report"), "{said}");
}

fn rows(output: &Output) -> Vec<Value> {
    stdout(output).lines().map(|line| serde_json::from_str(line).expect("a line of JSON")).collect()
}

#[test]
fn doctor_reports_the_error_of_each_command_that_fails() {
    let output = run(&["doctor", "--json"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let rows = rows(&output);
    let row = |part: &str| rows.iter().find(|row| row["part"] == part).expect("a row of this part");
    let ends = ["--rtt", "2ms", "--", "true", "--", "true"];
    for (part, command) in [
        ("emulate, compare", [&["emulate"][..], &ends].concat()),
        ("kernel", [&["kernel", "run", "hystart++"][..], &ends].concat()),
        ("watch", vec!["watch", "--duration", "50ms", "--summary"]),
    ] {
        let itself = run(&command);
        assert_eq!(row(part)["works"], status(&itself) == 0, "{part}: {}", stderr(&itself));
        match row(part)["reason"].as_str() {
            None => assert_eq!(status(&itself), 0, "{part}"),
            Some(reason) => assert!(stderr(&itself).contains(reason), "{reason}: {}", stderr(&itself)),
        }
    }
    assert_eq!((&row("computing")["works"], &row("sockets")["works"]), (&true.into(), &true.into()));
    let table = stdout(&run(&["doctor"]));
    assert!(rows.iter().all(|row| table.contains(row["part"].as_str().expect("text"))), "{table}");
}

#[test]
fn doctor_needs_no_other_program() {
    let without =
        firstflight().args(["doctor", "--json"]).env("PATH", "/nonexistent").output().expect("it runs");
    assert_eq!(stdout(&without), stdout(&run(&["doctor", "--json"])));
}
