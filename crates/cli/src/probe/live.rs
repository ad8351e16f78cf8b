//! Probings of a real path: sends trains from a socket to a `reflect` or `serve` of this program.

use std::net::SocketAddr;
use std::time::Duration;

use firstflight::registry::Registry;
use firstflight_export::{Record, records};
use firstflight_measure::{ProbeResult, Probed as Told};
use firstflight_report::human::{rate, seconds};
use firstflight_report::{Rows, TableStyle, probed, prose, table};
use firstflight_scenario::{ByName, quantity};
use firstflight_trace::in_a_line;
use firstflight_udp::{By, Probed, Probing, ProbingError, probe};
use serde_json::Value;

use super::options::{Probe, Who, is_refused, of_flows, refuse_what_is_of_flows};
use crate::failure::{Failure, Place};
use crate::interrupt::Interrupt;
use crate::output;
use crate::partial::Partial;
use crate::pictures;
use crate::progress::Progress;
use crate::reading;
use crate::results::{to_parquet, write};
use crate::transfer::address;

/// The default search on a real path. It takes ten round trips, including those that query the peer and open a connection.
const SEARCH: &str = "bracket,trains=8";
/// The default size of a packet in IP bytes.
const PACKET: &str = "1500B";

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
        if is_refused(name) {
            return of_flows(&option, arguments);
        }
        Failure::usage(format!(
            "{option}: it is of simulated paths, and the path to {} is there",
            in_a_line(peer)
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
    // Nothing is simulated. The rate has no effect here, except that it distinguishes this path from the built-in scenario's path.
    options.set("rate", "1Gbit/s").map_err(Failure::usage)?;
    reading::set(&mut options, said.chain(unsaid), arguments)?;
    let scenario = reading::resolve(&options, arguments)?;
    let Some(choice) = scenario.probe else { return Err(Failure::usage("--probe: no trains")) };
    let style =
        to.table.style(if runs.each_train { Rows::Trains } else { Rows::Probings }, &[], arguments)?;
    to.check(&[], &[], &[], arguments)?;
    let interrupt = Interrupt::listen();
    let progress = Progress::new(u64::from(scenario.runs));
    let mut all = Vec::new();
    let mut failed = None;
    for run in 0..scenario.runs {
        let probing = Probing { setting: choice.setting(scenario.packet()), by, patience };
        match probe(address, &probing, &|| interrupt.happened()) {
            Ok(probed) => all.push(probed),
            Err(error) => {
                failed = Some(error);
                break;
            }
        }
        progress.show(u64::from(run) + 1, "probe");
    }
    drop(progress);
    let shown = Shown::new(&all, address, &choice.to_string());
    let Some(error) = failed else { return shown.write(command, &style) };
    let partial = Partial::of_probings(all.len(), scenario.runs, to.file_options());
    if !all.is_empty() {
        shown.print(command, Some(&partial), &style)?;
    }
    Err(match error {
        ProbingError::Interrupted => partial.failure(),
        ProbingError::Width(_) | ProbingError::Setting(_) => Failure::usage(error),
        other => Failure::write(other),
    })
}

/// Returns the record of several probings with the median of each field, in place of its mean and confidence interval, because probings of
/// a real path have outliers. `spread` has the medians, and `shown` has the other fields of the record.
fn medians(spread: Record, shown: &[Record]) -> Record {
    let mut record = shown.first().cloned().unwrap_or_default();
    for (field, value) in spread {
        if let Some(of) = field.strip_suffix("_median") {
            record.shift_remove(&format!("{of}_ci95"));
            record.insert(of.to_owned(), value);
        }
    }
    record
}

/// All probings of a path, and the result that is printed for them.
struct Shown<'a> {
    all: &'a [Probed],
    peer: SocketAddr,
    result: ProbeResult,
}

impl<'a> Shown<'a> {
    fn new(all: &'a [Probed], peer: SocketAddr, search: &str) -> Self {
        let mut result = ProbeResult::default();
        for probed in all {
            let probed_row = Told {
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
            result.rows.push(probed_row.row());
            result.trains.extend(probed.trains.iter().map(|train| probed_row.train(train)));
        }
        Self { all, peer, result }
    }

    /// Returns the requested records, with the fields of a real path, and without the fields that it cannot have.
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

    /// Prints the requested output, and returns the records.
    fn print(
        &self,
        command: &Probe,
        partial: Option<&Partial>,
        style: &TableStyle,
    ) -> Result<Vec<Record>, Failure> {
        let shown = self.records(command)?;
        if !output::print_records(&shown, partial, (command.output.json, command.output.csv))? {
            output::print(&self.text(command, partial, &shown, style)?)?;
        }
        Ok(shown)
    }

    fn write(&self, command: &Probe, style: &TableStyle) -> Result<(), Failure> {
        let to = &command.output;
        let shown = self.print(command, None, style)?;
        to_parquet(to, &shown)?;
        match (&to.figure, self.all.first()) {
            (Some(path), Some(first)) => {
                let trains: Vec<_> = self.result.trains.iter().take(first.trains.len()).cloned().collect();
                let svg = probed::drawing(&trains, &self.title(first), None);
                write(path, &pictures::converted(svg, path)?)
            }
            _ => Ok(()),
        }
    }

    fn text(
        &self,
        command: &Probe,
        partial: Option<&Partial>,
        shown: &[Record],
        style: &TableStyle,
    ) -> Result<String, Failure> {
        let Some(first) = self.all.first() else { return Ok(String::new()) };
        let mut text = prose::fold(&format!("{}\n\n", self.title(first)), style.width, 0);
        if self.all.len() == 1 && !command.runs.each_train && command.output.table.columns.is_none() {
            let trains = records(&self.result.trains).map_err(Failure::write)?;
            text += &table::render(&trains, "", style);
            text.push('\n');
        }
        let shown = if self.all.len() > 1 && !command.runs.each_run && !command.runs.each_train {
            vec![medians(self.result.object_with_spread(), shown)]
        } else {
            shown.to_vec()
        };
        let sentence = partial.map_or_else(|| self.sentence(), Partial::sentence);
        Ok(text + &table::render(&shown, &sentence, style))
    }

    fn title(&self, first: &Probed) -> String {
        let who = match first.by {
            By::Reflector => "the reflector's clock",
            By::Acks => "its ACKs",
        };
        let (packets, wire) = (first.setting.packets, first.setting.wire.get());
        let rtt =
            least_rtt(self.all).map_or_else(String::new, |rtt| format!("; minimum RTT {}", seconds(rtt)));
        format!("The path to {} by {who}: trains of {packets} packets of {wire} bytes{rtt}", self.peer)
    }

    /// Describes the estimate and its bounds in a sentence.
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn several_probings_are_shown_by_their_medians() {
        let record = |value: Value| value.as_object().expect("an object").clone();
        let shown =
            [record(json!({"scheme": "probe", "ptr_bps": 900.0, "ptr_bps_ci95": 1700.0, "peer": "::1"}))];
        let spread = record(
            json!({"scheme": "probe", "ptr_bps": 900.0, "ptr_bps_min": 90.0, "ptr_bps_median": 100.0}),
        );
        let median = medians(spread, &shown);
        assert_eq!(Value::from(median), json!({"scheme": "probe", "ptr_bps": 100.0, "peer": "::1"}));
    }
}
