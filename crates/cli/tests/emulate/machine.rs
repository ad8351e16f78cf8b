//! The tests' requirements of the machine.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Checks whether the test can run; if not, prints why.
pub(crate) fn can_run(test: &str, programs: &[&str]) -> bool {
    let missing = programs.iter().find(|program| !is_there(program));
    let why = if let Some(program) = missing {
        format!("it needs {program}, which is not installed")
    } else if !is_root() {
        "it needs root".to_owned()
    } else if !Path::new("/dev/net/tun").exists() {
        "it needs /dev/net/tun".to_owned()
    } else if !is_allowed() {
        "it needs a system that lets root make namespaces".to_owned()
    } else {
        return true;
    };
    println!("skipped {}::{test}: {why}", env!("CARGO_CRATE_NAME"));
    false
}

fn is_root() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().any(|line| line.starts_with("Uid:\t0\t0"))
}

/// Checks whether root may create the namespaces; in containers it may not.
fn is_allowed() -> bool {
    let status = Command::new("unshare").args(["--net", "--pid", "--mount", "--fork", "true"]).status();
    status.is_ok_and(|status| status.success())
}

fn is_there(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain([PathBuf::from("/usr/sbin")])
        .any(|folder| folder.join(program).is_file())
}
