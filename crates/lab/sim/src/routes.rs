//! The routes that arriving flows may take.

use std::borrow::Cow;

use crate::topology::{ParkingLot, Route};

/// A set of routes, all equally likely.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ways {
    /// The routes of this list.
    Listed(Vec<Route>),
    /// The routes from every host to every host at another router.
    Between(ParkingLot),
    /// The routes from every host to every host at a later router.
    Onward(ParkingLot),
}

/// A host: its router, and its index there.
pub type HostName = (u32, u32);

impl Ways {
    /// Returns the number of routes.
    pub fn count(&self) -> u64 {
        match self {
            Self::Listed(routes) => routes.len() as u64,
            Self::Between(lot) | Self::Onward(lot) => {
                let routers = u64::from(lot.hops) + 1;
                let both = routers * (routers - 1);
                let pairs = if matches!(self, Self::Between(_)) { both } else { both / 2 };
                pairs * u64::from(lot.hosts) * u64::from(lot.hosts)
            }
        }
    }

    /// Returns the hosts at the two ends of a route; `None` if there is no such route, or if the routes are a list.
    pub fn hosts(&self, index: u64) -> Option<(HostName, HostName)> {
        let (Self::Between(lot) | Self::Onward(lot)) = self else { return None };
        if index >= self.count() {
            return None;
        }
        let hosts = u64::from(lot.hosts);
        let (pair, from, to) = (index / hosts / hosts, index / hosts % hosts, index % hosts);
        let (here, there) = self.routers(pair, u64::from(lot.hops) + 1);
        let name = |router, host| Some((u32::try_from(router).ok()?, u32::try_from(host).ok()?));
        Some((name(here, from)?, name(there, to)?))
    }

    /// Returns the route of this index; `None` if there are fewer routes.
    pub fn route(&self, index: u64) -> Option<Cow<'_, Route>> {
        match self {
            Self::Listed(routes) => routes.get(usize::try_from(index).ok()?).map(Cow::Borrowed),
            Self::Between(lot) | Self::Onward(lot) => {
                let (from, to) = self.hosts(index)?;
                lot.route(from, to).map(Cow::Owned)
            }
        }
    }

    /// Returns the `pair`-th pair of different routers, in the order of their numbers.
    fn routers(&self, mut pair: u64, routers: u64) -> (u64, u64) {
        if matches!(self, Self::Onward(_)) {
            let mut here = 0;
            // After this router come `routers - 1 - here` others.
            while pair >= routers - 1 - here {
                pair -= routers - 1 - here;
                here += 1;
            }
            return (here, here + 1 + pair);
        }
        let (here, other) = (pair / (routers - 1), pair % (routers - 1));
        (here, other + u64::from(other >= here))
    }

    /// Returns some routes that together use every link that any route uses.
    pub(crate) fn extremes(&self) -> Vec<Cow<'_, Route>> {
        let last = self.count().saturating_sub(1);
        match self {
            Self::Listed(routes) => routes.iter().map(Cow::Borrowed).collect(),
            Self::Between(_) | Self::Onward(_) => {
                [0, last].into_iter().filter_map(|at| self.route(at)).collect()
            }
        }
    }

    /// Returns some routes that together have every pair of successive links, every first link and every last link
    /// that any route has.
    pub(crate) fn samples(&self) -> Vec<Cow<'_, Route>> {
        match self {
            Self::Listed(routes) => routes.iter().map(Cow::Borrowed).collect(),
            Self::Between(lot) | Self::Onward(lot) => {
                // A host's link is followed by the backbone link towards the other host, however far that is. Routes
                // between neighbours therefore include all hosts, and longer routes differ only by their routers.
                let hosts = u64::from(lot.hosts.max(1));
                let pairs = 0..self.count() / hosts / hosts;
                let ways = pairs.flat_map(|pair| {
                    let (here, there) = self.routers(pair, u64::from(lot.hops) + 1);
                    let each = if here.abs_diff(there) == 1 { hosts } else { 1 };
                    let first = pair * hosts * hosts;
                    (0..each).flat_map(move |host| [first + host * hosts, first + host])
                });
                ways.filter_map(|at| self.route(at)).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use firstflight::{Rate, Span};

    use super::*;
    use crate::spec::LinkSpec;

    fn lot(hops: u32, hosts: u32) -> ParkingLot {
        let link = LinkSpec::new(Some(Rate::from_bps(1_000_000)), Span::from_millis(1));
        ParkingLot {
            backbone: link.clone(),
            backbone_back: None,
            hops,
            hosts,
            edge: Some(link),
            edge_down: None,
        }
    }

    #[test]
    fn between_hosts_every_pair_across_the_backbone_has_one_way() {
        for (hops, hosts) in [(1, 1), (1, 4), (3, 2)] {
            let ways = Ways::Between(lot(hops, hosts));
            let found: BTreeSet<_> = (0..ways.count()).filter_map(|index| ways.hosts(index)).collect();
            let all: Vec<_> =
                (0..=hops).flat_map(|router| (0..hosts).map(move |host| (router, host))).collect();
            let wanted: BTreeSet<_> = all
                .iter()
                .flat_map(|from| all.iter().map(move |to| (*from, *to)))
                .filter(|(from, to)| from.0 != to.0)
                .collect();
            assert_eq!((found.len() as u64, found), (ways.count(), wanted));
            assert!(ways.hosts(ways.count()).is_none() && ways.route(ways.count()).is_none());
        }
    }

    #[test]
    fn onward_ways_are_those_to_a_later_router() {
        let (onward, both) = (Ways::Onward(lot(3, 2)), Ways::Between(lot(3, 2)));
        let ends =
            |ways: &Ways| (0..ways.count()).filter_map(|index| ways.hosts(index)).collect::<BTreeSet<_>>();
        let later: BTreeSet<_> = ends(&both).into_iter().filter(|(from, to)| from.0 < to.0).collect();
        assert_eq!((onward.count(), ends(&onward)), (24, later));
    }

    #[test]
    fn no_way_uses_a_link_beyond_those_of_the_extremes() {
        for ways in [Ways::Between(lot(3, 2)), Ways::Onward(lot(3, 2))] {
            let last = |route: &Route| route.forward.iter().chain(&route.reverse).max().copied();
            let all = (0..ways.count()).filter_map(|index| last(&*ways.route(index)?)).max();
            assert_eq!(ways.extremes().iter().filter_map(|route| last(route)).max(), all);
        }
    }

    #[test]
    fn route_samples_contain_every_pair_of_adjacent_links() {
        // `None` represents either end of a route.
        let rows = |route: &Route| {
            [&route.forward, &route.reverse].map(|way| {
                let links = way.iter().copied().map(Some);
                let way: Vec<_> = std::iter::once(None).chain(links).chain([None]).collect();
                way.windows(2).map(<[_]>::to_vec).collect::<Vec<_>>()
            })
        };
        let bare = |hops| ParkingLot { edge: None, ..lot(hops, 2) };
        for lot in [lot(3, 2), lot(1, 3), lot(4, 1), bare(1), bare(3)] {
            for ways in [Ways::Between(lot.clone()), Ways::Onward(lot)] {
                let all: BTreeSet<_> = (0..ways.count())
                    .filter_map(|index| ways.route(index))
                    .flat_map(|way| rows(&way).concat())
                    .collect();
                let found: BTreeSet<_> = ways.samples().iter().flat_map(|way| rows(way).concat()).collect();
                assert_eq!(found, all);
            }
        }
    }
}
