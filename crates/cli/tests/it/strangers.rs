//! The effects that a stranger can have on `serve`, with and without `--uploads`: the rows of the table in docs/guide/transfer.md.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::num::NonZeroU16;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use firstflight_tcp::{Flags, Segment};
use firstflight_udp::{Listener, Options};
use firstflight_wire::{Addresses, Hosts, decode_tcp, encode_tcp};

use crate::common::{firstflight, folder, names, run, status, stderr, stdout, text};
use crate::transfer::noise;

const NOBODY: Hosts = Hosts::V4 { source: Ipv4Addr::UNSPECIFIED, destination: Ipv4Addr::UNSPECIFIED };
/// The hash of no bytes.
const NO_HASH: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// A socket that sends segments by hand, for many connections that differ by TCP port.
struct Stranger(UdpSocket);

impl Stranger {
    fn new(server: &str) -> Self {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a socket");
        socket.connect(server).expect("a server");
        socket.set_read_timeout(Some(Duration::from_millis(200))).expect("a timeout");
        Self(socket)
    }

    fn send(&self, port: u16, segment: Segment, options: &[u8], payload: &[u8]) {
        let addresses = Addresses { hosts: NOBODY, source_port: port, destination_port: 7 };
        let segment = Segment { len: u16::try_from(payload.len()).expect("short"), ..segment };
        let mut bytes = Vec::new();
        encode_tcp(&addresses, &segment, options, [payload, &[]], &mut bytes).expect("a segment");
        // The system may have no buffer space for a moment.
        let _ = self.0.send(&bytes);
    }

    /// Returns the next segment for a port, and its cookie; `None` if none arrives in time.
    fn hear(&self, port: u16) -> Option<(Segment, Vec<u8>)> {
        let mut bytes = [0; 2_000];
        loop {
            let length = self.0.recv(&mut bytes).ok()?;
            let read = decode_tcp(NOBODY, &bytes[..length]).expect("a segment");
            if read.destination_port == port {
                let cookie = read.options.windows(20).find(|option| option.starts_with(&[253, 20]));
                return Some((read.segment, cookie.unwrap_or_default().to_vec()));
            }
        }
    }

    /// Opens a connection whose first segment has this payload, and never acknowledges anything. Returns whether the server answered the
    /// SYN.
    fn open(&self, port: u16, says: &[u8]) -> bool {
        let syn = Segment {
            seq: 1_000,
            flags: Flags::SYN,
            mss: NonZeroU16::new(1_452),
            window_scale: Some(7),
            sack_permitted: true,
            window: u16::MAX,
            ..Segment::default()
        };
        self.send(port, syn, &[], &[]);
        let Some((answer, cookie)) = self.hear(port) else { return false };
        let ack = Segment {
            seq: 1_001,
            ack: answer.seq.wrapping_add(1),
            flags: Flags::ACK.with(Flags::PSH),
            window: u16::MAX,
            ..Segment::default()
        };
        self.send(port, ack, &cookie, says);
        true
    }

    /// Returns whether the server resets the connection within this time.
    fn is_reset(&self, port: u16, within: Duration) -> bool {
        let begin = instant();
        while begin.elapsed() < within {
            if self.hear(port).is_some_and(|(segment, _)| segment.flags.has(Flags::RST)) {
                return true;
            }
        }
        false
    }
}

#[expect(clippy::disallowed_methods, reason = "tests of real time")]
fn instant() -> Instant {
    Instant::now()
}

/// A server with its whole output on standard error.
struct Server {
    child: Child,
    address: String,
    said: thread::JoinHandle<String>,
}

impl Server {
    fn new(arguments: &[&str]) -> Self {
        let mut command = firstflight();
        command.args(arguments);
        Self::begin(command)
    }

    fn begin(mut command: Command) -> Self {
        command.args(["--port", "0"]).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the command runs");
        let mut said = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut address = String::new();
        said.read_line(&mut address).expect("a line");
        let said = thread::spawn(move || {
            let mut rest = Vec::new();
            let _ = said.read_to_end(&mut rest);
            String::from_utf8(rest).expect("UTF-8")
        });
        let address = address.trim().rsplit(' ').next().unwrap_or_default().to_owned();
        Self { child, address, said }
    }

