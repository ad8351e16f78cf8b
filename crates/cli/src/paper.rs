//! `firstflight paper`: runs and checks the ledger of the papers' figures and claims.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use firstflight::registry::Registry;
use firstflight_export::write_whole;
use firstflight_papers::{
    CheckError, Claim, ClaimResult, Figure, FigureResult, HABITATS, Ledger, LedgerError, PAPERS, Row,
    RunsError, Settings, Source, Status, check as run_figures, golden, page, paper_title, show,
};

use crate::failure::{Failure, Place};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Progress;
use crate::reading;
use crate::targets::{Input, check_file};
use machine::Machine;

mod habitat;
mod machine;
mod mutants;
mod reasons;

/// `firstflight paper`.
#[derive(Args, Debug)]
pub(crate) struct PaperCommand {
    #[command(subcommand)]
    asked: Asked,
}

#[derive(Subcommand, Debug)]
enum Asked {
    /// List the figures: title, source, and how many claims are recorded as holding. Of a whole paper also what no figure has, and
    /// why.
    List {
        #[command(flatten)]
        from: From,
        /// Print only JSON: an object a line for each figure, table and sentence of the papers, with the ledger's files that have it.
        #[arg(long)]
        json: bool,
        /// Papers or figures, as in past or past/figure-8b [all].
        #[arg(value_name = "ID")]
        ids: Vec<String>,
    },
    /// Run figures, and print their values and claims.
    Run {
        /// Papers, figures or claims, as in past, past/figure-8b or past/figure-8b/no-startup-loss.
        #[arg(value_name = "ID", required = true)]
        ids: Vec<String>,
        #[command(flatten)]
        how: HowToRun,
    },
    /// Check the claims of figures; exits with 1 if one that is recorded as holding does not.
    Check {
        /// Papers, figures or claims, as in past, past/figure-8b or past/figure-8b/no-startup-loss [all].
        #[arg(value_name = "ID")]
        ids: Vec<String>,
        #[command(flatten)]
        how: HowToRun,
        /// Check only the figures that every build checks.
        #[arg(long)]
        fast: bool,
        /// Write the results of whole papers into this folder: past.json, rbp.json, …; of all mutants: mutants.json.
        #[arg(long, value_name = "DIR")]
        record: Option<PathBuf>,
        /// Measure the reasons that the files record: each entry of `tried` and `evidence`; exits with 1 if one gives something else.
        #[arg(long, conflicts_with_all = ["report", "record", "habitat"])]
        reasons: bool,
        /// Check the claims with wrong schemes, the mutants of the files; exits with 1 if no claim fails.
        #[arg(long, conflicts_with_all = ["report", "habitat", "reasons"])]
        mutants: bool,
    },
}

/// Where the ledger is.
#[derive(Args, Debug)]
struct From {
    /// Read the ledger from this folder, PAPER/FIGURE.toml [the ledger within the command].
    #[arg(long, value_name = "DIR")]
    ledger: Option<PathBuf>,
}

impl From {
    /// Returns the files of figures if the ledger is read from a folder; empty otherwise.
    fn files(&self, asked: &AskedFor<'_>) -> Vec<PathBuf> {
        let file = |folder: &PathBuf, figure: &Figure| folder.join(format!("{}.toml", figure.name()));
        self.ledger
            .iter()
            .flat_map(|folder| asked.figures().map(move |figure| file(folder, figure)))
            .collect()
    }
}

#[derive(Args, Debug)]
struct HowToRun {
    #[command(flatten)]
    from: From,
    /// Print only JSON, one line for each claim.
    #[arg(long)]
    json: bool,
    /// Write the figures with their claims: one HTML file that opens offline.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Runs at a time; results do not depend on it [the number of processors].
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    jobs: Option<String>,
    /// Run the figures that have this habitat there: live, on UDP sockets over emulated paths, or kernel, with nginx in this machine's
    /// TCP over them; both need root [simulator].
    #[arg(long, value_name = "NAME")]
    habitat: Option<String>,
}

