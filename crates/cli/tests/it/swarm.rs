//! Random command lines and scenario files over all options, for the program as people run it: it neither panics nor hangs, prints the same
//! bytes with any number of jobs and from either input, and prints no impossible number.
//!
//! `FIRSTFLIGHT_SWARM=5000 FIRSTFLIGHT_SWARM_SEED=7 cargo test -p firstflight-cli --test it swarm` tries more cases, from another seed. A
//! failure is reported as a command.

mod work;

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use firstflight::registry::{self, Kind, Parameter, Value};
use firstflight::{Bytes, Rate, Span};
use firstflight_scenario::{Options, Scenario, SchemeChoice, keys, over_restarts, parse_choices};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde_json::Value as Json;

use crate::common::{firstflight, folder, status, stderr, text};

/// The number of cases, unless the environment sets it.
const CASES: u64 = 240;
const SEED: u64 = 9406;
/// The maximum time of a command. Each is designed to take about a second.
const LONGEST: Duration = Duration::from_secs(90);

/// Random values.
struct Dice(Pcg64Mcg);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    /// From `min` to `max`.
    fn between(&mut self, min: u64, max: u64) -> u64 {
        let span = u128::from(max - min) + 1;
        min + u64::try_from((u128::from(self.0.next_u64()) * span) >> 64).expect("below the span")
    }

    /// Returns two digits times a power of ten between these, with each power equally likely.
    fn logarithmic(&mut self, min: u32, max: u32) -> u64 {
        self.between(10, 99) * 10_u64.pow(u32::try_from(self.between(min.into(), max.into())).expect("small"))
    }

    fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> &'a T {
        of[usize::try_from(self.between(0, of.len() as u64 - 1)).expect("an index")]
    }

    /// Once in so many times.
    fn once_in(&mut self, times: u64) -> bool {
        self.between(1, times) == 1
    }
}

