//! From the bytes of an IP packet to what the analysis needs of it. Unlike [`firstflight_wire::decode`] this takes
//! what a capture really holds: options cut off by the snap length, segments of many times the MSS that the
//! network card would have cut, lengths that do not fit their field.

use std::net::{IpAddr, SocketAddr};

use etherparse::{IpNumber, Ipv4HeaderSlice, Ipv6ExtensionsSlice, Ipv6HeaderSlice};
use firstflight_tcp::{Ecn, Flags, Segment};
use serde::{Deserialize, Serialize};

use crate::layers::Layer;

/// Where a packet passed, as far as it tells: copies of one that was captured at two places differ in it, and what a host
/// sends again does not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Point {
    /// TTL or hop limit.
    pub(crate) hops: u8,
    /// The packet type of a cooked header.
    pub(crate) kind: u8,
    /// The interface, by the cooked header's index and the capture's number.
    pub(crate) interface: (u32, u32),
}

/// A TCP segment as it passed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// Nanoseconds.
    pub(crate) at: u64,
    pub(crate) source: SocketAddr,
    pub(crate) destination: SocketAddr,
    pub(crate) point: Point,
    /// IPv4's identification, if it is one: zero is none.
    pub(crate) identification: Option<u16>,
    /// Header fields and options; its length is not used.
    pub(crate) segment: Segment,
    /// Payload bytes, by the IP header.
    pub(crate) len: u32,
    /// The AE flag of RFC 9768 section 3.1.
    pub(crate) ae: bool,
    /// Bytes of TCP options, by the header's length.
    pub(crate) options_len: u8,
    /// Whether the capture cut some of the options off.
    pub(crate) options_cut: bool,
    /// A number for the tunnels, sessions and label stacks that it was in; 0 without one.
    pub(crate) tunnel: u64,
    /// The one of them that it was in at once.
    pub(crate) layer: Option<Layer>,
}

/// Why a packet is left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Skip {
    NotTcp,
    Fragment,
    /// The capture kept too little of it.
    Cut,
    /// Its headers contradict themselves.
    Malformed,
}

/// Bytes of a TCP header before its options.
const TCP_FIXED: usize = 20;

impl Packet {
    /// Reads the packet that begins with `bytes`; on the wire it had `original` bytes.
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
            source: SocketAddr::new(source, source_port),
            destination: SocketAddr::new(destination, destination_port),
            point: Point { hops, ..Point::default() },
            identification: identification.filter(|number| *number != 0),
            segment,
            len: u32::try_from(end - start - header_length).map_err(|_| Skip::Malformed)?,
            ae: header[12] & 1 != 0,
            options_len: (header[12] >> 4) * 4 - 20,
            options_cut,
            tunnel: 0,
            layer: None,
        })
    }
}

struct Network {
    source: IpAddr,
    destination: IpAddr,
    hops: u8,
    identification: Option<u16>,
    ecn: Ecn,
    /// Where the TCP header begins, and where the packet ends.
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
    // A card that cuts segments may get one whose length does not fit the field.
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
    // RFC 2675: a jumbogram's length field is zero.
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
