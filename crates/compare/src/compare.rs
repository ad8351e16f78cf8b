//! Runs everything, in turn: each run of each scheme in each habitat.

use firstflight_lab as lab;
use firstflight_scenario::{Goal, Options, Scenario, ScenarioError, SchemeChoice};
use firstflight_tcp::Stack;

use crate::cell::{Cell, CompareError, Load, Taken, limit};
use crate::figures::Figures;
use crate::habitat::{HABITATS, Habitat, Runs};
use crate::row::Row;
use crate::subject::{Subject, subjects};

/// What is to be compared.
#[derive(Clone, Copy, Debug)]
pub struct Order<'a> {
    /// The path and the endpoints, without a stack: habitats have their own.
    pub options: &'a Options,
    /// The schemes.
    pub choices: &'a [SchemeChoice],
    /// The habitats.
    pub habitats: &'a [Habitat],
}

/// How it is run.
pub struct How<'a> {
    /// Hears of each step before it is made.
    pub progress: &'a dyn Fn(&Step<'_>),
    /// Whether the user has interrupted. Finished runs are kept.
    pub interrupted: &'a dyn Fn() -> bool,
    /// Loads schemes into the kernel, if the program can.
    pub load: Option<Load<'a>>,
}

/// A run that begins.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// How many runs are done.
    pub done: u64,
    /// Of how many.
    pub total: u64,
    /// The scheme.
    pub scheme: &'a str,
    /// The habitat.
    pub habitat: &'static str,
}

/// What came of it.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    /// Scheme by scheme, each in the order of [`HABITATS`].
    pub rows: Vec<Row>,
    /// Schemes that a habitat cannot run: the scheme, the habitat, and why.
    pub refused: Vec<(String, &'static str, String)>,
    /// Whether the user interrupted before all was run.
    pub is_interrupted: bool,
}

/// How often a void run is repeated.
const REPETITIONS: u32 = 3;

/// Runs each scheme in each habitat, as often as the options say, in turn: so what the machine does meanwhile hits all alike.
///
/// # Errors
/// What makes the whole comparison impossible. A scheme that only one habitat refuses is told of.
pub fn compare(order: &Order<'_>, how: &How<'_>) -> Result<Compared, CompareError> {
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
                compared.is_interrupted = true;
                break 'runs;
            }
            done += 1;
        }
    }
    compared.rows = rows(&cells);
    Ok(compared)
}

/// The scenario with this stack, and the limit of all habitats.
fn of_stack(options: &Options, stack: Stack) -> Result<Scenario, ScenarioError> {
    let mut options = options.clone();
    options.stack = Some(stack);
    let scenario = Scenario::resolve(&options)?;
    Ok(Scenario { limit: limit(&scenario), ..scenario })
}

/// Refuses what is no single transfer.
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

/// Whether a habitat has a row of a scheme. What nobody asked for stands beside the kernel alone.
fn has_it(subject: &Subject, habitat: &Habitat) -> bool {
    match habitat.runs {
        Runs::Kernel => subject.congestion_control.is_some(),
        Runs::Simulated => subject.is_asked || habitat.stack == Stack::Linux,
        Runs::Live | Runs::Bpf => subject.is_asked,
    }
}

impl Cell<'_> {
    /// Whether runs differ.
    fn is_drawn(&self) -> bool {
        self.habitat.is_real() || self.scenario.seed_changes_runs()
    }

    /// Makes all ready for runs, or says why the habitat cannot run the scheme.
    fn prepare(&mut self, load: Option<Load<'_>>) -> Result<(), String> {
        self.refusal().map_or(Ok(()), Err)?;
        if self.habitat.runs == Runs::Bpf {
            let load = load.ok_or_else(|| "this program loads no schemes into a kernel".to_owned())?;
            let law = self.choice.law(self.scenario.for_scheme(&self.choice).avoidance);
            self.loaded = Some(load(&self.choice, law)?);
        }
        Ok(())
    }

    /// Why the habitat cannot run the scheme; `None` if it can.
    fn refusal(&self) -> Option<String> {
        #[cfg(target_os = "linux")]
        return crate::linux::refusal(self);
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// Makes a run; `false` if the user interrupted.
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

/// Finds out whether the system lets real packets be emulated, before anything takes time.
fn probe(scenario: &Scenario) -> Result<(), CompareError> {
    #[cfg(target_os = "linux")]
    return crate::linux::probe(scenario);
    #[cfg(not(target_os = "linux"))]
    {
        let _ = scenario;
        Err(CompareError::Refused(ELSEWHERE.to_owned()))
    }
}

/// The rows, each beside that of the simulator of its stack.
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
