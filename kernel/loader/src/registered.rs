//! The schemes that are loaded, and their unloading.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use libbpf_rs::query::{LinkInfoIter, LinkTypeInfo, MapInfo, MapInfoIter};
use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::error::KernelError;
use crate::load::{Loaded, Order};
use crate::machine::Layout;
use crate::namespaces::Namespace;
use crate::pins::Lock;
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
    /// Whether a command that was killed left it: its rollout is missing, or does not act. [`undo`] and [`load_anew`] remove it.
    pub is_unfinished: bool,
    /// Sockets that use it now, without those that listen, in all network namespaces; `None` if some are not seen.
    pub sockets: Option<usize>,
    /// Sockets that listen with it.
    pub listeners: Option<usize>,
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
        let mut rollout = rollouts.iter().find(|rollout| rollout.name == name).cloned();
        // The folder of a file is for a scheme with a rollout. A process that still pins both holds the link.
        let has_folder = matches!(&keeper, Keeper::File(path) if path.is_dir());
        let is_armed = |rollout: &Option<Rolled>| rollout.as_ref().is_some_and(|rollout| rollout.is_armed);
        let mut is_unfinished = has_folder
            && !is_armed(&rollout)
            && links.get(&map.id).is_none_or(|link| holder("link_id", *link).is_none());
        if is_unfinished {
            // The process may have ended after its last write, which was made after the rollouts were listed above.
            rollout = self::rollouts()?.into_iter().find(|rollout| rollout.name == name);
            is_unfinished = !is_armed(&rollout);
        }
        let uses = uses.as_ref().map(|uses| uses.get(&name).copied().unwrap_or_default());
        let (sockets, listeners) = uses.unzip();
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

/// Loads a scheme, after it removed what a killed command left of its name. If it is to be pinned, it also returns the lock for that.
///
/// # Errors
/// As [`crate::load`], and as [`Lock::take`].
pub fn load_anew(order: &Order<'_>, is_pinned: bool) -> Result<(Loaded, Option<Lock>), KernelError> {
    match load::check_order(order) {
        Ok(()) | Err(KernelError::Taken { .. }) => {}
        Err(error) => return Err(error),
    }
    let mut lock = is_pinned.then(Lock::take).transpose()?;
    let loaded = match load::load(order) {
        Err(error @ KernelError::Taken { .. }) => {
            if lock.is_none() {
                lock = Lock::take_if_any()?;
            }
            if lock.is_none() || !sweep(order.name).unwrap_or(false) {
                return Err(error);
            }
            load::load(order)?
        }
        loaded => loaded?,
    };
    // The name was free, so that files with this name are of what is no longer registered.
    if let Some(path) = pins::by_name().get(order.name) {
        if lock.is_none() {
            lock = Lock::take_if_any()?;
        }
        clear(path)?;
    }
    Ok((loaded, lock.filter(|_| is_pinned)))
}

/// Unloads the scheme registered as `name`: removes its file, or sends the process that keeps it a request to end.
///
/// # Errors
/// A name that no scheme has, or a scheme with another keeper.
pub fn unload(name: &str) -> Result<(), KernelError> {
    let _lock = Lock::take_if_any()?;
    unload_locked(name)
}

fn unload_locked(name: &str) -> Result<(), KernelError> {
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
    take_down(registered)
}

/// Ends what keeps a scheme, and waits until the scheme is no longer registered.
fn take_down(registered: &Registered) -> Result<(), KernelError> {
    let name = registered.name.as_str();
    match &registered.keeper {
        Keeper::File(path) => clear(path)?,
        Keeper::Process(process) => kill(Pid::from_raw(*process), Signal::SIGTERM)
            .map_err(|error| KernelError::system(&format!("process {process}"), &error))?,
        Keeper::Kernel => unregister(name)?,
        Keeper::Unknown | Keeper::Sockets => {
            return Err(held(name, "no process or file that could be found keeps it"));
        }
    }
    gone(name)
}

fn held(name: &str, why: &str) -> KernelError {
    KernelError::Held { name: name.to_owned(), why: why.to_owned() }
}

/// Waits until no scheme of this name is registered.
fn gone(name: &str) -> Result<(), KernelError> {
    for _ in 0..LOOKS {
        if !names::available()?.iter().any(|other| other == name) {
            return Ok(());
        }
        sleep(LOOK);
    }
    Err(held(name, "what keeps it does not end"))
}

