//! No input is overwritten, nothing is read without end, and no quoted text controls a terminal.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{firstflight, folder, names, refused, run, status, stderr, stdout, text};

const RACE: [&str; 9] =
    ["race", "--rate", "10mbit", "--rtt", "20ms", "--size", "50kB", "--schemes", "slow-start"];

/// Creates a file of this name and content, which must not change.
fn file(folder: &Path, name: &str, content: &str) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, content).expect("a file");
    path
}

/// Asserts that the command is refused in a line that names both files, and that the input is unchanged.
fn keeps(input: &Path, output: &Path, arguments: &[&str]) {
    let before = std::fs::read(input).expect("a file");
    let line = refused(arguments);
    assert!(line.contains(text(output)) && line.contains(text(input)), "{line}");
    assert!(line.contains("would overwrite the "), "{line}");
    assert!(std::fs::read(input).expect("a file") == before, "{arguments:?} overwrote its input");
}

#[test]
fn a_report_over_a_scenario_is_refused_however_it_is_spelled() {
    let place = folder("over-scenario");
    std::fs::create_dir(place.join("inside")).expect("a folder");
    let scenario = file(&place, "s.toml", "rate = \"10mbit\"\nrtt = \"20ms\"\nschemes = [\"slow-start\"]\n");
    let (link, hard) = (place.join("link.toml"), place.join("hard.toml"));
    std::os::unix::fs::symlink(&scenario, &link).expect("a link");
    std::fs::hard_link(&scenario, &hard).expect("a link");
    let around = place.join("inside/../s.toml");
    for output in [&scenario, &link, &hard, &around] {
        for option in ["--report", "--figure", "--parquet"] {
            keeps(&scenario, output, &["run", text(&scenario), option, text(output)]);
        }
    }
    keeps(&link, &scenario, &["run", text(&link), "--report", text(&scenario)]);
    let logs = file(&place, "slow-start.jsonl", &std::fs::read_to_string(&scenario).expect("a file"));
    keeps(&logs, &logs, &["run", text(&logs), "--events", text(&place)]);
}

#[test]
fn a_figure_over_a_rate_trace_is_refused() {
    let place = folder("over-trace");
    let trace = file(&place, "t.txt", "0s 10mbit\n");
    keeps(&trace, &trace, &[&RACE[..], &["--rate-trace", text(&trace), "--figure", text(&trace)]].concat());
    let toml = format!("rate-trace = \"{}\"\nrtt = \"20ms\"\nschemes = [\"slow-start\"]\n", text(&trace));
    let scenario = file(&place, "s.toml", &toml);
    keeps(&trace, &trace, &["run", text(&scenario), "--parquet", text(&trace)]);
    let flows = [
        "--flows",
        "4",
        "--topology",
        "dumbbell:hosts=2",
        "--rate-trace",
        text(&trace),
        "--parquet",
        text(&trace),
    ];
    keeps(&trace, &trace, &[&RACE[..], &flows].concat());
}

