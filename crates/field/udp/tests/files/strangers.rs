//! Limits on what a stranger can do to a folder that receives files.

use std::fs;
use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use firstflight_udp::files::{Folder, Quota, TransferError};

use crate::setting::{Place, bytes, record};

const NOTHING: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

fn source(last: u8) -> IpAddr {
    IpAddr::from([192, 0, 2, last])
}

#[test]
fn a_question_changes_nothing() {
    let place = Place::new("question");
    let there = place.0.join("there");
    fs::write(place.there(".f.part"), bytes(1_000)).unwrap();
    fs::write(place.there("whole"), "whole").unwrap();
    let before = place.names("there");
    for (asked, answer) in [
        ("ASK f 0\n", format!("HAVE 0 {NOTHING}\n")),
        ("ASK f 999\n", format!("HAVE 0 {NOTHING}\n")),
        ("ASK other 5\n", format!("HAVE 0 {NOTHING}\n")),
        ("ASK whole 5\n", "NO whole%20exists;%20--force%20replaces%20it\n".to_owned()),
    ] {
        assert_eq!(record(&there, asked, None).0, answer);
        assert_eq!(place.names("there"), before, "{asked}");
        assert_eq!(fs::read(place.there(".f.part")).unwrap(), bytes(1_000), "{asked}");
    }
    let (answer, _) = record(&there, "ASK f 2000\n", None);
    assert!(answer.starts_with("HAVE 1000 "), "{answer}");
}

#[test]
fn a_query_is_answered_unless_the_file_is_being_received() {
    let place = Place::new("question-lock");
    let there = place.0.join("there");
    fs::write(place.there(".f.part"), bytes(1_000)).unwrap();
    let file = fs::File::open(place.there(".f.part")).unwrap();
    file.lock_shared().unwrap();
    let (answer, _) = record(&there, "ASK f 2000\n", None);
    assert!(answer.starts_with("HAVE 1000 "), "another question is no receiver: {answer}");
    file.unlock().unwrap();
    file.lock().unwrap();
    let (answer, _) = record(&there, "ASK f 2000\n", None);
    assert!(answer.starts_with("NO f%20is%20being%20received"), "{answer}");
}

#[test]
fn a_part_from_one_address_is_never_changed_by_another_address() {
    let place = Place::new("of-another");
    let there = place.0.join("there");
    let quota = Quota::new(1 << 30);
    let [one, other] = [1, 2].map(|last| quota.share(source(last)));
    let (_, served) = record(&there, "PUT f 10 0\nabcde", Some(one.clone()));
    assert!(matches!(served, Err(TransferError::Truncated { there: 5, length: 10 })));
    for says in ["PUT f 3 0\nxyz", "PUT f 0 0\n", "PUT f 10 5\nxyz", "PUT f 10 0\n"] {
        let (answer, served) = record(&there, says, Some(other.clone()));
        assert!(answer.starts_with("NO f%20is%20being%20received%20from%20another%20address"), "{answer}");
        assert!(matches!(served, Err(TransferError::OfAnother(_))));
        assert_eq!(fs::read_to_string(place.there(".f.part")).unwrap(), "abcde");
    }
    // The sender of the part continues it, or begins anew.
    let (_, served) = record(&there, "PUT f 10 5\nfg", Some(one.clone()));
    assert!(matches!(served, Err(TransferError::Truncated { there: 7, .. })));
    let (_, served) = record(&there, "PUT f 10 0\nh", Some(one));
    assert!(matches!(served, Err(TransferError::Truncated { there: 1, .. })));
    assert_eq!(fs::read_to_string(place.there(".f.part")).unwrap(), "h");
}

