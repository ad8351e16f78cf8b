//! Rollouts: a program at a cgroup that sets a scheme as the congestion control of new connections. It is a link, which the kernel removes
//! with the process, or which a file keeps together with the scheme.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use libbpf_rs::query::{LinkInfoIter, LinkTypeInfo, ProgInfoIter, ProgInfoQueryOptions};
use libbpf_rs::{Link, MapCore, MapFlags, MapHandle, Object, ObjectBuilder, ProgramType};

use crate::error::KernelError;
use crate::load::{Loaded, hush, refused, root};
use crate::peers::{Prefix, Share};
use crate::pins::{self, Lock};
use crate::quick_start::cgroup;
use crate::settings::{NAME_ROOM, put, text};
use crate::{machine, objects};

/// Name in messages, of the object and of its program.
const WHAT: &str = "rollout";
/// The section of the settings.
const SETTINGS: &str = ".rodata.rollout";
const STATE: &str = "state";
const PREFIXES: &str = "prefixes";
// `settings` of kernel/bpf/c/rollout.bpf.c: where its members begin.
const NAMESPACE: usize = NAME_ROOM;
const FIRST: usize = NAMESPACE + 8;
const COUNT: usize = FIRST + 4;
const LENGTH: usize = COUNT + 4;
const LABEL: usize = LENGTH + 8;
const SIZE: usize = LABEL + 64;
/// Words of the map `state`: whether it acts, then counts of connections.
const ARMED: u32 = 0;
const GIVEN: u32 = 1;
const OWN: u32 = 2;
const REFUSED: u32 = 3;

/// The connections that get a scheme. All conditions must hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scope {
    /// Prefixes of peers, of which one must hold; all peers if there is none.
    pub to: Vec<Prefix>,
    /// The number of the network namespace; all of them if `None`.
    pub namespace: Option<u64>,
    /// The path of the network namespace; empty if it is the loader's own.
    pub label: String,
    /// The cgroup whose processes open the connections or listen for them; all processes if `None`.
    pub cgroup: Option<PathBuf>,
    /// The share of the peers.
    pub share: Share,
}

/// The one of two rollouts that decides about a connection for which both are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Precedence {
    /// The later one, because its cgroup is in the other's.
    Later,
    /// The earlier one.
    Earlier,
}

impl Scope {
    /// Returns which of two rollouts decides where both match, if this one is later; `None` if no connection can be in both.
    pub fn precedence(&self, earlier: &Self) -> Option<Precedence> {
        // No cgroup is the root, in which all others are.
        let path = |scope: &Self| scope.cgroup.clone().unwrap_or_default();
        let (own, other) = (path(self), path(earlier));
        let is_inside = |inner: &Path, outer: &Path| outer.as_os_str().is_empty() || inner.starts_with(outer);
        match (is_inside(&other, &own), is_inside(&own, &other)) {
            _ if !self.overlaps(earlier) => None,
            (true, _) => Some(Precedence::Earlier),
            (false, true) => Some(Precedence::Later),
            (false, false) => None,
        }
    }

    /// Returns whether a connection can be in both scopes, as far as peers and namespaces say.
    fn overlaps(&self, other: &Self) -> bool {
        let to = |a: &[Prefix], b: &[Prefix]| {
            a.is_empty() || b.is_empty() || a.iter().any(|a| b.iter().any(|b| a.overlaps(*b)))
        };
        let namespaces = self.namespace.zip(other.namespace);
        namespaces.is_none_or(|(a, b)| a == b) && to(&self.to, &other.to) && self.share.overlaps(other.share)
    }
}

/// A rollout, as long as this value lives or a file keeps it.
pub struct Rollout {
    link: Link,
    object: Object,
}

impl fmt::Debug for Rollout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rollout").finish_non_exhaustive()
    }
}

/// A rollout that the kernel has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rolled {
    /// The name of the congestion control.
    pub name: String,
    /// Its connections. The cgroup is `None` for the root.
    pub scope: Scope,
    /// Whether its last write was made. A rollout without it is one that a killed command left.
    pub is_armed: bool,
    /// Whether its cgroup was removed, with which it ended.
    pub is_gone: bool,
    /// Connections that got the congestion control.
    pub given: u64,
    /// Connections that kept the choice of their program, or of an earlier rollout.
    pub own: u64,
    /// Connections that the kernel refused to change: a route locks theirs, or the scheme is not registered.
    pub refused: u64,
    state: u32,
    pub(crate) link: u32,
}

