//! `firstflight paper`: runs and checks the ledger of the papers' figures and claims.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use firstflight::registry::Registry;
use firstflight_export::write_whole;
use firstflight_papers::{
    ClaimResult, Figure, FigureResult, Ledger, PAPERS, Row, Source, Status, check as run_figures, golden,
    page, paper_title, show,
};

use crate::failure::{Failure, Place};
use crate::output;
use crate::targets::{Input, check_file};
use asked::{AskedFor, From, HowToRun, asked, asked_of, ledger, ledger_of, made, pairs_of};
use machine::Machine;
use values::Values;

mod asked;
mod deposited;
mod habitat;
mod machine;
mod mutants;
mod reasons;
mod values;

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
        #[command(flatten)]
        values: Values,
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

/// Carries out `firstflight paper`.
pub(crate) fn paper(command: &PaperCommand, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    match &command.asked {
        Asked::List { from, json, ids } => list(from, *json, ids, registry, arguments),
        Asked::Run { ids, how, values } => run(ids, how, values, registry, arguments),
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
    let figures: Vec<&Figure> = asked.figures().collect();
    deposited::list(&figures)?;
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

fn run(
    ids: &[String],
    how: &HowToRun,
    values: &Values,
    registry: Registry,
    arguments: &[String],
) -> Result<(), Failure> {
    let ledger = ledger_of(how, registry, arguments)?;
    let asked = asked(&ledger, ids, arguments)?;
    if are_skipped(how.habitat.as_deref(), &asked)? {
        return Ok(());
    }
    values.check(&asked, how, arguments)?;
    let results = results(&asked, how, arguments)?;
    deposited::results(&asked, &results)?;
    write_report(&ledger, &asked, &results, how, arguments)?;
    if values.write(&asked, &results, arguments)? {
        return Ok(());
    }
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

fn results(asked: &AskedFor<'_>, how: &HowToRun, arguments: &[String]) -> Result<Vec<FigureResult>, Failure> {
    if let Some(path) = &how.report {
        let files = how.from.files(asked);
        let inputs: Vec<Input<'_>> = files.iter().map(|path| Input { what: "ledger's file", path }).collect();
        check_file("--report", path, &inputs, arguments)?;
    }
    let figures: Vec<&Figure> = asked.figures().collect();
    made(how, arguments, |settings| run_figures(&figures, settings))
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
