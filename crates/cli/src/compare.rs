//! `firstflight compare`: schemes over one path in several habitats.

#[cfg(all(feature = "kernel", target_os = "linux"))]
mod loading;
mod table;

#[cfg(all(feature = "kernel", target_os = "linux"))]
pub(crate) use loading::{handover_of, own_name, why_none_loads};

use std::ffi::OsString;
use std::process::ExitCode;

use firstflight::registry::Registry;
use firstflight_compare::{
    CompareError, Compared, HABITATS, Habitat, How, Load, Order, Runs, compare as run, habitats,
};
use firstflight_report::{Record, csv, json, prose, records};
use firstflight_scenario::keys::key;
use firstflight_scenario::suggest::meant;
use firstflight_scenario::{ByName, Options, SchemeChoice, over_restarts};

use crate::args::Compare;
use crate::failure::{Failure, Place};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Progress;
use crate::race::fault;
use crate::reading;

/// If this process was started as the program at an end of a compared path, is that and gives its exit code.
pub(crate) fn inside() -> Option<ExitCode> {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    firstflight_compare::inside(&arguments)
}

/// The transfer, unless another is asked for. It is long enough for start-up and what it lost.
const SIZE: &str = "2MB";

/// Keys that are refused, and why; so are those that need them.
const REFUSED: [(&str, &str); 7] = [
    ("stack", "each habitat has its own; --habitats chooses among them"),
    ("duration", "transfers are compared, which have a size"),
    ("rounds", "one transfer is compared"),
    ("probe", "transfers are compared, and trains are none"),
    ("windows", "links of the simulator are measured, and not every habitat has them"),
    ("flows", "one transfer is compared"),
    ("app", "a transfer is compared whose data is there from the beginning"),
];

/// `firstflight compare`.
pub(crate) fn compare(given: &Compare, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    let options = options(given, registry, arguments)?;
    let choices = choices(given, &options, registry, arguments)?;
    let habitats = chosen(given.habitats.as_deref(), arguments)?;
    let scenario = reading::resolve(&options, arguments)?;
    let style = given.table.style_of(&table::fields(), &table::headings(), arguments)?;
    let interrupt = Interrupt::listen();
    let total = choices.len() as u64 * habitats.len() as u64 * u64::from(scenario.runs);
    let progress = Progress::new(total);
    let how = How {
        progress: &|step| progress.show(step.done, &format!("{} in {}", step.scheme, step.habitat)),
        interrupted: &|| interrupt.happened(),
        load: LOAD,
    };
    let order = Order { options: &options, choices: &choices, habitats: &habitats };
    let compared = run(&order, &how);
    drop(progress);
    let compared = compared.map_err(|error| failure(&error, arguments))?;
    let notes =
        compared.refused.iter().map(|(scheme, habitat, why)| format!("{scheme} is not in {habitat}: {why}"));
    output::note(&notes.collect::<Vec<_>>());
    if given.json || given.csv {
        let records: Vec<Record> = records(&compared.rows).map_err(Failure::write)?;
        if given.csv {
            output::print_bytes(&csv::to_bytes(&records).map_err(Failure::write)?)?;
        } else {
            let mut lines = Vec::new();
            json::write_lines(&mut lines, &records).map_err(Failure::write)?;
            output::print_bytes(&lines)?;
        }
    } else {
        let title = prose::fold(&format!("{}\n\n", scenario.describe()), style.width, 0);
        output::print(&(title + &table::render(&compared, &style)))?;
    }
    verdict(&compared)
}

/// Whether everything was run, and counts.
fn verdict(compared: &Compared) -> Result<(), Failure> {
    if compared.is_interrupted {
        return Err(Failure::interrupted("interrupted; the rows are of the runs that were finished"));
    }
    let void: u32 = compared.rows.iter().map(|row| row.void).sum();
    if void > 0 {
        let runs = if void == 1 { "a run".to_owned() } else { format!("{void} runs") };
        return Err(Failure::check(format!(
            "{runs} stayed void when repeated: this machine is too busy for this path now"
        )));
    }
    Ok(())
}

