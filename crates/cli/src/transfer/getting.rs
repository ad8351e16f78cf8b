//! `firstflight get`: fetches files and folders, or lists folders.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use firstflight::registry::Registry;
use firstflight_export::json;
use firstflight_export::log::LoggedEnd;
use firstflight_report::human::count;
use firstflight_trace::in_a_line;
use firstflight_udp::Options;
use firstflight_udp::files::{Entry, MAX_LISTED, TransferError, Transferred, check, check_new};

use super::asked::Get;
use super::ends::{SCHEME, one, options, watched};
use super::limits::patience;
use super::logs::FAILED;
use super::outcome::{INTERRUPTED, KEPT, Outcome, WRITTEN};
use super::reported::Page;
use super::said;
use super::target::{Target, target, wrong_target};
use super::watched::Watchers;
use super::wire::Wire;
use crate::clock::now;
use crate::failure::{Failure, Place};
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Progress;

/// Carries out `firstflight get`.
pub(crate) fn get(asked: &Get, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    let targets: Vec<Target> = asked
        .from
        .iter()
        .map(|text| match target(text, arguments)? {
            Target { path: None, is_folder: false, .. } => Err(wrong_target(text, arguments)),
            target => match target.path.as_deref().map_or(Ok(()), check) {
                Ok(()) => Ok(target),
                Err(error) => Err(Failure::usage(error).at(Place::argument(arguments, text))),
            },
        })
        .collect::<Result<_, _>>()?;
    let patience = patience(&asked.timeout, arguments)?;
    let key = asked.key.read(arguments)?;
    let to = To::of(asked, &targets, arguments)?;
    if !asked.list {
        to.check(asked, &targets, arguments)?;
    }
    let watchers = Watchers::new(asked.logs.wanted(LoggedEnd::Receiver, false, arguments)?, Page::new(None))?;
    // Servers of both IPv4 and IPv6 in one command get the shorter datagrams of IPv6.
    let address = targets.iter().map(|target| target.address.ip()).find(IpAddr::is_ipv6);
    let address =
        address.or_else(|| Some(targets.first()?.address.ip())).unwrap_or(IpAddr::V6(Ipv6Addr::LOCALHOST));
    let of_end = (key.as_ref(), asked.mtu, address);
    let options = options(one(SCHEME, registry)?, &asked.ends, of_end, registry, arguments)?;
    let is_of_many = targets.len() > 1 || targets.iter().any(|target| target.is_folder);
    let mut client = Client {
        asked,
        options: watched(options, &watchers),
        watchers,
        patience,
        interrupt: Interrupt::listen(),
        outcome: Outcome::new(is_of_many),
        unreachable: Vec::new(),
        makes_folders: matches!(to, To::Folder(_)),
    };
    for target in &targets {
        if asked.list {
            client.print_listing(target);
        } else if target.is_folder {
            client.fetch_folder(target, &to);
        } else if let Some(path) = &target.path {
            client.fetch(target.address, path, to.of_file(path).as_deref(), None);
        }
    }
    let logged = client.watchers.end().map_or(Ok(()), |error| Err(Failure::write(error)));
    client.outcome.end().and(logged)
}

/// Where fetched files are written.
enum To {
    Standard,
    /// One file.
    File(PathBuf),
    /// A folder, which is created if it does not exist. `None` is the current folder.
    Folder(Option<PathBuf>),
}

impl To {
    fn of(asked: &Get, targets: &[Target], arguments: &[String]) -> Result<Self, Failure> {
        let Some(output) = &asked.output else { return Ok(Self::Folder(None)) };
        let refuse = |why: &str| {
            let shown = output.to_string_lossy();
            Failure::usage(format!("--output {shown}: {why}")).at(Place::value(arguments, "--output", &shown))
        };
        let is_of_one_file = matches!(targets, [target] if !target.is_folder);
        if output == Path::new("-") {
            if !is_of_one_file {
                return Err(refuse("standard output takes one file; a folder is allowed"));
            }
            if asked.json {
                return Err(refuse(
                    "the file goes there, so --json has no place; without --json it is allowed",
                ));
            }
            return Ok(Self::Standard);
        }
        let is_folder = output.is_dir() || output.to_string_lossy().ends_with('/');
        if is_of_one_file && !is_folder {
            return Ok(Self::File(output.clone()));
        }
        if output.exists() && !output.is_dir() {
            return Err(refuse("several files need a folder, and this is none"));
        }
        Ok(Self::Folder(Some(output.clone())))
    }