impl Rolled {
    /// Returns whether connections get the scheme.
    pub fn acts(&self) -> bool {
        self.is_armed && !self.is_gone
    }
}

/// Returns the folder of a cgroup from its path: in the file system, or from the root of cgroup2 on, as systemd writes it. `None` is the
/// root.
///
/// # Errors
/// No cgroup2, no such cgroup.
pub fn cgroup_at(path: &Path) -> Result<Option<PathBuf>, KernelError> {
    let root = cgroup()?;
    let inside = root.join(path.strip_prefix("/").unwrap_or(path));
    let is_one = |folder: &Path| folder.starts_with(&root) && folder.join("cgroup.procs").is_file();
    let found = [path.to_path_buf(), inside].into_iter().filter_map(|path| path.canonicalize().ok());
    match found.into_iter().find(|path| is_one(path)) {
        Some(found) => Ok((found != root).then_some(found)),
        None => Err(KernelError::NoSuchCgroup { path: path.to_path_buf(), root }),
    }
}

/// Attaches a rollout of the congestion control `name`. It acts after [`Rollout::arm`].
///
/// # Errors
/// Missing rights, no cgroup2, more prefixes than the map has room for, a refusal by the verifier.
pub fn roll_out(name: &str, scope: &Scope) -> Result<Rollout, KernelError> {
    machine::check_rights()?;
    let group = scope.cgroup.clone().map_or_else(cgroup, Ok)?;
    hush();
    let mut open = ObjectBuilder::default()
        .open_memory(objects::other(WHAT)?)
        .map_err(|error| KernelError::system(&"the object of rollouts", &error))?;
    let mut map = open.maps_mut().find(|map| map.name() == SETTINGS).ok_or(KernelError::Foreign)?;
    write(map.initial_value_mut().ok_or(KernelError::Foreign)?, name, scope)?;
    let object = open.load().map_err(|error| refused(WHAT, &error))?;
    let failed = |what: &str| {
        let what = what.to_owned();
        move |error: libbpf_rs::Error| KernelError::system(&what, &root(&error))
    };
    let prefixes = object.maps().find(|map| map.name() == PREFIXES).ok_or(KernelError::Foreign)?;
    for prefix in &scope.to {
        prefixes
            .update(&prefix.key(), &1u32.to_ne_bytes(), MapFlags::ANY)
            .map_err(failed(&prefix.to_string()))?;
    }
    let file = File::open(&group).map_err(KernelError::io(&group))?;
    let link = {
        let program = object.progs_mut().find(|program| program.name() == WHAT);
        let link = program.ok_or(KernelError::Foreign)?.attach_cgroup(file.as_raw_fd());
        link.map_err(failed(&group.display().to_string()))?
    };
    Ok(Rollout { link, object })
}

impl Rollout {
    /// Makes the rollout act, with one write: from then on new connections get the scheme.
    ///
    /// # Errors
    /// A map that cannot be written.
    pub fn arm(&self) -> Result<(), KernelError> {
        let state = self.object.maps().find(|map| map.name() == STATE).ok_or(KernelError::Foreign)?;
        set(&state, 1)
    }

    /// Pins the scheme and the rollout to files in one folder, so that both outlive this process, and makes the rollout act if it is wanted
    /// then; otherwise nothing remains. If the process is killed before that, the files keep what acts on no connection; [`crate::undo`]
    /// removes them. Returns the folder.
    ///
    /// # Errors
    /// A file that cannot be created; nothing then remains.
    pub fn pin(
        mut self,
        mut scheme: Loaded,
        lock: &Lock,
        is_wanted: impl FnOnce() -> bool,
    ) -> Result<Option<PathBuf>, KernelError> {
        let folder = lock.folder_for(scheme.name())?;
        let both = scheme.pin_to(&folder.join(pins::SCHEME));
        let both = both.and_then(|()| {
            let file = folder.join(pins::ROLLOUT);
            self.link.pin(&file).map_err(|error| KernelError::system(&file.display(), &root(&error)))
        });
        let acts = both.and_then(|()| {
            let is_wanted = is_wanted();
            if is_wanted {
                self.arm()?;
            }
            Ok(is_wanted)
        });
        if !matches!(acts, Ok(true)) {
            pins::remove(&folder)?;
        }
        Ok(acts?.then_some(folder))
    }
}

