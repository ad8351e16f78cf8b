//! `firstflight put`: sends files and folders.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use firstflight::registry::Registry;
use firstflight_export::log::LoggedEnd;
use firstflight_scenario::SchemeChoice;
use firstflight_udp::Options;
use firstflight_udp::files::TransferError;

use super::asked::Put;
use super::ends::{options, schemes, watched};
use super::limits::patience;
use super::logs::FAILED;
use super::outcome::{INTERRUPTED, KEPT, Outcome};
use super::reported::Page;
use super::target::{Target, target, wrong_target};
use super::watched::Watchers;
use super::wire::Wire;
use super::{measured, said};
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Progress;
use crate::targets::Input;

/// Carries out `firstflight put`.
pub(crate) fn put(asked: &Put, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    let target = target(&asked.to, arguments)?;
    let patience = patience(&asked.timeout, arguments)?;
    let key = asked.key.read(arguments)?;
    let interrupt = Interrupt::listen();
    let is_of_many = asked.files.len() > 1 || asked.files.iter().any(|file| file.is_dir());
    let choices = schemes(asked.schemes.as_deref(), registry, arguments)?;
    let mut outcome = Outcome::new(is_of_many || choices.len() > 1);
    let files = Files { target: &target, is_of_many, sends: Vec::new() };
    let files = files.of(asked, (&mut outcome, &interrupt), arguments)?;
    let inputs: Vec<Input<'_>> = asked.files.iter().map(|path| Input { what: "file", path }).collect();
    let page = asked.drawn.page(&inputs, arguments)?;
    let wanted = asked.logs.wanted(LoggedEnd::Sender, asked.drawn.report.is_some(), arguments)?;
    let watchers = Watchers::new(wanted, page.clone())?;
    let of_end = (key.as_ref(), asked.mtu, target.address.ip());
    let all: Vec<(SchemeChoice, Options)> = choices
        .into_iter()
        .map(|choice| {
            let options = options(choice.clone(), &asked.ends, of_end, registry, arguments)?;
            Ok((choice, watched(options, &watchers)))
        })
        .collect::<Result<_, _>>()?;
    let mut client = Client {
        address: target.address,
        json: asked.json,
        page: page.clone(),
        watchers: watchers.clone(),
        patience,
        interrupt,
        outcome,
    };
    for (file, path) in &files {
        for (choice, options) in &all {
            let path = if all.len() > 1 { format!("{path}.{}", choice.name()) } else { path.clone() };
            if !client.outcome.is_over() {
                client.send(file, &path, options);
            }
        }
    }
    let what = match &asked.files[..] {
        [file] => file.display().to_string(),
        files => format!("{} files and folders", files.len()),
    };
    let written = page.write(&format!("{what} sent to {}", target.address), arguments);
    let logged = watchers.end().map_or(Ok(()), |error| Err(Failure::write(error)));
    client.outcome.end().and(written).and(logged)
}

/// The files that are sent, each with its path below the server's folder.
struct Files<'a> {
    target: &'a Target,
    is_of_many: bool,
    sends: Vec<(PathBuf, String)>,
}

