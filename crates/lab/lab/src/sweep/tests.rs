use super::*;
use crate::{How, parse_sweep, race};
use firstflight_scenario::keys::keys;
use firstflight_scenario::keywords::Cross;
use firstflight_scenario::kind::Kind;
use firstflight_scenario::parse_choices;
use std::sync::Mutex;

const DRAWN: &str = "paths = 40\nseed = 7\npart = 6\ngive-up = 20\nschemes = [\"slow-start\", \"paced\"]\n[path]\n\
    rate = { log-uniform = [\"1mbit\", \"20mbit\"] }\nrtt = { uniform = [\"2ms\", \"90ms\"] }\n\
    queue = { log-uniform = [\"0.05bdp\", \"4bdp\"] }\nsize = { log-uniform = [\"30kB\", \"200kB\"] }\n\
    cross = { one-of = [\"none\", { cbr = { uniform = [\"0%\", \"80%\"] } }] }\n\
    loss = { one-of = [\"0\", { log-uniform = [\"0.001%\", \"1%\"] }] }\nack = { one-of = [\"every\", \"linux\"] }\n";

fn sweep(text: &str) -> Sweep {
    parse_sweep(text).expect(text)
}

#[test]
fn drawn_values_stay_within_bounds_and_cover_all_choices() {
    let sweep = sweep(&DRAWN.replace("paths = 40", "paths = 4000"));
    let paths: Vec<Scenario> = (0..sweep.paths()).map(|path| sweep.scenario(path).expect("a path")).collect();
    let mbit = |path: &Scenario| path.rate.bps() / 1_000_000;
    assert!(paths.iter().all(|path| (1_000_000..=20_000_000).contains(&path.rate.bps())));
    let share = |below: u64| paths.iter().filter(|path| mbit(path) < below).count();
    // The distribution is log-uniform over a factor of 20: ln 4 / ln 20 = 46 % of the values are below 4 Mbit/s. Five standard deviations
    // are 158 values.
    assert!(share(4).abs_diff(1851) < 158, "{}", share(4));
    for path in &paths {
        assert!(path.loss.to_f64() <= 0.01);
        match path.cross {
            Cross::Cbr(rate) => {
                assert!(rate.bps() * 10 <= path.rate.bps() * 8 + 10_000, "{rate:?} of {:?}", path.rate);
            }
            other => assert_eq!(other, Cross::None),
        }
    }
    let half =
        |is: &dyn Fn(&Scenario) -> bool| paths.iter().filter(|path| is(path)).count().abs_diff(2000) < 158;
    assert!(half(&|path| path.cross == Cross::None) && half(&|path| path.loss.is_zero()));
    assert!(half(&|path| path.ack == firstflight_tcp::AckPolicy::Every));
}

#[test]
fn a_draw_depends_on_its_seed_option_and_index_alone() {
    let (few, more) = (sweep(DRAWN), sweep(&DRAWN.replace("paths = 40", "paths = 400")));
    let without = sweep(&DRAWN.replace("rtt = { uniform = [\"2ms\", \"90ms\"] }", "rtt = \"50ms\""));
    for path in 0..40 {
        let scenario = few.scenario(path).expect("a path");
        assert_eq!(Ok(&scenario), more.scenario(path).as_ref());
        assert_eq!(scenario.rate, without.scenario(path).expect("a path").rate);
    }
    let other = sweep(&DRAWN.replace("seed = 7", "seed = 8"));
    assert_ne!(few.scenario(0).expect("a path").rate, other.scenario(0).expect("a path").rate);
}

#[test]
fn lists_expand_to_all_combinations_with_the_last_fastest_per_draw() {
    let text = "paths = 2\n[path]\nrate = [\"1mbit\", \"2mbit\"]\nrtt = { uniform = [\"10ms\", \"20ms\"] }\n\
        ack = [\"every\", \"delayed\", \"linux\"]\n";
    let sweep = sweep(text);
    assert_eq!((sweep.paths(), sweep.parts(), sweep.paths_of(1)), (12, 2, 10..12));
    let of = |path| sweep.scenario(path).expect("a path");
    let rates: Vec<u64> = (0..12).map(|path| of(path).rate.bps() / 1_000_000).collect();
    assert_eq!(rates, [1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2]);
    assert_eq!(of(0).ack, of(3).ack);
    assert_ne!(of(0).ack, of(1).ack);
    assert_eq!(of(0).rtt, of(5).rtt, "one draw");
    assert_ne!(of(0).rtt, of(6).rtt);
    let seeds: Vec<u64> = (0..12).map(|path| of(path).seed).collect();
    assert_eq!(seeds, (0..12).map(|path| 1 + 2 * path).collect::<Vec<_>>());
}

