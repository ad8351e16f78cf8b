//! `firstflight score`: scores each scheme from the rows in the parts of a sweep.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use firstflight::registry::Registry;
use firstflight_diff::Side;
use firstflight_export::{part, write_whole};
use firstflight_lab::BUILD;
use firstflight_lab::score::{Filter, Group, Judged, distributions, score as judge, weigh};
use firstflight_measure::VERSION;
use firstflight_report::html::scored::{self, Scored};
use firstflight_report::{Columns, human, score as report};
use firstflight_trace::in_a_line;

use crate::checks::{AssertOptions, Form};
use crate::failure::{Failure, Place};
use crate::options::TableOptions;
use crate::output;
use crate::session;
use crate::sweep::folder::{Manifest, files_of_a_sweep, interrupted, named_builds, part_name};
use crate::targets::{Input, check_file, read_plain};

#[derive(Args, Debug)]
pub(crate) struct Score {
    /// The folder that `firstflight sweep --out` wrote.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
    /// Score the parts that are there, even if some are missing.
    #[arg(long)]
    pub(crate) partial: bool,
    /// Only paths that meet all of these conditions, as in `loss<=0.1%,cross=none`.
    #[arg(long = "where", value_name = "CONDITIONS")]
    pub(crate) of: Option<String>,
    /// Show costs over that of the ideal that knows the path after one round trip, the bytes delivered early, the rates that exits found,
    /// and the packets that queues dropped.
    #[arg(long, conflicts_with_all = ["json", "csv", "wide", "columns"])]
    pub(crate) bound: bool,
    /// Print every table: each class by itself, with every column that fits.
    #[arg(long)]
    pub(crate) full: bool,
    #[command(flatten)]
    pub(crate) asserts: AssertOptions,
    #[command(flatten)]
    pub(crate) table: TableOptions,
    /// Print only JSON, one line for each scheme and class, with every number.
    #[arg(long, conflicts_with_all = ["csv", "full", "wide", "columns"])]
    pub(crate) json: bool,
    /// Print the score as CSV, with every number.
    #[arg(long, conflicts_with_all = ["full", "wide", "columns"])]
    pub(crate) csv: bool,
    /// Write the score as a page: one HTML file that opens offline.
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}

