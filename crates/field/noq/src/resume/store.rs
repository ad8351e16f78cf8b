//! A bounded store of saved values, shared by the connections of a process.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::saved::{Key, MAX_NAME, Saved};

/// The default lifetime of saved values. RFC 9959 section 4.3.1 advises minutes for paths that vary, and hours for
/// stable paths.
pub const LIFETIME: Duration = Duration::from_secs(600);

/// The default number of remote endpoints in a store.
pub const CAPACITY: NonZeroUsize = NonZeroUsize::new(4096).unwrap();

/// A store of what connections observed, at most one set of values for a remote endpoint (RFC 9959 section 3.1).
///
/// A store is bounded: at its capacity it evicts the entry whose last use is the oldest. An entry is *used* when a connection
/// reads, claims or updates it. Entries age: after the lifetime they are deleted and not used. Every method that needs
/// the time takes it as seconds since the Unix epoch, because saved values survive a restart of the process.
///
/// One `Arc<Store>` serves all connections. Each [`Resume`](super::Resume) reads it when its connection opens, and the
/// connection's controller writes to it once per round trip.
#[derive(Debug)]
pub struct Store {
    lifetime: Duration,
    capacity: NonZeroUsize,
    content: Mutex<Shelf>,
}

#[derive(Debug, Default)]
struct Shelf {
    entries: BTreeMap<Key, Entry>,
    /// The keys by the time of their last use, the oldest first.
    order: BTreeMap<u64, Key>,
    /// A counter of uses, and of claims.
    tick: u64,
}

#[derive(Debug)]
struct Entry {
    saved: Saved,
    used: u64,
    /// The claim of the connection that jumps with these values now.
    claim: Option<u64>,
}

impl Default for Store {
    fn default() -> Self {
        Self::new(CAPACITY, LIFETIME)
    }
}

impl Store {
    /// Returns an empty store for `capacity` remote endpoints. Values older than `lifetime` are not used.
    pub fn new(capacity: NonZeroUsize, lifetime: Duration) -> Self {
        Self { lifetime, capacity, content: Mutex::default() }
    }

    /// Returns the maximum number of remote endpoints.
    pub fn capacity(&self) -> NonZeroUsize {
        self.capacity
    }

    /// Returns the time after which saved values are not used.
    pub fn lifetime(&self) -> Duration {
        self.lifetime
    }

    /// Returns the number of remote endpoints, with those whose lifetime is over but who have not been looked up since.
    pub fn len(&self) -> usize {
        self.lock().entries.len()
    }

    /// Returns true if nothing is saved.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the values saved for `key`; `None` if there are none. Deletes values whose lifetime is over at `now`.
    pub fn get(&self, key: &Key, now: u64) -> Option<Saved> {
        let content = &mut *self.lock();
        content.expire(key, now, self.lifetime);
        content.touch(key);
        content.entries.get(key).map(|entry| entry.saved)
    }

    /// Saves values for `key` in place of older ones. Returns false, and changes nothing, if the values or the key's
    /// name are out of range ([`Saved::fault`], [`MAX_NAME`]).
    pub fn put(&self, key: &Key, saved: Saved) -> bool {
        if saved.fault().is_some() || key.server_name().len() > MAX_NAME {
            return false;
        }
        let content = &mut *self.lock();
        if let Some(entry) = content.entries.get_mut(key) {
            entry.saved = saved;
            content.touch(key);
            return true;
        }
        while content.entries.len() >= self.capacity.get() {
            let Some((_, oldest)) = content.order.pop_first() else { break };
            content.entries.remove(&oldest);
        }
        content.tick += 1;
        let used = content.tick;
        content.order.insert(used, key.clone());
        content.entries.insert(key.clone(), Entry { saved, used, claim: None });
        true
    }

    /// Deletes what is saved for `key`.
    pub fn remove(&self, key: &Key) {
        self.lock().remove(key);
    }

    /// Deletes everything, for example after a change of the network's configuration (RFC 9959 section 4.3.1).
    pub fn clear(&self) {
        let content = &mut *self.lock();
        content.entries.clear();
        content.order.clear();
    }

    /// Claims the values of `key` for one connection, until the claim is dropped. Returns `None` if nothing is saved, if
    /// the lifetime is over at `now`, or if another connection has a claim (RFC 9959 section 3.2, "Using `saved_cwnd`").
    pub fn claim(self: &Arc<Self>, key: &Key, now: u64) -> Option<Claim> {
        let content = &mut *self.lock();
        content.expire(key, now, self.lifetime);
        content.touch(key);
        content.tick += 1;
        let number = content.tick;
        let entry = content.entries.get_mut(key).filter(|entry| entry.claim.is_none())?;
        entry.claim = Some(number);
        Some(Claim { store: Arc::clone(self), key: key.clone(), number })
    }

    /// Returns all entries, by last use, the oldest first.
    pub fn entries(&self) -> Vec<(Key, Saved)> {
        let content = self.lock();
        let of = |key: &Key| content.entries.get(key).map(|entry| (key.clone(), entry.saved));
        content.order.values().filter_map(of).collect()
    }

    /// Locks the content. A panic of another thread leaves no half-written entry that matters: values are copied whole.
    fn lock(&self) -> MutexGuard<'_, Shelf> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf {
    fn remove(&mut self, key: &Key) {
        if let Some(entry) = self.entries.remove(key) {
            self.order.remove(&entry.used);
        }
    }

    /// Makes `key` the most recently used.
    fn touch(&mut self, key: &Key) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        self.tick += 1;
        if let Some(key) = self.order.remove(&entry.used) {
            self.order.insert(self.tick, key);
        }
        entry.used = self.tick;
    }

    /// Deletes the values of `key` if their lifetime is over, or if they are from the future: then their age is unknown,
    /// because the clock was set back.
    fn expire(&mut self, key: &Key, now: u64, lifetime: Duration) {
        let Some(entry) = self.entries.get(key) else { return };
        let age = now.checked_sub(entry.saved.at);
        if age.is_none_or(|age| age > lifetime.as_secs()) {
            self.remove(key);
        }
    }
}

/// The exclusive use of saved values by one connection. Dropping it permits the next use.
#[derive(Debug)]
pub struct Claim {
    store: Arc<Store>,
    key: Key,
    number: u64,
}

impl Claim {
    /// Deletes the saved values, because they were wrong (RFC 9959 section 3.5, "Removing saved information").
    /// Values that were deleted meanwhile and saved anew are not of this claim, and stay.
    pub fn delete(self) {
        let content = &mut *self.store.lock();
        if content.entries.get(&self.key).is_some_and(|entry| entry.claim == Some(self.number)) {
            content.remove(&self.key);
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let content = &mut *self.store.lock();
        if let Some(entry) = content.entries.get_mut(&self.key)
            && entry.claim == Some(self.number)
        {
            entry.claim = None;
        }
    }
}
