//! However a run ends, its result is reported, and no process, namespace or file is left behind.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::common::{status, stderr, stdout};
use crate::machine::can_run;
use crate::setting::{emulate, run};

/// Used only for moments that should differ from run to run.
#[expect(clippy::disallowed_methods, reason = "the moments of a kill are to differ")]
fn now() -> SystemTime {
    SystemTime::now()
}

/// Returns the network and process namespaces of the processes that have `mark` among their arguments and were started by `until`, in ticks
/// of the system. Other programs may create namespaces at the same time, and a new one may get the number of a deleted one.
fn namespaces(mark: &str, until: u64) -> BTreeSet<String> {
    let entries = fs::read_dir("/proc").expect("/proc").filter_map(Result::ok);
    let marked = entries.filter(|entry| {
        arguments(entry).is_some_and(|line| line.contains(mark))
            && started(entry).is_some_and(|at| at <= until)
    });
    let links = marked.flat_map(|entry| {
        let folder = entry.path().join("ns");
        ["net", "pid"].map(|name| fs::read_link(folder.join(name)).ok())
    });
    let own = ["net", "pid"].map(|name| fs::read_link(format!("/proc/self/ns/{name}")).ok());
    links.filter(|link| !own.contains(link)).flatten().map(|link| link.display().to_string()).collect()
}

/// The processes that have `mark` among their arguments.
fn processes(mark: &str) -> Vec<String> {
    let entries = fs::read_dir("/proc").expect("/proc").filter_map(Result::ok);
    entries.filter_map(|entry| arguments(&entry)).filter(|line| line.contains(mark)).collect()
}

fn arguments(process: &fs::DirEntry) -> Option<String> {
    let line = fs::read(process.path().join("cmdline")).ok()?;
    Some(String::from_utf8_lossy(&line).replace('\0', " "))
}

/// Returns the start time of a process, in ticks of a hundredth of a second since the system's start (`proc_pid_stat(5)`).
fn started(process: &fs::DirEntry) -> Option<u64> {
    let line = fs::read_to_string(process.path().join("stat")).ok()?;
    // After the name, which may have spaces: the state is field 3, and the time field 22.
    line.rsplit_once(')')?.1.split_whitespace().nth(22 - 3)?.parse().ok()
}

/// Returns the present time in these ticks.
fn ticks() -> u64 {
    let line = fs::read_to_string("/proc/uptime").expect("/proc/uptime");
    line.split_whitespace().next().and_then(|text| text.replace('.', "").parse().ok()).expect("hundredths")
}

/// Waits a moment for `is_so`.
fn soon(is_so: impl Fn() -> bool) -> bool {
    (0..100).any(|_| {
        let so = is_so();
        if !so {
            sleep(Duration::from_millis(20));
        }
        so
    })
}

#[test]
fn nothing_is_left_of_a_run_that_is_killed_at_whatever_moment() {
    if !can_run("endings::nothing_is_left_of_a_run_that_is_killed_at_whatever_moment", &["setsid"]) {
        return;
    }
    let mut seen = 0;
    let seed = now().duration_since(UNIX_EPOCH).map_or(1, |since| u64::from(since.subsec_nanos()));
    let mut state = seed | 1;
    for round in 0..10u64 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        // Half of the kills come while the hosts are created, half while programs run.
        let moment = Duration::from_micros((state >> 33) % if round % 2 == 0 { 60_000 } else { 900_000 });
        let mark = format!("7700{round}");
        let many = format!("setsid sleep {mark} & sleep {mark} & ping -q -i 0.01 {{B}} & sleep {mark}");
        let words = ["--rate", "20mbit", "--", "sh", "-c", &many, "--", "sh", "-c", &many];
        let mut running =
            emulate(&words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it runs");
        sleep(moment);
        let made = namespaces(&mark, u64::MAX);
        seen += made.len();
        let killed = ticks();
        running.kill().expect("SIGKILL");
        running.wait().expect("it is gone");
        assert!(
            soon(|| processes(&mark).is_empty()),
            "after {moment:?}, seed {seed}: {:?}",
            processes(&mark)
        );
        let left = || namespaces("", killed).intersection(&made).cloned().collect::<Vec<_>>();
        assert!(soon(|| left().is_empty()), "after {moment:?}, seed {seed}: {:?}", left());
    }
    assert!(seen > 0, "no run had come to its namespaces, seed {seed}");
}