impl Files<'_> {
    fn of(
        mut self,
        asked: &Put,
        (outcome, interrupt): (&mut Outcome, &Interrupt),
        arguments: &[String],
    ) -> Result<Vec<(PathBuf, String)>, Failure> {
        for file in &asked.files {
            let named = match (&self.target.path, self.is_of_many || self.target.is_folder) {
                (Some(path), false) => Some(path.clone()),
                (folder, _) => name_of(file).map(|name| match folder {
                    Some(folder) => format!("{folder}/{name}"),
                    None => name,
                }),
            };
            let named = named.ok_or_else(|| wrong_target(&asked.to, arguments))?;
            if file.is_dir() {
                self.add_folder(file, &named, (&mut *outcome, interrupt));
            } else {
                self.sends.push((file.clone(), named));
            }
        }
        let mut by_path = BTreeMap::new();
        for (file, path) in &self.sends {
            if let Some(first) = by_path.insert(path, file) {
                let (first, file) = (first.display(), file.display());
                return Err(Failure::usage(format!(
                    "{first} and {file} would both be sent as {path}; one at a time is allowed"
                )));
            }
        }
        Ok(self.sends)
    }

    /// Adds the files in a folder and in the folders below it, by name. Leaves out what a server does not take: names that begin with a dot
    /// or are not UTF-8, and what is neither a file nor a folder.
    fn add_folder(&mut self, folder: &Path, named: &str, (outcome, interrupt): (&mut Outcome, &Interrupt)) {
        let (mut left_out, before) = (0_u64, self.sends.len());
        let mut is_read = true;
        let mut folders = vec![(folder.to_path_buf(), named.to_owned())];
        while let Some((folder, named)) = folders.pop() {
            let read = std::fs::read_dir(&folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
            let mut entries = match read {
                Ok(entries) => entries,
                Err(source) => {
                    let name = folder.display().to_string();
                    let error = TransferError::File { path: folder, source };
                    outcome.fails(&name, error, (interrupt, INTERRUPTED));
                    is_read = false;
                    continue;
                }
            };
            entries.sort_by_key(std::fs::DirEntry::file_name);
            let mut inner = Vec::new();
            for entry in entries {
                let (path, kind) = (entry.path(), entry.file_type());
                let name = name_of(&path).filter(|name| !name.starts_with('.'));
                match (name, kind) {
                    (Some(name), Ok(kind)) if kind.is_dir() => inner.push((path, format!("{named}/{name}"))),
                    (Some(name), Ok(kind)) if kind.is_file() => {
                        self.sends.push((path, format!("{named}/{name}")));
                    }
                    _ => left_out += 1,
                }
            }
            // The last is taken first, so that folders come in the order of their names.
            folders.extend(inner.into_iter().rev());
        }
        if left_out > 0 {
            output::say(&format!(
                "note: {}: not sent, because hidden or no files: {left_out}",
                folder.display()
            ));
        } else if is_read && self.sends.len() == before {
            output::say(&format!("note: {}: no file in it; empty folders are not created", folder.display()));
        }
    }
}

/// Returns the last name of a path, also of `.` and `..`.
fn name_of(path: &Path) -> Option<String> {
    let whole = if path.file_name().is_some() { path.to_path_buf() } else { path.canonicalize().ok()? };
    whole.file_name()?.to_str().map(str::to_owned)
}

/// The connections of the command, and their results.
struct Client {
    address: SocketAddr,
    json: bool,
    page: Page,
    watchers: Watchers,
    patience: Duration,
    interrupt: Interrupt,
    outcome: Outcome,
}

impl Client {
    fn send(&mut self, file: &Path, path: &str, options: &Options) {
        let progress = Progress::of_bytes();
        let mut count = None;
        let mut is_reached = false;
        let sent = firstflight_udp::files::put(
            || {
                // The previous connection only asked how much of the file exists at the receiver.
                self.watchers.take_own(self.address, None);
                let wire = Wire::connect(self.address, options, self.patience, &self.interrupt)?;
                count = Some(wire.count());
                is_reached = true;
                Ok(wire)
            },
            file,
            path,
            &mut |done, total| {
                progress.show_of(done, total, path);
                !self.interrupt.happened()
            },
        );
        drop(progress);
        let heard = self.watchers.take_own(self.address, Some(if sent.is_ok() { path } else { FAILED }));
        let sent = match sent {
            Ok(sent) => sent,
            Err(error) => {
                let is_unreachable = !is_reached && matches!(error, TransferError::Connection(_));
                self.outcome.fails(&file.display().to_string(), error, (&self.interrupt, KEPT));
                if is_unreachable && !self.outcome.is_over() {
                    self.outcome.stops(Failure::write(format!("{} is not tried again", self.address)));
                }
                return;
            }
        };
        let written = count.map_or(0, |count| count.get());
        let row = heard.and_then(|heard| measured::Row::of(options, heard, written));
        if let Some(row) = &row {
            self.page.take(&sent, row);
        }
        match said::show_sent(&sent, row.as_ref(), self.json) {
            Ok(()) => self.outcome.succeeds(),
            Err(failure) => self.outcome.stops(failure),
        }
    }
}
