//! `firstflight inspect`: how the connections of captures started.

use std::iter::Peekable;
use std::path::Path;

use firstflight_inspect::{Continuation, Found, Inspected, Inspector, Options, Tally};
use firstflight_measure::VERSION;
use firstflight_report::inspected::{labelled, recording};
use firstflight_report::{
    Drawn, Record, Report, Rows, Subject, TableStyle, html, json, prose, table, write_whole,
};

use serde::Serialize;

use crate::args::Inspect;
use crate::captures::{self, Early};
use crate::failure::Failure;
use crate::output;
use crate::targets::{Input, check_file};

/// Senders of fewer segments are left out of the table beside one that sent more.
const FEW: u64 = 10;

/// The most panels that a report draws: those that sent most.
const MOST_PANELS: usize = 12;

/// The most senders in a table without `--all`: those that sent most.
const MOST_ROWS: usize = 50;

/// What one capture told.
struct Read {
    /// Its name, where there are several.
    name: Option<String>,
    /// The senders that are shown, in order of their connections' first packets.
    shown: Vec<Inspected>,
    /// What was read and what was left out, in a line.
    told: String,
    has_tcp: bool,
}

/// What is kept while the senders of a capture come.
#[derive(Default)]
struct Kept {
    shown: Vec<Inspected>,
    /// Of those the ones that are drawn, by bytes and place, and how many were looked at for that.
    panels: Vec<(u64, usize)>,
    undrawn: usize,
    connections: u64,
    duplicates: u64,
    /// Senders whose copies nothing tells from what they sent again.
    doubtful: u64,
    /// Senders left out: of few segments, and for want of room.
    small: u64,
    crowded: u64,
    /// JSON that is not written yet.
    lines: Vec<u8>,
    /// A failure to write what was asked for.
    failure: Option<Failure>,
}

impl Kept {
    /// The senders of one connection.
    fn take(&mut self, name: Option<&str>, options: &Inspect, senders: Vec<Inspected>) {
        self.connections += 1;
        self.duplicates += senders.iter().map(|one| one.found.duplicates).sum::<u64>();
        self.doubtful += senders.iter().filter(|one| one.found.bytes_sent.is_none()).count() as u64;
        if options.json && self.failure.is_none() {
            self.failure = self.write(name, &senders).err();
        }
        if options.json && options.report.is_none() {
            return;
        }
        let matter: Vec<bool> = (0..senders.len()).map(|at| options.all || matters(&senders, at)).collect();
        for (one, matters) in senders.into_iter().zip(matter) {
            if matters {
                self.shown.push(one);
            } else {
                self.small += 1;
            }
        }
        if options.report.is_some() {
            self.keep_panels();
        }
        if !options.all && options.report.is_none() && self.shown.len() > 4 * MOST_ROWS {
            self.keep_largest();
        }
    }

    /// Those that sent most are drawn: what is drawn of the others is dropped.
    fn keep_panels(&mut self) {
        let drawn =
            |(at, one): (usize, &Inspected)| one.drawn.is_some().then_some((one.found.bytes_acked, at));
        let mut sizes: Vec<_> = self.shown.iter().enumerate().skip(self.undrawn).filter_map(drawn).collect();
        sizes.extend(self.panels.drain(..));
        sizes.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        for (_, at) in sizes.drain(MOST_PANELS.min(sizes.len())..) {
            self.shown[at].drawn = None;
        }
        (self.panels, self.undrawn) = (sizes, self.shown.len());
    }

    /// Those that sent most are shown, in their order.
    fn keep_largest(&mut self) {
        let Some(excess) = self.shown.len().checked_sub(MOST_ROWS).filter(|excess| *excess > 0) else {
            return;
        };
        let mut sizes: Vec<(u64, usize)> =
            self.shown.iter().enumerate().map(|(at, one)| (one.found.bytes_acked, at)).collect();
        sizes.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut stays = vec![false; self.shown.len()];
        sizes.iter().take(MOST_ROWS).for_each(|(_, at)| stays[*at] = true);
        let mut stays = stays.into_iter();
        self.shown.retain(|_| stays.next().unwrap_or(false));
        self.crowded += excess as u64;
    }
}

/// A sender as JSON has it.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
    #[serde(flatten)]
    found: &'a Found,
}

/// JSON is written in pieces of this size.
const PIECE: usize = 1 << 16;

