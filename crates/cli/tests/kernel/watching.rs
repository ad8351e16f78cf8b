//! `firstflight watch`: its reports about connections of this machine, compared with captures and the kernel's own numbers.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::common::{firstflight, folder, status, stderr, stdout, text};
use crate::inject::{DISTURBANCES, disturbed, is_large, library};
use crate::{PROGRAM, can_run};

/// A watch that writes its lines to a file; killed with the test.
struct Watch {
    child: Child,
    said: BufReader<std::process::ChildStderr>,
    /// The first line of its messages.
    first: String,
    lines: std::path::PathBuf,
}

impl Watch {
    fn begin(place: &Path, more: &[&str]) -> Self {
        let lines = place.join("watch.jsonl");
        let out = std::fs::File::create(&lines).expect("a file");
        let mut child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", PROGRAM, "watch", "--json"])
            .args(more)
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(Stdio::piped())
            .spawn()
            .expect("setpriv runs");
        let mut said = BufReader::new(child.stderr.take().expect("piped"));
        let mut line = String::new();
        said.read_line(&mut line).expect("a line");
        assert!(line.starts_with("watching"), "{line}");
        Self { child, said, first: line, lines }
    }

    /// Returns the start-ups that the watch reported, and its final message.
    fn end(mut self) -> (Vec<Value>, String) {
        let process = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &process]).status().expect("kill runs").success());
        let mut said = String::new();
        std::io::Read::read_to_string(&mut self.said, &mut said).expect("text");
        assert!(self.child.wait().expect("it ends").success(), "{said}");
        let text = std::fs::read_to_string(&self.lines).expect("its lines");
        let lines = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        (lines, said)
    }
}

/// Runs commands at the ends of an emulated path.
fn emulate(path: &[&str], ends: &[&str]) -> Value {
    let output = firstflight().args(["emulate", "--json"]).args(path).arg("--").args(ends).output();
    let output = output.expect("it runs");
    let result: Value =
        serde_json::from_str(&stdout(&output)).unwrap_or_else(|_| panic!("{}", stderr(&output)));
    // On a busy machine the path is late, and both sides see the same delays.
    assert!(status(&output) == 0 || result["void"] == true, "{}", stderr(&output));
    result
}

fn number(of: &Value, name: &str) -> Option<f64> {
    of[name].as_f64()
}

/// Returns the results of `inspect` for the senders of a capture, by their endpoints.
fn captured(log: &Path) -> BTreeMap<String, Value> {
    let output = firstflight().args(["inspect", text(log), "--json"]).output().expect("it runs");
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let out = stdout(&output);
    let senders = out.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    senders.map(|one| (ends_of(&one), one)).collect()
}

/// The ends of a sender's connection.
fn ends_of(one: &Value) -> String {
    one["from"].to_string() + &one["to"].to_string()
}

