//! `firstflight sweep`: races those parts of a sweep that are missing in its folder.

pub(crate) mod folder;
mod shard;
mod slurm;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use clap::Args;
use firstflight::registry::Registry;
use firstflight_lab::{Stopped, Sweep, SweptRow, race_parts};
use firstflight_scenario::{FileError, read_text};

use self::folder::{Folder, files_of_a_sweep};
use self::shard::Shard;
use crate::excerpt;
use crate::failure::{Failure, Place};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Progress;
use crate::reading;
use crate::targets::is_same;

#[derive(Args, Debug)]
pub(crate) struct Command {
    /// The sweep: how many paths, of what, and `schemes = […]`, as in scenarios/grid.toml; with --population it may be absent.
    #[arg(value_name = "SWEEP", required_unless_present = "population")]
    pub(crate) file: Option<PathBuf>,
    /// The paths: a CSV file with a column for each key and `weight`, or `mlab:DE` for paths drawn from M-Lab's tests in a territory.
    #[arg(long, value_name = "PATHS")]
    pub(crate) population: Option<String>,
    /// The folder for the parts, as Parquet; parts of this sweep that already exist are kept, missing ones are raced.
    #[arg(long, value_name = "DIR", required_unless_present_any = ["show", "list"])]
    pub(crate) out: Option<PathBuf>,
    /// Race every N-th part only, from the I-th on; all N shards together are the whole sweep.
    #[arg(long, value_name = "I/N", allow_hyphen_values = true)]
    pub(crate) shard: Option<String>,
    /// Runs at a time; results do not depend on it [the number of processors].
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) jobs: Option<String>,
    /// Print the command that races the path of this index, and race nothing.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["out", "shard", "jobs"], allow_hyphen_values = true)]
    pub(crate) show: Option<String>,
    /// Print the population as CSV, a line a path, and race nothing.
    #[arg(long, conflicts_with_all = ["out", "shard", "jobs", "show"])]
    pub(crate) list: bool,
    /// Print the numbers of the parts that are not whole in DIR, a line each, and race nothing.
    #[arg(long, conflicts_with_all = ["show", "jobs", "slurm"])]
    pub(crate) missing: bool,
    /// Print a script for Slurm's `sbatch` that races the sweep in N tasks, each with `--jobs` processors [1], and race nothing.
    #[arg(long, value_name = "N", requires = "file", conflicts_with_all = ["show", "shard"], allow_hyphen_values = true)]
    pub(crate) slurm: Option<String>,
}

/// Carries out `firstflight sweep`.
pub(crate) fn sweep(command: &Command, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    let (mut sweep, name) = read(registry, command, arguments)?;
    sweep.choices = reading::with_stacks(sweep.choices);
    if command.list {
        // The paths are resolved, so that no list has a path that cannot be raced.
        sweep.hash().map_err(|error| Failure::usage(format!("{name}: {error}")))?;
        let csv = sweep.population.as_ref().map(firstflight_lab::PathList::to_csv);
        let csv = csv.ok_or_else(|| {
            Failure::usage("--list: the sweep has no population; name one with --population")
        })?;
        return output::print(&csv);
    }
    if let Some(index) = &command.show {
        return show(&sweep, index, arguments);
    }
    let shard = Shard::parse(command.shard.as_deref(), arguments)?;
    let jobs = reading::jobs(command.jobs.as_deref(), arguments)?;
    let tasks = command.slurm.as_deref().map(|tasks| slurm::tasks(tasks, &sweep, arguments)).transpose()?;
    let out = command.out.as_deref().unwrap_or(Path::new(""));
    // If a file of the sweep had the name of a part, the sweep would treat it as a damaged part and replace it.
    let population = sweep.population.as_ref().and_then(firstflight_lab::PathList::file);
    let sweep_file = command.file.as_deref().map(|file| ("sweep", file));
    for (what, own) in sweep_file.into_iter().chain(population.map(|file| ("population", file))) {
        let Some(part) = files_of_a_sweep(out, own).into_iter().find(|file| is_same(file, own)) else {
            continue;
        };
        let place = Place::value(arguments, "--out", &out.to_string_lossy());
        let message = format!("--out: {} would overwrite the {what} {}", part.display(), own.display());
        return Err(Failure::usage(message).at(place));
    }
    let folder = Folder::open(out, (&sweep, registry), arguments).map_err(|error| error.of(&name))?;
    if let (Some(tasks), Some(file)) = (tasks, &command.file) {
        let script =
            slurm::script((&sweep, command.population.as_deref()), file, out, tasks, jobs.unwrap_or(1))?;
        return output::print_bytes(script.as_bytes());
    }
    let jobs = jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let mine: Vec<u64> = (0..sweep.parts()).filter(|part| shard.has(*part)).collect();
    let missing = folder.missing(&mine)?;
    if command.missing {
        return output::print(&missing.iter().fold(String::new(), |mut lines, part| {
            // Writing to a string cannot fail.
            let _ = writeln!(lines, "{part}");
            lines
        }));
    }

    let interrupt = Interrupt::listen();
    #[expect(clippy::disallowed_methods, reason = "the summary says how long it took")]
    let (began, processor_before) = (Instant::now(), processor_seconds());
    let paths = missing.iter().map(|part| sweep.paths_of(*part)).map(|paths| paths.end - paths.start).sum();
    let progress = Progress::of_paths(paths);
    let (over, written) = (AtomicU64::new(0), AtomicU64::new(0));
    let path_over = || progress.show(over.fetch_add(1, Ordering::Relaxed) + 1, "");
    let put = |part: u64, rows: Vec<SweptRow>| {
        folder.put(part, &rows)?;
        written.fetch_add(1, Ordering::Relaxed);
        Ok(())
    };
    let raced = race_parts(&sweep, &missing, jobs, &|| interrupt.happened(), &path_over, &put);
    drop(progress);
    let written = written.into_inner();
    let (there, all) = ((mine.len() - missing.len()) as u64, mine.len());
    raced.map_err(|stopped| match stopped {
        Stopped::Path(error) => Failure::usage(format!("{name}: {error}")),
        Stopped::Part(failure) => failure,
        Stopped::Interrupted => Failure::interrupted(format!(
            "interrupted; {} of {all} parts are whole in {}, and the same command goes on",
            there + written,
            folder.path().display()
        )),
    })?;
    let held: u64 = mine.iter().map(|part| sweep.paths_of(*part)).map(|paths| paths.end - paths.start).sum();
    output::print_words(&format!(
        "{}: {}{} with {} and {} a path {} whole; {written} {} raced now{}\n",
        excerpt::name(folder.path()),
        counted(all as u64, "part"),
        shard.describe(),
        counted(held, "path"),
        counted(sweep.rows_a_path(), "row"),
        if all == 1 { "is" } else { "are" },
        if written == 1 { "was" } else { "were" },
        if written == 0 { String::new() } else { spent(began.elapsed().as_secs_f64(), processor_before) },
    ))
}