#[test]
fn a_run_is_given_up_after_so_many_ideal_times() {
    let text = "give-up = 20\n[path]\nrate = \"10mbit\"\nrtt = \"100ms\"\nsize = \"1460kB\"\ncross = CROSS\n";
    let limit = |cross: &str| sweep(&text.replace("CROSS", cross)).scenario(0).map(|path| path.limit.nanos());
    // The ideal completion time is that of 1000 packets of 1500 bytes at 10 Mbit/s, plus 150 ms.
    assert_eq!(limit("\"none\""), Ok(20 * 1_350_000_000));
    assert_eq!(limit("\"5mbit\""), Ok(20 * 2_550_000_000));
    assert_eq!(limit("{ cbr = \"50%\" }"), Ok(20 * 2_550_000_000));
    assert_eq!(limit("\"tcp:1\""), Ok(20 * 2_550_000_000));
    assert!(limit("\"web:50%\"").expect_err("no").to_string().contains("path 0: give-up needs a size"));
}

#[test]
fn the_hash_is_of_what_is_said_not_of_how() {
    let hash = |text: &str| sweep(text).hash().expect("a hash");
    assert_eq!(hash(DRAWN), hash(&format!("# the same\n{DRAWN}")));
    for (from, to) in [
        ("paths = 40", "paths = 41"),
        ("seed = 7", "seed = 8"),
        ("part = 6", "part = 7"),
        ("give-up = 20", "give-up = 21"),
        ("\"paced\"", "\"paced:first=9\""),
        ("90ms", "91ms"),
    ] {
        assert_ne!(hash(DRAWN), hash(&DRAWN.replace(from, to)), "{to}");
    }
}

#[test]
fn faults_are_shown_in_their_place() {
    let fault = |text: &str| {
        let error = parse_sweep(text).expect_err(text);
        assert!(!error.message.contains('\n'), "{}", error.message);
        format!("{}:{} {}", error.line, error.column, error.message)
    };
    for (text, place, says) in [
        ("pathss = 3\n", "1:1", "is `paths` meant?"),
        ("paths = 0\n", "1:9", "from 1 to"),
        ("runs = \"x\"\n", "1:8", "whole number"),
        ("schemes = [\"slwo-start\"]\n", "1:11", "is `slow-start` meant?"),
        ("[path]\nrtt = \"80\"\n", "2:7", "as in `80ms`"),
        ("[path]\nseed = 3\n", "2:1", "no key `seed`"),
        ("[path]\nrtt = []\n", "2:7", "empty list"),
        ("[path]\nrtt = [[\"1ms\"]]\n", "2:8", "is wanted"),
        ("[path]\nrtt = { log-unifrom = [\"1ms\", \"2ms\"] }\n", "2:9", "is `log-uniform` meant?"),
        ("[path]\nrtt = { uniform = \"1ms\" }\n", "2:19", "a list is wanted"),
        ("[path]\nrtt = { uniform = [\"1ms\"] }\n", "2:19", "two ends"),
        ("[path]\nrtt = { uniform = [\"1ms\", \"1 parsec\"] }\n", "2:27", "`1 parsec`"),
        ("[path]\nrtt = { uniform = [\"2ms\", \"1ms\"] }\n", "2:27", "above the first"),
        ("[path]\nloss = { log-uniform = [\"0\", \"1%\"] }\n", "2:25", "above zero"),
        ("[path]\nack = { uniform = [\"every\", \"linux\"] }\n", "2:20", "ranges are of"),
        ("[path]\nrate = { cbr = \"10%\" }\n", "2:10", "no key `cbr`"),
        ("[path]\ncross = { cbr = \"120%\" }\n", "2:17", "fraction"),
        ("[path]\nrate = { share = \"10%\" }\n", "2:10", "no key `share`"),
        (
            "[path]\nreverse-rate = { share = \"0%\" }\n",
            "2:26",
            "reverse-rate: a share of nothing is no rate",
        ),
        ("[path]\nreverse-rate = { share = [\"1%\"] }\n", "2:26", "as in `share = \"40%\"`"),
        ("[path]\nack-aggregation = { uniform = [\"4\", \"5ms\"] }\n", "2:37", "count the same thing"),
        ("paths = 3\n[path]\nrtt = \"1ms\"\n", "1:9", "nothing is drawn"),
        ("[path]\nrtt = { uniform = [\"1ms\", \"2ms\"] }\n", "1:1", "say how often"),
        ("[path]\nrtt = \n", "2:7", ""),
    ] {
        let said = fault(text);
        assert!(said.starts_with(&format!("{place} ")) && said.contains(says), "{text} said {said}");
    }
}

