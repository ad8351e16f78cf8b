//! The encapsulations of a packet: IP tunnels, sessions of PPP over Ethernet, and MPLS label stacks.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// The kinds of tunnels, as results and filters name them.
pub const TUNNEL_KINDS: [&str; 8] = ["gre", "vxlan", "vxlan-gpe", "geneve", "gtp-u", "ip", "pppoe", "mpls"];

/// Maximum number of nested layers that are decoded.
const MAX_LAYERS: u32 = 8;

/// Maximum number of labels of a label stack that are decoded.
const MAX_LABELS: usize = 16;

/// One end of a tunnel.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum TunnelEnd {
    /// An IP address.
    Ip(IpAddr),
    /// An Ethernet address.
    Ethernet([u8; 6]),
}

impl fmt::Display for TunnelEnd {
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

/// The labels of an MPLS stack. The outermost is first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct Labels {
    count: u8,
    labels: [u32; MAX_LABELS],
}

impl Labels {
    /// Decodes the label stack at the beginning of `bytes`, up to the label with the bottom flag (RFC 3032 section 2.1). Returns the stack
    /// and its length in bytes; `None` if the bytes or [`MAX_LABELS`] end before that label.
    pub(crate) fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let mut stack = Self { count: 0, labels: [0; MAX_LABELS] };
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

/// The kind of a tunnel, with the identifier that distinguishes it from other tunnels between the same ends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) enum Kind {
    /// An IP tunnel: its kind and, if it has one, its identifier (a key, network or tunnel number).
    Ip(IpTunnel, Option<u32>),
    /// A session of PPP over Ethernet, with its number.
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
    /// IP in IP, or MPLS labels in IP or UDP.
    Ip,
}

/// One layer of encapsulation. It is written as `vxlan 5`, `pppoe 17` or `mpls 100/200`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Layer {
    pub(crate) kind: Kind,
    /// Endpoint addresses (sender, receiver) of this layer, or of the closest enclosing layer that has addresses.
    pub ends: Option<[TunnelEnd; 2]>,
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

/// The layers of encapsulation around a packet.
#[derive(Clone, Default, Debug)]
pub struct Layers {
    hasher: DefaultHasher,
    depth: u32,
    /// The innermost layer around the packet.
    pub inner: Option<Layer>,
}

impl Layers {
    /// Adds an inner layer. Returns `None` if there are too many layers.
    pub(crate) fn enter(&mut self, kind: Kind, ends: Option<[TunnelEnd; 2]>) -> Option<()> {
        self.depth += 1;
        let both_ways = ends.map(|[from, to]| [from.min(to), from.max(to)]);
        (kind, both_ways).hash(&mut self.hasher);
        self.inner = Some(Layer { kind, ends: ends.or_else(|| self.inner?.ends) });
        (self.depth <= MAX_LAYERS).then_some(())
    }

    /// Returns a hash of the layers' kinds, ends and identifiers; 0 without a layer. The hash does not depend on the direction. Two
    /// different stacks of layers have the same hash with a probability of 2^-64.
    pub fn number(&self) -> u64 {
        if self.inner.is_none() { 0 } else { self.hasher.finish().max(1) }
    }
}