    /// A number of its status.
    fn number(&self, name: &str) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).expect("it runs");
        let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a number");
        line.split_whitespace().next().and_then(|word| word.parse().ok()).expect("a number")
    }

    /// Interrupts the server, and returns its whole output.
    fn end(mut self) -> String {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill runs").success());
        let code = self.child.wait().expect("it ends").code();
        assert_eq!(code, Some(0), "no peer ended it before");
        self.said.join().expect("it ends")
    }
}

/// Creates a folder to serve with this file, and one for downloads.
fn place(name: &str, file: &[u8]) -> PathBuf {
    let place = folder(name);
    for side in ["there", "here"] {
        fs::create_dir(place.join(side)).expect("a folder");
    }
    fs::write(place.join("there/f"), file).expect("a file");
    place
}

fn get(server: &str, place: &Path, name: &str) -> Child {
    let from = format!("{server}/f");
    let mut command = firstflight();
    command.args(["get", &from, "--force", "--output", text(&place.join("here").join(name))]);
    command.stdout(Stdio::null()).stderr(Stdio::inherit());
    command.spawn().expect("the command runs")
}

/// Runs this number of downloads at once; returns the time that they take.
fn downloads(server: &str, place: &Path, count: usize) -> Duration {
    let begin = instant();
    let all: Vec<_> = (0..count).map(|n| get(server, place, &format!("f{n}"))).collect();
    for mut one in all {
        assert!(one.wait().expect("it ends").success());
    }
    begin.elapsed()
}

/// Strangers open connections from one address during honest downloads. `FIRSTFLIGHT_STRANGERS=3000,20,20000000` runs the whole test: the
/// downloads then have 20 MB each, and must finish within twice their time alone.
#[test]
fn honest_downloads_finish_while_strangers_open_connection_after_connection() {
    let asked = std::env::var("FIRSTFLIGHT_STRANGERS").ok();
    let numbers: Vec<usize> = asked
        .as_deref()
        .unwrap_or("600,4,1000000")
        .split(',')
        .map(|word| word.parse().expect("a number"))
        .collect();
    let [strangers, count, length] = numbers[..] else { panic!("three numbers") };
    let place = place("strangers-many", &noise(length));
    let server = Server::new(&["serve", text(&place.join("there"))]);
    let alone = downloads(&server.address, &place, count);
    let stranger = Stranger::new(&server.address);
    let request = format!("GET f 0 {NO_HASH}\n");
    // A third send nothing, a third begin a request, and a third request the file and never acknowledge a byte.
    let says = |n: usize| [&b""[..], b"G", request.as_bytes()][n % 3];
    let open = |n: usize| stranger.open(u16::try_from(1_024 + n).expect("a port"), says(n));
    let (before, during) = (0..strangers / 2, strangers / 2..strangers);
    let answered = before.filter(|n| open(*n)).count();
    let beside = thread::scope(|scope| {
        let more = scope.spawn(move || during.filter(|n| open(*n)).count());
        let beside = downloads(&server.address, &place, count);
        println!("{} of {strangers} strangers were answered", answered + more.join().expect("it ends"));
        beside
    });
    let (threads, memory) = (server.number("Threads:"), server.number("VmHWM:"));
    println!(
        "{strangers} strangers: {count} downloads of {length} bytes took {beside:?}, alone {alone:?}; {threads} threads, {memory} kB"
    );
    for n in 0..count {
        assert!(fs::read(place.join("here").join(format!("f{n}"))).expect("a file") == noise(length));
    }
    // The time of small downloads is mostly that of starting their processes.
    let slack = if asked.is_some() { Duration::ZERO } else { Duration::from_secs(2) };
    assert!(beside <= 2 * alone + slack, "{beside:?} beside strangers, {alone:?} alone");
    assert!(threads < 50, "{threads} threads");
    assert!(memory < 100_000, "{memory} kB");
    let said = server.end();
    assert!(said.lines().count() < 200 && said.contains("more lines about peers suppressed"), "{said}");
}