#[test]
fn rows_are_those_of_races_whatever_the_threads() {
    let sweep = sweep(&DRAWN.replace("paths = 40", "paths = 7").replace("seed = 7", "seed = 7\nruns = 2"));
    let parts: Vec<u64> = (0..sweep.parts()).collect();
    let of = |jobs: usize| {
        let put = Mutex::new(Vec::new());
        let keep = |part: u64, rows: Vec<SweptRow>| -> Result<(), ()> {
            put.lock().expect("one at a time").push((part, rows));
            Ok(())
        };
        race_parts(&sweep, &parts, jobs, &|| false, &|| (), &keep).expect("parts");
        let mut parts = put.into_inner().expect("nobody failed");
        parts.sort_by_key(|(part, _)| *part);
        assert_eq!(parts.iter().map(|(part, _)| *part).collect::<Vec<_>>(), [0, 1]);
        parts.into_iter().flat_map(|(_, rows)| rows).collect::<Vec<_>>()
    };
    let rows = of(1);
    assert_eq!(rows.len() as u64, sweep.paths() * sweep.rows_a_path());
    assert_eq!(rows, of(3));
    let raced: Vec<_> = (0..7)
        .flat_map(|path| {
            let scenario = sweep.scenario(path).expect("a path");
            race(&scenario, &sweep.choices, &How::default()).expect("a race")
        })
        .flat_map(|result| result.rows)
        .collect();
    assert_eq!(rows.into_iter().map(|swept| swept.row).collect::<Vec<_>>(), raced);
}

#[test]
fn ranges_of_quantitative_keys_draw_values_accepted_by_the_key() {
    for key in keys().filter(|key| key.sweeps) {
        let (low, high) = match key.kind {
            Kind::Rate => ("1mbit", "2mbit"),
            Kind::Span => ("2s", "3s"),
            Kind::Size => ("2kB", "4kB"),
            Kind::Queue => ("1bdp", "2bdp"),
            Kind::Share => ("0.1", "0.2"),
            Kind::SpanOrCount => ("4", "32"),
            _ => continue,
        };
        // For a key whose values are words, the value is one of the key's examples.
        let value =
            |other: &str| match keys().find(|key| key.name == other).map(|key| (&key.kind, key.examples)) {
                Some((Kind::Word(_), [example, ..])) => format!("\"{example}\""),
                _ => "3".to_owned(),
            };
        let needed = key.needs.map(|need| format!("{} = {}\n", need.other, value(need.other)));
        let needed = needed.unwrap_or_default();
        let range = format!("{} = {{ uniform = [\"{low}\", \"{high}\"] }}\n", key.name);
        let own = if key.name == "rtt" { "rate = \"5mbit\"\n" } else { "rtt = \"80ms\"\n" };
        let sweep = sweep(&format!("paths = 3\n[path]\n{own}{needed}{range}"));
        for path in 0..3 {
            assert!(sweep.scenario(path).is_ok(), "{}: {:?}", key.name, sweep.scenario(path));
        }
    }
}

#[test]
fn the_rate_of_another_link_may_be_a_share_of_the_paths() {
    let drawn = sweep(
        "paths = 40\n[path]\nrate = { log-uniform = [\"1mbit\", \"10gbit\"] }\n\
         reverse-rate = { share = { log-uniform = [\"0.5%\", \"5%\"] } }\n",
    );
    let mut shares = Vec::new();
    for path in 0..40 {
        let scenario = drawn.scenario(path).expect("a path");
        #[expect(clippy::cast_precision_loss, reason = "rates are at most 10^13")]
        shares.push(scenario.reverse_rate.bps() as f64 / scenario.rate.bps() as f64);
    }
    assert!(shares.iter().all(|share| (0.004_99..0.050_1).contains(share)), "{shares:?}");
    assert!(
        shares.iter().any(|share| *share < 0.01) && shares.iter().any(|share| *share > 0.025),
        "{shares:?}"
    );
    let without = sweep("[path]\nrtt = \"80ms\"\nreverse-rate = { share = \"1%\" }\n").scenario(0);
    let error = without.expect_err("no rate to take a share of").to_string();
    assert!(error.contains("reverse-rate: a share of the rate needs `rate`"), "{error}");
}

