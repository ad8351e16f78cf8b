//! The factory of wrapped controllers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use noq_proto::TransportConfig;
use noq_proto::congestion::{Controller, ControllerFactory};

use super::controller::{Memory, ResumeController};
use super::saved::Key;
use super::store::Store;

/// A factory that wraps the controllers of another factory in Careful Resume, for one connection.
///
/// A factory of noq does not learn the remote address, so each connection needs its own `Resume`. The first controller
/// that it builds, that of the connection's first path, resumes and saves. Further paths of the connection are other
/// paths; their controllers act as if they were not wrapped.
#[derive(Debug)]
pub struct Resume<F: ?Sized> {
    store: Arc<Store>,
    key: Key,
    unix: u64,
    max_jump: Option<u64>,
    built: AtomicBool,
    inner: Arc<F>,
}

impl<F: ControllerFactory + Send + Sync + ?Sized> Resume<F> {
    /// Returns a factory around `inner` for a connection to `key` that opens at the time `now`.
    pub fn new(inner: impl Into<Arc<F>>, store: Arc<Store>, key: Key, now: SystemTime) -> Self {
        let unix = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        Self { store, key, unix, max_jump: None, built: AtomicBool::new(false), inner: inner.into() }
    }

    /// Limits the jump to `bytes` (`max_jump`, RFC 9959 section 3.3).
    pub fn max_jump(self, bytes: u64) -> Self {
        Self { max_jump: Some(bytes), ..self }
    }
}

impl<F: ControllerFactory + Send + Sync + 'static> Resume<F> {
    /// Returns a copy of `base` with this factory: the transport configuration of one connection, for
    /// `ClientConfig::transport_config` or `ServerConfig::transport_config`.
    pub fn transport(self, base: &TransportConfig) -> Arc<TransportConfig> {
        let mut config = base.clone();
        config.congestion_controller_factory(Arc::new(self));
        Arc::new(config)
    }
}

impl<F: ControllerFactory + Send + Sync + ?Sized> ControllerFactory for Resume<F> {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = Arc::clone(&self.inner).build(now, current_mtu);
        let first = !self.built.swap(true, Ordering::Relaxed);
        let memory = first.then(|| Memory {
            store: Arc::clone(&self.store),
            key: self.key.clone(),
            unix: self.unix,
            built: now,
        });
        Box::new(ResumeController::new(inner, memory, self.max_jump, current_mtu))
    }
}