/// A process with a limit of few threads continues, whatever connections are opened.
#[test]
fn a_receiver_that_may_have_few_threads_goes_on() {
    let place = place("strangers-threads", b"");
    fs::set_permissions(place.join("there"), fs::Permissions::from_mode(0o777)).expect("a folder");
    let program = firstflight().get_program().to_str().expect("UTF-8").to_owned();
    // The limit includes the user's other threads, and does not bind root.
    let wrapped = ["--reuid=64321", "--regid=64321", "--clear-groups", "prlimit", "--nproc=20", &program];
    let may = Command::new("setpriv").args(wrapped).arg("--version").output();
    if !may.is_ok_and(|output| output.status.success()) {
        println!(
            "skipped: strangers under `prlimit --nproc`: setpriv, prlimit and root are needed, and a program that others may run"
        );
        return;
    }
    let mut command = Command::new("setpriv");
    command.args(wrapped).args(["serve", "--uploads", text(&place.join("there"))]).stdin(Stdio::null());
    let server = Server::begin(command);
    let stranger = Stranger::new(&server.address);
    let opened = (1_024..1_424).filter(|port| stranger.open(*port, b"P")).count();
    assert!(opened > 300, "{opened}");
    let file = place.join("here/f");
    fs::write(&file, noise(10_000)).expect("a file");
    let sent = run(&["put", text(&file), &format!("{}/g", server.address)]);
    assert_eq!(status(&sent), 0, "{}", stderr(&sent));
    server.end();
}

#[test]
fn a_server_that_may_open_few_files_goes_on() {
    let place = place("strangers-files", &noise(500_000));
    let program = firstflight().get_program().to_str().expect("UTF-8").to_owned();
    let mut command = Command::new("prlimit");
    command.args([
        "--nofile=24",
        &program,
        "serve",
        text(&place.join("there")),
        "--timeout",
        "500ms",
        "--lines",
        "999",
    ]);
    if !Command::new("prlimit").arg("--version").output().is_ok_and(|output| output.status.success()) {
        println!("skipped: a server that may open few files: prlimit is not installed");
        return;
    }
    let server = Server::begin(command);
    let stranger = Stranger::new(&server.address);
    let request = format!("GET f 0 {NO_HASH}\n");
    assert!((6_000..6_040).all(|port| stranger.open(port, request.as_bytes())));
    // The strangers leave, and their files are removed.
    thread::sleep(Duration::from_secs(2));
    assert!(get(&server.address, &place, "f").wait().expect("it ends").success());
    let said = server.end();
    assert!(said.contains("Too many open files"), "{said}");
}

#[test]
fn peer_messages_are_escaped_on_one_line() {
    let place = place("strangers-terminal", b"");
    let server = Server::new(&["serve", "--uploads", text(&place.join("there")), "--timeout", "300ms"]);
    let stranger = Stranger::new(&server.address);
    let says = [
        "PUT d%1b]0;pwn%07%1b[2J%0aTransfer%20complete%0d/e 0 0\n",
        "PUT %e2%80%aea%e2%80%8bb%c2%9b31m/e 0 0\n",
        "\u{1b}]0;x\u{7}\u{202e}\n",
    ];
    for (port, says) in (2_000..).zip(says) {
        assert!(stranger.open(port, says.as_bytes()));
    }
    // The server waits for an acknowledgement of its answer.
    thread::sleep(Duration::from_millis(800));
    let said = server.end();
    assert!(said.chars().all(|c| c == '\n' || !c.is_control() && !is_invisible(c)), "{said:?}");
    assert_eq!(said.lines().count(), 3, "{said}");
    for shown in [
        "d\\u{1b}]0;pwn\\u{7}\\u{1b}[2J\\nTransfer complete\\r/e` is no path",
        "\\u{202e}a\\u{200b}b\\u{9b}31m/e` is no path",
    ] {
        assert!(said.contains(shown), "{said}");
    }
}

fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}')
}

#[test]
fn server_messages_are_escaped_on_one_line() {
    let place = place("strangers-server", b"");
    let listener =
        Listener::bind("127.0.0.1:0", &Options::new("slow-start").expect("a scheme")).expect("a port");
    let from = format!("{}/f", listener.local_addr());
    let answers = [&b"NO a%1b[2J%0aok%e2%80%ae\n"[..], b"\x1b[2J\xe2\x80\xae what\n"];
    let talker = thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().expect("a connection");
            stream.write_all(answer).expect("written");
            let _ = stream.finish(Some(Duration::from_secs(5)));
        }
    });
    for shown in
        ["refused by the peer: a\\u{1b}[2J ok\\u{202e}\n", "the peer said `\\u{1b}[2J\\u{202e} what`"]
    {
        let got = run(&["get", &from, "--output", text(&place.join("here/f"))]);
        let said = stderr(&got);
        assert!(status(&got) == 3 && said.lines().count() == 1 && said.contains(shown), "{said:?}");
        assert!(said.chars().all(|c| c == '\n' || !c.is_control() && !is_invisible(c)), "{said:?}");
    }
    talker.join().expect("it ends");
}

