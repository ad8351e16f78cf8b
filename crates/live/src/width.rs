//! The width of a path: the longest segment that it carries, header and options counted in.
//!
//! SYN and SYN-ACK are padded to the width that is tried, so that whatever opens a connection has crossed the path both ways. What
//! is wider than the path is known to be is parted.

use std::num::NonZeroU16;

use firstflight_tcp::{Flags, Segment};

use crate::cookie::Cookie;
use crate::frame::HEADER;
use crate::link::{Link, Route};

/// Bytes of a segment that nearly any path carries: RFC 8200 section 5 has packets of 1280 bytes for IPv6.
pub(crate) const BASE_SEGMENT: u16 = 1_280 - 48;
/// Bytes of a segment that any IPv4 host takes (RFC 1122 section 3.3.3), less IP's and UDP's headers.
const LEAST_SEGMENT: u16 = 576 - 28;

/// The least MSS of a peer that is obeyed, as in Linux (`TCP_MIN_SND_MSS`): who asks for a byte a datagram gets work done for little.
pub(crate) const LEAST_MSS: u16 = 48;

/// Sends a SYN, padded to the width that the path is tried for: first what the device may carry, then what paths do, then what
/// any path does. What arrives tells the server the width, and its answer is as wide.
pub(crate) fn send_syn(link: &mut Link, route: &Route, segment: &Segment, width: u16, syns: &mut u32) {
    if !link.has_cookies() {
        return link.send(route, segment, None, [&[], &[]]);
    }
    let width = match *syns {
        0 | 1 => width,
        2 => width.min(BASE_SEGMENT),
        _ => width.min(LEAST_SEGMENT),
    };
    *syns += 1;
    send_padded(link, route, segment, None, width);
}

/// Sends a segment that has no data with padding, so that the whole has `width` bytes.
pub(crate) fn send_padded(
    link: &mut Link,
    route: &Route,
    segment: &Segment,
    cookie: Option<&Cookie>,
    width: u16,
) {
    static PADDING: [u8; u16::MAX as usize] = [0; u16::MAX as usize];
    let options =
        segment.options_length() + cookie.map_or(0, |cookie| u32::try_from(cookie.len()).unwrap_or(0));
    let len = width.saturating_sub(HEADER + u16::try_from(options).unwrap_or(0));
    let padded = Segment { len, ..*segment };
    link.send(route, &padded, cookie, [&PADDING[..usize::from(len)], &[]]);
}

/// Sends a segment, in parts if it is wider than the path: each is what a device would make of it (segmentation offload).
pub(crate) fn send_in_width(
    link: &mut Link,
    route: &Route,
    segment: &Segment,
    payload: [&[u8]; 2],
    width: u16,
) {
    let options = u16::try_from(segment.options_length()).unwrap_or(0);
    let room = width.saturating_sub(HEADER + options).max(1);
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

/// The MSS of a connection whose SYN was `width` bytes, header and padding counted in: one of three, so that peers have no others.
pub(crate) fn mss_of_width(width: u16, own: u16) -> NonZeroU16 {
    let width = match width {
        width if width >= own => own,
        width if width >= BASE_SEGMENT => BASE_SEGMENT.min(own),
        _ => LEAST_SEGMENT.min(own),
    };
    NonZeroU16::new(width.saturating_sub(HEADER)).unwrap_or(NonZeroU16::MIN)
}
