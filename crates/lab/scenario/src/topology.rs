//! The text form of the topology: the links that the measured flow crosses, and the links that cross traffic crosses.

use std::fmt;

use crate::quantity::{self, QuantityError, Why, refuse};
use crate::suggest::meant;

/// The links between the two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Topology {
    /// A single bottleneck.
    #[default]
    Single,
    /// Consecutive bottlenecks, all on the measured flow's path. Each has the path's rate, queue, policer, loss and jitter, and an equal
    /// share of the propagation delay.
    ParkingLot {
        /// The number of bottlenecks.
        hops: u32,
        /// The hops that cross traffic crosses.
        cross: Crossed,
    },
    /// A line of routers with hosts at each router. A population's flows run between the hosts. The links of both directions are equal.
    Hosts(Hosts),
}

/// A line of routers with hosts at each router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// The number of links between routers: the number of routers minus one. A line with one link is a dumbbell.
    pub hops: u32,
    /// The number of hosts at each router.
    pub each: u32,
    /// Whether all flows run in one direction, from a router to a later one.
    pub onward: bool,
}

/// The hops that cross traffic crosses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossed {
    /// Every hop has its own cross traffic, which enters before the hop and leaves after it.
    Each,
    /// One set of cross traffic crosses all hops.
    Through,
    /// Only this hop has cross traffic. Hops are counted from one at the sender.
    Hop(u32),
}

/// The largest number of hops.
const MOST: u64 = 100;

impl Topology {
    /// Returns the number of hops of the measured flow, not counting its access link.
    pub const fn hops(self) -> u32 {
        match self {
            Self::Single => 1,
            Self::ParkingLot { hops, .. } | Self::Hosts(Hosts { hops, .. }) => hops,
        }
    }

    /// Returns the routes of the cross traffic. Each pair is the router where a route begins and the router where it ends, counted from
    /// zero at the sender.
    pub fn crossings(self) -> Vec<(u32, u32)> {
        match self {
            Self::Single => vec![(0, 1)],
            Self::ParkingLot { hops, cross: Crossed::Each } => (0..hops).map(|hop| (hop, hop + 1)).collect(),
            Self::ParkingLot { hops, cross: Crossed::Through } => vec![(0, hops)],
            Self::ParkingLot { cross: Crossed::Hop(hop), .. } => vec![(hop.saturating_sub(1), hop)],
            Self::Hosts(_) => Vec::new(),
        }
    }

    /// Returns the topology in words that can precede the rate; empty for a single bottleneck.
    pub(crate) fn describe(self) -> String {
        match self {
            Self::Single => String::new(),
            Self::ParkingLot { hops, .. } => format!("parking lot of {}, each ", counted(hops, "hop")),
            Self::Hosts(Hosts { hops: 1, each, .. }) => {
                format!("dumbbell of {} a side, ", counted(each, "host"))
            }
            Self::Hosts(Hosts { hops, each, .. }) => {
                format!(
                    "parking lot of {} with {} at a router, each ",
                    counted(hops, "hop"),
                    counted(each, "host")
                )
            }
        }
    }

    /// Returns cross traffic in words. `cross` ends in "across", and the function adds the hops that the traffic crosses.
    pub(crate) fn describe_cross(self, cross: &str) -> String {
        let across = match self {
            Self::Single | Self::Hosts(_) => return cross.to_owned(),
            Self::ParkingLot { cross: Crossed::Each, .. } => " across each hop".to_owned(),
            Self::ParkingLot { cross: Crossed::Through, .. } => " across all hops".to_owned(),
            Self::ParkingLot { cross: Crossed::Hop(hop), .. } => format!(" across hop {hop}"),
        };
        cross.replacen(" across", &across, 1)
    }
}

