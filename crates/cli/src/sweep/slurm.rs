//! The script that races a sweep as an array of Slurm jobs. Each job races one shard.

use std::fmt::Write as _;
use std::path::Path;

use firstflight_emulate::own_program;
use firstflight_lab::Sweep;
use firstflight_scenario::{quantity, quote};

use super::shard::MAX_SHARDS;
use crate::excerpt;
use crate::failure::{Failure, Place};

/// The maximum length of a job name made from a file's name, in characters.
const LONGEST_NAME: usize = 40;

/// Reads the number of tasks of the array. It must be at least one, and at most the number of the sweep's parts.
pub(super) fn tasks(text: &str, sweep: &Sweep, arguments: &[String]) -> Result<u64, Failure> {
    let most = sweep.parts().min(MAX_SHARDS);
    quantity::count(text).ok().filter(|tasks| (1..=most).contains(tasks)).ok_or_else(|| {
        Failure::usage(format!(
            "--slurm: `{text}` is not allowed; a number of tasks from 1 to {most} is, for the sweep has {} parts",
            sweep.parts()
        ))
        .at(Place::value(arguments, "--slurm", text))
    })
}

/// Returns the script for `sbatch`. Its paths, including the path of the program, are absolute, because a task starts in the folder from
/// which the script was submitted. With a population in a file, a task changes to this process's folder, from which its name was read. Other requirements of a cluster (a partition, a time limit, an account) belong on the command line of
/// `sbatch`, whose options override those of a script.
pub(super) fn script(
    (sweep, population): (&Sweep, Option<&str>),
    file: &Path,
    out: &Path,
    tasks: u64,
    jobs: usize,
) -> Result<String, Failure> {
    let program = own_program::words()
        .map_err(|error| Failure::usage(format!("--slurm: where this program is cannot be said: {error}")))?;
    let (file_of_program, before) =
        program.split_first().map_or((Path::new(""), &[][..]), |(first, rest)| (Path::new(first), rest));
    let program = before
        .iter()
        .fold(word(file_of_program)?, |words, next| words + " " + &quote(&next.to_string_lossy()));
    let (sweep_file, folder) = (word(file)?, word(out)?);
    let over = population.map_or_else(String::new, |text| format!(" --population {}", quote(text)));
    let change = match sweep.population.as_ref().and_then(firstflight_lab::PathList::file) {
        Some(_) => format!("cd {}\n", word(Path::new("."))?),
        None => String::new(),
    };
    let name = job_name(file);
    let paths = sweep.paths();
    let parts = sweep.parts();
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "#!/bin/sh\n\
         #SBATCH --job-name={name}\n\
         #SBATCH --array=1-{tasks}\n\
         #SBATCH --ntasks=1\n\
         #SBATCH --cpus-per-task={jobs}\n\
         #SBATCH --requeue\n\
         # The sweep {}: {paths} paths in {parts} parts, shared out among {tasks} tasks.\n\
         # Hand it in with `sbatch`, and what the cluster wants beside, as in `sbatch --partition=P --time=1:00:00 SCRIPT`.\n\
         # Whole parts are kept: handed in again, the script races what is missing.\n\
         set -eu\n\
         : \"${{SLURM_ARRAY_TASK_ID:?is not set; sbatch sets it for each task of the array}}\"\n\
         {change}exec {program} sweep {sweep_file}{over} --out {folder} --shard \"$SLURM_ARRAY_TASK_ID/{tasks}\" --jobs {jobs}\n",
        excerpt::name(file),
    );
    Ok(text)
}

/// Returns a path in absolute form, quoted for a shell.
fn word(path: &Path) -> Result<String, Failure> {
    let refuse = |why: &str| Failure::usage(format!("--slurm: {}: {why}", excerpt::name(path)));
    let absolute = std::path::absolute(path).map_err(|error| refuse(&error.to_string()))?;
    absolute.to_str().map(quote).ok_or_else(|| refuse("a path that is not UTF-8 cannot be in a script"))
}

/// Returns the job's name in Slurm: those characters of the file's name that need no quotes.
fn job_name(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let plain = stem.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' });
    format!("firstflight-{}", plain.take(LONGEST_NAME).collect::<String>())
}
