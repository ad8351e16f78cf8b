//! Carries out the actions of `firstflight kernel`: loads, lists and unloads schemes, and runs programs with them.

use firstflight::registry::Registry;
use firstflight_kernel::{Keeper, Loaded, Order, Registered, Rollout, load_anew, roll_out};
use firstflight_trace::in_a_line;
use serde::Serialize;

use super::choosing::Choice;
use super::notify;
use super::options::{List, Load, Run, Undo, Unload};
use super::quick_start;
use super::rollout::{self, Plan};
use super::tracing::{self, Tracing};
use crate::emulate;
use crate::failure::{Failure, Place};
use crate::interrupt::Interrupt;
use crate::output;

/// Carries out `firstflight kernel load`.
pub(super) fn load(load: &Load, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    if quick_start::is_meant(&load.chosen) {
        return quick_start::load(load, registry, arguments);
    }
    if let Some(name) = &load.interface {
        let message = "--interface: quick-start alone is attached to an interface";
        return Err(Failure::usage(message).at(Place::value(arguments, "--interface", name)));
    }
    let choice = Choice::of(&load.chosen, registry, arguments)?;
    let name = choice.name();
    let plan = Plan::of(&load.rollout, arguments)?;
    let is_policy = registry.scheme(choice.scheme).is_none();
    let joined = if is_policy { " with" } else { ", then" };
    let mut said = format!("{}{joined} {}", choice.scheme, choice.handover.name());
    if let Some(plan) = &plan {
        said = format!("{said}; new connections {plan} get it");
    }
    if load.dry_run {
        firstflight_kernel::check_order(&choice.order(&name)).map_err(Failure::usage)?;
        return rollout::show(&name, &said, plan.as_ref());
    }
    if let Some(warning) = choice.warning() {
        output::note(&[warning]);
    }
    // The command listens before it registers the scheme, so that an interrupt then unloads the scheme.
    let interrupt = Interrupt::listen();
    let (loaded, lock) = load_anew(&choice.order(&name), load.pin).map_err(Failure::usage)?;
    let rollout = plan.map(|plan| roll_out(&name, &plan.scope)).transpose().map_err(Failure::usage)?;
    let said = format!("{name} is registered: {said}");
    if let Some(lock) = lock {
        let interrupted = || Failure::interrupted(format!("interrupted; {name} is not loaded"));
        let pinned = match rollout {
            Some(rollout) => {
                let is_wanted = || !interrupt.happened();
                let folder = rollout.pin(loaded, &lock, is_wanted).map_err(Failure::usage)?;
                Some(folder.ok_or_else(interrupted)?)
            }
            None if interrupt.happened() => return Err(interrupted()),
            None => loaded.pin(&lock).map_err(Failure::usage)?,
        };
        if let Some(folder) = lock.was_open() {
            let folder = folder.display();
            output::note(&[format!(
                "others could write to {folder}, and keep the names of schemes there; now root alone can"
            )]);
        }
        let keeper = pinned.map_or("the kernel".to_owned(), |file| file.display().to_string());
        return output::print_words(&format!(
            "{said}; {keeper} keeps it until `firstflight kernel undo {name}`\n"
        ));
    }
    rollout.as_ref().map_or(Ok(()), Rollout::arm).map_err(Failure::usage)?;
    output::print_words(&format!("{said}; until this command ends (Ctrl-C)\n"))?;
    notify::ready(&said);
    interrupt.wait();
    // First the rollout ends, so that no connection is to get what is no longer registered.
    drop(rollout);
    Ok(())
}

/// Carries out `firstflight kernel run`.
pub(super) fn run(run: &Run, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    if quick_start::is_meant(&run.chosen) {
        return quick_start::run(run, registry, arguments);
    }
    let choice = Choice::of(&run.chosen, registry, arguments)?;
    if let Some(folder) = &run.trace {
        tracing::check(folder)?;
    }
    let load = || {
        let name = choice.free_name().map_err(Failure::usage)?;
        let order = Order { is_traced: run.trace.is_some(), ..choice.order(&name) };
        let loaded = firstflight_kernel::load(&order).map_err(Failure::usage)?;
        let kept = match &run.trace {
            Some(folder) => Kept::Traced(Tracing::begin(loaded), folder),
            None => Kept::Loaded(loaded),
        };
        Ok((name, kept))
    };
    emulate::emulate_with(&run.emulate, registry, arguments, load, |kept| match kept {
        Kept::Traced(tracing, folder) => tracing.write(&choice.alone, folder),
        Kept::Loaded(loaded) => {
            drop(loaded);
            Ok(())
        }
    })
}

/// A scheme that stays loaded until a run has ended.
enum Kept<'a> {
    Loaded(Loaded),
    Traced(Tracing, &'a std::path::Path),
}

