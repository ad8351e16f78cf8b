//! Decodes the bytes of an IP packet for the analysis. Unlike [`firstflight_wire::decode`], it accepts what real captures contain: options
//! truncated by the snap length, segments of many times the MSS that a network card would have split, and lengths that do not fit their
//! field.

use std::net::{IpAddr, SocketAddr};

use etherparse::{IpNumber, Ipv4HeaderSlice, Ipv6ExtensionsSlice, Ipv6HeaderSlice};
use firstflight_capture::Layer;
use firstflight_tcp::{Ecn, Flags, Segment};
use serde::{Deserialize, Serialize};

/// The capture point of a packet, as far as the packet shows it. It differs between two copies of a packet that were captured at different
/// places. It is equal for a packet and its retransmission by the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Point {
    /// The TTL or hop limit.
    pub(crate) hops: u8,
    /// The packet type of a cooked header.
    pub(crate) kind: u8,
    /// The index of the interface in the cooked header, and its number in the capture.
    pub(crate) interface: (u32, u32),
}

/// Whether a packet's time and place in the order are reliable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Stamp {
    #[default]
    Right,
    /// The capture gave a wrong time. The packet has the time of the next packet instead.
    Wrong,
    /// The time is right, but later packets arrived first.
    Displaced,
}

/// A TCP segment as the capture has it.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    /// Time in nanoseconds.
    pub(crate) at: u64,
    pub(crate) stamp: Stamp,
    pub(crate) source: SocketAddr,
    pub(crate) destination: SocketAddr,
    pub(crate) point: Point,
    /// The identification field of IPv4. `None` for IPv6, or if the field is zero.
    pub(crate) identification: Option<u16>,
    /// Header fields and options. The segment's length is not used.
    pub(crate) segment: Segment,
    /// Number of payload bytes, computed from the IP header.
    pub(crate) len: u32,
    /// The AE flag of RFC 9768 section 3.1.
    pub(crate) ae: bool,
    /// Number of bytes of TCP options, computed from the TCP header's length.
    pub(crate) options_len: u8,
    /// Whether the capture truncated the options.
    pub(crate) options_cut: bool,
    /// Whether the options are those of Linux's SYN with timestamps, in Linux's order.
    pub(crate) has_linux_options: bool,
    /// Hash of the tunnels, sessions and label stacks around the packet; 0 if there are none.
    pub(crate) tunnel: u64,
    /// The innermost tunnel, session or label stack around the packet.
    pub(crate) layer: Option<Box<Layer>>,
}

/// The reason why a packet is left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Skip {
    NotTcp,
    Fragment,
    /// The capture has too few bytes of the packet.
    Cut,
    /// The packet's headers contradict themselves.
    Malformed,
}

/// Length of a TCP header without options, in bytes.
const TCP_FIXED: usize = 20;

impl Packet {
    /// Decodes the packet at the beginning of `bytes`. `original` is its length on the wire.
    pub(crate) fn read(at: u64, bytes: &[u8], original: u32) -> Result<Self, Skip> {
        let original = usize::try_from(original).unwrap_or(usize::MAX);
        let network = match bytes.first().map(|first| first >> 4) {
            Some(4) => ipv4(bytes, original)?,
            Some(6) => ipv6(bytes, original)?,
            _ => return Err(Skip::Malformed),
        };
        let Network { source, destination, hops, identification, ecn, start, end } = network;
        let tcp = bytes.get(start..end.min(bytes.len())).ok_or(Skip::Cut)?;
        let header: &[u8; TCP_FIXED] =
            tcp.first_chunk().ok_or(if end - start < TCP_FIXED { Skip::Malformed } else { Skip::Cut })?;
        let header_length = usize::from(header[12] >> 4) * 4;
        if header_length < TCP_FIXED || header_length > end - start {
            return Err(Skip::Malformed);
        }
        let [seq, ack] = [4, 8].map(|at| u32::from_be_bytes([0, 1, 2, 3].map(|i| header[at + i])));
        let [source_port, destination_port, window] =
            [0, 2, 14].map(|at| u16::from_be_bytes([header[at], header[at + 1]]));
        let mut segment = Segment { seq, ack, flags: Flags(header[13]), window, ecn, ..Segment::default() };
        let options = &tcp[TCP_FIXED..header_length.min(tcp.len())];
        let is_read = firstflight_wire::read_options(options, start + TCP_FIXED, &mut segment);
        let options_cut = header_length > tcp.len();
        if is_read.is_err() && !options_cut {
            return Err(Skip::Malformed);
        }
        Ok(Self {
            at,
            stamp: Stamp::Right,
            source: SocketAddr::new(source, source_port),
            destination: SocketAddr::new(destination, destination_port),
            point: Point { hops, ..Point::default() },
            identification: identification.filter(|number| *number != 0),
            segment,
            len: u32::try_from(end - start - header_length).map_err(|_| Skip::Malformed)?,
            ae: header[12] & 1 != 0,
            options_len: (header[12] >> 4) * 4 - 20,
            options_cut,
            has_linux_options: options.first() == Some(&LINUX_SYN[0]) && has_linux_order(options),
            tunnel: 0,
            layer: None,
        })
    }
}

