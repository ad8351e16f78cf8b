//! From a frame to the IP packet in it.

use crate::layers::{End, Kind, Labels, Layers};

/// What the first bytes of a frame are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Link {
    /// Ethernet, with or without VLAN tags.
    Ethernet,
    /// IP at once.
    Raw,
    /// Linux "cooked", version 1: 16 bytes.
    Cooked,
    /// Linux "cooked", version 2: 20 bytes.
    Cooked2,
    /// BSD loopback: four bytes of address family.
    Loopback,
    /// PPP, with or without the address and control bytes of HDLC, or in Cisco's framing.
    Ppp,
    /// PPP behind a byte that says the direction.
    PppDirected,
    /// A session of PPP over Ethernet, without the Ethernet header.
    PppoE,
    /// An MPLS label stack at once.
    Mpls,
}

/// Numbers from tcpdump's registry of link types, and the two that BSDs write for RAW.
const NUMBERS: [(u32, Link); 17] = [
    (0, Link::Loopback),
    (1, Link::Ethernet),
    (9, Link::Ppp),
    (12, Link::Raw),
    (14, Link::Raw),
    (50, Link::Ppp),
    (51, Link::PppoE),
    (101, Link::Raw),
    (104, Link::Ppp),
    (108, Link::Loopback),
    (113, Link::Cooked),
    (166, Link::PppDirected),
    (204, Link::PppDirected),
    (219, Link::Mpls),
    (228, Link::Raw),
    (229, Link::Raw),
    (276, Link::Cooked2),
];

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86DD;
/// RFC 2516 section 4, RFC 3032 section 5.
const PPPOE_SESSION: u16 = 0x8864;
const MPLS: u16 = 0x8847;
const MPLS_UPSTREAM: u16 = 0x8848;
/// RFC 8300 section 2.1.
const SERVICE_HEADER: u16 = 0x894F;
/// IEEE 802.1Q, 802.1ad, and the number used before the latter.
const TAGS: [u16; 3] = [0x8100, 0x88A8, 0x9100];

impl Link {
    /// The link type of this number, if it is known here.
    pub fn of(number: u32) -> Option<Self> {
        NUMBERS.iter().find(|(known, _)| *known == number).map(|(_, link)| *link)
    }

    /// The link types known, for an error.
    pub fn known() -> String {
        "0 and 108 (loopback), 1 (Ethernet), 9, 50, 104, 166 and 204 (PPP), 51 (PPPoE), 12, 14, 101, 228 and 229 (IP), 113 and 276 \
         (Linux cooked), 219 (MPLS)"
            .to_owned()
    }

    /// Where the frame was seen on its host: the packet's type (to this host, forwarded, sent), and the interface's index.
    pub(crate) fn seen(self, frame: &[u8]) -> (u8, u32) {
        match self {
            Self::Cooked => (frame.get(1).copied().unwrap_or(0), 0),
            Self::Cooked2 => {
                let index = frame.get(4..).and_then(<[u8]>::first_chunk).copied().unwrap_or_default();
                (frame.get(10).copied().unwrap_or(0), u32::from_be_bytes(index))
            }
            _ => (0, 0),
        }
    }

    /// The type of what the frame carries behind its VLAN tags, or its length field, if the link has one.
    pub(crate) fn ethernet_type(self, frame: &[u8]) -> Option<u16> {
        let (mut at, start) = match self {
            Self::Ethernet => (12, 14),
            Self::Cooked => (14, 16),
            Self::Cooked2 => (0, 22),
            _ => return None,
        };
        let mut next = start + 2;
        loop {
            match u16_at(frame, at)? {
                tag if TAGS.contains(&tag) => (at, next) = (next, next + 4),
                kind => return Some(kind),
            }
        }
    }

