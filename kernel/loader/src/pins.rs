//! The files that keep links when the process ends: in the machine's BPF file system, or, where none is mounted, in one of our
//! own that is unmounted with the last file.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use libbpf_rs::Link;
use nix::mount::{MsFlags, mount, umount};

use crate::error::KernelError;
use crate::names;

/// Where systems have their BPF file system, and our folder in it.
const SYSTEMS: (&str, &str) = ("/sys/fs/bpf", "/sys/fs/bpf/firstflight");
/// Our own file system of this kind.
const OWN: &str = "/run/firstflight-bpf";

/// The file for a name, in a folder that is there afterwards.
pub(crate) fn path_for(name: &str) -> Result<PathBuf, KernelError> {
    let folder = if is_bpf(SYSTEMS.0) { SYSTEMS.1 } else { OWN };
    let path = Path::new(folder);
    fs::create_dir_all(path).map_err(KernelError::io(path))?;
    if folder == OWN && !is_bpf(OWN) {
        let none: Option<&str> = None;
        mount(Some("bpf"), path, Some("bpf"), MsFlags::empty(), none).map_err(|error| {
            tidy();
            KernelError::system(&format!("mount of a BPF file system at {OWN}"), &error)
        })?;
    }
    Ok(path.join(name))
}

/// The files by the number of the link that they keep.
pub(crate) fn by_link() -> BTreeMap<u32, PathBuf> {
    let mut files = BTreeMap::new();
    for folder in [SYSTEMS.1, OWN] {
        for entry in ours(folder) {
            if let Ok(info) = Link::open(&entry).and_then(|link| link.info()) {
                files.insert(info.id, entry);
            }
        }
    }
    files
}

/// Removes folders and file systems of ours that keep nothing. What is in use stays.
pub(crate) fn tidy() {
    fs::remove_dir(SYSTEMS.1).ok();
    if Path::new(OWN).is_dir() && ours(OWN).next().is_none() {
        if is_bpf(OWN) {
            umount(OWN).ok();
        }
        fs::remove_dir(OWN).ok();
    }
}

/// The files of a folder that keep links. The kernel may have put files of its own beside them.
fn ours(folder: &str) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| names::check(name).is_ok())
    })
}

/// Whether a BPF file system is mounted there.
fn is_bpf(folder: &str) -> bool {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    mounts.lines().any(|line| {
        let mut words = line.split(' ').skip(1);
        words.next() == Some(folder) && words.next() == Some("bpf")
    })
}
