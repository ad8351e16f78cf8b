//! Probings of a real path: trains from a socket, to a reflector or a server of ours.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use clap::{Args, ValueEnum};
use firstflight::registry::Registry;
use firstflight_live::{By, Probed, Probing, ProbingError, Reflector, probe};
use firstflight_measure::{ProbeResult, Probed as Told};
use firstflight_report::human::{printable, rate, seconds};
use firstflight_report::{Record, Rows, TableStyle, check_writable, parquet, probed, prose, records, table};
use firstflight_scenario::{ByName, quantity};
use serde_json::Value;

use super::{of_flows, refuse_what_is_of_flows};
use crate::args::Probe;
use crate::failure::{Failure, Place};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Progress;
use crate::reading;
use crate::results::write;
use crate::transfer::address;

/// How a real path is probed unless it is said: with the round trips that ask the peer and open a connection, ten in all.
const SEARCH: &str = "bracket,trains=8";
/// IP bytes of a packet unless they are said.
const PACKET: &str = "1500B";

/// Where a real path leads, and who tells of arrivals.
#[derive(Args, Debug)]
pub(crate) struct Real {
    /// A real path instead of a simulated one: where `reflect` or `serve` listens.
    #[arg(value_name = "HOST:PORT")]
    pub(crate) peer: Option<String>,
    /// Who is to say when packets arrive: a reflector, a server's ACKs, or whichever answers.
    #[arg(long, value_name = "WHO", default_value = "any", help_heading = "Real paths", requires = "peer")]
    by: Who,
    /// How long the peer may take to answer at all.
    #[arg(
        long,
        value_name = "TIME",
        default_value = "5s",
        help_heading = "Real paths",
        requires = "peer",
        allow_hyphen_values = true
    )]
    timeout: String,
}

/// Who is to say when packets arrive.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Who {
    /// Whichever answers.
    Any,
    /// `firstflight reflect`.
    Reflector,
    /// A server, by its ACKs.
    Acks,
}

#[derive(Args, Debug)]
pub(crate) struct Reflect {
    /// The address to listen at. Only this machine reaches the default; 0.0.0.0 is every address of this machine.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    bind: IpAddr,
    /// The UDP port; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 4432)]
    port: u16,
}

/// `firstflight reflect`.
pub(crate) fn reflect(asked: &Reflect) -> Result<(), Failure> {
    let address = SocketAddr::new(asked.bind, asked.port);
    let reflector = Reflector::bind(address)
        .map_err(|error| Failure::usage(format!("cannot listen at {address}: {error}")))?;
    output::say(&format!("{}\n", reflector.local_addr()));
    let interrupt = Interrupt::listen();
    reflector.run(&|| interrupt.happened(), &|peer| output::say(&format!("probed by {peer}\n")));
    Ok(())
}

