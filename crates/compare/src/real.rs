//! Single runs on real packets over an emulated path, for whoever has rows of them to fill.

use firstflight::{Bytes, Span};
use firstflight_measure::Evidence;
use firstflight_scenario::{Goal, RestartChoice, Scenario, SchemeChoice};
use serde_json::{Map, Value};

use crate::cell::{Cell, CompareError, Real, limit};
use crate::habitat::{HABITATS, Runs};
use crate::hosting::{Hosted, Hosting, Inside, Wanted};
use crate::seen::Seen;
use crate::subject::{Subject, subjects};

/// How often a void run is repeated.
const REPETITIONS: u32 = 8;

/// The evidence of a scheme on UDP sockets over the scenario's path, with its seed. Segments are shorter by UDP's header than the
/// scenario's, so that packets are as long and as many.
///
/// # Errors
/// A path that is none for real packets, a scheme that the host on sockets cannot run, what the system refuses.
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

/// A probing of the scenario's path from a UDP socket, with its seed: the fields of a row, without the truth, the seed and the hash.
///
/// # Errors
/// As [`on_sockets`].
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

/// A run of a scheme in this machine's TCP over the scenario's path, with its seed: nginx at the sending host, whose sockets have the
/// scheme, and clients that ask it for what the scenario says.
///
/// A scheme that the kernel has itself is the kernel's own: `slow-start` with Reno, and `hystart-linux` with Linux's CUBIC. Others are
/// put there by `hosting`, and so is a restart policy, of which the start-up is the kernel's.
///
/// # Errors
/// As [`on_sockets`], and what `hosting` refuses.
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

/// What a scheme may set for itself that the kernel gets.
const OF_THE_HOST: [&str; 5] = ["avoidance", "iw", "timestamps", "ecn", "restart"];

/// The kernel's own congestion control.
#[derive(Debug)]
struct Own(&'static str);

impl Hosted for Own {
    fn congestion_control(&self) -> &str {
        self.0
    }

    fn attach(&self, _: [u32; 2]) -> Result<(), String> {
        Ok(())
    }

    fn told(self: Box<Self>) -> Result<Vec<(u16, Inside)>, String> {
        Ok(Vec::new())
    }
}

/// Finds out whether this machine has what [`in_kernel`] runs besides the kernel.
///
/// # Errors
/// What is missing.
pub fn has_server() -> Result<(), String> {
    #[cfg(target_os = "linux")]
    return crate::linux::nginx().map(drop);
    #[cfg(not(target_os = "linux"))]
    Err(ELSEWHERE.to_owned())
}

/// Finds out whether the system lets real packets be emulated.
///
/// # Errors
/// What the system refuses.
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

/// Repeats a run that is void.
fn repeated<T>(run: impl Fn() -> Result<Real<T>, CompareError>) -> Result<Real<T>, CompareError> {
    for _ in 0..REPETITIONS {
        match run()? {
            Real::Void => {}
            done => return Ok(done),
        }
    }
    run()
}

/// A run that lasts a time has more data than the path carries in it.
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
