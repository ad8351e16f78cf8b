//! `firstflight inspect`: reports how the connections of captures and qlogs started.

mod as_race;
mod filter;
mod options;
mod qlogs;
mod shown;
mod telling;

use std::iter::Peekable;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use firstflight_inspect::{Continuation, Inspected, Inspector, Options, SeenAt, Tally};
use firstflight_report::Rows;

use crate::captures::{self, Early, Input as Opened};
use crate::failure::Failure;
use crate::output;
use crate::targets::{Input, check_file, is_same};

pub(crate) use options::Inspect;
pub(crate) use telling::Telling;

/// Counts over the senders of one capture.
#[derive(Default)]
struct Counts {
    connections: u64,
    duplicates: u64,
    /// The number of senders whose duplicated packets cannot be distinguished from retransmissions.
    doubtful: u64,
    /// Whether a connection has the address given by `--seen-at`.
    has_address: bool,
}

impl Counts {
    /// Adds the senders of one connection.
    fn take(&mut self, senders: &[Inspected], address: Option<IpAddr>) {
        self.connections += 1;
        self.duplicates += senders.iter().map(|one| one.found.duplicates).sum::<u64>();
        let is_doubtful =
            |one: &&Inspected| one.found.undefined.get("bytes_sent").is_some_and(|why| why.contains("twice"));
        self.doubtful += senders.iter().filter(is_doubtful).count() as u64;
        let ends = senders.first().map(|one| [&one.found.from, &one.found.to]);
        let is_it = |end: &String| end.parse::<SocketAddr>().ok().map(|end| end.ip()) == address;
        self.has_address |= address.is_some() && ends.is_some_and(|ends| ends.into_iter().any(is_it));
    }
}

/// Reads the captures and writes the requested outputs (`firstflight inspect`).
pub(crate) fn inspect(options: &Inspect, arguments: &[String]) -> Result<(), Failure> {
    let style = options.table.style(Rows::Captures, &[], arguments)?;
    check(options, arguments)?;
    let mut telling = Telling::new(options)?;
    let mut overview = Vec::new();
    let mut has_any = false;
    let mut paths = captures::in_order(&options.captures)?.into_iter().peekable();
    while let Some(path) = paths.next() {
        let input = captures::opened(path)?;
        let (line, connections) = if input.is_qlog() {
            qlogs::read(path, input, options, &mut telling)?
        } else {
            read(path, input, &mut paths, options, &mut telling)?
        };
        overview.push(line);
        has_any |= connections > 0;
    }
    let overview = overview.join("\n") + "\n";
    if has_any {
        return telling.end(&overview, &style, arguments);
    }
    Err(Failure::check(format!("no connection is in the files, so there is nothing to inspect: {overview}")))
}

/// Writes the page of a capture, without printing anything about it.
pub(crate) fn page(capture: &Path, path: &Path, arguments: &[String]) -> Result<(), Failure> {
    let options = Inspect {
        captures: vec![capture.to_path_buf()],
        report: Some(path.to_path_buf()),
        separate: true,
        ..Inspect::default()
    };
    let mut telling = Telling::new(&options)?;
    let input = captures::opened(capture)?;
    let (overview, _) = read(capture, input, &mut std::iter::empty().peekable(), &options, &mut telling)?;
    telling.page(&(overview + "\n"), arguments)
}

/// Tests that the requested outputs can be written, and that they overwrite none of the inputs.
fn check(options: &Inspect, arguments: &[String]) -> Result<(), Failure> {
    let captures = options.captures.iter().filter(|path| !captures::is_stdin(path));
    let inputs: Vec<_> = captures.map(|path| Input { what: "capture", path }).collect();
    let targets = [("--report", &options.report), ("--parquet", &options.parquet)];
    for (option, path) in targets {
        let Some(path) = path else { continue };
        check_file(option, path, &inputs, arguments)?;
    }
    if let [(_, Some(report)), (_, Some(rows))] = targets
        && is_same(report, rows)
    {
        let path = rows.display();
        return Err(Failure::usage(format!(
            "--parquet: {path} is --report's file too, {}",
            report.display()
        )));
    }
    Ok(())
}

