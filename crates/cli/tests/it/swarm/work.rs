//! Random scenarios whose keys are drawn from their whole ranges: checks the processor time that each needs.
//!
//! Each case has a limit of ten seconds, or a duration of at most that, and requests few packets ([`demand`]). More processor time than
//! [`MAX_SECONDS`] is therefore unnecessary work.

use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use firstflight_scenario::keywords::Cross;
use firstflight_scenario::kind::Kind;
use firstflight_scenario::population::ArrivalProcess;
use firstflight_scenario::{Goal, Options, Scenario, keys};

use super::{Case, Dice, SEED, ended, said, schemes, value_of};
use crate::common::firstflight;

/// The number of cases, unless the environment sets it.
const CASES: u64 = 150;
/// The processor time that a case may need.
const MAX_SECONDS: u32 = 10;
/// The maximum number of packet transmissions that a case may request: a second or two of processor time.
const MAX_PACKETS: f64 = 600_000.0;

/// Returns a value of a key, from its whole range, with each power of ten equally likely. Words and texts with a special format are those
/// of the other swarm.
fn wide_value(key: &keys::Key, dice: &mut Dice) -> Option<String> {
    let mut power = |digits: u32| dice.logarithmic(0, digits).div_ceil(10);
    Some(match key.kind {
        Kind::Rate => format!("{}bit", power(12)),
        Kind::Span => format!("{}ns", power(14)),
        Kind::Size => format!("{}B", power(12)),
        Kind::Packets | Kind::Queue => format!("{}p", power(6)),
        Kind::Share => format!("{}%", power(2)),
        Kind::Count(max) => power(max.max(1).ilog10().min(17)).to_string(),
        Kind::PerSecond => power(6).to_string(),
        Kind::SpanOrCount if dice.once_in(2) => format!("{}ns", dice.logarithmic(0, 11)),
        Kind::SpanOrCount => dice.logarithmic(0, 4).to_string(),
        Kind::Text(_) if key.name == "cross" => cross(dice),
        Kind::Text(_) if key.name == "arrivals" => arrivals(dice),
        Kind::Word(_) | Kind::Text(_) => return value_of(key.name, false, dice),
    })
}

/// Cross traffic of any kind, with any start and stop.
fn cross(dice: &mut Dice) -> String {
    let mut power = |digits: u32| dice.logarithmic(0, digits).div_ceil(10);
    let (rate, number, size, on, off) = (power(10), power(5), power(9), power(11), power(11));
    let (start, stop, load) = (power(12), power(12), power(1).min(99));
    let traffic = match dice.between(0, 6) {
        0 => format!("{rate}bit"),
        1 => format!("tcp:{}", number.min(1_000)),
        2 => format!("onoff:{rate}bit,{on}ns,{off}ns"),
        3 => format!("poisson:{number},{size}B"),
        4 => format!("poisson:{rate}bit,{size}B"),
        5 => format!("users:{},{size}B", number.min(10_000)),
        _ => format!("web:{load}%"),
    };
    let from = if dice.once_in(2) { format!(",start={start}ns") } else { String::new() };
    let until = if dice.once_in(2) { format!(",stop={}ns", start.max(1) + stop) } else { String::new() };
    let way = if dice.once_in(4) { ",way=reverse" } else { "" };
    format!("{traffic}{from}{until}{way}")
}

fn arrivals(dice: &mut Dice) -> String {
    match dice.between(0, 2) {
        0 => format!("poisson:{}", dice.logarithmic(0, 6)),
        1 => format!("every:{}ns", dice.logarithmic(0, 12)),
        _ => format!("users:{}", dice.logarithmic(0, 2)),
    }
}