fn set(state: &impl MapCore, is_armed: u64) -> Result<(), KernelError> {
    state
        .update(&ARMED.to_ne_bytes(), &is_armed.to_ne_bytes(), MapFlags::ANY)
        .map_err(|error| KernelError::system(&"the state of the rollout", &root(&error)))
}

/// Writes the settings.
fn write(block: &mut [u8], name: &str, scope: &Scope) -> Result<(), KernelError> {
    if block.len() != SIZE {
        return Err(KernelError::Foreign);
    }
    put(&mut block[..NAMESPACE], name)?;
    block[NAMESPACE..FIRST].copy_from_slice(&scope.namespace.unwrap_or(0).to_ne_bytes());
    block[FIRST..COUNT].copy_from_slice(&scope.share.first.to_ne_bytes());
    block[COUNT..LENGTH].copy_from_slice(&scope.share.count.to_ne_bytes());
    let length = u32::try_from(scope.to.len()).unwrap_or(u32::MAX);
    block[LENGTH..LENGTH + 4].copy_from_slice(&length.to_ne_bytes());
    // Only people read it: a longer one is cut off.
    let mut end = scope.label.len().min(SIZE - LABEL - 1);
    while !scope.label.is_char_boundary(end) {
        end -= 1;
    }
    put(&mut block[LABEL..], &scope.label[..end])
}

/// Reads the settings: the name, and the scope without prefixes and cgroup.
fn read(block: &[u8]) -> Option<(String, Scope)> {
    let block: &[u8; SIZE] = block.try_into().ok()?;
    let number = |at: usize| u32::from_ne_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]]);
    let namespace = u64::from_ne_bytes(block[NAMESPACE..FIRST].try_into().ok()?);
    let scope = Scope {
        to: Vec::new(),
        namespace: (namespace > 0).then_some(namespace),
        label: text(&block[LABEL..])?,
        cgroup: None,
        share: Share { first: number(FIRST), count: number(COUNT) },
    };
    Some((text(&block[..NAMESPACE])?, scope))
}

/// Returns every rollout in the kernel, in the order in which they were attached.
///
/// # Errors
/// Missing rights.
pub fn rollouts() -> Result<Vec<Rolled>, KernelError> {
    machine::check_looking()?;
    hush();
    let options = ProgInfoQueryOptions::default().include_map_ids(true);
    let programs: BTreeMap<u32, Vec<u32>> = ProgInfoIter::with_query_opts(options)
        .filter(|program| program.ty == ProgramType::SockOps && program.name == WHAT)
        .map(|program| (program.id, program.map_ids))
        .collect();
    let links = LinkInfoIter::default().filter_map(|link| match link.info {
        LinkTypeInfo::Cgroup(of) => Some((link.id, programs.get(&link.prog_id)?, of.cgroup_id)),
        _ => None,
    });
    let mut links: Vec<_> = links.collect();
    links.sort_unstable();
    Ok(links.into_iter().filter_map(|(link, maps, group)| rolled(link, maps, group)).collect())
}

fn rolled(link: u32, maps: &[u32], group: u64) -> Option<Rolled> {
    let maps: Vec<(u32, MapHandle)> =
        maps.iter().filter_map(|id| Some((*id, MapHandle::from_map_id(*id).ok()?))).collect();
    let map = |name: &str| maps.iter().find(|(_, map)| map.name() == name);
    let block = map(SETTINGS)?.1.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok()??;
    let (name, mut scope) = read(&block)?;
    scope.to = map(PREFIXES)?.1.keys().filter_map(|key| Prefix::from_key(&key)).collect();
    scope.to.sort_unstable();
    // The kernel detaches a program from a cgroup that is removed, and then shows no number.
    let is_gone = group == 0;
    scope.cgroup = if is_gone { Some(PathBuf::from("a removed cgroup")) } else { path_of(group) };
    let (state, words) = map(STATE)?;
    let word = |which: u32| {
        let word = words.lookup(&which.to_ne_bytes(), MapFlags::ANY).ok()??;
        Some(u64::from_ne_bytes(word.try_into().ok()?))
    };
    Some(Rolled {
        name,
        scope,
        is_armed: word(ARMED)? != 0,
        is_gone,
        given: word(GIVEN)?,
        own: word(OWN)?,
        refused: word(REFUSED)?,
        state: *state,
        link,
    })
}

