//! Harm: the bytes that others deliver less because of a flow, counted until they deliver again as they would without the flow.
//!
//! Harm compares two runs of a seed, with the flow and without it, beyond the flow's last byte. Up to the last byte, others that fill the
//! link lose what the flow delivers. The flow's further cost comes later, because reduced windows have to grow again.

use serde::Serialize;

use crate::arithmetic::seconds;
use crate::column::columns;

/// The number of steps in the interval over which two runs are compared.
pub const INTERVAL_STEPS: usize = 10;

/// The minimum time between two readings of the others' deliveries, in nanoseconds.
const MIN_STEP: u64 = 10_000_000;

/// The minimum time for which others are observed after the flow's last byte, in nanoseconds.
const MIN_HORIZON: u64 = 10_000_000_000;

/// The number of base RTTs for which others are observed after the flow's last byte, if these are longer than [`MIN_HORIZON`].
const HORIZON_RTTS: u64 = 100;

/// Returns the time between two readings, in nanoseconds: the base round-trip time, but at least 10 ms.
pub fn step(base_rtt: u64) -> u64 {
    base_rtt.max(MIN_STEP)
}

/// Returns how long others are observed after the flow's last byte, in nanoseconds: the larger of 100 base round-trip times and 10 s.
pub fn horizon(base_rtt: u64) -> u64 {
    base_rtt.saturating_mul(HORIZON_RTTS).max(MIN_HORIZON)
}

/// The bytes that others had delivered at an instant, with and without the flow: payload of TCP flows in order, IP bytes of datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The instant of the reading, in nanoseconds.
    pub at: u64,
    /// Bytes in the run with the flow.
    pub with: u64,
    /// Bytes in the run without the flow.
    pub without: u64,
}

impl Reading {
    /// Returns the bytes that others lack because of the flow; negative if they have more with it.
    pub fn harm(&self) -> i64 {
        self.without.cast_signed().wrapping_sub(self.with.cast_signed())
    }

    /// Checks whether both runs agree from this reading to a later one. They agree if the bytes delivered in between differ by at most 1 %
    /// of the bytes without the flow, or by at most a packet. If neither run delivers any, nothing shows that others have recovered. Then
    /// the totals since the flow's start must also be within a packet.
    fn agrees_until(&self, later: &Self, packet: u64) -> bool {
        let with = later.with.saturating_sub(self.with);
        let without = later.without.saturating_sub(self.without);
        if with == 0 && without == 0 {
            return later.harm().unsigned_abs() <= packet;
        }
        let difference = u128::from(with.abs_diff(without));
        difference <= u128::from(packet) || difference * 100 <= u128::from(without)
    }
}

/// The newest readings of both runs after the flow's last byte: those of one comparison interval.
#[derive(Clone, Debug)]
pub struct Comparison {
    packet: u64,
    /// The readings in order of time, the newest last.
    readings: [Reading; INTERVAL_STEPS + 1],
    count: usize,
}

impl Comparison {
    /// Creates a comparison without readings. A full packet has `packet` IP bytes.
    pub fn new(packet: u64) -> Self {
        Self { packet, readings: [Reading::default(); INTERVAL_STEPS + 1], count: 0 }
    }

    /// Adds the reading one step after the previous one. If both runs agree over the interval that ends with it, returns the reading at the
    /// start of the interval: harm was over then.
    pub fn add(&mut self, reading: Reading) -> Option<Reading> {
        self.readings.rotate_left(1);
        self.readings[INTERVAL_STEPS] = reading;
        self.count += 1;
        let from = self.readings[0];
        (self.count > INTERVAL_STEPS && from.agrees_until(&reading, self.packet)).then_some(from)
    }

    /// Returns the newest reading; `None` if there is none.
    pub fn newest(&self) -> Option<Reading> {
        (self.count > 0).then_some(self.readings[INTERVAL_STEPS])
    }
}

/// The harm that a flow did until it was over, or until the horizon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Harm {
    /// The reading up to which harm counts.
    pub reading: Reading,
    /// Bytes that others deliver without the flow, from the flow's start to that reading.
    pub would: u64,
    /// Payload bytes that the flow carried.
    pub carried: u64,
    /// The time from the flow's last byte until harm was over, in nanoseconds; `None` if it was not over by the horizon.
    pub over: Option<u64>,
}

columns! {
    /// The fields of a row about [`Harm`]. They are absent if the flow has no size or there are no others. They are null if the run has no
    /// end, because harm is counted from it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
    pub struct HarmFields {
        #[serde(skip_serializing_if = "Option::is_none")]
        pub harm_bytes: Option<Option<i64>> = ["B"]
            "What other flows delivered less because of this one, against the same seed's run without it, from its start until \
             harm is over: both runs agree from then on for ten steps (a step is the base round-trip time, at least 10 ms), \
             within 1 % or a packet of what others deliver without it. If they do not agree by the horizon, the larger of 100 \
             base round-trip times and 10 s after the last byte, it counts until then. Negative where others deliver more. Only \
             with a size and others, as the next five; undefined if the flow met its limit.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub harm_per_byte: Option<Option<f64>> = ["1"]
            "Those bytes over the payload that the flow carried, that of all clients: about 1 is sharing on a link that others \
             fill, and what is above is waste.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub harm_beyond_bytes: Option<Option<u64>> = ["B"]
            "The waste: those bytes less the payload that the flow carried; zero if they are fewer.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub harm_share: Option<Option<f64>> = ["1"]
            "Those bytes over what others would have delivered in that time.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub harm_over_s: Option<Option<f64>> = ["s"]
            "The flow's last byte, or its abort, until harm was over. Undefined if the horizon came first.";
        #[serde(skip_serializing_if = "Option::is_none")]
        pub others_fct_ratio: Option<Option<f64>> = ["1"]
            "The mean completion time of others' transfers that began from the flow's start until harm was over, or until the \
             horizon, over that of the same transfers without the flow; of those that both runs have and finished while they were \
             compared. Undefined if there are none.";
    }
}

