//! The notes on results whose completion time was determined by waiting for timers.

use super::judged::Judged;
use super::words::{listed, span};
use crate::result::SchemeResult;

/// The share of the completion time from which waits determine it.
const DETERMINES: f64 = 0.5;

/// The timers of [`crate::Row::longest_wait_end`], in the words of a verdict.
const TIMERS: [(&str, &str); 4] = [
    ("delayed-ack", "the receiver's delayed-ACK timer"),
    ("timeout", "the retransmission timeout"),
    ("handshake", "the handshake's retransmission timer"),
    ("sender", "a timer of the sender"),
];

/// Returns notes on the results that spent half of their completion time or more with no packet in flight. There is one note for each timer
/// that ended a single wait of that length, and one for the results with many shorter waits.
pub(super) fn notes(ranked: &[SchemeResult]) -> Vec<String> {
    let waits: Vec<Waited<'_>> = ranked.iter().filter_map(determining).collect();
    let said = |those: &[&Waited<'_>], for_what: &dyn Fn(f64) -> String| {
        let longest = |of: fn(&Waited<'_>) -> f64| those.iter().map(|one| of(one)).fold(0.0, f64::max);
        let names: Vec<&str> = those.iter().map(|one| one.name).collect();
        let whose = match names.len() {
            0 => return None,
            count if count == ranked.len() && count > 1 => "every scheme".to_owned(),
            _ => listed(&names),
        };
        let up_to = if names.len() > 1 { "up to " } else { "" };
        let shown = span(longest(|one| if one.is_one() { one.longest } else { one.total }));
        let for_what = for_what(longest(|one| one.longest));
        Some(format!("{whose} waited {up_to}{shown} of the completion time for {for_what}."))
    };
    let of = |(timer, words): &(&str, &str)| {
        let those: Vec<_> = waits.iter().filter(|one| one.is_one() && one.end == *timer).collect();
        said(&those, &|_| (*words).to_owned())
    };
    let many: Vec<_> = waits.iter().filter(|one| !one.is_one()).collect();
    let many = said(&many, &|longest| format!("timers, up to {} at a time", span(longest)));
    TIMERS.iter().filter_map(of).chain(many).collect()
}

/// A result with at least half of its completion time without a packet in flight. Times are in seconds.
struct Waited<'a> {
    name: &'a str,
    end: String,
    longest: f64,
    total: f64,
    fct: f64,
}

impl Waited<'_> {
    /// Checks whether the longest wait alone determines the completion time.
    fn is_one(&self) -> bool {
        self.longest >= DETERMINES * self.fct
    }
}

/// Returns the waits of a result if they determine its completion time and the application did not cause them.
fn determining(result: &SchemeResult) -> Option<Waited<'_>> {
    let judged = Judged::of(result);
    let longest = judged.whole("longest_wait_s")?;
    let total = judged.whole("waited_s").unwrap_or(longest);
    let end = judged.object.get("longest_wait_end")?.as_str()?.to_owned();
    let fct = judged.fct?;
    (longest > 0.0 && longest.max(total) >= DETERMINES * fct && end != "application").then(|| Waited {
        name: &result.name,
        end,
        longest,
        total,
        fct,
    })
}
