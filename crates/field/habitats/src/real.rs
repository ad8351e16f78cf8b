//! Single runs with real packets over an emulated path. Other crates compute their rows from these runs.

use firstflight::{Bytes, Span};
use firstflight_measure::Evidence;
use firstflight_scenario::{Goal, RestartChoice, Scenario, SchemeChoice};
use serde_json::{Map, Value};

use crate::cell::{Cell, CompareError, Real, limit};
use crate::from_packets::Seen;
use crate::habitat::{HABITATS, Runs};
use crate::hosting::{Hosted, Hosting, Inside, Wanted};
use crate::subject::{Subject, subjects};

/// The maximum number of repetitions of an invalid run.
const REPETITIONS: u32 = 8;

/// Runs a scheme on UDP sockets over the scenario's path, with the scenario's seed. Returns the evidence. Segments are shorter than the
/// scenario's by the size of a UDP header, so that packets are equal in number and length.
///
/// # Errors
/// A path that cannot be emulated, a scheme that the host on sockets cannot run, or an error of the system.
pub fn on_sockets(
    scenario: &Scenario,
    choice: &SchemeChoice,
    interrupted: &dyn Fn() -> bool,
) -> Result<Real<Evidence>, CompareError> {
    let scenario = endless(scenario);
    let own = scenario.for_scheme(choice).stack;
    let habitat = HABITATS.iter().find(|habitat| habitat.runs == Runs::Live && habitat.stack == own);
    let Some(habitat) = habitat else { return Err(CompareError::Stack(choice.to_string())) };
    let subject = Subject { choice: choice.clone(), congestion_control: None, is_asked: true };
    let cell = Cell {
        subject: &subject,
        habitat: *habitat,
        scenario: &scenario,
        choice: choice.clone(),
        runs: Vec::new(),
        repeated: 0,
        void: 0,
        loaded: None,
    };
    let end =
        |why: String| CompareError::End { scheme: choice.name().to_owned(), habitat: habitat.name, why };
    let are_many = scenario.rounds.is_some_and(|rounds| rounds.clients > 1 || rounds.spread.is_some());
    if are_many || scenario.population.is_some() || scenario.app.is_some() {
        return Err(end("one connection runs there, whose data is there from the beginning".to_owned()));
    }
    #[cfg(target_os = "linux")]
    {
        crate::linux::refusal(&cell).map_or(Ok(()), |why| Err(end(why)))?;
        repeated(|| crate::linux::on_sockets(&cell, interrupted))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (cell, interrupted);
        Err(end(ELSEWHERE.to_owned()))
    }
}

/// Probes the scenario's path from a UDP socket, with the scenario's seed. Returns the fields of a row, without the true values of the
/// path, the seed and the hash.
///
/// # Errors
/// The errors of [`on_sockets`].
pub fn probed(
    scenario: &Scenario,
    interrupted: &dyn Fn() -> bool,
) -> Result<Real<Map<String, Value>>, CompareError> {
    #[cfg(target_os = "linux")]
    return repeated(|| crate::linux::probed(scenario, interrupted));
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (scenario, interrupted);
        Err(CompareError::Refused(ELSEWHERE.to_owned()))
    }
}

