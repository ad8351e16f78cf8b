//! `firstflight inspect`: how the connections of captures started.

use std::fs::File;
use std::path::Path;

use firstflight_inspect::{Inspected, Inspection, Tally};
use firstflight_measure::VERSION;
use firstflight_report::inspected::{labelled, recording};
use firstflight_report::{Drawn, Record, Report, Subject, TableStyle, html, json, table, write_whole};

use crate::args::Inspect;
use crate::excerpt;
use crate::failure::Failure;
use crate::output;
use crate::results;
use crate::targets::{Input, check_file};

/// Senders of fewer segments are left out of the table beside one that sent more.
const FEW: u64 = 10;

/// The most panels that a report draws: those that sent most.
const MOST_PANELS: usize = 12;

/// What one capture told.
struct Read {
    /// Its name, where there are several.
    name: Option<String>,
    inspection: Inspection,
    /// What was read and what was left out, in a line.
    told: String,
}

/// Reads the captures and says what was asked for.
pub(crate) fn inspect(options: &Inspect, arguments: &[String]) -> Result<(), Failure> {
    if let Some(path) = &options.report {
        let captures = options.captures.iter();
        let inputs: Vec<_> = captures.map(|path| Input { what: "capture", path }).collect();
        check_file("--report", path, &inputs, arguments)?;
    }
    let mut captures = Vec::new();
    for path in &options.captures {
        captures.push(read(path, options, options.captures.len() > 1)?);
    }
    print(options, &captures)?;
    let Some(path) = &options.report else { return Ok(()) };
    let page = html::render(&report(options, &captures, arguments)?).map_err(Failure::write)?;
    write_whole(path, page.as_bytes()).map_err(Failure::write)?;
    output::say_written(path);
    Ok(())
}

fn read(path: &Path, options: &Inspect, is_one_of_many: bool) -> Result<Read, Failure> {
    let (name, shown) = (path.display().to_string(), excerpt::name(path));
    let file = File::open(path).map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))?;
    let inspection = firstflight_inspect::inspect(file, options.report.is_some())
        .map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))?;
    if let Some(cut) = inspection.cut {
        output::say(&format!(
            "warning: {shown}: byte {}: the file ends after {} of {} bytes of a packet; what came before is used\n",
            cut.at, cut.found, cut.needed
        ));
    }
    if inspection.tally.without_options > 0 {
        output::say(&format!(
            "warning: {shown}: {} packets lack options that the capture cut off: without selective acknowledgements, what \
             is in flight, what was delivered and which losses were heeded may be told wrong; without the SYNs' window scale, \
             nothing is said of the receiver's window\n",
            inspection.tally.without_options
        ));
    }
    let times = inspection.tally.times;
    if times.set_back > 0 {
        output::say(&format!(
            "warning: {shown}: the clock goes back {} time{}, by up to {}.{:03} s: what connections measured over that is \
             undefined\n",
            times.set_back,
            if times.set_back == 1 { "" } else { "s" },
            times.farthest_back / 1_000_000_000,
            times.farthest_back / 1_000_000 % 1000
        ));
    }
    let doubtful = inspection.senders.iter().filter(|one| one.found.bytes_sent.is_none()).count();
    if doubtful > 0 {
        output::say(&format!(
            "warning: {shown}: packets of {doubtful} sender{} pass twice, and nothing in them tells copies from what was sent \
             again: `undefined` has the evidence\n",
            if doubtful == 1 { "" } else { "s" }
        ));
    }
    let told = format!("{shown}: {}", tell(&inspection.tally, &inspection.senders));
    Ok(Read { name: is_one_of_many.then_some(name), inspection, told })
}

/// What was read and what was left out.
fn tell(tally: &Tally, senders: &[Inspected]) -> String {
    let connections = senders.last().map_or(0, |one| one.found.connection);
    let plural = if connections == 1 { "" } else { "s" };
    let read = format!("{} packets, {} of TCP in {connections} connection{plural}", tally.packets, tally.tcp);
    let noted = [
        (tally.other, "without TCP"),
        (tally.fragments, "IP fragments"),
        (tally.cut, "cut within their headers"),
        (tally.without_options, "of TCP without options that the capture cut off"),
        (tally.malformed, "with headers that contradict themselves"),
        (tally.unknown_link, "of a link type that is not known"),
        (tally.timeless, "without a time"),
        (tally.dropped, "missed by the capture, as it says itself"),
        (senders.iter().map(|one| one.found.duplicates).sum(), "captured twice"),
        (tally.times.sorted, "put in the order of their times"),
        (tally.times.set_back, "before which the clock goes back"),
    ];
    let noted = noted.into_iter().filter(|(count, _)| *count > 0);
    std::iter::once(read)
        .chain(noted.map(|(count, what)| format!("{count} {what}")))
        .collect::<Vec<_>>()
        .join("; ")
}

