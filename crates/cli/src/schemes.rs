//! `firstflight schemes`: what there is to race.

use firstflight::registry::{self, SchemeEntry};
use firstflight::schemes::Initial;
use serde::Serialize;

use crate::failure::Failure;

/// One scheme, as `--json` gives it.
#[derive(Serialize)]
struct Listed {
    scheme: &'static str,
    summary: &'static str,
    source: &'static str,
    /// The law that goes with it unless another is asked for.
    avoidance: &'static str,
    parameters: Vec<ListedParameter>,
    needs: Vec<&'static str>,
    /// Bytes that govern a connection: scheme, controller, restart policy and its own law.
    state_bytes: Option<usize>,
}

#[derive(Serialize)]
struct ListedParameter {
    name: &'static str,
    default: String,
    range: String,
    help: &'static str,
}

/// The list, as lines for people or one JSON object a line.
pub(crate) fn list(json: bool) -> Result<String, Failure> {
    let listed: Vec<_> = registry::schemes().iter().map(Listed::new).collect();
    if !json {
        return Ok(table(&listed));
    }
    let mut out = Vec::new();
    firstflight_report::json::write_lines(&mut out, &listed).map_err(Failure::write)?;
    String::from_utf8(out).map_err(Failure::write)
}

impl Listed {
    fn new(entry: &SchemeEntry) -> Self {
        let parameters = entry.parameters.iter().map(|parameter| ListedParameter {
            name: parameter.name,
            default: parameter.default.to_string(),
            range: parameter.kind.to_string(),
            help: parameter.help,
        });
        Self {
            scheme: entry.name,
            summary: entry.summary,
            source: entry.source,
            avoidance: entry.law,
            parameters: parameters.collect(),
            needs: entry.needs.iter().map(registry::Ability::name).collect(),
            state_bytes: state_bytes(entry),
        }
    }
}

fn table(listed: &[Listed]) -> String {
    let width = listed.iter().map(|one| one.scheme.len()).max().unwrap_or(0);
    let indent = " ".repeat(width);
    let mut out = format!("{:width$}  {:9}  {:>5}  source\n", "scheme", "avoidance", "state");
    for one in listed {
        let state = one.state_bytes.map_or_else(|| "-".to_owned(), |bytes| format!("{bytes} B"));
        let lines = [
            format!("{:width$}  {:9}  {state:>5}  {}", one.scheme, one.avoidance, one.source),
            format!("{indent}  {}", one.summary),
            format!("{indent}  needs: {}", one.needs.join(", ")),
        ];
        let parameters = one.parameters.iter().map(|parameter| {
            let ListedParameter { name, default, range, help } = parameter;
            format!("{indent}  {name}={default}: {help} ({range})")
        });
        for line in lines.into_iter().chain(parameters) {
            out += &line;
            out.push('\n');
        }
    }
    out
}

fn state_bytes(entry: &SchemeEntry) -> Option<usize> {
    let scheme = entry.build(Initial { segments: 10, ssthresh: None }, &[]).ok()?;
    Some(scheme.state_size(&registry::law(entry.law)?.build()))
}
