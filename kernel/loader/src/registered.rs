//! The schemes that are loaded, and their unloading.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use libbpf_rs::query::{LinkInfoIter, LinkTypeInfo, MapInfo, MapInfoIter};
use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::error::KernelError;
use crate::machine::Layout;
use crate::namespaces::Namespace;
use crate::rollout::{Rolled, rollouts};
use crate::settings::{NAME_ROOM, SECTION, SIZE, Settings, text};
use crate::sockets::sockets;
use crate::{load, machine, names, parameters, pins};

/// A scheme that the kernel has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Registered {
    /// The name of the congestion control.
    pub name: String,
    /// The scheme.
    pub scheme: String,
    /// The parameters that were given, as on the command line.
    pub parameters: String,
    /// The congestion control that takes over at the exit.
    pub handover: String,
    /// The keeper of the scheme.
    pub keeper: Keeper,
    /// Its rollout.
    pub rollout: Option<Rolled>,
    /// Whether a command that was killed left it: its rollout is missing, or does not act. [`undo`] and [`sweep`] remove it.
    pub is_unfinished: bool,
    /// Sockets that use it now, without those that listen, in the network namespaces that this process may enter.
    pub sockets: usize,
    /// Sockets that listen with it.
    pub listeners: usize,
}

/// The keeper of a scheme in the kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Keeper {
    /// A file.
    File(PathBuf),
    /// A process.
    Process(i32),
    /// The kernel itself, before 6.10, until the scheme is unloaded.
    Kernel,
    /// It is no longer registered; sockets that use it, or namespaces whose default it is, still have it.
    Sockets,
    /// A descriptor that no process shows.
    Unknown,
}

