//! Configures the kernel's TCP of an emulated host. It must be called within the host.

use std::fs;
use std::io;

use super::netlink::{NAME, Netlink};
use crate::addresses::Side;

/// The metrics of the route to the other host, which the kernel's TCP uses (`ip-route(8)`).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RouteMetrics<'a> {
    /// The initial congestion window in segments; the kernel's default if `None`.
    pub initial_window: Option<u32>,
    /// Whether the receiver acknowledges each segment at once.
    pub quick_acks: bool,
    /// The congestion control of sockets that use the route, including accepted ones; the host's default if `None`.
    pub congestion_control: Option<&'a str>,
    /// The maximum receive window in bytes with which sockets start. `None` for the window that their buffers permit.
    pub receive_window: Option<u32>,
    /// The minimum RTO in milliseconds; the kernel's default if `None`.
    pub least_timeout_ms: Option<u32>,
}

/// The constants `RTAX_LOCK`, `RTAX_WINDOW`, `RTAX_INITCWND`, `RTAX_RTO_MIN`, `RTAX_QUICKACK` and `RTAX_CC_ALGO` of `linux/rtnetlink.h`.
const LOCK: u16 = 1;
const WINDOW: u16 = 3;
const INITIAL_WINDOW: u16 = 11;
const MIN_TIMEOUT: u16 = 13;
const QUICK_ACKS: u16 = 15;
const CONGESTION_CONTROL: u16 = 16;

/// Sets the metrics of the route from this host to the other host.
///
/// # Errors
/// The kernel refuses the route.
pub fn set_route(side: Side, metrics: RouteMetrics<'_>) -> io::Result<()> {
    let kernel = Netlink::new()?;
    let index = kernel.index(NAME)?;
    let of = |kind: u16, value: Option<u32>| value.map(|value| (kind, value.to_ne_bytes().to_vec()));
    let RouteMetrics { initial_window, quick_acks, congestion_control, receive_window, least_timeout_ms } =
        metrics;
    let numbers = [
        // The kernel applies a minimum RTO only from a locked metric.
        of(LOCK, least_timeout_ms.map(|_| 1 << MIN_TIMEOUT)),
        of(WINDOW, receive_window),
        of(INITIAL_WINDOW, initial_window),
        of(MIN_TIMEOUT, least_timeout_ms),
        of(QUICK_ACKS, quick_acks.then_some(1)),
    ];
    let name = congestion_control.map(|name| (CONGESTION_CONTROL, [name.as_bytes(), &[0]].concat()));
    kernel.route(index, side, &numbers.into_iter().flatten().chain(name).collect::<Vec<_>>())
}

/// Sets a value of this host under `net.ipv4`, such as `tcp_timestamps`.
///
/// # Errors
/// There is no such setting, or the value is invalid.
pub fn set(name: &str, value: &str) -> io::Result<()> {
    fs::write(format!("/proc/sys/net/ipv4/{name}"), value)
        .map_err(|error| io::Error::new(error.kind(), format!("net.ipv4.{name} = {value}: {error}")))
}