/// What all captures came to, a line each.
fn told(captures: &[Read]) -> String {
    let lines: Vec<&str> = captures.iter().map(|capture| capture.told.as_str()).collect();
    lines.join("\n") + "\n"
}

fn print(options: &Inspect, captures: &[Read]) -> Result<(), Failure> {
    if options.json {
        let mut lines = Vec::new();
        for capture in captures {
            for mut record in records(capture)? {
                // The name for tables only says again what fields say.
                record.shift_remove("label");
                json::write_lines(&mut lines, &[record]).map_err(Failure::write)?;
            }
        }
        return output::print_bytes(&lines);
    }
    let text = told(captures);
    let mut shown = Vec::new();
    let mut small = 0;
    for capture in captures {
        for (at, record) in records(capture)?.into_iter().enumerate() {
            if options.all || matters(&capture.inspection.senders, at) {
                shown.push(record);
            } else {
                small += 1;
            }
        }
    }
    if shown.is_empty() {
        return output::print(&text);
    }
    let note = if small == 0 {
        String::new()
    } else {
        format!("Not shown: {small} senders of fewer than {FEW} segments; --all shows them, --json has all.")
    };
    let style = TableStyle { colour: output::stdout_has_colour(), width: results::width() };
    output::print(&format!("{text}\n{}", table::render(&shown, &note, style)))
}

/// Whether a sender is in the table: a request beside a reply is not, as long as there is a reply. The two of a
/// connection stand side by side.
fn matters(all: &[Inspected], at: usize) -> bool {
    let one = &all[at].found;
    let beside = [at.checked_sub(1), at.checked_add(1)].into_iter().flatten().filter_map(|at| all.get(at));
    let others = beside.filter(|other| other.found.connection == one.connection);
    let fewer = |other: &Inspected| other.found.data_segments_sent < one.data_segments_sent;
    one.data_segments_sent.is_none_or(|sent| sent >= FEW) || others.into_iter().all(fewer)
}

fn records(capture: &Read) -> Result<Vec<Record>, Failure> {
    labelled(capture.name.as_deref(), &capture.inspection.senders).map_err(Failure::write)
}

fn report(options: &Inspect, captures: &[Read], arguments: &[String]) -> Result<Report, Failure> {
    let mut rows = Vec::new();
    let mut drawn = Vec::new();
    for capture in captures {
        let senders = &capture.inspection.senders;
        for (at, (record, one)) in records(capture)?.into_iter().zip(senders).enumerate() {
            if options.all || matters(senders, at) {
                rows.push(record);
                drawn.push((capture, one));
            }
        }
    }
    let senders = drawn.len();
    // The largest are drawn, in their order.
    let mut sizes: Vec<u64> = drawn.iter().map(|(_, one)| one.found.bytes_acked).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    let least = sizes.get(MOST_PANELS - 1).copied().unwrap_or(0);
    drawn.retain(|(_, one)| one.found.bytes_acked >= least);
    drawn.truncate(MOST_PANELS);
    let drawn: Vec<_> = drawn
        .iter()
        .filter_map(|(capture, one)| Some(Drawn::new(&recording(capture.name.as_deref(), one)?)))
        .collect();
    let verdict = if drawn.len() < senders {
        format!("The {} that sent most are drawn, of {senders}.", drawn.len())
    } else {
        String::new()
    };
    let names: Vec<String> = options.captures.iter().map(|path| path.display().to_string()).collect();
    Ok(Report {
        subject: Subject::Captures,
        title: names.join(", "),
        command: arguments.join(" "),
        version: VERSION.to_owned(),
        scenario_text: told(captures),
        verdict,
        rows,
        drawn,
        ..Report::default()
    })
}
