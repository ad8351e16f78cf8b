use super::*;

#[test]
fn every_key_can_be_set() {
    let texts = [
        "1mbit",
        "1ms",
        "1p",
        "none",
        "1460",
        "1000B",
        "1MB",
        "10",
        "120s",
        "1500ms",
        "10",
        "2000",
        "poisson:20",
        "exponential",
        "10s",
        "true",
        "64kB,200ms",
        "1s",
        "1h",
        "every",
        "reno",
        "sack",
        "linux",
        "rfc5681",
        "inf",
        "2p",
        "64kB",
        "200ms",
        "true",
        "2%",
        "none",
        "1gbit",
        "1mbit",
        "0.25",
        "none",
        "1mbit,1kB",
        "0s=1mbit",
        "5ms",
        "true",
        "estimator=peak",
        "parking-lot:hops=3",
        "100p",
        "7",
        "3",
    ];
    for (key, text) in KEYS.into_iter().zip(texts) {
        let mut options = Options::default();
        options.set(key, text).expect(key);
        assert_ne!(options, Options::default(), "{key} must change an option");
    }
}

#[test]
fn an_unknown_key_is_refused_with_the_closest() {
    let error = Options::default().set("rat", "1mbit").expect_err("no such key");
    assert_eq!(error.to_string(), "there is no option `rat`; is `rate` meant?");
    let error = Options::default().set("zzzzzzzz", "1").expect_err("no such key");
    assert!(error.to_string().starts_with("there is no option `zzzzzzzz`; there are rate, rtt,"), "{error}");
}

#[test]
fn mss_and_packet_exclude_each_other() {
    let mut options = Options::default();
    options.set("mss", "1460").expect("an MSS");
    assert!(options.set("packet", "1500B").is_err());
    assert_eq!(options.packet, Some(Packet::Mss(1460)));
}

#[test]
fn what_cannot_be_simulated_is_refused() {
    for (key, text) in [
        ("mss", "63"),
        ("mss", "65484"),
        ("packet", "115B"),
        ("loss", "100%"),
        ("loss", "1.0"),
        ("iw", "0p"),
        ("iw", "65536p"),
        ("rounds", "0"),
        ("clients", "1001"),
        ("idle", "0s"),
        ("runs", "0"),
        ("runs", "1000001"),
        ("seed", "-1"),
        ("reverse-rtt-share", "1.1"),
        ("timestamps", "yes"),
    ] {
        assert!(Options::default().set(key, text).is_err(), "{key} = {text}");
    }
}
