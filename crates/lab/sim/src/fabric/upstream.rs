//! The links whose packets all come from one other link, and leave the network after the link.

use crate::network::{Network, Traffic};
use crate::packet::LinkId;

/// Origin of the packets of a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Upstream {
    Nobody,
    /// All packets come from this link, and leave the network after the present link.
    One(LinkId),
    /// The packets come from hosts or from several links, or some of them continue to another link.
    Several,
}

/// Returns for each link of the network whether all of its packets come from one other link, and leave the network
/// after it.
pub(super) fn behind_sole_upstream<S, R, A>(network: &Network<S, R, A>) -> Vec<bool> {
    let mut upstreams = vec![Upstream::Nobody; network.links.len()];
    for flow in &network.flows {
        note(&mut upstreams, &flow.forward);
        if matches!(flow.traffic, Traffic::Tcp(_) | Traffic::Probe(_) | Traffic::Foreign(_)) {
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
    fn the_last_link_is_behind_one_link_if_all_routes_share_it() {
        assert_eq!(after(&[&[0, 2, 3], &[1, 2, 3], &[1, 2, 4]], 5), [false, false, false, true, true]);
    }

    #[test]
    fn a_link_with_other_feeds_or_onward_routes_is_not_behind_another() {
        for routes in [&[&[0u32, 2][..], &[2]], &[&[0, 2], &[1, 2]], &[&[0, 2], &[0, 2, 1]]] {
            assert!(!after(routes, 3)[2], "{routes:?}");
        }
    }
}
