//! The script that races a sweep as an array of Slurm jobs, a shard each.

use std::fmt::Write as _;
use std::path::Path;

use firstflight_lab::Sweep;
use firstflight_scenario::{quantity, quote};

use crate::excerpt;
use crate::failure::{Failure, Place};

/// The longest name of a job that is made of a file's name, in characters.
const LONGEST_NAME: usize = 40;

/// The number of tasks of the array; an error if it is none, or more than the sweep has parts.
pub(super) fn tasks(text: &str, sweep: &Sweep, arguments: &[String]) -> Result<u64, Failure> {
    let most = sweep.parts().min(super::MOST_SHARDS);
    quantity::count(text).ok().filter(|tasks| (1..=most).contains(tasks)).ok_or_else(|| {
        Failure::usage(format!(
            "--slurm: `{text}` is not allowed; a number of tasks from 1 to {most} is, for the sweep has {} parts",
            sweep.parts()
        ))
        .at(Place::value(arguments, "--slurm", text))
    })
}

/// The script for `sbatch`. Its paths are absolute, the program's too, for a task begins where the script was handed in. What else a cluster
/// wants (a partition, a time limit, an account) stands on the command line of `sbatch`, whose options go before those of a script.
pub(super) fn script(
    sweep: &Sweep,
    file: &Path,
    out: &Path,
    tasks: u64,
    jobs: usize,
) -> Result<String, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::usage(format!("--slurm: where this program is cannot be said: {error}")))?;
    let (program, sweep_file, folder) = (word(&program)?, word(file)?, word(out)?);
    let name = job_name(file);
    let paths = sweep.paths();
    let parts = sweep.parts();
    let mut text = String::new();
    // Writing into a string cannot fail.
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
         exec {program} sweep {sweep_file} --out {folder} --shard \"$SLURM_ARRAY_TASK_ID/{tasks}\" --jobs {jobs}\n",
        excerpt::name(file),
    );
    Ok(text)
}

/// A path as an absolute one, quoted for a shell.
fn word(path: &Path) -> Result<String, Failure> {
    let refuse = |why: &str| Failure::usage(format!("--slurm: {}: {why}", excerpt::name(path)));
    let absolute = std::path::absolute(path).map_err(|error| refuse(&error.to_string()))?;
    absolute.to_str().map(quote).ok_or_else(|| refuse("a path that is not UTF-8 cannot stand in a script"))
}

/// What Slurm calls the job: the file's name, of the characters that need no quotes.
fn job_name(file: &Path) -> String {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let plain = stem.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' });
    format!("firstflight-{}", plain.take(LONGEST_NAME).collect::<String>())
}
