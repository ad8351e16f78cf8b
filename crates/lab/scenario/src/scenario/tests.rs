use firstflight::Time;
use firstflight_sim::{CoDelSpec, Discipline};

use super::*;
use crate::options::Options;

fn resolve(options: &[(&str, &str)]) -> Result<Scenario, ScenarioError> {
    let mut set = Options::default();
    for (key, text) in options {
        set.set(key, text).expect(text);
    }
    Scenario::resolve(&set)
}

#[test]
fn a_trace_above_the_rate_is_described_and_raises_the_access_rate() {
    let path = resolve(&[("rate", "10mbit"), ("rtt", "20ms"), ("rate-trace", "0s=10mbit,1s=1gbit")]);
    let path = path.expect("a path");
    assert_eq!((path.rate, path.access_rate), (Rate::from_bps(10_000_000), Rate::from_bps(10_000_000_000)));
    assert!(path.describe().contains("a rate along a trace, 1 Gbit/s at most"), "{}", path.describe());
}

#[test]
fn without_rate_and_rtt_what_is_unset_is_the_built_in_path() {
    let path = resolve(&[]).expect("the built-in path");
    assert_eq!(path, Scenario::default());
    assert_eq!((path.packet(), path.mss), (1000, 960));
    insta::assert_snapshot!(path.canonical());
    let fewer = resolve(&[("cross", "none")]).expect("a path");
    assert_eq!(fewer, Scenario { cross: Cross::None, ..Scenario::default() });
}

#[test]
fn an_initial_window_that_nobody_sets_is_that_of_rfc_6928() {
    let of = |mss| resolve(&[("rate", "10mbit"), ("mss", mss)]).expect("a path").iw;
    assert_eq!(["536", "1460", "1461", "4380", "7301", "8960"].map(of), [10, 10, 9, 3, 2, 2]);
    let record = resolve(&[("rate", "10mbit"), ("mss", "8960"), ("iw", "10p")]).expect("a path");
    assert_eq!(record.iw, 10);
    let built_in = resolve(&[("packet", "9000B")]).expect("a path");
    assert_eq!(built_in.iw, 2, "the built-in path's own");
}

#[test]
fn with_either_what_is_unset_is_the_plain_path() {
    let path = resolve(&[("rate", "10mbit")]).expect("a path");
    assert_eq!((path.rtt, path.mss, path.iw), (Span::from_millis(80), 1460, 10));
    assert_eq!((path.cross, path.ssthresh, path.avoidance), (Cross::None, None, Some("cubic")));
    assert_eq!((path.ack, path.goal), (AckPolicy::Delayed, Goal::Size(Bytes::new(1_000_000))));
    assert_eq!(path.queue_bytes(), Some(Bytes::new(100_000)));
    assert_eq!(path.access_rate, Rate::from_bps(100_000_000));
    assert_eq!(path.reverse_rate, path.access_rate);
    let path = resolve(&[("rtt", "20ms"), ("access-rate", "1gbit")]).expect("a path");
    assert_eq!((path.rate.bps(), path.reverse_rate.bps()), (100_000_000, 1_000_000_000));
}

#[test]
fn each_schemes_own_law_can_be_had_on_any_path() {
    assert_eq!(resolve(&[("rate", "10mbit"), ("avoidance", "own")]).expect("a path").avoidance, None);
    assert_eq!(resolve(&[("avoidance", "own")]).expect("a path").avoidance, None);
}