    /// Refuses two targets with the same output: with `--force` the second would replace the first.
    fn check(&self, asked: &Get, targets: &[Target], arguments: &[String]) -> Result<(), Failure> {
        let mut by_output = BTreeMap::new();
        for (text, target) in asked.from.iter().zip(targets) {
            let Some(output) = self.of_target(target) else { continue };
            let shown =
                if output.as_os_str().is_empty() { ".".to_owned() } else { output.display().to_string() };
            if let Some(first) = by_output.insert(output, text) {
                let why =
                    format!("{first} and {text} would both be written to {shown}; one at a time is allowed");
                return Err(Failure::usage(why).at(Place::argument(arguments, text)));
            }
        }
        Ok(())
    }

    /// Returns the output of a target; `None` for standard output.
    fn of_target(&self, target: &Target) -> Option<PathBuf> {
        match (&target.path, self) {
            (Some(path), _) => self.of_file(path),
            (None, Self::Folder(Some(folder))) => Some(folder.clone()),
            (None, _) => Some(PathBuf::new()),
        }
    }

    /// Returns the output of the file at this path of a server; `None` for standard output.
    fn of_file(&self, path: &str) -> Option<PathBuf> {
        match self {
            Self::Standard => None,
            Self::File(file) => Some(file.clone()),
            Self::Folder(folder) => {
                let name = path.rsplit('/').next().unwrap_or_default();
                Some(folder.as_ref().map_or_else(|| PathBuf::from(name), |folder| folder.join(name)))
            }
        }
    }
}

/// Joins a path of a server and a name below it.
fn joined(folder: Option<&str>, name: &str) -> String {
    folder.map_or_else(|| name.to_owned(), |folder| format!("{folder}/{name}"))
}

/// The connections of the command, and their results.
struct Client<'a> {
    asked: &'a Get,
    options: Options,
    watchers: Watchers,
    patience: Duration,
    interrupt: Interrupt,
    outcome: Outcome,
    /// The servers that could not be reached.
    unreachable: Vec<SocketAddr>,
    makes_folders: bool,
}

