//! How the kernel's TCP of an emulated host is set up, from within the host.

use std::fs;
use std::io;

use super::netlink::{NAME, Netlink};
use crate::addresses::Side;

/// What the route to the other host says to the kernel's TCP (`ip-route(8)`).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RouteMetrics {
    /// The initial congestion window in segments; the kernel's own if not given.
    pub initial_window: Option<u32>,
    /// Whether each segment is acknowledged at once.
    pub quick_acks: bool,
}

/// `RTAX_INITCWND` and `RTAX_QUICKACK` of `linux/rtnetlink.h`.
const INITIAL_WINDOW: u16 = 11;
const QUICK_ACKS: u16 = 15;

/// Sets the route from this host to the other one.
///
/// # Errors
/// The kernel refuses it.
pub fn set_route(side: Side, metrics: RouteMetrics) -> io::Result<()> {
    let kernel = Netlink::new()?;
    let index = kernel.index(NAME)?;
    let of = |kind: u16, value: Option<u32>| value.map(|value| (kind, value));
    let metrics =
        [of(INITIAL_WINDOW, metrics.initial_window), of(QUICK_ACKS, metrics.quick_acks.then_some(1))];
    kernel.route(index, side, &metrics.into_iter().flatten().collect::<Vec<_>>())
}

/// Sets a value of this host under `net.ipv4`, such as `tcp_timestamps`.
///
/// # Errors
/// There is no such setting, or no such value.
pub fn set(name: &str, value: &str) -> io::Result<()> {
    fs::write(format!("/proc/sys/net/ipv4/{name}"), value)
        .map_err(|error| io::Error::new(error.kind(), format!("net.ipv4.{name} = {value}: {error}")))
}
