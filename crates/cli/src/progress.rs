//! The progress bar: on standard error, on a terminal only, and only for what takes over a second.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The progress line first appears after this time.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time between two updates of the progress line.
const TICK: Duration = Duration::from_millis(200);

/// Progress of a race; the bar goes when this does.
pub(crate) struct Progress {
    /// `None` where nobody looks.
    bar: Option<Shown>,
}

struct Shown {
    bar: ProgressBar,
    /// Dropped to say that the race is over.
    over: Option<mpsc::Sender<()>>,
    curtain: Option<JoinHandle<()>>,
}

impl Progress {
    /// Begins to watch `total` runs.
    pub(crate) fn new(total: u64) -> Self {
        Self::with(total, "{bar:30} {pos}/{len} runs  {elapsed}  {msg}")
    }

    /// Begins to watch `total` paths, which take long enough to say how long.
    pub(crate) fn of_paths(total: u64) -> Self {
        Self::with(total, "{bar:30} {pos}/{len} paths  {elapsed}  {eta} left  {msg}")
    }

    /// Begins to watch a transfer, whose length is not known yet.
    pub(crate) fn of_bytes() -> Self {
        Self::with(0, "{bar:30} {bytes}/{total_bytes}  {bytes_per_sec}  {eta} left  {msg}")
    }

    fn with(total: u64, template: &'static str) -> Self {
        Self { bar: io::stderr().is_terminal().then(|| Shown::new(total, template)) }
    }

    /// `done` of them are over; `name` is the last.
    pub(crate) fn show(&self, done: u64, name: &str) {
        if let Some(Shown { bar, .. }) = &self.bar {
            bar.set_message(name.to_owned());
            bar.set_position(done);
        }
    }
}

impl Progress {
    /// [`Progress::show`] of what says only now how many there are.
    pub(crate) fn show_of(&self, done: u64, total: u64, name: &str) {
        if let Some(Shown { bar, .. }) = &self.bar {
            bar.set_length(total);
        }
        self.show(done, name);
    }
}

impl Shown {
    fn new(total: u64, template: &str) -> Self {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        let (over, is_over) = mpsc::channel::<()>();
        let late = bar.clone();
        let curtain = thread::Builder::new().spawn(move || {
            if is_over.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                late.set_draw_target(ProgressDrawTarget::stderr());
                late.enable_steady_tick(TICK);
            }
        });
        Self { bar, over: Some(over), curtain: curtain.ok() }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.over = None;
        if let Some(curtain) = self.curtain.take() {
            // It cannot fail: it only waits and draws.
            drop(curtain.join());
        }
        self.bar.finish_and_clear();
    }
}
