//! The summary over all senders of captures: distributions and counts. Its memory does not grow with the number of senders.

use std::collections::BTreeMap;

use firstflight_inspect::Found;
use serde::Serialize;

use super::distribution::{Distribution, Quantiles};

/// A summary in progress, to which senders are added one by one.
#[derive(Debug)]
pub struct Summary {
    connections: u64,
    senders: u64,
    /// The number of senders that a filter left out.
    left_out: u64,
    counted: u64,
    bytes_sent: u64,
    bytes_acked: u64,
    data_segments: u64,
    resent_segments: u64,
    exit_causes: BTreeMap<&'static str, u64>,
    limits: BTreeMap<&'static str, u64>,
    pacing: BTreeMap<&'static str, u64>,
    vantages: BTreeMap<&'static str, u64>,
    initial_window: Distribution,
    whole_window: Distribution,
    handshake: Distribution,
    reached: Distribution,
    resent_share: Distribution,
    restarts: Distribution,
}

/// A summary in numbers, which `--summary --json` prints. Counts by word use the word `undefined` for senders without the field.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summed {
    /// Connections with at least one sender in the summary.
    pub connections: u64,
    /// Senders: one for each direction with data, and one for a connection without data.
    pub senders: u64,
    /// Senders that a filter left out; no other number includes them.
    pub left_out: u64,
    /// Payload bytes sent, retransmissions included, by the senders whose segments could be counted.
    pub bytes_sent: u64,
    /// Payload bytes acknowledged in order.
    pub bytes_acked: u64,
    /// Segments with payload, retransmissions included, of the senders whose segments could be counted.
    pub data_segments_sent: u64,
    /// Retransmitted segments of the senders whose segments could be counted.
    pub retransmitted_segments: u64,
    /// Senders whose segments could not be counted.
    pub uncounted_senders: u64,
    /// Senders by exit cause.
    pub exit_causes: BTreeMap<&'static str, u64>,
    /// Senders by what limited the initial window.
    pub initial_window_limits: BTreeMap<&'static str, u64>,
    /// Senders by whether they paced their packets.
    pub pacing: BTreeMap<&'static str, u64>,
    /// Senders by the place of the capture on the path.
    pub vantages: BTreeMap<&'static str, u64>,
    /// Distributions over senders, by field.
    pub distributions: Distributions,
}

/// Distributions over senders, one for each field.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Distributions {
    /// The distribution of all initial windows.
    pub initial_window_segments: Quantiles,
    /// The distribution of initial windows that the congestion window limited, not the application or the receiver.
    pub initial_window_segments_by_window: Quantiles,
    /// The distribution of the handshakes' RTTs.
    pub handshake_rtt_s: Quantiles,
    /// The distribution of the times until 90 % of the later rate is reached.
    pub time_to_90pct_s: Quantiles,
    /// The distribution of the share of segments with payload that were retransmitted.
    pub retransmitted_share: Quantiles,
    /// The distribution of the number of idle restarts.
    pub idle_restarts_total: Quantiles,
}

/// The word under which senders without a value are counted.
const UNDEFINED: &str = "undefined";

impl Default for Summary {
    fn default() -> Self {
        Self {
            connections: 0,
            senders: 0,
            left_out: 0,
            counted: 0,
            bytes_sent: 0,
            bytes_acked: 0,
            data_segments: 0,
            resent_segments: 0,
            exit_causes: BTreeMap::new(),
            limits: BTreeMap::new(),
            pacing: BTreeMap::new(),
            vantages: BTreeMap::new(),
            initial_window: Distribution::of_counts(),
            whole_window: Distribution::of_counts(),
            handshake: Distribution::of_reals(),
            reached: Distribution::of_reals(),
            resent_share: Distribution::of_reals(),
            restarts: Distribution::of_counts(),
        }
    }
}

impl Summary {
    /// Adds a connection. Its senders are added afterwards.
    pub fn add_connection(&mut self) {
        self.connections += 1;
    }

    /// Adds senders that a filter left out.
    pub fn leave_out(&mut self, senders: u64) {
        self.left_out += senders;
    }

    /// Returns the number of senders that were added.
    pub fn senders(&self) -> u64 {
        self.senders
    }

