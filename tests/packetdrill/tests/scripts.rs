//! The scripts of this crate, and the mismatches reported when their expectations are changed.

use std::fs;
use std::path::Path;

use firstflight_packetdrill::{Kind, Problem, run};
use proptest::prelude::*;

fn scripts() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let mut scripts: Vec<_> = fs::read_dir(folder)
        .expect("the scripts")
        .map(|entry| entry.expect("an entry").path())
        .map(|path| {
            (
                path.file_name().expect("a name").to_string_lossy().into_owned(),
                fs::read_to_string(&path).expect("text"),
            )
        })
        .collect();
    scripts.sort();
    assert!(scripts.len() > 20, "the scripts are there");
    scripts
}

fn problem(text: &str) -> Problem {
    run(text, None).expect_err("it must not pass")
}

#[test]
fn a_tolerance_from_outside_replaces_that_of_the_script() {
    // The SYN-ACK leaves at once.
    let text = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n+0 listen(3, 1) = 0\n\
                +0 < S 0:0(0) win 1000 <mss 1000>\n+.020 > S. 0:0(0) ack 1 <...>\n";
    assert_eq!(problem(text).line, 5);
    assert_eq!(run(text, Some(30_000)), Ok(()));
    assert!(run(&format!("--tolerance_usecs=30000\n{text}"), Some(10)).is_err());
}

#[test]
fn every_script_passes() {
    for (name, text) in scripts() {
        assert_eq!(run(&text, None), Ok(()), "{name}");
    }
}

/// Lines that expect a segment, with a number in them to change.
fn expectations(text: &str) -> Vec<usize> {
    let expects = |line: &str| !line.starts_with("//") && !line.contains("%{") && line.contains(" > ");
    text.lines().enumerate().filter(|(_, line)| expects(line)).map(|(at, _)| at).collect()
}

fn with_line(text: &str, at: usize, change: impl Fn(&str) -> String) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines[at] = change(&lines[at]);
    lines.join("\n")
}

#[test]
fn an_expectation_changed_in_flags_acknowledgement_or_time_fails_in_its_line() {
    for (name, text) in scripts() {
        for at in expectations(&text) {
            let line = text.lines().nth(at).expect("a line");
            let (time, segment) = line.split_once(" > ").expect("an expectation");
            let (flags, rest) = segment.split_once(' ').expect("flags and more");
            let flags = if flags.contains('P') { flags.replace('P', "") } else { format!("P{flags}") };
            // The value in brackets is the IP header's.
            let in_brackets = segment.starts_with('[');
            let mut changed: Vec<_> =
                (!in_brackets).then(|| format!("{time} > {flags} {rest}")).into_iter().collect();
            if let Some((before, after)) = segment.split_once("ack ") {
                changed.push(format!("{time} > {before}ack 9{after}"));
            }
            if !segment.contains('<') {
                changed.push(format!("{line} <nop,nop,TS val 1 ecr 1>"));
            }
            changed.push(format!("{line} win 1").replace("> win 1", ">"));
            changed.push(format!("+.777 > {segment}"));
            for one in changed.into_iter().filter(|one| one != line) {
                let text = with_line(&text, at, |_| one.clone());
                let problem = problem(&text);
                assert_eq!(
                    (problem.kind, problem.line),
                    (Kind::Mismatch, at + 1),
                    "{name}: {one}: {problem}"
                );
            }
        }
    }
}

#[test]
fn an_expectation_that_nothing_meets_fails_in_its_line() {
    let (_, text) =
        scripts().into_iter().find(|(name, _)| name == "initial_window.pkt").expect("it is there");
    let text = format!("{text}\n+.010 > . 1:1(0) ack 1\n");
    let problem = problem(&text);
    assert_eq!((problem.kind, problem.line), (Kind::Mismatch, text.lines().count()));
    assert!(problem.message.contains("none was sent"), "{problem}");
}

#[test]
fn a_mismatch_shows_both_segments() {
    let (_, text) =
        scripts().into_iter().find(|(name, _)| name == "initial_window.pkt").expect("it is there");
    let problem = problem(&text.replace("P. 1:14001(14000)", "P. 1:12601(12600)"));
    assert_eq!(problem.kind, Kind::Mismatch);
    assert!(problem.message.contains("expected: > P. 1:12601(12600) ack 1"), "{problem}");
    assert!(problem.message.contains("sent:     > ") && problem.message.contains("(14000)"), "{problem}");
}

#[test]
fn a_part_of_a_burst_is_not_what_left() {
    let (_, text) =
        scripts().into_iter().find(|(name, _)| name == "initial_window.pkt").expect("it is there");
    let problem = problem(&text.replace("> P. 1:14001(14000)", "> . 1:1401(1400)"));
    assert_eq!(problem.kind, Kind::Mismatch);
    assert!(problem.message.contains("> P. 1:2801(2800)"), "{problem}");
}

#[test]
fn an_assertion_that_does_not_hold_fails_in_its_line() {
    for (name, text) in scripts() {
        for (at, line) in text.lines().enumerate().filter(|(_, line)| line.contains("{ assert ")) {
            let changed = with_line(&text, at, |line| line.replace("{ assert ", "{ assert 0 and "));
            let problem = problem(&changed);
            assert_eq!((problem.kind, problem.line), (Kind::Mismatch, at + 1), "{name}: {line}: {problem}");
        }
    }
}