/// Returns a value of the key, which the other options may refuse. With `slow` the values are small, because others share the path.
#[expect(clippy::too_many_lines, reason = "a line or two for each key")]
fn value_of(key: &str, slow: bool, dice: &mut Dice) -> Option<String> {
    let word = |dice: &mut Dice, words: &[&str]| dice.pick(words).to_owned();
    let time = |dice: &mut Dice, min: u32, max: u32| format!("{}us", dice.logarithmic(min, max));
    let packets = |dice: &mut Dice, max| format!("{}p", dice.between(1, max));
    let share = |dice: &mut Dice| dice.pick(&["0", "0.1%", "0.5%", "2%", "9.5%"]).to_owned();
    Some(match key {
        "path" => word(dice, &["none", "quicly-dsl", "wpt-cable", "pantheon-korea-china", "noq-i819"]),
        "rate" if slow => format!("{}bit", dice.logarithmic(4, 5) * 10),
        "rate" => format!("{}bit", dice.logarithmic(3, 7)),
        "rtt" if slow => format!("{}us", dice.logarithmic(1, 3)),
        "rtt" => format!("{}us", dice.logarithmic(0, 4)),
        "queue" => {
            let limit = if dice.once_in(2) {
                packets(dice, 200)
            } else {
                format!("{}bdp", dice.pick(&["0.1", "1", "4"]))
            };
            let kind = dice.pick(&["", "", "codel:", "fq-codel:", "pie:"]);
            let ecn = if !kind.is_empty() && dice.once_in(2) { ",ecn" } else { "" };
            if dice.once_in(6) {
                format!("red:{}p", dice.between(10, 200))
            } else {
                format!("{kind}{limit}{ecn}")
            }
        }
        "cross" => {
            let traffic = match dice.between(0, 6) {
                0 => format!("{}kbit", dice.between(10, 900)),
                1 => format!("tcp:{}", dice.between(1, 3)),
                2 => format!(
                    "onoff:{}kbit,{}ms,{}ms",
                    dice.between(100, 2_000),
                    dice.between(100, 900),
                    dice.between(100, 900)
                ),
                3 => format!("poisson:{},{}kB", dice.between(1, 8), dice.between(1, 10)),
                4 => format!("poisson:{}kbit,10kB,pareto=1.5", dice.between(50, 900)),
                5 => format!("users:{},{}kB", dice.between(1, 4), dice.between(1, 9)),
                _ => format!("web:{}%", dice.between(1, 130)),
            };
            let more = dice.pick(&["", "", ",start=100ms", ",start=50ms,stop=2s", ",way=reverse"]);
            format!("{traffic}{more}")
        }
        "mss" => dice.between(100, 8_960).to_string(),
        "packet" => format!("{}B", dice.between(140, 9_000)),
        "size" => format!("{}B", dice.logarithmic(0, 4)),
        "rounds" => dice.between(2, 4).to_string(),
        "idle" => dice.pick(&["0", "10ms", "1s", "20s"]).to_owned(),
        "spread" => dice.pick(&["none", "50ms", "500ms"]).to_owned(),
        "clients" => dice.between(1, 4).to_string(),
        "flow" => (0..dice.between(1, 3))
            .map(|_| {
                let scheme = word(dice, &["paced", "slow-start", "hystart++", "bbr"]);
                format!("scheme={scheme},start={}ms,size={}kB", dice.between(0, 900), dice.between(1, 60))
            })
            .collect::<Vec<_>>()
            .join(";"),
        "flows" => dice.between(2, 12).to_string(),
        "arrivals" => word(dice, &["poisson:20", "every:50ms", "users:3", "at:0ms,10ms,1s"]),
        "sizes" => word(dice, &["fixed", "exponential", "lognormal=1", "pareto=1.5"]),
        "warm-up" => word(dice, &["none", "100ms", "2s"]),
        "app" => format!("{}kB,{}ms", dice.between(1, 60), dice.between(1, 200)),
        "duration" => format!("{}ms", dice.between(10, 1_500)),
        "limit" => word(dice, &["500ms", "3s", "10s"]),
        "access-rate" | "receiver-access-rate" | "reverse-rate" => format!("{}bit", dice.logarithmic(4, 8)),
        "reverse-queue" => {
            if dice.once_in(3) {
                "none".to_owned()
            } else {
                packets(dice, 100)
            }
        }
        "reverse-rtt-share" => format!("{}%", dice.between(0, 100)),
        "loss" | "ack-loss" if dice.once_in(3) => {
            format!("gemodel:{}%,{}%", dice.between(1, 20), dice.between(20, 100))
        }
        "loss" | "ack-loss" | "duplicate" => share(dice),
        "reorder" if dice.once_in(2) => format!("{}%,{}p", dice.between(1, 30), dice.between(1, 9)),
        "reorder" => format!("{}%,{}ms", dice.between(1, 30), dice.between(1, 30)),
        "outage" if dice.once_in(2) => format!("{}ms,every=1s", dice.between(1, 500)),
        "outage" => {
            let from = dice.between(0, 2_000);
            format!("{from}ms..{}ms", from + dice.between(1, 2_000))
        }
        "jitter" | "cpu-packet" | "cpu-segment" => time(dice, 0, 2),
        "reverse-jitter" | "pacing-timer" | "timer-noise" => time(dice, 1, 3),
        "gso" => format!("{}B", dice.between(1, 65_536)),
        "policer" => format!("{}bit,{}kB", dice.logarithmic(4, 7), dice.between(20, 300)),
        "delay-trace" => format!("0s=0,{}ms={}ms", dice.between(10, 900), dice.between(0, 50)),
        "rate-trace" => format!("0s=5mbit,{}ms={}mbit,2s=1mbit", dice.between(10, 900), dice.between(0, 20)),
        "ack-aggregation" | "aggregation" => {
            if dice.once_in(2) {
                time(dice, 2, 3)
            } else {
                dice.between(2, 40).to_string()
            }
        }
        "qs-hops" => word(dice, &["all", "none", "1", "2"]),
        "qs-router" => word(
            dice,
            &["threshold=95%", "interval=100ms", "estimator=ewma,weight=10%", "slots=10,ring=oldest"],
        ),
        "qs-access" => word(dice, &["capacity", "all"]),
        "topology" => word(
            dice,
            &[
                "single",
                "parking-lot:hops=3",
                "parking-lot:hops=2,cross=through",
                "dumbbell:hosts=6",
                "parking-lot:hops=3,hosts=4",
            ],
        ),
        "probe" => word(dice, &["bracket", "paper", "program", "gap:1ms,packets=20,repeats=2"]),
        "avoidance" => dice.pick(&registry::laws().iter().map(|law| law.name).collect::<Vec<_>>()).to_owned(),
        "restart" => {
            dice.pick(&registry::restarts().iter().map(|entry| entry.name).collect::<Vec<_>>()).to_owned()
        }
        "recovery" => {
            word(dice, &["rack", "sack", "newreno", "newreno-steady", "reno", "vegas", "ns2-sack1"])
        }
        "stack" => word(dice, &["rfc", "linux"]),
        "app-limited-growth" => word(dice, &["stack", "rfc7661", "linux", "ns2", "ns2-reno", "ns2-vegas"]),
        "limited-transmit" => word(dice, &["rfc3042", "ns2"]),
        "slow-start-counts" => word(dice, &["stack", "acks", "bytes"]),
        "ack" => {
            word(dice, &["every", "delayed", "linux", "freebsd", "windows-xp", "every:4", "every:9,5ms"])
        }
        "iw" => packets(dice, 50),
        "ssthresh" | "rwnd" => packets(dice, 300),
        "inflight-limit" => word(dice, &["none", "freebsd"]),
        "min-rto" | "initial-rto" => format!("{}ms", dice.between(50, 3_000)),
        "rto-floor" => word(dice, &["stack", "timeout", "variation", "ns2"]),
        "sack-blocks" => word(dice, &["sent", "withheld"]),
        "host-cpu" => word(dice, &["none", "list", "list-hints"]),
        "timestamps" | "ecn" | "mixed" => "true".to_owned(),
        "mixed-share" => "5%".to_owned(),
        "runs" => dice.between(1, 3).to_string(),
        "seed" => dice.between(0, 1 << 40).to_string(),
        "windows" => word(dice, &["0s..1s", "100ms..300ms,1s..2s"]),
        "links" => word(dice, &["reverse:1", "from:0/0"]),
        _ => return None,
    })
}

