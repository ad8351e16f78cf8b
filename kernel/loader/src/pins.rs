//! The files that keep links when the process ends: in the machine's BPF file system or, if none is mounted, in a private one that is
//! unmounted with the last file. Only their owner may enter their folder: another user who could write there could take the name of a
//! scheme before it is pinned.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use libbpf_rs::Link;
use nix::mount::{MntFlags, MsFlags, mount, umount2};

use crate::error::KernelError;
use crate::names;

/// The usual mount point of the BPF file system, and our folder in it.
const SYSTEMS: (&str, &str) = ("/sys/fs/bpf", "/sys/fs/bpf/firstflight");
/// Our own file system of this kind.
const OWN: &str = "/run/firstflight-bpf";

/// The names of the files in the folder of a scheme with a rollout.
pub(crate) const SCHEME: &str = "scheme";
pub(crate) const ROLLOUT: &str = "rollout";

/// Number of attempts to lock, and the time between them: half a minute in total.
const LOOKS: u32 = 6_000;
const LOOK: Duration = Duration::from_millis(5);

/// The lock on the folder of the files. A command holds it while it pins or removes files; the kernel unlocks it when the process ends.
#[derive(Debug)]
pub struct Lock {
    folder: PathBuf,
    was_open: bool,
    _file: File,
}

impl Lock {
    /// Locks the folder, which is created if necessary and which only its owner may enter.
    ///
    /// # Errors
    /// A folder that cannot be created or belongs to another user, another command that holds the lock for half a minute.
    pub fn take() -> Result<Self, KernelError> {
        let mut was_open = false;
        loop {
            let (folder, is_closed_now) = folder()?;
            was_open |= is_closed_now;
            if let Some(file) = locked(&folder, LOOKS)? {
                return Ok(Self { folder, was_open, _file: file });
            }
        }
    }

    /// Locks the folder if there is one of this user; if there is none, no command pins or has pinned anything.
    pub(crate) fn take_if_any() -> Result<Option<Self>, KernelError> {
        let is_any = [SYSTEMS.1, OWN].into_iter().any(is_own);
        is_any.then(Self::take).transpose()
    }

    /// Returns the folder, if others could write there until now.
    pub fn was_open(&self) -> Option<&Path> {
        self.was_open.then_some(&self.folder)
    }

    /// Returns the file for a name.
    pub(crate) fn path_for(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns the folder for the scheme and the rollout of a name. The folder is created.
    pub(crate) fn folder_for(&self, name: &str) -> Result<PathBuf, KernelError> {
        let path = self.path_for(name);
        secure(&path)?;
        Ok(path)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        tidy();
    }
}

/// Locks a folder; `None` if another process removed it meanwhile.
fn locked(folder: &Path, mut looks: u32) -> Result<Option<File>, KernelError> {
    let file = match File::open(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(KernelError::io(folder))?,
    };
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if looks > 0 => {
                looks -= 1;
                sleep(LOOK);
            }
            Err(TryLockError::WouldBlock) => {
                let why = "another `kernel load --pin` or `kernel undo` works there, and does not end";
                return Err(KernelError::system(&folder.display(), &why));
            }
            Err(TryLockError::Error(error)) => return Err(KernelError::io(folder)(error)),
        }
    }
    let own = file.metadata().map_err(KernelError::io(folder))?;
    let is_same = fs::metadata(folder).is_ok_and(|now| (now.dev(), now.ino()) == (own.dev(), own.ino()));
    Ok(is_same.then_some(file))
}

/// Returns the folder of the files, and whether others could write there until now. It is created if necessary.
fn folder() -> Result<(PathBuf, bool), KernelError> {
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
    Ok((path.to_path_buf(), was_open))
}

/// Removes the file of a scheme, or its folder with the files in it; the rollout's first. Missing ones are no error.
pub(crate) fn remove(pinned: &Path) -> Result<(), KernelError> {
    let check = |path: &Path, done: io::Result<()>| match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done.map_err(KernelError::io(path)),
    };
    if !pinned.is_dir() {
        return check(pinned, fs::remove_file(pinned));
    }
    for file in [ROLLOUT, SCHEME].map(|file| pinned.join(file)) {
        check(&file, fs::remove_file(&file))?;
    }
    check(pinned, fs::remove_dir(pinned))
}

/// Returns the number of the link of the rollout that the files in this folder keep.
pub(crate) fn rollout_link(pinned: &Path) -> Option<u32> {
    let link = Link::open(pinned.join(ROLLOUT)).ok()?;
    link.info().ok().map(|info| info.id)
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
            // The lock's descriptor is in it.
            umount2(OWN, MntFlags::MNT_DETACH).ok();
        }
        fs::remove_dir(OWN).ok();
    }
}

/// Returns the files and folders of schemes in a folder; none of a folder that belongs to another user. The kernel may have put other files there.
fn ours(folder: &str) -> impl Iterator<Item = PathBuf> {
    let entries = is_own(folder).then(|| fs::read_dir(folder)).into_iter().flatten().flatten().flatten();
    let entries = entries.map(|entry| entry.path());
    entries.filter(|path| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| names::check(name).is_ok())
    })
}

/// Returns whether the folder exists and belongs to the user of this process.
fn is_own(folder: &str) -> bool {
    let own = nix::unistd::geteuid().as_raw();
    fs::symlink_metadata(folder).is_ok_and(|about| about.is_dir() && about.uid() == own)
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
    fn one_holds_the_lock_and_a_folder_that_was_removed_is_not_locked() {
        let path = place("locked");
        fs::create_dir(&path).unwrap();
        let first = locked(&path, 0).unwrap().expect("it is free");
        let line = locked(&path, 0).unwrap_err().to_string();
        assert!(line.contains("another `kernel load --pin`"), "{line}");
        let waiting = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| locked(&path, LOOKS));
            sleep(Duration::from_millis(50));
            fs::remove_dir(&path).unwrap();
            fs::create_dir(&path).unwrap();
            drop(first);
            waiting.join().unwrap()
        });
        assert!(waiting.unwrap().is_none(), "the folder is another one now");
        assert!(locked(&path, 0).unwrap().is_some());
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
    }

    #[test]
    fn files_and_folders_are_removed_and_what_is_foreign_in_them_is_an_error() {
        let path = place("removed");
        remove(&path).expect("there is nothing");
        fs::write(&path, "").unwrap();
        remove(&path).expect("a file");
        fs::create_dir(&path).unwrap();
        fs::write(path.join(SCHEME), "").unwrap();
        remove(&path).expect("a folder");
        assert!(!path.exists());
        fs::create_dir(&path).unwrap();
        fs::write(path.join("foreign"), "").unwrap();
        assert!(remove(&path).is_err() && path.exists());
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
