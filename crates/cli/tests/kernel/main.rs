//! `firstflight kernel` in this machine's kernel. Every test needs root and a kernel that accepts the schemes; a test that cannot run says
//! so. Schemes are loaded under names that only the tests use, by processes that the kernel kills with the test (`setpriv --pdeathsig`),
//! and pinned only in a mount namespace that ends with its process: nothing is left, even if the tests are killed.

mod asking;
#[path = "../it/common/command.rs"]
mod common;
mod figures;
#[path = "../it/common/inject.rs"]
mod inject;
#[path = "../emulate/machine.rs"]
mod machine;
mod rollout;
mod service;
#[path = "../emulate/setting.rs"]
#[expect(dead_code, reason = "the tests of `emulate` use all of it")]
mod setting;
mod watching;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use firstflight_kernel::{Abi, available, list, schemes};
use serde_json::Value;
use sha2::{Digest, Sha256};

use common::{firstflight, folder, status, stderr, stdout, text};

const PROGRAM: &str = env!("CARGO_BIN_EXE_firstflight");

/// Checks whether the test can run; if not, prints why.
fn can_run(test: &str, programs: &[&str]) -> bool {
    if !machine::can_run(test, &[programs, &["setpriv", "unshare"]].concat()) {
        return false;
    }
    match firstflight_kernel::check() {
        Ok(Abi::Linked) => true,
        Ok(Abi::Old) => {
            println!(
                "skipped kernel::{test}: a killed loader leaves its scheme in this kernel, which is older than Linux 6.10"
            );
            false
        }
        Err(error) => {
            println!("skipped kernel::{test}: {error}");
            false
        }
    }
}

/// `firstflight kernel` with these words, killed with the test.
fn kernel(words: &[&str]) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "KILL", PROGRAM, "kernel"]).args(words).stdin(Stdio::null());
    command
}

fn said(words: &[&str]) -> Output {
    kernel(words).output().expect("setpriv runs")
}

/// Runs a script with `F` as the program, in a mount namespace with a separate BPF file system.
fn shell(script: &str) -> Output {
    let whole = format!("mount -t bpf bpf /sys/fs/bpf && F={PROGRAM} && {script}");
    let words = ["--mount", "--kill-child", "--fork", "sh", "-c", &whole];
    Command::new("setpriv")
        .args(["--pdeathsig", "KILL", "unshare"])
        .args(words)
        .output()
        .expect("unshare runs")
}

/// Loads a scheme, which a process keeps; or returns the error message.
fn loaded(words: &[&str]) -> Result<Child, String> {
    let mut child =
        kernel(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("setpriv runs");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut line).expect("a line");
    if line.contains(" is registered: ") {
        return Ok(child);
    }
    Err(stderr(&child.wait_with_output().expect("it ends")))
}

fn is_registered(name: &str) -> bool {
    available().expect("a list").iter().any(|other| other == name)
}