/// Three paths and three congestion controls, each with ten connections at once in addition to iperf3's own.
#[test]
fn watch_names_the_exits_that_inspect_finds_in_a_capture() {
    let name = "watching::watch_names_the_exits_that_inspect_finds_in_a_capture";
    if !can_run(name, &["iperf3"]) {
        return;
    }
    let place = folder("watch-and-inspect");
    let (mut all, mut same, mut near) = (0, 0, 0);
    let mut differences = Vec::new();
    for (law, path) in [
        ("reno", ["--rate", "50mbit", "--rtt", "20ms", "--queue", "200p"]),
        ("cubic", ["--rate", "20mbit", "--rtt", "40ms", "--queue", "30p"]),
        ("bbr", ["--rate", "50mbit", "--rtt", "40ms", "--queue", "100p"]),
    ] {
        let log = place.join("log.pcapng");
        let watch = Watch::begin(&place, &[]);
        let client = ["iperf3", "-c", "{B}", "-P", "10", "-n", "4M", "-C", law, "--", "iperf3", "-s", "-1"];
        emulate(&[&path[..], &["--log", text(&log)]].concat(), &client);
        let (output_of, said) = watch.end();
        assert!(!said.contains("no room"), "{said}");
        let captured = captured(&log);
        // Other connections of the machine are watched too.
        for one in &output_of {
            let Some(other) = captured.get(&ends_of(one)) else {
                continue;
            };
            if number(one, "bytes_acked") < Some(50_000.0) {
                continue;
            }
            assert_eq!(one["congestion_control"], law, "{one}");
            let flights = [one, other].map(|of| number(of, "exit_flight_bytes"));
            let mss = number(one, "mss_bytes").expect("known");
            // Packets do not always show where BBR began its Drain, which the kernel reports.
            let is_unknown = law == "bbr" && other["exit_cause"].is_null();
            let is_near = match flights {
                [Some(ours), Some(theirs)] => (ours - theirs).abs() <= mss.max(theirs / 10.0) || law == "bbr",
                [ours, theirs] => ours == theirs || is_unknown,
            };
            // A connection that was open when the watch ended has no end yet.
            let is_same = one["exit_cause"] == other["exit_cause"] || is_unknown;
            all += 1;
            same += u32::from(is_same);
            near += u32::from(is_near);
            if !(is_same && is_near) {
                differences.push(format!("{law}: {} {flights:?} {}", one["exit_cause"], other["exit_cause"]));
            }
        }
    }
    println!(
        "{all} start-ups: {same} with the same exit cause, {near} with the same window; {differences:#?}"
    );
    assert!(all >= 30, "{all} start-ups were compared");
    assert!(same * 20 >= all * 19 && near * 20 >= all * 19, "{same} and {near} of {all}: {differences:#?}");
}

/// While a connection is open and silent, `ss -ti` shows its last window. The server sends, and waits for its client to close.
const SENDER: &str = "import socket
server = socket.create_server(('0.0.0.0', 8080))
while True:
    one = server.accept()[0]
    one.sendall(bytes(2000000))
    one.recv(1)
";
const RECEIVER: &str = "import socket, subprocess, sys, time
held = []
for _ in range(4):
    one = socket.create_connection((sys.argv[1], 8080))
    left = 2000000
    while left:
        left -= len(one.recv(min(left, 1 << 20)))
    one.sendall(b'.')
    held.append(one)
time.sleep(1)
";

#[test]
fn ss_says_the_windows_and_thresholds_that_watch_tells() {
    let name = "watching::ss_says_the_windows_and_thresholds_that_watch_tells";
    if !can_run(name, &["python3", "ss"]) {
        return;
    }
    let place = folder("watch-and-ss");
    let said = place.join("ss");
    let watch = Watch::begin(&place, &["--port", "8080"]);
    // The server keeps the sockets that its clients left half closed; `ss` runs before that.
    let server = format!(
        "ip route change 10.0.0.1/32 dev path0 congctl reno; exec 3>{}; (while sleep 0.05; do ss -tinHO state established 'sport = :8080' >&3; done) & \
         exec python3 -c \"{SENDER}\"",
        text(&said)
    );
    let client = ["sh", "-c", "sleep 0.5; exec python3 -c \"$1\" $2", "sh", RECEIVER, "{B}"];
    let ends = [&client[..], &["--", "sh", "-c", &server]].concat();
    emulate(&["--rate", "20mbit", "--rtt", "40ms", "--queue", "60p", "--sender", "b"], &ends);
    let (output_of, _) = watch.end();
    let said = std::fs::read_to_string(said).expect("what ss said");
    let mut compared = 0;
    for one in &output_of {
        let remote = one["to"].as_str().expect("an address");
        let lines: Vec<&str> = said.lines().filter(|line| line.contains(remote)).collect();
        let value = |line: &str, word: &str| {
            let found = line.split(' ').find_map(|found| found.strip_prefix(word)?.strip_prefix(':'));
            found.and_then(|found| found.parse::<f64>().ok())
        };
        let Some(last) = lines.last() else { continue };
        // The first threshold of `ss` equals the reported one, and the last numbers equal the last ones.
        let first = lines.iter().find_map(|line| value(line, "ssthresh"));
        assert_eq!(first, number(one, "kernel_exit_ssthresh_segments"), "{one}");
        assert_eq!(value(last, "ssthresh"), number(one, "ssthresh_segments"), "{last}\n{one}");
        let (ours, theirs) =
            (number(one, "cwnd_segments").expect("known"), value(last, "cwnd").expect("known"));
        assert!((ours - theirs).abs() <= 1.0, "{ours} and {theirs} in {last}");
        assert_eq!(one["kernel_exit_state"], "recovery", "{one}");
        compared += 1;
    }
    assert!(compared >= 3, "{compared} of {}: {said}", output_of.len());
}

