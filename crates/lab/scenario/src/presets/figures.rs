//! The figures of a preset as short texts, for tables.

use firstflight::Rate;

use super::row::Preset;
use crate::bottleneck::rate_trace;
use crate::quantity;

/// The text of a figure that the preset does not have.
const NONE: &str = "–";

/// The figures of a preset that its words set, as texts without units where the heading has one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figures {
    /// The bottleneck's rate in Mbit/s; with a rate over time, its lowest and highest rate.
    pub rate: String,
    /// The rate of the reverse path in Mbit/s.
    pub reverse_rate: String,
    /// The base round-trip time in ms.
    pub rtt: String,
    /// The bottleneck's queue: the source's figure, or the preset's key if the source states none.
    pub queue: String,
    /// The random loss, and after a comma the random loss on the reverse path.
    pub loss: String,
}

impl Preset {
    /// Returns the figures as texts. A figure that the preset does not set is a dash.
    pub fn figures(&self) -> Figures {
        let or_none = |text: Option<String>| text.unwrap_or_else(|| NONE.to_owned());
        let rate = |key: &str| self.word(key).and_then(|text| quantity::rate(text).ok()).map(megabits);
        let losses = ["loss", "ack-loss"].into_iter().filter_map(|key| self.word(key));
        let losses: Vec<String> = losses.map(|text| text.replace('%', " %")).collect();
        Figures {
            rate: or_none(self.rates().or_else(|| rate("rate"))),
            reverse_rate: or_none(rate("reverse-rate")),
            rtt: or_none(self.word("rtt").map(|text| text.trim_end_matches("ms").to_owned())),
            queue: match (self.queue, self.word("queue")) {
                ("", queue) => or_none(queue.map(packets)),
                (stated, _) => stated.to_owned(),
            },
            loss: or_none((!losses.is_empty()).then(|| losses.join(", "))),
        }
    }

    /// Returns the lowest and the highest rate of the rate over time; `None` if the rate is constant.
    fn rates(&self) -> Option<String> {
        let trace = rate_trace(self.word("rate-trace")?).ok()?;
        let rates = || trace.steps().iter().map(|(_, rate)| *rate);
        Some(format!("{}–{}", megabits(rates().min()?), megabits(rates().max()?)))
    }
}

/// Returns a queue with its unit as a word.
fn packets(text: &str) -> String {
    text.strip_suffix('p').map_or_else(|| text.to_owned(), |packets| format!("{packets} packets"))
}

fn megabits(rate: Rate) -> String {
    let (whole, rest) = (rate.bps() / 1_000_000, rate.bps() % 1_000_000);
    let text = format!("{whole}.{rest:06}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
