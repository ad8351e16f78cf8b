//! `firstflight sweep`: the parts of a sweep that are missing in a folder.

pub(crate) mod folder;
mod slurm;

use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use firstflight::registry::Registry;
use firstflight_lab::{Stopped, Sweep, SweptRow, race_parts};
use firstflight_scenario::{FileError, quantity, read_text};

use self::folder::{Folder, files_of_a_sweep};
use crate::args::Sweep as Command;
use crate::excerpt;
use crate::failure::{Failure, Place};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Progress;
use crate::reading;
use crate::targets::is_same;

/// The most shards that a sweep is cut into.
const MOST_SHARDS: u64 = 1_000_000;

/// Races the parts of the shard that are not there yet.
pub(crate) fn sweep(command: &Command, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    let sweep = read(registry, &command.file)?;
    if let Some(index) = &command.show {
        return show(&sweep, index, arguments);
    }
    let shard = Shard::parse(command.shard.as_deref(), arguments)?;
    let jobs = reading::jobs(command.jobs.as_deref(), arguments)?;
    let tasks = command.slurm.as_deref().map(|tasks| slurm::tasks(tasks, &sweep, arguments)).transpose()?;
    let name = command.file.display();
    let out = command.out.as_deref().unwrap_or(Path::new(""));
    // A part of that name that is no part would be raced again, and put in its place.
    if let Some(part) = files_of_a_sweep(out, &command.file).iter().find(|file| is_same(file, &command.file))
    {
        let place = Place::value(arguments, "--out", &out.to_string_lossy());
        let message = format!("--out: {} would overwrite the sweep {name}", part.display());
        return Err(Failure::usage(message).at(place));
    }
    let folder = Folder::open(out, &sweep, arguments).map_err(|error| error.of(&name))?;
    if let Some(tasks) = tasks {
        return output::print(&slurm::script(&sweep, &command.file, out, tasks, jobs.unwrap_or(1))?);
    }
    let jobs = jobs.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let mine: Vec<u64> = (0..sweep.parts()).filter(|part| shard.has(*part)).collect();
    let missing = folder.missing(&mine)?;
    if command.missing {
        return output::print(&missing.iter().fold(String::new(), |mut lines, part| {
            // Writing into a string cannot fail.
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
    match raced {
        Ok(()) => {}
        Err(Stopped::Path(error)) => return Err(Failure::usage(format!("{name}: {error}"))),
        Err(Stopped::Part(failure)) => return Err(failure),
    }
    let written = written.into_inner();
    let (there, all) = ((mine.len() - missing.len()) as u64, mine.len());
    if there + written < all as u64 {
        let whole = there + written;
        return Err(Failure::interrupted(format!(
            "interrupted; {whole} of {all} parts are whole in {}, and the same command goes on",
            folder.path().display()
        )));
    }
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

/// Reads and checks the file of a sweep.
fn read(registry: Registry, path: &Path) -> Result<Sweep, Failure> {
    let name = path.display().to_string();
    let text = read_text(path).map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))?;
    Sweep::parse(registry, &text).map_err(|FileError { message, span, .. }| {
        let place = if span.is_empty() { None } else { Place::text(&name, &text, span.start, span.end) };
        Failure::usage(format!("{name}: {message}")).at(place)
    })
}

/// Prints the command that races one path.
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

/// Which parts this process races: those whose number leaves `index` when divided by `of`.
struct Shard {
    index: u64,
    of: u64,
}

impl Shard {
    fn parse(text: Option<&str>, arguments: &[String]) -> Result<Self, Failure> {
        let Some(text) = text else { return Ok(Self { index: 0, of: 1 }) };
        let number = |text: &str| quantity::count(text).ok().filter(|number| *number <= MOST_SHARDS);
        let read = text.split_once('/').and_then(|(index, of)| Some((number(index)?, number(of)?)));
        match read {
            Some((index, of)) if index <= of => Ok(Self { index: index - 1, of }),
            _ => Err(Failure::usage(format!(
                "--shard: `{text}` is not allowed; I/N is, with I from 1 to N, as in `2/8`"
            ))
            .at(Place::value(arguments, "--shard", text))),
        }
    }

    fn has(&self, part: u64) -> bool {
        part % self.of == self.index
    }

    fn describe(&self) -> String {
        if self.of == 1 { String::new() } else { format!(" (shard {}/{})", self.index + 1, self.of) }
    }
}

/// A number of things, as in `1 part` and `2 parts`.
fn counted(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// What it took: seconds, and processor seconds since `before` where the system says them. The system counts processor time in
/// hundredths of a second, so that how many processors that were is said of a second and more alone.
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

/// User and system time of this process so far, from Linux's `/proc/self/stat`.
fn processor_seconds() -> Option<f64> {
    /// `USER_HZ`, which Linux fixes for programs.
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is the name, which may hold anything; the 14th and 15th are user and system time (proc(5)).
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_whitespace().skip(11);
    let ticks = fields.next()?.parse::<f64>().ok()? + fields.next()?.parse::<f64>().ok()?;
    Some(ticks / TICKS_PER_SECOND)
}
