//! One standing exit for every begin.

use firstflight::Note;

/// Follows the notes of a controller: whether a begin waits for its exit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    open: bool,
    exited_since: bool,
    before: Option<bool>,
}

impl Ledger {
    /// Whether a start-up or restart is under way.
    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    /// Follows a note; panics if it does not fit those before it.
    pub(crate) fn follow(&mut self, note: &Note) {
        match note {
            Note::Began(origin) => {
                assert!(!self.open, "{origin:?} began before the exit of the one before");
                self.open = true;
            }
            Note::Exited { .. } => {
                assert!(self.open, "an exit without a begin");
                self.open = false;
                self.exited_since = true;
            }
            Note::Continued => {
                assert!(!self.open, "only a start-up whose exit stands can go on");
                self.open = true;
            }
            Note::Reduced { .. } => {
                self.before = Some(self.open);
                self.exited_since = false;
            }
            Note::Undone { exit } => {
                assert_eq!(*exit, self.exited_since, "whether an exit was undone");
                self.open = self.before.take().expect("a reduction is undone once");
            }
        }
    }
}