/// Carries out `firstflight score` for the parts in a folder.
pub(crate) fn score(command: &Score, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    let folder = &command.folder;
    let place = || Place::argument(arguments, &folder.to_string_lossy());
    if let Some(path) = &command.report {
        let files = files_of_a_sweep(folder, path);
        let inputs: Vec<_> = files.iter().map(|path| Input { what: "file of the sweep", path }).collect();
        check_file("--report", path, &inputs, arguments)?;
    }
    let filter = filter(command, arguments)?;
    let manifest = of_this_version(folder).map_err(|error| Failure::usage(error).at(place()))?;
    let names = manifest.names(registry).map_err(|error| Failure::usage(error).at(place()))?;
    let (Part { mut rows, without_ideal, builds }, missing) = read_all(folder, &manifest, &names)?;
    if rows.is_empty() {
        return Err(Failure::usage(format!("{} holds no part of its sweep", folder.display())).at(place()));
    }
    if !missing.is_empty() && !command.partial {
        return Err(Failure::usage(format!(
            "{} of {} parts are missing in {}: {}; race them with `firstflight sweep`, or score what is there with \
             --partial",
            missing.len(),
            manifest.parts,
            folder.display(),
            ranges(&missing)
        ))
        .at(place()));
    }
    rows.retain(|row| !without_ideal.contains(&row.path.path));
    if rows.is_empty() {
        return Err(Failure::usage(format!(
            "no path of {} has an ideal, so that nothing has a cost; a score needs transfers of a size, and next to them no \
             constant rate that may take all of the bottleneck's",
            folder.display()
        ))
        .at(place()));
    }
    if let Some(filter) = &filter {
        rows.retain(|row| filter.takes(&row.path));
        if rows.is_empty() {
            let none = format!("--where: no path of {} meets {filter}", folder.display());
            return Err(Failure::usage(none)
                .at(Place::argument(arguments, command.of.as_deref().unwrap_or_default())));
        }
    }
    weigh(&mut rows);
    let left_out = without_ideal.first().map(|first| {
        let (count, paths) = (human::count(without_ideal.len() as u64), human::count(manifest.paths));
        format!(
            "{count} of {paths} paths are left out, for they have no ideal to compare with; the first is path {first}"
        )
    });
    let groups = judge(&rows);
    let asserts = command.asserts.open((&names, &report::fields(&groups)), false, &[], arguments)?;
    let incomplete = (!missing.is_empty()).then(|| {
        format!(
            "the whole sweep: {} of {} parts are missing; {} of {} paths are scored",
            human::count(missing.len() as u64),
            human::count(manifest.parts),
            human::count(groups.first().map_or(0, |all| all.paths) as u64),
            human::count(manifest.paths)
        )
    });
    let builds: Vec<String> = builds.into_iter().collect();
    let of_others = of_others(&builds);
    print(command, (&manifest, filter.as_ref()), &groups, missing.len(), arguments)?;
    if let Some(of_others) = &of_others {
        output::say(&format!("{of_others}\n"));
    }
    if manifest.is_of_other_source(registry) {
        output::say("the rows are of another version of the source code of their schemes\n");
    }
    if let Some(incomplete) = &incomplete {
        output::say(&format!("not {incomplete}\n"));
    }
    if let Some(left_out) = &left_out {
        output::say(&format!("{left_out}\n"));
    }
    let checked = || {
        // The conditions are on all paths.
        let all = report::records(groups.get(..1).unwrap_or_default());
        let form = Form::of(false, command.json || command.csv);
        let side = Side::new(all, 1).map_err(Failure::usage)?;
        asserts.carry_out("firstflight score", &side, None, form)
    };
    let Some(path) = &command.report else { return checked() };
    let checked = checked();
    let notes = incomplete.map(|incomplete| format!("Not {incomplete}.")).into_iter();
    let of_others = of_others.map(|of_others| format!("T{}.", of_others.trim_start_matches('t')));
    let notes = notes
        .chain(left_out.map(|left_out| format!("{left_out}.")))
        .chain(of_others)
        .collect::<Vec<_>>()
        .join(" ");
    let page = page((&manifest, filter.as_ref()), (groups, &builds), &rows, notes, arguments);
    let page = scored::render(&page).map_err(Failure::write)?;
    write_whole(path, page.as_bytes()).map_err(Failure::write)?;
    output::say_written(path);
    checked
}

/// Reads the manifest of a folder. Fails if another version of the program wrote it.
fn of_this_version(folder: &Path) -> Result<Manifest, String> {
    let manifest = Manifest::read(folder)?;
    if manifest.version == VERSION {
        return Ok(manifest);
    }
    let other = format!("version {} raced {}", manifest.version, folder.display());
    Err(format!("{other}, and this is version {VERSION}; score it with that one"))
}

/// Describes the other builds of the program that raced rows; `None` if this build raced all of them.
fn of_others(builds: &[String]) -> Option<String> {
    match builds {
        [] => None,
        [one] if one == BUILD => None,
        [one] => Some(format!("the rows are of another program, build {one}; this is build {BUILD}")),
        _ => {
            let all = named_builds(builds);
            Some(format!("the rows are of several programs, {all}: what differs may be theirs"))
        }
    }
}

/// Parses `--where`.
fn filter(command: &Score, arguments: &[String]) -> Result<Option<Filter>, Failure> {
    let Some(text) = &command.of else { return Ok(None) };
    let filter = Filter::parse(text).map_err(|error| Failure::usage(format!("--where: {error}")));
    Ok(Some(filter.map_err(|failure| failure.at(Place::argument(arguments, text)))?))
}

