//! Which links have a sole upstream link, and are the last link of every route over them.

use crate::network::{Network, Traffic};
use crate::packet::LinkId;

/// Where the packets of a link come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Upstream {
    Nobody,
    /// All of them come from this link, and leave the network here.
    One(LinkId),
    /// They come from hosts or from several links, or some of them go on.
    Several,
}

/// For each link of the network: whether all of its packets come from one other link, and leave the network here.
pub(super) fn behind_sole_upstream<S, R, A>(network: &Network<S, R, A>) -> Vec<bool> {
    let mut upstreams = vec![Upstream::Nobody; network.links.len()];
    for flow in &network.flows {
        note(&mut upstreams, &flow.forward);
        if matches!(flow.traffic, Traffic::Tcp(_) | Traffic::Probe(_)) {
            note(&mut upstreams, &flow.reverse);
        }
    }
    for process in &network.arrivals {
        for route in process.ways.samples() {
            note(&mut upstreams, &route.forward);
            note(&mut upstreams, &route.reverse);
        }
    }
    upstreams.into_iter().map(Upstream::is_one).collect()
}

impl Upstream {
    fn is_one(self) -> bool {
        matches!(self, Self::One(_))
    }
}

fn note(upstreams: &mut [Upstream], route: &[LinkId]) {
    for (index, link) in route.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| route.get(before)).copied();
        let Some(upstream) = upstreams.get_mut(link.index()) else { continue };
        *upstream = match (*upstream, before) {
            (Upstream::Nobody, Some(before)) if index + 1 == route.len() => Upstream::One(before),
            (Upstream::One(one), Some(before)) if index + 1 == route.len() && one == before => {
                Upstream::One(one)
            }
            _ => Upstream::Several,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(routes: &[&[u32]], links: usize) -> Vec<bool> {
        let mut upstreams = vec![Upstream::Nobody; links];
        for route in routes {
            let route: Vec<_> = route.iter().copied().map(LinkId).collect();
            note(&mut upstreams, &route);
        }
        upstreams.into_iter().map(Upstream::is_one).collect()
    }

    #[test]
    fn the_last_link_of_all_its_ways_is_behind_one_if_they_all_come_from_the_same() {
        assert_eq!(after(&[&[0, 2, 3], &[1, 2, 3], &[1, 2, 4]], 5), [false, false, false, true, true]);
    }

    #[test]
    fn a_link_is_not_behind_one_if_hosts_or_two_links_feed_it_or_some_of_it_goes_on() {
        for routes in [&[&[0u32, 2][..], &[2]], &[&[0, 2], &[1, 2]], &[&[0, 2], &[0, 2, 1]]] {
            assert!(!after(routes, 3)[2], "{routes:?}");
        }
    }
}