impl Kept {
    /// The senders as JSON for standard output.
    fn write(&mut self, name: Option<&str>, senders: &[Inspected]) -> Result<(), Failure> {
        let lines: Vec<_> = senders.iter().map(|one| Line { file: name, found: &one.found }).collect();
        json::write_lines(&mut self.lines, &lines).map_err(Failure::write)?;
        if self.lines.len() < PIECE { Ok(()) } else { self.flush() }
    }

    fn flush(&mut self) -> Result<(), Failure> {
        let lines = std::mem::take(&mut self.lines);
        output::print_bytes(&lines)
    }
}

/// Reads the captures and says what was asked for.
pub(crate) fn inspect(options: &Inspect, arguments: &[String]) -> Result<(), Failure> {
    let style = options.table.style(Rows::Captures, arguments)?;
    if let Some(path) = &options.report {
        let captures = options.captures.iter().filter(|path| !captures::is_stdin(path));
        let inputs: Vec<_> = captures.map(|path| Input { what: "capture", path }).collect();
        check_file("--report", path, &inputs, arguments)?;
    }
    let mut captures = Vec::new();
    let (mut small, mut crowded) = (0, 0);
    let mut paths = captures::in_order(&options.captures)?.into_iter().peekable();
    while let Some(path) = paths.next() {
        let (capture, kept) = read(path, &mut paths, options)?;
        captures.push(capture);
        (small, crowded) = (small + kept[0], crowded + kept[1]);
    }
    if !options.json {
        print(&captures, small, crowded, &style)?;
    }
    if captures.iter().all(|capture| !capture.has_tcp) {
        let told = if options.json { format!(": {}", told(&captures)) } else { String::new() };
        return Err(Failure::check(format!(
            "no TCP is in the captures, so there is nothing to inspect{told}"
        )));
    }
    let Some(path) = &options.report else { return Ok(()) };
    write_page(path, &report(options, &captures, arguments)?)
}

/// Writes the page of a capture, and prints nothing of it.
pub(crate) fn page(capture: &Path, path: &Path, arguments: &[String]) -> Result<(), Failure> {
    let report_to = Some(path.to_path_buf());
    let options = Inspect {
        captures: vec![capture.to_path_buf()],
        report: report_to,
        separate: true,
        ..Inspect::default()
    };
    let (read, _) = read(capture, &mut std::iter::empty().peekable(), &options)?;
    write_page(path, &report(&options, &[read], arguments)?)
}

fn write_page(path: &Path, report: &Report) -> Result<(), Failure> {
    let page = html::render(report).map_err(Failure::write)?;
    write_whole(path, page.as_bytes()).map_err(Failure::write)?;
    output::say_written(path);
    Ok(())
}

/// Reads the capture that begins with this file, and the files next in `paths` that are pieces of the same.
fn read<'a>(
    path: &Path,
    paths: &mut Peekable<impl Iterator<Item = &'a Path>>,
    options: &Inspect,
) -> Result<(Read, [u64; 2]), Failure> {
    let is_one_of_many = options.captures.len() > 1;
    let name = path.display().to_string();
    let drawn = if options.report.is_some() { MOST_PANELS } else { 0 };
    let seen_at = options.seen_at;
    let mut inspector = Inspector::new(&Options { drawn, seen_at });
    let shown = read_pieces(&mut inspector, path, paths, options)?;
    let mut kept = Kept::default();
    let named = is_one_of_many.then_some(name.as_str());
    let take = |senders| kept.take(named, options, senders);
    let others = inspector.without_tcp();
    let tally = inspector.finish(take);
    if let Some(failure) = kept.failure {
        return Err(failure);
    }
    kept.flush()?;
    if !options.all && options.report.is_none() {
        kept.keep_largest();
    }
    if tally.without_options > 0 {
        output::say(&format!(
            "warning: {shown}: {} packets lack options that the capture cut off: without selective acknowledgements, what \
             is in flight, what was delivered and which losses were heeded may be told wrong; without the SYNs' window scale, \
             nothing is said of the receiver's window\n",
            tally.without_options
        ));
    }
    let times = tally.times;
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
    let doubtful = kept.doubtful;
    if doubtful > 0 {
        output::say(&format!(
            "warning: {shown}: packets of {doubtful} sender{} pass twice, and nothing in them tells copies from what was sent \
             again: `undefined` has the evidence\n",
            if doubtful == 1 { "" } else { "s" }
        ));
    }
    let told = format!("{shown}: {}", tell(&tally, &others, kept.connections, kept.duplicates));
    let capture =
        Read { name: is_one_of_many.then_some(name), shown: kept.shown, told, has_tcp: tally.tcp > 0 };
    Ok((capture, [kept.small, kept.crowded]))
}

