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
    /// The length that nearly any path carries.
    pub(crate) base: u16,
    /// The length that any path carries.
    least: u16,
}

impl PmtuCandidates {
    /// Returns the lengths if segments have at most `own` bytes and datagrams are `overhead` bytes longer than segments.
    pub(crate) fn new(own: u16, overhead: u16) -> Self {
        Self { own, base: own.min(BASE - overhead), least: own.min(LEAST - overhead) }
    }

    /// Returns the MSS of a connection whose SYN had `length` bytes, header and padding included. The MSS is one of three values, so that
    /// peers cannot choose others.
    pub(crate) fn mss(self, length: u16) -> NonZeroU16 {
        let length = match length {
            length if length >= self.own => self.own,
            length if length >= self.base => self.base,
            _ => self.least,
        };
        NonZeroU16::new(length.saturating_sub(HEADER)).unwrap_or(NonZeroU16::MIN)
    }
}

/// The minimum MSS that is accepted from a peer, as in Linux (`TCP_MIN_SND_MSS`). A smaller MSS would let a peer cause much work with few
/// bytes.
pub(crate) const MIN_MSS: u16 = 48;

/// Sends a SYN, padded to the length that is tried: first the device's, then the length that nearly any path carries, then the length
/// that any path carries. The length of the arriving SYN shows the server the path's MTU, and the SYN-ACK has the same length.
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
    let length = match *syns {
        0 | 1 => length,
        2 => length.min(candidates.base),
        _ => length.min(candidates.least),
    };
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
