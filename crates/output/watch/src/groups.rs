//! Groups of start-ups with the same destination prefix and congestion control.

use std::collections::BTreeMap;

use firstflight_report::inspected::Distribution;

use crate::start::Start;

/// Maximum number of groups. Start-ups that would need a further group are counted under the prefix [`OTHER`].
const MOST: usize = 1000;

/// The prefix of start-ups that would exceed the maximum number of groups.
const OTHER: &str = "other";

/// The start-ups to one destination prefix with one congestion control.
#[derive(Debug)]
pub struct Group {
    /// Number of start-ups.
    pub starts: u64,
    /// Number of start-ups for each exit cause; `undefined` for start-ups without a known cause.
    pub causes: BTreeMap<&'static str, u64>,
    /// The bytes in flight at the exit, in segments.
    pub window: Distribution,
    /// The rate at the exit, in bits a second.
    pub rate: Distribution,
    /// The time until the delivery rate reached nine tenths of the later rate, in seconds.
    pub reached: Distribution,
    /// Number of segments retransmitted because of the overshoot.
    pub overshoot: u64,
    /// Number of data segments sent, and how many of them were retransmissions.
    pub sent: [u64; 2],
    /// Number of restarts after idle times.
    pub restarts: u64,
}

impl Default for Group {
    fn default() -> Self {
        Self {
            starts: 0,
            causes: BTreeMap::new(),
            window: Distribution::of_counts(),
            rate: Distribution::of_counts(),
            reached: Distribution::of_reals(),
            overshoot: 0,
            sent: [0; 2],
            restarts: 0,
        }
    }
}

impl Group {
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    fn add(&mut self, start: &Start) {
        let found = &start.found;
        self.starts += 1;
        *self.causes.entry(found.exit_cause.unwrap_or("undefined")).or_default() += 1;
        let why = |field: &str| found.undefined.get(field).map_or("no reason was found", String::as_str);
        let put = |into: &mut Distribution, field: &str, value: Option<f64>| match value {
            Some(value) => into.add(value),
            None => into.lacks(why(field)),
        };
        let window = found.exit_flight_bytes.zip(found.mss_bytes);
        let window = window.map(|(flight, mss)| flight as f64 / mss.max(1) as f64);
        put(&mut self.window, "exit_flight_bytes", window);
        put(&mut self.rate, "exit_rate_bps", start.exit_rate_bps);
        put(&mut self.reached, "time_to_90pct_s", found.time_to_90pct_s);
        self.overshoot += found.overshoot_segments.unwrap_or(0);
        self.sent[0] += found.data_segments_sent.unwrap_or(0);
        self.sent[1] += found.retransmitted_segments.unwrap_or(0);
        self.restarts += found.idle_restarts_total;
    }
}

/// All groups.
#[derive(Debug, Default)]
pub struct Groups {
    all: BTreeMap<(String, String), Group>,
}

impl Groups {
    /// Adds a start-up to its group.
    pub fn add(&mut self, start: &Start) {
        let mut key = (start.prefix.clone(), start.congestion_control.clone());
        if self.all.len() >= MOST && !self.all.contains_key(&key) {
            OTHER.clone_into(&mut key.0);
        }
        self.all.entry(key).or_default().add(start);
    }

    /// Returns each group with its prefix and congestion control, sorted by these.
    pub fn iter(&self) -> impl Iterator<Item = ((&str, &str), &Group)> {
        self.all.iter().map(|((prefix, law), group)| ((prefix.as_str(), law.as_str()), group))
    }

    /// Returns the groups, sorted by descending number of start-ups.
    pub fn largest(&self) -> Vec<((&str, &str), &Group)> {
        let mut all: Vec<_> = self.iter().collect();
        all.sort_by_key(|(_, group)| std::cmp::Reverse(group.starts));
        all
    }
}
