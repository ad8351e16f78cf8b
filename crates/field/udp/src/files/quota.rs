//! The disk space that peers may use.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::files::error::TransferError;

/// One address may use one part in this many of the disk space.
const SHARES: u64 = 4;
/// The minimum number of bytes for which a file is charged, so that the number of files is bounded as well.
const LEAST: u64 = 64 << 10;

/// The disk space that peers may use, and the space in use. Parts count, including those of earlier runs, and files that were completed
/// since the quota was made. One address may use a quarter of the space. A file counts as at least 64 KiB.
#[derive(Debug)]
pub struct Quota {
    most: u64,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: u64,
    by: BTreeMap<IpAddr, u64>,
    /// The parts by path. The value is the address that is charged, if it is known, and the bytes.
    parts: BTreeMap<String, (Option<IpAddr>, u64)>,
    /// The completed files by path, with the same values as for parts. The minimum charge bounds their number.
    files: BTreeMap<String, (Option<IpAddr>, u64)>,
}

impl Taken {
    /// Charges `bytes` for a part to this address. Returns `false` if this would exceed the limit of the address or of all addresses.
    fn charge(&mut self, path: &str, who: Option<IpAddr>, bytes: u64, most: u64) -> bool {
        let (before, had) = self.parts.get(path).copied().unwrap_or_default();
        let all = (self.all - had).saturating_add(bytes);
        let own = |who: IpAddr| {
            let own = self.by.get(&who).copied().unwrap_or(0);
            (own - if before == Some(who) { had } else { 0 }).saturating_add(bytes)
        };
        if bytes > had && (all > most || who.is_some_and(|who| own(who) > most / SHARES)) {
            return false;
        }
        self.release(path);
        self.all = all;
        if let Some(who) = who {
            *self.by.entry(who).or_default() += bytes;
        }
        self.parts.insert(path.to_owned(), (who, bytes));
        true
    }

    fn release(&mut self, path: &str) {
        if let Some((who, bytes)) = self.parts.remove(path) {
            self.give_back(who, bytes);
        }
    }

    fn give_back(&mut self, who: Option<IpAddr>, bytes: u64) {
        self.all -= bytes;
        if let Some(who) = who
            && let Some(own) = self.by.get_mut(&who)
        {
            *own -= bytes;
            if *own == 0 {
                self.by.remove(&who);
            }
        }
    }
}

impl Quota {
    /// Makes a quota of `most` bytes.
    pub fn new(most: u64) -> Arc<Self> {
        Arc::new(Self { most, taken: Mutex::default() })
    }

    /// Returns the share of the peers of an address.
    pub fn share(self: &Arc<Self>, who: IpAddr) -> Share {
        Share { quota: Arc::clone(self), who }
    }

    /// Charges a part that an earlier run left, if it is not charged yet.
    pub(crate) fn found(&self, path: &str, bytes: u64) {
        let mut taken = self.lock();
        if !taken.parts.contains_key(path) {
            taken.charge(path, None, bytes.max(LEAST), u64::MAX);
        }
    }

