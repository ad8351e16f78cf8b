//! Checks that `docs/reference/keys.md` lists the keys of a path exactly as their table does. `WRITE_KEYS=1` rewrites the page.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use firstflight_scenario::keys::{Heading, Key, keys};

const INTRO: &str = "# Keys of a path

A key is `--key` on the command line and `key = \"…\"` in a scenario file; a sweep sets it under `[path]`, and draws it between
two ends where it says *range*. Where it says *scheme*, the key may follow a scheme's name and then applies to that scheme
only. The default is in brackets. [`emulate`](../guide/emulate.md) takes the keys of *real packets*. This page is made from the table
`crates/lab/scenario/src/keys`; a test compares them.
";

/// A text within a cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn row(key: &Key) -> String {
    let value = if key.is_flag() { String::new() } else { format!(" {}", cell(key.value_name())) };
    let needs = key.needs.map(|need| format!("with `{}`", need.other));
    let excludes = key.excludes.iter().map(|one| format!("not with `{}`", one.other));
    let range = (key.sweeps && key.kind.is_a_number()).then(|| "range".to_owned());
    let sweeps = if key.sweeps { range } else { Some("not in sweeps".to_owned()) };
    let notes =
        needs.into_iter().chain(excludes).chain(sweeps).chain(key.schemes.then(|| "scheme".to_owned()));
    let notes = notes.chain(key.real.then(|| "real packets".to_owned()));
    format!(
        "| `{}`{value} | {} | {} |\n",
        key.name,
        cell(&key.help_line()),
        notes.collect::<Vec<_>>().join(", ")
    )
}

fn page() -> String {
    let mut page = INTRO.to_owned();
    for heading in [Heading::Path, Heading::Schemes, Heading::Endpoints, Heading::Runs] {
        let rows: String = keys().filter(|key| key.heading == heading).map(row).collect();
        let head = "| key | what it means | where |\n|---|---|---|\n";
        write!(page, "\n## {}\n\n{head}{rows}", heading.name()).expect("text");
    }
    page
}

#[test]
fn the_page_of_keys_is_what_the_table_says() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/reference/keys.md");
    if std::env::var_os("WRITE_KEYS").is_some() {
        fs::write(&place, page()).expect("the page is written");
    }
    assert_eq!(fs::read_to_string(&place).unwrap_or_default(), page(), "WRITE_KEYS=1 writes it anew");
}