#[test]
fn timers_have_noise_where_other_flows_share_the_users_path() {
    let noise = |options: &[(&str, &str)]| resolve(options).expect("a path").timer_noise;
    let usual = Some(Span::from_micros(20));
    let own = ("rate", "10mbit");
    assert_eq!(noise(&[own]), None, "alone, no phase matters");
    assert_eq!(noise(&[own, ("cross", "1mbit")]), usual);
    assert_eq!(noise(&[own, ("cross", "cubic:2")]), usual);
    assert_eq!(noise(&[own, ("flows", "20"), ("topology", "dumbbell:hosts=4")]), usual);
    assert_eq!(noise(&[own, ("flow", "scheme=slow-start;scheme=bbr")]), usual);
    assert_eq!(noise(&[]), None, "the paper's simulator has none");
    assert_eq!(noise(&[own, ("cross", "1mbit"), ("timer-noise", "none")]), None);
    assert_eq!(noise(&[own, ("timer-noise", "1ms")]), Some(Span::from_millis(1)));
    for model in [("host-cpu", "list"), ("pacing-timer", "1ms"), ("gso", "64kB")] {
        assert_eq!(
            noise(&[own, ("cross", "1mbit"), model]),
            None,
            "the host's model says when packets leave"
        );
        let error = resolve(&[own, model, ("timer-noise", "20us")]).expect_err("both").to_string();
        assert!(error.contains("timer-noise"), "{error}");
    }
}

#[test]
fn a_packet_size_counts_all_headers() {
    let path = resolve(&[("packet", "1000B"), ("timestamps", "true")]).expect("a path");
    assert_eq!((path.mss, path.packet()), (948, 1000));
    let path = resolve(&[("mss", "1448"), ("timestamps", "true")]).expect("a path");
    assert_eq!(path.packet(), 1500);
}

#[test]
fn a_bdp_queue_is_rate_times_base_rtt_and_one_packet_minimum() {
    let bytes = |rate, queue| {
        let path = resolve(&[("rate", rate), ("rtt", "80ms"), ("queue", queue)]).expect("a path");
        path.queue_bytes().map(Bytes::get)
    };
    assert_eq!(bytes("100mbit", "0.3bdp"), Some(300_000));
    assert_eq!(bytes("100kbit", "0.3bdp"), Some(1_500));
    assert_eq!(bytes("100mbit", "64kB"), Some(64_000));
}

#[test]
fn conflicting_or_out_of_range_options_are_refused() {
    for options in [&[("duration", "5s"), ("limit", "1s")][..], &[("limit", "1h")]] {
        let error = resolve(options).expect_err("a limit of a duration").to_string();
        assert!(error.starts_with("limit: it and duration exclude each other: "), "{error}");
    }
    for (key, value) in
        [("queue", "999B"), ("policer", "1mbit,999B"), ("rwnd", "959B"), ("rwnd", "2GiB"), ("rate", "1bit")]
    {
        let error = resolve(&[(key, value)]).expect_err(value);
        assert!(error.to_string().starts_with(key), "{error}");
    }
    assert!(matches!(
        resolve(&[("queue", "999999999999999999bdp")]),
        Err(ScenarioError { key: "queue", fault: ScenarioFault::TooLarge { .. } })
    ));
}

#[test]
fn the_settings_make_the_same_scenario_again() {
    for options in [
        &[][..],
        &[("rate", "33.3mbit"), ("cross", "tcp:3"), ("jitter", "2ms"), ("loss", "0.5%")],
        &[
            ("queue", "codel:0.5bdp,target=10ms,ecn"),
            ("ecn", "true"),
            ("rate", "10mbit"),
            ("cross", "web:30%"),
        ],
        &[
            ("rate", "10mbit"),
            ("topology", "parking-lot:hops=3,cross=through"),
            ("qs-router", "estimator=ewma,reduction=no,slots=2"),
            ("reverse-queue", "64kB"),
        ],
        &[
            ("rate-trace", "0s=10mbit,2s=0,3s=20mbit"),
            ("policer", "15mbit,64kB"),
            ("ack-aggregation", "16,5ms"),
        ],
        &[("cross", "onoff:40mbit,1s,1s,pareto"), ("queue", "red:100p,min=10p"), ("ack-aggregation", "2ms")],
        &[
            ("rate", "20mbit"),
            ("topology", "dumbbell:hosts=102"),
            ("flows", "2000"),
            ("sizes", "lognormal=1.3"),
            ("mixed", "true"),
        ],
        &[
            ("topology", "parking-lot:hops=10,hosts=12,ways=onward"),
            ("flows", "2"),
            ("arrivals", "every:5s"),
            ("duration", "60s"),
            ("warm-up", "1s"),
        ],
        &[("rtt", "7.5ms"), ("timestamps", "true"), ("size", "20p"), ("queue", "0.3bdp")],
    ] {
        let path = resolve(options).expect("a path");
        let mut again = Options::default();
        for (key, text) in path.settings() {
            again.set(key, &text).expect(&text);
        }
        // The value of `avoidance` that leaves the law to each scheme has this effect only with a rate or an RTT. `settings` always has
        // both.
        let again = Scenario::resolve(&again).expect("the same path");
        assert_eq!(again, path);
        assert_eq!(again.hash(), path.hash());
    }
}

