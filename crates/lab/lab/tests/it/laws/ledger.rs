//! Following a controller's notes: every begin has one exit that stands.

use firstflight::{Note, Phase};

/// Which exits stand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger {
    /// Whether a begin is still without its exit.
    open: bool,
    /// Causes of start-up's exits that stand, in order.
    exits: Vec<&'static str>,
    /// Both values at the newest reduction, while it may be undone.
    before: Option<(bool, Vec<&'static str>)>,
    exited_since: bool,
}

impl Ledger {
    /// Processes a note.
    ///
    /// # Errors
    /// A begin before the exit of the previous start-up, an exit without a begin, an undo without a reduction.
    pub(crate) fn follow(&mut self, note: &Note) -> Result<(), String> {
        let fault = |what: &str| Err(format!("{what}: {note:?}"));
        match note {
            Note::Began(_) if self.open => return fault("a begin before the exit of the one before"),
            Note::Began(_) => self.open = true,
            Note::Exited { .. } if !self.open => return fault("an exit without a begin"),
            Note::Exited { exit, phase, .. } => {
                self.open = false;
                self.exited_since = true;
                if *phase == Phase::Startup {
                    self.exits.push(exit.cause.name());
                }
            }
            Note::Continued if self.open => return fault("what goes on had not ended"),
            Note::Continued => {
                self.open = true;
                self.exits.pop();
            }
            Note::Reduced { .. } => {
                self.before = Some((self.open, self.exits.clone()));
                self.exited_since = false;
            }
            Note::Undone { exit } => {
                if *exit != self.exited_since {
                    return fault("an undone exit that was none, or the reverse");
                }
                let Some(before) = self.before.take() else { return fault("an undo of nothing") };
                (self.open, self.exits) = before;
            }
        }
        Ok(())
    }

    /// The cause of the first exit of start-up that stands.
    pub(crate) fn first(&self) -> Option<&'static str> {
        self.exits.first().copied()
    }
}
