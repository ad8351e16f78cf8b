//! `firstflight emulate`: runs programs at the two ends of a path over which they exchange real packets.

use std::ffi::OsString;

use firstflight::registry::Registry;

use crate::failure::Failure;
#[cfg(all(feature = "kernel", target_os = "linux"))]
use order::Order;
use order::order;

mod beside;
mod order;
#[cfg(target_os = "linux")]
mod results;
#[cfg(target_os = "linux")]
mod running;

#[cfg(all(feature = "kernel", target_os = "linux"))]
pub(crate) use beside::{Asked, Beside};
pub(crate) use order::Emulate;

/// Runs as a process of an emulated host and returns its exit code, if this process was started for that; `None` otherwise.
#[cfg_attr(not(target_os = "linux"), expect(unused_variables, reason = "no host is emulated"))]
pub(crate) fn inside(given: &[OsString]) -> Option<u8> {
    #[cfg(target_os = "linux")]
    {
        let mut arguments = given.iter().skip(1).cloned();
        let first = arguments.next()?;
        (first == firstflight_emulate::linux::INSIDE).then(|| firstflight_emulate::linux::inside(arguments))
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// Carries out `firstflight emulate`.
pub(crate) fn emulate(options: &Emulate, registry: Registry, arguments: &[String]) -> Result<(), Failure> {
    let order = order(options, registry, arguments)?;
    #[cfg(target_os = "linux")]
    return running::run(options, order, arguments);
    #[cfg(not(target_os = "linux"))]
    {
        drop(order);
        Err(Failure::usage("emulate: real packets are emulated on Linux only; `race` simulates the path"))
    }
}

/// Runs `firstflight emulate` with a congestion control as the sending host's default. After the options have been checked, `load` returns
/// the name of the congestion control, and a value to keep until the end of the run. `end` is then called with that value, however the run
/// ended.
#[cfg(all(feature = "kernel", target_os = "linux"))]
pub(crate) fn emulate_with<Kept>(
    options: &Emulate,
    registry: Registry,
    arguments: &[String],
    load: impl FnOnce() -> Result<(String, Kept), Failure>,
    end: impl FnOnce(Kept) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let order = order(options, registry, arguments)?;
    let (name, kept) = load()?;
    let result = running::run(options, Order { congestion_control: Some(name), ..order }, arguments);
    result.and(end(kept))
}

/// Runs `firstflight emulate` with an attachment to the hosts.
#[cfg(all(feature = "kernel", target_os = "linux"))]
pub(crate) fn emulate_beside(
    options: &Emulate,
    registry: Registry,
    arguments: &[String],
    beside: &dyn Beside,
) -> Result<(), Failure> {
    let order = order(options, registry, arguments)?;
    running::run(options, Order { beside: Some(beside), ..order }, arguments)
}