#[test]
fn flows_between_hosts_have_no_cross_traffic_and_time_to_come() {
    let between = [("rate", "20mbit"), ("topology", "dumbbell:hosts=3"), ("flows", "100"), ("size", "100kB")];
    let path = resolve(&between).expect("a path");
    // The last of a hundred flows arrives at twenty per second after ten seconds, and has an hour.
    assert_eq!((path.cross, path.limit), (Cross::None, Span::from_secs(3615)));
    let resolve = |more: (&'static str, &'static str)| resolve(&[&between[..], &[more]].concat());
    let path = resolve(("arrivals", "every:1s")).expect("a path");
    assert_eq!(
        (path.population.as_ref().map(|flows| flows.warm_up), path.limit),
        (Some(Span::ZERO), Span::from_secs(3700))
    );
    assert_eq!(resolve(("cross", "none")), resolve(("seed", "1")));
    for (key, value) in [("rounds", "3"), ("app", "64kB,1s"), ("ack-aggregation", "4")] {
        let error = resolve((key, value)).expect_err(key).to_string();
        assert!(error.starts_with(&format!("{key}: it and flows exclude each other")), "{error}");
    }
}

#[test]
fn arrivals_that_overload_the_path_have_no_warm_up() {
    let of = |size| {
        resolve(&[("rate", "20mbit"), ("topology", "dumbbell:hosts=3"), ("flows", "100"), ("size", size)])
    };
    let flows = |size| of(size).expect("a path").population.expect("flows");
    // Twenty flows arrive per second, half of them in each direction: 8.2 Mbit/s with 100 kB, and 82 Mbit/s with 1 MB.
    assert_eq!((flows("100kB").warm_up, flows("100kB").last_arrival()), (Span::from_secs(10), None));
    assert_eq!((flows("1MB").warm_up, flows("1MB").last_arrival()), (Span::ZERO, Some(100)));
}

#[test]
fn a_population_whose_limit_lies_in_its_warm_up_is_refused() {
    let of = |limit| {
        [
            ("topology", "dumbbell:hosts=4"),
            ("flows", "20"),
            ("size", "10kB"),
            ("rtt", "40ms"),
            ("limit", limit),
        ]
    };
    assert_eq!(
        resolve(&of("10s")).expect_err("nothing is measured").to_string(),
        "limit: within 10s nothing is measured, for the warm-up takes 10s; more is wanted, or a shorter warm-up"
    );
    assert!(resolve(&of("10001ms")).is_ok());
}

