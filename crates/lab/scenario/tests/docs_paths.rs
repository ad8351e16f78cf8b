//! Checks that `docs/reference/paths.md` lists the presets exactly as their table does. `WRITE_PATHS=1` rewrites the page.

use std::fs;
use std::path::Path;

use firstflight_scenario::presets::{Figures, Preset, Source, presets};

const INTRO: &str = "# Paths by name

A preset is a path with a name: published figures, with their source. `--path NAME` takes it in every command that takes a path, and
`path = \"NAME\"` in a scenario file.

```sh
firstflight paths                                     # all of them
firstflight paths quicly-leo                          # one: keys, source, licence, notes
firstflight race --path quicly-leo --size 2MB         # all schemes over it
firstflight race --path geo --loss 1% --queue 1bdp    # with other keys: they replace those of the preset
firstflight emulate --path wpt-cable --sender b -- iperf3 -c {B} -R -- iperf3 -s -1
```

In a [sweep](../guide/sweep.md) it is a key of `[path]`, also with a list: `path = [\"quicly-dsl\", \"quicly-lte\"]`.

- A preset sets [keys](keys.md). Any other key that is given replaces it, whatever the order. A key of the preset is left out if it and a
  given key exclude each other: a given `rate` also replaces the preset's `rate-trace`. The rest of the preset stays: a queue in bytes does not
  follow another rate.
- The scenario is that of the written keys, to its hash. The title of a race also names the preset.
- `run FILE --path NAME` replaces the keys of the file that the preset sets.
- `rate` is the rate of downloads, and `reverse-rate` that of uploads. For uploads exchange the two; in `emulate`, A downloads with `--sender b`.
- Endpoints, sizes, cross traffic and seeds are no part of a preset.

## Costs

![Completion time of each scheme on each path, relative to slow start](../images/presets.svg)

The picture shows the completion time of every scheme that a sender can deploy alone, divided by that of slow start.
[presets.md](../evidence/presets.md) has the best and the worst scheme of each path, and the command.
";

const END: &str = "
## Left out

- picoquic's `wifi_fade`, `wifi_bad` and `wifi_suspension`, and its Wi-Fi tests: their jitter changes over time or has a law of its source, and
  their silences repeat.
- Pantheon's other scenarios: policers, ACK aggregation and small buffers, which are stress tests of one mechanism.
- ATC's `NoConnectivity` and WebPageTest's `Native`, which are no paths.
- The draft of BBR (draft-ietf-ccwg-bbr): it states ranges of conditions for tests, but no path with a rate, an RTT and a queue.
- Apple's Network Link Conditioner: its figures are published by others only, and they contradict each other.

## Adding a path

A row in `crates/lab/scenario/src/presets`, with its source. The row needs figures that were read in the source itself, and a note for each
conversion. `WRITE_PATHS=1 cargo test -p firstflight-scenario --test docs_paths` writes this page from the rows; a test compares them.
";

fn row(preset: &Preset) -> String {
    let Figures { rate, reverse_rate, rtt, queue, loss } = preset.figures();
    let names: Vec<_> = preset.names().map(|name| format!("`{name}`")).collect();
    let (names, title, entry) = (names.join(", "), preset.title, preset.entry);
    let options = preset.command_line();
    format!(
        "| {names} | {title} (`{entry}`) | {rate} | {reverse_rate} | {rtt} | {queue} | {loss} | `{options}` |\n"
    )
}

/// Returns the presets of each source.
fn by_source() -> Vec<(&'static Source, Vec<&'static Preset>)> {
    let mut all: Vec<(&Source, Vec<&Preset>)> = Vec::new();
    for preset in presets() {
        match all.last_mut().filter(|(source, _)| *source == preset.source) {
            Some((_, presets)) => presets.push(preset),
            None => all.push((preset.source, vec![preset])),
        }
    }
    all
}

fn section(source: &Source, presets: &[&Preset]) -> String {
    let Source { name, address, file, commit, licence, notes } = source;
    let version = if commit.is_empty() { String::new() } else { format!(" at {}", &commit[..8]) };
    let short = address.trim_start_matches("https://github.com/");
    let head = format!(
        "Source: [{short}]({address}), `{file}`{version}. Licence: {licence}; only figures are taken."
    );
    let mut out = format!("\n### {name}\n\n{}\n", wrapped(&head, ""));
    out += "| path | what it is | Mbit/s | back | RTT ms | queue | loss | options |\n|---|---|---:|---:|---:|---|---|---|\n";
    out.extend(presets.iter().map(|preset| row(preset)));
    let mut own: Vec<(&str, Vec<&str>)> = Vec::new();
    for (preset, note) in
        presets.iter().flat_map(|preset| preset.notes.iter().map(|note| (preset.name, *note)))
    {
        match own.iter_mut().find(|(other, _)| *other == note) {
            Some((_, names)) => names.push(preset),
            None => own.push((note, vec![preset])),
        }
    }
    let own = own.into_iter().map(|(note, names)| {
        let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
        format!("{}: {note}", names.join(", "))
    });
    let notes: Vec<_> = notes.iter().map(|note| (*note).to_owned()).chain(own).collect();
    let list: String = notes.iter().map(|note| wrapped(&format!("- {note}"), " ")).collect();
    out + "\n" + &list
}

/// Breaks an item of a list, or a paragraph, into lines of at most 140 characters.
fn wrapped(item: &str, indent: &str) -> String {
    let (mut out, mut line) = (String::new(), String::new());
    for word in item.split(' ') {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > 140 {
            out = out + &line + "\n";
            indent.clone_into(&mut line);
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line += word;
    }
    out + &line + "\n"
}

fn page() -> String {
    let mut page = INTRO.to_owned();
    let count = presets().count();
    let about = format!(
        "There are {count} paths. A queue in time is what the source states; the options have its bytes. Without a figure, the default of the \
         [key](keys.md) applies."
    );
    page = page + "\n## The paths\n\n" + &wrapped(&about, "");
    page.extend(by_source().iter().map(|(source, presets)| section(source, presets)));
    page + END
}

#[test]
fn the_page_of_paths_is_what_the_table_says() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/reference/paths.md");
    if std::env::var_os("WRITE_PATHS").is_some() {
        fs::write(&place, page()).expect("the page is written");
    }
    assert_eq!(fs::read_to_string(&place).unwrap_or_default(), page(), "WRITE_PATHS=1 writes it anew");
}