/// Waits until something holds, ten seconds at most.
fn comes(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..1000 {
        if holds() {
            return;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("after ten seconds not: {what}");
}

#[test]
fn each_object_loads_or_is_refused_and_is_unloaded_with_its_loader() {
    if !can_run("each_object_loads_or_is_refused_and_is_unloaded_with_its_loader", &[]) {
        return;
    }
    let mut count = 0;
    for scheme in schemes() {
        match loaded(&["load", scheme, "--name", "ff_test_kill", "--handover", "reno"]) {
            Ok(mut child) => {
                assert!(is_registered("ff_test_kill"), "{scheme}");
                let listed = stdout(&said(&["list", "--json"]));
                let line = listed.lines().find(|line| line.contains("\"ff_test_kill\"")).expect(&listed);
                let line: Value = serde_json::from_str(line).expect("JSON");
                assert_eq!((&line["scheme"], &line["handover"]), (&scheme.into(), &"reno".into()), "{line}");
                assert_eq!(line["process"], child.id(), "{line}");
                child.kill().expect("it is there");
                child.wait().expect("it ended");
                comes("SIGKILL of the loader unregisters", || !is_registered("ff_test_kill"));
                count += 1;
            }
            Err(said) => {
                println!("refused by this kernel: {said}");
                assert!(said.starts_with(&format!("error: {scheme}: the kernel refused it (")), "{said}");
                assert_eq!(said.lines().count(), 1, "{said}");
            }
        }
        let left = || list().expect("a list").iter().any(|one| one.name == "ff_test_kill");
        comes("nothing of the scheme is left", || !left());
    }
    assert!(count >= 9, "{count} objects were loaded");
}

#[test]
fn a_scheme_is_loaded_with_its_parameters_and_listed_with_them() {
    if !can_run("a_scheme_is_loaded_with_its_parameters_and_listed_with_them", &[]) {
        return;
    }
    for (given, scheme, parameters) in [
        ("limited:max-ssthresh=50", "limited", "max-ssthresh=50"),
        ("rbp-rate/scale=50%/expires=5s", "rbp-rate", "scale=50%,expires=5s"),
    ] {
        let mut child = loaded(&["load", given, "--name", "ff_test_param"]).expect("it loads");
        let listed = stdout(&said(&["list", "--json"]));
        child.kill().expect("it is there");
        child.wait().expect("it ended");
        let line = listed.lines().find(|line| line.contains("\"ff_test_param\"")).expect(&listed);
        let line: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!((&line["scheme"], &line["params"]), (&scheme.into(), &parameters.into()), "{line}");
        comes("it is unregistered", || !is_registered("ff_test_param"));
    }
}

#[test]
fn a_pinned_scheme_outlives_its_loader_until_it_is_unloaded() {
    if !can_run("a_pinned_scheme_outlives_its_loader_until_it_is_unloaded", &[]) {
        return;
    }
    let output = shell(
        "$F kernel load slow-start --name ff_test_pin --pin && $F kernel list --json && \
         ! $F kernel load limited --name ff_test_pin && $F kernel unload ff_test_pin && ls -A /sys/fs/bpf",
    );
    let (out, err) = (stdout(&output), stderr(&output));
    assert_eq!(status(&output), 0, "{out}{err}");
    assert!(out.contains("\"file\":\"/sys/fs/bpf/firstflight/ff_test_pin\""), "{out}");
    assert!(out.contains("ff_test_pin is unloaded") && !out.contains("\nfirstflight\n"), "{out}");
    assert_eq!(
        err,
        "error: the kernel has a congestion control `ff_test_pin` already; another name can be given\n"
    );
    assert!(!is_registered("ff_test_pin"));
    // A pin in a file system that has ended is gone.
    assert_eq!(status(&shell("$F kernel load slow-start --name ff_test_pin --pin")), 0);
    comes("the file system of the pin ended", || !is_registered("ff_test_pin"));
}

#[test]
fn unload_ends_the_process_that_keeps_a_scheme() {
    if !can_run("unload_ends_the_process_that_keeps_a_scheme", &[]) {
        return;
    }
    let mut child = loaded(&["load", "hystart", "--name", "ff_test_end"]).expect("it loads");
    let output = said(&["unload", "ff_test_end"]);
    assert_eq!((status(&output), stdout(&output).as_str()), (0, "ff_test_end is unloaded\n"));
    assert!(child.wait().expect("it ended").success());
    let again = said(&["unload", "ff_test_end"]);
    assert_eq!(status(&again), 2);
    assert!(
        stderr(&again).starts_with("error: no scheme is loaded as `ff_test_end`; "),
        "{}",
        stderr(&again)
    );
}

#[test]
fn missing_kernel_capabilities_are_reported_in_one_line() {
    if !can_run("missing_kernel_capabilities_are_reported_in_one_line", &[]) {
        return;
    }
    let with = |capabilities: &str, words: &[&str]| {
        let mut command = Command::new("setpriv");
        command.args([capabilities, "--inh-caps=-all", PROGRAM, "kernel"]).args(words);
        command.output().expect("setpriv runs")
    };
    let powerless = with("--bounding-set=-all", &["load", "hystart", "--name", "ff_test_no"]);
    // These capabilities suffice to load. With them, the kernel does not show schemes that others loaded, so an empty list would be wrong.
    let unseeing = "--bounding-set=-all,+bpf,+perfmon,+net_admin";
    let (list, unload) = (with(unseeing, &["list"]), with(unseeing, &["unload", "ff_test_no"]));
    // Root of another user namespace has every capability there, and none over the machine.
    let elsewhere = |words: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", PROGRAM, "kernel"]).args(words).output().expect("unshare runs")
    };
    let blind = shell("mount -t tmpfs none /sys/kernel/btf && $F kernel load hystart --name ff_test_no");
    for (output, wanted) in [
        (powerless, "from root only"),
        (list, "CAP_SYS_ADMIN"),
        (unload, "CAP_SYS_ADMIN"),
        (elsewhere(&["list"]), "not in a user namespace"),
        (elsewhere(&["load", "hystart", "--name", "ff_test_no"]), "not from a user namespace"),
        (blind, "no BTF (/sys/kernel/btf/vmlinux)"),
    ] {
        assert_eq!((status(&output), stdout(&output)), (2, String::new()));
        let err = stderr(&output);
        assert!(err.starts_with("error: ") && err.contains(wanted) && err.lines().count() == 1, "{err}");
    }
}

#[test]
fn unloadable_schemes_are_refused_by_name_before_loading() {
    if !can_run("unloadable_schemes_are_refused_by_name_before_loading", &[]) {
        return;
    }
    for (words, wanted) in [
        (&["load", "hystrat"][..], "unknown scheme `hystrat`; is `hystart` meant?"),
        (&["load", "hystart:hz=0"], "hystart: hz is 0, allowed is a whole number from 1 to 65535"),
        (&["load", "limited:max-sthresh=50"], "max-sthresh"),
        (&["run", "limited:max-sthresh=50", "--", "true", "--", "true"], "max-sthresh"),
        (&["load", "rbp-rate:scal=50%"], "the restart policy rbp-rate has scale, "),
        (
            &["load", "ssr:since=received"],
            "ssr cannot be loaded into a kernel: since=received cannot be honoured",
        ),
        (&["load", "hystart:as=x"], "--name is the name in the kernel"),
        (&["load", "hystart,limited"], "one scheme is wanted"),
        (&["load", "hystart", "--name", "cubic"], "--name: the name `cubic` is not `ff_` and lower-case"),
        (&["load", "hystart", "--name", "ff_thirteen_char"], "15 characters in all at most"),
        (&["run", "hystart", "--size", "1MB", "--", "true", "--", "true"], "--size: "),
    ] {
        let output = said(words);
        let err = stderr(&output);
        assert_eq!(status(&output), 2, "{words:?}: {err}");
        assert!(err.starts_with("error: ") && err.contains(wanted), "{words:?}: {err}");
        let lines = err.lines().filter(|line| line.starts_with("error")).count();
        assert!(lines == 1 && stdout(&output).is_empty(), "{words:?}: {err}");
    }
    assert!(available().expect("a list").iter().all(|name| !name.starts_with("ff_test")));
}

/// Returns the command of a transfer of `size` by iperf3, which prints the congestion control that it began with.
fn client(size: &str, more: &str) -> String {
    format!("exec iperf3 -c {{B}} -n {size} -J {more} | grep -o '\"sender_tcp_congestion\":.*'")
}

#[test]
fn every_scheme_that_loads_carries_two_megabytes_and_is_gone_after() {
    if !can_run("every_scheme_that_loads_carries_two_megabytes_and_is_gone_after", &["iperf3"]) {
        return;
    }
    let mut count = 0;
    for scheme in schemes() {
        let path = ["--rate", "20mbit", "--rtt", "40ms", "--queue", "100p", "--json"];
        let words = [&["run", scheme, "--name", "ff_test_run"][..], &path].concat();
        let words =
            [&words[..], &["--", "iperf3", "-c", "{B}", "-n", "3M", "--", "iperf3", "-s", "-1"]].concat();
        let output = said(&words);
        let err = stderr(&output);
        if err.contains("the kernel refused it") {
            continue;
        }
        let result: Value =
            serde_json::from_str(&stdout(&output)).unwrap_or_else(|_| panic!("{scheme}: {err}"));
        assert_eq!(result["congestion_control"], "ff_test_run");
        assert_eq!(result["a"]["exit_code"], 0, "{scheme}: {err}");
        let bytes = result["forward"]["bytes_out"].as_u64().expect("a count");
        // iperf3 ends when it has written all data, and the last of it may still be on the path.
        assert!(bytes > 2_000_000, "{scheme}: {bytes}");
        assert!(!is_registered("ff_test_run"), "{scheme}");
        println!("{scheme}: {} packets dropped", result["forward"]["dropped"]["queue"]);
        count += 1;
    }
    assert!(count >= 9, "{count} schemes ran");
}

/// `--fq-rate` is `SO_MAX_PACING_RATE`.
#[test]
fn a_programs_own_limit_on_its_rate_holds_in_start_up() {
    if !can_run("a_programs_own_limit_on_its_rate_holds_in_start_up", &["iperf3"]) {
        return;
    }
    let run = ["run", "slow-start", "--name", "ff_test_limit", "--json"];
    let path = ["--rate", "100mbit", "--rtt", "40ms", "--queue", "1000p"];
    let ends = ["--", "iperf3", "-c", "{B}", "-n", "4M", "--fq-rate", "20M", "--", "iperf3", "-s", "-1"];
    let output = said(&[&run[..], &path, &ends].concat());
    let result: Value = serde_json::from_str(&stdout(&output)).expect("a result");
    let busiest = result["forward"]["busiest_second_bps"].as_f64().expect("a rate");
    // The kernel paces bytes of data, and the path also counts the bytes of headers.
    assert!((15e6..22e6).contains(&busiest), "{busiest}");
}

/// A server that listens at `::` has IPv6 sockets for its IPv4 clients. Their packets have IPv4 headers.
#[test]
fn a_dual_stack_server_reports_ipv4_packet_length_to_schemes() {
    let name = "a_dual_stack_server_reports_ipv4_packet_length_to_schemes";
    if !can_run(name, &["iperf3"]) {
        return;
    }
    let traces = folder("kernel-both-families").join("traces");
    let run =
        ["run", "slow-start", "--name", "ff_test_both", "--trace", text(&traces), "--sender", "b", "--json"];
    let ends = ["--", "iperf3", "-c", "{B}", "-R", "-n", "300K", "--", "iperf3", "-s", "-1"];
    let output = said(&[&run[..], &["--rate", "20mbit", "--rtt", "20ms"], &ends].concat());
    let lengths: Vec<u64> = [1, 2]
        .into_iter()
        .filter_map(|number| std::fs::read_to_string(traces.join(format!("{number}.jsonl"))).ok())
        .filter_map(|trace| {
            let output_of = trace.lines().find(|line| line.contains("\"event\":\"told\""))?.to_owned();
            serde_json::from_str::<Value>(&output_of).ok()?["path"]["wire"].as_u64()
        })
        .collect();
    assert!(
        !lengths.is_empty() && lengths.iter().all(|wire| *wire == 1500),
        "{lengths:?}: {}",
        stderr(&output)
    );
}

#[test]
fn a_run_writes_traces_that_the_native_schemes_decide_the_same_on() {
    if !can_run("a_run_writes_traces_that_the_native_schemes_decide_the_same_on", &["iperf3"]) {
        return;
    }
    let place = folder("kernel-traces");
    for (number, (scheme, of_header)) in [
        ("hystart", "\"scheme\":\"hystart\""),
        (
            "limited:max-ssthresh=20,division=truncate",
            "\"scheme\":\"limited:max-ssthresh=20,division=truncate\"",
        ),
        ("nssr", "\"restart\":\"nssr\""),
        ("rbp-rate:scale=50%,after=cut", "\"restart\":\"rbp-rate/scale=50%/after=cut\""),
    ]
    .into_iter()
    .enumerate()
    {
        let traces = place.join(number.to_string());
        let path = ["--rate", "20mbit", "--rtt", "40ms", "--queue", "100p", "--json"];
        let words =
            [&["run", scheme, "--name", "ff_test_trace", "--trace", text(&traces)][..], &path].concat();
        let words =
            [&words[..], &["--", "iperf3", "-c", "{B}", "-n", "1M", "--", "iperf3", "-s", "-1"]].concat();
        let output = said(&words);
        let err = stderr(&output);
        // A run for which the machine was late does not measure the path; its decisions are still valid.
        assert!(traces.join("2.jsonl").exists(), "{scheme}: {err}");
        for connection in ["1.jsonl", "2.jsonl"] {
            let file = traces.join(connection);
            let lines = std::fs::read_to_string(&file).expect("a trace");
            assert!(
                lines.lines().next().is_some_and(|header| header.contains(of_header)),
                "{scheme}: {lines}"
            );
            let replayed = firstflight().args(["replay", text(&file)]).output().expect("the command runs");
            assert_eq!(status(&replayed), 0, "{scheme}: {}", stderr(&replayed));
        }
        assert!(!is_registered("ff_test_trace"), "{scheme}");
        // Existing files are unchanged.
        let again = said(&words);
        assert_eq!(status(&again), 2);
        assert!(stderr(&again).contains("the folder is not empty"), "{}", stderr(&again));
    }
}

#[test]
fn a_kernel_scheme_agrees_with_its_simulator_and_is_unloaded_afterwards() {
    if !can_run("a_kernel_scheme_agrees_with_its_simulator_and_is_unloaded_afterwards", &[]) {
        return;
    }
    let schemes = "slow-start,hystart-linux:avoidance=cubic,slow-start:recovery=newreno,as=own";
    let path = ["--rate", "20mbit", "--rtt", "40ms", "--queue", "100p", "--schemes", schemes];
    let words = [
        &["--pdeathsig", "KILL", PROGRAM, "compare", "--habitats", "sim-linux,kernel-bpf", "--json"][..],
        &path,
    ];
    let output = Command::new("setpriv").args(words.concat()).output().expect("setpriv runs");
    let (output_of, said) = (stdout(&output), stderr(&output));
    assert!(!said.contains("slow-start is not in"), "{said}");
    assert!(
        said.contains("hystart-linux is not in kernel-bpf: the kernel does not go on with avoidance=cubic"),
        "{said}"
    );
    assert!(said.contains("own is not in kernel-bpf: recovery is the kernel's own"), "{said}");
    let rows: Vec<Value> = output_of.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let row = |habitat: &str| {
        let is_it = |row: &&Value| row["scheme"] == "slow-start" && row["habitat"] == habitat;
        rows.iter().find(is_it).unwrap_or_else(|| panic!("{habitat}: {output_of}")).clone()
    };
    let (simulated, loaded) = (row("sim-linux"), row("kernel-bpf"));
    assert_eq!(loaded["avoidance"], "reno");
    assert!(available().expect("a list").iter().all(|name| !name.starts_with("ff_c")), "something is left");
    if loaded["runs"] == 0 {
        println!("skipped the figures of the kernel: this machine relays too late now");
        return;
    }
    let lost = |row: &Value| row["packets_lost"].as_f64().expect("a count");
    assert!((lost(&loaded) - lost(&simulated)).abs() <= 0.1 * lost(&simulated), "{output_of}");
}

#[test]
fn a_scheme_is_chosen_by_namespace_route_or_socket() {
    if !can_run("a_scheme_is_chosen_by_namespace_route_or_socket", &["iperf3", "ip"]) {
        return;
    }
    let name = "ff_test_use";
    let mut child = loaded(&["load", "slow-start", "--name", name]).expect("it loads");
    let transfer = client("100K", "");
    for (way, a) in [
        ("namespace", format!("echo {name} >/proc/sys/net/ipv4/tcp_congestion_control; {transfer}")),
        ("route", format!("ip route change {{B}}/32 dev path0 congctl {name} && {transfer}")),
        ("socket", client("100K", &format!("-C {name}"))),
        ("none", transfer.clone()),
    ] {
        let words = ["emulate", "--rate", "20mbit", "--rtt", "20ms", "--json", "--"];
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", PROGRAM]).args(words).stdin(Stdio::null());
        let output =
            command.args(["sh", "-c", &a, "--", "iperf3", "-s", "-1"]).output().expect("the command runs");
        let err = stderr(&output);
        assert_eq!(err.contains(&format!("\"{name}\"")), way != "none", "{way}: {err}");
    }
    child.kill().expect("it is there");
    child.wait().expect("it ended");
    comes("it is unregistered", || !is_registered(name));
}

#[test]
fn nothing_is_left_of_a_run_that_is_killed() {
    if !can_run("nothing_is_left_of_a_run_that_is_killed", &[]) {
        return;
    }
    let words = [
        "run",
        "hystart",
        "--name",
        "ff_test_gone",
        "--rate",
        "20mbit",
        "--",
        "sleep",
        "60",
        "--",
        "sleep",
        "60",
    ];
    let mut child = kernel(&words).stdout(Stdio::null()).spawn().expect("setpriv runs");
    comes("it is registered", || is_registered("ff_test_gone"));
    child.kill().expect("it is there");
    child.wait().expect("it ended");
    comes("it is unregistered", || !is_registered("ff_test_gone"));
    let left = || list().expect("a list").iter().any(|one| one.name == "ff_test_gone");
    comes("its namespace, and with it the last reference, is gone", || !left());
}

#[test]
fn the_version_has_the_digest_of_all_objects_of_the_manifest() {
    let manifest = include_str!("../../../../kernel/objects/MANIFEST");
    let objects = manifest.lines().filter_map(|line| line.strip_prefix("object: ")?.split_once(' '));
    let mut listed: Vec<_> = objects.map(|(hash, name)| (name.contains('/'), name, hash)).collect();
    listed.sort_unstable();
    let text = listed.iter().fold(String::new(), |text, (_, name, hash)| text + hash + "  " + name + "\n");
    let digest = Sha256::digest(text).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
    let shown = stdout(&firstflight().args(["--version", "--verbose"]).output().expect("the command runs"));
    let expected = format!("objects   {}, sha256 {digest}", listed.len());
    assert!(shown.lines().any(|line| line == expected), "{expected} is not in\n{shown}");
}