/// Words of a hundred bytes that are answered one by one: after a lost word, only its own retransmissions are sent.
const ASKER: &str = "import socket, sys, time
one = socket.create_connection((sys.argv[1], 8080))
for _ in range(60):
    one.sendall(bytes(100))
    one.recv(100, socket.MSG_WAITALL)
one.close()
time.sleep(3)
";
const ANSWERER: &str = "import socket
server = socket.create_server(('0.0.0.0', 8080))
one = server.accept()[0]
while word := one.recv(100, socket.MSG_WAITALL):
    one.sendall(word)
";

#[test]
fn watch_tells_every_segment_that_is_sent_again() {
    let name = "watching::watch_tells_every_segment_that_is_sent_again";
    if !can_run(name, &["python3"]) {
        return;
    }
    // In one run of thirty a segment was not reported, for an unknown reason (docs/guide/watch.md). Two consecutive failures are a fault.
    if let Some(untold) = untold_of_sent_again() {
        println!("{name}: tried again, since these differ:\n{untold}");
        assert_eq!(untold_of_sent_again(), None);
    }
}

/// Returns the first connection for which `watch` and a capture differ in the number of retransmitted segments, as both report it.
fn untold_of_sent_again() -> Option<String> {
    let place = folder("watch-again");
    let log = place.join("log.pcapng");
    let watch = Watch::begin(&place, &[]);
    let ends = ["python3", "-c", ASKER, "{B}", "--", "python3", "-c", ANSWERER];
    let path = ["--rate", "10mbit", "--rtt", "20ms", "--loss", "25%", "--seed", "3", "--log", text(&log)];
    emulate(&path, &ends);
    let (output_of, said) = watch.end();
    assert!(!said.contains("no room"), "{said}");
    let captured = captured(&log);
    let both: Vec<_> = output_of.iter().filter_map(|one| Some((one, captured.get(&ends_of(one))?))).collect();
    assert_eq!(both.len(), 2, "the asker's socket and the answerer's: {output_of:#?}");
    let again = |of: &Value| of["retransmitted_segments"].as_u64().expect("known");
    for (one, _) in &both {
        // The kernel counts SYNs and FINs in addition.
        let kernels = one["kernel_retransmitted_segments"].as_u64().expect("it is closed");
        assert!(again(one) >= 8 && kernels >= again(one), "{one}");
    }
    let differs = both.iter().find(|(one, other)| again(one) != again(other));
    differs.map(|(one, other)| format!("{one}\n{other}"))
}

#[test]
fn facts_that_find_no_room_are_counted_and_said() {
    let name = "watching::facts_that_find_no_room_are_counted_and_said";
    if !can_run(name, &["iperf3"]) {
        return;
    }
    let place = folder("watch-small-ring");
    let watch = Watch::begin(&place, &["--ring", "4096B"]);
    let ends = ["iperf3", "-c", "{B}", "-P", "4", "-n", "4M", "--", "iperf3", "-s", "-1"];
    emulate(&["--rate", "100mbit", "--rtt", "10ms"], &ends);
    let (output_of, said) = watch.end();
    assert!(said.contains(" facts found no room in the ring (--ring makes it larger)"), "{said}");
    // Start-ups with lost events are reported as doubtful.
    let doubtful = output_of.iter().filter(|one| number(one, "facts_lost") > Some(0.0)).count();
    assert!(said.contains(&format!("so that {doubtful} start-ups are doubtful")), "{doubtful}: {said}");
}

