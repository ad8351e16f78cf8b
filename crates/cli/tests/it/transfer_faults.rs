//! Transfers over bad networks, with bad peers and onto full disks: one line, a status, and no incomplete file.

use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::common::{firstflight, folder, names, run, status, stderr, text};
use crate::transfer::{Server, noise};

/// A fault of a network: the datagrams that it delivers instead of one.
type Fault = fn(number: u64, is_of_server: bool, datagram: Vec<u8>) -> Vec<Vec<u8>>;

/// A network between a client and a server.
struct Network {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Network {
    fn new(server: &str, fault: Fault) -> Self {
        let server: SocketAddr = server.parse().expect("an address");
        let [front, back] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").expect("a socket"));
        for socket in [&front, &back] {
            socket.set_read_timeout(Some(Duration::from_millis(1))).expect("a timeout");
        }
        let (address, is_over) = (front.local_addr().expect("an address"), Arc::new(AtomicBool::new(false)));
        let over = Arc::clone(&is_over);
        let thread = std::thread::spawn(move || {
            let mut bytes = vec![0; 65_536];
            let (mut client, mut numbers) = (None, [0_u64; 2]);
            while !over.load(Ordering::Relaxed) {
                if let Ok((length, from)) = front.recv_from(&mut bytes) {
                    client = Some(from);
                    for datagram in fault(numbers[0], false, bytes[..length].to_vec()) {
                        let _ = back.send_to(&datagram, server);
                    }
                    numbers[0] += 1;
                }
                // A window may arrive at once.
                while let (Ok((length, _)), Some(client)) = (back.recv_from(&mut bytes), client) {
                    for datagram in fault(numbers[1], true, bytes[..length].to_vec()) {
                        let _ = front.send_to(&datagram, client);
                    }
                    numbers[1] += 1;
                    if numbers[1].is_multiple_of(2) {
                        break;
                    }
                }
            }
        });
        Self { address, is_over, thread: Some(thread) }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.take().map(std::thread::JoinHandle::join);
    }
}

/// Creates a folder to serve with a file of this length, and one for downloads.
fn place(name: &str, length: usize) -> std::path::PathBuf {
    let place = folder(name);
    for side in ["there", "here", "taken"] {
        std::fs::create_dir(place.join(side)).expect("a folder");
    }
    std::fs::write(place.join("there/f"), noise(length)).expect("a file");
    place
}

fn get(network: &Network, place: &Path, timeout: &str) -> Output {
    let from = format!("{}/f", network.address);
    run(&["get", &from, "--output", text(&place.join("here/f")), "--timeout", timeout])
}

fn send(network: &Network, place: &Path, timeout: &str) -> Output {
    let (file, to) = (place.join("there/f"), network.address.to_string());
    run(&["put", text(&file), &to, "--schemes", "slow-start", "--timeout", timeout])
}

/// Asserts one line of an error, and the status of a failure midway.
fn failed(output: &Output, line: &str) {
    let said = stderr(output);
    assert_eq!(status(output), 3, "{said}");
    assert!(said.starts_with("error: ") && said.lines().count() == 1 && said.contains(line), "{said}");
}

/// Cuts every tenth datagram and replaces every eleventh by noise; the cut or replaced datagram is not delivered.
fn worn(number: u64, _: bool, mut datagram: Vec<u8>) -> Vec<Vec<u8>> {
    match number {
        0..3 => vec![datagram],
        number if number.is_multiple_of(10) => {
            datagram.truncate(datagram.len() * usize::try_from(number % 7).unwrap_or(0) / 7);
            vec![datagram]
        }
        number if number.is_multiple_of(11) => vec![noise(datagram.len()), vec![], vec![0xFF; 19]],
        _ => vec![datagram],
    }
}

#[test]
fn noise_and_cut_datagrams_cost_time_and_no_byte() {
    const LENGTH: usize = 60_000;
    let place = place("transfer-worn", LENGTH);
    let server = Server::new(&["serve", text(&place.join("there"))], 1);
    let got = get(&Network::new(&server.addresses[0], worn), &place, "20s");
    assert_eq!(status(&got), 0, "{}", stderr(&got));
    assert!(std::fs::read(place.join("here/f")).expect("a file") == noise(LENGTH));
    let receiver = Server::new(&["serve", "--uploads", text(&place.join("taken"))], 1);
    let sent = send(&Network::new(&receiver.addresses[0], worn), &place, "20s");
    assert_eq!(status(&sent), 0, "{}", stderr(&sent));
    assert!(std::fs::read(place.join("taken/f")).expect("a file") == noise(LENGTH));
}

/// Swaps the last four bytes of long datagrams in pairs: the checksum, a sum of pairs, is unchanged.
fn swapped(_: u64, _: bool, mut datagram: Vec<u8>) -> Vec<Vec<u8>> {
    let length = datagram.len();
    if length > 1_400 {
        let end = length & !1;
        for at in 1..=2 {
            datagram.swap(end - at, end - at - 2);
        }
    }
    vec![datagram]
}

#[test]
fn damage_with_a_valid_checksum_is_detected_by_the_hash_and_discarded() {
    let place = place("transfer-damaged", 200_000);
    let server = Server::new(&["serve", text(&place.join("there"))], 1);
    let got = get(&Network::new(&server.addresses[0], swapped), &place, "5s");
    failed(&got, "the SHA-256 of the 200000 bytes that came is not the sender's: nothing of them is kept");
    assert!(names(&place.join("here")).is_empty());
    let receiver = Server::new(&["serve", "--uploads", text(&place.join("taken"))], 1);
    let sent = send(&Network::new(&receiver.addresses[0], swapped), &place, "5s");
    failed(&sent, "refused by the peer: the SHA-256 of the 200000 bytes that came is not the sender's");
    assert!(names(&place.join("taken")).is_empty());
}

/// Delivers nothing after the hundredth datagram of either end.
fn gone(number: u64, _: bool, datagram: Vec<u8>) -> Vec<Vec<u8>> {
    if number < 100 { vec![datagram] } else { Vec::new() }
}

#[test]
fn a_peer_that_vanishes_is_a_line_and_what_came_is_kept() {
    const LENGTH: usize = 1_000_000;
    let place = place("transfer-gone", LENGTH);
    let server = Server::new(&["serve", text(&place.join("there"))], 1);
    failed(&get(&Network::new(&server.addresses[0], gone), &place, "500ms"), "the peer was silent for 0.5 s");
    let part = std::fs::read(place.join("here/.f.part")).expect("a part");
    assert!(part.len() > 50_000 && part == noise(part.len()), "{} bytes", part.len());
    assert_eq!(names(&place.join("here")), [".f.part"]);
    let receiver = Server::new(&["serve", "--uploads", text(&place.join("taken"))], 1);
    failed(
        &send(&Network::new(&receiver.addresses[0], gone), &place, "500ms"),
        "the peer was silent for 0.5 s",
    );
    assert!(!place.join("taken/f").exists());
}

#[test]
fn a_server_of_something_else_is_a_line() {
    let place = place("transfer-else", 1);
    let other = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let at = other.local_addr().expect("an address");
    other.set_read_timeout(Some(Duration::from_millis(100))).expect("a timeout");
    let is_over = Arc::new(AtomicBool::new(false));
    let over = Arc::clone(&is_over);
    let talker = std::thread::spawn(move || {
        let mut bytes = vec![0; 65_536];
        while !over.load(Ordering::Relaxed) {
            if let Ok((length, from)) = other.recv_from(&mut bytes) {
                // A name server's refusal, an echo of the datagram, and noise.
                for answer in [&b"\x12\x34\x81\x85\0\x01\0\0\0\0\0\0"[..], &bytes[..length], &noise(1_000)] {
                    let _ = other.send_to(answer, from);
                }
            }
        }
    });
    let from = format!("{at}/f");
    let got = run(&["get", &from, "--output", text(&place.join("here/f")), "--timeout", "700ms"]);
    is_over.store(true, Ordering::Relaxed);
    talker.join().expect("it ends");
    failed(&got, "the connection failed: ");
    assert!(names(&place.join("here")).is_empty());
}

/// Returns the command in a shell that first runs `first`.
fn after(first: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    let words = format!("{first}; exec \"$@\"");
    command.args(["-c", &words, "sh", firstflight().get_program().to_str().expect("UTF-8")]).args(arguments);
    command.stdin(Stdio::null()).env_remove("NO_COLOR").env_remove("COLUMNS");
    command
}

#[test]
fn a_file_size_limit_fails_in_one_line_and_keeps_the_part() {
    const LENGTH: usize = 1_000_000;
    let place = place("transfer-full", LENGTH);
    let server = Server::new(&["serve", text(&place.join("there"))], 1);
    let from = format!("{}/f", server.addresses[0]);
    let (target, taken) = (place.join("here/f"), place.join("taken"));
    let words = ["get", &from, "--output", text(&target)];
    // Files of 200 blocks of 512 bytes at most.
    let got = after("trap '' XFSZ; ulimit -f 200", &words).output().expect("it runs");
    failed(&got, "here/f: File too large");
    assert_eq!(names(&place.join("here")), [".f.part"]);
    let got = run(&words);
    assert_eq!(status(&got), 0, "{}", stderr(&got));
    assert!(std::fs::read(place.join("here/f")).expect("a file") == noise(LENGTH));

    let words = ["serve", "--uploads", text(&taken)];
    let receiver = Server::begin(after("trap '' XFSZ; ulimit -f 200", &words), 1);
    let (file, to) = (place.join("there/f"), receiver.addresses[0].clone());
    failed(&run(&["put", text(&file), &to]), "refused by the peer: f: File too large");
    assert_eq!(names(&place.join("taken")), [".f.part"]);
}

#[test]
fn a_full_disk_is_a_line() {
    let place = place("transfer-no-space", 1_000_000);
    let mount = format!("mount -t tmpfs -o size=300k none {} || exit 77", text(&place.join("here")));
    let server = Server::new(&["serve", text(&place.join("there"))], 1);
    let from = format!("{}/f", server.addresses[0]);
    let get = after(&mount, &["get", &from, "--output", text(&place.join("here/f"))]);
    let mut alone = Command::new("unshare");
    alone.args(["--mount", "--map-root-user"]).arg(get.get_program()).args(get.get_args());
    let got = alone.stdin(Stdio::null()).output();
    let Some(got) = got.ok().filter(|got| got.status.code().is_some_and(|code| code < 5)) else {
        println!("skipped transfer_faults::a_full_disk_is_a_line: it needs a mount of its own");
        return;
    };
    failed(&got, "here/f: No space left on device");
}
