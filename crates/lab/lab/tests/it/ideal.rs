//! No scheme beats the ideal, except by what it took from others.

use firstflight::registry;
use firstflight_lab::{How, Outcome, race, run};
use firstflight_measure::Row;
use firstflight_measure::available::carried;
use firstflight_measure::ideal::ip_bytes;
use firstflight_scenario::{Goal, Options, Scenario, parse_choices};
use proptest::prelude::*;
use proptest::sample::select;

/// Options as on the command line.
type Given = Vec<(&'static str, String)>;

fn scenario(options: &Given) -> Scenario {
    let mut set = Options::default();
    for (key, text) in options {
        set.set(key, text).unwrap_or_else(|error| panic!("{key}: {error}"));
    }
    Scenario::resolve(&set).expect("a scenario")
}

fn row(options: &Given, scheme: &str) -> Row {
    let choices = parse_choices(scheme).expect("a scheme");
    let results = race(&scenario(options), &choices, &How::default()).expect("a race");
    results.into_iter().flat_map(|result| result.rows).next().expect("a row")
}

/// Whole nanoseconds of seconds.
#[expect(clippy::cast_possible_truncation, reason = "seconds of a short run")]
fn nanos(seconds: Option<f64>) -> i64 {
    (seconds.expect("a time") * 1e9).round() as i64
}

/// Completion time less the ideal, in nanoseconds. Links round the end of a transmission down to a nanosecond and the ideal is rounded up,
/// so a difference of that size does not count.
fn above(row: &Row) -> i64 {
    nanos(row.fct_s.flatten()) - nanos(row.ideal_fct_s.flatten())
}

/// If all data fits in the initial window (and in the 64 kB that a SYN-ACK can offer), a transfer exceeds the ideal only by the SYN, the
/// SYN-ACK and the last packet's time on the link that is not the slowest: at 10 Mbit/s and ten times that, at most 60 bytes over both
/// links, as many back, and 1500 bytes at the faster rate.
#[test]
fn a_transfer_within_the_initial_window_nearly_attains_the_ideal() {
    let given = |more: &[(&'static str, &str)]| -> Given {
        let path =
            [("rate", "10mbit"), ("rtt", "60ms"), ("queue", "1000p"), ("size", "58400B"), ("iw", "40p")];
        path.iter().chain(more).map(|(key, text)| (*key, (*text).to_owned())).collect()
    };
    for more in [
        &[][..],
        &[("reverse-rtt-share", "0")],
        &[("reverse-rtt-share", "1")],
        &[("reverse-rtt-share", "0.3")],
        &[("access-rate", "10mbit"), ("rate", "100mbit")],
        &[("policer", "1mbit,61kB")],
        &[("rate-trace", "0s=10mbit,70ms=3mbit,80ms=0,300ms=10mbit")],
        &[("rate-trace", "0s=10mbit,70ms=3mbit,80ms=0,300ms=10mbit"), ("reverse-rtt-share", "0.9")],
        &[("app", "14600B,50ms")],
    ] {
        let over = above(&row(&given(more), "slow-start"));
        let handshake = (60 * 8 * 100 + 60 * 8 * 10) + 60 * 8 * 100;
        assert!((0..=handshake + 1500 * 8 * 100).contains(&over), "{more:?}: {over} ns over");
    }
}

/// Adds an option, or leaves it unset.
fn maybe(key: &'static str, text: impl Strategy<Value = String> + 'static) -> BoxedStrategy<Given> {
    prop_oneof![Just(Given::new()), text.prop_map(move |text| vec![(key, text)])].boxed()
}

/// A rate, or a trace of rates and outages that ends with a rate.
fn rates() -> impl Strategy<Value = Given> {
    let steps = proptest::collection::vec((1_u32..500, 0_u32..20), 1..8).prop_map(|steps| {
        let mut at = 0;
        let step = |(wait, rate): (u32, u32)| {
            at += wait;
            format!(",{at}ms={}", if rate == 0 { "0".to_owned() } else { format!("{rate}mbit") })
        };
        let steps: String = steps.into_iter().map(step).collect();
        vec![("rate-trace", format!("0s=5mbit{steps},60s=1mbit"))]
    });
    prop_oneof![(1_u32..100).prop_map(|mbit| vec![("rate", format!("{mbit}mbit"))]), steps]
}

/// A path with as much propagation delay on the return path as possible, an access link that may be the slower link, and a policer that may
/// hold more than the transfer.
fn path() -> impl Strategy<Value = Given> {
    let size = prop_oneof![
        (1_u32..2_000).prop_map(|b| format!("{b}B")),
        (2_u32..600).prop_map(|kb| format!("{kb}kB"))
    ];
    let policer = (1_u32..20, 3_u32..400).prop_map(|(mbit, kb)| format!("{mbit}mbit,{kb}kB"));
    (
        rates(),
        (1_u32..200_000, size).prop_map(|(us, size)| {
            vec![
                ("rtt", format!("{us}us")),
                ("size", size),
                ("cross", "none".to_owned()),
                ("limit", "700h".to_owned()),
            ]
        }),
        maybe("reverse-rtt-share", (0_u32..=100).prop_map(|percent| format!("{percent}%"))),
        maybe("access-rate", (1_u32..40).prop_map(|mbit| format!("{mbit}mbit"))),
        maybe("policer", policer),
        maybe("topology", (1_u32..4).prop_map(|hops| format!("parking-lot:hops={hops}"))),
        maybe("app", (1_u32..50, 1_u32..200).prop_map(|(kb, ms)| format!("{kb}kB,{ms}ms"))),
        (1_u32..200).prop_map(|iw| vec![("iw", format!("{iw}p")), ("queue", "1000p".to_owned())]),
    )
        .prop_map(|(a, b, c, d, e, f, g, h)| [a, b, c, d, e, f, g, h].concat())
}

fn scheme() -> impl Strategy<Value = &'static str> {
    select(registry::schemes()).prop_map(|entry| entry.name)
}

/// A failure is reported as options, so no file is kept. Each fixed failure has its own test.
fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

/// Keys of packets. The times of outages are those of a transfer's life.
fn packets() -> impl Strategy<Value = Given> {
    let lossy = (1_u32..20, 20_u32..100).prop_map(|(p, r)| format!("gemodel:{p}%,{r}%"));
    let reorder = prop_oneof![
        (1_u32..20, 1_u32..9).prop_map(|(share, count)| format!("{share}%,{count}p")),
        (1_u32..20, 1_u32..20).prop_map(|(share, ms)| format!("{share}%,{ms}ms")),
    ];
    let outage = prop_oneof![
        (0_u32..900, 1_u32..900).prop_map(|(from, ms)| format!("{from}ms..{}ms", from + ms)),
        (1_u32..200, 1_u32..800).prop_map(|(ms, gap)| format!("{ms}ms,every={}ms", ms + gap + 50)),
    ];
    let frames = prop_oneof![
        (1_u32..20).prop_map(|ms| format!("{ms}ms")),
        (1_u32..32, 1_u32..20).prop_map(|(count, ms)| format!("{count},{ms}ms")),
    ];
    (
        maybe("loss", lossy.clone()),
        maybe("ack-loss", lossy),
        maybe("reorder", reorder),
        maybe("duplicate", (1_u32..30).prop_map(|percent| format!("{percent}%"))),
        maybe("outage", outage),
        maybe("aggregation", frames),
        any::<u16>().prop_map(|seed| vec![("limit", "1h".to_owned()), ("seed", seed.to_string())]),
    )
        .prop_map(|(a, b, c, d, e, f, g)| [a, b, c, d, e, f, g].concat())
}

/// A constant rate, or one in periods, and when they come.
fn cross() -> impl Strategy<Value = Given> {
    let on_off = |(kbit, on, off): (u32, u32, u32)| {
        // In each on and off period at least one packet of 1500 bytes is sent, at a bottleneck of 1 Mbit/s or more.
        let least = 6_000 / kbit.min(1_000) + 1;
        format!("onoff:{kbit}kbit,{}ms,{}ms", least + on, least + off)
    };
    let text = prop_oneof![
        (1_u32..8_000).prop_map(|kbit| format!("{kbit}kbit")),
        (1_u32..8_000, 1_u32..300, 1_u32..300).prop_map(on_off),
    ];
    (text, any::<u16>()).prop_map(|(text, seed)| vec![("cross", text), ("seed", seed.to_string())])
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn nobody_beats_the_ideal_of_a_path_without_others(options in path(), scheme in scheme()) {
        let row = row(&options, scheme);
        prop_assert_eq!(&row.ideal_kind, "exact");
        prop_assert!(row.ideal_fct_s.flatten().is_some());
        if row.fct_s.flatten().is_some() {
            let links = i64::from(scenario(&options).topology.hops()) + 1;
            prop_assert!(above(&row) >= -1 - links, "{} ns above", above(&row));
        }
    }

    /// The ideal counts outages, and is a bound with all else that happens to packets.
    #[test]
    fn nobody_beats_the_ideal_whatever_the_path_does_to_packets(
        options in path(),
        packets in packets(),
        scheme in scheme(),
    ) {
        let options = [options, packets].concat();
        let row = row(&options, scheme);
        prop_assert_eq!(&row.ideal_kind, "exact");
        if row.fct_s.flatten().is_some() {
            let links = i64::from(scenario(&options).topology.hops()) + 1;
            // Each outage splits a transmission, and each part is rounded.
            prop_assert!(above(&row) >= -100 - links, "{} ns above", above(&row));
        }
    }

    #[test]
    fn ideal_time_over_one_bottleneck_is_1_5_rtt_plus_transmission_time(
        mbit in 2_u64..1_000, share in 0_u64..100, access in 1_u64..2_000, us in 1_u64..500_000, bytes in 1_u64..100_000,
        queue in 1_u32..100,
    ) {
        let cross = if share == 0 { "none".to_owned() } else { format!("{}bit", mbit * share * 10_000) };
        let options = vec![
            ("rate", format!("{mbit}mbit")),
            ("rtt", format!("{us}us")),
            ("queue", format!("{queue}p")),
            ("access-rate", format!("{access}mbit")),
            ("cross", cross),
            ("size", format!("{bytes}B")),
            // It is known before the transfer has ended.
            ("limit", "1s".to_owned()),
        ];
        let left = (mbit * (100 - share) * 10_000).min(access * 1_000_000);
        let wanted = us * 1_500 + (ip_bytes(bytes, 1_460, 40) * 8_000_000_000).div_ceil(left);
        prop_assert_eq!(nanos(row(&options, "slow-start").ideal_fct_s.flatten()), wanted.cast_signed());
    }

    /// The flow may additionally have had the packets of others that were dropped or still wait, and one due packet of each source.
    #[test]
    fn a_transfer_next_to_constant_rate_traffic_never_exceeds_ideal_plus_losses(
        options in path(), cross in cross(), scheme in scheme(),
    ) {
        let options: Given = options.into_iter().chain(cross).chain([("limit", "100s".to_owned())]).collect();
        let path = scenario(&options);
        let choice = parse_choices(scheme).expect("a scheme").remove(0);
        let Outcome { evidence, cross, .. } = run(&path, &choice, path.seed, false, None, &|| false).expect("a run");
        let Goal::Size(size) = path.goal else { return Err(TestCaseError::fail("no size")) };
        if let Some(end) = evidence.finished_at {
            let packet = u64::from(path.packet());
            let wanted = ip_bytes(size.get(), u64::from(path.mss), packet - u64::from(path.mss));
            let ideal = &evidence.recording.ideal;
            let came = carried(ideal, ideal[0].0, end) / 8_000_000_000;
            let hops = u64::from(path.topology.hops());
            let lacked = (cross.lost + (u64::from(evidence.queue_peak) + 2) * hops) * packet;
            prop_assert!(u128::from(wanted) <= came + u128::from(lacked), "{} of {}, {}", came, wanted, lacked);
        }
    }
}

#[test]
fn an_outage_adds_its_length_to_the_ideal() {
    let ideal = |outage: &str| {
        let options = [("rate", "10mbit"), ("rtt", "20ms"), ("size", "1MB"), ("outage", outage)];
        let options: Given = options.map(|(key, text)| (key, text.to_owned())).into();
        nanos(row(&options, "slow-start").ideal_fct_s.flatten())
    };
    let without = ideal("none");
    assert_eq!(ideal("300ms..800ms") - without, 500_000_000);
    // The ideal takes 0.85 s without outages, and three fall into the longer one.
    assert_eq!(ideal("50ms,every=250ms") - without, 150_000_000);
    assert_eq!(ideal("2s..3s"), without);
}
