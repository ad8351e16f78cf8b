//! The `firstflight` command, with the built-in schemes.

fn main() -> std::process::ExitCode {
    firstflight_cli::main_with(firstflight::registry::Registry::builtin())
}