#[test]
fn a_path_of_several_hops_or_a_slow_way_back_says_so() {
    let words = |options: &[(&str, &str)]| resolve(options).expect("a path").describe();
    let lot = words(&[("topology", "parking-lot:hops=3")]);
    assert!(lot.starts_with("parking lot of 3 hops, each 100 Mbit/s, 80 ms base RTT"), "{lot}");
    assert!(lot.contains(", 40 Mbit/s CBR across each hop, "), "{lot}");
    let web = words(&[("topology", "parking-lot:hops=3,cross=2"), ("cross", "poisson:2,200p")]);
    assert!(web.contains(", 2 TCP transfers a second of 200 packets across hop 2, in the mean, "), "{web}");
    let slow = words(&[("rate", "10mbit"), ("reverse-rate", "50kbit"), ("reverse-queue", "10p")]);
    assert!(slow.contains(", no cross traffic, 50 kbit/s back, queue back of 10 packets, "), "{slow}");
    let slow = words(&[("reverse-queue", "64kB"), ("cross", "web:0.3")]);
    assert!(slow.contains(", web pages across that offer 30 % of the rate, queue back of 64 kB, "), "{slow}");
    assert!(!words(&[]).contains("back"));
}

#[test]
fn an_access_link_that_is_no_faster_than_the_bottleneck_is_named() {
    let words = |options: &[(&str, &str)]| resolve(options).expect("a path").describe();
    let slow = words(&[("rate", "10mbit"), ("access-rate", "1mbit")]);
    assert!(slow.starts_with("10 Mbit/s, access link of 1 Mbit/s, 80 ms base RTT, "), "{slow}");
    let slow = words(&[("rate", "1mbit"), ("rate-trace", "0s=10mbit,1s=5mbit"), ("access-rate", "10mbit")]);
    assert!(slow.contains("10 Mbit/s at most, access link of 10 Mbit/s, "), "{slow}");
    let hosts = [("topology", "dumbbell:hosts=3"), ("flows", "9"), ("access-rate", "1mbit")];
    assert!(words(&hosts).contains(", access links of 1 Mbit/s, "));
    assert!(!words(&[("rate", "10mbit"), ("access-rate", "11mbit")]).contains("access"));
}

#[test]
fn a_duration_is_all_the_time_there_is_however_long() {
    let limit = |options: &[(&str, &str)]| resolve(options).expect("a path").limit;
    assert_eq!(limit(&[("duration", "3h")]), Span::from_secs(3 * 3600));
    assert_eq!(limit(&[]), Span::from_secs(50));
    let hosts = [("topology", "dumbbell:hosts=3"), ("flows", "9"), ("duration", "2h"), ("warm-up", "30s")];
    assert_eq!(limit(&hosts), Span::from_secs(2 * 3600 + 30));
}

#[test]
fn a_trace_alone_sets_the_rate_that_scales_other_things() {
    let path = resolve(&[("rate-trace", "0s=10mbit,2s=30mbit,3s=20mbit")]).expect("a path");
    assert_eq!((path.rate.bps(), path.access_rate.bps()), (30_000_000, 300_000_000));
    assert_eq!((path.cross, path.queue_bytes()), (Cross::None, Some(Bytes::new(300_000))));
}

#[test]
fn managed_queues_have_source_defaults_and_red_thresholds_from_the_limit() {
    let of = |queue| resolve(&[("queue", queue)]).map(|path| path.discipline());
    let Ok(Discipline::CoDel(codel)) = of("codel:1000p") else { panic!("CoDel") };
    assert_eq!(codel, CoDelSpec::default());
    let Ok(Discipline::FqCoDel(fq)) = of("fq-codel:1000p,flows=8,ecn") else { panic!("FQ-CoDel") };
    assert_eq!((fq.flows, fq.quantum, fq.codel.ecn), (8, 1_514, true));
    let Ok(Discipline::Pie(pie)) = of("pie:1000p,target=20ms") else { panic!("PIE") };
    assert_eq!((pie.target, pie.packet), (Span::from_millis(20), 1_000));
    let thresholds = |queue| match of(queue) {
        Ok(Discipline::Red(red)) => (red.min, red.max),
        other => panic!("{other:?}"),
    };
    assert_eq!(thresholds("red:300p"), (50, 150));
    assert_eq!(thresholds("red:300p,max=90p"), (30, 90));
    assert_eq!(thresholds("red:300kB,min=0.01bdp"), (10_000, 150_000));
    assert_eq!(of("red:300p,min=150p"), Err(ScenarioFault::Thresholds { min: 150, max: 150 }.of("queue")));
    assert_eq!(of("1000p"), Ok(Discipline::DropTail));
    let words = resolve(&[("queue", "codel:1000p,ecn"), ("ecn", "true")]).expect("a path").describe();
    assert!(words.contains("CoDel queue of 1000 packets that marks"), "{words}");
    let words = resolve(&[("queue", "1p")]).expect("a path").describe();
    assert!(words.contains("drop-tail queue of 1 packet,"), "{words}");
}

