//! `firstflight compare`: compares schemes over one path in several habitats. A habitat is an environment in which schemes run: the
//! simulator, UDP sockets, or the kernel's TCP.

mod table;

use std::ffi::OsString;

use clap::{Arg, Args};
use firstflight::registry::Registry;
use firstflight_export::{Record, records};
use firstflight_habitats::{
    CompareError, Compared, HABITATS, Habitat, How, Order, Runs, compare as run, habitats,
};
use firstflight_lab::{Completed, RunError};
use firstflight_report::prose;
use firstflight_scenario::keys::key;
use firstflight_scenario::suggest::meant;
use firstflight_scenario::{ByName, Options, SchemeChoice, over_restarts};

use crate::failure::{Failure, Place};
use crate::interrupt::Interrupt;
use crate::kernel::{LOAD, why_none_loads};
use crate::keys::{PathKeys, RunKeys};
use crate::options::TableOptions;
use crate::output;
use crate::partial::Partial;
use crate::progress::Progress;
use crate::reading;

#[derive(Args, Debug)]
#[command(mut_args(of_compare))]
pub(crate) struct Compare {
    #[command(flatten)]
    pub(crate) path: PathKeys,
    #[command(flatten)]
    pub(crate) runs: RunKeys,
    /// Habitats: all, or some of sim-rfc, live-rfc, sim-linux, live-linux, kernel [all].
    #[arg(long, value_name = "LIST", help_heading = "Runs", allow_hyphen_values = true)]
    pub(crate) habitats: Option<String>,
    #[command(flatten)]
    pub(crate) table: TableOptions,
    /// Print only JSON, one line for each row.
    #[arg(long, help_heading = "Output", conflicts_with_all = ["csv", "wide", "columns"])]
    pub(crate) json: bool,
    /// Print the rows as CSV.
    #[arg(long, help_heading = "Output", conflicts_with_all = ["wide", "columns"])]
    pub(crate) csv: bool,
}

/// Returns an option of `compare`. An option that `compare` refuses with a reason is hidden from the help.
fn of_compare(option: Arg) -> Arg {
    let is_refused = refusal(option.get_id().as_str()).is_some();
    let option = option.hide(is_refused);
    if option.get_id() == "size" {
        option.help("Payload to transfer, such as 1MB or 500p [2MB]")
    } else {
        option
    }
}

/// Runs as the program at an end of a compared path and returns its exit code, if this process was started for that; `None` otherwise.
pub(crate) fn inside(given: &[OsString]) -> Option<u8> {
    firstflight_habitats::inside(given.get(1..)?)
}

/// The default size of the transfer. It is long enough for start-up and the repair of its losses.
const SIZE: &str = "2MB";

/// Keys that are refused, each with the reason. Keys that depend on them are refused too.
const REFUSED: [(&str, &str); 7] = [
    ("stack", "each habitat has its own; --habitats chooses among them"),
    ("duration", "transfers are compared, which have a size"),
    ("rounds", "one transfer is compared"),
    ("probe", "transfers are compared, and trains are none"),
    ("windows", "links of the simulator are measured, and not every habitat has them"),
    ("flows", "one transfer is compared"),
    ("app", "a transfer is compared whose data is there from the beginning"),
];

/// Carries out `firstflight compare`.
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
    let (compared, partial) = match compared.map_err(|error| failure(&error, arguments))? {
        Completed::Whole(compared) => (compared, None),
        Completed::Partial { finished, missing } => {
            (finished, Some(Partial::new(format!("runs that are missing: {missing}"), Vec::new())))
        }
    };
    let notes =
        compared.refused.iter().map(|(scheme, habitat, why)| format!("{scheme} is not in {habitat}: {why}"));
    output::note(&notes.collect::<Vec<_>>());
    let records: Vec<Record> = records(&compared.rows).map_err(Failure::write)?;
    if !output::print_records(&records, partial.as_ref(), (given.json, given.csv))? {
        let title = prose::fold(&format!("{}\n\n", scenario.describe()), style.width, 0);
        output::print(&(title + &table::render(&compared, partial.as_ref(), &style)))?;
    }
    partial.map_or_else(|| verdict(&compared), |partial| Err(partial.failure()))
}

/// Returns a failure if a run is invalid.
fn verdict(compared: &Compared) -> Result<(), Failure> {
    let void: u32 = compared.rows.iter().map(|row| row.void).sum();
    if void > 0 {
        let runs = if void == 1 { "a run".to_owned() } else { format!("{void} runs") };
        return Err(Failure::check(format!(
            "{runs} stayed invalid when repeated: this machine is too busy for this path now"
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
    // In a kernel, start-up and the avoidance law are one module.
    if options.given("avoidance").is_none() {
        options.set("avoidance", "own").map_err(Failure::usage)?;
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
        let place = list.and_then(|list| Place::value(arguments, "--schemes", reading::fault(&error, list)));
        Failure::usage(format!("--schemes: {error}")).at(place)
    })?;
    over_restarts(choices, options).map_err(|error| Failure::usage(error.to_string()))
}

/// Returns why a key is refused; `None` if it is accepted.
pub(crate) fn refusal(name: &str) -> Option<&'static str> {
    let of = |name: &str| REFUSED.iter().find(|(refused, _)| *refused == name).map(|(_, why)| *why);
    of(name).or_else(|| of(key(name)?.needs?.other))
}

/// Returns the habitats in a list; all habitats if there is no list.
fn chosen(list: Option<&str>, arguments: &[String]) -> Result<Vec<Habitat>, Failure> {
    let is_there = |habitat: &Habitat| habitat.runs != Runs::Bpf || why_none_loads().is_none();
    let Some(list) = list else { return Ok(HABITATS.into_iter().filter(is_there).collect()) };
    let named = habitats(list).map_err(|found| {
        let names = || HABITATS.iter().map(|habitat| habitat.name);
        let all = format!("there are {}, and `all`", names().collect::<Vec<_>>().join(", "));
        let hint = meant(&found, &[], names()).unwrap_or(all);
        let place = Place::value(arguments, "--habitats", &found);
        Failure::usage(format!("--habitats: unknown habitat `{found}`; {hint}")).at(place)
    })?;
    if let Some((habitat, why)) = named.iter().find(|habitat| habitat.runs == Runs::Bpf).zip(why_none_loads())
    {
        let place = Place::value(arguments, "--habitats", habitat.name);
        return Err(Failure::usage(format!("--habitats: {}: {why}", habitat.name)).at(place));
    }
    Ok(named)
}

fn failure(error: &CompareError, arguments: &[String]) -> Failure {
    let key = match error {
        CompareError::Scenario(error) => Some(error.key),
        CompareError::Key(key, _) => Some(*key),
        CompareError::Path(error) => error.key(),
        CompareError::Stack(_) => Some("schemes"),
        CompareError::End { .. } => return Failure::check(error),
        CompareError::Simulator(RunError::Interrupted) => return Failure::interrupted(error),
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
