//! What is attached to the two hosts for a run: Quick-Start.

use firstflight_emulate::Side;
use firstflight_report::human;
use serde::Serialize;

/// Something that is attached to the hosts of a run, and hears of their connections.
pub(crate) trait Beside {
    /// Attaches it, by the first process of each host, before any command starts. `sender` is the host that asks.
    fn attach(&self, processes: [u32; 2], sender: Side) -> Result<(), String>;
    /// What it heard, once the run is over, in the order in which connections asked.
    fn told(&self) -> Result<Vec<Asked>, String>;
}

/// A connection that asked for a rate.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Asked {
    /// Address and port of the host that asked, and of the other.
    pub(crate) local: String,
    pub(crate) remote: String,
    /// What became of the request: approved, small, denied, unanswered, passed-by, forged, lost or lapsed.
    pub(crate) outcome: &'static str,
    pub(crate) requested_bps: u32,
    pub(crate) approved_bps: u32,
    /// The window at the approved rate; none if nothing was approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) window_packets: Option<u32>,
    pub(crate) rtt_ms: f64,
    /// Packets of data that were sent by the end of the round trip at the approved rate, and those that were sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) round_packets: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) round_retransmitted: Option<u32>,
}

impl Asked {
    /// The connection in a line of words.
    pub(crate) fn line(&self) -> String {
        let Self { local, remote, rtt_ms, .. } = self;
        let what = match self.outcome {
            "approved" | "small" | "lapsed" => {
                let approved = human::rate(f64::from(self.approved_bps));
                let window = self.window_packets.unwrap_or(0);
                let used = match (self.outcome, self.round_packets) {
                    ("small", _) => ", which the initial window holds".to_owned(),
                    ("lapsed", _) => {
                        ", which came to nothing: data came more than a round trip later".to_owned()
                    }
                    (_, Some(packets)) => format!(", of which {packets} left in the round trip"),
                    (_, None) => String::new(),
                };
                format!("{approved} approved: a window of {window} at {rtt_ms:.1} ms{used}")
            }
            "denied" => "denied".to_owned(),
            "unanswered" => {
                "no answer: the other host does not take part, or an option was dropped".to_owned()
            }
            "passed-by" => "a router on the way does not take part".to_owned(),
            "forged" => "the nonce shows that somebody raised the rate".to_owned(),
            _ => "the SYN with the request was lost".to_owned(),
        };
        format!("{local} > {remote}: {what}")
    }
}