/// Returns the rows of all paths of a sweep.
fn swept(text: &str) -> Vec<SweptRow> {
    let (sweep, put) = (sweep(text), Mutex::new(Vec::new()));
    let keep = |_, rows: Vec<SweptRow>| -> Result<(), ()> {
        put.lock().expect("one at a time").extend(rows);
        Ok(())
    };
    let parts: Vec<u64> = (0..sweep.parts()).collect();
    race_parts(&sweep, &parts, 2, &|| false, &|| (), &keep).expect("parts");
    put.into_inner().expect("nobody failed")
}

#[test]
fn no_unassisted_start_up_alone_finishes_before_the_one_round_trip_ideal() {
    let rows = swept(
        "paths = 12\nseed = 5\nschemes = [\"slow-start\", \"bbr\", \"suss\", \"rapid-start:initial=1\"]\n[path]\n\
         rate = { log-uniform = [\"1mbit\", \"300mbit\"] }\nrtt = { log-uniform = [\"5ms\", \"200ms\"] }\n\
         queue = { log-uniform = [\"0.5bdp\", \"4bdp\"] }\nsize = { log-uniform = [\"10kB\", \"1MB\"] }\n",
    );
    assert_eq!(rows.len(), 48);
    let mut near = 0;
    for row in &rows {
        let (bound, fct) =
            (row.early.bound_fct_s.expect("a bound"), row.row.fct_s.flatten().expect("it ends"));
        let ideal = row.row.ideal_fct_s.flatten().expect("an ideal");
        assert!(bound >= ideal * (1.0 - 1e-9), "{bound} {ideal}");
        assert!(fct >= bound * (1.0 - 1e-6), "{} over path {}: {fct} {bound}", row.row.scheme, row.path.path);
        near += usize::from(fct < bound * 1.05);
        // The run's early deliveries are at most the bound's deliveries plus one packet, because a packet is delivered whole.
        for (bound, own) in row.early.delivered() {
            #[expect(clippy::cast_precision_loss, reason = "bytes are far below 2^53")]
            let own = own as f64;
            assert!(
                own <= bound.expect("a bound") + 1460.0,
                "{} over path {}",
                row.row.scheme,
                row.path.path
            );
        }
    }
    assert!(near >= 6, "a bound that some reach: {near}");
    // A path with varying other traffic has no bound.
    let rows = swept(
        "schemes = [\"slow-start\"]\n[path]\nrate = \"10mbit\"\nrtt = \"20ms\"\nsize = \"30kB\"\ncross = \"poisson:1,10kB\"\n",
    );
    assert_eq!((rows[0].early.bound_fct_s, rows[0].early.bound_bytes_2), (None, None));
}

#[test]
fn queue_drops_are_counted_separately_from_random_loss() {
    let rows = swept(
        "schemes = [\"slow-start\"]\n[path]\nrate = \"20mbit\"\nrtt = \"40ms\"\nsize = \"2MB\"\nqueue = [\"4bdp\", \"0.1bdp\"]\nloss = [\"0\", \"2%\"]\n",
    );
    let of = |path: usize| (rows[path].row.packets_lost, rows[path].early.queue_lost_packets);
    assert_eq!(of(1).1, 0, "random loss keeps the window under a queue of four products");
    assert!(of(1).0 > 10);
    let (lost, by_queue) = of(2);
    assert!(lost > 0 && lost == by_queue, "{lost} {by_queue}");
    let (lost, by_queue) = of(3);
    assert!(by_queue < lost, "{lost} {by_queue}");
}

