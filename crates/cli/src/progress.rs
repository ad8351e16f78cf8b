//! The progress bar: on standard error, on a terminal only, and only for what takes over a second.

use std::io::{self, IsTerminal};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Nothing is shown before this.
const PATIENCE: Duration = Duration::from_secs(1);

/// Progress of a race.
pub(crate) struct Progress {
    started: Instant,
    /// `None` where nobody looks.
    bar: Option<Mutex<Shown>>,
}

struct Shown {
    bar: ProgressBar,
    visible: bool,
}

impl Progress {
    /// Begins to watch `total` runs.
    pub(crate) fn new(total: u64) -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
            if let Ok(style) =
                ProgressStyle::with_template("{bar:30} {pos}/{len} runs  {msg}  {elapsed}, {eta} left")
            {
                bar.set_style(style);
            }
            Mutex::new(Shown { bar, visible: false })
        });
        Self { started: now(), bar }
    }

    /// `done` runs are over; `label` is the scheme of the last.
    pub(crate) fn show(&self, done: u64, label: &str) {
        let Some(shown) = &self.bar else { return };
        let Ok(mut shown) = shown.lock() else { return };
        if !shown.visible && self.started.elapsed() >= PATIENCE {
            shown.bar.set_draw_target(ProgressDrawTarget::stderr());
            shown.visible = true;
        }
        shown.bar.set_position(done);
        shown.bar.set_message(label.to_owned());
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        let Some(shown) = &self.bar else { return };
        if let Ok(shown) = shown.lock() {
            shown.bar.finish_and_clear();
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "the one clock of the program: how long the user has waited")]
fn now() -> Instant {
    Instant::now()
}
