//! Records for `firstflight --version --verbose` what only the build knows: the target and the compiler.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=BUILD_TARGET={}", env::var("TARGET").unwrap_or_default());
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version =
        Command::new(compiler).arg("--version").output().map(|output| output.stdout).unwrap_or_default();
    let version = String::from_utf8_lossy(&version);
    println!("cargo::rustc-env=BUILD_COMPILER={}", version.trim().trim_start_matches("rustc "));
}
