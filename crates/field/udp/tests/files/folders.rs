//! Folders: the entries of a listing, the entries that a client accepts, and the folders that an upload creates.

use std::fs;
use std::net::IpAddr;
use std::os::unix::fs::symlink;
use std::path::Path;

use firstflight_udp::files::{
    Entry, Folder, MAX_LISTED, Quota, TransferError, Way, compare, get, get_into, list, put,
};

use crate::setting::{Place, always, bytes, connect, parrot, record, server};

const TAKES: Way = Way::Receive { replaces: false };

#[test]
fn a_listing_has_what_can_be_fetched_and_nothing_else() {
    let place = Place::new("listing");
    fs::create_dir_all(place.there("sub/inner")).unwrap();
    for (name, length) in [("f", 3), ("sub/g h", 70_000), (".hidden", 1), (".f.part", 1), ("a\nb", 1)] {
        fs::write(place.there(name), bytes(length)).unwrap();
    }
    symlink(place.there("f"), place.there("link")).unwrap();
    let fifo = std::process::Command::new("mkfifo").arg(place.there("fifo")).status().unwrap();
    assert!(fifo.success());
    let (address, _) = server(&place.0.join("there"), Way::Send);
    let entries = |path| list(|| connect(address), path, MAX_LISTED).unwrap().into_iter().collect::<Vec<_>>();
    assert_eq!(entries(None), [("f".to_owned(), Entry::File(3)), ("sub".to_owned(), Entry::Folder)]);
    assert_eq!(
        entries(Some("sub")),
        [("g h".to_owned(), Entry::File(70_000)), ("inner".to_owned(), Entry::Folder)]
    );
    assert_eq!(entries(Some("sub/inner")), []);
    for wrong in ["no", "f", "link", ".", "..", "sub/../..", ".hidden", "/"] {
        let (address, _) = server(&place.0.join("there"), Way::Send);
        let error = list(|| connect(address), Some(wrong), MAX_LISTED).unwrap_err();
        assert!(matches!(error, TransferError::Refused(_)), "{wrong}: {error}");
    }
}

#[test]
fn a_folder_of_many_files_is_listed_completely() {
    let place = Place::new("listing-many");
    for number in 0..3_000 {
        fs::write(place.there(&format!("{number}")), "").unwrap();
    }
    let (address, _) = server(&place.0.join("there"), Way::Send);
    assert_eq!(list(|| connect(address), None, MAX_LISTED).unwrap().len(), 3_000);
}

#[test]
fn a_server_that_takes_files_lists_none() {
    let place = Place::new("listing-refused");
    fs::write(place.there("f"), "f").unwrap();
    let (answer, _) = record(&place.0.join("there"), "LIST\n", None);
    assert!(answer.starts_with("NO the%20peer%20said%20`LIST`"), "{answer}");
}

#[test]
fn a_hostile_listing_is_an_error() {
    let mut many = String::new();
    (0..100_001).for_each(|number| many.extend(["FILE ", &number.to_string(), " 1\n"]));
    for (says, why) in [
        ("FILE .. 1\nLISTED\n", "is no path"),
        ("FOLDER .hidden\nLISTED\n", "is no path"),
        ("FILE a/b 1\nLISTED\n", "is no path"),
        ("FILE /etc/passwd 1\nLISTED\n", "is no path"),
        ("FILE a%1B[2J 1\nLISTED\n", "is no path"),
        ("FOLDER %E2%80%AEgnp.exe\nLISTED\n", "is no path"),
        ("FILE a 1\nFOLDER a\nLISTED\n", "said `a twice`"),
        ("FILE a 1\n", "ended without an answer"),
        ("FILE a -1\n", "said `FILE a -1`"),
        ("DATA 1 0\n", "FILE, FOLDER or LISTED"),
        (&many, "more than 100000"),
    ] {
        let address = parrot(says.as_bytes().to_vec());
        let error = list(|| connect(address), None, MAX_LISTED).unwrap_err().to_string();
        assert!(error.contains(why), "{}: {error}", says.get(..40).unwrap_or(says));
    }
}

