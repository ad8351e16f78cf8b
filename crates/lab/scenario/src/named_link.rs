//! The names by which measuring windows select links: `forward:1`, `reverse:1`, `from:0/3`, `to:1/3`.

use std::fmt;

use firstflight_sim::HostName;

use crate::quantity::{QuantityError, Why, refuse};
use crate::script::{host, show_host};
use crate::topology::{Hosts, Topology};

/// A link of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedLink {
    /// The link from a router to the next router towards the receivers. Links are counted from one at the first router.
    Forward(u32),
    /// The link parallel to [`NamedLink::Forward`] in the other direction.
    Reverse(u32),
    /// The access link from a host to its router.
    From(HostName),
    /// The access link from a router to its host.
    To(HostName),
}

impl NamedLink {
    /// Returns the part of a field's name that identifies the link: `forward_1`, `from_0_3`.
    pub fn suffix(&self) -> String {
        self.to_string().replace([':', '/'], "_")
    }

    /// Returns an error if the path does not have the link. In a race, the senders of the `clients` measured flows are at the first router
    /// and their receivers at the last. The receivers have their own links only if `receivers_have_links`.
    ///
    /// # Errors
    /// The error lists the links that exist, in one line.
    pub(crate) fn check(
        &self,
        topology: Topology,
        clients: u32,
        receivers_have_links: bool,
    ) -> Result<(), String> {
        let last = topology.hops();
        let exists = match (*self, topology) {
            (Self::Forward(hop) | Self::Reverse(hop), _) => (1..=last).contains(&hop),
            (Self::From((router, place)) | Self::To((router, place)), Topology::Hosts(hosts)) => {
                router <= last && place < hosts.each
            }
            (Self::From((router, place)), _) => router == 0 && place < clients,
            (Self::To((router, place)), _) => receivers_have_links && router == last && place < clients,
        };
        if exists {
            return Ok(());
        }
        let of_routers = match last {
            1 => "forward:1, reverse:1".to_owned(),
            _ => format!("forward:1 to forward:{last}, reverse:1 to reverse:{last}"),
        };
        let of_hosts = match topology {
            Topology::Hosts(Hosts { each, .. }) => {
                let most = show_host((last, each.saturating_sub(1)));
                format!("from:0/0 to from:{most} and to:0/0 to to:{most}")
            }
            Topology::Single | Topology::ParkingLot { .. } => {
                let most = clients.saturating_sub(1);
                let to = |word: &str, router: u32| match most {
                    0 => format!("{word}:{router}/0"),
                    _ => format!("{word}:{router}/0 to {word}:{router}/{most}"),
                };
                let receivers = receivers_have_links.then(|| format!(" and {}", to("to", last)));
                format!("{}{}", to("from", 0), receivers.unwrap_or_default())
            }
        };
        Err(format!("the path has no link {self}; it has {of_routers}, {of_hosts}"))
    }
}

impl fmt::Display for NamedLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forward(hop) => write!(f, "forward:{hop}"),
            Self::Reverse(hop) => write!(f, "reverse:{hop}"),
            Self::From(host) => write!(f, "from:{}", show_host(*host)),
            Self::To(host) => write!(f, "to:{}", show_host(*host)),
        }
    }
}

const ALLOWED: &str = "links are written `forward:1` and `reverse:1` (between routers, counted from the first router), `from:0/3` \
                       and `to:1/3` (of a host: its router and its place there, from zero), several with commas between, or \
                       `none`";

/// Reads links: `forward:1,reverse:1,from:0/3`, or `none`.
///
/// # Errors
/// A text of another form, a link given twice.
pub(crate) fn links(text: &str) -> Result<Vec<NamedLink>, QuantityError> {
    let text = text.trim();
    if text.eq_ignore_ascii_case("none") {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for part in text.split(',').map(str::trim) {
        let link = link(part)?;
        if found.contains(&link) {
            return Err(refuse(part, Why::Conflict, "each link once is allowed"));
        }
        found.push(link);
    }
    Ok(found)
}

fn link(text: &str) -> Result<NamedLink, QuantityError> {
    let unknown = || refuse(text, Why::UnknownWord, ALLOWED);
    let (kind, which) = text.split_once(':').ok_or_else(unknown)?;
    let hop = || which.trim().parse::<u32>().map_err(|_| unknown());
    match kind.trim() {
        "forward" => Ok(NamedLink::Forward(hop()?)),
        "reverse" => Ok(NamedLink::Reverse(hop()?)),
        "from" => Ok(NamedLink::From(host(which)?)),
        "to" => Ok(NamedLink::To(host(which)?)),
        _ => Err(unknown()),
    }
}

/// Returns the links in the form that [`links`] reads; `None` if there are no links.
pub(crate) fn show_links(links: &[NamedLink]) -> Option<String> {
    let texts: Vec<String> = links.iter().map(NamedLink::to_string).collect();
    (!texts.is_empty()).then(|| texts.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_round_trip_as_text_and_have_one_word_field_names() {
        let text = "forward:1,reverse:12,from:0/3,to:1/0";
        let read = links(text).expect(text);
        assert_eq!(show_links(&read).as_deref(), Some(text));
        let names: Vec<String> = read.iter().map(NamedLink::suffix).collect();
        assert_eq!(names, ["forward_1", "reverse_12", "from_0_3", "to_1_0"]);
        assert_eq!(links("none"), Ok(Vec::new()));
    }

    #[test]
    fn invalid_link_names_are_refused() {
        for text in [
            "",
            "forward",
            "forward:",
            "forward:x",
            "forward:-1",
            "back:1",
            "from:3",
            "forward:1,forward:1",
            "to:0/1,",
        ] {
            assert!(links(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_link_missing_on_the_path_is_refused_with_available_links() {
        let refused = |text: &str, topology: &str, clients, receivers| {
            let topology = crate::topology::topology(topology).expect("a topology");
            links(text).expect(text)[0].check(topology, clients, receivers).err()
        };
        for (link, topology) in [
            ("forward:1", "single"),
            ("reverse:3", "parking-lot:hops=3"),
            ("from:0/0", "single"),
            ("from:1/2", "dumbbell:hosts=3"),
            ("to:0/2", "dumbbell:hosts=3"),
        ] {
            assert_eq!(refused(link, topology, 1, false), None, "{link} {topology}");
        }
        let says = |link, topology, clients, receivers| {
            refused(link, topology, clients, receivers).expect("refused")
        };
        assert_eq!(
            says("to:1/0", "single", 1, false),
            "the path has no link to:1/0; it has forward:1, reverse:1, from:0/0"
        );
        assert!(says("from:0/4", "single", 3, true).ends_with("from:0/0 to from:0/2 and to:1/0 to to:1/2"));
        assert!(says("forward:0", "parking-lot:hops=3", 1, false).contains("forward:1 to forward:3"));
        assert!(says("to:1/3", "dumbbell:hosts=3", 1, false).ends_with("to:0/0 to to:1/2"));
        assert!(says("from:2/0", "dumbbell:hosts=3", 1, false).contains("from:0/0 to from:1/2"));
    }
}
