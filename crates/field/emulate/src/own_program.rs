//! How this program starts itself again: hosts and some commands are processes of the same program.

use std::ffi::OsString;
use std::io;
#[cfg(target_os = "linux")]
use std::process::Command;
use std::sync::OnceLock;

/// The file of the program, and the arguments before those of a command.
static PROGRAM: OnceLock<Vec<OsString>> = OnceLock::new();

/// Sets how this program is started again. This is for a program that runs inside another, as inside an interpreter; `program` has its file
/// and the arguments before those of a command. Only the first call has an effect.
pub fn set(program: Vec<OsString>) {
    // A process carries out one command line.
    let _ = PROGRAM.set(program);
}

/// Returns the words that start this program again from any mount namespace, and after its file was replaced.
#[cfg(target_os = "linux")]
pub fn here() -> Vec<OsString> {
    PROGRAM.get().cloned().unwrap_or_else(|| vec!["/proc/self/exe".into()])
}

/// Returns the command that starts this program again. It has no arguments of a command yet.
#[cfg(target_os = "linux")]
pub(crate) fn command() -> Command {
    let mut words = here().into_iter();
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    command
}

/// Returns the words that start this program again: its file, and the arguments before those of a command.
///
/// # Errors
/// The system does not report the program's file.
pub fn words() -> io::Result<Vec<OsString>> {
    match PROGRAM.get() {
        Some(words) => Ok(words.clone()),
        None => Ok(vec![std::env::current_exe()?.into_os_string()]),
    }
}
