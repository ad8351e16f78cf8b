//! `firstflight paths`: lists the presets, or one of them with its words, source and notes.

use std::collections::BTreeMap;

use clap::Args;
use firstflight_report::prose;
use firstflight_scenario::presets::{Figures, Preset, Source, advice, preset, presets};
use serde::Serialize;

use crate::failure::{Failure, Place};
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct Paths {
    /// Only the path of this name, with all that is known about it.
    pub(crate) name: Option<String>,
    /// Print only JSON, one line for each path.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A preset, as `--json` prints it.
#[derive(Serialize)]
struct Listed {
    name: &'static str,
    aliases: &'static [&'static str],
    title: &'static str,
    /// The keys that the preset sets, each with its text.
    path: BTreeMap<&'static str, &'static str>,
    /// The keys as options of a command.
    options: String,
    /// The queue as the source states it; `None` if the source states none.
    queue_of_source: Option<&'static str>,
    source: ListedSource,
    notes: Vec<&'static str>,
}

#[derive(Serialize)]
struct ListedSource {
    name: &'static str,
    address: &'static str,
    file: &'static str,
    entry: &'static str,
    commit: Option<&'static str>,
    licence: &'static str,
}

/// Returns the list of presets, or the named preset: as lines for people, or with one JSON object on each line.
pub(crate) fn list(asked: &Paths, program: &str, arguments: &[String]) -> Result<String, Failure> {
    let found = match &asked.name {
        Some(name) => vec![preset(name).ok_or_else(|| unknown(name, arguments))?],
        None => presets().collect(),
    };
    if asked.json {
        let listed: Vec<_> = found.into_iter().map(Listed::of).collect();
        let mut out = Vec::new();
        firstflight_export::json::write_lines(&mut out, &listed).map_err(Failure::write)?;
        return String::from_utf8(out).map_err(Failure::write);
    }
    let width = output::stdout_width();
    Ok(match found.as_slice() {
        [one] if asked.name.is_some() => whole(one, program, width),
        all => table(all, program, width),
    })
}

fn unknown(name: &str, arguments: &[String]) -> Failure {
    let message = format!("there is no path `{name}`; {}", advice(name));
    Failure::usage(message).at(Place::argument(arguments, name))
}

fn none_if_empty(text: &'static str) -> Option<&'static str> {
    (!text.is_empty()).then_some(text)
}

impl Listed {
    fn of(preset: &Preset) -> Self {
        let Source { name, address, file, commit, licence, .. } = *preset.source;
        Self {
            name: preset.name,
            aliases: preset.aliases,
            title: preset.title,
            path: preset.words.iter().copied().collect(),
            options: preset.command_line(),
            queue_of_source: none_if_empty(preset.queue),
            source: ListedSource {
                name,
                address,
                file,
                entry: preset.entry,
                commit: none_if_empty(commit),
                licence,
            },
            notes: preset.all_notes().collect(),
        }
    }
}

/// Renders a line for each preset, under its source.
fn table(presets: &[&Preset], program: &str, width: Option<usize>) -> String {
    let names = presets.iter().map(|preset| preset.name.len()).max().unwrap_or(0);
    let line = |name: &str, figures: &Figures| {
        let Figures { rate, reverse_rate, rtt, queue, loss } = figures;
        let line = format!("{name:names$}  {rate:>7}  {reverse_rate:>7}  {rtt:>6}  {queue:<12}  {loss}");
        line.trim_end().to_owned() + "\n"
    };
    let heads = ["Mbit/s", "back", "RTT ms", "queue", "loss"].map(str::to_owned);
    let [rate, reverse_rate, rtt, queue, loss] = heads;
    let mut out = line("name", &Figures { rate, reverse_rate, rtt, queue, loss });
    let mut source: Option<&Source> = None;
    for preset in presets {
        if source != Some(preset.source) {
            source = Some(preset.source);
            let Source { name, address, file, .. } = preset.source;
            let place = address.trim_start_matches("https://github.com/");
            out = out + "\n" + &prose::fold(&format!("{name}: {place}, {file}"), width, 2) + "\n";
        }
        out += &line(preset.name, &preset.figures());
    }
    let use_it = format!(
        "`{program} race --path NAME` takes one; `{program} paths NAME` has its source, licence and notes"
    );
    out + "\n" + &prose::fold(&use_it, width, 2) + "\n"
}

/// Renders one preset with everything that is known about it.
fn whole(preset: &Preset, program: &str, width: Option<usize>) -> String {
    let Source { name, address, file, commit, licence, .. } = preset.source;
    let aliases = match preset.aliases {
        [] => String::new(),
        aliases => format!(", also {}", aliases.join(", ")),
    };
    let keys = preset.words.iter().map(|(key, text)| format!("  {key} {text}"));
    let version = if commit.is_empty() { String::new() } else { format!(", commit {commit}") };
    let facts = [format!("{}{aliases}: {}", preset.name, preset.title), String::new(), "Keys:".to_owned()];
    let source = [
        String::new(),
        "The same in words:".to_owned(),
        format!("  {program} race {}", preset.command_line()),
        String::new(),
        format!("Source: {name}, {address}, {file}, {}{version}", preset.entry),
        format!("Licence: {licence}; only figures are taken from it"),
        String::new(),
        "Notes:".to_owned(),
    ];
    let stated = none_if_empty(preset.queue).map(|queue| format!("The source states a queue of {queue}."));
    let notes =
        stated.into_iter().chain(preset.all_notes().map(str::to_owned)).map(|note| format!("  {note}"));
    let lines = facts.into_iter().chain(keys).chain(source).chain(notes);
    lines.map(|line| prose::fold(&line, width, 2) + "\n").collect()
}
