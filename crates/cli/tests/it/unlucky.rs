//! Interrupts, disks and pipes that fail: finished outputs are complete, and one line reports the rest.
#![cfg(target_os = "linux")]

use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use crate::common::{firstflight, folder, names, run, status, stderr, stdout, text};

/// A race of far more runs than a test may take.
const ENDLESS: [&str; 12] = [
    "race",
    "--rate",
    "20mbit",
    "--rtt",
    "40ms",
    "--size",
    "500kB",
    "--schemes",
    "slow-start,paced",
    "--runs",
    "1000000",
    "--json",
];

fn begin(arguments: &[&str]) -> Child {
    firstflight()
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs")
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status();
    assert!(sent.expect("kill runs").success());
}

/// One run of many seconds, which checks for an interrupt about once a second.
const LONG: [&str; 10] =
    ["race", "--rate", "10gbit", "--rtt", "100ms", "--duration", "1h", "--jobs", "1", "--json"];

#[test]
fn a_second_interrupt_ends_at_once() {
    let child = begin(&LONG);
    std::thread::sleep(Duration::from_secs(1));
    // The process is stopped, so that the second signal cannot come too late. Two signals of the same kind would count as one.
    for name in ["STOP", "INT", "TERM", "CONT"] {
        signal(&child, name);
    }
    let output = child.wait_with_output().expect("it ends");
    // After the first signal alone, the command would have waited for the run to notice, and would have reported what is missing.
    assert_eq!((status(&output), stderr(&output)), (130, String::new()));
}

#[test]
fn an_early_interrupt_writes_nothing_and_reports_missing_runs() {
    let place = folder("interrupted-early");
    let (report, parquet) = (place.join("r.html"), place.join("r.parquet"));
    let outputs = ["--schemes", "slow-start,paced", "--report", text(&report), "--parquet", text(&parquet)];
    let child = begin(&[&LONG[..], &outputs].concat());
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "TERM");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((status(&output), stdout(&output)), (130, String::new()), "{}", stderr(&output));
    let said = stderr(&output);
    assert!(said.contains("slow-start 0 of 1, paced 0 of 1"), "{said}");
    assert_eq!(names(&place), Vec::<String>::new());
}

#[test]
fn an_interrupted_race_leaves_whole_captures_only() {
    let place = folder("interrupted-captures");
    let (pcap, events) = (place.join("pcap"), place.join("events"));
    let more = ["--jobs", "1", "--pcap", text(&pcap), "--events", text(&events)];
    let child = begin(&[&ENDLESS[..], &more].concat());
    std::thread::sleep(Duration::from_millis(700));
    signal(&child, "INT");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(status(&output), 130, "{}", stderr(&output));
    for folder in [&pcap, &events] {
        assert!(names(folder).iter().all(|name| !name.contains(".tmp")), "{:?}", names(folder));
    }
    for name in names(&events) {
        let lines = std::fs::read_to_string(events.join(&name)).expect("UTF-8");
        assert!(lines.ends_with('\n') && lines.lines().count() > 10, "{name}");
        for line in lines.lines() {
            serde_json::from_str::<serde_json::Value>(line).expect("a whole line");
        }
    }
}

#[test]
fn interrupted_flows_and_trains_mark_their_rows_and_write_no_file() {
    let place = folder("interrupted-flows");
    let parquet = place.join("r.parquet");
    let hosts = [
        "race",
        "--topology",
        "dumbbell:hosts=2",
        "--flows",
        "4",
        "--size",
        "20kB",
        "--schemes",
        "slow-start",
    ];
    for what in [&hosts[..], &["probe"]] {
        for form in [&["--json"][..], &["--csv"], &[]] {
            let path =
                ["--rate", "20mbit", "--rtt", "40ms", "--runs", "1000000", "--each-run", "--jobs", "1"];
            let child = begin(&[what, &path, form, &["--parquet", text(&parquet)]].concat());
            std::thread::sleep(Duration::from_millis(500));
            signal(&child, "TERM");
            let output = child.wait_with_output().expect("it ends");
            let (rows, said) = (stdout(&output), stderr(&output));
            assert_eq!(status(&output), 130, "{said}");
            assert!(said.starts_with("error: interrupted; ") && said.contains(" of 1000000 "), "{said}");
            assert!(said.ends_with("; not written: --parquet\n"), "{said}");
            let marked = match form {
                ["--json"] => rows.lines().all(|row| row.contains("\"interrupted\":\"")),
                ["--csv"] => rows.lines().next().is_some_and(|head| head.ends_with(",interrupted")),
                _ => rows.contains("\nInterrupted; ") || rows.starts_with("Interrupted; "),
            };
            assert!(marked, "{what:?} {form:?}: {}", &rows[..rows.len().min(400)]);
            assert_eq!(names(&place), Vec::<String>::new());
        }
    }
}

/// Runs a shell script in a separate mount namespace, with the command as `$0` and a folder as `$1`. `None`, and a message, if the system
/// does not allow it.
fn with_mounts(test: &str, script: &str) -> Option<Output> {
    let may = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]).output();
    if !may.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: {test}: file systems cannot be mounted here");
        return None;
    }
    let place = folder(test);
    let arguments = ["-rm", "sh", "-c", script, env!("CARGO_BIN_EXE_firstflight"), text(&place)];
    Some(Command::new("unshare").args(arguments).output().expect("sh runs"))
}

#[test]
fn a_full_disk_is_exit_3_in_one_line_without_files() {
    let script = "mount -t tmpfs -o size=64k none \"$1\" && cd \"$1\" && \
        \"$0\" race --rate 20mbit --rtt 40ms --size 500kB --schemes slow-start --json --report r.html; \
        code=$?; ls -A; exit $code";
    let Some(output) = with_mounts("full-disk", script) else { return };
    assert_eq!(status(&output), 3, "{}", stderr(&output));
    assert_eq!(stdout(&output).lines().count(), 1, "the row, and no file: {}", stdout(&output));
    assert_eq!(stderr(&output), "error: cannot write r.html: No space left on device (os error 28)\n");
}

#[test]
fn a_read_only_folder_is_exit_2_before_anything_runs() {
    for output in ["--report r.html", "--parquet r.parquet", "--pcap pcap", "--events events"] {
        let script = format!(
            "mount -t tmpfs none \"$1\" && mount -o remount,ro \"$1\" && cd \"$1\" && \
             exec \"$0\" race --rate 20mbit --rtt 40ms --schemes slow-start --json {output}"
        );
        let Some(output) = with_mounts("read-only", &script) else { return };
        assert_eq!((status(&output), stdout(&output)), (2, String::new()), "{}", stderr(&output));
        let said = stderr(&output);
        assert!(said.starts_with("error: ") && said.contains("Read-only file system"), "{said}");
    }
}

#[test]
fn a_pipe_into_head_is_no_failure() {
    let script = "\"$0\" race --rate 20mbit --rtt 40ms --size 500kB --schemes slow-start,paced --runs 50 \
        --each-run --json | head -1; echo \"${PIPESTATUS[0]}\"";
    let output = Command::new("bash")
        .args(["-c", script, env!("CARGO_BIN_EXE_firstflight")])
        .output()
        .expect("bash runs");
    let lines = stdout(&output);
    assert_eq!((lines.lines().count(), lines.lines().last()), (2, Some("0")), "{lines}");
    assert_eq!(stderr(&output), "");
    assert_eq!(status(&run(&["schemes"])), 0);
}
