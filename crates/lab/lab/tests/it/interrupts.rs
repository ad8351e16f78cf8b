//! An interrupt at every check in turn: a result is whole, or its type says that it is not.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use firstflight::registry::Registry;
use firstflight_lab::{
    Completed, How, RunError, Stopped, Sweep, SweptRow, population_references, populations_until_interrupted,
    probe_until_interrupted, race_parts, race_until_interrupted, references,
};
use firstflight_scenario::{Options, Scenario, SchemeChoice, parse_choices};

/// An interrupt that one check of all reports. With `lasts` every later check reports it too, as a user's does.
struct Interrupt {
    at: u64,
    lasts: bool,
    checks: AtomicU64,
}

impl Interrupt {
    fn new(at: u64, lasts: bool) -> Self {
        Self { at, lasts, checks: AtomicU64::new(0) }
    }

    fn check(&self) -> bool {
        let check = self.checks.fetch_add(1, Ordering::SeqCst);
        check == self.at || (self.lasts && check > self.at)
    }

    fn happened(&self) -> bool {
        self.checks.load(Ordering::SeqCst) > self.at
    }
}

/// Interrupts at every check in turn until one comes too late; gives their number.
fn at_every_check(run: &dyn Fn(&Interrupt)) -> u64 {
    at_each(1, run)
}

/// Interrupts at every check whose number is a multiple of `step`. `FIRSTFLIGHT_INJECT` takes all checks, and also tries
/// interrupts that only one check reports.
fn at_each(step: usize, run: &dyn Fn(&Interrupt)) -> u64 {
    let is_large = std::env::var_os("FIRSTFLIGHT_INJECT").is_some();
    let (step, all): (_, &[bool]) = if is_large { (1, &[true, false]) } else { (step, &[true]) };
    let mut checks = 0;
    for lasts in all {
        for at in (0..).step_by(step) {
            let interrupt = Interrupt::new(at, *lasts);
            run(&interrupt);
            if !interrupt.happened() {
                break;
            }
            checks += 1;
        }
    }
    checks
}

fn scenario(options: &[(&str, &str)]) -> Scenario {
    let mut set = Options::default();
    for (key, text) in options {
        set.set(key, text).expect(text);
    }
    Scenario::resolve(&set).expect("a scenario")
}

fn choices(schemes: &str) -> Vec<SchemeChoice> {
    parse_choices(schemes).expect(schemes)
}

type Parts = BTreeMap<u64, Vec<SweptRow>>;

/// The parts that a sweep stored, and how it ended.
fn swept(sweep: &Sweep, jobs: usize, interrupt: &Interrupt) -> (Parts, Result<(), Stopped<()>>) {
    let stored = Mutex::new(Parts::new());
    let put = |part, rows| -> Result<(), ()> {
        stored.lock().expect("no panic").insert(part, rows);
        Ok(())
    };
    let parts: Vec<u64> = (0..sweep.parts()).collect();
    let ended = race_parts(sweep, &parts, jobs, &|| interrupt.check(), &|| (), &put);
    (stored.into_inner().expect("no panic"), ended)
}

/// Paths with and without other traffic, saved values, several seeds, and slow start that counts bytes.
const SWEEP: &str = "seed = 5\nruns = 2\npart = 1\ngive-up = 20\n\
    schemes = [\"hystart++\", \"careful-resume\"]\n[path]\nrate = \"10mbit\"\nrtt = \"40ms\"\nsize = \"60kB\"\n\
    queue = \"1bdp\"\nloss = \"1%\"\ncross = [\"none\", \"2mbit\"]\n";

#[test]
fn an_interrupt_at_any_check_of_a_sweep_leaves_only_identical_parts() {
    // The time before a flow that shares the path with TCP takes many checks.
    for (text, jobs, step) in [(SWEEP, 1, 1), (SWEEP, 2, 1), (&SWEEP.replace("2mbit", "tcp:1"), 1, 31)] {
        let sweep = Sweep::parse(Registry::builtin(), text).expect("a sweep");
        let (whole, ended) = swept(&sweep, 1, &Interrupt::new(u64::MAX, true));
        assert!(ended.is_ok() && whole.len() as u64 == sweep.parts());
        let raced = whole.values().flatten().filter(|row| row.beside.bytes_raced == 1).count();
        assert!(raced > 0, "slow start that counts bytes is raced over no path");
        let checks = at_each(step, &|interrupt| {
            let (stored, ended) = swept(&sweep, jobs, interrupt);
            for (part, rows) in &stored {
                assert!(
                    whole[part] == *rows,
                    "part {part} differs, with an interrupt at check {}",
                    interrupt.at
                );
            }
            let is_whole = stored.len() == whole.len();
            assert!(
                if is_whole { ended.is_ok() } else { matches!(ended, Err(Stopped::Interrupted)) },
                "{} parts, with an interrupt at check {}: {ended:?}",
                stored.len(),
                interrupt.at
            );
        });
        assert!(checks > 9, "{checks} checks are too few");
    }
}

#[test]
fn a_part_that_cannot_be_stored_is_the_error_though_others_stop() {
    let sweep = Sweep::parse(Registry::builtin(), SWEEP).expect("a sweep");
    let (whole, _) = swept(&sweep, 1, &Interrupt::new(u64::MAX, true));
    for failing in 0..sweep.parts() {
        let stored = Mutex::new(Parts::new());
        let put = |part, rows| {
            if part == failing {
                return Err(part);
            }
            stored.lock().expect("no panic").insert(part, rows);
            Ok(())
        };
        let parts: Vec<u64> = (0..sweep.parts()).collect();
        let ended = race_parts(&sweep, &parts, 2, &|| false, &|| (), &put);
        assert!(matches!(ended, Err(Stopped::Part(part)) if part == failing), "{ended:?}");
        assert!(stored.into_inner().expect("no panic").iter().all(|(part, rows)| whole[part] == *rows));
    }
}

