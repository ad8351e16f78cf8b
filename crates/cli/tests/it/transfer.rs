//! Files between two commands, over UDP sockets.

use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::common::{firstflight, folder, names, refused, run, status, stderr, stdout, text};

/// A command that goes on until it is dropped, and where its servers listen.
struct Server {
    child: Child,
    addresses: Vec<String>,
}

impl Server {
    fn new(arguments: &[&str], servers: usize) -> Self {
        let mut child = firstflight()
            .args(arguments)
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

    /// Ends it by an interrupt, and gives the lines of its standard output.
    fn end(mut self) -> Vec<Value> {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill runs").success());
        let mut out = String::new();
        self.child.stdout.take().expect("a pipe").read_to_string(&mut out).expect("text");
        assert!(self.child.wait().expect("it ends").success());
        out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn noise(length: usize) -> Vec<u8> {
    let mut state = 3_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}

/// The fields of a race's row.
fn fields_of_a_race() -> Vec<String> {
    let output = run(&["race", "--rate", "20mbit", "--size", "100kB", "--schemes", "slow-start", "--json"]);
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
    // A server prints a row once all is acknowledged and the peer has left.
    std::thread::sleep(Duration::from_millis(500));
    let rows = server.end();
    assert_eq!(
        rows.iter().map(|row| row["scheme"].as_str().expect("a name")).collect::<Vec<_>>(),
        ["slow-start", "paced"]
    );
    for row in rows {
        assert_eq!(row.as_object().expect("a row").keys().cloned().collect::<Vec<_>>(), fields_of_a_race());
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
    let server = Server::new(&["receive", text(&place.join("there"))], 1);
    let at = server.addresses[0].clone();
    let sent = run(&["send", text(&file), &at, "--schemes", "slow-start,hystart++", "--json"]);
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
    let again = run(&["send", text(&file), &format!("{at}/f.slow-start")]);
    assert_eq!(status(&again), 3);
    assert_eq!(stderr(&again), "error: refused by the peer: f.slow-start exists; --force replaces it\n");
    assert_eq!(server.end().len(), 2);
}

#[test]
fn a_transfer_that_is_killed_leaves_no_half_file_and_resumes() {
    let place = folder("transfer-killed");
    std::fs::create_dir(place.join("there")).expect("a folder");
    std::fs::write(place.join("there/f"), noise(20_000_000)).expect("a file");
    let server = Server::new(&["serve", text(&place.join("there"))], 1);
    let from = format!("{}/f", server.addresses[0]);
    let target = place.join("f");
    let part = place.join(".f.part");
    let mut child = firstflight()
        .args(["get", &from, "--output", text(&target)])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the command runs");
    let has_some = || std::fs::metadata(&part).is_ok_and(|part| part.len() > 100_000) || target.exists();
    while !has_some() {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("it is killed");
    child.wait().expect("it ends");
    let whole = target.exists();
    let got = run(&["get", &from, "--output", text(&target), "--json", "--force"]);
    assert_eq!(status(&got), 0, "{}", stderr(&got));
    let said: Value = serde_json::from_str(&stdout(&got)).expect("JSON");
    assert!(whole || said["resumed_bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{said}");
    assert!(std::fs::read(&target).expect("a file") == noise(20_000_000));
    assert_eq!(names(&place), ["f", "there"]);
}

#[test]
fn what_cannot_be_is_one_line() {
    let place = folder("transfer-wrong");
    std::fs::write(place.join("f"), "f").expect("a file");
    let (file, missing) = (place.join("f"), place.join("no"));
    for (arguments, line) in [
        (
            vec!["get", "127.0.0.1/f"],
            "`127.0.0.1/f` is not allowed; HOST:PORT/PATH is, as in 127.0.0.1:4433/file",
        ),
        (vec!["get", "127.0.0.1:1/"], "`127.0.0.1:1/` is not allowed; HOST:PORT/PATH is"),
        (vec!["get", "127.0.0.1:1/f", "--output", text(&file)], "exists; --force replaces it"),
        (vec!["get", "127.0.0.1:1/f", "--timeout", "soon"], "--timeout: `soon`"),
        (vec!["get", "127.0.0.1:1/f", "--avoidance", "none"], "--avoidance"),
        (vec!["serve", text(&missing)], "No such file or directory"),
        (vec!["serve", text(&file)], "Not a directory"),
        (vec!["serve", text(&place), "--schemes", "quick-start"], "quick-start"),
        (vec!["serve", text(&place), "--schemes", "no"], "--schemes: "),
        (vec!["serve", text(&place), "--schemes", "slow-start,paced", "--port", "65535"], "--port: "),
        (vec!["receive", text(&place), "--bind", "192.0.2.1"], "cannot listen at 192.0.2.1:4433"),
    ] {
        let said = refused(&arguments);
        assert!(said.contains(line), "{arguments:?} said {said}");
    }
    let nobody = run(&["get", "127.0.0.1:1/f", "--output", text(&place.join("g")), "--timeout", "300ms"]);
    assert_eq!(status(&nobody), 3);
    assert!(stderr(&nobody).starts_with("error: the connection failed: "), "{}", stderr(&nobody));
    assert_eq!(names(&place), ["f"]);
}
