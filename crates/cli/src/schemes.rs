//! `firstflight schemes`: lists schemes, restart policies and avoidance laws.

use clap::Args;
use firstflight::registry::{self, LawEntry, Needs, Parameter, Registry, RestartEntry, SchemeEntry};
use firstflight::schemes::Initial;
use firstflight_measure::ALONE;
use firstflight_report::prose;
use firstflight_scenario::deploy;
use firstflight_scenario::suggest::{SCHEMES, meant};
use serde::Serialize;

use crate::failure::{Failure, Place};
use crate::output;

#[derive(Args, Debug)]
pub(crate) struct Schemes {
    /// Only entries of this name, or of this kind: scheme, restart, avoidance.
    pub(crate) name: Option<String>,
    /// Print only JSON, one line for each entry.
    #[arg(long)]
    pub(crate) json: bool,
}

/// One scheme, policy or law, as `--json` prints it.
#[derive(Serialize)]
struct Listed {
    /// The kind: `scheme`, `restart` or `avoidance`. This is also the name of a row's field that has the entry's name, and of the option
    /// that sets it (`--schemes` for a scheme).
    kind: &'static str,
    name: &'static str,
    summary: &'static str,
    source: &'static str,
    /// The avoidance law that a scheme uses unless another is requested.
    #[serde(rename = "avoidance", skip_serializing_if = "Option::is_none")]
    law: Option<&'static str>,
    parameters: Vec<ListedParameter>,
    needs: Vec<&'static str>,
    /// Optional abilities of a host. The entry can run without them, but behaves differently.
    uses: Vec<&'static str>,
    /// The help needed beyond the sender, as in the field `deploy` of a row; `alone` if none is needed.
    deploy: String,
    /// The bytes of a connection's state, without the copy for undo. A scheme is measured with `rfc5681` and its own law, a policy with
    /// `slow-start` and `reno`, and a law with `slow-start` and `rfc5681`.
    state_bytes: Option<usize>,
}

#[derive(Serialize)]
struct ListedParameter {
    name: &'static str,
    default: String,
    range: String,
    help: &'static str,
}

const SCHEME: &str = "scheme";
const RESTART: &str = "restart";
const AVOIDANCE: &str = "avoidance";

/// The sections of the list for people, each as (kind, title).
const SECTIONS: [(&str, &str); 3] = [
    (SCHEME, "Start-up schemes: --schemes NAME[:k=v,…]"),
    (RESTART, "Restart policies after an idle time: --restart NAME[/k=v…]"),
    (AVOIDANCE, "Avoidance laws: --avoidance NAME"),
];

/// Returns the list, or the named entries of it: as lines for people, or with one JSON object on each line.
pub(crate) fn list(asked: &Schemes, registry: Registry, arguments: &[String]) -> Result<String, Failure> {
    let schemes = registry.schemes().map(|entry| Listed::scheme(registry, entry));
    let restarts = registry.restarts().map(Listed::restart);
    let laws = registry.laws().map(Listed::law);
    let mut listed: Vec<_> = schemes.chain(restarts).chain(laws).collect();
    if let Some(name) = &asked.name {
        let known: Vec<&str> = listed.iter().flat_map(|one| [one.name, one.kind]).collect();
        if !known.contains(&name.as_str()) {
            return Err(unknown(name, known).at(Place::argument(arguments, name)));
        }
        listed.retain(|one| one.name == name || one.kind == name);
    }
    if !asked.json {
        return Ok(sections(&listed, output::stdout_width()));
    }
    let mut out = Vec::new();
    firstflight_export::json::write_lines(&mut out, &listed).map_err(Failure::write)?;
    String::from_utf8(out).map_err(Failure::write)
}

fn unknown(name: &str, known: Vec<&str>) -> Failure {
    let hint = meant(name, SCHEMES, known).unwrap_or_else(|| "`firstflight schemes` lists all".to_owned());
    Failure::usage(format!("there is no scheme, restart policy or avoidance law `{name}`; {hint}"))
}

impl Listed {
    fn scheme(registry: Registry, entry: &SchemeEntry) -> Self {
        let scheme = entry.build(INITIAL, &[]).ok();
        let law = registry.law(entry.law).map(LawEntry::build);
        Self {
            kind: SCHEME,
            name: entry.name,
            summary: entry.summary,
            source: entry.source,
            law: Some(entry.law),
            parameters: parameters(entry.parameters),
            needs: needs(entry.needs),
            uses: uses(entry.needs),
            deploy: deploy(entry.needs),
            state_bytes: scheme.zip(law).map(|(scheme, law)| scheme.state_size(&law)),
        }
    }

