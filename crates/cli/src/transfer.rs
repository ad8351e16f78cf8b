//! `firstflight serve`, `get`, `send` and `receive`: files over UDP sockets, with a start-up of choice.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use firstflight::registry::Registry;
use firstflight_live::{Listener, Options, Stream};
use firstflight_report::human::printable;
use firstflight_report::log::LoggedEnd;
use firstflight_scenario::{ByName, SchemeChoice, quantity};
use firstflight_transfer::{Folder, TransferError, Transferred, Way};

use crate::failure::{Failure, Place};
use crate::interrupt::Interrupt;
use crate::keys::EndKeys;
use crate::output;
use crate::progress::Progress;
use crate::race::snap;
use crate::targets::{Input, check_file, check_folder};
use reported::Page;
use watched::{Wanted, Watchers};
use wire::Wire;

mod measured;
mod reported;
mod said;
mod watched;
mod wire;

/// The name of the logs of a connection that brought no file across.
const FAILED: &str = "failed";

/// The scheme where none is named.
const SCHEME: &str = "hystart++:avoidance=cubic";

#[derive(Args, Debug)]
pub(crate) struct Serve {
    /// The folder. Nothing outside it is sent, and no file whose name begins with a dot.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Schemes, each on a port of its own: the first on --port, the next on the next [hystart++:avoidance=cubic].
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    schemes: Option<String>,
    #[command(flatten)]
    at: At,
    #[command(flatten)]
    ends: EndKeys,
    /// Print only JSON: a row for each file that got across, with the fields of a race's rows.
    #[arg(long, help_heading = "Output")]
    json: bool,
    #[command(flatten)]
    drawn: Reporting,
    #[command(flatten)]
    logs: Logging,
}

#[derive(Args, Debug)]
pub(crate) struct Get {
    /// The server and the path below its folder.
    #[arg(value_name = "HOST:PORT/PATH")]
    from: String,
    /// The file to write [the last name of the path, in the current folder].
    #[arg(long, short, value_name = "FILE", help_heading = "Output")]
    output: Option<PathBuf>,
    /// Replace the file if there is one.
    #[arg(long, help_heading = "Output")]
    force: bool,
    #[command(flatten)]
    patience: Patience,
    #[command(flatten)]
    ends: EndKeys,
    /// Print only JSON, one line: path, length, what was there before, SHA-256, time.
    #[arg(long, help_heading = "Output")]
    json: bool,
    #[command(flatten)]
    logs: Logging,
}

#[derive(Args, Debug)]
pub(crate) struct Send {
    /// The file to send.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The receiver, and the path below its folder [the file's name].
    #[arg(value_name = "HOST:PORT[/PATH]")]
    to: String,
    /// Schemes, with each of which the file is sent once; of several, the path ends in the scheme [hystart++:avoidance=cubic].
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    schemes: Option<String>,
    #[command(flatten)]
    patience: Patience,
    #[command(flatten)]
    ends: EndKeys,
    /// Print only JSON: a row for each scheme, with the fields of a race's rows.
    #[arg(long, help_heading = "Output")]
    json: bool,
    #[command(flatten)]
    drawn: Reporting,
    #[command(flatten)]
    logs: Logging,
}