#[test]
fn a_watch_of_one_port_ignores_others_and_writes_complete_files() {
    let name = "watching::a_watch_of_one_port_ignores_others_and_writes_complete_files";
    if !can_run(name, &["iperf3"]) {
        return;
    }
    let place = folder("watch-port");
    let (parquet, metrics) = (place.join("rows.parquet"), place.join("metrics.prom"));
    let files = ["--parquet", text(&parquet), "--openmetrics", text(&metrics), "--every", "100ms"];
    let watch = Watch::begin(&place, &[&["--port", "5201"], &files[..]].concat());
    let ends = ["iperf3", "-c", "{B}", "-n", "1M", "-R", "--", "iperf3", "-s", "-1"];
    emulate(&["--rate", "50mbit", "--rtt", "10ms"], &ends);
    let (output_of, said) = watch.end();
    // The server's two sockets: iperf3's control connection, and the data.
    assert_eq!(output_of.len(), 2, "{said}{output_of:#?}");
    assert!(
        output_of.iter().all(|one| one["from"] == "10.0.0.2:5201" && one["prefix"] == "10.0.0.0/24"),
        "{output_of:#?}"
    );
    let text_of_metrics = std::fs::read_to_string(&metrics).expect("the metrics");
    assert!(text_of_metrics.ends_with("# EOF\n"), "{text_of_metrics}");
    assert!(text_of_metrics.contains("firstflight_connections_total 2\n"), "{text_of_metrics}");
    let compare = ["watch", "--compare", text(&parquet), text(&parquet), "--json"];
    let output = firstflight().args(compare).output().expect("it runs");
    let lines = stdout(&output);
    assert!(lines.lines().count() > 10 && lines.contains("\"first_starts\":2"), "{lines}{}", stderr(&output));
    // The folder has only the requested files.
    let left = std::fs::read_dir(&place).expect("the folder").count();
    assert_eq!(left, 3, "the lines, the rows, the metrics");
}

/// The commands of the page, in its order, in one shell.
#[test]
fn the_page_on_deployment_walks_from_capture_to_verdict() {
    let name = "watching::the_page_on_deployment_walks_from_capture_to_verdict";
    if !can_run(name, &["python3", "curl", "ip"]) {
        return;
    }
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/deploy.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let blocks: Vec<&str> =
        page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().expect("it ends")).collect();
    assert_eq!(blocks.len(), 4, "a block of commands a step");
    let folder_of_program = Path::new(PROGRAM).parent().expect("a folder");
    let path =
        format!("{}:{}:/usr/sbin:/sbin", text(folder_of_program), std::env::var("PATH").unwrap_or_default());
    // Processes that the commands leave running end with their shell, which is the first process of a namespace.
    let walk = || {
        let place = folder("deploy");
        let output = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", "unshare", "--pid", "--kill-child", "--fork", "--mount-proc"])
            .args(["sh", "-e", "-c", &blocks.concat()])
            .current_dir(&place)
            .env("PATH", &path)
            .stdin(Stdio::null())
            .output();
        (place, output.expect("setpriv runs"))
    };
    // A run whose packets were late is invalid, and says so: it is repeated.
    let is_void = |output: &Output| stderr(output).contains("the run is invalid");
    let mut walked = walk();
    for _ in 0..3 {
        if is_void(&walked.1) {
            walked = walk();
        }
    }
    let (place, output) = walked;
    if is_void(&output) {
        println!("skipped {name}: its runs stayed invalid on this machine");
        return;
    }
    let (out, err) = (stdout(&output), stderr(&output));
    assert_eq!(status(&output), 0, "{out}{err}");
    assert!(out.contains("12 start-ups"), "{out}");
    let race = std::fs::read_to_string(place.join("race.sh")).expect("the race");
    assert!(race.starts_with("firstflight race --rate "), "{race}");
    assert!(out.contains("{congestion_control=\"ff_hystart_pp\",transfer=\"1-10 MB\"} 12\n"), "{out}");
    let (clocks, verdict) = out.split_once("Transfers of 100 kB to 1 MB").unwrap_or_else(|| panic!("{out}"));
    let line = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        line.map_or_else(|| panic!("{name}: {out}"), str::to_owned)
    };
    assert!(line(verdict, "reno: 24 start-ups to ").contains("24 compared"), "{verdict}");
    assert!(line(verdict, "ff_hystart_pp: 24 start-ups to ").contains("24 compared"), "{verdict}");
    line(verdict, "overshoot, mean");
    assert!(verdict.contains("retransmitted"), "{verdict}");
    // The sentence on large files agrees with the clients' own clocks.
    let mean_log = |from: &str| {
        let times = clocks.lines().filter_map(|line| line.strip_prefix(from)?.parse::<f64>().ok());
        let logs: Vec<f64> = times.map(f64::ln).collect();
        assert_eq!(logs.len(), 12, "{clocks}");
        logs.iter().sum::<f64>() / 12.0
    };
    let is_later = mean_log("hystart++ large ") > mean_log("reno large ");
    let sentence = line(verdict, "Transfers of 1 to 10 MB");
    let said_later =
        if sentence.ends_with(" later.") && !sentence.contains("no difference") { Some(true) } else { None };
    let said_sooner = sentence.ends_with(" sooner.").then_some(false);
    assert!(said_later.or(said_sooner).is_none_or(|said| said == is_later), "{out}");
}

