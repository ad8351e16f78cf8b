//! Groups of start-ups with the same destination prefix and congestion control, and of transfers with the same size class and congestion
//! control.

use std::collections::BTreeMap;

use firstflight_report::inspected::Distribution;
use serde::{Deserialize, Serialize};

use crate::matching::{CLASSES, class};
use crate::start::Start;

/// Maximum number of groups. Start-ups that would need a further group are counted under the prefix [`OTHER`].
const MOST: usize = 1000;

/// Maximum number of congestion controls by which transfers are grouped. Further ones are counted under [`OTHER`].
const MOST_LAWS: usize = 64;

/// The prefix, or the congestion control, of start-ups that would exceed the maximum number of groups.
const OTHER: &str = "other";

/// Numbers of a group that only grow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    /// Number of start-ups.
    pub starts: u64,
    /// Number of start-ups for each exit cause; `undefined` for start-ups without a known cause.
    pub causes: BTreeMap<String, u64>,
    /// Number of segments retransmitted because of the overshoot.
    pub overshoot: u64,
    /// Number of data segments sent, and how many of them were retransmissions.
    pub sent: [u64; 2],
    /// Number of restarts after idle times.
    pub restarts: u64,
}

/// The start-ups to one destination prefix with one congestion control.
#[derive(Debug)]
pub struct Group {
    /// Numbers that only grow.
    pub counters: Counters,
    /// The bytes in flight at the exit, in segments.
    pub window: Distribution,
    /// The rate at the exit, in bits a second.
    pub rate: Distribution,
    /// The time until the delivery rate reached nine tenths of the later rate, in seconds.
    pub reached: Distribution,
    /// Completion times of the first transfers, in seconds.
    pub completion: Distribution,
}

impl Default for Group {
    fn default() -> Self {
        Self {
            counters: Counters::default(),
            window: Distribution::of_counts(),
            rate: Distribution::of_counts(),
            reached: Distribution::of_reals(),
            completion: Distribution::of_reals(),
        }
    }
}

impl Group {
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    fn add(&mut self, start: &Start) {
        let found = &start.found;
        let counters = &mut self.counters;
        counters.starts += 1;
        *counters.causes.entry(found.exit_cause.unwrap_or("undefined").to_owned()).or_default() += 1;
        counters.overshoot += found.overshoot_segments.unwrap_or(0);
        counters.sent[0] += found.data_segments_sent.unwrap_or(0);
        counters.sent[1] += found.retransmitted_segments.unwrap_or(0);
        counters.restarts += found.idle_restarts_total;
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
        put(&mut self.completion, "transfer_s", found.transfer_s);
    }
}

/// Number of bounds of a histogram: six for each of five decades, and the end of the last.
const BOUNDS: usize = 31;

/// Values counted between fixed bounds: powers of ten, and five bounds between two of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Buckets {
    /// Number of values up to each bound and above the one before; the last counts those above all.
    counts: Vec<u64>,
    sum: f64,
}

impl Buckets {
    /// Returns the bounds, of which the first is the power of ten with this exponent.
    pub(crate) fn bounds(exponent: i32) -> impl Iterator<Item = f64> {
        const STEPS: [&str; 6] = ["1", "1.5", "2", "3", "5", "7"];
        let all = (exponent..).flat_map(|exponent| STEPS.map(|step| format!("{step}e{exponent}")));
        all.take(BOUNDS).map(|bound| bound.parse().unwrap_or(f64::INFINITY))
    }

    fn add(&mut self, exponent: i32, value: f64) {
        self.counts.resize(BOUNDS + 1, 0);
        let place = Self::bounds(exponent).position(|bound| value <= bound).unwrap_or(BOUNDS);
        self.counts[place] += 1;
        self.sum += value;
    }

    /// Returns the number of values up to each bound, and the number of all.
    pub(crate) fn cumulative(&self) -> impl Iterator<Item = u64> {
        self.counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        })
    }

    /// Returns the sum of all values.
    pub(crate) fn sum(&self) -> f64 {
        self.sum
    }
}

/// Exponents of the smallest bounds of times in seconds and of rates in bits a second.
pub(crate) const EXPONENTS: [i32; 2] = [-3, 4];