#[test]
fn byte_counting_slow_start_is_added_where_schemes_count_more_than_acks() {
    let rows = |schemes: &str| {
        let text = format!(
            "runs = 2\nschemes = [\"{schemes}\"]\n[path]\nrate = \"100mbit\"\nrtt = \"50ms\"\nsize = \"300kB\"\n\
             queue = \"4bdp\"\nloss = \"0.1%\"\nack = [\"every\", \"delayed\"]\n"
        );
        let (sweep, put) = (sweep(&text), Mutex::new(Vec::new()));
        let keep = |_, rows: Vec<SweptRow>| -> Result<(), ()> {
            put.lock().expect("one at a time").extend(rows);
            Ok(())
        };
        race_parts(&sweep, &[0], 2, &|| false, &|| (), &keep).expect("parts");
        let raced = race(
            &sweep.scenario(1).expect("a path"),
            &parse_choices("slow-start:slow-start-counts=bytes").expect("a scheme"),
            &How::default(),
        );
        (put.into_inner().expect("nobody failed"), raced.expect("a race").remove(0))
    };
    let (swept, raced) = rows("slow-start,hystart++");
    let of = |path: u64| swept.iter().filter(move |row| row.path.path == path);
    assert!(of(0).all(|row| row.beside == Beside::NOT_RACED), "an ACK a segment has nothing to count");
    assert_eq!(of(1).count(), 4);
    for row in of(1) {
        let same = raced.rows.iter().find(|other| other.seed == row.row.seed).expect("the seed");
        let beside = Beside { bytes_raced: 1, bytes_cost: same.cost.flatten() };
        assert_eq!(row.beside, beside, "{} with seed {}", row.row.scheme, row.row.seed);
    }
    assert!(rows("slow-start,search").0.iter().all(|row| row.beside == Beside::NOT_RACED), "all count ACKs");
}

#[test]
fn a_population_is_a_draw_for_each_path_with_its_weight_and_name() {
    let file = std::env::temp_dir().join(format!("firstflight-population-{}.csv", std::process::id()));
    let text = "rate,rtt,weight,name\n10mbit,40ms,3,home\n2mbit,80ms,1,\n";
    std::fs::write(&file, text).expect("a file");
    let over = file.to_str().expect("a name");
    let parse = |text: &str| Sweep::parse_over(Registry::builtin(), text, Some(over));
    let sweep = parse("schemes = [\"slow-start\"]\n[path]\nsize = [\"50kB\", \"100kB\"]\n").expect("a sweep");
    assert_eq!((sweep.paths(), sweep.samples()), (4, 2));
    let facts = |path| sweep.facts(path, &sweep.scenario(path).expect("a path"));
    assert_eq!((facts(1).path_weight, facts(1).path_name.as_deref()), (3.0, Some("home")));
    assert_eq!(
        (facts(1).path_size_bytes, facts(2).path_rate_bps, facts(2).path_name),
        (Some(100_000), 2e6, None)
    );
    assert_eq!(sweep.population.as_ref().map(PathList::to_csv).as_deref(), Some(text));
    // The weights are part of the sweep, because a score depends on them.
    let before = sweep.hash();
    std::fs::write(&file, text.replace("40ms,3", "40ms,4")).expect("a file");
    assert_ne!(
        parse("schemes = [\"slow-start\"]\n[path]\nsize = [\"50kB\", \"100kB\"]\n").expect("a sweep").hash(),
        before
    );
    for (text, says) in [
        ("paths = 3\n", "paths: the population says how many there are"),
        ("[path]\nrtt = \"10ms\"\n", "rtt: `population` and `path` both have it"),
    ] {
        assert_eq!(parse(text).expect_err(text).message, says);
    }
    assert_eq!(
        parse("population = \"mlab:DE\"\n").expect("the other").paths(),
        2,
        "the command line's counts"
    );
    std::fs::write(&file, "rate,rtt\n10mbit,40\n").expect("a file");
    assert_eq!(parse("").expect_err("no unit").message.split(": ").nth(2), Some("rtt"));
    std::fs::remove_file(&file).expect("a file");
}

#[test]
fn a_list_by_hand_is_the_same_sweep_as_the_population_that_printed_it() {
    let of = |over: &str| {
        Sweep::parse_over(Registry::builtin(), "[path]\nsize = \"100kB\"\n", Some(over)).expect(over)
    };
    let drawn = of("mlab:IN,paths=20");
    let file = std::env::temp_dir().join(format!("firstflight-mlab-{}.csv", std::process::id()));
    std::fs::write(&file, drawn.population.as_ref().expect("a population").to_csv()).expect("a file");
    assert_eq!(drawn.hash(), of(file.to_str().expect("a name")).hash());
    std::fs::remove_file(&file).expect("a file");
}

#[test]
fn paths_of_a_list_are_separate_samples_if_nothing_is_drawn() {
    assert_eq!(sweep("[path]\nrtt = [\"1ms\", \"2ms\"]\nack = [\"every\", \"linux\"]\n").samples(), 4);
    assert_eq!(sweep(DRAWN).samples(), 40);
}