/// Removes the files of a scheme. Before that, one write ends the rollout that they keep; what a kill leaves after it is unfinished.
fn clear(path: &Path) -> Result<(), KernelError> {
    if let Some(link) = pins::rollout_link(path) {
        for rollout in rollouts()?.iter().filter(|rollout| rollout.link == link) {
            rollout.disarm()?;
        }
    }
    pins::remove(path)
}

/// Returns whether a process is one of `kernel load`.
fn is_load(process: i32) -> bool {
    let words = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let mut words = words.split(|byte| *byte == 0).skip(1).skip_while(|word| *word != b"kernel");
    words.next().is_some() && words.next() == Some(b"load")
}

/// Removes what a killed command left of a scheme: files that keep a scheme without a rollout that acts, or nothing. Returns whether there
/// was anything. The caller holds the lock, so that no other process pins or removes these files.
fn sweep(name: &str) -> Result<bool, KernelError> {
    let all = list()?;
    let is_it = |one: &&Registered| one.name == name && one.keeper != Keeper::Sockets;
    let path = match all.iter().find(is_it) {
        Some(Registered { is_unfinished: true, keeper: Keeper::File(path), .. }) => Some(path.clone()),
        Some(_) => None,
        None => pins::by_name().remove(name),
    };
    let Some(path) = path else { return Ok(false) };
    clear(&path)?;
    gone(name).map(|()| true)
}

/// What [`undo`] did.
#[derive(Default, Debug)]
pub struct Undone {
    /// The names that were unloaded.
    pub names: Vec<String>,
    /// Schemes of processes that are no `kernel load`, with the process. They remain if no name was given.
    pub kept: Vec<(String, i32)>,
    /// The errors of names that were not.
    pub errors: Vec<KernelError>,
}

/// Unloads the scheme of this name, or the schemes of `kernel load`, in any state that a killed command left. An error at one name does not
/// keep it from the others.
///
/// # Errors
/// Missing rights, a name that nothing has.
pub fn undo(name: Option<&str>) -> Result<Undone, KernelError> {
    let lock = Lock::take_if_any()?;
    let is_meant = |other: &str| name.is_none_or(|name| name == other);
    let mut undone = Undone::default();
    let mut failed: Vec<String> = Vec::new();
    let mut note = |undone: &mut Undone, other: &str, done: Result<(), KernelError>| match done {
        // Each name once.
        Err(_) if failed.iter().any(|name| name == other) => {}
        Err(error) => {
            undone.errors.push(error);
            failed.push(other.to_owned());
        }
        Ok(()) if undone.names.iter().any(|name| name == other) => {}
        Ok(()) => undone.names.push(other.to_owned()),
    };
    for one in list()?.iter().filter(|one| is_meant(&one.name) && one.keeper != Keeper::Sockets) {
        match one.keeper {
            Keeper::Process(process) if name.is_none() && !is_load(process) => {
                undone.kept.push((one.name.clone(), process));
            }
            _ => note(&mut undone, &one.name, take_down(one)),
        }
    }
    // Files without a scheme. Without the lock they are those of a command that began after this one.
    let files = if lock.is_some() { pins::by_name() } else { BTreeMap::new() };
    for (other, path) in files.iter().filter(|(other, _)| is_meant(other)) {
        let cleared = clear(path);
        if cleared.is_err() || undone.kept.iter().all(|(name, _)| name != other) {
            note(&mut undone, other, cleared.and_then(|()| gone(other)));
        }
    }
    match name {
        Some(name) if undone.names.is_empty() && undone.errors.is_empty() => {
            unload_locked(name)?;
            undone.names.push(name.to_owned());
        }
        _ => {}
    }
    Ok(undone)
}

/// Returns the numbers of sockets and of listeners of each congestion control, in all network namespaces; `None` if one of them cannot be
/// looked at.
fn uses() -> Option<BTreeMap<String, (usize, usize)>> {
    let mut uses: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for namespace in Namespace::every().ok()? {
        for socket in namespace.within(sockets).and_then(|found| found).ok()? {
            let (connections, listeners) = uses.entry(socket.law).or_default();
            *if socket.listens { listeners } else { connections } += 1;
        }
    }
    Some(uses)
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