/// Carries out `firstflight kernel unload`.
pub(super) fn unload(unload: &Unload) -> Result<(), Failure> {
    firstflight_kernel::unload(&unload.name).map_err(Failure::usage)?;
    output::print_words(&format!("{} is unloaded\n", unload.name))
}

/// Carries out `firstflight kernel undo`.
pub(super) fn undo(undo: &Undo) -> Result<(), Failure> {
    let undone = firstflight_kernel::undo(undo.name.as_deref()).map_err(Failure::usage)?;
    let mut lines: Vec<String> = undone.names.iter().map(|name| format!("{name} is unloaded\n")).collect();
    for (name, process) in &undone.kept {
        lines.push(format!(
            "{name} is kept by process {process}, which is no `kernel load`; `undo {name}` ends it\n"
        ));
    }
    if lines.is_empty() && undone.errors.is_empty() {
        lines.push("No scheme is loaded.\n".to_owned());
    }
    output::print_words(&lines.concat())?;
    rollout::warn_of_defaults(undo.name.as_deref(), &undone.kept)?;
    let errors: Vec<String> = undone.errors.iter().map(ToString::to_string).collect();
    if errors.is_empty() { Ok(()) } else { Err(Failure::usage(errors.join("; "))) }
}

/// A loaded scheme, as `--json` prints it.
#[derive(Serialize)]
struct Line<'a> {
    name: &'a str,
    scheme: &'a str,
    params: &'a str,
    handover: &'a str,
    /// The holder of the scheme's registration: a file, a process, the kernel itself, only sockets, or unknown.
    kept_by: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<i32>,
    /// Sockets that use the scheme now, and those that listen with it; null if not all network namespaces are seen.
    sockets: Option<usize>,
    listeners: Option<usize>,
    /// Whether a killed command left it.
    unfinished: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    rollout: Option<rollout::Line>,
}

/// Carries out `firstflight kernel list`.
pub(super) fn list(list: &List) -> Result<(), Failure> {
    let all = firstflight_kernel::list().map_err(Failure::usage)?;
    if list.json {
        let lines: Vec<Line<'_>> = all.iter().map(Line::of).collect();
        let mut out = Vec::new();
        firstflight_export::json::write_lines(&mut out, &lines).map_err(Failure::write)?;
        return output::print_bytes(&out);
    }
    output::print(&table(&all))?;
    let can: Vec<&str> = firstflight_kernel::schemes().collect();
    let can = if can.is_empty() { "none: this program has no objects".to_owned() } else { can.join(", ") };
    output::print_words(&format!("Can be loaded: {can}\n"))
}

impl<'a> Line<'a> {
    fn of(one: &'a Registered) -> Self {
        let (kept_by, file, process) = match &one.keeper {
            Keeper::File(file) => ("file", Some(file.display().to_string()), None),
            Keeper::Process(process) => ("process", None, Some(*process)),
            Keeper::Kernel => ("kernel", None, None),
            Keeper::Sockets => ("sockets", None, None),
            Keeper::Unknown => ("unknown", None, None),
        };
        let Registered { name, scheme, parameters, handover, sockets, listeners, is_unfinished, .. } = one;
        Self {
            name,
            scheme,
            params: parameters,
            handover,
            kept_by,
            file,
            process,
            sockets: *sockets,
            listeners: *listeners,
            unfinished: *is_unfinished,
            rollout: one.rollout.as_ref().map(rollout::Line::of),
        }
    }
}

fn table(all: &[Registered]) -> String {
    if all.is_empty() {
        return "No scheme is loaded.\n".to_owned();
    }
    let scheme = |one: &Registered| match one.parameters.as_str() {
        "" => one.scheme.clone(),
        parameters => format!("{}:{parameters}", one.scheme),
    };
    let wide = all.iter().map(|one| scheme(one).len()).chain([6]).max().unwrap_or(0);
    let mut out = format!("{:<15}  {:<wide$}  {:<8}  sockets  kept by\n", "name", "scheme", "handover");
    for one in all {
        let keeper = match &one.keeper {
            _ if one.is_unfinished => "a killed command left it; `kernel undo` removes it".to_owned(),
            Keeper::File(file) => file.display().to_string(),
            Keeper::Process(process) => format!("process {process}"),
            Keeper::Kernel => "the kernel, until it is unloaded".to_owned(),
            Keeper::Sockets => "sockets or namespaces alone; not registered any more".to_owned(),
            Keeper::Unknown => "a descriptor of a process that is not seen".to_owned(),
        };
        let sockets = one.sockets.map_or("-".to_owned(), |count| count.to_string());
        let (name, handover) = (&one.name, &one.handover);
        let line = format!("{name:<15}  {:<wide$}  {handover:<8}  {sockets:>7}  {keeper}", scheme(one));
        out.extend([in_a_line(&line), "\n".to_owned()]);
        if let Some(rollout) = &one.rollout {
            out += &rollout::lines(rollout);
        }
    }
    out
}
