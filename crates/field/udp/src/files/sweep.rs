//! Removes the parts that earlier transfers left in a folder.

use std::fs::File;
use std::time::SystemTime;

use rustix::fs::{AtFlags, Dir, FileType, FlockOperation, Mode, OFlags};

use crate::files::error::TransferError;
use crate::files::folder::{Folder, check};
use crate::files::part::{is_named, target_of};
use crate::files::quota::Quota;

impl Folder {
    /// Removes the parts below the folder that were last written before `before`, and charges the remaining parts to `quota`. A part is a
    /// regular file that has the name of a part and that no transfer is writing. Returns the paths of the files whose parts were removed.
    ///
    /// # Errors
    /// The folder itself cannot be read. Contents that cannot be read remain.
    pub fn sweep(&self, before: SystemTime, quota: &Quota) -> Result<Vec<String>, TransferError> {
        let (mut folders, mut removed) = (vec![String::new()], Vec::new());
        let mut is_first = true;
        while let Some(folder) = folders.pop() {
            let place = match self.folder(if folder.is_empty() { "." } else { &folder }) {
                Err(error) if is_first => return Err(error),
                place => place.ok(),
            };
            is_first = false;
            let Some(entries) = place.as_ref().and_then(|place| Dir::read_from(place).ok()) else { continue };
            for entry in entries.flatten() {
                let Ok(name) = entry.file_name().to_str() else { continue };
                let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
                if check(&path).is_ok() {
                    if entry.file_type() != FileType::RegularFile && self.folder(&path).is_ok() {
                        folders.push(path);
                    }
                } else if let (Some(target), Some(place)) = (target_of(name), &place) {
                    let path = path.strip_suffix(name).map(|folder| format!("{folder}{target}"));
                    let Some(path) = path.filter(|path| check(path).is_ok()) else { continue };
                    match age(place, name, before) {
                        Some(Age::Old) => {
                            quota.release(&path);
                            removed.push(path);
                        }
                        Some(Age::Young(bytes)) => quota.found(&path, bytes),
                        None => {}
                    }
                }
            }
        }
        Ok(removed)
    }
}

/// The fate of a part.
enum Age {
    /// The part was too old, and was removed.
    Old,
    /// The part remains. It has this number of bytes.
    Young(u64),
}

/// Removes a part if it is too old. Returns `None` if the file is not a part, or could not be removed.
fn age(folder: &std::os::fd::OwnedFd, name: &str, before: SystemTime) -> Option<Age> {
    let found = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    if !FileType::from_raw_mode(found.st_mode).is_file() {
        return None;
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(folder, name, flags, Mode::empty()).ok()?);
    let about = file.metadata().ok()?;
    if about.modified().ok()? >= before {
        return Some(Age::Young(about.len()));
    }
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    // The previous holder of the lock may have renamed the part to its target.
    if !is_named(folder, name, &file) {
        return None;
    }
    rustix::fs::unlinkat(folder, name, AtFlags::empty()).ok()?;
    Some(Age::Old)
}
