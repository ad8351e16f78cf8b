//! Compares the public items of the published crates with the lists in `tests/api`.
//!
//! `firstflight-api DOCS check` fails if a list differs. `firstflight-api DOCS write` writes the lists. DOCS is the folder of the JSON files that
//! rustdoc wrote; `.ci/package` writes them and starts this program.
//!
//! The lists of a release are those in its commit, so `git diff TAG -- tests/api` shows what has changed since. A removed or changed line
//! breaks users. An added line breaks them if it is a public field, a variant of an exhaustive enum, or a required method of a trait.
//!
//! `Send`, `Sync` and other automatic traits are not listed. The adapters for noq and quinn do not compile without them.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use public_api::PublicApi;

const LISTS: &str = env!("CARGO_MANIFEST_DIR");
/// The names of the published crates, one on each line.
const CRATES: &str = include_str!("../../../.ci/crates");

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [docs, "check"] => check(Path::new(docs)),
        [docs, "write"] => write(Path::new(docs)),
        _ => Err("usage: firstflight-api DOCS check|write".to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Compares each crate's public items with its list.
///
/// # Errors
/// The changes of all crates, or a file that cannot be read.
fn check(docs: &Path) -> Result<(), String> {
    let mut changes = String::new();
    for name in CRATES.lines() {
        let file = format!("{LISTS}/{name}.txt");
        let listed = std::fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
        let present = text(&items(docs, name)?);
        let (listed, present): (Vec<_>, Vec<_>) = (listed.lines().collect(), present.lines().collect());
        for gone in listed.iter().filter(|item| !present.contains(item)) {
            let _ = writeln!(changes, "  {name}: - {gone}");
        }
        for new in present.iter().filter(|item| !listed.contains(item)) {
            let _ = writeln!(changes, "  {name}: + {new}");
        }
    }
    if changes.is_empty() {
        return Ok(());
    }
    Err(format!(
        "the public items are not those of tests/api; `bash .ci/package write` lists them anew:\n{changes}"
    ))
}

fn write(docs: &Path) -> Result<(), String> {
    for name in CRATES.lines() {
        let file = format!("{LISTS}/{name}.txt");
        std::fs::write(&file, text(&items(docs, name)?)).map_err(|error| format!("{file}: {error}"))?;
    }
    Ok(())
}

/// Returns the public items of a crate, from the JSON that rustdoc wrote.
fn items(docs: &Path, name: &str) -> Result<PublicApi, String> {
    let file = docs.join(format!("{}.json", name.replace('-', "_")));
    let items = public_api::Builder::from_rustdoc_json(&file)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .build();
    items.map_err(|error| format!("{}: {error}", file.display()))
}

/// Returns the items in the order of the list, one on each line.
fn text(items: &PublicApi) -> String {
    let mut lines: Vec<String> = items.items().map(|item| format!("{item}\n")).collect();
    lines.sort();
    lines.dedup();
    lines.concat()
}