    /// Returns the number of senders that were left out.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Adds a sender.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub fn add(&mut self, found: &Found) {
        self.senders += 1;
        self.bytes_acked += found.bytes_acked;
        let counted = (found.bytes_sent, found.data_segments_sent, found.retransmitted_segments);
        if let (Some(bytes), Some(segments), Some(resent)) = counted {
            self.counted += 1;
            self.bytes_sent += bytes;
            self.data_segments += segments;
            self.resent_segments += resent;
        }
        for (counts, word) in [
            (&mut self.exit_causes, found.exit_cause),
            (&mut self.limits, found.initial_window_limit),
            (&mut self.pacing, found.pacing),
            (&mut self.vantages, found.vantage),
        ] {
            *counts.entry(word.unwrap_or(UNDEFINED)).or_default() += 1;
        }
        let why = |field: &str| found.undefined.get(field).map_or("no reason was found", String::as_str);
        let put = |into: &mut Distribution, field: &str, value: Option<f64>| match value {
            Some(value) => into.add(value),
            None => into.lacks(why(field)),
        };
        let window = found.initial_window_segments.map(|segments| segments as f64);
        put(&mut self.initial_window, "initial_window_segments", window);
        match found.initial_window_limit {
            Some("window") => put(&mut self.whole_window, "initial_window_segments", window),
            Some("application") => self.whole_window.lacks("the application bounded it"),
            Some(_) => self.whole_window.lacks("the receiver's window bounded it"),
            None => self.whole_window.lacks(why("initial_window_limit")),
        }
        put(&mut self.handshake, "handshake_rtt_s", found.handshake_rtt_s);
        put(&mut self.reached, "time_to_90pct_s", found.time_to_90pct_s);
        match (found.retransmitted_segments, found.data_segments_sent) {
            (Some(resent), Some(sent)) if sent > 0 => self.resent_share.add(resent as f64 / sent as f64),
            (Some(_), Some(_)) => self.resent_share.lacks("no data was sent"),
            _ => self.resent_share.lacks(why("retransmitted_segments")),
        }
        self.restarts.add(found.idle_restarts_total as f64);
    }

    /// Returns the summary in numbers.
    pub fn summed(&self) -> Summed {
        Summed {
            connections: self.connections,
            senders: self.senders,
            left_out: self.left_out,
            bytes_sent: self.bytes_sent,
            bytes_acked: self.bytes_acked,
            data_segments_sent: self.data_segments,
            retransmitted_segments: self.resent_segments,
            uncounted_senders: self.senders - self.counted,
            exit_causes: self.exit_causes.clone(),
            initial_window_limits: self.limits.clone(),
            pacing: self.pacing.clone(),
            vantages: self.vantages.clone(),
            distributions: Distributions {
                initial_window_segments: self.initial_window.quantiles(),
                initial_window_segments_by_window: self.whole_window.quantiles(),
                handshake_rtt_s: self.handshake.quantiles(),
                time_to_90pct_s: self.reached.quantiles(),
                retransmitted_share: self.resent_share.quantiles(),
                idle_restarts_total: self.restarts.quantiles(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(window: u64, limit: &'static str, cause: Option<&'static str>) -> Found {
        let mut found = Found {
            initial_window_segments: Some(window),
            initial_window_limit: Some(limit),
            exit_cause: cause,
            bytes_sent: Some(1000),
            bytes_acked: 900,
            data_segments_sent: Some(10),
            retransmitted_segments: Some(1),
            ..Found::default()
        };
        found.undefined.insert("time_to_90pct_s", "too short".to_owned());
        found.undefined.insert("handshake_rtt_s", "no SYN".to_owned());
        found
    }

    #[test]
    fn every_sender_is_in_every_number_as_a_value_or_as_undefined() {
        let mut summary = Summary::default();
        summary.add_connection();
        summary.add(&sender(10, "window", Some("loss")));
        summary.add(&sender(1, "application", None));
        summary.add(&Found { bytes_acked: 5, ..Found::default() });
        let told = summary.summed();
        assert_eq!((told.connections, told.senders, told.uncounted_senders), (1, 3, 1));
        assert_eq!((told.bytes_sent, told.bytes_acked), (2000, 1805));
        assert_eq!((told.data_segments_sent, told.retransmitted_segments), (20, 2));
        assert_eq!(told.exit_causes, BTreeMap::from([("loss", 1), ("undefined", 2)]));
        let of = &told.distributions;
        assert_eq!(
            (&of.initial_window_segments.least, &of.initial_window_segments.most),
            (&1.into(), &10.into())
        );
        let by_window = &of.initial_window_segments_by_window;
        assert_eq!((&by_window.least, by_window.defined, by_window.undefined), (&10.into(), 1, 2));
        assert_eq!(by_window.reasons["the application bounded it"], 1);
        assert_eq!(of.time_to_90pct_s.reasons["too short"], 2);
        assert_eq!(of.retransmitted_share.median.as_f64(), Some(0.1));
        for one in [
            &of.initial_window_segments,
            by_window,
            &of.handshake_rtt_s,
            &of.time_to_90pct_s,
            &of.retransmitted_share,
            &of.idle_restarts_total,
        ] {
            assert_eq!(one.defined + one.undefined, 3);
            assert_eq!(one.reasons.values().sum::<u64>(), one.undefined);
        }
    }
}