fn print(
    command: &Score,
    (manifest, filter): (&Manifest, Option<&Filter>),
    groups: &[Group],
    missing: usize,
    arguments: &[String],
) -> Result<(), Failure> {
    session::text("verdict", || {
        groups.first().map_or_else(String::new, |all| report::verdict(all, &report::beyond(manifest.give_up)))
    });
    if output::print_records(&report::records(groups), None, (command.json, command.csv))? {
        return Ok(());
    }
    let fields = report::fields(groups);
    let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
    let mut style = command.table.style_of(&fields, &report::headings(), arguments)?;
    if command.bound {
        style.columns = Columns::Chosen(report::BOUND_FIELDS.map(str::to_owned).to_vec());
    }
    let given_up = manifest.give_up.map_or_else(
        || AT_LIMIT.to_owned(),
        |times| format!("at {times} times its ideal, and counts as worse than all that ended"),
    );
    let of = format!(
        "{} of {} parts of the sweep {}: {} of {} paths{}{}, {} of each scheme on a path; a run is given up {given_up}",
        manifest.parts - missing as u64,
        manifest.parts,
        manifest.sweep,
        groups.first().map_or(0, |all| all.paths),
        manifest.paths,
        filter.map_or_else(String::new, |filter| format!(" (those with {filter})")),
        if groups.first().is_some_and(|all| all.is_weighted) { " by their weights" } else { "" },
        if manifest.runs == 1 { "one run".to_owned() } else { format!("{} runs", manifest.runs) },
    );
    // The manifest's texts come from a file, so they are escaped.
    let of = in_a_line(&of);
    if command.full {
        output::print(&report::render(groups, manifest.give_up, &of, &style))
    } else {
        output::print(&report::summary(groups, manifest.give_up, &of, &style))
    }
}

fn page(
    (manifest, filter): (&Manifest, Option<&Filter>),
    (groups, builds): (Vec<Group>, &[String]),
    rows: &[Judged],
    notes: String,
    arguments: &[String],
) -> Scored {
    let (all, count) = (groups.first(), human::count);
    let paths = all.map_or(0, |all| all.paths) as u64;
    let given_up = manifest.give_up.map_or_else(
        || AT_LIMIT.replace('`', ""),
        |times| format!("after {times} times the ideal; counts as worse than all that ended"),
    );
    let mut facts = vec![
        ("paths", count(paths)),
        ("runs of each scheme on a path", count(manifest.runs)),
        ("rows", count(rows.len() as u64)),
        ("given up", count(rows.iter().filter(|row| row.cost.is_none()).count() as u64)),
        ("a run is given up", given_up),
        ("sweep", manifest.sweep.clone()),
        ("seed", manifest.seed.to_string()),
        ("raced by version", manifest.version.clone()),
    ];
    if !builds.is_empty() {
        facts.push(("raced by", named_builds(builds)));
    }
    facts.push(("schemes", manifest.schemes.replace(',', ", ")));
    if let Some(filter) = filter {
        facts.push(("only paths with", filter.to_string()));
    }
    Scored {
        version: VERSION.to_owned(),
        command: arguments.join(" "),
        missing: Some(notes).filter(|notes| !notes.is_empty()),
        facts,
        give_up: manifest.give_up,
        groups,
        distributions: distributions(rows),
    }
}

/// The words for when a run is given up, if the sweep has no `give-up`.
const AT_LIMIT: &str = "at its path's `limit`, whatever its ideal, and counts as worse than all that ended";

/// The scored content of a part, or of several.
struct Part {
    rows: Vec<Judged>,
    /// The paths that have a row without an ideal completion time.
    without_ideal: BTreeSet<u64>,
    /// The builds of the program that raced the part.
    builds: BTreeSet<String>,
}

