use super::values::MOST_STEPS;
use super::*;
use crate::keys::key;
use crate::options::Options;
use crate::scenario::Scenario;

/// A file that is removed at the end of a test.
struct File(PathBuf);

impl File {
    fn new(name: &str, content: &str) -> Self {
        let path = std::env::temp_dir().join(format!("firstflight-traces-{}-{name}", std::process::id()));
        std::fs::write(&path, content).expect("a file");
        Self(path)
    }

    fn with(&self, prefix: &str, words: &str) -> String {
        format!("{prefix}{}{words}", self.0.display())
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn scenario(key: &str, text: &str) -> Scenario {
    let mut options = Options::default();
    for (key, text) in [("rtt", "80ms"), (key, text)] {
        options.set(key, text).expect(text);
    }
    Scenario::resolve(&options).expect("a scenario")
}

fn text(name: &str, scenario: &Scenario) -> String {
    (key(name).expect("a key").show)(scenario).expect("a text")
}

#[test]
fn a_file_of_times_and_rates_is_the_list_and_has_its_hash() {
    let list = "0s=10mbit,2s=0,3s=20mbit";
    let wanted = scenario("rate-trace", list);
    for content in [
        "0s 10mbit\n2s 0\n3s 20mbit\n",
        "0s,10mbit\r\n2s, 0\r\n3s,20mbit\r\n",
        "# rates\n0s\t10mbit\n\n2s 0bit # outage\n3s 20mbit",
    ] {
        let file = File::new("list", content);
        for prefix in ["", "steps:"] {
            let own = scenario("rate-trace", &file.with(prefix, ""));
            assert_eq!((own.hash(), own.rate_trace.as_ref()), (wanted.hash(), wanted.rate_trace.as_ref()));
        }
    }
}

#[test]
fn mahimahis_lines_are_opportunities_and_their_text_is_a_digest() {
    let file = File::new("link.down", "0\n3\n3\n7\n");
    let own = scenario("rate-trace", &file.with("", ""));
    assert_eq!(own.rate_trace.as_ref().and_then(RateTrace::millis), Some(&[0, 3, 3, 7][..]));
    // The digest is the beginning of what `sha256sum` prints.
    assert_eq!(text("rate-trace", &own), "mahimahi:sha256=aeb2a89cebe9583c338ee841e3d68ead");
    let moved = scenario("rate-trace", &file.with("mahimahi:", ",start=2ms"));
    assert!(text("rate-trace", &moved).ends_with(",start=2ms") && moved.hash() != own.hash());
    let same = File::new("copy", "0\n3\n3\n7\n");
    assert_eq!(scenario("rate-trace", &same.with("", ",loop")).hash(), own.hash(), "it repeats anyway");
    let other = File::new("other", "0\n3\n3\n8\n");
    assert_ne!(scenario("rate-trace", &other.with("", "")).hash(), own.hash());
}

#[test]
fn a_long_trace_is_read_and_its_text_is_short() {
    let lines: String = (0..50_000)
        .fold(String::new(), |lines, step| lines + &format!("{step}ms {}kbit\n", 1_000 + step % 7));
    let file = File::new("long", &lines);
    let own = scenario("rate-trace", &file.with("", ",loop,start=random"));
    assert_eq!(own.rate_trace.as_ref().map(|trace| trace.steps().len()), Some(49_999));
    let text = text("rate-trace", &own);
    assert!(text.starts_with("steps:sha256=") && text.ends_with(",loop=49999ms,start=random"), "{text}");
    let many = "1\n".repeat(MOST_STEPS + 1);
    let file = File::new("endless", &many);
    let error = rates(&file.with("", "")).expect_err("too many").to_string();
    assert!(error.contains("is too large"), "{error}");
}

#[test]
fn netem_traces_models_are_read_with_and_without_units_in_words() {
    let words = r#"{"RepeatedBwPatternConfig":{"pattern":[{"StaticBwConfig":{"bw":"12Mbps","duration":"1s"}},
        {"StaticBwConfig":{"bw":"24Mbps","duration":"1s 500ms"}}],"count":0}}"#;
    let numbers = r#"{"RepeatedBwPatternConfig":{"pattern":[{"StaticBwConfig":{"bw":{"gbps":0,"bps":12000000},
        "duration":{"secs":1,"nanos":0}}},{"StaticBwConfig":{"bw":{"gbps":0,"bps":24000000},
        "duration":{"secs":1,"nanos":500000000}}}],"count":0}}"#;
    for content in [words, numbers] {
        let file = File::new("netem.json", content);
        let own = scenario("rate-trace", &file.with("", ""));
        assert_eq!(text("rate-trace", &own), "0s=12mbit,1s=24mbit,loop=2500ms");
        assert_eq!(
            text("rate-trace", &scenario("rate-trace", &file.with("netem:", ",once"))),
            "0s=12mbit,1s=24mbit"
        );
    }
    let table = r#"{"TraceBwConfig":[["25ms",["1Mbps","2Mbps"]],[3.5,[4]]]}"#;
    let file = File::new("table.json", table);
    assert_eq!(
        text("rate-trace", &scenario("rate-trace", &file.with("", ""))),
        "0s=1mbit,25ms=2mbit,50ms=4mbit"
    );
    let looped = scenario("rate-trace", &file.with("", ",loop"));
    assert_eq!(text("rate-trace", &looped), "0s=1mbit,25ms=2mbit,50ms=4mbit,loop=53500us");
    let delays = r#"{"RepeatedDelayPatternConfig":{"pattern":[{"StaticDelayConfig":{"delay":"10ms","duration":"1s"}},
        {"StaticDelayConfig":{"delay":"20ms","duration":"1s"}}],"count":2}}"#;
    let file = File::new("delays.json", delays);
    assert_eq!(
        text("delay-trace", &scenario("delay-trace", &file.with("", ""))),
        "0s=10ms,1s=20ms,2s=10ms,3s=20ms"
    );
    for (content, part) in [
        ("{\"NormalizedBwConfig\":{}}", "the model `NormalizedBwConfig` is none of StaticBwConfig"),
        ("{\"StaticBwConfig\":{\"bw\":\"12Mbps\"}}", "StaticBwConfig needs `bw` and `duration`"),
        ("{\n\"StaticBwConfig\":", "line 2"),
        (
            "{\"RepeatedBwPatternConfig\":{\"pattern\":[],\"count\":-3}}",
            "has a `count` that is no whole number",
        ),
    ] {
        let file = File::new("wrong.json", content);
        let error = rates(&file.with("", "")).expect_err(content).to_string();
        assert!(error.contains(part) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn steps_that_repeat_too_often_are_refused_and_a_synthetic_trace_says_so_in_the_title() {
    for text in ["0s=1mbit,1ns=20mbit,loop=2ns", "leo:slot=1ns"] {
        let error = rates(text).expect_err(text).to_string();
        assert!(error.contains("or longer"), "{error}");
    }
    let title = scenario("rate-trace", "lte").describe();
    assert!(title.contains("a synthetic rate lte:mean=5030kbit"), "{title}");
}

#[test]
fn the_seed_selects_the_start_and_the_text_is_that_of_all_seeds() {
    let own = scenario("rate-trace", "0s=10mbit,1s=20mbit,loop=3s,start=random");
    let starts: Vec<_> =
        (1..5).map(|seed| own.at_seed(seed).rate_trace.as_ref().map(RateTrace::start)).collect();
    assert!(starts.windows(2).all(|pair| pair[0] != pair[1]), "{starts:?}");
    assert_eq!(own.at_seed(1).rate_trace, own.rate_trace, "the first seed is the scenario's");
    assert_eq!(own.at_seed(7).hash(), own.hash());
    assert!(own.seed_changes_runs());
    let plain = scenario("rate-trace", "0s=10mbit,1s=20mbit,loop=3s,start=1s");
    assert!(!plain.seed_changes_runs() && matches!(plain.at_seed(7), std::borrow::Cow::Borrowed(_)));
    for synthetic in ["lte", "leo:max=300mbit"] {
        let own = scenario("rate-trace", synthetic);
        assert_ne!(own.at_seed(1).rate_trace, own.at_seed(2).rate_trace);
        assert!(text("rate-trace", &own).starts_with(synthetic.split(':').next().expect("a name")));
    }
}

#[test]
fn faults_name_the_file_and_the_line() {
    for (content, words, part) in [
        ("1\n2\n1\n", "", "is no trace: its step 3 is not after the one before it, in line 3"),
        ("1\n\n2\n", "", "has `` in line 2, which is not a whole number of milliseconds"),
        ("1\n2 # end\n", "", "has `2 # end` in line 2, which is not a whole number of milliseconds"),
        ("0\n0\n", "", "is no trace: its period ends before its last step begins, in line 2"),
        ("1\n", ",once", "`once` conflicts"),
        ("0s 1mbit\n2s 2mbit\n1s 3mbit\n", ",loop", "in line 3"),
        ("0s 1mbit\n2s 2mbit\n", ",loop=1s", "its period ends before its last step begins, in line 2"),
        ("0s 0\n2s 2mbit\n", ",loop", "is no trace: all its rates are zero"),
        ("0s 1mbit\n1s\n", "", "has `1s` in line 2, which is not a time and a rate"),
        ("0s 1mbit\n1s 2mbit\n", ",once,loop", "conflicts"),
    ] {
        let file = File::new("fault", content);
        let error = rates(&file.with("", words)).expect_err(content).to_string();
        assert!(error.contains(part) && !error.contains('\n'), "{content:?}: {error}");
    }
    for text in [
        "lte:mean=0mbit",
        "lte:loud=1",
        "leo:min=2mbit,max=1mbit",
        "lte,start=1s",
        "0s=1mbit,loops",
        "x,once",
    ] {
        assert!(rates(text).is_err(), "{text}");
    }
    for text in ["1s=1ms", "0s=1mbit", "lte", "0s=1ms,0s=2ms"] {
        assert!(delays(text).is_err(), "{text}");
    }
    assert_eq!(files::file("a,b"), Some(PathBuf::from("a,b")), "a name may have a comma");
}