/// The rows of a Parquet file; `None` of one that is none.
fn rows(file: &Path) -> Option<usize> {
    let rows = firstflight_export::parquet::read(std::fs::read(file).ok()?).ok()?;
    Some(rows.len())
}

#[test]
fn rows_so_far_survive_a_sigkill_and_nothing_hidden_the_next_watch() {
    let name = "watching::rows_so_far_survive_a_sigkill_and_nothing_hidden_the_next_watch";
    if !can_run(name, &["iperf3"]) {
        return;
    }
    let place = folder("watch-killed");
    let file = place.join("rows.parquet");
    std::fs::write(&file, "older").expect("a file");
    let mut watch = Watch::begin(&place, &["--parquet", text(&file)]);
    let client = ["iperf3", "-c", "{B}", "-P", "4", "-n", "100K", "--", "iperf3", "-s", "-1"];
    emulate(&["--rate", "50mbit", "--rtt", "10ms"], &client);
    for _ in 0..100 {
        if rows(&file).is_some_and(|rows| rows >= 2) {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    watch.child.kill().expect("it is there");
    watch.child.wait().expect("it ends");
    assert!(rows(&file).is_some_and(|rows| rows >= 2), "{:?}", rows(&file));
    let compared =
        firstflight().args(["watch", "--compare", text(&file), text(&file)]).output().expect("it runs");
    assert!(stderr(&compared).contains("rows.parquet is partial: "), "{}", stderr(&compared));
    let names = || {
        let names =
            std::fs::read_dir(&place).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        names.filter(|name| name.to_string_lossy().starts_with('.')).count()
    };
    assert_eq!(names(), 1, "the file in progress");
    Watch::begin(&place, &["--parquet", text(&file)]).end();
    assert!(names() == 0 && rows(&file).is_some());
}

/// Downloads 3 kB from `port` of this machine. Returns the client's port.
fn download(port: u16) -> u16 {
    use std::io::Read;
    let mut client = std::net::TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    let own = client.local_addr().expect("an address").port();
    client.read_to_end(&mut Vec::new()).expect("read");
    own
}

/// Serves downloads of 3 kB until the test ends. Returns the port.
fn server() -> u16 {
    use std::io::Write;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            stream.and_then(|mut stream| stream.write_all(&[7; 3000])).expect("sent");
        }
    });
    port
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the clients' own clocks show which rows should be there")]
fn a_sigkill_at_any_moment_loses_at_most_a_second_of_rows() {
    let name = "watching::a_sigkill_at_any_moment_loses_at_most_a_second_of_rows";
    if !can_run(name, &[]) {
        return;
    }
    let place = folder("watch-rows-killed");
    let file = place.join("rows.jsonl");
    let port = server();
    let port_text = port.to_string();
    let mut all = 0;
    for run in 0..20_u64 {
        let mut watch = Watch::begin(&place, &["--loopback", "--port", &port_text, "--rows", text(&file)]);
        let until = std::time::Instant::now() + std::time::Duration::from_millis(100 + run * 619 % 1600);
        let mut ends = Vec::new();
        while std::time::Instant::now() < until {
            let client = download(port);
            ends.push((format!("127.0.0.1:{client}"), std::time::Instant::now()));
            std::thread::sleep(std::time::Duration::from_millis(3));
        }
        watch.child.kill().expect("it is there");
        let killed = std::time::Instant::now();
        watch.child.wait().expect("it ends");
        let written = std::fs::read_to_string(&file).expect("rows");
        let whole = written.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let there: Vec<String> =
            whole.map(|row| row["to"].as_str().expect("an address").to_owned()).collect();
        let is_old = |end: &std::time::Instant| killed.duration_since(*end).as_millis() > 1000;
        for (client, end) in &ends {
            assert!(
                there.contains(client) || !is_old(end),
                "{client} ended {:?} before",
                killed.duration_since(*end)
            );
        }
        // Rows of earlier runs stay.
        assert!(there.len() >= all, "{} and {all}", there.len());
        all = there.len();
    }
    assert!(all > 200, "{all} rows");
    assert_eq!(std::fs::read_dir(&place).expect("a folder").count(), 2, "the rows and the lines");
}

