//! From a frame to the IP packet in it.

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
    /// PPP, with or without the address and control bytes of HDLC.
    Ppp,
    /// A session of PPP over Ethernet, without the Ethernet header.
    PppoE,
}

/// Numbers from tcpdump's registry of link types, and the two that BSDs write for RAW.
const NUMBERS: [(u32, Link); 13] = [
    (0, Link::Loopback),
    (1, Link::Ethernet),
    (9, Link::Ppp),
    (12, Link::Raw),
    (14, Link::Raw),
    (50, Link::Ppp),
    (51, Link::PppoE),
    (101, Link::Raw),
    (108, Link::Loopback),
    (113, Link::Cooked),
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
const MOST_LABELS: usize = 16;
/// IEEE 802.1Q, 802.1ad, and the number used before the latter.
const TAGS: [u16; 3] = [0x8100, 0x88A8, 0x9100];

impl Link {
    /// The link type of this number, if it is known here.
    pub fn of(number: u32) -> Option<Self> {
        NUMBERS.iter().find(|(known, _)| *known == number).map(|(_, link)| *link)
    }

    /// The link types known, for an error.
    pub fn known() -> String {
        "0 and 108 (loopback), 1 (Ethernet), 9 and 50 (PPP), 51 (PPPoE), 12, 14, 101, 228 and 229 (IP), 113 and 276 (Linux cooked)"
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
            Self::Ethernet | Self::Raw | Self::Loopback | Self::Ppp | Self::PppoE => (0, 0),
        }
    }

    /// The type of what the frame carries behind its VLAN tags, or its length field, if the link has one.
    pub(crate) fn ethernet_type(self, frame: &[u8]) -> Option<u16> {
        let (mut at, start) = match self {
            Self::Ethernet => (12, 14),
            Self::Cooked => (14, 16),
            Self::Cooked2 => (0, 22),
            Self::Raw | Self::Loopback | Self::Ppp | Self::PppoE => return None,
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
    /// before it.
    pub fn ip(self, frame: &[u8]) -> Option<(u32, &[u8])> {
        let before = match self {
            Self::Raw => 0,
            Self::Ethernet => behind_tags(frame, 12, 14)?,
            Self::Cooked => behind_tags(frame, 14, 16)?,
            Self::Cooked2 => match u16_at(frame, 0)? {
                kind if !TAGS.contains(&kind) => behind_ethernet_type(frame, kind, 20)?,
                // The tag stands at the beginning of the payload; its last two bytes are the type of what follows.
                _ => behind_tags(frame, 22, 24)?,
            },
            // The family is in the byte order of the machine; IPv6's number differs from system to system, and the
            // packet's own version says it as well.
            Self::Loopback => 4,
            Self::Ppp if frame.starts_with(&[0xFF, 3]) => behind_ppp(frame, 2)?,
            Self::Ppp => behind_ppp(frame, 0)?,
            Self::PppoE => behind_ppp(frame, 6)?,
        };
        let packet = frame.get(before..).filter(|packet| !packet.is_empty())?;
        matches!(packet[0] >> 4, 4 | 6).then_some((u32::try_from(before).ok()?, packet))
    }
}

/// Where the IP packet begins whose type stands at byte `kind`, VLAN tags and all; `start` is where it would begin
/// without tags.
fn behind_tags(frame: &[u8], mut kind: usize, mut start: usize) -> Option<usize> {
    loop {
        match u16_at(frame, kind)? {
            IPV4 | IPV6 => return Some(start),
            tag if TAGS.contains(&tag) => {
                kind = start + 2;
                start += 4;
            }
            kind => return behind_ethernet_type(frame, kind, start),
        }
    }
}

/// Where the IP packet begins in what an Ethernet type names, which begins at byte `start`: `PPPoE` and MPLS are headers
/// before it.
pub(crate) fn behind_ethernet_type(bytes: &[u8], kind: u16, start: usize) -> Option<usize> {
    match kind {
        IPV4 | IPV6 => Some(start),
        PPPOE_SESSION => behind_ppp(bytes, start + 6),
        MPLS | MPLS_UPSTREAM => {
            // The last label of the stack has the bottom flag (RFC 3032 section 2.1).
            let labels = bytes.get(start..)?.chunks_exact(4);
            let last = labels.into_iter().take(MOST_LABELS).position(|label| label[2] & 1 != 0)?;
            Some(start + 4 * (last + 1))
        }
        _ => None,
    }
}

/// Where the IP packet begins behind PPP's protocol number of one or two bytes at byte `at`.
fn behind_ppp(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at..)? {
        [0, 0x21 | 0x57, ..] => Some(at + 2),
        [0x21 | 0x57, ..] => Some(at + 1),
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

    #[test]
    fn the_packet_stands_behind_the_links_header() {
        let mac = [0_u8; 12];
        let ether = |tail: &[u8]| frame(&[&mac[..], tail].concat());
        let plain = ether(&[8, 0]);
        assert_eq!(Link::Ethernet.ip(&plain), Some((14, &[0x45, 1, 2][..])));
        assert_eq!(Link::Ethernet.ip(&ether(&[0x81, 0, 0, 5, 8, 0])).unwrap().0, 18);
        assert_eq!(Link::Ethernet.ip(&ether(&[0x88, 0xA8, 0, 5, 0x81, 0, 0, 6, 0x86, 0xDD])).unwrap().0, 22);
        assert_eq!(Link::Raw.ip(&frame(&[])).unwrap().0, 0);
        assert_eq!(Link::Loopback.ip(&frame(&[2, 0, 0, 0])).unwrap().0, 4);
        assert_eq!(Link::Cooked.ip(&frame(&[&[0; 14][..], &[8, 0]].concat())).unwrap().0, 16);
        assert_eq!(Link::Cooked2.ip(&frame(&[&[8, 0][..], &[0; 18]].concat())).unwrap().0, 20);
        let tagged = frame(&[&[0x81, 0][..], &[0; 18], &[0, 5, 8, 0]].concat());
        assert_eq!(Link::Cooked2.ip(&tagged).unwrap().0, 24);
    }

    #[test]
    fn what_carries_no_ip_is_left_alone() {
        let arp = [&[0; 12][..], &[8, 6], &[0; 28]].concat();
        assert_eq!(Link::Ethernet.ip(&arp), None);
        assert_eq!(Link::Ethernet.ip(&[0; 13]), None);
        assert_eq!(Link::Ethernet.ip(&[&[0; 12][..], &[8, 0]].concat()), None);
        assert_eq!(Link::Loopback.ip(&[0; 4]), None);
        assert_eq!(Link::Raw.ip(&[]), None);
        assert_eq!(Link::Raw.ip(&[0x55]), None);
    }
}
