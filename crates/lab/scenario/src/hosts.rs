//! The hosts between which the flows of a script run.

use firstflight_sim::HostName;

use crate::script::{ScriptedFlow, show_host};
use crate::topology::Hosts;

/// Returns the sender's host and the receiver's host of each flow, in the order of the script.
///
/// A flow without `from` and `to` runs from a host at the first router to a host at the last router. If a flow names only one host, its
/// other host is at the last router, or at the first router if the named host is at the last. A host that the script does not name is the
/// first host at its router that no flow names and no earlier flow uses. If a router has no unused host left, further flows use its hosts
/// again, from place 0 on.
///
/// # Errors
/// The fault of a named host, in one line, and the index of its flow.
pub(crate) fn hosts_of(
    script: &[ScriptedFlow],
    hosts: Hosts,
) -> Result<Vec<(HostName, HostName)>, (usize, String)> {
    for (index, flow) in script.iter().enumerate() {
        check(flow, hosts).map_err(|fault| (index, fault))?;
    }
    let last = hosts.hops;
    let far = |router: u32| if router == last { 0 } else { last };
    let mut taken: Vec<HostName> = script.iter().flat_map(|flow| [flow.from, flow.to]).flatten().collect();
    let mut given = vec![0_u64; last as usize + 1];
    let mut free = |router: u32| {
        let place = (0..hosts.each).find(|place| !taken.contains(&(router, *place)));
        let turn = &mut given[router as usize];
        let place = place.unwrap_or_else(|| {
            let again = u32::try_from(*turn % u64::from(hosts.each.max(1))).unwrap_or(0);
            *turn += 1;
            again
        });
        taken.push((router, place));
        (router, place)
    };
    let pair = |flow: &ScriptedFlow| match (flow.from, flow.to) {
        (Some(from), Some(to)) => (from, to),
        (Some(from), None) => (from, free(far(from.0))),
        (None, Some(to)) => {
            let from = if to.0 == 0 { last } else { 0 };
            (free(from), to)
        }
        (None, None) => (free(0), free(last)),
    };
    Ok(script.iter().map(pair).collect())
}

/// Returns an error if a named host does not exist, or if both hosts are at one router.
fn check(flow: &ScriptedFlow, hosts: Hosts) -> Result<(), String> {
    for (word, host) in [("from", flow.from), ("to", flow.to)] {
        let Some((router, place)) = host else { continue };
        let (last, most) = (hosts.hops, hosts.each.saturating_sub(1));
        if router > last || place > most {
            return Err(format!(
                "{word}: there is no host {}; hosts are from 0/0 to {last}/{most}",
                show_host((router, place))
            ));
        }
    }
    let to = flow.to.or(flow.from.map(|(router, _)| (if router == hosts.hops { 0 } else { hosts.hops }, 0)));
    let from = flow.from.or(flow.to.map(|(router, _)| (if router == 0 { hosts.hops } else { 0 }, 0)));
    let (Some(from), Some(to)) = (from, to) else { return Ok(()) };
    if from.0 == to.0 {
        return Err(format!(
            "{} and {} are at one router, and a flow crosses the links between two",
            show_host(from),
            show_host(to)
        ));
    }
    if hosts.onward && from.0 > to.0 {
        return Err("it goes back, and with ways=onward flows go on to a later router".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMBBELL: Hosts = Hosts { hops: 1, each: 3, onward: false };

    fn flow(from: Option<HostName>, to: Option<HostName>) -> ScriptedFlow {
        ScriptedFlow { from, to, ..ScriptedFlow::default() }
    }

    #[test]
    fn flows_without_hosts_receive_separate_pairs_while_hosts_remain() {
        let script = vec![flow(None, None); 5];
        let pairs = hosts_of(&script, DUMBBELL).expect("hosts");
        let places: Vec<u32> = pairs.iter().map(|((_, place), _)| *place).collect();
        assert_eq!(places, [0, 1, 2, 0, 1]);
        assert!(pairs.iter().all(|((from, place), (to, same))| (*from, *to) == (0, 1) && place == same));
    }

    #[test]
    fn named_hosts_are_reserved_and_the_other_end_is_distant() {
        let script =
            [flow(None, None), flow(Some((0, 0)), None), flow(Some((1, 0)), None), flow(None, Some((0, 1)))];
        let pairs = hosts_of(&script, Hosts { hops: 1, each: 4, onward: false }).expect("hosts");
        assert_eq!(pairs, [((0, 2), (1, 1)), ((0, 0), (1, 2)), ((1, 0), (0, 3)), ((1, 3), (0, 1))]);
        let inner = [flow(Some((1, 0)), None), flow(None, Some((1, 1)))];
        let pairs = hosts_of(&inner, Hosts { hops: 3, each: 2, onward: true }).expect("hosts");
        assert_eq!(pairs, [((1, 0), (3, 0)), ((0, 0), (1, 1))]);
    }

    #[test]
    fn hosts_that_make_no_sense_are_refused_with_the_flow() {
        for (flow, hosts, says) in [
            (flow(Some((2, 0)), None), DUMBBELL, "from: there is no host 2/0; hosts are from 0/0 to 1/2"),
            (flow(None, Some((1, 3))), DUMBBELL, "to: there is no host 1/3; hosts are from 0/0 to 1/2"),
            (flow(Some((0, 0)), Some((0, 1))), DUMBBELL, "0/0 and 0/1 are at one router"),
            (flow(Some((1, 0)), None), Hosts { onward: true, ..DUMBBELL }, "it goes back"),
        ] {
            let script = [ScriptedFlow::default(), flow];
            let (index, error) = hosts_of(&script, hosts).expect_err(says);
            assert!(index == 1 && error.starts_with(says), "{error}");
        }
    }
}
