//! Which links one other link feeds, and where what they carry ends.

use crate::network::{Network, Traffic};
use crate::packet::LinkId;

/// What is known of what comes to a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Upstream {
    Nobody,
    /// All of it comes from this link, and goes no further.
    One(LinkId),
    /// It comes from hosts or from several links, or some of it goes on.
    Several,
}

/// Whether all that a link carries comes from one other link, and goes no further: of each link of the network.
pub(super) fn behind_sole_upstream<S, R, A>(network: &Network<S, R, A>) -> Vec<bool> {
    let mut upstreams = vec![Upstream::Nobody; network.links.len()];
    for flow in &network.flows {
        note(&mut upstreams, &flow.forward);
        if matches!(flow.traffic, Traffic::Tcp(_)) {
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

fn note(upstreams: &mut [Upstream], way: &[LinkId]) {
    for (index, link) in way.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| way.get(before)).copied();
        let Some(upstream) = upstreams.get_mut(link.index()) else { continue };
        *upstream = match (*upstream, before) {
            (Upstream::Nobody, Some(before)) if index + 1 == way.len() => Upstream::One(before),
            (Upstream::One(one), Some(before)) if index + 1 == way.len() && one == before => {
                Upstream::One(one)
            }
            _ => Upstream::Several,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(ways: &[&[u32]], links: usize) -> Vec<bool> {
        let mut upstreams = vec![Upstream::Nobody; links];
        for way in ways {
            let way: Vec<_> = way.iter().copied().map(LinkId).collect();
            note(&mut upstreams, &way);
        }
        upstreams.into_iter().map(Upstream::is_one).collect()
    }

    #[test]
    fn the_last_link_of_all_its_ways_is_behind_one_if_they_all_come_from_the_same() {
        assert_eq!(after(&[&[0, 2, 3], &[1, 2, 3], &[1, 2, 4]], 5), [false, false, false, true, true]);
    }

    #[test]
    fn a_link_is_not_behind_one_if_hosts_or_two_links_feed_it_or_some_of_it_goes_on() {
        for ways in [&[&[0u32, 2][..], &[2]], &[&[0, 2], &[1, 2]], &[&[0, 2], &[0, 2, 1]]] {
            assert!(!after(ways, 3)[2], "{ways:?}");
        }
    }
}