impl HarmFields {
    /// The fields of a run without an end: all are present, without a value.
    pub const UNDEFINED: Self = Self {
        harm_bytes: Some(None),
        harm_per_byte: Some(None),
        harm_beyond_bytes: Some(None),
        harm_share: Some(None),
        harm_over_s: Some(None),
        others_fct_ratio: Some(None),
    };
}

impl Harm {
    /// Returns the fields of a row. `others_fct_ratio` is the ratio of others' completion times with and without the flow.
    pub fn fields(&self, others_fct_ratio: Option<f64>) -> HarmFields {
        let bytes = self.reading.harm();
        let beyond = u64::try_from(bytes).unwrap_or(0).saturating_sub(self.carried);
        HarmFields {
            harm_bytes: Some(Some(bytes)),
            harm_per_byte: Some(share(bytes, self.carried)),
            harm_beyond_bytes: Some(Some(beyond)),
            harm_share: Some(share(bytes, self.would)),
            harm_over_s: Some(self.over.map(seconds)),
            others_fct_ratio: Some(others_fct_ratio),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn share(bytes: i64, of: u64) -> Option<f64> {
    (of > 0).then(|| bytes as f64 / of as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: u64 = 1_500;

    /// Returns the reading at which harm is over. `steps` has the bytes delivered in each step, with the flow and without it.
    fn over(steps: impl IntoIterator<Item = (u64, u64)>) -> Option<Reading> {
        let (mut comparison, mut last) = (Comparison::new(PACKET), Reading::default());
        assert_eq!((comparison.newest(), comparison.add(last)), (None, None));
        steps.into_iter().find_map(|(with, without)| {
            last = Reading { at: last.at + 1, with: last.with + with, without: last.without + without };
            let over = comparison.add(last);
            assert_eq!(comparison.newest(), Some(last));
            over
        })
    }

    #[test]
    fn harm_is_over_where_the_first_interval_begins_in_which_both_agree() {
        let steps = [(50_000, 100_000); 7].into_iter().chain([(100_000, 100_000); 20]);
        let over = over(steps).expect("they agree");
        assert_eq!((over.at, over.harm()), (7, 350_000));
    }

    #[test]
    fn an_interval_differing_beyond_one_percent_and_one_packet_disagrees() {
        let once = |with| over([(with, 100_000)].into_iter().chain([(100_000, 100_000); 9]));
        assert!(once(90_000).is_some() && once(110_000).is_some(), "a hundredth of a million");
        assert!(once(89_999).is_none() && once(110_001).is_none());
        let few = |with| over([(with, 10_000)].into_iter().chain([(0, 0); 9]));
        assert!(few(8_500).is_some() && few(11_500).is_some(), "a packet");
        assert!(few(8_499).is_none() && few(11_501).is_none());
    }

    #[test]
    fn a_time_in_which_others_catch_up_is_not_over() {
        let steps = [(0, 100_000); 6].into_iter().chain([(150_000, 100_000); 12]);
        let over = over(steps.chain([(100_000, 100_000); 10])).expect("they agree");
        assert_eq!((over.at, over.harm()), (18, 0));
    }

    #[test]
    fn silence_agrees_only_if_nothing_is_owed() {
        let silence = [(0, 0); 20];
        assert!(over(silence).is_some());
        assert!(
            over([(0, 5_000)].into_iter().chain(silence)).is_none(),
            "a transfer that waits for its timer"
        );
        let late = [(0, 5_000)].into_iter().chain([(0, 0); 12]).chain([(5_000, 0)]).chain(silence);
        assert_eq!(over(late).expect("it came").harm(), 0);
    }

    #[test]
    fn harm_in_excess_of_carried_bytes_is_reported_as_beyond() {
        let harm = |with, carried| {
            let reading = Reading { at: 9, with, without: 10_000 };
            Harm { reading, would: 8_000, carried, over: Some(2_000_000_000) }.fields(None)
        };
        let fields = harm(4_000, 2_000);
        assert_eq!((fields.harm_bytes, fields.harm_beyond_bytes), (Some(Some(6_000)), Some(Some(4_000))));
        assert_eq!((fields.harm_per_byte, fields.harm_share), (Some(Some(3.0)), Some(Some(0.75))));
        assert_eq!((fields.harm_over_s, fields.others_fct_ratio), (Some(Some(2.0)), Some(None)));
        let spared = harm(11_000, 0);
        assert_eq!((spared.harm_bytes, spared.harm_beyond_bytes), (Some(Some(-1_000)), Some(Some(0))));
        assert_eq!(spared.harm_per_byte, Some(None), "it carried nothing");
    }

    #[test]
    fn steps_and_the_horizon_grow_with_the_round_trip_time() {
        let ms = |ms: u64| ms * 1_000_000;
        assert_eq!([step(ms(1)), step(ms(40))], [ms(10), ms(40)]);
        assert_eq!([horizon(ms(40)), horizon(ms(600))], [ms(10_000), ms(60_000)]);
    }
}