    fn restart(entry: &RestartEntry) -> Self {
        let policy = entry.build(INITIAL, &[]).ok();
        Self {
            kind: RESTART,
            name: entry.name,
            summary: entry.summary,
            source: entry.source,
            law: None,
            parameters: parameters(entry.parameters),
            needs: needs(entry.needs),
            uses: uses(entry.needs),
            deploy: deploy(entry.needs),
            state_bytes: policy.map(|policy| policy.state_size_beside_slow_start()),
        }
    }

    fn law(entry: &LawEntry) -> Self {
        let slow_start = registry::scheme("slow-start").and_then(|entry| entry.build(INITIAL, &[]).ok());
        Self {
            kind: AVOIDANCE,
            name: entry.name,
            summary: entry.summary,
            source: entry.source,
            law: None,
            parameters: Vec::new(),
            needs: needs(entry.needs),
            uses: uses(entry.needs),
            deploy: deploy(entry.needs),
            state_bytes: slow_start.map(|scheme| scheme.state_size(&entry.build())),
        }
    }
}

/// The initial values for measuring the size, which they do not affect.
const INITIAL: Initial = Initial { segments: 10, ssthresh: None };

fn parameters(parameters: &'static [Parameter]) -> Vec<ListedParameter> {
    let listed = |parameter: &Parameter| ListedParameter {
        name: parameter.name,
        default: parameter.default.to_string(),
        range: parameter.kind.to_string(),
        help: parameter.help,
    };
    parameters.iter().map(listed).collect()
}

fn needs(needs: Needs) -> Vec<&'static str> {
    needs.iter().map(registry::Ability::name).collect()
}

fn uses(needs: Needs) -> Vec<&'static str> {
    needs.used().map(registry::Ability::name).collect()
}

fn sections(listed: &[Listed], width: Option<usize>) -> String {
    let names = listed.iter().map(|one| one.name.len()).max().unwrap_or(0);
    let section = |(kind, title): (&str, &str)| {
        let own: Vec<_> = listed.iter().filter(|one| one.kind == kind).collect();
        (!own.is_empty())
            .then(|| format!("{}\n\n{}", prose::fold(title, width, 2), table(&own, names, width)))
    };
    SECTIONS.into_iter().filter_map(section).collect::<Vec<_>>().join("\n")
}

/// Renders a line for each entry, with its notes below. The column of names is `names` wide.
fn table(listed: &[&Listed], names: usize, width: Option<usize>) -> String {
    let indent = " ".repeat(names);
    let has_law = listed.iter().any(|one| one.law.is_some());
    let law = |text: &str| if has_law { format!("{text:9}  ") } else { String::new() };
    let mut out = format!("{:names$}  {}{:>5}  source\n", "name", law("avoidance"), "state");
    for one in listed {
        let state = one.state_bytes.map_or_else(|| "-".to_owned(), |bytes| format!("{bytes} B"));
        let own_law = law(one.law.unwrap_or_default());
        let head = format!("{:names$}  {own_law}{state:>5}  ", one.name);
        // If a source is longer than its line, the rest is below it in the same column.
        let room = width.map(|width| width.saturating_sub(head.len()));
        let source = prose::fold(one.source, room, 0).replace('\n', &format!("\n{}", " ".repeat(head.len())));
        let abilities = [("needs", &one.needs), ("uses", &one.uses)];
        let abilities = abilities.into_iter().filter(|(_, list)| !list.is_empty());
        let abilities = abilities.map(|(what, list)| format!("{indent}  {what}: {}", list.join(", ")));
        let deploy = (one.deploy != ALONE).then(|| format!("{indent}  deploy: {}", one.deploy));
        let parameters = one.parameters.iter().map(|parameter| {
            let ListedParameter { name, default, range, help } = parameter;
            format!("{indent}  {name}={default}: {help} ({range})")
        });
        let below = std::iter::once(format!("{indent}  {}", one.summary))
            .chain(abilities)
            .chain(deploy)
            .chain(parameters);
        let below = below.map(|line| prose::fold(&line, width, 2));
        for line in std::iter::once(head + &source).chain(below) {
            out += &line;
            out.push('\n');
        }
    }
    out
}