#[test]
fn the_hash_moves_with_every_setting_and_not_with_the_seed() {
    let base = resolve(&[]).expect("a path").hash();
    assert_eq!(resolve(&[("seed", "9"), ("runs", "3")]).expect("a path").hash(), base);
    for (key, text) in [
        ("queue", "999p"),
        ("queue", "codel:1000p"),
        ("iw", "3p"),
        ("timestamps", "true"),
        ("reverse-rtt-share", "0.4"),
        ("ecn", "true"),
        ("policer", "50mbit,64kB"),
        ("ack-aggregation", "5ms"),
        ("app", "64kB,200ms"),
    ] {
        assert_ne!(resolve(&[(key, text)]).expect("a path").hash(), base, "{key}");
    }
}

#[test]
fn an_application_that_stops_and_goes_is_said_and_has_its_time() {
    let path = resolve(&[("rate", "10mbit"), ("size", "1MB"), ("app", "100p,200ms")]).expect("a path");
    let writes = path.app.expect("writes");
    assert_eq!((writes.bytes.get(), writes.count(Bytes::new(1_000_000))), (146_000, 7));
    assert_eq!(path.limit, Span::from_secs(3600) + Span::from_millis(1_400));
    assert!(
        path.describe().ends_with("1 MB to transfer, written 146 kB every 200 ms"),
        "{}",
        path.describe()
    );
    let again = crate::parse_file(&path.canonical()).expect("a scenario");
    assert_eq!(Scenario::resolve(&again.options), Ok(path));
    let refused = |options: &[_]| resolve(options).expect_err("no sense").to_string();
    assert!(
        refused(&[("app", "1p,1s"), ("rounds", "2")]).starts_with("rounds: it and app exclude each other")
    );
    assert!(refused(&[("app", "1B,1s"), ("size", "100001B")]).contains("100001 writes are too many"));
    assert!(refused(&[("app", "1B,1ns"), ("duration", "1s")]).contains("too many"));
}

#[test]
fn a_first_timeout_below_the_minimum_is_refused_where_that_bounds_timeouts() {
    let of = |more: &[(&str, &str)]| resolve(&[&[("rtt", "20ms"), ("initial-rto", "300ms")], more].concat());
    assert_eq!(
        of(&[]).expect_err("a second at least").to_string(),
        "initial-rto: 300ms is less than the minimum timeout of 1s; give at least that, or a lower min-rto"
    );
    for more in [("min-rto", "200ms"), ("rto-floor", "variation"), ("stack", "linux")] {
        assert!(of(&[more]).is_ok(), "{more:?}");
    }
    assert!(resolve(&[("min-rto", "2s")]).is_ok(), "what nobody sets is the least timeout");
}

#[test]
fn fnv_1a_agrees_with_its_published_vectors() {
    assert_eq!(fnv_1a(b""), 0xcbf2_9ce4_8422_2325);
    assert_eq!(fnv_1a(b"a"), 0xaf63_dc4c_8601_ec8c);
    assert_eq!(fnv_1a(b"foobar"), 0x8594_4171_f739_67e8);
}