#[test]
fn an_upload_creates_missing_folders_and_each_is_charged() {
    let place = Place::new("folders");
    let there = place.0.join("there");
    fs::write(place.here("f"), bytes(1_000)).unwrap();
    let (address, served) = server(&there, TAKES);
    put(|| connect(address), &place.here("f"), "a/b/f", &mut always).unwrap();
    served.join().unwrap().unwrap();
    assert_eq!(fs::read(there.join("a/b/f")).unwrap(), bytes(1_000));
    // A query creates no folder.
    let (answer, _) = record(&there, "ASK new/f 5\n", None);
    assert!(answer.starts_with("HAVE 0 "), "{answer}");
    assert!(!there.join("new").exists());
    // An address has a quarter of the quota, here four times 64 KiB: three folders and a file.
    let quota = Quota::new(16 * (64 << 10));
    let share = || Some(quota.share(IpAddr::from([192, 0, 2, 1])));
    let (answer, _) = record(&there, "PUT d/e/f/g/h/i 1 0\nx", share());
    assert!(answer.starts_with("NO the%20receiver%20has%20no%20more%20room"), "{answer}");
    assert!(there.join("d/e/f/g").exists() && !there.join("d/e/f/g/h").exists());
    // A path of many names would create many folders.
    let deep = |folders: usize| format!("{}f", "a/".repeat(folders));
    for (request, is_allowed) in [("PUT", true), ("PUT", false), ("ASK", true), ("ASK", false)] {
        let path = deep(if is_allowed { 15 } else { 16 });
        let rest = if request == "PUT" { "1 0\nx" } else { "1\n" };
        let (answer, _) = record(&there, &format!("{request} {path} {rest}"), None);
        assert_eq!(answer.contains("has%20more%20than%2016%20names"), !is_allowed, "{request}: {answer}");
    }
    // Nothing outside of the folder is created, nor through a link.
    symlink(&place.0, there.join("link")).unwrap();
    for path in ["../x/f", "link/x/f", "a/.x/f", "/x/f", "a//f"] {
        let (answer, _) = record(&there, &format!("PUT {path} 1 0\nx"), None);
        assert!(answer.starts_with("NO "), "{path}: {answer}");
    }
    assert_eq!(place.names("."), ["here", "there"]);
}

#[test]
fn bytes_go_to_an_output_as_they_arrive_and_a_wrong_hash_is_an_error() {
    let place = Place::new("into");
    fs::write(place.there("f"), bytes(200_000)).unwrap();
    let (address, served) = server(&place.0.join("there"), Way::Send);
    let (mut out, shown) = (Vec::new(), Path::new("standard output"));
    let got = get_into(|| connect(address), "f", (&mut out, shown), &mut always).unwrap();
    assert_eq!(out, bytes(200_000));
    assert_eq!(served.join().unwrap().unwrap(), Some(got));
    for (says, why) in [
        (
            format!("DATA 3 0\nabcEND {}\n", "0".repeat(64)),
            "bytes written to standard output is not the sender's",
        ),
        ("DATA 3 0\nab".to_owned(), "the peer ended after 2 of 3 bytes; standard output has only these"),
        ("DATA 3 2\nc".to_owned(), "where DATA was expected"),
    ] {
        let address = parrot(says.into_bytes());
        let mut out = Vec::new();
        let error = get_into(|| connect(address), "f", (&mut out, shown), &mut always).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
}

#[test]
fn a_file_that_is_there_is_compared_without_its_bytes() {
    let place = Place::new("compare");
    fs::write(place.there("f"), bytes(100_000)).unwrap();
    fs::write(place.here("same"), bytes(100_000)).unwrap();
    fs::write(place.here("other"), vec![1; 100_000]).unwrap();
    let (address, served) = server(&place.0.join("there"), Way::Send);
    let same = compare(|| connect(address), "f", &place.here("same"), &mut always).unwrap();
    assert_eq!((same.resumed, same.length), (100_000, 100_000));
    served.join().unwrap().unwrap();
    let (address, _) = server(&place.0.join("there"), Way::Send);
    let error = compare(|| connect(address), "f", &place.here("other"), &mut always).unwrap_err();
    assert!(matches!(error, TransferError::Exists(_)), "{error}");
    assert_eq!(fs::read(place.here("other")).unwrap(), vec![1; 100_000]);
}

/// The change time of a file cannot be set, so the test waits until the file counts as settled.
#[test]
fn a_hash_that_is_kept_never_belongs_to_other_content() {
    let place = Place::new("kept-hash");
    fs::write(place.there("f"), bytes(100_000)).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(3_100));
    let folder = std::sync::Arc::new(Folder::open(&place.0.join("there")).unwrap());
    let fetch = |name: &str| {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let folder = std::sync::Arc::clone(&folder);
        let served = std::thread::spawn(move || {
            let (peer, _) = listener.accept().unwrap();
            crate::setting::answer(peer, firstflight_udp::files::Exchange::new(folder, Way::Send, None))
        });
        let got = get(|| connect(address), "f", &place.here(name), false, &mut always);
        (got, served.join().unwrap())
    };
    let (first, _) = fetch("one");
    let (second, _) = fetch("two");
    assert_eq!(first.unwrap(), second.unwrap());
    fs::write(place.there("f"), vec![9; 100_000]).unwrap();
    let (third, served) = fetch("three");
    assert_eq!(third.unwrap(), served.unwrap().unwrap());
    assert_eq!(fs::read(place.here("three")).unwrap(), vec![9; 100_000]);
}
