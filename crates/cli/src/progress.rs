//! The progress bar. It is shown on standard error, only on a terminal, and only for operations that take over a second.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use firstflight_trace::in_a_line;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::session::{self, Done, Session};

/// The progress line first appears after this time.
const PATIENCE: Duration = Duration::from_secs(1);
/// The time between two updates of the progress line.
const TICK: Duration = Duration::from_millis(200);

/// The progress of a race. The bar disappears when this is dropped.
pub(crate) struct Progress {
    /// The bar; `None` if standard error is not a terminal.
    bar: Option<Shown>,
    /// The program that carries out the command.
    session: Option<Arc<Session>>,
    /// The number of all items, as known at first.
    total: u64,
}

struct Shown {
    bar: ProgressBar,
    /// The sender whose drop signals the end of the race.
    over: Option<mpsc::Sender<()>>,
    curtain: Option<JoinHandle<()>>,
}

impl Progress {
    /// Starts the progress of `total` runs.
    pub(crate) fn new(total: u64) -> Self {
        Self::with(total, "{bar:30} {pos}/{len} runs  {elapsed}  {msg}")
    }

    /// Starts the progress of `total` paths, which take long enough to show the remaining time.
    pub(crate) fn of_paths(total: u64) -> Self {
        Self::with(total, "{bar:30} {pos}/{len} paths  {elapsed}  {eta} left  {msg}")
    }

    /// Starts the progress of a transfer, whose length is not known yet.
    pub(crate) fn of_bytes() -> Self {
        Self::with(0, "{bar:30} {bytes}/{total_bytes}  {bytes_per_sec}  {eta} left  {msg}")
    }

    fn with(total: u64, template: &'static str) -> Self {
        let session = session::current();
        let has_bar = session.is_none() && io::stderr().is_terminal();
        Self { bar: has_bar.then(|| Shown::new(total, template)), session, total }
    }

    /// Shows that `done` items are done. `name` is the last one.
    pub(crate) fn show(&self, done: u64, name: &str) {
        self.show_of(done, self.total, name);
    }

    /// Shows progress as [`Progress::show`] does, with a total that was not known before.
    pub(crate) fn show_of(&self, done: u64, total: u64, name: &str) {
        if let Some(Shown { bar, .. }) = &self.bar {
            show(bar, done, total, name);
        }
        if let Some(session) = &self.session {
            session.show(Done { done, total, name: name.to_owned() });
        }
    }
}

/// Shows progress on a bar. The name may come from a peer.
fn show(bar: &ProgressBar, done: u64, total: u64, name: &str) {
    bar.set_length(total);
    bar.set_message(in_a_line(name));
    bar.set_position(done);
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
            // Joining cannot fail: the thread only waits and draws.
            drop(curtain.join());
        }
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_from_a_peer_is_shown_escaped() {
        let bar = ProgressBar::hidden();
        show(&bar, 1, 2, "a\u{1b}[2J\nb");
        let shown = bar.message();
        assert!(shown.starts_with('a') && !shown.contains(char::is_control), "{shown:?}");
    }
}