/// Probes the path to a peer.
pub(super) fn from_options(
    command: &Probe,
    peer: &str,
    registry: Registry,
    arguments: &[String],
) -> Result<(), Failure> {
    let Probe { path, runs, output: to, real } = command;
    let given = || path.given.iter().chain(&runs.keys.given);
    let refuse = |name: &str| {
        let option = format!("--{name}");
        let place = Place::value(arguments, &option, &option);
        if super::is_refused(name) {
            return of_flows(&option, arguments);
        }
        Failure::usage(format!(
            "{option}: it is of simulated paths, and the path to {} is there",
            printable(peer)
        ))
        .at(place)
    };
    let is_taken = |name: &str| ["probe", "packet", "runs"].contains(&name);
    if let Some((name, _)) = given().find(|(name, _)| !is_taken(name)) {
        return Err(refuse(name));
    }
    if path.schemes.is_some() {
        return Err(refuse(crate::keys::SCHEMES));
    }
    if runs.jobs.is_some() {
        return Err(refuse("jobs"));
    }
    refuse_what_is_of_flows(runs, to, arguments)?;
    let address = address(peer, arguments)?;
    let by = match real.by {
        Who::Any => None,
        Who::Reflector => Some(By::Reflector),
        Who::Acks => Some(By::Acks),
    };
    let patience = quantity::span(&real.timeout).map_err(|error| {
        let place = Place::value(arguments, "--timeout", &real.timeout);
        Failure::usage(format!("--timeout: {error}")).at(place)
    })?;
    let patience = Duration::from_nanos(patience.nanos());
    let defaults = [("probe", SEARCH.to_owned()), ("packet", PACKET.to_owned())];
    let is_said = |name| given().any(|(said, text)| *said == name && text != "none");
    let unsaid = defaults.iter().filter(|(name, _)| !is_said(*name));
    let said = given().filter(|(_, text)| text != "none");
    let mut options = registry.options();
    // Nothing is simulated: the rate says nothing here, but that this is not the path of the built-in scenario.
    options.set("rate", "1Gbit/s").map_err(Failure::usage)?;
    reading::set(&mut options, said.chain(unsaid), arguments)?;
    let scenario = reading::resolve(&options, arguments)?;
    let Some(choice) = scenario.probe else { return Err(Failure::usage("--probe: no trains")) };
    let style =
        to.table.style(if runs.each_train { Rows::Trains } else { Rows::Probings }, &[], arguments)?;
    to.check(&[], &[], &[], arguments)?;
    if let Some(path) = &to.figure {
        check_writable(path).map_err(|error| Failure::usage(format!("--figure: {error}")))?;
    }
    let interrupt = Interrupt::listen();
    let progress = Progress::new(u64::from(scenario.runs));
    let mut all = Vec::new();
    let mut failed = None;
    for run in 0..scenario.runs {
        let probing = Probing { setting: choice.setting(scenario.packet()), by, patience };
        match probe(address, &probing, &|| interrupt.happened()) {
            Ok(probed) => all.push(probed),
            Err(error) => {
                failed = Some(failure(error, all.len()));
                break;
            }
        }
        progress.show(u64::from(run) + 1, "probe");
    }
    drop(progress);
    // What was found before stays.
    let shown = Shown::new(&all, address, &choice.to_string());
    let written = if all.is_empty() { Ok(()) } else { shown.write(command, &style) };
    written.and(failed.map_or(Ok(()), Err))
}

fn failure(error: ProbingError, whole: usize) -> Failure {
    match error {
        ProbingError::Interrupted => Failure::interrupted(format!("interrupted; whole probings: {whole}")),
        ProbingError::Width(_) | ProbingError::Setting(_) => Failure::usage(error),
        other => Failure::write(other),
    }
}

/// Probings of a path, to be shown.
struct Shown<'a> {
    all: &'a [Probed],
    peer: SocketAddr,
    result: ProbeResult,
}

impl<'a> Shown<'a> {
    fn new(all: &'a [Probed], peer: SocketAddr, search: &str) -> Self {
        let mut result = ProbeResult::default();
        for probed in all {
            let told = Told {
                search: search.to_owned(),
                wire: probed.setting.wire,
                estimate: &probed.estimate,
                began: probed.began,
                ended: probed.ended,
                rtt: probed.rtt,
                available: None,
                least_truth: 0.0,
                seed: 0,
                scenario_hash: String::new(),
            };
            result.rows.push(told.row());
            result.trains.extend(probed.trains.iter().map(|train| told.train(train)));
        }
        Self { all, peer, result }
    }

    /// The records that were asked for, with what a real path has, and without what it has not.
    fn records(&self, command: &Probe) -> Result<Vec<Record>, Failure> {
        let runs = &command.runs;
        let mut shown = if runs.each_train {
            records(&self.result.trains).map_err(Failure::write)?
        } else if runs.each_run {
            records(&self.result.rows).map_err(Failure::write)?
        } else if runs.extremes {
            vec![self.result.object_with_spread()]
        } else {
            vec![self.result.object()]
        };
        for (index, record) in shown.iter_mut().enumerate() {
            for unknown in ["seed", "scenario_hash"] {
                record.insert(unknown.to_owned(), Value::Null);
            }
            if !runs.each_train {
                let of = if runs.each_run { self.all.get(index..=index) } else { Some(self.all) };
                self.add_path(record, of.unwrap_or_default());
            }
        }
        Ok(shown)
    }