/// A value of a scheme's parameter.
fn setting(parameter: &Parameter, dice: &mut Dice) -> String {
    let mut between = |min: u64, max: u64| match dice.between(0, 3) {
        0 => min,
        1 => max,
        _ => {
            let bits = dice.between(0, 63);
            min.saturating_add(dice.0.next_u64() >> bits).min(max)
        }
    };
    match parameter.kind {
        Kind::Count { min, max } | Kind::CountOr { min, max, .. } => {
            Value::Count(between(min, max)).to_string()
        }
        Kind::Span { min, max } => {
            Value::Span(Span::from_nanos(between(min.nanos(), max.nanos()))).to_string()
        }
        Kind::Rate { min, max } => Value::Rate(Rate::from_bps(between(min.bps(), max.bps()))).to_string(),
        Kind::Bytes { min, max } => Value::Bytes(Bytes::new(between(min.get(), max.get()))).to_string(),
        Kind::Fraction { min_ppm, max_ppm } => {
            let ppm = u32::try_from(between(min_ppm.into(), max_ppm.into())).expect("a fraction");
            Value::Fraction { ppm }.to_string()
        }
        Kind::Word(words) => dice.pick(words).to_owned(),
    }
}

/// One to three schemes, of which some have a parameter.
fn schemes(dice: &mut Dice) -> String {
    let all = registry::schemes();
    let one = |place: u64, dice: &mut Dice| {
        let entry = &all[usize::try_from(dice.between(0, all.len() as u64 - 1)).expect("an index")];
        let mut text = format!("{}:as=s{place}", entry.name);
        if let Some(parameter) = entry.parameters.first().filter(|_| dice.once_in(3)) {
            let last = entry.parameters.len() as u64 - 1;
            let chosen = entry.parameters.get(usize::try_from(dice.between(0, last)).expect("an index"));
            let parameter = chosen.unwrap_or(parameter);
            write!(text, ",{}={}", parameter.name, setting(parameter, dice)).expect("a string");
        }
        text
    };
    (0..dice.between(1, 3)).map(|place| one(place, dice)).collect::<Vec<_>>().join(",")
}