#[test]
fn a_report_over_a_capture_is_refused() {
    let place = folder("over-capture");
    let output = run(&[&RACE[..], &["--pcap", text(&place)]].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let [one, other] = ["client", "server"].map(|side| place.join(format!("slow-start-{side}.pcapng")));
    keeps(&one, &one, &["inspect", "--report", text(&one), text(&other), text(&one)]);
    keeps(&one, &one, &["inspect", text(&one), "--report", text(&one)]);
}

#[test]
fn a_report_over_a_file_of_a_sweep_is_refused() {
    let place = folder("over-sweep");
    let sweep = "paths = 2\nschemes = [\"slow-start\"]\n[path]\nrate = \"10mbit\"\n\
        rtt = { uniform = [\"10ms\", \"20ms\"] }\nsize = \"20kB\"\n";
    let sweep = file(&place, "sweep.toml", sweep);
    let out = place.join("out");
    let output = run(&["sweep", text(&sweep), "--out", text(&out)]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let said = stdout(&output);
    assert!(said.contains("/out: 1 part with 2 paths and 1 row a path is whole; 1 was raced now"), "{said}");
    for name in ["sweep.json", "part-000000.parquet"] {
        let file = out.join(name);
        keeps(&file, &file, &["score", text(&out), "--report", text(&file)]);
    }
    // A page cannot replace a part that does not exist yet either.
    let missing = out.join("part-000007.parquet");
    let line = refused(&["score", text(&out), "--report", text(&missing)]);
    assert!(line.contains(text(&missing)), "{line}");
    assert_eq!(names(&out), ["part-000000.parquet", "sweep.json"]);

    let other = place.join("other");
    std::fs::create_dir(&other).expect("a folder");
    let inside = other.join("part-000000.parquet");
    std::fs::copy(&sweep, &inside).expect("a copy");
    keeps(&inside, &inside, &["sweep", text(&inside), "--out", text(&other)]);
}

#[test]
fn two_outputs_in_one_file_are_refused_however_they_are_spelled() {
    let place = folder("one-file");
    std::fs::create_dir(place.join("inside")).expect("a folder");
    let (one, other) = (place.join("a.parquet"), place.join("inside/../a.parquet"));
    let line = refused(&[&RACE[..], &["--series", text(&one), "--parquet", text(&other)]].concat());
    assert!(line.contains(text(&one)) && line.contains(text(&other)), "{line}");
    let log = place.join("slow-start.jsonl");
    std::fs::write(&log, "").expect("a file");
    let page = place.join("page.html");
    std::os::unix::fs::symlink(&log, &page).expect("a link");
    let line = refused(&[&RACE[..], &["--report", text(&page), "--events", text(&place)]].concat());
    assert!(line.contains("--report's file too"), "{line}");
    assert_eq!(names(&place), ["inside", "page.html", "slow-start.jsonl"]);
}

#[test]
fn a_file_without_an_end_is_refused() {
    for (arguments, limit) in [
        (&["race", "--rate-trace", "/dev/zero"][..], "64 MB"),
        (&["race", "--delay-trace", "/dev/zero"], "64 MB"),
        (&["run", "/dev/zero"], "16 MB"),
        (&["sweep", "/dev/zero", "--show", "0"], "16 MB"),
    ] {
        let line = refused(arguments);
        let words = format!("it is larger than {limit}");
        assert!(line.contains("/dev/zero") && line.contains(&words), "{line}");
    }
    let output = run(&["packetdrill", "/dev/zero"]);
    let output_of = "UNREADABLE /dev/zero: cannot be read: it is larger than 16 MB\n";
    assert_eq!((status(&output), stdout(&output).as_str()), (2, output_of));
}

#[test]
fn control_characters_are_never_printed() {
    let place = folder("escapes");
    let wrong = file(&place, "s.toml", "rate = \"\u{7f}\u{9b}31m1x\" # \u{9b}2J\n");
    let script = file(&place, "a\n\u{1b}[2Jb.pkt", "0 %{ assert 0, 'x\nPASS y\u{1b}[2J' }%\n");
    for arguments in [
        &["run", text(&wrong)][..],
        &["run", "no\u{1b}[31m\n.toml"],
        &["race", "--rate=\u{1b}]0;x\u{7}"],
        &["\u{1b}[2J"],
        &["packetdrill", text(&script)],
        &["inspect", text(&script)],
        &["replay", text(&script)],
        &["score", text(&script)],
    ] {
        let output = run(arguments);
        assert!(status(&output) != 0, "{arguments:?}");
        let said = stdout(&output) + &stderr(&output);
        assert!(said.chars().all(|letter| letter == '\n' || !letter.is_control()), "{said:?}");
        assert!(!said.contains("\nPASS"), "{said}");
        assert!(said.contains("\\u{"), "{said}");
    }
}

#[test]
fn a_long_line_is_not_quoted_whole() {
    let place = folder("long-lines");
    let long = "a".repeat(400_000);
    for content in [format!("schemes = [\"{long}\"]"), format!("{long} = 1"), format!("rate = \"{long}\"")] {
        let output = run(&["run", text(&file(&place, "s.toml", &content))]);
        assert_eq!(status(&output), 2);
        assert!(stderr(&output).len() < 8_000, "{} bytes", stderr(&output).len());
    }
    let script = file(&place, "s.pkt", &format!("0 %{{ assert 0, '{long}' }}%\n"));
    let output = run(&["packetdrill", text(&script)]);
    assert_eq!(status(&output), 1, "{}", stderr(&output));
    assert!(stdout(&output).len() < 8_000, "{} bytes", stdout(&output).len());
}

#[test]
fn a_long_chain_of_operators_in_a_script_is_not_supported() {
    let place = folder("long-chain");
    let script = file(&place, "p.pkt", &format!("0 %{{ assert {}1 > 0 }}%\n", "1+".repeat(30_000)));
    let output = run(&["packetdrill", text(&script)]);
    let output_of = "a statement of more than 512 operators in code\n";
    assert_eq!(status(&output), 2, "{}", stderr(&output));
    assert!(stdout(&output).ends_with(output_of), "{}", stdout(&output));
}

/// A named pipe.
fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status().expect("mkfifo runs");
    assert!(made.success(), "{}", path.display());
}

/// Runs a command in a folder, with a limit: a hang fails with status 124.
fn run_in(place: &Path, program: &Path, arguments: &[&str]) -> std::process::Output {
    Command::new("timeout")
        .arg("60")
        .arg(program)
        .args(arguments)
        .current_dir(place)
        .output()
        .expect("it runs")
}

/// A folder, a program or a pipe with the program's name, in the folder that an output goes to.
#[test]
fn nothing_that_is_in_a_folder_keeps_an_output_out_of_it() {
    let program = Path::new(env!("CARGO_BIN_EXE_firstflight"));
    let sweep = "paths = 2\npart = 1\nschemes = [\"paced\"]\n[path]\nrate = { log-uniform = [\"5mbit\", \"9mbit\"] }\nrtt = \"10ms\"\nsize = \"10kB\"\n";
    for kind in ["folder", "program", "pipe"] {
        let place = folder(&format!("named-as-we-are-{kind}"));
        let named = place.join("firstflight");
        match kind {
            "folder" => std::fs::create_dir(&named).expect("a folder"),
            "program" => drop(std::fs::copy(program, &named).expect("a copy")),
            _ => pipe(&named),
        }
        // The program that runs is the one in the folder.
        let program = if kind == "program" { &named } else { program };
        file(&place, "s.toml", sweep);
        let race = [&RACE[..], &["--json"]].concat();
        for output in ["--events", "--pcap", "--qlog"] {
            let output = run_in(&place, program, &[&race[..], &[output, "a"]].concat());
            assert_eq!((status(&output), stderr(&output)), (0, String::new()), "{kind}");
        }
        let output = run_in(&place, program, &["sweep", "s.toml", "--out", "b"]);
        assert_eq!(status(&output), 0, "{kind}: {}", stderr(&output));
        let mut left = names(&place);
        left.retain(|name| !["firstflight", "s.toml", "a", "b"].contains(&name.as_str()));
        assert_eq!(left, [""; 0], "{kind}");
    }
}

#[test]
fn log_paths_that_are_no_plain_files_are_refused_before_the_run() {
    let place = folder("no-plain-log");
    pipe(&place.join("slow-start.jsonl"));
    let line = refused(&[&RACE[..], &["--events", text(&place)]].concat());
    assert!(line.contains("slow-start.jsonl: it is no plain file"), "{line}");
    std::fs::create_dir(place.join("slow-start.sqlog")).expect("a folder");
    let line = refused(&[&RACE[..], &["--qlog", text(&place)]].concat());
    assert!(line.contains("slow-start.sqlog: it is no plain file"), "{line}");
}

#[test]
fn a_report_into_a_pipe_reaches_who_reads_it() {
    let place = folder("piped-report");
    let to = place.join("r.html");
    pipe(&to);
    let reader = std::thread::spawn({
        let to = to.clone();
        move || std::fs::read_to_string(to).expect("read")
    });
    let output = run(&[&RACE[..], &["--report", text(&to)]].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert!(reader.join().expect("it ends").contains("</html>"));
}

#[test]
fn names_that_are_too_long_are_refused_before_anything_runs() {
    let place = folder("long-names");
    let label = "a".repeat(252);
    let schemes = format!("slow-start:as={label}");
    let race = ["race", "--rate", "10mbit", "--rtt", "20ms", "--size", "50kB", "--schemes", &schemes];
    let inside = place.join("new");
    for to in [&place, &inside] {
        for option in ["--events", "--pcap", "--qlog"] {
            let line = refused(&[&race[..], &[option, text(to)]].concat());
            assert!(line.contains("too long") && line.contains(&label), "{option}: {line}");
        }
    }
    // The logs of flows have longer names than rows.
    let label = "a".repeat(240);
    let schemes = format!("slow-start:as={label}");
    let rounds = [
        "race",
        "--rate",
        "10mbit",
        "--rtt",
        "20ms",
        "--rounds",
        "2",
        "--clients",
        "2",
        "--schemes",
        &schemes,
    ];
    let line = refused(&[&rounds[..], &["--events", text(&place)]].concat());
    assert!(line.contains("too long"), "{line}");
    let long = place.join("b".repeat(300));
    for option in ["--events", "--report", "--parquet", "--series"] {
        let line = refused(&[&RACE[..], &[option, text(&long)]].concat());
        assert!(line.contains("too long"), "{option}: {line}");
    }
    // This also holds for a folder that is to be created in the current folder.
    let inside = format!("new/{}", "b".repeat(300));
    let output = firstflight().args(RACE).args(["--events", &inside]).current_dir(&place).output();
    let output = output.expect("the command runs");
    assert_eq!((status(&output), stdout(&output)), (2, String::new()), "{}", stderr(&output));
    assert!(stderr(&output).contains("too long"), "{}", stderr(&output));
    // The longest possible file name is allowed.
    let longest = place.join("c".repeat(255));
    let output = run(&[&RACE[..], &["--parquet", text(&longest)]].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert_eq!(names(&place), ["c".repeat(255)]);
}