/// Returns an upper bound of the packet transmissions that a scenario requests within its limit.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn demand(scenario: &Scenario, schemes: usize) -> f64 {
    let bits = 8.0 * f64::from(scenario.packet());
    let seconds = scenario.limit.nanos() as f64 / 1e9;
    let links = f64::from(scenario.topology.hops()) + 1.0;
    let rates = scenario.ideal_sender().rates;
    let carried = rates.iter().map(|(_, bps)| *bps).max().unwrap_or(0) as f64 / bits * seconds;
    let clients = scenario.rounds.map_or(1.0, |rounds| f64::from(rounds.clients) * f64::from(rounds.count));
    let of = |size: u64| size as f64 / f64::from(scenario.mss) + 4.0;
    let own = match (scenario.goal, &scenario.population) {
        (Goal::Duration(_), _) => carried,
        (Goal::Size(size), None) => (of(size.get()) * clients).min(carried + 20.0),
        (Goal::Size(size), Some(population)) => {
            let waiting =
                if let ArrivalProcess::Users(users) = population.arrivals { f64::from(users) } else { 1.0 };
            (of(size.get()) * f64::from(population.flows)).max(waiting * seconds).min(2.0 * carried + 20.0)
        }
    };
    let offered = |cross: Cross| match cross {
        Cross::Cbr(rate) | Cross::OnOff { rate, .. } => rate.bps() as f64 / bits * (seconds + 1.0),
        Cross::None => 0.0,
        // Traffic that waits for the path takes all of it, and opens connections in addition.
        Cross::Tcp(_) | Cross::Poisson { .. } | Cross::Web(_) => 2.0 * carried,
        Cross::Users { users, .. } => 2.0 * carried + f64::from(users) * seconds,
    };
    let others: f64 = scenario.traffic().map(|entry| offered(entry.cross)).sum();
    let connections = 10.0 * scenario.transfers_per_second() * seconds;
    // Two directions, a warm-up, the runs of the schemes and the one without the flow.
    let runs = f64::from(scenario.runs) * (schemes as f64 + 2.0);
    links * 2.0 * runs * (own + 2.0 * (others + connections))
}

/// Draws a valid case that needs few packets.
fn drawn(dice: &mut Dice) -> Case {
    loop {
        let mut case = Case::default();
        let all: Vec<&'static keys::Key> = keys::keys().collect();
        let find = |name: &str| all.iter().copied().find(|key| key.name == name).expect("a key");
        let about = dice.pick(&["size", "size", "size", "duration", "rounds", "flows"]).to_owned();
        for name in ["rate", "rtt"] {
            let text = wide_value(find(name), dice);
            case.push(name, text);
        }
        if about == "flows" {
            let topology = dice.pick(&[
                "dumbbell:hosts=6",
                "parking-lot:hops=3,hosts=4",
                "dumbbell:hosts=2,ways=onward",
            ]);
            case.push("topology", Some(topology.to_owned()));
            case.push("flows", Some(dice.between(1, 40).to_string()));
            case.push("warm-up", Some("1s".to_owned()));
        }
        if about == "duration" {
            case.push("duration", Some(format!("{}us", dice.between(1, 10_000_000))));
        } else {
            case.push("limit", Some("10s".to_owned()));
        }
        if about == "rounds" {
            case.push("rounds", Some(dice.between(1, 10).to_string()));
        }
        if !case.is_valid() {
            continue;
        }
        case.schemes = Some(schemes(dice))
            .filter(|list| Case { schemes: Some(list.clone()), ..case.clone() }.is_valid());
        for _ in 0..dice.between(1, 12) {
            let key = all[usize::try_from(dice.between(0, all.len() as u64 - 1)).expect("an index")];
            if ["flow", "probe", "duration", "rounds", "flows", "runs", "warm-up"].contains(&key.name) {
                continue;
            }
            let Some(text) = wide_value(key, dice) else { continue };
            case.try_to_add(key.name, text);
        }
        let mut set = Options::default();
        let is_set = case.options.iter().all(|(key, text)| set.set(key, text).is_ok());
        let scenario = Scenario::resolve(&set).ok().filter(|_| is_set);
        let count = case
            .schemes
            .as_deref()
            .map_or(1, |list| list.split(',').filter(|one| one.contains("as=")).count());
        if scenario.is_some_and(|scenario| demand(&scenario, count) < MAX_PACKETS) {
            return case;
        }
    }
}

/// Runs the case with a bound on its processor time.
fn within_time(case: &Case) -> Result<(), String> {
    let program = firstflight();
    let mut command = Command::new("sh");
    let bounded = format!("ulimit -t {MAX_SECONDS}; exec \"$@\"");
    command
        .args(["-c", &bounded, "sh"])
        .arg(program.get_program())
        .args(case.arguments())
        .args(["--jobs", "1"]);
    ended(command).map(|_| ())
}

#[test]
fn no_scenario_needs_more_processor_time_than_its_limit_allows() {
    let (cases, seed) = (said("FIRSTFLIGHT_SWARM", CASES), said("FIRSTFLIGHT_SWARM_SEED", SEED));
    println!("a swarm over whole ranges of {cases} cases with the seed {seed}");
    let mut dice = Dice::new(seed);
    let drawn: Vec<Case> = (0..cases).map(|_| drawn(&mut dice)).collect();
    let (next, faults) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = drawn.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(fault) = within_time(case) {
                        let said = format!("firstflight {}\n    {fault}", case.arguments().join(" "));
                        faults.lock().unwrap_or_else(PoisonError::into_inner).push(said);
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(faults.is_empty(), "{} of {cases} with the seed {seed}:\n{}", faults.len(), faults.join("\n"));
}