/// Carries out `firstflight paper`.
pub(crate) fn paper(command: &PaperCommand, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    match &command.asked {
        Asked::List { from, json, ids } => list(from, *json, ids, registry, arguments),
        Asked::Run { ids, how } => run(ids, how, registry, arguments),
        Asked::Check { ids, how, fast, record, reasons, mutants } => {
            let ledger = ledger_of(how, registry, arguments)?;
            let asked = asked_of(&ledger, ids, *fast, arguments)?;
            match record {
                _ if *reasons => reasons::check(&asked, how, arguments),
                record if *mutants => mutants::check(&ledger, &asked, how, record.as_deref(), arguments),
                record => check(&ledger, &asked, how, record.as_deref(), arguments),
            }
        }
    }
}

fn list(
    from: &From,
    json: bool,
    ids: &[String],
    registry: Registry,
    arguments: &[String],
) -> Result<(), Failure> {
    let ledger = ledger(from, registry, arguments)?;
    let asked = asked(&ledger, ids, arguments)?;
    let rows: Vec<&Row> = ledger.rows.iter().filter(|row| asked.has(row, ids)).collect();
    let mut out = String::new();
    if json {
        for row in rows {
            out += &firstflight_export::json::line(row).map_err(Failure::write)?;
        }
        return output::print(&out);
    }
    for (paper, _) in PAPERS {
        let figures: Vec<&Figure> = asked.figures().filter(|figure| figure.paper == paper).collect();
        if figures.is_empty() {
            continue;
        }
        let _ = writeln!(out, "{paper}: {}", paper_title(paper));
        for figure in figures {
            let claims = figure.claims.iter().map(|claim| (claim.status, claim.source == Source::Own));
            let counts = show::counts(&claims.collect::<Vec<_>>());
            let name = figure.name();
            let _ = writeln!(
                out,
                "  {name:<24} {} ({}, section {}): {counts}",
                figure.title, figure.figure, figure.section
            );
        }
        for row in rows.iter().filter(|row| row.paper() == paper) {
            if let Some(missing) = row.missing() {
                let _ = writeln!(out, "  {:<24} {}: {missing}", row.id, row.what);
            }
        }
    }
    output::print_words(&out)
}

fn run(ids: &[String], how: &HowToRun, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    let ledger = ledger_of(how, registry, arguments)?;
    let asked = asked(&ledger, ids, arguments)?;
    if are_skipped(how.habitat.as_deref(), &asked)? {
        return Ok(());
    }
    let results = results(&asked, how, arguments)?;
    write_report(&ledger, &asked, &results, how, arguments)?;
    if how.json {
        return output::print(&json(&asked, &results)?);
    }
    let mut out = String::new();
    for (of_figure, result) in asked.0.iter().zip(&results) {
        let figure = of_figure.0;
        let _ = writeln!(out, "{}: {}", figure.name(), figure.title);
        let _ =
            writeln!(out, "{}, section {}; {}", paper_title(&figure.paper), figure.section, figure.figure);
        for choice in &figure.choices {
            let _ = writeln!(out, "chosen: {choice}");
        }
        for set_up in &figure.set_ups {
            let _ = writeln!(out, "{}", show::set_up(set_up));
        }
        let _ = writeln!(out, "\n{}", show::values(figure, result));
        for (_, claim) in pairs_of(of_figure, result) {
            let _ = writeln!(out, "{}", show::claim(claim));
        }
    }
    output::print(&out)
}

/// Returns the requested figures; with `fast`, only those that every build checks.
fn asked_of<'a>(
    ledger: &'a Ledger,
    ids: &[String],
    fast: bool,
    arguments: &[String],
) -> Result<AskedFor<'a>, Failure> {
    let mut asked = asked(ledger, ids, arguments)?;
    if fast {
        asked.0.retain(|(figure, _)| figure.fast);
        if asked.0.is_empty() {
            let message = "--fast: none of these figures has `fast = true`, so nothing would be checked";
            return Err(Failure::usage(message).at(Place::argument(arguments, "--fast")));
        }
    }
    Ok(asked)
}

