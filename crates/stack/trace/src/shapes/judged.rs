//! The JSON form of the values that the controller added to an event.

use firstflight::{Bytes, Call, Event, Judged};
use serde::{Deserialize, Serialize};

/// Values that the controller added. The first three fields belong to an ACK, the last one to a loss.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JudgedShape {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    round_ended: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    round_sent: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    growth: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    opens_episode: Option<bool>,
}

impl From<Judged> for JudgedShape {
    fn from(judged: Judged) -> Self {
        match judged {
            Judged::Acked { round_ended, round_sent, growth } => Self {
                round_ended: Some(round_ended),
                round_sent: Some(round_sent.get()),
                growth: Some(growth.get()),
                ..Self::default()
            },
            Judged::Lost { opens_episode } => Self { opens_episode: Some(opens_episode), ..Self::default() },
        }
    }
}

impl JudgedShape {
    /// Returns the added values for the event of `call`. The error says which values are missing or do not belong to this event.
    pub(crate) fn of(self, call: &Call) -> Result<Judged, &'static str> {
        let acked = "`judged` of an ACK holds `round_ended`, `round_sent` and `growth`";
        let lost = "`judged` of a loss holds `opens_episode`";
        let Self { round_ended, round_sent, growth, opens_episode } = self;
        let event = match call {
            Call::On(heard) => Some(heard.event()),
            Call::NewData | Call::Plan => None,
        };
        match (event, round_ended, round_sent, growth, opens_episode) {
            (Some(Event::Acked(_)), Some(round_ended), Some(round_sent), Some(growth), None) => {
                let (round_sent, growth) = (Bytes::new(round_sent), Bytes::new(growth));
                Ok(Judged::Acked { round_ended, round_sent, growth })
            }
            (Some(Event::Acked(_)), ..) => Err(acked),
            (Some(Event::Lost(_)), None, None, None, Some(opens_episode)) => {
                Ok(Judged::Lost { opens_episode })
            }
            (Some(Event::Lost(_)), ..) => Err(lost),
            _ => Err("`judged` is of an ACK or of a loss"),
        }
    }
}