#[test]
fn a_file_beyond_the_quota_of_its_address_is_refused_before_data() {
    let place = Place::new("quota");
    let there = place.0.join("there");
    let quota = Quota::new(4_000_000);
    let share = quota.share(source(1));
    let (answer, served) = record(&there, "PUT f 1000001 0\nabc", Some(share.clone()));
    assert!(answer.starts_with("NO the%20receiver%20has%20no%20more%20room"), "{answer}");
    assert!(matches!(served, Err(TransferError::Quota)) && place.names("there").is_empty());
    let (_, served) = record(&there, "PUT f 18446744073709551615 0\nabc", Some(share.clone()));
    assert!(matches!(served, Err(TransferError::Quota)) && place.names("there").is_empty());
    let text = "x".repeat(900_000);
    let (_, served) = record(&there, &format!("PUT f 1000000 0\n{text}"), Some(share.clone()));
    assert!(matches!(served, Err(TransferError::Truncated { there: 900_000, .. })));
    let (_, served) = record(&there, "PUT g 100001 0\nabc", Some(share));
    assert!(matches!(served, Err(TransferError::Quota)));
    let (_, served) = record(&there, "PUT g 100001 0\nabc", Some(quota.share(source(2))));
    assert!(matches!(served, Err(TransferError::Truncated { there: 3, .. })));
    assert_eq!(place.names("there"), [".f.part", ".g.part"]);
}

#[test]
fn parts_that_are_too_old_are_removed_and_nothing_else_is() {
    let place = Place::new("sweep");
    fs::create_dir(place.there("sub")).unwrap();
    fs::create_dir(place.there(".hidden")).unwrap();
    fs::create_dir(place.there(".folder.part")).unwrap();
    std::os::unix::fs::symlink("../here", place.there("link")).unwrap();
    std::os::unix::fs::symlink("f", place.there(".link.part")).unwrap();
    let parts = [".f.part", ".young.part", ".busy.part", "sub/.g.part"];
    let others = ["f", "f.part", ".part", ".f", ".hidden/.f.part"];
    for name in parts.iter().chain(&others) {
        fs::write(place.there(name), "abc").unwrap();
    }
    fs::write(place.here(".f.part"), "abc").unwrap();
    #[expect(clippy::disallowed_methods, reason = "the times of files are the system's")]
    let now = SystemTime::now();
    let age = |name: &str, seconds: u64| {
        let file = fs::File::options().write(true).open(place.there(name)).unwrap();
        file.set_modified(now - Duration::from_secs(seconds)).unwrap();
        file
    };
    let [.., busy] =
        [".f.part", "f", "f.part", "sub/.g.part", ".hidden/.f.part", ".busy.part"].map(|name| age(name, 100));
    busy.lock().unwrap();
    let folder = Folder::open(&place.0.join("there")).unwrap();
    let quota = Quota::new(4 * 300_000);
    let mut removed = folder.sweep(now - Duration::from_secs(50), &quota).unwrap();
    removed.sort();
    assert_eq!(removed, ["f", "sub/g"]);
    let left = [
        ".busy.part",
        ".f",
        ".folder.part",
        ".hidden",
        ".link.part",
        ".part",
        ".young.part",
        "f",
        "f.part",
        "link",
        "sub",
    ];
    assert_eq!(place.names("there"), left);
    assert!(place.here(".f.part").exists() && place.there(".hidden/.f.part").exists());
    assert!(place.names("there/sub").is_empty());
    // What stays is counted.
    let share = quota.share(source(1));
    let (_, served) =
        record(&place.0.join("there"), &format!("PUT h 300000 0\n{}", "x".repeat(300_000)), Some(share));
    assert!(matches!(served, Err(TransferError::Truncated { .. })), "{served:?}");
}

#[test]
fn a_new_name_has_neither_control_characters_nor_marks_of_direction() {
    let place = Place::new("names-of-strangers");
    let there = place.0.join("there");
    for name in ["a%1B[2J", "a%0Ab", "%E2%80%AEgnp.exe", "a%E2%81%A6b", "%D8%9Ca"] {
        let (answer, served) = record(&there, &format!("PUT {name} 1 0\nx"), None);
        assert!(answer.starts_with("NO ") && served.is_err(), "{name}: {answer}");
    }
    assert_eq!(place.names("there"), Vec::<String>::new());
    let (answer, _) = record(&there, "PUT %D9%85 1 0\nx", None);
    assert!(!answer.starts_with("NO "), "a letter that is read from right to left is no mark: {answer}");
}