#[test]
fn counters_survive_a_restart_and_are_served_over_http() {
    use std::io::{Read, Write};
    let name = "watching::counters_survive_a_restart_and_are_served_over_http";
    if !can_run(name, &[]) {
        return;
    }
    let place = folder("watch-served");
    let state = place.join("state.json");
    let port = server();
    let port_text = port.to_string();
    for run in 1..=3_u64 {
        let options =
            ["--loopback", "--port", &port_text, "--listen", "127.0.0.1:0", "--state", text(&state)];
        let mut watch = Watch::begin(&place, &options);
        let address =
            watch.first.split("http://").nth(1).and_then(|rest| rest.split('/').next()).expect("an address");
        for _ in 0..10 {
            download(port);
        }
        let metrics = || {
            let mut stream = std::net::TcpStream::connect(address).expect("it listens");
            stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").expect("sent");
            let mut text = String::new();
            stream.read_to_string(&mut text).expect("a response");
            text
        };
        let sum = |text: &str| -> u64 {
            let of = text.lines().filter_map(|line| line.strip_prefix("firstflight_transfer_seconds_count{"));
            of.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum()
        };
        let mut text_of = metrics();
        for _ in 0..50 {
            if sum(&text_of) >= 10 * run {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(200));
            text_of = metrics();
        }
        assert_eq!(sum(&text_of), 10 * run, "{text_of}");
        assert!(text_of.contains(&format!("firstflight_connections_total {}\n", 10 * run)), "{text_of}");
        // A client that says nothing does not delay the end.
        let silent = std::net::TcpStream::connect(address).expect("it listens");
        if run == 2 {
            // The last second of counts may be lost by a kill, and no more.
            std::thread::sleep(std::time::Duration::from_millis(1500));
            watch.child.kill().expect("it is there");
            watch.child.wait().expect("it ends");
        } else {
            watch.end();
        }
        drop(silent);
    }
    std::fs::write(&state, "{").expect("a file");
    let output = firstflight().args(["watch", "--listen", "127.0.0.1:0", "--state", text(&state)]).output();
    let output = output.expect("it runs");
    assert_eq!(status(&output), 2, "{}", stderr(&output));
    assert!(stderr(&output).contains("state.json: it is no file of --state"), "{}", stderr(&output));
    assert_eq!(std::fs::read(&state).expect("a file"), b"{", "it is left as it was");
}