fn check(
    ledger: &Ledger,
    asked: &AskedFor<'_>,
    how: &HowToRun,
    record: Option<&Path>,
    arguments: &[String],
) -> Result<(), Failure> {
    if let Some(folder) = record {
        whole_papers(ledger, asked, folder, arguments)?;
        check_record(asked, folder, how, arguments)?;
    }
    if are_skipped(how.habitat.as_deref(), asked)? {
        return Ok(());
    }
    let machine = Machine::now();
    let results = results(asked, how, arguments)?;
    write_report(ledger, asked, &results, how, arguments)?;
    if how.json {
        output::print(&json(asked, &results)?)?;
    } else {
        output::print_words(&checked(asked, &results))?;
    }
    if let Some(folder) = record {
        let there = how.habitat.as_deref().map(|name| (name, machine));
        write_record(asked, &results, folder, there.as_ref())?;
    }
    let lost = asked.not_as_recorded(&results);
    if lost.is_empty() {
        return Ok(());
    }
    Err(Failure::check(format!(
        "{} of {} claims are recorded as holding and do not hold: {}",
        lost.len(),
        asked.pairs(&results).count(),
        lost.join(", ")
    )))
}

/// Renders a line for each claim, and then the counts.
fn checked(asked: &AskedFor<'_>, results: &[FigureResult]) -> String {
    let mut out = String::new();
    for (claim, result) in asked.pairs(results) {
        let _ = write!(out, "{}: {}", show::outcome(result), result.id);
        if result.status != Status::NotTestable {
            let _ = write!(out, ": expected {}, measured {}", result.expected, show::with_interval(result));
        }
        if !result.is_as_recorded(claim) {
            let _ = write!(out, "; recorded as: {}", show::recorded(claim));
        }
        out.push('\n');
        for line in show::tried(result) {
            let _ = writeln!(out, "  {line}");
        }
    }
    let counted = asked.pairs(results).map(|(_, result)| (result.status, result.own));
    let _ = writeln!(out, "{}", show::counts(&counted.collect::<Vec<_>>()));
    out
}

/// The requested figures.
struct AskedFor<'a>(Vec<AskedFigure<'a>>);

/// A requested figure, and the names of its requested claims, or `None` if all are requested.
type AskedFigure<'a> = (&'a Figure, Option<Vec<String>>);

/// Returns the requested claims of a figure, each with its result.
fn pairs_of<'p, 'a, 'r>(
    (figure, only): &'p AskedFigure<'a>,
    result: &'r FigureResult,
) -> impl Iterator<Item = (&'a Claim, &'r ClaimResult)> + use<'p, 'a, 'r> {
    let pairs = figure.claims.iter().zip(&result.claims);
    pairs.filter(move |(claim, _)| only.as_ref().is_none_or(|only| only.contains(&claim.id)))
}

impl<'a> AskedFor<'a> {
    fn figures(&self) -> impl Iterator<Item = &'a Figure> {
        self.0.iter().map(|(figure, _)| *figure)
    }

    /// Checks whether `ids` request a row of the papers. They may name its paper, or a figure that reproduces it.
    fn has(&self, row: &Row, ids: &[String]) -> bool {
        ids.is_empty()
            || ids.iter().any(|id| id.trim().trim_end_matches('/') == row.paper())
            || row.files.iter().any(|file| self.figures().any(|figure| figure.name() == *file))
    }

    /// Returns the requested figures, each with its requested claims.
    fn claims(&self) -> impl Iterator<Item = (&'a Figure, Vec<&'a Claim>)> {
        self.0.iter().map(|(figure, only)| {
            let is_asked = |claim: &&Claim| only.as_ref().is_none_or(|only| only.contains(&claim.id));
            (*figure, figure.claims.iter().filter(is_asked).collect())
        })
    }

    /// Returns the requested claims, each with its result.
    fn pairs<'r>(&self, results: &'r [FigureResult]) -> impl Iterator<Item = (&'a Claim, &'r ClaimResult)> {
        self.0.iter().zip(results).flat_map(|(asked, result)| pairs_of(asked, result))
    }

    /// Returns the identifiers of the requested claims that are recorded as holding and whose results are otherwise.
    fn not_as_recorded(&self, results: &[FigureResult]) -> Vec<String> {
        let lost = self
            .pairs(results)
            .filter(|(claim, result)| claim.status == Status::Holds && !result.is_as_recorded(claim));
        lost.map(|(_, result)| result.id.clone()).collect()
    }
}

