//! Each fault is reported in one line, and no file is left half complete.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::symlink;

use firstflight_udp::files::{TransferError, Way, get, put};

use crate::setting::{Place, always, bytes, connect, parrot, server};

const TAKES: Way = Way::Receive { replaces: true };

fn hash(of: &[u8]) -> String {
    use sha2::{Digest as _, Sha256};
    let digits = Sha256::digest(of).iter().flat_map(|byte| [byte >> 4, byte & 15]).collect::<Vec<_>>();
    digits.into_iter().filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect()
}

#[test]
fn nothing_outside_the_folder_is_sent_or_written() {
    let place = Place::new("outside");
    fs::write(place.0.join("secret"), "secret").unwrap();
    fs::create_dir(place.there("sub")).unwrap();
    symlink("../secret", place.there("link")).unwrap();
    symlink("..", place.there("up")).unwrap();
    symlink("/etc", place.there("etc")).unwrap();
    fs::write(place.here("f"), "f").unwrap();
    let outside = [
        "../secret",
        "/etc/passwd",
        "sub/../../secret",
        "link",
        "up/secret",
        "etc/passwd",
        "",
        ".",
        "..",
        "sub//f",
        "./link",
        "sub/.",
        "sub",
        ".hidden",
        "a/",
        "no",
        "no/f",
    ];
    for path in outside {
        let (address, served) = server(&place.0.join("there"), Way::Send);
        let error = get(|| connect(address), path, &place.here("got"), false, &mut always).unwrap_err();
        assert!(matches!(error, TransferError::Refused(_)), "{path}: {error}");
        assert!(!error.to_string().contains("there/") && !error.to_string().contains('\n'), "{error}");
        served.join().unwrap().unwrap_err();
    }
    assert_eq!(place.names("here"), ["f"]);
    // An upload creates missing folders.
    for path in outside.iter().filter(|path| !["no", "no/f"].contains(path)) {
        let (address, served) = server(&place.0.join("there"), TAKES);
        let error = put(|| connect(address), &place.here("f"), path, &mut always).unwrap_err();
        assert!(matches!(error, TransferError::Refused(_)), "{path}: {error}");
        served.join().unwrap().unwrap_err();
    }
    assert_eq!(fs::read_to_string(place.0.join("secret")).unwrap(), "secret");
    assert_eq!(place.names("there"), ["etc", "link", "sub", "up"]);
}

#[test]
fn bad_servers_are_one_line_and_leave_no_file() {
    let place = Place::new("servers");
    let good = hash(b"abc");
    let cases: [(&str, &str); 12] = [
        ("", "the peer ended without an answer"),
        ("HTTP/1.1 400 Bad Request\r\n", "the peer said `HTTP/1.1 400 Bad Request\r`"),
        ("NO go away\n", "the peer said `NO go away`"),
        ("NO go%20away\n", "refused by the peer: go away"),
        ("DATA 3\n", "the peer said `DATA 3`"),
        ("DATA 3 4\n", "where DATA was expected"),
        ("DATA 3 1\n", "where DATA was expected"),
        ("DATA 3 0\nab", "the peer ended after 2 of 3 bytes"),
        ("DATA 99999999999999999999 0\n", "where a line of the protocol was expected"),
        ("DATA 3 0\nabcEND 00\n", "the peer said `END 00`"),
        ("DATA 3 0\nabc", "the peer ended after 3 of 3 bytes"),
        ("DATA 3 0\nabcNO disk\n", "refused by the peer: disk"),
    ];
    for (says, line) in cases {
        let _ = fs::remove_file(place.here(".f.part"));
        let address = parrot(says.as_bytes().to_vec());
        let error =
            get(|| connect(address), "f", &place.here("f"), false, &mut always).unwrap_err().to_string();
        assert!(error.contains(line) && !error.contains('\n'), "{says:?}: {error}");
        assert!(!place.here("f").exists(), "{says:?}");
    }
    let _ = fs::remove_file(place.here(".f.part"));
    // Damage: the bytes differ from the sender's.
    let address = parrot(format!("DATA 3 0\nabdEND {good}\n").into_bytes());
    let error = get(|| connect(address), "f", &place.here("f"), false, &mut always).unwrap_err();
    assert!(matches!(error, TransferError::Damaged { length: 3 }), "{error}");
    assert!(place.names("here").is_empty(), "{:?}", place.names("here"));
}