impl Client<'_> {
    /// Fetches everything in a folder of the server. A folder is written under its name.
    fn fetch_folder(&mut self, target: &Target, to: &To) {
        let base = to.of_target(target).unwrap_or_default();
        let (mut left, mut files, mut is_listed) = (Some(MAX_LISTED), 0_u64, true);
        // Paths below the target; `None` is the target itself.
        let mut folders: Vec<Option<String>> = vec![None];
        while let Some(below) = folders.pop() {
            let path = match &below {
                Some(below) => Some(joined(target.path.as_deref(), below)),
                None => target.path.clone(),
            };
            let Some(entries) = self.list(target.address, path.as_deref(), &mut left) else {
                is_listed = false;
                continue;
            };
            let mut inner = Vec::new();
            for (name, entry) in entries {
                let below = joined(below.as_deref(), &name);
                let path = joined(path.as_deref(), &name);
                if let Err(error) = check_new(&below).and_then(|()| check(&path)) {
                    self.fails(target.address, true, &path, (error, INTERRUPTED));
                    is_listed = false;
                    continue;
                }
                match entry {
                    Entry::Folder => inner.push(Some(below)),
                    Entry::File(length) => {
                        files += 1;
                        self.fetch(target.address, &path, Some(&base.join(below)), Some(length));
                    }
                }
            }
            // The last is taken first, so that folders come in the order of their names.
            folders.extend(inner.into_iter().rev());
        }
        if is_listed && files == 0 {
            let path = target.path.as_deref().map_or_else(String::new, |path| format!("{path}/"));
            output::say(&format!(
                "note: {}/{path}: no file in it; empty folders are not created",
                target.address
            ));
        }
    }

    /// Prints the contents of a folder.
    fn print_listing(&mut self, target: &Target) {
        let path = target.path.as_deref();
        let Some(entries) = self.list(target.address, path, &mut Some(MAX_LISTED)) else { return };
        let prefix = path.map_or_else(String::new, |path| format!("{path}/"));
        let lines: String =
            entries.iter().map(|(name, entry)| self.line(&format!("{prefix}{name}"), *entry)).collect();
        match output::print(&lines) {
            Ok(()) => self.outcome.succeeds(),
            Err(failure) => self.outcome.stops(failure),
        }
    }

    /// Returns the line of an entry in a listing. The path of a folder ends in `/`, as `get` takes it.
    fn line(&self, path: &str, entry: Entry) -> String {
        let (path, length) = match entry {
            Entry::Folder => (format!("{path}/"), None),
            Entry::File(length) => (path.to_owned(), Some(length)),
        };
        if self.asked.json {
            // Numbers and texts can always be written as JSON.
            return json::line(&serde_json::json!({"path": path, "bytes": length})).unwrap_or_default();
        }
        format!("{:>17}  {}\n", length.map_or_else(String::new, count), in_a_line(&path))
    }

    /// Lists a folder. `left` is the number of entries to accept, from which those of the folder are subtracted; `None` after a server
    /// listed more.
    fn list(
        &mut self,
        address: SocketAddr,
        path: Option<&str>,
        left: &mut Option<usize>,
    ) -> Option<BTreeMap<String, Entry>> {
        let most = (*left)?;
        if !self.may_try(address) {
            return None;
        }
        let mut is_reached = false;
        let listed = firstflight_udp::files::list(
            || {
                let wire = Wire::connect(address, &self.options, self.patience, &self.interrupt)?;
                is_reached = true;
                Ok(wire)
            },
            path,
            most,
        );
        self.watchers.take_own(address, None);
        match listed {
            Ok(entries) => {
                *left = Some(most - entries.len());
                self.may_try(address).then_some(entries)
            }
            Err(error) => {
                if matches!(error, TransferError::TooMany { .. }) {
                    *left = None;
                }
                let path = path.map_or_else(String::new, |path| format!("{path}/"));
                self.fails(address, is_reached, &path, (error, INTERRUPTED));
                None
            }
        }
    }

    /// Fetches a file. `listed` is its length, if the file belongs to a folder that is fetched. An equal file that is already there then
    /// counts as fetched, so that an interrupted command can be repeated.
    fn fetch(&mut self, address: SocketAddr, path: &str, target: Option<&Path>, listed: Option<u64>) {
        if !self.may_try(address) {
            return;
        }
        let mut is_reached = false;
        let connect = || {
            let wire = Wire::connect(address, &self.options, self.patience, &self.interrupt)?;
            is_reached = true;
            Ok(wire)
        };
        let (begin, progress) = (now(), Progress::of_bytes());
        let mut show = |done, total| {
            progress.show_of(done, total, path);
            !self.interrupt.happened()
        };
        let replaces = self.asked.force;
        let is_there = listed.zip(target).is_some_and(|(length, target)| {
            let found = std::fs::symlink_metadata(target);
            !replaces && found.is_ok_and(|found| found.is_file() && found.len() == length)
        });
        let interrupted = match target {
            None => WRITTEN,
            Some(_) if is_there => INTERRUPTED,
            Some(_) => KEPT,
        };
        let got = match target {
            None => {
                let (mut out, shown) = (output::stdout_of_bytes(), Path::new("standard output"));
                firstflight_udp::files::get_into(connect, path, (&mut out, shown), &mut show)
            }
            Some(target) if is_there => firstflight_udp::files::compare(connect, path, target, &mut show),
            Some(target) => self
                .make_folder(target)
                .and_then(|()| firstflight_udp::files::get(connect, path, target, replaces, &mut show)),
        };
        drop(progress);
        let took = begin.elapsed().as_secs_f64();
        self.watchers.take_own(address, Some(got.as_ref().map_or(FAILED, |got| got.path.as_str())));
        match got {
            Ok(got) => {
                self.outcome.succeeds();
                if let Err(failure) = self.report(&got, took, target.is_some()) {
                    self.outcome.stops(failure);
                }
            }
            Err(error) => self.fails(address, is_reached, path, (error, interrupted)),
        }
    }

    fn report(&self, got: &Transferred, took: f64, is_kept: bool) -> Result<(), Failure> {
        if self.asked.json {
            output::print(&said::json(got, Some(took)))
        } else if is_kept {
            output::print_words(&(said::timed(got, took) + "\n"))
        } else {
            output::say(&said::timed(got, took));
            Ok(())
        }
    }

    /// Returns whether this server is to be tried. Ends the command if the user interrupted.
    fn may_try(&mut self, address: SocketAddr) -> bool {
        if self.interrupt.happened() && !self.outcome.is_over() {
            self.outcome.stops(Failure::interrupted(INTERRUPTED));
        }
        !self.outcome.is_over() && !self.unreachable.contains(&address)
    }

    /// Reports a failure. `interrupted` is the message if the user interrupted.
    fn fails(
        &mut self,
        address: SocketAddr,
        is_reached: bool,
        path: &str,
        (error, interrupted): (TransferError, &'static str),
    ) {
        let is_unreachable = !is_reached && matches!(error, TransferError::Connection(_));
        self.outcome.fails(&format!("{address}/{path}"), error, (&self.interrupt, interrupted));
        if is_unreachable && !self.outcome.is_over() {
            self.outcome.gives_up(address);
            self.unreachable.push(address);
        }
    }

    /// Creates the folder of a file, if it does not exist and the user named a folder to write into.
    fn make_folder(&self, file: &Path) -> Result<(), TransferError> {
        match file.parent() {
            Some(folder) if self.makes_folders && !folder.as_os_str().is_empty() => {
                std::fs::create_dir_all(folder)
                    .map_err(|source| TransferError::File { path: folder.to_path_buf(), source })
            }
            _ => Ok(()),
        }
    }
}
