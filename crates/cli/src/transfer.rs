//! `firstflight serve`, `get` and `put`: transfer files over UDP sockets, with a selectable start-up.

use std::path::Path;

use firstflight::registry::Registry;
use firstflight_export::log::LoggedEnd;
use firstflight_udp::files::TransferError;

use crate::clock::now;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::output;
use crate::progress::Progress;
use crate::targets::Input;
use ends::{SCHEME, one, options, schemes, watched};
use limits::patience;
use logs::FAILED;
use reported::Page;
use target::{target, wrong_target};
use watched::Watchers;
use wire::Wire;

mod asked;
mod budget;
mod ends;
mod limits;
mod logs;
mod measured;
mod pool;
mod reported;
mod said;
mod server;
mod serving;
mod session;
mod target;
mod watched;
mod wire;

pub(crate) use asked::{Get, Put, Serve};
pub(crate) use serving::serve;
pub(crate) use target::address;

/// Carries out `firstflight get`.
pub(crate) fn get(asked: &Get, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    let (address, path) = target(&asked.from, arguments)?;
    let path = path.ok_or_else(|| wrong_target(&asked.from, arguments))?;
    let patience = patience(&asked.timeout, arguments)?;
    let key = asked.key.read(arguments)?;
    let name = Path::new(path.rsplit('/').next().unwrap_or_default());
    let output = asked.output.as_deref().unwrap_or(name);
    let watchers = Watchers::new(asked.logs.wanted(LoggedEnd::Receiver, false, arguments)?, Page::new(None))?;
    let options = options(one(SCHEME, registry)?, &asked.ends, key.as_ref(), registry, arguments)?;
    let options = watched(options, &watchers);
    let (interrupt, progress) = (Interrupt::listen(), Progress::of_bytes());
    let begin = now();
    let got = firstflight_udp::files::get(
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
    watchers.take_own(address, Some(got.as_ref().map_or(FAILED, |got| got.path.as_str())));
    let logged = watchers.end().map_or(Ok(()), |error| Err(Failure::write(error)));
    let got = got.map_err(|error| failure(error, &interrupt))?;
    if asked.json {
        output::print(&said::json(&got, Some(took)))?;
    } else {
        output::print_words(&(said::timed(&got, took) + "\n"))?;
    }
    logged
}

/// Carries out `firstflight put`.
pub(crate) fn put(asked: &Put, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    let (address, path) = target(&asked.to, arguments)?;
    let patience = patience(&asked.timeout, arguments)?;
    let key = asked.key.read(arguments)?;
    let own = asked.file.file_name().and_then(|name| name.to_str());
    let path = path.or_else(|| own.map(str::to_owned)).ok_or_else(|| wrong_target(&asked.to, arguments))?;
    let choices = schemes(asked.schemes.as_deref(), registry, arguments)?;
    let page = asked.drawn.page(&[Input { what: "file", path: &asked.file }], arguments)?;
    let wanted = asked.logs.wanted(LoggedEnd::Sender, asked.drawn.report.is_some(), arguments)?;
    let watchers = Watchers::new(wanted, page.clone())?;
    let interrupt = Interrupt::listen();
    let all: Vec<_> = choices
        .iter()
        .map(|choice| {
            let options = options(choice.clone(), &asked.ends, key.as_ref(), registry, arguments)?;
            Ok(watched(options, &watchers))
        })
        .collect::<Result<_, _>>()?;
    let mut sent_all = Ok(());
    for (choice, options) in choices.iter().zip(&all) {
        let path = if choices.len() > 1 { format!("{path}.{}", choice.name()) } else { path.clone() };
        let progress = Progress::of_bytes();
        let mut count = None;
        let sent = firstflight_udp::files::put(
            || {
                // The previous connection only asked how much of the file exists at the receiver.
                watchers.take_own(address, None);
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
        let heard = watchers.take_own(address, Some(if sent.is_ok() { path.as_str() } else { FAILED }));
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
        if let Err(failure) = said::show_sent(&sent, row.as_ref(), asked.json) {
            sent_all = Err(failure);
            break;
        }
    }
    let written = page.write(&format!("{} sent to {address}", asked.file.display()), arguments);
    let logged = watchers.end().map_or(Ok(()), |error| Err(Failure::write(error)));
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
