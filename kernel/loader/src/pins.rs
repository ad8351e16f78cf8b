//! The files that keep links when the process ends: in the machine's BPF file system or, if none is mounted, in a private one that is
//! unmounted with the last file. Only their owner may enter their folder: another user who could write there could take the name of a
//! scheme before it is pinned.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use libbpf_rs::Link;
use nix::mount::{MsFlags, mount, umount};

use crate::error::KernelError;
use crate::names;

/// The usual mount point of the BPF file system, and our folder in it.
const SYSTEMS: (&str, &str) = ("/sys/fs/bpf", "/sys/fs/bpf/firstflight");
/// Our own file system of this kind.
const OWN: &str = "/run/firstflight-bpf";

/// The names of the files in the folder of a scheme with a rollout.
pub(crate) const SCHEME: &str = "scheme";
pub(crate) const ROLLOUT: &str = "rollout";

/// The file that keeps a scheme, or the folder with the files that keep a scheme and its rollout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pinned {
    /// Its path.
    pub file: PathBuf,
    /// Its folder, if others could write there until now.
    pub was_open: Option<PathBuf>,
}

/// Returns the file for a name, in a folder that is created if necessary and that only its owner may enter.
pub(crate) fn path_for(name: &str) -> Result<Pinned, KernelError> {
    let folder = if is_bpf(SYSTEMS.0) { SYSTEMS.1 } else { OWN };
    let path = Path::new(folder);
    let mut was_open = secure(path)?;
    if folder == OWN && !is_bpf(OWN) {
        mount(Some("bpf"), path, Some("bpf"), MsFlags::empty(), Some("mode=0700")).map_err(|error| {
            tidy();
            KernelError::system(&format!("mount of a BPF file system at {OWN}"), &error)
        })?;
        // The mounted file system has a separate mode.
        was_open |= secure(path)?;
    }
    Ok(Pinned { file: path.join(name), was_open: was_open.then(|| path.to_path_buf()) })
}

/// Returns the folder for the scheme and the rollout of a name. The folder is created.
pub(crate) fn folder_for(name: &str) -> Result<Pinned, KernelError> {
    let pinned = path_for(name)?;
    secure(&pinned.file)?;
    Ok(pinned)
}

/// Removes the file of a scheme, or its folder with the files in it; the rollout's first.
pub(crate) fn remove(pinned: &Path) {
    for file in [ROLLOUT, SCHEME] {
        fs::remove_file(pinned.join(file)).ok();
    }
    fs::remove_dir(pinned).or_else(|_| fs::remove_file(pinned)).ok();
    tidy();
}

/// Returns the files and folders of schemes, by name.
pub(crate) fn by_name() -> BTreeMap<String, PathBuf> {
    let all = [SYSTEMS.1, OWN].into_iter().flat_map(ours);
    all.filter_map(|path| Some((path.file_name()?.to_str()?.to_owned(), path))).collect()
}

/// Creates a folder that only its owner, the user of this process, may enter. An existing folder that others may enter is closed to them.
/// Returns whether others could write there. A folder of another owner, or a file that is no folder, is refused.
fn secure(path: &Path) -> Result<bool, KernelError> {
    match DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(KernelError::io(path)(error));
        }
        _ => {}
    }
    // A link is none of ours, wherever it leads.
    let about = fs::symlink_metadata(path).map_err(KernelError::io(path))?;
    let refuse = |why: String| KernelError::system(&path.display(), &why);
    if !about.is_dir() {
        return Err(refuse("it is no folder, so that nothing is kept there; remove it".to_owned()));
    }
    let own = nix::unistd::geteuid().as_raw();
    if about.uid() != own {
        let uid = about.uid();
        return Err(refuse(format!(
            "it belongs to the user {uid}, so that nothing is kept there; remove it"
        )));
    }
    if about.mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(KernelError::io(path))?;
    }
    Ok(about.mode() & 0o022 != 0)
}

/// Returns the file or folder of each scheme, by the number of the scheme's link.
pub(crate) fn by_link() -> BTreeMap<u32, PathBuf> {
    let mut files = BTreeMap::new();
    for path in by_name().into_values() {
        let file = if path.is_dir() { path.join(SCHEME) } else { path.clone() };
        if let Ok(info) = Link::open(&file).and_then(|link| link.info()) {
            files.insert(info.id, path);
        }
    }
    files
}

/// Removes our folders and file systems that keep nothing. Those in use remain.
pub(crate) fn tidy() {
    fs::remove_dir(SYSTEMS.1).ok();
    if Path::new(OWN).is_dir() && ours(OWN).next().is_none() {
        if is_bpf(OWN) {
            umount(OWN).ok();
        }
        fs::remove_dir(OWN).ok();
    }
}

/// Returns the files and folders of schemes in a folder; none of a folder that belongs to another user. The kernel may have put other files there.
fn ours(folder: &str) -> impl Iterator<Item = PathBuf> {
    let own = nix::unistd::geteuid().as_raw();
    let is_own = fs::symlink_metadata(folder).is_ok_and(|about| about.is_dir() && about.uid() == own);
    let entries = is_own.then(|| fs::read_dir(folder)).into_iter().flatten().flatten().flatten();
    let entries = entries.map(|entry| entry.path());
    entries.filter(|path| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| names::check(name).is_ok())
    })
}

/// Returns whether a BPF file system is mounted there.
fn is_bpf(folder: &str) -> bool {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    mounts.lines().any(|line| {
        let mut words = line.split(' ').skip(1);
        words.next() == Some(folder) && words.next() == Some("bpf")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a path in a folder for this test.
    fn place(name: &str) -> PathBuf {
        let place = std::env::temp_dir().join(format!("firstflight-pins-{}-{name}", std::process::id()));
        fs::remove_dir_all(&place).ok();
        fs::create_dir(&place).unwrap();
        place.join("folder")
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn a_folder_is_made_that_only_its_owner_may_enter() {
        let path = place("made");
        assert!(!secure(&path).unwrap());
        assert_eq!(mode(&path), 0o700);
        assert!(!secure(&path).unwrap(), "it is there already");
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }

    #[test]
    fn a_folder_that_others_may_write_to_is_closed_and_reported() {
        let path = place("open");
        fs::create_dir(&path).unwrap();
        for (before, is_told) in [(0o1777, true), (0o775, true), (0o755, false)] {
            fs::set_permissions(&path, Permissions::from_mode(before)).unwrap();
            assert_eq!((secure(&path).unwrap(), mode(&path)), (is_told, 0o700), "{before:o}");
        }
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }

    #[test]
    fn a_folder_of_another_owner_and_what_is_no_folder_is_refused() {
        let path = place("foreign");
        let line = |path: &Path| secure(path).unwrap_err().to_string();
        fs::write(&path, "").unwrap();
        assert!(line(&path).contains("it is no folder"), "{}", line(&path));
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/", &path).unwrap();
        assert!(line(&path).contains("it is no folder"), "{}", line(&path));
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        if std::os::unix::fs::chown(&path, Some(65_534), None).is_ok() {
            assert!(line(&path).contains("it belongs to the user 65534"), "{}", line(&path));
            assert_eq!(ours(path.to_str().unwrap()).count(), 0);
        } else {
            println!("skipped: a folder of another owner: only root can make one");
        }
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }
}
