//! Words that users bring from other programs: accepted if they are unambiguous, otherwise answered with the word to write.

use crate::common::{refused, run, status, stderr, stdout};

#[test]
fn an_option_of_another_program_is_told_the_one_here() {
    for (option, here) in [
        ("--bandwidth", "write `--rate`"),
        ("--bw", "write `--rate`"),
        ("--delay", "write `--rtt`, which is both ways"),
        ("--latency", "write `--rtt`, which is both ways"),
        ("--buffer", "write `--queue`"),
        ("--cc", "write `--schemes` for the start-up, `--avoidance` for the law after it"),
        ("--congestion-control", "write `--schemes` for the start-up"),
        ("--loss-rate", "write `--loss`"),
        ("--initcwnd", "write `--iw`"),
        ("--scheme", "is `--schemes` meant?"),
        ("--rat", "is `--rate` meant?"),
        ("-rate", "is `--rate` meant?"),
        ("--output", "write `--report`, `--json`, `--csv` or `--parquet`"),
        ("--zzzzzzzz", "`firstflight race --help` lists all"),
    ] {
        for command in ["race", "race --rtt 10ms"] {
            let words: Vec<&str> = command.split_whitespace().chain([option, "1"]).collect();
            let line = refused(&words);
            assert!(line.starts_with(&format!("error: unknown option `{option}`; {here}")), "{line}");
        }
    }
    let line = refused(&["inspect", "--rate", "1mbit"]);
    assert_eq!(
        line,
        "error: unknown option `--rate` here; it is one of `race` and `run` and `probe` and `emulate` and `compare`"
    );
    for (name, says) in
        [("simulate", "write `race`"), ("analyze", "write `inspect`"), ("raec", "is `race` meant?")]
    {
        assert_eq!(refused(&[name]), format!("error: unknown command `{name}`; {says}"));
    }
    assert_eq!(refused(&["race", "--ecn=yes"]), "error: --ecn takes no value, and `yes` is one");
    assert_eq!(refused(&["completions", "bsh"]), "error: <SHELL>: `bsh` is not known; is `bash` meant?");
    assert!(refused(&["model", "quikstart"]).contains("unknown model `quikstart`; is `quick-start` meant?"));
}

#[test]
fn a_value_of_another_program_is_told_the_one_here() {
    for (option, value, says) in [
        ("--rate", "10M", "`10M` is written `10mbit` here"),
        ("--rate", "1G", "`1G` is written `1gbit` here"),
        ("--rate", "100 mb", "`100 mb` may mean `100mbit` or `800mbit`"),
        ("--rate", "10MB/s", "`10MB/s` is written `80mbit` here"),
        ("--size", "100 mb", "`100 mb` may mean `100MB` or `12500kB`"),
        ("--queue", "pfifo", "`pfifo` is not known; write the limit alone for a drop-tail queue"),
        ("--queue", "droptail", "`droptail` is not known; write the limit alone for a drop-tail queue"),
        ("--queue", "tail-drop:10p", "`tail-drop` is not known; write the limit alone for a drop-tail queue"),
        ("--queue", "fq_codel", "`fq_codel` has no limit; write it behind, as in `fq-codel:1000p`"),
        ("--cross", "udp:3", "`udp:3` is not known; write the rate alone for a constant bit rate"),
        ("--topology", "dumbel:hosts=3", "`dumbel:hosts=3` is not known; is `dumbbell` meant?"),
        ("--schemes", "paced:frist=3", "paced has no parameter frist; is `first` meant?"),
        ("--policer", "20mbit", "`20mbit` is only a part; a policer is a rate and the bytes of a burst"),
        ("--recovery", "tlp", "`tlp` is not known; write `rack`"),
        ("--avoidance", "newreno", "`newreno` is not known; write `reno`"),
        ("--schemes", "newreno", "unknown scheme `newreno`; write `slow-start:avoidance=reno`"),
        ("--schemes", "bbr2", "unknown scheme `bbr2`; write `bbr:avoidance=bbr`"),
        ("--schemes", "bbrv3", "unknown scheme `bbrv3`; write `bbr:avoidance=bbr`"),
        ("--schemes", "hystartpp", "unknown scheme `hystartpp`; write `hystart++`"),
        ("--schemes", "all,-vegsa", "unknown scheme `vegsa`; is `vegas` meant?"),
        ("--schemes", "vegas,-vegas", "nothing is left to race"),
    ] {
        let line = refused(&["race", option, value]);
        assert!(line.starts_with(&format!("error: {option}: {says}")), "{line}");
    }
}

/// The rows of a short race with this option, as JSON.
fn raced(more: &[&str]) -> String {
    let short = ["race", "--rtt", "20ms", "--size", "50kB", "--schemes", "slow-start", "--json"];
    let output = run(&[&short[..], more].concat());
    assert_eq!((status(&output), stderr(&output)), (0, String::new()), "{more:?}");
    stdout(&output)
}

#[test]
fn a_word_that_says_one_thing_is_read() {
    for (option, here, words) in [
        ("--rate", "10mbit", &["10Mbps", "10 Mb/s", "10mbit/s", "10 MBIT"][..]),
        ("--size", "50kB", &["50 KB", "50000 bytes"]),
        ("--rwnd", "5MiB", &["5 MiB", "5 mib"]),
        ("--min-rto", "50ms", &["50 ms", "50msec"]),
        ("--iw", "10p", &["10", "10 packets"]),
        ("--queue", "fq-codel:100p", &["fq_codel:100p", "FQ_CoDel:100p"]),
        ("--recovery", "newreno", &["NewReno"]),
    ] {
        let wanted: Vec<&str> = if option == "--size" { vec![] } else { vec![option, here] };
        let wanted = raced(&wanted);
        for word in words {
            let equals = format!("{option}={word}");
            let given = if option == "--size" { vec!["--iw", "10p"] } else { vec![equals.as_str()] };
            assert_eq!(raced(&given), wanted, "{option} {word}");
        }
    }
}

#[test]
fn a_default_that_means_none_can_be_typed() {
    let wanted = raced(&[]);
    for (option, words) in [
        ("--jitter", &["0", "0ms", "none"][..]),
        ("--loss", &["0", "0%"]),
        ("--ack-loss", &["0", "0%"]),
        ("--cross", &["none", "0", "0mbit", "tcp:0"]),
        ("--policer", &["none"]),
        ("--rounds", &["none", "0"]),
        ("--flows", &["none", "0"]),
        ("--rate-trace", &["none"]),
        ("--rwnd", &["inf"]),
        ("--ack-aggregation", &["none", "0"]),
    ] {
        for word in words {
            assert_eq!(raced(&[option, word]), wanted, "{option} {word}");
        }
    }
}

#[test]
fn a_scheme_is_taken_away_by_a_dash() {
    let output = run(&["race", "--rtt", "20ms", "--size", "50kB", "--schemes", "all,-vegas", "--csv"]);
    let rows = stdout(&output);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert!(rows.lines().count() > 10 && !rows.contains("\nvegas,"), "{rows}");
    let first = run(&["race", "--rtt", "20ms", "--size", "50kB", "--schemes", "-vegas", "--csv"]);
    assert_eq!(stdout(&first), rows, "a list that begins by taking away begins with all");
}
