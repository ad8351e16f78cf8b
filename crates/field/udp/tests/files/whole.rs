//! Files that get across.

use std::fs;

use firstflight_udp::files::{Way, get, put};

use crate::setting::{Cut, Place, always, bytes, connect, server};

const TAKES: Way = Way::Receive { replaces: false };

#[test]
fn files_of_every_length_come_and_go_whole() {
    let place = Place::new("lengths");
    for length in [0, 1, 1000, 65_535, 65_536, 65_537, 3_000_001] {
        let name = format!("f{length}");
        fs::write(place.there(&name), bytes(length)).unwrap();
        let (address, served) = server(&place.0.join("there"), Way::Send);
        let got = get(|| connect(address), &name, &place.here(&name), false, &mut always).unwrap();
        assert_eq!((got.length, got.resumed), (length as u64, 0));
        assert_eq!(fs::read(place.here(&name)).unwrap(), bytes(length));
        assert_eq!(served.join().unwrap().unwrap().unwrap().sha256, got.sha256);

        let back = format!("b{length}");
        let (address, served) = server(&place.0.join("there"), TAKES);
        let sent = put(|| connect(address), &place.here(&name), &back, &mut always).unwrap();
        assert_eq!((sent.length, sent.resumed), (length as u64, 0));
        assert_eq!(fs::read(place.there(&back)).unwrap(), bytes(length));
        assert_eq!(served.join().unwrap().unwrap().unwrap().sha256, sent.sha256);
    }
    assert!(place.names("here").iter().chain(&place.names("there")).all(|name| !name.starts_with('.')));
}

#[test]
fn a_transfer_that_was_cut_resumes_where_it_ended() {
    let place = Place::new("resumed");
    let file = bytes(1_000_000);
    fs::write(place.there("f"), &file).unwrap();
    for cut in [300_000, 700_000] {
        let (address, served) = server(&place.0.join("there"), Way::Send);
        let cut = || Ok(Cut(connect(address)?, cut));
        get(cut, "f", &place.here("f"), false, &mut always).unwrap_err();
        served.join().unwrap().unwrap_err();
        assert_eq!(place.names("here"), [".f.part"]);
    }
    let (address, served) = server(&place.0.join("there"), Way::Send);
    let got = get(|| connect(address), "f", &place.here("f"), false, &mut always).unwrap();
    assert!(got.resumed > 990_000, "{}", got.resumed);
    assert_eq!(served.join().unwrap().unwrap().unwrap().resumed, got.resumed);
    assert_eq!(fs::read(place.here("f")).unwrap(), file);
    assert_eq!(place.names("here"), ["f"]);
}

#[test]
fn a_file_that_is_sent_resumes_where_it_ended() {
    let place = Place::new("resent");
    let file = bytes(1_000_000);
    fs::write(place.here("f"), &file).unwrap();
    fs::write(place.there(".f.part"), &file[..400_000]).unwrap();
    let (address, served) = server(&place.0.join("there"), TAKES);
    let sent = put(|| connect(address), &place.here("f"), "f", &mut always).unwrap();
    assert_eq!(sent.resumed, 400_000);
    served.join().unwrap().unwrap();
    assert_eq!(fs::read(place.there("f")).unwrap(), file);
    assert_eq!(place.names("there"), ["f"]);
}

#[test]
fn a_part_that_does_not_match_the_file_is_restarted() {
    let place = Place::new("other");
    fs::write(place.there("f"), bytes(1000)).unwrap();
    for other in [vec![1; 10], vec![1; 5000]] {
        fs::write(place.here(".f.part"), other).unwrap();
        let (address, served) = server(&place.0.join("there"), Way::Send);
        let got = get(|| connect(address), "f", &place.here("f"), true, &mut always).unwrap();
        assert_eq!(got.resumed, 0);
        served.join().unwrap().unwrap();
        assert_eq!(fs::read(place.here("f")).unwrap(), bytes(1000));
    }
    let mut wrong = bytes(900);
    wrong[0] ^= 1;
    fs::write(place.there(".g.part"), wrong).unwrap();
    let (address, served) = server(&place.0.join("there"), TAKES);
    assert_eq!(put(|| connect(address), &place.here("f"), "g", &mut always).unwrap().resumed, 0);
    served.join().unwrap().unwrap();
    assert_eq!(fs::read(place.there("g")).unwrap(), bytes(1000));
}

#[test]
fn a_file_is_replaced_only_when_it_is_asked_for() {
    let place = Place::new("replaced");
    fs::write(place.there("f"), "new").unwrap();
    fs::write(place.here("f"), "old").unwrap();
    let no_server = || panic!("the server is not asked");
    let error = get::<Cut>(no_server, "f", &place.here("f"), false, &mut always).unwrap_err();
    assert!(error.to_string().ends_with("here/f exists; --force replaces it"), "{error}");
    assert_eq!(fs::read_to_string(place.here("f")).unwrap(), "old");

    let (address, _) = server(&place.0.join("there"), TAKES);
    let error = put(|| connect(address), &place.here("f"), "f", &mut always).unwrap_err();
    assert_eq!(error.to_string(), "refused by the peer: f exists; --force replaces it");

    let (address, served) = server(&place.0.join("there"), Way::Receive { replaces: true });
    put(|| connect(address), &place.here("f"), "f", &mut always).unwrap();
    served.join().unwrap().unwrap();
    assert_eq!(fs::read_to_string(place.there("f")).unwrap(), "old");
}
