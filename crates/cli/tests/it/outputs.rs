//! The outputs of a race are complete or missing, and have the same bytes every time.

use std::fs::OpenOptions;
use std::io::Read;
use std::process::Stdio;

use crate::common::{firstflight, folder, names, run, status, stderr, stdout, text};

/// A race of two schemes, long enough to fill the pipe and short enough to run in every test.
const RACE: [&str; 9] =
    ["race", "--rate", "20mbit", "--rtt", "40ms", "--size", "500kB", "--schemes", "slow-start,paced"];

fn with(more: &[&str]) -> Vec<String> {
    RACE.iter().chain(more).map(|&argument| argument.to_owned()).collect()
}

fn race(more: &[&str]) -> std::process::Output {
    let arguments = with(more);
    run(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn json_is_one_object_a_line_and_nothing_else() {
    let output = race(&["--json"]);
    assert_eq!((status(&output), stderr(&output)), (0, String::new()));
    let rows: Vec<serde_json::Value> =
        stdout(&output).lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    let mut schemes: Vec<_> = rows.iter().map(|row| row["scheme"].as_str().expect("a name")).collect();
    schemes.sort_unstable();
    assert_eq!(schemes, ["paced", "slow-start"]);
    for row in &rows {
        for field in [
            "avoidance",
            "throughput_bps",
            "loss",
            "su_time_s",
            "su_throughput_bps",
            "su_loss",
            "timeouts",
            "packets_sent",
            "packets_lost",
            "packets_marked",
            "su_timeouts",
            "exit_cause",
            "exit_time_s",
            "exit_rate_bps",
            "granted_rate_bps",
            "exit_cwnd_packets",
            "exit_cwnd_over_bdp",
            "cwnd_before_first_cut_packets",
            "overshoot_lost_packets",
            "time_to_90pct_s",
            "queue_peak_packets",
            "cross_lost_packets",
            "seed",
            "version",
            "scenario_hash",
            "fct_s",
            "ideal_fct_s",
            "cost",
        ] {
            assert!(row.get(field).is_some(), "{field} is missing in {row}");
        }
        assert!(row["fct_s"].as_f64() > row["ideal_fct_s"].as_f64(), "no flow beats the ideal: {row}");
    }
}

#[test]
fn the_same_command_gives_the_same_bytes_whatever_the_jobs() {
    let arguments = ["--json", "--runs", "3", "--each-run", "--cross", "10mbit"];
    let one = race(&[&arguments[..], &["--jobs", "1"]].concat());
    assert_eq!(status(&one), 0, "{}", stderr(&one));
    assert_eq!(stdout(&one).lines().count(), 6);
    for jobs in ["1", "2", "5"] {
        let other = race(&[&arguments[..], &["--jobs", jobs]].concat());
        assert_eq!(stdout(&one), stdout(&other), "jobs {jobs}");
    }
}

#[test]
fn another_seed_gives_another_run() {
    let lines = stdout(&race(&["--json", "--runs", "2", "--each-run", "--cross", "10mbit"]));
    let rows: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("an object")).collect();
    assert_ne!(rows[0]["seed"], rows[1]["seed"]);
}

#[test]
fn every_file_is_the_same_whatever_the_jobs() {
    let (one, two) = (folder("same-one"), folder("same-two"));
    for (place, jobs) in [(&one, "1"), (&two, "3")] {
        let at = |name: &str| text(&place.join(name)).to_owned();
        let output = race(&[
            "--jobs",
            jobs,
            "--report",
            &at("race.html"),
            "--figure",
            &at("race.svg"),
            "--parquet",
            &at("rows.parquet"),
            "--pcap",
            &at("pcap"),
            "--events",
            &at("events"),
            "--qlog",
            &at("qlog"),
        ]);
        assert_eq!(status(&output), 0, "{}", stderr(&output));
    }
    assert_eq!(names(&one), ["events", "pcap", "qlog", "race.html", "race.svg", "rows.parquet"]);
    for inside in ["", "pcap", "events", "qlog"] {
        let (one, two) = (one.join(inside), two.join(inside));
        assert_eq!(names(&one), names(&two));
        assert!(names(&one).len() >= 2);
        for name in names(&one) {
            let (one, two) = (one.join(&name), two.join(&name));
            if one.is_file() {
                let (one, two) = (std::fs::read(one).expect("a file"), std::fs::read(two).expect("a file"));
                assert!(!one.is_empty() && one == two, "{inside}/{name} differs");
            }
        }
    }
}

#[test]
fn a_report_is_one_whole_file_beside_nothing() {
    let place = folder("report");
    let report = place.join("report.html");
    let output = race(&["--report", text(&report)]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert_eq!(names(&place), ["report.html"]);
    let html = std::fs::read_to_string(&report).expect("UTF-8");
    assert!(html.trim_end().ends_with("</html>"));
    assert!(html.contains("firstflight race"), "the command that makes it again");
    assert!(stderr(&output).contains("report.html") || stdout(&output).contains("report.html"), "it says so");
}

#[test]
fn csv_is_a_header_and_a_line_a_row() {
    let rows = stdout(&race(&["--csv"]));
    let mut lines = rows.lines();
    assert!(lines.next().is_some_and(|header| header.starts_with("scheme,")), "{rows}");
    assert_eq!(lines.count(), 2);
}

#[test]
fn the_command_in_the_report_makes_the_same_rows() {
    let place = folder("command-again");
    let report = place.join("report.html");
    let first =
        race(&["--json", "--report", text(&report), "--queue", "0.5bdp", "--ssthresh", "40p", "--seed", "9"]);
    let html = std::fs::read_to_string(&report).expect("UTF-8");
    let command =
        html[html.find("firstflight race").expect("the command")..].split('<').next().expect("text");
    let words: Vec<&str> = command.split_whitespace().skip(1).chain(["--json"]).collect();
    let again = run(&words);
    assert_eq!((status(&again), stderr(&again)), (0, String::new()), "{command}");
    assert_eq!(stdout(&first), stdout(&again), "{command}");
}

#[test]
fn a_scenario_file_races_as_the_same_options_do() {
    let scenario = folder("as-options").join("path.toml");
    let text_of = "rate = \"20mbit\"\nrtt = \"40ms\"\nsize = \"500kB\"\nseed = 4\n\
                   schemes = [\"slow-start\", \"paced\"]\n";
    std::fs::write(&scenario, text_of).expect("a file");
    assert_eq!(stdout(&run(&["run", text(&scenario), "--json"])), stdout(&race(&["--json", "--seed", "4"])));
    assert_eq!(
        stdout(&run(&["run", text(&scenario), "--json", "--seed", "5"])),
        stdout(&race(&["--json", "--seed", "5"])),
        "the command line prevails"
    );
}

#[cfg(unix)]
#[test]
fn a_file_above_the_size_limit_is_exit_3_without_a_signal() {
    let place = folder("short-files");
    let page = place.join("page.html");
    let output = std::process::Command::new("sh")
        .args(["-c", "ulimit -f 8; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_firstflight")])
        .args(with(&["--json", "--report", text(&page)]))
        .output()
        .expect("sh runs");
    assert_eq!(status(&output), 3, "{}", stderr(&output));
    assert_eq!(stdout(&output).lines().count(), 2, "the rows are kept");
    assert_eq!(stderr(&output).lines().count(), 1, "{}", stderr(&output));
    assert!(stderr(&output).contains(text(&page)), "{}", stderr(&output));
    assert_eq!(names(&place), Vec::<String>::new());
}

#[cfg(unix)]
#[test]
fn rows_of_an_interrupted_race_say_so_and_no_file_is_written() {
    let place = folder("interrupted");
    let [report, parquet, series, figure] =
        ["r.html", "r.parquet", "s.parquet", "r.svg"].map(|name| place.join(name));
    // A whole file of an earlier race.
    std::fs::write(&parquet, "whole").expect("a file");
    let files = [
        "--report",
        text(&report),
        "--parquet",
        text(&parquet),
        "--series",
        text(&series),
        "--figure",
        text(&figure),
    ];
    let runs = ["--json", "--each-run", "--runs", "1000000", "--jobs", "1"];
    let child = firstflight()
        .args(with(&[&runs[..], &files].concat()))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    // Long enough to finish some runs, far too short for a million.
    std::thread::sleep(std::time::Duration::from_millis(500));
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("kill runs").success());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(status(&output), 130, "{}", stderr(&output));
    let rows = stdout(&output);
    assert!(rows.lines().count() > 1, "half a second is enough for some runs");
    assert!(rows.ends_with('\n'));
    for line in rows.lines() {
        let row = serde_json::from_str::<serde_json::Value>(line).expect("a whole object");
        assert!(row["interrupted"].as_str().is_some_and(|said| said.contains("of 1000000")), "{line}");
    }
    let said = stderr(&output);
    let last = said.lines().last().expect("a line");
    assert!(last.starts_with("error: interrupted") && last.contains("of 1000000"), "{said}");
    assert!(last.ends_with("; not written: --report, --figure, --parquet, --series"), "{said}");
    assert_eq!(names(&place), ["r.parquet"]);
    assert_eq!(std::fs::read_to_string(&parquet).expect("UTF-8"), "whole");
}