fn options(given: &Compare, registry: Registry, arguments: &[String]) -> Result<Options, Failure> {
    let keys = || given.path.given.iter().chain(&given.runs.given);
    if let Some((option, why)) =
        keys().find_map(|(name, _)| refusal(name).map(|why| (format!("--{name}"), why)))
    {
        return Err(Failure::usage(format!("{option}: {why}")).at(Place::value(arguments, &option, &option)));
    }
    let mut options = registry.options();
    reading::set(&mut options, keys(), arguments)?;
    if options.given("size").is_none() && options.given("duration").is_none() {
        options.set("size", SIZE).map_err(Failure::usage)?;
    }
    Ok(options)
}

fn choices(
    given: &Compare,
    options: &Options,
    registry: Registry,
    arguments: &[String],
) -> Result<Vec<SchemeChoice>, Failure> {
    let list = given.path.schemes.as_deref();
    let choices = reading::schemes(registry, list).map_err(|error| {
        let place = list.and_then(|list| Place::value(arguments, "--schemes", fault(&error, list)));
        Failure::usage(format!("--schemes: {error}")).at(place)
    })?;
    over_restarts(choices, options).map_err(|error| Failure::usage(error.to_string()))
}

/// Why a key is refused; `None` if it is taken.
pub(crate) fn refusal(name: &str) -> Option<&'static str> {
    let of = |name: &str| REFUSED.iter().find(|(refused, _)| *refused == name).map(|(_, why)| *why);
    of(name).or_else(|| of(key(name)?.needs?.other))
}

/// The habitats of a list; all without one.
fn chosen(list: Option<&str>, arguments: &[String]) -> Result<Vec<Habitat>, Failure> {
    let is_there = |habitat: &Habitat| habitat.runs != Runs::Bpf || REFUSAL().is_none();
    let Some(list) = list else { return Ok(HABITATS.into_iter().filter(is_there).collect()) };
    let named = habitats(list).map_err(|found| {
        let names = || HABITATS.iter().map(|habitat| habitat.name);
        let all = format!("there are {}, and `all`", names().collect::<Vec<_>>().join(", "));
        let hint = meant(&found, &[], names()).unwrap_or(all);
        let place = Place::value(arguments, "--habitats", &found);
        Failure::usage(format!("--habitats: unknown habitat `{found}`; {hint}")).at(place)
    })?;
    if let Some((habitat, why)) = named.iter().find(|habitat| habitat.runs == Runs::Bpf).zip(REFUSAL()) {
        let place = Place::value(arguments, "--habitats", habitat.name);
        return Err(Failure::usage(format!("--habitats: {}: {why}", habitat.name)).at(place));
    }
    Ok(named)
}

/// How schemes are loaded into the kernel.
#[cfg(all(feature = "kernel", target_os = "linux"))]
const LOAD: Option<Load<'static>> = Some(&loading::load);
#[cfg(not(all(feature = "kernel", target_os = "linux")))]
const LOAD: Option<Load<'static>> = None;

/// Why no scheme can be loaded into the kernel; `None` if that is not known before one is.
#[cfg(all(feature = "kernel", target_os = "linux"))]
const REFUSAL: fn() -> Option<String> = why_none_loads;
#[cfg(not(all(feature = "kernel", target_os = "linux")))]
const REFUSAL: fn() -> Option<String> = || Some(crate::kernel::MISSING.to_owned());

fn failure(error: &CompareError, arguments: &[String]) -> Failure {
    let key = match error {
        CompareError::Scenario(error) => Some(error.key),
        CompareError::Key(key, _) => Some(*key),
        CompareError::Path(error) => error.key(),
        CompareError::Stack(_) => Some("schemes"),
        CompareError::End { .. } => return Failure::check(error),
        _ => None,
    };
    let Some(key) = key else { return Failure::usage(error) };
    let option = format!("--{key}");
    let place = Place::value(arguments, &option, &option);
    match error {
        CompareError::Stack(_) => Failure::usage(format!("--schemes: {error}")).at(place),
        _ => Failure::usage(format!("--{error}")).at(place),
    }
}
