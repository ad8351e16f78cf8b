//! Files between two commands, over UDP sockets.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use serde_json::Value;

use crate::common::{firstflight, folder, names, refused, run, status, stderr, stdout, text};

/// A command that runs until it is dropped, and the addresses where its servers listen.
pub(crate) struct Server {
    child: Child,
    pub(crate) addresses: Vec<String>,
}

impl Server {
    pub(crate) fn new(arguments: &[&str], servers: usize) -> Self {
        let mut command = firstflight();
        command.args(arguments);
        Self::begin(command, servers)
    }

    pub(crate) fn begin(mut command: Command, servers: usize) -> Self {
        let mut child = command
            .args(["--port", "0", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the command runs");
        let mut said = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut address = || {
            let mut line = String::new();
            said.read_line(&mut line).expect("a line");
            line.trim().rsplit(' ').next().unwrap_or_default().to_owned()
        };
        let addresses = (0..servers).map(|_| address()).collect();
        Self { child, addresses }
    }

    /// Interrupts the server once it has printed `rows` rows, or no row came for half a minute, and returns all rows. A server prints a row
    /// when all data is acknowledged and the peer has closed.
    fn end_after(mut self, rows: usize) -> Vec<Value> {
        let (line, lines) = mpsc::channel();
        let out = BufReader::new(self.child.stdout.take().expect("a pipe"));
        std::thread::spawn(move || out.lines().try_for_each(|said| line.send(said.expect("text"))));
        let waited = || lines.recv_timeout(Duration::from_secs(30)).ok();
        let mut said: Vec<String> = std::iter::from_fn(waited).take(rows).collect();
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill runs").success());
        said.extend(lines.iter());
        assert!(self.child.wait().expect("it ends").success());
        said.iter().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn noise(length: usize) -> Vec<u8> {
    let mut state = 3_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

/// The fields of a race's row of this scheme.
fn fields_of_a_race(scheme: &str) -> Vec<String> {
    let output = run(&["race", "--rate", "20mbit", "--size", "100kB", "--schemes", scheme, "--json"]);
    let row: Value = serde_json::from_str(stdout(&output).lines().next().expect("a row")).expect("JSON");
    row.as_object().expect("a row").keys().cloned().collect()
}

fn sha256(file: &Path) -> String {
    let output = Command::new("sha256sum").arg(file).output().expect("sha256sum runs");
    String::from_utf8_lossy(&output.stdout).split(' ').next().unwrap_or_default().to_owned()
}

#[test]
fn a_file_comes_by_each_scheme_with_the_fields_of_a_race() {
    let place = folder("transfer-get");
    std::fs::create_dir(place.join("there")).expect("a folder");
    std::fs::write(place.join("there/f"), noise(300_000)).expect("a file");
    let server = Server::new(&["serve", text(&place.join("there")), "--schemes", "slow-start,paced"], 2);
    for (at, name) in server.addresses.iter().zip(["one", "two"]) {
        let got = run(&["get", &format!("{at}/f"), "--output", text(&place.join(name)), "--json"]);
        assert_eq!(status(&got), 0, "{}", stderr(&got));
        let said: Value = serde_json::from_str(&stdout(&got)).expect("JSON");
        assert_eq!((said["bytes"].as_u64(), said["resumed_bytes"].as_u64()), (Some(300_000), Some(0)));
        assert_eq!(said["sha256"].as_str(), Some(&*sha256(&place.join(name))));
        assert!(std::fs::read(place.join(name)).expect("a file") == noise(300_000));
    }
    let rows = server.end_after(2);
    assert_eq!(
        rows.iter().map(|row| row["scheme"].as_str().expect("a name")).collect::<Vec<_>>(),
        ["slow-start", "paced"]
    );
    for row in rows {
        let wanted = fields_of_a_race(row["scheme"].as_str().expect("a name"));
        assert_eq!(row.as_object().expect("a row").keys().cloned().collect::<Vec<_>>(), wanted);
        assert!(row["scheme"] != "paced" || row["trains"].as_u64().is_some_and(|trains| trains > 0), "{row}");
        assert!(row["fct_s"].as_f64().is_some_and(|time| time > 0.0), "{row}");
        assert!(row["packets_sent"].as_u64().is_some_and(|packets| packets > 200), "{row}");
        assert_eq!((&row["cost"], &row["queue_peak_packets"]), (&Value::Null, &Value::Null));
    }
    assert_eq!(names(&place), ["one", "there", "two"]);
}

#[test]
fn a_file_is_sent_by_each_scheme_and_never_over_another() {
    let place = folder("transfer-send");
    std::fs::create_dir(place.join("there")).expect("a folder");
    let file = place.join("f");
    std::fs::write(&file, noise(200_000)).expect("a file");
    let server = Server::new(&["serve", "--uploads", text(&place.join("there"))], 1);
    let at = server.addresses[0].clone();
    let sent = run(&["put", text(&file), &at, "--schemes", "slow-start,hystart++", "--json"]);
    assert_eq!(status(&sent), 0, "{}", stderr(&sent));
    let rows: Vec<Value> =
        stdout(&sent).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(rows.len(), 2);
    assert!(
        rows.iter().all(|row| row["packets_sent"].as_u64().is_some_and(|packets| packets > 130)),
        "{rows:?}"
    );
    assert_eq!(names(&place.join("there")), ["f.hystart++", "f.slow-start"]);
    assert_eq!(sha256(&place.join("there/f.hystart++")), sha256(&file));
    let again = run(&["put", text(&file), &format!("{at}/f.slow-start")]);
    assert_eq!(status(&again), 3);
    assert_eq!(stderr(&again), "error: refused by the peer: f.slow-start exists; --force replaces it\n");
    // On a narrow terminal lines are broken.
    let narrow = firstflight().args(["put", text(&file), &format!("{at}/n")]).env("COLUMNS", "40").output();
    let said = stdout(&narrow.expect("the command runs"));
    assert!(said.contains("SHA-256") && said.lines().all(|line| line.chars().count() <= 40), "{said}");
    assert_eq!(server.end_after(3).len(), 3);
}

/// The former names of `put` and `serve --uploads`, with the same options and the same output.
#[test]
fn send_and_receive_are_put_and_serve_with_uploads() {
    let place = folder("transfer-former");
    std::fs::create_dir(place.join("there")).expect("a folder");
    std::fs::write(place.join("f"), noise(10_000)).expect("a file");
    let file = place.join("f");
    let mut said = Vec::new();
    for (server, client) in [(["receive", "--force"], "send"), (["serve", "--uploads"], "put")] {
        let server = Server::new(&[&server[..], &[text(&place.join("there"))]].concat(), 1);
        let sent =
            run(&[client, text(&file), &format!("{}/{client}", server.addresses[0]), "--timeout", "9s"]);
        assert_eq!((status(&sent), stderr(&sent)), (0, String::new()));
        let lines = stdout(&sent).lines().count();
        said.push((
            lines,
            server.end_after(1)[0].as_object().expect("a row").keys().cloned().collect::<Vec<_>>(),
        ));
    }
    assert_eq!(said[0], said[1]);
    assert_eq!(names(&place.join("there")), ["put", "send"]);
    for (arguments, line) in [
        (&["receive", text(&place), "--schemes", "paced"][..], "--schemes: it is of files that are sent"),
        (
            &["serve", "--uploads", text(&place), "--report", "x.html"],
            "--report: it is of files that are sent",
        ),
        (&["serve", text(&place), "--force"], "--force: it is of files that arrive, which --uploads allows"),
        (&["serve", text(&place), "--disk", "1MB"], "--disk: it is of files that arrive"),
        (&["serve", text(&place), "--keep", "1h"], "--keep: it is of files that arrive"),
    ] {
        let said = refused(arguments);
        assert!(said.contains(line), "{arguments:?} said {said}");
    }
}

/// Waits until the part has more than `bytes` bytes, or the whole file exists. Returns whether the whole file exists.
fn is_whole_before(part: &Path, bytes: u64, whole: &Path) -> bool {
    for _ in 0..4_000 {
        if whole.exists() {
            return true;
        }
        if std::fs::metadata(part).is_ok_and(|part| part.len() > bytes) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("{} does not grow beyond {bytes} bytes", part.display());
}

/// Waits until no process receives into `part`: an end that was not killed waits for the other, and keeps the file meanwhile.
fn wait_until_left(part: &Path) {
    let file = std::fs::File::open(part).expect("a part");
    let mut left = (0..4_000).map(|_| {
        std::thread::sleep(Duration::from_millis(5));
        file.try_lock().is_ok()
    });
    assert!(left.any(|is_free| is_free), "{} is received into", part.display());
}

/// SIGKILL at either end, in either direction, repeatedly.
#[test]
fn a_transfer_whose_ends_are_killed_leaves_no_half_file_and_resumes() {
    const LENGTH: usize = 12_000_000;
    let place = folder("transfer-killed");
    for way in ["get", "put"] {
        let (there, here) = (place.join(format!("{way}-there")), place.join(format!("{way}-here")));
        for folder in [&there, &here] {
            std::fs::create_dir(folder).expect("a folder");
        }
        let (source, target) = if way == "get" { (&there, &here) } else { (&here, &there) };
        std::fs::write(source.join("f"), noise(LENGTH)).expect("a file");
        let (whole, part) = (target.join("f"), target.join(".f.part"));
        let file = here.join("f");
        let serve = || {
            let more: &[&str] = if way == "get" { &[] } else { &["--uploads"] };
            Server::new(&[&["serve", text(&there), "--timeout", "1s"], more].concat(), 1)
        };
        let begin = |at: &str, timeout: &str| {
            let from = format!("{at}/f");
            let words = if way == "get" {
                ["get", &from, "--output", text(&file)]
            } else {
                ["put", text(&file), at, "--json"]
            };
            let mut client = firstflight();
            client.args(words).args(["--timeout", timeout]).stdout(Stdio::null()).stderr(Stdio::piped());
            client.spawn().expect("the command runs")
        };
        let (mut server, mut had) = (serve(), 0);
        for (is_client, bytes) in [(true, 1_000_000), (false, 3_000_000), (true, 5_000_000)] {
            let mut client = begin(&server.addresses[0], "1s");
            let is_whole = is_whole_before(&part, bytes, &whole);
            if is_client {
                client.kill().expect("it is killed");
            } else {
                server = serve();
            }
            let output = client.wait_with_output().expect("it ends");
            if is_whole {
                break;
            }
            let said = stderr(&output);
            assert!(is_client || status(&output) == 3 && said.lines().count() == 1, "{way}: {said}");
            let there = std::fs::read(&part).expect("a part");
            assert!(there.len() >= had && !whole.exists(), "{way}: {} after {had}", there.len());
            assert!(there == noise(there.len()), "{way}: the part is not the start of the file");
            had = there.len();
            wait_until_left(&part);
        }
        let output = begin(&server.addresses[0], "20s").wait_with_output().expect("it ends");
        assert!(whole.exists(), "{way}: {}", stderr(&output));
        assert!(std::fs::read(&whole).expect("a file") == noise(LENGTH), "{way}");
        assert_eq!(names(target), ["f"], "{way}");
    }
}

/// Returns the results of `inspect` for a capture.
fn inspected(capture: &Path) -> Vec<Value> {
    let output = run(&["inspect", text(capture), "--json", "--all"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    stdout(&output).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn both_ends_write_captures_and_qlogs_and_the_sender_a_report() {
    let place = folder("transfer-logs");
    std::fs::create_dir(place.join("there")).expect("a folder");
    std::fs::create_dir(place.join("there/sub")).expect("a folder");
    std::fs::write(place.join("there/sub/f"), noise(300_000)).expect("a file");
    let (logs, page) = (place.join("logs"), place.join("page.html"));
    let to_logs = ["--pcap", text(&logs), "--qlog", text(&logs)];
    let there = place.join("there");
    let words = [&["serve", text(&there), "--schemes", "slow-start", "--report", text(&page)][..], &to_logs];
    let server = Server::new(&words.concat(), 1);
    let (from, target) = (format!("{}/sub/f", server.addresses[0]), place.join("f"));
    for more in [&to_logs[..], &["--force"]] {
        let got = run(&[&["get", &from, "--output", text(&target)], more].concat());
        assert_eq!(status(&got), 0, "{}", stderr(&got));
    }
    let rows = server.end_after(2);
    let ends = ["sub_f-receiver", "sub_f-sender", "sub_f-2-sender"];
    let mut expected: Vec<String> =
        ends.iter().flat_map(|end| [format!("{end}.pcapng"), format!("{end}.sqlog")]).collect();
    expected.sort();
    assert_eq!(names(&logs), expected);
    // Both ends captured the whole connection.
    let [sender, receiver] = [1, 0].map(|end| inspected(&logs.join(format!("{}.pcapng", ends[end]))));
    let data = |senders: &[Value]| {
        let bytes = |sender: &Value| sender["bytes_sent"].as_u64().expect("bytes");
        senders.iter().max_by_key(|sender| bytes(sender)).expect("a sender").clone()
    };
    let (sent, arrived) = (data(&sender), data(&receiver));
    for field in ["from", "to", "bytes_acked", "mss_bytes", "sack"] {
        assert_eq!(sent[field], arrived[field], "{field}");
    }
    // The capture and the row agree in the number of segments with new data. A retransmission sent after the row was made is only in the
    // capture.
    let count = |record: &Value, field: &str| record[field].as_u64().expect("a count");
    let captured = ["data_segments_sent", "retransmitted_segments"].map(|field| count(&sent, field));
    let output_of = ["packets_sent", "retransmissions"].map(|field| count(&rows[0], field));
    assert_eq!(
        captured[0] - captured[1],
        output_of[0] - output_of[1],
        "{captured:?} captured, {output_of:?} in the row"
    );
    assert!(captured[1] >= output_of[1], "{captured:?} captured, {output_of:?} in the row");
    assert!(sent["bytes_acked"].as_u64().is_some_and(|bytes| bytes > 300_000), "{sent}");
    assert!(sent["handshake_rtt_s"].as_f64().is_some(), "{sent}");
    // The qlogs have the same number of bytes.
    let output_of = |end: &str, event: &str| -> u64 {
        let text = std::fs::read_to_string(logs.join(format!("{end}.sqlog"))).expect("UTF-8");
        let records = text.split('\u{1e}').skip(1);
        let records = records.map(|record| serde_json::from_str::<Value>(record).expect("JSON"));
        let ends = records.filter(|record| record["name"] == event).filter_map(|record| {
            let frame = &record["data"]["frames"][0];
            Some(frame["offset"].as_u64()? + frame["length"].as_u64()?)
        });
        ends.max().expect("events")
    };
    let (out, back) = (
        output_of("sub_f-sender", "transport:packet_sent"),
        output_of("sub_f-receiver", "transport:packet_received"),
    );
    assert_eq!((Some(out), Some(back)), (sent["bytes_acked"].as_u64(), sent["bytes_acked"].as_u64()));
    let page = std::fs::read_to_string(page).expect("a page");
    for words in ["start-up of transfers", "1: slow-start", "2: slow-start", "f: 300,000 bytes"] {
        assert!(page.contains(words), "the page lacks {words}");
    }
    // If there is nothing to show, nothing is written.
    let nothing = place.join("nothing.html");
    let report = ["--report", text(&nothing)];
    Server::new(&[&["serve", text(&place.join("there"))][..], &report].concat(), 1).end_after(0);
    assert!(!nothing.exists());
}

#[test]
fn a_log_that_cannot_be_written_is_refused_before_the_transfer() {
    let place = folder("transfer-no-logs");
    std::fs::create_dir(place.join("there")).expect("a folder");
    std::fs::write(place.join("f"), noise(1000)).expect("a file");
    let file = place.join("f");
    let server = Server::new(&["serve", "--uploads", text(&place.join("there"))], 1);
    let at = server.addresses[0].clone();
    for (more, line) in [
        (["--pcap", text(&file)], "--pcap: cannot write into"),
        (["--qlog", text(&file)], "--qlog: cannot write into"),
        (["--report", text(&place)], "--report: "),
        (["--report", text(&file)], "would overwrite the file"),
        (["--snap", "1kB"], "--pcap"),
    ] {
        let said = refused(&[&["put", text(&file), &at][..], &more].concat());
        assert!(said.contains(line), "{more:?} said {said}");
    }
    assert!(names(&place.join("there")).is_empty());
    let sent = run(&["put", text(&file), &at, "--pcap", text(&place.join("logs")), "--snap", "60B"]);
    assert_eq!((status(&sent), names(&place.join("logs"))), (0, vec!["f-sender.pcapng".to_owned()]));
    let bytes = std::fs::metadata(place.join("logs/f-sender.pcapng")).expect("a capture").len();
    assert!(bytes < 3_000, "{bytes}");
    assert_eq!(names(&place.join("there")), ["f"]);
}

#[test]
fn invalid_transfers_fail_in_one_line() {
    let place = folder("transfer-wrong");
    std::fs::write(place.join("f"), "f").expect("a file");
    let (file, missing, fifo) = (place.join("f"), place.join("no"), place.join("fifo"));
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo runs").success());
    for (arguments, line) in [
        (
            vec!["get", "127.0.0.1/f"],
            "`127.0.0.1/f` is not allowed; HOST:PORT/PATH is, as in 127.0.0.1:4433/file",
        ),
        (vec!["get", "127.0.0.1:1"], "`127.0.0.1:1` is not allowed; HOST:PORT/PATH is"),
        (vec!["get", "127.0.0.1:1/", "--output", "-"], "--output -: standard output takes one file"),
        (vec!["get", "127.0.0.1:1/f", "--output", "-", "--json"], "without --json it is allowed"),
        (
            vec!["get", "127.0.0.1:1/f", "127.0.0.1:1/g", "--output", text(&file)],
            "several files need a folder",
        ),
        (
            vec!["get", "127.0.0.1:1/f", "--output", text(&fifo)],
            "is a FIFO; only regular files are transferred",
        ),
        (vec!["get", "127.0.0.1:1/x/../", "--list"], "`x/..` is no path of a file below the folder"),
        (
            vec!["get", "127.0.0.1:1/x/f", "127.0.0.1:2/y/f", "--force"],
            "127.0.0.1:1/x/f and 127.0.0.1:2/y/f would both be written to f",
        ),
        (vec!["put", text(&file), text(&file), "127.0.0.1:1"], "would both be sent as f"),
        (vec!["put", text(&fifo), "127.0.0.1:1"], "is a FIFO; only regular files are transferred"),
        (vec!["get", "127.0.0.1:1/f", "--output", text(&file)], "exists; --force replaces it"),
        (vec!["get", "127.0.0.1:1/f", "--timeout", "soon"], "--timeout: `soon`"),
        (vec!["get", "127.0.0.1:1/f", "--avoidance", "none"], "--avoidance"),
        (vec!["serve", text(&missing)], "No such file or directory"),
        (vec!["serve", text(&file)], "Not a directory"),
        (vec!["serve", text(&place), "--schemes", "quick-start"], "quick-start"),
        (vec!["serve", text(&place), "--schemes", "no"], "--schemes: "),
        (vec!["serve", text(&place), "--schemes", "slow-start,paced", "--port", "65535"], "--port: "),
        (vec!["serve", "--uploads", text(&place), "--bind", "192.0.2.1"], "cannot listen at 192.0.2.1:4433"),
    ] {
        let said = refused(&arguments);
        assert!(said.contains(line), "{arguments:?} said {said}");
    }
    let nobody = run(&["get", "127.0.0.1:1/f", "--output", text(&place.join("g")), "--timeout", "300ms"]);
    assert_eq!(status(&nobody), 3);
    assert!(stderr(&nobody).starts_with("error: the connection failed: "), "{}", stderr(&nobody));
    assert_eq!(names(&place), ["f", "fifo"]);
}

/// Writes files of a tree, each with different content, and returns their paths.
fn tree(place: &Path) -> Vec<&'static str> {
    let files = ["a", "sub/b c", "sub/inner/d", "sub/inner/e"];
    for (number, file) in files.iter().enumerate() {
        let path = place.join(file);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, noise(50_000 + number)).expect("a file");
    }
    std::fs::write(place.join("sub/.hidden"), "hidden").expect("a file");
    files.to_vec()
}

#[test]
fn a_folder_is_listed_fetched_and_fetched_again_without_its_bytes() {
    let place = folder("transfer-folder");
    let files = tree(&place.join("there"));
    let server = Server::new(&["serve", text(&place.join("there"))], 1);
    let at = &server.addresses[0];
    let listed = run(&["get", &format!("{at}/"), &format!("{at}/sub/"), "--list", "--json"]);
    assert_eq!(status(&listed), 0, "{}", stderr(&listed));
    assert_eq!(
        stdout(&listed).lines().collect::<Vec<_>>(),
        [
            r#"{"path":"a","bytes":50000}"#,
            r#"{"path":"sub/","bytes":null}"#,
            r#"{"path":"sub/b c","bytes":50001}"#,
            r#"{"path":"sub/inner/","bytes":null}"#
        ]
    );
    let words = run(&["get", &format!("{at}/"), "--list"]);
    assert_eq!(stdout(&words), format!("{:>17}  a\n{:>17}  sub/\n", "50,000", ""));
    let (from, here) = (format!("{at}/"), place.join("here"));
    let fetch = ["get", &from, "--output", text(&here), "--json"];
    for resumed in [0, 50_000] {
        let got = run(&fetch);
        assert_eq!((status(&got), stderr(&got)), (0, String::new()));
        let rows: Vec<Value> =
            stdout(&got).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(rows.iter().map(|row| row["path"].as_str().expect("a path")).collect::<Vec<_>>(), files);
        assert!(rows.iter().all(|row| row["resumed_bytes"].as_u64().is_some_and(|bytes| bytes >= resumed)));
    }
    for file in &files {
        assert_eq!(sha256(&here.join(file)), sha256(&place.join("there").join(file)));
    }
    assert_eq!(names(&here.join("sub")), ["b c", "inner"]);
    // A file that differs fails in one line; the others are transferred.
    std::fs::write(here.join("sub/b c"), noise(50_000)).expect("a file");
    std::fs::remove_file(here.join("a")).expect("a file");
    let got = run(&fetch);
    assert_eq!(status(&got), 3);
    let said = stderr(&got);
    assert!(said.lines().count() == 2 && said.contains("b c exists; --force replaces it"), "{said}");
    assert!(said.ends_with("error: 1 of 4 transfers failed\n"), "{said}");
    assert!(here.join("a").exists());
    // A folder is written under its name; a missing file does not stop the others.
    let (sub, missing, a) = (format!("{at}/sub/"), format!("{at}/no"), format!("{at}/a"));
    let target = place.join("other");
    let got = run(&["get", &sub, &missing, &a, "--output", text(&target)]);
    assert_eq!(status(&got), 3);
    assert!(stderr(&got).contains("/no: refused by the peer: "), "{}", stderr(&got));
    assert_eq!(names(&target), ["a", "sub"]);
}

#[test]
fn folders_and_files_are_sent_by_one_command() {
    let place = folder("transfer-send-folder");
    let files = tree(&place.join("here/tree"));
    std::fs::create_dir(place.join("there")).expect("a folder");
    std::fs::write(place.join("here/x"), "x").expect("a file");
    let server = Server::new(&["serve", "--uploads", text(&place.join("there"))], 1);
    let to = format!("{}/in/", server.addresses[0]);
    let [tree, x] = ["here/tree", "here/x"].map(|name| place.join(name));
    let words = ["put", text(&tree), text(&x), &to, "--json"];
    let sent = run(&words);
    assert_eq!(status(&sent), 0, "{}", stderr(&sent));
    assert!(stderr(&sent).contains("/tree: not sent, because hidden or no files: 1"), "{}", stderr(&sent));
    assert_eq!(stdout(&sent).lines().count(), 5);
    assert_eq!(names(&place.join("there/in")), ["tree", "x"]);
    for file in &files {
        assert_eq!(sha256(&place.join("there/in/tree").join(file)), sha256(&tree.join(file)));
    }
    assert_eq!(names(&place.join("there/in/tree/sub")), ["b c", "inner"]);
    std::fs::remove_file(place.join("there/in/x")).expect("a file");
    let again = run(&words);
    assert_eq!(status(&again), 3);
    let said = stderr(&again);
    assert_eq!(said.matches("exists; --force replaces it").count(), 4, "{said}");
    assert!(said.ends_with("error: 4 of 5 transfers failed\n"), "{said}");
    assert!(place.join("there/in/x").exists());
}

#[test]
fn one_file_goes_to_standard_output_or_into_a_folder() {
    let place = folder("transfer-output");
    std::fs::create_dir(place.join("there")).expect("a folder");
    std::fs::create_dir(place.join("here")).expect("a folder");
    std::fs::write(place.join("there/f"), noise(100_000)).expect("a file");
    let server = Server::new(&["serve", text(&place.join("there"))], 1);
    let from = format!("{}/f", server.addresses[0]);
    let got = run(&["get", &from, "--output", "-"]);
    assert_eq!(status(&got), 0, "{}", stderr(&got));
    assert!(got.stdout == noise(100_000));
    assert!(stderr(&got).contains("SHA-256"), "{}", stderr(&got));
    for (output, path) in [("here", "here/f"), ("new/", "new/f")] {
        let output = format!("{}/{output}", text(&place));
        let got = run(&["get", &from, "--output", &output]);
        assert_eq!(status(&got), 0, "{}", stderr(&got));
        assert!(std::fs::read(place.join(path)).expect("a file") == noise(100_000));
    }
    drop(server);
    let others = [format!("{from}1"), format!("{from}2")];
    let gone = run(&["get", &from, &others[0], &others[1], "--timeout", "300ms", "--output", text(&place)]);
    let said = stderr(&gone);
    assert!(status(&gone) == 3 && said.contains("is not tried again"), "{said}");
    assert_eq!(said.matches("the connection failed").count(), 1, "{said}");
}

#[test]
fn a_folder_that_cannot_be_used_is_refused_at_the_start() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    if !rustix::process::getuid().is_root() {
        return;
    }
    let place = folder("transfer-unreadable");
    for (mode, more) in [(0o700, None), (0o755, Some("--uploads"))] {
        std::fs::set_permissions(&place, std::fs::Permissions::from_mode(mode)).expect("permissions");
        let mut command = firstflight();
        // The user is no one who may enter the folder.
        command.arg("serve").arg(&*place).args(more).args(["--port", "0"]).uid(65_534).gid(65_534);
        // Others may be unable to enter the folder of the program, too.
        let Ok(ended) = command.output() else { return };
        let said = stderr(&ended);
        assert!(status(&ended) == 2 && said.contains("Permission denied"), "{mode:o}: {said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn rows_rejected_by_standard_output_end_the_command_with_exit_3() {
    let place = folder("transfer-full");
    std::fs::create_dir(place.join("there")).expect("a folder");
    std::fs::write(place.join("there/f"), noise(10_000)).expect("a file");
    let full = || std::fs::File::options().write(true).open("/dev/full").expect("a device");
    let mut child = firstflight()
        .args(["serve", text(&place.join("there")), "--port", "0", "--json"])
        .stdout(full())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let mut said = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let mut line = || said.next().expect("a line").expect("text");
    let address = line().rsplit(' ').next().unwrap_or_default().to_owned();
    let got = run(&["get", &format!("{address}/f"), "--output", text(&place.join("f"))]);
    assert_eq!(status(&got), 0, "{}", stderr(&got));
    assert!(line().starts_with("warning: standard output takes no more rows"));
    assert!(
        Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs").success()
    );
    assert_eq!(child.wait().expect("it ends").code(), Some(3));
    assert!(line().starts_with("error: cannot write to standard output: "));
    let server = Server::new(&["serve", "--uploads", text(&place.join("there"))], 1);
    let sent = firstflight()
        .args(["put", text(&place.join("f")), &format!("{}/g", server.addresses[0]), "--json"])
        .stdout(full())
        .output()
        .expect("the command runs");
    assert_eq!(status(&sent), 3, "{}", stderr(&sent));
}
