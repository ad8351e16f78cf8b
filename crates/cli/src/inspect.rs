//! `firstflight inspect`: how the connections of captures started.

mod as_race;
mod filter;
mod shown;
mod telling;

use std::iter::Peekable;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use firstflight_inspect::{Continuation, Inspected, Inspector, Options, SeenAt, Tally};
use firstflight_report::Rows;

use crate::args::Inspect;
use crate::captures::{self, Early};
use crate::failure::Failure;
use crate::output;
use crate::targets::{Input, check_file, is_same};

pub(crate) use telling::Telling;

/// What is counted of one capture.
#[derive(Default)]
struct Counts {
    connections: u64,
    duplicates: u64,
    /// Senders whose copies nothing tells from what they sent again.
    doubtful: u64,
    /// Whether a connection has the address at which the capture is said to be taken.
    has_address: bool,
}

impl Counts {
    /// The senders of one connection.
    fn take(&mut self, senders: &[Inspected], address: Option<IpAddr>) {
        self.connections += 1;
        self.duplicates += senders.iter().map(|one| one.found.duplicates).sum::<u64>();
        self.doubtful += senders.iter().filter(|one| one.found.bytes_sent.is_none()).count() as u64;
        let ends = senders.first().map(|one| [&one.found.from, &one.found.to]);
        let is_it = |end: &String| end.parse::<SocketAddr>().ok().map(|end| end.ip()) == address;
        self.has_address |= address.is_some() && ends.is_some_and(|ends| ends.into_iter().any(is_it));
    }
}

/// Reads the captures and says what was asked for.
pub(crate) fn inspect(options: &Inspect, arguments: &[String]) -> Result<(), Failure> {
    let style = options.table.style(Rows::Captures, &[], arguments)?;
    check(options, arguments)?;
    let mut telling = Telling::new(options)?;
    let mut told = Vec::new();
    let mut has_tcp = false;
    let mut paths = captures::in_order(&options.captures)?.into_iter().peekable();
    while let Some(path) = paths.next() {
        let (line, tally) = read(path, &mut paths, options, &mut telling)?;
        told.push(line);
        has_tcp |= tally.tcp > 0;
    }
    let told = told.join("\n") + "\n";
    if has_tcp {
        return telling.end(&told, &style, arguments);
    }
    Err(Failure::check(format!("no TCP is in the captures, so there is nothing to inspect: {told}")))
}

/// Writes the page of a capture, and prints nothing of it.
pub(crate) fn page(capture: &Path, path: &Path, arguments: &[String]) -> Result<(), Failure> {
    let options = Inspect {
        captures: vec![capture.to_path_buf()],
        report: Some(path.to_path_buf()),
        separate: true,
        ..Inspect::default()
    };
    let mut telling = Telling::new(&options)?;
    let (told, _) = read(capture, &mut std::iter::empty().peekable(), &options, &mut telling)?;
    telling.page(&(told + "\n"), arguments)
}

/// Tests that what is asked for can be written, and that nothing that is read would be overwritten.
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

/// Reads the capture that begins with this file, and the files next in `paths` that are pieces of the same: its senders are told
/// of, and what was read and left out comes back as a line.
fn read<'a>(
    path: &Path,
    paths: &mut Peekable<impl Iterator<Item = &'a Path>>,
    options: &Inspect,
    telling: &mut Telling<'_>,
) -> Result<(String, Tally), Failure> {
    let name = path.display().to_string();
    let seen_at = options.seen_at;
    let mut inspector = Inspector::new(&Options { drawn: shown::drawn(options), seen_at });
    let shown = read_pieces(&mut inspector, path, paths, options)?;
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
            "warning: {shown}: no connection has the address {address} of --seen-at, so handshakes tell where it was taken\n"
        ));
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
    let doubtful = counts.doubtful;
    if doubtful > 0 {
        output::say(&format!(
            "warning: {shown}: packets of {doubtful} sender{} pass twice, and nothing in them tells copies from what was sent \
             again: `undefined` has the evidence\n",
            if doubtful == 1 { "" } else { "s" }
        ));
    }
    let told = format!("{shown}: {}", tell(&tally, &others, counts.connections, counts.duplicates));
    Ok((told, tally))
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
                "warning: {shown}: the compressed file ends early, after {bytes} bytes of the capture, or goes on with what is no gzip; what \
                 came before is used\n"
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