/// Returns a number with its noun: `1 host`, `2 hosts`.
fn counted(number: u32, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Single => f.write_str("single"),
            Self::ParkingLot { hops, cross } => {
                write!(f, "parking-lot:hops={hops},cross=")?;
                match cross {
                    Crossed::Each => f.write_str("each"),
                    Crossed::Through => f.write_str("through"),
                    Crossed::Hop(hop) => write!(f, "{hop}"),
                }
            }
            Self::Hosts(Hosts { hops, each, onward }) => {
                match hops {
                    1 => write!(f, "dumbbell:hosts={each}")?,
                    _ => write!(f, "parking-lot:hops={hops},hosts={each}")?,
                }
                if *onward { f.write_str(",ways=onward") } else { Ok(()) }
            }
        }
    }
}

/// Maximum total number of hosts. Each host has two links.
const MAX_HOSTS: u64 = 20_000;

const KINDS: [&str; 3] = ["single", "parking-lot", "dumbbell"];

const TOPOLOGY: &str = "a topology is `single`, or consecutive bottlenecks as in `parking-lot:hops=3` (at most 100), with \
                        `,cross=each` (unless said), `,cross=through` or the one hop that has cross traffic, as in \
                        `,cross=2`; or, for flows between hosts, `dumbbell:hosts=102` or `parking-lot:hops=10,hosts=12` \
                        (at most 20000 hosts in all), with `,ways=onward` if all go one way";

/// Reads a topology: `single`, `parking-lot:hops=3`, `parking-lot:hops=3,cross=through`, `dumbbell:hosts=102`,
/// `parking-lot:hops=10,hosts=12,ways=onward`.
///
/// # Errors
/// Anything else; zero hops or hosts, too many of them, or a hop that does not exist.
pub fn topology(text: &str) -> Result<Topology, QuantityError> {
    let text = text.trim();
    if text == "single" {
        return Ok(Topology::Single);
    }
    let (settings, dumbbell) = match text.split_once(':') {
        Some(("parking-lot", settings)) => (settings, false),
        Some(("dumbbell", settings)) => (settings, true),
        found => {
            let name = found.map_or(text, |(name, _)| name);
            let hint = meant(name, &[], KINDS).filter(|_| !KINDS.contains(&name));
            return Err(refuse(text, Why::UnknownWord, hint.unwrap_or_else(|| TOPOLOGY.to_owned())));
        }
    };
    let (mut hops, mut cross, mut hosts, mut onward) = (dumbbell.then_some(1), None, None, None);
    for part in settings.split(',').map(str::trim) {
        match part.split_once('=') {
            Some(("hops", value)) if hops.is_none() => hops = Some(hop(value)?),
            Some(("hosts", value)) if hosts.is_none() => hosts = Some(whole(value, MAX_HOSTS)?),
            Some(("ways", "both")) if onward.is_none() => onward = Some(false),
            Some(("ways", "onward")) if onward.is_none() => onward = Some(true),
            Some(("cross", value)) if cross.is_none() => {
                cross = Some(match value {
                    "each" => Crossed::Each,
                    "through" => Crossed::Through,
                    number => Crossed::Hop(hop(number)?),
                });
            }
            Some(("hops" | "cross" | "hosts", _)) => return Err(refuse(part, Why::Conflict, TOPOLOGY)),
            _ => return Err(refuse(part, Why::UnknownWord, TOPOLOGY)),
        }
    }
    let Some(hops) = hops else { return Err(refuse(text, Why::NoNumber, TOPOLOGY)) };
    match (hosts, cross, onward) {
        (Some(_), Some(_), _) => Err(refuse(text, Why::Conflict, TOPOLOGY)),
        (Some(each), None, _) if u64::from(each) * (u64::from(hops) + 1) > MAX_HOSTS => {
            Err(refuse(text, Why::TooLarge, TOPOLOGY))
        }
        (Some(each), None, onward) => {
            Ok(Topology::Hosts(Hosts { hops, each, onward: onward.unwrap_or(false) }))
        }
        (None, _, onward) if dumbbell || onward.is_some() => Err(refuse(text, Why::NoNumber, TOPOLOGY)),
        (None, Some(Crossed::Hop(hop)), _) if hop > hops => Err(refuse(text, Why::TooLarge, TOPOLOGY)),
        (None, cross, _) => Ok(Topology::ParkingLot { hops, cross: cross.unwrap_or(Crossed::Each) }),
    }
}

