//! The options and refusals of `emulate` that need no rights. Real packets are in `tests/emulate`.

use crate::common::{folder, refused, run, stdout, text};
use firstflight_scenario::keys::keys;

#[test]
fn the_help_has_the_keys_of_real_packets_and_no_others() {
    let help = stdout(&run(&["emulate", "--help"]));
    for key in keys() {
        let option = format!("--{}", key.name);
        let shown = help.lines().any(|line| line.split_whitespace().next() == Some(&option));
        assert_eq!(shown, key.real, "{option}");
    }
    assert!(!help.contains("--schemes"));
}

#[test]
fn emulate_refuses_options_of_simulated_hosts_with_a_reason() {
    for (option, value, why) in [
        ("--size", "1MB", "the programs decide what is sent"),
        ("--rounds", "3", "the programs decide what is sent"),
        ("--iw", "10p", "the hosts' own transport decides"),
        ("--stack", "linux", "the hosts' own transport decides"),
        ("--runs", "3", "one run is emulated at a time"),
        ("--schemes", "all", "the programs bring their own start-up"),
        ("--cross", "tcp:3", "`tcp:3` is only simulated; real packets are crossed by"),
        ("--cross", "users:3,10kB,scheme=paced", "`users:3,10kB,exponential,scheme=paced` is only simulated"),
        ("--cross", "poisson:5mbit,50p", "`poisson:5mbit,50p,exponential` is only simulated"),
        ("--cross", "5mbit,start=1s", "`5mbit,start=1s` is only simulated"),
        ("--cross", "5mbit,stop=1s", "`5mbit,stop=1s` is only simulated"),
        ("--cross", "5mbit,way=reverse", "`5mbit,way=reverse` is only simulated"),
        ("--cross", "5mbit;2mbit", "`2mbit` is only simulated"),
        ("--topology", "dumbbell:hosts=3", "there are two hosts"),
    ] {
        let said = refused(&["emulate", "--rate", "20mbit", option, value, "--", "true", "--", "true"]);
        assert!(said.starts_with(&format!("error: {option}: ")) && said.contains(why), "{said}");
    }
    let flag = refused(&["emulate", "--ecn", "--", "true", "--", "true"]);
    assert!(flag.starts_with("error: --ecn: the hosts' own transport"), "{flag}");
}

#[test]
fn two_commands_are_wanted_or_a_shell() {
    for words in [&["--", "true"][..], &[], &["--", "true", "--"], &["--", "a", "--", "b", "--", "c"]] {
        let said = refused(&[&["emulate", "--rate", "20mbit"], words].concat());
        assert!(said.contains("`emulate OPTIONS -- CMD_A -- CMD_B`"), "{said}");
    }
    refused(&["emulate", "--shell", "--", "true", "--", "true"]);
}

#[test]
fn options_that_make_no_sense_together_or_cannot_be_written_are_refused() {
    let folder = folder("emulate-refused");
    let same = folder.join("same");
    let path = ["emulate", "--rate", "20mbit"];
    let commands = ["--", "true", "--", "true"];
    for (options, why) in [
        (&["--duration", "1s", "--limit", "2s"][..], "--limit: a run with a duration ends with it"),
        (&["--report", "x.html"], "--log"),
        (&["--log", text(&same), "--report", text(&same)], "--log's file too"),
        (&["--log", "/none/such/log"], "--log"),
        (&["--rate", "0mbit"], "--rate"),
        (&["--duration", "soon"], "--duration"),
        (&["--sender", "c"], "c"),
        (&["--mss", "1460", "--packet", "1500B"], "--mss"),
    ] {
        let said = if options[0] == "--rate" {
            refused(&[&["emulate"], options, &commands].concat())
        } else {
            refused(&[&path, options, &commands].concat())
        };
        assert!(said.contains(why), "{options:?}: {said}");
    }
    assert!(!same.exists());
}