    /// The bytes of the frame before its IP packet, and the packet; `None` if it carries something else or is cut
    /// before it. `layers` gets the sessions and labels between.
    pub(crate) fn ip<'a>(self, frame: &'a [u8], layers: &mut Layers) -> Option<(u32, &'a [u8])> {
        let before = match self {
            Self::Raw => 0,
            Self::Ethernet => behind_tags(frame, 12, 14, layers)?,
            Self::Cooked => behind_tags(frame, 14, 16, layers)?,
            Self::Cooked2 => match u16_at(frame, 0)? {
                kind if !TAGS.contains(&kind) => behind_ethernet_type(frame, kind, 20, layers)?,
                // The tag stands at the beginning of the payload; its last two bytes are the type of what follows.
                _ => behind_tags(frame, 22, 24, layers)?,
            },
            // The family is in the byte order of the machine; IPv6's number differs from system to system, and the
            // packet's own version says it as well.
            Self::Loopback => 4,
            Self::Ppp => behind_ppp(frame, 0, layers)?,
            // The direction may stand in the place of HDLC's address, before its control byte.
            Self::PppDirected if frame.get(1) == Some(&3) => behind_ppp(frame, 2, layers)?,
            Self::PppDirected => behind_ppp(frame, 1, layers)?,
            Self::PppoE => behind_session(frame, 0, None, layers)?,
            Self::Mpls => behind_labels(frame, 0, layers)?,
        };
        let packet = frame.get(before..).filter(|packet| !packet.is_empty())?;
        is_ip(packet[0]).then_some((u32::try_from(before).ok()?, packet))
    }
}

fn is_ip(first: u8) -> bool {
    matches!(first >> 4, 4 | 6)
}

/// Where the IP packet begins whose type stands at byte `kind`, VLAN tags and all; `start` is where it would begin
/// without tags.
fn behind_tags(frame: &[u8], mut kind: usize, mut start: usize, layers: &mut Layers) -> Option<usize> {
    let is_ethernet = kind == 12;
    loop {
        match u16_at(frame, kind)? {
            IPV4 | IPV6 => return Some(start),
            tag if TAGS.contains(&tag) => {
                kind = start + 2;
                start += 4;
            }
            PPPOE_SESSION if is_ethernet => {
                let at = |at: usize| frame.get(at..)?.first_chunk().copied().map(End::Ethernet);
                let ends = at(6).zip(at(0)).map(|(from, to)| [from, to]);
                return behind_session(frame, start, ends, layers);
            }
            kind => return behind_ethernet_type(frame, kind, start, layers),
        }
    }
}

/// Where the IP packet begins in what an Ethernet type names, which begins at byte `start`: `PPPoE` and MPLS are headers
/// before it.
pub(crate) fn behind_ethernet_type(
    bytes: &[u8],
    kind: u16,
    start: usize,
    layers: &mut Layers,
) -> Option<usize> {
    match kind {
        IPV4 | IPV6 => Some(start),
        PPPOE_SESSION => behind_session(bytes, start, None, layers),
        MPLS | MPLS_UPSTREAM => behind_labels(bytes, start, layers),
        SERVICE_HEADER => behind_service_header(bytes, start, layers),
        _ => None,
    }
}

/// Where the IP packet begins behind the network service header (RFC 8300 section 2.2) at byte `start`. The header names a path
/// of services and no ends, so that it is no layer.
pub(crate) fn behind_service_header(bytes: &[u8], start: usize, layers: &mut Layers) -> Option<usize> {
    const VERSION_AND_OPERATIONS: u16 = 0xE000;
    let base = u16_at(bytes, start)?;
    let words = usize::from(base & 0x3F);
    if base & VERSION_AND_OPERATIONS != 0 || words < 2 {
        return None;
    }
    let behind = start + words * 4;
    match *bytes.get(start + 3)? {
        1 | 2 => Some(behind),
        3 => {
            let (before, _) = Link::Ethernet.ip(bytes.get(behind..)?, layers)?;
            Some(behind + before as usize)
        }
        5 => behind_labels(bytes, behind, layers),
        _ => None,
    }
}

/// Where the IP packet begins behind the header of a `PPPoE` session at byte `start`.
fn behind_session(bytes: &[u8], start: usize, ends: Option<[End; 2]>, layers: &mut Layers) -> Option<usize> {
    layers.enter(Kind::Session(u16_at(bytes, start + 2)?), ends)?;
    behind_ppp(bytes, start + 6, layers)
}