    fn add_path(&self, record: &mut Record, of: &[Probed]) {
        let Some(first) = of.first() else { return };
        record.insert("peer".to_owned(), self.peer.to_string().into());
        record.insert("by".to_owned(), first.by.name().into());
        record.insert("packet_bytes".to_owned(), first.setting.wire.get().into());
        record.insert("rtt_s".to_owned(), least_rtt(of).map_or(Value::Null, Value::from));
    }

    fn write(&self, command: &Probe, style: &TableStyle) -> Result<(), Failure> {
        let to = &command.output;
        let shown = self.records(command)?;
        if !output::print_records(&shown, to.json, to.csv)? {
            output::print(&self.text(command, &shown, style)?)?;
        }
        if let Some(path) = &to.parquet {
            write(path, &parquet::to_bytes(&shown).map_err(Failure::write)?)?;
        }
        match (&to.figure, self.all.first()) {
            (Some(path), Some(first)) => {
                let trains: Vec<_> = self.result.trains.iter().take(first.trains.len()).cloned().collect();
                write(path, probed::drawing(&trains, &self.title(first), None).as_bytes())
            }
            _ => Ok(()),
        }
    }

    fn text(&self, command: &Probe, shown: &[Record], style: &TableStyle) -> Result<String, Failure> {
        let Some(first) = self.all.first() else { return Ok(String::new()) };
        let mut text = prose::fold(&format!("{}\n\n", self.title(first)), style.width, 0);
        if self.all.len() == 1 && !command.runs.each_train && command.output.table.columns.is_none() {
            let trains = records(&self.result.trains).map_err(Failure::write)?;
            text += &table::render(&trains, "", style);
            text.push('\n');
        }
        Ok(text + &table::render(shown, &self.sentence(), style))
    }

    fn title(&self, first: &Probed) -> String {
        let who = match first.by {
            By::Reflector => "the reflector's clock",
            By::Acks => "its ACKs",
        };
        let (packets, wire) = (first.setting.packets, first.setting.wire.get());
        let rtt = least_rtt(self.all)
            .map_or_else(String::new, |rtt| format!("; least round trip {}", seconds(rtt)));
        format!("The path to {} by {who}: trains of {packets} packets of {wire} bytes{rtt}", self.peer)
    }

    /// What was found, and between which bounds.
    fn sentence(&self) -> String {
        let rows = &self.result.rows;
        let middle = |of: fn(&firstflight_measure::ProbeRow) -> Option<f64>| {
            let mut values: Vec<f64> = rows.iter().filter_map(of).collect();
            values.sort_by(f64::total_cmp);
            let half = values.len() / 2;
            let (low, high) = (*values.get(values.len().checked_sub(1)? / 2)?, *values.get(half)?);
            Some((*values.first()?, f64::midpoint(low, high), *values.last()?, values.len()))
        };
        let capacity = middle(|row| row.capacity_bps)
            .map_or_else(String::new, |(_, bps, ..)| format!(" The narrowest link carries {}.", rate(bps)));
        let Some((least, ptr, most, found)) = middle(|row| row.ptr_bps) else {
            return format!("No train arrived as it left: there is no estimate.{capacity}");
        };
        let bounds =
            if let [row] = rows.as_slice() { row.low_bps.zip(row.high_bps) } else { Some((least, most)) };
        let igi =
            middle(|row| row.igi_bps).map_or_else(String::new, |(_, bps, ..)| format!(", IGI {}", rate(bps)));
        let between = bounds
            .map_or_else(String::new, |(low, high)| format!("; between {} and {}", rate(low), rate(high)));
        match rows.len() {
            1 => format!("Available: PTR says {}{igi}{between}.{capacity}", rate(ptr)),
            all => format!(
                "Available, medians: PTR says {}{igi}{between}, in {found} of {all} probings.{capacity}",
                rate(ptr)
            ),
        }
    }
}

fn least_rtt(of: &[Probed]) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a round trip is far below 2^53 ns")]
    of.iter().filter_map(|probed| probed.rtt).min().map(|rtt| rtt.nanos() as f64 / 1e9)
}