/// A scenario, as options.
#[derive(Clone, Debug, Default)]
struct Case {
    options: Vec<(&'static str, String)>,
    schemes: Option<String>,
}

impl Case {
    /// Whether the library takes it.
    fn is_valid(&self) -> bool {
        let mut set = Options::default();
        let all_set = self.options.iter().all(|(key, text)| set.set(key, text).is_ok());
        let choices = parse_choices(self.schemes.as_deref().unwrap_or("paced"));
        all_set
            && set.not_of_trains().is_none()
            && choices.is_ok_and(|choices| {
                // Between hosts, the values saved by an earlier connection must be given.
                let alone = !self.options.iter().any(|(key, _)| ["flow", "flows"].contains(key));
                (alone || !choices.iter().any(SchemeChoice::lacks_saved))
                    && over_restarts(choices, &set).is_ok()
            })
            && Scenario::resolve(&set).is_ok()
    }

    /// Adds a random value of the key, if all options still form a scenario.
    fn add(&mut self, key: &'static str, slow: bool, dice: &mut Dice) {
        if let Some(text) = value_of(key, slow, dice) {
            self.try_to_add(key, text);
        }
    }

    /// Adds an option, if the key is not set yet and all options still form a scenario.
    fn try_to_add(&mut self, key: &'static str, text: String) {
        if self.options.iter().any(|(other, _)| *other == key) {
            return;
        }
        self.options.push((key, text));
        if !self.is_valid() {
            self.options.pop();
        }
    }

    /// Adds an option, whether or not all options still form a scenario.
    fn push(&mut self, key: &'static str, text: Option<String>) {
        self.options.extend(text.map(|text| (key, text)));
    }

    fn drawn(dice: &mut Dice) -> Self {
        let all: Vec<&'static str> = keys::names().collect();
        let key = |name: &str| all.iter().copied().find(|key| *key == name).expect("a key");
        let mut case = Self::default();
        // The subject of the case, and its path. If others share the path, it is slower.
        let about = dice.between(0, 9);
        let slow = about >= 6 || dice.once_in(4);
        case.add(key("rate"), slow, dice);
        case.add(key("rtt"), slow, dice);
        if let 6 | 7 = about {
            // Neither of the two is possible alone.
            let topology = dice.pick(&[
                "dumbbell:hosts=6",
                "parking-lot:hops=3,hosts=4",
                "dumbbell:hosts=2,ways=onward",
            ]);
            case.options.push((key("topology"), topology.to_owned()));
            case.options.push((key("flows"), dice.between(2, 12).to_string()));
            // This is longer than any warm-up.
            case.options.push((key("limit"), "20s".to_owned()));
            assert!(case.is_valid(), "{case:?}");
        }
        for name in match about {
            0 => &["duration"][..],
            1 => &["rounds", "size", "clients"],
            6 | 7 => &["size", "arrivals"],
            8 => &["flow"],
            9 => &["probe"],
            _ => &["size"],
        } {
            case.add(key(name), slow, dice);
        }
        if slow && about < 8 {
            case.add(key("cross"), slow, dice);
        }
        case.add(key("limit"), slow, dice);
        for _ in 0..dice.between(2, 12) {
            let name = dice.pick(&all);
            let is_about = ["duration", "rounds", "flows", "flow", "probe", "cross"].contains(&name);
            if !is_about {
                case.add(key(name), slow, dice);
            }
        }
        let is_probe = case.options.iter().any(|(key, _)| *key == "probe");
        let is_script = case.options.iter().any(|(key, _)| *key == "flow");
        if !is_probe && !is_script {
            let drawn = Self { schemes: Some(schemes(dice)), ..case.clone() };
            let plain = Self { schemes: Some("slow-start".to_owned()), ..case };
            case = if drawn.is_valid() { drawn } else { plain };
        }
        case
    }

    /// The arguments of `race`.
    fn arguments(&self) -> Vec<String> {
        let mut arguments = vec!["race".to_owned()];
        for (key, text) in &self.options {
            arguments.push(format!("--{key}"));
            if text != "true" {
                arguments.push(text.clone());
            }
        }
        if let Some(schemes) = &self.schemes {
            arguments.extend(["--schemes".to_owned(), schemes.clone()]);
        }
        arguments.push("--json".to_owned());
        arguments
    }