/// Runs a scheme in this machine's TCP over the scenario's path, with the scenario's seed. nginx runs at the sending host, and its sockets
/// use the scheme. Clients request data from it as the scenario says.
///
/// For two schemes the kernel's own implementation is used: `slow-start` with Reno, and `hystart-linux` with Linux's CUBIC. `hosting` loads
/// all other schemes. It also loads a restart policy, and start-up is then the kernel's own.
///
/// # Errors
/// The errors of [`on_sockets`], and an error of `hosting`.
pub fn in_kernel(
    scenario: &Scenario,
    choice: &SchemeChoice,
    hosting: &dyn Hosting,
    interrupted: &dyn Fn() -> bool,
) -> Result<Real<Seen>, CompareError> {
    let end = |why: String| CompareError::End { scheme: choice.name().to_owned(), habitat: "kernel", why };
    if let Some(key) = choice.own_keys().find(|key| !OF_THE_HOST.contains(key)) {
        return Err(end(format!("{key} is the kernel's own, and cannot be set for a scheme")));
    }
    if scenario.app.is_some() || scenario.probe.is_some() || !scenario.script.is_empty() {
        return Err(end("its clients ask for files, in rounds, at instants or as users do".to_owned()));
    }
    let scenario = &match scenario.goal {
        Goal::Size(_) if scenario.rounds.is_none() && scenario.population.is_none() => {
            Scenario { limit: limit(scenario), ..scenario.clone() }
        }
        _ => scenario.clone(),
    };
    let subject = subjects(std::slice::from_ref(choice), scenario, true)?.swap_remove(0);
    let own = scenario.for_scheme(choice);
    let policy = Some(&own.restart).filter(|policy| **policy != RestartChoice::default());
    if policy.is_some() && choice.entry.name != SchemeChoice::slow_start().entry.name {
        let why = "a socket of the kernel has a start-up scheme or a restart policy, and not both";
        return Err(end(why.to_owned()));
    }
    let wanted = Wanted { choice, law: choice.law(own.avoidance), policy };
    let hosted = || -> Result<Box<dyn Hosted>, CompareError> {
        match subject.congestion_control {
            Some(name) => Ok(Box::new(Own(name))),
            None => hosting.host(wanted).map_err(end),
        }
    };
    #[cfg(target_os = "linux")]
    return repeated(|| crate::linux::in_kernel(scenario, choice, hosted()?, interrupted));
    #[cfg(not(target_os = "linux"))]
    {
        let _ = (hosted, interrupted);
        Err(end(ELSEWHERE.to_owned()))
    }
}

/// The keys of a scheme that the kernel can follow.
const OF_THE_HOST: [&str; 5] = ["avoidance", "iw", "timestamps", "ecn", "restart"];

/// A congestion control of the kernel itself.
#[derive(Debug)]
struct Own(&'static str);

impl Hosted for Own {
    fn congestion_control(&self) -> &str {
        self.0
    }

    fn attach(&self, _: [u32; 2]) -> Result<(), String> {
        Ok(())
    }

    fn sender_events(self: Box<Self>) -> Result<Vec<(u16, Inside)>, String> {
        Ok(Vec::new())
    }
}

/// Checks whether this machine has the programs that [`in_kernel`] needs.
///
/// # Errors
/// The name of the program that is missing.
pub fn has_server() -> Result<(), String> {
    #[cfg(target_os = "linux")]
    return crate::linux::nginx().map(drop);
    #[cfg(not(target_os = "linux"))]
    Err(ELSEWHERE.to_owned())
}

/// Checks whether the system permits the emulation of paths for real packets.
///
/// # Errors
/// The reason why the system does not permit it.
pub fn is_possible(scenario: &Scenario) -> Result<(), CompareError> {
    #[cfg(target_os = "linux")]
    return crate::linux::probe(scenario);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = scenario;
        Err(CompareError::Refused(ELSEWHERE.to_owned()))
    }
}

#[cfg(not(target_os = "linux"))]
const ELSEWHERE: &str = "real packets are emulated on Linux only";

/// Makes a run, and repeats it while it is invalid.
fn repeated<T>(run: impl Fn() -> Result<Real<T>, CompareError>) -> Result<Real<T>, CompareError> {
    for _ in 0..REPETITIONS {
        match run()? {
            Real::Void => {}
            done => return Ok(done),
        }
    }
    run()
}

/// Returns the scenario unchanged if its goal is a size. If the goal is a duration, returns a transfer that does not end within the run,
/// because it has more data than the path carries in that time.
fn endless(scenario: &Scenario) -> Scenario {
    match scenario.goal {
        Goal::Size(_) if scenario.rounds.is_some() => scenario.clone(),
        Goal::Size(_) => Scenario { limit: limit(scenario), ..scenario.clone() },
        Goal::Duration(span) => {
            let size = Bytes::new(scenario.rate.over(span + Span::from_secs(1)).get() * 2);
            Scenario { goal: Goal::Size(size), limit: span, ..scenario.clone() }
        }
    }
}