#[test]
fn bad_clients_end_their_own_connection_alone() {
    let place = Place::new("clients");
    let wrong = hash(b"x");
    let cases = [
        "GET / HTTP/1.1\r\n\r\n".to_owned(),
        "PUT f 3 4\n".to_owned(),
        "PUT f 3 2\nc".to_owned(),
        "PUT f 3 0\nab".to_owned(),
        format!("PUT f 3 0\nabcEND {wrong}\n"),
        "PUT f 3 0\nabcEND\n".to_owned(),
        "PUT f 18446744073709551615 0\nabc".to_owned(),
        "ASK ../f 3\n".to_owned(),
        "x".repeat(100_000),
    ];
    for says in &cases {
        let (address, served) = server(&place.0.join("there"), TAKES);
        let mut peer = connect(address).unwrap();
        // The server may end before it has read all.
        let _ = peer.write_all(says.as_bytes());
        let _ = peer.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = peer.read_to_end(&mut answer);
        served.join().unwrap().unwrap_err();
        assert!(!place.there("f").exists(), "{says:?}");
    }
}

#[test]
fn a_second_receiver_of_a_file_is_told_to_wait() {
    let place = Place::new("twice");
    fs::write(place.there("f"), bytes(1000)).unwrap();
    let (address, served) = server(&place.0.join("there"), Way::Send);
    let target = place.here("f");
    let mut record = String::new();
    let mut second = |_: u64, _: u64| {
        if record.is_empty() {
            let no_server = || Err(TransferError::Silent);
            record = get::<std::net::TcpStream>(no_server, "f", &target, false, &mut always)
                .unwrap_err()
                .to_string();
        }
        true
    };
    get(|| connect(address), "f", &target, false, &mut second).unwrap();
    served.join().unwrap().unwrap();
    assert!(record.ends_with("here/f is being received by another process"), "{record}");
}

#[test]
fn paths_other_than_regular_files_are_neither_sent_nor_overwritten() {
    let place = Place::new("kinds");
    fs::create_dir(place.here("folder")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        place.here("pipe"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    symlink("folder", place.here("link")).unwrap();
    let nobody = || Err(TransferError::Silent);
    for name in ["folder", "pipe", "no"] {
        let error = put::<std::net::TcpStream>(nobody, &place.here(name), "f", &mut always).unwrap_err();
        assert!(
            if name == "no" {
                error.to_string().contains("No such file")
            } else {
                is_of_another_kind(&error)
            },
            "{name}: {error}"
        );
    }
    for name in ["folder", "pipe", "link", "no/f"] {
        let error =
            get::<std::net::TcpStream>(nobody, "f", &place.here(name), true, &mut always).unwrap_err();
        assert!(
            if name == "no/f" {
                error.to_string().contains("No such file")
            } else {
                is_of_another_kind(&error)
            },
            "{name}: {error}"
        );
    }
    assert_eq!(place.names("here"), ["folder", "link", "pipe"]);
}

fn is_of_another_kind(error: &TransferError) -> bool {
    ["a folder", "a FIFO", "a symbolic link"]
        .iter()
        .any(|kind| error.to_string().ends_with(&format!(" is {kind}; only regular files are transferred")))
}

#[test]
fn an_interrupt_keeps_what_came() {
    let place = Place::new("interrupt");
    fs::write(place.there("f"), bytes(1_000_000)).unwrap();
    let (address, _) = server(&place.0.join("there"), Way::Send);
    let mut until = |there: u64, _: u64| there < 200_000;
    let error = get(|| connect(address), "f", &place.here("f"), false, &mut until).unwrap_err();
    assert!(matches!(error, TransferError::Interrupted), "{error}");
    let kept = fs::read(place.here(".f.part")).unwrap();
    assert!(kept.len() >= 200_000 && kept == bytes(1_000_000)[..kept.len()]);
}