    /// The case as a scenario file.
    fn file(&self) -> String {
        let mut file = String::new();
        for (key, text) in self.options.iter().filter(|(key, _)| *key != "flow") {
            let is_bare = text == "true" || text.parse::<u64>().is_ok();
            let quoted = if is_bare { text.clone() } else { format!("\"{text}\"") };
            writeln!(file, "{key} = {quoted}").expect("a string");
        }
        if let Some(schemes) = &self.schemes {
            writeln!(file, "schemes = \"{schemes}\"").expect("a string");
        }
        let flows = self.options.iter().filter(|(key, _)| *key == "flow");
        for flow in flows.flat_map(|(_, text)| text.split(';')) {
            file.push_str("[[flow]]\n");
            for (key, value) in flow.split(',').filter_map(|part| part.split_once('=')) {
                writeln!(file, "{key} = \"{value}\"").expect("a string");
            }
        }
        file
    }
}

/// Runs a command to its end.
///
/// # Errors
/// The command does not end by itself in time, or panics.
fn ended(mut command: Command) -> Result<Output, String> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command runs");
    let (mut out, mut err) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
    let (mut said, mut output_of) = (Vec::new(), Vec::new());
    let status = thread::scope(|scope| {
        scope.spawn(|| std::io::Read::read_to_end(&mut out, &mut said).expect("read"));
        scope.spawn(|| std::io::Read::read_to_end(&mut err, &mut output_of).expect("read"));
        let mut waited = Duration::ZERO;
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(status) = child.try_wait().expect("it is ours") {
                return Ok(status);
            }
            if waited > LONGEST {
                child.kill().expect("it is ours");
                child.wait().expect("it is ours");
                return Err(format!("it had not ended after {} s", LONGEST.as_secs()));
            }
            thread::sleep(pause);
            waited += pause;
            pause = (pause * 2).min(Duration::from_millis(20));
        }
    })?;
    let output = Output { status, stdout: said, stderr: output_of };
    if output.status.code().is_none_or(|code| code > 3) || stderr(&output).contains("panicked") {
        return Err(format!("{}: {}", output.status, stderr(&output)));
    }
    Ok(output)
}

/// Returns the first number of a row that is impossible.
fn impossible(row: &Json, case: &Case) -> Option<String> {
    let row = row.as_object()?;
    let number = |field: &str| row.get(field).and_then(Json::as_f64);
    for (field, value) in row {
        let Some(value) = value.as_f64() else { continue };
        let may_be_negative = field.starts_with("harm")
            || field.contains("_ci95")
            || field.ends_with("_error")
            || field == "gap_difference_s";
        if value < 0.0 && !may_be_negative {
            return Some(format!("{field} is {value}"));
        }
        let is_share = ["loss", "su_loss", "utilisation"]
            .iter()
            .any(|stem| field == stem || field.starts_with(&format!("{stem}_")))
            && !field.ends_with("packets")
            && !field.ends_with("_runs")
            && !field.contains("ci95");
        if is_share && value > 1.0 + 1e-9 {
            return Some(format!("{field} is {value}"));
        }
    }
    let at_most = |less: &str, more: &str| match (number(less), number(more)) {
        (Some(one), Some(other)) if one > other * (1.0 + 1e-9) => {
            Some(format!("{less} {one} is above {more} {other}"))
        }
        _ => None,
    };
    for (less, more) in [
        ("packets_lost", "packets_sent"),
        ("retransmissions", "packets_sent"),
        ("packets_marked", "packets_sent"),
        ("su_timeouts", "timeouts"),
        ("overshoot_lost_packets", "packets_lost"),
        ("queue_mean_packets", "queue_peak_packets"),
    ] {
        if let Some(fault) = at_most(less, more) {
            return Some(fault);
        }
    }
    let is_alone = !case.options.iter().any(|(key, _)| ["cross", "flows", "flow", "probe"].contains(key));
    if is_alone && number("cost").is_some_and(|cost| cost < 1.0 - 1e-9) {
        return Some(format!("nobody shares the path and the cost is {:?}", number("cost")));
    }
    None
}

