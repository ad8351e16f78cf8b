//! The report page of a command's transfers.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use firstflight_export::Record;
use firstflight_measure::VERSION;
use firstflight_report::{Drawn, Report, Subject, html};
use firstflight_udp::files::Transferred;
use serde_json::Value;

use super::measured::Row;
use super::said;
use crate::failure::Failure;
use crate::results::write;

/// The maximum number of transfers that a page draws, and the maximum number whose values it shows. The first transfers are chosen.
const MAX_PANELS: usize = 12;
const MAX_ROWS: usize = 1_000;

/// The report page of a command's transfers. It has no path if no report was requested.
#[derive(Clone)]
pub(super) struct Page {
    path: Option<PathBuf>,
    so_far: Arc<Mutex<SoFar>>,
}

#[derive(Default)]
struct SoFar {
    rows: Vec<Record>,
    drawn: Vec<Drawn>,
    files: String,
    /// The number of transfers beyond the maximum.
    left_out: u64,
}

impl Page {
    pub(super) fn new(path: Option<PathBuf>) -> Self {
        Self { path, so_far: Arc::default() }
    }

    /// Returns whether another transfer would be drawn.
    pub(super) fn draws(&self) -> bool {
        self.path.is_some() && self.lock().drawn.len() < MAX_PANELS
    }

    /// Adds a transfer to the page.
    pub(super) fn take(&self, file: &Transferred, row: &Row) {
        if self.path.is_none() {
            return;
        }
        let mut so_far = self.lock();
        if so_far.rows.len() >= MAX_ROWS {
            so_far.left_out += 1;
            return;
        }
        let number = so_far.rows.len() + 1;
        let Row { fields, recording } = row;
        let scheme = ["label", "scheme"].map(|field| fields.get(field).and_then(Value::as_str).unwrap_or(""));
        let scheme = scheme.into_iter().find(|name| !name.is_empty()).unwrap_or_default();
        let label = format!("{number}: {scheme}");
        if so_far.drawn.len() < MAX_PANELS {
            let mut recording = recording.clone();
            recording.label.clone_from(&label);
            so_far.drawn.push(Drawn::new(&recording, None));
        }
        let mut fields = fields.clone();
        fields.insert("label".to_owned(), label.into());
        so_far.rows.push(fields);
        // Writing to memory cannot fail.
        let _ = writeln!(so_far.files, "{number}: {}", said::whole(file));
    }

    /// Writes the page, if there is anything to show. `title` names the sender and the receiver.
    ///
    /// # Errors
    /// Fails if the page cannot be written.
    pub(super) fn write(&self, title: &str, arguments: &[String]) -> Result<(), Failure> {
        let Some(path) = &self.path else { return Ok(()) };
        let SoFar { rows, drawn, files, left_out } = std::mem::take(&mut *self.lock());
        if rows.is_empty() {
            return Ok(());
        }
        let mut verdict = String::new();
        if drawn.len() < rows.len() {
            verdict = format!("The first {} of {} transfers are drawn.", drawn.len(), rows.len());
        }
        if left_out > 0 {
            verdict = format!("{verdict} {left_out} later ones are left out.");
        }
        let report = Report {
            subject: Subject::Transfers,
            title: title.to_owned(),
            command: arguments.join(" "),
            version: VERSION.to_owned(),
            scenario_text: files,
            verdict,
            rows,
            drawn,
            ..Report::default()
        };
        write(path, html::render(&report).map_err(Failure::write)?.as_bytes())
    }

    fn lock(&self) -> MutexGuard<'_, SoFar> {
        self.so_far.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