fn hop(text: &str) -> Result<u32, QuantityError> {
    whole(text, MOST)
}

/// Reads a whole number from one to `most`.
fn whole(text: &str, most: u64) -> Result<u32, QuantityError> {
    let count = quantity::count(text).map_err(|error| QuantityError { allowed: TOPOLOGY.into(), ..error })?;
    match u32::try_from(count) {
        Ok(number) if count <= most => Ok(number),
        _ => Err(refuse(text, Why::TooLarge, TOPOLOGY)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_host_and_one_hop_are_no_hosts_and_no_hops() {
        for (text, says) in [
            ("dumbbell:hosts=1", "dumbbell of 1 host a side, "),
            ("dumbbell:hosts=2", "dumbbell of 2 hosts a side, "),
            ("parking-lot:hops=1", "parking lot of 1 hop, each "),
            ("parking-lot:hops=3,hosts=1", "parking lot of 3 hops with 1 host at a router, each "),
        ] {
            assert_eq!(topology(text).expect(text).describe(), says);
        }
    }

    #[test]
    fn every_topology_reads_back_as_what_it_shows() {
        for text in [
            "single",
            "parking-lot:hops=3,cross=each",
            "parking-lot:hops=10,cross=2",
            "dumbbell:hosts=102",
            "dumbbell:hosts=1,ways=onward",
            "parking-lot:hops=10,hosts=12",
        ] {
            assert_eq!(topology(text).expect(text).to_string(), text);
        }
        let lot = Topology::ParkingLot { hops: 3, cross: Crossed::Each };
        assert_eq!(topology("parking-lot:hops=3"), Ok(lot));
        assert_eq!(lot.crossings(), [(0, 1), (1, 2), (2, 3)]);
        let through = topology("parking-lot:cross=through,hops=3").expect("a lot");
        assert_eq!(through.crossings(), [(0, 3)]);
        let one = topology("parking-lot:hops=3,cross=2").expect("a lot");
        assert_eq!((one.crossings(), one.hops()), (vec![(1, 2)], 3));
    }

    #[test]
    fn topologies_that_make_no_sense_are_refused_with_what_is_allowed() {
        for (text, why) in [
            ("", Why::UnknownWord),
            ("ring:hosts=3", Why::UnknownWord),
            ("parking-lot", Why::UnknownWord),
            ("parking-lot:", Why::UnknownWord),
            ("parking-lot:cross=each", Why::NoNumber),
            ("parking-lot:hops=0", Why::Zero),
            ("parking-lot:hops=101", Why::TooLarge),
            ("parking-lot:hops=3,cross=4", Why::TooLarge),
            ("parking-lot:hops=3,hops=4", Why::Conflict),
            ("parking-lot:hops=3,cross=all", Why::NoNumber),
            ("parking-lot:hops=3,speed=4", Why::UnknownWord),
            ("dumbbell", Why::UnknownWord),
            ("dumbbell:", Why::UnknownWord),
            ("dumbbell:hosts=0", Why::Zero),
            ("dumbbell:ways=onward", Why::NoNumber),
            ("dumbbell:hosts=10001", Why::TooLarge),
            ("dumbbell:hosts=2,hops=1", Why::Conflict),
            ("parking-lot:hops=100,hosts=199", Why::TooLarge),
            ("parking-lot:hops=3,hosts=4,cross=each", Why::Conflict),
            ("parking-lot:hops=3,ways=onward", Why::NoNumber),
            ("parking-lot:hops=3,hosts=4,ways=back", Why::UnknownWord),
        ] {
            let error = topology(text).expect_err(text);
            assert_eq!(error.why, why, "{text}");
            assert!(error.to_string().contains("a topology is `single`, or"), "{error}");
        }
        for text in ["dumbell", "dumbel:hosts=3", "Dumbbell:hosts=3"] {
            let error = topology(text).expect_err(text).to_string();
            assert_eq!(error, format!("`{text}` is not known; is `dumbbell` meant?"));
        }
    }
}
