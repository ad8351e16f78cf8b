//! Attachments to the two hosts for a run. The only one is Quick-Start.

use firstflight_emulate::Side;
use firstflight_report::human;
use serde::Serialize;

/// An attachment to the hosts of a run, which observes their connections.
pub(crate) trait Beside {
    /// Attaches to the hosts, identified by their first processes, before any command starts. `sender` is the host that requests rates.
    fn attach(&self, processes: [u32; 2], sender: Side) -> Result<(), String>;
    /// Returns the requests observed, in the order in which the connections made them. Call after the run.
    fn outcomes(&self) -> Result<Vec<Asked>, String>;
}

/// A connection that requested a rate.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Asked {
    /// Address and port of the requesting host and of its peer.
    pub(crate) local: String,
    pub(crate) remote: String,
    /// The outcome of the request: approved, small, denied, unanswered, passed-by, forged, lost or lapsed.
    pub(crate) outcome: &'static str,
    pub(crate) requested_bps: u32,
    pub(crate) approved_bps: u32,
    /// The window that corresponds to the approved rate; `None` if no rate was approved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) window_packets: Option<u32>,
    pub(crate) rtt_ms: f64,
    /// Data packets, and retransmissions among them, sent by the end of the round trip at the approved rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) round_packets: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) round_retransmitted: Option<u32>,
}

impl Asked {
    /// Describes the connection in one line.
    pub(crate) fn line(&self) -> String {
        let Self { local, remote, rtt_ms, .. } = self;
        let what = match self.outcome {
            "approved" | "small" | "lapsed" => {
                let approved = human::rate(f64::from(self.approved_bps));
                let window = self.window_packets.unwrap_or(0);
                let used = match (self.outcome, self.round_packets) {
                    ("small", _) => ", which the initial window holds".to_owned(),
                    ("lapsed", _) => ", without effect: data arrived more than an RTT later".to_owned(),
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