/// The first transfers of one size class under one congestion control.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Transfers {
    /// Completion times in seconds.
    pub completion: Buckets,
    /// Throughput in bits a second.
    pub throughput: Buckets,
    /// Times until 100 kB and 1 MB were acknowledged, in seconds.
    pub reached: [Buckets; 2],
}

impl Transfers {
    #[expect(clippy::cast_precision_loss, reason = "bytes are far below 2^53")]
    fn add(&mut self, start: &Start, bytes: u64, seconds: f64) {
        let [times, rates] = EXPONENTS;
        self.completion.add(times, seconds);
        if seconds > 0.0 {
            self.throughput.add(rates, bytes as f64 * 8.0 / seconds);
        }
        let reached = [start.found.time_to_100kb_s, start.found.time_to_1mb_s];
        for (buckets, time) in self.reached.iter_mut().zip(reached) {
            if let Some(time) = time {
                buckets.add(times, time);
            }
        }
    }
}

/// All groups.
#[derive(Debug, Default)]
pub struct Groups {
    all: BTreeMap<(String, String), Group>,
    transfers: BTreeMap<(String, usize), Transfers>,
}

/// The counters of all groups, to be kept over a restart. Quantiles are not kept.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Kept {
    /// Prefix, congestion control and counters of each group.
    groups: Vec<(String, String, Counters)>,
    /// Congestion control, place of the size class, and transfers.
    transfers: Vec<(String, usize, Transfers)>,
}

impl Groups {
    /// Creates groups that continue these counters.
    pub fn resumed(kept: Kept) -> Self {
        let of_group = |(prefix, law, counters)| ((prefix, law), Group { counters, ..Group::default() });
        let is_class = |(_, place, _): &(String, usize, Transfers)| *place < CLASSES.len();
        let of_transfers = |(law, place, transfers)| ((law, place), transfers);
        Self {
            all: kept.groups.into_iter().map(of_group).collect(),
            transfers: kept.transfers.into_iter().filter(is_class).map(of_transfers).collect(),
        }
    }

    /// Returns the counters.
    pub fn kept(&self) -> Kept {
        let of_group = |((prefix, law), group): (&(String, String), &Group)| {
            (prefix.clone(), law.clone(), group.counters.clone())
        };
        let of_transfers = |((law, place), transfers): (&(String, usize), &Transfers)| {
            (law.clone(), *place, transfers.clone())
        };
        Kept {
            groups: self.all.iter().map(of_group).collect(),
            transfers: self.transfers.iter().map(of_transfers).collect(),
        }
    }

    /// Adds a start-up to its groups.
    #[expect(clippy::cast_precision_loss, reason = "bytes are far below 2^53")]
    pub fn add(&mut self, start: &Start) {
        let mut key = (start.prefix.clone(), start.congestion_control.clone());
        if self.all.len() >= MOST && !self.all.contains_key(&key) {
            OTHER.clone_into(&mut key.0);
        }
        self.all.entry(key).or_default().add(start);
        let Some((bytes, seconds)) = start.found.transfer_bytes.zip(start.found.transfer_s) else { return };
        let mut key = (start.congestion_control.clone(), class(bytes as f64));
        if self.transfers.len() >= MOST_LAWS * CLASSES.len() && !self.transfers.contains_key(&key) {
            OTHER.clone_into(&mut key.0);
        }
        self.transfers.entry(key).or_default().add(start, bytes, seconds);
    }

    /// Returns each group with its prefix and congestion control, sorted by these.
    pub fn iter(&self) -> impl Iterator<Item = ((&str, &str), &Group)> {
        self.all.iter().map(|((prefix, law), group)| ((prefix.as_str(), law.as_str()), group))
    }

    /// Returns the transfers with their congestion control and the name of their size class, sorted by these.
    pub fn transfers(&self) -> impl Iterator<Item = ((&str, &str), &Transfers)> {
        self.transfers.iter().map(|((law, place), transfers)| ((law.as_str(), CLASSES[*place].0), transfers))
    }

    /// Returns the groups, sorted by descending number of start-ups.
    pub fn largest(&self) -> Vec<((&str, &str), &Group)> {
        let mut all: Vec<_> = self.iter().collect();
        all.sort_by_key(|(_, group)| std::cmp::Reverse(group.counters.starts));
        all
    }
}