/// A server that answers each client with 400 kB under the congestion control `reno`, over MPTCP or with signatures of TCP-MD5.
const KINDS: &str = "import socket, struct, sys, time
kind, role = sys.argv[1:3]
def made():
    one = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262 if kind == 'mptcp' else 0)
    if kind == 'md5':
        peer = socket.inet_aton('10.0.0.1' if role == 'server' else '10.0.0.2')
        address = struct.pack('=HH4s', socket.AF_INET, 0, peer).ljust(128, bytes(1))
        one.setsockopt(socket.IPPROTO_TCP, 14, address + struct.pack('=BBHI', 0, 0, 6, 0) + b'secret'.ljust(80, bytes(1)))
    return one
one = made()
if role == 'server':
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    one.bind(('0.0.0.0', 8181))
    one.listen()
    one = one.accept()[0]
    one.setsockopt(socket.IPPROTO_TCP, 13, b'reno')
    one.sendall(bytes(400000))
    one.shutdown(1)
    one.recv(1)
else:
    time.sleep(0.7)
    one.connect(('10.0.0.2', 8181))
    while one.recv(65536):
        pass
    one.close()
    time.sleep(0.5)
";

#[test]
fn mptcp_and_signed_connections_are_booked_under_their_own_congestion_control() {
    let name = "watching::mptcp_and_signed_connections_are_booked_under_their_own_congestion_control";
    if !can_run(name, &["python3"]) {
        return;
    }
    for kind in ["mptcp", "md5"] {
        is_seen_whole(kind);
    }
}

/// Watches a connection of this kind. Some segments leave unseen (docs/guide/watch.md), and `watch` counts them. That connection is
/// repeated, twice at most.
fn is_seen_whole(kind: &str) {
    for attempt in 1.. {
        let place = folder("watch-kinds");
        let watch = Watch::begin(&place, &["--port", "8181"]);
        let ends = ["python3", "-c", KINDS, kind, "client", "--", "python3", "-c", KINDS, kind, "server"];
        emulate(&["--rate", "20mbit", "--rtt", "40ms", "--queue", "200p"], &ends);
        let (output_of, said) = watch.end();
        assert_eq!(output_of.len(), 1, "{kind}: {said}");
        let one = &output_of[0];
        assert_eq!(
            (&one["congestion_control"], &one["congestion_control_later"]),
            (&"reno".into(), &Value::Null),
            "{kind}"
        );
        assert!(number(one, "bytes_acked") >= Some(400_000.0), "{kind}: {one}");
        if (&one["unseen_segments"], &one["unseen_retransmissions"]) == (&0.into(), &0.into()) {
            break;
        }
        assert!(attempt < 3, "{kind}: {one}");
    }
}

/// The kernel's BBR on five paths. It leaves for its Drain and for nothing else, whatever the segments look like.
#[test]
fn no_exit_of_bbr_has_a_cause_that_is_not_the_senders() {
    let name = "watching::no_exit_of_bbr_has_a_cause_that_is_not_the_senders";
    if !can_run(name, &["iperf3"]) {
        return;
    }
    let place = folder("watch-bbr");
    let mut drained = 0;
    for path in [
        &["--rate", "20mbit", "--rtt", "40ms", "--queue", "25p"][..],
        &["--rate", "20mbit", "--rtt", "40ms", "--queue", "100p"],
        &["--rate", "10mbit", "--rtt", "80ms", "--loss", "2%", "--seed", "1"],
        &["--rate", "50mbit", "--rtt", "30ms", "--queue", "codel:200p"],
        &["--rate", "5mbit", "--rtt", "200ms", "--queue", "20p"],
    ] {
        drained += usize::from(drains(&place, path));
    }
    assert!(drained >= 3, "{drained} of 5 reached Drain");
}

