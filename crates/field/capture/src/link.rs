//! Finds the IP packet in a frame.

mod nflog;

use crate::layers::{Kind, Labels, Layers, TunnelEnd};

/// The type of the first header of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Link {
    /// Ethernet, with or without VLAN tags.
    Ethernet,
    /// IP without a link header.
    Raw,
    /// Linux "cooked" capture, version 1: a header of 16 bytes.
    Cooked,
    /// Linux "cooked" capture, version 2: a header of 20 bytes.
    Cooked2,
    /// BSD loopback: four bytes with the address family.
    Loopback,
    /// PPP, with or without the address and control bytes of HDLC, or in Cisco's framing.
    Ppp,
    /// PPP after a byte that gives the direction.
    PppDirected,
    /// A session of PPP over Ethernet, beginning with its `PPPoE` header.
    PppoE,
    /// An MPLS label stack without a link header.
    Mpls,
    /// Linux netfilter's log: a header of four bytes, then attributes. One attribute is the packet.
    Nflog,
}

/// Link type numbers from tcpdump's registry, and two more that BSD systems use for RAW.
const NUMBERS: [(u32, Link); 18] = [
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
    (239, Link::Nflog),
    (276, Link::Cooked2),
];

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86DD;
/// Ethernet types of `PPPoE` sessions (RFC 2516 section 4) and of MPLS (RFC 3032 section 5).
const PPPOE_SESSION: u16 = 0x8864;
const MPLS: u16 = 0x8847;
const MPLS_UPSTREAM: u16 = 0x8848;
/// Ethernet type of the network service header (RFC 8300 section 2.1).
const SERVICE_HEADER: u16 = 0x894F;
/// Ethernet types of VLAN tags: IEEE 802.1Q, 802.1ad, and the number used before 802.1ad. A tag has two bytes, and the next type follows.
const TAGS: [u16; 3] = [0x8100, 0x88A8, 0x9100];
/// Ethernet type of a VN-tag (IEEE 802.1Qbh draft). The tag has four bytes, and the next type follows.
const VN_TAG: u16 = 0x8926;

/// Returns the number of bytes from a tag's type to the next type; `None` if the type is not a tag's.
fn tag_length(kind: u16) -> Option<usize> {
    match kind {
        VN_TAG => Some(6),
        kind if TAGS.contains(&kind) => Some(4),
        _ => None,
    }
}

impl Link {
    /// Returns the link type with this number; `None` if it is not known.
    pub fn of(number: u32) -> Option<Self> {
        NUMBERS.iter().find(|(known, _)| *known == number).map(|(_, link)| *link)
    }

    /// Describes the known link types, for an error message.
    pub fn known() -> String {
        "0 and 108 (loopback), 1 (Ethernet), 9, 50, 104, 166 and 204 (PPP), 51 (PPPoE), 12, 14, 101, 228 and 229 (IP), 113 and 276 \
         (Linux cooked), 219 (MPLS), 239 (NFLOG)"
            .to_owned()
    }

    /// Returns where the frame was captured on its host. The first value is the packet type (to this host, forwarded or sent) or the
    /// netfilter hook, the second the index of the interface.
    pub fn capture_point(self, frame: &[u8]) -> (u8, u32) {
        match self {
            Self::Cooked => (frame.get(1).copied().unwrap_or(0), 0),
            Self::Cooked2 => {
                let index = frame.get(4..).and_then(<[u8]>::first_chunk).copied().unwrap_or_default();
                (frame.get(10).copied().unwrap_or(0), u32::from_be_bytes(index))
            }
            Self::Nflog => nflog::capture_point(frame),
            _ => (0, 0),
        }
    }

    /// Returns the type of the frame's payload after its VLAN tags, or the length field in its place. `None` if the link has no type field.
    pub fn ethernet_type(self, frame: &[u8]) -> Option<u16> {
        let at = match self {
            Self::Ethernet => 12,
            Self::Cooked => 14,
            Self::Cooked2 => return cooked2_type(frame).map(|(kind, _)| kind),
            _ => return None,
        };
        behind_tags(frame, at).map(|(kind, _)| kind)
    }

    /// Returns the offset of the IP packet in the frame, and the packet. Adds the sessions and labels before it to `layers`. Returns `None`
    /// if the frame carries something else, or ends before the packet.
    pub fn ip<'a>(self, frame: &'a [u8], layers: &mut Layers) -> Option<(u32, &'a [u8])> {
        let before = match self {
            Self::Raw => 0,
            Self::Ethernet => match behind_tags(frame, 12)? {
                (PPPOE_SESSION, start) => behind_session(frame, start, ethernet_ends(frame), layers)?,
                (kind, start) => behind_ethernet_type(frame, kind, start, layers)?,
            },
            Self::Cooked => {
                let (kind, start) = behind_tags(frame, 14)?;
                behind_ethernet_type(frame, kind, start, layers)?
            }
            Self::Cooked2 => {
                let (kind, start) = cooked2_type(frame)?;
                behind_ethernet_type(frame, kind, start, layers)?
            }
            // The four bytes of the family are skipped. Their byte order depends on the machine and IPv6's number on the system, and the IP
            // packet has its own version number.
            Self::Loopback => 4,
            Self::Ppp => behind_ppp(frame, 0, layers)?,
            // The direction byte may replace HDLC's address byte. The control byte then follows it.
            Self::PppDirected if frame.get(1) == Some(&3) => behind_ppp(frame, 2, layers)?,
            Self::PppDirected => behind_ppp(frame, 1, layers)?,
            Self::PppoE => behind_session(frame, 0, None, layers)?,
            Self::Mpls => behind_labels(frame, 0, layers)?,
            Self::Nflog => nflog::payload(frame)?,
        };
        let packet = frame.get(before..).filter(|packet| !packet.is_empty())?;
        is_ip(packet[0]).then_some((u32::try_from(before).ok()?, packet))
    }
}