#[test]
fn piped_output_has_neither_colour_nor_bar() {
    let output = race(&[]);
    assert_eq!(status(&output), 0);
    assert!(!stdout(&output).contains('\u{1b}') && !stderr(&output).contains('\u{1b}'));
    assert!(stdout(&output).contains("slow-start") && stdout(&output).contains("paced"));
}

#[test]
fn a_reader_that_closes_early_is_no_failure() {
    let mut child = firstflight()
        .args(with(&["--json", "--runs", "200", "--each-run"]))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let mut first = [0];
    child.stdout.take().expect("a pipe").read_exact(&mut first).expect("a byte");
    assert_eq!(&first, b"{");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((status(&output), stderr(&output)), (0, String::new()));
}

#[test]
fn a_reader_that_is_gone_before_the_start_is_no_failure() {
    for arguments in [with(&["--json"]), vec!["schemes".to_owned()], vec!["--help".to_owned()]] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output =
            firstflight().args(&arguments).stdout(writer).stderr(Stdio::piped()).output().expect("runs");
        assert_eq!((status(&output), stderr(&output)), (0, String::new()), "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_standard_output_is_exit_3() {
    for arguments in
        [with(&["--json"]), with(&[]), with(&["--csv"]), vec!["schemes".to_owned()], vec!["man".to_owned()]]
    {
        let full = OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let output =
            firstflight().args(&arguments).stdout(full).stderr(Stdio::piped()).output().expect("runs");
        assert_eq!(status(&output), 3, "{arguments:?}");
        assert_eq!(stderr(&output).lines().count(), 1, "{arguments:?} said {}", stderr(&output));
        assert!(stderr(&output).contains("standard output"), "{}", stderr(&output));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_behind_the_report_is_exit_3_with_rows_kept() {
    use std::os::unix::fs::FileTypeExt;

    for option in ["--report", "--parquet"] {
        let output = race(&["--json", option, "/dev/full"]);
        assert_eq!(status(&output), 3, "{option}: {}", stderr(&output));
        assert_eq!(stdout(&output).lines().count(), 2, "{option}");
        assert!(stderr(&output).contains("/dev/full"), "{}", stderr(&output));
        let kind = std::fs::metadata("/dev/full").expect("/dev/full").file_type();
        assert!(kind.is_char_device(), "/dev/full itself must not be replaced");
    }
}

/// Runs the command with a limit of file sizes in blocks, as on a disk that fills up midway.
#[cfg(target_os = "linux")]
fn on_a_small_disk(arguments: &[String], blocks: u32) -> std::process::Output {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
    std::process::Command::new("sh")
        .args(["-c", &script, env!("CARGO_BIN_EXE_firstflight")])
        .args(arguments)
        .output()
        .expect("sh runs")
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_filling_up_during_writing_is_exit_3_without_broken_files() {
    let place = folder("small-disk");
    let at = |name: &str| text(&place.join(name)).to_owned();
    std::fs::write(at("report.html"), "an earlier one").expect("a file");
    for (option, name) in
        [("--report", "report.html"), ("--pcap", "pcap"), ("--events", "events"), ("--qlog", "qlog")]
    {
        let output = on_a_small_disk(&with(&["--json", option, &at(name)]), 64);
        assert_eq!(status(&output), 3, "{option}: {}", stderr(&output));
        assert_eq!(stdout(&output).lines().count(), 2, "{option}: the rows are kept");
        assert_eq!(stderr(&output).lines().count(), 1, "{option} said {}", stderr(&output));
        assert!(stderr(&output).contains(&at(name)), "{option} said {}", stderr(&output));
    }
    assert_eq!(names(&place), ["events", "pcap", "qlog", "report.html"]);
    assert_eq!(std::fs::read_to_string(at("report.html")).expect("UTF-8"), "an earlier one");
    assert_eq!(names(&place.join("pcap")), Vec::<String>::new());
    assert_eq!(names(&place.join("events")), Vec::<String>::new());
    assert_eq!(names(&place.join("qlog")), Vec::<String>::new());
}

#[test]
fn ineffective_keys_are_noted_on_standard_error_next_to_the_results() {
    let marking = race(&["--json", "--queue", "codel:100p,ecn"]);
    let note = "note: queue: it is to mark, and no flow uses ECN: it drops instead; ecn has flows use it\n";
    assert_eq!((status(&marking), stderr(&marking)), (0, note.to_owned()));
    assert_eq!(stdout(&marking).lines().count(), 2);
    let heeded = race(&["--json", "--queue", "codel:100p,ecn", "--ecn"]);
    assert_eq!((status(&heeded), stderr(&heeded)), (0, String::new()));
    let hops = race(&["--csv", "--qs-hops", "1"]);
    assert!(stderr(&hops).starts_with("note: qs-hops: no scheme here asks"), "{}", stderr(&hops));
    assert_eq!((status(&hops), stderr(&hops).lines().count(), stdout(&hops).lines().count()), (0, 1, 3));
    // Nothing is noted of what is refused.
    let hosts = ["--qs-hops", "none", "--topology", "dumbbell:hosts=2", "--flows", "3", "--json"];
    let said = stderr(&race(&hosts));
    assert!(said.lines().any(|line| line.starts_with("note: qs-hops: ")), "{said}");
}

#[test]
fn an_ideal_beyond_the_limit_is_abandoned_with_a_note() {
    let race = "race --rate 13500kbit --rtt 58ms --mss 100 --queue 50p --schemes slow-start --app 10p,1s --size 10MB --limit 5s --json";
    let row = |cross: &str| {
        let output = run(&[&race.split(' ').collect::<Vec<_>>()[..], &["--cross", cross]].concat());
        assert_eq!(status(&output), 0, "{}", stderr(&output));
        let row: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("a row");
        assert!(row["ideal_fct_s"].is_null() && row["cost"].is_null(), "{row}");
        stderr(&output)
    };
    let said = row("web:30%");
    assert!(said.contains("followed for no more than 4 times the limit, 20 s"), "{said}");
    for cross in ["web:90%;2mbit", "poisson:14mbit,10kB", "13600kbit"] {
        let said = row(cross);
        assert!(said.contains("other traffic offers more than the bottleneck carries"), "{cross}: {said}");
    }
}