/// Reads the pieces of one capture; gives what they are called.
fn read_pieces<'a>(
    inspector: &mut Inspector,
    first: &Path,
    paths: &mut Peekable<impl Iterator<Item = &'a Path>>,
    options: &Inspect,
) -> Result<String, Failure> {
    let mut last = first;
    let mut pieces = 1;
    let mut continuation = None;
    let mut next = Some(first);
    while let Some(path) = next {
        let shown = captures::shown(path);
        let before = captures::shown(last);
        if let Some(Continuation { apart, missing: missing @ 1.. }) = continuation {
            output::say(&format!(
                "warning: {shown} goes on {}.{:03} s after {before}, and at least {missing} bytes of a connection are in neither: \
                 a piece may be missing\n",
                apart / 1_000_000_000,
                apart / 1_000_000 % 1000
            ));
        }
        match captures::read(inspector, path)? {
            Some(Early::Cut(cut)) => output::say(&format!(
                "warning: {shown}: byte {}: the file ends after {} of {} bytes of a packet; what came before is used\n",
                cut.at, cut.found, cut.needed
            )),
            Some(Early::Compressed(bytes)) => output::say(&format!(
                "warning: {shown}: the compressed file ends early, after {bytes} bytes of the capture; what came before is used\n"
            )),
            None => {}
        }
        last = path;
        continuation = match paths.peek() {
            Some(path) if !options.separate => captures::continues(inspector, path),
            _ => None,
        };
        next = if continuation.is_some() { paths.next() } else { None };
        pieces += u64::from(next.is_some());
    }
    let shown = captures::shown(first);
    Ok(if pieces == 1 {
        shown
    } else {
        format!("{shown} to {}, {pieces} pieces of one capture", captures::shown(last))
    })
}

/// What was read and what was left out.
fn tell(tally: &Tally, others: &[(String, u64)], connections: u64, duplicates: u64) -> String {
    let plural = if connections == 1 { "" } else { "s" };
    let read = format!("{} packets, {} of TCP in {connections} connection{plural}", tally.packets, tally.tcp);
    // A capture without TCP says what it is of.
    let kinds: Vec<_> = others.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let kinds = if tally.tcp == 0 { format!(" ({})", kinds.join(", ")) } else { String::new() };
    let without = format!("without TCP{kinds}");
    let noted = [
        (tally.other, without.as_str()),
        (tally.tunnelled, "within tunnels, told by their inner addresses"),
        (tally.fragments, "IP fragments"),
        (tally.cut, "cut within their headers"),
        (tally.without_options, "of TCP without options that the capture cut off"),
        (tally.malformed, "with headers that contradict themselves"),
        (tally.unknown_link, "of a link type that is not known"),
        (tally.timeless, "without a time"),
        (tally.dropped, "missed by the capture, as it says itself"),
        (duplicates, "captured twice"),
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

fn print(captures: &[Read], small: u64, crowded: u64, style: &TableStyle) -> Result<(), Failure> {
    let text = prose::fold(&told(captures), style.width, 2);
    let mut shown = Vec::new();
    for capture in captures {
        shown.extend(records(capture)?);
    }
    if shown.is_empty() {
        return output::print(&text);
    }
    let mut notes = Vec::new();
    if small > 0 {
        notes.push(format!("{small} senders of fewer than {FEW} segments"));
    }
    if crowded > 0 {
        notes.push(format!("{crowded} senders that sent less than these"));
    }
    let note = match notes.join(", and ") {
        none if none.is_empty() => none,
        notes => format!("Not shown: {notes}; --all shows them, --json has all."),
    };
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
    labelled(capture.name.as_deref(), &capture.shown).map_err(Failure::write)
}

fn report(options: &Inspect, captures: &[Read], arguments: &[String]) -> Result<Report, Failure> {
    let mut rows = Vec::new();
    let mut drawn = Vec::new();
    for capture in captures {
        for (record, one) in records(capture)?.into_iter().zip(&capture.shown) {
            rows.push(record);
            drawn.push((capture, one));
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
        .filter_map(|(capture, one)| Some(Drawn::new(&recording(capture.name.as_deref(), one)?, None)))
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