/// Reads the capture that starts with this file, with the next files in `paths` that are pieces of it. Passes its senders to `telling`.
/// Returns a line of text about what was read and left out, and the number of connections.
fn read<'a>(
    path: &Path,
    input: Opened,
    paths: &mut Peekable<impl Iterator<Item = &'a Path>>,
    options: &Inspect,
    telling: &mut Telling<'_>,
) -> Result<(String, u64), Failure> {
    let name = path.display().to_string();
    let seen_at = options.seen_at;
    let mut inspector = Inspector::new(&Options { drawn: shown::drawn(options), seen_at });
    let (shown, ends_early) = read_pieces(&mut inspector, (path, input), paths, options)?;
    let mut counts = Counts::default();
    let address = match seen_at {
        Some(SeenAt::Host(address)) => Some(address),
        _ => None,
    };
    let take = |senders: Vec<Inspected>| {
        counts.take(&senders, address);
        telling.take(&name, senders);
    };
    let others = inspector.without_tcp();
    let tally = inspector.finish(take);
    telling.check()?;
    if let Some(address) = address.filter(|_| !counts.has_address) {
        output::say(&format!(
            "warning: {shown}: no connection has the address {address} of --seen-at, so handshakes show where it was taken\n"
        ));
    }
    if tally.without_options > 0 {
        output::say(&format!(
            "warning: {shown}: {} packets lack options that the capture cut off: without selective acknowledgements, what \
             is in flight, what was delivered and which losses reduced the window may be wrong; without the SYNs' window \
             scale, the receiver's window is unknown\n",
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
    if times.displaced > 0 {
        output::say(&format!(
            "warning: {shown}: {} packets are out of order by more than a second, or 32,768 packets, and were not sorted: of their connections \
             only names and sums are reported\n",
            times.displaced
        ));
    }
    let doubtful = counts.doubtful;
    if doubtful > 0 {
        output::say(&format!(
            "warning: {shown}: packets of {doubtful} sender{} pass twice, and nothing in them distinguishes copies from \
             retransmissions: `undefined` has the evidence\n",
            if doubtful == 1 { "" } else { "s" }
        ));
    }
    let early = if ends_early { "; the file ends early" } else { "" };
    let overview =
        format!("{shown}: {}{early}", tell(&tally, &others, counts.connections, counts.duplicates));
    Ok((overview, counts.connections))
}

/// Reads the pieces of one capture. Returns their name for messages, and whether one of them ends early.
fn read_pieces<'a>(
    inspector: &mut Inspector,
    (first, input): (&Path, Opened),
    paths: &mut Peekable<impl Iterator<Item = &'a Path>>,
    options: &Inspect,
) -> Result<(String, bool), Failure> {
    let mut last = first;
    let (mut pieces, mut ends_early) = (1, false);
    let mut continuation = None;
    let mut next = Some((first, input));
    while let Some((path, input)) = next {
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
        let early = captures::read(inspector, path, input)?;
        ends_early |= early.is_some();
        match early {
            Some(Early::Cut(cut)) => output::say(&format!(
                "warning: {shown}: byte {}: the file ends after {} of {} bytes of a packet; what came before is used\n",
                cut.at, cut.found, cut.needed
            )),
            Some(Early::Compressed(bytes)) => output::say(&format!(
                "warning: {shown}: the compressed file ends early, after {bytes} bytes of the capture, or goes on with what is no gzip; what \
                 came before is used\n"
            )),
            None => {}
        }
        last = path;
        continuation = match paths.peek() {
            Some(path) if !options.separate => captures::continues(inspector, path)?,
            _ => None,
        };
        let further = if continuation.is_some() { paths.next() } else { None };
        next = further.map(|path| Ok((path, captures::opened(path)?))).transpose()?;
        pieces += u64::from(next.is_some());
    }
    let shown = captures::shown(first);
    let shown = if pieces == 1 {
        shown
    } else {
        format!("{shown} to {}, {pieces} pieces of one capture", captures::shown(last))
    };
    Ok((shown, ends_early))
}

/// Describes what was read and what was left out.
fn tell(tally: &Tally, others: &[(String, u64)], connections: u64, duplicates: u64) -> String {
    let plural = if connections == 1 { "" } else { "s" };
    let read = format!("{} packets, {} of TCP in {connections} connection{plural}", tally.packets, tally.tcp);
    // If a capture has no TCP, this lists the kinds of packets that it has.
    let kinds: Vec<_> = others.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let kinds = if tally.tcp == 0 { format!(" ({})", kinds.join(", ")) } else { String::new() };
    let without = format!("without TCP{kinds}");
    let noted = [
        (tally.other, without.as_str()),
        (tally.tunnelled, "within tunnels, reported by their inner addresses"),
        (tally.fragments, "IP fragments"),
        (tally.cut, "cut within their headers"),
        (tally.without_options, "of TCP without options that the capture cut off"),
        (tally.malformed, "with headers that contradict themselves"),
        (tally.unknown_link, "of a link type that is not known"),
        (tally.timeless, "without a time"),
        (tally.dropped, "missed by the capture, as it says itself"),
        (duplicates, "captured twice"),
        (tally.times.sorted, "put in the order of their times"),
        (tally.times.wrong, "with a wrong time"),
        (tally.times.displaced, "too far out of order to be sorted"),
        (tally.times.set_back, "before which the clock goes back"),
    ];
    let noted = noted.into_iter().filter(|(count, _)| *count > 0);
    std::iter::once(read)
        .chain(noted.map(|(count, what)| format!("{count} {what}")))
        .collect::<Vec<_>>()
        .join("; ")
}