#[test]
fn the_command_leaves_nothing_to_defaults() {
    insta::assert_snapshot!(
        resolve(&[]).expect("a path").command("firstflight", "slow-start,paced:first=10")
    );
}

#[test]
fn a_title_says_what_random_loss_and_jitter_there_are() {
    let describe = |given: &[(&str, &str)]| resolve(given).expect("a path").describe();
    let title = describe(&[("jitter", "8ms"), ("loss", "2%")]);
    assert!(title.contains("up to 8 ms of jitter, random loss of 2 %, "), "{title}");
    assert!(describe(&[("loss", "0.0025")]).contains("random loss of 0.25 %, "));
    let title = describe(&[]);
    assert!(!title.contains("jitter") && !title.contains("loss"), "{title}");
}

#[test]
fn flows_that_end_at_one_receiver_do_not_share_a_receivers_link() {
    let path = |cross| resolve(&[("rate", "20mbit"), ("receiver-access-rate", "5mbit"), ("cross", cross)]);
    for cross in ["poisson:50,20kB", "web:50%"] {
        let error = path(cross).expect_err(cross);
        assert_eq!(error.key, "receiver-access-rate");
        assert!(error.to_string().contains("all end at one receiver"), "{error}");
    }
    for cross in ["none", "5mbit", "tcp:2"] {
        assert!(path(cross).is_ok(), "{cross}");
    }
}

#[test]
fn a_trace_between_hosts_is_of_both_directions_and_nothing_else_is() {
    let many = |key, value| {
        resolve(&[
            ("rate", "20mbit"),
            ("rtt", "40ms"),
            ("size", "30kB"),
            ("flows", "5"),
            ("topology", "dumbbell:hosts=4"),
            ("rate-trace", "0s=10mbit,1s=20mbit"),
            (key, value),
        ])
    };
    for (key, value) in [("ack-loss", "2%"), ("reverse-queue", "10p"), ("reverse-rtt-share", "0.2")] {
        let path = many(key, value).expect(key);
        assert!(path.settings().contains(&(key, value.replace("2%", "0.02"))), "{key}");
    }
    let error = many("reverse-rate", "5mbit").expect_err("two directions").to_string();
    assert!(
        error.starts_with("reverse-rate: it and rate-trace exclude each other: between hosts"),
        "{error}"
    );
}

#[test]
fn outages_repeat_until_the_latest_end_of_a_run_whatever_its_cross_traffic() {
    for cross in ["none", "5mbit", "tcp:2", "web:40%", "poisson:8,10kB", "poisson:30mbit,10kB"] {
        let mut options = Options::default();
        for (key, text) in [
            ("rate", "10mbit"),
            ("rtt", "40ms"),
            ("limit", "60s"),
            ("outage", "50ms,every=1s"),
            ("cross", cross),
        ] {
            options.set(key, text).expect(text);
        }
        let scenario = Scenario::resolve(&options).expect(cross);
        let end = scenario.flow_start() + scenario.limit;
        let rates = scenario.rates().expect("a rate over time");
        let last = rates.steps().iter().rfind(|(_, rate)| *rate == Rate::ZERO).expect("outages").0;
        assert!(last.since(Time::ZERO) + Span::from_secs(1) >= end, "{cross}: {last:?}");
    }
}

#[test]
fn an_outage_is_refused_along_a_trace_that_repeats_or_starts_later() {
    for (trace, fits) in [
        ("0s=10mbit,2s=5mbit", true),
        ("0s=10mbit,2s=5mbit,loop=4s", false),
        ("0s=10mbit,2s=5mbit,start=1s", false),
        ("lte", false),
    ] {
        let keys = [
            ("rate", "10mbit"),
            ("rtt", "20ms"),
            ("size", "1MB"),
            ("outage", "1s..2s"),
            ("rate-trace", trace),
        ];
        assert_eq!(resolve(&keys).is_ok(), fits, "{trace}: {:?}", resolve(&keys).err());
    }
}