/// Kinds of the options in Linux's SYNs and SYN-ACKs with timestamps: MSS, SACK permitted, timestamps, no-operation, window scale
/// (`tcp_options_write`). Other systems use another order.
const LINUX_SYN: [u8; 5] = [2, 4, 8, 1, 3];

fn has_linux_order(options: &[u8]) -> bool {
    let mut rest = options;
    LINUX_SYN.iter().all(|kind| {
        let length = if *kind == 1 { 1 } else { usize::from(rest.get(1).copied().unwrap_or(0)) };
        let is_next = rest.first() == Some(kind) && length > 0 && length <= rest.len();
        rest = rest.get(length..).unwrap_or_default();
        is_next
    })
}

struct Network {
    source: IpAddr,
    destination: IpAddr,
    hops: u8,
    identification: Option<u16>,
    ecn: Ecn,
    /// Offset of the TCP header. `end` is the offset of the packet's end.
    start: usize,
    end: usize,
}

fn ipv4(bytes: &[u8], original: usize) -> Result<Network, Skip> {
    let header = Ipv4HeaderSlice::from_slice(bytes)
        .map_err(|_| if bytes.len() < 20 { Skip::Cut } else { Skip::Malformed })?;
    if header.protocol() != IpNumber::TCP {
        return Err(Skip::NotTcp);
    }
    if header.is_fragmenting_payload() {
        return Err(Skip::Fragment);
    }
    let start = header.slice().len();
    // If a network card splits segments, it may get a packet whose length does not fit the field. The field is then zero.
    let end = if header.total_len() == 0 { original } else { usize::from(header.total_len()) };
    if end < start {
        return Err(Skip::Malformed);
    }
    Ok(Network {
        source: header.source_addr().into(),
        destination: header.destination_addr().into(),
        hops: header.ttl(),
        identification: Some(header.identification()),
        ecn: ecn(header.ecn().value()),
        start,
        end,
    })
}

fn ipv6(bytes: &[u8], original: usize) -> Result<Network, Skip> {
    let header = Ipv6HeaderSlice::from_slice(bytes).map_err(|_| Skip::Cut)?;
    let fixed = header.slice().len();
    // RFC 2675: the length field of a jumbogram is zero.
    let end =
        if header.payload_length() == 0 { original } else { fixed + usize::from(header.payload_length()) };
    let after = bytes.get(fixed..end.min(bytes.len())).ok_or(Skip::Malformed)?;
    let (extensions, protocol, _) = Ipv6ExtensionsSlice::from_slice(header.next_header(), after)
        .map_err(|_| if bytes.len() < end { Skip::Cut } else { Skip::Malformed })?;
    if protocol != IpNumber::TCP {
        return Err(Skip::NotTcp);
    }
    if extensions.is_fragmenting_payload() {
        return Err(Skip::Fragment);
    }
    let start = fixed + extensions.slice().len();
    if end < start {
        return Err(Skip::Malformed);
    }
    Ok(Network {
        source: header.source_addr().into(),
        destination: header.destination_addr().into(),
        hops: header.hop_limit(),
        identification: None,
        ecn: ecn(header.ecn().value()),
        start,
        end,
    })
}

fn ecn(field: u8) -> Ecn {
    match field & 3 {
        0 => Ecn::NotCapable,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_of_linux_are_known_by_their_order() {
        let stamps = [8, 10, 0, 0, 0, 1, 0, 0, 0, 0];
        let linux = [&[2, 4, 5, 180, 4, 2][..], &stamps, &[1, 3, 3, 7]].concat();
        assert!(has_linux_order(&linux));
        // Multipath TCP appends its option.
        assert!(has_linux_order(&[&linux[..], &[30, 4, 1, 1]].concat()));
        // The option orders of macOS, Windows and FreeBSD, and of the simulator.
        let mac = [&[2, 4, 5, 180, 1, 3, 3, 6, 1, 1][..], &stamps, &[4, 2, 0, 0]].concat();
        let windows = [2, 4, 5, 180, 1, 3, 3, 8, 1, 1, 4, 2];
        let free_bsd = [&[2, 4, 5, 180, 1, 3, 3, 6, 4, 2][..], &stamps].concat();
        let simulated = [2, 4, 5, 180, 1, 1, 4, 2, 1, 3, 3, 14];
        for other in [&mac[..], &windows, &free_bsd, &simulated, &linux[..15], &[2, 0], &[]] {
            assert!(!has_linux_order(other), "{other:?}");
        }
    }
}
