//! The JSON form of the controller's notes.

use firstflight::{Bytes, Cause, Exit, Note, Phase};
use serde::{Deserialize, Serialize};

use super::names;
use super::origin::{LearnedShape, OriginShape};

#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NoteShape {
    Began(OriginShape),
    Exited { cause: CauseShape, phase: PhaseShape, learned: LearnedShape, cwnd: u64, flight: u64 },
    Continued,
    Reduced { from: u64 },
    Undone { exit: bool },
}

impl From<Note> for NoteShape {
    fn from(note: Note) -> Self {
        match note {
            Note::Began(origin) => Self::Began(origin.into()),
            Note::Exited { exit, phase, cwnd, flight } => Self::Exited {
                cause: exit.cause.into(),
                phase: phase.into(),
                learned: exit.learned.into(),
                cwnd: cwnd.get(),
                flight: flight.get(),
            },
            Note::Continued => Self::Continued,
            Note::Reduced { from } => Self::Reduced { from: from.get() },
            Note::Undone { exit } => Self::Undone { exit },
        }
    }
}

impl From<NoteShape> for Note {
    fn from(shape: NoteShape) -> Self {
        match shape {
            NoteShape::Began(origin) => Self::Began(origin.into()),
            NoteShape::Exited { cause, phase, learned, cwnd, flight } => Self::Exited {
                exit: Exit { cause: cause.into(), learned: learned.into() },
                phase: phase.into(),
                cwnd: Bytes::new(cwnd),
                flight: Bytes::new(flight),
            },
            NoteShape::Continued => Self::Continued,
            NoteShape::Reduced { from } => Self::Reduced { from: Bytes::new(from) },
            NoteShape::Undone { exit } => Self::Undone { exit },
        }
    }
}

names! { PhaseShape of Phase { Startup, Restart, Avoidance } }
names! {
    CauseShape of Cause {
        Threshold, Delay, AckTrain, CssEnd, Dispersion, RateFlat, Loss, Timeout, Mark, Advice, Resumed,
        #[serde(rename = "app")]
        AppLimited,
    }
}
