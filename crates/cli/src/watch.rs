//! `firstflight watch`: reports the start-ups of this machine's connections as they happen, and compares two collections of start-ups.
//! Watching needs the feature `kernel`; comparing does not.

mod comparing;
#[cfg(all(feature = "kernel", target_os = "linux"))]
mod following;
mod options;
#[cfg(all(feature = "kernel", target_os = "linux"))]
mod rows;
#[cfg(all(feature = "kernel", target_os = "linux"))]
mod serving;
#[cfg(all(feature = "kernel", target_os = "linux"))]
mod state;
#[cfg(all(feature = "kernel", target_os = "linux"))]
mod telling;
#[cfg(all(feature = "kernel", target_os = "linux"))]
mod view;

use crate::failure::Failure;

pub(crate) use options::Watch;

/// Carries out `firstflight watch`.
pub(crate) fn watch(options: &Watch, arguments: &[String]) -> Result<(), Failure> {
    match &options.compare {
        Some(files) => comparing::compare(files, options.groups.as_deref(), options.json, arguments),
        None => follow(options, arguments),
    }
}

#[cfg(all(feature = "kernel", target_os = "linux"))]
fn follow(options: &Watch, arguments: &[String]) -> Result<(), Failure> {
    following::follow(options, arguments)
}

/// Explains how to get a program that can watch.
#[cfg(not(all(feature = "kernel", target_os = "linux")))]
fn follow(_: &Watch, _: &[String]) -> Result<(), Failure> {
    Err(Failure::usage(format!("watch: {}", crate::kernel::MISSING)))
}
