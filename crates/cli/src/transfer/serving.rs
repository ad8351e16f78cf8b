//! `firstflight serve`: sends the files of a folder, or takes files into it, on UDP ports until the user interrupts.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use firstflight::registry::Registry;
use firstflight_export::log::LoggedEnd;
use firstflight_scenario::SchemeChoice;
use firstflight_udp::files::{Folder, Quota, Way};
use firstflight_udp::{Listener, Options};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::asked::{At, Serve};
use super::ends::{SCHEME, one, options, schemes, watched};
use super::limits::Limits;
use super::pool::Pool;
use super::reported::Page;
use super::server::Server;
use super::session::Acceptor;
use super::watched::Watchers;
use crate::clock::now;
use crate::failure::{Failure, Place};
use crate::interrupt::Interrupt;
use crate::keys::EndKeys;
use crate::lines::Lines;
use crate::output;

/// The time between two checks for the user's interrupt.
const LOOK: Duration = Duration::from_millis(50);
/// The maximum time between two checks for parts that are too old.
const SWEEP: Duration = Duration::from_mins(10);

/// Carries out `firstflight serve`.
pub(crate) fn serve(asked: &Serve, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    let way = asked.way(arguments)?;
    let end = if way == Way::Send { LoggedEnd::Sender } else { LoggedEnd::Receiver };
    let (servers, quota) = if way == Way::Send {
        let choices = schemes(asked.schemes.as_deref(), registry, arguments)?;
        (choices.into_iter().map(Some).collect(), None)
    } else {
        let folder = Folder::open_for(&asked.folder, way).map_err(Failure::usage)?;
        let (disk, keep) = asked.disk.read(&folder, arguments)?;
        (vec![None], Some((Quota::new(disk), keep)))
    };
    let wanted = asked.logs.wanted(end, asked.drawn.report.is_some(), arguments)?;
    let page = asked.drawn.page(&[], arguments)?;
    let limits = asked.at.limits.read(arguments)?;
    let watchers = Watchers::of_strangers(wanted, page.clone(), &limits)?;
    let how = How { json: asked.json, page, watchers, quota, way };
    listen(&asked.folder, (&asked.at, limits), servers, &asked.ends, &how, (registry, arguments))
}

/// The settings by which connections are answered.
struct How {
    json: bool,
    page: Page,
    watchers: Watchers,
    /// The limit of the bytes of disk that peers may use, and the time for which their parts are kept.
    quota: Option<(Arc<Quota>, Duration)>,
    way: Way,
}

/// Serves a folder until the user interrupts.
fn listen(
    path: &Path,
    (at, limits): (&At, Limits),
    servers: Vec<Option<SchemeChoice>>,
    ends: &EndKeys,
    how: &How,
    (registry, arguments): (Registry, &[String]),
) -> Result<(), Failure> {
    let folder = Arc::new(Folder::open_for(path, how.way).map_err(Failure::usage)?);
    let key = at.key.read(arguments)?;
    let (ports, memory) = (servers.len(), limits.memory());
    let mut listeners = Vec::new();
    for (index, choice) in (0..).zip(servers) {
        let name = choice.as_ref().map_or_else(String::new, |choice| format!("{choice}: "));
        let choice = choice.map_or_else(|| one(SCHEME, registry), Ok)?;
        let options = options(choice, ends, (key.as_ref(), at.mtu, at.bind), registry, arguments)?;
        let options = limits.of_a_port(watched(options, &how.watchers), ports, &memory);
        let address = SocketAddr::new(at.bind, port(at.port, index, arguments)?);
        let listener = Listener::bind(address, &options)
            .map_err(|error| Failure::usage(format!("cannot listen at {address}: {error}")))?;
        listeners.push((name, listener, options));
    }
    let (pool, threads) =
        Pool::start().map_err(|error| Failure::usage(format!("the system gives no thread: {error}")))?;
    let lines = Arc::new(Lines::new(limits.lines, now()));
    let unprinted = Arc::new(Mutex::new(None));
    let server = |options: Options| Server {
        folder: Arc::clone(&folder),
        way: how.way,
        patience: limits.patience,
        watchers: how.watchers.clone(),
        quota: how.quota.as_ref().map(|(quota, _)| Arc::clone(quota)),
        options,
        json: how.json,
        page: how.page.clone(),
        lines: Arc::clone(&lines),
        unprinted: Arc::clone(&unprinted),
    };
    take_descriptors();
    // The command listens before it prints its address, because a program that reads the address may then interrupt.
    let interrupt = Interrupt::listen();
    for (name, listener, _) in &listeners {
        output::say(&format!("{name}{}", listener.local_addr()));
    }
    if key.is_none() && !at.bind.is_loopback() {
        output::note(&[
            "everyone who reaches this address may use it; --key FILE admits only peers with the key"
                .to_owned(),
        ]);
    }
    for (_, listener, options) in listeners {
        Acceptor::begin(listener, server(options), &pool);
    }
    wait(&interrupt, &lines, &folder, how.quota.as_ref());
    pool.stop();
    for thread in threads {
        // A thread that panicked has already reported it.
        let _ = thread.join();
    }
    lines.end();
    let written = how.page.write(&format!("Files served from {}", path.display()), arguments);
    let logged = how.watchers.end().map_or(written, |error| Err(Failure::write(error)));
    let unprinted = unprinted.lock().unwrap_or_else(PoisonError::into_inner).take();
    unprinted.map_or(logged, Err)
}

/// Waits for the user's interrupt. Meanwhile reports suppressed lines and removes old parts.
fn wait(interrupt: &Interrupt, lines: &Lines, folder: &Folder, sweeper: Option<&(Arc<Quota>, Duration)>) {
    let mut next = now();
    while !interrupt.happened() {
        let now = now();
        lines.tidy(now);
        if let Some((quota, keep)) = sweeper.filter(|_| next <= now) {
            next = now + SWEEP.min(*keep / 8);
            sweep(folder, quota, *keep);
        }
        std::thread::sleep(LOOK);
    }
}

/// Removes parts that are older than `keep`.
fn sweep(folder: &Folder, quota: &Quota, keep: Duration) {
    #[expect(clippy::disallowed_methods, reason = "the ages of files are by the system's clock")]
    let before = SystemTime::now().checked_sub(keep).unwrap_or(SystemTime::UNIX_EPOCH);
    match folder.sweep(before, quota) {
        Ok(removed) => {
            for path in removed {
                output::say(&format!("note: the part of {path} was older than --keep, and is removed"));
            }
        }
        Err(error) => output::say(&format!("warning: parts of {error}")),
    }
}

/// Returns the port of the server at an index. The servers have successive ports from `first` on.
fn port(first: u16, index: u16, arguments: &[String]) -> Result<u16, Failure> {
    let port = if first == 0 { Some(0) } else { first.checked_add(index) };
    port.ok_or_else(|| {
        let text = first.to_string();
        Failure::usage(format!("--port: the ports of all schemes end at 65535, and `{text}` is too near"))
            .at(Place::value(arguments, "--port", &text))
    })
}

/// Raises the limit of file descriptors as far as the system allows, because each connection has up to four. A transfer whose file gets no
/// descriptor is refused.
fn take_descriptors() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}