    /// Ends the charge for a part that is gone.
    pub(crate) fn release(&self, path: &str) {
        self.lock().release(path);
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The share of an address in a [`Quota`].
#[derive(Clone, Debug)]
pub struct Share {
    quota: Arc<Quota>,
    who: IpAddr,
}

impl Share {
    /// Charges `bytes` for the part at `path` to this address.
    pub(crate) fn charge(&self, path: &str, bytes: u64) -> Result<(), TransferError> {
        let is_granted = self.quota.lock().charge(path, Some(self.who), bytes.max(LEAST), self.quota.most);
        is_granted.then_some(()).ok_or(TransferError::Quota)
    }

    /// Charges the minimum for something at `path` that stays, such as a folder.
    pub(crate) fn charge_for_good(&self, path: &str) -> Result<(), TransferError> {
        self.charge(path, 0)?;
        self.settle(path);
        Ok(())
    }

    /// Returns an error if there is no room for all of a file of `length` bytes.
    pub(crate) fn check(&self, path: &str, length: u64) -> Result<(), TransferError> {
        let mut taken = self.quota.lock();
        let before = taken.parts.get(path).copied();
        let is_granted = taken.charge(path, Some(self.who), length.max(LEAST), self.quota.most);
        match before {
            Some((who, bytes)) if is_granted => drop(taken.charge(path, who, bytes, u64::MAX)),
            None => taken.release(path),
            Some(_) => {}
        }
        is_granted.then_some(()).ok_or(TransferError::Quota)
    }

    /// Returns whether another address is charged for the part.
    pub(crate) fn is_of_another(&self, path: &str) -> bool {
        self.quota.lock().parts.get(path).is_some_and(|(who, _)| who.is_some_and(|who| who != self.who))
    }

    /// Records that the part has become a file, which stays charged until another file replaces it.
    pub(crate) fn settle(&self, path: &str) {
        let mut taken = self.quota.lock();
        let Some(part) = taken.parts.remove(path) else { return };
        if let Some((who, bytes)) = taken.files.insert(path.to_owned(), part) {
            taken.give_back(who, bytes);
        }
    }

    /// Ends the charge for a part that is gone.
    pub(crate) fn release(&self, path: &str) {
        self.quota.release(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const K: u64 = 1 << 10;

    fn addresses() -> [IpAddr; 2] {
        [IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2])]
    }

    #[test]
    fn disk_quota_limits_each_address_to_a_quarter_and_bounds_the_total() {
        let quota = Quota::new(800 * K);
        let [one, other] = addresses().map(|who| quota.share(who));
        one.charge("a", 150 * K).unwrap();
        one.charge("b", 1).unwrap_err();
        one.charge("a", 200 * K).unwrap();
        assert!(one.charge("a", 200 * K + 1).is_err() && one.check("c", 1).is_err());
        quota.found("left", 500 * K);
        other.charge("d", 90 * K).unwrap();
        other.charge("d", 101 * K).unwrap_err();
        // Space becomes free when a part is removed, but not when a file is completed.
        one.settle("a");
        other.charge("d", 101 * K).unwrap_err();
        quota.release("left");
        other.charge("d", 101 * K).unwrap();
        one.charge("a", 1).unwrap_err();
    }

    #[test]
    fn a_file_that_replaces_another_gives_back_its_room() {
        let quota = Quota::new(800 * K);
        let share = quota.share(addresses()[0]);
        for _ in 0..9 {
            share.charge("a", 100 * K).unwrap();
            share.settle("a");
        }
        share.charge("b", 100 * K).unwrap();
        share.charge("c", 1).unwrap_err();
    }

    #[test]
    fn a_question_whether_there_is_room_takes_none() {
        let quota = Quota::new(800 * K);
        let [one, other] = addresses().map(|who| quota.share(who));
        for _ in 0..9 {
            one.check("a", 200 * K).unwrap();
        }
        other.charge("a", 100 * K).unwrap();
        assert!(one.is_of_another("a") && !other.is_of_another("a"));
        one.check("a", 200 * K).unwrap();
        assert!(one.is_of_another("a"));
        // An address that continues a part is charged for all of it.
        one.charge("a", 120 * K).unwrap();
        other.check("b", 200 * K).unwrap();
        one.charge("b", 90 * K).unwrap_err();
    }

    #[test]
    fn small_files_count_so_that_their_number_is_bounded() {
        let quota = Quota::new(64 * 4 * 10 * K);
        let share = quota.share(addresses()[0]);
        let granted = (0..100).filter(|n| {
            let path = format!("f{n}");
            let is_granted = share.charge(&path, 0).is_ok();
            share.settle(&path);
            is_granted
        });
        assert_eq!(granted.count(), 10);
    }
}