fn asked<'a>(ledger: &'a Ledger, ids: &[String], arguments: &[String]) -> Result<AskedFor<'a>, Failure> {
    let mut found: Vec<(&Figure, Option<&str>)> = Vec::new();
    for id in ids {
        let more =
            ledger.find(id).map_err(|error| Failure::usage(error).at(Place::argument(arguments, id)))?;
        found.extend(more);
    }
    let mut asked = Vec::new();
    for figure in &ledger.figures {
        let of_figure: Vec<Option<&str>> =
            found.iter().filter(|(one, _)| std::ptr::eq(*one, figure)).map(|(_, claim)| *claim).collect();
        if ids.is_empty() || of_figure.contains(&None) {
            asked.push((figure, None));
        } else if !of_figure.is_empty() {
            asked.push((figure, Some(of_figure.into_iter().flatten().map(str::to_owned).collect())));
        }
    }
    Ok(AskedFor(asked))
}

/// Returns the ledger, with its figures set to run in the requested habitat (the environment in which schemes run).
fn ledger_of(how: &HowToRun, registry: Registry, arguments: &[String]) -> Result<Ledger, Failure> {
    let ledger = ledger(&how.from, registry, arguments)?;
    let Some(name) = &how.habitat else { return Ok(ledger) };
    if !HABITATS.contains(&name.as_str()) {
        let message = format!("--habitat: there is no `{name}`; there are {}", HABITATS.join(", "));
        return Err(Failure::usage(message).at(Place::value(arguments, "--habitat", name)));
    }
    Ok(ledger.in_habitat(name))
}

/// Reports the figures that are skipped because this program, this machine or the system cannot run them. Returns whether all are skipped.
/// Without a habitat none is.
fn are_skipped(habitat: Option<&str>, asked: &AskedFor<'_>) -> Result<bool, Failure> {
    let Some(habitat) = habitat else { return Ok(false) };
    let Some(scenario) = asked.figures().find_map(|figure| figure.a_scenario()) else {
        return Err(Failure::usage("no figure that is asked for has this habitat"));
    };
    let Some(why) = habitat::missing(habitat, scenario)? else { return Ok(false) };
    for figure in asked.figures() {
        output::say(&format!("skipped: {}: {why}\n", figure.name()));
    }
    Ok(true)
}

fn ledger(from: &From, registry: Registry, arguments: &[String]) -> Result<Ledger, Failure> {
    let ledger = match &from.ledger {
        None => Ledger::embedded(registry),
        Some(folder) => Ledger::read(registry, folder),
    };
    ledger.map_err(|error| match &error {
        LedgerError::File { name, text, error: fault } => {
            let place = Place::text(name, text, fault.span.start, fault.span.end);
            Failure::usage(&error).at(place)
        }
        LedgerError::Empty { path } => {
            let place = Place::value(arguments, "--ledger", &path.to_string_lossy());
            Failure::usage(format!("--ledger: {error}")).at(place)
        }
        LedgerError::Read { .. } | LedgerError::Name { .. } => Failure::usage(&error),
    })
}

fn results(asked: &AskedFor<'_>, how: &HowToRun, arguments: &[String]) -> Result<Vec<FigureResult>, Failure> {
    if let Some(path) = &how.report {
        let files = how.from.files(asked);
        let inputs: Vec<Input<'_>> = files.iter().map(|path| Input { what: "ledger's file", path }).collect();
        check_file("--report", path, &inputs, arguments)?;
    }
    let figures: Vec<&Figure> = asked.figures().collect();
    made(how, arguments, |settings| run_figures(&figures, settings))
}