#[test]
fn a_finished_run_leaves_no_namespace_and_no_processes() {
    if !can_run("endings::a_finished_run_leaves_no_namespace_and_no_processes", &["setsid"]) {
        return;
    }
    let (a, b) = (
        "setsid sleep 770100 & readlink /proc/self/ns/net",
        "setsid sh -c 'trap \"\" TERM; sleep 770100; sleep 770100'",
    );
    let (output, result) = run("--rate 20mbit", a, b);
    let ended = ticks();
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    assert_eq!((&result["a"]["exit_code"], &result["b"]["terminated"]), (&0.into(), &true.into()));
    let said = stderr(&output);
    let made = said.trim();
    assert!(made.starts_with("net:["), "{made}");
    assert!(!namespaces("", ended).contains(made), "{made} is left");
    assert_eq!(processes("770100"), Vec::<String>::new());
}

#[test]
fn the_status_is_that_of_the_commands() {
    if !can_run("endings::the_status_is_that_of_the_commands", &[]) {
        return;
    }
    for (a, b, code, says) in [
        ("exit 3", "sleep 60", 1, "the command at host A ended with status 3"),
        ("kill -9 $$", "sleep 60", 1, "signal 9 ended the command at host A"),
        ("sleep 1", "exit 4", 1, "the command at host B ended with status 4"),
        ("true", "sleep 60", 0, ""),
    ] {
        let (output, _) = run("--rate 20mbit", a, b);
        assert_eq!(status(&output), code, "{a}; {b}: {}", stderr(&output));
        assert!(stderr(&output).contains(says), "{a}; {b}: {}", stderr(&output));
    }
}

#[test]
fn a_missing_command_fails_in_one_line_and_leaves_files_unchanged() {
    const TEST: &str = "endings::a_missing_command_fails_in_one_line_and_leaves_files_unchanged";
    if !can_run(TEST, &["mknod"]) {
        return;
    }
    let folder = crate::common::folder("emulate-none");
    let (log, earlier, device) = (folder.join("log.pcapng"), folder.join("earlier"), folder.join("null"));
    fs::write(&earlier, "an earlier log").expect("a file");
    let made = Command::new("mknod").arg(&device).args(["c", "1", "3"]).status().expect("mknod");
    assert!(made.success());
    for log in [&earlier, &device] {
        let words = ["--rate", "20mbit", "--log", crate::common::text(log), "--", "/none/such", "--", "true"];
        assert_eq!(status(&emulate(&words).output().expect("it runs")), 2);
    }
    assert_eq!(fs::read_to_string(&earlier).expect("it is there"), "an earlier log");
    assert!(device.exists(), "the device is gone");
    for words in [["--", "/none/such", "--", "true"], ["--", "true", "--", "/none/such"]] {
        let words = [&["--rate", "20mbit", "--log", crate::common::text(&log)][..], &words].concat();
        let output = emulate(&words).output().expect("it runs");
        assert_eq!((status(&output), stdout(&output).as_str()), (2, ""));
        let said = stderr(&output);
        assert!(said.starts_with("error: cannot start `/none/such` at host"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(!log.exists());
    }
    assert_eq!(fs::read_dir(&folder).expect("a folder").count(), 2, "nothing half-written is left");
}

#[test]
fn a_log_on_a_full_disk_fails_the_run_without_partial_files() {
    const TEST: &str = "endings::a_log_on_a_full_disk_fails_the_run_without_partial_files";
    if !can_run(TEST, &["mount", "umount", "ping"]) {
        return;
    }
    let disk = crate::common::folder("emulate-full");
    let at = crate::common::text(&disk);
    let made = Command::new("mount").args(["-t", "tmpfs", "-o", "size=64k", "none", at]).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("skipped emulate::{TEST}: this system keeps mounts from root");
        return;
    }
    let (output, _) = run(
        &format!("--rate 20mbit --log {at}/log.pcapng"),
        "ping -q -c 99 -s 1400 -i 0.002 {B}",
        "sleep 60",
    );
    let left = fs::read_dir(&disk).expect("a folder").count();
    assert!(Command::new("umount").arg(at).status().expect("umount").success());
    assert_eq!((status(&output), left), (3, 0), "{}", stderr(&output));
    assert!(stderr(&output).contains("log.pcapng: No space left"), "{}", stderr(&output));
}

#[test]
fn a_duration_ends_a_run_and_a_limit_fails_it() {
    if !can_run("endings::a_duration_ends_a_run_and_a_limit_fails_it", &[]) {
        return;
    }
    for (option, code, ended_by) in [("duration", 0, "duration"), ("limit", 1, "limit")] {
        let (output, result) = run(&format!("--rate 20mbit --{option} 300ms"), "sleep 60", "sleep 60");
        assert_eq!(
            (status(&output), result["ended_by"].as_str()),
            (code, Some(ended_by)),
            "{}",
            stderr(&output)
        );
        assert!(result["duration_s"].as_f64().is_some_and(|spent| (0.3..5.0).contains(&spent)), "{result}");
    }
}

#[test]
fn an_interrupt_ends_a_run_with_its_result() {
    if !can_run("endings::an_interrupt_ends_a_run_with_its_result", &[]) {
        return;
    }
    let words = ["--rate", "20mbit", "--", "sleep", "770200", "--", "sleep", "770200"];
    let mut running = emulate(&words);
    let running = running.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let is_up = || processes("770200").iter().filter(|line| line.starts_with("sleep")).count() == 2;
    assert!(soon(is_up), "{:?}", processes("770200"));
    let id = running.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill").success());
    let output = running.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stdout(&output).contains("packets in"), "{}", stdout(&output));
    assert!(soon(|| processes("770200").is_empty()));
}

