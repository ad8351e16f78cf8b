//! The SHA-256 of files that a server has sent, so that it hashes an unchanged file only once.

use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::clock::seconds_since_1970;

/// The maximum number of files whose hashes are kept.
const MOST: usize = 4_096;
/// The minimum age of a file's last change in seconds. A change that follows another within the resolution of the file system's clock
/// leaves the same times, so a file that was just changed may change again unseen.
const SETTLED: i64 = 2;

/// The identity of a file and of its content. A change of the content also changes the times.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Seen {
    device: u64,
    inode: u64,
    length: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Seen {
    /// Returns the identity of a file that is about to be read; `None` if the file was just changed, because its content may change again
    /// under the same identity.
    pub(crate) fn settled(about: &Metadata) -> Option<Self> {
        Some(Self::of(about)).filter(|seen| seen.changed.0 + SETTLED <= seconds_since_1970())
    }

    pub(crate) fn of(about: &Metadata) -> Self {
        Self {
            device: about.dev(),
            inode: about.ino(),
            length: about.len(),
            modified: (about.mtime(), about.mtime_nsec()),
            changed: (about.ctime(), about.ctime_nsec()),
        }
    }
}

/// The hashes of files. They belong to one server, and are bounded in number.
#[derive(Debug, Default)]
pub(crate) struct Hashes(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    by: BTreeMap<Seen, (u64, String)>,
    /// The files in the order in which their hashes were added, by number.
    order: BTreeMap<u64, Seen>,
    number: u64,
}

impl Hashes {
    /// Returns the hash of a file, if it is known.
    pub(crate) fn get(&self, seen: &Seen) -> Option<String> {
        self.lock().by.get(seen).map(|(_, hash)| hash.clone())
    }

    /// Keeps the hash of a file that was read after `before` was determined, unless the file changed meanwhile.
    pub(crate) fn keep(&self, before: Seen, file: &File, hash: &str) {
        if file.metadata().is_ok_and(|about| Seen::of(&about) == before) {
            self.lock().add(before, hash);
        }
    }

    /// Removes the hash of a file, because a receiver may have computed another. Bytes that a program changes in a mapped file may leave
    /// its times unchanged.
    pub(crate) fn forget(&self, seen: &Seen) {
        self.lock().remove(seen);
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn add(&mut self, seen: Seen, hash: &str) {
        self.remove(&seen);
        self.number += 1;
        self.by.insert(seen, (self.number, hash.to_owned()));
        self.order.insert(self.number, seen);
        if self.by.len() > MOST
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.by.remove(&oldest);
        }
    }

    fn remove(&mut self, seen: &Seen) {
        if let Some((number, _)) = self.by.remove(seen) {
            self.order.remove(&number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(inode: u64, changed: i64) -> Seen {
        Seen { device: 1, inode, length: 3, modified: (changed, 0), changed: (changed, 0) }
    }

    #[test]
    fn a_hash_is_kept_only_for_a_file_that_neither_changed_nor_was_just_changed() {
        let path = std::env::temp_dir().join(format!("firstflight-hashes-{}", std::process::id()));
        std::fs::write(&path, "abc").unwrap();
        let file = File::open(&path).unwrap();
        let now = Seen::of(&file.metadata().unwrap());
        assert_eq!(Seen::settled(&file.metadata().unwrap()), None, "the file was just changed");
        let hashes = Hashes::default();
        hashes.keep(seen(now.inode, 7), &file, "changed meanwhile");
        assert_eq!(hashes.get(&seen(now.inode, 7)), None);
        std::fs::remove_file(&path).unwrap();
        // The change time cannot be set. The program of this test is a file that nothing changes.
        let old = File::open("/proc/self/exe").unwrap();
        let then = Seen::of(&old.metadata().unwrap());
        hashes.keep(Seen { length: then.length + 1, ..then }, &old, "of another length");
        hashes.keep(then, &old, "unchanged");
        assert_eq!(hashes.get(&then), Some("unchanged".to_owned()));
        hashes.forget(&then);
        assert_eq!(hashes.get(&then), None);
    }

    #[test]
    fn the_number_of_hashes_is_bounded_and_the_oldest_go_first() {
        let mut kept = Kept::default();
        for inode in 0..MOST as u64 {
            kept.add(seen(inode, 0), "");
        }
        // A hash that is added again becomes the newest.
        kept.add(seen(0, 0), "again");
        assert!(kept.by.len() == MOST && kept.by.contains_key(&seen(1, 0)));
        kept.add(seen(u64::MAX, 0), "new");
        assert_eq!((kept.by.len(), kept.order.len()), (MOST, MOST));
        assert!(!kept.by.contains_key(&seen(1, 0)) && kept.by.contains_key(&seen(0, 0)));
    }
}
