//! `--trace`: records the calls to a scheme in the kernel and its decisions, as one trace for each connection.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, spawn};

use firstflight_kernel::{KernelError, Loaded};
use firstflight_kernel_parity::{Trace, records, traces};
use firstflight_scenario::Alone;

use crate::failure::Failure;

/// A loaded scheme whose events are collected.
pub(crate) struct Tracing {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<Vec<u8>, KernelError>>>,
}

/// Refuses a folder that cannot be created or is not empty.
pub(super) fn check(folder: &Path) -> Result<(), Failure> {
    let refuse =
        |what: &dyn std::fmt::Display| Failure::usage(format!("--trace: {}: {what}", folder.display()));
    match fs::read_dir(folder).map(|mut entries| entries.next().is_none()) {
        Ok(true) => Ok(()),
        Ok(false) => Err(refuse(&"the folder is not empty")),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
            match parent.map(fs::metadata) {
                Some(Err(error)) => Err(refuse(&error)),
                Some(Ok(parent)) if !parent.is_dir() => Err(refuse(&"its parent is no folder")),
                _ => Ok(()),
            }
        }
        Err(error) => Err(refuse(&error)),
    }
}

impl Tracing {
    /// Collects the events of a scheme from now on. The scheme stays loaded until the collection is ended or dropped.
    pub(crate) fn begin(loaded: Loaded) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&is_over);
        let thread = spawn(move || {
            let mut events = Vec::new();
            loaded.follow(|event| events.extend_from_slice(event), || ended.load(Ordering::Relaxed))?;
            Ok(events)
        });
        Self { is_over, thread: Some(thread) }
    }

    /// Unloads the scheme, and returns a trace of each connection, in the order in which the connections started.
    pub(crate) fn traces(mut self, hosted: &Alone) -> Result<Vec<Trace>, String> {
        let events = self.events()?;
        if events.is_empty() {
            return Err("no connection used the scheme, so that there is no trace".to_owned());
        }
        records(&events).and_then(|records| traces(hosted, &records))
    }

    /// Unloads the scheme, and writes its traces into a folder as `1.jsonl`, `2.jsonl` and so on, in the order in which the connections
    /// started.
    pub(super) fn write(self, hosted: &Alone, folder: &Path) -> Result<(), Failure> {
        let made = self.traces(hosted).map_err(|what| Failure::check(format!("--trace: {what}")))?;
        fs::create_dir_all(folder).map_err(Failure::write)?;
        for (number, trace) in made.iter().enumerate() {
            let file = folder.join(format!("{}.jsonl", number + 1));
            fs::write(file, &trace.text).map_err(Failure::write)?;
        }
        Ok(())
    }

    /// Waits for the thread, which keeps the scheme loaded, and returns the events.
    fn events(&mut self) -> Result<Vec<u8>, String> {
        self.is_over.store(true, Ordering::Relaxed);
        let Some(thread) = self.thread.take() else { return Ok(Vec::new()) };
        let events = thread.join().map_err(|_| "the events were not collected".to_owned())?;
        events.map_err(|error| error.to_string())
    }
}

impl Drop for Tracing {
    fn drop(&mut self) {
        let _ = self.events();
    }
}