/// Returns whether BBR reached its Drain on a path, after a check of what `watch` and the packets say. A run is repeated, twice at most, if
/// segments left unseen, or if packets that the machine delayed show another cause.
fn drains(place: &std::path::Path, path: &[&str]) -> bool {
    let mut attempt = 1;
    loop {
        let log = place.join("log.pcapng");
        let watch = Watch::begin(place, &[]);
        let ends = ["iperf3", "-c", "{B}", "-n", "3M", "-C", "bbr", "--", "iperf3", "-s", "-1"];
        emulate(&[path, &["--log", text(&log)]].concat(), &ends);
        let (output_of, _) = watch.end();
        let captured = captured(&log);
        // Other connections of the machine are watched too.
        let is_it =
            |one: &&Value| number(one, "bytes_acked") > Some(1e6) && captured.contains_key(&ends_of(one));
        let large: Vec<&Value> = output_of.iter().filter(is_it).collect();
        assert_eq!(large.len(), 1, "{path:?}");
        let one = large[0];
        assert_eq!(one["congestion_control"], "bbr");
        if (one["unseen_segments"] != 0 || one["unseen_retransmissions"] != 0) && attempt < 3 {
            attempt += 1;
            continue;
        }
        // The data may end before Drain begins.
        let has_drained = one["kernel_exit_ssthresh_segments"].is_number();
        assert_eq!(one["exit_cause"], if has_drained { "drain" } else { "none" }, "{path:?}: {one}");
        // Packets alone show the drain or nothing.
        let cause = &captured[&ends_of(one)]["exit_cause"];
        println!("{path:?}: the packets say {cause}");
        if *cause == Value::Null || *cause == "drain" || !has_drained {
            return has_drained;
        }
        assert!(attempt < 3, "{path:?}: {cause}");
        attempt += 1;
    }
}

/// Carries some bytes over a connection of this machine with itself, repeatedly until `ended`.
fn traffic(ended: &std::sync::atomic::AtomicBool) {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    while !ended.load(std::sync::atomic::Ordering::SeqCst) {
        let mut client = std::net::TcpStream::connect(address).expect("a connection");
        let (mut server, _) = listener.accept().expect("a connection");
        server.write_all(&[7; 3000]).expect("sent");
        drop(server);
        client.read_to_end(&mut Vec::new()).expect("read");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn rows_of_a_disturbed_watch_are_whole_or_what_was_there() {
    let name = "watching::rows_of_a_disturbed_watch_are_whole_or_what_was_there";
    if !can_run(name, &[]) || library().is_none() {
        return;
    }
    let place = folder("watch-disturbed");
    let file = place.join("rows.parquet");
    let run = |at: usize, what: &str| {
        std::fs::write(&file, "older").expect("a file");
        let mut command = firstflight();
        command.args(["watch", "--json", "--loopback", "--duration", "1200ms", "--parquet", text(&file)]);
        let (ended, watched) = (std::sync::atomic::AtomicBool::new(false), std::sync::Mutex::new(None));
        std::thread::scope(|scope| {
            scope.spawn(|| traffic(&ended));
            *watched.lock().expect("no panic") = disturbed(command, &place, (at, what));
            ended.store(true, std::sync::atomic::Ordering::SeqCst);
        });
        watched.into_inner().expect("no panic").expect("a library")
    };
    let (undisturbed, calls) = run(0, "");
    assert_eq!(undisturbed.status.code(), Some(0), "{}", stderr(&undisturbed));
    assert!(rows(&file).is_some_and(|rows| rows > 5) && calls > 10, "{:?} rows, {calls} calls", rows(&file));
    for call in 0..calls {
        let of_call =
            DISTURBANCES.iter().enumerate().filter(|(at, _)| is_large() || (at + 1) * calls / 6 == call);
        for (_, what) in of_call {
            let (output, _) = run(call, what);
            let of = format!("{what} at call {call}: {}", stderr(&output));
            let is_old = std::fs::read(&file).expect("a file") == b"older";
            assert!(is_old || rows(&file).is_some(), "{of}");
            match (output.status.code(), *what) {
                (Some(0), _) => assert!(!is_old, "{of}"),
                (Some(130), "INT" | "TERM") | (Some(2 | 3), "EIO" | "ENOSPC") | (None, "KILL") => {}
                (code, _) => panic!("it ended with {code:?}: {of}"),
            }
            let (again, _) = run(usize::MAX, "");
            assert_eq!(again.status.code(), Some(0), "{of}, again: {}", stderr(&again));
            assert_eq!(std::fs::read_dir(&place).expect("a folder").count(), 1, "{of}: a hidden file stays");
        }
    }
}