/// Makes runs with the settings of the command line.
fn made<T>(
    how: &HowToRun,
    arguments: &[String],
    work: impl FnOnce(&Settings<'_>) -> Result<T, CheckError>,
) -> Result<T, Failure> {
    let jobs = reading::jobs(how.jobs.as_deref(), arguments)?;
    let interrupt = Interrupt::listen();
    let progress = Progress::new(0);
    let settings = Settings {
        jobs,
        progress: &|done, total, name| progress.show_of(done, total, name),
        interrupted: &|| interrupt.happened(),
        habitat: how.habitat.as_deref().and_then(habitat::of),
    };
    let results = work(&settings);
    drop(progress);
    results.map_err(|error| match error {
        CheckError::Runs(RunsError::Interrupted) => interrupted(),
        error => Failure::usage(error),
    })
}

/// Returns the failure after an interrupt.
fn interrupted() -> Failure {
    Failure::interrupted("interrupted; nothing was checked")
}

/// Returns the results as JSON, an object a line.
fn lines<T: serde::Serialize>(results: &[T]) -> Result<String, Failure> {
    results.iter().map(|one| firstflight_export::json::line(one).map_err(Failure::write)).collect()
}

fn write_report(
    ledger: &Ledger,
    asked: &AskedFor<'_>,
    results: &[FigureResult],
    how: &HowToRun,
    arguments: &[String],
) -> Result<(), Failure> {
    let Some(path) = &how.report else { return Ok(()) };
    let figures: Vec<&Figure> = asked.figures().collect();
    let html = page(&figures, results, &ledger.rows, &arguments.join(" ")).map_err(Failure::write)?;
    write_whole(path, html.as_bytes()).map_err(Failure::write)?;
    output::say_written(path);
    Ok(())
}

fn json(asked: &AskedFor<'_>, results: &[FigureResult]) -> Result<String, Failure> {
    let line = |(_, result)| firstflight_export::json::line(result).map_err(Failure::write);
    asked.pairs(results).map(line).collect()
}

/// Checks that only whole papers are recorded, because recording a part of a paper would lose its other claims.
fn whole_papers(
    ledger: &Ledger,
    asked: &AskedFor<'_>,
    folder: &Path,
    arguments: &[String],
) -> Result<(), Failure> {
    let refuse = |message: String| {
        let place = Place::value(arguments, "--record", &folder.to_string_lossy());
        Err(Failure::usage(format!("--record: {message}")).at(place))
    };
    for figure in &ledger.figures {
        let of_paper = asked.figures().any(|one| one.paper == figure.paper);
        let whole = asked.0.iter().any(|(one, only)| std::ptr::eq(*one, figure) && only.is_none());
        if of_paper && !whole {
            return refuse(format!("{} would be left out; whole papers are recorded", figure.name()));
        }
    }
    if !folder.is_dir() {
        return refuse(format!("there is no folder {}", folder.display()));
    }
    Ok(())
}

/// Tests that the record's files can be written, and that none of them is the report.
fn check_record(
    asked: &AskedFor<'_>,
    folder: &Path,
    how: &HowToRun,
    arguments: &[String],
) -> Result<(), Failure> {
    for (paper, _) in PAPERS.iter().filter(|(paper, _)| asked.figures().any(|figure| figure.paper == *paper))
    {
        let path = record_file(folder, paper);
        let report = how.report.iter().map(|path| Input { what: "report", path });
        check_file("--record", &path, &report.collect::<Vec<_>>(), arguments)?;
    }
    Ok(())
}

fn record_file(folder: &Path, paper: &str) -> PathBuf {
    folder.join(format!("{paper}.json"))
}

/// Writes the results of papers. Results of a habitat other than the simulator include the machine on which they were measured.
fn write_record(
    asked: &AskedFor<'_>,
    results: &[FigureResult],
    folder: &Path,
    habitat: Option<&(&str, Machine)>,
) -> Result<(), Failure> {
    for (paper, _) in PAPERS {
        let of_paper = asked.figures().zip(results).filter(|(figure, _)| figure.paper == paper);
        let claims: Vec<ClaimResult> = of_paper.flat_map(|(_, result)| result.claims.clone()).collect();
        if claims.is_empty() {
            continue;
        }
        let path = record_file(folder, paper);
        let text = match habitat {
            None => golden::text(&claims),
            Some((name, machine)) => machine.measured(name, claims).text(),
        };
        let text = text.map_err(Failure::write)?;
        write_whole(&path, text.as_bytes()).map_err(Failure::write)?;
        output::say_written(&path);
    }
    Ok(())
}
