use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use firstflight_noq::resume::{Key, LIFETIME, Saved, Store};
use proptest::prelude::*;

fn key(last: u8) -> Key {
    Key::to_server([192, 0, 2, last].into(), "example.org")
}

fn saved(window: u64, at: u64) -> Saved {
    Saved { window, rtt: Duration::from_millis(40), at }
}

fn store(capacity: usize) -> Arc<Store> {
    Arc::new(Store::new(NonZeroUsize::new(capacity).expect("not zero"), LIFETIME))
}

#[test]
fn values_older_than_the_lifetime_are_deleted_and_not_used() {
    let store = store(2);
    assert!(store.put(&key(1), saved(100_000, 1000)));
    assert!(store.get(&key(1), 1000 + LIFETIME.as_secs()).is_some());
    assert!(store.get(&key(1), 1001 + LIFETIME.as_secs()).is_none());
    assert!(store.is_empty());
}

#[test]
fn only_one_connection_uses_the_saved_values() {
    let store = store(2);
    store.put(&key(1), saved(100_000, 0));
    let claim = store.claim(&key(1), 0);
    assert!(claim.is_some());
    assert!(store.claim(&key(1), 0).is_none());
    drop(claim);
    assert!(store.claim(&key(1), 0).is_some());
}

#[test]
fn a_retreat_deletes_the_saved_values() {
    let store = store(2);
    store.put(&key(1), saved(100_000, 0));
    store.claim(&key(1), 0).expect("a claim").delete();
    assert!(store.is_empty());
}

#[test]
fn a_claim_deletes_no_values_that_were_saved_anew() {
    let store = store(2);
    store.put(&key(1), saved(100_000, 0));
    let claim = store.claim(&key(1), 0).expect("a claim");
    store.remove(&key(1));
    store.put(&key(1), saved(50_000, 0));
    let newer = store.claim(&key(1), 0).expect("a claim of the new values");
    claim.delete();
    assert_eq!(store.len(), 1);
    newer.delete();
    assert!(store.is_empty());
}

#[test]
fn a_clock_set_back_makes_the_values_unusable() {
    let store = store(2);
    store.put(&key(1), saved(100_000, 10));
    assert!(store.get(&key(1), 9).is_none());
}

#[test]
fn the_entry_with_the_oldest_use_is_evicted() {
    let store = store(2);
    store.put(&key(1), saved(1, 0));
    store.put(&key(2), saved(2, 0));
    store.get(&key(1), 0);
    store.put(&key(3), saved(3, 0));
    assert!(store.get(&key(2), 0).is_none());
    assert!(store.get(&key(1), 0).is_some());
}

#[test]
fn a_bad_entry_is_refused_in_one_line() {
    let row = |window: &str| {
        format!(
            r#"{{"format":1,"entries":[{{"address":"::1","server_name":"","window":{window},"rtt_us":1,"saved_at":0}}]}}"#
        )
    };
    let read = |json: &str| Store::from_json(json, NonZeroUsize::MIN, LIFETIME).map(|store| store.len());
    assert_eq!(read(&row("5")), Ok(1));
    assert_eq!(read(&row("0")), Err("entry 1: window is 0 bytes; allowed is 1 to 1073741824".to_owned()));
    for bad in [row("-1"), "{}".to_owned(), String::new(), row("5").replace(":1,", ":2,")] {
        assert!(!read(&bad).expect_err("bad").contains('\n'), "{bad}");
    }
}

#[test]
fn a_file_is_replaced_and_read_again() {
    let directory = std::env::temp_dir().join(format!("firstflight-resume-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    let path = directory.join("store.json");
    let (one, capacity) = (store(2), NonZeroUsize::MIN);
    assert!(Store::load(&path, capacity, LIFETIME).expect("absent is empty").is_empty());
    one.put(&key(1), saved(7, 3));
    one.save(&path).expect("written");
    one.save(&path).expect("replaced");
    assert_eq!(Store::load(&path, capacity, LIFETIME).expect("read").entries(), one.entries());
    assert_eq!(std::fs::read_dir(&directory).expect("a directory").count(), 1);
    std::fs::write(&path, b"\xff").expect("written");
    let error = Store::load(&path, capacity, LIFETIME).expect_err("not UTF-8").to_string();
    assert!(error.contains("store.json") && !error.contains('\n'), "{error}");
    std::fs::remove_dir_all(&directory).expect("removed");
}

proptest! {
    #[test]
    fn a_store_is_bounded_and_survives_json(
        capacity in 1_usize..8,
        puts in prop::collection::vec((any::<u8>(), 1_u64..1 << 30, any::<u32>()), 0..60),
    ) {
        let store = store(capacity);
        for (last, window, at) in puts {
            store.put(&key(last), saved(window, at.into()));
            prop_assert!(store.len() <= capacity);
        }
        let again = Store::from_json(&store.to_json(), store.capacity(), LIFETIME).expect("own output");
        prop_assert_eq!(again.entries(), store.entries());
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in ".{0,200}") {
        let _ = Store::from_json(&text, NonZeroUsize::MIN, LIFETIME);
    }
}