/// Returns every scheme of this project in the kernel, by name.
///
/// # Errors
/// Missing rights, a kernel that does not support schemes.
pub fn list() -> Result<Vec<Registered>, KernelError> {
    machine::check_looking()?;
    load::hush();
    let layout = machine::layout()?;
    let maps: Vec<MapInfo> = MapInfoIter::default().collect();
    // The kernel cuts names to fifteen characters.
    let is_settings = |map: &&MapInfo| {
        map.ty == MapType::Array
            && map.value_size as usize == SIZE
            && map.name.to_str().is_some_and(|name| name.len() > 8 && SECTION.starts_with(name))
    };
    let mut settings: Vec<(u32, Settings)> = Vec::new();
    for map in maps.iter().filter(is_settings) {
        settings.extend(value(map.id).and_then(|value| Settings::read(&value)).map(|read| (map.id, read)));
    }
    let links = links();
    let files = pins::by_link();
    let rollouts = rollouts()?;
    let uses = uses();
    let mut found = Vec::new();
    for map in maps.iter().filter(|map| is_operations(map, layout)) {
        let Some(Operations { name, is_in_use }) = operations(map, layout) else { continue };
        // An object's settings are made before its operations.
        let own = settings.iter().filter(|(id, settings)| *id < map.id && settings.name == name);
        let Some((_, own)) = own.max_by_key(|(id, _)| *id) else { continue };
        let keeper = match links.get(&map.id) {
            None if is_in_use => holder("map_id", map.id).map_or(Keeper::Kernel, Keeper::Process),
            None => Keeper::Sockets,
            Some(link) => match files.get(link) {
                Some(file) => Keeper::File(file.clone()),
                None => holder("link_id", *link).map_or(Keeper::Unknown, Keeper::Process),
            },
        };
        let rollout = rollouts.iter().find(|rollout| rollout.name == name).cloned();
        // The folder of a file is for a scheme with a rollout. A process that still pins both holds the link.
        let has_folder = matches!(&keeper, Keeper::File(path) if path.is_dir());
        let is_unfinished = has_folder
            && rollout.as_ref().is_none_or(|rollout| !rollout.is_armed)
            && links.get(&map.id).is_none_or(|link| holder("link_id", *link).is_none());
        let (sockets, listeners) = uses.get(&name).copied().unwrap_or_default();
        found.push(Registered {
            rollout,
            is_unfinished,
            sockets,
            listeners,
            name,
            scheme: own.scheme.clone(),
            parameters: parameters::text(&own.scheme, &own.numbers),
            handover: own.law.clone(),
            keeper,
        });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// The state of the value of a map that is registered without a link: `BPF_STRUCT_OPS_STATE_INUSE`.
const IN_USE: u32 = 1;

/// Number of checks whether a scheme or process has ended, at fixed intervals: three seconds in total.
const LOOKS: u32 = 600;
const LOOK: Duration = Duration::from_millis(5);

/// Unloads the scheme registered as `name`: removes its file, or sends the process that keeps it a request to end.
///
/// # Errors
/// A name that no scheme has, or a scheme with another keeper.
pub fn unload(name: &str) -> Result<(), KernelError> {
    let all = list()?;
    let registered = all.iter().find(|one| one.name == name && one.keeper != Keeper::Sockets);
    let Some(registered) = registered else {
        if all.iter().any(|one| one.name == name) {
            return Err(KernelError::Unregistered { name: name.to_owned() });
        }
        let registered = all.iter().filter(|one| one.keeper != Keeper::Sockets);
        let loaded: Vec<&str> = registered.map(|one| one.name.as_str()).collect();
        let loaded = if loaded.is_empty() {
            "none is loaded".to_owned()
        } else {
            format!("loaded are {}", loaded.join(", "))
        };
        return Err(KernelError::NotLoaded { name: name.to_owned(), loaded });
    };
    let held = |why: &str| KernelError::Held { name: name.to_owned(), why: why.to_owned() };
    match &registered.keeper {
        Keeper::File(path) if path.is_dir() => {
            // First the one write that ends the rollout; what a kill leaves after it is unfinished.
            if let Some(rollout) = &registered.rollout {
                rollout.disarm()?;
            }
            pins::remove(path);
        }
        Keeper::File(file) => {
            fs::remove_file(file).map_err(KernelError::io(file))?;
            pins::tidy();
        }
        Keeper::Process(process) => kill(Pid::from_raw(*process), Signal::SIGTERM)
            .map_err(|error| KernelError::system(&format!("process {process}"), &error))?,
        Keeper::Kernel => unregister(name)?,
        Keeper::Unknown | Keeper::Sockets => {
            return Err(held("no process or file that could be found keeps it"));
        }
    }
    for _ in 0..LOOKS {
        if !names::available()?.iter().any(|other| other == name) {
            return Ok(());
        }
        sleep(LOOK);
    }
    Err(held("what keeps it does not end"))
}

/// Removes what a killed command left of a scheme: files that keep a scheme without a rollout that acts, or nothing. Returns whether there
/// was anything.
///
/// # Errors
/// Missing rights.
pub fn sweep(name: &str) -> Result<bool, KernelError> {
    let is_unfinished = list()?.iter().find(|one| one.name == name).map(|one| one.is_unfinished);
    match (is_unfinished, pins::by_name().get(name)) {
        (Some(true), _) => unload(name).map(|()| true),
        (None, Some(path)) => {
            pins::remove(path);
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// Unloads the scheme of this name, or all schemes, in any state that a killed command left. Returns the names.
///
/// # Errors
/// Missing rights, a name that nothing has, a scheme with a keeper that does not end.
pub fn undo(name: Option<&str>) -> Result<Vec<String>, KernelError> {
    let is_meant = |other: &str| name.is_none_or(|name| name == other);
    let all = list()?;
    let mut undone = Vec::new();
    for one in all.iter().filter(|one| is_meant(&one.name) && one.keeper != Keeper::Sockets) {
        unload(&one.name)?;
        undone.push(one.name.clone());
    }
    for (other, path) in pins::by_name().iter().filter(|(other, _)| is_meant(other)) {
        pins::remove(path);
        undone.push(other.clone());
    }
    match name {
        Some(name) if undone.is_empty() => unload(name).map(|()| vec![name.to_owned()]),
        _ => Ok(undone),
    }
}

/// Returns the numbers of sockets and of listeners of each congestion control, in all network namespaces that this process may enter.
fn uses() -> BTreeMap<String, (usize, usize)> {
    let mut uses: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for namespace in Namespace::every().unwrap_or_default() {
        // A namespace that ended meanwhile has no sockets.
        for socket in namespace.within(sockets).and_then(|found| found).unwrap_or_default() {
            let (connections, listeners) = uses.entry(socket.law).or_default();
            *if socket.listens { listeners } else { connections } += 1;
        }
    }
    uses
}

/// Unregisters what the kernel keeps without a link.
fn unregister(name: &str) -> Result<(), KernelError> {
    let layout = machine::layout()?;
    for map in MapInfoIter::default().filter(|map| is_operations(map, layout)) {
        let Some(Operations { name: own, is_in_use: true }) = operations(&map, layout) else { continue };
        if own == name {
            let error =
                |error: libbpf_rs::Error| KernelError::system(&format!("unregistering {name}"), &error);
            return MapHandle::from_map_id(map.id)
                .and_then(|map| map.delete(&0u32.to_ne_bytes()))
                .map_err(error);
        }
    }
    Ok(())
}

/// Members of the map of a congestion control.
struct Operations {
    name: String,
    /// Whether it is registered without a link.
    is_in_use: bool,
}

fn is_operations(map: &MapInfo, layout: Layout) -> bool {
    map.ty == MapType::StructOps && map.btf_vmlinux_value_type_id == layout.value_type
}

fn operations(map: &MapInfo, layout: Layout) -> Option<Operations> {
    let value = value(map.id)?;
    let name = text(value.get(layout.name..layout.name + NAME_ROOM)?)?;
    let state = value.get(layout.state..layout.state + 4)?.try_into().ok()?;
    Some(Operations { name, is_in_use: u32::from_ne_bytes(state) == IN_USE })
}

/// Returns the value of a map with one entry.
fn value(id: u32) -> Option<Vec<u8>> {
    let map = MapHandle::from_map_id(id).ok()?;
    map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok()?
}

/// Returns the links of congestion controls, by the number of the map.
fn links() -> BTreeMap<u32, u32> {
    let each = LinkInfoIter::default().filter_map(|link| match link.info {
        LinkTypeInfo::StructOps(of) => Some((of.map_id, link.id)),
        _ => None,
    });
    each.collect()
}

/// Returns another process that has a descriptor of the link or map with this number.
fn holder(kind: &str, number: u32) -> Option<i32> {
    let wanted = format!("{kind}:\t{number}");
    let own = std::process::id();
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let processes = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    for process in processes.filter(|process| *process != own) {
        for entry in fs::read_dir(format!("/proc/{process}/fdinfo")).into_iter().flatten().flatten() {
            let info = fs::read_to_string(entry.path()).unwrap_or_default();
            if info.lines().any(|line| line == wanted) {
                return i32::try_from(process).ok();
            }
        }
    }
    None
}