#[test]
fn a_dead_connection_goes_within_the_timeout() {
    let place = place("strangers-dead", &noise(1_000_000));
    let server = Server::new(&["serve", text(&place.join("there")), "--timeout", "1s"]);
    let stranger = Stranger::new(&server.address);
    let request = format!("GET f 0 {NO_HASH}\n");
    for (port, says) in (3_000..).zip(["", "GE", &request]) {
        assert!(stranger.open(port, says.as_bytes()));
        assert!(stranger.is_reset(port, Duration::from_secs(4)), "{says:?}");
    }
    let said = server.end();
    assert!(said.contains("no whole request came within 1 s"), "{said}");
    assert!(said.contains("the peer was silent for 1 s"), "{said}");
}

#[test]
fn uploads_are_limited_to_a_quarter_of_disk_and_old_parts_removed() {
    let place = place("strangers-disk", b"");
    let there = place.join("there");
    fs::write(there.join(".old.part"), "part").expect("a part");
    let old = fs::File::options().write(true).open(there.join(".old.part")).expect("a part");
    #[expect(clippy::disallowed_methods, reason = "the ages of files are by the system's clock")]
    let yesterday = std::time::SystemTime::now() - Duration::from_hours(25);
    old.set_modified(yesterday).expect("a time");
    let server = Server::new(&["serve", "--uploads", text(&there), "--disk", "1MB"]);
    let file = place.join("here/g");
    fs::write(&file, noise(200_000)).expect("a file");
    let send = |name: &str| run(&["put", text(&file), &format!("{}/{name}", server.address)]);
    assert_eq!(status(&send("one")), 0);
    let refused = send("two");
    let why =
        "refused by the peer: the receiver has no more room for peers of this address; its --disk gives more";
    assert!(status(&refused) == 3 && stderr(&refused).contains(why), "{}", stderr(&refused));
    assert_eq!(names(&there), ["f", "one"]);
    let said = server.end();
    assert!(said.contains("note: the part of old was older than --keep, and is removed\n"), "{said}");
}

#[test]
fn logs_have_unique_names_bounded_bytes_and_exclude_peers_without_requests() {
    let place = place("strangers-logs", &noise(1_000));
    let (there, logs) = (place.join("there"), place.join("logs"));
    for name in ["x", "x-2", "a_b"] {
        fs::write(there.join(name), noise(1_000)).expect("a file");
    }
    fs::create_dir(there.join("a")).expect("a folder");
    fs::write(there.join("a/b"), noise(300_000)).expect("a file");
    // Each log counts as 64 KiB, and one address may use a quarter of all.
    let server = Server::new(&["serve", text(&there), "--pcap", text(&logs), "--logs", "2MB"]);
    let stranger = Stranger::new(&server.address);
    assert!((4_000..4_030).all(|port| stranger.open(port, b"G")));
    for path in ["x-2", "x", "x", "a_b", "a/b", "x"] {
        let from = format!("{}/{path}", server.address);
        let got = run(&["get", &from, "--force", "--output", text(&place.join("here/x"))]);
        assert_eq!(status(&got), 0, "{}", stderr(&got));
    }
    let said = server.end();
    let sizes = names(&logs).into_iter().map(|name| {
        let size = fs::metadata(logs.join(&name)).expect("a log").len();
        (name, size)
    });
    let sizes: Vec<_> = sizes.collect();
    let expected = [
        "a_b-2-sender.pcapng",
        "a_b-sender.pcapng",
        "x-2-sender.pcapng",
        "x-3-sender.pcapng",
        "x-sender.pcapng",
    ];
    let there: Vec<_> =
        sizes.iter().map(|(name, _)| name.as_str()).filter(|name| *name != "x-4-sender.pcapng").collect();
    assert_eq!(there, expected);
    assert!(sizes.iter().map(|(_, size)| size).sum::<u64>() < 500_000, "{sizes:?}");
    assert!(said.contains("warning: --logs: captures and qlogs lack "), "{said}");
}

/// A file with a key.
fn key(place: &Path, name: &str, digit: &str) -> String {
    let path = place.join(name);
    fs::write(&path, digit.repeat(64) + "\n").expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("a mode");
    text(&path).to_owned()
}

