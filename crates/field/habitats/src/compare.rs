//! Makes all runs of a comparison: each scheme in each environment, interleaved.

use firstflight_lab::{self as lab, Completed};
use firstflight_scenario::{Goal, Options, Scenario, ScenarioError, SchemeChoice};
use firstflight_tcp::Stack;

use crate::cell::{Cell, CompareError, Load, Taken, limit};
use crate::figures::Figures;
use crate::habitat::{HABITATS, Habitat, Runs};
use crate::row::Row;
use crate::subject::{Subject, subjects};

/// The runs of a comparison.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// The options of the path and the endpoints, without a stack, which each environment sets.
    pub options: &'a Options,
    /// The schemes.
    pub choices: &'a [SchemeChoice],
    /// The environments.
    pub habitats: &'a [Habitat],
}

/// The callbacks of a comparison.
pub struct How<'a> {
    /// Called before each step.
    pub progress: &'a dyn Fn(&Step<'_>),
    /// Returns whether the user has interrupted.
    pub interrupted: &'a dyn Fn() -> bool,
    /// Loads schemes into the kernel; `None` if the program cannot do so.
    pub load: Option<Load<'a>>,
}

/// A run that is about to start.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The number of completed runs.
    pub done: u64,
    /// The total number of runs.
    pub total: u64,
    /// The scheme.
    pub scheme: &'a str,
    /// The environment.
    pub habitat: &'static str,
}

/// The results of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    /// The rows, grouped by scheme. The rows of one scheme are in the order of [`HABITATS`].
    pub rows: Vec<Row>,
    /// Schemes that an environment cannot run: the scheme, the environment, and the reason.
    pub refused: Vec<(String, &'static str, String)>,
}

/// The maximum number of repetitions of an invalid run.
const REPETITIONS: u32 = 3;

/// Runs each scheme in each environment as often as the options say. The runs are interleaved, so that load on the machine affects all
/// environments alike.
///
/// After an interrupt the result has the rows of the finished runs.
///
/// # Errors
/// A reason that makes the whole comparison impossible, or an interrupt before the first run. If only one environment refuses a scheme,
/// this is part of the result, not an error.
pub fn compare(order: &Order<'_>, how: &How<'_>) -> Result<Completed<Compared>, CompareError> {
    let scenarios = [Stack::Rfc, Stack::Linux].map(|stack| of_stack(order.options, stack));
    let [rfc, linux] = scenarios;
    let (rfc, linux) = (rfc?, linux?);
    check(&rfc, order.choices)?;
    let has = |runs| order.habitats.iter().any(|habitat| habitat.runs == runs);
    let subjects = subjects(order.choices, &linux, has(Runs::Kernel))?;
    if order.habitats.iter().any(Habitat::is_real) {
        probe(&rfc)?;
    }
    let mut compared = Compared::default();
    let mut cells = Vec::new();
    for subject in &subjects {
        for habitat in order.habitats.iter().filter(|habitat| has_it(subject, habitat)) {
            let scenario = if habitat.stack == Stack::Rfc { &rfc } else { &linux };
            let resumed = lab::resumed(scenario, &subject.choice, how.interrupted);
            let choice = resumed.map_err(CompareError::Simulator)?;
            let mut cell = Cell {
                subject,
                habitat: *habitat,
                scenario,
                choice,
                runs: Vec::new(),
                repeated: 0,
                void: 0,
                loaded: None,
            };
            match cell.prepare(how.load) {
                Err(why) => compared.refused.push((subject.choice.name().to_owned(), habitat.name, why)),
                Ok(()) => cells.push(cell),
            }
        }
    }
    let wanted = |cell: &Cell<'_>| u64::from(if cell.is_drawn() { rfc.runs } else { 1 });
    let total = cells.iter().map(wanted).sum();
    let mut done = 0;
    'runs: for run in 0..u64::from(rfc.runs) {
        for cell in cells.iter_mut().filter(|cell| run < wanted(cell)) {
            (how.progress)(&Step {
                done,
                total,
                scheme: cell.subject.choice.name(),
                habitat: cell.habitat.name,
            });
            if (how.interrupted)() || !cell.run(run, how)? {
                break 'runs;
            }
            done += 1;
        }
    }
    compared.rows = rows(&cells);
    Ok(if done == total {
        Completed::Whole(compared)
    } else {
        Completed::Partial { finished: compared, missing: total - done }
    })
}

/// Returns the scenario with this stack and with the time limit that all environments share.
fn of_stack(options: &Options, stack: Stack) -> Result<Scenario, ScenarioError> {
    let mut options = options.clone();
    options.stack = Some(stack);
    let scenario = Scenario::resolve(&options)?;
    Ok(Scenario { limit: limit(&scenario), ..scenario })
}

/// Returns an error if the scenario is not a single transfer.
fn check(scenario: &Scenario, choices: &[SchemeChoice]) -> Result<(), CompareError> {
    let one = "one transfer is compared";
    match scenario {
        Scenario { rounds: Some(_), .. } => return Err(CompareError::Key("rounds", one)),
        Scenario { population: Some(_), .. } => return Err(CompareError::Key("flows", one)),
        Scenario { app: Some(_), .. } => {
            return Err(CompareError::Key(
                "app",
                "a transfer is compared whose data is there from the beginning",
            ));
        }
        Scenario { goal: Goal::Duration(_), .. } => {
            return Err(CompareError::Key("duration", "transfers are compared, which have a size"));
        }
        _ => {}
    }
    let sets = |choice: &&SchemeChoice| {
        [Stack::Rfc, Stack::Linux].iter().any(|stack| {
            let scenario = Scenario { stack: *stack, ..scenario.clone() };
            scenario.for_scheme(choice).stack != *stack
        })
    };
    match choices.iter().find(sets) {
        Some(choice) => Err(CompareError::Stack(choice.to_string())),
        None => Ok(()),
    }
}