impl Rolled {
    /// Makes the rollout act no more, with one write.
    ///
    /// # Errors
    /// A map that cannot be written.
    pub(crate) fn disarm(&self) -> Result<(), KernelError> {
        let map = MapHandle::from_map_id(self.state);
        set(&map.map_err(|error| KernelError::system(&"the state of the rollout", &root(&error)))?, 0)
    }
}

/// Returns the folder of the cgroup with this number; `None` for the root.
fn path_of(number: u64) -> Option<PathBuf> {
    let root = cgroup().ok();
    let mut rest: Vec<PathBuf> = root.iter().cloned().collect();
    while let Some(folder) = rest.pop() {
        if fs::metadata(&folder).is_ok_and(|about| about.ino() == number) {
            return (Some(&folder) != root.as_ref()).then_some(folder);
        }
        rest.extend(folders(&folder));
    }
    // It is outside of what is mounted here.
    Some(PathBuf::from(format!("cgroup number {number}")))
}

/// Returns the numbers of a cgroup and of those in it.
pub fn cgroups_in(folder: &Path) -> Vec<u64> {
    let mut numbers: Vec<u64> = fs::metadata(folder).map(|about| about.ino()).into_iter().collect();
    numbers.extend(folders(folder).iter().flat_map(|inner| cgroups_in(inner)));
    numbers
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let entries = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    entries.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(to: &[&str], namespace: Option<u64>, share: Share) -> Scope {
        let to = to.iter().map(|prefix| prefix.parse().expect("a prefix")).collect();
        Scope { to, namespace, label: "/run/netns/a".to_owned(), cgroup: None, share }
    }

    #[test]
    fn settings_are_read_as_they_were_written_and_a_long_path_is_cut_off() {
        let mut block = [0xff; SIZE];
        let one = scope(&[], Some(u64::MAX), Share { first: 50_000, count: 950_000 });
        write(&mut block, "ff_hystart_lnx", &one).expect("they fit");
        assert_eq!(read(&block), Some(("ff_hystart_lnx".to_owned(), one.clone())));
        let long = Scope { label: "é".repeat(50), ..one };
        write(&mut block, "ff_x", &long).expect("they fit");
        assert_eq!(read(&block).expect("settings").1.label, "é".repeat(31));
        assert!(write(&mut block[1..], "ff_x", &long).is_err() && read(&block[1..]).is_none());
    }

    #[test]
    fn scopes_overlap_if_peers_shares_and_namespaces_do() {
        let (low, high) = (Share { first: 0, count: 50_000 }, Share { first: 50_000, count: 50_000 });
        let one = scope(&["10.0.0.0/8"], Some(1), low);
        for (other, both) in [
            (scope(&[], None, Share::ALL), true),
            (scope(&["10.1.0.0/16"], Some(1), low), true),
            (scope(&["11.0.0.0/8"], Some(1), low), false),
            (scope(&["10.1.0.0/16"], Some(2), low), false),
            (scope(&["10.1.0.0/16"], Some(1), high), false),
        ] {
            assert_eq!((one.overlaps(&other), other.overlaps(&one)), (both, both), "{other:?}");
        }
    }

    #[test]
    fn of_two_rollouts_that_at_the_inner_cgroup_decides_then_the_earlier() {
        let at = |path: &str| {
            let all = scope(&[], None, Share::ALL);
            Scope { cgroup: (!path.is_empty()).then(|| path.into()), ..all }
        };
        for (later, earlier, wanted) in [
            ("", "", Some(Precedence::Earlier)),
            ("/a", "/a", Some(Precedence::Earlier)),
            ("/a", "/a/b", Some(Precedence::Earlier)),
            ("", "/a", Some(Precedence::Earlier)),
            ("/a/b", "/a", Some(Precedence::Later)),
            ("/a", "", Some(Precedence::Later)),
            ("/a", "/ab", None),
            ("/a/b", "/a/c", None),
        ] {
            assert_eq!(at(later).precedence(&at(earlier)), wanted, "{later} {earlier}");
        }
        let other = Scope { share: Share { first: 0, count: 1 }, ..at("/a") };
        assert_eq!(Scope { share: Share { first: 1, count: 1 }, ..at("/a/b") }.precedence(&other), None);
    }
}
