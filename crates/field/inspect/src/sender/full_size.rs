//! Determines the payload of a full segment of a sender. The options of the SYNs give an upper bound. Options in data segments and a path
//! with a smaller MTU reduce it; only the segments show this.

use serde::{Deserialize, Serialize};

use crate::events::Setting;

/// Minimum payload of a full segment. No path needs segments of less than 536 bytes (RFC 9293 section 3.7.1), of which options take at most
/// 40.
const SMALLEST: u64 = 536 - 40;

/// Length of the timestamps option (RFC 7323 section 3.2) with two bytes of padding.
const TIMESTAMPS: u64 = 12;

/// Number of votes with which a size is accepted as the full one.
const ENOUGH: u8 = 3;
/// Maximum number of votes. It is limited so that a change of the path is noticed.
const MOST: u8 = 8;
/// Number of votes that a segment of another size takes away. Writes end with this kind of segment, but it is fewer than one in four.
const AGAINST: u8 = 3;

/// The evidence from a sender's segments.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct FullSize {
    /// The largest payload of a packet, in bytes.
    largest: u64,
    /// The smallest number of option bytes of a packet with payload.
    least_options: Option<u8>,
    /// Payload bytes of the last packet with new data.
    last: u64,
    /// Payload size of segments after which the sender had more data. `votes` counts them. A segment that is not full would end the
    /// available data.
    size: u64,
    votes: u8,
    voted: u64,
}

impl FullSize {
    /// Records a packet's payload and option bytes.
    pub(super) fn passed(&mut self, len: u64, options_len: u8) {
        self.largest = self.largest.max(len);
        self.least_options = Some(self.least_options.map_or(options_len, |least| least.min(options_len)));
    }

    /// Records a packet with new data. `len` is its payload from [`Self::with_options`]. `follows` says that this data was ready when the
    /// previous packet was sent, so the previous packet was sent although there was more data.
    pub(super) fn sent(&mut self, len: u64, follows: bool, setting: &Setting) {
        if follows {
            self.vote(self.agreed(setting));
        }
        self.last = len;
    }

    fn vote(&mut self, agreed: u64) {
        let len = self.last;
        let is_of_several = len > agreed && self.size > 0 && len.is_multiple_of(self.size);
        if len == self.size || is_of_several {
            // A packet of several segments can be divided in several ways. Only packets of different sizes support a common size.
            let counts = len != self.voted || len == self.size;
            self.votes = (self.votes + u8::from(counts)).min(MOST);
        } else if len <= agreed && len > self.size {
            (self.size, self.votes) = (len, 1);
        } else {
            self.votes = self.votes.saturating_sub(AGAINST);
            if self.votes == 0 {
                (self.size, self.votes) = (divided(len, agreed), 1);
            }
        }
        self.voted = len;
    }

    /// Returns the payload of a full segment according to the SYNs' options and the options in data. A stack may or may not subtract the
    /// timestamps. Without the SYNs, returns the largest payload seen.
    fn agreed(&self, setting: &Setting) -> u64 {
        let Some(option) = setting.mss_option.map(u64::from) else { return self.largest.clamp(1, 1460) };
        let timestamps = if setting.timestamps && !setting.options_cut { TIMESTAMPS } else { 0 };
        let usual = option.saturating_sub(self.least_options.map_or(timestamps, u64::from)).max(1);
        if !setting.options_cut && (usual + 1..=option).contains(&self.largest) {
            self.largest
        } else {
            usual
        }
    }

    /// Returns the payload of a full segment that has as few options as possible.
    pub(super) fn full(&self, setting: &Setting) -> u64 {
        let agreed = self.agreed(setting);
        if self.votes >= ENOUGH && (SMALLEST..agreed).contains(&self.size) { self.size } else { agreed }
    }

    /// Returns the number of segments on the wire for a packet with this payload, because a network card may split it.
    pub(super) fn segments(&self, len: u64, options_len: u8, setting: &Setting) -> u64 {
        let more = options_len.saturating_sub(self.least_options.unwrap_or(options_len));
        match setting.mss_option.map(u64::from) {
            Some(option) if len > option => {
                len.div_ceil(self.full(setting).saturating_sub(more.into()).max(1))
            }
            _ => 1,
        }
    }

    /// If the packet is one segment, returns the payload that it would have with as few options as possible. Otherwise returns its payload.
    pub(super) fn with_options(&self, len: u64, options_len: u8, setting: &Setting) -> u64 {
        let is_one = setting.mss_option.is_none_or(|option| len <= option.into());
        let more = options_len.saturating_sub(self.least_options.unwrap_or(options_len));
        if is_one { len + u64::from(more) } else { len }
    }

    /// Checks whether a packet with this payload consists of full segments only.
    pub(super) fn is_full(&self, len: u64, setting: &Setting) -> bool {
        let (full, agreed) = (self.full(setting), self.agreed(setting));
        len.is_multiple_of(full) || len.is_multiple_of(agreed) || (full..=agreed).contains(&len)
    }
}

/// Returns the size of the equal segments into which a packet divides: as few segments as possible, each of at most `agreed` bytes. Returns
/// 0 if it does not divide.
fn divided(len: u64, agreed: u64) -> u64 {
    let fewest = len.div_ceil(agreed.max(1)).max(1);
    let count = (fewest..=len / SMALLEST).find(|count| len.is_multiple_of(*count));
    count.map_or(0, |count| len / count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting() -> Setting {
        Setting { mss_option: Some(1460), timestamps: true, ..Setting::default() }
    }

    fn full(packets: &[u64]) -> u64 {
        let mut size = FullSize::default();
        for (at, len) in packets.iter().enumerate() {
            size.passed(*len, 12);
            size.sent(*len, at > 0, &setting());
        }
        size.full(&setting())
    }

    #[test]
    fn segments_smaller_than_the_option_are_full_if_more_data_followed_them() {
        assert_eq!(full(&[1348; 5]), 1348);
        assert_eq!(full(&[238, 1348, 1348, 1348, 1348, 700]), 1348);
        // The packets that were followed by more data are too few.
        assert_eq!(full(&[1348, 1348, 1348]), 1448);
        // The messages are smaller than the segments of any path, or are joined now and then.
        assert_eq!(full(&[300; 9]), 1448);
        assert_eq!(full(&[705, 1410, 705, 705, 1410, 705, 1410]), 1448);
        assert_eq!(full(&[1348, 1348, 1348, 1348, 1448, 1448]), 1448);
    }

    #[test]
    fn packets_of_several_segments_show_the_size_that_divides_them_all() {
        assert_eq!(full(&[13_480, 2696, 5392, 2696, 1348]), 1348);
        assert_eq!(full(&[14_480, 2896, 2896, 5792]), 1448);
        // If all writes have one size, they do not show the segment size.
        assert_eq!(full(&[10_000; 9]), 1448);
    }

    #[test]
    fn a_path_that_changes_is_followed() {
        assert_eq!(full(&[[1448; 20], [1348; 20]].concat()), 1348);
    }

    #[test]
    fn full_size_excludes_constant_options_and_tolerates_blocks_in_some_segments() {
        let mut size = FullSize::default();
        size.passed(1424, 36);
        assert_eq!(size.full(&setting()), 1424);
        let mut size = FullSize::default();
        for (len, options) in [(1448, 12), (1436, 24), (1448, 12)] {
            size.passed(len, options);
            let whole = size.with_options(len, options, &setting());
            size.sent(whole, true, &setting());
            assert!(size.is_full(whole, &setting()), "{len}");
        }
        assert_eq!((size.full(&setting()), size.segments(2872, 24, &setting())), (1448, 2));
    }
}
