//! `firstflight model`: evaluates the closed-form models of the papers. The output is a table, JSON or CSV rows, or a curve.
//!
//! The crate `firstflight-model` describes each model as data. The model's options, its help and its answers all follow from that
//! description.

mod answer;
mod options;
mod svg;
mod table;

use firstflight_export::{Record, csv, json, write_whole};
use firstflight_model::{MODELS, Model, ModelError, Settings, Sweep, SweepError, object};
use firstflight_report::prose;
use firstflight_scenario::quantity;

use crate::columns::unknown;
use crate::failure::{Failure, Place};
use crate::output;
use crate::targets::check_file;

use answer::{Answer, rows};
pub(crate) use options::ModelCommand;
use options::Request;

/// Carries out `firstflight model`: evaluates a model, or lists all models if none is named.
pub(crate) fn answer(command: &ModelCommand, arguments: &[String]) -> Result<(), Failure> {
    let Some(request) = &command.request else { return output::print_words(&table::list()) };
    let settings = settings(request, arguments)?;
    let sweep = sweep(request, arguments)?;
    let answers = match &sweep {
        Some(sweep) => rows(sweep.run(request.model, &settings).map_err(|error| refuse(&error, arguments))?),
        None => rows(vec![request.model.evaluate(&settings).map_err(|error| refuse(&error, arguments))?]),
    };
    let columns = columns(request, &answers, arguments)?;
    let drawing = drawing(request, sweep.as_ref(), &answers, &columns, arguments)?;
    print(request, sweep.as_ref(), &answers, &columns)?;
    if let (Some(path), Some(drawing)) = (&request.svg, drawing) {
        write_whole(path, drawing.as_bytes()).map_err(Failure::write)?;
        output::say_written(path);
    }
    Ok(())
}

/// Returns the names of the models, for an error.
pub(crate) fn names() -> String {
    MODELS.iter().map(|model| format!("`{}`", model.name)).collect::<Vec<_>>().join(", ")
}

fn settings(request: &Request, arguments: &[String]) -> Result<Settings, Failure> {
    let mut settings = Settings::of(request.model.parameters).map_err(Failure::usage)?;
    for (name, text) in &request.given {
        settings.set(name, text).map_err(|error| refuse(&error, arguments))?;
    }
    Ok(settings)
}

fn sweep(request: &Request, arguments: &[String]) -> Result<Option<Sweep>, Failure> {
    let Some(text) = &request.sweep else { return Ok(None) };
    let count = |text: &String| {
        quantity::count(text).map_err(|error| {
            Failure::usage(format!("--points: {error}")).at(Place::value(arguments, "--points", text))
        })
    };
    let points = request.points.as_ref().map(count).transpose()?;
    let sweep = Sweep::parse(request.model, text, points).map_err(|error| {
        let (option, part) = match &error {
            SweepError::Points(_) | SweepError::PointsOfList(_) if request.points.is_some() => {
                ("--points", request.points.as_deref().unwrap_or_default())
            }
            SweepError::Value { error, .. } => ("--sweep", error.found.as_str()),
            SweepError::Unknown { found, .. } => ("--sweep", found.as_str()),
            _ => ("--sweep", text.as_str()),
        };
        Failure::usage(format!("{option}: {error}")).at(Place::value(arguments, option, part))
    })?;
    if request.given.iter().any(|(name, _)| *name == sweep.parameter.name) {
        let name = sweep.parameter.name;
        let message = format!("--sweep: `{name}` is swept, so --{name} says nothing; leave it out");
        return Err(Failure::usage(message).at(Place::value(arguments, "--sweep", name)));
    }
    Ok(Some(sweep))
}

/// Returns the indices of the columns to show.
fn columns(request: &Request, answers: &[Answer], arguments: &[String]) -> Result<Vec<usize>, Failure> {
    let Some(first) = answers.first() else { return Ok(Vec::new()) };
    let Some(list) = &request.columns else {
        return Ok((0..first.row.len()).filter(|at| request.wide || first.row[*at].main).collect());
    };
    let place = |name: &str| {
        first.row.iter().position(|cell| cell.name == name).ok_or_else(|| {
            let names: Vec<_> = first.row.iter().map(|cell| cell.name).collect();
            Failure::usage(unknown(name, &names, &Vec::new())).at(Place::value(arguments, "--columns", name))
        })
    };
    list.split(',').map(place).collect()
}

/// Returns the curve as a drawing; `None` if none was requested. Fails if it cannot be drawn or written.
fn drawing(
    request: &Request,
    sweep: Option<&Sweep>,
    answers: &[Answer],
    columns: &[usize],
    arguments: &[String],
) -> Result<Option<String>, Failure> {
    let (Some(path), Some(sweep)) = (&request.svg, sweep) else { return Ok(None) };
    let shown = path.to_string_lossy();
    let refuse =
        |why: String| Failure::usage(format!("--svg: {why}")).at(Place::value(arguments, "--svg", &shown));
    let chosen = request.columns.is_some();
    let drawing = svg::curves(request.model, sweep, answers, columns, chosen).map_err(refuse)?;
    check_file("--svg", path, &[], arguments)?;
    Ok(Some(drawing))
}

fn print(
    request: &Request,
    sweep: Option<&Sweep>,
    answers: &[Answer],
    columns: &[usize],
) -> Result<(), Failure> {
    if request.json || request.csv {
        let records: Vec<Record> =
            answers.iter().map(|answer| object(request.model, &answer.settings, &answer.row)).collect();
        if request.csv {
            return output::print_bytes(&csv::to_bytes(&records).map_err(Failure::write)?);
        }
        let mut lines = Vec::new();
        json::write_lines(&mut lines, &records).map_err(Failure::write)?;
        return output::print_bytes(&lines);
    }
    let width = output::stdout_width();
    let is_fitting = !request.wide && request.columns.is_none();
    let body = match answers {
        [one] if sweep.is_none() => table::one(one, request.columns.as_ref().map(|_| columns), width),
        _ => table::several(sweep, answers, columns, (width, is_fitting)),
    };
    output::print(&format!("{}\n{body}", prose::fold(&heading(request.model), width, 0)))
}

fn heading(model: &Model) -> String {
    format!("{}: {}\n{}\n", model.name, model.summary, model.source)
}

fn refuse(error: &ModelError, arguments: &[String]) -> Failure {
    let option = format!("--{}", error.parameter());
    let failure = Failure::usage(format!("--{error}"));
    if arguments.iter().any(|argument| argument.split('=').next() == Some(&option)) {
        let part = if error.found().is_empty() { &option } else { error.found() };
        return failure.at(Place::value(arguments, &option, part));
    }
    failure
}
