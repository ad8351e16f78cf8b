//! The MTU of a path, as the longest segment that it carries, header and options included.
//!
//! The SYN and the SYN-ACK are padded to the length that is tried, so that a handshake that completes has tested the path in both
//! directions. Segments longer than the path's known MTU are split.

use std::num::NonZeroU16;

use firstflight_tcp::{Flags, Segment};

use crate::cookie::Cookie;
use crate::frame::HEADER;
use crate::link::{Link, Route};

/// The UDP payload that nearly any path carries. RFC 8200 section 5 requires that IPv6 paths carry packets of 1280 bytes.
const BASE: u16 = 1_280 - 48;
/// The UDP payload that any IPv4 host accepts (RFC 1122 section 3.3.3).
const LEAST: u16 = 576 - 28;

/// The lengths of segments, header and options included, that are tried on paths.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PmtuCandidates {
    /// The length that the device may carry.
    pub(crate) own: u16,
    /// The length that most paths carry, of packets of 1500 bytes.
    usual: u16,
    /// The length that nearly any path carries.
    base: u16,
    /// The length that any path carries.
    least: u16,
}

impl PmtuCandidates {
    /// Returns the lengths if segments have at most `own` bytes, those of packets of 1500 bytes have `usual` bytes, and datagrams are
    /// `overhead` bytes longer than segments.
    pub(crate) fn new(own: u16, usual: u16, overhead: u16) -> Self {
        let [base, least] = [BASE, LEAST].map(|length| own.min(length - overhead));
        Self { own, usual: own.min(usual), base, least }
    }

    /// Returns the MSS of a connection whose SYN had `length` bytes, header and padding included. The MSS is one of at most four values, so
    /// that peers cannot choose others.
    pub(crate) fn mss(self, length: u16) -> NonZeroU16 {
        let all = [self.own, self.usual, self.base];
        let length = all.into_iter().find(|candidate| length >= *candidate).unwrap_or(self.least);
        NonZeroU16::new(length.saturating_sub(HEADER)).unwrap_or(NonZeroU16::MIN)
    }

    /// Returns the length to use if `length` is too long for a path.
    pub(crate) fn below(self, length: u16) -> u16 {
        if length > self.usual { self.usual } else { length.min(self.base) }
    }

    /// Returns the length of the `number`-th SYN of a connection, counted from zero. The first length is tried twice.
    fn of_syn(self, length: u16, number: u32) -> u16 {
        let shorter = [self.usual, self.base].into_iter().filter(|shorter| *shorter < length);
        let place = usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
        std::iter::once(length).chain(shorter).nth(place).unwrap_or(self.least.min(length))
    }
}

/// The minimum MSS that is accepted from a peer, as in Linux (`TCP_MIN_SND_MSS`). A smaller MSS would let a peer cause much work with few
/// bytes.
pub(crate) const MIN_MSS: u16 = 48;

/// Sends a SYN, padded to the length that is tried: first the device's, then the length of most paths, then the length that nearly any path
/// carries, then the length that any path carries. The length of the arriving SYN shows the server the path's MTU, and the SYN-ACK has the
/// same length.
pub(crate) fn send_syn(
    link: &mut Link,
    route: &Route,
    segment: &Segment,
    (length, candidates): (u16, PmtuCandidates),
    syns: &mut u32,
) {
    if !link.has_cookies() {
        return link.send(route, segment, None, [&[], &[]]);
    }
    let length = candidates.of_syn(length, *syns);
    *syns += 1;
    send_padded(link, route, segment, None, length);
}

/// Sends a segment without data, padded to `length` bytes.
pub(crate) fn send_padded(
    link: &mut Link,
    route: &Route,
    segment: &Segment,
    cookie: Option<&Cookie>,
    length: u16,
) {
    static PADDING: [u8; u16::MAX as usize] = [0; u16::MAX as usize];
    let options =
        segment.options_length() + cookie.map_or(0, |cookie| u32::try_from(cookie.len()).unwrap_or(0));
    let len = length.saturating_sub(HEADER + u16::try_from(options).unwrap_or(0));
    let padded = Segment { len, ..*segment };
    link.send(route, &padded, cookie, [&PADDING[..usize::from(len)], &[]]);
}

/// Sends a segment. If it is longer than the path's MTU, splits it, as a device does in segmentation offload.
pub(crate) fn send_in_pmtu(
    link: &mut Link,
    route: &Route,
    segment: &Segment,
    payload: [&[u8]; 2],
    pmtu: u16,
) {
    let options = u16::try_from(segment.options_length()).unwrap_or(0);
    let room = pmtu.saturating_sub(HEADER + options).max(1);
    if segment.len <= room {
        return link.send(route, segment, None, payload);
    }
    let whole = payload.concat();
    let parts = whole.chunks(usize::from(room));
    let last = parts.len() - 1;
    let mut seq = segment.seq;
    for (number, part) in parts.enumerate() {
        let mut flags = segment.flags;
        if number < last {
            flags.0 &= !(Flags::FIN.0 | Flags::PSH.0);
        }
        if number > 0 {
            flags.0 &= !Flags::CWR.0;
        }
        let len = u16::try_from(part.len()).unwrap_or(0);
        link.send(route, &Segment { seq, len, flags, ..*segment }, None, [part, &[]]);
        seq = seq.wrapping_add(u32::from(len));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syns_become_shorter_until_any_path_carries_them() {
        let lengths = |own: u16| {
            let candidates = PmtuCandidates::new(own, 1_472, 0);
            (0..6).map(|number| candidates.of_syn(own, number)).collect::<Vec<_>>()
        };
        assert_eq!(lengths(1_472), [1_472, 1_472, 1_232, 548, 548, 548]);
        assert_eq!(lengths(8_972), [8_972, 8_972, 1_472, 1_232, 548, 548]);
        assert_eq!(lengths(1_000), [1_000, 1_000, 548, 548, 548, 548]);
        assert_eq!(lengths(500), [500; 6]);
    }

    #[test]
    fn a_wide_server_gives_a_usual_client_usual_segments() {
        let candidates = PmtuCandidates::new(8_972, 1_472, 0);
        let mss = |length| candidates.mss(length).get() + HEADER;
        assert_eq!(
            [u16::MAX, 8_972, 8_971, 1_472, 1_471, 1_232, 1_000, 0].map(mss),
            [8_972, 8_972, 1_472, 1_472, 1_232, 1_232, 548, 548]
        );
        assert_eq!(
            [8_972, 1_472, 1_300, 1_232].map(|length| candidates.below(length)),
            [1_472, 1_232, 1_232, 1_232]
        );
    }
}