#[test]
fn a_key_lets_in_those_who_have_it_and_answers_nobody_else() {
    let place = place("strangers-key", &noise(30_000));
    let (one, other) = (key(&place, "one", "1"), key(&place, "other", "2"));
    let (there, here) = (place.join("there"), place.join("here/f"));
    let server = Server::new(&["serve", text(&there), "--key", &one]);
    let from = format!("{}/f", server.address);
    let get = ["get", &from, "--output", text(&here), "--timeout", "1s"];
    for wrong in [&["--key", &other][..], &[]] {
        let got = run(&[&get[..], wrong].concat());
        assert_eq!((status(&got), here.exists()), (3, false), "{}", stderr(&got));
        assert!(stderr(&got).contains("or it has another key"), "{}", stderr(&got));
    }
    let stranger = Stranger::new(&server.address);
    assert!(!stranger.open(5_000, b"G"), "a stranger gets no answer");
    let got = run(&[&get[..], &["--key", &one]].concat());
    assert_eq!(status(&got), 0, "{}", stderr(&got));
    assert!(fs::read(&here).expect("a file") == noise(30_000));
    assert_eq!(server.end(), "", "strangers are no news");

    let receiver = Server::new(&["serve", "--uploads", text(&there), "--key", &one]);
    let sent = run(&["put", text(&here), &format!("{}/g", receiver.address), "--key", &one]);
    assert_eq!(status(&sent), 0, "{}", stderr(&sent));
    assert!(stdout(&sent).contains("g: 30,000 bytes"));
    receiver.end();
}

#[test]
fn a_key_that_is_none_or_that_others_may_read_is_refused() {
    let place = place("strangers-keys", b"");
    let missing = text(&place.join("no")).to_owned();
    let short = key(&place, "short", "");
    let open = key(&place, "open", "a");
    fs::set_permissions(&open, fs::Permissions::from_mode(0o640)).expect("a mode");
    for (path, line) in [
        (&missing, "No such file or directory"),
        (&short, "64 hexadecimal digits are allowed there"),
        (&open, "others may read it or write it; `chmod 600` keeps it"),
    ] {
        for arguments in
            [&["serve", text(&place)][..], &["serve", "--uploads", text(&place)], &["get", "127.0.0.1:1/f"]]
        {
            let said = crate::common::refused(&[arguments, &["--key", path]].concat());
            assert!(said.contains(&format!("--key: {path}: ")) && said.contains(line), "{said}");
        }
    }
}

#[test]
fn a_server_without_a_key_that_others_reach_says_so() {
    let place = place("strangers-open", b"");
    let one = key(&place, "one", "1");
    for (more, says) in [
        (&["--bind", "0.0.0.0"][..], true),
        (&["--bind", "0.0.0.0", "--key", &one], false),
        (&["--bind", "127.0.0.2"], false),
    ] {
        let server = Server::new(&[&["serve", "--uploads", text(&place.join("there"))][..], more].concat());
        assert!(server.address.parse::<SocketAddr>().is_ok());
        let said = server.end();
        assert_eq!(
            said.contains("note: everyone who reaches this address may use it; --key FILE admits only peers with the key"),
            says,
            "{said}"
        );
    }
}

/// The tests that the tables of limits name exist.
#[test]
fn each_limit_that_the_pages_state_names_its_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut sources = String::new();
    for crate_ in [
        "field/udp/src",
        "field/udp/src/engine",
        "field/udp/src/files",
        "field/udp/tests/it",
        "field/udp/tests/files",
        "cli/src",
        "cli/src/transfer",
        "cli/tests/it",
    ] {
        for entry in fs::read_dir(root.join("crates").join(crate_)).expect("a folder") {
            sources += &fs::read_to_string(entry.expect("an entry").path()).unwrap_or_default();
        }
    }
    let mut count = 0;
    for page in ["udp", "transfer"] {
        let page = fs::read_to_string(root.join(format!("docs/guide/{page}.md"))).expect("a page");
        let table = page.split("| resource |").nth(1).expect("a table of limits");
        for row in table.lines().skip(2).take_while(|line| line.starts_with('|')) {
            let tests = row.trim_end_matches('|').rsplit('|').next().expect("a column");
            let names: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
            assert!(!names.is_empty(), "no test: {row}");
            for name in names {
                assert!(sources.contains(&format!("fn {name}()")), "there is no test {name}");
                count += 1;
            }
        }
    }
    assert!(count > 30, "{count}");
}