/// Runs a case. Returns whether the program refused it, or the fault.
fn try_out(case: &Case, place: &Path) -> Result<bool, String> {
    let race = |jobs: &str| {
        let mut command = firstflight();
        command.args(case.arguments()).args(["--jobs", jobs]);
        ended(command)
    };
    let one = race("1")?;
    let refused = status(&one) != 0;
    if refused && !stderr(&one).lines().any(|line| line.starts_with("error: ")) {
        return Err(format!("it ended with {} and no error: {}", status(&one), stderr(&one)));
    }
    let two = race("2")?;
    if (one.status, &one.stdout) != (two.status, &two.stdout) {
        return Err("two jobs say something else".to_owned());
    }
    let file = place.join("case.toml");
    std::fs::write(&file, case.file()).expect("written");
    let mut command = firstflight();
    command.args(["run", text(&file), "--json", "--jobs", "2"]);
    let of_file = ended(command)?;
    if (one.status, &one.stdout) != (of_file.status, &of_file.stdout) {
        return Err(format!("as a file it says something else: {}\n{}", stderr(&of_file), case.file()));
    }
    let takes_outputs = !case.options.iter().any(|(key, _)| ["flows", "probe"].contains(key));
    if !refused && takes_outputs {
        let (page, events) = (place.join("page.html"), place.join("events"));
        let mut command = firstflight();
        command.args(case.arguments()).args(["--report", text(&page), "--events", text(&events)]);
        let of_outputs = ended(command)?;
        if (one.status, &one.stdout) != (of_outputs.status, &of_outputs.stdout) {
            return Err(format!("with outputs it says something else: {}", stderr(&of_outputs)));
        }
        std::fs::remove_dir_all(&events).map_err(|error| format!("no events: {error}"))?;
    }
    for line in String::from_utf8_lossy(&one.stdout).lines() {
        let row: Json = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
        if let Some(fault) = impossible(&row, case) {
            return Err(format!("{fault}: {line}"));
        }
    }
    Ok(refused)
}

fn said(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[test]
fn every_key_of_a_path_is_in_the_swarm() {
    let mut dice = Dice::new(1);
    let missing: Vec<_> = keys::names().filter(|key| value_of(key, false, &mut dice).is_none()).collect();
    assert_eq!(missing, [""; 0], "the swarm never sets them");
}

/// Each key gets a value that is accepted, so that every key is really drawn.
#[test]
fn every_key_of_a_path_is_drawn() {
    let (mut dice, mut drawn) = (Dice::new(SEED), std::collections::BTreeSet::new());
    for _ in 0..2_000 {
        drawn.extend(Case::drawn(&mut dice).options.into_iter().map(|(key, _)| key));
    }
    let missing: Vec<_> = keys::names().filter(|key| !drawn.contains(key)).collect();
    assert_eq!(missing, [""; 0], "in 2,000 cases they are in none");
}

#[test]
fn random_scenarios_give_equal_bytes_with_any_jobs_and_no_impossible_numbers() {
    let (cases, seed) = (said("FIRSTFLIGHT_SWARM", CASES), said("FIRSTFLIGHT_SWARM_SEED", SEED));
    println!("a swarm of {cases} cases with the seed {seed}");
    let mut dice = Dice::new(seed);
    let drawn: Vec<Case> = (0..cases).map(|_| Case::drawn(&mut dice)).collect();
    let (next, refused, faults) = (AtomicUsize::new(0), AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for worker in 0..2 {
            let (drawn, next, refused, faults) = (&drawn, &next, &refused, &faults);
            scope.spawn(move || {
                let place = folder(&format!("swarm-{worker}"));
                while let Some(case) = drawn.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match try_out(case, &place) {
                        Ok(was) => drop(refused.fetch_add(usize::from(was), Ordering::Relaxed)),
                        Err(fault) => {
                            let said = format!("firstflight {}\n    {fault}", case.arguments().join(" "));
                            faults.lock().unwrap_or_else(PoisonError::into_inner).push(said);
                        }
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("{} of {cases} were refused when they were to run", refused.load(Ordering::Relaxed));
    assert!(faults.is_empty(), "{} of {cases} with the seed {seed}:\n{}", faults.len(), faults.join("\n"));
    assert!(refused.into_inner() as u64 <= cases / 20, "what the library takes the program refuses");
}