/// Where the IP packet begins behind the label stack at byte `start`. Ethernet may be between (a pseudowire, RFC 4448), with or
/// without a control word.
pub(crate) fn behind_labels(bytes: &[u8], start: usize, layers: &mut Layers) -> Option<usize> {
    let (labels, length) = Labels::read(bytes.get(start..)?)?;
    layers.enter(Kind::Labels(labels), None)?;
    let behind = start + length;
    if is_ip(*bytes.get(behind)?) {
        return Some(behind);
    }
    let ethernet = |at: usize, layers: &mut Layers| {
        let mut inside = layers.clone();
        let (before, _) = Link::Ethernet.ip(bytes.get(at..)?, &mut inside)?;
        *layers = inside;
        Some(at + before as usize)
    };
    let has_control_word = bytes[behind] >> 4 == 0;
    let with = has_control_word.then(|| ethernet(behind + 4, layers)).flatten();
    with.or_else(|| ethernet(behind, layers))
}

/// Where the IP packet begins behind PPP's protocol number of one or two bytes, which may follow HDLC's address and control
/// bytes, at byte `at`.
pub(crate) fn behind_ppp(bytes: &[u8], at: usize, layers: &mut Layers) -> Option<usize> {
    match bytes.get(at..)? {
        [0xFF, 3, 0xFF, 3, ..] => None,
        [0xFF, 3, ..] => behind_ppp(bytes, at + 2, layers),
        // Cisco's framing has an Ethernet type (RFC 1547 section 4.3.1).
        [0x0F | 0x8F, 0, high, low, ..] => {
            behind_ethernet_type(bytes, u16::from_be_bytes([*high, *low]), at + 4, layers)
        }
        [0, 0x21 | 0x57, ..] => Some(at + 2),
        [0x21 | 0x57, ..] => Some(at + 1),
        // RFC 3032 section 4.3.
        [2, 0x81 | 0x83, ..] => behind_labels(bytes, at + 2, layers),
        _ => None,
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|two| u16::from_be_bytes(*two))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(before: &[u8]) -> Vec<u8> {
        [before, &[0x45, 1, 2]].concat()
    }

    fn ip(link: Link, frame: &[u8]) -> Option<(u32, &[u8])> {
        link.ip(frame, &mut Layers::default())
    }

    #[test]
    fn the_packet_stands_behind_the_links_header() {
        let mac = [0_u8; 12];
        let ether = |tail: &[u8]| frame(&[&mac[..], tail].concat());
        let plain = ether(&[8, 0]);
        assert_eq!(ip(Link::Ethernet, &plain), Some((14, &[0x45, 1, 2][..])));
        assert_eq!(ip(Link::Ethernet, &ether(&[0x81, 0, 0, 5, 8, 0])).unwrap().0, 18);
        assert_eq!(ip(Link::Ethernet, &ether(&[0x88, 0xA8, 0, 5, 0x81, 0, 0, 6, 0x86, 0xDD])).unwrap().0, 22);
        assert_eq!(ip(Link::Raw, &frame(&[])).unwrap().0, 0);
        assert_eq!(ip(Link::Loopback, &frame(&[2, 0, 0, 0])).unwrap().0, 4);
        assert_eq!(ip(Link::Cooked, &frame(&[&[0; 14][..], &[8, 0]].concat())).unwrap().0, 16);
        assert_eq!(ip(Link::Cooked2, &frame(&[&[8, 0][..], &[0; 18]].concat())).unwrap().0, 20);
        let tagged = frame(&[&[0x81, 0][..], &[0; 18], &[0, 5, 8, 0]].concat());
        assert_eq!(ip(Link::Cooked2, &tagged).unwrap().0, 24);
    }

    #[test]
    fn what_carries_no_ip_is_left_alone() {
        let arp = [&[0; 12][..], &[8, 6], &[0; 28]].concat();
        assert_eq!(ip(Link::Ethernet, &arp), None);
        assert_eq!(ip(Link::Ethernet, &[0; 13]), None);
        assert_eq!(ip(Link::Ethernet, &[&[0; 12][..], &[8, 0]].concat()), None);
        assert_eq!(ip(Link::Loopback, &[0; 4]), None);
        assert_eq!(ip(Link::Raw, &[]), None);
        assert_eq!(ip(Link::Raw, &[0x55]), None);
    }
}