#[test]
fn a_call_that_gives_something_else_fails_in_its_line() {
    let (_, text) =
        scripts().into_iter().find(|(name, _)| name == "nonblocking_calls.pkt").expect("it is there");
    for (from, to) in [
        ("= -1 EINPROGRESS", "= -1 EALREADY"),
        ("read(3, ..., 100) = 10", "read(3, ..., 100) = 11"),
        ("revents=POLLIN}", "revents=POLLHUP}"),
        ("= 0x2 ", "= 0x802 "),
        ("[0], [4]) = 0", "[111], [4]) = 0"),
    ] {
        assert!(text.contains(from), "{from}");
        let line = text.lines().position(|line| line.contains(from)).expect("the line") + 1;
        let problem = problem(&text.replacen(from, to, 1));
        assert_eq!((problem.kind, problem.line), (Kind::Mismatch, line), "{to}: {problem}");
    }
}

#[test]
fn unsupported_script_features_are_named_with_their_line() {
    let begin = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n";
    for (line, named) in [
        ("+0 < udp (100)", "UDP"),
        ("+0 < icmp unreachable", "ICMP"),
        ("+0 < S 0:0(0) win 1 <FO 0123>", "Fast Open"),
        ("+0 < S 0:0(0) win 1 <md5 0123>", "MD5"),
        ("+0 < [tos 0x10] S 0:0(0) win 1", "tos"),
        ("+0 < P.5 1:1(0) ack 1 win 1", "ACE"),
        ("+0 `ip route add 1.2.3.4`", "ip route"),
        ("+0 `sysctl -q net.ipv4.tcp_unheard_of=1`", "tcp_unheard_of"),
        ("+0 `sysctl -q net.ipv4.tcp_congestion_control=bbr`", "bbr"),
        ("+0 epoll_create(1) = 4", "epoll_create"),
        ("+0 setsockopt(3, SOL_TCP, TCP_FASTOPEN, [1], 4) = 0", "TCP_FASTOPEN"),
        ("+0 socket(..., SOCK_DGRAM, IPPROTO_UDP) = 4", "SOCK_DGRAM"),
        ("+0 send(3, ..., 1, MSG_ZEROCOPY) = 1", "MSG_ZEROCOPY"),
        ("+0 %{ import os }%", "import"),
        ("+0 %{ assert tcpi_snd_unheard_of == 1 }%", "tcpi_snd_unheard_of"),
    ] {
        let problem = problem(&format!("{begin}\n{line}\n"));
        assert_eq!((problem.kind, problem.line), (Kind::Unsupported, 3), "{line}: {problem}");
        assert!(problem.message.contains(named), "{line}: {problem}");
    }
    let problem = problem(&format!("--use_expect=x\n{begin}"));
    assert_eq!((problem.kind, problem.line), (Kind::Unsupported, 1));
}

#[test]
fn syntax_errors_are_reported_with_their_line() {
    for text in [
        "",
        "0 f(",
        "0 f() = 0\n+x",
        "0 f() = 0\n+0 < S 0:1(0) win 1",
        "0 socket(..., SOCK_STREAM, 0) = 3\n+0 < S 0:0(0)",
    ] {
        let problem = problem(text);
        assert_ne!(problem.kind, Kind::Mismatch, "{text}: {problem}");
        assert!(problem.line >= 1, "{text}");
    }
}

#[test]
fn a_script_that_lasts_longer_than_a_century_is_refused() {
    let line = "+2900000000 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0\n";
    let problem = problem(&format!("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n{}", line.repeat(20_000)));
    assert_eq!((problem.kind, problem.line), (Kind::Unreadable, 3));
}

#[test]
fn commands_are_never_executed() {
    let trap = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packetdrill-trap");
    let text = format!("`touch {}`\n0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n", trap.display());
    assert_eq!(problem(&text).kind, Kind::Unsupported);
    assert!(!trap.exists());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_it_panic(text in "[ -~\n]{0,200}") {
        drop(run(&text, None));
        drop(run(&format!("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 {text}"), None));
    }

    #[test]
    fn no_changed_script_makes_it_panic(
        script in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0usize..7, any::<prop::sample::Index>()), 1..6),
    ) {
        let scripts = scripts();
        let mut lines: Vec<String> = script.get(&scripts).1.lines().map(str::to_owned).collect();
        for (at, what, other) in changes {
            if lines.is_empty() {
                break;
            }
            let (at, other) = (at.index(lines.len()), other.index(lines.len()));
            match what {
                0 => { lines.remove(at); }
                1 => lines.swap(at, other),
                2 => { let line = lines[other].clone(); lines.insert(at, line); }
                3 => { let cut = other.min(lines[at].len()); lines[at] = lines[at].chars().take(cut).collect(); }
                4 => lines[at] = lines[at].replace(['1', '4'], "99999"),
                5 => lines[at] = lines[at].replace('+', "+2900000000"),
                _ => lines[at] = lines[at].replace("win 500", "win 0").replace("+.0", "+9.").replace(" < ", " < F").replace("(1400)", "(0)"),
            }
        }
        drop(run(&lines.join("\n"), None));
    }
}
