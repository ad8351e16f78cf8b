//! The ends of connections, with their schemes and their options.

use std::net::IpAddr;

use clap::Args;
use firstflight::registry::Registry;
use firstflight_scenario::{ByName, SchemeChoice};
use firstflight_udp::{Key, Options};

use super::watched::Watchers;
use crate::failure::{Failure, Place};
use crate::keys::EndKeys;

/// The default scheme.
pub(super) const SCHEME: &str = "hystart++:avoidance=cubic";

/// Reads the schemes in a list.
pub(super) fn schemes(
    list: Option<&str>,
    registry: Registry,
    arguments: &[String],
) -> Result<Vec<SchemeChoice>, Failure> {
    let Some(list) = list else { return Ok(vec![one(SCHEME, registry)?]) };
    registry.parse_choices(list).map_err(|error| {
        Failure::usage(format!("--schemes: {error}")).at(Place::value(arguments, "--schemes", list))
    })
}

pub(super) fn one(name: &str, registry: Registry) -> Result<SchemeChoice, Failure> {
    let choices = registry.parse_choices(name).map_err(Failure::usage)?;
    choices.into_iter().next().ok_or_else(|| Failure::usage("no scheme"))
}

#[derive(Args, Clone, Copy, Debug)]
pub(super) struct Mtu {
    /// The largest packet to try on a path, if both ends have the option: 9000 with jumbo frames, 65535 on the loopback.
    #[arg(long, value_name = "BYTES", default_value_t = 1500, value_parser = clap::value_parser!(u16).range(576..))]
    mtu: u16,
}

/// Bytes of the headers of IPv4 or IPv6, and of UDP.
const HEADERS: [u16; 2] = [28, 48];

/// Returns the options of an end at `address`, or that connects to `address`.
pub(super) fn options(
    choice: SchemeChoice,
    ends: &EndKeys,
    (key, mtu, address): (Option<&Key>, Mtu, IpAddr),
    registry: Registry,
    arguments: &[String],
) -> Result<Options, Failure> {
    let options = Options::of(registry, choice).map_err(|error| {
        Failure::usage(format!("--schemes: {error}")).at(Place::value(arguments, "--schemes", "--schemes"))
    })?;
    // With these buffers, the two ends do not limit the path, and start-up always finds data to send, as in a race.
    let options = options.set("rwnd", "16MB").map_err(Failure::usage)?;
    let options = options.send_buffer(16 << 20).whole_send_buffer(true).memory(256 << 20);
    let options = options.largest_datagram(mtu.mtu - HEADERS[usize::from(address.is_ipv6())]);
    let options = key.map_or(options.clone(), |key| options.key(key.clone()));
    ends.given.iter().try_fold(options, |options, (name, value)| {
        let option = format!("--{name}");
        options
            .set(name, value)
            .map_err(|error| Failure::usage(format!("--{error}")).at(Place::value(arguments, &option, value)))
    })
}

/// Returns the options of an end whose connections are observed.
pub(super) fn watched(options: Options, watchers: &Watchers) -> Options {
    match watchers.watches() {
        Some(each) => options.watches(each),
        None => options,
    }
}
