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

    /// Keeps the hash of a file that was read after `before` was determined, unless the file changed meanwhile or shortly before.
    pub(crate) fn keep(&self, before: Seen, file: &File, hash: &str) {
        let is_unchanged = file.metadata().is_ok_and(|about| Seen::of(&about) == before);
        if !is_unchanged || before.changed.0 + SETTLED > seconds_since_1970() {
            return;
        }
        let mut kept = self.lock();
        kept.remove(&before);
        kept.number += 1;
        let number = kept.number;
        kept.by.insert(before, (number, hash.to_owned()));
        kept.order.insert(number, before);
        if kept.by.len() > MOST
            && let Some((_, oldest)) = kept.order.pop_first()
        {
            kept.by.remove(&oldest);
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
        let hashes = Hashes::default();
        hashes.keep(now, &file, "just changed");
        assert_eq!(hashes.get(&now), None);
        hashes.keep(seen(now.inode, 7), &file, "changed meanwhile");
        assert_eq!(hashes.get(&seen(now.inode, 7)), None);
        std::fs::remove_file(&path).unwrap();
        // The change time cannot be set. The program of this test is a file that nothing changes.
        let old = File::open("/proc/self/exe").unwrap();
        let then = Seen::of(&old.metadata().unwrap());
        hashes.keep(Seen { length: then.length + 1, ..then }, &old, "of another length");
        hashes.keep(then, &old, "unchanged");
        let is_settled = then.changed.0 + SETTLED <= seconds_since_1970();
        assert_eq!(hashes.get(&then), is_settled.then(|| "unchanged".to_owned()));
        hashes.forget(&then);
        assert_eq!(hashes.get(&then), None);
    }

    #[test]
    fn the_number_of_hashes_is_bounded_and_the_oldest_go_first() {
        let mut kept = Kept::default();
        for inode in 0..10 {
            kept.number += 1;
            kept.by.insert(seen(inode, 0), (kept.number, String::new()));
            kept.order.insert(kept.number, seen(inode, 0));
        }
        kept.remove(&seen(0, 0));
        assert_eq!(kept.order.first_key_value().map(|(_, seen)| seen.inode), Some(1));
        assert_eq!((kept.by.len(), kept.order.len()), (9, 9));
    }
}