fn is_ip(first: u8) -> bool {
    matches!(first >> 4, 4 | 6)
}

/// Returns the first type from byte `at` on that is not a tag's, and the offset of its payload.
fn behind_tags(frame: &[u8], mut at: usize) -> Option<(u16, usize)> {
    loop {
        let kind = u16_at(frame, at)?;
        match tag_length(kind) {
            Some(length) => at += length,
            None => return Some((kind, at + 2)),
        }
    }
}

/// Returns the type of a cooked frame of version 2 and the offset of its payload. If the frame has a tag, the tag's type is in the header,
/// and the rest of the tag is at the beginning of the payload.
fn cooked2_type(frame: &[u8]) -> Option<(u16, usize)> {
    const HEADER: usize = 20;
    let kind = u16_at(frame, 0)?;
    match tag_length(kind) {
        Some(length) => behind_tags(frame, HEADER + length - 2),
        None => Some((kind, HEADER)),
    }
}

/// Returns the Ethernet addresses of the sender and the receiver.
fn ethernet_ends(frame: &[u8]) -> Option<[TunnelEnd; 2]> {
    let at = |at: usize| frame.get(at..)?.first_chunk().copied().map(TunnelEnd::Ethernet);
    Some([at(6)?, at(0)?])
}

/// Returns the offset of the IP packet in the payload of an Ethernet frame with type `kind`. The payload begins at byte `start`, possibly
/// with `PPPoE` and MPLS headers.
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

/// Returns the offset of the IP packet after the network service header (RFC 8300 section 2.2) at byte `start`. This header names a path of
/// services but no endpoints, so it is not added to `layers`.
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

/// Returns the offset of the IP packet after the header of a `PPPoE` session at byte `start`.
fn behind_session(
    bytes: &[u8],
    start: usize,
    ends: Option<[TunnelEnd; 2]>,
    layers: &mut Layers,
) -> Option<usize> {
    layers.enter(Kind::Session(u16_at(bytes, start + 2)?), ends)?;
    behind_ppp(bytes, start + 6, layers)
}

/// Returns the offset of the IP packet after the label stack at byte `start`. An Ethernet frame may be between them (a pseudowire, RFC
/// 4448), with or without a control word.
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

/// Returns the offset of the IP packet after the PPP header at byte `at`. The header is a protocol number of one or two bytes; HDLC's
/// address and control bytes may precede it.
pub(crate) fn behind_ppp(bytes: &[u8], at: usize, layers: &mut Layers) -> Option<usize> {
    match bytes.get(at..)? {
        [0xFF, 3, 0xFF, 3, ..] => None,
        [0xFF, 3, ..] => behind_ppp(bytes, at + 2, layers),
        // Cisco's framing has an Ethernet type here (RFC 1547 section 4.3.1).
        [0x0F | 0x8F, 0, high, low, ..] => {
            behind_ethernet_type(bytes, u16::from_be_bytes([*high, *low]), at + 4, layers)
        }
        [0, 0x21 | 0x57, ..] => Some(at + 2),
        [0x21 | 0x57, ..] => Some(at + 1),
        // MPLS in PPP (RFC 3032 section 4.3).
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
        let vn = ether(&[0x89, 0x26, 0x80, 0, 0, 0, 0x81, 0, 0, 5, 8, 0]);
        assert_eq!(ip(Link::Ethernet, &vn).unwrap().0, 24);
        let vn = frame(&[&[0x89, 0x26][..], &[0; 18], &[0x80, 0, 0, 0, 8, 0]].concat());
        assert_eq!(ip(Link::Cooked2, &vn).unwrap().0, 26);
    }

    #[test]
    fn packets_without_ip_are_ignored() {
        let arp = [&[0; 12][..], &[8, 6], &[0; 28]].concat();
        assert_eq!(ip(Link::Ethernet, &arp), None);
        assert_eq!(ip(Link::Ethernet, &[0; 13]), None);
        assert_eq!(ip(Link::Ethernet, &[&[0; 12][..], &[8, 0]].concat()), None);
        assert_eq!(ip(Link::Loopback, &[0; 4]), None);
        assert_eq!(ip(Link::Raw, &[]), None);
        assert_eq!(ip(Link::Raw, &[0x55]), None);
        let arp = [&[0x81, 0][..], &[0; 18], &[0, 5, 8, 6]].concat();
        assert_eq!(Link::Cooked2.ethernet_type(&arp), Some(0x0806));
    }
}