/// Checks results of runs against the whole ones: they are equal, or partial with rows of whole runs alone.
fn judge<T: Debug>(completed: Completed<T>, whole: &T, runs: u64, rows: &dyn Fn(&T) -> Vec<String>) {
    match completed {
        Completed::Whole(results) => assert_eq!(rows(&results), rows(whole)),
        Completed::Partial { finished, missing } => {
            let (some, all) = (rows(&finished), rows(whole));
            assert!(some.iter().all(|row| all.contains(row)), "a row differs");
            assert!(
                missing > 0
                    && some.len() as u64 * runs + missing * all.len() as u64 == all.len() as u64 * runs
            );
        }
    }
}

#[test]
fn an_interrupt_at_any_check_of_a_race_is_in_its_type() {
    for (cross, step) in [("none", 1), ("2mbit", 5), ("tcp:1", 29)] {
        let path = scenario(&[
            ("rate", "10mbit"),
            ("rtt", "40ms"),
            ("size", "60kB"),
            ("cross", cross),
            ("runs", "2"),
        ]);
        let choices = choices("slow-start,careful-resume");
        let raced = |interrupt: &Interrupt| {
            let how = How { jobs: Some(1), interrupted: &|| interrupt.check(), ..How::default() };
            race_until_interrupted(&path, &choices, &how).expect("no fault")
        };
        let whole = raced(&Interrupt::new(u64::MAX, true)).whole().expect("whole");
        let rows = |results: &Vec<firstflight_measure::SchemeResult>| {
            results.iter().flat_map(|result| &result.rows).map(|row| format!("{row:?}")).collect()
        };
        let checks = at_each(step, &|interrupt| judge(raced(interrupt), &whole, 4, &rows));
        assert!(checks > 9, "{cross}: {checks} checks are too few");
    }
}

#[test]
fn an_interrupt_at_any_check_of_references_is_an_error() {
    let path = scenario(&[
        ("rate", "100mbit"),
        ("rtt", "40ms"),
        ("size", "300kB"),
        ("queue", "4bdp"),
        ("runs", "2"),
    ]);
    let choices = choices("slow-start,hystart++,hystart-linux:iw=4");
    let results = firstflight_lab::race(&path, &choices, &How::default()).expect("a race");
    let made = |interrupt: &Interrupt| {
        let how = How { jobs: Some(1), interrupted: &|| interrupt.check(), ..How::default() };
        references(&path, &choices, &results, &how).map(|references| format!("{references:?}"))
    };
    let whole = made(&Interrupt::new(u64::MAX, true)).expect("whole");
    let checks = at_every_check(&|interrupt| match made(interrupt) {
        Ok(references) => assert_eq!(references, whole),
        Err(error) => assert!(matches!(error, RunError::Interrupted), "{error}"),
    });
    assert!(checks > 10, "{checks} checks are too few");
}

#[test]
fn an_interrupt_of_populations_or_probings_gives_a_partial_result() {
    let hosts = scenario(&[
        ("rate", "20mbit"),
        ("rtt", "40ms"),
        ("topology", "dumbbell:hosts=4"),
        ("flows", "6"),
        ("size", "20kB"),
        ("mixed", "true"),
        ("runs", "2"),
    ]);
    let choices = choices("slow-start,hystart++");
    let run = |interrupt: &Interrupt| {
        let how = How { jobs: Some(1), interrupted: &|| interrupt.check(), ..How::default() };
        let results = populations_until_interrupted(&hosts, &choices, true, &how).expect("no fault");
        let references = match &results {
            Completed::Whole(results) => population_references(&hosts, &choices, results, &how),
            Completed::Partial { .. } => Err(RunError::Interrupted),
        };
        (results, references.map(|references| format!("{references:?}")))
    };
    let (whole, all) = run(&Interrupt::new(u64::MAX, true));
    let (whole, all) = (whole.whole().expect("whole"), all.expect("whole"));
    let rows = |results: &Vec<firstflight_measure::PopulationResult>| {
        results.iter().flat_map(|result| &result.rows).map(|row| format!("{row:?}")).collect::<Vec<_>>()
    };
    let checks = at_each(7, &|interrupt| {
        let (results, references) = run(interrupt);
        if let Completed::Whole(results) = &results {
            assert_eq!(rows(results), rows(&whole));
        }
        match references {
            Ok(references) => assert_eq!(references, all),
            Err(error) => assert!(matches!(error, RunError::Interrupted), "{error}"),
        }
    });
    assert!(checks > 5, "{checks} checks are too few");

    let trains = scenario(&[("rate", "10mbit"), ("rtt", "20ms"), ("probe", "bracket"), ("runs", "2")]);
    let probed = |interrupt: &Interrupt| {
        let how = How { jobs: Some(1), interrupted: &|| interrupt.check(), ..How::default() };
        probe_until_interrupted(&trains, &how).expect("no fault")
    };
    let whole = probed(&Interrupt::new(u64::MAX, true)).whole().expect("whole");
    let rows = |result: &firstflight_measure::ProbeResult| {
        result.rows.iter().map(|row| format!("{row:?}")).collect::<Vec<_>>()
    };
    let checks = at_every_check(&|interrupt| judge(probed(interrupt), &whole, 2, &rows));
    assert!(checks > 3, "{checks} checks are too few");
}
