//! What a packet is carried in: tunnels of IP, sessions of PPP over Ethernet, label stacks of MPLS.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// The kinds of tunnels, as results and filters name them.
pub const TUNNEL_KINDS: [&str; 8] = ["gre", "vxlan", "vxlan-gpe", "geneve", "gtp-u", "ip", "pppoe", "mpls"];

/// Layers are looked into to this depth.
const MOST_LAYERS: u32 = 8;

/// The most labels of a stack that is read.
const MOST_LABELS: usize = 16;

/// One end of a tunnel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub(crate) enum End {
    Ip(IpAddr),
    /// An Ethernet address.
    Ethernet([u8; 6]),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ip(address) => write!(f, "{address}"),
            Self::Ethernet([first, others @ ..]) => {
                write!(f, "{first:02x}")?;
                others.iter().try_for_each(|byte| write!(f, ":{byte:02x}"))
            }
        }
    }
}

/// The labels of an MPLS stack, the outermost first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct Labels {
    count: u8,
    labels: [u32; MOST_LABELS],
}

impl Labels {
    /// The stack that begins with `bytes`, and its length in bytes. The last label has the bottom flag (RFC 3032 section 2.1).
    pub(crate) fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let mut stack = Self { count: 0, labels: [0; MOST_LABELS] };
        for (place, entry) in stack.labels.iter_mut().zip(bytes.chunks_exact(4)) {
            *place = u32::from(entry[0]) << 12 | u32::from(entry[1]) << 4 | u32::from(entry[2] >> 4);
            stack.count += 1;
            if entry[2] & 1 != 0 {
                return Some((stack, usize::from(stack.count) * 4));
            }
        }
        None
    }
}

/// What kind of tunnel it is, with what tells it from others between the same ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// A tunnel of IP, by the name of its kind, with its identifier (key, network, tunnel) if it has one.
    Ip(IpTunnel, Option<u32>),
    /// A session of PPP over Ethernet.
    Session(u16),
    Labels(Labels),
}

/// The kinds of tunnels that carry packets in IP packets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) enum IpTunnel {
    Gre,
    Vxlan,
    VxlanGpe,
    Geneve,
    GtpU,
    /// IP in IP, and labels in IP or UDP.
    Ip,
}

/// One layer: `vxlan 5`, `pppoe 17`, `mpls 100/200`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Layer {
    pub(crate) kind: Kind,
    /// The sender's and the receiver's end, of this layer or, where it has none, of the nearest around it that has.
    pub(crate) ends: Option<[End; 2]>,
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [gre, vxlan, vxlan_gpe, geneve, gtp_u, ip, pppoe, mpls] = TUNNEL_KINDS;
        match self.kind {
            Kind::Ip(kind, id) => {
                f.write_str(match kind {
                    IpTunnel::Gre => gre,
                    IpTunnel::Vxlan => vxlan,
                    IpTunnel::VxlanGpe => vxlan_gpe,
                    IpTunnel::Geneve => geneve,
                    IpTunnel::GtpU => gtp_u,
                    IpTunnel::Ip => ip,
                })?;
                id.map_or(Ok(()), |id| write!(f, " {id}"))
            }
            Kind::Session(id) => write!(f, "{pppoe} {id}"),
            Kind::Labels(Labels { count, labels }) => {
                f.write_str(mpls)?;
                let shown = labels.iter().take(usize::from(count)).enumerate();
                shown
                    .into_iter()
                    .try_for_each(|(at, label)| write!(f, "{}{label}", if at == 0 { ' ' } else { '/' }))
            }
        }
    }
}

/// The layers around a packet.
#[derive(Clone, Default, Debug)]
pub(crate) struct Layers {
    hasher: DefaultHasher,
    depth: u32,
    /// The layer that the packet is in at once.
    pub(crate) inner: Option<Layer>,
}

impl Layers {
    /// Within one more layer; `None` if there are too many.
    pub(crate) fn enter(&mut self, kind: Kind, ends: Option<[End; 2]>) -> Option<()> {
        self.depth += 1;
        let both_ways = ends.map(|[from, to]| [from.min(to), from.max(to)]);
        (kind, both_ways).hash(&mut self.hasher);
        self.inner = Some(Layer { kind, ends: ends.or_else(|| self.inner?.ends) });
        (self.depth <= MOST_LAYERS).then_some(())
    }

    /// A number for the layers: their kinds, ends and identifiers, the same for both directions if these are; 0 without a layer.
    /// Two different ones have the same number once in 2^64.
    pub(crate) fn number(&self) -> u64 {
        if self.inner.is_none() { 0 } else { self.hasher.finish().max(1) }
    }
}
