//! The content of a vector's file: a sender's events, and the decisions of a right controller.

use std::collections::BTreeMap;

use serde::Serialize;

/// A vector: the settings of a controller, its events in order, and its decisions.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Vector {
    /// The name of the file, without its ending.
    pub name: String,
    /// The specification and section that decides.
    pub spec: &'static str,
    /// The rule that the vector reaches.
    pub says: &'static str,
    /// The relative deviation that is allowed in each number of the decisions. Zero is exact.
    pub tolerance: f64,
    /// The settings of the controller.
    pub config: Config,
    /// The events and decisions.
    pub steps: Vec<Step>,
}

/// The settings of a controller.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Config {
    /// The size of a full packet.
    pub mss_bytes: u64,
    /// The window of a new connection.
    pub initial_window_bytes: u64,
    /// The slow-start threshold of a new connection; `None` is arbitrarily high.
    pub initial_ssthresh_bytes: Option<u64>,
    /// Whether slow start counts the bytes of an ACK (RFC 3465, RFC 9002), or at most one packet (RFC 5681).
    pub counts_bytes: bool,
    /// The avoidance law that takes over.
    pub law: &'static str,
    /// Settings of the scheme.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parameters: BTreeMap<&'static str, u64>,
}

/// One event, and the decision after it. Absent fields do not belong to the event.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct Step {
    /// The time since the start of the handshake.
    pub time_us: u64,
    /// The word of the event.
    pub event: &'static str,
    /// Packets sent, acknowledged or lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packets: Option<u64>,
    /// Bytes sent, acknowledged or lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The offset at which the newest packet of the event ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub through_bytes: Option<u64>,
    /// The RTT sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_us: Option<u64>,
    /// The delivery rate of an ACK.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delivery_rate_bytes_per_second: Option<u64>,
    /// Time without a transmission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_us: Option<u64>,
    /// Whether a packet of the handshake was lost.
    #[serde(skip_serializing_if = "is_false")]
    pub handshake_lost: bool,
    /// Whether the timer expired before for the packet.
    #[serde(skip_serializing_if = "is_false")]
    pub repeated: bool,
    /// Whether an RTT ended with the ACK.
    #[serde(skip_serializing_if = "is_false")]
    pub round_ended: bool,
    /// Whether the application, not the window, limited the packets sent, or the newest packet acknowledged.
    #[serde(skip_serializing_if = "is_false")]
    pub app_limited: bool,
    /// Whether the window must not grow, because less than half of it was in flight in this RTT and the last.
    #[serde(skip_serializing_if = "is_false")]
    pub window_unused: bool,
    /// Whether the ACK belongs to a loss episode.
    #[serde(skip_serializing_if = "is_false")]
    pub recovering: bool,
    /// Bytes in flight after the event.
    pub in_flight_bytes: u64,
    /// The rule that acts at this step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expect>,
}

/// A decision.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Expect {
    /// The congestion window.
    pub cwnd_bytes: u64,
    /// The slow-start threshold; `None` if there is none.
    pub ssthresh_bytes: Option<u64>,
    /// The pacing rate, if the specification states it; the inner `None` is no pacing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacing_bytes_per_second: Option<Option<u64>>,
    /// `startup`, `restart` or `avoidance`.
    pub phase: &'static str,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// Returns `value` as JSON on one line.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| unreachable!("numbers, words and flags: {error}"))
}

impl Vector {
    /// Returns the text of the vector's file: JSON with one step a line.
    pub fn text(&self) -> String {
        let head = [
            ("name", json(&self.name)),
            ("spec", json(&self.spec)),
            ("says", json(&self.says)),
            ("tolerance", json(&self.tolerance)),
            ("config", json(&self.config)),
        ];
        let head: Vec<String> = head.iter().map(|(key, value)| format!("  \"{key}\": {value},\n")).collect();
        let steps: Vec<String> = self.steps.iter().map(|step| format!("    {}", json(step))).collect();
        format!("{{\n{}  \"steps\": [\n{}\n  ]\n}}\n", head.concat(), steps.join(",\n"))
    }
}