/// Reads and checks the file of a sweep and its population. Returns the sweep, and what to call it in errors.
fn read(registry: Registry, command: &Command, arguments: &[String]) -> Result<(Sweep, String), Failure> {
    let over = command.population.as_deref();
    let Some(path) = &command.file else {
        let sweep = Sweep::parse_over(registry, "", over).map_err(|error| {
            let place = Place::value(arguments, "--population", over.unwrap_or_default());
            Failure::usage(format!("--{}", error.message)).at(place)
        })?;
        return Ok((sweep, over.unwrap_or_default().to_owned()));
    };
    let name = path.display().to_string();
    let text = read_text(path).map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))?;
    let sweep = Sweep::parse_over(registry, &text, over).map_err(|FileError { message, span, .. }| {
        let place = if span.is_empty() { None } else { Place::text(&name, &text, span.start, span.end) };
        Failure::usage(format!("{name}: {message}")).at(place)
    })?;
    Ok((sweep, name))
}

/// Prints the command that races the path of this index.
fn show(sweep: &Sweep, index: &str, arguments: &[String]) -> Result<(), Failure> {
    let path = index.parse::<u64>().ok().filter(|path| *path < sweep.paths()).ok_or_else(|| {
        let most = sweep.paths() - 1;
        Failure::usage(format!("--show: `{index}` is not allowed; a path from 0 to {most} is"))
            .at(Place::value(arguments, "--show", index))
    })?;
    let scenario = sweep.scenario(path).map_err(Failure::usage)?;
    let program = arguments.first().map_or("", String::as_str);
    output::print(&(scenario.command(program, &sweep.schemes()) + "\n"))
}

/// Formats a number with its noun, as in `1 part` and `2 parts`.
fn counted(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Describes the time spent: seconds and, if the system reports them, the processor seconds since `before`. The number of processors is
/// given only for a second or more, because the system counts processor time in hundredths of a second.
fn spent(seconds: f64, before: Option<f64>) -> String {
    const TOLD: f64 = 1.0;
    match processor_seconds().zip(before).map(|(now, before)| now - before) {
        Some(processor) if seconds >= TOLD => {
            format!(
                ", in {seconds:.1} s and {processor:.1} s of processor time ({:.2} at a time)",
                processor / seconds
            )
        }
        _ => format!(", in {seconds:.1} s"),
    }
}

/// Returns the user and system time of this process so far, from Linux's `/proc/self/stat`; `None` if it cannot be read.
fn processor_seconds() -> Option<f64> {
    /// The value of `USER_HZ`, which Linux fixes for programs.
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the process's name, which may contain any character. The 14th and 15th fields are user and system time (proc(5)).
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<f64>().ok()? + fields.next()?.parse::<f64>().ok()?;
    Some(ticks / TICKS_PER_SECOND)
}
