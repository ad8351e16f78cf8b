//! `--trace`: what a scheme was told and decided in the kernel, a trace a connection.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, spawn};

use firstflight_kernel::{KernelError, Loaded};
use firstflight_kernel_parity::{records, traces};
use firstflight_scenario::Alone;

use crate::failure::Failure;

/// A loaded scheme whose events are collected.
pub(super) struct Tracing {
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Result<Vec<u8>, KernelError>>,
    folder: PathBuf,
}

/// Refuses a folder that cannot be made, or has something in it.
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
    /// Collects the events of a scheme from now on. The scheme stays loaded until [`Tracing::end`].
    pub(super) fn begin(loaded: Loaded, folder: &Path) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&is_over);
        let thread = spawn(move || {
            let mut events = Vec::new();
            loaded.follow(|event| events.extend_from_slice(event), || ended.load(Ordering::Relaxed))?;
            Ok(events)
        });
        Self { is_over, thread, folder: folder.to_path_buf() }
    }

    /// Unloads the scheme, and writes `1.jsonl`, `2.jsonl` and so on, in the order in which the connections began.
    pub(super) fn end(self, hosted: &Alone) -> Result<(), Failure> {
        self.is_over.store(true, Ordering::Relaxed);
        let events =
            self.thread.join().map_err(|_| Failure::usage("--trace: the events were not collected"))?;
        let events = events.map_err(Failure::usage)?;
        if events.is_empty() {
            return Err(Failure::check(
                "--trace: no connection used the scheme, so that there is no trace".to_owned(),
            ));
        }
        let made = records(&events).and_then(|records| traces(hosted, &records));
        let made = made.map_err(|what| Failure::check(format!("--trace: {what}")))?;
        fs::create_dir_all(&self.folder).map_err(Failure::write)?;
        for (number, trace) in made.iter().enumerate() {
            let file = self.folder.join(format!("{}.jsonl", number + 1));
            fs::write(file, &trace.text).map_err(Failure::write)?;
        }
        Ok(())
    }
}