#[test]
fn an_interrupted_run_is_noted_in_its_log_and_writes_no_report() {
    const TEST: &str = "endings::an_interrupted_run_is_noted_in_its_log_and_writes_no_report";
    if !can_run(TEST, &["ping"]) {
        return;
    }
    let place = crate::common::folder("emulate-interrupted");
    let [log, report] = ["log.pcapng", "page.html"].map(|name| place.join(name));
    let files =
        ["--rate", "20mbit", "--log", crate::common::text(&log), "--report", crate::common::text(&report)];
    let client = "ping -q -c 3 -i 0.01 {B} >/dev/null; echo pinged; sleep 770400";
    let mut running = emulate(&[&files[..], &["--", "sh", "-c", client, "--", "sleep", "770400"]].concat());
    let mut running = running.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
    let mut first = [0; 7];
    std::io::Read::read_exact(running.stdout.as_mut().expect("piped"), &mut first).expect("pinged");
    let id = running.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill").success());
    let output = running.wait_with_output().expect("it ends");
    let said = stderr(&output);
    let last = "error: interrupted; the result is of what was run; not written: --report";
    assert_eq!((output.status.code(), said.lines().last()), (Some(130), Some(last)), "{said}");
    let bytes = fs::read(&log).expect("a log");
    assert!(String::from_utf8_lossy(&bytes).contains("the run was interrupted"));
    assert_eq!(fs::read_dir(&place).expect("a folder").count(), 1);
}

#[test]
fn an_interrupt_that_reaches_the_commands_first_is_an_interrupt() {
    if !can_run("endings::an_interrupt_that_reaches_the_commands_first_is_an_interrupt", &["setsid", "kill"])
    {
        return;
    }
    // A terminal interrupts the whole group of processes; the client ends with status 0.
    let own = env!("CARGO_BIN_EXE_firstflight");
    let client = "trap 'exit 0' INT; sleep 770300 & wait";
    let mut running = Command::new("setsid");
    running.args([own, "emulate", "--rate", "20mbit", "--", "sh", "-c", client, "--", "sleep", "770300"]);
    running.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let running = running.spawn().expect("it runs");
    let is_up = || processes("770300").iter().filter(|line| line.starts_with("sleep")).count() == 2;
    assert!(soon(is_up), "{:?}", processes("770300"));
    let group = format!("-{}", running.id());
    assert!(Command::new("kill").args(["-INT", "--", &group]).status().expect("kill").success());
    let output = running.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
}

#[test]
fn a_host_that_loses_its_interface_ends_the_run_with_one_line() {
    if !can_run("endings::a_host_that_loses_its_interface_ends_the_run_with_one_line", &["ip"]) {
        return;
    }
    let words = ["--rate", "20mbit", "--", "sh", "-c", "ip link del path0; sleep 60", "--", "sleep", "60"];
    let output = emulate(&words).output().expect("it runs");
    assert_eq!(
        (status(&output), stderr(&output).as_str()),
        (3, "error: the relay broke off: the interface path0 of a host is gone\n")
    );
}

#[test]
fn a_result_fits_the_terminal() {
    if !can_run("endings::a_result_fits_the_terminal", &["ping"]) {
        return;
    }
    let client =
        "ping -q -c 20 -i 0.01 {B} >/dev/null # a long command, of which a line has but the beginning";
    let words =
        ["--rate", "20mbit", "--rtt", "40ms", "--queue", "codel:200p,ecn", "--loss", "1%", "--jitter", "1ms"];
    let words = [&words[..], &["--", "sh", "-c", client, "--", "sleep", "60"]].concat();
    let output = emulate(&words).env("COLUMNS", "80").output().expect("it runs");
    let said = stdout(&output);
    let long: Vec<_> = said.lines().filter(|line| line.chars().count() > 80).collect();
    assert_eq!(long, Vec::<&str>::new());
    assert!(said.contains("\npackets in                              20"), "the table is as it was: {said}");
}
