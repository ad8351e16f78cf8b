//! The text form of reordering: `2%,3p` or `1%,5ms`.

use std::fmt;

use firstflight::Span;
use firstflight_sim::{Displacement, Reorder};

use crate::chance::probability;
use crate::quantity::{self, Decimal, QuantityError, Why, humane_span, refuse, show_span};

/// Reordering: a share of the packets, and how far each of them is displaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reordering {
    /// The share of the packets that is displaced.
    pub share: Decimal,
    /// The distance.
    pub by: Displacement,
}

const ALLOWED: &str = "reordering is a share and a distance, in packets as in `2%,3p`, with the longest that one is held as in \
                       `2%,3p,20ms` (20ms if unset), or in time as in `1%,5ms`; or `none`";

/// Default time for which a packet waits to be overtaken.
const HOLD: Span = Span::from_millis(20);
/// The maximum number of packets that may overtake one.
const MOST: u32 = 10_000;

/// Reads reordering: `2%,3p`, `2%,3p,50ms`, `1%,5ms`, `none`. A share of zero is none.
///
/// # Errors
/// Anything else, a share of all packets, or more than 10000 packets.
pub(crate) fn reordering(text: &str) -> Result<Option<Reordering>, QuantityError> {
    let allowed = |error: QuantityError| QuantityError { allowed: ALLOWED.into(), ..error };
    let text = text.trim();
    if matches!(text, "none" | "0") {
        return Ok(None);
    }
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    let (share, distance, hold) = match *parts.as_slice() {
        [share, distance] => (share, distance, None),
        [share, distance, hold] => (share, distance, Some(hold)),
        _ => return Err(refuse(text, Why::Part, ALLOWED)),
    };
    let said = share;
    let share = quantity::fraction(said).map_err(allowed)?;
    if share == Decimal::whole(1) {
        return Err(refuse(said, Why::OutOfRange, "of all packets none would be left to overtake another"));
    }
    let by = match (distance.ends_with('p'), hold) {
        (true, hold) => {
            let count = quantity::packets(distance).map_err(allowed)?;
            if count > MOST {
                return Err(refuse(distance, Why::TooLarge, ALLOWED));
            }
            let hold = hold.map_or(Ok(HOLD), quantity::span).map_err(allowed)?;
            Displacement::Packets { count, hold }
        }
        (false, None) => Displacement::Time(quantity::span(distance).map_err(allowed)?),
        (false, Some(hold)) => return Err(refuse(hold, Why::Conflict, ALLOWED)),
    };
    Ok((!share.is_zero()).then_some(Reordering { share, by }))
}

impl Reordering {
    /// Returns the reordering in the form that the simulator takes.
    pub(crate) fn spec(self) -> Reorder {
        Reorder { share: probability(self.share), by: self.by }
    }

    /// Returns the reordering in words, for titles.
    pub(crate) fn describe(self) -> String {
        let by = match self.by {
            Displacement::Packets { count: 1, .. } => "1 packet".to_owned(),
            Displacement::Packets { count, .. } => format!("{count} packets"),
            Displacement::Time(span) => humane_span(span),
        };
        format!("{} displaced by {by}", self.share.in_percent())
    }
}

impl fmt::Display for Reordering {
    /// Writes reordering in the form in which it is read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},", self.share)?;
        match self.by {
            Displacement::Packets { count, hold } => write!(f, "{count}p,{}", show_span(hold)),
            Displacement::Time(span) => f.write_str(&show_span(span)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reordering_is_a_share_and_a_distance_in_packets_or_time() {
        let shown = |text| reordering(text).expect(text).map(|read| read.to_string());
        assert_eq!(shown("2%,3p").as_deref(), Some("0.02,3p,20ms"));
        assert_eq!(shown("0.5%, 12p, 50ms").as_deref(), Some("0.005,12p,50ms"));
        assert_eq!(shown("99%,5ms").as_deref(), Some("0.99,5ms"));
        for off in ["none", "0", "0%,3p", "0,5ms"] {
            assert_eq!(shown(off), None, "{off}");
        }
    }

    #[test]
    fn other_texts_are_refused_with_what_is_allowed() {
        for (text, why) in [
            ("2%", Why::Part),
            ("2%,3p,20ms,1", Why::Part),
            ("2%,0p", Why::Zero),
            ("2%,10001p", Why::TooLarge),
            ("2%,5ms,20ms", Why::Conflict),
            ("2%,3", Why::NoUnit),
            ("101%,3p", Why::OutOfRange),
        ] {
            let error = reordering(text).expect_err(text);
            assert_eq!(error.why, why, "{text}");
            assert!(error.to_string().contains("`2%,3p`"), "{error}");
        }
        let all = reordering("100%,1p").expect_err("no packet is left");
        assert!(all.to_string().contains("none would be left to overtake another"), "{all}");
    }
}