/// Returns whether a scheme has a row in an environment. A scheme of the kernel that the user did not name has rows only in the kernel and
/// in the simulator with Linux's stack.
fn has_it(subject: &Subject, habitat: &Habitat) -> bool {
    match habitat.runs {
        Runs::Kernel => subject.congestion_control.is_some(),
        Runs::Simulated => subject.is_asked || habitat.stack == Stack::Linux,
        Runs::Live | Runs::Bpf => subject.is_asked,
    }
}

impl Cell<'_> {
    /// Returns whether repeated runs can differ.
    fn is_drawn(&self) -> bool {
        self.habitat.is_real() || self.scenario.seed_changes_runs()
    }

    /// Prepares the environment for runs of the scheme. An error is the reason why the environment cannot run it.
    fn prepare(&mut self, load: Option<Load<'_>>) -> Result<(), String> {
        self.refusal().map_or(Ok(()), Err)?;
        if self.habitat.runs == Runs::Bpf {
            let load = load.ok_or_else(|| "this program loads no schemes into a kernel".to_owned())?;
            let law = self.choice.law(self.scenario.for_scheme(&self.choice).avoidance);
            self.loaded = Some(load(&self.choice, law)?);
        }
        Ok(())
    }

    /// Returns the reason why the environment cannot run the scheme; `None` if it can.
    fn refusal(&self) -> Option<String> {
        #[cfg(target_os = "linux")]
        return crate::linux::refusal(self);
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Makes a run. Returns `false` if the user interrupted.
    fn run(&mut self, run: u64, how: &How<'_>) -> Result<bool, CompareError> {
        let seed = self.scenario.seed.wrapping_add(run);
        for again in 0..=REPETITIONS {
            let taken = match self.habitat.runs {
                Runs::Simulated => self.simulate(seed, how)?,
                Runs::Live | Runs::Kernel | Runs::Bpf => self.emulate(seed, how)?,
            };
            match taken {
                Taken::Figures(figures) => {
                    self.runs.push(*figures);
                    return Ok(true);
                }
                Taken::Interrupted => return Ok(false),
                Taken::Void if again < REPETITIONS => self.repeated += 1,
                Taken::Void => self.void += 1,
            }
        }
        Ok(true)
    }

    fn simulate(&self, seed: u64, how: &How<'_>) -> Result<Taken, CompareError> {
        let scenario = self.scenario;
        match lab::run(scenario, &self.choice, seed, false, None, how.interrupted) {
            Ok(outcome) => {
                let figures = Figures::new(&outcome.evidence, scenario, u64::from(scenario.mss));
                Ok(Taken::Figures(Box::new(figures)))
            }
            Err(lab::RunError::Interrupted) => Ok(Taken::Interrupted),
            Err(error) => Err(CompareError::Simulator(error)),
        }
    }

    #[cfg(target_os = "linux")]
    fn emulate(&self, seed: u64, how: &How<'_>) -> Result<Taken, CompareError> {
        crate::linux::run(self, seed, how.interrupted)
    }

    #[cfg(not(target_os = "linux"))]
    fn emulate(&self, _: u64, _: &How<'_>) -> Result<Taken, CompareError> {
        Err(CompareError::Refused(ELSEWHERE.to_owned()))
    }
}

#[cfg(not(target_os = "linux"))]
const ELSEWHERE: &str = "real packets are emulated on Linux only";

/// Checks, before any run takes time, whether the system permits the emulation of paths for real packets.
fn probe(scenario: &Scenario) -> Result<(), CompareError> {
    #[cfg(target_os = "linux")]
    return crate::linux::probe(scenario);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = scenario;
        Err(CompareError::Refused(ELSEWHERE.to_owned()))
    }
}

/// Returns the rows. Each is compared with the row of the simulator with the same stack.
fn rows(cells: &[Cell<'_>]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for cell in cells {
        let own = cell.scenario.for_scheme(&cell.choice);
        let is_kernel = cell.habitat.runs == Runs::Kernel;
        let mut row = Row {
            scheme: cell.choice.name().to_owned(),
            choice: cell.choice.to_string(),
            avoidance: cell.choice.law(own.avoidance),
            habitat: cell.habitat,
            congestion_control: cell.subject.congestion_control.filter(|_| is_kernel),
            runs: 0,
            finished: 0,
            repeated: cell.repeated,
            void: cell.void,
            exit_cause: None,
            summaries: Vec::new(),
            differences: Vec::new(),
            finishes_unlike: false,
            by_chance: Vec::new(),
        };
        row.take_runs(&cell.runs);
        let simulator = HABITATS
            .iter()
            .find(|other| other.runs == Runs::Simulated && other.stack == cell.habitat.stack)
            .and_then(|there| {
                rows.iter().find(|other| other.scheme == row.scheme && other.habitat == *there)
            });
        if let Some(simulator) = simulator {
            row.compare_with(simulator);
        }
        rows.push(row);
    }
    rows
}