#[derive(Args, Debug)]
pub(crate) struct Receive {
    /// The folder. Nothing outside it is written.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Replace files that are there.
    #[arg(long, help_heading = "Output")]
    force: bool,
    #[command(flatten)]
    at: At,
    #[command(flatten)]
    ends: EndKeys,
    /// Print only JSON, one line for each file that came.
    #[arg(long, help_heading = "Output")]
    json: bool,
    #[command(flatten)]
    logs: Logging,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
struct Reporting {
    /// Write a report at the end: one HTML file that opens offline, with the first 12 transfers drawn.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

#[derive(Args, Debug)]
#[command(next_help_heading = "Output")]
struct Logging {
    /// Write a pcapng capture of each connection at this end.
    #[arg(long, value_name = "DIR")]
    pcap: Option<PathBuf>,
    /// Keep only this much of each captured packet, such as 128B [all].
    #[arg(long, value_name = "BYTES", requires = "pcap", allow_hyphen_values = true)]
    snap: Option<String>,
    /// Write what this end did in each connection as qlog, the format of QUIC's tools.
    #[arg(long, value_name = "DIR")]
    qlog: Option<PathBuf>,
}

impl Logging {
    /// Makes the folders, and says what is wanted.
    fn wanted(&self, end: LoggedEnd, report: bool, arguments: &[String]) -> Result<Wanted, Failure> {
        let snap = snap(self.snap.as_deref(), arguments)?;
        for (option, folder) in [("--pcap", &self.pcap), ("--qlog", &self.qlog)] {
            let Some(folder) = folder else { continue };
            let made = std::fs::create_dir_all(folder).and_then(|()| check_folder(folder));
            made.map_err(|error| {
                let place = Place::value(arguments, option, &folder.to_string_lossy());
                Failure::usage(format!("{option}: cannot write into {}: {error}", folder.display())).at(place)
            })?;
        }
        Ok(Wanted { end, pcap: self.pcap.clone(), qlog: self.qlog.clone(), snap, report })
    }
}

impl Reporting {
    /// The page, whose file can be written.
    fn page(&self, inputs: &[Input<'_>], arguments: &[String]) -> Result<Page, Failure> {
        if let Some(path) = &self.report {
            check_file("--report", path, inputs, arguments)?;
        }
        Ok(Page::new(self.report.clone()))
    }
}

#[derive(Args, Debug)]
struct At {
    /// The address to listen at. Only this machine reaches the default; 0.0.0.0 is every address of this machine.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    bind: IpAddr,
    /// The UDP port; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 4433)]
    port: u16,
    #[command(flatten)]
    patience: Patience,
}

#[derive(Args, Debug)]
struct Patience {
    /// How long a silent peer is waited for.
    #[arg(long, value_name = "TIME", default_value = "30s", allow_hyphen_values = true)]
    timeout: String,
}

impl Patience {
    fn read(&self, arguments: &[String]) -> Result<Duration, Failure> {
        let text = &self.timeout;
        let time = quantity::span(text).map_err(|error| {
            Failure::usage(format!("--timeout: {error}")).at(Place::value(arguments, "--timeout", text))
        })?;
        Ok(Duration::from_nanos(time.nanos()))
    }
}

/// `firstflight serve`.
pub(crate) fn serve(asked: &Serve, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    let choices = schemes(asked.schemes.as_deref(), registry, arguments)?;
    let sends = |at: usize| (choices.get(at).cloned(), Way::Send);
    let wanted = asked.logs.wanted(LoggedEnd::Sender, asked.drawn.report.is_some(), arguments)?;
    let how = How {
        json: asked.json,
        patience: asked.at.patience.read(arguments)?,
        page: asked.drawn.page(&[], arguments)?,
        watchers: Watchers::new(wanted),
    };
    let servers = (0..choices.len()).map(sends);
    listen(&asked.folder, &asked.at, servers, &asked.ends, &how, (registry, arguments))
}

/// `firstflight receive`.
pub(crate) fn receive(asked: &Receive, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    let how = How {
        json: asked.json,
        patience: asked.at.patience.read(arguments)?,
        page: Page::new(None),
        watchers: Watchers::new(asked.logs.wanted(LoggedEnd::Receiver, false, arguments)?),
    };
    let server = [(None, Way::Receive { replaces: asked.force })];
    listen(&asked.folder, &asked.at, server.into_iter(), &asked.ends, &how, (registry, arguments))
}

/// How connections are answered.
#[derive(Clone)]
struct How {
    json: bool,
    patience: Duration,
    page: Page,
    watchers: Watchers,
}

/// Serves a folder until the user interrupts.
fn listen(
    path: &Path,
    at: &At,
    servers: impl Iterator<Item = (Option<SchemeChoice>, Way)>,
    ends: &EndKeys,
    how: &How,
    (registry, arguments): (Registry, &[String]),
) -> Result<(), Failure> {
    let folder = Arc::new(Folder::open(path).map_err(Failure::usage)?);
    let mut listeners = Vec::new();
    for (index, (choice, way)) in (0..).zip(servers) {
        let name = choice.as_ref().map(ToString::to_string);
        let choice = choice.map_or_else(|| one(SCHEME, registry), Ok)?;
        let options = watched(options(choice, ends, registry, arguments)?, &how.watchers);
        let port = if at.port == 0 { Some(0) } else { at.port.checked_add(index) };
        let port = port.ok_or_else(|| {
            let text = at.port.to_string();
            Failure::usage(format!("--port: the ports of all schemes end at 65535, and `{text}` is too near"))
                .at(Place::value(arguments, "--port", &text))
        })?;
        let address = SocketAddr::new(at.bind, port);
        let listener = Listener::bind(address, &options)
            .map_err(|error| Failure::usage(format!("cannot listen at {address}: {error}")))?;
        let name = name.map_or_else(String::new, |name| name + ": ");
        listeners.push((name, listener, options, way));
    }
    // Whoever reads an address may interrupt.
    let interrupt = Interrupt::listen();
    for (name, listener, ..) in &listeners {
        output::say(&format!("{name}{}\n", listener.local_addr()));
    }
    for (_, listener, options, way) in listeners {
        let (folder, how) = (Arc::clone(&folder), how.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (folder, options, how) = (Arc::clone(&folder), options.clone(), how.clone());
                std::thread::spawn(move || answer(&stream, &folder, way, &how, &options));
            }
        });
    }
    while !interrupt.happened() {
        std::thread::sleep(Duration::from_millis(50));
    }
    let written = how.page.write(&format!("Files served from {}", path.display()), arguments);
    how.watchers.failure().map_or(written, |error| Err(Failure::write(error)))
}

/// The options of an end whose connections are watched.
fn watched(options: Options, watchers: &Watchers) -> Options {
    match watchers.watches() {
        Some(each) => options.watches(each),
        None => options,
    }
}

/// Answers one connection, and says what came of it.
fn answer(stream: &Stream, folder: &Folder, way: Way, how: &How, options: &Options) {
    let peer = stream.peer_addr();
    let mut wire = Wire::new(stream.clone(), how.patience);
    let served = firstflight_transfer::serve(&mut wire, folder, way, &mut |_, _| true);
    let written = wire.written();
    // What was written is on its way, and the peer may have left already.
    let _ = stream.finish(Some(how.patience));
    let name = match &served {
        Ok(Some(file)) => Some(file.path.as_str()),
        Ok(None) => None,
        Err(_) => Some(FAILED),
    };
    let heard = how.watchers.take(peer, name);
    match served {
        Ok(Some(file)) if way == Way::Send => {
            let row = heard.and_then(|heard| measured::Row::of(options, heard, written));
            if let Some(row) = &row {
                how.page.take(&file, row);
            }
            show_sent(&file, row.as_ref(), how.json);
        }
        Ok(Some(file)) => {
            // A standard output that is closed ends nobody's transfer.
            let _ = if how.json {
                output::print(&(said::json(&file, None) + "\n"))
            } else {
                output::print_words(&(said::whole(&file) + "\n"))
            };
        }
        Ok(None) => {}
        Err(error) => output::say(&format!("{peer}: {error}\n")),
    }
}

/// Says what was sent. As JSON the row alone is said; where the sender's trace gives none, standard error says so.
fn show_sent(file: &Transferred, row: Option<&measured::Row>, json: bool) {
    // A standard output that is closed ends nobody's transfer.
    let _ = match (row, json) {
        (Some(row), true) => output::print(&(row.json() + "\n")),
        (None, true) => return output::say(&format!("note: no row of {}\n", said::whole(file))),
        (Some(row), false) => output::print_words(&(said::started(file, row) + "\n")),
        (None, false) => output::print_words(&(said::whole(file) + "\n")),
    };
}

/// `firstflight get`.
pub(crate) fn get(asked: &Get, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    let (address, path) = target(&asked.from, arguments)?;
    let path = path.ok_or_else(|| wrong_target(&asked.from, arguments))?;
    let patience = asked.patience.read(arguments)?;
    let name = Path::new(path.rsplit('/').next().unwrap_or_default());
    let output = asked.output.as_deref().unwrap_or(name);
    let watchers = Watchers::new(asked.logs.wanted(LoggedEnd::Receiver, false, arguments)?);
    let options = options(one(SCHEME, registry)?, &asked.ends, registry, arguments)?;
    let options = watched(options, &watchers);
    let (interrupt, progress) = (Interrupt::listen(), Progress::of_bytes());
    #[expect(clippy::disallowed_methods, reason = "how long a transfer took is for its user")]
    let begin = std::time::Instant::now();
    let got = firstflight_transfer::get(
        || Wire::connect(address, &options, patience, &interrupt),
        &path,
        output,
        asked.force,
        &mut |done, total| {
            progress.show_of(done, total, &path);
            !interrupt.happened()
        },
    );
    drop(progress);
    let took = begin.elapsed().as_secs_f64();
    watchers.take(address, Some(got.as_ref().map_or(FAILED, |got| got.path.as_str())));
    let got = got.map_err(|error| failure(error, &interrupt))?;
    if asked.json {
        output::print(&(said::json(&got, Some(took)) + "\n"))?;
    } else {
        output::print_words(&(said::timed(&got, took) + "\n"))?;
    }
    watchers.failure().map_or(Ok(()), |error| Err(Failure::write(error)))
}

/// `firstflight send`.
pub(crate) fn send(asked: &Send, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    let (address, path) = target(&asked.to, arguments)?;
    let patience = asked.patience.read(arguments)?;
    let own = asked.file.file_name().and_then(|name| name.to_str());
    let path = path.or_else(|| own.map(str::to_owned)).ok_or_else(|| wrong_target(&asked.to, arguments))?;
    let choices = schemes(asked.schemes.as_deref(), registry, arguments)?;
    let page = asked.drawn.page(&[Input { what: "file", path: &asked.file }], arguments)?;
    let wanted = asked.logs.wanted(LoggedEnd::Sender, asked.drawn.report.is_some(), arguments)?;
    let watchers = Watchers::new(wanted);
    let interrupt = Interrupt::listen();
    let all: Vec<_> = choices
        .iter()
        .map(|choice| Ok(watched(options(choice.clone(), &asked.ends, registry, arguments)?, &watchers)))
        .collect::<Result<_, _>>()?;
    let mut sent_all = Ok(());
    for (choice, options) in choices.iter().zip(&all) {
        let path = if choices.len() > 1 { format!("{path}.{}", choice.name()) } else { path.clone() };
        let progress = Progress::of_bytes();
        let mut count = None;
        let sent = firstflight_transfer::put(
            || {
                // The connection before asked what there is of the file.
                watchers.take(address, None);
                let wire = Wire::connect(address, options, patience, &interrupt)?;
                count = Some(wire.count());
                Ok(wire)
            },
            &asked.file,
            &path,
            &mut |done, total| {
                progress.show_of(done, total, &path);
                !interrupt.happened()
            },
        );
        drop(progress);
        let heard = watchers.take(address, Some(if sent.is_ok() { path.as_str() } else { FAILED }));
        let sent = match sent {
            Ok(sent) => sent,
            Err(error) => {
                sent_all = Err(failure(error, &interrupt));
                break;
            }
        };
        let written = count.map_or(0, |count| count.get());
        let row = heard.and_then(|heard| measured::Row::of(options, heard, written));
        if let Some(row) = &row {
            page.take(&sent, row);
        }
        show_sent(&sent, row.as_ref(), asked.json);
    }
    let written = page.write(&format!("{} sent to {address}", asked.file.display()), arguments);
    let logged = watchers.failure().map_or(Ok(()), |error| Err(Failure::write(error)));
    sent_all.and(written).and(logged)
}

fn failure(error: TransferError, interrupt: &Interrupt) -> Failure {
    if interrupt.happened() {
        return Failure::interrupted(TransferError::Interrupted);
    }
    match error {
        TransferError::Exists(_) | TransferError::Path(_) | TransferError::Busy(_) => Failure::usage(error),
        other => Failure::write(other),
    }
}

/// The schemes of a list.
fn schemes(
    list: Option<&str>,
    registry: Registry,
    arguments: &[String],
) -> Result<Vec<SchemeChoice>, Failure> {
    let Some(list) = list else { return Ok(vec![one(SCHEME, registry)?]) };
    registry.parse_choices(list).map_err(|error| {
        Failure::usage(format!("--schemes: {error}")).at(Place::value(arguments, "--schemes", list))
    })
}

fn one(name: &str, registry: Registry) -> Result<SchemeChoice, Failure> {
    let choices = registry.parse_choices(name).map_err(Failure::usage)?;
    choices.into_iter().next().ok_or_else(|| Failure::usage("no scheme"))
}

/// The options of an end.
fn options(
    choice: SchemeChoice,
    ends: &EndKeys,
    registry: Registry,
    arguments: &[String],
) -> Result<Options, Failure> {
    let options = Options::of(registry, choice).map_err(|error| {
        Failure::usage(format!("--schemes: {error}")).at(Place::value(arguments, "--schemes", "--schemes"))
    })?;
    // The buffers of the two ends hold no path back, and a start-up finds data to send, as in a race.
    let options = options.set("rwnd", "16MB").map_err(Failure::usage)?;
    let options = options.send_buffer(16 << 20).whole_send_buffer(true).memory(256 << 20);
    ends.given.iter().try_fold(options, |options, (name, value)| {
        let option = format!("--{name}");
        options
            .set(name, value)
            .map_err(|error| Failure::usage(format!("--{error}")).at(Place::value(arguments, &option, value)))
    })
}

/// `HOST:PORT/PATH` as an address and a path, if there is one.
fn target(text: &str, arguments: &[String]) -> Result<(SocketAddr, Option<String>), Failure> {
    let (host, path) = text.split_once('/').map_or((text, None), |(host, path)| (host, Some(path)));
    let address = address_of(host)?.ok_or_else(|| wrong_target(text, arguments))?;
    Ok((address, path.filter(|path| !path.is_empty()).map(str::to_owned)))
}

/// `HOST:PORT` as an address.
pub(crate) fn address(text: &str, arguments: &[String]) -> Result<SocketAddr, Failure> {
    address_of(text)?.ok_or_else(|| {
        let message = format!("`{}` is not allowed; HOST:PORT is, as in 127.0.0.1:4432", printable(text));
        Failure::usage(message).at(Place::argument(arguments, text))
    })
}

/// The address of a text; `None` if it is no `HOST:PORT`.
fn address_of(host: &str) -> Result<Option<SocketAddr>, Failure> {
    if host.rsplit_once(':').is_none_or(|(_, port)| port.parse::<u16>().is_err()) {
        return Ok(None);
    }
    match host.to_socket_addrs().map(|mut all| all.next()) {
        Ok(Some(address)) => Ok(Some(address)),
        Ok(None) => Err(Failure::usage(format!("{}: no address", printable(host)))),
        Err(error) => Err(Failure::usage(format!("{}: {error}", printable(host)))),
    }
}

fn wrong_target(text: &str, arguments: &[String]) -> Failure {
    Failure::usage(format!(
        "`{}` is not allowed; HOST:PORT/PATH is, as in 127.0.0.1:4433/file",
        printable(text)
    ))
    .at(Place::argument(arguments, text))
}
