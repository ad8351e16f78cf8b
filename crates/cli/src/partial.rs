//! Results of an interrupted command, which lack some runs, and how the command reports them.
//!
//! The rows of finished runs are printed and marked. Files are not written, because a file that has its name is always complete.

use firstflight_export::Record;

use crate::failure::Failure;

/// The field that marks each printed row of an interrupted command.
const FIELD: &str = "interrupted";

/// The description of an interrupted race in which only the runs of its references are not finished.
pub(crate) const WITHOUT_REFERENCES: &str =
    "all runs are finished, but not those that the verdict compares them with";

/// A description of what an interrupted command has finished and has not written.
#[derive(Debug)]
pub(crate) struct Partial {
    /// The finished runs, in words.
    finished: String,
    /// The options whose files are not written.
    not_written: Vec<&'static str>,
}

impl Partial {
    /// Creates the description. `finished` names the finished runs, and `not_written` has the options whose files are not written.
    pub(crate) fn new(finished: impl Into<String>, not_written: Vec<&'static str>) -> Self {
        Self { finished: finished.into(), not_written }
    }

    /// Creates the description of a command of which `finished` of `of` probings are finished.
    pub(crate) fn of_probings(finished: usize, of: u32, not_written: Vec<&'static str>) -> Self {
        Self::new(format!("{finished} of {of} probings are finished"), not_written)
    }

    /// Returns the rows with the field `interrupted`, which says which runs are finished.
    pub(crate) fn marked(&self, records: &[Record]) -> Vec<Record> {
        let mut records = records.to_vec();
        for record in &mut records {
            record.insert(FIELD.to_owned(), self.finished.clone().into());
        }
        records
    }

    /// Returns the sentence that replaces a table's verdict.
    pub(crate) fn sentence(&self) -> String {
        format!("Interrupted; {}.", self.finished)
    }

    /// Returns the failure with which the command ends.
    pub(crate) fn failure(&self) -> Failure {
        let not_written = match self.not_written.as_slice() {
            [] => String::new(),
            options => format!("; not written: {}", options.join(", ")),
        };
        Failure::interrupted(format!("interrupted; {}{not_written}", self.finished))
    }
}
