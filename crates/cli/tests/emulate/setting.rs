//! Runs of the command.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::common;

/// `firstflight emulate` with these words.
pub(crate) fn emulate(words: &[&str]) -> Command {
    let mut command = common::firstflight();
    command.arg("emulate").args(words).stdin(Stdio::null());
    command
}

/// Runs commands over a path, and returns the result. Spaces separate the words of the options; `a` and `b` are shell commands.
pub(crate) fn run(options: &str, a: &str, b: &str) -> (Output, Value) {
    let options: Vec<&str> = options.split_whitespace().collect();
    let words = [&options[..], &["--json", "--", "sh", "-c", a, "--", "sh", "-c", b]].concat();
    let output = emulate(&words).output().expect("the command runs");
    let json = common::stdout(&output);
    let json = serde_json::from_str(&json)
        .unwrap_or_else(|error| panic!("{error}: {json}{}", common::stderr(&output)));
    (output, json)
}

/// A number of a result.
pub(crate) fn number(result: &Value, place: &str) -> u64 {
    result.pointer(place).and_then(Value::as_u64).unwrap_or_else(|| panic!("{place} of {result}"))
}

/// A server of files in `folder`, at port 8080, in the foreground.
pub(crate) fn nginx(folder: &Path) -> String {
    let root = folder.display();
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path {root}/{name};"))
        .concat();
    let configuration = format!(
        "daemon off; worker_processes 1; error_log stderr; pid {root}/nginx.pid; user root;
         events {{ worker_connections 64; }}
         http {{ access_log off; {temporary} server {{ listen 8080; root {root}; }} }}"
    );
    std::fs::write(folder.join("nginx.conf"), configuration).expect("a configuration");
    format!("exec nginx -p {root} -c {root}/nginx.conf")
}

/// Returns bytes that no program generates, the same ones in each run.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    (0..length).map(|_| next()).collect()
}