/// Reads all parts that exist, and returns the numbers of the others.
fn read_all(folder: &Path, manifest: &Manifest, names: &[String]) -> Result<(Part, Vec<u64>), Failure> {
    let mut all = Part { rows: Vec::new(), without_ideal: BTreeSet::new(), builds: BTreeSet::new() };
    let mut missing = Vec::new();
    for number in 0..manifest.parts {
        match read(folder, manifest, names, number)? {
            Some(part) => {
                all.rows.extend(part.rows);
                all.without_ideal.extend(part.without_ideal);
                all.builds.extend(part.builds);
            }
            None => missing.push(number),
        }
    }
    Ok((all, missing))
}

/// Reads a part; `None` if it does not exist.
fn read(folder: &Path, manifest: &Manifest, names: &[String], number: u64) -> Result<Option<Part>, Failure> {
    let file = folder.join(part_name(number));
    let refuse = |message: String| Failure::usage(format!("{}: {message}", file.display()));
    let bytes = match read_plain(&file) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refuse(format!("cannot be read: {error}"))),
    };
    let (label, records) = part::from_bytes(bytes).map_err(|error| refuse(error.to_string()))?;
    if label.sweep != manifest.sweep || label.part != number {
        return Err(refuse(format!(
            "it is part {} of the sweep {}; part {number} of {} belongs there",
            label.part, label.sweep, manifest.sweep
        )));
    }
    let rows: Vec<Judged> = records
        .iter()
        .map(|record| report::judged(record, manifest.paths_a_draw()))
        .collect::<Result<_, _>>()
        .map_err(|field| refuse(format!("a row has no `{field}`")))?;
    check(manifest, names, number, &rows).map_err(refuse)?;
    let without = records.iter().zip(&rows).filter(|(record, _)| !report::has_ideal(record));
    let without_ideal: BTreeSet<u64> = without.map(|(_, row)| row.path.path).collect();
    if let Some(path) = part::path_without_reference(&records, |path| !without_ideal.contains(&path)) {
        let remedy = "`firstflight sweep` into this folder races it again";
        return Err(refuse(format!("{}; {remedy}", interrupted(path))));
    }
    Ok(Some(Part { rows, without_ideal, builds: part::builds(&records) }))
}

/// Checks that every path of the part has exactly one row for each of the sweep's schemes and each seed, and no other rows.
fn check(manifest: &Manifest, names: &[String], number: u64, rows: &[Judged]) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for row in rows {
        if !seen.insert((row.path.path, row.seed, row.scheme.as_str())) {
            return Err(format!("path {} has `{}` with seed {} twice", row.path.path, row.scheme, row.seed));
        }
    }
    if let Some(row) = rows.iter().find(|row| !names.contains(&row.scheme)) {
        return Err(format!("path {} has `{}`, which is no scheme of the sweep", row.path.path, row.scheme));
    }
    for path in manifest.paths_of(number) {
        for scheme in names {
            let runs = rows.iter().filter(|row| row.path.path == path && row.scheme == *scheme).count();
            if runs as u64 != manifest.runs {
                return Err(format!("path {path} has {runs} of {} rows of `{scheme}`", manifest.runs));
            }
        }
    }
    match rows.iter().find(|row| !manifest.paths_of(number).contains(&row.path.path)) {
        Some(row) => Err(format!("path {} belongs to another part", row.path.path)),
        None => Ok(()),
    }
}

/// Formats sorted numbers with ranges, as in `3, 5-9`. Only the first few ranges are listed.
fn ranges(numbers: &[u64]) -> String {
    const SHOWN: usize = 10;
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for &number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let shown = ranges.iter().take(SHOWN);
    let mut words: Vec<String> = shown
        .map(|(first, last)| if first == last { first.to_string() } else { format!("{first}-{last}") })
        .collect();
    if ranges.len() > SHOWN {
        words.push("…".to_owned());
    }
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_numbers_are_joined() {
        assert_eq!(ranges(&[3]), "3");
        assert_eq!(ranges(&[0, 1, 2, 5, 7, 8]), "0-2, 5, 7-8");
        assert!(ranges(&(0..40).step_by(2).collect::<Vec<_>>()).ends_with("16, 18, …"));
    }
}
